//! Transitions: what a failure, a success and a session change do (E, A6, K5). Pure: the clock is a
//! number.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail so")]

mod edges;

use std::{collections::BTreeMap, time::Duration};

use pointsman::{
    lang::policy::{Lane, Scope, SelectionSource},
    state::{
        change::*,
        model::*,
        schedule::{Schedule, Steps},
        transition,
    },
    time::Timestamp,
};
use proptest::prelude::*;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn short() -> Schedule {
    Schedule::new("short", Steps::List([1, 5, 25, 60].map(|n| n * MINUTE).to_vec()))
}

fn billing() -> Schedule {
    Schedule::new("billing", Steps::Doubling { from: 5 * HOUR, up_to: 24 * HOUR })
}

fn auth_permanent() -> Schedule {
    Schedule::new("auth_permanent", Steps::Doubling { from: 10 * MINUTE, up_to: HOUR })
}

fn intent(lane: Lane, scope: Scope, schedule: Schedule) -> WindowIntent {
    WindowIntent { lane, scope, schedule, seed: 0, hint: None, after: None }
}

/// A failure whose attempt began at `at` and ended there.
fn fails(bucket: &str, window: Option<WindowIntent>, at: Timestamp) -> Failure {
    Failure {
        profile: ProfileId("openai:a".into()),
        model: Some("m1".into()),
        bucket: bucket.into(),
        attempt_started_at: at,
        window,
        forget_after: Some(DAY),
    }
}

fn limited(at: Timestamp) -> Failure {
    fails("rate_limit", Some(intent(Lane::Cooldown, Scope::Model, short())), at)
}

fn unpaid(at: Timestamp) -> Failure {
    fails("billing", Some(intent(Lane::Disable, Scope::Profile, billing())), at)
}

fn hinted(at: Timestamp, given: Timestamp, at_most: Duration) -> Failure {
    let mut failure = limited(at);
    let window = failure.window.as_mut().unwrap();
    window.hint = Some(Hint { given, at_least: Duration::from_secs(1), at_most });
    failure
}

fn answers(at: Timestamp) -> Success {
    Success {
        profile: ProfileId("openai:a".into()),
        model: Some("m1".into()),
        attempt_started_at: at,
        reset_model: true,
        reset_profile: true,
    }
}

fn opened(outcome: Outcome) -> Window {
    match outcome {
        Outcome::Opened(window) => window,
        other => panic!("no window opened: {other:?}"),
    }
}

/// Fails right after each window has ended, `n` times; the lengths of the windows.
fn climb(
    usage: &mut Usage,
    n: usize,
    mut at: Timestamp,
    make: impl Fn(Timestamp) -> Failure,
) -> Vec<Duration> {
    let mut lengths = Vec::new();
    for _ in 0..n {
        let window = opened(transition::failure(usage, &make(at), at));
        lengths.push(window.until.since(window.since));
        at = window.until;
    }
    lengths
}

#[test]
fn e1_short_ladder() {
    let lengths = climb(&mut Usage::default(), 5, START, limited);
    assert_eq!(lengths, [1, 5, 25, 60, 60].map(|n| n * MINUTE));
}

#[test]
fn e2_a_model_window_leaves_siblings_free() {
    let mut usage = Usage::default();
    let window = opened(transition::failure(&mut usage, &limited(START), START));
    assert_eq!(window.model.as_deref(), Some("m1"));
    assert_eq!(usage.blocked_until(Some("m1"), START), Some(START.after(MINUTE)));
    assert_eq!(usage.blocked_until(Some("m2"), START), None);
    transition::failure(&mut usage, &unpaid(START), START);
    assert_eq!(usage.blocked_until(Some("m2"), START), Some(START.after(5 * HOUR)));
}

#[test]
fn e2_an_unknown_model_blocks_the_profile() {
    let mut failure = limited(START);
    failure.model = None;
    let window = opened(transition::failure(&mut Usage::default(), &failure, START));
    assert_eq!(window.model, None);
}

