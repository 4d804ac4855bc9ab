//! One conformance suite for every store.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail so")]

use std::{collections::BTreeMap, time::Duration};

use pointsman::{
    lang::policy::{CredentialKind, Lane, Scope, SelectionSource},
    state::{
        change::*,
        memory::MemoryStore,
        model::*,
        schedule::{Schedule, Steps},
        secret::Flaw,
        store::{Put, Store, StoreError},
        view::{View, ViewQuery},
    },
    time::Timestamp,
};
use secrecy::ExposeSecret;

pub(crate) const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
pub(crate) const MINUTE: Duration = Duration::from_mins(1);

pub(crate) fn profile(id: &str) -> Profile {
    Profile {
        id: ProfileId(id.into()),
        provider: id.split(':').next().unwrap().into(),
        kind: CredentialKind::ApiKey,
        secret: Some(Secret::Direct(format!("sk-planted-{id}").into())),
        refresh: None,
        expires: None,
        email: None,
        extra: BTreeMap::new(),
        inserted: 0,
    }
}

pub(crate) fn limited(id: &str, model: &str, at: Timestamp) -> Change {
    let schedule = Schedule::new("short", Steps::List([1, 5, 25, 60].map(|n| n * MINUTE).to_vec()));
    let window = WindowIntent {
        lane: Lane::Cooldown,
        scope: Scope::Model,
        schedule,
        seed: 0,
        hint: None,
        after: None,
    };
    Change::Failure(Failure {
        profile: ProfileId(id.into()),
        model: Some(model.into()),
        bucket: "rate_limit".into(),
        attempt_started_at: at,
        window: Some(window),
        forget_after: Some(24 * 60 * MINUTE),
    })
}

pub(crate) fn answered(id: &str, model: &str, at: Timestamp) -> Change {
    Change::Success(Success {
        profile: ProfileId(id.into()),
        model: Some(model.into()),
        attempt_started_at: at,
        reset_model: true,
        reset_profile: true,
    })
}

pub(crate) fn chosen(model: &str, source: Option<SelectionSource>) -> Override {
    let candidate = |model: &str| Candidate { provider: "openai".into(), model: model.into() };
    let origin = (source == Some(SelectionSource::Auto)).then(|| Origin {
        candidate: candidate("primary"),
        source: SelectionSource::Cron,
        fallbacks: Some(vec![candidate("f1")]),
    });
    Override {
        candidate: candidate(model),
        source,
        origin,
        written_at: START,
        probed_at: Some(START.after(MINUTE)),
        reason: Some("rate_limit".into()),
        notified: true,
    }
}

pub(crate) fn batch(session: &str, changes: Vec<Change>) -> Batch {
    Batch { session: Some(session.into()), changes }
}

pub(crate) fn usage(view: &View, id: &str) -> Usage {
    Usage::clone(&view.profile(&ProfileId(id.into())).unwrap().usage)
}

/// Looks two minutes after the start: an earlier look would be a clock that jumped back.
fn look(store: &dyn Store, session: &str) -> View {
    store.view(&ViewQuery { session: Some(session) }, START.after(2 * MINUTE)).unwrap()
}

/// A case for each behaviour; every store runs all of them, each on a store of its own.
macro_rules! conform {
    ($($case:ident),* $(,)?) => {
        mod memory {
            $(#[test]
            fn $case() {
                super::$case(&super::MemoryStore::new());
            })*
        }

        #[cfg(feature = "sqlite")]
        mod sqlite_file {
            $(#[test]
            fn $case() {
                super::sqlite::in_a_file(super::$case);
            })*
        }

        /// Each operation through a store opened just before.
        #[cfg(feature = "sqlite")]
        mod sqlite_reopened {
            $(#[test]
            fn $case() {
                super::sqlite::reopened(super::$case);
            })*
        }
    };
}

conform! {
    c1_every_kind_is_kept,
    c3_profiles_come_and_go,
    c8_new_secrets_are_stored,
    c8_what_is_no_secret_is_refused,
    e8_failures_are_kept,
    e7_a_manual_clear,
    e10_a_success_clears_and_says_last_used,
    e11_the_clock_guard_cuts_once,
    a5_overrides_compare_and_set,
    a6_rollback_and_next_in_one_batch,
    a6_facts_land_though_the_compare_fails,
    c10_pins,
    k5_session_commands,
    unknown_things_are_said,
    batches_that_wait_together_come_one_after_the_other,
}

