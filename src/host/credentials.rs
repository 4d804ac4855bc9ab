//! Secrets at the moment of use (C8).

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use secrecy::SecretString;
use tokio::task::spawn_blocking;

use super::{environment::Process, keeper::Keeper};
use crate::state::{
    model::{Profile, ProfileId, Secret},
    secret::{SecretError, SecretSource},
    view::{ProfileInfo, View},
};

/// Profiles with their secrets, as long as the state shows the same credential.
pub(super) struct Credentials {
    source: Arc<dyn SecretSource + Send + Sync>,
    /// Whether a look at the environment may take its time: that of a process does not.
    slow: bool,
    known: Mutex<HashMap<ProfileId, Known>>,
}

/// A stored profile, and what the view showed when it was read.
#[derive(Clone)]
struct Known {
    info: Arc<ProfileInfo>,
    profile: Arc<Profile>,
}

/// A credential, ready to use.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved {
    pub secret: Option<SecretString>,
    pub refresh: Option<SecretString>,
    pub info: Option<Arc<ProfileInfo>>,
    profile: Option<Arc<Profile>>,
}

/// The secrets of a call, to be cut out of what comes back (J6).
pub(super) struct Keys {
    /// Those that are stored are looked at where they are.
    profile: Option<Arc<Profile>>,
    referred: [Option<SecretString>; 2],
}

impl Resolved {
    pub fn keys(&self) -> Keys {
        let stored = |secret: fn(&Profile) -> Option<&Secret>| {
            self.profile.as_deref().and_then(secret).and_then(direct).is_some()
        };
        let secret = self.secret.as_ref().filter(|_| !stored(|profile| profile.secret.as_ref()));
        let refresh = self.refresh.as_ref().filter(|_| !stored(|profile| profile.refresh.as_ref()));
        Keys { profile: self.profile.clone(), referred: [secret.cloned(), refresh.cloned()] }
    }
}

impl Keys {
    pub fn all(&self) -> impl Iterator<Item = &SecretString> {
        self.profile.iter().flat_map(stored).chain(self.referred.iter().flatten())
    }
}

/// The secrets that stand in a profile.
pub(super) fn stored(profile: &Arc<Profile>) -> impl Iterator<Item = &SecretString> {
    [&profile.secret, &profile.refresh].into_iter().flatten().filter_map(direct)
}

/// The secret itself, where it is given.
pub(super) const fn direct(secret: &Secret) -> Option<&SecretString> {
    match secret {
        Secret::Direct(secret) => Some(secret),
        Secret::Env(_) | Secret::File(_) => None,
    }
}

impl Credentials {
    /// Those of this process.
    pub fn of_process() -> Self {
        Self { source: Arc::new(Process), slow: false, known: Mutex::default() }
    }

    /// Those of a source that may have to ask elsewhere, a vault say.
    pub fn new(source: Arc<dyn SecretSource + Send + Sync>) -> Self {
        Self { source, slow: true, known: Mutex::default() }
    }

    /// The secrets of a profile; the refresh token only where it is asked for.
    ///
    /// # Errors
    /// A sentence that says what is missing, and why; the profile stands beside it.
    pub async fn of(
        &self,
        id: &ProfileId,
        refresh: bool,
        view: &View,
        keeper: &Keeper,
    ) -> Result<Resolved, String> {
        let known = self.known(id, view, keeper).await?;
        let refreshed = known.profile.refresh.as_ref().filter(|_| refresh);
        Ok(Resolved {
            secret: self.resolve(known.profile.secret.as_ref()).await.map_err(|e| e.to_string())?,
            refresh: self.resolve(refreshed).await.map_err(|e| e.to_string())?,
            info: Some(known.info),
            profile: Some(known.profile),
        })
    }

    /// Profiles that were used of late.
    pub fn used(&self) -> Vec<Arc<Profile>> {
        self.lock().values().map(|known| Arc::clone(&known.profile)).collect()
    }

    async fn known(&self, id: &ProfileId, view: &View, keeper: &Keeper) -> Result<Known, String> {
        let shown = view.profile(id).map(|profile| &profile.info);
        let shown = shown.ok_or_else(|| "it is no longer stored".to_owned())?;
        if let Some(known) = self.lock().get(id).filter(|known| Arc::ptr_eq(&known.info, shown)) {
            return Ok(known.clone());
        }
        let read = keeper.profile(id).await;
        let profile = match read {
            Ok(profile) => profile.ok_or_else(|| "it is no longer stored".to_owned())?,
            // The state cannot be read: what is known may still work.
            Err(error) => return self.lock().get(id).cloned().ok_or_else(|| error.to_string()),
        };
        let known = Known { info: Arc::clone(shown), profile: Arc::new(profile) };
        self.lock().insert(id.clone(), known.clone());
        Ok(known)
    }

    async fn resolve(&self, secret: Option<&Secret>) -> Result<Option<SecretString>, SecretError> {
        match secret {
            None => Ok(None),
            Some(referred) if self.may_block(referred) => {
                let (there, source) = (referred.clone(), Arc::clone(&self.source));
                let gone = |_| Err(SecretError::BrokenOff);
                spawn_blocking(move || there.resolve(&*source)).await.unwrap_or_else(gone).map(Some)
            }
            Some(secret) => secret.resolve(&*self.source).map(Some),
        }
    }

    const fn may_block(&self, secret: &Secret) -> bool {
        match secret {
            Secret::Direct(_) => false,
            Secret::Env(_) => self.slow,
            Secret::File(_) => true,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ProfileId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
