//! One budget per run across retries, profiles and models (H6).

use std::time::Duration;

use pointsman::run::*;

use crate::support::lab::*;

fn many() -> Lab {
    let fallbacks: Vec<String> = (0..20).map(|n| format!("p{n}/m")).collect();
    let fallbacks: Vec<&str> = fallbacks.iter().map(String::as_str).collect();
    let mut lab = Lab::new("acme/a", &fallbacks).keys(&["acme:x"]);
    for n in 0..20 {
        lab = lab.keys(&[&format!("p{n}:k")]);
    }
    lab
}

#[test]
fn h6_twelve_attempts() {
    let mut lab = many();
    let turn = lab.turn(|_, _| fails("t_model"));
    assert_eq!(turn.attempts.len(), 12);
    assert_eq!(turn.exhausted().reason, Some(ExhaustedReason::Budget));
    assert_eq!(turn.of("exhausted")[0]["reason"], "budget");
    assert_eq!(turn.skipped().len(), 9);
    assert!(turn.skipped().iter().all(|skip| skip.ends_with("budget")));
    assert_eq!(lab.session("s").selected, None, "a6");
}

#[test]
fn h6_skips_are_free() {
    let mut lab = many();
    for n in 0..15 {
        lab.store.remove_profile(&id(&format!("p{n}:k"))).unwrap();
    }
    let turn = lab.turn(|_, _| fails("t_model"));
    assert_eq!(turn.attempts.len(), 6);
    assert_eq!(turn.exhausted().reason, Some(ExhaustedReason::ChainExhausted));
}

#[test]
fn h6_five_minutes_and_the_rest_is_the_deadline() {
    let mut lab = many();
    lab.takes = Duration::from_secs(100);
    let turn = lab.turn(|_, _| fails("t_model"));
    assert_eq!(turn.attempts.len(), 3);
    assert!(turn.attempts.iter().all(|call| call.deadline == Some(START.after(Duration::from_mins(5)))));
    assert_eq!(turn.exhausted().reason, Some(ExhaustedReason::Budget));
}

#[test]
fn h6_counts_rotations_and_repairs() {
    let small = table("replace budget per run { attempts 2 }\n");
    let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
    let mut lab = Lab::with(small, routing).keys(&["acme:x", "acme:y", "other:z"]);
    let turn = lab.turn(|_, _| fails("t_auth"));
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:y"]);
    assert_eq!(turn.skipped(), ["other/b budget"]);
    assert_eq!(turn.attempts[0].deadline, None);
    lab.mends = true;
    lab.change("s", pointsman::state::change::Change::Clear { profile: None, model: None });
    let turn = lab.turn(|_, _| fails("t_format"));
    assert_eq!(turn.attempts.iter().filter(|call| !call.repair).count(), 2);
}

#[test]
fn h6_a_pause_that_outlasts_the_budget_is_not_begun() {
    let slow = table("set overloaded_backoff = 10m\n");
    let routing = Routing { model: list("acme/a", Some(&[])), ..Routing::default() };
    let mut lab = Lab::with(slow, routing).keys(&["acme:x", "acme:y"]);
    let turn = lab.turn(|_, _| fails("t_over"));
    assert_eq!(turn.attempts.len(), 1);
    assert_eq!(turn.exhausted().reason, Some(ExhaustedReason::Budget));
    assert!(turn.of("waited").is_empty());
}

#[test]
fn h6_no_budget_rule_no_budget() {
    let mut lab = many();
    lab.table = table_without(&["budget"]);
    assert_eq!(lab.turn(|_, _| fails("t_model")).attempts.len(), 21);
}
