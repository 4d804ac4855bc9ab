//! A draft for each of twenty errors whose rules are dropped.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use pointsman::{
    classify::Scratch,
    lang::diagnostic::Diagnostics,
    signal::{Signal, fingerprint},
    table::{NoSettings, Table},
    verify::{
        self,
        suggest::{Draft, Drafting, SuggestError},
    },
};
use serde_json::Value;

use super::variants::variants;
use crate::support::{root, rules};

/// An error of the corpus, and the bucket that it belongs into.
struct Row {
    id: String,
    truth: String,
    signal: Signal,
}

fn corpus() -> Vec<Row> {
    let mut rows = Vec::new();
    for file in ["field.jsonl", "reference-host.jsonl"] {
        let text = std::fs::read_to_string(root().join("tests/corpus").join(file)).unwrap();
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| value[key].as_str().map(str::to_owned);
            rows.push(Row {
                id: text("id").unwrap(),
                truth: text("truth").unwrap(),
                signal: Signal {
                    provider: text("provider"),
                    model: text("model"),
                    status: value["status"].as_u64().and_then(|status| status.try_into().ok()),
                    code: text("code"),
                    error_type: text("errorType"),
                    message: text("message"),
                    ..Signal::default()
                },
            });
        }
    }
    rows
}

/// The shipped rules without some of them, and with a draft above them; and all that `check` says.
fn without(dropped: &[String], draft: &str) -> (Table, Diagnostics) {
    let drops = dropped.iter().fold(String::new(), |drops, name| drops + "drop rule " + name + "\n");
    let text = format!("language 1\n{draft}\nuse default\n{drops}");
    let (set, found) =
        rules::from_text(&text).unwrap_or_else(|error| panic!("{text}\n{:?}", error.diagnostics));
    let table = Table::compile(set, &NoSettings).unwrap();
    let found = verify::warnings(&table, found);
    (table, found)
}

/// The rules that must go until none matches the error.
fn rules_of(table: &Table, signal: &Signal) -> Vec<String> {
    let mut dropped: Vec<String> = Vec::new();
    let mut scratch = Scratch::default();
    let mut rules = table.ruleset().clone();
    rules.tests.clear();
    loop {
        let table = Table::compile(rules.clone(), &NoSettings).unwrap();
        let Some(rule) = table.classify(&signal.as_ref(), &mut scratch).rule else { return dropped };
        dropped.push(rules.rules.remove(rule.index()).name.to_string());
    }
}

/// Twenty errors with a message, spread over buckets and providers: round after round one of each
/// bucket, of a provider that has not been taken yet.
fn chosen(rows: &[Row], table: &Table) -> Vec<usize> {
    let mut by_bucket: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut scratch = Scratch::default();
    for (n, row) in rows.iter().enumerate() {
        let verdict = table.classify(&row.signal.as_ref(), &mut scratch);
        let right = *table.bucket(verdict.bucket).name == *row.truth && verdict.rule.is_some();
        if right
            && row.signal.provider.is_some()
            && row.signal.message.as_ref().is_some_and(|text| text.len() > 20)
        {
            by_bucket.entry(&row.truth).or_default().push(n);
        }
    }
    let mut taken = BTreeSet::new();
    let mut out = Vec::new();
    while out.len() < 20 {
        for rows_of in by_bucket.values_mut() {
            let fresh = |n: &usize| !taken.contains(rows[*n].signal.provider.as_ref().unwrap());
            let at = rows_of.iter().position(fresh).unwrap_or(0);
            if out.len() < 20 && !rows_of.is_empty() {
                let n = rows_of.remove(at);
                taken.insert(rows[n].signal.provider.clone().unwrap());
                out.push(n);
            }
        }
    }
    out
}

fn suggest(table: &Table, row: &Row, rows: &[Row]) -> Result<Draft, SuggestError> {
    let (bucket, _) = table.bucket_named(&row.truth).unwrap();
    let mut drafting = Drafting::begin(table, &row.signal, bucket)?;
    drafting.own_cases();
    for other in rows.iter().filter(|other| other.id != row.id) {
        drafting.row(&other.id, &other.signal.as_ref());
    }
    drafting.finish()
}

/// Everything that is wrong with the draft for a row.
fn faults(row: &Row, rows: &[Row], dropped: &[String]) -> (String, Vec<String>) {
    let (old, said) = without(dropped, "");
    let draft = match suggest(&old, row, rows) {
        Ok(draft) => draft,
        Err(error) => return (String::new(), vec![error.to_string()]),
    };
    let mut faults = Vec::new();
    let (new, says) = without(dropped, &draft.text);
    let news: Vec<_> =
        says.iter().map(|it| &it.message).filter(|it| !said.iter().any(|old| old.message == **it)).collect();
    if !news.is_empty() {
        faults.push(format!("check says {news:?}"));
    }
    let mut scratch = Scratch::default();
    let mut judged = |table: &Table, signal: &Signal| {
        let verdict = table.classify(&signal.as_ref(), &mut scratch);
        let rule = verdict.rule.map(|rule| table.rule(rule).name.to_string());
        let same = fingerprint(scratch.evidence());
        (table.bucket(verdict.bucket).name.to_string(), rule, same)
    };
    let (bucket, rule, same) = judged(&new, &row.signal);
    if bucket != row.truth || rule.as_ref() != Some(&draft.name) {
        faults.push(format!("the error itself goes to {bucket} by {rule:?}"));
    }
    for variant in variants(&row.signal) {
        let (bucket, rule, _) = judged(&new, &variant);
        if rule.as_ref() != Some(&draft.name) {
            faults.push(format!("{:?} goes to {bucket} by {rule:?}", variant.message.unwrap()));
        }
    }
    for other in rows.iter().filter(|other| other.id != row.id) {
        let ((was, by, print), (is, now_by, _)) = (judged(&old, &other.signal), judged(&new, &other.signal));
        // In its own bucket the draft may take the place of another rule; nothing else decides otherwise.
        let moved = was != is || (by != now_by && now_by.as_ref() != Some(&draft.name));
        if moved && print != same {
            faults.push(format!("{} moves from {was} by {by:?} to {is} by {now_by:?}", other.id));
        }
    }
    let provider = row.signal.provider.clone().unwrap_or_default();
    if draft.text.replace(&provider, "").contains(|c: char| c.is_ascii_digit()) {
        faults.push("it holds a number".to_owned());
    }
    if draft.phrases.iter().any(|phrase| phrase.chars().count() > 60) {
        faults.push("a phrase is too long".to_owned());
    }
    (draft.text, faults)
}

#[test]
fn drafts_catch_an_error_and_its_variants_and_move_nothing_else() {
    let rows = corpus();
    let (table, _) = without(&[], "");
    let mut good = 0;
    let mut told = String::new();
    let chosen = chosen(&rows, &table);
    for n in &chosen {
        let row = &rows[*n];
        let dropped = rules_of(&table, &row.signal);
        let (text, faults) = faults(row, &rows, &dropped);
        good += usize::from(faults.is_empty());
        let message: String = row.signal.message.as_ref().unwrap().chars().take(200).collect();
        writeln!(told, "{} {message}\n  without {dropped:?}\n{text}", row.id).unwrap();
        for fault in &faults {
            writeln!(told, "  FAULT {fault}").unwrap();
        }
    }
    println!("{good} of {}\n{told}", chosen.len());
    assert_eq!(chosen.len(), 20);
    assert!(good >= 17, "{good} of 20\n{told}");
}
