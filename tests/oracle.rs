//! The table against a slow and obvious classifier: on the corpus, on generated errors and on generated
//! rules. `POINTSMAN_ORACLE_PAIRS` says how many pairs of rules and an error are compared (a
//! thousand if it is not set).

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may fail so")]

mod dice;
mod errors;
mod reference;
mod trees;
mod written;

use pointsman::{
    classify::{Scratch, explain},
    lang::{
        diagnostic::Severity,
        load::{self, files::Memory},
        source::{Span, Spanned},
        tree::{Cond, Expectation, Field, Op, Phrases, Quantifier, RuleId, Ruleset, Test},
    },
    signal::{Evidence, Segment, SegmentKind, Signal},
    table::{NoSettings, Table},
    time::Timestamp,
};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};

use self::{
    dice::Dice,
    errors::Stock,
    reference::{Case, Reference, fold},
    trees::{empty_rules, rule},
    written::Written,
};
use crate::support;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// What has been compared.
#[derive(Debug, Default)]
struct Tally {
    pairs: usize,
    rule_sets: usize,
    decided: usize,
    observed: usize,
    resets: usize,
    explained: usize,
}

/// What a verdict hangs on.
fn told(evidence: &Evidence) -> String {
    let Evidence { status, statuses, leading_number, body, provider, model, headers, aborted, .. } = evidence;
    let texts = evidence.segments.iter().map(|one| (one.kind, evidence.original_text(one)));
    let texts: Vec<_> = texts.collect();
    format!("{:#?}", (texts, (status, statuses, leading_number, body, aborted), (provider, model, headers)))
}

impl Tally {
    /// One pair: everything that a verdict carries.
    fn evidence(
        &mut self,
        table: &Table,
        evidence: &Evidence,
        now: Option<Timestamp>,
        scratch: &mut Scratch,
    ) {
        let verdict = table.classify_evidence(evidence, now, scratch);
        let reference = Reference { rules: table.ruleset(), settings: table.settings() };
        let expected = reference.verdict(&Case::new(evidence), now);
        let name = |rule: Option<RuleId>| rule.map(|rule| &*table.rule(rule).name);
        assert!(
            verdict == expected,
            "the table says {verdict:?} by {:?},\nthe reference {expected:?} by {:?},\nof {}",
            name(verdict.rule),
            name(expected.rule),
            told(evidence),
        );
        self.pairs += 1;
        self.decided += usize::from(verdict.rule.is_some());
        self.observed += usize::from(!verdict.observed.is_empty());
        self.resets += usize::from(verdict.reset.is_some());
    }

    /// One pair as a host gives it. That the texts are folded as they should be is seen here too, and
    /// at times that the explanation tells of each rule what the reference says.
    fn signal(&mut self, table: &Table, signal: &Signal, scratch: &mut Scratch) {
        let mut evidence = Evidence::default();
        table.normalise(&signal.as_ref(), &mut evidence);
        for segment in &evidence.segments {
            let folded = evidence.folded_text(segment);
            assert_eq!(folded, fold(evidence.original_text(segment)), "{signal:?}");
        }
        self.evidence(table, &evidence, signal.received_at, scratch);
        let verdict = table.classify(&signal.as_ref(), scratch);
        assert_eq!(verdict, table.classify_evidence(&evidence, signal.received_at, scratch), "{signal:?}");
        if self.pairs.is_multiple_of(40) && evidence.folded.len() < 10_000 {
            self.explained += 1;
            let shown = explain(table, &signal.as_ref(), NOW);
            let reference = Reference { rules: table.ruleset(), settings: table.settings() };
            let case = Case::new(&evidence);
            assert_eq!(
                (shown.verdict.bucket, shown.verdict.rule),
                (verdict.bucket, verdict.rule),
                "{signal:?}"
            );
            for considered in &shown.considered {
                let rule = table.ruleset().rules.iter().find(|rule| *rule.name == *considered.rule).unwrap();
                assert_eq!(
                    considered.holds,
                    reference.rule_holds(rule, &case),
                    "{} of {signal:?}",
                    rule.name
                );
            }
        }
    }

