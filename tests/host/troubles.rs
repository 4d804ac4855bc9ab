//! Interrupts, and stores and secrets that fail.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use pointsman::{
    host::{Attempt, AttemptError, Handle, RunError},
    run::session,
    signal::Aborted,
    state::memory::MemoryStore,
};

use super::support::*;
use crate::support::{
    hand_on::*,
    lab::{START, model, request as of},
};

/// Says when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn d11_an_abort_drops_the_call() {
    let bench = bench();
    let (handle, dropped) = (Handle::new(), Arc::new(AtomicBool::new(false)));
    let user = handle.clone();
    let error = bench
        .engine
        .turn(request())
        .handle(&handle)
        .run(|_| {
            user.abort(Aborted::User);
            let guard = Dropped(Arc::clone(&dropped));
            async move {
                let _guard = guard;
                hang::<Result<(), AttemptError>>().await
            }
        })
        .await
        .unwrap_err();
    assert!(matches!(error, RunError::Surfaced(surface) if &*surface.bucket == "abort"));
    assert!(dropped.load(Ordering::SeqCst));

    let calls = bench.calls.clone();
    handle.abort(Aborted::Host);
    let turn = bench.engine.turn(request()).handle(&handle).run(|attempt| {
        calls.note(&attempt);
        async { Ok::<_, AttemptError>(()) }
    });
    assert!(turn.await.is_err(), "an abort before the first call ends the turn");
    assert!(calls.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn d11_an_answer_that_has_come_still_counts() {
    let bench = bench();
    let handle = Handle::new();
    let turn = bench.engine.turn(request()).handle(&handle).run(|_| {
        handle.abort(Aborted::User);
        async { Ok::<_, AttemptError>(7) }
    });
    assert_eq!(turn.await.unwrap().answer, 7);
}

#[tokio::test(start_paused = true)]
async fn h4_a_switch_breaks_in() {
    let bench = bench();
    let switch = |to: &'static str, by_user, delivered| {
        let handle = Handle::new();
        let engine = bench.engine.clone();
        async move {
            let turn =
                engine.turn(of(&format!("{to} {delivered}"))).handle(&handle).run(|attempt: Attempt| {
                    if attempt.provider == "acme" {
                        handle.switch(model(to), by_user);
                    }
                    if delivered {
                        attempt.delivered();
                    }
                    async move {
                        if attempt.provider == "acme" {
                            hang().await
                        } else {
                            Ok::<_, AttemptError>(attempt.model)
                        }
                    }
                });
            turn.await
        }
    };
    assert_eq!(switch("other/b", true, false).await.unwrap().answer, "b", "a later candidate is jumped to");
    let outside = switch("third/c", true, false).await.unwrap_err();
    assert!(matches!(outside, RunError::Switched(to) if to == model("third/c")));
    let seen = switch("other/b", true, true).await.unwrap_err();
    assert!(matches!(seen, RunError::Surfaced(surface) if surface.partial), "H5 comes first");
}

#[tokio::test(start_paused = true)]
async fn h4_a_choice_stored_meanwhile_ends_the_turn() {
    let bench = bench();
    let engine = &bench.engine;
    let turn = engine.run(request(), |_| async {
        engine.change("s", session::choose_model(Some(model("third/c")), START)).await.unwrap();
        fails::<()>("t_auth")
    });
    assert!(matches!(turn.await.unwrap_err(), RunError::Switched(to) if to == model("third/c")));
}

/// A store that can be broken.
#[derive(Default)]
pub struct Fragile {
    inner: MemoryStore,
    no_writes: AtomicBool,
    no_reads: AtomicBool,
}

impl Fragile {
    fn check(flag: &AtomicBool) -> Result<(), StoreError> {
        let broken = flag.load(Ordering::SeqCst);
        if broken { Err(StoreError::Full { path: "state.sqlite".into() }) } else { Ok(()) }
    }
}

