//! The session's selection as a run writes and undoes it (A5, A6, B3, K).

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

use pointsman::{
    lang::policy::SelectionSource,
    run::*,
    state::{change::Change, model::Session},
};

use crate::support::lab::*;

fn lab() -> Lab {
    Lab::new("acme/a", &["other/b", "third/c"]).keys(&["acme:x", "other:y", "third:z"])
}

/// Only these providers answer.
fn up(providers: &'static [&'static str]) -> impl FnMut(&Attempt, &Lab) -> Reply {
    move |call, _| if providers.contains(&&*call.candidate.provider) { Reply::Ok } else { fails("t_model") }
}

fn selected(session: &Session) -> String {
    let selected = session.selected.as_ref().unwrap();
    format!("{}/{}", selected.candidate.provider, selected.candidate.model)
}

#[test]
fn a5_override_is_persisted_before_the_attempt() {
    let mut lab = lab();
    let mut seen = vec![];
    let turn = lab.turn(|call, lab| {
        let session = lab.session("s");
        seen.push(session.selected.clone());
        if let Some(selected) = &session.selected {
            assert_eq!(selected.candidate, call.candidate, "every reader sees who is about to be called");
            assert_eq!(selected.source, Some(SelectionSource::Auto));
            assert_eq!(selected.origin.as_ref().unwrap().candidate, model("acme/a"));
            let pin = session.pins.get("other").or(session.pins.get("third")).unwrap();
            assert_eq!(Some(&pin.profile), call.profile.as_ref(), "with its profile");
        }
        if call.candidate.provider == "third" { Reply::Ok } else { fails("t_model") }
    });
    assert_eq!(seen.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(selected(&lab.session("s")), "third/c");
    assert_eq!(turn.of("override").len(), 2);
    assert_eq!(turn.of("override")[0]["source"], "auto");
}

#[test]
fn a5_rotation_persists_the_new_profile() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y", "other:z"]);
    let turn = lab.turn(|call, lab| {
        if call.candidate.provider == "acme" {
            return fails("t_model");
        }
        assert_eq!(Some(&lab.session("s").pins["other"].profile), call.profile.as_ref());
        if call.profile == Some(id("other:y")) { fails("t_auth") } else { Reply::Ok }
    });
    assert_eq!(turn.calls(), ["acme/a acme:x", "other/b other:y", "other/b other:z"]);
    assert_eq!(turn.of("override").len(), 2);
}

#[test]
fn a6_a_failed_fallback_is_rolled_back() {
    let mut lab = lab();
    let turn = lab.turn(up(&[]));
    assert_eq!(turn.of("rolled_back").len(), 2);
    assert_eq!(turn.of("override").len(), 2);
    let session = lab.session("s");
    assert_eq!(session.selected, None);
    assert!(session.pins.is_empty(), "the pins that went with it too");
    let names = turn.names();
    let tail = ["failed", "rolled_back", "decision", "exhausted"];
    assert_eq!(names[names.len() - 4..], tail, "in this order at one instant");
}

#[test]
fn a6_k4_rollback_and_next_override_are_one_transaction() {
    let mut lab = lab();
    let turn = lab.turn(up(&["third"]));
    let both = turn.batches.iter().any(|batch| {
        batch.changes.iter().any(|change| matches!(change, Change::Rollback(_)))
            && batch.changes.iter().any(|change| matches!(change, Change::Select { .. }))
    });
    assert!(both, "no reader sees the primary in between");
}

#[test]
fn a6_a_manual_change_is_never_overwritten() {
    let mut lab = lab();
    let turn = lab.turn(|call, lab| {
        if call.candidate.provider == "other" {
            lab.user_picks("s", "third/c");
        }
        if call.candidate.provider == "third" { Reply::Ok } else { fails("t_model") }
    });
    assert_eq!(turn.calls().last().unwrap(), "third/c third:z", "h4: it points at a later candidate");
    let session = lab.session("s");
    assert_eq!(selected(&session), "third/c");
    assert_eq!(session.selected.unwrap().source, Some(SelectionSource::User));
    assert!(turn.of("rolled_back").is_empty());
    assert!(turn.notices.is_empty(), "the user knows what the user chose");
}

