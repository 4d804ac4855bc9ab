//! Warnings with proofs: a rule reported as covered never decides, whatever the error.

use pointsman::{
    classify::Scratch,
    lang::{diagnostic::codes::lints, load, tree::RuleId},
    signal::SignalRef,
    table::{NoSettings, Table},
    verify,
};
use proptest::{prelude::*, sample::select};

const WORDS: [&str; 6] = ["daily", "limit", "quota", "daily limit", "quota left", "limit reached"];
const PROVIDERS: [&str; 4] = ["openai", "openai-codex", "kimi", "kimi-code"];

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    words.join(", ")
}

/// What may stand around a part of a text.
fn blank() -> impl Strategy<Value = &'static str> {
    select(vec!["", " "])
}

/// A test of the language, as text.
fn test() -> impl Strategy<Value = String> {
    let some = || prop::sample::subsequence(WORDS.to_vec(), 1..3);
    prop_oneof![
        some().prop_map(|w| format!("text has any of [{}]", quoted(&w))),
        some().prop_map(|w| format!("text has all of [{}]", quoted(&w))),
        some().prop_map(|w| format!("message in [{}]", quoted(&w))),
        (select(WORDS.to_vec()), blank()).prop_map(|(w, after)| format!("text starts with \"{w}{after}\"")),
        (blank(), select(WORDS.to_vec()), blank())
            .prop_map(|(before, w, after)| format!("text contains \"{before}{w}{after}\"")),
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
fn a_blank_at_the_edge_of_a_part_narrows_it() {
    let covered = |one: &str, other: &str| {
        let text = format!(
            "language 1\nrule first -> unclassified when text {one}\nrule second -> unclassified when text {other}\n"
        );
        let (set, found) = load::from_text(&text).unwrap();
        let table = Table::compile(set, &NoSettings).unwrap();
        verify::warnings(&table, found).iter().any(|w| w.code == lints::COVERED_RULE)
    };
    for (narrow, wide) in [
        (r#"contains "quota: ""#, r#"contains "quota:""#),
        (r#"contains " quota""#, r#"contains "quota""#),
        (r#"starts with "quota ""#, r#"starts with "quota""#),
    ] {
        assert!(covered(wide, narrow), "{wide} {narrow}");
        assert!(!covered(narrow, wide), "{narrow} {wide}");
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

/// What may be asked of a list `{}`.
const USES: [&str; 6] = [
    "text has any of {}",
    "text has all of {}",
    "not (text has any of {})",
    "not (text has all of {})",
    "message in {}",
    "not (message in {})",
];

/// A question: of which of two lists, how, and whether by the list's name or in place.
type Asked = (usize, &'static str, bool);

/// Rules that ask lists, and the places of the lists' entries: list, entry, and where it begins.
struct Asking {
    text: String,
    entries: Vec<(Owner, usize, u32)>,
}

/// A named list, or the list in place of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Named(usize),
    Of(usize),
}

impl Asking {
    /// Without the entries of `out`.
    fn of(lists: &[Vec<&'static str>; 2], asked: &[Asked], out: &[(Owner, usize)]) -> Self {
        let mut made = Self { text: "language 1\n".to_owned(), entries: Vec::new() };
        for (at, list) in lists.iter().enumerate() {
            made.text.push_str(&format!("list l{at} = "));
            made.list(Owner::Named(at), list, out);
            made.text.push('\n');
        }
        for (nth, (list, how, named)) in asked.iter().enumerate() {
            let (before, after) = how.split_once("{}").unwrap();
            made.text.push_str(&format!("let q{nth} = {before}"));
            if *named {
                made.text.push_str(&format!("l{list}"));
            } else {
                made.list(Owner::Of(nth), &lists[*list], out);
            }
            made.text.push_str(&format!("{after}\nrule r{nth} -> unclassified when q{nth}\n"));
        }
        made
    }

    fn list(&mut self, owner: Owner, list: &[&str], out: &[(Owner, usize)]) {
        let kept = list.iter().enumerate().filter(|(at, _)| !out.contains(&(owner, *at)));
        for (nth, (at, phrase)) in kept.enumerate() {
            self.text.push_str(if nth == 0 { "[" } else { ", " });
            self.entries.push((owner, at, u32::try_from(self.text.len()).unwrap()));
            self.text.push_str(&format!("\"{phrase}\""));
        }
        self.text.push(']');
    }

    /// The rules, and the entries that are said to be never needed.
    fn table(&self) -> (Table, Vec<(Owner, usize)>) {
        let (set, found) = load::from_text(&self.text).expect(&self.text);
        let covered = found.iter().filter(|found| found.code == lints::COVERED_PHRASE);
        let place = |start| self.entries.iter().find(|(.., at)| *at == start).map(|(o, e, _)| (*o, *e));
        let covered = covered.map(|found| place(found.span().start).expect("it is about an entry"));
        (Table::compile(set, &NoSettings).unwrap(), covered.collect())
    }
}

fn asked() -> impl Strategy<Value = Asked> {
    (0..2usize, prop::sample::select(USES.to_vec()), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whoever takes out every entry that is said to be never needed changes no verdict.
    #[test]
    fn a_covered_phrase_is_never_needed(
        lists in prop::array::uniform2(prop::collection::vec(prop::sample::select(WORDS.to_vec()), 2..5)),
        asked in prop::collection::vec(asked(), 1..4),
        errors in prop::collection::vec(error(), 20),
    ) {
        let before = Asking::of(&lists, &asked, &[]);
        let (table, out) = before.table();
        let after = Asking::of(&lists, &asked, &out);
        let (without, _) = after.table();
        let (mut scratch, mut other) = (Scratch::default(), Scratch::default());
        let phrases = WORDS.iter().map(|word| (*word).to_owned());
        for message in errors.into_iter().filter_map(|(.., message)| message).chain(phrases) {
            let signal = SignalRef { message: Some(&message), ..SignalRef::default() };
            let one = table.classify(&signal, &mut scratch).rule;
            prop_assert_eq!(one, without.classify(&signal, &mut other).rule, "{}{}\n{}", before.text, message, after.text);
        }
    }
}

#[test]
fn which_phrase_is_never_needed_depends_on_the_question() {
    let lists = [vec!["quota", "quota left"], vec!["daily", "daily limit"]];
    let out = |asked: &[Asked]| Asking::of(&lists, asked, &[]).table().1;
    let (any, all, one_of) = (USES[0], USES[1], USES[4]);
    assert_eq!(out(&[(0, any, false)]), [(Owner::Of(0), 1)]);
    assert_eq!(out(&[(0, all, false)]), [(Owner::Of(0), 0)]);
    assert_eq!(out(&[(0, any, true), (0, any, true)]), [(Owner::Named(0), 1)]);
    assert_eq!(out(&[(0, all, true)]), [(Owner::Named(0), 0)]);
    assert_eq!(out(&[(0, all, true), (0, any, true)]), []);
    assert_eq!(out(&[(0, any, true), (0, one_of, true)]), []);
    assert_eq!(out(&[(0, one_of, false)]), []);
}

#[test]
fn everyday_words_alone_are_too_little() {
    let words = [
        "timeout",
        "unavailable",
        "internal",
        "connection",
        "forbidden",
        "upgrade",
        "gateway",
        "network",
        "system",
        "file",
        "string",
        "value",
        "field",
        "blocked",
        "disabled",
    ];
    let rules = words.map(|word| format!("rule mine_{word} -> billing when text has \"{word}\"\n"));
    let text = format!("language 1\n{}use default\n", rules.concat());
    let (set, found) = load::from_text(&text).unwrap();
    let common = found.iter().filter(|found| found.code == lints::COMMON_WORD);
    let common: Vec<&str> = common.map(|found| set.sources.snippet(found.span()).trim_matches('"')).collect();
    assert_eq!(common, words);
}

#[test]
fn an_allow_gives_a_reason() {
    for reason in ["", "  "] {
        let text = format!(
            "language 1\nuse default\nallow P0704 \"{reason}\"\nrule mine -> billing when text has \"no acorns\"\n  example message \"oaks\"\n"
        );
        let found = load::from_text(&text).expect_err("a reason is missing").diagnostics;
        let first = found.iter().next().unwrap();
        assert!(first.message.contains("reason"), "{}", first.message);
    }
}
