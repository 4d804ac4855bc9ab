//! The run itself: whose turn it is, and where each report leads. What happens there stands in
//! `begin`, `choose`, `fail`, `switch`, `answer` and `end`.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use super::{
    answer::Answer,
    budget::Budget,
    choose::Call,
    end::End,
    event::{Decision, Event},
    fail::Fail,
    memory::Memory,
    overrides::{Overrides, Plan},
    request::{Request, Routing},
    rotate::Rotation,
    seats::{Scene, Unstored},
    source::Selected,
    step::{Expected, Failed, Interrupt, OutOfTurn, Persisted, Refreshed, Report, Step},
    summary::Summary,
};
use crate::{
    classify::{Scratch, Verdict},
    signal::Signal,
    state::{
        change::{Batch, Change, Outcome},
        model::{Candidate, Override, ProfileId},
        view::View,
    },
    table::Table,
    time::Timestamp,
};

/// One turn, driven step by step (A). Dropped at any time, it leaves the store as after its last
/// [`Step::Persist`].
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing, in any combination")]
pub struct Run {
    pub(super) request: Request,
    pub(super) table: Arc<Table>,
    pub(super) routing: Arc<Routing>,
    pub(super) seed: u64,
    /// Made at the first failure: a run waits with all that it holds.
    pub(super) scratch: Option<Box<Scratch>>,
    /// Somebody hears of events.
    heard: bool,
    phase: Phase,
    /// Steps that are decided and not handed out yet.
    queue: VecDeque<Step>,
    pub(super) interrupt: Option<Interrupt>,
    /// Where the selection came from; set when the run begins.
    pub(super) selected: Option<Selected>,
    /// The selection is the session's: a change of it by the user concerns this run (H4).
    pub(super) follows_session: bool,
    pub(super) chain: Vec<Candidate>,
    /// Position of the current candidate in the chain.
    pub(super) at: usize,
    /// The first candidate is a due origin probe (B3).
    pub(super) origin_probe: bool,
    pub(super) rotation: Rotation,
    pub(super) budget: Budget,
    pub(super) overrides: Overrides,
    pub(super) unstored: Unstored,
    /// Profiles whose secret could not be had (C8).
    pub(super) left_out: BTreeSet<ProfileId>,
    /// Providers whose transient probe of this run is used up (I5).
    pub(super) probed: BTreeSet<String>,
    /// The payload was mended once (D9).
    pub(super) repaired: bool,
    /// Bucket of the selected model's last failure in this run (J4).
    pub(super) reason: Option<String>,
    /// A notice that is due when the selected model answers: the override that a heartbeat cleared.
    pub(super) heartbeat_cleared: Option<Box<Override>>,
    /// Decisions that are said once the next override is stored (J2).
    pub(super) decisions: Vec<Decision>,
    /// The call under way, or the last one.
    pub(super) call: Option<Box<Call>>,
    /// The last failure.
    pub(super) last: Option<Box<Fail>>,
    /// What an abort between calls is taken for.
    pub(super) aborted: Option<Box<(Signal, Verdict)>>,
    pub(super) summary: Summary,
}

/// Where a run stands.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// Nothing has happened yet.
    #[default]
    Start,
    /// The selection is to be resolved and the chain built (A1, A2).
    Route,
    /// Somebody is to be called next.
    Choose,
    /// A batch is being stored.
    Persisting(After),
    /// It has been, or not.
    Persisted(After, Persisted),
    /// A call is under way.
    Calling,
    /// The host mends the payload.
    Repairing,
    /// A pause before a rotation; its length.
    Pausing(std::time::Duration),
    /// The pause is over.
    Paused(std::time::Duration),
    /// The call failed.
    Failed(Box<Failed>),
    /// There was no call, and why (C8).
    NoSecret(String),
    /// The call answered.
    Answered(Option<Refreshed>),
    /// The payload is mended, or not.
    Repaired(bool),
    /// The failure is stored; what follows from it?
    React,
    /// The call or pause was cut off.
    CutOff { call: bool },
    /// Over.
    Ended,
}

/// What follows once a batch is stored.
#[derive(Debug)]
pub(super) enum After {
    HeartbeatCleared(Box<Override>),
    Call(Box<Call>, Box<Plan>),
    Failure(Vec<Change>),
    Answer(Box<Answer>),
    End(Box<End>, Box<Plan>),
}

/// What comes with every `next`.
pub(super) struct World<'a> {
    pub now: Timestamp,
    pub view: &'a View,
    pub memory: &'a mut Memory,
}

