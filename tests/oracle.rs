//! A slow and obvious classifier, and the table's agreement with it: rule by rule, plain search,
//! one regular expression at a time.

#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test may fail so")]

use std::{cell::RefCell, collections::HashMap};

use pointsman::{
    classify::Scratch,
    lang::{
        pattern::Parsed,
        policy::{BUILT_IN, End, Policy, Reaction, Traits},
        source::{Sources, Span, Spanned},
        tree::{
            Alias, Block, BlockId, Bucket, BucketId, Cond, Field, Let, LetId, List, ListId, Op, Phrases,
            Quantifier, Regex, Rule, RuleId, Ruleset, Test,
        },
    },
    signal::{Aborted, Body, Evidence, Segment, SegmentKind, Signal},
    table::{NoSettings, Table},
    time::Timestamp,
};

use proptest::prelude::*;

/// What the reference says: the deciding rule, and the observed ones before it.
pub fn reference(rules: &Ruleset, evidence: &Evidence) -> (Option<RuleId>, Vec<RuleId>) {
    let mut observed = Vec::new();
    for (id, rule) in (0u32..).map(RuleId).zip(&rules.rules) {
        let mut holds = cond(rules, evidence, &rule.when);
        let mut block = rule.block;
        while let Some(BlockId(at)) = block {
            let outer = &rules.blocks[at as usize];
            holds &= cond(rules, evidence, &outer.guard);
            block = outer.parent;
        }
        if holds && rule.observe {
            observed.push(id);
        } else if holds {
            return (Some(id), observed);
        }
    }
    (None, observed)
}

fn cond(rules: &Ruleset, evidence: &Evidence, what: &Cond) -> bool {
    match what {
        Cond::Always => true,
        Cond::All(parts) => parts.iter().all(|part| cond(rules, evidence, part)),
        Cond::Any(parts) => parts.iter().any(|part| cond(rules, evidence, part)),
        Cond::Not(inner) => !cond(rules, evidence, inner),
        Cond::Let(id, _) => cond(rules, evidence, &rules.lets[id.index()].cond),
        Cond::Test(test) => holds(rules, evidence, test),
    }
}

fn holds(rules: &Ruleset, evidence: &Evidence, test: &Test) -> bool {
    match &test.field {
        Field::Status => numbers(&test.op, &evidence.status.map(u32::from).into_iter().collect::<Vec<_>>()),
        Field::AnyStatus => {
            numbers(&test.op, &evidence.statuses.iter().map(|n| u32::from(*n)).collect::<Vec<_>>())
        }
        Field::LeadingNumber => numbers(&test.op, &evidence.leading_number.into_iter().collect::<Vec<_>>()),
        Field::Provider => ids(&test.op, &evidence.provider, &|id| family(rules, id)),
        Field::Model => ids(&test.op, &evidence.model, &|id| id.to_owned()),
        Field::Body => words(&test.op, Some(&format!("{:?}", evidence.body).to_lowercase())),
        Field::Aborted => {
            words(&test.op, evidence.aborted.map(|how| format!("{how:?}").to_lowercase()).as_deref())
        }
        Field::Header(name) => {
            let values = evidence.headers.iter().filter(|(key, _)| key == name);
            if matches!(test.op, Op::Present | Op::Absent) {
                return (values.count() > 0) == (test.op == Op::Present);
            }
            texts(rules, &test.op, &values.map(|(_, value)| (fold(value), value.clone())).collect::<Vec<_>>())
        }
        field => {
            let kinds: &[SegmentKind] = match field {
                Field::Text => &[SegmentKind::Message, SegmentKind::Detail],
                Field::Message => &[SegmentKind::Message],
                Field::Detail => &[SegmentKind::Detail],
                Field::Wrapper => &[SegmentKind::Wrapper],
                Field::Echo => &[SegmentKind::Echo],
                Field::Code => &[SegmentKind::Code],
                Field::Type => &[SegmentKind::Type],
                _ => &[SegmentKind::Param],
            };
            let segments = evidence.segments.iter().filter(|segment| kinds.contains(&segment.kind));
            let both = |s: &Segment| {
                (
                    evidence.folded[s.folded.clone()].to_owned(),
                    evidence.original[s.original.clone()].to_owned(),
                )
            };
            texts(rules, &test.op, &segments.map(both).collect::<Vec<_>>())
        }
    }
}

