//! Legacy JSON import (C4, C2).

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

use std::{fs, path::Path, time::Duration};

use pointsman::{
    lang::policy::CredentialKind,
    state::{
        change::{Batch, Change, Success},
        import::{NotUnderstood, Report, import, import_oauth},
        memory::MemoryStore,
        model::{Profile, ProfileId, Secret},
        store::Store,
        view::{View, ViewQuery},
    },
    time::Timestamp,
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::support::lab::family;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const HOUR: Duration = Duration::from_hours(1);

fn write(root: &Path, name: &str, value: &Value) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, serde_json::to_string_pretty(value).unwrap()).unwrap();
}

fn run(root: &Path, store: &dyn Store) -> Report {
    import(root, "main", store, &family, NOW).unwrap()
}

fn look(store: &dyn Store) -> View {
    store.view(&ViewQuery::default(), NOW).unwrap()
}

fn get(store: &dyn Store, id: &str) -> Profile {
    store.profile(&ProfileId(id.into())).unwrap().unwrap()
}

fn direct(secret: Option<&Secret>) -> String {
    match secret {
        Some(Secret::Direct(secret)) => secret.expose_secret().to_owned(),
        other => format!("{other:?}"),
    }
}

fn legacy_root(root: &Path) {
    write(
        root,
        "agents/main/agent/auth-profiles.json",
        &json!({
            "version": 1,
            "profiles": {
                "openai-codex:me@x.org": { "type": "oauth", "provider": "openai-codex", "access": "sk-planted-a",
                    "refresh": "sk-planted-r", "expires": 1_800_000_100_000_i64, "email": "me@x.org",
                    "projectId": "p-1", "idToken": "sk-planted-i" },
                "anthropic:default": { "type": "api_key", "provider": "anthropic", "key": "sk-planted-k" },
                "groq:static": { "type": "token", "provider": "groq", "token": "env:GROQ_TOKEN" },
                "odd:one": { "type": "carrier_pigeon" }
            },
            "usageStats": {
                "anthropic:default": { "lastUsed": 1_799_999_000_000_i64, "cooldownUntil": 1_800_000_060_000_i64,
                    "cooldownModel": "claude-opus-4-8", "cooldownReason": "rate_limit",
                    "disabledUntil": 1_800_018_000_000_i64, "disabledReason": "billing",
                    "errorCount": 3, "failureCounts": { "billing": 1, "rate_limit": 2 }, "mood": "sad" },
                "nobody:x": { "errorCount": 1 }
            }
        }),
    );
    write(
        root,
        "agents/main/agent/auth-state.json",
        &json!({
            "usageStats": { "openai:me@x.org": { "lastUsed": 1_799_999_500_000_i64, "errorCount": 0 } },
            "order": { "openai": ["openai:me@x.org"] },
            "lastGood": { "openai": "openai:me@x.org" }
        }),
    );
    write(
        root,
        "agents/main/agent/auth.json",
        &json!({ "mistral": { "type": "api_key", "key": "sk-planted-m" } }),
    );
    write(
        root,
        "agent/auth-profiles.json",
        &json!({ "profiles": { "zai:old": { "type": "api_key", "provider": "zai", "key": "sk-planted-z" } } }),
    );
    write(
        root,
        "credentials/oauth.json",
        &json!({ "google": { "access": "sk-planted-g", "refresh": "sk-planted-gr", "expires": 5, "email": "g@x.org" },
                 "copilot": { "refresh": "sk-planted-c" } }),
    );
    write(
        root,
        "agents/other/agent/auth-profiles.json",
        &json!({ "profiles": { "xai:other": { "type": "api_key", "provider": "xai", "key": "sk-planted-x" } } }),
    );
}

