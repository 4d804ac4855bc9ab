//! One call, as the host makes it.

use std::sync::Arc;

use secrecy::SecretString;

use super::{credentials::Resolved, notes::Noted};
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

impl Attempt {
    pub(super) fn new(step: &run::Attempt, resolved: Resolved, repaired: bool, notes: Noted) -> Self {
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
            notes,
        }
    }

    /// A refreshed credential to store (C8). It is kept whatever comes of the call: also when the turn is
    /// dropped, or the call panics; and when it comes from a task that outlives them, once the last clone of
    /// this attempt is dropped.
    pub fn refreshed(&self, new: Refreshed) {
        self.notes.lock().new_secret = Some(new);
    }

    /// Output of this call has reached the user (H5): if it breaks off, nobody else is asked. Say so
    /// with the first token that is shown, so that a deadline or an interrupt knows of it.
    pub fn delivered(&self) {
        self.notes.lock().delivered = true;
    }
}
