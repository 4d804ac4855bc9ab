//! Profiles: sets, sequences, eligibility, secrets (C).

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

use std::{collections::BTreeMap, sync::Arc};

use pointsman::{
    lang::policy::{CredentialKind, LastUsed, ProfileOrder},
    state::{
        change::NewSecret,
        memory::MemoryStore,
        model::{Profile, ProfileId, Secret, Usage},
        profiles::Profiles,
        secret::{Flaw, SecretError, SecretSource},
        select::*,
        store::{Store, StoreError},
        view::{ProfileInfo, ProfileView},
    },
    time::Timestamp,
};
use secrecy::{ExposeSecret, SecretString};

use crate::support::lab::{family, table};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn at(offset: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + offset)
}

fn stored(id: &str, kind: CredentialKind, inserted: u64, last_used: Option<i64>) -> ProfileView {
    let info = ProfileInfo {
        id: ProfileId(id.into()),
        provider: id.split(':').next().unwrap().into(),
        kind,
        has_secret: true,
        has_refresh: false,
        expires: None,
        email: None,
        extra: BTreeMap::new(),
        inserted,
    };
    let usage = Usage { last_used: last_used.map(at), ..Usage::default() };
    ProfileView { info: Arc::new(info), usage: Arc::new(usage) }
}

fn all(stored: impl IntoIterator<Item = ProfileView>) -> Profiles {
    stored.into_iter().collect()
}

fn with(profile: &ProfileView, change: impl FnOnce(&mut ProfileInfo)) -> ProfileView {
    let mut profile = profile.clone();
    change(Arc::make_mut(&mut profile.info));
    profile
}

fn shipped_order() -> ProfileOrder {
    table("").policy().order.as_ref().unwrap().node.clone()
}

fn ids(list: &[&str]) -> Vec<ProfileId> {
    list.iter().map(|id| ProfileId((*id).into())).collect()
}

fn names(profiles: &[&ProfileView]) -> Vec<String> {
    profiles.iter().map(|profile| profile.info.id.0.to_string()).collect()
}

/// The sequence by ids, with the given profiles blocked.
fn sequenced(set: &ProfileSet<'_>, order: Option<&ProfileOrder>, blocked: &[(&str, i64)]) -> Vec<String> {
    let until = |profile: &ProfileView| {
        blocked.iter().find(|(id, _)| profile.info.id.0 == *id).map(|(_, offset)| at(*offset))
    };
    let (seated, _) = sequence(set, "openai", order, &family, &until, NOW);
    seated.iter().map(|seat| seat.profile.info.id.0.to_string()).collect()
}

fn three() -> Vec<ProfileView> {
    vec![
        stored("openai:key", CredentialKind::ApiKey, 1, None),
        stored("openai:token", CredentialKind::Token, 2, Some(-5)),
        stored("openai:login", CredentialKind::Oauth, 3, Some(-1)),
    ]
}

#[test]
fn c2_a_legacy_id_is_the_same_profile() {
    let legacy = ProfileId("openai-codex:me@x.org".into());
    assert!(legacy.same(&ProfileId("openai:me@x.org".into()), &family));
    assert!(!legacy.same(&ProfileId("openai:you@x.org".into()), &family));
    assert!(!legacy.same(&ProfileId("groq:me@x.org".into()), &family));
    assert_eq!((legacy.provider(), legacy.name()), ("openai-codex", "me@x.org"));

    let stored = all([stored("openai-codex:a", CredentialKind::Oauth, 1, None)]);
    let set = profile_set("openai", Some(&ids(&["openai:a"])), &[], &stored, &family);
    assert_eq!(names(&set.profiles), ["openai-codex:a"], "in orders");
    assert_eq!(profile_set("openai", None, &[], &stored, &family).profiles.len(), 1, "and without");
}

#[test]
fn c8_a_key_of_a_family_member_is_another_providers() {
    let stored = all([stored("azure-openai-responses:a", CredentialKind::ApiKey, 1, None)]);
    assert_eq!(profile_set("openai", None, &[], &stored, &family).profiles.len(), 0);
    assert_eq!(eligible(&stored[0].info, "openai", &family, NOW), Err(Ineligible::WrongProvider));
}

