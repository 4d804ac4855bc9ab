//! Which errors two rule sets judge differently. Memory grows with the number of pairs of rules,
//! not with the number of errors.

use std::collections::HashMap;

use super::slots::{self, Slot};
use crate::{
    classify::{Scratch, Verdict},
    lang::tree::{BucketId, RuleId},
    signal::{Evidence, SignalRef},
    table::Table,
    time::format_duration,
};

/// Two rule sets, and what they made of the errors so far. `S` is what is kept of a sample.
#[derive(Debug)]
pub struct Comparison<'t, S> {
    old: &'t Table,
    new: &'t Table,
    scratch: [Scratch; 2],
    /// Both read an error the same way.
    alike: bool,
    pairs: HashMap<(Side, Side), Pair>,
    groups: Vec<Group<S>>,
    samples: usize,
    errors: u64,
    by_other_rule: u64,
}

/// What one rule set makes of an error.
type Side = (Option<RuleId>, BucketId);

/// What is known of two outcomes that came together.
#[derive(Debug)]
struct Pair {
    /// What differs, but for reset times, which each error has its own of.
    changes: Vec<Change>,
    /// The names of the rules differ.
    other_rule: bool,
    /// The place in `groups`, once an error has come out differently.
    place: Option<usize>,
}

/// Errors that went the same way.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<S> {
    /// The old rule set's deciding rule; `None` when nothing matched.
    pub old: Option<RuleId>,
    /// The new rule set's.
    pub new: Option<RuleId>,
    /// What differs.
    pub changes: Vec<Change>,
    /// How many errors.
    pub count: u64,
    /// The first of them.
    pub samples: Vec<S>,
}

/// One thing that the two rule sets see differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `bucket`, `window`, `rotate`, `retry`, `end`, `say`, `host` or `reset`.
    pub what: &'static str,
    /// In the old rule set.
    pub old: String,
    /// In the new one.
    pub new: String,
}

/// How all errors came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<S> {
    /// How many were judged.
    pub errors: u64,
    /// How many of them differently.
    pub changed: u64,
    /// How many have the same bucket and reaction by another rule.
    pub by_other_rule: u64,
    /// The different ones, the largest group first.
    pub groups: Vec<Group<S>>,
}

impl<'t, S> Comparison<'t, S> {
    /// Nothing judged yet; `samples` is how many are kept of each group.
    #[must_use]
    pub fn new(old: &'t Table, new: &'t Table, samples: usize) -> Self {
        Self {
            old,
            new,
            scratch: [Scratch::default(), Scratch::default()],
            alike: old.reads_like(new),
            pairs: HashMap::new(),
            groups: Vec::new(),
            samples,
            errors: 0,
            by_other_rule: 0,
        }
    }

    /// Judges an error with both. `signal.received_at` must be set, or resets count from two clocks.
    pub fn judge(&mut self, signal: &SignalRef<'_>, sample: impl FnOnce(&Evidence) -> S) {
        let [first, second] = &mut self.scratch;
        let old = self.old.classify(signal, first);
        let new = if self.alike {
            self.new.classify_evidence(first.evidence(), signal.received_at, second)
        } else {
            self.new.classify(signal, second)
        };
        self.errors += 1;
        let pair = self.pairs.entry(((old.rule, old.bucket), (new.rule, new.bucket))).or_insert_with(|| {
            let (old, new) = ((self.old, &old), (self.new, &new));
            Pair {
                changes: changes(old, new, signal.provider),
                other_rule: name(old) != name(new),
                place: None,
            }
        });
        let reset_moved = old.reset.map(|hint| hint.at) != new.reset.map(|hint| hint.at);
        if pair.changes.is_empty() && !reset_moved {
            self.by_other_rule += u64::from(pair.other_rule);
            return;
        }
        let place = *pair.place.get_or_insert_with(|| {
            let changes = pair.changes.clone();
            self.groups.push(Group { old: old.rule, new: new.rule, changes, count: 0, samples: Vec::new() });
            self.groups.len() - 1
        });
        let Some(group) = self.groups.get_mut(place) else { return };
        if reset_moved && group.changes.iter().all(|change| change.what != RESET) {
            group.changes.push(Change { what: RESET, old: reset(&old, signal), new: reset(&new, signal) });
        }
        group.count += 1;
        if group.samples.len() < self.samples {
            group.samples.push(sample(first.evidence()));
        }
    }

    /// How it came out.
    #[must_use]
    pub fn finish(self) -> Outcome<S> {
        let Self { mut groups, errors, by_other_rule, .. } = self;
        groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.new, group.old));
        Outcome { errors, changed: groups.iter().map(|group| group.count).sum(), by_other_rule, groups }
    }
}

fn name<'t>((table, verdict): (&'t Table, &Verdict)) -> Option<&'t str> {
    verdict.rule.map(|rule| &*table.rule(rule).name)
}

