//! A plan of turns, failures and other hands; what holds of every run that plays it. Taken by the
//! property tests and by the fuzz target `run`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail so")]

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use pointsman::{
    lang::policy::SelectionSource,
    run::*,
    signal::{Aborted, Signal},
    state::{
        change::{Change, Release},
        model::{Override, Session},
        view::ViewQuery,
    },
    table::Table,
    time::Timestamp,
};

use super::lab::*;

/// Policies that differ in every slot the interpreter reads.
fn policies() -> &'static [Arc<Table>] {
    static ALL: OnceLock<Vec<Arc<Table>>> = OnceLock::new();
    ALL.get_or_init(|| {
        vec![
            table(""),
            table("set overloaded_profile_rotations = 3\nset rate_limited_profile_rotations = 0\nset overloaded_backoff = 2s\n"),
            table("replace backoff short = steps 1s, 2s jitter 50%\nset skip_ttl = 1m\n"),
            table("replace budget per run { attempts 3; elapsed 20s }\n"),
            table_without(&["probe", "notice"]),
            table_without(&["budget", "pin", "order"]),
            table_without(&["source auto"]),
        ]
    })
}

const CODES: [&str; 14] = [
    "t_rate",
    "t_over",
    "t_time",
    "t_auth",
    "t_gone",
    "t_bill",
    "t_model",
    "t_session",
    "t_nodetails",
    "t_odd",
    "t_format",
    "t_context",
    "t_filter",
    "t_abort",
];

/// What happens while a call is under way.
#[derive(Clone, Debug)]
pub enum Meddling {
    None,
    /// A user picks this model.
    Pick(usize),
    /// A compaction completes.
    Compact,
    /// Windows and counters are cleared by hand.
    Clear,
    /// Another session's call fails with the same profile.
    Fail(usize),
}

#[derive(Clone, Debug)]
pub struct Call {
    /// Below the codes: that failure; else an answer.
    pub outcome: usize,
    pub partial: bool,
    pub reset: Option<u32>,
    pub takes: u64,
    pub meddling: Meddling,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub policy: usize,
    pub chain: Vec<usize>,
    pub profiles: Vec<usize>,
    pub pinned: Option<usize>,
    pub mends: bool,
    pub broken: bool,
    /// Pauses before the turns, in seconds.
    pub turns: Vec<u64>,
    pub calls: Vec<Call>,
}

/// Four providers with three models each.
pub const MODELS: [&str; 12] =
    ["p0/a", "p0/b", "p0/c", "p1/a", "p1/b", "p1/c", "p2/a", "p2/b", "p2/c", "p3/a", "p3/b", "p3/c"];

fn open(plan: &Plan) -> Lab {
    let chain: Vec<&str> = plan.chain.iter().map(|at| MODELS[*at]).collect();
    let routing = Routing { model: list(chain[0], Some(&chain[1..])), ..Routing::default() };
    let mut lab = Lab::with(Arc::clone(&policies()[plan.policy]), routing);
    for (provider, count) in plan.profiles.iter().enumerate() {
        for profile in 0..*count {
            lab = lab.keys(&[&format!("p{provider}:{profile}")]);
        }
    }
    if let Some(pinned) = plan.pinned {
        lab.user_pins("s", &format!("p0:{pinned}"));
    }
    lab.mends = plan.mends;
    lab.broken = plan.broken;
    lab
}

/// Plays a plan, checks every turn, and gives all steps.
pub fn play(plan: &Plan) -> Vec<String> {
    let mut lab = open(plan);
    let mut next = 0;
    let mut steps = vec![];
    for pause in &plan.turns {
        lab.pass(Duration::from_secs(*pause));
        let before = lab.session("s");
        let began = lab.now;
        lab.takes = Duration::from_secs(plan.calls[next % plan.calls.len()].takes);
        let mut hand = Hand::default();
        let windows = open_windows(&lab);
        let turn = lab.turn(|call, lab| {
            check_call(plan, call, lab);
            let planned = &plan.calls[next % plan.calls.len()];
            next += 1;
            hand.meddle(&planned.meddling, call, lab);
            let reply = reply(planned);
            hand.interrupts |= matches!(reply, Reply::Interrupt(_));
            reply
        });
        check_turn(plan, &turn, &before, &lab.session("s"), &hand);
        if !hand.cleared && !matches!(turn.end, Step::Done(_)) {
            let after = open_windows(&lab);
            for (key, until) in windows.iter().filter(|(_, until)| **until > lab.now) {
                assert!(after.get(key).is_some_and(|now| now >= until), "e7: {key} moved backwards");
            }
        }
        if let Some(end) = turn.attempts.first().and_then(|call| call.deadline) {
            let starts = turn.of("attempt").into_iter().map(|event| event["atMs"].as_i64().unwrap());
            let end = end.as_millis() - START.as_millis();
            assert!(starts.into_iter().all(|at| at < end), "no call begins after the budget");
            assert!(began.as_millis() - START.as_millis() < end);
        }
        steps.extend(turn.steps);
    }
    steps
}

/// Ends of the open windows, by profile, model and schedule.
fn open_windows(lab: &Lab) -> BTreeMap<String, Timestamp> {
    let view = lab.store.view(&ViewQuery::default(), lab.now).unwrap();
    let mut ends = BTreeMap::new();
    for profile in view.profiles.iter() {
        for window in profile.usage.windows.iter().filter(|window| window.is_open(lab.now)) {
            let key = format!("{} {:?} {}", profile.info.id.0, window.model, window.schedule);
            ends.insert(key, window.until);
        }
    }
    ends
}

