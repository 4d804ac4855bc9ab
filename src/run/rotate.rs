//! Rotation inside a candidate: which profiles were tried, and how many rotations of a bucket are
//! left (F).

use std::sync::OnceLock;

use crate::{
    lang::{policy::RotateSlot, tree::BucketId},
    state::model::ProfileId,
    table::Table,
};

/// What a run has done at its current candidate. The next candidate starts anew, also one of the
/// same provider (F4).
#[derive(Clone, Debug, Default)]
pub(super) struct Rotation {
    /// Profiles called; none is called twice.
    tried: Vec<Option<ProfileId>>,
    /// The first profile in the order, blocked or not, when it was asked for (C9).
    head: OnceLock<Option<ProfileId>>,
    /// Rotations so far, by the bucket that caused them.
    counts: Vec<(BucketId, u32)>,
}

impl Rotation {
    /// Whether a call was made at this candidate.
    pub fn begun(&self) -> bool {
        !self.tried.is_empty()
    }

    /// Whether this profile was called here.
    pub fn tried(&self, profile: Option<&ProfileId>) -> bool {
        self.tried.iter().any(|tried| tried.as_ref() == profile)
    }

    /// The first profile in the order, as it was when it was first asked for here; the order by last use
    /// changes with every call.
    pub fn head(&self, find: impl FnOnce() -> Option<ProfileId>) -> Option<ProfileId> {
        self.head.get_or_init(find).clone()
    }

    /// A call is planned; as long as there was none, the order is looked at anew.
    pub fn plan(&mut self) {
        if !self.begun() {
            self.head.take();
        }
    }

    /// A call with this profile begins.
    pub fn begin(&mut self, profile: Option<&ProfileId>) {
        if !self.tried(profile) {
            self.tried.push(profile.cloned());
        }
    }

    /// Whether the reaction's limit allows one more rotation after a failure of `bucket` (F2, F3).
    pub fn within_limit(&self, table: &Table, slot: RotateSlot, bucket: BucketId) -> bool {
        slot.up_to.is_none_or(|limit| self.count(bucket) < table.settings().count(limit))
    }

    /// A rotation after a failure of `bucket` is made.
    pub fn rotate(&mut self, bucket: BucketId) {
        match self.counts.iter_mut().find(|(of, _)| *of == bucket) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => self.counts.push((bucket, 1)),
        }
    }

    fn count(&self, bucket: BucketId) -> u32 {
        self.counts.iter().find(|(of, _)| *of == bucket).map_or(0, |(_, count)| *count)
    }
}