impl Store for Fragile {
    fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError> {
        Self::check(&self.no_reads)?;
        self.inner.view(query, now)
    }
    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
        Self::check(&self.no_writes)?;
        self.inner.apply(batch, now)
    }
    fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, StoreError> {
        Self::check(&self.no_reads)?;
        self.inner.profile(id)
    }

    hand_on! { put_profile remove_profile sessions flush => inner }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_be_written_is_said_and_the_run_goes_on() {
    let store = Arc::new(Fragile::default());
    fill(&*store);
    store.no_writes.store(true, Ordering::SeqCst);
    let mut bench = over(Arc::clone(&store) as _);
    let calls = bench.calls.clone();
    let down = |attempt: Attempt| {
        calls.note(&attempt);
        async move { if attempt.provider == "acme" { fails("t_rate") } else { Ok(attempt.model) } }
    };
    assert_eq!(bench.engine.run(request(), down).await.unwrap().answer, "b");
    assert_eq!(calls.all(), ["acme/a acme:x", "acme/a acme:y", "other/b other:z"], "windows count in memory");
    assert!(bench.events().contains(&"store_unavailable".to_owned()));

    assert_eq!(bench.engine.run(request(), down).await.unwrap().answer, "b");
    assert_eq!(
        calls.all()[3..],
        ["acme/a acme:x", "other/b other:z"],
        "in later turns too: a probe, no more"
    );
    assert!(bench.events().contains(&"store_unavailable".to_owned()));
    assert!(
        store.view(&ViewQuery::default(), Timestamp::EPOCH).unwrap().profiles[0].usage.windows.is_empty()
    );
    store.no_writes.store(false, Ordering::SeqCst);
    bench.engine.run(request(), down).await.unwrap();
    let view = store.view(&ViewQuery::default(), Timestamp::EPOCH).unwrap();
    assert_eq!(view.profiles[0].usage.windows.len(), 1, "and stored as soon as that goes");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_be_read_any_more_leaves_what_is_known() {
    let store = Arc::new(Fragile::default());
    fill(&*store);
    let mut bench = over(Arc::clone(&store) as _);
    let ok = |attempt: Attempt| async move { Ok::<_, AttemptError>(attempt.model) };
    store.no_reads.store(true, Ordering::SeqCst);
    let error = bench.engine.run(request(), ok).await.unwrap_err();
    assert!(matches!(&error, RunError::State(StoreError::Full { .. })), "nothing is known yet: {error}");
    store.no_reads.store(false, Ordering::SeqCst);
    bench.engine.run(request(), ok).await.unwrap();
    bench.events();
    store.no_reads.store(true, Ordering::SeqCst);
    assert_eq!(bench.engine.run(request(), ok).await.unwrap().answer, "a");
    assert!(bench.events().contains(&"store_unavailable".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn c8_a_missing_secret_leaves_its_profile_out() {
    let store = Arc::new(MemoryStore::new());
    store.put_profile(&Profile::api_key("acme:x", "env:POINTSMAN_TEST_NO_SUCH_VARIABLE")).unwrap();
    store.put_profile(&Profile::api_key("acme:y", "planted-key")).unwrap();
    let bench = over(Arc::clone(&store) as _);
    let calls = bench.calls.clone();
    let outcome = bench.engine.run(request(), |attempt| {
        calls.note(&attempt);
        async { Ok::<_, AttemptError>(()) }
    });
    let outcome = outcome.await.unwrap();
    assert_eq!(calls.all(), ["acme/a acme:y"], "no call without a key");
    let summary = &outcome.done.summary;
    assert_eq!((summary.calls, summary.attempts.len()), (1, 0));
    assert_eq!(summary.left_out[0].profile, "acme:x");
    assert!(summary.left_out[0].why.contains("POINTSMAN_TEST_NO_SUCH_VARIABLE"), "{summary:?}");
    let view = store.view(&ViewQuery::default(), START).unwrap();
    assert_eq!(view.profiles[0].usage.error_count, 0);
    assert!(store.records().unwrap().inbox().unwrap().entries.is_empty(), "it is no provider's error");
}