#[test]
fn a6_other_fields_of_the_session_are_left_alone() {
    let mut lab = lab();
    lab.user_pins("s", "acme:x");
    lab.compact("s");
    let pin = lab.session("s").pins["acme"].clone();
    lab.turn(|call, lab| {
        if call.candidate.provider == "other" {
            lab.compact("s");
        }
        fails("t_model")
    });
    let session = lab.session("s");
    assert_eq!(session.compaction_count, 2, "a compaction meanwhile is kept");
    assert_eq!(session.pins.values().collect::<Vec<_>>(), [&pin]);
}

#[test]
fn a6_after_a_failed_compare_the_run_writes_no_more_overrides() {
    let mut lab = lab();
    let turn = lab.turn(|call, lab| {
        if call.candidate.provider == "acme" {
            lab.change("s", pick("somewhere/else", Some(SelectionSource::Auto), lab.now));
        }
        fails("t_model")
    });
    assert_eq!(turn.attempts.len(), 3);
    assert!(turn.of("override").is_empty());
    assert_eq!(selected(&lab.session("s")), "somewhere/else");
}

#[test]
fn a6_a_change_between_view_and_write_is_found_by_the_compare() {
    let mut lab = lab();
    lab.after_persist = None;
    let turn =
        lab.turn(|call, _| if call.candidate.provider == "third" { Reply::Ok } else { fails("t_bill") });
    assert_eq!(selected(&lab.session("s")), "third/c");
    assert_eq!(turn.of("override_kept").len(), 0);

    // The failure is stored, and right after it somebody selects another model.
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    let mut first = true;
    let turn = lab.turn(|_, lab| {
        if std::mem::take(&mut first) {
            change_at(&*lab.store, "s", pick("new/n", Some(SelectionSource::User), lab.now), lab.now);
        }
        fails("t_bill")
    });
    assert!(matches!(turn.end, Step::Switch(_)));
    assert_eq!(selected(&lab.session("s")), "new/n");
}

#[test]
fn b3_k3_the_override_stays_for_later_turns() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(1);
    let turn = lab.turn(up(&["other", "acme"]));
    assert_eq!(turn.calls(), ["other/b other:y"], "the origin is not tried at every turn");
    assert!(turn.of("override").is_empty());
}

#[test]
fn b3_the_origin_is_probed_after_five_minutes() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(4);
    assert_eq!(lab.turn(up(&["other"])).attempts.len(), 1);
    lab.minutes(1);
    let turn = lab.turn(up(&["other"]));
    assert_eq!(turn.calls(), ["acme/a acme:x origin", "other/b other:y"]);
    assert!(turn.notices.is_empty(), "a failed probe is not told");
    assert!(turn.of("override").is_empty() && turn.of("rolled_back").is_empty());
    lab.minutes(4);
    assert_eq!(lab.turn(up(&["other"])).attempts.len(), 1, "counted from the last due probe");
    lab.minutes(1);
    let turn = lab.turn(|call, lab| {
        assert_eq!(selected(&lab.session("s")), "other/b", "nothing is stored before the origin answers");
        up(&["acme"])(call, lab)
    });
    assert_eq!(turn.calls(), ["acme/a acme:x origin"]);
    assert_eq!(lab.session("s").selected, None);
    assert_eq!(turn.of("override_cleared")[0]["why"], "origin_answered");
    assert_eq!(turn.notices.len(), 1);
}

#[test]
fn b3_only_a_due_probe_counts_as_one() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(4);
    let turn = lab.turn(up(&[]));
    assert_eq!(turn.calls(), ["other/b other:y", "third/c third:z", "acme/a acme:x"]);
    lab.minutes(1);
    assert_eq!(lab.turn(up(&["other"])).calls(), ["acme/a acme:x origin", "other/b other:y"]);
}

