//! A scenario in YAML → the simulator.

use std::sync::Arc;

use pointsman::{
    host::simulate::{Line, Scenario},
    run::Event,
    state::memory::MemoryStore,
    time::Timestamp,
};

use crate::shipped;

/// As many turns, entries and profiles as a fuzzer needs.
const MOST: usize = 24;

/// Any text is a scenario or refused; a scenario plays to its end, time never goes backwards, every
/// run that calls somebody comes to exactly one end, and the same seed gives the same timeline.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut scenario = match Scenario::parse(text) {
        Ok(scenario) => scenario,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    scenario.turns.truncate(MOST);
    scenario.providers.truncate(MOST);
    scenario.profiles.truncate(MOST);
    let lines = play(&scenario);
    let mut last = std::time::Duration::ZERO;
    let mut ends = std::collections::BTreeMap::<u64, usize>::new();
    for line in &lines {
        assert!(line.at >= last, "time goes backwards: {line:?}");
        last = line.at;
        let end = matches!(
            line.event,
            Event::Answered { .. }
                | Event::Surfaced { .. }
                | Event::Switched { .. }
                | Event::Exhausted { .. }
        );
        if line.run > 0 {
            *ends.entry(line.run).or_default() += usize::from(end);
        }
    }
    assert!(ends.values().all(|ends| *ends <= 1), "two ends: {lines:#?}");
    let again = play(&scenario);
    assert_eq!(lines, again, "the same seed");
    for line in &lines {
        serde_json::to_string(line).expect("a line is JSON");
    }
}

fn play(scenario: &Scenario) -> Vec<Line> {
    let (store, mut lines) = (MemoryStore::new(), Vec::new());
    let Ok(start) = scenario.starts(None, Timestamp::EPOCH) else { return lines };
    let played = scenario.play(Arc::clone(shipped::table()), &store, start, 1, &mut lines);
    played.expect("a scenario plays to its end");
    lines
}