fn numbers(op: &Op, found: &[u32]) -> bool {
    match op {
        Op::Number(ranges) => found.iter().any(|n| ranges.iter().any(|(a, b)| a <= n && n <= b)),
        Op::Present => !found.is_empty(),
        Op::Absent => found.is_empty(),
        _ => false,
    }
}

fn words(op: &Op, found: Option<&str>) -> bool {
    match op {
        Op::Is(word) => found == Some(word.node.as_str()),
        Op::In(all) => all.iter().any(|word| found == Some(word.node.as_str())),
        Op::Present => found.is_some(),
        Op::Absent => found.is_none(),
        _ => false,
    }
}

fn ids(op: &Op, found: &str, family: &dyn Fn(&str) -> String) -> bool {
    let is = |wanted: &str| {
        let pattern = regex::escape(&wanted.to_lowercase()).replace(r"\*", ".*");
        !found.is_empty()
            && (built(&format!("^{pattern}$")).is_match(found)
                || !wanted.contains('*') && family(&wanted.to_lowercase()) == family(found))
    };
    match op {
        Op::Is(id) => is(id),
        Op::In(all) => all.iter().any(|id| is(id)),
        Op::Present => !found.is_empty(),
        Op::Absent => found.is_empty(),
        _ => false,
    }
}

fn family(rules: &Ruleset, id: &str) -> String {
    let of = rules.aliases.iter().find(|a| a.family == id || a.members.iter().any(|member| member == id));
    of.map_or(id, |alias| &alias.family).to_owned()
}

fn texts(rules: &Ruleset, op: &Op, found: &[(String, String)]) -> bool {
    let any = |test: &dyn Fn(&str) -> bool| found.iter().any(|(folded, _)| test(folded));
    let bare = |text: &str| text.strip_suffix(['.', '!']).unwrap_or(text).to_owned();
    let is = |wanted: &str| {
        let wanted = bare(&fold(wanted));
        !wanted.is_empty() && any(&|text| text == wanted || bare(text) == wanted)
    };
    match op {
        Op::Is(wanted) => is(wanted),
        Op::In(all) => all.iter().any(|wanted| is(wanted)),
        Op::Has(quantifier, phrases) => {
            let all: Vec<String> = match phrases {
                Phrases::Inline(all) => all.iter().map(|phrase| phrase.node.clone()).collect(),
                Phrases::List(id, _) => {
                    rules.lists[id.index()].entries.iter().map(|phrase| phrase.node.clone()).collect()
                }
            };
            let mut each = all.iter().map(|phrase| any(&|text| has(&fold(phrase), text)));
            match quantifier {
                Quantifier::Any => each.any(|holds| holds),
                Quantifier::All => each.all(|holds| holds),
            }
        }
        Op::Contains(part) => any(&|text| text.contains(&fold(part))),
        Op::StartsWith(prefix) => any(&|text| text.starts_with(&fold(prefix))),
        Op::Matches(regex) => {
            let ascii = regex.pattern.replace(r"\d", "[0-9]").replace(r"\b", r"(?-u:\b)");
            if regex.case_sensitive {
                found.iter().any(|(_, original)| built(&ascii).is_match(original))
            } else {
                any(&|text| built(&format!("(?i){ascii}")).is_match(text))
            }
        }
        Op::Present => any(&|text| !text.is_empty()),
        Op::Absent => !any(&|text| !text.is_empty()),
        Op::Number(_) => false,
    }
}

