//! What an operator reads in `status` (J5, L2), over a state file with a past, and names a profile (C2).

use std::{path::Path, process::Command};

use pointsman::{
    lang::policy::{CredentialKind, Lane, Scope},
    run::session,
    state::{
        change::{Batch, Change, Failure, Hint, WindowIntent},
        model::{Candidate, Origin, Override, Profile, ProfileId},
        schedule::{Schedule, Steps},
        sqlite::SqliteStore,
        store::Store,
    },
    time::Timestamp,
};
use serde_json::Value;
use tempfile::TempDir;

/// Later than any clock that runs this test, so that the state is seen from here.
const LATER: Timestamp = Timestamp::from_millis(4_000_000_000_000);

const CONFIG: &str = "
auth:
  cooldowns:
    billingBackoffHours: 2
  order:
    other: [other:lost]
agents:
  defaults:
    model:
      primary: acme/a
      fallbacks: [other/b]
";

fn failure(bucket: &str, model: Option<&str>, lane: Lane, hours: u64, hint: Option<Hint>) -> Change {
    let name = if lane == Lane::Disable { "billing" } else { "short" };
    let window = WindowIntent {
        lane,
        scope: if model.is_some() { Scope::Model } else { Scope::Profile },
        schedule: Schedule::new(name, Steps::List(vec![std::time::Duration::from_hours(hours)])),
        seed: 0,
        hint,
        after: None,
    };
    Change::Failure(Failure {
        profile: ProfileId("acme:x".into()),
        model: model.map(Into::into),
        bucket: bucket.to_owned(),
        attempt_started_at: LATER,
        window: Some(window),
        forget_after: None,
    })
}

/// A session that has moved onto a fallback, a profile in two windows, and one that has expired.
fn past(folder: &Path) {
    let store = SqliteStore::open(&folder.join("state.sqlite")).unwrap();
    let mut stale = Profile::api_key("acme:stale", "planted");
    (stale.kind, stale.expires) = (CredentialKind::Token, Some(Timestamp::from_millis(1_000)));
    for profile in [Profile::api_key("acme:x", "planted"), stale, Profile::api_key("other:y", "planted")] {
        store.put_profile(&profile).unwrap();
    }
    let day = std::time::Duration::from_hours(24);
    let hint = Hint { given: LATER.after(day * 9), at_least: day, at_most: day };
    let model = |provider: &str, model: &str| Candidate { provider: provider.into(), model: model.into() };
    let mut moved = session::choose_model(Some(model("other", "b")), LATER);
    if let Change::Select { new: Some(Override { source, origin, reason, .. }), .. } = &mut moved {
        use pointsman::lang::policy::SelectionSource::{Auto, Default};
        *source = Some(Auto);
        *origin = Some(Origin { candidate: model("acme", "a"), source: Default, fallbacks: None });
        *reason = Some("billing".to_owned());
    }
    let changes = vec![
        failure("rate_limit", Some("a"), Lane::Cooldown, 1, Some(hint)),
        failure("billing", None, Lane::Disable, 5, None),
        moved,
    ];
    store.apply(&Batch { session: Some("s".to_owned()), changes }, LATER).unwrap();
}

fn status(format: &str) -> (String, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    past(folder.path());
    std::fs::write(folder.path().join("host.yaml"), CONFIG).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pointsman"));
    command.args(["status", "--session", "s", "--config", "host.yaml", "--state", "state.sqlite"]);
    command.args(["--format", format]).env_clear().current_dir(folder.path());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!text.contains("planted"), "j6: {text}");
    (text, folder)
}

fn json() -> Value {
    serde_json::from_str(&status("json").0).unwrap()
}

