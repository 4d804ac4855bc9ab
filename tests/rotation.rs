//! Windows (E), rotation inside a provider (F), profile sequence and pins (C).

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail so")]

use std::time::Duration;

use pointsman::{
    lang::policy::CredentialKind,
    run::*,
    signal::Signal,
    state::{change::Change, model::ProfileId},
};

use crate::support::lab::*;

const TWO: [&str; 2] = ["acme:x", "acme:y"];

fn alone() -> Lab {
    Lab::new("acme/a", &[]).keys(&TWO)
}

fn with_fallback() -> Lab {
    Lab::new("acme/a", &["other/b"]).keys(&TWO).keys(&["acme:w", "other:z"])
}

fn acme_fails(code: &'static str) -> impl FnMut(&Attempt, &Lab) -> Reply {
    move |call, _| if call.candidate.provider == "acme" { fails(code) } else { Reply::Ok }
}

fn until(turn: &Turn) -> Vec<u64> {
    turn.of("window").iter().map(|w| w["untilMs"].as_u64().unwrap() - w["atMs"].as_u64().unwrap()).collect()
}

const MINUTE: u64 = 60_000;

/// An error that says nothing at all.
const NOTHING: &str = "";

fn fails_so(code: &str) -> Reply {
    if code == NOTHING { Reply::Fail(Signal::default()) } else { fails(code) }
}

/// Fails right after each window; gives the windows in minutes.
fn climb(code: &'static str, times: usize) -> Vec<u64> {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    let mut windows = vec![];
    for _ in 0..times {
        let span = until(&lab.turn(|_, _| fails(code)))[0];
        windows.push(span / MINUTE);
        lab.pass(Duration::from_millis(span));
    }
    windows
}

#[test]
fn e0_what_each_bucket_does_to_a_profile() {
    for (code, lane, model, rotates) in [
        ("t_rate", Some("cooldown"), true, true),
        ("t_over", Some("cooldown"), false, true),
        ("t_time", None, true, true),
        ("t_auth", Some("cooldown"), false, true),
        ("t_gone", Some("disabled"), false, true),
        ("t_bill", Some("disabled"), false, true),
        ("t_model", None, false, false),
        ("t_session", None, false, false),
        ("t_odd", None, false, false),
        ("t_nodetails", None, false, false),
        (NOTHING, None, false, false),
        ("t_format", None, false, false),
        ("t_context", None, false, false),
        ("t_filter", None, false, false),
        ("t_abort", None, false, false),
    ] {
        let mut lab = alone();
        let turn = lab.turn(|_, _| fails_so(code));
        let windows = turn.of("window");
        assert_eq!(windows.first().map(|w| w["lane"].as_str().unwrap()), lane, "{code}");
        if let Some(window) = windows.first() {
            assert_eq!(window.get("model").is_some(), model, "{code}: scope");
            assert_eq!(window["step"], 1);
        }
        let calls = turn.attempts.iter().filter(|call| !call.repair).count();
        assert_eq!(calls, if rotates { 2 } else { 1 }, "{code}: rotation");
    }
}

#[test]
fn e0_what_is_left_when_a_lone_candidate_fails() {
    for (code, surfaces) in [
        ("t_rate", false),
        ("t_over", false),
        ("t_time", false),
        ("t_auth", false),
        ("t_gone", false),
        ("t_bill", false),
        ("t_model", false),
        ("t_session", false),
        ("t_odd", true),
        ("t_nodetails", true),
        (NOTHING, true),
        ("t_format", true),
        ("t_context", true),
        ("t_filter", true),
        ("t_abort", true),
    ] {
        let end = Lab::new("acme/a", &[]).keys(&["acme:x"]).turn(|_, _| fails_so(code)).end;
        assert_eq!(matches!(end, Step::Surface(_)), surfaces, "{code}: {end:?}");
    }
}

#[test]
fn e1_short_ladder() {
    assert_eq!(climb("t_rate", 5), [1, 5, 25, 60, 60]);
}

