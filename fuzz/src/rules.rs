//! The text of a rule file → parse, check, compile, format.

use pointsman::{
    classify::{Scratch, explain},
    lang::{
        ast::File,
        diagnostic::{Diagnostics, render},
        effective, fmt, load, parser,
        source::{SourceId, Sources},
        tree::Ruleset,
    },
    signal::SignalRef,
    table::{NoSettings, Table},
    time::Timestamp,
    verify,
};

/// Any text is read or refused, with findings inside of it; a good one has one form that means the
/// same, and what loads compiles.
pub fn rules(data: &[u8]) {
    let mut sources = Sources::default();
    let Ok(text) = parser::decode(SourceId::default(), data.to_vec()) else { return };
    sources.add("main.rules", &*text);
    let mut found = Diagnostics::default();
    let file = parser::parse(SourceId::default(), &text, &mut found);
    printed(&found, &sources);
    let formatted = fmt::format(&text);
    assert_eq!(formatted.is_err(), found.has_errors(), "formatting fails where reading fails");
    if let Ok(formatted) = &formatted {
        assert_eq!(fmt::format(formatted).as_ref().ok(), Some(formatted), "twice");
        assert_eq!(meaning(&file), meaning(&parse(formatted)), "the meaning\n{formatted}");
    }
    // Each input with the shipped rules in it would take a hundred times as long.
    let alone = !text.contains("default");
    if alone {
        let loaded = check(&text);
        if let Ok(formatted) = &formatted {
            assert_eq!(loaded, check(formatted), "formatted\n{formatted}");
        }
    } else if data.len() % 16 == 0 {
        drop(load::from_text(&text));
    }
}

fn parse(text: &str) -> File {
    let mut found = Diagnostics::default();
    let file = parser::parse(SourceId::default(), text, &mut found);
    assert!(!found.has_errors(), "a formatted text is good");
    file
}

/// Loads, compiles, warns and judges; gives the rule set without places, when there is one.
fn check(text: &str) -> Option<String> {
    let (set, found) = match load::from_text(text) {
        Ok(loaded) => loaded,
        Err(error) => {
            assert!(error.diagnostics.has_errors());
            printed(&error.diagnostics, &error.sources);
            return None;
        }
    };
    let what = content(&set);
    let table = Table::compile(set, &NoSettings).expect("what loads compiles");
    let found = verify::warnings(&table, found);
    printed(&found, &table.ruleset().sources);
    let mut failed = Diagnostics::default();
    failed.extend(verify::run(&table).failures);
    printed(&failed, &table.ruleset().sources);
    let signal = SignalRef { message: Some(text), status: Some(429), ..SignalRef::default() };
    let verdict = table.classify(&signal, &mut Scratch::default());
    assert_eq!(explain(&table, &signal, Timestamp::EPOCH).verdict.rule, verdict.rule);
    let _ = effective::print(table.ruleset());
    Some(what)
}

/// Every finding can be shown, and lies in its file.
fn printed(found: &Diagnostics, sources: &Sources) {
    for one in found.iter() {
        let span = one.span();
        if let Some(source) = sources.get(span.source) {
            assert!(source.text.get(span.start as usize..span.end as usize).is_some(), "{one:?}");
        }
        serde_json::to_string(&render::json(one, sources)).expect("a finding is JSON");
    }
    let _ = render::lines(found, sources);
}

/// All of a rule set but where it was written.
fn content(set: &Ruleset) -> String {
    let Ruleset {
        sources: _,
        buckets,
        aliases,
        lists,
        lets,
        blocks,
        rules,
        settings,
        backoffs,
        resets,
        policy,
        tests,
        edits,
        allows,
    } = set;
    without_spans(&format!(
        "{buckets:?}{aliases:?}{lists:?}{lets:?}{blocks:?}{rules:?}{settings:?}{backoffs:?}{resets:?}{policy:?}{tests:?}{edits:?}{allows:?}"
    ))
}

fn meaning(file: &File) -> String {
    without_spans(&format!("{file:?}"))
}

fn without_spans(tree: &str) -> String {
    let mut out = String::with_capacity(tree.len() / 2);
    let mut rest = tree;
    while let Some((before, after)) = rest.split_once("Span { source: SourceId(") {
        out.push_str(before);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    out + rest
}