#[test]
fn e3_billing_ladder() {
    let lengths = climb(&mut Usage::default(), 5, START, unpaid);
    assert_eq!(lengths, [5, 10, 20, 24, 24].map(|n| n * HOUR));
}

#[test]
fn e4_recurring_failures_climb_though_their_windows_are_long() {
    // Each billing window is as long as a day and the failures lie more than a day apart: quiet
    // counts only from the end of the window.
    let mut usage = Usage::default();
    let mut at = START;
    let mut steps = Vec::new();
    for _ in 0..4 {
        let window = opened(transition::failure(&mut usage, &unpaid(at), at));
        steps.push(window.step);
        at = window.until.after(DAY).before(Duration::from_millis(1));
    }
    assert_eq!(steps, [1, 2, 3, 4]);
}

#[test]
fn e4_a_day_of_quiet_starts_afresh() {
    let mut usage = Usage::default();
    let lengths = climb(&mut usage, 3, START, limited);
    let end = START.after(lengths.iter().sum::<Duration>());
    let at = end.after(DAY);
    let window = opened(transition::failure(&mut usage, &limited(at), at));
    assert_eq!((window.step, usage.error_count), (1, 1));
    assert_eq!(usage.failure_counts, BTreeMap::from([("rate_limit".into(), 1)]));
}

#[test]
fn e4_without_forgetting_nothing_starts_afresh() {
    let mut usage = Usage::default();
    climb(&mut usage, 1, START, limited);
    let at = START.after(400 * DAY);
    let failure = Failure { forget_after: None, ..limited(at) };
    assert_eq!(opened(transition::failure(&mut usage, &failure, at)).step, 2);
}

#[test]
fn e5_auth_permanent_ladder() {
    let make =
        |at| fails("auth_permanent", Some(intent(Lane::Disable, Scope::Profile, auth_permanent())), at);
    let lengths = climb(&mut Usage::default(), 5, START, make);
    assert_eq!(lengths, [10, 20, 40, 60, 60].map(|n| n * MINUTE));
}

#[test]
fn e6_a_hint_sets_the_window() {
    let given = START.after(Duration::from_secs(90));
    let window = opened(transition::failure(&mut Usage::default(), &hinted(START, given, DAY), START));
    assert_eq!((window.until, window.hint, window.clamped()), (given, Some(given), false));
}

#[test]
fn e6_a_clamped_hint_keeps_its_original_time() {
    let given = START.after(18 * DAY);
    let window = opened(transition::failure(&mut Usage::default(), &hinted(START, given, DAY), START));
    assert_eq!((window.until, window.hint, window.clamped()), (START.after(DAY), Some(given), true));
    let past = START.before(HOUR);
    let window = opened(transition::failure(&mut Usage::default(), &hinted(START, past, DAY), START));
    assert_eq!((window.until, window.hint), (START.after(Duration::from_secs(1)), Some(past)));
}

#[test]
fn e6_a_trusted_hint_goes_further() {
    let given = START.after(8 * DAY);
    let window = opened(transition::failure(&mut Usage::default(), &hinted(START, given, 8 * DAY), START));
    assert_eq!((window.until, window.clamped()), (given, false));
}

#[test]
fn e7_inside_an_open_window_neither_window_nor_ladder_changes() {
    let mut usage = Usage::default();
    let first = opened(transition::failure(&mut usage, &limited(START), START));
    let (ladders, windows) = (usage.ladders.clone(), usage.windows.clone());
    let later = START.after(Duration::from_secs(30));
    assert_eq!(transition::failure(&mut usage, &limited(later), later), Outcome::Unchanged(first));
    assert_eq!((&usage.ladders, &usage.windows), (&ladders, &windows));
    // What has happened is counted all the same (E8), and quiet begins anew with it (E4).
    assert_eq!((usage.error_count, usage.failure_counts["rate_limit"]), (2, 2));
    assert_eq!(usage.last_failure_at, Some(later));
}

