//! What a run asks to persist: intents, not rows. A store applies a batch to the fresh rows inside
//! one transaction, so that nothing is lost among processes.
//!
//! Failures, successes and uses are facts and always land. The changes of the session land together
//! or not at all: when one of them finds another selection than it expects, none is written, and
//! [`Applied::conflict`] says so (A6).

use std::{collections::BTreeMap, time::Duration};

use super::{
    model::{Candidate, Origin, Override, Pin, ProfileId, Secret, Usage, Window},
    name::Name,
    schedule::Schedule,
    secret::Flaw,
    view::View,
};
use crate::{
    lang::policy::{Lane, Scope, SelectionSource},
    time::Timestamp,
};

/// Changes of one transaction (A6).
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The session that the session changes in it are about, and whose view comes back.
    pub session: Option<String>,
    /// Applied in order.
    pub changes: Vec<Change>,
}

/// One intent (A5, E8).
#[derive(Clone, Debug)]
pub enum Change {
    /// An attempt failed (E).
    Failure(Failure),
    /// An attempt answered (E10).
    Success(Success),
    /// An attempt begins: `last_used` (E8). Alone it writes nothing at once.
    Used {
        /// The profile.
        profile: ProfileId,
        /// Start of the attempt.
        at: Timestamp,
    },
    /// A manual clear (E7): windows, ladders and counters of a profile.
    Clear {
        /// The profile; `None`: all.
        profile: Option<ProfileId>,
        /// Only what concerns this model; `None`: everything.
        model: Option<String>,
    },
    /// Usage from a legacy file, for a profile that has none yet (C4).
    Adopt {
        /// The profile.
        profile: ProfileId,
        /// Its usage.
        usage: Usage,
    },
    /// A refreshed credential that the host handed back (C8).
    NewSecret(NewSecret),
    /// Compare-and-set of the session's stored selection (A5, A6).
    Select {
        /// What must be stored now.
        expect: Expect,
        /// What will be; `None` clears it.
        new: Option<Override>,
    },
    /// Undoes what this run wrote, and only that (A6).
    Rollback(Rollback),
    /// Pins a profile (C9, C10). An automatic pin never replaces a user's.
    Pin {
        /// The provider, by its present name.
        family: String,
        /// The pin.
        pin: Pin,
    },
    /// Pins a profile where the run saw `over`. A pin that somebody has changed or taken away meanwhile
    /// stays so, and nothing of it is undone later (A6).
    PinOver {
        /// The provider, by its present name.
        family: String,
        /// The pin.
        pin: Pin,
        /// What is expected there.
        over: Option<Pin>,
    },
    /// Takes a pin away.
    Unpin {
        /// The provider family; `None`: all.
        family: Option<String>,
        /// Whose.
        whose: Release,
    },
    /// The first turn at which an origin probe was due (B3). Nothing happens when the selection is
    /// no longer `of`.
    OriginProbed {
        /// The automatic override.
        of: SelectionKey,
        /// When.
        at: Timestamp,
    },
    /// The notice of this override is sent (J4). Nothing happens when the selection is no longer `of`,
    /// or another run has sent it.
    Notified {
        /// The automatic override.
        of: SelectionKey,
    },
    /// `reset` (K5): an automatic override goes, a user's stays.
    Reset {
        /// Pins that go too.
        release: Release,
    },
    /// `new` (K5): every override goes.
    New {
        /// Pins that go too.
        release: Release,
    },
    /// A compaction completed (K5): the count rises.
    Compact {
        /// Pins that go.
        release: Release,
    },
}

impl Change {
    /// The profile that an attempt used, and the start of that attempt, where it did not fail.
    pub(super) fn used(&self) -> Option<(&ProfileId, Timestamp)> {
        match self {
            Self::Used { profile, at } => Some((profile, *at)),
            Self::Success(success) => Some((&success.profile, success.attempt_started_at)),
            _ => None,
        }
    }
}

/// Whose pins go (K5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// Automatic ones.
    pub auto: bool,
    /// The user's.
    pub user: bool,
}

impl Release {
    /// Every pin.
    pub const ALL: Self = Self { auto: true, user: true };
    /// Automatic pins only.
    pub const AUTO: Self = Self { auto: true, user: false };
}

/// A failed attempt (E0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The profile that was used.
    pub profile: ProfileId,
    /// The model, when its id is known.
    pub model: Option<Name>,
    /// The bucket, by name.
    pub bucket: String,
    /// Start of the attempt.
    pub attempt_started_at: Timestamp,
    /// The window that the reaction asks for.
    pub window: Option<WindowIntent>,
    /// Quiet after which counters start afresh (E4); `None`: never.
    pub forget_after: Option<Duration>,
}

