//! An error of any bytes → signal → verdict → explanation, against the shipped rules.

use std::cell::RefCell;

use pointsman::{
    classify::{Scratch, explain},
    lang::tree::RuleId,
    signal::{Evidence, fingerprint, stretches},
    time::Timestamp,
};

use crate::{input, shipped};

/// When errors without a time of their own arrive.
const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// A signal as [`input`] reads it: the verdict is the same with a used scratch and a fresh one, the
/// explanation agrees with it, and neither shows raw control characters.
pub fn classify(data: &[u8]) {
    thread_local! {
        static USED: RefCell<(Scratch, Evidence)> = RefCell::default();
    }
    let table = shipped::table();
    let mut signal = input::read(data);
    signal.received_at = signal.received_at.or(Some(NOW));
    let now = signal.received_at.unwrap_or(NOW);
    let signal = signal.as_ref();

    let verdict = table.classify(&signal, &mut Scratch::default());
    USED.with_borrow_mut(|(scratch, evidence)| {
        assert_eq!(table.classify(&signal, scratch), verdict, "a used scratch");
        table.normalise(&signal, evidence);
        check(evidence);
        assert_eq!(table.classify_evidence(evidence, Some(now), scratch), verdict, "evidence by hand");
    });
    if let Some(hint) = &verdict.reset {
        assert!(hint.at >= now, "a reset before the error");
    }

    let told = explain(table, &signal, now);
    assert_eq!(told.verdict, verdict);
    let name = |rule: RuleId| table.rule(rule).name.to_string();
    let held = |observe| {
        let rules = told.considered.iter().filter(move |rule| rule.observe == observe && rule.holds);
        rules.map(|rule| rule.rule.clone()).collect::<Vec<_>>()
    };
    assert_eq!(held(false), verdict.rule.map(name).into_iter().collect::<Vec<_>>(), "the deciding rule");
    assert_eq!(held(true), verdict.observed.iter().copied().map(name).collect::<Vec<_>>(), "the observed");
    let shown = told.to_string();
    let raw = shown.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(raw, None, "{shown:?}");
    serde_json::to_string(&told).expect("an explanation is JSON");
}

/// What holds of all evidence.
fn check(evidence: &Evidence) {
    for segment in &evidence.segments {
        evidence.folded.get(segment.folded.clone()).expect("a place in the folded text");
        evidence.original.get(segment.original.clone()).expect("a place in the original");
        let whole = evidence.original_of(&segment.folded).expect("a segment has an original");
        evidence.original.get(whole).expect("on the borders of characters");
    }
    for scalar in &evidence.scalars {
        evidence.original.get(scalar.key.clone()).expect("a key");
        evidence.original.get(scalar.value.clone()).expect("a value");
    }
    assert_eq!(fingerprint(evidence), fingerprint(evidence));
    let _ = stretches(&evidence.folded, &evidence.model);
}
