//! Candidates whose profiles are all blocked: skipped or probed (I); the skip cache (H3).

use std::time::Duration;

use pointsman::{
    lang::policy::SelectionSource,
    run::*,
    state::{change::Change, model::Pin},
};

use crate::support::lab::*;

fn fail_of(provider: &'static str, code: &'static str) -> impl FnMut(&Attempt, &Lab) -> Reply {
    move |call, _| if call.candidate.provider == provider { fails(code) } else { Reply::Ok }
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Another session each time, so that no override is in the way.
fn fresh(lab: &mut Lab, n: u32, answer: impl FnMut(&Attempt, &Lab) -> Reply) -> Turn {
    lab.play(request(&format!("s{n}")), answer)
}

#[test]
fn i1_a_refused_provider_is_skipped_whole() {
    let mut lab = Lab::new("acme/a", &["acme/b", "other/c"]).keys(&["acme:x", "other:y"]);
    let turn = fresh(&mut lab, 1, fail_of("acme", "t_gone"));
    assert_eq!(turn.calls(), ["acme/a acme:x", "other/c other:y"]);
    assert_eq!(turn.skipped(), ["acme/b auth"]);
    lab.minutes(9);
    let turn = fresh(&mut lab, 2, fail_of("acme", "t_gone"));
    assert_eq!(turn.skipped(), ["acme/a auth", "acme/b auth"], "the primary too, also near the end");
}

#[test]
fn i1_auth_skips_from_its_second_step() {
    let mut lab = Lab::new("acme/a", &["acme/b", "other/c"]).keys(&["acme:x", "other:y"]);
    let turn = fresh(&mut lab, 1, fail_of("acme", "t_auth"));
    assert_eq!(turn.skipped(), ["acme/b cooldown"], "the first step may be a hiccup");
    lab.minutes(1);
    let turn = fresh(&mut lab, 2, fail_of("acme", "t_auth"));
    assert_eq!(turn.skipped(), ["acme/b auth"]);
}

#[test]
fn i1_one_blocked_profile_beside_a_free_one_skips_nothing() {
    let mut lab = Lab::new("acme/a", &["acme/b"]).keys(&["acme:x", "acme:y"]);
    let turn =
        fresh(
            &mut lab,
            1,
            |call, _| {
                if call.profile == Some(id("acme:x")) { fails("t_gone") } else { Reply::Ok }
            },
        );
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:y"]);
    assert!(turn.skipped().is_empty());
}

#[test]
fn i2_a_billing_disable_is_probed_every_five_minutes() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    fresh(&mut lab, 1, fail_of("acme", "t_bill"));
    lab.minutes(1);
    let turn = fresh(&mut lab, 2, fail_of("acme", "t_bill"));
    assert_eq!(turn.calls(), ["acme/a acme:x primary", "other/b other:y"]);
    lab.minutes(4);
    let turn = fresh(&mut lab, 3, fail_of("acme", "t_bill"));
    assert_eq!(turn.skipped(), ["acme/a disabled"]);
    lab.minutes(1);
    let turn = fresh(&mut lab, 4, |_, _| Reply::Ok);
    assert_eq!(turn.calls(), ["acme/a acme:x primary"], "recovery needs no restart");
    assert!(lab.usage("acme:x").windows.is_empty(), "e10");
}

#[test]
fn i2_a_fallback_in_a_billing_disable_is_not_probed() {
    let mut lab = Lab::new("acme/a", &["other/b", "third/c"]).keys(&["acme:x", "other:y", "third:z"]);
    let bad = |call: &Attempt, _: &Lab| match &*call.candidate.provider {
        "acme" => fails("t_model"),
        "other" => fails("t_bill"),
        _ => Reply::Ok,
    };
    fresh(&mut lab, 1, bad);
    lab.minutes(6);
    assert_eq!(fresh(&mut lab, 2, bad).skipped(), ["other/b disabled"]);
}

#[test]
fn i3_the_primary_is_probed_near_the_end_of_its_window() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:y"]);
    // The second step lasts five minutes.
    fresh(&mut lab, 1, fail_of("acme", "t_rate"));
    lab.minutes(1);
    fresh(&mut lab, 2, fail_of("acme", "t_rate"));
    lab.pass(seconds(179));
    assert_eq!(fresh(&mut lab, 3, fail_of("acme", "t_rate")).skipped(), ["acme/a cooldown"]);
    lab.pass(seconds(1));
    let turn = fresh(&mut lab, 4, fail_of("acme", "t_rate"));
    assert_eq!(turn.calls(), ["acme/a acme:x primary", "other/b other:y"], "within two minutes");
    lab.pass(seconds(29));
    assert_eq!(fresh(&mut lab, 5, fail_of("acme", "t_rate")).skipped(), ["acme/a cooldown"], "throttled");
    lab.pass(seconds(1));
    assert_eq!(fresh(&mut lab, 6, |_, _| Reply::Ok).calls(), ["acme/a acme:x primary"]);
}

