//! The session's selection as this run writes and undoes it (A5, A6, B3, K4).

use std::collections::BTreeMap;

use crate::{
    lang::policy::SelectionSource,
    state::{
        change::{Change, Expect, PinBefore, Rollback, SelectionKey},
        model::{Candidate, Origin, Override, Pin, Session},
    },
    time::Timestamp,
};

/// What the run knows of the stored selection, and what of it is its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Overrides {
    /// The run may write: it has a session whose selection is its own, and no compare has failed.
    writing: bool,
    /// The selection before the run.
    before: Option<Box<Override>>,
    /// The selection as the run last saw or wrote it.
    stored: Option<Box<Override>>,
    /// What the run wrote last and has not undone (A6).
    wrote: Option<Box<SelectionKey>>,
    /// Pins that it wrote along with it, by family.
    pins: BTreeMap<String, PinBefore>,
}

/// Changes for the store, and what the run knows once they are stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub changes: Vec<Change>,
    /// An override that is undone.
    pub rolled_back: Option<Candidate>,
    /// A selection, or the profile that goes with it, is written.
    pub written: bool,
    /// An automatic override that is cleared, since its origin answered.
    pub cleared: Option<Box<Override>>,
    /// The override whose notice is due.
    pub notify: Option<Box<Override>>,
    /// The state afterwards, unless it stays as it is, as it mostly does.
    then: Option<Box<Overrides>>,
}

/// The candidate that is about to be called.
pub(super) struct Next<'a> {
    pub candidate: &'a Candidate,
    /// It is a fallback: neither the selection that the run started from nor its origin.
    pub fallback: bool,
    /// The automatic pin that goes with it, by family.
    pub pin: Option<(String, Pin)>,
    pub origin: &'a Origin,
    /// The bucket of the selected model's last failure (J4).
    pub reason: Option<&'a str>,
}

impl Overrides {
    /// The selection at the start of a run. `may_write`: the run's selection is the session's.
    pub fn begin(session: &Session, may_write: bool) -> Self {
        let selected = session.selected.clone().map(Box::new);
        Self { writing: may_write, before: selected.clone(), stored: selected, ..Self::default() }
    }

    /// The selection as the run last saw or wrote it.
    pub fn stored(&self) -> Option<&Override> {
        self.stored.as_deref()
    }

    /// It is stored that the origin's probe was due (B3): a fact, which undoing does not take back.
    pub fn origin_probed(&mut self, of: &SelectionKey, at: Timestamp) {
        for there in [&mut self.before, &mut self.stored].into_iter().flatten().filter(|there| there.is(of)) {
            there.probed_at = there.probed_at.max(Some(at));
        }
    }

    /// Somebody else changed the selection: the run writes no more, and undoes nothing (A6).
    pub fn yield_to(&mut self, session: &Session) {
        *self = Self { stored: session.selected.clone().map(Box::new), ..Self::default() };
    }

    /// The selection cannot be stored: nothing new is written; what was, may still be undone.
    pub fn stop(&mut self) {
        self.writing = false;
    }

    /// What must be stored before `next` is called (A5): in one transaction, whatever the run wrote
    /// for the candidate before is undone, and the next one is selected.
    pub fn before_call(&self, next: Next<'_>, session: &Session, now: Timestamp) -> Plan {
        let mut plan = self.undo_unless(next.candidate);
        if !next.fallback || !self.writing {
            return plan;
        }
        let undoes = plan.then.is_some();
        let then = plan.then.get_or_insert_with(|| Box::new(self.clone()));
        let stored = then.stored.take();
        let known = stored.as_ref().and_then(|there| there.reason.clone());
        let expect = Expect::of(stored.as_deref());
        let selected = stored.filter(|there| there.candidate == *next.candidate && is_auto(there));
        let new = if let Some(there) = selected {
            there
        } else {
            let new = Override {
                candidate: next.candidate.clone(),
                source: Some(SelectionSource::Auto),
                origin: Some(next.origin.clone()),
                written_at: now,
                probed_at: None,
                reason: next.reason.map(str::to_owned).or(known),
                notified: false,
            };
            plan.changes.push(Change::Select { expect, new: Some(new.clone()) });
            plan.written = true;
            Box::new(new)
        };
        if let Some((family, pin)) = next.pin {
            let undone = self.pins.get(&family).filter(|_| undoes);
            let over = then.pin(&family, &pin, session, undone);
            plan.changes.push(Change::PinOver { family, pin, over });
            plan.written = true;
        }
        if plan.written {
            then.wrote = Some(Box::new(new.key()));
        }
        then.stored = Some(new);
        plan
    }

