//! Whole turns.

use std::{sync::Arc, time::Duration};

use pointsman::{
    host::{AttemptError, Engine, Environment, RunError},
    lang::{load, policy::CredentialKind},
    run::{Refreshed, Request, Routing},
    signal::Signal,
    state::{
        memory::MemoryStore,
        model::{Profile, Secret},
        sqlite::SqliteStore,
        store::Store,
    },
    table::Table,
};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

use super::support::*;
use crate::support::lab::{START, id, model, request as of};

#[tokio::test(start_paused = true)]
async fn a1_the_primary_answers_with_its_key() {
    let mut bench = bench();
    let outcome = bench
        .engine
        .run(request(), |attempt| async move {
            Ok::<_, AttemptError>(attempt.secret.unwrap().expose_secret().to_owned())
        })
        .await
        .unwrap();
    assert_eq!(outcome.answer, "planted-key-of-acme:x");
    assert_eq!(outcome.done.candidate, model("acme/a"));
    assert_eq!(bench.events(), ["attempt", "answered"]);
}

#[tokio::test(start_paused = true)]
async fn a3_a4_j4_rotation_then_fallback_with_one_notice_and_back() {
    let mut bench = bench();
    let calls = bench.calls.clone();
    let acme_down = |attempt: pointsman::host::Attempt| {
        calls.note(&attempt);
        async move { if attempt.provider == "acme" { fails("t_auth") } else { Ok(attempt.model) } }
    };
    let outcome = bench.engine.run(request(), acme_down).await.unwrap();
    assert_eq!(calls.all(), ["acme/a acme:x", "acme/a acme:y", "other/b other:z"]);
    assert_eq!(outcome.answer, "b");
    let fallback = "↪️ Model Fallback: other/b (selected acme/a; auth)";
    assert_eq!(outcome.notices.iter().map(|notice| notice.text.as_str()).collect::<Vec<_>>(), [fallback]);
    assert!(bench.events().contains(&fallback.to_owned()), "the listener hears of it as well");

    let sticky = bench.engine.run(request(), acme_down).await.unwrap();
    assert!(sticky.notices.is_empty());
    tokio::time::advance(secs(301)).await;
    let back = bench.engine.run(request(), |attempt| async move { Ok(attempt.model) }).await.unwrap();
    assert_eq!(back.answer, "a");
    assert_eq!(back.notices.len(), 1);
    assert!(back.notices[0].text.contains("cleared: acme/a (was other/b)"));
}

#[tokio::test(start_paused = true)]
async fn a7_surfaced_and_exhausted_say_what_happened() {
    let bench = bench();
    let error = bench.engine.run(request(), |_| async { fails::<()>("t_context") }).await.unwrap_err();
    assert!(matches!(&error, RunError::Surfaced(surface) if &*surface.bucket == "context_overflow"));
    let error = bench.engine.run(of("t"), |_| async { fails::<()>("t_rate") }).await.unwrap_err();
    assert!(matches!(&error, RunError::Exhausted(summary) if summary.calls == 3), "{error}");
    assert_eq!(
        error.to_string(),
        "no model answered (3 called, 0 skipped); the last, `other/b`: t_rate happened; the first is free \
         again at 2027-01-15T08:01:00Z"
    );
}