impl Run {
    /// A run that has not begun. Call [`Run::next`]. The same reports, views and `seed` give the same
    /// steps; it only matters to schedules with jitter.
    #[must_use]
    pub fn new(request: Request, table: Arc<Table>, routing: Arc<Routing>, seed: u64) -> Self {
        Self {
            request,
            table,
            routing,
            seed,
            scratch: None,
            heard: true,
            phase: Phase::Start,
            queue: VecDeque::new(),
            interrupt: None,
            selected: None,
            follows_session: false,
            chain: Vec::new(),
            at: 0,
            origin_probe: false,
            rotation: Rotation::default(),
            budget: Budget::default(),
            overrides: Overrides::default(),
            unstored: Unstored::new(),
            left_out: BTreeSet::new(),
            probed: BTreeSet::new(),
            repaired: false,
            reason: None,
            heartbeat_cleared: None,
            decisions: Vec::new(),
            call: None,
            last: None,
            aborted: None,
            summary: Summary::default(),
        }
    }

    /// Whether somebody hears of events, as is taken for granted; if not, no [`Step::Event`] comes (J2).
    pub fn hear(&mut self, heard: bool) {
        self.heard = heard;
    }

    /// The next step. `view` is a fresh snapshot with this run's session; after a
    /// [`Step::Persist`], the one that came back with it. `memory` is the engine's.
    ///
    /// Then: [`Run::report`] what came of it, but for [`Step::Notify`] and [`Step::Event`], after
    /// which `next` comes again, and the ends, after which nothing does.
    ///
    /// # Errors
    /// [`OutOfTurn::ReportFirst`] while a step waits for its report (but see [`Run::interrupt`]),
    /// [`OutOfTurn::Ended`] after an end.
    pub fn next(&mut self, now: Timestamp, view: &View, memory: &mut Memory) -> Result<Step, OutOfTurn> {
        self.cut_off();
        let mut world = World { now, view, memory };
        loop {
            if let Some(step) = self.queue.pop_front() {
                return Ok(step);
            }
            if let Some(expected) = self.expected() {
                return Err(OutOfTurn::ReportFirst(expected));
            }
            match std::mem::take(&mut self.phase) {
                Phase::Ended => {
                    self.phase = Phase::Ended;
                    return Err(OutOfTurn::Ended);
                }
                phase => self.advance(phase, &mut world),
            }
        }
    }

    /// What came of the last step. Then: [`Run::next`].
    ///
    /// # Errors
    /// [`OutOfTurn::NothingToReport`] when no step waits, [`OutOfTurn::OtherReport`] when it waits for
    /// another report, [`OutOfTurn::Ended`] after an end.
    pub fn report(&mut self, report: Report) -> Result<(), OutOfTurn> {
        if matches!(self.phase, Phase::Ended) && self.queue.is_empty() {
            return Err(OutOfTurn::Ended);
        }
        let expected = self.expected().filter(|_| self.queue.is_empty()).ok_or(OutOfTurn::NothingToReport)?;
        let phase = std::mem::take(&mut self.phase);
        self.phase = match (phase, report) {
            (Phase::Persisting(after), Report::Persisted(persisted)) => Phase::Persisted(after, persisted),
            (Phase::Calling, Report::Failed(failed)) => Phase::Failed(failed),
            (Phase::Calling, Report::NoSecret { why }) => Phase::NoSecret(why),
            (Phase::Calling, Report::Answered { new_secret }) => Phase::Answered(new_secret),
            (Phase::Repairing, Report::Repaired) => Phase::Repaired(true),
            (Phase::Repairing, Report::NotRepaired) => Phase::Repaired(false),
            (Phase::Pausing(span), Report::Waited) => Phase::Paused(span),
            (phase, _) => {
                self.phase = phase;
                return Err(OutOfTurn::OtherReport(expected));
            }
        };
        Ok(())
    }

    /// Something happened outside (H4). When an attempt or a wait is under way, cut it off and call
    /// [`Run::next`] without a report, or let it end and report it first: an answer that has come
    /// still counts. While a [`Step::Persist`] is under way, report it first.
    ///
    /// # Errors
    /// [`OutOfTurn::Ended`] after an end.
    pub fn interrupt(&mut self, interrupt: Interrupt) -> Result<(), OutOfTurn> {
        if matches!(self.phase, Phase::Ended) {
            return Err(OutOfTurn::Ended);
        }
        // An abort outweighs a switch, whichever came first.
        if !matches!(self.interrupt, Some(Interrupt::Abort(_))) {
            self.interrupt = Some(interrupt);
        }
        Ok(())
    }