#[test]
fn e7_a_later_hint_extends_and_a_sooner_one_does_not() {
    let mut usage = Usage::default();
    transition::failure(&mut usage, &limited(START), START);
    let sooner = hinted(START, START.after(Duration::from_secs(20)), DAY);
    assert!(matches!(transition::failure(&mut usage, &sooner, START), Outcome::Unchanged(_)));
    let later = hinted(START, START.after(2 * HOUR), HOUR);
    let Outcome::Extended(window) = transition::failure(&mut usage, &later, START) else {
        panic!("not extended");
    };
    assert_eq!((window.until, window.step), (START.after(HOUR), 1), "within bounds, without a climb");
    assert_eq!(window.hint, Some(START.after(2 * HOUR)));
}

#[test]
fn e8_counts_and_rows() {
    let mut usage = Usage::default();
    transition::failure(&mut usage, &limited(START), START);
    let mut of_other_model = limited(START);
    of_other_model.model = Some("m2".into());
    transition::failure(&mut usage, &of_other_model, START);
    transition::failure(&mut usage, &unpaid(START), START);
    transition::failure(&mut usage, &fails("model_not_found", None, START), START);
    assert_eq!(usage.error_count, 4);
    assert_eq!(usage.failure_counts["rate_limit"], 2);
    assert_eq!(usage.last_failure_at, Some(START));
    assert_eq!(usage.last_used, Some(START));
    assert_eq!(usage.windows.len(), 3, "two model windows and a disable stand side by side");
    assert_eq!(usage.blocked_until(Some("m1"), START), Some(START.after(5 * HOUR)), "the latest counts");
}

#[test]
fn e10_ladders_of_models_and_of_the_profile_climb_apart() {
    let mut usage = Usage::default();
    climb(&mut usage, 2, START, limited);
    let at = START.after(HOUR);
    let mut other = limited(at);
    other.model = Some("m2".into());
    assert_eq!(opened(transition::failure(&mut usage, &other, at)).step, 1);
    let auth = fails("auth", Some(intent(Lane::Cooldown, Scope::Profile, short())), at);
    assert_eq!(opened(transition::failure(&mut usage, &auth, at)).step, 1);
    assert_eq!(opened(transition::failure(&mut usage, &limited(at), at)).step, 3);
}

#[test]
fn e10_a_hint_climbs_too() {
    let mut usage = Usage::default();
    let at = START.after(Duration::from_secs(90));
    opened(transition::failure(&mut usage, &hinted(START, at, DAY), START));
    let window = opened(transition::failure(&mut usage, &limited(at), at));
    assert_eq!((window.step, window.until.since(at)), (2, 5 * MINUTE));
}

#[test]
fn e10_an_attempt_from_before_the_window_climbs_nothing() {
    let mut usage = Usage::default();
    let first = opened(transition::failure(&mut usage, &limited(START), START));
    let late = first.until.after(MINUTE);
    let mut old = limited(late);
    old.attempt_started_at = START.before(MINUTE);
    assert_eq!(opened(transition::failure(&mut usage, &old, late)).step, 1, "the ladder stays where it is");
    let later = late.after(2 * MINUTE);
    assert_eq!(opened(transition::failure(&mut usage, &limited(later), later)).step, 2);
}

#[test]
fn e10_a_success_resets_its_model_and_the_profile_but_no_sibling() {
    let mut usage = Usage::default();
    climb(&mut usage, 2, START, limited);
    let mut sibling = limited(START);
    sibling.model = Some("m2".into());
    transition::failure(&mut usage, &sibling, START);
    transition::failure(&mut usage, &unpaid(START), START);
    let at = START.after(10 * MINUTE);
    assert!(transition::success(&mut usage, &answers(at), at));
    assert_eq!(usage.windows.iter().map(|w| w.model.as_deref()).collect::<Vec<_>>(), [Some("m2")]);
    assert_eq!(usage.ladders.iter().map(|l| l.model.as_deref()).collect::<Vec<_>>(), [Some("m2")]);
    assert_eq!((usage.error_count, usage.failure_counts.len()), (0, 0));
    assert_eq!(opened(transition::failure(&mut usage, &limited(at), at)).step, 1);
}

