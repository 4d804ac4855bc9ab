//! The ends of a run that nobody answered: surfaced, exhausted, switched (A7, H4, H6, J3).

use super::{
    event::Event,
    fail::Fail,
    machine::{After, Phase, Run, World},
    overrides::Plan,
    preview,
    step::{Persisted, Step, Surface},
    summary::{ExhaustedReason, SkipReason, Summary},
};
use crate::{state::model::Candidate, time::Timestamp};

/// An end that is not an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The last error is returned as it is.
    Surface,
    /// Nothing answered.
    Exhausted(ExhaustedReason),
    /// The user wants another model.
    Switch(Candidate),
}

impl Run {
    /// No candidate is left: the last error is returned when its reaction says so, else the run is
    /// exhausted (A7).
    pub(super) fn run_out(&mut self, world: &mut World<'_>) {
        if self.last.as_ref().is_some_and(|last| last.surfaces_last()) {
            self.end(End::Surface, world);
        } else {
            self.exhaust(ExhaustedReason::ChainExhausted, world);
        }
    }

    /// Ends as exhausted; when the budget is the reason, the candidates that are left are skipped (H6).
    pub(super) fn exhaust(&mut self, reason: ExhaustedReason, world: &mut World<'_>) {
        if reason == ExhaustedReason::Budget {
            if self.rotation.begun() {
                self.leave(world);
            }
            while self.at < self.chain.len() {
                self.skip(SkipReason::Budget, None);
            }
        }
        self.end(End::Exhausted(reason), world);
    }

    /// Undoes what the run wrote (A6), then ends.
    pub(super) fn end(&mut self, end: End, world: &World<'_>) {
        let mut plan = self.overrides.undo();
        let changes = std::mem::take(&mut plan.changes);
        if changes.is_empty() {
            return self.conclude(&end, world);
        }
        self.persist(changes, After::End(Box::new(end), Box::new(plan)));
    }

    pub(super) fn undone(&mut self, end: &End, mut plan: Plan, persisted: &Persisted, world: &World<'_>) {
        match persisted {
            Persisted::Ok(_) => {
                if let Some(candidate) = plan.rolled_back.take() {
                    self.say(|| Event::RolledBack { candidate });
                }
                self.overrides.commit(&mut plan);
            }
            Persisted::Conflict(_) => {
                if let Some(candidate) = plan.rolled_back.take() {
                    self.say(|| Event::OverrideKept { candidate });
                }
            }
            Persisted::Unavailable { .. } => {}
        }
        self.conclude(end, world);
    }

    fn conclude(&mut self, end: &End, world: &World<'_>) {
        self.say_decisions();
        let mut summary = self.summary(world);
        match end {
            End::Surface => self.surface(summary),
            End::Switch(candidate) => {
                self.say(|| Event::Switched { candidate: candidate.clone() });
                self.step(Step::Switch(candidate.clone()), Phase::Ended);
            }
            End::Exhausted(reason) => {
                summary.reason = Some(*reason);
                self.say(|| Event::Exhausted {
                    soonest_expiry_ms: summary.soonest_expiry,
                    attempts: summary.calls,
                    reason: *reason,
                });
                self.step(Step::Exhausted(Box::new(summary)), Phase::Ended);
            }
        }
    }

    fn surface(&mut self, summary: Summary) {
        let last = self.last.take().map(|last| {
            let Fail { signal, verdict, partial, .. } = *last;
            (signal, verdict, partial)
        });
        let aborted = self.aborted.take().map(|aborted| {
            let (signal, verdict) = *aborted;
            (signal, verdict, false)
        });
        let Some((signal, verdict, partial)) = aborted.or(last) else {
            return self.step(Step::Exhausted(Box::new(summary)), Phase::Ended);
        };
        let table = std::sync::Arc::clone(&self.table);
        let bucket = table.bucket(verdict.bucket);
        let say = table.reaction(&verdict).say.as_ref().map(|say| say.node.clone());
        self.say(|| {
            let message = preview::summary(&signal);
            Event::Surfaced { bucket: std::sync::Arc::clone(&bucket.name), message, partial }
        });
        let bucket_name = std::sync::Arc::clone(&bucket.name);
        let surface =
            Surface { signal, verdict, bucket: bucket_name, http: bucket.http, say, partial, summary };
        self.step(Step::Surface(Box::new(surface)), Phase::Ended);
    }

    /// What came of the run so far, with the soonest expiry among its candidates (J3).
    pub(super) fn summary(&mut self, world: &World<'_>) -> Summary {
        let soonest_expiry = self.soonest_expiry(world);
        Summary { soonest_expiry, ..std::mem::take(&mut self.summary) }
    }

    /// J3: over the candidates that were called or skipped, the earliest over their profiles of the
    /// end of the latest row that applies to their model. Other models' windows do not count.
    fn soonest_expiry(&self, world: &World<'_>) -> Option<Timestamp> {
        if self.summary.attempts.is_empty() && self.summary.skipped.is_empty() {
            return None;
        }
        let tried = self.chain.iter().take(self.at + 1);
        let soonest = |candidate| {
            let seats = self.seating(candidate, world);
            seats.all().filter_map(|seat| seat.block).map(|block| block.until).min()
        };
        tried.filter_map(soonest).min()
    }
}