#[test]
fn c2_which_names_are_legacy_is_the_rules_to_say() {
    assert!(family("openai-codex", "openai"));
    assert!(!family("azure-openai-responses", "openai"), "of one family, with keys of its own");
    let table = table("extend legacy_providers with [\"azure-openai-responses\"]");
    assert!(table.same_provider("azure-openai-responses", "openai-codex"));
    assert_eq!(table.present_name("azure-openai-responses"), "openai");
}

#[test]
fn c2_two_names_of_one_profile_are_an_error() {
    let stored = all([
        stored("openai-codex:a", CredentialKind::Oauth, 1, None),
        stored("openai:b", CredentialKind::Oauth, 2, None),
        stored("openai:a", CredentialKind::Oauth, 3, None),
    ]);
    let found = collisions(&stored, &family);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "`openai-codex:a` and `openai:a` are the same profile under two names; remove one of them"
    );
}

#[test]
fn c5_the_set_is_the_order_else_the_configured_else_the_stored() {
    let stored = all(three());
    let order = ids(&["openai:token", "openai:gone", "openai:key", "openai:token"]);
    let configured = ids(&["groq:x", "openai:login", "openai:key", "openai:lost"]);

    let set = profile_set("openai", Some(&order), &configured, &stored, &family);
    assert_eq!(names(&set.profiles), ["openai:token", "openai:key"], "exactly, each once");
    assert_eq!((set.listed, set.missing), (Listed::Order, ids(&["openai:gone"])));

    let set = profile_set("openai", None, &configured, &stored, &family);
    assert_eq!(names(&set.profiles), ["openai:key", "openai:login"]);
    assert_eq!((set.listed, set.missing), (Listed::Configured, ids(&["openai:lost"])));

    for configured in ["groq:x", "openai:lost"] {
        let set = profile_set("openai", None, &ids(&[configured]), &stored, &family);
        assert_eq!((names(&set.profiles).len(), set.listed), (3, Listed::Stored), "{configured}");
    }
}

#[test]
fn c5_an_order_of_missing_profiles_falls_back_on_the_stored_and_says_so() {
    let stored = all(three());
    let set = profile_set("openai", Some(&ids(&["openai:gone"])), &[], &stored, &family);
    assert_eq!((set.profiles.len(), set.listed, set.missing), (3, Listed::Stored, ids(&["openai:gone"])));
}

#[test]
fn c5_an_explicit_order_is_never_sorted() {
    let stored = all(three());
    let set = profile_set("openai", Some(&ids(&["openai:key", "openai:login"])), &[], &stored, &family);
    assert_eq!(sequenced(&set, Some(&shipped_order()), &[]), ["openai:key", "openai:login"]);
}

#[test]
fn c6_by_kind_then_oldest_use_then_insertion() {
    let stored = all([
        stored("openai:k2", CredentialKind::ApiKey, 1, Some(-1)),
        stored("openai:k1", CredentialKind::ApiKey, 2, Some(-9)),
        stored("openai:never_b", CredentialKind::ApiKey, 5, None),
        stored("openai:never_a", CredentialKind::ApiKey, 4, None),
        stored("openai:token", CredentialKind::Token, 6, Some(-1)),
        stored("openai:login", CredentialKind::Oauth, 7, Some(-1)),
    ]);
    let set = profile_set("openai", None, &[], &stored, &family);
    let expected =
        ["openai:login", "openai:token", "openai:never_a", "openai:never_b", "openai:k1", "openai:k2"];
    assert_eq!(sequenced(&set, Some(&shipped_order()), &[]), expected);
    let newest = ProfileOrder { kinds: vec![], last_used: Some(LastUsed::NewestFirst), blocked_last: false };
    assert_eq!(
        sequenced(&set, Some(&newest), &[("openai:k2", 5)])[0],
        "openai:k2",
        "other rules, other order"
    );
    assert_eq!(sequenced(&set, None, &[])[0], "openai:k2", "without a rule by insertion");
}

