//! What fuzzing found, each with the least input that showed it.

use std::fs;

use proptest::prelude::*;

use pointsman::{
    lang::{load, source::Span},
    state::{import::import, memory::MemoryStore, store::Store, view::ViewQuery},
    time::{Timestamp, parse_date},
};

/// Usage of which nothing was understood was stored as fresh usage at every import.
#[test]
fn a_second_import_of_odd_usage_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("agents/main/agent");
    fs::create_dir_all(&folder).unwrap();
    let text =
        r#"{"profiles":{"a:b":{"type":"api_key","provider":"a","key":"k"}},"usageStats":{"a:b":{"odd":1}}}"#;
    fs::write(folder.join("auth-profiles.json"), text).unwrap();
    let (store, now) = (MemoryStore::new(), Timestamp::from_millis(1_800_000_000_000));
    let revision = || store.view(&ViewQuery::default(), now).unwrap().revision;
    let report = import(root.path(), "main", &store, &|a, b| a == b, now).unwrap();
    assert_eq!(report.files[0].not_understood[0].at, "usageStats.a:b.odd");
    assert!(report.files[0].usage.is_empty());
    let first = revision();
    import(root.path(), "main", &store, &|a, b| a == b, now).unwrap();
    assert_eq!(revision(), first);
}

/// Minutes of an offset overflowed where arithmetic is checked.
#[test]
fn an_offset_of_endless_minutes_is_none() {
    let now = Timestamp::from_millis(1_800_000_000_000);
    for text in ["&8:0+02:0050+02:0108001088~", "10:30+02:99999999", "10:30+999999999", "10:30-32767:32767"] {
        assert_eq!(parse_date(text, now), None, "{text}");
    }
}

/// What was wrong lay between two characters, and one byte of the second was shown.
#[test]
fn a_finding_in_an_expression_ends_behind_a_character() {
    for (pattern, wrong) in [("没有.{0,效", "效"), ("a{é", "é"), ("\\/é{0,效", "效"), ("a{0,", "{0,")]
    {
        assert_eq!(shown(pattern), [wrong], "{pattern}");
    }
}

/// What is shown of an expression.
fn shown(pattern: &str) -> Vec<String> {
    let text = format!("language 1\nlet odd = text matches /{pattern}/\n");
    let found = load::from_text(&text).map_or_else(
        |error| (error.diagnostics, error.sources),
        |(set, diagnostics)| (diagnostics, set.sources),
    );
    let place =
        |span: Span| found.1.get(span.source).unwrap().text.get(span.start as usize..span.end as usize);
    found.0.iter().map(|one| place(one.span()).unwrap().to_owned()).collect()
}

proptest! {
    #[test]
    fn findings_in_expressions_are_whole_characters(pattern in "(.|[a效é{}()<>,0-9|?*+^\\[\\]\\-]|\\\\[a-z/é]){0,9}") {
        shown(&pattern);
    }
}
