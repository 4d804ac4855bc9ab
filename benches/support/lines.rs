//! As many distinct errors as wanted: the corpus over and over, each time with another provider, model and wrapper,
//! other numbers and other words.

use std::{
    fmt::Write as _,
    io::Write,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};

#[path = "dice.rs"]
mod dice;
use dice::Dice;

/// Lines that are made and written at a time.
const BATCH: usize = 10_000;

const MODELS: &str = "atlas boreal cedar delta ember falcon gamma harbor indigo juniper kestrel lumen";

const WRAPPERS: [&str; 6] =
    ["", "", "Error: ", "LLM request failed: ", "upstream said: ", "agent run failed before reply: "];

const DIGITS: [char; 9] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// What a host or a gateway may add in its own words.
const WORDS: &str = "worker queue shard lane tenant cluster replica batch zone pool router cache bridge mirror socket \
    session window bucket ticket branch folder letter garden winter summer morning evening silver copper marble \
    paper orange violet purple yellow planet comet harvest kitchen bottle candle lantern anchor canvas \
    meadow valley island tunnel ladder hammer pencil basket blanket feather pebble thunder velvet walnut";

/// Makes distinct JSON lines.
struct Lines {
    rows: Vec<Map<String, Value>>,
    providers: Vec<Value>,
    next: usize,
}

impl Lines {
    fn new() -> Self {
        let rows = include_str!("../../tests/corpus/field.jsonl").lines();
        let rows = rows.map(|line| serde_json::from_str(line).unwrap());
        // What is not evidence would only make the lines longer than a host's are.
        let rows = rows.map(|mut row: Map<_, _>| {
            row.retain(|key, _| !["id", "truth", "why", "source"].contains(&key.as_str()));
            row
        });
        let rows: Vec<_> = rows.collect();
        let providers = rows.iter().filter_map(|row| row.get("provider").cloned()).collect();
        Self { rows, providers, next: 0 }
    }

    /// Appends `count` lines that none before was like.
    fn write(&mut self, count: usize, out: &mut String) {
        for _ in 0..count {
            let number = self.next;
            self.next += 1;
            let mut dice = Dice(spread(number));
            let row = pick(&self.rows, number);
            let model = format!("{}-{}.{}", dice.word(MODELS), dice.roll(9), dice.roll(10));
            write!(out, "{{\"id\":{number},\"model\":\"{model}\"").unwrap();
            for (key, value) in row.iter().filter(|(key, _)| *key != "model") {
                match (key.as_str(), value.as_str()) {
                    ("message", Some(text)) => {
                        let text = vary(text, row.get("model").and_then(Value::as_str), &model, &mut dice);
                        write!(out, ",\"message\":{}", Value::String(text)).unwrap();
                    }
                    // Every other one comes from somebody else.
                    ("provider", _) if dice.roll(2) == 0 => {
                        let other = dice.roll(self.providers.len());
                        write!(out, ",\"provider\":{}", pick(&self.providers, other)).unwrap();
                    }
                    _ => write!(out, ",\"{key}\":{value}").unwrap(),
                }
            }
            out.push_str("}\n");
        }
    }
}

/// A text in other words: another model, other numbers (a status stays), a wrapper before, and words of its own where
/// it says most.
fn vary(text: &str, old: Option<&str>, model: &str, dice: &mut Dice) -> String {
    let mut text = old.map_or_else(|| text.to_owned(), |old| text.replace(old, model));
    let words = [(); 4].map(|()| dice.word(WORDS)).join(" ");
    text.insert_str(prose(&text), &format!("{words}, "));
    // What leads a payload, a page or a status stays in its place.
    let plain = text.starts_with(|c: char| c.is_alphabetic());
    let mut out = if plain { (*pick(&WRAPPERS, dice.roll(6))).to_owned() } else { String::new() };
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let (number, behind) = from.split_at(from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len()));
        out.push_str(before);
        match number.len() {
            1 | 3 => out.push_str(number),
            length => (0..length).for_each(|_| out.push(*pick(&DIGITS, dice.roll(9)))),
        }
        rest = behind;
    }
    write!(out, "{rest} (request req_{:016x})", dice.next()).unwrap();
    out
}

/// Where the longest stretch of words begins.
fn prose(text: &str) -> usize {
    let other = |c: char| !c.is_alphabetic() && !matches!(c, ' ' | ',' | '\'');
    let longest = text.split(other).max_by_key(|part| part.len()).unwrap_or_default();
    let at = text.find(longest).unwrap_or_default();
    at + longest.len() - longest.trim_start_matches([' ', ',', '\'']).len()
}

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        (self.next() >> 20) as usize % below
    }

    fn word(&mut self, words: &'static str) -> &'static str {
        let count = words.split_whitespace().count();
        words.split_whitespace().nth(self.roll(count)).unwrap_or_default()
    }
}

/// One of some, counted round and round.
fn pick<T>(from: &[T], at: usize) -> &T {
    from.get(at % from.len()).unwrap()
}

/// Writes so many distinct lines; the time that writing took, without their making.
pub fn feed(input: &mut impl Write, count: usize) -> Duration {
    let mut lines = Lines::new();
    let mut text = String::new();
    let mut time = Duration::ZERO;
    for _ in 0..count / BATCH {
        text.clear();
        lines.write(BATCH, &mut text);
        let start = Instant::now();
        input.write_all(text.as_bytes()).unwrap();
        time += start.elapsed();
    }
    time
}

/// Another number for each number, that does not look like a count.
fn spread(number: usize) -> u64 {
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
