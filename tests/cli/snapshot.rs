//! What `snapshot` must not do to a snapshot that is there.

use std::{fs, path::Path, process::Output};

use super::{pointsman, run};

const GOOD: &str = "{\"id\":\"a\",\"message\":\"Rate limit reached\"}\n{\"id\":\"b\",\"status\":402}\n";

/// A folder with `errors.jsonl` and its snapshot; the snapshot's text.
fn kept() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("errors.jsonl"), GOOD).unwrap();
    let (code, said) = snapshot(folder.path(), &["accept", "errors.jsonl"], b"");
    assert_eq!(code, 0, "{said}");
    let text = stored(folder.path());
    (folder, text)
}

fn stored(folder: &Path) -> String {
    fs::read_to_string(folder.join("snapshots/errors.snap")).unwrap()
}

/// Exit code, and what is said on both ways out.
fn snapshot(folder: &Path, args: &[&str], input: &[u8]) -> (i32, String) {
    let mut command = pointsman(&["snapshot"]);
    command.args(args).current_dir(folder);
    let Output { status, stdout, stderr } = run(command, input);
    let said = [stdout, stderr].concat();
    (status.code().expect("no signal"), String::from_utf8(said).unwrap())
}

#[test]
fn nothing_is_stored_while_lines_cannot_be_read() {
    let utf16: Vec<u8> = [0xFEFF].into_iter().chain(GOOD.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let long = [b"{\"message\":\"", "x".repeat(9 << 20).as_bytes(), b"\"}\n"].concat();
    for (bad, part) in [
        (b"garbage\n".to_vec(), "errors.jsonl:1: the line is not a JSON object"),
        ([GOOD.as_bytes(), b"{\n"].concat(), "errors.jsonl:3: the JSON ends too early"),
        (utf16, "UTF-16"),
        (long, "errors.jsonl:1: the line is longer than 8 MiB"),
    ] {
        let (folder, before) = kept();
        fs::write(folder.path().join("errors.jsonl"), bad).unwrap();
        let (code, said) = snapshot(folder.path(), &["accept", "errors.jsonl"], b"");
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(part), "{said}");
        assert_eq!(stored(folder.path()), before, "{part}");
    }
}

#[test]
fn nothing_is_stored_over_a_snapshot_when_there_are_no_errors() {
    let (folder, before) = kept();
    fs::write(folder.path().join("errors.jsonl"), "\n").unwrap();
    let (code, said) = snapshot(folder.path(), &["accept", "errors.jsonl"], b"");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("`errors.jsonl` holds no errors"), "{said}");
    assert_eq!(stored(folder.path()), before);

    assert_eq!(snapshot(folder.path(), &["accept", "-"], GOOD.as_bytes()).0, 0);
    assert_eq!(snapshot(folder.path(), &["accept", "-"], b"").0, 2);
}

#[test]
fn a_snapshot_belongs_to_the_corpus_that_it_was_made_of() {
    let (folder, before) = kept();
    fs::create_dir(folder.path().join("cor")).unwrap();
    for other in ["errors.json", "cor/errors.jsonl"] {
        fs::write(folder.path().join(other), GOOD).unwrap();
        for what in ["accept", "check"] {
            let (code, said) = snapshot(folder.path(), &[what, other], b"");
            assert_eq!(code, 2, "{what} {other}: {said}");
            let sentence = format!("was made of `errors.jsonl`, not of `{other}`");
            assert!(said.contains(&sentence) && said.contains("--snapshots"), "{said}");
        }
    }
    let (code, said) = snapshot(folder.path(), &["accept", "--raw", "errors.jsonl"], b"");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("was made without `--raw`"), "{said}");
    assert_eq!(stored(folder.path()), before);

    // The same file under another path is the same corpus.
    let whole = folder.path().join("errors.jsonl");
    for same in [whole.to_str().unwrap(), "./errors.jsonl", "cor/../errors.jsonl"] {
        let (code, said) = snapshot(folder.path(), &["check", same], b"");
        assert_eq!(code, 0, "{same}: {said}");
    }
    let (code, said) = snapshot(
        &folder.path().join("cor"),
        &["check", "../errors.jsonl", "--snapshots", "../snapshots"],
        b"",
    );
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_raw_snapshot_stays_raw() {
    let (folder, _) = kept();
    let args = ["accept", "errors.jsonl", "--raw", "--snapshots", "raw"];
    assert_eq!(snapshot(folder.path(), &args, b"").0, 0);
    assert_eq!(snapshot(folder.path(), &args, b"").0, 0);
    let (code, said) = snapshot(folder.path(), &["check", "errors.jsonl", "--snapshots", "raw"], b"");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("was made with `--raw`"), "{said}");
}

#[test]
fn what_came_and_went_is_counted_apart() {
    let (folder, before) = kept();
    fs::write(
        folder.path().join("errors.jsonl"),
        GOOD.replace("Rate limit reached", "Insufficient balance").replace("\"b\"", "\"c\""),
    )
    .unwrap();
    let counts = "2 errors, 1 judged otherwise than before, 1 new, 1 gone";
    let (code, said) = snapshot(folder.path(), &["check", "errors.jsonl"], b"");
    assert!(code == 1 && said.contains(counts), "{said}");
    let (_, said) = snapshot(folder.path(), &["check", "errors.jsonl", "--format", "json"], b"");
    let last: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(
        last,
        serde_json::json!({ "errors": 2, "changed": 3, "moved": 1, "new": 1, "gone": 1, "unreadable": 0 })
    );
    let (code, said) = snapshot(folder.path(), &["accept", "errors.jsonl"], b"");
    assert!(code == 0 && said.contains(counts), "{said}");
    assert_ne!(stored(folder.path()), before);
}

/// Kept whole, with what each error said and how it changed, they would take more than 80 MB.
#[test]
#[cfg(target_os = "linux")]
fn accepting_a_large_corpus_does_not_hold_its_errors() {
    let folder = tempfile::tempdir().unwrap();
    let message = "Rate limit reached for a model of yours, please slow down and try again a little later";
    let line = |n: usize| format!("{{\"id\":\"error-{n}\",\"message\":\"{message} ({n})\"}}\n");
    fs::write(folder.path().join("errors.jsonl"), (0..40_000).map(line).collect::<String>()).unwrap();
    let mut command = pointsman(&["snapshot", "accept", "errors.jsonl"]);
    let mut child = command.current_dir(folder.path()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = super::peak(&child).unwrap_or(peak);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(stored(folder.path()).lines().count(), 4 + 40_000);
    assert!(peak > 0 && peak < 56 * 1024, "{peak} kB at most in memory");
}
