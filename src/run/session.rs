//! What a host's session commands change: reset, new, compaction, a user's choice (B4, C10, K5).
//!
//! `reset` and `new` also end what is remembered of the session: call
//! [`super::Memory::forget_session`] with them. They send no notice.

use crate::{
    lang::policy::{PinPolicy, Policy, SelectionSource},
    state::{
        change::{Change, Expect, Release},
        model::{Candidate, Override, Pin, ProfileId, Session},
    },
    table::Table,
    time::Timestamp,
};

/// `reset` (K5): an automatic override and the pins go, a user's model stays.
#[must_use]
pub fn reset(policy: &Policy) -> Change {
    Change::Reset { release: release(policy, |pin| pin.release_on_reset) }
}

/// `new` (K5): every override and the pins go.
#[must_use]
pub fn new(policy: &Policy) -> Change {
    Change::New { release: release(policy, |pin| pin.release_on_reset) }
}

/// A compaction completed (K5): the count rises, automatic pins go.
#[must_use]
pub fn compact(policy: &Policy) -> Change {
    Change::Compact { release: release(policy, |pin| pin.release_on_compaction) }
}

/// A user chooses a model for the session (B4); `None`: what the config selects.
#[must_use]
pub fn choose_model(candidate: Option<Candidate>, now: Timestamp) -> Change {
    let new = candidate.map(|candidate| Override {
        candidate,
        source: Some(SelectionSource::User),
        origin: None,
        written_at: now,
        probed_at: None,
        reason: None,
        notified: false,
    });
    Change::Select { expect: Expect::Anything, new }
}

/// A user pins a profile to the session (C10).
#[must_use]
pub fn pin_profile(table: &Table, session: &Session, profile: ProfileId) -> Change {
    let family = table.present_name(profile.provider()).to_owned();
    let pin = Pin { profile, by_user: true, compaction_count: session.compaction_count, displaced: None };
    Change::Pin { family, pin }
}

/// A user takes the pin of a provider away (C10); `None`: of every provider.
#[must_use]
pub fn unpin_profile(table: &Table, provider: Option<&str>) -> Change {
    let family = provider.map(|provider| table.present_name(provider).to_owned());
    Change::Unpin { family, whose: Release::ALL }
}

/// Whose pins a command releases, by the rules' two pin slots. Without a slot there is no automatic
/// pin to keep; a user's pin that no rule speaks of ends with reset and new all the same (C10).
fn release(policy: &Policy, by: fn(PinPolicy) -> bool) -> Release {
    let spoken = PinPolicy { release_on_reset: true, ..PinPolicy::default() };
    let auto = policy.pin_auto.as_ref().is_none_or(|slot| by(slot.node));
    Release { auto, user: by(policy.pin_user.as_ref().map_or(spoken, |slot| slot.node)) }
}