#[test]
fn c4_everything_of_an_agent_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    legacy_root(folder.path());
    let store = MemoryStore::new();
    let report = run(folder.path(), &store);
    let view = look(&store);
    let ids: Vec<_> = view.profiles.iter().map(|profile| profile.info.id.0.as_str()).collect();
    assert_eq!(
        ids,
        [
            "anthropic:default",
            "groq:static",
            "openai-codex:me@x.org",
            "zai:old",
            "mistral:default",
            "copilot:default",
            "google:g@x.org"
        ]
    );
    let login = get(&store, "openai-codex:me@x.org");
    assert_eq!((login.kind, login.email.as_deref()), (CredentialKind::Oauth, Some("me@x.org")));
    assert_eq!(direct(login.secret.as_ref()), "sk-planted-a");
    assert_eq!(direct(login.refresh.as_ref()), "sk-planted-r");
    assert_eq!(login.expires, Some(NOW.after(Duration::from_secs(100))));
    assert_eq!(login.extra["projectId"], "p-1");
    assert_eq!(get(&store, "anthropic:default").kind, CredentialKind::ApiKey);
    let literal = direct(get(&store, "groq:static").secret.as_ref());
    assert_eq!(literal, "env:GROQ_TOKEN", "a file of others makes nobody read the environment");
    assert_eq!(get(&store, "google:g@x.org").kind, CredentialKind::Oauth);
    assert!(get(&store, "copilot:default").secret.is_none());

    let usage = &view.profile(&ProfileId("anthropic:default".into())).unwrap().usage;
    assert_eq!((usage.error_count, usage.failure_counts["rate_limit"]), (3, 2));
    let legacy = usage.legacy(NOW);
    assert_eq!(
        serde_json::to_value(&legacy).unwrap(),
        json!({ "lastUsed": 1_799_999_000_000_i64, "cooldownUntil": 1_800_000_060_000_i64,
            "cooldownModel": "claude-opus-4-8", "cooldownReason": "rate_limit",
            "disabledUntil": 1_800_018_000_000_i64, "disabledReason": "billing",
            "errorCount": 3, "failureCounts": { "billing": 1, "rate_limit": 2 } }),
        "E8: the legacy view gives back what was imported"
    );
    assert_eq!(usage.blocked_until(Some("other"), NOW), Some(NOW.after(5 * HOUR)));
    let login = &view.profile(&ProfileId("openai-codex:me@x.org".into())).unwrap().usage;
    assert_eq!(login.last_used, Some(Timestamp::from_millis(1_799_999_500_000)), "C2: by either name");

    let left: Vec<_> =
        report.files.iter().flat_map(|file| &file.not_understood).map(|left| left.at.as_str()).collect();
    assert_eq!(
        left,
        [
            "profiles.odd:one.type",
            "profiles.openai-codex:me@x.org.idToken",
            "usageStats.anthropic:default.mood",
            "usageStats.nobody:x",
            "lastGood",
            "order"
        ]
    );
}

#[test]
fn e10_an_imported_count_climbs_no_ladder() {
    let folder = tempfile::tempdir().unwrap();
    let usage = json!({ "acme:x": { "errorCount": 7, "failureCounts": { "rate_limit": 7 } } });
    let profiles = json!({ "acme:x": { "type": "api_key", "provider": "acme", "key": "k" } });
    write(folder.path(), "agents/main/agent/auth-profiles.json", &json!({ "profiles": profiles }));
    write(folder.path(), "agents/main/agent/auth-state.json", &json!({ "usageStats": usage }));
    let store = MemoryStore::new();
    run(folder.path(), &store);
    let usage = look(&store).profile(&ProfileId("acme:x".into())).unwrap().usage.clone();
    assert_eq!((usage.error_count, usage.failure_counts["rate_limit"]), (7, 7), "c4: nothing is lost");
    assert!(usage.ladders.is_empty());
}

#[test]
fn c6_the_order_of_the_file_is_the_order_of_insertion() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{ "zebra": { "key": "1" }, "ape": { "key": "2" }, "mole": { "key": "3" } }"#;
    fs::create_dir_all(folder.path().join("credentials")).unwrap();
    fs::write(folder.path().join("credentials/oauth.json"), text).unwrap();
    let store = MemoryStore::new();
    let report = import_oauth(folder.path(), &store, &family, NOW).unwrap().unwrap();
    assert_eq!(report.profiles, ["zebra:default", "ape:default", "mole:default"]);
}

