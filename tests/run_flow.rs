//! The flow of one run (A), partial output, aborts and switches (D11, H4, H5), and the contract of
//! turns.

use std::{sync::Arc, time::Duration};

use pointsman::{
    lang::policy::SelectionSource,
    run::*,
    signal::Aborted,
    state::view::{View, ViewQuery},
};
use serde_json::json;

use crate::support::lab::*;

#[test]
fn a1_a7_the_primary_answers() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let turn = lab.ok();
    assert_eq!(turn.calls(), ["acme/a acme:x"]);
    assert_eq!(turn.names(), ["attempt", "answered"]);
    assert_eq!(turn.answered().position, 1);
    assert_eq!(turn.answered().summary.calls, 1);
    assert_eq!(
        turn.events[0],
        json!({"event": "attempt", "provider": "acme", "model": "a", "profile": "acme:x", "atMs": 0})
    );
}

#[test]
fn a2_the_chain_follows_from_the_selection_and_its_source() {
    let agent = AgentRouting { model: list("own/m", None), ..AgentRouting::default() };
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y", "own:z"]).routing(|routing| {
        routing.agents.insert("helper".into(), agent);
    });
    let turn = lab.turn(|_, _| fails("t_model"));
    assert_eq!(turn.calls(), ["acme/a acme:x", "other/b other:y"], "the default's list");
    let helper = Request { agent: Some("helper".into()), ..request("t") };
    let turn = lab.play(helper, |_, _| fails("t_model"));
    assert_eq!(turn.calls(), ["own/m own:z"], "an agent without a list is strict");
    lab.user_picks("u", "other/b");
    let turn = lab.play(request("u"), |_, _| fails("t_model"));
    assert_eq!(turn.calls(), ["other/b other:y"], "and so is a user");
}

#[test]
fn a3_a4_profiles_first_then_the_next_candidate() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "acme:y", "other:z"]);
    let turn =
        lab.turn(|call, _| if call.candidate.provider == "acme" { fails("t_auth") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:y", "other/b other:z"]);
}

#[test]
fn a7_surfaced_as_it_is() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    for code in ["t_context", "t_filter", "t_abort", "t_format"] {
        let turn = lab.turn(|_, _| fails(code));
        let surface = turn.surfaced();
        assert_eq!(surface.signal.message.as_deref(), Some(&*format!("{code} happened")), "{code}");
        assert_eq!(surface.signal.provider.as_deref(), Some("acme"));
        assert!(!surface.partial);
        assert_eq!(turn.of("surfaced")[0]["message"], format!("{code} happened"));
        assert!(turn.of("window").is_empty(), "h2: no window");
    }
}

#[test]
fn a7_exhausted_also_with_one_candidate_and_skips_apart() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    let turn = lab.turn(|_, _| fails("t_model"));
    let summary = turn.exhausted();
    assert_eq!(summary.attempts.len(), 1);
    assert_eq!(summary.reason, Some(ExhaustedReason::ChainExhausted));
    assert_eq!(summary.last_error.as_ref().unwrap().code.as_deref(), Some("t_model"));

    let mut lab = Lab::new("acme/a", &["nobody/b", "third/c"]).keys(&["acme:x", "third:z"]);
    let turn = lab.turn(|_, _| fails("t_model"));
    assert_eq!(turn.calls(), ["acme/a acme:x", "third/c third:z"]);
    assert_eq!(turn.skipped(), ["nobody/b no_profile"]);
    assert_eq!(turn.exhausted().skipped[0].reason, SkipReason::NoProfile);
    assert_eq!(turn.exhausted().attempts.len(), 2);
}

#[test]
fn a7_fallback_else_surface_surfaces_only_the_last() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let turn = lab.turn(|_, _| fails("t_odd"));
    assert_eq!(turn.calls(), ["acme/a acme:x", "other/b other:y"]);
    assert_eq!(turn.surfaced().signal.provider.as_deref(), Some("other"));

    let mut lab = Lab::new("acme/a", &["nobody/b"]).keys(&["acme:x"]);
    let turn = lab.turn(|_, _| fails("t_odd"));
    assert_eq!(turn.skipped(), ["nobody/b no_profile"]);
    assert_eq!(&*turn.surfaced().bucket, "unclassified", "no candidate is left");
}

#[test]
fn a7_no_model_named_is_exhausted_with_a_reason() {
    let mut lab = Lab::with(table(""), Routing::default());
    assert_eq!(lab.ok().exhausted().reason, Some(ExhaustedReason::NoModel));
}

#[test]
fn h1_what_goes_on_and_h2_what_does_not() {
    for (code, on) in [
        ("t_rate", true),
        ("t_over", true),
        ("t_time", true),
        ("t_auth", true),
        ("t_gone", true),
        ("t_bill", true),
        ("t_model", true),
        ("t_session", true),
        ("t_nodetails", true),
        ("t_odd", true),
        ("t_format", false),
        ("t_context", false),
        ("t_filter", false),
        ("t_abort", false),
    ] {
        let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
        let turn =
            lab.turn(|call, _| if call.candidate.provider == "acme" { fails(code) } else { Reply::Ok });
        assert_eq!(matches!(turn.end, Step::Done(_)), on, "{code}");
        let calls = turn.attempts.iter().filter(|call| !call.repair).count();
        assert_eq!(calls, if on { 2 } else { 1 }, "{code}");
    }
}