/// The window slot of a reaction, resolved (E0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowIntent {
    /// Cooldown or disable.
    pub lane: Lane,
    /// `Model` falls back on the profile when the model is unknown (E2).
    pub scope: Scope,
    /// The schedule.
    pub schedule: Schedule,
    /// Seed of the schedule's jitter.
    pub seed: u64,
    /// The provider's reset time, if it gave one and the reaction asks for it (E6).
    pub hint: Option<Hint>,
    /// Only from this failure in a row on.
    pub after: Option<AfterInARow>,
}

/// A provider-given reset time and its bounds (E6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The time as it was given.
    pub given: Timestamp,
    /// Sooner hints become this, from now.
    pub at_least: Duration,
    /// Later hints become this, from now; a trusted declaration brings its own.
    pub at_most: Duration,
}

/// `after N in a row within D` (E0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfterInARow {
    /// The failure that opens the window (2: the second).
    pub count: u32,
    /// How close together two neighbours must be.
    pub within: Duration,
}

/// An answered attempt (E10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success {
    /// The profile that was used.
    pub profile: ProfileId,
    /// The model, when its id is known.
    pub model: Option<Name>,
    /// Start of the attempt.
    pub attempt_started_at: Timestamp,
    /// Resets the model's ladder.
    pub reset_model: bool,
    /// Resets every profile-scoped ladder.
    pub reset_profile: bool,
}

/// A refreshed credential (C8).
#[derive(Clone, Debug)]
pub struct NewSecret {
    /// The profile.
    pub profile: ProfileId,
    /// The new key or access token.
    pub secret: Secret,
    /// The new refresh token; `None` keeps the old one.
    pub refresh: Option<Secret>,
    /// When `secret` expires, if it does.
    pub expires: Option<Timestamp>,
}

impl NewSecret {
    /// What is wrong with its secrets, if anything is.
    #[must_use]
    pub fn flaw(&self) -> Option<Flaw> {
        self.secret.flaw().or_else(|| self.refresh.as_ref()?.flaw())
    }
}

/// What compare-and-set compares, as one (A6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionKey {
    /// Provider and model.
    pub candidate: Candidate,
    /// The source.
    pub source: Option<SelectionSource>,
    /// The origin.
    pub origin: Option<Origin>,
}

impl Override {
    /// What compare-and-set compares (A6).
    #[must_use]
    pub fn key(&self) -> SelectionKey {
        SelectionKey { candidate: self.candidate.clone(), source: self.source, origin: self.origin.clone() }
    }

    /// Whether `key` is this override's.
    #[must_use]
    pub fn is(&self, key: &SelectionKey) -> bool {
        self.candidate == key.candidate && self.source == key.source && self.origin == key.origin
    }
}

/// What a [`Change::Select`] expects to find (A6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Anything: a manual change always wins.
    Anything,
    /// No selection.
    Nothing,
    /// This selection.
    Key(SelectionKey),
}

impl Expect {
    /// What is stored now.
    #[must_use]
    pub fn of(selected: Option<&Override>) -> Self {
        selected.map_or(Self::Nothing, |selected| Self::Key(selected.key()))
    }

    /// Whether `selected` is what was expected.
    #[must_use]
    pub fn holds(&self, selected: Option<&Override>) -> bool {
        match self {
            Self::Anything => true,
            Self::Nothing => selected.is_none(),
            Self::Key(key) => selected.is_some_and(|selected| selected.is(key)),
        }
    }
}

/// Undoes what a run wrote (A6). If the selection is no longer `wrote`, the batch conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollback {
    /// What the run wrote last.
    pub wrote: SelectionKey,
    /// The selection before the run.
    pub restore: Option<Override>,
    /// Pins that the run wrote, by provider family. A pin that has changed since stays.
    pub pins: BTreeMap<String, PinBefore>,
}

/// A pin that a run wrote, and what stood there before (A6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinBefore {
    /// What the run wrote.
    pub wrote: Pin,
    /// What stood there before the run.
    pub before: Option<Pin>,
}

/// A batch that has been applied.
#[derive(Clone, Debug)]
pub struct Applied {
    /// One for each change, in order.
    pub outcomes: Vec<Outcome>,
    /// A session change found another selection than it expected: no session change of the batch
    /// was written. The others were.
    pub conflict: bool,
    /// The state after it, with the batch's session.
    pub view: View,
}

/// What a change did (E7, E10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, or there was nothing to do.
    Done,
    /// The failure opened a window.
    Opened(Window),
    /// The failure fell into an open window, and a later hint extended it (E7).
    Extended(Window),
    /// The failure fell into an open window and changed nothing of it (E7).
    Unchanged(Window),
    /// The failure asks for no window, or not yet (`after N in a row`).
    NoWindow,
    /// A compare failed; nothing of the session was written.
    Conflict,
    /// The profile is not stored.
    UnknownProfile,
    /// The new secret is none; the old one stays (C8).
    Refused(Flaw),
    /// The pin or selection at this place is somebody else's by now, and stays.
    Kept,
}