#[test]
fn e3_billing_ladder() {
    assert_eq!(climb("t_bill", 5), [300, 600, 1_200, 1_440, 1_440]);
}

#[test]
fn e5_auth_permanent_ladder() {
    assert_eq!(climb("t_gone", 4), [10, 20, 40, 60]);
}

#[test]
fn e2_a_window_of_one_model_leaves_its_sibling_free() {
    let mut lab = Lab::new("acme/a", &["acme/b"]).keys(&["acme:x"]);
    let turn = lab.turn(|call, _| if call.candidate.model == "a" { fails("t_rate") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/b acme:x"]);

    let mut lab = Lab::new("acme/a", &["acme/b"]).keys(&["acme:x"]);
    let turn = lab.turn(|call, _| if call.candidate.model == "a" { fails("t_bill") } else { Reply::Ok });
    assert_eq!(turn.skipped(), ["acme/b disabled"], "billing blocks every model");
}

#[test]
fn e4_e10_a_success_starts_afresh() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    for _ in 0..2 {
        lab.turn(|_, _| fails("t_rate"));
        lab.minutes(5);
    }
    lab.ok();
    assert_eq!(until(&lab.turn(|_, _| fails("t_rate"))), [MINUTE]);
}

#[test]
fn e4_a_quiet_day_starts_afresh() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    lab.turn(|_, _| fails("t_rate"));
    lab.minutes(1 + 24 * 60);
    assert_eq!(until(&lab.turn(|_, _| fails("t_rate"))), [MINUTE]);
    lab.minutes(1 + 23 * 60);
    assert_eq!(until(&lab.turn(|_, _| fails("t_rate"))), [5 * MINUTE], "23 hours are not enough");
}

#[test]
fn e6_c11_a_reset_time_sets_the_window_within_bounds() {
    let with =
        |header: &str| Signal { headers: vec![("retry-after".into(), header.into())], ..failure("t_rate") };
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    assert_eq!(until(&lab.turn(|_, _| Reply::Fail(with("90")))), [90_000]);
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    let turn = lab.turn(|_, _| Reply::Fail(with("1000000")));
    assert_eq!(until(&turn), [24 * 60 * MINUTE], "clamped to a day");
    assert_eq!(turn.of("window")[0]["clampedFromMs"], 1_000_000_000);
}

#[test]
fn e7_a_failed_probe_inside_a_window_changes_nothing() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    lab.turn(|_, _| fails("t_rate"));
    lab.pass(Duration::from_secs(30));
    let turn = lab.turn(|_, _| fails("t_rate"));
    assert_eq!(turn.calls(), ["acme/a acme:x primary"]);
    assert!(turn.of("window").is_empty());
    assert_eq!(lab.usage("acme:x").ladders[0].step, 1);
}

#[test]
fn e8_last_used_is_the_start_of_the_last_attempt() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    lab.takes = Duration::from_secs(9);
    lab.ok();
    assert_eq!(lab.usage("acme:x").last_used, Some(START));
}

#[test]
fn e0_the_second_timeout_in_a_row_opens_a_window() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    assert!(lab.turn(|_, _| fails("t_time")).of("window").is_empty());
    lab.minutes(9);
    assert_eq!(until(&lab.turn(|_, _| fails("t_time"))), [MINUTE]);
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    lab.turn(|_, _| fails("t_time"));
    lab.minutes(11);
    assert!(lab.turn(|_, _| fails("t_time")).of("window").is_empty(), "not within ten minutes");
}

#[test]
fn e10_a_success_of_one_model_leaves_its_siblings_window() {
    let mut lab = Lab::new("acme/a", &["acme/b"]).keys(&["acme:x"]);
    lab.turn(|call, _| if call.candidate.model == "a" { fails("t_rate") } else { Reply::Ok });
    assert_eq!(lab.usage("acme:x").windows.len(), 1);
    assert_eq!(lab.usage("acme:x").windows[0].model.as_deref(), Some("a"));
}