#[test]
fn i3_a_lone_candidate_is_probed_whenever_the_throttle_allows() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    for _ in 0..3 {
        lab.turn(|_, _| fails("t_rate"));
        lab.minutes(6);
    }
    let turn = lab.turn(|_, _| fails("t_rate"));
    assert_eq!(turn.calls(), ["acme/a acme:x primary"], "nineteen minutes before the end");
    lab.pass(seconds(10));
    let turn = lab.turn(|_, _| fails("t_rate"));
    assert_eq!(turn.skipped(), ["acme/a cooldown"]);
    assert!(turn.exhausted().soonest_expiry.is_some());
}

#[test]
fn i3_c9_of_two_that_are_free_at_once_the_pinned_one_is_probed() {
    let policy = table("replace pin profile auto { per session }\n");
    for pinned in ["acme:x", "acme:y"] {
        let routing = Routing { model: list("acme/a", None), ..Routing::default() };
        let mut lab = Lab::with(policy.clone(), routing).keys(&["acme:x", "acme:y"]);
        lab.turn(|_, _| fails("t_auth"));
        let until = |id| lab.usage(id).windows.first().map(|window| window.until);
        assert!(until("acme:x").is_some() && until("acme:x") == until("acme:y"));
        let pin = Pin { profile: id(pinned), by_user: false, compaction_count: 0, displaced: None };
        lab.change("s", Change::Pin { family: "acme".into(), pin });
        assert_eq!(lab.ok().calls(), [format!("acme/a {pinned} primary")]);
    }
}

#[test]
fn i4_a_sibling_is_tried_despite_a_transient_window() {
    let mut lab = Lab::new("acme/a", &["acme/b", "other/c"]).keys(&["acme:x", "other:y"]);
    let turn =
        fresh(&mut lab, 1, |call, _| if call.candidate.model == "a" { fails("t_over") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/b acme:x sibling"]);
    let mut lab = Lab::new("acme/a", &["acme/b", "other/c"]).keys(&["acme:x", "other:y"]);
    let turn = fresh(&mut lab, 1, fail_of("acme", "t_bill"));
    assert_eq!(turn.skipped(), ["acme/b disabled"], "billing is not transient");
}

#[test]
fn i4_a_fallback_of_another_provider_is_no_sibling() {
    let mut lab = Lab::new("acme/a", &["other/b", "third/c"]).keys(&["acme:x", "other:y", "third:z"]);
    let bad = |call: &Attempt, _: &Lab| match &*call.candidate.provider {
        "third" => Reply::Ok,
        "acme" => fails("t_model"),
        _ => fails("t_over"),
    };
    fresh(&mut lab, 1, bad);
    assert_eq!(fresh(&mut lab, 2, bad).skipped(), ["other/b cooldown"]);
}

#[test]
fn i5_one_transient_probe_per_provider_and_run() {
    let mut lab = Lab::new("acme/a", &["acme/b", "acme/c", "other/d"]).keys(&["acme:x", "other:y"]);
    let turn = fresh(&mut lab, 1, fail_of("acme", "t_over"));
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/b acme:x sibling", "other/d other:y"]);
    assert_eq!(turn.skipped(), ["acme/c cooldown"]);
    lab.pass(seconds(10));
    let turn = fresh(&mut lab, 2, fail_of("acme", "t_over"));
    assert_eq!(turn.calls(), ["acme/a acme:x primary", "other/d other:y"], "the primary's probe is the one");
    assert_eq!(turn.skipped(), ["acme/b cooldown", "acme/c cooldown"]);
}

#[test]
fn i5_a_probe_that_keeps_its_slot_does_not_use_it_up() {
    for code in ["t_model", "t_session"] {
        let mut lab = Lab::new("acme/a", &["acme/b", "acme/c"]).keys(&["acme:x"]);
        let turn = fresh(&mut lab, 1, |call, _| match &*call.candidate.model {
            "a" => fails("t_over"),
            "b" => fails(code),
            _ => Reply::Ok,
        });
        assert_eq!(
            turn.calls(),
            ["acme/a acme:x", "acme/b acme:x sibling", "acme/c acme:x sibling"],
            "{code}"
        );
    }
}

/// One key is revoked or out of money, the other rests for as many seconds as the provider says.
fn uneven(first: &'static str, seconds: &'static str) -> impl FnMut(&Attempt, &Lab) -> Reply {
    move |call, _| match call.profile.as_ref().map(|profile| &*profile.0) {
        Some("acme:x") => fails(first),
        Some("acme:y") => {
            let headers = vec![("retry-after".into(), seconds.into())];
            Reply::Fail(pointsman::signal::Signal { headers, ..failure("t_rate") })
        }
        _ => Reply::Ok,
    }
}

#[test]
fn i1_i3_a_refused_key_does_not_hide_the_one_that_is_near_its_end() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "acme:y", "other:z"]);
    fresh(&mut lab, 1, uneven("t_gone", "660"));
    lab.pass(seconds(570));
    let turn = fresh(&mut lab, 2, |_, _| Reply::Ok);
    assert_eq!(turn.calls(), ["acme/a acme:y primary"], "the key that ends later, but is not revoked");
}

