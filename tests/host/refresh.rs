//! A refreshed login is kept, whatever becomes of its turn (C8).

use std::{sync::Arc, time::Duration};

use pointsman::{
    host::{Attempt, AttemptError, Engine},
    lang::policy::CredentialKind,
    run::Refreshed,
    state::{
        memory::MemoryStore,
        model::{Profile, Secret},
        sqlite::SqliteStore,
        store::Store,
    },
    time::Timestamp,
};
use secrecy::{ExposeSecret, SecretString};
use tokio::{sync::oneshot, time::timeout};

use super::support::*;
use crate::support::lab;

fn secret(text: &str) -> Secret {
    Secret::Direct(SecretString::from(text))
}

fn new() -> Refreshed {
    Refreshed { secret: secret("new-access"), refresh: Some(secret("new-refresh")), expires: None }
}

/// An engine whose only login has expired.
fn engine(store: &Arc<dyn Store>) -> Engine {
    let login = Profile {
        kind: CredentialKind::Oauth,
        secret: Some(secret("old-access")),
        refresh: Some(secret("old-refresh")),
        expires: Some(Timestamp::EPOCH),
        ..Profile::api_key("acme:login", "")
    };
    store.put_profile(&login).unwrap();
    Engine::new(lab::table(""), Arc::new(routing()), Arc::clone(store))
}

/// In memory, where a change is made at once, and on disk, where it may block.
fn stores(folder: &tempfile::TempDir) -> [Arc<dyn Store>; 2] {
    let disk = SqliteStore::open(&folder.path().join("state.sqlite")).unwrap();
    [Arc::new(MemoryStore::new()), Arc::new(disk)]
}

fn tokens(store: &Arc<dyn Store>) -> [String; 2] {
    let login = store.profile(&lab::id("acme:login")).unwrap().unwrap();
    [login.secret, login.refresh].map(|secret| match secret {
        Some(Secret::Direct(secret)) => secret.expose_secret().to_owned(),
        other => panic!("{other:?}"),
    })
}

async fn comes_to(store: &Arc<dyn Store>) {
    for _ in 0..500 {
        if tokens(store) == ["new-access", "new-refresh"] {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the new tokens are lost: {:?}", tokens(store));
}

/// Refreshes, then waits for ever.
async fn refreshes(attempt: Attempt) -> Result<(), AttemptError> {
    assert!(attempt.refresh_first);
    attempt.refreshed(new());
    hang().await
}

#[tokio::test]
async fn c8_a_dropped_turn_keeps_a_refreshed_login() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder) {
        let engine = engine(&store);
        let turn = timeout(Duration::from_millis(200), engine.run(request(), refreshes)).await;
        assert!(turn.is_err(), "it is dropped");
        comes_to(&store).await;
        let next =
            engine.run(request(), |attempt| async move { Ok::<_, AttemptError>(attempt.refresh_first) });
        assert!(!next.await.unwrap().answer, "and the next turn uses it");
    }
}

#[tokio::test]
async fn c8_a_call_that_panics_keeps_a_refreshed_login() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder) {
        let engine = engine(&store);
        let broken = |attempt: Attempt| async move {
            attempt.refreshed(new());
            panic!("a bug of the host's");
        };
        let turn = tokio::spawn(async move { engine.run::<(), _, _>(request(), broken).await.is_ok() });
        assert!(turn.await.unwrap_err().is_panic());
        comes_to(&store).await;
    }
}

#[tokio::test]
async fn c8_a_task_that_outlives_its_turn_keeps_a_refreshed_login() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder) {
        let engine = engine(&store);
        let (hand, handed) = oneshot::channel();
        let (mut hand, turn) = (Some(hand), Duration::from_millis(50));
        let run = engine.run(request(), |attempt| {
            drop(hand.take().unwrap().send(attempt));
            hang::<Result<(), AttemptError>>()
        });
        assert!(timeout(turn, run).await.is_err(), "it is dropped");
        handed.await.unwrap().refreshed(new());
        comes_to(&store).await;
    }
}

#[test]
fn c8_a_runtime_that_shuts_down_keeps_a_refreshed_login() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder) {
        let engine = engine(&store);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (tell, told) = oneshot::channel();
        let mut tell = Some(tell);
        drop(runtime.spawn(async move {
            let call = |attempt: Attempt| {
                tell.take().unwrap().send(()).unwrap();
                refreshes(attempt)
            };
            engine.run(request(), call).await.is_ok()
        }));
        runtime.block_on(async {
            told.await.unwrap();
            tokio::task::yield_now().await;
        });
        drop(runtime);
        assert_eq!(tokens(&store), ["new-access", "new-refresh"]);
    }
}

#[test]
fn c8_a_turn_dropped_outside_of_a_runtime_keeps_a_refreshed_login() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder) {
        let engine = engine(&store);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut turn = Box::pin(engine.run(request(), refreshes));
        let some = runtime.block_on(async { timeout(Duration::from_millis(200), turn.as_mut()).await });
        assert!(some.is_err(), "it hangs");
        drop(runtime);
        drop(turn);
        assert_eq!(tokens(&store), ["new-access", "new-refresh"]);
    }
}