#[test]
fn e10_a_success_from_before_the_window_resets_nothing() {
    let mut usage = Usage::default();
    transition::failure(&mut usage, &limited(START), START);
    let before = usage.clone();
    let now = START.after(Duration::from_secs(1));
    assert!(!transition::success(&mut usage, &answers(START.before(MINUTE)), now));
    assert_eq!(usage, before);
}

#[test]
fn e10_a_steady_success_changes_only_last_used() {
    let mut usage = Usage::default();
    assert!(!transition::success(&mut usage, &answers(START), START));
    assert_eq!(usage, Usage { last_used: Some(START), ..Usage::default() });
}

#[test]
fn e0_after_two_in_a_row() {
    let make = |at| {
        let mut window = intent(Lane::Cooldown, Scope::Model, short());
        window.after = Some(AfterInARow { count: 2, within: 10 * MINUTE });
        fails("timeout", Some(window), at)
    };
    let mut usage = Usage::default();
    assert_eq!(transition::failure(&mut usage, &make(START), START), Outcome::NoWindow);
    let late = START.after(11 * MINUTE);
    assert_eq!(transition::failure(&mut usage, &make(late), late), Outcome::NoWindow, "too far apart");
    let soon = late.after(9 * MINUTE);
    assert_eq!(opened(transition::failure(&mut usage, &make(soon), soon)).step, 1);

    let mut usage = Usage::default();
    transition::failure(&mut usage, &make(START), START);
    transition::success(&mut usage, &answers(START), START);
    assert_eq!(transition::failure(&mut usage, &make(START), START), Outcome::NoWindow, "a success between");

    let mut usage = Usage::default();
    transition::failure(&mut usage, &make(START), START);
    transition::failure(&mut usage, &fails("format", None, START), START);
    assert_eq!(
        transition::failure(&mut usage, &make(START), START),
        Outcome::NoWindow,
        "another error between"
    );
}

#[test]
fn e11_a_clock_that_jumped_back_cuts_the_window() {
    let mut usage = Usage::default();
    transition::failure(&mut usage, &limited(START), START);
    let back = START.before(365 * DAY);
    let cuts = transition::guard(&mut usage, back);
    assert_eq!(cuts.len(), 1);
    assert_eq!(cuts[0].1, START.after(MINUTE), "the former end is said");
    assert_eq!(usage.blocked_until(Some("m1"), back), Some(back.after(MINUTE)));
    assert_eq!(transition::guard(&mut usage, back.after(MINUTE)), [], "once");
    let after = back.after(MINUTE);
    assert_eq!(opened(transition::failure(&mut usage, &limited(after), after)).step, 2, "ladders go on");
}

#[test]
fn e11_a_clock_that_jumped_ahead_only_ends_windows() {
    let mut usage = Usage::default();
    transition::failure(&mut usage, &limited(START), START);
    let ahead = START.after(365 * DAY);
    assert_eq!(transition::guard(&mut usage, ahead), []);
    assert_eq!(usage.blocked_until(Some("m1"), ahead), None);
    transition::failure(&mut usage, &limited(ahead), ahead);
    let back = START.after(2 * MINUTE);
    assert_eq!(transition::guard(&mut usage, back).len(), 1);
    assert_eq!(usage.blocked_until(Some("m1"), back), Some(back.after(MINUTE)));
    assert_eq!(usage.last_failure_at, Some(back), "quiet does not wait for next year");
}

#[test]
fn e11_skew_of_a_moment_is_no_jump() {
    let mut usage = Usage::default();
    transition::failure(&mut usage, &limited(START), START);
    let before = usage.clone();
    assert_eq!(transition::guard(&mut usage, START.before(Duration::from_millis(20))), []);
    assert_eq!(usage, before);
}