fn c1_every_kind_is_kept(store: &dyn Store) {
    for (id, kind) in [
        ("openai:login", CredentialKind::Oauth),
        ("openai:token", CredentialKind::Token),
        ("openai:key", CredentialKind::ApiKey),
    ] {
        let one = Profile { kind, ..profile(id) };
        store.put_profile(&one).unwrap();
        assert_eq!(store.profile(&one.id).unwrap().unwrap().kind, kind);
        assert_eq!(look(store, "s").profile(&one.id).unwrap().info.kind, kind);
    }
}

fn c3_profiles_come_and_go(store: &dyn Store) {
    let mut oauth = profile("openai:me@example.com");
    oauth.kind = CredentialKind::Oauth;
    oauth.refresh = Some(Secret::Env("OPENAI_REFRESH".into()));
    oauth.expires = Some(START);
    oauth.email = Some("me@example.com".into());
    oauth.extra.insert("projectId".into(), serde_json::json!("p-1"));
    assert_eq!(store.put_profile(&profile("groq:a")).unwrap(), Put::Added);
    assert_eq!(store.put_profile(&oauth).unwrap(), Put::Added);
    store.apply(&batch("s", vec![limited("groq:a", "m", START)]), START).unwrap();
    let mut by_file = profile("groq:a");
    by_file.secret = Some(Secret::File("/run/secrets/groq".into()));
    assert_eq!(store.put_profile(&by_file).unwrap(), Put::Replaced);

    let view = look(store, "s");
    let ids: Vec<_> = view.profiles.iter().map(|p| p.info.id.0.as_str()).collect();
    assert_eq!(ids, ["groq:a", "openai:me@example.com"], "by insertion, replaced ones keep their place");
    assert!(view.profiles[0].info.inserted < view.profiles[1].info.inserted);
    assert_eq!(usage(&view, "groq:a").error_count, 1, "usage is kept");
    let info = &view.profiles[1].info;
    assert!(info.has_secret && info.has_refresh);
    assert_eq!(
        (info.kind, info.expires, info.email.as_deref()),
        (oauth.kind, oauth.expires, Some("me@example.com"))
    );
    assert_eq!(info.extra, oauth.extra);
    assert!(!format!("{view:?}").contains("sk-planted"), "a view holds no secrets");

    let back = store.profile(&ProfileId("groq:a".into())).unwrap().unwrap();
    assert!(matches!(back.secret, Some(Secret::File(path)) if path.ends_with("groq")));
    let back = store.profile(&oauth.id).unwrap().unwrap();
    let Some(Secret::Direct(secret)) = &back.secret else { panic!("direct") };
    assert_eq!(secret.expose_secret(), "sk-planted-openai:me@example.com");
    assert!(matches!(&back.refresh, Some(Secret::Env(name)) if name == "OPENAI_REFRESH"));
    assert!(!format!("{back:?}").contains("sk-planted"), "Debug shows no secret");

    assert!(store.remove_profile(&ProfileId("groq:a".into())).unwrap());
    assert!(!store.remove_profile(&ProfileId("groq:a".into())).unwrap());
    assert_eq!(look(store, "s").profiles.len(), 1);
    store.put_profile(&profile("groq:a")).unwrap();
    let view = look(store, "s");
    assert_eq!(usage(&view, "groq:a"), Usage::default(), "usage goes with its profile");
    assert!(view.profiles[1].info.inserted > view.profiles[0].info.inserted, "it comes last now");
}

fn c8_new_secrets_are_stored(store: &dyn Store) {
    let mut old = profile("openai:a");
    old.refresh = Some(Secret::Direct("old-refresh".to_owned().into()));
    store.put_profile(&old).unwrap();
    let new = NewSecret {
        profile: old.id.clone(),
        secret: Secret::Direct("fresh".to_owned().into()),
        refresh: None,
        expires: Some(START.after(MINUTE)),
    };
    let applied = store.apply(&batch("s", vec![Change::NewSecret(new)]), START).unwrap();
    assert_eq!(applied.view.profiles[0].info.expires, Some(START.after(MINUTE)));
    let back = store.profile(&old.id).unwrap().unwrap();
    assert!(matches!(back.secret, Some(Secret::Direct(s)) if s.expose_secret() == "fresh"));
    assert!(matches!(back.refresh, Some(Secret::Direct(s)) if s.expose_secret() == "old-refresh"));
    assert_eq!(back.expires, Some(START.after(MINUTE)));
}

