//! Takes down what the rules make of errors: those that no rule matched, and the tally of each rule.

use std::time::Duration;

use crate::{
    classify::{Scratch, Verdict},
    signal::{Evidence, SignalRef, fingerprint},
    state::{
        inbox::{Notes, Sample},
        store::{Store, StoreError},
    },
    table::Table,
    time::Timestamp,
};

/// Notes wait no longer than this for the next error, once errors come.
const WAITS: Duration = Duration::from_secs(1);

/// Gathers notes in memory, bounded, and stores them together.
#[derive(Debug, Default)]
pub struct Recorder {
    scratch: Scratch,
    evidence: Evidence,
    notes: Notes,
    stored_at: Option<Timestamp>,
}

impl Recorder {
    /// With nothing noted yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Classifies an error and notes what came of it.
    pub fn see(&mut self, table: &Table, signal: &SignalRef<'_>, now: Timestamp) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let verdict = table.classify(signal, &mut scratch);
        self.judged(table, signal, &verdict, &scratch, now);
        self.scratch = scratch;
    }

    /// Notes an error that was just classified with `scratch`. One with nothing to look at is none of
    /// the rules' business.
    pub fn judged(
        &mut self,
        table: &Table,
        signal: &SignalRef<'_>,
        verdict: &Verdict,
        scratch: &Scratch,
        now: Timestamp,
    ) {
        for rule in &verdict.observed {
            self.notes.matched(&table.rule(*rule).name, true, now);
        }
        match verdict.rule {
            Some(rule) => self.notes.matched(&table.rule(rule).name, false, now),
            None if scratch.evidence().is_empty() => {}
            None => {
                let bucket = &table.bucket(verdict.bucket).name;
                let sample = Sample::of(signal);
                // What tells errors apart is stored as well, so it is made of what may be.
                table.normalise(&sample.signal().as_ref(), &mut self.evidence);
                self.notes.unmatched(fingerprint(&self.evidence), bucket, sample, now);
            }
        }
    }

    /// What is to be stored by now: nothing, unless the last time is a second ago.
    pub fn due(&mut self, now: Timestamp) -> Option<Notes> {
        let waits = self.stored_at.is_some_and(|at| now >= at && now.since(at) < WAITS);
        if waits || self.notes.is_empty() {
            return None;
        }
        self.stored_at = Some(now);
        Some(std::mem::take(&mut self.notes))
    }

    /// Takes back what could not be stored.
    pub fn put_back(&mut self, notes: Notes) {
        self.notes.put_back(notes);
    }

    /// Stores all that is noted. A store without an inbox takes nothing.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written; then the notes are kept.
    pub fn flush(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        if self.notes.is_empty() {
            return Ok(());
        }
        if let Some(records) = store.records() {
            records.note(&self.notes)?;
        }
        self.notes = Notes::default();
        Ok(())
    }
}