// Sessions.

fn candidate(provider: &str, model: &str) -> Candidate {
    Candidate { provider: provider.into(), model: model.into() }
}

fn chosen(model: &str, source: SelectionSource) -> Override {
    let origin = (source == SelectionSource::Auto).then(|| Origin {
        candidate: candidate("openai", "primary"),
        source: SelectionSource::Default,
        fallbacks: None,
    });
    Override {
        candidate: candidate("openai", model),
        source: Some(source),
        origin,
        written_at: START,
        probed_at: None,
        reason: Some("rate_limit".into()),
        notified: false,
    }
}

fn pin(name: &str, by_user: bool) -> Pin {
    let profile = ProfileId(format!("openai:{name}").into());
    Pin { profile, by_user, compaction_count: 0, displaced: None }
}

fn session_with(selected: Option<Override>, pins: &[(&str, Pin)]) -> Session {
    let pins = pins.iter().map(|(family, pin)| ((*family).to_owned(), pin.clone())).collect();
    let other = BTreeMap::from([("title".to_owned(), serde_json::json!("holiday plans"))]);
    Session { selected, pins, other, ..Session::default() }
}

#[test]
fn a5_select_compares_and_sets() {
    let auto = chosen("f1", SelectionSource::Auto);
    let mut session = session_with(None, &[]);
    let select = Change::Select { expect: Expect::Nothing, new: Some(auto.clone()) };
    assert_eq!(transition::session(&mut session, &select), Ok(Outcome::Done));
    assert_eq!(session.selected, Some(auto.clone()));
    assert_eq!(transition::session(&mut session, &select), Err(transition::Conflict));
    let next =
        Change::Select { expect: Expect::of(Some(&auto)), new: Some(chosen("f2", SelectionSource::Auto)) };
    assert_eq!(transition::session(&mut session, &next), Ok(Outcome::Done));
}

#[test]
fn a6_rollback_restores_owned_fields_only() {
    let auto = chosen("f1", SelectionSource::Auto);
    let (mine, before) = (pin("b", false), pin("a", false));
    let mut session = session_with(Some(auto.clone()), &[("openai", mine.clone())]);
    let mut expected = session.clone();
    let rollback = Change::Rollback(Rollback {
        wrote: auto.key(),
        restore: None,
        pins: BTreeMap::from([("openai".into(), PinBefore { wrote: mine, before: Some(before.clone()) })]),
    });
    assert_eq!(transition::session(&mut session, &rollback), Ok(Outcome::Done));
    expected.selected = None;
    expected.pins.insert("openai".into(), before);
    assert_eq!(session, expected);
}

#[test]
fn a6_a_newer_choice_is_never_rolled_back() {
    let auto = chosen("f1", SelectionSource::Auto);
    for newer in
        [Some(chosen("picked", SelectionSource::User)), Some(chosen("f2", SelectionSource::Auto)), None]
    {
        let mut session = session_with(newer, &[]);
        let before = session.clone();
        let rollback = Rollback { wrote: auto.key(), restore: None, pins: BTreeMap::new() };
        assert_eq!(transition::session(&mut session, &Change::Rollback(rollback)), Err(transition::Conflict));
        assert_eq!(session, before);
    }
}

#[test]
fn a6_a_pin_the_user_set_meanwhile_stays() {
    let auto = chosen("f1", SelectionSource::Auto);
    let mut session = session_with(Some(auto.clone()), &[("openai", pin("c", true))]);
    let rollback = Rollback {
        wrote: auto.key(),
        restore: None,
        pins: BTreeMap::from([("openai".into(), PinBefore { wrote: pin("b", false), before: None })]),
    };
    transition::session(&mut session, &Change::Rollback(rollback)).unwrap();
    assert_eq!(session.pins["openai"], pin("c", true));
}