fn c8_what_is_no_secret_is_refused(store: &dyn Store) {
    let lines = || Secret::Direct("planted\nplanted".to_owned().into());
    let (mut bad, mut good) = (profile("openai:a"), profile("openai:b"));
    bad.secret = Some(lines());
    assert!(matches!(store.put_profile(&bad), Err(StoreError::Secret { flaw: Flaw::Control, .. })));
    assert!(matches!(store.put_profiles(&[good.clone(), bad]), Err(StoreError::Secret { .. })));
    assert!(look(store, "s").profiles.is_empty(), "all or none");
    good.expires = Some(START);
    store.put_profile(&good).unwrap();
    let fresh = || Secret::Direct("fresh".to_owned().into());
    for (secret, refresh) in [(lines(), None), (fresh(), Some(lines()))] {
        let new = NewSecret { profile: good.id.clone(), secret, refresh, expires: None };
        let applied = store.apply(&batch("s", vec![Change::NewSecret(new)]), START).unwrap();
        assert_eq!(applied.outcomes, [Outcome::Refused(Flaw::Control)]);
    }
    let back = store.profile(&good.id).unwrap().unwrap();
    assert!(matches!(back.secret, Some(Secret::Direct(s)) if s.expose_secret() == "sk-planted-openai:b"));
    assert_eq!(back.expires, Some(START), "the old one stays whole");
}

fn e8_failures_are_kept(store: &dyn Store) {
    store.put_profile(&profile("openai:a")).unwrap();
    let applied = store
        .apply(&batch("s", vec![limited("openai:a", "m1", START), limited("openai:a", "m2", START)]), START)
        .unwrap();
    assert!(matches!(&applied.outcomes[..], [Outcome::Opened(a), Outcome::Opened(b)]
        if a.model.as_deref() == Some("m1") && b.model.as_deref() == Some("m2")));
    let again = START.after(MINUTE);
    store.apply(&batch("s", vec![limited("openai:a", "m1", again)]), again).unwrap();
    let kept = usage(&look(store, "s"), "openai:a");
    assert_eq!((kept.error_count, kept.failure_counts["rate_limit"]), (3, 3));
    assert_eq!(kept.last_failure_at, Some(again));
    assert_eq!(kept.last_used, Some(again));
    assert_eq!(kept.windows.len(), 2);
    assert_eq!(kept.blocked_until(Some("m1"), again), Some(again.after(5 * MINUTE)));
    assert_eq!(kept.ladders.iter().map(|l| l.step).max(), Some(2));
}

fn batches_that_wait_together_come_one_after_the_other(store: &dyn Store) {
    store.put_profile(&profile("openai:a")).unwrap();
    let select = |model| Change::Select {
        expect: Expect::Nothing,
        new: Some(chosen(model, Some(SelectionSource::Auto))),
    };
    let batches = [
        batch("s", vec![limited("openai:a", "m1", START), select("f1")]),
        batch("s", vec![limited("openai:a", "m1", START), select("f2")]),
        batch("t", vec![select("f3")]),
    ];
    let applied: Vec<_> = store.apply_all(&batches, START).into_iter().map(Result::unwrap).collect();
    assert_eq!(applied.iter().map(|applied| applied.conflict).collect::<Vec<_>>(), [false, true, false]);
    assert!(matches!(applied[0].outcomes[0], Outcome::Opened(_)));
    assert!(matches!(applied[1].outcomes[0], Outcome::Unchanged(_)), "the second sees the first");
    assert_eq!(usage(&applied[1].view, "openai:a").error_count, 2);
    for (session, model) in [("s", "f1"), ("t", "f3")] {
        let expected = Some(chosen(model, Some(SelectionSource::Auto)));
        assert_eq!(look(store, session).session.selected, expected);
    }
}

