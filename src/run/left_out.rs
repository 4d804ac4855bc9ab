//! A profile whose secret could not be had (C8).

use std::time::Duration;

use super::{
    choose::Call,
    event::Event,
    machine::{Phase, Run, World},
    rotate::Rotation,
    summary::{ExhaustedReason, LeftOut, redact_profile},
};

impl Run {
    /// There was no call: the profile is left out of this run like any that is not eligible. Nothing is
    /// counted against it, nothing is used up, and the next one is tried.
    pub(super) fn leave_out(&mut self, why: String, world: &mut World<'_>) {
        let Some(call) = self.call.take() else { return self.go(Phase::Choose) };
        self.budget.give_back();
        self.summary.calls = self.summary.calls.saturating_sub(1);
        if let Some(throttle) = &call.throttle {
            world.memory.not_probed(&throttle.provider, throttle.bucket.as_deref(), call.started);
        }
        if let Some(session) = self.request.session.as_ref().filter(|_| call.is_origin_probe()) {
            world.memory.origin_not_probed(session, &call.candidate);
        }
        let here = self.last.as_ref().filter(|last| last.candidate == call.candidate);
        // The call was to be made again (D9): what follows from its failure is still to come.
        let retry = here.is_some_and(|last| last.profile == call.profile);
        if here.is_none() && call.profile.is_some() {
            // Nobody has been called here yet, so that the candidate may still be skipped or probed (I).
            self.rotation = Rotation::default();
        }
        let Call { candidate, profile, .. } = *call;
        if let Some(profile) = profile {
            self.summary.left_out.push(LeftOut { profile: redact_profile(&profile), why: why.clone() });
            self.say(|| Event::LeftOut { candidate, profile: profile.clone(), why });
            self.left_out.insert(profile);
        }
        // Waiting for its secret may have taken all the time there was (H6).
        if !retry && self.interrupt.is_none() && !self.budget.allows(world.now, Duration::ZERO) {
            return self.exhaust(ExhaustedReason::Budget, world);
        }
        self.go(if retry { Phase::React } else { Phase::Choose });
    }
}
