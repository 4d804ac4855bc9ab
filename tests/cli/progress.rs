//! What a person sees on a terminal while `diff` reads: how many errors lie behind, and nothing of it at the end.

#![expect(clippy::disallowed_methods, reason = "a thread reads the terminal")]

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::fd::OwnedFd,
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use nix::pty::openpty;

use super::pointsman;

/// Errors between two looks at the clock, and more.
const BATCH: usize = 10_000;

/// Batches until a counter must have been shown.
const PATIENCE: usize = 240;

/// Runs `diff` on two batches a second for as long as `more` says; how many that were.
fn diff(stderr: Stdio, more: impl Fn(usize) -> bool) -> (Child, usize) {
    let mut command = pointsman(&["diff", "shipped", "shipped", "--corpus", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let batch = "{\"message\":\"Rate limit reached\"}\n".repeat(BATCH);
    let mut batches = 0;
    while more(batches) {
        input.write_all(batch.as_bytes()).unwrap();
        batches += 1;
        std::thread::sleep(Duration::from_millis(500));
    }
    // The child alone holds the terminal's other end now.
    (child, batches)
}

fn stdout(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn diff_counts_on_a_terminal_and_wipes_the_count() {
    let ends = openpty(None, None).unwrap();
    let (mut ours, theirs): (File, OwnedFd) = (ends.master.into(), ends.slave);
    let seen = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let seen = Arc::clone(&seen);
        move || {
            let (mut told, mut part) = (Vec::new(), [0; 4096]);
            // Once the child is gone, there is an error, or nothing.
            while let Ok(count @ 1..) = ours.read(&mut part) {
                told.extend_from_slice(&part[..count]);
                seen.store(true, Ordering::Relaxed);
            }
            String::from_utf8(told).unwrap()
        }
    });
    let (child, batches) = diff(theirs.into(), |n| n < PATIENCE && !seen.load(Ordering::Relaxed));
    let (said, told) = (stdout(child), reader.join().unwrap());
    assert!(said.contains(&format!("{} errors: none judged differently", batches * BATCH)), "{said}");
    assert!(!said.contains('\r'), "{said:?}");

    let (counts, end) = told.rsplit_once("\r\u{1b}[K").unwrap_or_else(|| panic!("it is not wiped: {told:?}"));
    assert_eq!(end, "");
    let counts: Vec<usize> = counts
        .split('\r')
        .filter(|part| !part.is_empty())
        .map(|part| part.strip_suffix(" errors…").and_then(|count| count.parse().ok()).expect(part))
        .collect();
    assert!(counts.is_sorted() && !counts.is_empty(), "{counts:?}");
    assert!(counts.iter().all(|count| count % 8192 == 0 && *count <= batches * BATCH), "{counts:?}");
    println!("{batches} batches, {counts:?}");

    // As much once more, where nobody looks.
    let (child, _) = diff(Stdio::piped(), |n| n < batches);
    let said = stdout(child);
    assert!(said.lines().count() == 1 && !said.contains("errors…"), "{said:?}");
}