#[test]
fn c4_an_import_is_idempotent_and_leaves_the_files() {
    let folder = tempfile::tempdir().unwrap();
    legacy_root(folder.path());
    let path = folder.path().join("agents/main/agent/auth-profiles.json");
    let before = fs::read(&path).unwrap();
    let store = MemoryStore::new();
    run(folder.path(), &store);
    let first = format!("{:?}", look(&store).profiles);
    let again = run(folder.path(), &store);
    assert_eq!(format!("{:?}", look(&store).profiles), first);
    assert!(again.files.iter().all(|file| file.profiles.is_empty() && file.usage.is_empty()), "{again:?}");
    assert_eq!(again.files[0].kept.len(), 4, "three profiles and a usage");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn c4_what_is_stored_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    legacy_root(folder.path());
    let store = MemoryStore::new();
    run(folder.path(), &store);
    let mut refreshed = get(&store, "openai-codex:me@x.org");
    refreshed.secret = Some(Secret::parse("fresh"));
    store.put_profile(&refreshed).unwrap();
    let success = Success {
        profile: ProfileId("anthropic:default".into()),
        model: Some("claude-opus-4-8".into()),
        attempt_started_at: NOW,
        reset_model: true,
        reset_profile: true,
    };
    store.apply(&Batch { session: None, changes: vec![Change::Success(success)] }, NOW).unwrap();
    run(folder.path(), &store);
    assert_eq!(direct(get(&store, "openai-codex:me@x.org").secret.as_ref()), "fresh");
    let view = look(&store);
    assert_eq!(
        view.profile(&ProfileId("anthropic:default".into())).unwrap().usage.windows,
        [],
        "nothing reopens"
    );
}

#[test]
fn c2_one_profile_under_two_names_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let key = |key: &str| json!({ "type": "api_key", "key": key });
    write(
        folder.path(),
        "agents/main/agent/auth-profiles.json",
        &json!({ "profiles": { "openai-codex:a": key("1"), "openai:b": key("2"), "openai:a": key("3") } }),
    );
    let store = MemoryStore::new();
    let report = run(folder.path(), &store);
    assert_eq!(report.files[0].profiles, ["openai:b"], "neither of the two");
    let left: Vec<_> = report.files[0].not_understood.iter().map(|left| left.why.as_str()).collect();
    assert_eq!(
        left,
        [
            "the same profile as `openai-codex:a`; remove one of them",
            "stands here under two names; remove one of them"
        ]
    );
}

#[test]
fn c4_oauth_alone_at_first_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = MemoryStore::new();
    assert_eq!(import_oauth(folder.path(), &store, &family, NOW).unwrap(), None);
    legacy_root(folder.path());
    let report = import_oauth(folder.path(), &store, &family, NOW).unwrap().unwrap();
    assert_eq!(report.profiles, ["copilot:default", "google:g@x.org"]);
    assert_eq!(look(&store).profiles.len(), 2);
}

#[test]
fn c4_an_engine_takes_the_legacy_logins_over_at_first_use_only() {
    use pointsman::{config::Config, host::Engine};
    let folder = tempfile::tempdir().unwrap();
    legacy_root(folder.path());
    let store = std::sync::Arc::new(MemoryStore::new());
    let engine = || Engine::shipped(&Config::default(), store.clone()).unwrap();
    let (_, report) = engine().with_legacy_logins(folder.path()).unwrap();
    assert_eq!(report.unwrap().profiles, ["copilot:default", "google:g@x.org"]);
    store.remove_profile(&ProfileId("copilot:default".into())).unwrap();
    let (_, report) = engine().with_legacy_logins(folder.path()).unwrap();
    assert_eq!(report, None);
    assert_eq!(look(&*store).profiles.len(), 1, "what was removed stays so");
}

