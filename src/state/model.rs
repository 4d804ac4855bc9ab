//! The state as plain data. Names of buckets are strings here: state outlives a rule set.

use std::{collections::BTreeMap, time::Duration};

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{name::Name, secret::Flaw};
use crate::{
    lang::policy::{CredentialKind, Lane, SelectionSource},
    time::Timestamp,
};

/// `provider:NAME` (C2).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProfileId(pub Name);

/// A credential's secret part: given, or where to read it at the moment of use (C1).
#[derive(Clone, Debug)]
pub enum Secret {
    /// The secret itself.
    Direct(SecretString),
    /// `env:NAME`.
    Env(String),
    /// `file:PATH`.
    File(std::path::PathBuf),
}

/// One credential (C1). Debug never shows a secret.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its id.
    pub id: ProfileId,
    /// The provider that it is for.
    pub provider: String,
    /// Its kind.
    pub kind: CredentialKind,
    /// Key, token or access token.
    pub secret: Option<Secret>,
    /// Refresh token (oauth).
    pub refresh: Option<Secret>,
    /// When `secret` expires.
    pub expires: Option<Timestamp>,
    /// The login's e-mail (oauth).
    pub email: Option<String>,
    /// Further non-secret fields: project id, enterprise URL, and what an import did not know.
    pub extra: BTreeMap<String, serde_json::Value>,
    /// Position of insertion; ties of the order fall back on it (C6).
    pub inserted: u64,
}

impl Profile {
    /// An API key: `id` is `provider:NAME`, `key` the key itself, `env:NAME` or `file:PATH` (C1).
    #[must_use]
    pub fn api_key(id: &str, key: &str) -> Self {
        let id = ProfileId(id.into());
        Self {
            provider: id.provider().to_owned(),
            id,
            kind: CredentialKind::ApiKey,
            secret: Some(Secret::parse(key)),
            refresh: None,
            expires: None,
            email: None,
            extra: BTreeMap::new(),
            inserted: 0,
        }
    }

    /// What is wrong with its secrets, if anything is (C8).
    #[must_use]
    pub fn flaw(&self) -> Option<Flaw> {
        [&self.secret, &self.refresh].into_iter().flatten().find_map(Secret::flaw)
    }

    /// Takes a refreshed credential over (C8).
    pub fn take(&mut self, new: &super::change::NewSecret) {
        self.secret = Some(new.secret.clone());
        if let Some(refresh) = &new.refresh {
            self.refresh = Some(refresh.clone());
        }
        self.expires = new.expires;
    }
}

/// One open (or past) window (E8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// Cooldown or disable.
    #[serde(with = "lane_name")]
    pub lane: Lane,
    /// The model it blocks; `None`: all.
    pub model: Option<String>,
    /// The ladder's schedule, by name.
    pub schedule: String,
    /// The bucket, by name.
    pub bucket: String,
    /// When it was set.
    pub since: Timestamp,
    /// When it ends.
    pub until: Timestamp,
    /// The ladder's step, from 1.
    pub step: u32,
    /// The provider's own reset time, unclamped, if a hint set the window.
    pub hint: Option<Timestamp>,
    /// How long it was when it was set or last extended: the most that it may last, seen from any
    /// later now (E11).
    #[serde(with = "millis")]
    pub longest: WindowLimit,
}

impl Window {
    /// Whether it is open (E8).
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        now < self.until
    }

    /// Whether it blocks `model` while open (E8); a profile-wide window blocks every model.
    #[must_use]
    pub fn concerns(&self, model: Option<&str>) -> bool {
        self.model.is_none() || self.model.as_deref() == model
    }

    /// Whether bounds changed the provider's own reset time (E6).
    #[must_use]
    pub fn clamped(&self) -> bool {
        self.hint.is_some_and(|hint| hint != self.until)
    }
}

impl Usage {
    /// The open windows that block `model` (E8).
    pub fn blocking<'a>(
        &'a self,
        model: Option<&'a str>,
        now: Timestamp,
    ) -> impl Iterator<Item = &'a Window> {
        self.windows.iter().filter(move |window| window.is_open(now) && window.concerns(model))
    }

    /// Until when `model` is blocked: the latest end of the open windows that concern it (E8).
    #[must_use]
    pub fn blocked_until(&self, model: Option<&str>, now: Timestamp) -> Option<Timestamp> {
        self.blocking(model, now).map(|window| window.until).max()
    }
}

