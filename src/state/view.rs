//! What a run reads: profiles without secrets, their usage, and one session. A snapshot: cheap to
//! clone, never changes.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    model::{Profile, ProfileId, Session, Usage, Window},
    profiles::Profiles,
};
use crate::{lang::policy::CredentialKind, time::Timestamp};

/// A snapshot of the state (A1, E8).
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Every stored profile, by insertion.
    pub profiles: Profiles,
    /// The session asked for; empty when it is not stored or none was asked for.
    pub session: Arc<Session>,
    /// Cuts of the clock guard that the snapshot shows and nobody has said yet (E11).
    pub cuts: Vec<Cut>,
    /// Grows with every stored change.
    pub revision: u64,
}

impl View {
    /// The profile with this id.
    #[must_use]
    pub fn profile(&self, id: &ProfileId) -> Option<&ProfileView> {
        self.profiles.get(self.profiles.find(id)?)
    }
}

/// What a view is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewQuery<'a> {
    /// The session.
    pub session: Option<&'a str>,
}

/// A stored profile without its secrets, and its usage (C5, E8).
#[derive(Clone, Debug)]
pub struct ProfileView {
    /// The credential.
    pub info: Arc<ProfileInfo>,
    /// Its usage.
    pub usage: Arc<Usage>,
}

/// A credential without its secrets (C1).
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileInfo {
    /// Its id.
    pub id: ProfileId,
    /// The provider that it is for.
    pub provider: String,
    /// Its kind.
    pub kind: CredentialKind,
    /// A key, token or access token is stored or referred to.
    pub has_secret: bool,
    /// A refresh token is stored or referred to.
    pub has_refresh: bool,
    /// When the secret expires.
    pub expires: Option<Timestamp>,
    /// The login's e-mail.
    pub email: Option<String>,
    /// Further non-secret fields.
    pub extra: BTreeMap<String, serde_json::Value>,
    /// Position of insertion (C6).
    pub inserted: u64,
}

impl From<&Profile> for ProfileInfo {
    fn from(profile: &Profile) -> Self {
        Self {
            id: profile.id.clone(),
            provider: profile.provider.clone(),
            kind: profile.kind,
            has_secret: profile.secret.is_some(),
            has_refresh: profile.refresh.is_some(),
            expires: profile.expires,
            email: profile.email.clone(),
            extra: profile.extra.clone(),
            inserted: profile.inserted,
        }
    }
}

/// A window that the clock guard cut (E11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Whose window.
    pub profile: ProfileId,
    /// The window as it is now.
    pub window: Window,
    /// When it would have ended.
    pub was_until: Timestamp,
}