#[test]
fn b3_probe_times_belong_to_one_override() {
    let auto = chosen("f1", SelectionSource::Auto);
    let mut session = session_with(Some(auto.clone()), &[]);
    let probed = Change::OriginProbed { of: auto.key(), at: START };
    transition::session(&mut session, &probed).unwrap();
    assert_eq!(session.selected.as_ref().unwrap().probed_at, Some(START));
    let mut other = session_with(Some(chosen("f2", SelectionSource::Auto)), &[]);
    assert_eq!(transition::session(&mut other, &probed), Ok(Outcome::Kept));
}

#[test]
fn j4_of_two_runs_one_tells_of_an_override() {
    let auto = chosen("f1", SelectionSource::Auto);
    let mut session = session_with(Some(auto.clone()), &[]);
    let notified = Change::Notified { of: auto.key() };
    assert_eq!(transition::session(&mut session, &notified), Ok(Outcome::Done));
    assert!(session.selected.as_ref().unwrap().notified);
    assert_eq!(transition::session(&mut session, &notified), Ok(Outcome::Kept));
    let mut other = session_with(Some(chosen("f2", SelectionSource::Auto)), &[]);
    assert_eq!(transition::session(&mut other, &notified), Ok(Outcome::Kept));
    assert!(!other.selected.unwrap().notified);
}

#[test]
fn c10_an_automatic_pin_never_replaces_the_users() {
    let mut session = session_with(None, &[("openai", pin("mine", true))]);
    let change = |pin| Change::Pin { family: "openai".into(), pin };
    assert_eq!(transition::session(&mut session, &change(pin("other", false))), Ok(Outcome::Kept));
    assert_eq!(session.pins["openai"], pin("mine", true));
    assert_eq!(transition::session(&mut session, &change(pin("new", true))), Ok(Outcome::Done));
    assert_eq!(session.pins["openai"], pin("new", true));
}

#[test]
fn k5_reset_new_and_compact() {
    let pins = [("openai", pin("a", false)), ("groq", pin("g", true))];
    let run = |source, change| {
        let mut session = session_with(Some(chosen("x", source)), &pins);
        transition::session(&mut session, &change).unwrap();
        (session.selected.is_some(), session.pins.len(), session.compaction_count)
    };
    let all = Release::ALL;
    assert_eq!(run(SelectionSource::Auto, Change::Reset { release: all }), (false, 0, 0));
    assert_eq!(run(SelectionSource::User, Change::Reset { release: all }), (true, 0, 0));
    assert_eq!(run(SelectionSource::Auto, Change::New { release: all }), (false, 0, 0));
    assert_eq!(run(SelectionSource::User, Change::New { release: all }), (false, 0, 0));
    assert_eq!(run(SelectionSource::Auto, Change::Compact { release: Release::AUTO }), (true, 1, 1));
}

#[test]
fn b5_a_legacy_override_survives_reset_like_a_users() {
    let mut legacy = chosen("x", SelectionSource::User);
    legacy.source = None;
    let mut session = session_with(Some(legacy), &[]);
    transition::session(&mut session, &Change::Reset { release: Release::ALL }).unwrap();
    assert!(session.selected.is_some());
}

// Properties.

#[derive(Clone, Debug)]
enum Event {
    Limited { model: u8, took: u64, hint: Option<i64> },
    Unpaid { took: u64 },
    Answered { model: u8, took: u64 },
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let took = 0..400_000_u64;
    let hint = proptest::option::of(-100_000_000..1_000_000_000_i64);
    let event = prop_oneof![
        4 => (0..3_u8, took.clone(), hint).prop_map(|(model, took, hint)| Event::Limited { model, took, hint }),
        1 => took.clone().prop_map(|took| Event::Unpaid { took }),
        1 => (0..3_u8, took).prop_map(|(model, took)| Event::Answered { model, took }),
    ];
    proptest::collection::vec((prop_oneof![3 => 0..600_000_u64, 1 => 0..200_000_000_u64], event), 1..60)
}

