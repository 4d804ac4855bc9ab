//! Runs side by side on one store, under any policy, clock, failures and other hands; what holds of each of
//! them. Taken by the property tests and by the fuzz target `run`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail so")]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use pointsman::{
    classify::Scratch,
    run::*,
    signal::{Aborted, Signal},
    state::{
        change::{Batch, Change},
        memory::MemoryStore,
        model::{Secret, Session},
        store::{Store, StoreError},
        view::{View, ViewQuery},
    },
    table::Table,
    time::Timestamp,
};

use self::{
    choices::Choices,
    rows::Rows,
    watch::{Failure, Watch},
};
use super::lab::{START, failure, list, model};

#[path = "plan/choices.rs"]
mod choices;
#[path = "plan/hands.rs"]
mod hands;
#[path = "plan/policy.rs"]
mod policy;
#[path = "plan/rows.rs"]
mod rows;
#[path = "plan/watch.rs"]
mod watch;

/// Four providers, two of them with several models.
const MODELS: [&str; 8] = ["p0/a", "p0/b", "p0/c", "p1/a", "p1/b", "p1/c", "p2/a", "p3/a"];

/// A run takes fewer steps than this, whatever happens.
const MOST_STEPS: usize = 1_000;

/// Plays what the bytes say, checks every step, and gives all of them.
pub fn play(bytes: &[u8]) -> Vec<String> {
    let mut from = Choices::new(bytes);
    let table = policy::compile(&policy::write(&mut from));
    let mut world = World::open(table, &mut from);
    world.play(&mut from);
    std::mem::take(&mut world.steps)
}

/// Hosts that share a store, and everything that happens to it.
struct World {
    table: Arc<Table>,
    routing: Routing,
    store: MemoryStore,
    memory: Memory,
    now: Timestamp,
    /// So many times the store will refuse to write.
    broken: usize,
    flights: Vec<Flight>,
    begun: u64,
    /// When a primary was last probed, by provider and throttled bucket (I2, I3).
    probes: BTreeMap<(String, Option<String>), Timestamp>,
    scratch: Scratch,
    steps: Vec<String>,
}

/// A run under way.
struct Flight {
    name: String,
    request: Request,
    run: Run,
    view: View,
    doing: Doing,
    steps: usize,
    watch: Watch,
}

enum Doing {
    Next,
    Calling(Attempt),
    Ended,
}

/// Says how it came to a failure.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            #[expect(clippy::print_stderr, reason = "a test says how it failed")]
            {
                eprintln!("{:#?}", self.last_steps());
            }
        }
    }
}

impl World {
    fn open(table: Arc<Table>, from: &mut Choices<'_>) -> Self {
        let world = Self {
            table,
            routing: routing(from),
            store: MemoryStore::new(),
            memory: Memory::new(),
            now: START,
            broken: 0,
            flights: vec![],
            begun: 0,
            probes: BTreeMap::new(),
            scratch: Scratch::default(),
            steps: vec![],
        };
        for provider in 0..4 {
            for name in 0..[2, 1, 3, 4, 2, 1, 0][from.below(7)] {
                world.store_profile(&format!("p{provider}:{name}"), from);
            }
        }
        world
    }

    fn play(&mut self, from: &mut Choices<'_>) {
        let mut turns = 1 + from.below(12);
        loop {
            if turns > 0 && (self.flights.is_empty() || (self.flights.len() < 3 && from.one_in(6))) {
                turns -= 1;
                self.begin(from);
            }
            if self.flights.is_empty() {
                return;
            }
            if from.one_in(10) {
                self.meddle(from);
            }
            if from.one_in(7) {
                self.move_clock(from);
            }
            let at = from.below(self.flights.len());
            let mut flight = self.flights.swap_remove(at);
            flight.steps += 1;
            assert!(flight.steps < MOST_STEPS, "the run does not end: {:#?}", self.last_steps());
            self.advance(&mut flight, from);
            if !matches!(flight.doing, Doing::Ended) {
                self.flights.push(flight);
            }
        }
    }

    fn last_steps(&self) -> Vec<&String> {
        self.steps.iter().skip(self.steps.len().saturating_sub(20)).collect()
    }

