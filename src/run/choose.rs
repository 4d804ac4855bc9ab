//! Who is called next (A3, A4, C7, C9, H3, I), and the call.

use super::{
    event::{Decision, DecisionType, Event, FinalOutcome},
    machine::{After, Phase, Run, World},
    notice::full,
    overrides::{Next, Plan},
    pin,
    probe::{self, Blocked, Role, Throttle},
    rotate::Rotation,
    seats::{Seat, Seats},
    step::{Attempt, Persisted, Probe, Step},
    summary::{ExhaustedReason, Skip, SkipReason},
};
use crate::{
    lang::policy::SelectionSource,
    state::{
        change::Change,
        model::{Candidate, Pin, ProfileId},
    },
    time::Timestamp,
};

/// A call, planned or under way.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub candidate: Candidate,
    pub profile: Option<ProfileId>,
    pub probe: Option<Probe>,
    /// A primary's throttle that it uses up.
    pub throttle: Option<Throttle>,
    pub refresh_first: bool,
    pub started: Timestamp,
}

impl Call {
    /// A candidate that failed before it was called (H4).
    pub fn uncalled(candidate: Candidate, now: Timestamp) -> Self {
        Self { candidate, profile: None, probe: None, throttle: None, refresh_first: false, started: now }
    }

    /// Whether it counts against the one transient probe of its provider (I5): a primary, or an
    /// origin, in a cooldown (I3), or a sibling (I4); a disable has a throttle of its own (I2).
    pub fn is_transient_probe(&self) -> bool {
        let cooldown = self.throttle.as_ref().is_some_and(|throttle| throttle.bucket.is_none());
        cooldown || self.probe == Some(Probe::Sibling)
    }

    /// Whether it looks after the origin, as was due (B3).
    pub fn is_origin_probe(&self) -> bool {
        self.probe == Some(Probe::Origin)
    }
}

/// What is to be done about a candidate.
#[derive(Debug)]
pub(super) enum Considered {
    /// Call it.
    Call(Box<Call>),
    /// Pass it over.
    Skip(SkipReason, Option<String>),
    /// It has been called, and has no free profile left.
    UsedUp,
}

impl Run {
    /// Finds the next call, and stores what must be stored before it (A5).
    pub(super) fn choose(&mut self, world: &mut World<'_>) {
        if self.interrupted(world) {
            return;
        }
        while self.at < self.chain.len() {
            match self.consider(self.at, &self.rotation, world) {
                Considered::Call(_) if !self.budget.allows(world.now, std::time::Duration::ZERO) => {
                    return self.exhaust(ExhaustedReason::Budget, world);
                }
                Considered::Call(call) => return self.plan(call, world),
                Considered::Skip(reason, bucket) => self.skip(reason, bucket),
                // The profile that a rotation was for is gone meanwhile: the end slot is left.
                Considered::UsedUp if self.ends_here() => return self.surface_now(world),
                Considered::UsedUp => self.leave(world),
            }
        }
        self.run_out(world);
    }

    /// What is to be done about the candidate at `at`. Pure, so that a run can look ahead (F4).
    pub(super) fn consider(&self, at: usize, rotation: &Rotation, world: &World<'_>) -> Considered {
        let Some(candidate) = self.chain.get(at) else { return Considered::UsedUp };
        let fresh = !rotation.begun();
        if fresh
            && at > 0
            && let Some(session) = &self.request.session
            && world.memory.skips(session, candidate, world.now)
        {
            return Considered::Skip(SkipReason::SkipCache, None);
        }
        let scene = self.scene(world);
        let seats = self.seating(candidate, world);
        let origin = (self.origin_probe && at == 0).then_some(Probe::Origin);
        if let Some(seat) = seats.first(|seat| seat.block.is_none() && !rotation.tried(seat.profile)) {
            return call(candidate, seat, origin, None, world.now);
        }
        if !fresh {
            return Considered::UsedUp;
        }
        let role = self.role(at, candidate);
        match probe::decide(scene, world.memory, &self.probed, candidate, &seats, role) {
            Some(Blocked::Probe { seat, probe, throttle }) => {
                call(candidate, seat, Some(origin.unwrap_or(probe)), throttle, world.now)
            }
            Some(Blocked::Skip { reason, bucket }) => Considered::Skip(reason, Some(bucket)),
            None => Considered::Skip(SkipReason::NoProfile, None),
        }
    }