#[test]
fn c4_bad_files_are_reported_and_the_others_imported() {
    let folder = tempfile::tempdir().unwrap();
    legacy_root(folder.path());
    let agent = folder.path().join("agents/main/agent");
    fs::write(agent.join("auth-profiles.json"), "{\"profiles\": {\"a:b\": {\"key\": \"sk-planted\"").unwrap();
    fs::write(agent.join("auth.json"), "[1]").unwrap();
    fs::write(agent.join("auth-state.json"), [0xff, 0xfe, 0]).unwrap();
    let store = MemoryStore::new();
    let report = run(folder.path(), &store);
    let whole_file = |left: &&NotUnderstood| left.at.is_empty();
    let bad: Vec<_> = report
        .files
        .iter()
        .filter_map(|file| {
            file.not_understood
                .iter()
                .find(whole_file)
                .map(|left| (file.path.file_name().unwrap(), &left.why))
        })
        .map(|(name, why)| format!("{}: {why}", name.to_string_lossy()))
        .collect();
    assert_eq!(
        bad,
        [
            "auth-profiles.json: no valid JSON (line 1, column 41)",
            "auth.json: not a map",
            "auth-state.json: no valid JSON (line 1, column 1)"
        ]
    );
    assert_eq!(look(&store).profiles.len(), 3);
    assert!(!format!("{report:?}").contains("sk-planted"));
}

#[test]
fn c4_odd_values_neither_panic_nor_leak() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "agents/main/agent/auth-profiles.json",
        &json!({
            "profiles": { "a:n": null, "b:l": [], "c:e": {}, ":": { "type": "api_key", "key": "k" },
                "d:x": { "type": "api_key", "key": { "sk-planted": 1 } },
                "e:y": { "type": "api_key", "key": "k", "expires": "tomorrow" } },
            "usageStats": { "e:y": { "cooldownUntil": 9_223_372_036_854_775_807_i64, "errorCount": -4,
                "failureCounts": { "x": "y" }, "disabledUntil": 1e300 } },
            "extra": "sk-planted"
        }),
    );
    let store = MemoryStore::new();
    let report = run(folder.path(), &store);
    assert_eq!(report.files[0].profiles, ["d:x", "e:y"]);
    assert!(!serde_json::to_string(&report).unwrap().contains("\"sk-planted\""));
    let view = look(&store);
    assert_eq!(view.profiles[1].usage.error_count, 0);
    assert!(!look(&store).profiles[0].info.has_secret);
}

#[test]
fn c4_a_time_in_other_units_is_said_and_blocks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let microseconds = NOW.after(HOUR).as_millis() * 1_000;
    write(
        folder.path(),
        "agents/main/agent/auth-profiles.json",
        &json!({
            "profiles": { "openai:a": { "type": "api_key", "provider": "openai", "key": "sk-planted" } },
            "usageStats": { "openai:a": { "cooldownUntil": microseconds, "errorCount": 1 } }
        }),
    );
    let store = MemoryStore::new();
    let report = run(folder.path(), &store);
    let said = &report.files[0].not_understood;
    assert!(said.iter().any(|what| what.at == "usageStats.openai:a.cooldownUntil"), "{said:?}");
    assert!(look(&store).profiles[0].usage.windows.is_empty());
}

#[test]
fn c4_a_key_is_the_key_itself_and_no_way_to_other_files() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "credentials/oauth.json",
        &json!({ "a": { "key": "env:HOME" }, "b": { "access": "file:/etc/shadow", "refresh": "file:/etc/passwd" } }),
    );
    let store = MemoryStore::new();
    run(folder.path(), &store);
    assert_eq!(direct(get(&store, "a:default").secret.as_ref()), "env:HOME");
    assert_eq!(direct(get(&store, "b:default").secret.as_ref()), "file:/etc/shadow");
    assert_eq!(direct(get(&store, "b:default").refresh.as_ref()), "file:/etc/passwd");
}

