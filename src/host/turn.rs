//! One turn under tokio: the loop over [`crate::run::Run::next`] and [`crate::run::Run::report`].

use std::{
    future::{pending, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use secrecy::SecretString;
use tokio::time::{error::Elapsed, sleep, timeout};

use super::{
    attempt::Attempt,
    credentials::{Keys, Resolved, direct, stored},
    engine::Engine,
    error::AttemptError,
    handle::Handle,
    notes::{Noted, Notes},
    outcome::{Outcome, RunError},
    redact::redact,
    trace,
};
use crate::{
    run::{self, Event, Failed, Interrupt, Notice, OutOfTurn, Persisted, Refreshed, Report, Request, Step},
    signal::{Aborted, Signal},
    state::{change::Change, view::View},
    table::Table,
    time::Timestamp,
};

type Mender<'a> = Box<dyn FnMut(Signal) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> + Send + 'a>;

/// A turn that has not begun (A).
pub struct Turn<'a> {
    engine: &'a Engine,
    request: Request,
    handle: Option<Handle>,
    mend: Option<Mender<'a>>,
}

/// What came of a call.
enum Called<T> {
    Answered(T, Option<Refreshed>),
    Failed(Box<Failed>),
    /// There was no call, and why (C8).
    NoSecret(String),
    /// The handle broke in, and the run is to know.
    Interrupted,
}

impl<'a> Turn<'a> {
    pub(super) fn new(engine: &'a Engine, request: Request) -> Self {
        Self { engine, request, handle: None, mend: None }
    }

    /// The same with a handle that can break in (H4).
    #[must_use]
    pub fn handle(mut self, handle: &Handle) -> Self {
        self.handle = Some(handle.clone());
        self
    }

    /// The same with a way to mend the payload after a format error (D9): gets the error, says
    /// whether the payload is mended now. The next attempt has `repaired` set.
    #[must_use]
    pub fn mend_with<F, Fut>(mut self, mut mend: F) -> Self
    where
        F: FnMut(Signal) -> Fut + Send + 'a,
        Fut: Future<Output = bool> + Send + 'a,
    {
        self.mend = Some(Box::new(move |signal| Box::pin(mend(signal))));
        self
    }

    /// Runs the turn; see [`Engine::run`].
    ///
    /// # Errors
    /// [`RunError`] when nothing answered.
    pub async fn run<T, F, Fut>(self, mut call: F) -> Result<Outcome<T>, RunError>
    where
        F: FnMut(Attempt) -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let Self { engine, request, handle, mut mend } = self;
        let session = request.session.clone();
        let driver = Driver { engine, session: session.as_deref(), handle: handle.as_ref() };
        let (mut view, mut now) = driver.first_view().await?;
        let (mut run, table) = engine.begin(request);
        let (mut answer, mut failure, mut repaired) = (None, None::<Box<Signal>>, false);
        let mut notices: Vec<Notice> = Vec::new();
        let mut held = Held::default();
        loop {
            if let Some(interrupt) = driver.interrupt() {
                run.interrupt(interrupt)?;
            }
            let report = match engine.next(&mut run, now, &view)? {
                Step::Event(event) => {
                    driver.say(&event);
                    continue;
                }
                Step::Notify(notice) => {
                    driver.notify(&notice);
                    notices.push(notice);
                    continue;
                }
                Step::Persist(batch) => {
                    // Nobody holds the profiles meanwhile, so the store need not copy what it changes.
                    let View { session, profiles, .. } = view;
                    drop(profiles);
                    let with_secret =
                        batch.changes.iter().any(|change| matches!(change, Change::NewSecret(_)));
                    let (applied, stored) = engine.keeper.apply_at(batch, now, &engine.clock).await;
                    now = stored;
                    if let Some(noted) = held.noted.take_if(|_| with_secret) {
                        noted.stored();
                    }
                    let persisted = Persisted::from(&applied);
                    view = if let Ok(applied) = applied {
                        driver.say_trouble();
                        applied.view
                    } else {
                        let last = View { session, ..engine.keeper.last_known().unwrap_or_default() };
                        driver.next_view(last).await.0
                    };
                    Report::Persisted(persisted)
                }
                Step::Wait(span) => tokio::select! {
                    biased;
                    () = sleep(span) => {
                        now = engine.now();
                        Report::Waited
                    }
                    () = driver.come() => {
                        now = engine.now();
                        continue;
                    }
                },
                Step::Attempt(step) if step.repair => tokio::select! {
                    biased;
                    mended = within(driver.left(&step), mended(&mut mend, failure.take())) => {
                        let mended = mended.unwrap_or(false);
                        repaired = mended;
                        now = engine.now();
                        if mended { Report::Repaired } else { Report::NotRepaired }
                    }
                    () = driver.come() => {
                        now = engine.now();
                        continue;
                    }
                },
                Step::Attempt(step) => {
                    let repaired = std::mem::take(&mut repaired);
                    let called = driver.attempt(&step, repaired, &view, &mut held, &mut call).await;
                    (view, now) = driver.next_view(view).await;
                    match called {
                        Called::Answered(given, new_secret) => {
                            answer = Some(given);
                            Report::Answered { new_secret }
                        }
                        Called::Failed(failed) => {
                            driver.record(&table, &step, &failed).await;
                            failure = mend.is_some().then(|| Box::new(failed.signal.clone()));
                            Report::Failed(failed)
                        }
                        Called::NoSecret(why) => Report::NoSecret { why },
                        Called::Interrupted => continue,
                    }
                }
                Step::Done(done) => {
                    let answer = answer.take().ok_or(OutOfTurn::Ended)?;
                    return Ok(Outcome { answer, done: *done, notices });
                }
                Step::Surface(surface) => return Err(RunError::Surfaced(surface)),
                Step::Exhausted(summary) => return Err(RunError::Exhausted(summary)),
                Step::Switch(to) => return Err(RunError::Switched(to)),
            };
            run.report(report)?;
        }
    }
}