#[test]
fn h2_a_rule_may_let_a_refusal_fall_back() {
    let lenient = table("replace on content_filter { fallback }\n");
    let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
    let mut lab = Lab::with(lenient, routing).keys(&["acme:x", "other:y"]);
    let turn =
        lab.turn(|call, _| if call.candidate.provider == "acme" { fails("t_filter") } else { Reply::Ok });
    assert_eq!(turn.answered().candidate, model("other/b"));
}

#[test]
fn d9_format_is_repaired_and_retried_once() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    lab.mends = true;
    let mut calls = 0;
    let turn = lab.turn(|_, _| {
        calls += 1;
        if calls == 1 { fails("t_format") } else { Reply::Ok }
    });
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:x repair", "acme/a acme:x"]);
    assert_eq!(turn.names(), ["attempt", "failed", "attempt", "answered"]);

    let turn = lab.turn(|_, _| fails("t_format"));
    assert_eq!(turn.attempts.len(), 3, "once: the second failure surfaces");
    assert_eq!(&*turn.surfaced().bucket, "format");

    lab.mends = false;
    let turn = lab.turn(|_, _| fails("t_format"));
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:x repair"]);
    assert_eq!(&*turn.surfaced().bucket, "format");
}

#[test]
fn d11_an_abort_ends_the_run_and_undoes_its_override() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let turn = lab.turn(|call, lab| {
        if call.candidate.provider == "acme" {
            return fails("t_model");
        }
        assert!(lab.session("s").selected.is_some());
        Reply::Interrupt(Interrupt::Abort(Aborted::User))
    });
    assert_eq!(&*turn.surfaced().bucket, "abort");
    assert_eq!(turn.surfaced().summary.attempts.len(), 2);
    assert_eq!(lab.session("s").selected, None);
    assert_eq!(turn.names().last(), Some(&"surfaced"));
}

#[test]
fn h5_partial_output_ends_the_run_but_opens_the_window() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "acme:y", "other:z"]);
    let turn = lab.turn(|_, _| Reply::Partial(failure("t_rate")));
    assert_eq!(turn.calls(), ["acme/a acme:x"], "neither rotation nor fallback");
    assert!(turn.surfaced().partial);
    assert_eq!(turn.of("window").len(), 1);
    assert_eq!(turn.of("surfaced")[0]["partial"], true);

    let turn = lab.turn(|call, _| match &*call.candidate.provider {
        "acme" => fails("t_model"),
        _ => Reply::Partial(failure("t_over")),
    });
    assert!(turn.surfaced().partial);
    assert_eq!(lab.session("s").selected, None, "no override is kept");
}

#[test]
fn h4_a_switch_to_a_later_candidate_jumps_there() {
    let mut lab = Lab::new("acme/a", &["other/b", "third/c"]).keys(&["acme:x", "other:y", "third:z"]);
    let turn = lab.turn(|call, _| match &*call.candidate.provider {
        "acme" => Reply::Interrupt(Interrupt::Switch { to: model("third/c"), by_user: false }),
        _ => Reply::Ok,
    });
    assert_eq!(turn.calls(), ["acme/a acme:x", "third/c third:z"]);
    let decision = turn.of("decision")[0];
    assert_eq!(decision["fallbackStepToModel"], "third/c");
}

#[test]
fn h4_a_users_switch_outside_the_chain_ends_the_run() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let turn = lab.turn(|_, _| Reply::Interrupt(Interrupt::Switch { to: model("new/n"), by_user: true }));
    assert!(matches!(&turn.end, Step::Switch(to) if *to == model("new/n")));
    assert_eq!(turn.of("switched").len(), 1);
}

#[test]
fn h4_k1_a_users_change_of_the_store_is_seen_at_the_next_step() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let turn = lab.turn(|_, lab| {
        lab.user_picks("s", "new/n");
        fails("t_model")
    });
    assert!(matches!(&turn.end, Step::Switch(to) if *to == model("new/n")), "{:?}", turn.end);
    assert_eq!(lab.session("s").selected.unwrap().candidate, model("new/n"), "k4: the newer choice stays");
}

#[test]
fn h4_a_stale_value_is_an_unrecognised_failure() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let turn = lab.turn(|call, _| match &*call.candidate.provider {
        "acme" => Reply::Interrupt(Interrupt::Switch { to: model("stale/s"), by_user: false }),
        _ => Reply::Ok,
    });
    assert_eq!(turn.calls(), ["acme/a acme:x", "other/b other:y"]);
    assert_eq!(turn.of("failed")[0]["bucket"], "unclassified");
}