    fn signals(&mut self, table: &Table, rows: &[Signal], count: usize, dice: &mut Dice) {
        let stock = Stock::of(table.ruleset(), rows);
        let mut scratch = Scratch::default();
        self.rule_sets += 1;
        for _ in 0..count {
            self.signal(table, &stock.error(dice), &mut scratch);
        }
    }
}

/// The rows of a corpus file, as a host would report them.
pub fn corpus(name: &str) -> Vec<Signal> {
    let path = support::root().join("tests/corpus").join(name);
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|row| Signal {
            provider: text(&row["provider"]),
            model: text(&row["model"]),
            status: row["status"].as_u64().and_then(|status| u16::try_from(status).ok()),
            code: text(&row["code"]),
            error_type: text(&row["errorType"]),
            message: text(&row["message"]),
            received_at: Some(NOW),
            ..Signal::default()
        })
        .collect()
}

fn all_rows() -> Vec<Signal> {
    ["field.jsonl", "reference-host.jsonl", "extra.jsonl"].iter().flat_map(|name| corpus(name)).collect()
}

fn compiled(loaded: load::Loaded, what: &str) -> Table {
    let (rules, _) = loaded.unwrap_or_else(|error| {
        let errors = error.diagnostics.iter().filter(|one| one.severity() == Severity::Error);
        panic!("{:#?} in {what}", errors.map(|one| (&one.message, &one.labels)).collect::<Vec<_>>())
    });
    Table::compile(rules, &NoSettings).unwrap()
}

/// The table of the shipped rules.
pub fn shipped() -> Table {
    compiled(support::rules::rules(), "the shipped rules")
}

fn asked_for(case: &Expectation) -> Option<RuleId> {
    match case {
        Expectation::Verdict { by, .. } => *by,
        Expectation::Backoff { .. } => None,
    }
}

/// The shipped rules below and above an operator's own, and without one of theirs.
fn overlaid(shipped: &Ruleset, dice: &mut Dice) -> Table {
    let (above, below) = written::around(dice);
    // A test that asks for a rule by name forbids to drop it.
    let asked: Vec<_> = shipped.tests.iter().flat_map(|test| &test.cases).filter_map(asked_for).collect();
    let free: Vec<_> =
        (0u32..).map(RuleId).zip(&shipped.rules).filter(|(id, _)| !asked.contains(id)).collect();
    let dropped = &dice.pick(&free).1.name;
    let text = format!(
        "language 1\nlist l0 = [\"quota\"]\nlist l1 = [\"limit\", \"no credits\"]\n{above}use default\n{below}drop rule {dropped}\n"
    );
    compiled(support::rules::from_text(&text), &text)
}

/// A table of generated files, whose rules must stand in the order that was meant.
fn written(dice: &mut Dice) -> Table {
    let Written { root, base, order } = Written::new(dice);
    let files = Memory::new().with("main.rules", root.clone()).with("base.rules", base.clone());
    let table = compiled(load::load(&files, "main.rules"), &format!("{root}\n=== base.rules\n{base}"));
    let names: Vec<&str> = table.ruleset().rules.iter().map(|rule| &*rule.name).collect();
    assert_eq!(names, order, "{root}\n=== base.rules\n{base}");
    table
}

#[expect(clippy::disallowed_methods, reason = "the million is asked for by it")]
fn wanted() -> usize {
    let given = std::env::var("POINTSMAN_ORACLE_PAIRS").ok();
    given.map_or(1_000, |count| count.parse().unwrap())
}

