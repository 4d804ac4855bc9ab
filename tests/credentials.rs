//! Secrets that cannot be had when a call needs them, and texts that are none (C8).

use std::time::Duration;

use pointsman::{
    lang::policy::CredentialKind,
    run::*,
    state::{
        memory::MemoryStore,
        model::{Profile, Secret},
        store::{Store, StoreError},
    },
};

use crate::support::lab::*;

fn without(profile: &'static str, other: Reply) -> impl FnMut(&Attempt, &Lab) -> Reply {
    let mut other = Some(other);
    move |call, _| {
        if call.profile == Some(id(profile)) { Reply::NoSecret } else { other.take().unwrap_or(Reply::Ok) }
    }
}

#[test]
fn c8_a_profile_without_its_secret_is_left_out_and_the_next_is_tried() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "acme:y", "other:z"]);
    let turn = lab.turn(without("acme:x", Reply::Ok));
    assert_eq!(turn.calls(), ["acme/a acme:x", "acme/a acme:y"]);
    assert_eq!(turn.names(), ["attempt", "left_out", "attempt", "answered"]);
    let said = turn.of("left_out")[0];
    assert_eq!((&said["profile"], &said["model"]), (&"acme:x".into(), &"a".into()));
    assert!(said["why"].as_str().unwrap().contains("`NOPE`"), "{said}");
    let summary = &turn.answered().summary;
    assert_eq!((summary.calls, summary.attempts.len(), summary.left_out.len()), (1, 0, 1));
    let usage = lab.usage("acme:x");
    assert_eq!((usage.windows.len(), usage.error_count, usage.last_failure_at), (0, 0, None));
}

#[test]
fn c8_the_candidate_is_passed_over_when_no_secret_is_there() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:z"]);
    let turn = lab.turn(without("acme:x", Reply::Ok));
    assert_eq!(turn.skipped(), ["acme/a no_profile"]);
    assert_eq!(turn.answered().candidate, model("other/b"));
    let end = lab.play(request("t"), |_, _| Reply::NoSecret).end;
    let Step::Exhausted(summary) = end else { panic!("{end:?}") };
    assert_eq!((summary.calls, summary.left_out.len(), summary.skipped.len()), (0, 2, 2));
    assert_eq!(summary.reason, Some(ExhaustedReason::ChainExhausted));
    assert_eq!(lab.session("t").selected, None, "a6");
}

#[test]
fn c8_h6_no_call_of_the_budget_is_spent() {
    let policy = table("replace budget per run { attempts 2 }\n");
    let routing = Routing { model: list("acme/a", Some(&["other/b"])), ..Routing::default() };
    let mut lab = Lab::with(policy, routing).keys(&["acme:w", "acme:x", "acme:y", "other:z"]);
    let turn = lab.turn(|call, _| match call.profile.as_ref().map(|id| &*id.0) {
        Some("acme:w" | "acme:x") => Reply::NoSecret,
        Some("acme:y") => fails("t_auth"),
        _ => Reply::Ok,
    });
    assert_eq!(turn.calls(), ["acme/a acme:w", "acme/a acme:x", "acme/a acme:y", "other/b other:z"]);
    assert_eq!(turn.answered().summary.calls, 2);
}

#[test]
fn c8_i3_a_probe_that_was_no_call_is_not_used_up() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:z"]);
    lab.play(
        request("t"),
        |call, _| if &*call.candidate.provider == "acme" { fails("t_auth") } else { Reply::Ok },
    );
    lab.pass(Duration::from_secs(10));
    let turn = lab.turn(without("acme:x", Reply::Ok));
    assert_eq!(turn.calls(), ["acme/a acme:x primary", "other/b other:z"]);
    lab.pass(Duration::from_secs(1));
    let turn = lab.play(request("u"), |_, _| Reply::Ok);
    assert_eq!(turn.calls(), ["acme/a acme:x primary"], "within the 30 seconds");
}

#[test]
fn c8_b3_an_origin_without_its_secret_is_still_due() {
    let mut lab = Lab::new("acme/a", &["other/b"]).keys(&["acme:x", "other:z"]);
    lab.turn(|call, _| if &*call.candidate.provider == "acme" { fails("t_model") } else { Reply::Ok });
    lab.minutes(5);
    let turn = lab.turn(without("acme:x", Reply::Ok));
    assert_eq!(turn.calls(), ["acme/a acme:x origin", "other/b other:z"]);
    assert_eq!(lab.ok().calls(), ["acme/a acme:x origin"]);
}

const LINES: &str = "planted-line\nplanted-other";

#[test]
fn c8_a_text_that_is_no_secret_is_not_stored() {
    let store = MemoryStore::new();
    let mut login = Profile::api_key("acme:login", "planted-access");
    login.refresh = Some(Secret::Direct(LINES.into()));
    let bad = [Profile::api_key("acme:x", LINES), Profile::api_key("acme:y", " "), login];
    for profile in &bad {
        let error = store.put_profile(profile).unwrap_err();
        assert!(matches!(error, StoreError::Secret { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains(&*profile.id.0) && !error.contains("planted"), "{error}");
    }
    let good = Profile::api_key("acme:z", "planted-key");
    for profile in bad {
        assert!(store.put_profiles(&[good.clone(), profile]).is_err());
    }
    assert!(store.profile(&good.id).unwrap().is_none(), "all or none");
}

#[test]
fn c8_a_refreshed_text_that_is_no_secret_is_said_and_not_stored() {
    for fails in [true, false] {
        let mut lab = Lab::new("acme/a", &[]);
        lab.put("acme:login", CredentialKind::Oauth, Some(START), true);
        let turn =
            lab.turn(|_, _| if fails { Reply::RefreshedAndFailed(LINES) } else { Reply::Refreshed(LINES) });
        let said = turn.of("secret_refused");
        assert_eq!(said.len(), 1);
        assert_eq!(said[0]["profile"], "acme:login");
        assert!(!turn.steps.join("\n").contains("planted"), "j6");
        let kept = lab.store.profile(&id("acme:login")).unwrap().unwrap();
        assert_eq!((kept.flaw(), kept.expires), (None, Some(START)));
        lab.pass(Duration::from_mins(2));
        lab.turn(|call, _| {
            assert!(call.refresh_first, "it has still expired");
            Reply::Ok
        });
    }
}
