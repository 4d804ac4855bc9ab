//! A year of 1,000 sessions with 24 turns a day each and 5 % random failures, on the virtual clock:
//! `cargo bench --bench year`. A number of days may be given: `cargo bench --bench year -- 30`.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a bench may fail so")]
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench looks at the clock and prints")]
#![expect(clippy::cast_precision_loss, reason = "a mean of microseconds need not be exact")]

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use pointsman::{
    config::Config,
    host::simulate::{Act, Ask, Line, Outcome, Player, Reply, Scenario, Turn, Watch, prepare},
    lang::load,
    run::{Attempt, Event, Routing},
    signal::Signal,
    state::memory::MemoryStore,
    table::{NoSettings, Table},
    time::Timestamp,
};

#[path = "support/limits.rs"]
mod limits;

/// What a year may take.
const LIMIT_SECONDS: f64 = 180.0;

#[path = "support/dice.rs"]
mod dice;
use dice::Dice;

const SESSIONS: u64 = 1_000;
const TURNS_A_DAY: u64 = 24;
const DAY: u64 = 86_400_000;

#[derive(Default)]
struct Counts {
    answered: u64,
    failed: u64,
    windows: u64,
    ended_without: u64,
}

impl Watch for Counts {
    fn line(&mut self, line: Line) {
        match line.event {
            Event::Answered { .. } => self.answered += 1,
            Event::Failed { .. } => self.failed += 1,
            Event::Window { .. } => self.windows += 1,
            Event::Surfaced { .. } | Event::Exhausted { .. } => self.ended_without += 1,
            _ => {}
        }
    }
}

const SCENARIO: &str = "
config:
  agents: { defaults: { model: { primary: openai/gpt-5.5, fallbacks: [anthropic/claude-opus-4-8, google/gemini-3] } } }
profiles:
  - { id: 'openai:a', kind: oauth }
  - { id: 'openai:b', kind: api_key }
  - { id: 'anthropic:a', kind: api_key }
  - { id: 'google:a', kind: api_key }
";

fn main() -> ExitCode {
    let days = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(365_u64);
    let scenario = Scenario::parse(SCENARIO).expect("the scenario is right");
    let (rules, _) = load::shipped().expect("the shipped rules load");
    let table = Arc::new(Table::compile(rules, &NoSettings).expect("the shipped rules compile"));
    let routing = Arc::new(Routing::from(&scenario.config as &Config));
    let (store, start) = (MemoryStore::new(), Timestamp::from_millis(1_767_225_600_000));
    prepare(&store, &scenario.profiles, start).expect("a store in memory takes profiles");

    let failures: [Signal; 4] = [
        (Some(429), "Rate limit reached for requests"),
        (Some(529), "Overloaded"),
        (None, "Request timed out"),
        (Some(500), "Internal server error"),
    ]
    .map(|(status, message)| Signal { status, message: Some(message.into()), ..Signal::default() });
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut answer = |_: &Attempt, _: Duration| {
        let roll = dice.next();
        let takes = Duration::from_millis(500 + roll % 20_000);
        let outcome = match failures.get((roll / 1_000 % 80) as usize) {
            Some(signal) => Outcome::Fail(Box::new(signal.clone())),
            None => Outcome::Ok,
        };
        Reply { takes, outcome, ..Reply::default() }
    };
    // One turn every 3.6 seconds: each session has its own in every hour.
    let gap = DAY / TURNS_A_DAY / SESSIONS;
    let names: Vec<String> = (0..SESSIONS).map(|n| format!("s{n}")).collect();
    let turns = (0..days * TURNS_A_DAY * SESSIONS).map(|n| Turn {
        at: Duration::from_millis(n * gap),
        session: names[(n % SESSIONS) as usize].clone(),
        act: Act::Ask(Ask::default()),
    });

    let mut counts = Counts::default();
    let begun = Instant::now();
    let mut player = Player::new(table, routing, &store, start, 1);
    player.play(turns, &mut answer, &mut counts).expect("a store in memory can be read");
    let took = begun.elapsed();
    let all = days * TURNS_A_DAY * SESSIONS;
    println!(
        "{days} days, {all} turns in {took:.1?} ({:.1} µs a turn): {} answered, {} without an answer, {} failures, {} windows",
        took.as_secs_f64() * 1e6 / all as f64,
        counts.answered,
        counts.ended_without,
        counts.failed,
        counts.windows,
    );
    let mut limits = limits::Limits::default();
    limits.at_most("a year at this pace, s", took.as_secs_f64() * 365.0 / days as f64, LIMIT_SECONDS);
    limits.end()
}
