//! A scenario as data.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    config::{Config, Problem},
    lang::policy::{CredentialKind, SelectionSource},
    run::{Choice, Kind},
    signal::{Aborted, Signal},
    state::model::{Candidate, ProfileId},
    time::Timestamp,
};

/// A whole scenario. Times are spans since its start.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// When it starts, for texts that name a date; without it, a fixed day.
    pub start: Option<Timestamp>,
    /// The host's config (L).
    pub config: Config,
    /// Credentials, in order of insertion.
    pub profiles: Vec<ScenarioProfile>,
    /// Providers that need no credential.
    pub no_credentials: Vec<String>,
    /// Environment variables, before the real ones.
    pub env: BTreeMap<String, String>,
    /// What calls get: the first that fits.
    pub providers: Vec<Entry>,
    /// What the host does, by time.
    pub turns: Vec<Turn>,
    /// What looks like a mistake and is none for certain.
    pub hints: Vec<Problem>,
}

/// A credential, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioProfile {
    /// `provider:NAME`.
    pub id: ProfileId,
    /// Its provider, if the id does not tell.
    pub provider: String,
    /// Its kind.
    pub kind: CredentialKind,
    /// When it expires, since the start (C8).
    pub expires: Option<Duration>,
    /// It can be refreshed; a login can, unless told otherwise.
    pub refresh: bool,
    /// It has a secret.
    pub secret: bool,
}

/// What a call gets, if the entry fits it.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Calls with this profile only.
    pub profile: Option<ProfileId>,
    /// Calls to this provider only.
    pub provider: Option<String>,
    /// Calls to this model only: `provider/model`, or the bare id at any provider.
    pub model: Option<String>,
    /// From this time on.
    pub from: Option<Duration>,
    /// Before this time only.
    pub until: Option<Duration>,
    /// For so many calls that it fits.
    pub times: Option<u32>,
    /// How long the call takes.
    pub takes: Duration,
    /// The failure; none: an answer.
    pub fail: Option<Signal>,
    /// Output reaches the user before the call ends (H5).
    pub partial: bool,
    /// The host can mend the payload that failed (D9).
    pub repair: bool,
}

/// Something that the host does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When, since the start.
    pub at: Duration,
    /// In which session.
    pub session: String,
    /// What.
    pub act: Act,
}

/// What the host does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// It runs a turn.
    Ask(Ask),
    /// `reset` (K5).
    Reset,
    /// `new` (K5).
    New,
    /// A compaction completed (K5).
    Compact,
    /// A manual clear of windows (E7).
    ClearProfile {
        /// Whose; none: everybody's.
        profile: Option<ProfileId>,
        /// Of this model only.
        model: Option<String>,
    },
    /// The model changes while runs are in flight (H4).
    Switch(Switch),
    /// Runs in flight are cancelled (D11).
    Abort(Aborted),
}

/// A turn that makes calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// The agent.
    pub agent: Option<String>,
    /// Text or image (G6).
    pub kind: Kind,
    /// A heartbeat (B3).
    pub heartbeat: bool,
    /// A model that comes with the turn and is not stored.
    pub choice: Option<Choice>,
    /// A model that is stored before the turn runs: the user's (B4), or one without a source (B5).
    pub stores: Option<(Candidate, Option<SelectionSource>)>,
    /// A profile that is pinned before the turn runs.
    pub pins: Option<Pinned>,
}

/// A profile to pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// Which.
    pub profile: ProfileId,
    /// The user's pin (C10), or a preference (C9).
    pub by_user: bool,
}

/// A live switch of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// To which.
    pub to: Candidate,
    /// A user asked for it (K1).
    pub by_user: bool,
    /// It is stored for the session, as a user's choice is.
    pub stores: bool,
}