    /// The seats of a candidate with the session's pin applied.
    pub(super) fn seating<'a>(&'a self, candidate: &'a Candidate, world: &World<'a>) -> Seats<'a> {
        let seats = self.scene(world).seats(candidate);
        let provider = self.table.present_name(&candidate.provider);
        pin::seat(&self.table, &world.view.session, provider, seats)
    }

    fn role(&self, at: usize, candidate: &Candidate) -> Role {
        if at == 0 {
            return Role::Primary { alone: self.chain.len() == 1 };
        }
        let mut earlier = self.chain.iter().take(at);
        if earlier.any(|other| self.table.same_provider(&other.provider, &candidate.provider)) {
            Role::Sibling
        } else {
            Role::Other
        }
    }

    /// A fallback is neither what the run started from nor its origin.
    fn is_fallback(&self, candidate: &Candidate) -> bool {
        self.selected.as_ref().is_some_and(|selected| *candidate != selected.origin.candidate)
    }

    fn plan(&mut self, call: Box<Call>, world: &mut World<'_>) {
        let session = &*world.view.session;
        self.rotation.plan();
        let pin = self.pin(&call, world);
        let mut plan = match &self.selected {
            Some(selected) => {
                let next = Next {
                    candidate: &call.candidate,
                    fallback: self.is_fallback(&call.candidate),
                    pin,
                    origin: &selected.origin,
                    reason: self.reason.as_deref(),
                };
                self.overrides.before_call(next, session, world.now)
            }
            None => Plan::default(),
        };
        // Other runs that choose by last use must see this one begin (C6, E8).
        let pinned = session.pins.get(self.table.present_name(&call.candidate.provider));
        if let Some(profile) = &call.profile
            && pinned.is_none_or(|pin| pin.profile != *profile)
        {
            plan.changes.push(Change::Used { profile: profile.clone(), at: world.now });
        }
        if plan.changes.is_empty() {
            return self.launch(call, world);
        }
        let changes = std::mem::take(&mut plan.changes);
        self.persist(changes, After::Call(call, Box::new(plan)));
    }

    /// The automatic pin that goes with a call, when it differs from the stored one (C9),
    /// by provider.
    pub(super) fn pin(&self, call: &Call, world: &World<'_>) -> Option<(String, Pin)> {
        self.request.session.as_ref()?;
        let provider = self.table.present_name(&call.candidate.provider);
        let profile = call.profile.as_ref()?;
        let pin = pin::pin(self.table.policy(), &world.view.session, provider, profile, || {
            self.rotation.head(|| self.seating(&call.candidate, world).head()?.profile.cloned())
        })?;
        Some((provider.to_owned(), pin))
    }

    pub(super) fn call_planned(
        &mut self,
        call: Box<Call>,
        mut plan: Plan,
        persisted: &Persisted,
        world: &mut World<'_>,
    ) {
        match persisted {
            Persisted::Ok(_) => {
                if let Some(candidate) = plan.rolled_back.take() {
                    self.say(|| Event::RolledBack { candidate });
                }
                if plan.written {
                    self.say(|| Event::Override {
                        candidate: call.candidate.clone(),
                        profile: call.profile.clone(),
                        source: SelectionSource::Auto,
                    });
                }
                self.overrides.commit(&mut plan);
            }
            Persisted::Conflict(_) => {
                self.say(|| Event::OverrideKept { candidate: call.candidate });
                self.reconcile(world);
                self.overrides.yield_to(&world.view.session);
                return self.go(Phase::Choose);
            }
            Persisted::Unavailable { .. } => self.overrides.stop(),
        }
        if self.interrupt.is_some() || !self.stands(&call, world) {
            return self.go(Phase::Choose);
        }
        self.launch(call, world);
    }

    /// Whether what was planned may still be done now that it is stored: time has passed, and others may
    /// have opened a window, used the probe up or taken the profile away meanwhile (C10, E8, H6, I).
    fn stands(&self, call: &Call, world: &World<'_>) -> bool {
        let seats = self.seating(&call.candidate, world);
        let seat = seats.of(call.profile.as_ref()).filter(|seat| seat.refresh_first == call.refresh_first);
        let Some(seat) = seat else { return false };
        let free = match (&seat.block, call.probe) {
            (None, probe) => matches!(probe, None | Some(Probe::Origin)),
            (Some(_), None) => false,
            (Some(_), Some(_)) => {
                let (scene, role) = (self.scene(world), self.role(self.at, &call.candidate));
                let seat = seats.only(vec![seat]);
                let blocked = probe::decide(scene, world.memory, &self.probed, &call.candidate, &seat, role);
                // Another throttle than the one that was planned is not used up by this call.
                matches!(blocked, Some(Blocked::Probe { throttle, .. }) if throttle == call.throttle)
            }
        };
        free && self.budget.allows(world.now, std::time::Duration::ZERO)
    }

    /// The call begins.
    pub(super) fn launch(&mut self, mut call: Box<Call>, world: &mut World<'_>) {
        call.started = world.now;
        self.say_decisions();
        if call.probe.is_some() && !self.rotation.begun() {
            let place = self.at + 1;
            self.say(|| {
                Event::Decision(Decision {
                    fallback_step_type: DecisionType::Probed,
                    fallback_step_from_model: full(&call.candidate),
                    fallback_step_to_model: None,
                    fallback_step_from_failure_reason: None,
                    fallback_step_from_failure_detail: None,
                    fallback_step_chain_position: place,
                    fallback_step_final_outcome: None,
                })
            });
        }
        if let Some(throttle) = &call.throttle {
            world.memory.probed(&throttle.provider, throttle.bucket.as_deref(), world.now);
        }
        if call.is_origin_probe()
            && let (Some(session), Some(every)) = (&self.request.session, self.origin_every())
        {
            world.memory.origin_probed(session, &call.candidate, every, world.now);
        }
        let (candidate, profile, probe) = (call.candidate.clone(), call.profile.clone(), call.probe);
        self.say(|| Event::Attempt { candidate: candidate.clone(), profile: profile.clone(), probe });
        self.budget.spend();
        self.summary.calls += 1;
        self.rotation.begin(profile.as_ref());
        let attempt = Attempt {
            candidate,
            profile,
            probe,
            deadline: self.budget.deadline,
            refresh_first: call.refresh_first,
            repair: false,
        };
        self.call = Some(call);
        self.step(Step::Attempt(attempt), Phase::Calling);
    }

    /// Passes the current candidate over.
    pub(super) fn skip(&mut self, reason: SkipReason, bucket: Option<String>) {
        let Some(candidate) = self.chain.get(self.at).cloned() else { return };
        let why = bucket.clone().unwrap_or_else(|| reason.as_str().to_owned());
        self.note_reason(&candidate, &why);
        self.say(|| Event::Skipped { candidate: candidate.clone(), reason });
        self.decide(DecisionType::Skipped, &candidate, Some(why), None, true);
        self.summary.skipped.push(Skip { candidate, reason, bucket });
        self.next_candidate();
    }

    /// Goes to the next candidate, which starts anew (F4).
    pub(super) fn next_candidate(&mut self) {
        self.at += 1;
        self.rotation = Rotation::default();
    }

    /// J4: why the selected model does not answer.
    pub(super) fn note_reason(&mut self, candidate: &Candidate, bucket: &str) {
        if !self.is_fallback(candidate) {
            self.reason = Some(bucket.to_owned());
        }
    }

    /// Notes a step from the current candidate to the next (J2); `goes_on`: to the next of the chain,
    /// if there is one.
    pub(super) fn decide(
        &mut self,
        kind: DecisionType,
        from: &Candidate,
        reason: Option<String>,
        detail: Option<String>,
        goes_on: bool,
    ) {
        let to = self.chain.get(self.at + 1).filter(|_| goes_on).map(full);
        let outcome = match (&to, goes_on) {
            (Some(_), _) => Some(FinalOutcome::NextFallback),
            (None, true) => Some(FinalOutcome::ChainExhausted),
            (None, false) => None,
        };
        self.decisions.push(Decision {
            fallback_step_type: kind,
            fallback_step_from_model: full(from),
            fallback_step_to_model: to,
            fallback_step_from_failure_reason: reason,
            fallback_step_from_failure_detail: detail,
            fallback_step_chain_position: self.at + 1,
            fallback_step_final_outcome: outcome,
        });
    }

    /// Says the steps noted so far.
    pub(super) fn say_decisions(&mut self) {
        for decision in std::mem::take(&mut self.decisions) {
            self.say(|| Event::Decision(decision));
        }
    }
}

fn call(
    candidate: &Candidate,
    seat: Seat<'_>,
    probe: Option<Probe>,
    throttle: Option<Throttle>,
    now: Timestamp,
) -> Considered {
    Considered::Call(Box::new(Call {
        candidate: candidate.clone(),
        profile: seat.profile.cloned(),
        probe,
        throttle,
        refresh_first: seat.refresh_first,
        started: now,
    }))
}
