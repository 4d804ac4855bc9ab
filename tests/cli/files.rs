//! What commands say of files that they cannot take, and what they leave alone.

use std::{fs, path::Path};

use super::{pointsman, run};

/// Exit code, stderr.
fn at(folder: &Path, args: &[&str]) -> (i32, String) {
    let mut command = pointsman(args);
    command.current_dir(folder);
    let output = run(command, b"");
    (output.status.code().expect("no signal"), String::from_utf8(output.stderr).unwrap())
}

#[cfg(unix)]
#[test]
fn fmt_leaves_files_alone_that_are_read_only_or_have_two_names() {
    use std::os::unix::fs::PermissionsExt as _;
    const LOOSE: &str = "language   1\nuse   default\n";
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["locked.rules", "one.rules"] {
        fs::write(path(name), LOOSE).unwrap();
    }
    fs::set_permissions(path("locked.rules"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::hard_link(path("one.rules"), path("two.rules")).unwrap();
    for (name, part) in [("locked.rules", "it is read-only"), ("one.rules", "hard link")] {
        let (code, said) = at(folder.path(), &["fmt", name]);
        assert_eq!(code, 2, "{name}: {said}");
        assert!(said.starts_with(&format!("error: cannot write `{name}`")) && said.contains(part), "{said}");
        assert_eq!(fs::read_to_string(path(name)).unwrap(), LOOSE);
        assert_eq!(at(folder.path(), &["fmt", "--check", name]).0, 1);
    }
}

/// A typing error in a path is no success.
#[test]
fn what_is_of_the_wrong_kind_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("one.json"), "{}").unwrap();
    for (args, part) in [
        (&["fmt", "--check", "empty"][..], "error: `empty` holds no `.rules` files"),
        (&["fmt", "empty"], "error: `empty` holds no `.rules` files"),
        (
            &["import", "one.json", "--state", "s.sqlite"],
            "error: `one.json` is a file; name the folder that holds",
        ),
    ] {
        let (code, said) = at(folder.path(), args);
        assert_eq!(code, 2, "{args:?}: {said}");
        assert!(said.starts_with(part), "{args:?}: {said}");
    }
}

#[test]
fn a_snapshot_that_is_damaged_says_how_to_mend_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("snapshots")).unwrap();
    fs::write(path("mine.rules"), "language 1\nuse default\n").unwrap();
    fs::write(path("errors.jsonl"), "{\"status\":429}\n").unwrap();
    for damaged in [&b"no header"[..], b"---\nsource: x\n---\na1 busy\n", b"---\n\xff"] {
        fs::write(path("snapshots/errors.snap"), damaged).unwrap();
        for action in ["check", "accept"] {
            let (code, said) =
                at(folder.path(), &["snapshot", action, "--rules", "mine.rules", "errors.jsonl"]);
            assert_eq!(code, 2, "{said}");
            assert!(
                said.contains("is no snapshot: ") && said.contains("move it away, or remove it"),
                "{said}"
            );
        }
    }
}

#[test]
fn text_in_another_encoding_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("mine.rules"), "language 1\nuse default\n").unwrap();
    let utf16: Vec<u8> = "\u{feff}{\"status\":429}\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    fs::write(path("wide.jsonl"), utf16).unwrap();
    fs::write(path("latin.jsonl"), b"\xe4rger\n").unwrap();
    for (corpus, part) in [("wide.jsonl", "UTF-16"), ("latin.jsonl", "not UTF-8")] {
        for args in [
            &["diff", "shipped", "mine.rules", "--corpus", corpus][..],
            &["classify", corpus, "--format", "human"],
        ] {
            let mut command = pointsman(args);
            command.current_dir(folder.path());
            let output = run(command, b"");
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(said.contains(part) && !said.contains("--raw"), "{args:?}: {said}");
        }
    }
}

#[test]
fn inbox_drop_without_numbers_names_all() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = at(folder.path(), &["inbox", "drop", "--state", "s.db"]);
    assert_eq!(code, 2);
    assert!(said.contains("`--all`"), "{said}");
}
