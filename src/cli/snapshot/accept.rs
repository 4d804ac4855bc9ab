//! Stores what the classifier says now. Errors become lines of the snapshot as they are read, so that a large corpus
//! takes the memory of two snapshots' texts and of its ids.

use std::{collections::HashMap, path::Path};

use super::{Files, fit_to_keep, no_snapshot, source, write};
use crate::{
    classify::Scratch,
    cli::{
        corpus,
        escape::Shown,
        failure::{Failure, Outcome},
        world::World,
    },
    lang::diagnostic::counted,
    table::Table,
    verify::snapshot::{CLOCK, Counts, Ids, Judgement, Snapshot, print_row},
};

/// Puts the judgements of a corpus in the place of what is `stored`.
pub(super) fn run(
    table: &Table,
    files: &Files,
    store: &Path,
    stored: Option<&str>,
    world: &World,
) -> Result<Outcome, Failure> {
    let name = source::name(&files.corpus, store);
    let (old, rows) = match stored {
        Some(text) => {
            let (old, rows) = Snapshot::opened(text).map_err(|error| no_snapshot(store, &error))?;
            source::same(&old, &name, files, store)?;
            (old, rows)
        }
        None => (Snapshot::new(&name, files.raw), Vec::new()),
    };
    let before = rows.len();
    let mut known: HashMap<&str, &str> = rows.into_iter().collect();
    let (mut text, mut errors, mut counts) = (old.head(), 0, Counts::default());
    let (mut ids, mut scratch) = (Ids::default(), Scratch::default());
    let unreadable = corpus::read(&files.corpus, files.raw, world, |error| {
        let id = ids.next(error.id, error.line.bytes);
        let verdict = table.classify(&error.signal, &mut scratch);
        let from = text.len();
        print_row(&mut text, &id, &Judgement::of(table, &verdict, error.signal.received_at.unwrap_or(CLOCK)));
        let new = text.get(from..).unwrap_or_default();
        match known.remove(id.as_str()) {
            None => counts.new += 1,
            Some(old) if !old.split_whitespace().eq(new.split_whitespace()) => counts.moved += 1,
            Some(_) => {}
        }
        errors += 1;
        Ok(())
    })?;
    counts.gone = known.len();
    fit_to_keep(files, store, unreadable, errors, before)?;
    write(store, &text)?;
    let changes = if stored.is_none() { String::new() } else { format!(", {counts}") };
    world.say(&format!("{}: {}{changes}", Shown(&store.to_string_lossy()), counted(errors, "error")));
    Ok(Outcome::Fine)
}
