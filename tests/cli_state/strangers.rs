//! Paths that lead to something else than a state file, or to nothing: said at once, and nothing there is
//! changed.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::Path,
    process::Command,
};

use super::{Done, folder, run};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs `pointsman`, which must end by itself.
fn soon(folder: &Path, args: &[&str]) -> Done {
    let output = Command::new("timeout")
        .args(["20", env!("CARGO_BIN_EXE_pointsman")])
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let done = Done {
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        code: output.status.code().unwrap(),
    };
    assert_ne!(done.code, 124, "{args:?} never ends");
    done
}

fn make(program: &str, args: &[&str], folder: &Path) -> bool {
    Command::new(program).args(args).current_dir(folder).status().is_ok_and(|status| status.success())
}

/// What is no regular file, under the names `folder`, `link`, `pipe`, `socket` and, if the system lets us
/// make one, `device`.
fn specials(folder: &Path) -> Vec<&'static str> {
    fs::create_dir(folder.join("folder")).unwrap();
    symlink("folder", folder.join("link")).unwrap();
    assert!(make("mkfifo", &["pipe"], folder));
    drop(UnixListener::bind(folder.join("socket")).unwrap());
    let mut names = vec!["folder", "link", "pipe", "socket"];
    if make("mknod", &["device", "c", "1", "3"], folder) {
        names.push("device");
    }
    for name in &names {
        set_mode(&folder.join(name), 0o777);
    }
    names
}

const ADD: [&str; 4] = ["profiles", "add", "openai:a", "env:KEY"];

/// One command of each way to open the state.
const WAYS: [&[&str]; 5] = [
    &ADD,
    &["status"],
    &["profiles", "clear"],
    &["inbox", "list"],
    &["session", "set", "s", "--model", "a/b"],
];

#[test]
fn j6_what_is_no_file_is_refused_at_once_and_keeps_its_rights() {
    let dir = folder();
    for name in specials(dir.path()) {
        for way in WAYS {
            let done = soon(dir.path(), &[way, &["--state", name]].concat());
            let said = &done.stderr;
            assert_eq!(done.code, 2, "{name}, {way:?}: {said}");
            assert!(
                said.starts_with(&format!("error: the state file `{name}` is no file, but a ")),
                "{said}"
            );
            assert_eq!(said.lines().count(), 1, "{said}");
            assert_eq!(mode(&dir.path().join(name)), 0o777, "{name}, {way:?}");
        }
    }
    assert_eq!(fs::read_dir(dir.path().join("folder")).unwrap().count(), 0);
    let here = soon(&dir.path().join("folder"), &[&ADD[..], &["--state", "."]].concat());
    assert_eq!(here.code, 2, "{}", here.stderr);
    assert_eq!(mode(&dir.path().join("folder")), 0o777);
}

#[test]
fn j6_what_another_program_wrote_keeps_its_rights() {
    let dir = folder();
    fs::write(dir.path().join("text"), "no database, though it is long enough ".repeat(40)).unwrap();
    rusqlite::Connection::open(dir.path().join("foreign"))
        .unwrap()
        .execute_batch("CREATE TABLE theirs (x)")
        .unwrap();
    for name in ["text", "foreign"] {
        let path = dir.path().join(name);
        set_mode(&path, 0o664);
        let before = fs::read(&path).unwrap();
        for way in WAYS {
            let done = soon(dir.path(), &[way, &["--state", name]].concat());
            assert_eq!(done.code, 2, "{name}, {way:?}: {}", done.stderr);
            assert!(!done.stderr.contains("others c"), "no advice on a stranger: {}", done.stderr);
            assert_eq!(mode(&path), 0o664, "{name}, {way:?}");
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

/// A state file behind a link, or one that was empty, is closed with its journal; nothing beside it is.
#[test]
fn j6_a_recognised_file_is_closed_wherever_it_lies() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("empty"), "").unwrap();
    soon(dir.path(), &[&ADD[..], &["--state", "real"]].concat()).fine();
    symlink("real", path("link")).unwrap();
    fs::write(path("link-wal"), "theirs").unwrap();
    for name in ["empty", "real", "link-wal"] {
        set_mode(&path(name), 0o644);
    }
    for name in ["empty", "link"] {
        let said = soon(dir.path(), &[&ADD[..], &["--state", name]].concat()).fine().stderr;
        assert!(
            said.contains(&format!("others could open `{name}` (mode 644); nobody else can now")),
            "{said}"
        );
    }
    assert_eq!((mode(&path("empty")), mode(&path("real"))), (0o600, 0o600));
    assert_eq!(mode(&path("link-wal")), 0o644);
}

#[test]
fn what_is_no_file_is_no_input() {
    let dir = folder();
    for name in specials(dir.path()) {
        for args in [
            &["status", "--config", name][..],
            &["check", "--config", name],
            &["simulate", name],
            &["classify", "--body", name],
        ] {
            let done = soon(dir.path(), args);
            assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
            assert!(
                done.stderr.starts_with(&format!("error: cannot read `{name}`: it is ")),
                "{}",
                done.stderr
            );
        }
    }
}

#[test]
fn c4_a_legacy_file_that_is_none_is_reported() {
    let dir = folder();
    for (below, file) in [("agent", "auth-profiles.json"), ("credentials", "oauth.json")] {
        let below = dir.path().join("legacy").join(below);
        fs::create_dir_all(&below).unwrap();
        assert!(make("mkfifo", &[file], &below));
    }
    let done = soon(dir.path(), &["import", "legacy", "--state", "state.sqlite"]);
    assert_eq!(done.code, 1);
    let why = "not understood: cannot be read (it is no file, but a pipe, a device or a socket)";
    assert_eq!(done.stdout.matches(why).count(), 2, "{}", done.stdout);
}

#[test]
fn a_change_of_what_is_not_stored_makes_no_file() {
    let dir = folder();
    for args in [
        &["profiles", "clear"][..],
        &["profiles", "clear", "openai:a"],
        &["profiles", "remove", "openai:a"],
        &["session", "reset", "s1"],
        &["inbox", "drop", "--all"],
    ] {
        let done = soon(dir.path(), &[args, &["--state", "folder/mistyped.sqlite"]].concat());
        assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
        assert!(
            done.stderr.starts_with("error: there is no state file `folder/mistyped.sqlite`"),
            "{}",
            done.stderr
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{args:?}");
    }
    fs::create_dir_all(dir.path().join("credentials")).unwrap();
    fs::write(dir.path().join("credentials/oauth.json"), "{}").unwrap();
    for (at, args) in
        [&ADD[..], &["session", "set", "s", "--model", "a/b"], &["import", "."]].into_iter().enumerate()
    {
        let name = format!("{at}.sqlite");
        soon(dir.path(), &[args, &["--state", &name]].concat()).fine();
        assert!(dir.path().join(&name).exists(), "{args:?}");
    }
}

#[test]
fn an_empty_variable_is_named() {
    let dir = folder();
    let output = Command::new(env!("CARGO_BIN_EXE_pointsman"))
        .arg("status")
        .current_dir(dir.path())
        .env_clear()
        .env("HOME", dir.path())
        .env("POINTSMAN_STATE", "")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("it names no file") && said.contains("unset `POINTSMAN_STATE`"), "{said}");
    let flag = run(dir.path(), &["status", "--state", ""], "");
    assert_eq!(flag.code, 2);
    assert!(flag.stderr.contains("it names no file"), "{}", flag.stderr);
}