#[test]
fn e11_a_clock_that_jumped_back_is_said() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x"]);
    lab.pass(Duration::from_hours(24 * 365));
    lab.turn(|_, _| fails("t_bill"));
    lab.now = START;
    let turn = lab.turn(|_, _| fails("t_model"));
    assert_eq!(turn.of("window_cut").len(), 1);
    assert_eq!(turn.of("window_cut")[0]["untilMs"], 5 * 3_600_000);
}

#[test]
fn f1_who_rotates() {
    let called = |code: &str| {
        let turn = with_fallback()
            .turn(|call, _| if &*call.candidate.provider == "acme" { fails_so(code) } else { Reply::Ok });
        turn.calls().iter().filter(|call| call.starts_with("acme") && !call.ends_with("repair")).count()
    };
    for code in ["t_time", "t_auth", "t_gone", "t_bill"] {
        assert_eq!(called(code), 3, "{code}: all three");
    }
    for code in ["t_rate", "t_over"] {
        assert_eq!(called(code), 2, "{code}: one more");
    }
    let others = ["t_model", "t_session", "t_odd", "t_nodetails", NOTHING, "t_format"];
    for code in others.into_iter().chain(["t_context", "t_filter", "t_abort"]) {
        assert_eq!(called(code), 1, "{code}: none");
    }
}

#[test]
fn f2_f3_one_rotation_before_the_fallback() {
    for code in ["t_over", "t_rate"] {
        let mut lab = with_fallback();
        let turn = lab.turn(acme_fails(code));
        assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:y", "other/b other:z"], "{code}");
        assert!(turn.of("waited").is_empty());
    }
}

#[test]
fn f2_the_backoff_waits_before_the_rotation() {
    let slow = table("set overloaded_backoff = 700ms\n");
    let routing = Routing { model: list("acme/a", Some(&[])), ..Routing::default() };
    let mut lab = Lab::with(slow, routing).keys(&TWO);
    let turn =
        lab.turn(|call, _| if call.profile == Some(id("acme:x")) { fails("t_over") } else { Reply::Ok });
    assert_eq!(turn.names(), ["attempt", "failed", "window", "waited", "attempt", "answered"]);
    assert_eq!(turn.of("waited")[0]["ms"], 700);
    assert_eq!(turn.of("attempt")[1]["atMs"], 700);
}

#[test]
fn f3_the_limit_is_a_setting() {
    let more = table("set rate_limited_profile_rotations = 2\n");
    let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
    let mut lab = Lab::with(more, routing).keys(&TWO).keys(&["acme:w", "acme:v", "other:z"]);
    assert_eq!(lab.turn(acme_fails("t_rate")).attempts.len(), 4);
}

#[test]
fn f4_the_limit_yields_when_no_fallback_may_be_tried() {
    let mut lab = Lab::new("acme/a", &[]).keys(&["acme:x", "acme:y", "acme:w"]);
    assert_eq!(lab.turn(|_, _| fails("t_rate")).attempts.len(), 3, "the last candidate");
    let mut lab = Lab::new("acme/a", &["nobody/b"]).keys(&["acme:x", "acme:y", "acme:w"]);
    let turn = lab.turn(|_, _| fails("t_rate"));
    assert_eq!(turn.attempts.len(), 3, "the later one would be skipped");
    assert_eq!(turn.skipped(), ["nobody/b no_profile"]);
}

#[test]
fn f4_counted_by_bucket() {
    let mut lab = with_fallback();
    let mut codes = ["t_rate", "t_over", "t_over"].into_iter();
    let turn = lab.turn(|call, _| match &*call.candidate.provider {
        "acme" => fails(codes.next().unwrap()),
        _ => Reply::Ok,
    });
    assert_eq!(turn.attempts.len(), 4, "one rotation for each of the two buckets");
}

