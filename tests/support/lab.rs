//! A host on a virtual clock: plays turns against the real interpreter and the store in memory.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail so")]

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use pointsman::{
    lang::policy::{CredentialKind, SelectionSource},
    run::*,
    signal::Signal,
    state::{
        change::{Batch, Change, Expect},
        memory::MemoryStore,
        model::{Candidate, Override, Profile, ProfileId, Secret, Session, Usage},
        store::{Store, StoreError},
        view::ViewQuery,
    },
    table::{NoSettings, Table},
    time::Timestamp,
};
use serde_json::Value;

use super::rules;

/// When every lab opens.
pub const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// Codes that decide a bucket by themselves, so that these tests hang on no provider's phrase.
const CODES: &str = "
rule t_rate      -> rate_limit       when code is \"t_rate\"
rule t_over      -> overloaded       when code is \"t_over\"
rule t_time      -> timeout          when code is \"t_time\"
rule t_auth      -> auth             when code is \"t_auth\"
rule t_gone      -> auth_permanent   when code is \"t_gone\"
rule t_bill      -> billing          when code is \"t_bill\"
rule t_model     -> model_not_found  when code is \"t_model\"
rule t_session   -> session_expired  when code is \"t_session\"
rule t_format    -> format           when code is \"t_format\"
rule t_context   -> context_overflow when code is \"t_context\"
rule t_filter    -> content_filter   when code is \"t_filter\"
rule t_abort     -> abort            when code is \"t_abort\"
rule t_nodetails -> no_error_details when code is \"t_nodetails\"
rule t_odd       -> unclassified     when code is \"t_odd\"
use default
";

/// The shipped policy, decided by the codes `t_…`; `more` is appended.
pub fn table(more: &str) -> Arc<Table> {
    static PLAIN: OnceLock<Arc<Table>> = OnceLock::new();
    let make = |more: &str| compile(&format!("language 1\n{CODES}{more}\n"));
    if more.is_empty() { Arc::clone(PLAIN.get_or_init(|| make(""))) } else { make(more) }
}

/// Whether two providers share their profiles by the shipped rules (C2).
pub fn family(a: &str, b: &str) -> bool {
    table("").same_provider(a, b)
}

/// The shipped policy without the statements of `routing.rules` that begin so.
pub fn table_without(beginnings: &[&str]) -> Arc<Table> {
    let mut text = format!("language 1\n{}", CODES.replace("use default\n", ""));
    for (path, file) in rules::policy() {
        let kept = file.lines().filter(|line| {
            path != "policy/routing.rules" || !beginnings.iter().any(|begin| line.starts_with(begin))
        });
        text.extend(kept.flat_map(|line| [line, "\n"]));
    }
    compile(&text)
}

fn compile(text: &str) -> Arc<Table> {
    match rules::from_text(text) {
        Ok((rules, _)) => Arc::new(Table::compile(rules, &NoSettings).unwrap()),
        Err(error) => panic!("{:#?}", error.diagnostics),
    }
}

/// A failure that is of the bucket behind this code.
pub fn failure(code: &str) -> Signal {
    Signal { code: Some(code.into()), message: Some(format!("{code} happened")), ..Signal::default() }
}

/// `provider/model`.
pub fn model(full: &str) -> Candidate {
    let (provider, model) = full.split_once('/').unwrap();
    Candidate { provider: provider.into(), model: model.into() }
}

pub fn models(all: &[&str]) -> Vec<Candidate> {
    all.iter().map(|full| model(full)).collect()
}

pub fn list(primary: &str, fallbacks: Option<&[&str]>) -> ModelList {
    ModelList { primary: Some(model(primary)), fallbacks: fallbacks.map(models) }
}

pub fn id(profile: &str) -> ProfileId {
    ProfileId(profile.into())
}