/// Rounds of a thousand pairs: with the shipped rules, with generated files and with generated trees.
fn compared(pairs: usize, seed: u8) -> Tally {
    let (rows, shipped) = (all_rows(), shipped());
    let mut dice = Dice::new(seed.into());
    let mut runner = TestRunner::new_with_rng(
        ProptestConfig::default(),
        TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
    );
    let mut tally = Tally::default();
    for round in 0..pairs.div_ceil(1_000) {
        if round % 20 == 1 {
            tally.signals(&overlaid(shipped.ruleset(), &mut dice), &rows, 600, &mut dice);
        } else {
            tally.signals(&shipped, &rows, 600, &mut dice);
        }
        for _ in 0..8 {
            tally.signals(&written(&mut dice), &[], 40, &mut dice);
        }
        for _ in 0..4 {
            let tree = trees::rules().new_tree(&mut runner).unwrap().current();
            let table = Table::compile(tree, &NoSettings).unwrap();
            let mut scratch = Scratch::default();
            tally.rule_sets += 1;
            for _ in 0..20 {
                let evidence = trees::evidence().new_tree(&mut runner).unwrap().current();
                tally.evidence(&table, &evidence, Some(NOW), &mut scratch);
            }
        }
    }
    tally
}

#[test]
fn the_table_agrees_on_generated_errors_and_rules() {
    let wanted = wanted();
    let threads = if wanted > 100_000 { 8 } else { 1 };
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let run = |seed| scope.spawn(move || compared(wanted.div_ceil(usize::from(threads)), seed));
        let threads: Vec<_> = (1..=threads).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let pairs = sum(|tally| tally.pairs);
    for (what, count) in [
        ("rule sets", sum(|tally| tally.rule_sets)),
        ("decided by a rule", sum(|tally| tally.decided)),
        ("with observed rules", sum(|tally| tally.observed)),
        ("with a reset time", sum(|tally| tally.resets)),
        ("explained", sum(|tally| tally.explained)),
    ] {
        eprintln!("{pairs} pairs: {count} {what}");
        assert!(count > pairs / 200, "{pairs} pairs: only {count} {what}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// As above, and a disagreement is cut down to its smallest.
    #[test]
    fn the_table_agrees_on_generated_trees(set in trees::rules(), errors in prop::collection::vec(trees::evidence(), 1..8)) {
        let table = Table::compile(set, &NoSettings).unwrap();
        let mut scratch = Scratch::default();
        for evidence in errors {
            Tally::default().evidence(&table, &evidence, None, &mut scratch);
        }
    }
}

#[test]
fn the_table_agrees_on_the_corpus() {
    let table = shipped();
    let (mut scratch, mut tally) = (Scratch::default(), Tally::default());
    for signal in all_rows() {
        tally.signal(&table, &signal, &mut scratch);
    }
}

#[test]
fn one_scratch_serves_tables_of_any_size() {
    let word = |number: usize| {
        let phrase = Spanned { node: format!("word{number}"), span: Span::default() };
        let op = Op::Has(Quantifier::Any, Phrases::Inline(vec![phrase]));
        rule(number, None, Cond::Test(Test { field: Field::Text, op, span: Span::default() }), false)
    };
    let table = |count: usize| {
        let mut set = empty_rules();
        set.rules = (0..count).map(word).collect();
        Table::compile(set, &NoSettings).unwrap()
    };
    let (large, small) = (table(5_000), table(2));
    let evidence = |text: &str| Evidence {
        folded: format!("{text}\0"),
        original: text.to_owned(),
        segments: vec![Segment {
            kind: SegmentKind::Message,
            folded: 0..text.len(),
            original: 0..text.len(),
        }],
        ..Evidence::default()
    };
    let mut scratch = Scratch::default();
    let mut judge = |table: &Table, text| table.classify_evidence(&evidence(text), None, &mut scratch).rule;
    assert_eq!(judge(&large, "word4999 word4998"), Some(RuleId(4_998)));
    assert_eq!(judge(&small, "word4999 word1"), Some(RuleId(1)));
    assert_eq!(judge(&large, "word1 word0"), Some(RuleId(0)));
    assert_eq!(judge(&large, "word"), None);
}
