//! What operators and users see of a run (J).

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

use pointsman::{
    run::*,
    signal::Signal,
    state::change::{Change, Expect, Release},
};
use serde_json::json;

use crate::support::lab::*;

fn lab() -> Lab {
    Lab::new("acme/a", &["other/b", "third/c"]).keys(&["acme:x", "other:y", "third:z"])
}

fn up(providers: &'static [&'static str]) -> impl FnMut(&Attempt, &Lab) -> Reply {
    move |call, _| if providers.contains(&&*call.candidate.provider) { Reply::Ok } else { fails("t_bill") }
}

#[test]
fn j1_a_record_of_each_attempt() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:jane@example.com"]);
    let signal = Signal { status: Some(402), message: Some("no\nmoney".into()), ..failure("t_bill") };
    let turn = lab.turn(|_, _| Reply::Fail(signal.clone()));
    let record = serde_json::to_value(&turn.exhausted().attempts[0]).unwrap();
    assert_eq!(
        record,
        json!({
            "provider": "acme", "model": "a", "profile": "acme:j…@example.com", "bucket": "billing",
            "rule": "t_bill", "status": 402, "code": "t_bill", "summary": "no money",
        })
    );
}

#[test]
fn j1_a_status_that_stands_in_the_text_is_shown_and_the_error_stays_as_it_is() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    let signal = Signal { message: Some("HTTP 418: teapot".into()), ..failure("t_context") };
    let turn = lab.turn(|_, _| Reply::Fail(signal.clone()));
    assert_eq!(turn.of("failed")[0]["status"], 418);
    assert_eq!(turn.surfaced().signal.status, None);
}

#[test]
fn j2_decisions_are_flat_and_rebuild_the_primarys_failure() {
    let mut lab = lab();
    let turn = lab.turn(up(&[]));
    let decisions = turn.of("decision");
    assert_eq!(
        *decisions[0],
        json!({
            "event": "decision", "atMs": 0,
            "fallbackStepType": "failed",
            "fallbackStepFromModel": "acme/a",
            "fallbackStepToModel": "other/b",
            "fallbackStepFromFailureReason": "billing",
            "fallbackStepFromFailureDetail": "t_bill happened",
            "fallbackStepChainPosition": 1,
            "fallbackStepFinalOutcome": "next_fallback",
        })
    );
    assert_eq!(decisions.len(), 3);
    assert_eq!(decisions[2]["fallbackStepFinalOutcome"], "chain_exhausted");
    assert_eq!(decisions[2].get("fallbackStepToModel"), None);
}

#[test]
fn j2_decisions_for_skipped_probed_and_succeeded() {
    let mut lab = lab();
    lab.turn(up(&["third"]));
    lab.reset("s");
    lab.minutes(1);
    let turn = lab.turn(up(&["third"]));
    let kinds: Vec<_> = turn.of("decision").iter().map(|d| d["fallbackStepType"].clone()).collect();
    assert_eq!(kinds, ["probed", "failed", "skipped", "succeeded"]);
    assert_eq!(turn.of("decision")[0]["fallbackStepChainPosition"], 1, "the probe is of the first");
    let last = turn.of("decision")[3];
    assert_eq!(last["fallbackStepFromModel"], "acme/a");
    assert_eq!(last["fallbackStepToModel"], "third/c");
    assert_eq!(last["fallbackStepFromFailureReason"], "billing");
    assert_eq!(last["fallbackStepFinalOutcome"], "succeeded");
    assert_eq!(last["fallbackStepChainPosition"], 3);
}

#[test]
fn j2_the_order_at_one_instant() {
    let mut lab = lab();
    let turn = lab.turn(up(&["third"]));
    assert_eq!(
        turn.names(),
        [
            "attempt",
            "failed",
            "window",
            "override",
            "decision", //
            "attempt",
            "failed",
            "window",
            "rolled_back",
            "override",
            "decision", //
            "attempt",
            "decision",
            "notice",
            "answered",
        ]
    );
}

#[test]
fn j3_soonest_expiry_is_about_the_tried_models() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let mut limited = |call: &Attempt, _: &Lab| {
        let wait = if call.candidate.provider == "acme" { "300" } else { "120" };
        Reply::Fail(Signal { headers: vec![("retry-after".into(), wait.into())], ..failure("t_rate") })
    };
    let turn = lab.turn(&mut limited);
    assert_eq!(turn.of("exhausted")[0]["soonestExpiryMs"], 120_000);
    assert_eq!(turn.of("exhausted")[0]["attempts"], 2);

    // A window of a model outside the chain does not count, though it ends sooner.
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    let other = choice("t", "acme/elsewhere", pointsman::lang::policy::SelectionSource::User, None);
    lab.play(other, |_, _| fails("t_rate"));
    let turn = lab.turn(&mut limited);
    assert_eq!(turn.of("exhausted")[0]["soonestExpiryMs"], 300_000);
}