#[tokio::test(start_paused = true)]
async fn a_success_status_with_an_error_inside_is_a_failure() {
    let bench = bench();
    let inside = AttemptError::new()
        .status(200)
        .body(r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#);
    let outcome = bench
        .engine
        .run(request(), |attempt| {
            let inside = inside.clone();
            async move { if attempt.provider == "acme" { Err(inside) } else { Ok(()) } }
        })
        .await
        .unwrap();
    assert_eq!(&*outcome.done.summary.attempts[0].bucket, "overloaded");
}

#[tokio::test(start_paused = true)]
async fn h6_a_call_is_cut_off_when_the_budget_ends() {
    let bench = bench();
    let start = Instant::now();
    let error = bench.engine.run(request(), |_| hang::<Result<(), AttemptError>>()).await.unwrap_err();
    let RunError::Exhausted(summary) = error else { panic!("{error}") };
    assert_eq!(start.elapsed().as_secs(), 300);
    assert_eq!(summary.calls, 1);
    assert_eq!(&*summary.attempts[0].bucket, "timeout");
    assert!(summary.last_error.unwrap().aborted.is_some());
}

#[tokio::test(start_paused = true)]
async fn h5_nobody_else_is_asked_once_output_was_seen() {
    let bench = bench();
    let broken = |_| async { Err::<(), _>(AttemptError::new().code("t_over").partial()) };
    let error = bench.engine.run(request(), broken).await.unwrap_err();
    assert!(matches!(&error, RunError::Surfaced(surface) if surface.partial && surface.summary.calls == 1));

    let hangs = |attempt: pointsman::host::Attempt| async move {
        attempt.delivered();
        hang::<Result<(), AttemptError>>().await
    };
    let error = bench.engine.run(of("t"), hangs).await.unwrap_err();
    assert!(matches!(&error, RunError::Surfaced(surface) if surface.partial), "a deadline knows of it");
}

#[tokio::test(start_paused = true)]
async fn f2_a_pause_before_a_rotation_takes_its_time() {
    let config = pointsman::config::Config::parse("auth: {cooldowns: {overloadedBackoffMs: 1500}}").unwrap();
    let (rules, _) = load::shipped().unwrap();
    let store = MemoryStore::new();
    fill(&store);
    let table = Arc::new(Table::compile(rules, &Environment { config: &config }).unwrap());
    let mut bench = with(table, Arc::new(store));
    let calls = bench.calls.clone();
    let start = Instant::now();
    let busy = |attempt: pointsman::host::Attempt| {
        calls.note(&attempt);
        async move {
            if attempt.profile == Some(id("acme:x")) {
                return Err(AttemptError::new().status(529).body("overloaded_error"));
            }
            Ok(())
        }
    };
    bench.engine.run(request(), busy).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(1500));
    assert_eq!(calls.all(), ["acme/a acme:x", "acme/a acme:y"]);
    assert!(bench.events().contains(&"waited".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn d9_a_payload_is_mended_once() {
    let bench = bench();
    let calls = bench.calls.clone();
    let picky = |attempt: pointsman::host::Attempt| {
        calls.note(&attempt);
        async move { if attempt.repaired { Ok(()) } else { fails("t_format") } }
    };
    let mend = |signal: Signal| async move { signal.code.as_deref() == Some("t_format") };
    bench.engine.turn(request()).mend_with(mend).run(picky).await.unwrap();
    assert_eq!(calls.all(), ["acme/a acme:x", "acme/a acme:x repaired"]);

    let error = bench.engine.run(of("t"), picky).await.unwrap_err();
    assert!(matches!(error, RunError::Surfaced(surface) if &*surface.bucket == "format"));
    assert_eq!(calls.all().len(), 3, "nobody mends, so nobody calls again");
}

#[tokio::test(start_paused = true)]
async fn c8_an_expired_login_is_refreshed_and_kept() {
    let store = MemoryStore::new();
    let secret = |text: &str| Some(Secret::Direct(SecretString::from(text)));
    store
        .put_profile(&Profile {
            kind: CredentialKind::Oauth,
            secret: secret("old-access"),
            refresh: secret("old-refresh"),
            expires: Some(START.before(secs(5))),
            ..Profile::api_key("acme:login", "")
        })
        .unwrap();
    let bench = over(Arc::new(store));
    let seen = bench
        .engine
        .run(request(), |attempt| async move {
            assert!(attempt.refresh_first);
            assert_eq!(attempt.refresh.as_ref().unwrap().expose_secret(), "old-refresh");
            let expires = Some(START.after(secs(3_600)));
            attempt.refreshed(Refreshed { secret: secret("new-access").unwrap(), refresh: None, expires });
            Ok::<_, AttemptError>(())
        })
        .await;
    assert!(seen.is_ok());
    let next = bench.engine.run(request(), |attempt| async move {
        Ok::<_, AttemptError>((attempt.refresh_first, attempt.secret.unwrap().expose_secret().to_owned()))
    });
    assert_eq!(next.await.unwrap().answer, (false, "new-access".to_owned()));
}

#[test]
fn a_thousand_runs_at_a_time_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(&folder.path().join("state.sqlite")).unwrap());
    fill(&*store);
    let engine = Engine::new(crate::support::lab::table(""), Arc::new(routing()), Arc::clone(&store) as _);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let answered = runtime.block_on(async {
        let one = |engine: Engine, n: usize| async move {
            let attempt = |attempt: pointsman::host::Attempt| async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if n.is_multiple_of(20) && attempt.provider == "acme" { fails("t_session") } else { Ok(()) }
            };
            // A new session's first answer is a write, so only some have one.
            let session = n.is_multiple_of(20).then(|| format!("s{n}"));
            engine.run(Request { session, ..Request::default() }, attempt).await.is_ok()
        };
        let all: Vec<_> = (0..1_000).map(|n| tokio::spawn(one(engine.clone(), n))).collect();
        let mut answered = 0;
        for one in all {
            answered += usize::from(one.await.unwrap());
        }
        answered
    });
    assert_eq!(answered, 1_000);
    let sessions = store.sessions().unwrap();
    assert_eq!(sessions.iter().filter(|(_, session)| session.selected.is_some()).count(), 50);
}

#[tokio::test(start_paused = true)]
async fn runs_under_way_keep_their_rules() {
    let bench = bench();
    let engine = &bench.engine;
    let other = Routing { model: crate::support::lab::list("other/b", None), ..Routing::default() };
    let turn = engine.run(request(), |attempt| {
        engine.replace(engine.table(), Arc::new(other.clone()));
        async move { if attempt.profile == Some(id("acme:x")) { fails("t_auth") } else { Ok(attempt.model) } }
    });
    assert_eq!(turn.await.unwrap().answer, "a");
    let next = engine.run(of("t"), |attempt| async move { Ok::<_, AttemptError>(attempt.model) });
    assert_eq!(next.await.unwrap().answer, "b");
}
