//! How a run begins: selection, chain, origin probe (A1, A2, B).

use std::time::Duration;

use super::{
    budget::Budget,
    chain::{chain, source},
    event::{Cleared, Event},
    machine::{After, Phase, Run, World},
    overrides::Overrides,
    probe,
    request::Kind,
    source::{Place, Selected, configured, select},
    step::Persisted,
    summary::ExhaustedReason,
};
use crate::{
    lang::policy::SelectionSource,
    state::{
        change::{Change, Expect},
        model::{Override, Session},
        view::View,
    },
};

impl Run {
    pub(super) fn begin(&mut self, world: &World<'_>) {
        self.budget = Budget::begin(&self.table, world.now);
        self.say_cuts(world.view);
        match self.outlived(&world.view.session) {
            Some(stale) => {
                let clear = Change::Select { expect: Expect::Key(stale.key()), new: None };
                self.persist(vec![clear], After::HeartbeatCleared(Box::new(stale)));
            }
            None => self.go(Phase::Route),
        }
    }

    /// B3: the automatic override that a heartbeat without its own model clears, since its origin is
    /// no longer what the config selects.
    fn outlived(&self, session: &Session) -> Option<Override> {
        let request = &self.request;
        let own_model =
            request.choice.is_some() || self.routing.heartbeat(request.agent.as_deref()).is_some();
        if !request.heartbeat || own_model || request.kind != Kind::Text || request.session.is_none() {
            return None;
        }
        let stored = session.selected.as_ref().filter(|there| there.source == Some(SelectionSource::Auto))?;
        let configured = configured(request, &self.routing)?;
        let origin = stored.origin.as_ref()?;
        (origin.candidate != configured.candidate).then(|| stored.clone())
    }

    pub(super) fn heartbeat_cleared(&mut self, stale: Box<Override>, persisted: &Persisted) {
        if matches!(persisted, Persisted::Ok(_)) {
            self.say(|| Event::OverrideCleared {
                candidate: stale.candidate.clone(),
                why: Cleared::OriginChanged,
            });
            self.heartbeat_cleared = Some(stale).filter(|stale| stale.notified);
        }
        self.go(Phase::Route);
    }

    /// Resolves the selection and builds the chain; a due origin probe goes first (B3).
    pub(super) fn route(&mut self, world: &mut World<'_>) {
        let session = &*world.view.session;
        let Some(selected) = select(&self.request, &self.routing, session) else {
            return self.exhaust(ExhaustedReason::NoModel, world);
        };
        self.chain = chain(self.table.policy(), &self.routing, &self.request, &selected);
        self.follows_session = self.is_of_session(&selected);
        self.overrides = Overrides::begin(session, self.may_write(&selected, session));
        if self.origin_is_due(&selected, world) {
            self.origin_probe = true;
            self.chain.retain(|candidate| *candidate != selected.origin.candidate);
            self.chain.insert(0, selected.origin.candidate.clone());
        }
        self.selected = Some(selected);
        self.go(Phase::Choose);
    }

    /// Whether the run's selection is the session's own, or would be if one were stored: not a
    /// one-off choice, a job's model, a heartbeat's, an image model.
    fn is_of_session(&self, selected: &Selected) -> bool {
        let request = &self.request;
        request.session.is_some() && request.kind == Kind::Text && selected.place != Place::Request
    }

    /// A5: a run may move its session onto a fallback when nothing is stored there, or an automatic
    /// override of the same origin. It never replaces a user's choice, nor an override that belongs
    /// to another selection.
    fn may_write(&self, selected: &Selected, session: &Session) -> bool {
        let request = &self.request;
        let job = selected.source == SelectionSource::Cron && !request.heartbeat;
        let moves = self.follows_session || (job && request.session.is_some() && request.kind == Kind::Text);
        let of_this_origin = |there: &Override| {
            there.source == Some(SelectionSource::Auto)
                && there.origin.as_ref().is_none_or(|origin| *origin == selected.origin)
        };
        moves && session.selected.as_ref().is_none_or(of_this_origin)
    }

    fn origin_is_due(&self, selected: &Selected, world: &World<'_>) -> bool {
        if selected.source != SelectionSource::Auto || selected.origin.candidate == selected.candidate {
            return false;
        }
        let (Some(every), Some(session), Some(stored)) =
            (self.origin_every(), &self.request.session, &world.view.session.selected)
        else {
            return false;
        };
        probe::origin_due(world.memory, session, stored, &selected.origin.candidate, every, world.now)
    }

    /// How often an origin is probed, if at all (B3).
    pub(super) fn origin_every(&self) -> Option<Duration> {
        let slot = source(self.table.policy(), SelectionSource::Auto)?.probe_origin?;
        Some(self.table.settings().duration(slot, None))
    }

    /// E11: what the clock guard cut is said.
    pub(super) fn say_cuts(&mut self, view: &View) {
        for cut in &view.cuts {
            self.say(|| Event::WindowCut {
                profile: cut.profile.clone(),
                model: cut.window.model.clone(),
                until_ms: cut.window.until,
                was_until_ms: cut.was_until,
            });
        }
    }
}