#[test]
fn b3_a_skipped_origin_does_not_use_up_the_probe() {
    let mut lab = lab();
    lab.turn(|call, _| if call.candidate.provider == "acme" { fails("t_bill") } else { Reply::Ok });
    // Billing is probed at most every five minutes; the first probe uses that up.
    lab.minutes(5);
    let fail_acme = |call: &Attempt, _: &Lab| match &*call.candidate.provider {
        "acme" => fails("t_bill"),
        _ => Reply::Ok,
    };
    assert_eq!(lab.turn(fail_acme).calls(), ["acme/a acme:x origin", "other/b other:y"]);
    lab.memory.forget_session("s");
    let turn = lab.turn(fail_acme);
    assert_eq!(turn.calls(), ["other/b other:y"]);
    lab.minutes(5);
    assert_eq!(lab.turn(fail_acme).attempts.len(), 2);
}

#[test]
fn b3_after_a_restart_the_stored_probe_counts() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(5);
    lab.turn(up(&["other"]));
    lab.memory = Memory::new();
    lab.minutes(1);
    assert_eq!(lab.turn(up(&["other"])).attempts.len(), 1);
}

#[test]
fn b3_a_sticky_fallback_that_fails_goes_on_along_the_chain() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(1);
    let turn = lab.turn(up(&["third"]));
    assert_eq!(turn.calls(), ["other/b other:y", "third/c third:z"]);
    let session = lab.session("s");
    assert_eq!(selected(&session), "third/c");
    assert_eq!(session.selected.unwrap().origin.unwrap().candidate, model("acme/a"));
    lab.minutes(1);
    let turn = lab.turn(up(&[]));
    assert_eq!(turn.calls(), ["third/c third:z", "other/b other:y", "acme/a acme:x"]);
    assert_eq!(selected(&lab.session("s")), "third/c", "a6: back to what it was before the run");
}

#[test]
fn b3_the_primary_at_the_chains_end_clears_the_override() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(1);
    let turn = lab.turn(up(&["acme"]));
    assert_eq!(turn.calls(), ["other/b other:y", "third/c third:z", "acme/a acme:x"]);
    assert_eq!(lab.session("s").selected, None);
    assert_eq!(turn.notices.len(), 1);
    assert_eq!(turn.notices[0].kind, NoticeKind::Cleared);
}

#[test]
fn b3_a_heartbeat_clears_an_override_whose_origin_is_no_longer_the_default() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    let heartbeat = || Request { heartbeat: true, ..request("s") };
    let turn = lab.play(heartbeat(), up(&["other"]));
    assert_eq!(turn.calls(), ["other/b other:y"], "the origin still is the default");
    lab = lab.routing(|routing| routing.model = list("third/c", Some(&["other/b"])));
    let own = choice("s", "other/b", SelectionSource::Default, None);
    lab.play(Request { heartbeat: true, ..own }, up(&["other"]));
    assert!(lab.session("s").selected.is_some(), "a heartbeat with its own model leaves it alone");
    let turn = lab.play(heartbeat(), up(&["third"]));
    assert_eq!(turn.calls(), ["third/c third:z"]);
    assert_eq!(turn.of("override_cleared")[0]["why"], "origin_changed");
    assert_eq!(lab.session("s").selected, None);
}

#[test]
fn k1_a_heartbeats_own_model_moves_no_session() {
    let mut lab = lab().routing(|routing| routing.heartbeat = Some(model("beat/h")));
    lab.store_profile("beat:k", pointsman::lang::policy::CredentialKind::ApiKey);
    let turn = lab.play(Request { heartbeat: true, ..request("s") }, up(&["other"]));
    assert_eq!(turn.calls(), ["beat/h beat:k", "other/b other:y"]);
    assert_eq!(lab.session("s").selected, None);
}

#[test]
fn b6_a_jobs_fallback_is_sticky_for_the_job_only() {
    let mut lab = lab();
    let job = || choice("s", "acme/a", SelectionSource::Cron, Some(&["third/c"]));
    assert_eq!(lab.play(job(), up(&["third"])).calls(), ["acme/a acme:x", "third/c third:z"]);
    lab.minutes(1);
    assert_eq!(lab.play(job(), up(&["third"])).calls(), ["third/c third:z"], "b3: also the job's list");
    let other = choice("s", "other/b", SelectionSource::Cron, Some(&["third/c"]));
    assert_eq!(lab.play(other, up(&["third"])).calls(), ["other/b other:y", "third/c third:z"]);
    let origin = lab.session("s").selected.unwrap().origin.unwrap();
    assert_eq!(origin.candidate, model("acme/a"), "another job does not take the override over");
}