#[test]
fn c7_blocked_ones_go_to_the_end_soonest_first() {
    let stored = all(three());
    let blocked = [("openai:login", 900), ("openai:token", 100)];
    let set = profile_set("openai", None, &[], &stored, &family);
    let expected = ["openai:key", "openai:token", "openai:login"];
    assert_eq!(sequenced(&set, Some(&shipped_order()), &blocked), expected);
    let order = ids(&["openai:login", "openai:token", "openai:key"]);
    let set = profile_set("openai", Some(&order), &[], &stored, &family);
    assert_eq!(sequenced(&set, Some(&shipped_order()), &blocked), expected, "also within an explicit order");
    let until = |profile: &ProfileView| (profile.info.id.0 == "openai:login").then(|| at(900));
    let (seated, _) = sequence(&set, "openai", Some(&shipped_order()), &family, &until, NOW);
    let ranks: Vec<_> = seated.iter().map(|seat| seat.rank).collect();
    assert_eq!(ranks, [1, 2, 0], "the rank is the place if nothing were blocked");
}

#[test]
fn c8_eligibility() {
    use CredentialKind::{ApiKey, Oauth, Token};
    let check = |profile: &ProfileView| eligible(&profile.info, "openai", &family, NOW);
    let key = stored("openai:a", ApiKey, 1, None);
    let token = stored("openai:a", Token, 1, None);
    let login = stored("openai:a", Oauth, 1, None);
    let expired = |info: &mut ProfileInfo| info.expires = Some(NOW);
    assert_eq!(check(&key), Ok(false));
    assert_eq!(check(&with(&key, |info| info.has_secret = false)), Err(Ineligible::NoSecret));
    assert_eq!(check(&token), Ok(false));
    assert_eq!(check(&with(&token, |info| info.has_secret = false)), Err(Ineligible::NoSecret));
    assert_eq!(check(&with(&token, |info| info.expires = Some(at(1)))), Ok(false));
    assert_eq!(check(&with(&token, expired)), Err(Ineligible::TokenExpired(NOW)));
    assert_eq!(check(&login), Ok(false));
    assert_eq!(check(&with(&login, expired)), Err(Ineligible::LoginExpired(NOW)));
    let refreshable = with(&login, |info| info.has_refresh = true);
    assert_eq!(check(&refreshable), Ok(false));
    assert_eq!(check(&with(&refreshable, expired)), Ok(true), "refresh first");
    assert_eq!(check(&with(&refreshable, |info| info.has_secret = false)), Ok(true));
    assert_eq!(check(&with(&login, |info| info.has_secret = false)), Err(Ineligible::NoSecret));
    assert_eq!(eligible(&key.info, "groq", &family, NOW), Err(Ineligible::WrongProvider));
    assert_eq!(
        Ineligible::LoginExpired(NOW).to_string(),
        "its login expired at 2027-01-15T08:00:00Z and has no refresh token; log in again"
    );
}

#[test]
fn c8_ineligible_ones_are_left_out_with_the_reason() {
    let mut stored = three();
    stored[0] = with(&stored[0], |info| info.has_secret = false);
    let stored = all(stored);
    let set = profile_set("openai", None, &[], &stored, &family);
    let (seated, left_out) = sequence(&set, "openai", Some(&shipped_order()), &family, &|_| None, NOW);
    assert_eq!(seated.len(), 2);
    assert_eq!(
        left_out.iter().map(|(p, why)| (p.info.id.0.as_str(), *why)).collect::<Vec<_>>(),
        [("openai:key", Ineligible::NoSecret)]
    );
}

struct Place(Vec<(&'static str, &'static str)>);

impl SecretSource for Place {
    fn env(&self, name: &str) -> Option<SecretString> {
        self.0.iter().find(|(there, _)| *there == name).map(|(_, secret)| SecretString::from(*secret))
    }
}

