//! A call answered: ladders fall, the profile is pinned, an origin's override is cleared, notices go
//! out (A7, B3, C9, E10, J4).

use super::{
    choose::Call,
    event::{Cleared, Decision, DecisionType, Event, FinalOutcome},
    fail::secret,
    machine::{After, Phase, Run, World},
    notice::{self, Notice, full},
    overrides::Plan,
    step::{Done, Persisted, Refreshed, Step},
};
use crate::state::{
    change::{Change, Outcome, Success},
    model::ProfileId,
};

/// An answer whose changes are being stored.
#[derive(Debug)]
pub(super) struct Answer {
    /// A refreshed credential is among them.
    holds_secret: bool,
    /// Place of the change that marks the override's notice as sent.
    notified: Option<usize>,
    call: Box<Call>,
    plan: Plan,
}

impl Answer {
    /// Whose refreshed credential is among the changes (C8).
    pub fn secret_of(&self) -> Option<&ProfileId> {
        self.call.profile.as_ref().filter(|_| self.holds_secret)
    }
}

impl Run {
    pub(super) fn answered(&mut self, new_secret: Option<Refreshed>, world: &World<'_>) {
        let Some(call) = self.call.take() else { return self.go(Phase::Choose) };
        let mut changes = Vec::new();
        if let Some(profile) = &call.profile {
            changes.extend(new_secret.map(|new| secret(profile, new)));
            let reset = self.table.policy().on_success.as_ref();
            changes.push(Change::Success(Success {
                profile: profile.clone(),
                model: Some(call.candidate.model.clone()),
                attempt_started_at: call.started,
                reset_model: reset.is_some_and(|slot| slot.model),
                reset_profile: reset.is_some_and(|slot| slot.profile),
            }));
        }
        let mut plan = match &self.selected {
            Some(selected) => {
                let origin = &selected.origin.candidate;
                self.overrides.answered(&call.candidate, origin, &world.view.session)
            }
            None => Plan::default(),
        };
        changes.append(&mut plan.changes);
        changes.extend(self.pin(&call, world).map(|(family, pin)| Change::Pin { family, pin }));
        let holds_secret = changes.iter().any(|change| matches!(change, Change::NewSecret(_)));
        let notified = changes.iter().position(|change| matches!(change, Change::Notified { .. }));
        let answer = Answer { holds_secret, notified, call, plan };
        if changes.is_empty() {
            return self.answer_stored(answer, &Persisted::Ok(Vec::new()), world);
        }
        self.persist(changes, After::Answer(Box::new(answer)));
    }

    pub(super) fn answer_stored(&mut self, answer: Answer, persisted: &Persisted, world: &World<'_>) {
        let Answer { notified, call, mut plan, .. } = answer;
        let mut notices = Vec::new();
        match persisted {
            Persisted::Ok(outcomes) => {
                if let Some(candidate) = plan.rolled_back.take() {
                    self.say(|| Event::RolledBack { candidate });
                }
                notices = self.say_selection(&plan, &call, notified.and_then(|place| outcomes.get(place)));
                self.overrides.commit(&mut plan);
            }
            Persisted::Conflict(_) => self.say(|| Event::OverrideKept { candidate: call.candidate.clone() }),
            Persisted::Unavailable { .. } => {}
        }
        self.succeeded(&call);
        for notice in notices {
            self.say(|| Event::Notice { text: notice.text.clone(), kind: notice.kind });
            self.push(Step::Notify(notice));
        }
        self.say(|| Event::Answered { candidate: call.candidate.clone(), profile: call.profile.clone() });
        let summary = self.summary(world);
        let done = Done { candidate: call.candidate, profile: call.profile, position: self.at + 1, summary };
        self.step(Step::Done(Box::new(done)), Phase::Ended);
    }

    /// Says what became of the session's selection, and gives the notices that are due: one for each
    /// change of state (J4).
    fn say_selection(&mut self, plan: &Plan, call: &Call, notified: Option<&Outcome>) -> Vec<Notice> {
        let table = std::sync::Arc::clone(&self.table);
        let policy = table.policy();
        let mut notices = Vec::new();
        let outlived = self.heartbeat_cleared.take();
        if let Some(cleared) = &plan.cleared {
            self.say(|| Event::OverrideCleared {
                candidate: cleared.candidate.clone(),
                why: Cleared::OriginAnswered,
            });
            if cleared.notified {
                notices.extend(notice::cleared(policy, &call.candidate, &cleared.candidate));
            }
        } else if let Some(new) = &plan.notify {
            if let (Some(Outcome::Done), Some(selected)) = (notified, &self.selected) {
                let reason = new.reason.as_deref().or(self.reason.as_deref()).unwrap_or_default();
                notices.extend(notice::fallback(policy, &new.candidate, &selected.origin.candidate, reason));
            }
        } else if let Some(outlived) = outlived {
            notices.extend(notice::cleared(policy, &call.candidate, &outlived.candidate));
        }
        notices
    }

    /// J2: a later candidate answered; the step tells of the first that did not.
    fn succeeded(&mut self, call: &Call) {
        self.say_decisions();
        if self.at == 0 {
            return;
        }
        let Some(first) = self.chain.first() else { return };
        let failed = self.summary.attempts.iter().find(|record| record.candidate == *first);
        let skipped = self.summary.skipped.iter().find(|skip| skip.candidate == *first);
        let reason = failed.map(|record| record.bucket.to_string()).or_else(|| {
            skipped.map(|skip| skip.bucket.clone().unwrap_or_else(|| skip.reason.as_str().to_owned()))
        });
        let decision = Decision {
            fallback_step_type: DecisionType::Succeeded,
            fallback_step_from_model: full(first),
            fallback_step_to_model: Some(full(&call.candidate)),
            fallback_step_from_failure_reason: reason,
            fallback_step_from_failure_detail: failed.map(|record| record.summary.clone()),
            fallback_step_chain_position: self.at + 1,
            fallback_step_final_outcome: Some(FinalOutcome::Succeeded),
        };
        self.say(|| Event::Decision(decision));
    }
}
