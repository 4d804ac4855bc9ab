//! Many runs at one store that takes its time.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pointsman::{
    host::Engine,
    state::{
        change::{Change, Release},
        memory::MemoryStore,
    },
};

use super::support::*;
use crate::support::{hand_on::*, lab};

/// A store that says how many batches came together, holds the first ones, and can break off.
struct Slow {
    inner: MemoryStore,
    groups: Mutex<Vec<usize>>,
    first: Barrier,
    breaks: AtomicBool,
}

impl Store for Slow {
    fn apply_all(&self, batches: &[Batch], now: Timestamp) -> Vec<Result<Applied, StoreError>> {
        assert!(!self.breaks.load(Ordering::SeqCst), "on purpose");
        let first = {
            let mut groups = self.groups.lock().unwrap();
            groups.push(batches.len());
            groups.len() == 1
        };
        if first {
            self.first.wait();
        }
        self.inner.apply_all(batches, now)
    }

    hand_on! { view apply put_profile remove_profile profile sessions flush => inner }
}

fn engine() -> (Engine, Arc<Slow>) {
    let store = Arc::new(Slow {
        inner: MemoryStore::new(),
        groups: Mutex::default(),
        first: Barrier::new(2),
        breaks: AtomicBool::new(false),
    });
    fill(&*store);
    (Engine::new(lab::table(""), Arc::new(routing()), Arc::clone(&store) as _), store)
}

const COMPACT: Change = Change::Compact { release: Release::AUTO };

#[tokio::test]
async fn batches_that_come_during_a_write_are_stored_together() {
    let (engine, store) = engine();
    let change = |n: usize| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.change(&format!("s{}", n % 2), COMPACT).await.unwrap() })
    };
    let first = change(0);
    while store.groups.lock().is_ok_and(|groups| groups.is_empty()) && !first.is_finished() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let others: Vec<_> = (1..100).map(change).collect();
    tokio::time::sleep(Duration::from_millis(20)).await;
    store.first.wait();
    for one in others {
        one.await.unwrap();
    }
    assert_eq!(*store.groups.lock().unwrap(), [1, 99]);
    let counts = store.sessions().unwrap().into_iter().map(|(_, session)| session.compaction_count);
    assert_eq!(counts.collect::<Vec<_>>(), [50, 50], "and each of them counts");
}

#[tokio::test]
async fn after_a_thread_broke_off_the_next_change_finds_the_place_free() {
    let (engine, store) = engine();
    store.groups.lock().unwrap().push(0);
    store.breaks.store(true, Ordering::SeqCst);
    assert!(engine.change("s", COMPACT).await.is_err());
    store.breaks.store(false, Ordering::SeqCst);
    // What the broken thread held of the memory for bad times cannot be trusted any more, which is said.
    let again = tokio::time::timeout(Duration::from_secs(20), engine.change("s", COMPACT)).await;
    assert!(matches!(again, Ok(Err(StoreError::Poisoned))), "{again:?}");
}
