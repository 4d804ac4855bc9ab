//! Generated rule sets as trees, and evidence for them: deeper nests than anybody writes, and questions
//! that no checker would let through.

use pointsman::{
    lang::{
        pattern::Parsed,
        policy::{BUILT_IN, End, Policy, Reaction, Traits},
        source::{Sources, Span, Spanned},
        tree::{
            Alias, Block, BlockId, Bucket, BucketId, Cond, Field, Let, LetId, List, ListId, Op, Phrases,
            Quantifier, Regex, Rule, Ruleset, Test,
        },
    },
    signal::{Aborted, Body, Evidence, Segment, SegmentKind},
};
use proptest::prelude::*;

use super::reference::fold;

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

pub fn rule(number: usize, block: Option<BlockId>, when: Cond, observe: bool) -> Rule {
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

pub fn rules() -> impl Strategy<Value = Ruleset> {
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

pub fn evidence() -> impl Strategy<Value = Evidence> {
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
