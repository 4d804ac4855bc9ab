//! Shared by the tests: where things lie, and snapshots in `snapshots/`.

use std::path::PathBuf;
#[cfg(feature = "cli")]
use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

/// The repository's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs `check` with insta storing under `snapshots/FOLDER/`.
pub fn with_snapshots<T>(folder: &str, check: impl FnOnce() -> T) -> T {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(check)
}

/// Runs `pointsman` in `folder` with its state in `state.sqlite`.
#[cfg(feature = "cli")]
pub fn pointsman(folder: &Path, args: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pointsman"))
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("POINTSMAN_STATE", "state.sqlite")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may end without reading it.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

#[cfg(any(feature = "tokio", all(feature = "sqlite", unix)))]
pub mod hand_on;
pub mod lab;
pub mod plan;
pub mod rules;
