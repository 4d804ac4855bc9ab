//! The shipped rules at work: on their own examples, and on the corpora of `tests/corpus/`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail and tell so")]

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
    fs,
};

use pointsman::{
    classify::Scratch,
    lang::{
        load, shipped,
        tree::{Cond, Op, Phrases, RuleId, Ruleset},
    },
    signal::Signal,
    table::{NoSettings, Table},
    time::Timestamp,
    verify,
};
use serde_json::Value;

use crate::support::{root, with_snapshots};

/// The corpora, with the share of undisputed rows that must be right. `extra` holds further texts as
/// providers, gateways and command lines word them, labelled before any rule had seen them.
const CORPORA: [(&str, f64); 3] = [("field", 0.98), ("reference-host", 0.98), ("extra", 0.95)];

/// Buckets that fit `none`: the host stays where it is.
const QUIET: [&str; 6] =
    ["unclassified", "empty_response", "no_error_details", "abort", "content_filter", "format"];
/// Buckets that fit `unknown`.
const UNKNOWN: [&str; 3] = ["unclassified", "no_error_details", "empty_response"];

struct Row {
    id: String,
    truth: String,
    debatable: bool,
    signal: Signal,
}

fn rows(corpus: &str) -> Vec<Row> {
    let text = fs::read_to_string(root().join(format!("tests/corpus/{corpus}.jsonl"))).unwrap();
    text.lines().map(|line| row(&serde_json::from_str(line).unwrap())).collect()
}

fn row(line: &Value) -> Row {
    let text = |key: &str| match line.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let list = |key: &str| line.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    Row {
        id: text("id").unwrap_or_default(),
        truth: text("truth").unwrap_or_default(),
        debatable: line.get("debatable").and_then(Value::as_bool).unwrap_or(false),
        signal: Signal {
            provider: text("provider"),
            model: text("model"),
            status: line.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok()),
            code: text("code"),
            error_type: text("errorType"),
            message: text("message"),
            details: list("details").iter().filter_map(|detail| Some(detail.as_str()?.to_owned())).collect(),
            ..Signal::default()
        },
    }
}

fn all_rows() -> Vec<Row> {
    CORPORA.iter().flat_map(|(corpus, _)| rows(corpus)).collect()
}

fn shipped() -> Ruleset {
    load::shipped().unwrap_or_else(|error| panic!("{error}: {:?}", error.diagnostics)).0
}

fn table(rules: Ruleset) -> Table {
    Table::compile(rules, &NoSettings).unwrap()
}

/// Bucket and rule by name.
fn verdict(table: &Table, signal: &Signal, scratch: &mut Scratch) -> (String, Option<String>) {
    let verdict = table.classify(&signal.as_ref(), scratch);
    let rules = table.ruleset();
    let bucket = rules.buckets.get(verdict.bucket.index()).unwrap().name.to_string();
    let rule = verdict.rule.map(|id| rules.rules.get(id.index()).unwrap().name.to_string());
    (bucket, rule)
}

fn right(truth: &str, bucket: &str) -> bool {
    truth == bucket
        || truth == "none" && QUIET.contains(&bucket)
        || truth == "unknown" && UNKNOWN.contains(&bucket)
}

/// Every phrase of a condition that is written in place.
fn phrases(cond: &Cond, found: &mut Vec<String>) {
    match cond {
        Cond::All(parts) | Cond::Any(parts) => parts.iter().for_each(|part| phrases(part, found)),
        Cond::Not(inner) => phrases(inner, found),
        Cond::Test(test) => match &test.op {
            Op::Has(_, Phrases::Inline(list)) => found.extend(list.iter().map(|phrase| phrase.node.clone())),
            Op::Is(phrase) | Op::Contains(phrase) | Op::StartsWith(phrase) => found.push(phrase.node.clone()),
            Op::In(list) => found.extend(list.iter().map(|phrase| phrase.node.clone())),
            _ => {}
        },
        Cond::Always | Cond::Let(..) => {}
    }
}

#[test]
fn they_load_without_a_warning_and_pass_their_examples() {
    let (rules, found) = load::shipped().unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
    let table = table(rules);
    let warnings = verify::warnings(&table, found);
    assert_eq!(warnings.count(), (0, 0), "{warnings:?}");
    let report = verify::run(&table);
    assert!(report.passed(), "{:?}", report.failures);
}

