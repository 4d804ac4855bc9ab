//! What classification says.

use crate::{
    lang::tree::{BucketId, ResetId, RuleId},
    time::Timestamp,
};

/// The outcome of one classification. Plain numbers; the table turns them into names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The class of the error.
    pub bucket: BucketId,
    /// The deciding rule; `None` when nothing matched.
    pub rule: Option<RuleId>,
    /// When the provider said it will serve again, if the reaction asks for it (E6).
    pub reset: Option<ResetHint>,
    /// Observed rules that matched before the deciding one (in order); mostly empty.
    pub observed: Vec<RuleId>,
}

/// A provider-given reset time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetHint {
    /// The time that counts, within bounds.
    pub at: Timestamp,
    /// The time that was given.
    pub given: Timestamp,
    /// The declaration that found it.
    pub from: ResetId,
}

impl ResetHint {
    /// Whether bounds changed it.
    #[must_use]
    pub fn clamped(&self) -> bool {
        self.at != self.given
    }
}
