//! A call failed: what it was, what it does to the profile, and what follows (C11, D9, E0, F, H).

use std::{sync::Arc, time::Duration};

use super::{
    choose::{Call, Considered},
    end::End,
    event::{DecisionType, Event},
    machine::{After, Phase, Run, World},
    preview,
    rotate::Rotation,
    step::{Attempt, Failed, Persisted, Refreshed, Step},
    summary::{ExhaustedReason, Record, redact_profile},
    window,
};
use crate::{
    classify::Verdict,
    lang::{
        policy::{self, Reaction, RotateSlot, Traits},
        tree::Bucket,
    },
    signal::Signal,
    state::{
        change::{Change, Failure, NewSecret, Outcome, SelectionKey},
        model::{Candidate, Override, ProfileId, Usage, Window},
        transition,
    },
};

/// A failure that has been classified.
#[derive(Clone, Debug)]
pub(super) struct Fail {
    pub candidate: Candidate,
    pub profile: Option<ProfileId>,
    pub signal: Signal,
    pub verdict: Verdict,
    pub bucket: Arc<str>,
    pub partial: bool,
    rotate: Option<RotateSlot>,
    retry: bool,
    end: policy::End,
    traits: Traits,
    preview: Option<String>,
}

impl Fail {
    /// Whether the error is returned as it is when no candidate is left (A7).
    pub fn surfaces_last(&self) -> bool {
        self.end != policy::End::Fallback
    }
}

impl Run {
    pub(super) fn failed(&mut self, failed: Failed, world: &World<'_>) {
        let Some(call) = self.call.clone() else { return self.go(Phase::Choose) };
        let Failed { mut signal, partial, aborted, new_secret } = failed;
        signal.provider.get_or_insert_with(|| call.candidate.provider.to_string());
        signal.model.get_or_insert_with(|| call.candidate.model.to_string());
        signal.received_at.get_or_insert(world.now);
        signal.aborted = signal.aborted.or(aborted);
        let scratch = self.scratch.get_or_insert_default();
        let verdict = self.table.classify(&signal.as_ref(), scratch);
        let status = scratch.evidence().status.or(signal.status);
        self.note_failure(&call, signal, status, verdict, partial);
        self.store_failure(&call, new_secret);
    }

    /// Takes a failure down: the last one, a record (J1), an event, the probe slot (I5). `status` is
    /// the one that counted, given or found in the text.
    pub(super) fn note_failure(
        &mut self,
        call: &Call,
        signal: Signal,
        status: Option<u16>,
        verdict: Verdict,
        partial: bool,
    ) {
        let table = Arc::clone(&self.table);
        let reaction = table.reaction(&verdict);
        let bucket = table.bucket(verdict.bucket);
        let rule = verdict.rule.map(|rule| Arc::clone(&table.rule(rule).name));
        let code = signal.code.as_deref().map(preview::preview);
        let preview = preview::summary(&signal);
        self.say(|| Event::Failed {
            candidate: call.candidate.clone(),
            profile: call.profile.clone(),
            bucket: Arc::clone(&bucket.name),
            rule: rule.clone(),
            status,
            code: code.clone(),
            summary: preview.clone(),
        });
        self.summary.attempts.push(Record {
            candidate: call.candidate.clone(),
            profile: call.profile.as_ref().map(redact_profile),
            probe: call.probe,
            bucket: Arc::clone(&bucket.name),
            rule,
            status,
            code,
            summary: preview.clone().unwrap_or_else(|| bucket.name.to_string()),
        });
        if call.is_transient_probe() && !bucket.traits.keeps_probe_slot {
            self.probed.insert(self.table.present_name(&call.candidate.provider).to_owned());
        }
        self.note_reason(&call.candidate, &bucket.name);
        self.summary.last_error = Some(signal.clone());
        self.last = Some(Box::new(fail(call, signal, verdict, partial, reaction, bucket, preview)));
    }

    /// Stores what the failure does to the profile (E), and a secret that came with it (C8).
    fn store_failure(&mut self, call: &Call, new_secret: Option<Refreshed>) {
        let mut changes = Vec::new();
        if let Some(profile) = &call.profile {
            changes.extend(new_secret.map(|new| secret(profile, new)));
            changes.extend(self.failure(call, profile));
        }
        if call.is_origin_probe()
            && let Some(of) = self.overrides.stored().map(Override::key)
        {
            changes.push(origin_probed(of, call));
        }
        if changes.is_empty() {
            return self.go(Phase::React);
        }
        self.persist(changes.clone(), After::Failure(changes));
    }