    /// Mostly seconds go by; at times the clock leaps or goes back.
    fn move_clock(&mut self, from: &mut Choices<'_>) {
        let seconds = from.wide();
        self.now = match from.below(16) {
            0..8 => self.now.after(Duration::from_secs(seconds % 60)),
            8..12 => self.now.after(Duration::from_secs(seconds % 4_000)),
            12 => self.now.after(Duration::from_secs(seconds * 2)),
            13 => self.now.after(Duration::from_hours(24 * 366)),
            14 => self.now.before(Duration::from_secs(seconds % 4_000)),
            _ => self.now.before(Duration::from_hours(seconds % 10_000)),
        };
    }

    fn begin(&mut self, from: &mut Choices<'_>) {
        let request = request(from);
        let name = format!("#{} {:?}", self.begun, request.session);
        self.begun += 1;
        let run =
            Run::new(request.clone(), Arc::clone(&self.table), Arc::new(self.routing.clone()), self.begun);
        let view = self.view(request.session.as_deref());
        let watch = Watch::new(&self.table, &self.routing, &request, &view.session);
        let mut flight = Flight { name, request, run, view, doing: Doing::Next, steps: 0, watch };
        // Two runs of one session write over each other as they may; each alone is looked at whole.
        for other in &mut self.flights {
            if other.request.session == flight.request.session {
                other.watch.alone = None;
                flight.watch.alone = None;
            }
        }
        self.flights.push(flight);
    }

    fn view(&self, session: Option<&str>) -> View {
        self.store.view(&ViewQuery { session }, self.now).unwrap()
    }

    fn advance(&mut self, flight: &mut Flight, from: &mut Choices<'_>) {
        match std::mem::replace(&mut flight.doing, Doing::Next) {
            Doing::Calling(attempt) if attempt.repair => {
                let mended = from.one_in(2);
                flight.watch.mended = mended;
                let report = if mended { Report::Repaired } else { Report::NotRepaired };
                flight.run.report(report).unwrap();
            }
            Doing::Calling(attempt) => self.end_call(flight, &attempt, from),
            Doing::Next | Doing::Ended => self.next(flight),
        }
    }

    /// Takes steps up to the first that takes time.
    fn next(&mut self, flight: &mut Flight) {
        for _ in 0..MOST_STEPS {
            let step = flight.run.next(self.now, &flight.view, &mut self.memory).unwrap();
            self.steps.push(format!("{} {} {step:?}", self.now.as_millis(), flight.name));
            match step {
                Step::Event(_) | Step::Notify(_) => continue,
                Step::Persist(batch) => self.persist(flight, &batch),
                Step::Wait(span) => {
                    self.now = self.now.after(span);
                    flight.run.report(Report::Waited).unwrap();
                }
                Step::Attempt(attempt) => {
                    self.check_attempt(flight, &attempt);
                    flight.doing = Doing::Calling(attempt);
                }
                end => self.end(flight, &end),
            }
            return;
        }
        panic!("events without an end: {:#?}", self.last_steps());
    }

    fn persist(&mut self, flight: &mut Flight, batch: &Batch) {
        if self.broken > 0 {
            self.broken -= 1;
            // What was written cannot be undone.
            flight.watch.alone = None;
            flight.watch.unstored = true;
            let error = StoreError::Locked { path: "state.sqlite".into() };
            flight.run.report(Report::Persisted(Persisted::from(&Err(error)))).unwrap();
            return;
        }
        let before = Rows::of(&self.store);
        let applied = self.store.apply(batch, self.now);
        let after = Rows::of(&self.store);
        flight.run.report(Report::Persisted(Persisted::from(&applied))).unwrap();
        let applied = applied.unwrap();
        assert_eq!(batch.session, flight.request.session);
        rows::check(&before, &after, batch, applied.conflict, self.now);
        if !applied.conflict {
            flight.watch.wrote(batch);
        }
        flight.view = applied.view;
    }

    fn end_call(&mut self, flight: &mut Flight, attempt: &Attempt, from: &mut Choices<'_>) {
        let takes = if from.one_in(4) { from.wide() % 100 } else { 0 };
        self.now = self.now.after(Duration::from_secs(takes));
        let outcome = from.below(24);
        let report = match outcome {
            0..5 => Report::Answered { new_secret: None },
            5 => Report::Answered { new_secret: Some(self.refreshed()) },
            6 => {
                self.no_secret(flight, attempt);
                Report::NoSecret { why: "it is not there".to_owned() }
            }
            7 => {
                flight.watch.aborted = true;
                flight.run.interrupt(Interrupt::Abort(Aborted::User)).unwrap();
                return;
            }
            8 => {
                flight.watch.switched();
                let to = model(from.pick(&MODELS));
                flight.run.interrupt(Interrupt::Switch { to, by_user: from.one_in(2) }).unwrap();
                return;
            }
            _ => {
                let mut signal = failure(&policy::code(from.below(policy::UNKNOWN + 1)));
                if from.one_in(4) {
                    signal.headers = vec![("retry-after".to_owned(), (from.wide() * 3).to_string())];
                }
                let partial = outcome == 9;
                self.note_failure(flight, attempt, &signal, partial);
                let new_secret = from.one_in(8).then(|| self.refreshed());
                Report::Failed(Box::new(Failed { signal, partial, new_secret, ..Failed::default() }))
            }
        };
        flight.run.report(report).unwrap();
        flight.view = self.view(flight.request.session.as_deref());
    }

