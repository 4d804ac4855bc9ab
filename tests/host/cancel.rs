//! A dropped turn leaves the store as after the last batch that the store had begun.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use pointsman::{
    host::{Attempt, Engine},
    state::{
        change::{Change, Release},
        memory::MemoryStore,
    },
};

use super::support::*;
use crate::support::{hand_on::*, lab};

/// Long enough that the turn has to wait for the store each time.
const PAUSE: Duration = Duration::from_millis(2);

/// A store that always blocks, and remembers how it looked after each batch.
#[derive(Default)]
struct Slow {
    inner: MemoryStore,
    after: Mutex<Vec<String>>,
}

impl Slow {
    fn look(&self) -> String {
        let view = self.inner.view(&ViewQuery { session: Some("s") }, lab::START).unwrap();
        format!(
            "{:?} {:?}",
            view.profiles.iter().map(|profile| &profile.usage).collect::<Vec<_>>(),
            view.session
        )
    }
}

impl Store for Slow {
    fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError> {
        std::thread::sleep(PAUSE);
        self.inner.view(query, now)
    }
    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
        std::thread::sleep(PAUSE);
        let mut after = self.after.lock().unwrap();
        let applied = self.inner.apply(batch, now);
        after.push(self.look());
        applied
    }
    fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, StoreError> {
        std::thread::sleep(PAUSE);
        self.inner.profile(id)
    }

    hand_on! { put_profile remove_profile sessions flush => inner }
}

/// Polls a future until it has waited `left` times, then gives up.
struct Cut<F> {
    inner: Pin<Box<F>>,
    left: usize,
}

impl<F: Future> Future for Cut<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.inner.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.left == 0 => Poll::Ready(None),
            Poll::Pending => {
                self.left -= 1;
                Poll::Pending
            }
        }
    }
}

struct Still;

impl pointsman::host::Clock for Still {
    fn now(&self) -> Timestamp {
        lab::START
    }
}

fn engine() -> (Engine, Arc<Slow>) {
    let store = Arc::new(Slow::default());
    fill(&*store);
    let engine = Engine::new(lab::table(""), Arc::new(routing()), Arc::clone(&store) as _);
    (engine.with_clock(Arc::new(Still)), store)
}

async fn turn(engine: &Engine) -> bool {
    let attempt = |attempt: Attempt| async move {
        tokio::task::yield_now().await;
        let answer = if attempt.provider == "acme" { fails("t_auth") } else { Ok(()) };
        tokio::task::yield_now().await;
        answer
    };
    engine.run(request(), attempt).await.is_ok()
}

#[tokio::test]
async fn a_turn_may_be_dropped_at_every_await() {
    let (whole, store) = engine();
    assert!(turn(&whole).await);
    let reference = store.after.lock().unwrap().clone();
    assert!(reference.len() >= 4, "two failures, a fallback with its pins, an answer: {reference:#?}");

    let mut points = 0;
    loop {
        let (engine, store) = engine();
        let done = Cut { inner: Box::pin(turn(&engine)), left: points }.await;
        // A batch that the store had begun is finished by its own thread; the next change waits for it.
        engine.change("other", Change::Compact { release: Release::AUTO }).await.unwrap();
        let mut applied = store.after.lock().unwrap().clone();
        applied.pop();
        let expected = reference.get(..applied.len()).unwrap_or_default();
        assert_eq!(applied, expected, "after {points} waits the store is as after one of its batches");
        assert!(turn(&engine).await, "the next turn is none the worse");
        if done.is_some() {
            break;
        }
        points += 1;
    }
    assert!(points > 10, "only {points} places to drop it");
}