fn e7_a_manual_clear(store: &dyn Store) {
    for id in ["openai:a", "groq:b"] {
        store.put_profile(&profile(id)).unwrap();
        store.apply(&batch("s", vec![limited(id, "m1", START), limited(id, "m2", START)]), START).unwrap();
    }
    let clear = |profile: Option<&str>, model: Option<&str>| Change::Clear {
        profile: profile.map(|id| ProfileId(id.into())),
        model: model.map(str::to_owned),
    };
    store.apply(&batch("s", vec![clear(Some("openai:a"), Some("m1"))]), START).unwrap();
    let view = look(store, "s");
    assert_eq!(usage(&view, "openai:a").blocked_until(Some("m1"), START), None);
    assert!(usage(&view, "openai:a").blocked_until(Some("m2"), START).is_some());
    store.apply(&batch("s", vec![clear(None, None)]), START).unwrap();
    let view = look(store, "s");
    for id in ["openai:a", "groq:b"] {
        assert_eq!(usage(&view, id), Usage { last_used: Some(START), ..Usage::default() });
    }
}

fn e10_a_success_clears_and_says_last_used(store: &dyn Store) {
    store.put_profile(&profile("openai:a")).unwrap();
    let used = |at| Change::Used { profile: ProfileId("openai:a".into()), at };
    store.apply(&batch("s", vec![used(START)]), START).unwrap();
    assert_eq!(usage(&look(store, "s"), "openai:a").last_used, Some(START));
    store.apply(&batch("s", vec![limited("openai:a", "m1", START)]), START).unwrap();
    let later = START.after(MINUTE);
    let applied = store.apply(&batch("s", vec![answered("openai:a", "m1", later)]), later).unwrap();
    let expected = Usage { last_used: Some(later), last_failure_at: Some(START), ..Usage::default() };
    assert_eq!(usage(&applied.view, "openai:a"), expected);
    assert_eq!(usage(&look(store, "s"), "openai:a"), expected);
    store.flush().unwrap();
}

fn e11_the_clock_guard_cuts_once(store: &dyn Store) {
    store.put_profile(&profile("openai:a")).unwrap();
    let ahead = START.after(365 * 24 * 60 * MINUTE);
    store.apply(&batch("s", vec![limited("openai:a", "m1", ahead)]), ahead).unwrap();
    let view = store.view(&ViewQuery { session: Some("s") }, START).unwrap();
    assert_eq!(view.cuts.len(), 1);
    assert_eq!(view.cuts[0].was_until, ahead.after(MINUTE));
    assert_eq!(usage(&view, "openai:a").blocked_until(Some("m1"), START), Some(START.after(MINUTE)));
    let later = START.after(MINUTE / 2);
    let view = store.view(&ViewQuery { session: Some("s") }, later).unwrap();
    assert_eq!(view.cuts, [], "said once");
    assert_eq!(usage(&view, "openai:a").blocked_until(Some("m1"), later), Some(START.after(MINUTE)));
}

fn a5_overrides_compare_and_set(store: &dyn Store) {
    let auto = chosen("f1", Some(SelectionSource::Auto));
    let select = Change::Select { expect: Expect::Nothing, new: Some(auto.clone()) };
    let applied = store.apply(&batch("s", vec![select.clone()]), START).unwrap();
    assert!(!applied.conflict);
    assert_eq!(look(store, "s").session.selected, Some(auto.clone()), "every field comes back");
    assert_eq!(look(store, "other").session.selected, None);
    let revision = look(store, "s").session.revision;

    let applied = store.apply(&batch("s", vec![select]), START).unwrap();
    assert!(applied.conflict);
    assert_eq!(applied.outcomes, [Outcome::Conflict]);
    assert_eq!(applied.view.session.selected, Some(auto), "the view shows who won");
    assert_eq!(look(store, "s").session.revision, revision);

    let users = chosen("picked", Some(SelectionSource::User));
    let manual = Change::Select { expect: Expect::Anything, new: Some(users.clone()) };
    store.apply(&batch("s", vec![manual]), START).unwrap();
    let legacy = chosen("old", None);
    let manual = Change::Select { expect: Expect::of(Some(&users)), new: Some(legacy.clone()) };
    store.apply(&batch("s", vec![manual]), START).unwrap();
    let view = look(store, "s");
    assert_eq!(view.session.selected, Some(legacy));
    assert_eq!(view.session.revision, revision + 2);
}