/// Enough of folding for the texts made here.
fn fold(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As words, with a regular expression of its own.
fn has(phrase: &str, text: &str) -> bool {
    let letters: Vec<char> = phrase.chars().collect();
    let edge = |c: Option<&char>, before: bool| match c {
        Some(c) if c.is_ascii_alphanumeric() => {
            if before {
                "(?:^|[^a-z0-9])"
            } else {
                "(?:$|[^a-z0-9])"
            }
        }
        _ => "",
    };
    let body: String = letters
        .iter()
        .map(
            |c| if matches!(c, ' ' | '_' | '-') { "[ _-]".to_owned() } else { regex::escape(&c.to_string()) },
        )
        .collect();
    let pattern = format!("{}{body}{}", edge(letters.first(), true), edge(letters.last(), false));
    built(&pattern).is_match(text)
}

/// An expression, built once.
fn built(pattern: &str) -> regex::Regex {
    thread_local! {
        static BUILT: RefCell<HashMap<String, regex::Regex>> = RefCell::default();
    }
    BUILT.with_borrow_mut(|known| {
        known.entry(pattern.to_owned()).or_insert_with(|| regex::Regex::new(pattern).unwrap()).clone()
    })
}

/// A rule set without rules: the two built-in buckets and one more.
pub fn empty_rules() -> Ruleset {
    let at = |node| Spanned { node, span: BUILT_IN };
    let bucket = |name: &str| Bucket {
        name: name.into(),
        doc: None,
        http: None,
        traits: Traits::default(),
        reaction: Reaction {
            window: Spanned { node: None, span: BUILT_IN },
            rotate: Spanned { node: None, span: BUILT_IN },
            retry_if_repaired: Spanned { node: false, span: BUILT_IN },
            end: at(End::Surface),
            say: None,
        },
        span: BUILT_IN,
    };
    Ruleset {
        sources: Sources::default(),
        buckets: ["unclassified", "empty_response", "other"].map(bucket).into(),
        aliases: Vec::new(),
        lists: Vec::new(),
        lets: Vec::new(),
        blocks: Vec::new(),
        rules: Vec::new(),
        settings: Vec::new(),
        backoffs: Vec::new(),
        resets: Vec::new(),
        policy: Policy::default(),
        tests: Vec::new(),
        edits: Vec::new(),
        allows: Vec::new(),
    }
}

fn rule(number: usize, block: Option<BlockId>, when: Cond, observe: bool) -> Rule {
    Rule {
        name: format!("rule_{number}").into(),
        doc: None,
        block,
        bucket: BucketId(2),
        when,
        otherwise: false,
        observe,
        reaction: None,
        examples: Vec::new(),
        allows: Vec::new(),
        span: Span::default(),
        name_span: Span::default(),
    }
}

/// Words that overlap, contain one another and join, so that hits collide.
const WORDS: &[&str] =
    &["rate", "limit", "limits", "rate limit", "quota", "a", "429", "余额", "余额不足", "x_y", "er", "error"];

fn text() -> impl Strategy<Value = String> {
    let joint = prop::sample::select(vec![" ", "_", "-", "", ".", "!", "  ", "/"]);
    prop::collection::vec((prop::sample::select(WORDS), joint), 0..6)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, joint)| [word, joint]).collect())
}

fn phrase() -> impl Strategy<Value = Spanned<String>> {
    let joint = prop::sample::select(vec![" ", "_", "-", "", "."]);
    (prop::sample::select(WORDS), joint, prop::option::of(prop::sample::select(WORDS)), any::<bool>())
        .prop_map(|(first, joint, second, upper)| {
            let text = second.map_or_else(|| first.to_owned(), |second| format!("{first}{joint}{second}"));
            Spanned { node: if upper { text.to_uppercase() } else { text }, span: Span::default() }
        })
}

fn phrases() -> impl Strategy<Value = Phrases> {
    prop_oneof![
        3 => prop::collection::vec(phrase(), 1..4).prop_map(Phrases::Inline),
        1 => (0u32..2).prop_map(|list| Phrases::List(ListId(list), Span::default())),
    ]
}

fn regex() -> impl Strategy<Value = Op> {
    let patterns = vec![
        r"\brate[ _-]limits?\b",
        r"limit.*quota",
        r"(quota|error)s? \d+",
        r"余额.{0,2}",
        r"^rate",
        r"a|er",
        r"\d+$",
        r"Rate Limit",
        r"(?:rate|quota)(?:_x)? - ?limit",
        r"rate limit - ",
    ];
    (prop::sample::select(patterns), any::<bool>()).prop_map(|(pattern, case_sensitive)| {
        Op::Matches(Regex {
            pattern: pattern.to_owned(),
            case_sensitive,
            always: true,
            span: Span::default(),
            parsed: Parsed::default(),
        })
    })
}

