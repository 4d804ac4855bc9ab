//! Shared by the tests: where things lie, and snapshots in `snapshots/`.

use std::path::PathBuf;

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

pub mod lab;
pub mod plan;
pub mod rules;