fn a6_rollback_and_next_in_one_batch(store: &dyn Store) {
    let before = chosen("kept", Some(SelectionSource::Default));
    let first = chosen("f1", Some(SelectionSource::Auto));
    let second = chosen("f2", Some(SelectionSource::Auto));
    let write = |expect, new: &Override| Change::Select { expect, new: Some(new.clone()) };
    store.apply(&batch("s", vec![write(Expect::Anything, &before)]), START).unwrap();
    store.apply(&batch("s", vec![write(Expect::of(Some(&before)), &first)]), START).unwrap();
    let rollback = |wrote: &Override| {
        Change::Rollback(Rollback {
            wrote: wrote.key(),
            restore: Some(before.clone()),
            pins: BTreeMap::new(),
        })
    };
    let both = vec![rollback(&first), write(Expect::of(Some(&before)), &second)];
    let applied = store.apply(&batch("s", both), START).unwrap();
    assert_eq!(applied.outcomes, [Outcome::Done, Outcome::Done]);
    assert_eq!(applied.view.session.selected.as_ref(), Some(&second));
    store.apply(&batch("s", vec![rollback(&second)]), START).unwrap();
    assert_eq!(look(store, "s").session.selected, Some(before));
}

fn a6_facts_land_though_the_compare_fails(store: &dyn Store) {
    store.put_profile(&profile("openai:a")).unwrap();
    let auto = chosen("f1", Some(SelectionSource::Auto));
    let rollback = Rollback { wrote: auto.key(), restore: None, pins: BTreeMap::new() };
    let pin =
        Pin { profile: ProfileId("openai:a".into()), by_user: false, compaction_count: 0, displaced: None };
    let changes = vec![
        Change::Pin { family: "openai".into(), pin },
        Change::Rollback(rollback),
        limited("openai:a", "m1", START),
    ];
    let applied = store.apply(&batch("s", changes), START).unwrap();
    assert!(applied.conflict);
    assert!(matches!(&applied.outcomes[..], [Outcome::Conflict, Outcome::Conflict, Outcome::Opened(_)]));
    let view = look(store, "s");
    assert_eq!(*view.session, Session::default(), "all of the session's changes, or none");
    assert_eq!(usage(&view, "openai:a").error_count, 1);
}

fn c10_pins(store: &dyn Store) {
    let pin = |name: &str, by_user| Pin {
        profile: ProfileId(format!("openai:{name}").into()),
        by_user,
        compaction_count: 3,
        displaced: (!by_user).then(|| ProfileId("openai:first".into())),
    };
    let set = |pin| Change::Pin { family: "openai".into(), pin };
    store.apply(&batch("s", vec![set(pin("a", false))]), START).unwrap();
    assert_eq!(look(store, "s").session.pins["openai"], pin("a", false));
    store.apply(&batch("s", vec![set(pin("b", true))]), START).unwrap();
    let applied = store.apply(&batch("s", vec![set(pin("a", false))]), START).unwrap();
    assert_eq!((applied.outcomes, applied.conflict), (vec![Outcome::Kept], false));
    assert_eq!(look(store, "s").session.pins["openai"], pin("b", true));
    let unpin = |whose| Change::Unpin { family: Some("openai".into()), whose };
    store.apply(&batch("s", vec![unpin(Release::AUTO)]), START).unwrap();
    assert_eq!(look(store, "s").session.pins.len(), 1);
    store.apply(&batch("s", vec![unpin(Release::ALL)]), START).unwrap();
    assert_eq!(look(store, "s").session.pins.len(), 0);
}

fn k5_session_commands(store: &dyn Store) {
    let select = |source| Change::Select { expect: Expect::Anything, new: Some(chosen("x", Some(source))) };
    let reset = Change::Reset { release: Release::ALL };
    store.apply(&batch("a", vec![select(SelectionSource::Auto), reset.clone()]), START).unwrap();
    store.apply(&batch("u", vec![select(SelectionSource::User), reset]), START).unwrap();
    store.apply(&batch("u", vec![Change::Compact { release: Release::AUTO }]), START).unwrap();
    assert_eq!(look(store, "a").session.selected, None);
    assert!(look(store, "u").session.selected.is_some());
    assert_eq!(look(store, "u").session.compaction_count, 1);
    store.apply(&batch("u", vec![Change::New { release: Release::ALL }]), START).unwrap();
    assert_eq!(look(store, "u").session.selected, None);
    let all = store.sessions().unwrap();
    assert_eq!(all.last().map(|(id, session)| (id.as_str(), session.compaction_count)), Some(("u", 1)));
}

