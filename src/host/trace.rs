//! Events as `tracing` events with flat fields, named as in JSON (J1, J2).
//!
//! Target `pointsman`; the message is the event's name, a step along the chain is
//! `model_fallback_decision`. Profiles are redacted; nothing here holds a secret.

use serde::Serialize;
use tracing::{debug, info, warn};

use super::rules::{ReloadError, Reloaded};
use crate::{
    run::{Decision, Event, redact_profile},
    state::model::ProfileId,
};

/// Traces what came of changed rule files.
pub(super) fn reloaded(done: &Result<Reloaded, ReloadError>) {
    match done {
        Ok(Reloaded::Same) => debug!(target: "pointsman", "rules_unchanged"),
        Ok(Reloaded::Taken { version }) => info!(target: "pointsman", version, "rules_reloaded"),
        Err(error) => warn!(target: "pointsman", why = %error, "rules_refused"),
    }
}

/// Whether anybody collects what is traced here.
pub(super) fn heard() -> bool {
    tracing::enabled!(target: "pointsman", tracing::Level::WARN)
}

/// Traces an event of a session.
pub(super) fn event(session: Option<&str>, event: &Event) {
    match event {
        Event::Attempt { candidate, profile, probe } => debug!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            profile = redacted(profile.as_ref()), probe = word(probe), "attempt"
        ),
        Event::Failed { candidate, profile, bucket, rule, status, code, summary } => info!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            profile = redacted(profile.as_ref()), bucket = &**bucket, rule = rule.as_deref(), status,
            code = code.as_deref(), summary = summary.as_deref(), "failed"
        ),
        Event::Window { profile, lane, bucket, model, until_ms, step, clamped_from_ms } => info!(
            target: "pointsman", session, profile = redact_profile(profile), lane = ?lane, bucket,
            model = model.as_deref(), untilMs = until_ms.as_millis(), step,
            clampedFromMs = clamped_from_ms.map(crate::time::Timestamp::as_millis), "window"
        ),
        Event::WindowCut { profile, model, until_ms, was_until_ms } => warn!(
            target: "pointsman", session, profile = redact_profile(profile), model = model.as_deref(),
            untilMs = until_ms.as_millis(), wasUntilMs = was_until_ms.as_millis(), "window_cut"
        ),
        Event::Skipped { candidate, reason } => info!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            reason = reason.as_str(), "skipped"
        ),
        Event::LeftOut { candidate, profile, why } => warn!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            profile = redact_profile(profile), why, "left_out"
        ),
        Event::SecretRefused { profile, why } => {
            warn!(target: "pointsman", session, profile = redact_profile(profile), why, "secret_refused");
        }
        Event::Waited { span } => {
            debug!(target: "pointsman", session, ms = span.as_secs_f64() * 1e3, "waited");
        }
        Event::Override { candidate, profile, source } => info!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            profile = redacted(profile.as_ref()), source = word(source), "override"
        ),
        Event::RolledBack { candidate } => info!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            "rolled_back"
        ),
        Event::OverrideCleared { candidate, why } => info!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            why = word(why), "override_cleared"
        ),
        Event::OverrideKept { candidate } => info!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            "override_kept"
        ),
        Event::Decision(step) => decision(session, step),
        Event::Notice { text, kind } => {
            info!(target: "pointsman", session, kind = word(kind), text, "notice");
        }
        Event::StoreUnavailable { why, secret_lost } => {
            warn!(target: "pointsman", session, why, secretLost = secret_lost, "store_unavailable");
        }
        Event::Answered { candidate, profile } => debug!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model,
            profile = redacted(profile.as_ref()), "answered"
        ),
        Event::Surfaced { bucket, message, partial } => warn!(
            target: "pointsman", session, bucket = &**bucket, error = message.as_deref(), partial, "surfaced"
        ),
        Event::Switched { candidate } => info!(
            target: "pointsman", session, provider = &*candidate.provider, model = &*candidate.model, "switched"
        ),
        Event::Exhausted { soonest_expiry_ms, attempts, reason } => warn!(
            target: "pointsman", session, attempts, reason = word(reason),
            soonestExpiryMs = soonest_expiry_ms.map(crate::time::Timestamp::as_millis), "exhausted"
        ),
    }
}

fn decision(session: Option<&str>, step: &Decision) {
    info!(
        target: "pointsman",
        session,
        fallbackStepType = word(step.fallback_step_type),
        fallbackStepFromModel = step.fallback_step_from_model,
        fallbackStepToModel = step.fallback_step_to_model,
        fallbackStepFromFailureReason = step.fallback_step_from_failure_reason,
        fallbackStepFromFailureDetail = step.fallback_step_from_failure_detail,
        fallbackStepChainPosition = step.fallback_step_chain_position,
        fallbackStepFinalOutcome = step.fallback_step_final_outcome.map(word),
        "model_fallback_decision"
    );
}

fn redacted(profile: Option<&ProfileId>) -> Option<String> {
    profile.map(redact_profile)
}

/// A value as JSON writes it, without quotes.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