    fn refreshed(&self) -> Refreshed {
        let secret = Secret::Direct("planted-fresh".to_owned().into());
        Refreshed { secret, refresh: None, expires: Some(self.now.after(Duration::from_hours(1))) }
    }

    fn note_failure(&mut self, flight: &mut Flight, attempt: &Attempt, signal: &Signal, partial: bool) {
        let mut signal = signal.as_ref();
        signal.provider = Some(&attempt.candidate.provider);
        signal.model = Some(&attempt.candidate.model);
        signal.received_at = Some(self.now);
        let verdict = self.table.classify(&signal, &mut self.scratch);
        let reaction = self.table.reaction(&verdict);
        flight.watch.failed(Failure {
            candidate: attempt.candidate.clone(),
            rotate: reaction.rotate.node.is_some(),
            retry: reaction.retry_if_repaired.node,
            end: reaction.end.node,
            partial,
            keeps_slot: self.table.bucket(verdict.bucket).traits.keeps_probe_slot,
        });
    }

    fn end(&mut self, flight: &mut Flight, end: &Step) {
        flight.doing = Doing::Ended;
        let over = flight.run.next(self.now, &flight.view, &mut Memory::new());
        assert_eq!(over.unwrap_err(), OutOfTurn::Ended);
        if flight.watch.aborted {
            assert!(matches!(end, Step::Surface(_)), "d11: {end:?}");
        }
        let Some(session) = &flight.request.session else { return };
        if !matches!(end, Step::Done(_)) {
            flight.watch.check_undone(&self.session(session));
        }
    }

    fn session(&self, session: &str) -> Session {
        Rows::of(&self.store).sessions.remove(session).unwrap_or_default()
    }

    /// Somebody else changes the session.
    fn change(&mut self, session: &str, change: Change) {
        for flight in &mut self.flights {
            if flight.request.session.as_deref() == Some(session) {
                flight.watch.meddled(&change);
            }
        }
        let batch = Batch { session: Some(session.to_owned()), changes: vec![change] };
        assert!(!self.store.apply(&batch, self.now).unwrap().conflict);
    }
}

fn routing(from: &mut Choices<'_>) -> Routing {
    let models = |from: &mut Choices<'_>| from.many(0, 5, |from| from.pick(&MODELS));
    let (primary, fallbacks) = (from.pick(&MODELS), models(from));
    let mut routing = Routing { model: list(primary, Some(&fallbacks)), ..Routing::default() };
    let own = models(from);
    let agent = AgentRouting {
        model: list(from.pick(&MODELS), from.one_in(2).then_some(&*own)),
        heartbeat: from.one_in(3).then(|| model(from.pick(&MODELS))),
        ..AgentRouting::default()
    };
    routing.agents.insert("x".to_owned(), agent);
    routing.image = list(from.pick(&MODELS), Some(&own));
    if from.one_in(8) {
        routing.no_credentials.insert("p3".to_owned());
    }
    routing
}

fn request(from: &mut Choices<'_>) -> Request {
    let session =
        [Some("s"), Some("s"), Some("s"), Some("t"), Some("t"), None][from.below(6)].map(str::to_owned);
    let mut request = Request { session, ..Request::default() };
    request.agent = from.one_in(4).then(|| "x".to_owned());
    request.heartbeat = from.one_in(8);
    if from.one_in(10) {
        request.kind = Kind::Image;
    }
    if from.one_in(6) {
        use pointsman::lang::policy::SelectionSource::{Agent, Cron, Default, User};
        let own = from.many(0, 4, |from| model(from.pick(&MODELS)));
        request.choice = Some(Choice {
            candidate: model(from.pick(&MODELS)),
            source: [Cron, User, Default, Agent][from.below(4)],
            fallbacks: from.one_in(2).then_some(own),
        });
    }
    request
}
