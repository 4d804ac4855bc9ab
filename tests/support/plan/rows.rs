//! The whole of a store, and what a run's batch may change of it.

use std::collections::BTreeMap;

use pointsman::{
    lang::policy::SelectionSource,
    state::{
        change::{Batch, Change, Success},
        model::{ProfileId, Session, Usage, Window},
        store::Store,
        transition::{self, SKEW},
        view::{ProfileInfo, ViewQuery},
    },
    time::Timestamp,
};

/// Every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    pub profiles: BTreeMap<ProfileId, (ProfileInfo, Usage)>,
    pub sessions: BTreeMap<String, Session>,
}

impl Rows {
    pub fn of(store: &dyn Store) -> Self {
        // Seen from the end of time, the clock guard has nothing to cut.
        let view = store.view(&ViewQuery::default(), Timestamp::from_millis(i64::MAX)).unwrap();
        let row = |profile: &pointsman::state::view::ProfileView| {
            let id = profile.info.id.clone();
            (id, (ProfileInfo::clone(&profile.info), Usage::clone(&profile.usage)))
        };
        let sessions = store.sessions().unwrap().into_iter().collect();
        Self { profiles: view.profiles.iter().map(row).collect(), sessions }
    }
}

/// Of a run's batch: it changes what it names and nothing else; windows do not move backwards (E7); what a
/// user chose stays.
pub fn check(before: &Rows, after: &Rows, batch: &Batch, conflict: bool, now: Timestamp) {
    let ids = |rows: &Rows| rows.profiles.keys().cloned().collect::<Vec<_>>();
    assert_eq!(ids(before), ids(after), "no profile comes or goes");
    for (id, (info, usage)) in &before.profiles {
        let (new_info, new_usage) = &after.profiles[id];
        let mut was = usage.clone();
        transition::guard(&mut was, now);
        if !batch.changes.iter().any(|change| names(change, id)) {
            assert_eq!(new_usage, &was, "{id:?} is not named in {batch:?}");
        }
        if !batch.changes.iter().any(|change| matches!(change, Change::NewSecret(new) if new.profile == *id))
        {
            assert_eq!(new_info, info, "{id:?} is not named in {batch:?}");
        }
        for window in &new_usage.windows {
            let most = now.after(window.longest).after(SKEW);
            assert!(window.until <= most, "e11: {window:?} at {now:?}");
        }
        for window in usage.windows.iter().filter(|window| window.is_open(now)) {
            check_window(window, new_usage, &successes(batch, id), now);
        }
    }
    let own = batch.session.as_deref();
    for id in before.sessions.keys().chain(after.sessions.keys()) {
        if own != Some(id) || conflict {
            assert_eq!(before.sessions.get(id), after.sessions.get(id), "a6: session {id} in {batch:?}");
        }
    }
    let row = |rows: &Rows| own.and_then(|own| rows.sessions.get(own)).cloned().unwrap_or_default();
    check_session(&row(before), &row(after));
}

fn names(change: &Change, id: &ProfileId) -> bool {
    match change {
        Change::Failure(failure) => failure.profile == *id,
        Change::Success(success) => success.profile == *id,
        Change::Used { profile, .. } => profile == id,
        _ => false,
    }
}

fn successes<'a>(batch: &'a Batch, id: &ProfileId) -> Vec<&'a Success> {
    let of = |change: &'a Change| match change {
        Change::Success(success) if success.profile == *id => Some(success),
        _ => None,
    };
    batch.changes.iter().filter_map(of).collect()
}

/// E7: an open window stays or ends later, unless a call that began after it was set succeeded (E10), or the
/// clock shows that it is too long (E11).
fn check_window(window: &Window, usage: &Usage, successes: &[&Success], now: Timestamp) {
    let answers = |success: &&Success| {
        let spoken_for = match &window.model {
            None => success.reset_profile,
            Some(model) => success.reset_model && success.model.as_deref() == Some(model),
        };
        spoken_for && window.since.min(now.after(SKEW)) <= success.attempt_started_at
    };
    if successes.iter().any(answers) {
        return;
    }
    let same = |other: &&Window| other.model == window.model && other.schedule == window.schedule;
    let there = usage.windows.iter().find(same);
    let least = window.until.min(now.after(window.longest));
    assert!(there.is_some_and(|there| there.until >= least), "e7: {window:?} became {there:?} at {now:?}");
}

fn check_session(before: &Session, after: &Session) {
    assert_eq!(before.other, after.other, "a6");
    assert_eq!(before.compaction_count, after.compaction_count, "a6");
    let users = |session: &Session| {
        let pins = session.pins.iter().filter(|(_, pin)| pin.by_user);
        pins.map(|(family, pin)| (family.clone(), pin.clone())).collect::<Vec<_>>()
    };
    assert_eq!(users(before), users(after), "c10: a user's pin is not replaced");
    if before.selected.as_ref().is_some_and(|there| there.source != Some(SelectionSource::Auto)) {
        assert_eq!(before.selected, after.selected, "a6: what a user chose stays");
    }
}
