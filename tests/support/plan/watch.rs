//! What is known of a run from outside, and what its calls must be like.

use std::collections::BTreeSet;

use pointsman::{
    lang::policy::{End, Lane, SelectionSource},
    run::*,
    state::{
        change::{Batch, Change},
        model::{Candidate, ProfileId, Session, Window},
        select::eligible,
        transition,
    },
    table::Table,
    time::Timestamp,
};

use super::{Flight, World};

/// A run, seen from outside.
#[expect(clippy::struct_excessive_bools, reason = "each says one thing, in any combination")]
pub struct Watch {
    /// What the chain must be; unknown of a heartbeat, which may clear a selection first.
    chain: Option<Vec<Candidate>>,
    /// The session as it would be without the run; unknown when others' runs write there too.
    pub alone: Option<Session>,
    /// Somebody else changed the selection, so that the run must leave it alone.
    taken_over: bool,
    /// A switch may lead past a reaction that ends the run.
    excused: bool,
    /// A failure could not be stored; the run goes by what it would have been, which nobody else sees.
    pub unstored: bool,
    pub aborted: bool,
    pub mended: bool,
    repairs: usize,
    called: Vec<(Candidate, Option<ProfileId>)>,
    place: usize,
    last: Option<Failure>,
    left_out: BTreeSet<ProfileId>,
    /// Of the first call; the others have the same.
    deadlines: Vec<Option<Timestamp>>,
    calls: u32,
    /// The call under way is a transient probe (I5).
    transient: bool,
    /// What it uses up, as a key of the world's probes (I2, I3).
    throttle: Option<(String, Option<String>)>,
    used: BTreeSet<String>,
}

/// A failure and what the rules say of it.
#[expect(clippy::struct_excessive_bools, reason = "each says one thing, in any combination")]
pub struct Failure {
    pub candidate: Candidate,
    pub rotate: bool,
    pub retry: bool,
    pub end: End,
    pub partial: bool,
    pub keeps_slot: bool,
}

impl Watch {
    pub fn new(table: &Table, routing: &Routing, request: &Request, session: &Session) -> Self {
        let selected = select(request, routing, session);
        let whole = |selected: &Selected| chain(table.policy(), routing, request, selected);
        Self {
            chain: (!request.heartbeat).then(|| selected.as_ref().map_or(vec![], whole)),
            alone: request.session.is_some().then(|| session.clone()),
            taken_over: false,
            excused: false,
            unstored: false,
            aborted: false,
            mended: false,
            repairs: 0,
            called: vec![],
            place: 0,
            last: None,
            left_out: BTreeSet::new(),
            deadlines: vec![],
            calls: 0,
            transient: false,
            throttle: None,
            used: BTreeSet::new(),
        }
    }

    /// A batch of the run is stored.
    pub fn wrote(&mut self, batch: &Batch) {
        let Some(alone) = &mut self.alone else { return };
        for change in &batch.changes {
            // Facts that stay: when a probe was due, and what a heartbeat found outlived.
            if matches!(change, Change::OriginProbed { .. } | Change::Select { new: None, .. }) {
                let _ = transition::session(alone, change);
            }
        }
    }

    /// Somebody else changes the session.
    pub fn meddled(&mut self, change: &Change) {
        self.excused = true;
        self.taken_over |=
            matches!(change, Change::Select { .. } | Change::Reset { .. } | Change::New { .. });
        if let Some(alone) = &mut self.alone {
            transition::session(alone, change).unwrap();
        }
    }

    /// A switch comes: what the last failure asked for no longer counts (H4).
    pub fn switched(&mut self) {
        self.excused = true;
        self.last = None;
    }

    pub fn failed(&mut self, failure: Failure) {
        if self.transient && !failure.keeps_slot {
            self.used.insert(failure.candidate.provider.to_string());
        }
        self.last = Some(failure);
    }

    /// A6: nobody answered, so the session is as it would be without the run.
    pub fn check_undone(&self, session: &Session) {
        let Some(alone) = &self.alone else { return };
        let plain = |session: &Session| {
            let mut session = Session { revision: 0, ..session.clone() };
            if self.taken_over {
                session.pins.retain(|_, pin| pin.by_user);
            }
            session
        };
        assert_eq!(plain(session), plain(alone), "a6: all is as it would be without the run");
    }
}

