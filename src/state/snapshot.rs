//! The state in memory, and what a batch makes of it. Both stores think here; the SQLite store then
//! writes what the plan says.

use std::sync::Arc;

use foldhash::HashMap;

use super::{
    change::{Applied, Batch, Change, NewSecret, Outcome},
    model::{ProfileId, Session, Usage},
    profiles::Profiles,
    store::Put,
    transition,
    view::{Cut, ProfileInfo, ProfileView, View},
};
use crate::time::Timestamp;

/// Profiles with their usage, and the sessions that were looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// By insertion.
    pub profiles: Profiles,
    /// Sessions by id.
    pub sessions: Arc<HashMap<String, Arc<Session>>>,
    /// Grows with every change.
    pub revision: u64,
    /// From this instant on the clock guard has nothing to do.
    calm_from: Option<Timestamp>,
}

/// What a batch will do, before anything is written.
#[derive(Debug)]
pub(super) struct Plan {
    /// One for each change.
    pub outcomes: Vec<Outcome>,
    /// A compare failed.
    pub conflict: bool,
    /// The clock guard looked at every profile.
    guarded: bool,
    /// The profiles afterwards.
    pub profiles: Profiles,
    /// The session afterwards.
    pub session: Arc<Session>,
    /// Positions of profiles whose rows changed.
    pub changed: Vec<usize>,
    /// Positions of profiles of which only `last_used` changed.
    pub used: Vec<usize>,
    /// The session changed.
    pub session_changed: bool,
    /// Windows that the clock guard cut.
    pub cuts: Vec<Cut>,
    /// New secrets, in order.
    pub secrets: Vec<NewSecret>,
}

impl Plan {
    /// Whether it must be durable before it is acknowledged.
    pub fn must_be_written(&self) -> bool {
        !self.changed.is_empty() || self.session_changed || !self.secrets.is_empty()
    }
}

impl Snapshot {
    /// The view with `session`.
    pub fn view(&self, session: Arc<Session>) -> View {
        View { profiles: self.profiles.clone(), session, cuts: Vec::new(), revision: self.revision }
    }

    /// Puts `profiles` in place.
    pub fn set_profiles(&mut self, profiles: Profiles) {
        self.calm_from = profiles.iter().map(|profile| transition::calm_from(&profile.usage)).max();
        self.profiles = profiles;
        self.revision = self.revision.wrapping_add(1);
    }

    /// Takes a credential over, whose usage is what it was, or fresh.
    pub fn put(&mut self, info: ProfileInfo) -> Put {
        self.revision = self.revision.wrapping_add(1);
        self.profiles.put(info)
    }

    /// Removes a profile; whether there was one.
    pub fn remove(&mut self, id: &ProfileId) -> bool {
        if self.profiles.find(id).is_none() {
            return false;
        }
        let others = self.profiles.iter().filter(|profile| profile.info.id != *id).cloned();
        self.set_profiles(others.collect());
        true
    }

    /// The place of insertion of a profile that is there.
    pub fn inserted(&self, id: &ProfileId) -> Option<u64> {
        let place = self.profiles.find(id)?;
        Some(self.profiles.get(place)?.info.inserted)
    }

    /// Whether the clock guard has something to do (E11).
    pub fn clock_jumped(&self, now: Timestamp) -> bool {
        self.calm_from.is_some_and(|calm| now < calm)
    }

    /// What `batch` does to the state, with `session` the stored one.
    pub fn plan(&self, batch: &Batch, session: &Arc<Session>, now: Timestamp) -> Plan {
        let mut plan = Plan::over(self, Arc::clone(session));
        if self.clock_jumped(now) {
            plan.guard(now);
        }
        let mut of_session = Vec::new();
        for (place, change) in batch.changes.iter().enumerate() {
            let outcome = plan.usage_change(change, now, false).unwrap_or_else(|| {
                of_session.push(place);
                Outcome::Done
            });
            plan.outcomes.push(outcome);
        }
        plan.session_changes(batch, &of_session, session);
        plan
    }