fn play(usage: &mut Usage, event: &Event, now: Timestamp) -> Option<Outcome> {
    let began = |took: &u64| now.before(Duration::from_millis(*took));
    match event {
        Event::Limited { model, took, hint } => {
            let mut failure = match hint {
                Some(ms) => hinted(now, Timestamp::from_millis(now.as_millis() + ms), DAY),
                None => limited(now),
            };
            failure.model = Some(format!("m{model}").into());
            failure.attempt_started_at = began(took);
            Some(transition::failure(usage, &failure, now))
        }
        Event::Unpaid { took } => {
            let failure = Failure { attempt_started_at: began(took), ..unpaid(now) };
            Some(transition::failure(usage, &failure, now))
        }
        Event::Answered { model, took } => {
            let mut success = answers(began(took));
            success.model = Some(format!("m{model}").into());
            transition::success(usage, &success, now);
            None
        }
    }
}

proptest! {
    #[test]
    fn windows_never_move_backwards_but_by_success(events in events()) {
        let (mut usage, mut now) = (Usage::default(), START);
        for (pause, event) in events {
            now = now.after(Duration::from_millis(pause));
            let before = usage.clone();
            let outcome = play(&mut usage, &event, now);
            for model in ["m0", "m1", "m2"] {
                let (was, is) = (before.blocked_until(Some(model), now), usage.blocked_until(Some(model), now));
                prop_assert!(outcome.is_none() || is >= was, "{event:?} shortened {was:?} to {is:?}");
                if was.is_none() && matches!(event, Event::Answered { .. }) {
                    prop_assert_eq!(is, None, "an answer opens nothing");
                }
            }
            if let Some(Outcome::Unchanged(_) | Outcome::Extended(_)) = outcome {
                prop_assert_eq!(&usage.ladders, &before.ladders, "inside a window nothing climbs");
            }
        }
    }

    #[test]
    fn ladders_climb_by_one_and_windows_keep_within_their_limits(events in events()) {
        let (mut usage, mut now) = (Usage::default(), START);
        for (pause, event) in events {
            now = now.after(Duration::from_millis(pause));
            let before = usage.clone();
            play(&mut usage, &event, now);
            for ladder in &usage.ladders {
                let was = before.ladders.iter().find(|l| l.model == ladder.model && l.schedule == ladder.schedule);
                let was = was.map_or(0, |l| l.step);
                prop_assert!(ladder.step == 1 || ladder.step == was || ladder.step == was + 1);
            }
            for window in usage.windows.iter().filter(|window| window.is_open(now)) {
                prop_assert!(window.until.since(now) <= DAY);
                prop_assert!(window.until.since(now) <= window.longest, "the guard finds nothing to cut");
            }
            for (at, window) in usage.windows.iter().enumerate() {
                let twins = usage.windows.iter().skip(at + 1);
                let mut twins = twins.filter(|w| w.model == window.model && w.schedule == window.schedule);
                prop_assert!(twins.next().is_none(), "one row for each ladder");
            }
        }
    }

    #[test]
    fn wherever_the_clock_jumps_no_window_outlasts_its_own_length(
        events in events(),
        jump in -400_i64..400,
    ) {
        let (mut usage, mut now) = (Usage::default(), START);
        for (pause, event) in events {
            now = now.after(Duration::from_millis(pause));
            play(&mut usage, &event, now);
        }
        let there = Timestamp::from_millis(now.as_millis() + jump * 86_400_000);
        transition::guard(&mut usage, there);
        for window in &usage.windows {
            prop_assert!(window.until.since(there) <= window.longest + transition::SKEW);
            prop_assert!(window.since <= there.after(transition::SKEW));
        }
        prop_assert!(there >= transition::calm_from(&usage), "once is enough");
    }

    #[test]
    fn the_same_events_give_the_same_usage(events in events()) {
        let play_all = || {
            let (mut usage, mut now) = (Usage::default(), START);
            for (pause, event) in &events {
                now = now.after(Duration::from_millis(*pause));
                play(&mut usage, event, now);
            }
            usage
        };
        prop_assert_eq!(play_all(), play_all());
    }
}

