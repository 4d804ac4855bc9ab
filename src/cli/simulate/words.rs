//! What happens, in words. Profile ids are redacted (J1).

use std::{fmt::Write as _, time::Duration};

use crate::{
    cli::{session::full, table::Style},
    host::simulate::{Act, Ask},
    lang::policy::{Lane, SelectionSource},
    run::{Cleared, Event, ExhaustedReason, FinalOutcome, Kind, Probe, redact_profile},
    signal::Aborted,
    state::model::{Candidate, ProfileId},
    time::{Timestamp, format_duration},
};

/// What the host does.
pub(super) fn turn(act: &Act) -> String {
    match act {
        Act::Ask(ask) => ask_words(ask),
        Act::Reset => "reset".to_owned(),
        Act::New => "new".to_owned(),
        Act::Compact => "compacted".to_owned(),
        Act::ClearProfile { profile, model } => {
            let whose = profile.as_ref().map_or_else(|| "every profile".to_owned(), redact_profile);
            let model = model.as_ref().map(|model| format!(" for {model}")).unwrap_or_default();
            format!("windows of {whose}{model} cleared by hand")
        }
        Act::Switch(switch) => {
            let by = if switch.by_user { "the user switches" } else { "the stored model changes" };
            format!("{by} to {}", full(&switch.to))
        }
        Act::Abort(by) => match by {
            Aborted::User => "the user cancels",
            Aborted::Host => "the host cancels",
            Aborted::Deadline => "the host's deadline passes",
        }
        .to_owned(),
    }
}

/// Writing to a string cannot fail.
fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(more);
}

fn ask_words(ask: &Ask) -> String {
    let mut text = match (ask.heartbeat, ask.kind) {
        (true, _) => "heartbeat".to_owned(),
        (false, Kind::Image) => "image turn".to_owned(),
        (false, Kind::Text) => "turn".to_owned(),
    };
    if let Some(agent) = &ask.agent {
        push(&mut text, format_args!(" of agent {agent}"));
    }
    if let Some(choice) = &ask.choice {
        let whose = match choice.source {
            SelectionSource::User => "the user's, once",
            SelectionSource::Cron => "the job's",
            _ => "the host's",
        };
        push(&mut text, format_args!(" with {} ({whose})", full(&choice.candidate)));
        if let Some(list) = &choice.fallbacks {
            let names: Vec<_> = list.iter().map(full).collect();
            push(
                &mut text,
                format_args!(
                    ", fallbacks {}",
                    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
                ),
            );
        }
    }
    if let Some((candidate, source)) = &ask.stores {
        let old = if source.is_none() { ", as an old host stored it" } else { "" };
        push(&mut text, format_args!(" with {} (the user's{old})", full(candidate)));
    }
    if let Some(pinned) = &ask.pins {
        let how = if pinned.by_user { "pinned" } else { "preferred" };
        push(&mut text, format_args!(", {} {how}", redact_profile(&pinned.profile)));
    }
    text
}

