//! What comes from outside while a run goes on: an abort, a live model switch (D11, H4, K1, K2).

use super::{
    choose::Call,
    end::End,
    event::DecisionType,
    machine::{Phase, Run, World},
    notice::full,
    rotate::Rotation,
    step::Interrupt,
};
use crate::{
    classify::Verdict,
    lang::{policy::SelectionSource, tree::BucketId},
    signal::{Aborted, Signal},
    state::model::{Candidate, Override},
};

impl Run {
    /// Deals with whatever came from outside; whether the run goes another way because of it.
    pub(super) fn interrupted(&mut self, world: &World<'_>) -> bool {
        self.reconcile(world);
        match self.interrupt.take() {
            None => false,
            Some(Interrupt::Abort(by)) => {
                self.abort(by, false, world);
                true
            }
            Some(Interrupt::Switch { to, by_user }) => self.switch(&to, by_user, false, world),
        }
    }

    /// A call or a pause was cut off by an interrupt.
    pub(super) fn was_cut_off(&mut self, call: bool, world: &World<'_>) {
        match self.interrupt.take() {
            Some(Interrupt::Abort(by)) => self.abort(by, call, world),
            Some(Interrupt::Switch { to, by_user }) => {
                if !self.switch(&to, by_user, call, world) {
                    self.go(Phase::Choose);
                }
            }
            None => self.go(Phase::Choose),
        }
    }

    /// K2: the stored selection is what counts. When somebody else has changed it, the run writes no
    /// more overrides (A6); when it was the user, a switch is pending (K1, H4).
    pub(super) fn reconcile(&mut self, world: &World<'_>) {
        let session = &world.view.session;
        let (seen, known) = (session.selected.as_ref(), self.overrides.stored());
        if seen.map(Override::key) == known.map(Override::key) {
            return;
        }
        self.overrides.yield_to(session);
        let Some(there) = seen.filter(|there| is_users(there) && self.follows_session) else { return };
        if self.interrupt.is_none() {
            self.interrupt = Some(Interrupt::Switch { to: there.candidate.clone(), by_user: true });
        }
    }

    /// H4: to a later candidate: jump there. By the user to any other: the run ends. A stale value:
    /// an unrecognised failure of this candidate. Whether the run goes another way.
    fn switch(&mut self, to: &Candidate, by_user: bool, call: bool, world: &World<'_>) -> bool {
        let place = self.chain.iter().position(|candidate| candidate == to);
        match place {
            Some(place) if place > self.at => self.jump(place, by_user),
            Some(place) if place == self.at && !call => {
                if by_user {
                    self.chain.truncate(place + 1);
                }
                return false;
            }
            _ if by_user => {
                self.end(End::Switch(to.clone()), world);
            }
            _ => self.stale(world),
        }
        true
    }

    /// The user's choice is strict: nothing follows it (B4).
    fn jump(&mut self, place: usize, by_user: bool) {
        if let Some(from) = self.chain.get(self.at).cloned() {
            let to = self.chain.get(place).map(full);
            self.decide(DecisionType::Failed, &from, Some("live_switch".to_owned()), None, true);
            if let Some(decision) = self.decisions.last_mut() {
                decision.fallback_step_to_model = to;
            }
        }
        self.at = place;
        self.rotation = Rotation::default();
        if by_user {
            self.chain.truncate(place + 1);
        }
        self.go(Phase::Choose);
    }

    /// An unrecognised failure of the current candidate (H4).
    fn stale(&mut self, world: &World<'_>) {
        let Some(candidate) = self.chain.get(self.at).cloned() else { return self.go(Phase::Choose) };
        let under_way = self.call.clone().filter(|call| call.candidate == candidate);
        let call = under_way.unwrap_or_else(|| Box::new(Call::uncalled(candidate, world.now)));
        let signal = Signal {
            provider: Some(call.candidate.provider.to_string()),
            model: Some(call.candidate.model.to_string()),
            message: Some("the session's model changed meanwhile, and no user asked for it".to_owned()),
            received_at: Some(world.now),
            ..Signal::default()
        };
        let verdict =
            Verdict { bucket: BucketId::UNCLASSIFIED, rule: None, reset: None, observed: Vec::new() };
        self.note_failure(&call, signal, None, verdict, false);
        self.go(Phase::React);
    }

    /// Ends the run at once; a call that was under way has failed.
    fn abort(&mut self, by: Aborted, call: bool, world: &World<'_>) {
        let at = self.chain.get(self.at);
        let signal = Signal {
            provider: at.map(|candidate| candidate.provider.to_string()),
            model: at.map(|candidate| candidate.model.to_string()),
            aborted: Some(by),
            received_at: Some(world.now),
            ..Signal::default()
        };
        let verdict = self.table.classify(&signal.as_ref(), self.scratch.get_or_insert_default());
        match self.call.clone().filter(|_| call) {
            Some(under_way) => self.note_failure(&under_way, signal, None, verdict, false),
            None => self.aborted = Some(Box::new((signal, verdict))),
        }
        self.end(End::Surface, world);
    }
}

fn is_users(there: &Override) -> bool {
    matches!(there.source, None | Some(SelectionSource::User | SelectionSource::Legacy))
}