#[test]
fn j5_status_shows_what_is_selected_and_what_answers_and_why() {
    let seen = json();
    assert_eq!(seen["selected"], "acme/a");
    assert_eq!(seen["active"], "other/b");
    assert_eq!(seen["reason"], "billing");
    let text = status("human").0;
    for part in ["acme/a", "other/b", "billing"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn j5_status_shows_every_window_and_the_next_step() {
    let seen = json();
    let profile = &seen["profiles"][0];
    assert_eq!(profile["id"], "acme:x");
    let windows = profile["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 2);
    let of = |bucket: &str| windows.iter().find(|window| window["bucket"] == bucket).unwrap();
    let (limit, billing) = (of("rate_limit"), of("billing"));
    assert_eq!(
        (&limit["lane"], &limit["model"], &limit["step"]),
        (&"cooldown".into(), &"a".into(), &1.into())
    );
    assert_eq!(limit["clamped"], true, "e6: the hint reached nine days ahead");
    assert!(limit["hint"].is_string() && limit["until"].is_string());
    assert_eq!(limit["nextStep"]["ms"], 5 * 60_000);
    assert_eq!((&billing["lane"], billing.get("model")), (&"disabled".into(), None));
    assert_eq!(billing["leftMs"], 5 * 3_600_000);
    assert_eq!(billing["nextStep"]["ms"], 4 * 3_600_000, "l2: by the config's start of two hours");
}

#[test]
fn c8_j5_status_says_why_a_profile_is_left_out() {
    let seen = json();
    let stale = &seen["profiles"][1];
    assert_eq!((&stale["id"], &stale["eligible"]), (&"acme:stale".into(), &false.into()));
    assert!(stale["reason"].as_str().unwrap().contains("expired"));
}

#[test]
fn c5_an_order_of_missing_profiles_is_an_error_in_status() {
    let problems = json()["problems"].clone();
    assert!(problems[0].as_str().unwrap().contains("`auth.order.other`"), "{problems}");
}

#[test]
fn c5_check_says_it_too_and_where() {
    let (_, folder) = status("json");
    let check = |config: &str, state: &str| {
        std::fs::write(folder.path().join("host.yaml"), config).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pointsman"));
        command.args(["check", "--config", "host.yaml", "--state", state]).env_clear();
        let output = command.current_dir(folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = check(CONFIG, "state.sqlite");
    assert_eq!(code, Some(1), "{said}");
    let wanted = "host.yaml:6:5: error: `auth.order.other` names only profiles that are not stored";
    assert!(said.contains(wanted), "{said}");
    let (code, said) = check(&CONFIG.replace("other:lost", "other:lost, other:y"), "state.sqlite");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("warning: `auth.order.other` names `other:lost`, which is not stored"), "{said}");
    // Without any state there is nothing to go by but the config's own profiles.
    assert_eq!(check(CONFIG, "none.sqlite").0, Some(0));
    let own = CONFIG.replace("  order:", "  profiles: { other:y: {} }\n  order:");
    let (code, said) = check(&own, "none.sqlite");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("names only profiles that are not in `auth.profiles`"), "{said}");
}

#[test]
fn l2_status_says_which_value_is_in_force_and_where_it_comes_from() {
    let seen = json();
    let settings = seen["settings"].as_array().unwrap();
    let of = |name: &str| settings.iter().find(|setting| setting["name"] == name).unwrap();
    assert_eq!(of("billing_start")["value"], "2h");
    assert_eq!(of("billing_start")["origin"], "config auth.cooldowns.billingBackoffHours");
    assert_eq!(of("billing_cap")["value"], "24h");
    assert!(of("billing_cap")["origin"].as_str().unwrap().starts_with("rules policy/schedules.rules:"));
}

#[test]
fn e3_a_start_that_the_schedule_does_not_allow_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let say = |hours: &str, args: &[&str]| {
        let config = format!("auth: {{ cooldowns: {{ {hours} }} }}\n");
        std::fs::write(folder.path().join("host.yaml"), config).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pointsman"));
        command.args(args).args(["--config", "host.yaml", "--state", "none.sqlite"]).env_clear();
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "a warning is no error");
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    for (hours, wanted) in [
        (
            "billingBackoffHours: 100",
            "`auth.cooldowns.billingBackoffHours` is 4d4h, more than `billing_cap` allows: 24h is in force",
        ),
        (
            "billingBackoffHours: 0",
            "`auth.cooldowns.billingBackoffHours` is 0s: `backoff billing` opens no window",
        ),
        ("billingMaxHours: 0", "`auth.cooldowns.billingMaxHours` is 0s: `backoff billing` opens no window"),
        (
            "billingBackoffHoursByProvider: { acme: 48 }",
            "`auth.cooldowns.billingBackoffHoursByProvider.acme` is 2d, more than `billing_cap` allows: 24h is in force",
        ),
    ] {
        for command in ["check", "status"] {
            let said = say(hours, &[command]);
            assert!(said.contains(&format!("warning: {wanted}")), "{command} {hours}: {said}");
        }
    }
    assert!(!say("billingBackoffHours: 24, billingMaxHours: 24", &["check"]).contains("warning"));
    assert!(
        !say("billingMaxHours: 2", &["check"]).contains("warning"),
        "a cap may cut what the rules ask for"
    );
}

#[test]
fn c2_a_login_without_a_name_gets_its_email_else_default() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.sqlite");
    for more in [&["--email", "jane@example.com"][..], &[]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pointsman"));
        command.args(["profiles", "add", "acme", "env:KEY", "--kind", "oauth"]).args(more);
        let done = command.arg("--state").arg(&state).env_clear().output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let store = SqliteStore::open(&state).unwrap();
    let view = store.view(&pointsman::state::view::ViewQuery::default(), LATER).unwrap();
    let ids: Vec<&str> = view.profiles.iter().map(|profile| &*profile.info.id.0).collect();
    assert_eq!(ids, ["acme:jane@example.com", "acme:default"]);
}
