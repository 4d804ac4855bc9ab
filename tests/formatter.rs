//! The formatter: one form, every comment, the same meaning (language.md).

use pointsman::lang::{ast::File, diagnostic::Diagnostics, fmt, parser, source::SourceId};
use proptest::prelude::*;

use crate::support::{root, with_snapshots};

fn parse(text: &str) -> Result<File, Diagnostics> {
    let mut found = Diagnostics::default();
    let file = parser::parse(SourceId::default(), text, &mut found);
    if found.has_errors() { Err(found) } else { Ok(file) }
}

/// The tree as text without spans: what a file means.
fn meaning(text: &str) -> String {
    let tree = format!("{:?}", parse(text).unwrap_or_else(|found| panic!("{found:?}\n{text}")));
    let mut out = String::new();
    let mut rest = tree.as_str();
    while let Some((before, after)) = rest.split_once("Span { source: SourceId(") {
        out.push_str(before);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// Comments in order, doc comments by their text. A mark inside a string or expression is none.
fn comments(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let (mut inside, mut escaped) = (None, false);
        for (at, c) in line.char_indices() {
            match (inside, c) {
                (Some(_), _) if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(mark), c) if c == mark => inside = None,
                (None, '"' | '/') => inside = Some(c),
                (None, '#') => {
                    let comment = line[at..].trim_end();
                    let doc = comment.starts_with("##") && !comment.starts_with("###");
                    out.push(if doc { comment.replacen("## ", "##", 1) } else { comment.to_owned() });
                    break;
                }
                _ => {}
            }
        }
    }
    out
}

/// All that holds of every text without errors; gives the formatted text.
fn check(text: &str) -> String {
    let once = fmt::format(text).unwrap_or_else(|found| panic!("{found:?}\n{text}"));
    assert_eq!(meaning(text), meaning(&once), "meaning\n{text}\n----\n{once}");
    assert_eq!(comments(text), comments(&once), "comments\n{text}\n----\n{once}");
    assert_eq!(fmt::format(&once).unwrap(), once, "twice\n{text}");
    assert!(!once.contains("\n\n\n") && !once.starts_with('\n') && !once.contains('\r'), "{once}");
    assert!(once.lines().all(|line| line == line.trim_end()), "{once}");
    assert!(once.is_empty() || (once.ends_with('\n') && !once.ends_with("\n\n")), "{once}");
    once
}

#[test]
fn golden_files() {
    for (name, text) in [
        ("untidy", include_str!("data/grammar/untidy.rules")),
        ("tour", include_str!("data/grammar/tour.rules")),
    ] {
        let formatted = check(text);
        with_snapshots("formatter", || insta::assert_snapshot!(name, formatted));
    }
}

#[test]
fn small_cases() {
    for (text, expected) in [
        ("", ""),
        ("\n\n # c\n\n\n", "# c\n"),
        ("\u{feff}let x=a\r\n\r\n\r\n\r\nlet y=b;let z=c", "let x = a\n\nlet y = b\nlet z = c\n"),
        ("list l=[ \"a\",\"b\" , ]", "list l = [\"a\", \"b\"]\n"),
        ("list l=[\n\"a\",\"b\" # c\n]", "list l = [\n  \"a\", \"b\",  # c\n]\n"),
        ("list l=[\"a\"\n,\n\"b\"\n# c\n,]", "list l = [\"a\",\n  \"b\",\n  # c\n]\n"),
        ("bucket b{http 429;;transient;}# c", "bucket b { http 429; transient }  # c\n"),
        ("bucket b{\n\n\nhttp 429;transient\n\n}", "bucket b {\n  http 429\n  transient\n}\n"),
        ("bucket b{ # c\n}", "bucket b {  # c\n}\n"),
        ("bucket b { \n }", "bucket b {\n}\n"),
        (
            "rule a->b when(c and\nd)\nexample message \"x\"",
            "rule a -> b when (c and\n  d)\n  example message \"x\"\n",
        ),
        ("reset r from text /x/ in date,epoch when a", "reset r from text /x/ when a in date, epoch\n"),
        ("##a\n##\n####\nlet x=a", "## a\n##\n####\nlet x = a\n"),
    ] {
        // A lone brace with a line break inside keeps it: the break is the writer's.
        assert_eq!(check(text), expected, "{text}");
    }
}