    /// Applies a batch that changes no more than `last_used`: where that stands, unless somebody else holds
    /// the profiles. `None`: it asks for more, and nothing has been done.
    pub fn apply_uses(&mut self, batch: &Batch, session: &Arc<Session>, now: Timestamp) -> Option<Applied> {
        let steady = |change: &Change| match change {
            Change::Used { .. } => true,
            Change::Success(success) => {
                let there = self.profiles.find(&success.profile).and_then(|place| self.profiles.get(place));
                there.is_none_or(|there| transition::is_steady(&there.usage, success))
            }
            _ => false,
        };
        if self.clock_jumped(now) || !batch.changes.iter().all(steady) {
            return None;
        }
        let mut outcomes = Vec::with_capacity(batch.changes.len());
        for (id, at) in batch.changes.iter().filter_map(Change::used) {
            outcomes.push(self.used(id, at));
        }
        Some(Applied { outcomes, conflict: false, view: self.view(Arc::clone(session)) })
    }

    /// A profile was used.
    pub fn used(&mut self, id: &ProfileId, at: Timestamp) -> Outcome {
        let place = self.profiles.find(id);
        let Some(profile) = place.and_then(|place| self.profiles.get_mut(place)) else {
            return Outcome::UnknownProfile;
        };
        transition::used(Arc::make_mut(&mut profile.usage), at);
        self.calm_from = self.calm_from.max(Some(at.before(transition::SKEW)));
        self.revision = self.revision.wrapping_add(1);
        Outcome::Done
    }

    /// What facts of an earlier time do to the state of today: what is newer stays.
    pub fn plan_late(&self, facts: &Batch, at: Timestamp) -> Plan {
        let mut plan = Plan::over(self, Arc::default());
        for fact in &facts.changes {
            let outcome = plan.usage_change(fact, at, true);
            plan.outcomes.extend(outcome);
        }
        plan
    }

    /// Takes a plan over, once it is written.
    pub fn commit(&mut self, session: Option<&str>, plan: Plan) -> Applied {
        let changed = plan.must_be_written() || !plan.used.is_empty();
        if plan.guarded {
            self.set_profiles(plan.profiles);
        } else if changed {
            let touched = plan.changed.iter().chain(&plan.used);
            let usages = touched.filter_map(|place| plan.profiles.get(*place)).map(|profile| &profile.usage);
            // What went may leave this later than it need be: then the guard looks once in vain.
            self.calm_from = self.calm_from.max(usages.map(|usage| transition::calm_from(usage)).max());
            self.profiles = plan.profiles;
            self.revision = self.revision.wrapping_add(1);
        }
        if let (Some(id), true) = (session, plan.session_changed) {
            Arc::make_mut(&mut self.sessions).insert(id.to_owned(), Arc::clone(&plan.session));
        }
        let view = View { cuts: plan.cuts, ..self.view(plan.session) };
        Applied { outcomes: plan.outcomes, conflict: plan.conflict, view }
    }
}

impl Plan {
    /// One that changes nothing yet.
    fn over(snapshot: &Snapshot, session: Arc<Session>) -> Self {
        Self {
            outcomes: Vec::new(),
            conflict: false,
            guarded: false,
            profiles: snapshot.profiles.clone(),
            session,
            changed: Vec::new(),
            used: Vec::new(),
            session_changed: false,
            cuts: Vec::new(),
            secrets: Vec::new(),
        }
    }

    fn guard(&mut self, now: Timestamp) {
        self.guarded = true;
        for place in 0..self.profiles.len() {
            let calm = |profile: &ProfileView| now >= transition::calm_from(&profile.usage);
            if self.profiles.get(place).is_none_or(calm) {
                continue;
            }
            let Some(profile) = self.profiles.get_mut(place) else { continue };
            let cuts = transition::guard(Arc::make_mut(&mut profile.usage), now);
            let id = &profile.info.id;
            self.cuts.extend(cuts.into_iter().map(|(window, was_until)| Cut {
                profile: id.clone(),
                window,
                was_until,
            }));
            note(&mut self.changed, place);
        }
    }