/// What a turn holds of its calls.
#[derive(Default)]
struct Held {
    /// What the host said of the last one; a new secret stays in it until the store has it.
    noted: Option<Noted>,
    /// The keys of those that have not answered: an error may name any of them (J6).
    keys: Vec<Keys>,
    /// Those that they were refreshed to.
    new: Vec<SecretString>,
}

impl Held {
    fn used(&mut self, keys: Keys, new: Option<&Refreshed>) {
        self.keys.push(keys);
        let new = new.into_iter().flat_map(|new| [Some(&new.secret), new.refresh.as_ref()]);
        self.new.extend(new.flatten().filter_map(direct).cloned());
    }

    fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        self.keys.iter().flat_map(Keys::all).chain(&self.new)
    }
}

/// What the steps of one turn need.
#[derive(Clone, Copy)]
struct Driver<'a> {
    engine: &'a Engine,
    session: Option<&'a str>,
    handle: Option<&'a Handle>,
}

impl Driver<'_> {
    /// The state at the start: as it is, else as it was last known, which is said.
    async fn first_view(self) -> Result<(View, Timestamp), RunError> {
        let Self { engine, session, .. } = self;
        match engine.keeper.view(session, &engine.clock).await {
            Ok(seen) => {
                self.say_trouble();
                Ok(seen)
            }
            Err(error) => match engine.keeper.last_known() {
                Some(last) => {
                    self.unavailable(error.to_string());
                    Ok((last, engine.now()))
                }
                None => Err(RunError::State(error)),
            },
        }
    }

    /// The state after a call: somebody may have changed it meanwhile (K2).
    async fn next_view(self, last: View) -> (View, Timestamp) {
        match self.engine.keeper.view(self.session, &self.engine.clock).await {
            Ok(seen) => seen,
            Err(error) => {
                self.unavailable(error.to_string());
                (last, self.engine.now())
            }
        }
    }

    /// What has broken in.
    fn interrupt(self) -> Option<Interrupt> {
        self.handle.and_then(Handle::take)
    }

    /// Waits until something breaks in.
    async fn come(self) {
        match self.handle {
            Some(handle) => handle.come().await,
            None => pending().await,
        }
    }

    /// How much of the budget's time is left for a step (H6).
    fn left(self, step: &run::Attempt) -> Option<Duration> {
        step.deadline.map(|deadline| deadline.since(self.engine.now()))
    }

    /// Makes a call, with the deadline and the handle to cut it off.
    async fn attempt<T, F, Fut>(
        self,
        step: &run::Attempt,
        repaired: bool,
        view: &View,
        held: &mut Held,
        call: &mut F,
    ) -> Called<T>
    where
        F: FnMut(Attempt) -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let engine = self.engine;
        let resolved = match &step.profile {
            None => Resolved::default(),
            Some(id) => {
                let mut find = pin!(engine.credentials.of(id, step.refresh_first, view, &engine.keeper));
                // Mostly it is at hand, and needs no timer.
                let found = match poll_fn(|context| Poll::Ready(find.as_mut().poll(context))).await {
                    Poll::Ready(found) => Ok(found),
                    Poll::Pending => tokio::select! {
                        biased;
                        found = within(self.left(step), find) => found,
                        () = self.come() => return Called::Interrupted,
                    },
                };
                match found {
                    Ok(Ok(resolved)) => resolved,
                    Ok(Err(why)) => return Called::NoSecret(why),
                    Err(_) => {
                        return Called::NoSecret("it did not come before the run's time was up".to_owned());
                    }
                }
            }
        };
        let keys = resolved.keys();
        let noted = held.noted.insert(Noted::new(step.profile.as_ref(), engine));
        let attempt = Attempt::new(step, resolved, repaired, noted.clone());
        let ended = tokio::select! {
            biased;
            ended = within(self.left(step), call(attempt)) => Some(ended),
            () = self.come() => None,
        };
        let Notes { new_secret, delivered } = noted.look();
        if !matches!(ended, Some(Ok(Ok(_)))) {
            held.used(keys, new_secret.as_ref());
        }
        let error = match ended {
            Some(Ok(Ok(answer))) => return Called::Answered(answer, new_secret),
            Some(Ok(Err(error))) => error,
            Some(Err(_)) => AttemptError::new().aborted(Aborted::Deadline),
            // What has been shown must not be said twice (H5), whoever breaks in.
            None if delivered || new_secret.is_some() => match self.interrupt() {
                Some(Interrupt::Abort(by)) => AttemptError::new().aborted(by),
                _ => AttemptError::new().aborted(Aborted::Host),
            },
            None => return Called::Interrupted,
        };
        let mut failed = Failed::from(error);
        failed.partial |= delivered;
        let others = engine.credentials.used();
        redact(&mut failed.signal, held.secrets(), others.iter().flat_map(stored));
        failed.new_secret = new_secret;
        Called::Failed(Box::new(failed))
    }

    /// Notes what the rules make of a failure.
    async fn record(self, table: &Table, step: &run::Attempt, failed: &Failed) {
        let mut signal = failed.signal.as_ref();
        signal.provider = signal.provider.or(Some(&step.candidate.provider));
        signal.model = signal.model.or(Some(&step.candidate.model));
        signal.aborted = signal.aborted.or(failed.aborted);
        self.engine.record(table, &signal).await;
    }

    /// Says so while the state is kept in memory only.
    fn say_trouble(self) {
        if let Some(why) = self.engine.keeper.trouble() {
            self.unavailable(why);
        }
    }

    fn unavailable(self, why: String) {
        self.say(&Event::StoreUnavailable { why, secret_lost: false });
    }

    fn say(self, event: &Event) {
        trace::event(self.session, event);
        if let Some(listener) = &self.engine.listener {
            listener.event(self.session, event);
        }
    }

    fn notify(self, notice: &Notice) {
        if let Some(listener) = &self.engine.listener {
            listener.notice(self.session, notice);
        }
    }
}

async fn mended(mend: &mut Option<Mender<'_>>, failure: Option<Box<Signal>>) -> bool {
    match mend {
        Some(mend) => mend(failure.map(|failure| *failure).unwrap_or_default()).await,
        None => false,
    }
}

async fn within<F: Future>(left: Option<Duration>, call: F) -> Result<F::Output, Elapsed> {
    match left {
        Some(left) => timeout(left, call).await,
        None => Ok(call.await),
    }
}