    /// What is stored once `candidate` has answered: an override of another candidate is undone; an
    /// automatic override whose origin answered is cleared (B3); a new one is marked as told (J4).
    pub fn answered(&self, candidate: &Candidate, origin: &Candidate, session: &Session) -> Plan {
        let mut plan = self.undo_unless(candidate);
        if !self.writing {
            return plan;
        }
        let stored = plan.then.as_deref().unwrap_or(self).stored.clone();
        let Some(there) = stored.filter(|there| is_auto(there)) else { return plan };
        if candidate == origin {
            plan.changes.push(Change::Select { expect: Expect::Key(there.key()), new: None });
            let then = plan.then.get_or_insert_with(|| Box::new(self.clone()));
            then.stored = None;
            then.wrote = None;
            plan.cleared = Some(there);
        } else if there.candidate == *candidate && !there.notified && !told(&there, session) {
            plan.changes.push(Change::Notified { of: there.key() });
            plan.notify = Some(there);
        }
        plan
    }

    /// Undoes whatever the run wrote (A6).
    pub fn undo(&self) -> Plan {
        let mut plan = Plan::default();
        if let Some(wrote) = &self.wrote {
            if self.before.as_ref().is_none_or(|before| !before.is(wrote)) {
                plan.rolled_back = Some(wrote.candidate.clone());
            }
            plan.changes.push(Change::Rollback(Rollback {
                wrote: SelectionKey::clone(wrote),
                restore: self.before.as_deref().cloned(),
                pins: self.pins.clone(),
            }));
            let stored = self.before.clone();
            plan.then = Some(Box::new(Self { stored, wrote: None, pins: BTreeMap::new(), ..self.clone() }));
        }
        plan
    }

    /// The plan is stored.
    pub fn commit(&mut self, plan: &mut Plan) {
        if let Some(then) = plan.then.take() {
            *self = *then;
        }
    }

    fn undo_unless(&self, candidate: &Candidate) -> Plan {
        match &self.wrote {
            Some(wrote) if wrote.candidate != *candidate => self.undo(),
            _ => Plan::default(),
        }
    }

    /// `undone`: what the same batch undoes of this family's pin, which `session` still shows. Gives the pin
    /// that the new one stands in for.
    fn pin(&mut self, family: &str, pin: &Pin, session: &Session, undone: Option<&PinBefore>) -> Option<Pin> {
        let there = session.pins.get(family);
        let undone = undone.filter(|undone| there == Some(&undone.wrote));
        let over = undone.map_or_else(|| there.cloned(), |undone| undone.before.clone());
        match self.pins.get_mut(family) {
            Some(ours) if over.as_ref() == Some(&ours.wrote) => ours.wrote = pin.clone(),
            _ => {
                let before = over.clone();
                self.pins.insert(family.to_owned(), PinBefore { wrote: pin.clone(), before });
            }
        }
        over
    }
}

/// Whether another run of the session has told of this override meanwhile (J4).
fn told(there: &Override, session: &Session) -> bool {
    session.selected.as_ref().is_some_and(|now| now.notified && now.is(&there.key()))
}

fn is_auto(there: &Override) -> bool {
    there.source == Some(SelectionSource::Auto)
}