fn test() -> impl Strategy<Value = Cond> {
    let text_field = prop::sample::select(vec![
        Field::Text,
        Field::Text,
        Field::Text,
        Field::Message,
        Field::Detail,
        Field::Wrapper,
        Field::Echo,
        Field::Code,
        Field::Type,
        Field::Param,
        Field::Header("x-a".to_owned()),
    ]);
    let text_op = prop_oneof![
        4 => (any::<bool>(), phrases()).prop_map(|(all, phrases)| {
            Op::Has(if all { Quantifier::All } else { Quantifier::Any }, phrases)
        }),
        2 => phrase().prop_map(Op::Is),
        1 => prop::collection::vec(phrase(), 1..3).prop_map(Op::In),
        1 => phrase().prop_map(Op::Contains),
        1 => phrase().prop_map(Op::StartsWith),
        3 => regex(),
        1 => Just(Op::Present),
        1 => Just(Op::Absent),
    ];
    let number = (
        prop::sample::select(vec![Field::Status, Field::Status, Field::AnyStatus, Field::LeadingNumber]),
        prop_oneof![
            4 => (prop::sample::select(vec![400u32, 402, 429, 500]), 0u32..100).prop_map(|(a, n)| Op::Number(vec![(a, a + n)])),
            1 => Just(Op::Present),
            1 => Just(Op::Absent),
        ],
    );
    let id = (
        prop::sample::select(vec![Field::Provider, Field::Provider, Field::Model]),
        prop_oneof![
            4 => prop::sample::select(vec!["openai", "Groq", "openai-codex", "o*", "*x", "kimi*"])
                .prop_map(|id| Op::Is(Spanned { node: id.to_owned(), span: Span::default() })),
            1 => Just(Op::Present),
            1 => Just(Op::Absent),
        ],
    );
    let word =
        prop::sample::select(vec![(Field::Body, "html"), (Field::Body, "json"), (Field::Aborted, "user")])
            .prop_map(|(field, word)| {
                (field, Op::Is(Spanned { node: word.to_owned(), span: Span::default() }))
            });
    prop_oneof![6 => (text_field, text_op), 3 => number, 2 => id, 1 => word]
        .prop_map(|(field, op)| Cond::Test(Test { field, op, span: Span::default() }))
}

fn condition() -> impl Strategy<Value = Cond> {
    let leaf = prop_oneof![
        8 => test(),
        1 => Just(Cond::Always),
        1 => (0u32..3).prop_map(|named| Cond::Let(LetId(named), Span::default())),
    ];
    composed(leaf)
}

fn composed(leaf: impl Strategy<Value = Cond> + 'static) -> impl Strategy<Value = Cond> {
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Cond::All),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Cond::Any),
            inner.prop_map(|inner| Cond::Not(Box::new(inner))),
        ]
    })
}

fn rules() -> impl Strategy<Value = Ruleset> {
    let lists = prop::collection::vec(prop::collection::vec(phrase(), 1..5), 2);
    let lets = prop::collection::vec(composed(test()), 3);
    let blocks = prop::collection::vec((condition(), any::<bool>()), 3);
    let rules =
        prop::collection::vec((condition(), prop::option::of(0u32..3), prop::bool::weighted(0.2)), 0..20);
    (lists, lets, blocks, rules).prop_map(|(lists, lets, blocks, rules)| {
        let mut set = empty_rules();
        let span = Span::default();
        set.aliases =
            vec![Alias { family: "openai".to_owned(), members: vec!["openai-codex".to_owned()], span }];
        set.lists =
            lists.into_iter().map(|entries| List { name: "l".into(), doc: None, entries, span }).collect();
        set.lets = lets.into_iter().map(|cond| Let { name: "n".into(), doc: None, cond, span }).collect();
        set.blocks = (0u32..)
            .zip(blocks)
            .map(|(at, (guard, nested))| Block {
                name: format!("block_{at}").into(),
                doc: None,
                parent: at.checked_sub(1).filter(|_| nested).map(BlockId),
                guard,
                span,
            })
            .collect();
        set.rules = rules
            .into_iter()
            .enumerate()
            .map(|(number, (when, block, observe))| rule(number, block.map(BlockId), when, observe))
            .collect();
        set
    })
}

