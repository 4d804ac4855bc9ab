//! The state that a scenario starts from.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{answers::Script, error::PlayError, line::Watch, play::Player, scenario::ScenarioProfile};
use crate::{
    run::Routing,
    state::{
        model::{Profile, Secret, Usage},
        store::{Store, StoreError},
        view::ViewQuery,
    },
    table::Table,
    time::Timestamp,
};

/// Where profiles of scenarios have their secrets: nowhere. A state file that a scenario was played
/// against holds this reference and no secret.
const NOWHERE: &str = "POINTSMAN_SIMULATED";

/// A secret that there is and that nobody can read.
pub(super) fn no_secret() -> Secret {
    Secret::Env(NOWHERE.to_owned())
}

/// Stores the profiles of a scenario that are not stored yet; the others stay as they are.
///
/// # Errors
/// [`StoreError`] when the state cannot be read or written.
pub fn prepare(store: &dyn Store, profiles: &[ScenarioProfile], start: Timestamp) -> Result<(), StoreError> {
    for profile in profiles {
        if store.profile(&profile.id)?.is_none() {
            store.put_profile(&stored(profile, start))?;
        }
    }
    Ok(())
}

fn stored(profile: &ScenarioProfile, start: Timestamp) -> Profile {
    Profile {
        id: profile.id.clone(),
        provider: profile.provider.clone(),
        kind: profile.kind,
        secret: profile.secret.then(no_secret),
        refresh: profile.refresh.then(no_secret),
        expires: profile.expires.map(|span| start.after(span)),
        email: None,
        extra: BTreeMap::new(),
        inserted: 0,
    }
}

/// The latest moment that the state tells of: a use, a failure, a window set, a selection written.
/// A scenario that is played against a file goes on from there; `None` when nothing has happened.
///
/// # Errors
/// [`StoreError`] when the state cannot be read.
pub fn latest(store: &dyn Store) -> Result<Option<Timestamp>, StoreError> {
    // Seen from the end of time no window is open, and none can be too long: nothing is cut.
    let end = Timestamp::from_millis(i64::MAX);
    let view = store.view(&ViewQuery::default(), end.before(Duration::from_millis(1)))?;
    let of_profiles = view.profiles.iter().filter_map(|profile| last_of(&profile.usage));
    let sessions = store.sessions()?;
    let of_sessions = sessions.iter().filter_map(|(_, session)| {
        let selected = session.selected.as_ref()?;
        Some(selected.written_at.max(selected.probed_at.unwrap_or_default()))
    });
    Ok(of_profiles.chain(of_sessions).max())
}

fn last_of(usage: &Usage) -> Option<Timestamp> {
    let windows = usage.windows.iter().map(|window| window.since);
    let ladders = usage.ladders.iter().map(|ladder| ladder.climbed_at);
    let streaks = usage.streaks.iter().map(|row| row.last);
    let told = windows.chain(ladders).chain(streaks);
    told.chain(usage.last_used).chain(usage.last_failure_at).max()
}

/// When scenarios start that do not say when and are not played against a file: 2026-01-01 UTC.
const FIXED: Timestamp = Timestamp::from_millis(1_767_225_600_000);

impl super::scenario::Scenario {
    /// When the scenario starts. With `state` (a state that outlives it): at the latest moment that
    /// the state tells of, so that it goes on where the last one stopped; in a fresh state at `now`,
    /// so that `status` finds it there. Without: as it says, else on a fixed day. A state that is
    /// later than what the scenario says wins, since no clock goes backwards.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be read.
    pub fn starts(&self, state: Option<&dyn Store>, now: Timestamp) -> Result<Timestamp, StoreError> {
        let Some(state) = state else { return Ok(self.start.unwrap_or(FIXED)) };
        Ok(match (latest(state)?, self.start) {
            (Some(latest), start) => start.map_or(latest, |start| latest.max(start)),
            (None, start) => start.unwrap_or(now),
        })
    }

    /// Plays the scenario from `start` on against `store`. `table` is compiled with its config.
    ///
    /// # Errors
    /// [`PlayError`] when the state cannot be read or written.
    pub fn play(
        &self,
        table: Arc<Table>,
        store: &dyn Store,
        start: Timestamp,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<(), PlayError> {
        prepare(store, &self.profiles, start)?;
        let mut routing = Routing::from(&self.config);
        routing.no_credentials.extend(self.no_credentials.iter().cloned());
        let mut player = Player::new(table, Arc::new(routing), store, start, seed);
        player.play(self.turns.iter().cloned(), &mut Script::new(&self.providers), watch)?;
        Ok(store.flush()?)
    }
}
