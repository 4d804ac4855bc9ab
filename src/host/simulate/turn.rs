//! What the host does at a turn (B4, C9, C10, D11, E7, H4, K1, K5).

use super::{
    answers::Answers,
    error::PlayError,
    flight::{Waits, cancelled},
    line::Watch,
    play::Player,
    scenario::{Act, Switch, Turn},
};
use crate::{
    run::{Cleared, Event, Interrupt, session},
    signal::Aborted,
    state::{
        change::{Batch, Change},
        model::Pin,
    },
};

impl Player<'_> {
    pub(super) fn act(
        &mut self,
        turn: Turn,
        answers: &mut dyn Answers,
        watch: &mut dyn Watch,
    ) -> Result<(), PlayError> {
        let Turn { session, act, .. } = turn;
        match act {
            Act::Ask(mut ask) => {
                let mut changes = Vec::new();
                if let Some((candidate, source)) = ask.stores.take() {
                    let mut change = session::choose_model(Some(candidate), self.now);
                    if let Change::Select { new: Some(new), .. } = &mut change {
                        new.source = source;
                    }
                    changes.push(change);
                }
                if let Some(pinned) = ask.pins.take() {
                    let mut change =
                        session::pin_profile(&self.table, &self.view(&session)?.session, pinned.profile);
                    if let Change::Pin { pin, .. } = &mut change {
                        *pin = Pin { by_user: pinned.by_user, ..pin.clone() };
                    }
                    changes.push(change);
                }
                if !changes.is_empty() {
                    self.store(&session, changes)?;
                }
                self.ask(session, ask, answers, watch)
            }
            Act::Reset => {
                let change = session::reset(self.table.policy());
                self.forget(&session, change, Cleared::Reset, watch)
            }
            Act::New => {
                let change = session::new(self.table.policy());
                self.forget(&session, change, Cleared::New, watch)
            }
            Act::Compact => {
                let change = session::compact(self.table.policy());
                self.store(&session, vec![change])
            }
            Act::ClearProfile { profile, model } => {
                self.store(&session, vec![Change::Clear { profile, model }])
            }
            Act::Switch(switch) => self.switch(&session, &switch, answers, watch),
            Act::Abort(by) => self.abort(&session, by, answers, watch),
        }
    }

    fn store(&self, session: &str, changes: Vec<Change>) -> Result<(), PlayError> {
        self.store.apply(&Batch { session: Some(session.to_owned()), changes }, self.now)?;
        Ok(())
    }

    /// `reset` and `new` (K5): the state and the engine's memory forget, and no notice goes out.
    fn forget(
        &mut self,
        session: &str,
        change: Change,
        why: Cleared,
        watch: &mut dyn Watch,
    ) -> Result<(), PlayError> {
        let before = self.view(session)?.session.selected.clone();
        self.store(session, vec![change])?;
        self.memory.forget_session(session);
        let after = &self.view(session)?.session.selected;
        if let (Some(before), None) = (before, after) {
            let name = self.name(session);
            self.say(&name, 0, Event::OverrideCleared { candidate: before.candidate, why }, watch);
        }
        Ok(())
    }

    /// H4: a user's switch is stored (K1), and every run of the session in flight hears of it. A call
    /// to that very model is left alone.
    fn switch(
        &mut self,
        session: &str,
        switch: &Switch,
        answers: &mut dyn Answers,
        watch: &mut dyn Watch,
    ) -> Result<(), PlayError> {
        if switch.stores {
            let change = session::choose_model(Some(switch.to.clone()), self.now);
            self.store(session, vec![change])?;
        }
        for place in self.in_flight(session) {
            let Some(flight) = self.flights.get_mut(place).and_then(Option::as_mut) else { continue };
            flight.run.interrupt(Interrupt::Switch { to: switch.to.clone(), by_user: switch.by_user })?;
            let there = match &flight.waits {
                Waits::Call { call, .. } => call.attempt().candidate == switch.to,
                Waits::Pause { .. } | Waits::Not => false,
            };
            if !there {
                flight.waits = Waits::Not;
                self.drive(place, answers, watch)?;
            }
        }
        Ok(())
    }

    /// D11: every run of the session in flight is cancelled.
    fn abort(
        &mut self,
        session: &str,
        by: Aborted,
        answers: &mut dyn Answers,
        watch: &mut dyn Watch,
    ) -> Result<(), PlayError> {
        for place in self.in_flight(session) {
            let Some(flight) = self.flights.get_mut(place).and_then(Option::as_mut) else { continue };
            match std::mem::replace(&mut flight.waits, Waits::Not) {
                Waits::Call { call, .. } if call.partial() => flight.run.report(cancelled(by))?,
                _ => flight.run.interrupt(Interrupt::Abort(by))?,
            }
            self.drive(place, answers, watch)?;
        }
        Ok(())
    }

    /// Where the runs of a session that are in flight are kept, the oldest first.
    fn in_flight(&self, session: &str) -> Vec<usize> {
        let mut found: Vec<_> = self
            .flights
            .iter()
            .enumerate()
            .filter_map(|(place, flight)| {
                let flight = flight.as_ref().filter(|flight| *flight.session == *session)?;
                Some((flight.number, place))
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, place)| place).collect()
    }
}
