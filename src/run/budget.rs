//! One budget per run across retries, profiles and models (H6).

use std::time::Duration;

use crate::{table::Table, time::Timestamp};

/// What a run may still spend. Checked before each attempt; skips are free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    /// Calls that are left; `None`: any number.
    attempts: Option<u32>,
    /// When the time is up; `None`: never. A running attempt gets it as its deadline.
    pub deadline: Option<Timestamp>,
}

impl Budget {
    /// The budget of a run that begins now. A budget that no rule gives has no end.
    pub fn begin(table: &Table, now: Timestamp) -> Self {
        let Some(budget) = &table.policy().budget else { return Self::default() };
        let settings = table.settings();
        Self {
            attempts: budget.attempts.map(|slot| settings.count(slot)),
            deadline: budget.elapsed.map(|slot| now.after(settings.duration(slot, None))),
        }
    }

    /// Whether an attempt may begin after a pause of `pause`.
    pub fn allows(&self, now: Timestamp, pause: Duration) -> bool {
        self.attempts != Some(0) && self.deadline.is_none_or(|end| now.after(pause) < end)
    }

    /// Takes one attempt off.
    pub fn spend(&mut self) {
        self.attempts = self.attempts.map(|left| left.saturating_sub(1));
    }

    /// Gives it back: there was no call.
    pub fn give_back(&mut self) {
        self.attempts = self.attempts.map(|left| left.saturating_add(1));
    }
}