    fn failure(&self, call: &Call, profile: &ProfileId) -> Option<Change> {
        let last = self.last.as_ref()?;
        let slot = self.table.reaction(&last.verdict).window.node;
        let seed = self.seed.wrapping_add(self.summary.calls as u64);
        let provider = &call.candidate.provider;
        let intent = |slot| window::intent(&self.table, &slot, &last.verdict, provider, seed);
        let forget = self.table.policy().forget_after.as_ref();
        Some(Change::Failure(Failure {
            profile: profile.clone(),
            model: Some(call.candidate.model.clone()),
            bucket: last.bucket.to_string(),
            attempt_started_at: call.started,
            window: slot.map(intent),
            forget_after: forget.map(|slot| self.table.settings().duration(slot.node, Some(provider))),
        }))
    }

    /// The window is open, or could not be stored: then the run goes by what it would have been.
    pub(super) fn failure_stored(&mut self, changes: &[Change], persisted: &Persisted, world: &World<'_>) {
        for (place, change) in changes.iter().enumerate() {
            if let (Change::OriginProbed { of, at }, Persisted::Ok(_)) = (change, persisted) {
                self.overrides.origin_probed(of, *at);
            }
            let Change::Failure(failure) = change else { continue };
            let outcome = match persisted {
                Persisted::Ok(outcomes) | Persisted::Conflict(outcomes) => outcomes.get(place).cloned(),
                Persisted::Unavailable { .. } => self.remember(failure, world),
            };
            if let Some(Outcome::Opened(window) | Outcome::Extended(window)) = outcome {
                self.say_window(&failure.profile, &window);
            }
        }
        self.go(Phase::React);
    }

    fn remember(&mut self, failure: &Failure, world: &World<'_>) -> Option<Outcome> {
        let stored = world.view.profile(&failure.profile)?;
        let usage =
            self.unstored.entry(failure.profile.clone()).or_insert_with(|| Usage::clone(&stored.usage));
        Some(transition::failure(usage, failure, world.now))
    }

    fn say_window(&mut self, profile: &ProfileId, window: &Window) {
        self.say(|| Event::Window {
            profile: profile.clone(),
            lane: window.lane,
            bucket: window.bucket.clone(),
            model: window.model.clone(),
            until_ms: window.until,
            step: window.step,
            clamped_from_ms: window.hint.filter(|_| window.clamped()),
        });
    }

    /// What follows from the last failure (E0): partial output ends the run (H5), then a repair (D9),
    /// a rotation (F), or the end slot.
    pub(super) fn react(&mut self, world: &mut World<'_>) {
        let Some(last) = self.last.clone() else { return self.go(Phase::Choose) };
        if last.partial {
            return self.surface_now(world);
        }
        if self.interrupted(world) {
            return;
        }
        if last.retry && !self.repaired {
            return self.repair(world);
        }
        match last.rotate {
            Some(slot) if self.may_rotate(slot, &last, world) => self.rotate(slot, &last, world),
            _ => self.fall(&last, world),
        }
    }

    /// The end slot: to the next candidate, or back to the host.
    fn fall(&mut self, last: &Fail, world: &mut World<'_>) {
        if last.end == policy::End::Surface {
            return self.surface_now(world);
        }
        self.leave(world);
        self.go(Phase::Choose);
    }

    /// Leaves the current candidate after its last failure; H3: one of the auth class is remembered.
    pub(super) fn leave(&mut self, world: &mut World<'_>) {
        if let Some(last) = self.last.clone().filter(|last| self.chain.get(self.at) == Some(&last.candidate))
        {
            self.decide(
                DecisionType::Failed,
                &last.candidate,
                Some(last.bucket.to_string()),
                last.preview.clone(),
                true,
            );
            if last.traits.auth_class && self.at > 0 {
                self.skip_later(&last.candidate, world);
            }
        }
        self.next_candidate();
    }

    /// H3: leaves the candidate out in this session for a while, if the rules and a setting ask for it.
    fn skip_later(&self, candidate: &Candidate, world: &mut World<'_>) {
        let (Some(slot), Some(session)) = (&self.table.policy().skip_cache, &self.request.session) else {
            return;
        };
        let duration = |slot| self.table.settings().duration(slot, Some(&candidate.provider));
        let asked = duration(slot.for_);
        if !asked.is_zero() {
            let span = asked.max(duration(slot.at_least)).min(duration(slot.at_most));
            world.memory.skip(session, candidate, world.now.after(span), world.now);
        }
    }