/// How far a ladder has climbed (E10). Its key is (profile, model or none, schedule).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ladder {
    /// The model, or none: the profile.
    pub model: Option<String>,
    /// The schedule, by name.
    pub schedule: String,
    /// Steps climbed.
    pub step: u32,
    /// When it last climbed.
    pub climbed_at: Timestamp,
}

/// A row of failures of one bucket, for `after N in a row within D` (E0).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Streak {
    /// The model, or none.
    pub model: Option<String>,
    /// The bucket, by name.
    pub bucket: String,
    /// Failures in a row.
    pub count: u32,
    /// The last of them.
    pub last: Timestamp,
}

/// Usage of one profile (E8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Start of the last attempt.
    pub last_used: Option<Timestamp>,
    /// Failures since the last fresh start.
    pub error_count: u32,
    /// Failures per bucket name.
    pub failure_counts: BTreeMap<String, u32>,
    /// The last failure.
    pub last_failure_at: Option<Timestamp>,
    /// Ladders.
    pub ladders: Vec<Ladder>,
    /// Windows, open ones and those not yet swept.
    pub windows: Vec<Window>,
    /// Failures in a row.
    pub streaks: Vec<Streak>,
}

/// A provider/model pair.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Provider id.
    pub provider: Name,
    /// Model id, without the provider.
    pub model: Name,
}

/// A profile pinned to a session (C9, C10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pin {
    /// The profile.
    pub profile: ProfileId,
    /// The user's (C10), or the engine's (C9).
    pub by_user: bool,
    /// The compaction count at which it was set.
    pub compaction_count: u32,
    /// The profile that an automatic pin displaced (C9).
    pub displaced: Option<ProfileId>,
}

/// The model selection stored for a session (A6, B).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Override {
    /// `provider_override`, `model_override`.
    pub candidate: Candidate,
    /// `model_override_source`; `None` is a legacy override (B5).
    pub source: Option<SelectionSource>,
    /// `model_override_origin`: the selection that an automatic override came from.
    pub origin: Option<Origin>,
    /// When it was written.
    pub written_at: Timestamp,
    /// The last due origin probe (B3).
    pub probed_at: Option<Timestamp>,
    /// The bucket of the selected model's last failure, for the notice (J4).
    pub reason: Option<String>,
    /// A fallback notice for this override was sent.
    pub notified: bool,
}

/// Where an automatic override came from (B3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The selected provider and model.
    pub candidate: Candidate,
    /// The source whose chain goes on.
    pub source: SelectionSource,
    /// The job's own list, when the source is a job (B6).
    pub fallbacks: Option<Vec<Candidate>>,
}

/// One conversation of a host (A1, K2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The stored selection.
    pub selected: Option<Override>,
    /// Pins, by provider ([`crate::table::Table::present_name`]).
    pub pins: BTreeMap<String, Pin>,
    /// How often the session was compacted.
    pub compaction_count: u32,
    /// Grows with every change: what compare-and-set compares.
    pub revision: u64,
    /// Fields of the host, never touched.
    pub other: BTreeMap<String, serde_json::Value>,
}

/// The longest that a window may last, seen from now (E11).
pub type WindowLimit = Duration;

mod millis {
    //! A span as whole milliseconds.
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(span: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u64(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
        Ok(Duration::from_millis(u64::deserialize(input)?))
    }
}

mod lane_name {
    //! `cooldown` and `disabled`, as the legacy files and the simulator say.
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::lang::policy::Lane;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub fn serialize<S: Serializer>(lane: &Lane, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(match lane {
            Lane::Cooldown => "cooldown",
            Lane::Disable => "disabled",
        })
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Lane, D::Error> {
        match String::deserialize(input)?.as_str() {
            "cooldown" => Ok(Lane::Cooldown),
            "disabled" => Ok(Lane::Disable),
            other => Err(D::Error::custom(format!("`{other}` is no lane"))),
        }
    }
}