#[test]
fn i2_billing_is_probed_though_another_key_is_free_sooner() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "acme:y", "other:z"]);
    fresh(&mut lab, 1, uneven("t_bill", "3600"));
    lab.minutes(1);
    assert_eq!(fresh(&mut lab, 2, |_, _| Reply::Ok).calls(), ["acme/a acme:x primary"]);
}

#[test]
fn i5_a_probe_of_the_origin_is_the_providers_one() {
    let mut lab = Lab::new("acme/a", &["other/b", "acme/c"]).keys(&["acme:x", "other:y"]);
    lab.turn(fail_of("acme", "t_over"));
    lab.pass(seconds(270));
    fresh(&mut lab, 1, fail_of("acme", "t_over"));
    lab.pass(seconds(210));
    let turn = lab
        .turn(|call, _| if call.candidate.provider == "acme" { fails("t_over") } else { fails("t_model") });
    assert_eq!(turn.calls(), ["acme/a acme:x origin", "other/b other:y"]);
    assert_eq!(turn.skipped(), ["acme/c cooldown"]);
}

fn caching() -> Lab {
    let cached = table("set skip_ttl = 2m\n");
    let routing = Routing { model: list("acme/a", Some(&["other/b", "third/c"])), ..Routing::default() };
    Lab::with(cached, routing).keys(&["acme:x", "other:y", "third:z"])
}

fn only_third(call: &Attempt, _: &Lab) -> Reply {
    match &*call.candidate.provider {
        "third" => Reply::Ok,
        "acme" => fails("t_model"),
        _ => fails("t_auth"),
    }
}

/// Takes windows and override away, so that the marker alone holds the fallback back.
fn clear(lab: &Lab) {
    lab.change("s", Change::Clear { profile: None, model: None });
    lab.change("s", Change::New { release: pointsman::state::change::Release::ALL });
}

#[test]
fn h3_a_fallback_that_failed_with_auth_is_left_out_for_a_while() {
    let mut lab = caching();
    lab.turn(only_third);
    clear(&lab);
    let turn = lab.turn(only_third);
    assert_eq!(turn.skipped(), ["other/b skip_cache"]);
    assert_eq!(lab.play(request("t"), only_third).attempts.len(), 3, "in that session only");
    clear(&lab);
    lab.minutes(2);
    clear(&lab);
    assert_eq!(lab.turn(only_third).attempts.len(), 3, "until the marker expires");
}

#[test]
fn h3_the_primary_is_never_left_out() {
    let mut lab = caching();
    let turn = lab.turn(fail_of("acme", "t_auth"));
    assert_eq!(turn.attempts.len(), 2);
    clear(&lab);
    assert_eq!(lab.turn(fail_of("acme", "t_auth")).attempts.len(), 2);

    let mut lab = caching();
    lab.turn(only_third);
    clear(&lab);
    let asked = choice("s", "other/b", SelectionSource::Default, None);
    assert_eq!(
        lab.play(asked, only_third).calls()[0],
        "other/b other:y",
        "marked as a fallback, asked for now"
    );
}

#[test]
fn h3_is_off_by_default() {
    let mut lab = caching();
    lab.table = table("");
    lab.turn(only_third);
    clear(&lab);
    assert_eq!(lab.turn(only_third).attempts.len(), 3);
}

#[test]
fn h3_values_are_clamped() {
    let mut lab = caching();
    lab.table = table("set skip_ttl = 1h\n");
    lab.turn(only_third);
    lab.minutes(9);
    clear(&lab);
    assert_eq!(lab.turn(only_third).skipped(), ["other/b skip_cache"]);
    lab.minutes(1);
    clear(&lab);
    assert!(lab.turn(only_third).skipped().is_empty(), "ten minutes at most");
}

#[test]
fn k5_reset_forgets_skip_markers() {
    let mut lab = caching();
    lab.turn(only_third);
    clear(&lab);
    lab.memory.forget_session("s");
    assert_eq!(lab.turn(only_third).attempts.len(), 3);
}

#[test]
fn without_probe_rules_a_blocked_primary_is_skipped() {
    let bare = table_without(&["probe"]);
    let routing = Routing { model: list("acme/a", Some(&["acme/b"])), ..Routing::default() };
    let mut lab = Lab::with(bare, routing).keys(&["acme:x"]);
    let turn = fresh(&mut lab, 1, |_, _| fails("t_over"));
    assert_eq!(turn.skipped(), ["acme/b cooldown"]);
    let turn = fresh(&mut lab, 2, |_, _| Reply::Ok);
    assert_eq!(turn.skipped(), ["acme/a cooldown", "acme/b cooldown"]);
}