fn evidence() -> impl Strategy<Value = Evidence> {
    let kind = prop::sample::select(vec![
        SegmentKind::Message,
        SegmentKind::Message,
        SegmentKind::Detail,
        SegmentKind::Wrapper,
        SegmentKind::Echo,
        SegmentKind::Code,
        SegmentKind::Type,
        SegmentKind::Param,
    ]);
    let status = prop::option::of(prop::sample::select(vec![400u16, 402, 429, 500, 503]));
    (
        prop::collection::vec((kind, text(), any::<bool>()), 0..4),
        (status.clone(), status, prop::option::of(0u32..600)),
        prop::sample::select(vec!["", "openai", "openai-codex", "groq", "kimi-x"]),
        prop::sample::select(vec!["", "kimi-k2", "o1", "x"]),
        prop::collection::vec(text(), 0..2),
        prop::sample::select(vec![Body::Text, Body::Json, Body::Html]),
        prop::option::of(prop::sample::select(vec![Aborted::User, Aborted::Host])),
    )
        .prop_map(
            |(segments, (status, second, leading_number), provider, model, headers, body, aborted)| {
                let mut evidence = Evidence {
                    status,
                    statuses: status.into_iter().chain(second).collect(),
                    leading_number,
                    body,
                    provider: provider.to_owned(),
                    model: model.to_owned(),
                    headers: headers.into_iter().map(|value| ("x-a".to_owned(), value)).collect(),
                    aborted,
                    ..Evidence::default()
                };
                for (kind, text, upper) in segments {
                    let original = if upper { text.to_uppercase() } else { text };
                    let folded = fold(&original);
                    if folded.is_empty() {
                        continue;
                    }
                    let start = (evidence.folded.len(), evidence.original.len());
                    evidence.folded.push_str(&folded);
                    evidence.original.push_str(&original);
                    let ends = (evidence.folded.len(), evidence.original.len());
                    evidence.folded.push('\0');
                    evidence.segments.push(Segment {
                        kind,
                        folded: start.0..ends.0,
                        original: start.1..ends.1,
                    });
                }
                evidence
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_table_agrees_on_generated_rules(set in rules(), errors in prop::collection::vec(evidence(), 1..8)) {
        let table = Table::compile(set, &NoSettings).unwrap();
        let mut scratch = Scratch::default();
        for evidence in errors {
            let verdict = table.classify_evidence(&evidence, None, &mut scratch);
            let (rule, observed) = reference(table.ruleset(), &evidence);
            prop_assert_eq!((verdict.rule, verdict.observed), (rule, observed), "{:?}", evidence);
        }
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

/// The rows of a corpus file, as a host would report them.
pub fn corpus(name: &str) -> Vec<Signal> {
    let path = crate::support::root().join("tests/corpus").join(name);
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
            received_at: Some(Timestamp::from_millis(1_790_000_000_000)),
            ..Signal::default()
        })
        .collect()
}

/// The table of the shipped rules.
pub fn shipped() -> Table {
    let (rules, _) = crate::support::rules::rules().unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
    Table::compile(rules, &NoSettings).unwrap()
}

#[test]
fn the_table_agrees_on_the_corpus() {
    let table = shipped();
    let (mut scratch, mut evidence) = (Scratch::default(), Evidence::default());
    for signal in ["field.jsonl", "reference-host.jsonl"].iter().flat_map(|name| corpus(name)) {
        table.normalise(&signal.as_ref(), &mut evidence);
        let verdict = table.classify(&signal.as_ref(), &mut scratch);
        let expected = reference(table.ruleset(), &evidence);
        let name = |rule: Option<RuleId>| rule.map(|rule| table.rule(rule).name.clone());
        assert_eq!(
            (name(verdict.rule), verdict.observed),
            (name(expected.0), expected.1),
            "{:?}",
            signal.message
        );
    }
}