    /// Does a change of usage or credentials; `None`: it is one of the session.
    /// `late`: `now` is past, and newer things than it are not from the future.
    fn usage_change(&mut self, change: &Change, now: Timestamp, late: bool) -> Option<Outcome> {
        let (id, change) = match change {
            Change::Failure(failure) => (&failure.profile, change),
            Change::Success(success) => (&success.profile, change),
            Change::Used { profile, .. }
            | Change::Clear { profile: Some(profile), .. }
            | Change::Adopt { profile, .. } => (profile, change),
            Change::Clear { profile: None, model } => {
                for place in 0..self.profiles.len() {
                    self.clear(place, model.as_deref());
                }
                return Some(Outcome::Done);
            }
            Change::NewSecret(new) => return Some(self.new_secret(new)),
            _ => return None,
        };
        let Some(place) = self.profiles.find(id) else { return Some(Outcome::UnknownProfile) };
        if let Change::Clear { model, .. } = change {
            self.clear(place, model.as_deref());
            return Some(Outcome::Done);
        }
        let profile = self.profiles.get_mut(place)?;
        let usage = Arc::make_mut(&mut profile.usage);
        let (outcome, changed) = match change {
            Change::Failure(failure) if late => (transition::late_failure(usage, failure, now), true),
            Change::Failure(failure) => (transition::failure(usage, failure, now), true),
            Change::Success(success) if late => (Outcome::Done, transition::late_success(usage, success)),
            Change::Success(success) => (Outcome::Done, transition::success(usage, success, now)),
            Change::Used { at, .. } => {
                transition::used(usage, *at);
                (Outcome::Done, false)
            }
            Change::Adopt { usage: theirs, .. } if *usage == Usage::default() => {
                usage.clone_from(theirs);
                (Outcome::Done, true)
            }
            _ => (Outcome::Kept, false),
        };
        note(if changed { &mut self.changed } else { &mut self.used }, place);
        Some(outcome)
    }

    fn clear(&mut self, place: usize, model: Option<&str>) {
        if let Some(profile) = self.profiles.get_mut(place) {
            transition::clear(Arc::make_mut(&mut profile.usage), model);
            note(&mut self.changed, place);
        }
    }

    fn new_secret(&mut self, new: &NewSecret) -> Outcome {
        let Some(place) = self.profiles.find(&new.profile) else { return Outcome::UnknownProfile };
        if let Some(flaw) = new.flaw() {
            return Outcome::Refused(flaw);
        }
        if let Some(profile) = self.profiles.get_mut(place) {
            let info = Arc::make_mut(&mut profile.info);
            info.expires = new.expires;
            info.has_secret = true;
            info.has_refresh |= new.refresh.is_some();
            self.secrets.push(new.clone());
        }
        Outcome::Done
    }

    /// All of the session's changes, or none.
    fn session_changes(&mut self, batch: &Batch, places: &[usize], stored: &Session) {
        if places.is_empty() {
            return;
        }
        // Without a session there is nothing to compare with, and nowhere to write.
        self.conflict = batch.session.is_none();
        let mut session = stored.clone();
        for place in places {
            let Some(change) = batch.changes.get(*place) else { continue };
            let outcome = transition::session(&mut session, change).unwrap_or_else(|_| {
                self.conflict = true;
                Outcome::Conflict
            });
            if let Some(there) = self.outcomes.get_mut(*place) {
                *there = outcome;
            }
        }
        if self.conflict {
            for place in places {
                if let Some(there) = self.outcomes.get_mut(*place) {
                    *there = Outcome::Conflict;
                }
            }
            return;
        }
        if session != *stored {
            session.revision = session.revision.wrapping_add(1);
            self.session = Arc::new(session);
            self.session_changed = true;
        }
    }
}

/// Notes a position once; a batch is about one profile or two.
fn note(places: &mut Vec<usize>, place: usize) {
    if places.last() != Some(&place) {
        places.push(place);
    }
}