/// What two verdicts differ in, but for reset times.
fn changes(old: (&Table, &Verdict), new: (&Table, &Verdict), provider: Option<&str>) -> Vec<Change> {
    let both = |(table, verdict): (&Table, &Verdict)| {
        let bucket = Slot { what: "bucket", says: table.bucket(verdict.bucket).name.to_string() };
        std::iter::once(bucket).chain(slots::of(table, verdict, provider))
    };
    let pairs = both(old).zip(both(new)).filter(|(old, new)| old != new);
    pairs.map(|(old, new)| Change { what: old.what, old: old.says, new: new.says }).collect()
}

/// The change that each error may have a different one of; a group shows its first.
const RESET: &str = "reset";

fn reset(verdict: &Verdict, signal: &SignalRef<'_>) -> String {
    match (verdict.reset, signal.received_at) {
        (Some(hint), Some(now)) => format_duration(hint.at.since(now)),
        (Some(hint), None) => format!("{}ms since 1970", hint.at.as_millis()),
        (None, _) => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{lang::load, table::NoSettings, time::Timestamp};

    const RULES: &str = "language 1
bucket busy { http 503; transient }
bucket billing { http 402 }
backoff short = steps 1m, 5m
reset retry_after from header \"retry-after\" in seconds
on busy { cooldown model using short until reset at least 1s at most 1h; rotate up to 1; fallback }
on billing { fallback }
rule slow -> busy when text has \"slow down\"
rule empty -> billing when text has \"balance\"
";

    fn table(text: &str) -> Table {
        let (rules, _) = load::from_text(text).unwrap();
        Table::compile(rules, &NoSettings).unwrap()
    }

    fn compare(old: &str, new: &str) -> Outcome<String> {
        let (old, new) = (table(old), table(new));
        let mut comparison = Comparison::new(&old, &new, 2);
        let headers = [("retry-after".to_owned(), "30".to_owned())];
        for message in ["slow down 1", "slow down 2", "slow down 3", "no balance", "odd"] {
            let signal = SignalRef {
                message: Some(message),
                headers: crate::signal::Headers::Owned(&headers),
                received_at: Some(Timestamp::from_millis(0)),
                ..SignalRef::default()
            };
            comparison.judge(&signal, |_| message.to_owned());
        }
        comparison.finish()
    }

    fn told(outcome: &Outcome<String>) -> Vec<String> {
        let change = |change: &Change| format!("{}: {} > {}", change.what, change.old, change.new);
        outcome.groups.iter().flat_map(|group| &group.changes).map(change).collect()
    }

    #[test]
    fn the_same_rules_differ_in_nothing() {
        let same = compare(RULES, RULES);
        assert_eq!((same.errors, same.changed, same.by_other_rule), (5, 0, 0));
        let renamed = RULES.replace("short", "quick").replace("rule slow", "rule slower");
        let renamed = compare(RULES, &renamed);
        assert_eq!((renamed.changed, renamed.by_other_rule), (0, 3), "a name is no reaction");
    }

    #[test]
    fn a_moved_bucket_is_told_with_what_follows() {
        let moved = compare(RULES, &RULES.replace("slow -> busy", "slow -> billing"));
        assert_eq!((moved.changed, moved.groups.len(), moved.groups[0].count), (3, 1, 3));
        assert_eq!(moved.groups[0].samples, ["slow down 1", "slow down 2"]);
        assert!(told(&moved).contains(&"bucket: busy > billing".to_owned()), "{:?}", told(&moved));
        assert!(told(&moved).contains(&"reset: 30s > none".to_owned()), "{:?}", told(&moved));
    }

    #[test]
    fn a_reaction_counts_without_a_moved_bucket() {
        for (from, to, says) in [
            (
                "5m\n",
                "7m\n",
                "window: cooldown model for 1m, 5m, until reset (1s to 1h) > cooldown model for 1m, 7m, until reset (1s to 1h)",
            ),
            ("up to 1;", "up to 2;", "rotate: up to 1 > up to 2"),
            ("1h; rotate up to 1; fallback", "1h; rotate up to 1; surface", "end: fallback > surface"),
            ("http 503; transient", "http 503", "host: http 503, transient > http 503"),
            ("at least 1s", "at least 40s", "reset: 30s > 40s"),
            ("in seconds", "in minutes", "reset: 30s > 30m"),
        ] {
            let changed = compare(RULES, &RULES.replace(from, to));
            assert_eq!(changed.changed, 3, "{from} {to}");
            assert!(told(&changed).iter().any(|told| told == says), "{says}\n{:?}", told(&changed));
        }
    }

    #[test]
    fn rules_that_read_errors_differently_are_compared_as_they_read() {
        let echo = format!("{RULES}list echo_keys = [\"said\"]\n");
        let (old, new) = (table(RULES), table(&echo));
        let mut comparison = Comparison::new(&old, &new, 1);
        let message = r#"{"said":{"message":"slow down"}}"#;
        comparison.judge(&SignalRef { message: Some(message), ..SignalRef::default() }, |_| ());
        assert_eq!(comparison.finish().changed, 1);
    }

    #[test]
    fn a_dropped_rule_leaves_its_errors_unclassified() {
        let dropped = compare(RULES, &RULES.replace("rule empty -> billing when text has \"balance\"", ""));
        assert_eq!((dropped.changed, dropped.groups[0].new), (1, None));
        assert!(told(&dropped).contains(&"bucket: billing > unclassified".to_owned()));
    }
}