/// What a call gets.
pub enum Reply {
    Ok,
    Fail(Signal),
    Partial(Signal),
    /// There is no call, for want of the profile's secret.
    NoSecret,
    /// The refreshed access token comes back with the answer.
    Refreshed(&'static str),
    /// The same, and the call fails.
    RefreshedAndFailed(&'static str),
    /// Something happens while the call is under way; it is cut off.
    Interrupt(Interrupt),
}

/// Fails with the bucket behind this code.
pub fn fails(code: &str) -> Reply {
    Reply::Fail(failure(code))
}

/// One turn, as it went.
pub struct Turn {
    pub end: Step,
    /// Events in JSON, with `atMs` and times from the start of the lab.
    pub events: Vec<Value>,
    pub batches: Vec<Batch>,
    pub attempts: Vec<Attempt>,
    pub notices: Vec<Notice>,
    /// Every step, for comparing runs.
    pub steps: Vec<String>,
}

impl Turn {
    /// `provider/model profile`, one for each call.
    pub fn calls(&self) -> Vec<String> {
        let name = |attempt: &Attempt| {
            let Attempt { candidate, profile, probe, repair, .. } = attempt;
            let called = format!("{}/{}", candidate.provider, candidate.model);
            let profile = profile.iter().map(|profile| profile.0.to_string());
            let probe = probe.iter().map(|probe| format!("{probe:?}").to_lowercase());
            let repair = repair.then(|| "repair".to_owned());
            let words: Vec<String> = [called].into_iter().chain(profile).chain(probe).chain(repair).collect();
            words.join(" ")
        };
        self.attempts.iter().map(name).collect()
    }

    pub fn of(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == kind).collect()
    }

    /// Names of the events, in order.
    pub fn names(&self) -> Vec<&str> {
        self.events.iter().map(|event| event["event"].as_str().unwrap()).collect()
    }

    pub fn skipped(&self) -> Vec<String> {
        let name =
            |e: &&Value| format!("{}/{} {}", text(&e["provider"]), text(&e["model"]), text(&e["reason"]));
        self.of("skipped").iter().map(name).collect()
    }

    pub fn answered(&self) -> &Done {
        match &self.end {
            Step::Done(done) => done,
            other => panic!("not answered: {other:#?}"),
        }
    }

    pub fn surfaced(&self) -> &Surface {
        match &self.end {
            Step::Surface(surface) => surface,
            other => panic!("not surfaced: {other:#?}"),
        }
    }

    pub fn exhausted(&self) -> &Summary {
        match &self.end {
            Step::Exhausted(summary) => summary,
            other => panic!("not exhausted: {other:#?}"),
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

type Meddler = Box<dyn FnMut(&dyn Store, Timestamp)>;

type Answerer<'a> = dyn FnMut(&Attempt, &Lab) -> Reply + 'a;

/// A host, its config and its state.
pub struct Lab {
    pub table: Arc<Table>,
    pub routing: Arc<Routing>,
    pub store: Box<dyn Store>,
    pub memory: Memory,
    pub now: Timestamp,
    pub seed: u64,
    /// How long each call takes.
    pub takes: Duration,
    /// The store refuses to write.
    pub broken: bool,
    /// What the host can mend.
    pub mends: bool,
    /// Done after each batch is stored, once.
    pub after_persist: Option<Meddler>,
}

impl Lab {
    /// The shipped policy with a primary and fallbacks.
    pub fn new(primary: &str, fallbacks: &[&str]) -> Self {
        let routing = Routing { model: list(primary, Some(fallbacks)), ..Routing::default() };
        Self::with(table(""), routing)
    }

    pub fn with(table: Arc<Table>, routing: Routing) -> Self {
        Self {
            table,
            routing: Arc::new(routing),
            store: Box::new(MemoryStore::new()),
            memory: Memory::new(),
            now: START,
            seed: 1,
            takes: Duration::ZERO,
            broken: false,
            mends: false,
            after_persist: None,
        }
    }

    /// Stores API keys with these ids.
    pub fn keys(self, ids: &[&str]) -> Self {
        for profile in ids {
            self.store_profile(profile, CredentialKind::ApiKey);
        }
        self
    }

    pub fn store_profile(&self, profile: &str, kind: CredentialKind) {
        self.put(profile, kind, None, false);
    }

    pub fn put(&self, profile: &str, kind: CredentialKind, expires: Option<Timestamp>, refresh: bool) {
        let secret =
            |name: &str| Some(Secret::Direct(secrecy::SecretString::from(format!("planted-{name}"))));
        let profile = Profile {
            id: id(profile),
            provider: profile.split(':').next().unwrap().into(),
            kind,
            secret: secret("access"),
            refresh: if refresh { secret("refresh") } else { None },
            expires,
            email: None,
            extra: BTreeMap::new(),
            inserted: 0,
        };
        self.store.put_profile(&profile).unwrap();
    }

    pub fn routing(mut self, change: impl FnOnce(&mut Routing)) -> Self {
        change(Arc::make_mut(&mut self.routing));
        self
    }

    pub fn pass(&mut self, span: Duration) {
        self.now = self.now.after(span);
    }

    pub fn minutes(&mut self, minutes: u64) {
        self.pass(Duration::from_mins(minutes));
    }

    pub fn session(&self, session: &str) -> Session {
        let query = ViewQuery { session: Some(session) };
        Session::clone(&self.store.view(&query, self.now).unwrap().session)
    }

    pub fn usage(&self, profile: &str) -> Usage {
        let view = self.store.view(&ViewQuery::default(), self.now).unwrap();
        Usage::clone(&view.profile(&id(profile)).unwrap().usage)
    }

    pub fn change(&self, session: &str, change: Change) {
        change_at(&*self.store, session, change, self.now);
    }

    /// The user picks a model (B4).
    pub fn user_picks(&self, session: &str, full: &str) {
        self.change(session, session::choose_model(Some(model(full)), self.now));
    }

    /// The user pins a profile (C10).
    pub fn user_pins(&self, session: &str, profile: &str) {
        self.change(session, session::pin_profile(&self.table, &self.session(session), id(profile)));
    }

    /// The session is reset (K5).
    pub fn reset(&mut self, session: &str) {
        self.change(session, session::reset(self.table.policy()));
        self.memory.forget_session(session);
    }

    /// A compaction completes (K5).
    pub fn compact(&self, session: &str) {
        self.change(session, session::compact(self.table.policy()));
    }

    /// A plain turn of session `s`.
    pub fn turn(&mut self, answer: impl FnMut(&Attempt, &Lab) -> Reply) -> Turn {
        self.play(request("s"), answer)
    }

    /// A turn in which every call answers.
    pub fn ok(&mut self) -> Turn {
        self.turn(|_, _| Reply::Ok)
    }

    pub fn play(&mut self, request: Request, mut answer: impl FnMut(&Attempt, &Lab) -> Reply) -> Turn {
        let session = request.session.clone();
        let run = Run::new(request, Arc::clone(&self.table), Arc::clone(&self.routing), self.seed);
        self.drive(run, session.as_deref(), &mut answer)
    }

    pub fn drive(&mut self, mut run: Run, session: Option<&str>, answer: &mut Answerer<'_>) -> Turn {
        let query = ViewQuery { session };
        let mut view = self.store.view(&query, self.now).unwrap();
        let (mut events, mut batches, mut attempts, mut notices) = (vec![], vec![], vec![], vec![]);
        let mut steps = vec![];
        for _ in 0..2_000 {
            let mut memory = std::mem::take(&mut self.memory);
            let step = run.next(self.now, &view, &mut memory).unwrap();
            self.memory = memory;
            steps.push(format!("{} {step:?}", self.now.as_millis()));
            match step {
                Step::Event(event) => events.push(self.json(event)),
                Step::Notify(notice) => notices.push(notice),
                Step::Persist(batch) => {
                    let applied = if self.broken {
                        Err(StoreError::Locked { path: "state.sqlite".into() })
                    } else {
                        self.store.apply(&batch, self.now)
                    };
                    batches.push(batch);
                    run.report(Report::Persisted(Persisted::from(&applied))).unwrap();
                    if let Ok(applied) = applied {
                        view = applied.view;
                    }
                    if let Some(mut then) = self.after_persist.take() {
                        then(&*self.store, self.now);
                        view = self.store.view(&query, self.now).unwrap();
                    }
                }
                Step::Wait(span) => {
                    self.pass(span);
                    run.report(Report::Waited).unwrap();
                }
                Step::Attempt(attempt) => {
                    attempts.push(attempt.clone());
                    if attempt.repair {
                        let mended = if self.mends { Report::Repaired } else { Report::NotRepaired };
                        run.report(mended).unwrap();
                        continue;
                    }
                    let reply = answer(&attempt, self);
                    self.pass(self.takes);
                    let fail = |signal, partial| {
                        let failed = Failed { signal, partial, ..Failed::default() };
                        Report::Failed(Box::new(failed))
                    };
                    match reply {
                        Reply::Ok => run.report(Report::Answered { new_secret: None }).unwrap(),
                        Reply::NoSecret => {
                            let why = "the environment variable `NOPE` is not set".to_owned();
                            run.report(Report::NoSecret { why }).unwrap();
                        }
                        Reply::Fail(signal) => run.report(fail(signal, false)).unwrap(),
                        Reply::Partial(signal) => run.report(fail(signal, true)).unwrap(),
                        Reply::Refreshed(secret) => {
                            run.report(Report::Answered { new_secret: Some(self.refreshed(secret)) })
                                .unwrap();
                        }
                        Reply::RefreshedAndFailed(secret) => {
                            let new_secret = Some(self.refreshed(secret));
                            let failed =
                                Failed { signal: failure("t_rate"), new_secret, ..Failed::default() };
                            run.report(Report::Failed(Box::new(failed))).unwrap();
                        }
                        Reply::Interrupt(interrupt) => run.interrupt(interrupt).unwrap(),
                    }
                    view = self.store.view(&query, self.now).unwrap();
                }
                end => {
                    assert_eq!(run.next(self.now, &view, &mut Memory::new()).unwrap_err(), OutOfTurn::Ended);
                    return Turn { end, events, batches, attempts, notices, steps };
                }
            }
        }
        panic!("the run does not end: {:#?}", steps.iter().rev().take(10).collect::<Vec<_>>());
    }

    fn refreshed(&self, secret: &str) -> Refreshed {
        Refreshed {
            secret: Secret::Direct(secrecy::SecretString::from(secret)),
            refresh: None,
            expires: Some(self.now.after(Duration::from_hours(1))),
        }
    }

    fn json(&self, event: Event) -> Value {
        let mut value = serde_json::to_value(event.since(START)).unwrap();
        value["atMs"] = (self.now.as_millis() - START.as_millis()).into();
        value
    }
}

pub fn change_at(store: &dyn Store, session: &str, change: Change, now: Timestamp) {
    let batch = Batch { session: Some(session.into()), changes: vec![change] };
    assert!(!store.apply(&batch, now).unwrap().conflict);
}

/// A selection that somebody makes by hand.
pub fn pick(full: &str, source: Option<SelectionSource>, now: Timestamp) -> Change {
    let new = Override {
        candidate: model(full),
        source,
        origin: None,
        written_at: now,
        probed_at: None,
        reason: None,
        notified: false,
    };
    Change::Select { expect: Expect::Anything, new: Some(new) }
}

pub fn request(session: &str) -> Request {
    Request { session: Some(session.into()), ..Request::default() }
}

/// A turn with its own model.
pub fn choice(session: &str, full: &str, source: SelectionSource, own: Option<&[&str]>) -> Request {
    let choice = Choice { candidate: model(full), source, fallbacks: own.map(models) };
    Request { choice: Some(choice), ..request(session) }
}