#[test]
fn a_broken_file_is_not_touched() {
    let found = fmt::format("let x = (\nlet y = a").unwrap_err();
    assert!(found.has_errors());
}

#[test]
fn shipped_rules_keep_their_meaning() {
    let mut folders = vec![root().join("rules")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rules") {
                let text = std::fs::read_to_string(&path).unwrap();
                if parse(&text).is_ok() {
                    check(&text);
                }
            }
        }
    }
}

/// A generated file: words, and places where a line may or must break.
#[derive(Clone, Debug)]
enum Part {
    Word(String),
    /// Sticks to the word before.
    Tight(&'static str),
    /// Where a line may break.
    MayBreak,
    /// Between statements or slots.
    Ends,
}

type Parts = Vec<Part>;

fn words(text: &str) -> Parts {
    text.split(' ').filter(|w| !w.is_empty()).map(|w| Part::Word(w.to_owned())).collect()
}

fn chain(parts: impl IntoIterator<Item = Parts>) -> Parts {
    parts.into_iter().flatten().collect()
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,6}x"
}

fn string() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        r#""a""#,
        r#""two_words""#,
        r##""# no comment""##,
        r#""\"q\" \u{e9}""#,
        r#""/""#,
        r#""é;{}""#,
    ])
    .prop_map(str::to_owned)
}

/// `[a, b]` with breaks wherever one may stand.
fn bracketed(items: Vec<String>) -> Parts {
    let mut out = vec![Part::Word("[".into()), Part::MayBreak];
    for item in items {
        out.extend([Part::Word(item), Part::MayBreak, Part::Tight(","), Part::MayBreak]);
    }
    out.push(Part::Word("]".into()));
    out
}

fn condition() -> impl Strategy<Value = Parts> {
    let list = prop::collection::vec(string(), 1..4);
    let leaf = prop_oneof![
        name().prop_map(|n| words(&n)),
        string().prop_map(|s| chain([words("text has"), vec![Part::Word(s)]])),
        (prop::sample::select(vec!["text has any of", "message has all of", "code in"]), list)
            .prop_map(|(op, list)| chain([words(op), bracketed(list)])),
        prop::sample::select(vec![
            "status is 402",
            "any status in [ 400, 500..599 ]",
            "body is html",
            "header \"x\" is present",
            "text matches /a#\\/[\"b]/c always",
            "provider is \"kimi*\"",
            "param starts with \"x\"",
        ])
        .prop_map(words),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), prop::sample::select(vec!["and", "or"]), any::<bool>()).prop_map(
                |(a, b, join, late)| {
                    let join = vec![Part::Word(join.to_owned())];
                    let open = vec![Part::MayBreak];
                    if late { chain([a, join, open, b]) } else { chain([a, open, join, b]) }
                }
            ),
            inner.clone().prop_map(|a| chain([
                words("not"),
                vec![Part::MayBreak],
                words("("),
                a,
                words(")")
            ])),
            inner.prop_map(|a| chain([
                words("("),
                vec![Part::MayBreak],
                a,
                vec![Part::MayBreak],
                words(")")
            ])),
        ]
    })
}

fn body(slots: Vec<Parts>) -> Parts {
    let inner = slots.into_iter().map(|slot| chain([slot, vec![Part::Ends]]));
    chain([words("{"), vec![Part::MayBreak], chain(inner), words("}")])
}

fn reaction() -> impl Strategy<Value = Parts> {
    let slots = vec![
        words("cooldown model using s until reset at least 1s at most 1d"),
        words("rotate up to 2 after 5ms"),
        words("fallback else surface"),
        words("say \"x\""),
        words("retry once if repaired"),
    ];
    prop::sample::subsequence(slots, 0..4).prop_map(body)
}