#[test]
fn secrets_resolve_at_use_and_never_show() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "sk-planted-file\r\n").unwrap();
    let place = Place(vec![("KEY", "sk-planted-env"), ("EMPTY", " ")]);
    let get =
        |text: &str| Secret::parse(text).resolve(&place).map(|secret| secret.expose_secret().to_owned());
    assert_eq!(get("sk-planted:given").unwrap(), "sk-planted:given");
    assert_eq!(get("env:KEY").unwrap(), "sk-planted-env");
    assert_eq!(get(&format!("file:{}", path.display())).unwrap(), "sk-planted-file");
    assert!(matches!(get("env:OTHER"), Err(SecretError::Env(name)) if name == "OTHER"));
    assert!(matches!(get("env:EMPTY"), Err(SecretError::Flawed { flaw: Flaw::Empty, .. })));
    let error = get("file:/nowhere/at/all").unwrap_err().to_string();
    assert!(error.contains("/nowhere/at/all"), "{error}");
    assert!(!format!("{:?}", Secret::parse("sk-planted")).contains("sk-planted"));
}

#[test]
fn a_secret_file_that_never_ends_is_refused() {
    let place = Place(vec![]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big");
    std::fs::write(&path, "x".repeat(100_000)).unwrap();
    match Secret::File(path).resolve(&place) {
        Err(SecretError::File { detail, .. }) => assert!(detail.contains("64 KiB")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn c8_a_reference_to_nothing_is_no_key() {
    let store = MemoryStore::new();
    let place = Place(vec![("BAD", "env:")]);
    for text in ["env:", "file:", "env:MY-KEY", "env:1ST", " env:KEY", "ENV:KEY", "env: KEY"] {
        let profile = Profile::api_key("acme:x", text);
        assert_eq!(profile.flaw(), Some(Flaw::Reference), "{text}");
        let error = store.put_profile(&profile).unwrap_err();
        assert!(matches!(error, StoreError::Secret { flaw: Flaw::Reference, .. }), "{text}: {error}");
        assert!(error.to_string().contains("`env:NAME`"), "{error}");
        let new = NewSecret {
            profile: profile.id.clone(),
            secret: Secret::parse("a-new-key"),
            refresh: Some(Secret::parse(text)),
            expires: None,
        };
        assert_eq!(new.flaw(), Some(Flaw::Reference), "{text}");
    }
    for text in ["env:KEY", "file:key", "environment", "key-env:", "sk-file:x"] {
        assert_eq!(Profile::api_key("acme:x", text).flaw(), None, "{text}");
    }
    let read = Secret::parse("env:BAD").resolve(&place);
    assert!(matches!(read, Err(SecretError::Flawed { flaw: Flaw::Reference, .. })));
}

#[test]
fn c8_a_secret_of_several_lines_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "planted-line\nplanted-other\n").unwrap();
    let place = Place(vec![("LINES", "planted-line\nplanted-other"), ("ESCAPE", "planted\u{1b}[0m-key")]);
    let file = format!("file:{}", path.display());
    for from in ["env:LINES", "env:ESCAPE", &file, "planted\tkey"] {
        match Secret::parse(from).resolve(&place) {
            Err(error @ SecretError::Flawed { flaw: Flaw::Control, .. }) => {
                let error = error.to_string();
                assert!(error.contains("line break"), "{error}");
                assert!(!error.contains("planted"), "{error}");
            }
            other => panic!("{from}: {other:?}"),
        }
    }
}

#[test]
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a thread that hangs must not hang the test")]
fn c8_a_secrets_pipe_or_device_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&*pipe, "/dev/zero".as_ref(), "/dev/null".as_ref()] {
        let (tell, told) = std::sync::mpsc::channel();
        let secret = Secret::File(path.to_owned());
        std::thread::spawn(move || tell.send(secret.resolve(&Place(vec![]))));
        let resolved = told.recv_timeout(std::time::Duration::from_secs(10));
        match resolved.expect("a pipe is not waited for") {
            Err(SecretError::File { detail, .. }) => assert!(detail.contains("it is no file"), "{detail}"),
            other => panic!("{}: {other:?}", path.display()),
        }
    }
}