#[test]
fn presets_load_without_a_warning_and_pass_their_tests() {
    for preset in ["quick", "strict"] {
        let path = root().join(format!("rules/presets/{preset}.rules"));
        let (rules, found) = load::from_path(&path).unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
        let table = table(rules);
        assert_eq!(verify::warnings(&table, found).count(), (0, 0), "{preset}");
        assert!(verify::run(&table).passed(), "{preset}");
    }
}

#[test]
fn every_rule_says_why_and_shows_an_example() {
    for rule in &shipped().rules {
        assert!(rule.doc.is_some(), "{} has no doc comment", rule.name);
        assert!(rule.examples.iter().any(|example| !example.counter), "{} has no example", rule.name);
        assert!(rule.examples.iter().any(|example| example.counter), "{} has no counterexample", rule.name);
    }
}

#[test]
fn d_accuracy_on_undisputed_rows() {
    let table = table(shipped());
    let mut scratch = Scratch::default();
    for (corpus, least) in CORPORA {
        let rows: Vec<Row> = rows(corpus).into_iter().filter(|row| !row.debatable).collect();
        let mut wrong = String::new();
        let mut hits = 0_u32;
        for row in &rows {
            let (bucket, rule) = verdict(&table, &row.signal, &mut scratch);
            if right(&row.truth, &bucket) {
                hits += 1;
            } else {
                writeln!(wrong, "{}: {} expected, {bucket} by {rule:?}", row.id, row.truth).unwrap();
            }
        }
        let share = f64::from(hits) / f64::from(u32::try_from(rows.len()).unwrap());
        println!("{corpus}: {hits} of {} right, {share:.4}", rows.len());
        assert!(share >= least, "{corpus}: {share:.4}\n{wrong}");
    }
}

/// A provider chooses its words, and so its window: of all that name a time years away, as the security page says.
#[test]
fn c11_no_reset_time_is_trusted_beyond_eight_days() {
    let (rules, _) = load::shipped().unwrap();
    let table = Table::compile(rules, &NoSettings).unwrap();
    let now = Timestamp::from_millis(1_796_032_800_000);
    let hours = |message: &str, header: (&str, &str)| {
        let signal = Signal {
            status: Some(429),
            message: Some(message.to_owned()),
            headers: vec![(header.0.to_owned(), header.1.to_owned())],
            received_at: Some(now),
            ..Signal::default()
        };
        let reset = table.classify(&signal.as_ref(), &mut Scratch::default()).reset;
        reset.map(|hint| hint.at.since(now).as_secs() / 3_600)
    };
    let (limit, none) = ("Rate limit reached", ("", ""));
    for message in [
        "Rate limit reached. Please try again in 900 days",
        "Rate limit reached; resets in 90000 hours",
        "Rate limit reached. You will regain access on 2099-01-01",
        r#"{"error":{"message":"Rate limit reached","resets_in_seconds":900000000}}"#,
    ] {
        assert_eq!(hours(message, none), Some(8 * 24), "{message}");
    }
    assert_eq!(hours(limit, ("anthropic-ratelimit-unified-reset", "4102444800")), Some(8 * 24));
    assert_eq!(hours(limit, ("retry-after", "900000000")), Some(24));
    assert_eq!(hours(limit, none), None);
    assert_eq!(hours("The server is overloaded, try again in 900 days", none), None, "only limits ask");
}

#[test]
fn d13_labels_and_ids_are_no_evidence() {
    let table = table(shipped());
    let mut scratch = Scratch::default();
    for (corpus, _) in CORPORA {
        let text = fs::read_to_string(root().join(format!("tests/corpus/{corpus}.jsonl"))).unwrap();
        for line in text.lines() {
            let whole: Value = serde_json::from_str(line).unwrap();
            let mut bare = whole.clone();
            for key in ["id", "truth", "why", "source", "debatable"] {
                bare.as_object_mut().unwrap().remove(key);
            }
            let (whole, bare) = (row(&whole), row(&bare));
            assert_eq!(
                verdict(&table, &whole.signal, &mut scratch),
                verdict(&table, &bare.signal, &mut scratch),
                "{}",
                whole.id
            );
        }
    }
}

#[test]
fn d12_without_rules_everything_with_content_is_unclassified() {
    let (rules, _) =
        load::from_text("language 1\n").unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
    let table = table(rules);
    let mut scratch = Scratch::default();
    for row in all_rows() {
        let expected = ("unclassified".to_owned(), None);
        assert_eq!(verdict(&table, &row.signal, &mut scratch), expected, "{}", row.id);
    }
    assert_eq!(verdict(&table, &Signal::default(), &mut scratch), ("empty_response".to_owned(), None));
}

