//! One call, as the host makes it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use secrecy::SecretString;

use super::credentials::Resolved;
use crate::{
    run::{self, Probe, Refreshed},
    state::{
        model::{Candidate, ProfileId},
        name::Name,
        view::ProfileInfo,
    },
    time::Timestamp,
};

/// A call to make (A3, C8). Debug never shows a secret.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The provider to call.
    pub provider: Name,
    /// The model to ask for.
    pub model: Name,
    /// The profile; `None` for a provider that needs no credential.
    pub profile: Option<ProfileId>,
    /// The key or access token.
    pub secret: Option<SecretString>,
    /// The refresh token, with `refresh_first`.
    pub refresh: Option<SecretString>,
    /// What else is known of the profile: its kind, e-mail, project id, and so on.
    pub info: Option<Arc<ProfileInfo>>,
    /// The credential has expired: refresh it first, and hand the new one to [`Attempt::refreshed`].
    pub refresh_first: bool,
    /// The host has mended the payload after the last call (D9).
    pub repaired: bool,
    /// Why a blocked profile is used (B3, I).
    pub probe: Option<Probe>,
    /// When the engine cuts the call off (H6).
    pub deadline: Option<Timestamp>,
    notes: Noted,
}

/// [`Notes`], shared with the driver.
#[derive(Clone, Debug, Default)]
pub(super) struct Noted(Arc<Mutex<Notes>>);

/// What the host says while a call goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub new_secret: Option<Refreshed>,
    pub delivered: bool,
}

impl Attempt {
    pub(super) fn new(step: &run::Attempt, resolved: Resolved, repaired: bool) -> Self {
        let Candidate { provider, model } = step.candidate.clone();
        Self {
            provider,
            model,
            profile: step.profile.clone(),
            secret: resolved.secret,
            refresh: resolved.refresh,
            info: resolved.info,
            refresh_first: step.refresh_first,
            repaired,
            probe: step.probe,
            deadline: step.deadline,
            notes: Noted::default(),
        }
    }

    /// A refreshed credential to store (C8). It is kept whatever comes of the call.
    pub fn refreshed(&self, new: Refreshed) {
        self.notes.lock().new_secret = Some(new);
    }

    /// Output of this call has reached the user (H5): if it breaks off, nobody else is asked. Say so
    /// with the first token that is shown, so that a deadline or an interrupt knows of it.
    pub fn delivered(&self) {
        self.notes.lock().delivered = true;
    }

    pub(super) fn notes(&self) -> Noted {
        self.notes.clone()
    }
}

impl Noted {
    pub fn take(&self) -> Notes {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