fn rule() -> impl Strategy<Value = Parts> {
    let case = string().prop_map(|s| chain([words("message"), vec![Part::Word(s)], words("status 402")]));
    let examples = prop::collection::vec(case, 0..3);
    (name(), condition(), prop::option::of(reaction()), examples, any::<bool>()).prop_map(
        |(name, cond, reaction, examples, observe)| {
            let observe = if observe { "observe" } else { "" };
            let head = words(&format!("{observe} rule {name} -> b"));
            let reaction =
                reaction.map(|r| chain([vec![Part::MayBreak], words("reaction"), r])).unwrap_or_default();
            let when = chain([vec![Part::MayBreak], words("when"), cond]);
            let examples = examples.into_iter().map(|e| chain([vec![Part::Ends], words("example"), e]));
            chain([head, when, reaction, chain(examples)])
        },
    )
}

fn statement() -> impl Strategy<Value = Parts> {
    let nested = rule().prop_recursive(2, 8, 3, |inner| {
        let inner = prop::collection::vec(inner, 0..3);
        prop_oneof![
            (name(), inner.clone()).prop_map(|(n, inner)| chain([words(&format!("group {n}")), body(inner)])),
            inner.prop_map(|inner| chain([words("provider [ a, \"k*\" ] as n"), body(inner)])),
        ]
    });
    let list = prop::collection::vec(string(), 0..5);
    prop_oneof![
        4 => nested,
        1 => (name(), list).prop_map(|(n, list)| chain([words(&format!("list {n} =")), bracketed(list)])),
        1 => (name(), condition()).prop_map(|(n, c)| chain([words(&format!("let {n} =")), c])),
        1 => reaction().prop_map(|r| chain([words("on b"), r])),
        1 => condition().prop_map(|c| chain([words("reset r from field \"x\" in date, epoch"), vec![Part::MayBreak], words("when"), c])),
        1 => Just(chain([words("setting s = 5h from config \"a\" in hours"), vec![Part::MayBreak], words("by provider from config \"b\"")])),
        1 => Just(chain([words("alias a = b,"), vec![Part::MayBreak], words("c")])),
        1 => Just(chain([words("test \"t\""), body(vec![words("message \"x\" -> b by g.r reset in 1h"), words("backoff s after 3 failures -> 5m")])])),
    ]
}

/// The text, with breaks and comments as `noise` says.
fn write(parts: &Parts, noise: &[u8]) -> String {
    let mut noise = noise.iter().copied().cycle();
    let mut out = String::new();
    let mut count = 0;
    let mut comment = |out: &mut String| {
        count += 1;
        out.push_str(&format!("# c{count} \"(\n"));
    };
    for part in parts {
        let n = noise.next().unwrap_or(0);
        match part {
            Part::Word(word) => {
                out.push_str([" ", "  ", "\t"][usize::from(n % 3)]);
                out.push_str(word);
            }
            Part::Tight(word) => out.push_str(word),
            Part::MayBreak => match n % 6 {
                0 => out.push('\n'),
                1 => comment(&mut out),
                2 => {
                    out.push_str("\n\n");
                    comment(&mut out);
                    out.push('\n');
                }
                3 => out.push_str(" \r\n"),
                _ => {}
            },
            Part::Ends => match n % 6 {
                0 => out.push(';'),
                1 => comment(&mut out),
                2 => {
                    out.push_str(";\n\n\n\n");
                    comment(&mut out);
                    out.push_str("\n\n");
                    comment(&mut out);
                }
                _ => out.push('\n'),
            },
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_files(
        statements in prop::collection::vec(statement(), 0..5),
        noise in prop::collection::vec(any::<u8>(), 1..64),
    ) {
        let parts = chain(statements.into_iter().map(|s| chain([s, vec![Part::Ends]])));
        check(&write(&parts, &noise));
    }

    #[test]
    fn any_text_at_all(text in "[a-z{}()\\[\\]\"#/;,=\\n \u{e9}]{0,80}") {
        if let Ok(once) = fmt::format(&text) {
            prop_assert_eq!(fmt::format(&once).unwrap(), once);
        }
    }
}
