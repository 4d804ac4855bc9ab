//! What has changed by the time that a step is taken: others, and the clock, do not wait for a run.

use std::time::Duration;

use pointsman::{
    lang::policy::{CredentialKind, Lane, Scope},
    run::*,
    state::{
        change::{Batch, Change, Failure, Outcome, WindowIntent},
        model::{Pin, Session},
        schedule::{Schedule, Steps},
        view::ViewQuery,
    },
    time::Timestamp,
};

use crate::support::lab::*;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Another run's failure rests a profile for an hour.
fn rests(profile: &str, now: Timestamp) -> Batch {
    let window = WindowIntent {
        lane: Lane::Cooldown,
        scope: Scope::Profile,
        schedule: Schedule::new("short", Steps::List(vec![Duration::from_hours(1)])),
        seed: 0,
        hint: None,
        after: None,
    };
    let failure = Failure {
        profile: id(profile),
        model: None,
        bucket: "auth".into(),
        attempt_started_at: now,
        window: Some(window),
        forget_after: None,
    };
    Batch { session: None, changes: vec![Change::Failure(failure)] }
}

#[test]
fn e8_a_window_that_opens_while_the_choice_is_stored_is_seen() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "acme:y", "other:z"]);
    lab.after_persist = Some(Box::new(|store, now| drop(store.apply(&rests("acme:x", now), now).unwrap())));
    assert_eq!(lab.ok().calls(), ["acme/a acme:y"]);
}

#[test]
fn c9_before_the_first_call_the_order_is_looked_at_anew() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x", "acme:y"]);
    let table = lab.table.clone();
    lab.after_persist = Some(Box::new(move |store, now| {
        store.apply(&rests("acme:x", now), now).unwrap();
        change_at(store, "s", session::compact(table.policy()), now);
    }));
    assert_eq!(lab.ok().calls(), ["acme/a acme:y"]);
    assert_eq!(lab.session("s").pins["acme"].displaced, None, "the other was not used longest ago any more");
}

#[test]
fn c9_after_the_first_call_what_was_first_in_the_order_counts_as_displaced() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x", "acme:y"]);
    let turn = lab.turn(|call, lab| {
        if call.profile == Some(id("acme:y")) {
            return Reply::Ok;
        }
        lab.compact("s");
        fails("t_over")
    });
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:y"]);
    assert_eq!(lab.session("s").pins["acme"].displaced, Some(id("acme:x")));
}

