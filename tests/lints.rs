//! Warnings with proofs: a rule reported as covered never decides, whatever the error.

use pointsman::{
    classify::Scratch,
    lang::{diagnostic::codes::lints, load, tree::RuleId},
    signal::SignalRef,
    table::{NoSettings, Table},
    verify,
};
use proptest::prelude::*;

const WORDS: [&str; 6] = ["daily", "limit", "quota", "daily limit", "quota left", "limit reached"];
const PROVIDERS: [&str; 4] = ["openai", "openai-codex", "kimi", "kimi-code"];

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    words.join(", ")
}

/// A test of the language, as text.
fn test() -> impl Strategy<Value = String> {
    let some = || prop::sample::subsequence(WORDS.to_vec(), 1..3);
    prop_oneof![
        some().prop_map(|w| format!("text has any of [{}]", quoted(&w))),
        some().prop_map(|w| format!("text has all of [{}]", quoted(&w))),
        some().prop_map(|w| format!("message in [{}]", quoted(&w))),
        prop::sample::select(WORDS.to_vec()).prop_map(|w| format!("text starts with \"{w}\"")),
        prop::sample::select(WORDS.to_vec()).prop_map(|w| format!("text contains \"{w}\"")),
        (400u16..404, 0u16..3).prop_map(|(low, more)| format!("status in [{low}..{}]", low + more)),
        (400u16..404).prop_map(|s| format!("status is {s}")),
        prop::sample::select(PROVIDERS.to_vec()).prop_map(|p| format!("provider is \"{p}\"")),
        prop::sample::select(vec!["openai*", "kimi*", "*"]).prop_map(|p| format!("provider is \"{p}\"")),
        Just("text is present".to_owned()),
        Just("status is absent".to_owned()),
    ]
}

/// A condition, as text.
fn condition() -> impl Strategy<Value = String> {
    test().prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|c| format!("({})", c.join(" and "))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|c| format!("({})", c.join(" or "))),
            inner.prop_map(|c| format!("not ({c})")),
        ]
    })
}

type Error = (Option<u16>, Option<&'static str>, Option<String>);

fn error() -> impl Strategy<Value = Error> {
    let words = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 1..4);
    let joins = prop::sample::select(vec![" ", "-", "_", "  ", ", ", "x"]);
    let message = (words, joins).prop_map(|(words, join)| words.join(join));
    (
        prop::option::of(400u16..406),
        prop::option::of(prop::sample::select(PROVIDERS.to_vec())),
        prop::option::of(message),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_covered_rule_never_decides(
        earlier in condition(),
        later in condition(),
        errors in prop::collection::vec(error(), 40),
    ) {
        // A condition, and the same one narrowed, so that coverings are not too rare.
        for later in [later.clone(), format!("{earlier} and {later}"), earlier.clone()] {
            let text = format!(
                "language 1\nalias openai = openai-codex\nrule first -> unclassified when {earlier}\nrule second -> empty_response when {later}\n"
            );
            let (set, found) = load::from_text(&text).expect("the rules are well formed");
            let table = Table::compile(set, &NoSettings).unwrap();
            let covered = verify::warnings(&table, found).iter().any(|w| w.code == lints::COVERED_RULE);
            let mut scratch = Scratch::default();
            for (status, provider, message) in &errors {
                let signal = SignalRef {
                    status: *status,
                    provider: *provider,
                    message: message.as_deref(),
                    ..SignalRef::default()
                };
                let verdict = table.classify(&signal, &mut scratch);
                prop_assert!(!covered || verdict.rule != Some(RuleId(1)), "{text}{signal:?}");
            }
        }
    }
}

#[test]
fn many_rules_are_checked_in_time() {
    let mut text = "language 1\n".to_owned();
    for i in 0..20_000 {
        text.push_str(&format!("rule r{i} -> unclassified when text has \"phrase number {i} of many\"\n"));
    }
    let (set, found) = load::from_text(&text).unwrap();
    let table = Table::compile(set, &NoSettings).unwrap();
    let all = verify::warnings(&table, found);
    assert!(all.iter().all(|w| w.code != lints::COVERED_RULE));
    assert_eq!(all.iter().filter(|w| w.code == lints::NO_EXAMPLE).count(), 20_000);
}

#[test]
fn conditions_that_double_forty_times_are_judged_in_time() {
    let mut text = "language 1\nlet a0 = text has \"quota left\" or status is 429\n".to_owned();
    for i in 1..40 {
        let before = i - 1;
        text.push_str(&format!("let a{i} = a{before} and (a{before} or a{before})\n"));
    }
    text.push_str("rule first -> unclassified when a39\n  example status 429\n");
    text.push_str("group g when a38 {\n  rule second -> unclassified when a39 and text has \"limit reached\"\n  example message \"limit reached\"\n}\n");
    let (set, found) = load::from_text(&text).unwrap();
    let table = Table::compile(set, &NoSettings).unwrap();
    assert!(!verify::warnings(&table, found).is_empty());
    verify::coverage(&table).unwrap();
}