fn reply(planned: &Call) -> Reply {
    let Some(code) = CODES.get(planned.outcome) else {
        let to = model(MODELS[planned.reset.unwrap_or(7) as usize % MODELS.len()]);
        return match planned.outcome {
            14 => Reply::Interrupt(Interrupt::Abort(Aborted::User)),
            15 => Reply::Interrupt(Interrupt::Switch { to, by_user: planned.partial }),
            _ => Reply::Ok,
        };
    };
    let headers = planned.reset.map(|seconds| ("retry-after".to_owned(), seconds.to_string()));
    let signal = Signal { headers: headers.into_iter().collect(), ..failure(code) };
    if planned.partial { Reply::Partial(signal) } else { Reply::Fail(signal) }
}

/// What other hands did during a turn.
#[derive(Default)]
struct Hand {
    picked: Option<String>,
    compactions: u32,
    /// A call was cut off.
    interrupts: bool,
    /// Windows were cleared by hand.
    cleared: bool,
}

impl Hand {
    fn meddle(&mut self, meddling: &Meddling, call: &Attempt, lab: &Lab) {
        match meddling {
            Meddling::None => {}
            Meddling::Pick(at) => {
                lab.change("s", pick(MODELS[*at], Some(SelectionSource::User), lab.now));
                self.picked = Some(MODELS[*at].to_owned());
            }
            Meddling::Compact => {
                lab.change("s", Change::Compact { release: Release::default() });
                self.compactions += 1;
            }
            Meddling::Clear => {
                lab.change("s", Change::Clear { profile: None, model: None });
                self.cleared = true;
            }
            Meddling::Fail(at) => {
                let profile = id(&format!("{}:{at}", call.candidate.provider));
                let failure = pointsman::state::change::Failure {
                    profile,
                    model: None,
                    bucket: "elsewhere".into(),
                    attempt_started_at: lab.now,
                    window: None,
                    forget_after: None,
                };
                lab.change("s", Change::Failure(failure));
            }
        }
    }
}

/// Of a single call: an eligible profile, free or declared a probe, the pinned one if there is a pin,
/// and the session already says who is called.
fn check_call(plan: &Plan, call: &Attempt, lab: &Lab) {
    let view = lab.store.view(&ViewQuery { session: Some("s") }, lab.now).unwrap();
    let profile = view.profile(call.profile.as_ref().unwrap()).unwrap();
    assert_eq!(profile.info.provider, call.candidate.provider);
    let blocked = profile.usage.blocked_until(Some(&call.candidate.model), lab.now);
    assert!(blocked.is_none() || call.probe.is_some(), "{call:?} is blocked until {blocked:?}");
    if let (Some(pinned), "p0") = (plan.pinned, &*call.candidate.provider) {
        assert_eq!(call.profile, Some(id(&format!("p0:{pinned}"))), "c10");
    }
    if let Some(selected) = view.session.selected.as_ref().filter(|_| !plan.broken) {
        let origin = selected.origin.as_ref().map(|origin| &origin.candidate);
        let automatic = selected.source == Some(SelectionSource::Auto);
        assert!(
            !automatic || selected.candidate == call.candidate || origin == Some(&call.candidate),
            "a5: {selected:?} for {call:?}"
        );
    }
}

fn check_turn(plan: &Plan, turn: &Turn, before: &Session, after: &Session, hand: &Hand) {
    // Nobody is called twice, unless the payload was mended in between.
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut mended = false;
    for call in &turn.attempts {
        if call.repair {
            mended = true;
            continue;
        }
        let key = format!("{:?} {:?}", call.candidate, call.profile);
        let times = seen.entry(key).or_default();
        assert!(*times == 0 || mended, "twice: {call:?}");
        *times += 1;
        mended = false;
    }
    // The budget holds.
    let calls = turn.attempts.iter().filter(|call| !call.repair).count();
    let most = match plan.policy {
        3 => 3,
        5 => usize::MAX,
        _ => 12,
    };
    assert!(calls <= most, "{calls} calls");
    // Another hand's changes stay.
    assert_eq!(after.compaction_count, before.compaction_count + hand.compactions);
    assert_eq!(after.other, before.other);
    if let Some(picked) = &hand.picked {
        let selected = after.selected.as_ref().unwrap();
        assert_eq!(selected.candidate, model(picked), "a6: the user's choice stays");
        assert_eq!(selected.source, Some(SelectionSource::User));
    } else if !matches!(turn.end, Step::Done(_)) {
        let key = |session: &Session| session.selected.as_ref().map(Override::key);
        assert_eq!(key(after), key(before), "a6: everything is as it was");
    }
    if plan.pinned.is_some() {
        assert_eq!(after.pins["p0"], before.pins["p0"], "c10: never silently replaced");
    }
    // A skipped or failed candidate is accounted for, and the last event tells the end.
    let last = turn.names().last().copied().unwrap();
    assert!(["answered", "surfaced", "exhausted", "switched"].contains(&last), "{last}");
    let failed = turn.of("failed").len();
    let called = turn.of("attempt").len() - turn.of("answered").len();
    assert!(failed == called || (hand.interrupts && failed <= called), "{failed} of {called} calls failed");
}