impl World {
    pub fn no_secret(&mut self, flight: &mut Flight, attempt: &Attempt) {
        let watch = &mut flight.watch;
        watch.calls -= 1;
        let Some(profile) = &attempt.profile else { return };
        watch.left_out.insert(profile.clone());
        if attempt.probe.is_some() {
            self.probes.retain(|(provider, _), _| **provider != *attempt.candidate.provider);
        }
    }

    pub fn check_attempt(&mut self, flight: &mut Flight, call: &Attempt) {
        let watch = &mut flight.watch;
        assert!(!watch.aborted, "d11: {call:?}");
        self.check_budget(watch, call);
        if call.repair {
            watch.repairs += 1;
            assert_eq!(watch.repairs, 1, "d9: once a run");
            assert!(watch.excused || watch.last.as_ref().unwrap().retry, "d9: {call:?}");
            return;
        }
        watch.calls += 1;
        let again = watch.check_reason(call);
        let Some(id) = &call.profile else {
            assert!(self.routing.no_credentials.contains(&*call.candidate.provider));
            return;
        };
        assert!(!watch.left_out.contains(id), "c8: {id:?} has no secret");
        let profile = flight.view.profile(id).unwrap();
        let family = |a: &str, b: &str| self.table.same_provider(a, b);
        let fit = eligible(&profile.info, &call.candidate.provider, &family, self.now);
        assert_eq!(fit, Ok(call.refresh_first), "c8: {call:?}");
        let open: Vec<&Window> = profile.usage.blocking(Some(&call.candidate.model), self.now).collect();
        // The same call with a mended payload goes where its rule sends it: to the profile that has failed.
        if again {
            // A probe made again is the latest; seen from before it, a clock that has gone back is past it.
            self.probes.extend(flight.watch.throttle.clone().map(|throttle| (throttle, self.now)));
        } else if flight.watch.unstored {
            // Which throttle it uses up, only the run knows. What was probed at a later time, by a clock that has
            // gone back since, says no more when the next one is due; what was probed before still does.
            let (provider, now) = (&*call.candidate.provider, self.now);
            self.probes.retain(|(of, _), at| call.probe.is_none() || **of != *provider || *at <= now);
            flight.watch.throttle = None;
        } else {
            self.check_block(&mut flight.watch, call, &open);
        }
        check_session(&self.table, flight, call);
    }

    /// H6: neither more calls nor later ones than the budget allows.
    fn check_budget(&self, watch: &mut Watch, call: &Attempt) {
        let deadline = call.deadline;
        assert!(watch.deadlines.iter().all(|other| *other == deadline), "h6: one budget a run");
        watch.deadlines = vec![deadline];
        assert!(deadline.is_none_or(|end| self.now < end), "h6: {call:?} at {:?}", self.now);
        let budget = self.table.policy().budget.as_ref();
        assert_eq!(deadline.is_some(), budget.is_some_and(|slot| slot.elapsed.is_some()), "h6");
        if let Some(most) = budget.and_then(|slot| slot.attempts) {
            assert!(watch.calls < self.table.settings().count(most), "h6: {call:?}");
        }
    }