#[test]
fn e10_a_success_of_an_attempt_begun_at_the_same_instant_resets() {
    let mut usage = Usage::default();
    let mut row = limited(START);
    row.bucket = "timeout".into();
    row.window.as_mut().unwrap().after = Some(AfterInARow { count: 2, within: MINUTE });
    opened(transition::failure(&mut usage, &limited(START), START));
    transition::failure(&mut usage, &row, START);
    assert_eq!((usage.windows.len(), usage.ladders.len(), usage.streaks.len()), (1, 1, 1));
    assert!(transition::success(&mut usage, &answers(START), START.after(MINUTE)));
    assert_eq!(usage, Usage { last_used: Some(START), last_failure_at: Some(START), ..Usage::default() });
}

#[test]
fn e4_quiet_is_full_at_its_very_end() {
    let mut usage = Usage::default();
    let end = opened(transition::failure(&mut usage, &limited(START), START)).until;
    let mut nearly = usage.clone();
    let before = end.after(DAY).before(Duration::from_millis(1));
    assert_eq!(opened(transition::failure(&mut nearly, &limited(before), before)).step, 2);
    let at = end.after(DAY);
    assert_eq!(opened(transition::failure(&mut usage, &limited(at), at)).step, 1);
}

#[test]
fn e0_a_row_reaches_to_the_very_end_of_its_time() {
    let row = |at| {
        let mut row = limited(at);
        row.window.as_mut().unwrap().after = Some(AfterInARow { count: 2, within: MINUTE });
        row
    };
    for (span, counts) in [(MINUTE, true), (MINUTE + Duration::from_millis(1), false)] {
        let mut usage = Usage::default();
        transition::failure(&mut usage, &row(START), START);
        let at = START.after(span);
        let outcome = transition::failure(&mut usage, &row(at), at);
        assert_eq!(matches!(outcome, Outcome::Opened(_)), counts, "{span:?}");
    }
}

#[test]
fn e10_an_attempt_begun_as_the_window_was_set_climbs() {
    let mut usage = Usage::default();
    let first = opened(transition::failure(&mut usage, &limited(START), START));
    let late = first.until;
    assert_eq!(opened(transition::failure(&mut usage, &limited(first.since), late)).step, 2);
}

#[test]
fn e7_a_hint_that_says_the_same_end_changes_nothing() {
    let mut usage = Usage::default();
    let open = opened(transition::failure(&mut usage, &limited(START), START));
    let same = transition::failure(&mut usage, &hinted(START, open.until, DAY), START);
    assert_eq!(same, Outcome::Unchanged(open));
}

#[test]
fn e11_a_second_of_skew_is_no_jump() {
    let mut usage = Usage::default();
    let open = opened(transition::failure(&mut usage, &limited(START), START));
    let before = usage.clone();
    assert!(transition::guard(&mut usage, START.before(transition::SKEW)).is_empty());
    assert_eq!(usage, before);
    usage.last_used = Some(START.after(DAY));
    assert!(transition::guard(&mut usage, START.before(transition::SKEW)).is_empty());
    let taken_back = Some(START.before(transition::SKEW));
    assert_eq!(usage, Usage { last_used: taken_back, ..before }, "nothing else");
    let earlier = START.before(transition::SKEW).before(Duration::from_millis(1));
    let cuts = transition::guard(&mut usage, earlier);
    assert_eq!(cuts, [(usage.windows[0].clone(), open.until)]);
    assert_eq!((usage.windows[0].since, usage.windows[0].until), (earlier, earlier.after(MINUTE)));
    assert_eq!((usage.ladders[0].climbed_at, usage.last_failure_at), (earlier, Some(earlier)));
}
