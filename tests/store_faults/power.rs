//! The power goes while the log is written: whatever is left of its end, the file opens and holds
//! exactly what was acknowledged before.

use std::{fs, path::Path};

use pointsman::state::sqlite::SqliteStore;

use super::{
    long,
    session::{at, dump, states, steps},
    sound,
};

/// Bytes before the first frame of a write-ahead log, and of a frame around its page.
const HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

/// What becomes of the log's end.
#[derive(Clone, Copy, Debug)]
enum End {
    Gone,
    /// The file has its length, but not its content.
    Zeroed,
    Garbage,
    /// A bit of the last whole frame has flipped.
    Flipped,
}

fn damaged(log: &[u8], cut: usize, end: End) -> Vec<u8> {
    let mut left = log[..cut].to_vec();
    match end {
        End::Gone => {}
        End::Zeroed => left.resize(log.len(), 0),
        End::Garbage => left.extend((0..=250).cycle().step_by(167).take(2 * FRAME)),
        End::Flipped => {
            let last = HEADER + (cut - HEADER) / FRAME * FRAME - FRAME;
            left[last + (cut * 31) % FRAME] ^= 1 << (cut % 8);
        }
    }
    left
}

fn log_of(path: &Path) -> std::path::PathBuf {
    path.with_extension("sqlite-wal")
}

#[test]
fn a_log_that_ends_anywhere_holds_what_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    let length = || usize::try_from(fs::metadata(log_of(&path)).unwrap().len()).unwrap();
    let (steps, mut lengths) = (steps(), vec![length()]);
    let file = fs::read(&path).unwrap();
    for (place, step) in steps.iter().enumerate() {
        step.take(&store, at(place)).unwrap();
        lengths.push(length());
    }
    let log = fs::read(log_of(&path)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), file, "all of it is in the log");
    let states = states(steps.iter().enumerate());

    let copy = folder.path().join("copy.sqlite");
    let (mut opened, mut kept) = (0, 0);
    let last = (log.len() - HEADER) / FRAME;
    for frame in 0..=last {
        let border = HEADER + frame * FRAME;
        for (n, torn) in [0, 1, 24, 24 + 512, 24 + 2048, FRAME - 1].into_iter().enumerate() {
            for (m, end) in [End::Gone, End::Zeroed, End::Garbage, End::Flipped].into_iter().enumerate() {
                let cut = border + torn;
                let chosen = (frame + n) % 4 == m
                    && (frame % 6 == n || (torn == 0 && (frame % 3 == 0 || frame == last)));
                if cut > log.len() || (frame == 0 && matches!(end, End::Flipped)) || !(long() || chosen) {
                    continue;
                }
                fs::write(&copy, &file).unwrap();
                let left = damaged(&log, cut, end);
                // What is cut off may have been zeroes anyway.
                let whole = left.iter().zip(&log).take_while(|(a, b)| a == b).count();
                fs::write(log_of(&copy), left).unwrap();
                let acknowledged = lengths.iter().rposition(|length| *length <= whole).unwrap_or(0);
                let found = SqliteStore::open(&copy).unwrap_or_else(|e| panic!("{cut} {end:?}: {e}"));
                assert_eq!(dump(&found), states[acknowledged], "{cut} of {}, {end:?}", log.len());
                drop(found);
                sound(&copy);
                opened += 1;
                kept = kept.max(acknowledged);
            }
        }
    }
    println!("{opened} power cuts in a log of {last} frames");
    assert!(opened > 60 && kept == steps.len());
}