#[test]
fn b6_a_job_never_replaces_a_users_choice() {
    let mut lab = lab();
    lab.user_picks("s", "third/c");
    lab.play(choice("s", "acme/a", SelectionSource::Cron, None), up(&["other"]));
    let selected = lab.session("s").selected.unwrap();
    assert_eq!((selected.candidate, selected.source), (model("third/c"), Some(SelectionSource::User)));
}

#[test]
fn b4_a_users_choice_that_fails_is_reported_not_replaced() {
    let mut lab = lab();
    lab.user_picks("s", "third/c");
    let turn =
        lab.turn(|call, _| if call.candidate.provider == "third" { fails("t_rate") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["third/c third:z"]);
    assert_eq!(turn.exhausted().attempts.len(), 1);
    lab.play(choice("t", "acme/a", SelectionSource::User, None), up(&[]));
    assert_eq!(lab.session("t").selected, None, "a one-off choice is not stored");
}

#[test]
fn g6_an_image_run_neither_reads_nor_writes_the_selection() {
    let mut lab = lab().routing(|routing| routing.image = list("acme/paint", Some(&["other/draw"])));
    lab.user_picks("s", "third/c");
    let turn = lab.play(Request { kind: Kind::Image, ..request("s") }, up(&["other"]));
    assert_eq!(turn.calls(), ["acme/paint acme:x", "other/draw other:y"]);
    assert_eq!(selected(&lab.session("s")), "third/c");
    assert!(turn.of("override").is_empty());
}

#[test]
fn k5_reset_clears_an_automatic_override_and_its_probe() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.reset("s");
    let turn = lab.turn(up(&["acme"]));
    assert_eq!(turn.calls(), ["acme/a acme:x"]);
    assert!(turn.notices.is_empty(), "none on reset");
}

#[test]
fn k5_a_users_model_survives_reset_and_ends_with_new() {
    let mut lab = lab();
    lab.user_picks("s", "third/c");
    lab.user_pins("s", "third:z");
    lab.compact("s");
    assert_eq!(lab.session("s").pins.len(), 1, "compaction releases automatic pins only");
    lab.reset("s");
    assert_eq!(selected(&lab.session("s")), "third/c");
    assert!(lab.session("s").pins.is_empty(), "every pin");
    let new = session::new(lab.table.policy());
    lab.change("s", new);
    assert_eq!(lab.session("s").selected, None);
}

#[test]
fn d11_an_abort_while_the_override_is_stored_makes_no_call() {
    let lab = lab();
    let mut run = Run::new(request("s"), lab.table.clone(), lab.routing.clone(), 1);
    let (mut memory, mut calls) = (Memory::new(), 0);
    let query = pointsman::state::view::ViewQuery { session: Some("s") };
    let mut view = lab.store.view(&query, lab.now).unwrap();
    let end = loop {
        match run.next(lab.now, &view, &mut memory).unwrap() {
            Step::Persist(batch) => {
                let applied = lab.store.apply(&batch, lab.now);
                if batch.changes.iter().any(|change| matches!(change, Change::Select { .. })) {
                    run.interrupt(Interrupt::Abort(pointsman::signal::Aborted::User)).unwrap();
                }
                run.report(Report::Persisted(Persisted::from(&applied))).unwrap();
                view = applied.unwrap().view;
            }
            Step::Attempt(_) => {
                calls += 1;
                let failed = Failed { signal: failure("t_model"), ..Failed::default() };
                run.report(Report::Failed(Box::new(failed))).unwrap();
            }
            Step::Event(_) | Step::Notify(_) => {}
            end => break end,
        }
    };
    assert!(matches!(end, Step::Surface(_)), "{end:?}");
    assert_eq!(calls, 1);
    assert_eq!(lab.session("s").selected, None);
}

#[test]
fn b3_a_probe_counts_also_while_nothing_can_be_stored() {
    let mut lab = lab();
    lab.turn(up(&["other"]));
    lab.minutes(5);
    lab.broken = true;
    assert_eq!(lab.turn(up(&["other"])).attempts.len(), 2);
    lab.minutes(1);
    assert_eq!(lab.turn(up(&["other"])).calls(), ["other/b other:y"]);
}