fn unknown_things_are_said(store: &dyn Store) {
    let applied = store.apply(&batch("s", vec![limited("nobody:x", "m", START)]), START).unwrap();
    assert_eq!(applied.outcomes, [Outcome::UnknownProfile]);
    assert!(store.profile(&ProfileId("nobody:x".into())).unwrap().is_none());
    let homeless = Batch { session: None, changes: vec![Change::Reset { release: Release::ALL }] };
    assert!(store.apply(&homeless, START).unwrap().conflict, "no session to write to is said");
    assert!(store.sessions().unwrap().is_empty());
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use pointsman::state::sqlite::SqliteStore;

    use super::*;

    pub(super) fn in_a_file(case: fn(&dyn Store)) {
        let folder = tempfile::tempdir().unwrap();
        case(&SqliteStore::open(&folder.path().join("agent.sqlite")).unwrap());
    }

    pub(super) fn reopened(case: fn(&dyn Store)) {
        let folder = tempfile::tempdir().unwrap();
        case(&Reopened(folder.path().join("agent.sqlite")));
    }

    struct Reopened(std::path::PathBuf);

    impl Reopened {
        fn open(&self) -> SqliteStore {
            SqliteStore::open(&self.0).unwrap()
        }
    }

    impl Store for Reopened {
        fn view(
            &self,
            query: &ViewQuery<'_>,
            now: Timestamp,
        ) -> Result<View, pointsman::state::store::StoreError> {
            self.open().view(query, now)
        }
        fn apply(
            &self,
            batch: &Batch,
            now: Timestamp,
        ) -> Result<Applied, pointsman::state::store::StoreError> {
            self.open().apply(batch, now)
        }
        fn put_profile(&self, profile: &Profile) -> Result<Put, pointsman::state::store::StoreError> {
            self.open().put_profile(profile)
        }
        fn remove_profile(&self, id: &ProfileId) -> Result<bool, pointsman::state::store::StoreError> {
            self.open().remove_profile(id)
        }
        fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, pointsman::state::store::StoreError> {
            self.open().profile(id)
        }
        fn sessions(&self) -> Result<Vec<(String, Session)>, pointsman::state::store::StoreError> {
            self.open().sessions()
        }
        fn flush(&self) -> Result<(), pointsman::state::store::StoreError> {
            self.open().flush()
        }
    }

    #[test]
    fn two_open_stores_see_each_others_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let (one, two) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
        one.put_profile(&profile("openai:a")).unwrap();
        for at in 0..10 {
            let store = if at % 2 == 0 { &one } else { &two };
            store.apply(&batch("s", vec![limited("openai:a", "m", START)]), START).unwrap();
        }
        let auto = chosen("f1", Some(SelectionSource::Auto));
        let select = Change::Select { expect: Expect::Nothing, new: Some(auto) };
        assert!(!two.apply(&batch("s", vec![select.clone()]), START).unwrap().conflict);
        assert!(one.apply(&batch("s", vec![select]), START).unwrap().conflict);
        assert_eq!(usage(&look(&one, "s"), "openai:a").error_count, 10);
        assert_eq!(usage(&look(&two, "s"), "openai:a").error_count, 10);
    }

    #[test]
    fn a_steady_success_writes_nothing_and_last_used_follows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let (one, two) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
        one.put_profile(&profile("openai:a")).unwrap();
        let later = START.after(Duration::from_millis(500));
        one.apply(&batch("s", vec![answered("openai:a", "m", START)]), START).unwrap();
        one.apply(&batch("s", vec![answered("openai:a", "m", later)]), later).unwrap();
        assert_eq!(usage(&look(&one, "s"), "openai:a").last_used, Some(later));
        assert_eq!(usage(&look(&two, "s"), "openai:a").last_used, None, "nothing was written");
        let second = START.after(Duration::from_secs(1));
        one.apply(&batch("s", vec![answered("openai:a", "m", second)]), second).unwrap();
        assert_eq!(usage(&look(&two, "s"), "openai:a").last_used, Some(second), "a second later it was");
        let third = second.after(Duration::from_millis(1));
        one.apply(&batch("s", vec![answered("openai:a", "m", third)]), third).unwrap();
        drop(one);
        assert_eq!(usage(&look(&two, "s"), "openai:a").last_used, Some(third), "and at the end");
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let store = SqliteStore::open(&path).unwrap();
        store.put_profile(&profile("openai:a")).unwrap();
        for name in ["agent.sqlite", "agent.sqlite-wal", "agent.sqlite-shm"] {
            let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }
}
