//! Plays turns: an event queue on a virtual clock around the real interpreter.

use std::{collections::HashMap, sync::Arc};

use super::{
    answers::Answers,
    error::PlayError,
    flight::{Call, Flight, Waits},
    line::{Line, Watch},
    queue::{Appointment, Queue},
    scenario::{Ask, Turn},
};
use crate::{
    run::{Event, Memory, Persisted, Report, Request, Routing, Run, Step},
    state::{
        store::Store,
        view::{View, ViewQuery},
    },
    table::Table,
    time::Timestamp,
};

/// A host on a virtual clock.
pub struct Player<'a> {
    pub(super) table: Arc<Table>,
    routing: Arc<Routing>,
    pub(super) store: &'a dyn Store,
    pub(super) memory: Memory,
    start: Timestamp,
    pub(super) now: Timestamp,
    seed: u64,
    /// Number of runs so far.
    runs: u64,
    pub(super) flights: Vec<Option<Flight>>,
    free: Vec<usize>,
    queue: Queue,
    sessions: HashMap<String, Arc<str>>,
}

impl<'a> Player<'a> {
    /// A host whose clock stands at `start`. The same seed gives the same runs; it only matters to
    /// schedules with jitter.
    #[must_use]
    pub fn new(
        table: Arc<Table>,
        routing: Arc<Routing>,
        store: &'a dyn Store,
        start: Timestamp,
        seed: u64,
    ) -> Self {
        Self {
            table,
            routing,
            store,
            memory: Memory::new(),
            start,
            now: start,
            seed,
            runs: 0,
            flights: Vec::new(),
            free: Vec::new(),
            queue: Queue::default(),
            sessions: HashMap::new(),
        }
    }

    /// Plays turns, which come in order of time, to the end of the last run. Turns start whether or
    /// not other runs are in flight; at one instant, what was under way goes first. Can be called
    /// again: the clock goes on.
    ///
    /// # Errors
    /// [`PlayError`] when the state cannot be read.
    pub fn play(
        &mut self,
        turns: impl IntoIterator<Item = Turn>,
        answers: &mut dyn Answers,
        watch: &mut dyn Watch,
    ) -> Result<(), PlayError> {
        let mut turns = turns.into_iter().peekable();
        loop {
            let turn_at = turns.peek().map(|turn| self.start.after(turn.at));
            match (self.queue.next_at(), turn_at) {
                (Some(due), at) if at.is_none_or(|at| due <= at) => self.keep(answers, watch)?,
                (_, Some(at)) => {
                    self.now = self.now.max(at);
                    if let Some(turn) = turns.next() {
                        watch.turn(&turn);
                        self.act(turn, answers, watch)?;
                    }
                }
                (_, None) => return Ok(()),
            }
        }
    }

    /// Keeps the next appointment.
    fn keep(&mut self, answers: &mut dyn Answers, watch: &mut dyn Watch) -> Result<(), PlayError> {
        let Some((at, Appointment { place, ticket })) = self.queue.pop() else { return Ok(()) };
        let Some(flight) = self.flights.get_mut(place).and_then(Option::as_mut) else { return Ok(()) };
        if flight.waits.ticket() != Some(ticket) {
            return Ok(());
        }
        self.now = self.now.max(at);
        match std::mem::replace(&mut flight.waits, Waits::Not) {
            Waits::Call { call, .. } => {
                flight.mends = call.mends();
                flight.run.report(call.report(self.now))?;
            }
            Waits::Pause { .. } => flight.run.report(Report::Waited)?,
            Waits::Not => {}
        }
        self.drive(place, answers, watch)
    }