#[test]
fn j3_the_latest_row_of_a_profile_counts() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    lab.turn(|_, _| fails("t_rate"));
    lab.pass(std::time::Duration::from_secs(1));
    let turn = lab.turn(|_, _| fails("t_over"));
    assert_eq!(turn.of("exhausted")[0]["soonestExpiryMs"], 61_000);
}

#[test]
fn j4_one_notice_when_a_session_has_moved() {
    let mut lab = lab();
    let turn = lab.turn(up(&["other"]));
    let notice = &turn.notices[0];
    assert_eq!(turn.notices.len(), 1);
    assert_eq!(notice.text, "↪️ Model Fallback: other/b (selected acme/a; billing)");
    assert_eq!(notice.kind, NoticeKind::Fallback);
    assert_eq!(notice.delivery, Delivery::OPERATIONAL);
    assert_eq!(turn.of("notice")[0]["kind"], "fallback");
    lab.minutes(1);
    assert!(lab.turn(up(&["other"])).notices.is_empty(), "never on sticky turns");
}

#[test]
fn j4_from_one_fallback_to_another_is_one() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(1);
    let turn = lab.turn(up(&["third"]));
    assert_eq!(turn.notices.len(), 1);
    assert_eq!(turn.notices[0].text, "↪️ Model Fallback: third/c (selected acme/a; billing)");
}

#[test]
fn j4_a_fallback_that_did_not_answer_is_not_told() {
    let mut lab = lab();
    assert!(lab.turn(up(&[])).notices.is_empty());
    lab.change("s", Change::Clear { profile: None, model: None });
    let turn = lab.turn(up(&["third"]));
    assert_eq!(turn.notices.len(), 1, "only the one that answered");
}

#[test]
fn j4_one_when_it_returns() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(5);
    let turn = lab.turn(up(&["acme", "other"]));
    assert_eq!(turn.notices[0].text, "↪️ Model Fallback cleared: acme/a (was other/b)");
    assert_eq!(turn.of("notice")[0]["kind"], "cleared");
    lab.minutes(1);
    assert!(lab.turn(up(&["acme"])).notices.is_empty());
}

#[test]
fn j4_none_on_reset_or_new() {
    for change in [Change::Reset { release: Release::ALL }, Change::New { release: Release::ALL }] {
        let mut lab = lab();
        lab.turn(up(&["other"]));
        lab.change("s", change);
        lab.change("s", Change::Clear { profile: None, model: None });
        assert!(lab.turn(up(&["acme"])).notices.is_empty());
    }
}

#[test]
fn j4_the_reason_is_that_of_a_skipped_primary_too() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    lab.play(
        request("t"),
        |call, _| if call.candidate.provider == "acme" { fails("t_gone") } else { Reply::Ok },
    );
    let turn = lab.turn(up(&["other"]));
    assert_eq!(turn.skipped(), ["acme/a auth"]);
    assert_eq!(turn.notices[0].text, "↪️ Model Fallback: other/b (selected acme/a; auth_permanent)");
}

/// Marks nothing, sends nothing: the override as a process that ended in the middle leaves it.
fn untold(lab: &Lab) {
    let mut selected = lab.session("s").selected.unwrap();
    selected.notified = false;
    lab.change("s", Change::Select { expect: Expect::Anything, new: Some(selected) });
}

#[test]
fn j4_a_notice_that_was_not_sent_is_sent_by_a_later_turn() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    untold(&lab);
    let turn = lab.turn(up(&["other"]));
    assert_eq!(turn.notices[0].text, "↪️ Model Fallback: other/b (selected acme/a; billing)");
    assert!(lab.session("s").selected.unwrap().notified);
}

#[test]
fn j4_two_runs_of_a_session_tell_once() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    untold(&lab);
    let turn = lab.turn(|_, lab| {
        let of = lab.session("s").selected.unwrap().key();
        lab.change("s", Change::Notified { of });
        Reply::Ok
    });
    assert!(turn.notices.is_empty(), "the other one has told");
}

#[test]
fn j4_the_wording_is_the_rules() {
    let silent = table_without(&["notice fallback"]);
    let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
    let mut lab = Lab::with(silent, routing).keys(&["acme:x", "other:y"]);
    assert!(lab.turn(up(&["other"])).notices.is_empty());
}

#[test]
fn j6_no_secret_reaches_an_event() {
    let mut lab = lab();
    let signal = Signal {
        message: Some("Incorrect API key provided: sk-planted0123456789".into()),
        code: Some("t_auth".into()),
        ..Signal::default()
    };
    let turn = lab.turn(|_, _| Reply::Fail(signal.clone()));
    let events = serde_json::to_string(&turn.events).unwrap();
    assert!(events.contains("Incorrect API key provided"));
    assert!(!events.contains("planted"), "{events}");
    let records = serde_json::to_string(&turn.exhausted().attempts).unwrap();
    assert!(!records.contains("planted"), "{records}");
}