#[test]
fn j6_an_unknown_type_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "credentials/oauth.json",
        &json!({ "a": { "type": "sk-planted-4f9d", "key": "k" } }),
    );
    let report = run(folder.path(), &MemoryStore::new());
    let said = &report.files[0].not_understood[0];
    assert_eq!(said.at, "a.type");
    assert_eq!(said.why, "no kind of credential; write `api_key`, `oauth` or `token`");
}

#[test]
fn c4_a_key_that_stands_twice_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{ "profiles": { "a:x": { "key": "1" }, "b:y": { "key": "1", "key": "2" }, "a:x": { "key": "3" } },
        "profiles": 1, "profiles": { "c:z": { "key": "4" } } }"#;
    fs::create_dir_all(folder.path().join("agent")).unwrap();
    let again = text.replace(r#""profiles": 1, "profiles": { "c:z": { "key": "4" } }"#, r#""version": 1"#);
    for (text, places) in [(text, vec!["profiles"]), (&again, vec!["profiles.a:x", "profiles.b:y.key"])] {
        fs::write(folder.path().join("agent/auth-profiles.json"), text).unwrap();
        let store = MemoryStore::new();
        let report = run(folder.path(), &store);
        let twice = "stands here more than once; the last one counts";
        let said = report.files[0].not_understood.iter().filter(|left| left.why == twice);
        assert_eq!(said.map(|left| left.at.as_str()).collect::<Vec<_>>(), places);
        if places.len() > 1 {
            assert_eq!(direct(get(&store, "a:x").secret.as_ref()), "3");
        }
    }
}

#[test]
fn c8_what_is_no_secret_is_left_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let key = |key: &str| json!({ "type": "api_key", "provider": "groq", "key": key });
    let profiles = json!({ "groq:a": key("sk-planted-a\nsk-planted-b"), "groq:b": key("sk-planted-c") });
    write(folder.path(), "agents/main/agent/auth-profiles.json", &json!({ "profiles": profiles }));
    let store = MemoryStore::new();
    let report = run(folder.path(), &store);
    let file = report.files.first().unwrap();
    assert_eq!(file.profiles.iter().map(|id| &**id).collect::<Vec<_>>(), ["groq:b"]);
    let said = format!("{:?}", file.not_understood);
    assert!(said.contains("profiles.groq:a") && said.contains("line break"), "{said}");
    assert!(!said.contains("planted"), "{said}");
    assert_eq!(look(&store).profiles.len(), 1);
}

/// A file that was mended is imported again: what lacks a secret gets it, and what has one keeps it.
#[test]
fn c4_a_missing_secret_is_filled_in_and_none_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    let store = MemoryStore::default();
    let file = |key: &str, access: Value| {
        json!({ "profiles": {
            "openai:a": { "type": "api_key", "provider": "openai", "key": key },
            "openai:b": { "type": "oauth", "provider": "openai", "access": access },
        } })
    };
    let name = "agents/main/agent/auth-profiles.json";
    write(root.path(), name, &file("", json!(123)));
    let first = run(root.path(), &store).files.remove(0);
    assert_eq!(first.profiles, ["openai:a", "openai:b"]);
    let without = first.not_understood.iter().filter(|left| left.why.contains("without a secret"));
    assert_eq!(without.map(|left| left.at.as_str()).collect::<Vec<_>>(), ["openai:a", "openai:b"]);

    write(root.path(), name, &file("sk-planted-1", json!("sk-planted-2")));
    let second = run(root.path(), &store).files.remove(0);
    assert_eq!((second.filled.len(), second.kept.len()), (2, 0), "{second:?}");
    write(root.path(), name, &file("sk-planted-3", json!("sk-planted-4")));
    let third = run(root.path(), &store).files.remove(0);
    assert_eq!((third.filled.len(), third.kept.len()), (0, 2), "{third:?}");
    assert_eq!(direct(get(&store, "openai:a").secret.as_ref()), "sk-planted-1");
    assert_eq!(direct(get(&store, "openai:b").secret.as_ref()), "sk-planted-2");
}