#[test]
fn f4_blocked_profiles_do_not_count() {
    let mut lab = with_fallback();
    lab.turn(|call, _| match call.profile.as_ref().map(|p| &*p.0) {
        Some("acme:x") => fails("t_bill"),
        _ => Reply::Ok,
    });
    lab.minutes(1);
    lab.reset("s");
    let turn = lab.turn(acme_fails("t_rate"));
    assert_eq!(turn.calls(), ["acme/a acme:w", "acme/a acme:y", "other/b other:z"]);
}

#[test]
fn f4_the_next_candidate_of_the_provider_starts_anew() {
    let mut lab = Lab::new("acme/a", &["acme/b", "other/c"]).keys(&TWO).keys(&["other:z"]);
    let turn = lab.turn(acme_fails("t_rate"));
    assert_eq!(
        turn.calls(),
        ["acme/a acme:x", "acme/a acme:y", "acme/b acme:x", "acme/b acme:y", "other/c other:z"]
    );
}

#[test]
fn c2_a_legacy_name_counts_in_orders_and_pins() {
    let legacy = || Lab::new("openai/a", &["other/b"]).keys(&["openai:x", "openai:y", "other:z"]);
    let mut lab = legacy();
    lab.user_pins("s", "openai-codex:y");
    assert_eq!(lab.ok().calls(), ["openai/a openai:y"], "the pin");
    let mut lab = legacy().routing(|routing| {
        routing.order.insert("openai-codex".into(), vec![id("openai-codex:y"), id("openai:x")]);
    });
    assert_eq!(lab.ok().calls(), ["openai/a openai:y"], "the order, and a name in it");
    let mut lab = Lab::new("openai/a", &["openai-codex/b"]).keys(&["openai:x"]);
    let turn = lab.turn(|call, _| if call.candidate.model == "a" { fails("t_over") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["openai/a openai:x", "openai-codex/b openai:x sibling"], "i4: one provider");
}

#[test]
fn c5_an_explicit_order_is_kept() {
    let mut lab = alone().routing(|routing| {
        routing.order.insert("acme".into(), vec![id("acme:y"), id("acme:x")]);
    });
    assert_eq!(lab.turn(|_, _| fails("t_auth")).calls(), ["acme/a acme:y", "acme/a acme:x"]);
}

#[test]
fn c6_kinds_first_then_the_longest_unused() {
    let mut lab = alone();
    lab.store_profile("acme:login", CredentialKind::Oauth);
    lab.store_profile("acme:bearer", CredentialKind::Token);
    let turn = lab.turn(|_, _| fails("t_auth"));
    let order = ["acme:login", "acme:bearer", "acme:x", "acme:y"].map(|profile| format!("acme/a {profile}"));
    assert_eq!(turn.calls(), order);
}

#[test]
fn c6_sessions_share_profiles_in_turn() {
    let mut lab = alone();
    for (session, profile) in [("s1", "acme:x"), ("s2", "acme:y"), ("s3", "acme:x"), ("s4", "acme:y")] {
        let turn = lab.play(request(session), |_, _| Reply::Ok);
        assert_eq!(turn.answered().profile, Some(id(profile)), "{session}");
        lab.minutes(1);
    }
}

#[test]
fn profiles_alike_come_as_they_were_stored_whatever_their_list_says() {
    for table in [table(""), table_without(&["order profiles"])] {
        let routing = Routing {
            model: list("acme/a", None),
            profiles: vec![id("acme:y"), id("acme:x")],
            ..Routing::default()
        };
        assert_eq!(Lab::with(table, routing).keys(&TWO).ok().calls(), ["acme/a acme:x"]);
    }
}

#[test]
fn c7_blocked_ones_go_to_the_end_also_of_an_order() {
    let mut lab = alone().routing(|routing| {
        routing.order.insert("acme".into(), vec![id("acme:x"), id("acme:y")]);
    });
    lab.turn(|call, _| if call.profile == Some(id("acme:x")) { fails("t_over") } else { Reply::Ok });
    let turn = lab.play(request("s2"), |_, _| Reply::Ok);
    assert_eq!(turn.calls(), ["acme/a acme:y"]);
}

#[test]
fn c7_a_window_of_another_model_neither_demotes_nor_unpins() {
    let mut lab = alone();
    lab.ok();
    let mut calls = |request, resting: &str| {
        lab.pass(Duration::from_secs(1));
        let rests = |call: &Attempt| call.profile == Some(id(resting));
        lab.play(request, |call, _| if rests(call) { fails("t_rate") } else { Reply::Ok }).calls()
    };
    assert_eq!(calls(request("t"), "none:"), ["acme/a acme:y"], "the longest unused");
    assert_eq!(calls(request("u"), "acme:x"), ["acme/a acme:x", "acme/a acme:y"]);
    assert_eq!(calls(request("v"), "none:"), ["acme/a acme:y"], "the other rests for a");
    let b = |session: &str| choice(session, "acme/b", pointsman::lang::policy::SelectionSource::User, None);
    assert_eq!(calls(b("w"), "none:"), ["acme/b acme:x"], "the longest unused, not demoted for b");
    // Now `acme:y` is the longest unused.
    assert_eq!(calls(b("s"), "none:"), ["acme/b acme:x"], "still pinned for b");
}

/// The profiles whose use was stored at the beginning of a call (C6, E8).
fn begun_by(turn: &Turn) -> Vec<ProfileId> {
    let changes = turn.batches.iter().flat_map(|batch| &batch.changes);
    changes
        .filter_map(
            |change| if let Change::Used { profile, .. } = change { Some(profile.clone()) } else { None },
        )
        .collect()
}

#[test]
fn c9_the_profile_is_pinned_per_session() {
    let mut lab = alone();
    for turn in 0..3 {
        let played = lab.ok();
        assert_eq!(played.calls(), ["acme/a acme:x"], "no rotation per request");
        let begun: &[_] = if turn == 0 { &[id("acme:x")] } else { &[] };
        assert_eq!(begun_by(&played), begun, "a pinned profile is nobody else's to choose");
        lab.minutes(1);
    }
    assert_eq!(lab.session("s").pins["acme"].profile, id("acme:x"));
    assert!(!lab.session("s").pins["acme"].by_user);
}

#[test]
fn c9_a_compaction_releases_it() {
    let mut lab = alone();
    lab.ok();
    lab.minutes(1);
    lab.compact("s");
    assert_eq!(lab.ok().calls(), ["acme/a acme:y"], "the longest unused");
}

#[test]
fn c9_a_pin_from_before_a_compaction_is_neither_kept_nor_displaced() {
    let mut lab = alone();
    lab.ok();
    lab.minutes(1);
    let before = lab.session("s").pins["acme"].clone();
    lab.compact("s");
    lab.change("s", Change::Pin { family: "acme".into(), pin: before });
    assert_eq!(lab.ok().calls(), ["acme/a acme:y"]);
    assert_eq!(lab.session("s").pins["acme"].displaced, None);
}

#[test]
fn c9_a_reset_releases_it() {
    let mut lab = alone();
    lab.ok();
    lab.minutes(1);
    lab.reset("s");
    assert_eq!(lab.ok().calls(), ["acme/a acme:y"]);
}

#[test]
fn c9_rotation_leaves_it_and_it_returns_when_free() {
    let mut lab = alone();
    lab.ok();
    lab.minutes(1);
    let turn =
        lab.turn(|call, _| if call.profile == Some(id("acme:x")) { fails("t_over") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:y"]);
    assert_eq!(begun_by(&turn), [id("acme:y")], "others see it in use");
    let pin = lab.session("s").pins["acme"].clone();
    assert_eq!((pin.profile, pin.displaced), (id("acme:y"), Some(id("acme:x"))));
    assert_eq!(lab.ok().calls(), ["acme/a acme:y"], "while the other is blocked");
    lab.minutes(1);
    assert_eq!(lab.ok().calls(), ["acme/a acme:x"], "and back");
    let pin = lab.session("s").pins["acme"].clone();
    assert_eq!((pin.profile, pin.displaced), (id("acme:x"), None));
}

#[test]
fn c10_a_users_pin_is_strict() {
    let mut lab = with_fallback();
    lab.user_pins("s", "acme:y");
    let turn = lab.turn(acme_fails("t_rate"));
    assert_eq!(turn.calls(), ["acme/a acme:y", "other/b other:z"], "never another profile");
    assert!(lab.session("s").pins["acme"].by_user, "and it stays");
    lab.reset("s");

    let mut lab = with_fallback();
    lab.user_pins("s", "acme:y");
    lab.turn(acme_fails("t_bill"));
    lab.compact("s");
    let turn = lab.play(request("s"), acme_fails("t_bill"));
    assert!(
        !turn.calls().iter().any(|call| call.contains("acme:x") || call.contains("acme:w")),
        "through windows"
    );
    assert!(lab.session("s").pins["acme"].by_user, "and compaction");
}

#[test]
fn c10_a_blocked_pin_is_skipped_or_probed_as_if_alone() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&TWO).keys(&["other:z"]);
    lab.play(request("t"), |call, _| match call.profile.as_ref().map(|p| &*p.0) {
        Some("acme:x") => fails("t_over"),
        _ => Reply::Ok,
    });
    lab.user_pins("s", "acme:x");
    lab.pass(Duration::from_secs(5));
    let turn = lab.ok();
    assert_eq!(turn.calls(), ["acme/a acme:x primary"], "near its end: probed, though acme:y is free");
    lab.play(request("u"), |_, _| Reply::Ok);
}

#[test]
fn c10_a_pin_that_is_gone_is_not_replaced() {
    let mut lab = with_fallback();
    lab.user_pins("s", "acme:lost");
    let turn = lab.ok();
    assert_eq!(turn.skipped(), ["acme/a no_profile"]);
    assert_eq!(turn.calls(), ["other/b other:z"]);
}

#[test]
fn c10_a_pin_binds_its_provider_only_not_the_family() {
    let mut lab = Lab::new("openai/a", &["azure-openai-responses/a"]).keys(&["openai:x"]);
    lab.store_profile("azure-openai-responses:y", CredentialKind::ApiKey);
    lab.user_pins("s", "openai:x");
    let turn =
        lab.turn(|call, _| if call.candidate.provider == "openai" { fails("t_rate") } else { Reply::Ok });
    assert_eq!(turn.calls(), ["openai/a openai:x", "azure-openai-responses/a azure-openai-responses:y"]);
}

#[test]
fn c11_a_subscription_with_a_key_behind_it() {
    let mut lab = Lab::new("openai/gpt", &["other/b"]).routing(|routing| {
        routing.order.insert("openai".into(), vec![id("openai:plan"), id("openai:key")]);
    });
    lab.store_profile("openai:plan", CredentialKind::Oauth);
    lab.put("openai:plan", CredentialKind::Oauth, None, true);
    lab.store_profile("openai:key", CredentialKind::ApiKey);
    let limit = Signal {
        message: Some(
            r#"{"error":{"code":"t_rate","message":"usage limit reached","resets_in_seconds":518400}}"#
                .into(),
        ),
        ..Signal::default()
    };
    let turn = lab.turn(|call, _| match call.profile.as_ref().map(|p| &*p.0) {
        Some("openai:plan") => Reply::Fail(limit.clone()),
        _ => Reply::Ok,
    });
    assert_eq!(turn.calls(), ["openai/gpt openai:plan", "openai/gpt openai:key"], "same model");
    assert_eq!(turn.of("window")[0]["untilMs"], 518_400_000u64, "the exact time, six days");
    lab.minutes(60);
    assert_eq!(lab.ok().calls(), ["openai/gpt openai:key"]);
    lab.pass(Duration::from_hours(144));
    assert_eq!(lab.ok().calls(), ["openai/gpt openai:plan"], "eligible again when the time has passed");
}