    /// I: a blocked profile is called as a declared probe only.
    fn check_block(&mut self, watch: &mut Watch, call: &Attempt, open: &[&Window]) {
        (watch.transient, watch.throttle) = (false, None);
        let Some(until) = open.iter().map(|window| window.until).max() else {
            assert!(matches!(call.probe, None | Some(Probe::Origin)), "nothing to probe: {call:?}");
            return;
        };
        let provider = call.candidate.provider.as_str();
        for window in open {
            let from =
                self.table.bucket_named(&window.bucket).and_then(|(_, b)| b.traits.skips_provider_from);
            assert!(from.is_none_or(|from| window.step < from), "i1: {call:?} despite {window:?}");
        }
        let policy = self.table.policy();
        let last = || open.iter().filter(|window| window.until == until);
        let value = |slot| self.table.settings().duration(slot, Some(provider));
        match call.probe {
            None => panic!("{call:?} is blocked by {open:?}"),
            Some(Probe::Sibling) => {
                let slot = policy.probe_sibling.as_ref().expect("i4: no rule asks for it").node;
                let transient = |window: &&&Window| {
                    self.table.bucket_named(&window.bucket).is_some_and(|(_, bucket)| bucket.traits.transient)
                };
                assert!(!slot.when_transient || last().any(|window| transient(&window)), "i4: {open:?}");
                assert!(!slot.once_per_provider || !watch.used.contains(provider), "i5: {call:?}");
                watch.transient = true;
            }
            Some(Probe::Primary | Probe::Origin) => {
                let slot = &policy.probe_primary.as_ref().expect("i3: no rule asks for it").node;
                let cooldown = last().any(|window| window.lane == Lane::Cooldown);
                let named = |window: &&Window| {
                    let by = |(id, _): &&_| *self.table.bucket(*id).name == *window.bucket;
                    Some((window.bucket.clone(), slot.disabled.iter().find(by)?.1))
                };
                let (bucket, every) = match last().find_map(named) {
                    Some((bucket, every)) if !cooldown => (Some(bucket), every),
                    _ => (None, slot.every),
                };
                assert!(cooldown || bucket.is_some(), "i2: no rule asks for it: {open:?}");
                if cooldown {
                    let alone = watch.chain.as_ref().is_none_or(|chain| chain.len() == 1);
                    let near = until.since(self.now) <= value(slot.within);
                    assert!(near || alone, "i3: {call:?} in {open:?}");
                    assert!(!watch.used.contains(provider), "i5: {call:?}");
                    watch.transient = true;
                }
                let throttle = (provider.to_owned(), bucket);
                let probed = self.probes.insert(throttle.clone(), self.now);
                watch.throttle = Some(throttle);
                let held = probed.is_some_and(|at| self.now >= at && self.now.since(at) < value(every));
                assert!(!held, "i2, i3: {call:?} after {probed:?}");
            }
        }
    }
}

impl Watch {
    /// Nobody is called twice, or called at all, without a reason in the rules. Whether this is a call again.
    fn check_reason(&mut self, call: &Attempt) -> bool {
        let who = (call.candidate.clone(), call.profile.clone());
        let again = std::mem::take(&mut self.mended) && self.called.last() == Some(&who);
        assert!(again || !self.called.contains(&who), "twice: {call:?}");
        let moves = self.called.last().is_some_and(|(candidate, _)| *candidate != call.candidate);
        if let (Some(last), false) = (&self.last, again) {
            assert!(!last.partial, "h5: {call:?}");
            if last.candidate == call.candidate {
                assert!(last.rotate, "f1: no rule lets it rotate to {call:?}");
            } else if moves && !self.excused {
                assert!(last.end != End::Surface, "h2: no rule lets it fall to {call:?}");
            }
        }
        if let Some(chain) = &self.chain {
            let place = match call.probe {
                Some(Probe::Origin) => 0,
                _ => 1 + chain.iter().position(|candidate| *candidate == call.candidate).unwrap(),
            };
            assert!(place >= self.place, "g: back to {call:?}");
            self.place = place;
        }
        self.called.push(who);
        again
    }
}

/// A5: the session already says who is called. C10: a user's pin holds.
fn check_session(table: &Table, flight: &Flight, call: &Attempt) {
    let Flight { request, view, watch, .. } = flight;
    let session = &view.session;
    if request.session.is_none() {
        return;
    }
    let holds = table.policy().pin_user.as_ref().map(|slot| slot.node).unwrap_or_default();
    if let Some(pin) = session.pins.get(&*call.candidate.provider).filter(|pin| pin.by_user)
        && !holds.release_on_blocked
        && !holds.release_on_compaction
    {
        assert_eq!(call.profile.as_ref(), Some(&pin.profile), "c10");
    }
    let plain = request.choice.is_none() && !request.heartbeat && request.kind == Kind::Text;
    if let Some(selected) = session.selected.as_ref().filter(|_| plain && watch.alone.is_some())
        && selected.source == Some(SelectionSource::Auto)
    {
        let origin = selected.origin.as_ref().map(|origin| &origin.candidate);
        let said = selected.candidate == call.candidate || origin == Some(&call.candidate);
        assert!(said, "a5: {selected:?} for {call:?}");
    }
}
