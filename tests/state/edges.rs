//! What a change leaves alone, and what it does at the very edge.

use super::*;

/// Failures of two models and of the profile, all at `START`: windows, ladders and rows of each.
fn of_everything() -> Usage {
    let mut usage = Usage::default();
    for (model, scope) in [("m1", Scope::Model), ("m2", Scope::Model), ("m1", Scope::Profile)] {
        let mut opens = fails("rate_limit", Some(intent(Lane::Cooldown, scope, short())), START);
        opens.model = Some(model.into());
        opened(transition::failure(&mut usage, &opens, START));
    }
    let row = |model: Option<&str>| Streak {
        model: model.map(str::to_owned),
        bucket: "timeout".into(),
        count: 1,
        last: START,
    };
    usage.streaks = [Some("m1"), Some("m2"), None].map(row).to_vec();
    usage
}

/// The models of windows, ladders and rows; the profile's is `-`.
fn models(usage: &Usage) -> [String; 3] {
    let list = |models: Vec<&Option<String>>| {
        models.into_iter().map(|model| model.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(" ")
    };
    [
        list(usage.windows.iter().map(|window| &window.model).collect()),
        list(usage.ladders.iter().map(|ladder| &ladder.model).collect()),
        list(usage.streaks.iter().map(|row| &row.model).collect()),
    ]
}

#[test]
fn a_success_ends_what_it_speaks_for() {
    for (reset_model, reset_profile, left) in
        [(true, true, "m2"), (true, false, "m2 -"), (false, true, "m1 m2"), (false, false, "m1 m2 -")]
    {
        let mut usage = of_everything();
        let answer = Success { reset_model, reset_profile, ..answers(START) };
        let steady = transition::is_steady(&usage, &answer);
        assert_eq!(transition::success(&mut usage, &answer, START), !steady);
        assert_eq!(steady, left == "m1 m2 -", "{left}");
        assert_eq!(models(&usage), [left; 3], "windows, ladders and rows");
    }
}

#[test]
fn a_success_begun_earlier_ends_nothing_that_is_newer() {
    let mut usage = of_everything();
    let answer = answers(START.before(MINUTE));
    assert!(transition::is_steady(&usage, &answer));
    assert!(!transition::success(&mut usage, &answer, START));
    assert_eq!(models(&usage), ["m1 m2 -"; 3]);
    assert_eq!(usage.error_count, 3);
    // One of each alone is enough to make it more than a steady one, and is ended alone.
    let whole = of_everything();
    for keep in 0..3 {
        let mut usage = Usage { last_used: Some(START), ..Usage::default() };
        match keep {
            0 => usage.windows = whole.windows.clone(),
            1 => usage.ladders = whole.ladders.clone(),
            _ => usage.streaks = whole.streaks.clone(),
        }
        assert!(!transition::is_steady(&usage, &answers(START)), "{keep}");
        assert!(transition::success(&mut usage, &answers(START), START));
        assert_eq!(models(&usage)[keep], "m2");
    }
}

#[test]
fn a_ladder_stays_with_an_open_window_of_its_own() {
    // An attempt from before the ladder climbed opens a window anew: that is newer than the ladder.
    let mut usage = of_everything();
    let late = START.after(2 * MINUTE);
    let window = opened(transition::failure(&mut usage, &limited(START.before(MINUTE)), late));
    assert_eq!((window.step, window.since), (1, late));
    transition::success(&mut usage, &Success { reset_profile: false, ..answers(START) }, late);
    assert_eq!(models(&usage)[1], "m1 m2 -");
    // One of another schedule does not keep it.
    usage.windows[2].schedule = "other".into();
    usage.windows[2].model = Some("m1".into());
    assert!(usage.windows[2].since > START);
    transition::success(&mut usage, &Success { reset_profile: false, ..answers(START) }, late);
    assert_eq!(models(&usage)[1], "m2 -");
}

#[test]
fn a_success_forgets_counts_unless_a_failure_is_newer() {
    let counted = |last: Option<Timestamp>| Usage {
        error_count: 2,
        failure_counts: BTreeMap::from([("timeout".into(), 2)]),
        last_failure_at: last,
        ..Usage::default()
    };
    for (last, forgets) in
        [(None, true), (Some(START), true), (Some(START.after(Duration::from_millis(1))), false)]
    {
        let mut usage = counted(last);
        assert_eq!(transition::success(&mut usage, &answers(START), START), forgets, "{last:?}");
        assert_eq!((usage.error_count == 0, usage.failure_counts.is_empty()), (forgets, forgets));
    }
}

#[test]
fn a_clear_keeps_the_last_use_and_the_other_models() {
    let mut usage = of_everything();
    transition::clear(&mut usage, Some("m1"));
    assert_eq!(models(&usage), ["m2 -"; 3]);
    assert_eq!(usage.error_count, 3, "counters are the profile's");
    transition::clear(&mut usage, None);
    assert_eq!(usage, Usage { last_used: Some(START), ..Usage::default() });
}

#[test]
fn what_is_forgotten_after_quiet_is_not_the_last_use() {
    let mut usage = of_everything();
    let later = START.after(DAY).after(HOUR);
    transition::used(&mut usage, later);
    let mut failure = limited(later);
    failure.attempt_started_at = START;
    opened(transition::failure(&mut usage, &failure, later));
    assert_eq!(models(&usage), ["m1", "m1", ""], "all else is");
    assert_eq!((usage.error_count, usage.last_used, usage.last_failure_at), (1, Some(later), Some(later)));
    transition::used(&mut usage, START);
    assert_eq!(usage.last_used, Some(later), "the latest");
}

#[test]
fn a_failure_of_another_bucket_ends_the_rows_of_its_model_and_of_the_profile() {
    let mut usage = of_everything();
    transition::failure(&mut usage, &fails("server_error", None, START), START);
    assert_eq!(models(&usage)[2], "m2");
    transition::failure(
        &mut usage,
        &Failure { model: Some("m2".into()), ..fails("timeout", None, START) },
        START,
    );
    assert_eq!(models(&usage)[2], "m2", "its own bucket's go on");
}

#[test]
fn rows_of_two_models_count_apart() {
    let mut usage = Usage::default();
    let mut fails = |model: &str| {
        let mut failure = limited(START);
        failure.model = Some(model.into());
        failure.window.as_mut().unwrap().after = Some(AfterInARow { count: 2, within: MINUTE });
        transition::failure(&mut usage, &failure, START)
    };
    assert_eq!([fails("m1"), fails("m2")], [Outcome::NoWindow, Outcome::NoWindow]);
    assert_eq!(opened(fails("m2")).model.as_deref(), Some("m2"));
}

#[test]
fn a_guard_takes_back_all_that_lies_ahead() {
    let mut usage = of_everything();
    transition::used(&mut usage, START);
    let earlier = START.before(HOUR);
    assert_eq!(transition::guard(&mut usage, earlier).len(), 3);
    assert!(usage.windows.iter().all(|w| w.since == earlier && w.until == earlier.after(MINUTE)));
    assert!(usage.ladders.iter().all(|ladder| ladder.climbed_at == earlier));
    assert!(usage.streaks.iter().all(|row| row.last == earlier));
    assert_eq!((usage.last_used, usage.last_failure_at), (Some(earlier), Some(earlier)));
    assert_eq!(transition::calm_from(&usage), earlier.before(transition::SKEW));
    // Each alone is enough to be looked at.
    for alone in [
        Usage { last_used: Some(START), ..Usage::default() },
        Usage { last_failure_at: Some(START), ..Usage::default() },
        Usage { streaks: of_everything().streaks, ..Usage::default() },
        Usage { ladders: of_everything().ladders, ..Usage::default() },
    ] {
        assert_eq!(transition::calm_from(&alone), START.before(transition::SKEW));
    }
    assert!(transition::calm_from(&Usage::default()) < START.before(1000 * DAY));
}