/// A verdict comes from one rule and the order, from nothing else.
#[test]
fn dropping_a_rule_changes_only_what_it_decided() {
    let rules = shipped();
    let rows = all_rows();
    let mut scratch = Scratch::default();
    let whole = table(rules.clone());
    let before: Vec<_> = rows.iter().map(|row| verdict(&whole, &row.signal, &mut scratch)).collect();
    for at in 0..rules.rules.len() {
        let mut fewer = rules.clone();
        let dropped = fewer.rules.remove(at).name.to_string();
        for test in &mut fewer.tests {
            test.cases.clear();
        }
        let fewer = table(fewer);
        for (row, before) in rows.iter().zip(&before).filter(|(_, (_, rule))| rule.as_ref() != Some(&dropped))
        {
            let after = verdict(&fewer, &row.signal, &mut scratch);
            assert_eq!(&after, before, "{} without {dropped}", row.id);
        }
    }
}

#[test]
fn few_rules_are_made_for_one_row() {
    let rules = shipped();
    let count = rules.rules.len();
    let table = table(rules);
    let mut scratch = Scratch::default();
    let mut decided: HashMap<RuleId, usize> = HashMap::new();
    for row in all_rows() {
        if let Some(rule) = table.classify(&row.signal.as_ref(), &mut scratch).rule {
            *decided.entry(rule).or_default() += 1;
        }
    }
    let single = decided.values().filter(|&&rows| rows == 1).count();
    println!("{single} of {count} rules ({} of them used) are decided by one row alone", decided.len());
    assert!(single * 4 <= decided.len(), "{single} of {} rules used", decided.len());
}

#[test]
fn phrases_are_short_and_hold_no_ids() {
    let rules = shipped();
    let mut found: Vec<String> =
        rules.lists.iter().flat_map(|list| list.entries.iter().map(|entry| entry.node.clone())).collect();
    for cond in rules.rules.iter().map(|rule| &rule.when).chain(rules.blocks.iter().map(|block| &block.guard))
    {
        phrases(cond, &mut found);
    }
    rules.lets.iter().for_each(|named| phrases(&named.cond, &mut found));
    assert!(found.len() > 500, "the walk found {} phrases", found.len());
    for phrase in &found {
        assert!(phrase.chars().count() <= 60, "longer than 60 characters: {phrase}");
        let digits = phrase.bytes().filter(u8::is_ascii_digit).count();
        assert!(digits <= 4, "looks like an id: {phrase}");
        let alone = ["429", "402", "billing", "credit", "credits", "capacity"];
        assert!(!alone.contains(&phrase.as_str()), "decides alone: {phrase}");
    }
}

/// What each row of the corpora comes to, so that a change of rules shows what moved.
#[test]
fn verdicts_of_the_corpora() {
    let table = table(shipped());
    let mut scratch = Scratch::default();
    for (corpus, _) in CORPORA {
        let mut lines = BTreeMap::new();
        for row in rows(corpus) {
            let (bucket, rule) = verdict(&table, &row.signal, &mut scratch);
            let wrong = if right(&row.truth, &bucket) { "" } else { "  # " };
            let truth = if wrong.is_empty() { "" } else { row.truth.as_str() };
            let rule = rule.unwrap_or_else(|| "-".to_owned());
            lines.insert(row.id, format!("{bucket:<16} {rule}{wrong}{truth}"));
        }
        let text = lines.iter().fold(String::new(), |mut text, (id, line)| {
            writeln!(text, "{id:<28} {line}").unwrap();
            text
        });
        with_snapshots("corpus", || insta::assert_snapshot!(corpus, text));
    }
}

/// An operator who asks for the coverage of rules above the shipped ones sees what the shipped ones are
/// worth.
#[test]
fn most_list_entries_are_reached_by_a_case() {
    let table = Table::compile(load::shipped().unwrap().0, &NoSettings).unwrap();
    let reached = pointsman::verify::coverage(&table).unwrap();
    assert_eq!(reached.rules.percent(), "100");
    assert!(reached.entries.hundredths() >= 6_000, "{} %", reached.entries.percent());
}

/// Files below `cases/` hold tests alone: who only judges passes them over.
#[test]
fn files_of_cases_hold_nothing_else() {
    for (path, text) in shipped::FILES.iter().filter(|(path, _)| path.starts_with(shipped::CASES)) {
        let heads = text.lines().filter(|line| !line.is_empty() && !line.starts_with([' ', '#', '}']));
        assert!(heads.clone().count() > 1, "{path} holds no test");
        assert!(heads.clone().all(|head| head == "language 1" || head.starts_with("test \"")), "{path}");
    }
}