#[test]
fn k1_another_runs_automatic_override_is_no_switch() {
    let mut lab = Lab::new("acme/a", &["other/b", "third/c"]).keys(&["acme:x", "other:y", "third:z"]);
    let turn = lab.turn(|call, lab| match &*call.candidate.provider {
        "acme" => {
            lab.change("s", pick("third/c", Some(SelectionSource::Auto), lab.now));
            fails("t_model")
        }
        _ => Reply::Ok,
    });
    assert_eq!(turn.calls(), ["acme/a acme:x", "other/b other:y"]);
    assert_eq!(lab.session("s").selected.unwrap().candidate, model("third/c"), "a6: and it stays");
}

#[test]
fn calls_out_of_turn_are_typed_errors_and_change_nothing() {
    let lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    let mut run = Run::new(Request::default(), Arc::clone(&lab.table), Arc::clone(&lab.routing), 1);
    let view = lab.store.view(&ViewQuery::default(), START).unwrap();
    let mut memory = Memory::new();
    assert_eq!(run.report(Report::Waited), Err(OutOfTurn::NothingToReport));
    let mut next = |run: &mut Run, view: &View| run.next(START, view, &mut memory);
    assert!(matches!(next(&mut run, &view), Ok(Step::Persist(_))));
    assert_eq!(next(&mut run, &view).unwrap_err(), OutOfTurn::ReportFirst(Expected::Persist));
    assert_eq!(run.report(Report::Waited), Err(OutOfTurn::OtherReport(Expected::Persist)));
    run.report(Report::Persisted(Persisted::Ok(Vec::new()))).unwrap();
    assert!(matches!(next(&mut run, &view), Ok(Step::Event(Event::Attempt { .. }))));
    assert_eq!(run.report(Report::Answered { new_secret: None }), Err(OutOfTurn::NothingToReport));
    assert!(matches!(next(&mut run, &view), Ok(Step::Attempt(_))));
    assert_eq!(run.report(Report::Repaired), Err(OutOfTurn::OtherReport(Expected::Attempt)));
    run.report(Report::Answered { new_secret: None }).unwrap();
    while !matches!(next(&mut run, &view), Ok(Step::Done(_))) {
        let _ = run.report(Report::Persisted(Persisted::Ok(Vec::new())));
    }
    assert_eq!(next(&mut run, &view).unwrap_err(), OutOfTurn::Ended);
    assert_eq!(run.report(Report::Waited), Err(OutOfTurn::Ended));
    assert_eq!(run.interrupt(Interrupt::Abort(Aborted::Host)), Err(OutOfTurn::Ended));
}

#[test]
fn the_same_seed_gives_the_same_steps() {
    let play = |seed| {
        let jittery = table("replace backoff short = steps 1m, 5m jitter 20%\n");
        let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
        let mut lab = Lab::with(jittery, routing).keys(&["acme:x", "other:y"]);
        lab.seed = seed;
        lab.takes = Duration::from_secs(3);
        lab.turn(|_, _| fails("t_rate")).steps
    };
    assert_eq!(play(7), play(7));
    assert_ne!(play(7), play(8), "jitter draws from its own seed");
}

#[test]
fn a_store_that_cannot_be_written_does_not_stop_the_run() {
    let mut lab = Lab::new("acme/a", &["acme/b", "other/c"]).keys(&["acme:x", "other:y"]);
    lab.broken = true;
    let turn =
        lab.turn(|call, _| if call.candidate.provider == "acme" { fails("t_bill") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["acme/a acme:x", "other/c other:y"], "the window counts in memory");
    assert_eq!(turn.skipped(), ["acme/b disabled"]);
    assert!(turn.of("store_unavailable")[0]["why"].as_str().unwrap().contains("held by another process"));
    assert_eq!(turn.of("window").len(), 1);
    assert!(turn.of("override").is_empty(), "nothing was written, so nothing is claimed");
    assert_eq!(turn.answered().candidate, model("other/c"));
}

#[test]
fn c8_an_expired_login_is_refreshed_first_and_the_secret_comes_back() {
    use pointsman::lang::policy::CredentialKind::{Oauth, Token};
    let mut lab = Lab::new("acme/a", &[]);
    lab.put("acme:login", Oauth, Some(START), true);
    lab.put("acme:stale", Token, Some(START), false);
    let turn = lab.turn(|call, _| {
        assert!(call.refresh_first);
        Reply::Refreshed("planted-fresh")
    });
    assert_eq!(turn.calls(), ["acme/a acme:login"], "the expired token is left out");
    assert!(!turn.steps.join("\n").contains("planted"), "j6");
    lab.minutes(1);
    let turn = lab.turn(|call, _| {
        assert!(!call.refresh_first, "the new expiry is stored");
        Reply::Ok
    });
    assert_eq!(turn.answered().profile, Some(id("acme:login")));
}

#[test]
fn a_provider_that_needs_no_credentials_is_called_without() {
    let mut lab = Lab::new("ollama/q", &[]).routing(|routing| {
        routing.no_credentials.insert("ollama".into());
    });
    let turn = lab.ok();
    assert_eq!(turn.calls(), ["ollama/q"]);
    assert!(turn.batches.is_empty());
    assert_eq!(lab.turn(|_, _| fails("t_rate")).exhausted().attempts.len(), 1);
}
