//! An engine on tokio's clock, and calls that answer by plan.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use pointsman::{
    host::{Attempt, AttemptError, Clock, Engine, Said},
    run::{Request, Routing},
    state::{memory::MemoryStore, model::Profile, store::Store},
    time::Timestamp,
};
use tokio::{sync::mpsc, time::Instant};

use crate::support::lab;

/// Counts from [`lab::START`] with tokio's own, paused clock.
pub struct TokioClock(Instant);

impl TokioClock {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        lab::START.after(self.0.elapsed())
    }
}

/// An engine over `acme/a`, then `other/b`, with two keys of acme and one of other.
pub struct Bench {
    pub engine: Engine,
    pub said: mpsc::UnboundedReceiver<Said>,
    pub calls: Calls,
}

/// What was called, in order.
#[derive(Clone, Default)]
pub struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    pub fn note(&self, attempt: &Attempt) {
        let profile = attempt.profile.as_ref().map_or("nobody", |profile| profile.0.as_str());
        let mended = if attempt.repaired { " repaired" } else { "" };
        self.0.lock().unwrap().push(format!("{}/{} {profile}{mended}", attempt.provider, attempt.model));
    }

    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

pub fn routing() -> Routing {
    Routing { model: lab::list("acme/a", Some(&["other/b"])), ..Routing::default() }
}

pub fn fill(store: &dyn Store) {
    for id in ["acme:x", "acme:y", "other:z"] {
        store.put_profile(&Profile::api_key(id, &format!("planted-key-of-{id}"))).unwrap();
    }
}

pub fn bench() -> Bench {
    let store = MemoryStore::new();
    fill(&store);
    over(Arc::new(store))
}

pub fn over(store: Arc<dyn Store>) -> Bench {
    with(lab::table(""), store)
}

pub fn with(table: Arc<pointsman::table::Table>, store: Arc<dyn Store>) -> Bench {
    let (tell, said) = mpsc::unbounded_channel();
    let engine = Engine::new(table, Arc::new(routing()), store)
        .with_clock(TokioClock::new())
        .with_listener(Arc::new(tell));
    Bench { engine, said, calls: Calls::default() }
}

impl Bench {
    /// Names of the events that were said until now.
    pub fn events(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        while let Ok(said) = self.said.try_recv() {
            match said {
                Said::Event(_, event) => {
                    let event = serde_json::to_value(event).unwrap();
                    names.push(event["event"].as_str().unwrap_or("decision").to_owned());
                }
                Said::Notice(_, notice) => names.push(notice.text),
            }
        }
        names
    }
}

pub fn request() -> Request {
    lab::request("s")
}

/// Fails with the bucket behind this code.
#[expect(clippy::result_large_err, reason = "what a host's call returns")]
pub fn fails<T>(code: &str) -> Result<T, AttemptError> {
    Err(AttemptError::message(format!("{code} happened")).code(code))
}

pub async fn hang<T>() -> T {
    std::future::pending().await
}

pub fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