    /// The step that waits for its report, once it is handed out.
    fn expected(&self) -> Option<Expected> {
        match &self.phase {
            Phase::Persisting(_) => Some(Expected::Persist),
            Phase::Calling => Some(Expected::Attempt),
            Phase::Repairing => Some(Expected::Repair),
            Phase::Pausing(_) => Some(Expected::Wait),
            _ => None,
        }
    }

    /// A pending interrupt ends a call or a pause without a report.
    fn cut_off(&mut self) {
        if self.interrupt.is_none()
            || !matches!(self.phase, Phase::Calling | Phase::Repairing | Phase::Pausing(_))
        {
            return;
        }
        let call = matches!(self.phase, Phase::Calling);
        self.queue.retain(|step| !matches!(step, Step::Attempt(_) | Step::Wait(_)));
        self.phase = Phase::CutOff { call };
    }

    fn advance(&mut self, phase: Phase, world: &mut World<'_>) {
        match phase {
            Phase::Start => self.begin(world),
            Phase::Route => self.route(world),
            Phase::Choose => self.choose(world),
            Phase::Persisted(after, persisted) => self.persisted(after, &persisted, world),
            Phase::Paused(span) => {
                self.say(|| Event::Waited { span });
                self.phase = Phase::Choose;
            }
            Phase::Failed(failed) => self.failed(*failed, world),
            Phase::NoSecret(why) => self.leave_out(why, world),
            Phase::Answered(new_secret) => self.answered(new_secret, world),
            Phase::Repaired(mended) => self.mended(mended, world),
            Phase::React => self.react(world),
            Phase::CutOff { call } => self.was_cut_off(call, world),
            Phase::Persisting(_) | Phase::Calling | Phase::Repairing | Phase::Pausing(_) | Phase::Ended => {
                self.phase = phase;
            }
        }
    }

    fn persisted(&mut self, after: After, persisted: &Persisted, world: &mut World<'_>) {
        self.say_cuts(world.view);
        if let Persisted::Unavailable { why } = persisted {
            let secret_lost = after.secret_of().is_some();
            self.say(|| Event::StoreUnavailable { why: why.clone(), secret_lost });
        }
        self.say_refused(&after, persisted);
        match after {
            After::HeartbeatCleared(cleared) => self.heartbeat_cleared(cleared, persisted),
            After::Call(call, plan) => self.call_planned(call, *plan, persisted, world),
            After::Failure(changes) => self.failure_stored(&changes, persisted, world),
            After::Answer(answer) => self.answer_stored(*answer, persisted, world),
            After::End(end, plan) => self.undone(&end, *plan, persisted, world),
        }
    }

    /// C8: a refreshed secret that is none is not stored, and that is said.
    fn say_refused(&mut self, after: &After, persisted: &Persisted) {
        let (Persisted::Ok(outcomes) | Persisted::Conflict(outcomes)) = persisted else { return };
        let flaw = outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Refused(flaw) => Some(flaw),
            _ => None,
        });
        if let (Some(flaw), Some(profile)) = (flaw, after.secret_of()) {
            self.say(|| Event::SecretRefused { profile: profile.clone(), why: format!("it {flaw}") });
        }
    }

    /// Hands out a step.
    pub(super) fn step(&mut self, step: Step, phase: Phase) {
        self.queue.push_back(step);
        self.phase = phase;
    }

    /// Goes on without a step.
    pub(super) fn go(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// Stores changes, then goes on.
    pub(super) fn persist(&mut self, changes: Vec<Change>, after: After) {
        let session = self.request.session.clone();
        self.step(Step::Persist(Batch { session, changes }), Phase::Persisting(after));
    }

    /// Hands out an event, if anybody hears it.
    pub(super) fn say(&mut self, event: impl FnOnce() -> Event) {
        if self.heard {
            self.queue.push_back(Step::Event(event()));
        }
    }

    /// Hands out a step that needs no answer.
    pub(super) fn push(&mut self, step: Step) {
        self.queue.push_back(step);
    }

    /// What profiles look like now.
    pub(super) fn scene<'a>(&'a self, world: &World<'a>) -> Scene<'a> {
        Scene {
            table: &self.table,
            routing: &self.routing,
            view: world.view,
            unstored: &self.unstored,
            left_out: &self.left_out,
            now: world.now,
        }
    }
}

impl After {
    /// Whose refreshed secret is being stored (C8).
    fn secret_of(&self) -> Option<&ProfileId> {
        match self {
            Self::Failure(changes) => changes.iter().find_map(|change| match change {
                Change::NewSecret(new) => Some(&new.profile),
                _ => None,
            }),
            Self::Answer(answer) => answer.secret_of(),
            _ => None,
        }
    }
}
