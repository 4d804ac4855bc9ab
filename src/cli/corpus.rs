//! Recorded errors, one after the other.

use std::{io, path::Path};

use super::{
    escape::Shown,
    failure::Failure,
    input::Input,
    jsonl::{self, UTF16, is_utf16},
    lines::{Line, Lines, Stop},
    progress::Progress,
    world::World,
};
use crate::{signal::SignalRef, verify::snapshot::CLOCK};

/// Remarks on unreadable lines beyond this number help nobody.
const MOST: u64 = 10;

/// An error of the corpus.
pub(super) struct Recorded<'a> {
    /// Its id, when it has one.
    pub(super) id: Option<&'a str>,
    /// Where it stands.
    pub(super) line: &'a Line<'a>,
    /// What is known of it. Always with a time: its own, else a fixed one.
    pub(super) signal: SignalRef<'a>,
}

/// Reads FILE (`-`: stdin) of JSON lines, or of plain log lines; how many could not be read.
///
/// # Errors
/// When the file cannot be read, and what `each` fails with.
pub(super) fn read(
    path: &Path,
    raw: bool,
    world: &World,
    mut each: impl FnMut(&Recorded<'_>) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let (reader, unreadable) = Input::open(Some(path), world)?.into_parts();
    let mut lines = Lines::new(reader);
    let mut progress = Progress::before_results(world, "errors");
    let mut failed = 0;
    loop {
        let line = match lines.next(|| Ok(())) {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(Stop::Input(error) | Stop::Hook(error)) => return Err(unreadable(error)),
        };
        progress.at(line.number);
        if line.number == 1 && is_utf16(line.bytes) {
            return Err(unreadable(io::Error::other(UTF16)));
        }
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        let text = String::from_utf8_lossy(line.bytes);
        if raw {
            let signal = SignalRef { message: Some(&text), received_at: Some(CLOCK), ..SignalRef::default() };
            each(&Recorded { id: None, line: &line, signal })?;
            continue;
        }
        match jsonl::read_line(&line, &text) {
            Ok(parsed) => {
                let id = parsed.id_text();
                let mut signal = parsed.signal();
                signal.received_at = signal.received_at.or(Some(CLOCK));
                each(&Recorded { id: id.as_deref(), line: &line, signal })?;
            }
            Err(error) => {
                failed += 1;
                if failed <= MOST {
                    let stdin = path.as_os_str() == "-";
                    let name = if stdin { "stdin".into() } else { path.to_string_lossy() };
                    world.say(&format!("{}:{}: {}", Shown(&name), line.number, Shown(&error)));
                }
            }
        }
    }
    drop(progress);
    if failed > MOST {
        world.say(&format!("… and {} lines more that cannot be read", failed - MOST));
    }
    Ok(failed)
}