#[test]
fn i3_a_probe_that_another_run_makes_meanwhile_is_not_made_twice() {
    let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
    let mut lab = Lab::with(table(""), routing).keys(&["acme:x", "other:z"]);
    lab.play(
        request("t"),
        |call, _| if *call.candidate.provider == *"acme" { fails("t_auth") } else { Reply::Ok },
    );
    lab.pass(seconds(10));
    // Both choose the probe before either makes it; the second is told once its choice is stored.
    let view = |lab: &Lab, session| lab.store.view(&ViewQuery { session: Some(session) }, lab.now).unwrap();
    let mut runs = ["s", "u"].map(|session| {
        let run = Run::new(request(session), lab.table.clone(), lab.routing.clone(), 1);
        (session, run, view(&lab, session))
    });
    let mut calls = vec![];
    for (_, run, view) in &mut runs {
        let Step::Persist(batch) = run.next(lab.now, view, &mut lab.memory).unwrap() else { panic!() };
        let applied = lab.store.apply(&batch, lab.now);
        run.report(Report::Persisted(Persisted::from(&applied))).unwrap();
        *view = applied.unwrap().view;
    }
    for (_, run, view) in &mut runs {
        for _ in 0..20 {
            match run.next(lab.now, view, &mut lab.memory).unwrap() {
                Step::Event(_) => {}
                Step::Persist(batch) => {
                    let applied = lab.store.apply(&batch, lab.now);
                    run.report(Report::Persisted(Persisted::from(&applied))).unwrap();
                    *view = applied.unwrap().view;
                }
                Step::Attempt(call) => {
                    calls.push((call.profile.unwrap().0.to_string(), call.probe));
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(calls, [("acme:x".to_owned(), Some(Probe::Primary)), ("other:z".to_owned(), None)]);
}

#[test]
fn h6_no_call_begins_once_storing_has_used_up_the_time() {
    let policy = table("replace budget per run { elapsed 1s }\n");
    let routing = Routing { model: list("acme/a", None), ..Routing::default() };
    let lab = Lab::with(policy, routing).keys(&["acme:x"]);
    let query = ViewQuery { session: Some("s") };
    let (view, mut memory) = (lab.store.view(&query, lab.now).unwrap(), Memory::new());
    let mut run = Run::new(request("s"), lab.table.clone(), lab.routing.clone(), 1);
    let Step::Persist(batch) = run.next(lab.now, &view, &mut memory).unwrap() else { panic!() };
    let applied = lab.store.apply(&batch, lab.now);
    run.report(Report::Persisted(Persisted::from(&applied))).unwrap();
    let (view, late) = (applied.unwrap().view, lab.now.after(seconds(2)));
    let end = std::iter::repeat_with(|| run.next(late, &view, &mut memory).unwrap())
        .find(|step| !matches!(step, Step::Event(_)));
    assert!(matches!(end, Some(Step::Exhausted(summary)) if summary.reason == Some(ExhaustedReason::Budget)));
}

#[test]
fn d9_c8_a_login_that_expires_meanwhile_is_refreshed_before_the_retry() {
    let mut lab = Lab::new("acme/a", &[]);
    lab.put("acme:login", CredentialKind::Oauth, Some(START.after(seconds(10))), true);
    lab.mends = true;
    lab.takes = seconds(20);
    let mut asked = vec![];
    lab.turn(|call, _| {
        asked.push(call.refresh_first);
        if asked.len() == 1 { fails("t_format") } else { Reply::Ok }
    });
    assert_eq!(asked, [false, true]);
}

#[test]
fn d9_c8_a_token_that_expires_meanwhile_is_not_sent_again() {
    let mut lab = Lab::new("acme/a", &[]);
    lab.put("acme:token", CredentialKind::Token, Some(START.after(seconds(10))), false);
    lab.mends = true;
    lab.takes = seconds(20);
    let turn = lab.turn(|_, _| fails("t_format"));
    assert_eq!(turn.calls(), ["acme/a acme:token", "acme/a acme:token repair"]);
    assert_eq!(&*turn.surfaced().bucket, "format");
}

#[test]
fn e0_when_the_profile_of_a_rotation_is_gone_the_end_slot_is_left() {
    for (end, goes_on) in [("surface", false), ("fallback", true)] {
        let strict = table(&format!("replace on auth {{ rotate; {end} }}\n"));
        let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
        let mut lab = Lab::with(strict, routing).keys(&["acme:x", "acme:y", "other:z"]);
        let turn = lab.turn(|call, _| match call.profile.as_ref().map(|id| &*id.0) {
            Some("acme:x") => fails("t_auth"),
            Some("acme:y") => Reply::NoSecret,
            _ => Reply::Ok,
        });
        assert_eq!(turn.calls()[..2], ["acme/a acme:x", "acme/a acme:y"]);
        assert_eq!(turn.calls()[2..], ["other/b other:z"][..usize::from(goes_on)], "{end}");
        if !goes_on {
            assert_eq!(&*turn.surfaced().bucket, "auth");
        }
    }
}

#[test]
fn a6_pins_go_back_to_what_they_were_before_the_run_also_over_two_models_of_a_provider() {
    let mut lab = Lab::new("acme/a", &["other/b", "other/c"]).keys(&["acme:x", "other:y", "other:z"]);
    let turn = lab.turn(|call, _| match &*call.candidate.model {
        "a" => fails("t_model"),
        _ => fails("t_over"),
    });
    assert!(turn.calls().contains(&"other/c other:y sibling".to_owned()), "{:?}", turn.calls());
    let session = lab.session("s");
    assert_eq!((session.selected, session.pins.len()), (None, 0));
}

#[test]
fn b3_a6_that_a_probe_was_due_is_not_undone() {
    let mut lab = Lab::new("acme/a", &["other/b", "third/c"]).keys(&["acme:x", "other:y", "third:z"]);
    lab.turn(|call, _| if *call.candidate.provider == *"other" { Reply::Ok } else { fails("t_model") });
    lab.minutes(5);
    let turn = lab.turn(|_, _| fails("t_model"));
    assert_eq!(turn.calls(), ["acme/a acme:x origin", "other/b other:y", "third/c third:z"]);
    assert_eq!(lab.session("s").selected.unwrap().probed_at, Some(lab.now));
    lab.memory = Memory::new();
    lab.minutes(1);
    assert_eq!(lab.ok().calls(), ["other/b other:y"], "not due again after a restart");
}

#[test]
fn a6_a_pin_that_the_user_takes_away_meanwhile_does_not_come_back() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y", "other:z"]);
    lab.turn(|call, _| if *call.candidate.provider == *"other" { Reply::Ok } else { fails("t_model") });
    assert!(lab.session("s").pins.contains_key("other"));
    lab.compact("s");
    lab.minutes(1);
    // The run has seen the pin, and the user takes it away before the run writes its own.
    let query = ViewQuery { session: Some("s") };
    lab.change("s", session::pin_profile(&lab.table, &lab.session("s"), id("other:y")));
    let seen = lab.store.view(&query, lab.now).unwrap();
    lab.change("s", session::unpin_profile(&lab.table, None));
    let mut session = Session::clone(&seen.session);
    let change = Change::PinOver {
        family: "other".into(),
        pin: Pin { by_user: false, ..session.pins["other"].clone() },
        over: session.pins.remove("other"),
    };
    let batch = Batch { session: Some("s".into()), changes: vec![change] };
    let applied = lab.store.apply(&batch, lab.now).unwrap();
    assert_eq!(applied.outcomes, [Outcome::Kept]);
    assert!(applied.view.session.pins.is_empty());
}