    /// Starts a run.
    pub(super) fn ask(
        &mut self,
        session: String,
        ask: Ask,
        answers: &mut dyn Answers,
        watch: &mut dyn Watch,
    ) -> Result<(), PlayError> {
        self.runs += 1;
        let name = self.name(&session);
        let Ask { agent, kind, heartbeat, choice, .. } = ask;
        let request = Request { session: Some(session), agent, kind, choice, heartbeat };
        let seed = self.seed.wrapping_add(self.runs);
        let run = Run::new(request, Arc::clone(&self.table), Arc::clone(&self.routing), seed);
        let flight = Flight { run, session: name, number: self.runs, waits: Waits::Not, mends: false };
        let place = self.free.pop().unwrap_or_else(|| {
            self.flights.push(None);
            self.flights.len() - 1
        });
        if let Some(slot) = self.flights.get_mut(place) {
            *slot = Some(flight);
        }
        self.drive(place, answers, watch)
    }

    /// Lets a run go on until it waits or ends.
    pub(super) fn drive(
        &mut self,
        place: usize,
        answers: &mut dyn Answers,
        watch: &mut dyn Watch,
    ) -> Result<(), PlayError> {
        let Some(mut flight) = self.flights.get_mut(place).and_then(Option::take) else { return Ok(()) };
        if self.steps(&mut flight, place, answers, watch)? {
            if let Some(slot) = self.flights.get_mut(place) {
                *slot = Some(flight);
            }
        } else {
            self.free.push(place);
        }
        Ok(())
    }

    /// Whether the run is still in flight.
    fn steps(
        &mut self,
        flight: &mut Flight,
        place: usize,
        answers: &mut dyn Answers,
        watch: &mut dyn Watch,
    ) -> Result<bool, PlayError> {
        let mut view = self.view(&flight.session)?;
        loop {
            match flight.run.next(self.now, &view, &mut self.memory)? {
                Step::Event(event) => self.say(&flight.session, flight.number, event, watch),
                // The event of the notice has said it.
                Step::Notify(_) => {}
                Step::Persist(batch) => {
                    let applied = self.store.apply(&batch, self.now);
                    flight.run.report(Report::Persisted(Persisted::from(&applied)))?;
                    view = match applied {
                        Ok(applied) => applied.view,
                        Err(_) => self.view(&flight.session)?,
                    };
                }
                Step::Attempt(attempt) if attempt.repair => {
                    let mended = if flight.mends { Report::Repaired } else { Report::NotRepaired };
                    flight.run.report(mended)?;
                }
                Step::Attempt(attempt) => {
                    let reply = answers.answer(&attempt, self.now.since(self.start));
                    let (call, end) = Call::begin(attempt, reply, self.now);
                    if end > self.now {
                        let ticket = self.queue.make(end, place);
                        flight.waits = Waits::Call { ticket, call: Box::new(call) };
                        return Ok(true);
                    }
                    flight.mends = call.mends();
                    flight.run.report(call.report(self.now))?;
                    view = self.view(&flight.session)?;
                }
                Step::Wait(span) => {
                    let ticket = self.queue.make(self.now.after(span), place);
                    flight.waits = Waits::Pause { ticket };
                    return Ok(true);
                }
                Step::Done(_) | Step::Surface(_) | Step::Exhausted(_) | Step::Switch(_) => return Ok(false),
            }
        }
    }

    pub(super) fn view(&self, session: &str) -> Result<View, PlayError> {
        Ok(self.store.view(&ViewQuery { session: Some(session) }, self.now)?)
    }

    pub(super) fn say(&self, session: &Arc<str>, run: u64, event: Event, watch: &mut dyn Watch) {
        let (at, session) = (self.now.since(self.start), Arc::clone(session));
        watch.line(Line { at, session, run, event: event.since(self.start) });
    }

    /// A session's name, shared by all its lines.
    pub(super) fn name(&mut self, session: &str) -> Arc<str> {
        if let Some(name) = self.sessions.get(session) {
            return Arc::clone(name);
        }
        let name: Arc<str> = session.into();
        self.sessions.insert(session.to_owned(), Arc::clone(&name));
        name
    }
}
