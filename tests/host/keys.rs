//! Keys that take their time to be had, and menders that do (C8, D9, H4, H6).

#![expect(clippy::disallowed_methods, reason = "it measures how long somebody waited")]

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use pointsman::{
    host::{Attempt, AttemptError, Engine, Handle, RunError},
    run::ExhaustedReason,
    signal::{Aborted, Signal},
    state::{memory::MemoryStore, model::Profile, secret::SecretSource, store::Store},
};
use secrecy::SecretString;
use tokio::{
    task::yield_now,
    time::{Instant, advance, timeout},
};

use super::support::{Bench, TokioClock, bench, fails, hang, over, request, routing, secs};
use crate::support::lab::table;

/// A vault that says when it is asked, and answers when the other end is dropped, or far too late.
struct Vault(Sender<()>, Mutex<Receiver<()>>);

impl SecretSource for Vault {
    fn env(&self, _: &str) -> Option<SecretString> {
        self.0.send(()).unwrap();
        let _ = self.1.lock().unwrap().recv_timeout(Duration::from_secs(5));
        Some("planted.late".into())
    }
}

/// An engine whose only key is in the vault; what says that it was asked, what opens it.
fn vault() -> (Engine, Receiver<()>, Sender<()>) {
    let store = MemoryStore::new();
    store.put_profile(&Profile::api_key("acme:x", "env:LATE")).unwrap();
    let ((ask, asked), (open, opened)) = (channel(), channel());
    let engine = Engine::new(table(""), Arc::new(routing()), Arc::new(store))
        .with_clock(TokioClock::new())
        .with_secrets(Arc::new(Vault(ask, Mutex::new(opened))));
    (engine, asked, open)
}

async fn answers(_: Attempt) -> Result<(), AttemptError> {
    Ok(())
}

async fn until_asked(asked: &Receiver<()>) {
    while asked.try_recv().is_err() {
        yield_now().await;
    }
}

#[tokio::test]
async fn h4_an_abort_does_not_wait_for_a_key() {
    let (engine, asked, open) = vault();
    let (handle, start) = (Handle::new(), std::time::Instant::now());
    let turn = engine.turn(request()).handle(&handle).run(answers);
    let abort = async {
        until_asked(&asked).await;
        handle.abort(Aborted::User);
    };
    let (ended, ()) = tokio::join!(turn, abort);
    let took = start.elapsed();
    drop(open);
    assert!(matches!(ended, Err(RunError::Surfaced(surface)) if &*surface.bucket == "abort"));
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn h6_the_budget_does_not_wait_for_a_key() {
    let (engine, asked, open) = vault();
    let start = std::time::Instant::now();
    let pass = async {
        until_asked(&asked).await;
        advance(secs(301)).await;
    };
    let (ended, ()) = tokio::join!(engine.run(request(), answers), pass);
    let took = start.elapsed();
    drop(open);
    let Err(RunError::Exhausted(summary)) = ended else { panic!("{ended:?}") };
    assert_eq!((summary.calls, summary.reason), (0, Some(ExhaustedReason::Budget)));
    assert!(summary.left_out[0].why.contains("time was up"), "{summary:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn h6_the_budget_does_not_wait_for_a_mender() {
    let Bench { engine, .. } = bench();
    let start = Instant::now();
    let turn =
        engine.turn(request()).mend_with(|_: Signal| hang()).run(|_| async { fails::<()>("t_format") });
    let ended = timeout(secs(1_000), turn).await.expect("the budget ends the mending");
    assert!(matches!(&ended, Err(RunError::Surfaced(surface)) if &*surface.bucket == "format"), "{ended:?}");
    assert_eq!(start.elapsed().as_secs(), 300);
}

#[tokio::test]
async fn c8_a_source_that_panics_leaves_its_profile_out() {
    struct Broken;
    impl SecretSource for Broken {
        fn env(&self, _: &str) -> Option<SecretString> {
            panic!("a bug of the host's")
        }
    }
    let store = MemoryStore::new();
    store.put_profile(&Profile::api_key("acme:x", "env:LATE")).unwrap();
    store.put_profile(&Profile::api_key("acme:y", "planted-key")).unwrap();
    let engine = over(Arc::new(store)).engine.with_secrets(Arc::new(Broken));
    let outcome = engine.run(request(), answers).await.unwrap();
    assert!(outcome.done.summary.left_out[0].why.contains("broke off"));
}
