//! What a person, or the host for one, does to a session: picks, pins, `reset`, `new`, compaction (B4,
//! C9, C10, K1, K5). Each gives the change for the store; after `reset` and `new` the engine's memory
//! forgets the session too ([`crate::run::Memory::forget_session`]).

use crate::{
    lang::policy::{PinPolicy, Policy, SelectionSource},
    state::{
        change::{Change, Expect, Release},
        model::{Candidate, Override, Pin, ProfileId},
        view::View,
    },
    table::Table,
    time::Timestamp,
};

/// A person's choice of a model, stored for the session: strict, and stronger than anything there
/// (B4). `source` is the user, or `None` as old hosts left it (B5).
#[must_use]
pub fn pick(candidate: Candidate, source: Option<SelectionSource>, now: Timestamp) -> Change {
    let new = Override {
        candidate,
        source,
        origin: None,
        written_at: now,
        probed_at: None,
        reason: None,
        notified: false,
    };
    Change::Select { expect: Expect::Anything, new: Some(new) }
}

/// A profile pinned to the session of `view`: by the user (C10), else as a preference (C9).
#[must_use]
pub fn pin(table: &Table, view: &View, profile: ProfileId, by_user: bool) -> Change {
    let stored = view.profile(&profile).map(|there| there.info.provider.clone());
    let provider = stored.unwrap_or_else(|| profile.provider().to_owned());
    let family = table.family(&provider).into_owned();
    let pin = Pin { profile, by_user, compaction_count: view.session.compaction_count, displaced: None };
    Change::Pin { family, pin }
}

/// `reset` (K5): automatic overrides and pins go.
#[must_use]
pub fn reset(policy: &Policy) -> Change {
    Change::Reset { release: release(policy, |pin| pin.release_on_reset) }
}

/// `new` (K5): every override and pin goes.
#[must_use]
pub fn new(policy: &Policy) -> Change {
    Change::New { release: release(policy, |pin| pin.release_on_reset) }
}

/// A compaction has completed (C9, K5).
#[must_use]
pub fn compact(policy: &Policy) -> Change {
    Change::Compact { release: release(policy, |pin| pin.release_on_compaction) }
}

/// The pins that an occasion releases. A kind of pin that no rule speaks of does not outlive it.
fn release(policy: &Policy, occasion: impl Fn(PinPolicy) -> bool) -> Release {
    Release {
        auto: policy.pin_auto.as_ref().is_none_or(|slot| occasion(slot.node)),
        user: policy.pin_user.as_ref().is_none_or(|slot| occasion(slot.node)),
    }
}