/// What happens in a run; nothing where the lines around it say it.
pub(super) fn event(event: &Event, at: Duration) -> Option<(Style, String)> {
    Some(match event {
        Event::Attempt { candidate, profile, probe } => {
            let probe = match probe {
                Some(Probe::Origin) => ", to see whether it is back",
                Some(Probe::Primary | Probe::Sibling) => ", in spite of its window",
                None => "",
            };
            (Style::Plain, format!("→ {}{probe}", called(candidate, profile.as_ref())))
        }
        Event::Failed { bucket, rule, status, summary, .. } => {
            let status = status.map(|status| format!(" {status}")).unwrap_or_default();
            let by = rule.as_ref().map(|rule| format!(" by {rule}")).unwrap_or_default();
            let said = summary.as_ref().map(|said| format!(": {said}")).unwrap_or_default();
            (Style::Bad, format!("✗ {bucket}{status}{by}{said}"))
        }
        Event::Window { profile, lane, model, until_ms, step, clamped_from_ms, .. } => {
            let rests = match lane {
                Lane::Cooldown => "rests",
                Lane::Disable => "is disabled",
            };
            let model = model.as_ref().map(|model| format!(" for {model}")).unwrap_or_default();
            let clamped = clamped_from_ms.map(|was| format!(", not until {}", span(was))).unwrap_or_default();
            let left = format_duration(since(*until_ms, at));
            let who = redact_profile(profile);
            let until = span(*until_ms);
            (Style::Warn, format!("◷ {who} {rests}{model} {left}, until {until}{clamped} (step {step})"))
        }
        Event::WindowCut { profile, until_ms, was_until_ms, .. } => {
            let (who, until, was) = (redact_profile(profile), span(*until_ms), span(*was_until_ms));
            (Style::Warn, format!("◷ {who}: the clock went back; its window ends at {until}, not {was}"))
        }
        Event::Skipped { candidate, reason } => {
            (Style::Dim, format!("· {} passed over: {}", full(candidate), reason.as_str()))
        }
        Event::LeftOut { profile, why, .. } => {
            (Style::Warn, format!("· {} left out, no key: {why}", redact_profile(profile)))
        }
        Event::SecretRefused { profile, why } => {
            (Style::Warn, format!("· the new key of {} is not stored: {why}", redact_profile(profile)))
        }
        Event::Waited { span } => (Style::Dim, format!("· waited {}", format_duration(*span))),
        Event::Override { candidate, .. } => {
            (Style::Dim, format!("· the session is on {} now", full(candidate)))
        }
        Event::RolledBack { candidate } => {
            (Style::Dim, format!("· the session is off {} again", full(candidate)))
        }
        Event::OverrideCleared { candidate, why } => {
            let why = match why {
                Cleared::OriginAnswered => "the selected model answers again",
                Cleared::OriginChanged => "another model is configured now",
                Cleared::Reset | Cleared::New => "as asked",
            };
            (Style::Dim, format!("· the session is off {}: {why}", full(candidate)))
        }
        Event::OverrideKept { .. } => {
            (Style::Dim, "· the session's model was changed meanwhile, and stays".to_owned())
        }
        Event::Decision(decision) => {
            let to = decision.fallback_step_to_model.as_ref()?;
            if decision.fallback_step_final_outcome != Some(FinalOutcome::NextFallback) {
                return None;
            }
            (Style::Dim, format!("↳ {} → {to}", decision.fallback_step_from_model))
        }
        Event::Notice { text, .. } => (Style::Bold, format!("« {text} »")),
        Event::StoreUnavailable { why, .. } => (Style::Bad, format!("! {why}")),
        Event::Answered { candidate, .. } => (Style::Good, format!("✓ {} answered", full(candidate))),
        Event::Surfaced { bucket, partial, .. } => {
            let partial = if *partial { ", after part of the answer" } else { "" };
            (Style::Bad, format!("■ the error is shown: {bucket}{partial}"))
        }
        Event::Switched { candidate } => (Style::Bold, format!("■ the run ends; next {}", full(candidate))),
        Event::Exhausted { soonest_expiry_ms, reason, .. } => {
            let why = match reason {
                ExhaustedReason::ChainExhausted => "nothing answered",
                ExhaustedReason::Budget => "the budget is used up",
                ExhaustedReason::NoModel => "the config names no model",
            };
            let soonest = soonest_expiry_ms.map(|at| format!("; free again at {}", span(at)));
            (Style::Bad, format!("■ {why}{}", soonest.unwrap_or_default()))
        }
    })
}

fn called(candidate: &Candidate, profile: Option<&ProfileId>) -> String {
    let with = profile.map(|profile| format!(" with {}", redact_profile(profile))).unwrap_or_default();
    format!("{}{with}", full(candidate))
}

/// A time that counts from the start of the scenario.
fn span(at: Timestamp) -> String {
    format_duration(at.since(Timestamp::EPOCH))
}

fn since(until: Timestamp, at: Duration) -> Duration {
    until.since(Timestamp::EPOCH).saturating_sub(at)
}