    /// F4: a free profile that was not called here, and the limit allows it or yields, since no later
    /// candidate may be tried.
    fn may_rotate(&self, slot: RotateSlot, last: &Fail, world: &World<'_>) -> bool {
        if !matches!(self.consider(self.at, &self.rotation, world), Considered::Call(_)) {
            return false;
        }
        let falls = last.end != policy::End::Surface;
        self.rotation.within_limit(&self.table, slot, last.verdict.bucket) || !(falls && self.may_fall(world))
    }

    /// Whether a later candidate may still be tried.
    fn may_fall(&self, world: &World<'_>) -> bool {
        let fresh = Rotation::default();
        let later = self.at + 1..self.chain.len();
        later.into_iter().any(|at| matches!(self.consider(at, &fresh, world), Considered::Call(_)))
    }

    fn rotate(&mut self, slot: RotateSlot, last: &Fail, world: &mut World<'_>) {
        self.rotation.rotate(last.verdict.bucket);
        let provider = Some(last.candidate.provider.as_str());
        let pause = slot.after.map_or(Duration::ZERO, |slot| self.table.settings().duration(slot, provider));
        if pause.is_zero() {
            return self.go(Phase::Choose);
        }
        if !self.budget.allows(world.now, pause) {
            return self.exhaust(ExhaustedReason::Budget, world);
        }
        self.step(Step::Wait(pause), Phase::Pausing(pause));
    }

    /// D9: the host may mend the payload, once a run.
    fn repair(&mut self, world: &World<'_>) {
        self.repaired = true;
        let Some(call) = self.call.as_ref().filter(|_| self.budget.allows(world.now, Duration::ZERO)) else {
            return self.go(Phase::React);
        };
        let attempt = Attempt {
            candidate: call.candidate.clone(),
            profile: call.profile.clone(),
            probe: call.probe,
            deadline: self.budget.deadline,
            refresh_first: false,
            repair: true,
        };
        self.step(Step::Attempt(attempt), Phase::Repairing);
    }

    /// The payload is mended: the same call again, if its profile is still there and fit (C8); or not: what
    /// follows without a retry.
    pub(super) fn mended(&mut self, mended: bool, world: &mut World<'_>) {
        let again = self.call.clone().filter(|_| mended && self.budget.allows(world.now, Duration::ZERO));
        let again = again.and_then(|mut call| {
            let seats = self.seating(&call.candidate, world);
            call.refresh_first = seats.of(call.profile.as_ref())?.refresh_first;
            Some(call)
        });
        match again {
            Some(call) => self.launch(call, world),
            None => self.go(Phase::React),
        }
    }

    /// Whether the last failure was this candidate's, and is returned when its profiles are used up.
    pub(super) fn ends_here(&self) -> bool {
        let of_this = |last: &&Fail| self.chain.get(self.at) == Some(&last.candidate);
        self.last.as_deref().filter(of_this).is_some_and(|last| last.end == policy::End::Surface)
    }

    pub(super) fn surface_now(&mut self, world: &World<'_>) {
        if let Some(last) = self.last.clone() {
            let reason = Some(last.bucket.to_string());
            self.decide(DecisionType::Failed, &last.candidate, reason, last.preview.clone(), false);
        }
        self.end(End::Surface, world);
    }
}

fn fail(
    call: &Call,
    signal: Signal,
    verdict: Verdict,
    partial: bool,
    reaction: &Reaction,
    bucket: &Bucket,
    preview: Option<String>,
) -> Fail {
    Fail {
        candidate: call.candidate.clone(),
        profile: call.profile.clone(),
        signal,
        verdict,
        bucket: Arc::clone(&bucket.name),
        partial,
        rotate: reaction.rotate.node,
        retry: reaction.retry_if_repaired.node,
        end: reaction.end.node,
        traits: bucket.traits,
        preview,
    }
}

pub(super) fn secret(profile: &ProfileId, new: Refreshed) -> Change {
    Change::NewSecret(NewSecret {
        profile: profile.clone(),
        secret: new.secret,
        refresh: new.refresh,
        expires: new.expires,
    })
}

/// The origin failed: that its probe was due is stored along with the failure (B3).
fn origin_probed(of: SelectionKey, call: &Call) -> Change {
    Change::OriginProbed { of, at: call.started }
}
