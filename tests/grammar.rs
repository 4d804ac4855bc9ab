//! The rules language as text: what is read, what is refused, and how it is said (language.md).

use pointsman::lang::{
    ast::{self, Cond, Condition, Edit, File, Op, StatementKind},
    diagnostic::{Diagnostics, codes, render},
    parser,
    source::Sources,
};

use crate::support::with_snapshots;

/// The tree and the findings as lines.
fn read(text: &str) -> (File, Vec<String>) {
    let mut sources = Sources::default();
    let id = sources.add("t.rules", text);
    let mut found = Diagnostics::default();
    let file = parser::parse(id, text, &mut found);
    (file, found.iter().map(|d| render::line(d, &sources)).collect())
}

/// The tree of a text without a finding (`language 1` is put before it).
fn good(text: &str) -> File {
    let (file, found) = read(&format!("language 1\n{text}"));
    assert_eq!(found, Vec::<String>::new(), "{text}");
    file
}

/// The findings of a text (`language 1` is put before it, on the same line).
fn bad(text: &str) -> Vec<String> {
    read(&format!("language 1; {text}")).1
}

const TOUR: &str = include_str!("data/grammar/tour.rules");

#[test]
fn every_form_is_read() {
    let file = good(TOUR.strip_prefix("language 1\n").unwrap());
    assert!(file.statements.iter().all(|s| !matches!(s.kind, StatementKind::Broken(_))));
    with_snapshots("grammar", || insta::assert_snapshot!("tour", format!("{:#?}", without_spans(&file))));
}

/// The tree as text, spans left out.
fn without_spans(file: &File) -> String {
    let text = format!("{file:#?}");
    let mut out = String::new();
    let mut depth = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        match depth {
            Some(start) if indent > start => {}
            Some(_) => depth = None,
            None if line.trim_end().ends_with("Span {") => depth = Some(indent),
            None => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

#[test]
fn pages_of_syntax_codes_tell_the_truth() {
    for code in codes::syntax::ALL {
        let (wrong, right) = codes::examples(*code).unwrap();
        let has = |text: &str, id: &str| read(text).1.iter().any(|line| line.contains(&format!("[{id}]")));
        assert!(has(wrong, code.id), "{}: the bad example is not refused: {:?}", code.id, read(wrong).1);
        assert!(!has(right, code.id), "{}: the good example is refused: {:?}", code.id, read(right).1);
        let others: Vec<_> = read(right).1.into_iter().filter(|l| !l.contains("P0114")).collect();
        assert_eq!(others, Vec::<String>::new(), "{}: the good example has other errors", code.id);
    }
}

fn cond(text: &str) -> Cond {
    match &good(text).statements[0].kind {
        StatementKind::Let(one) => one.cond.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn and_binds_tighter_than_or_and_not_tightest() {
    let Cond::Any(parts, _) = cond("let x = not a and b or c") else { panic!() };
    let [Cond::All(both, _), Cond::Named(c)] = parts.as_slice() else { panic!("{parts:?}") };
    assert!(matches!(both.as_slice(), [Cond::Not(..), Cond::Named(_)]));
    assert_eq!(c.node, "c");
    assert!(matches!(cond("let x = not (a or b)"), Cond::Not(inner, _) if matches!(*inner, Cond::Any(..))));
}

#[test]
fn lines_go_on_where_the_rules_say_and_nowhere_else() {
    for text in [
        "let x = a and\n b",
        "let x = a\n  and b",
        "let x = a or # why\n\n  # because\n b",
        "let x = not\n a",
        "let x = (\n a\n or b\n)",
        "list l = [\n\"a\",\n\n# c\n\"b\"\n]",
        "alias a = b,\n c",
        "rule x -> y\n when a",
        "rule x -> y when a\n reaction { fallback }",
        "setting s = 5h from config \"a\" in hours\n  by provider from config \"b\"",
    ] {
        assert_eq!(good(text).statements.len(), 1, "{text}");
    }
    for text in
        ["rule x\n-> y when a", "let x =\n a", "let x\n= a", "rule x -> y\notherwise", "let x = a let y = b"]
    {
        assert_ne!(bad(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(good("let x = a; let y = b;; let z = c").statements.len(), 3);
}

#[test]
fn words_end_at_their_edges_and_are_free_after_a_dot() {
    let file = good("rule whenever -> orders when android or notes\ndrop rule whenever.when");
    let StatementKind::Edit(Edit::Drop { target, .. }) = &file.statements[1].kind else { panic!() };
    assert_eq!(target.full(), "whenever.when");
}

#[test]
fn examples_belong_to_the_rule_above() {
    let file = good(
        "rule a -> b when c\n example message \"x\"\n\n # y\n counterexample status 402 no reset\nlet d = e",
    );
    let StatementKind::Rule(rule) = &file.statements[0].kind else { panic!() };
    assert_eq!(rule.examples.iter().map(|e| e.counter).collect::<Vec<_>>(), [false, true]);
    assert!(matches!(rule.condition, Condition::When(_)));
    assert!(bad("let a = b\nexample message \"x\"")[0].contains("no rule stands above"));
}

#[test]
fn independent_errors_come_together() {
    let text = include_str!("data/grammar/broken.rules");
    let (file, found) = read(text);
    with_snapshots("grammar", || insta::assert_snapshot!("broken", found.join("\n")));
    let kept: Vec<_> = file
        .statements
        .iter()
        .filter_map(|s| match &s.kind {
            StatementKind::Rule(rule) => Some(rule.name.node.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(kept, ["first", "middle", "last"]);
}

#[test]
fn messages_show_no_rule_of_the_grammar() {
    let words = ["k_", "_slot", "EOI", "Rule::", "path_part", "conjunction", "negation"];
    // Cut the tour at many places: whatever is missing then, is said in plain words.
    for (at, _) in TOUR.char_indices().step_by(7) {
        for line in read(&TOUR[..at]).1 {
            assert!(words.iter().all(|word| !line.split(": ").nth(2).unwrap_or("").contains(word)), "{line}");
        }
    }
}

#[test]
fn spans_stand_on_the_right_token() {
    let mut sources = Sources::default();
    let text = "\u{feff}language 1\r\nrule über -> x when a\r\nrule b -> c when text hass \"x\"\r\n";
    let id = sources.add("t.rules", text);
    let mut found = Diagnostics::default();
    parser::parse(id, text, &mut found);
    let shown: Vec<_> = found.iter().map(|d| (d.code.id, sources.snippet(d.span()))).collect();
    assert_eq!(shown, [("P0110", "über"), ("P0101", "hass")]);
}

#[test]
fn a_deep_file_is_refused_and_does_not_overflow() {
    for deep in [65, 1_000, 200_000] {
        for (open, middle, close) in [("(", "a", ")"), ("[", "\"a\"", "]")] {
            let text = format!("let x = {}{middle}{}\nlet y = b", open.repeat(deep), close.repeat(deep));
            let found = bad(&text);
            assert!(found.iter().all(|f| f.contains("P0106")) && found.len() == 1, "{found:?}");
        }
        let found = bad(&format!("{}{}", "group g {\n".repeat(deep), "}\n".repeat(deep)));
        assert!(found.iter().any(|f| f.contains("P0106")), "{found:?}");
        let found = bad(&format!("let x = {} a", "not ".repeat(deep)));
        assert!(found.iter().any(|f| f.contains("P0106")), "{found:?}");
    }
    good(&format!("let x = {}a{}", "(".repeat(64), ")".repeat(64)));
    good(&format!("{}{}", "group g {\n".repeat(64), "}\n".repeat(64)));
}

#[test]
fn a_large_file_is_refused_and_a_file_of_rubbish_ends_soon() {
    assert!(bad(&" ".repeat(parser::LARGEST)).iter().any(|f| f.contains("P0803")));
    for rubbish in ["rule\n", "(\n", "\n", ",\n", "\"", "##\n", "}", "{", "let a = b or\n", "\u{0}", "[a,\n"]
    {
        let text = rubbish.repeat(200_000 / rubbish.len());
        assert!(bad(&text).len() <= 101);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let id = Sources::default().add("t", "");
    let error = parser::decode(id, b"language 1\nlet \xff".to_vec()).unwrap_err();
    assert_eq!(error.code.id, "P0802");
    assert!(error.message.contains("byte 15, on line 2"), "{}", error.message);
    assert_eq!(parser::decode(id, vec![b' '; parser::LARGEST + 1]).unwrap_err().code.id, "P0803");
    assert!(bad("let x = a\0")[0].contains("U+0000"));
    good("let x = text has \"a\0b\" # \0");
}

#[test]
fn doc_comments_and_allows_belong_to_what_follows() {
    let file = good("## One.\n##\n##  Two.\nallow P0702 \"so\"\nlet x = a");
    let statement = &file.statements[0];
    assert_eq!(statement.doc.as_ref().unwrap().node, "One.\n\n Two.");
    assert_eq!(statement.allows[0].code.node, "P0702");
    for stray in [
        "let x = a ## no",
        "let x = a and\n## no\nb",
        "## end",
        "on b {\n ## no\n fallback }",
        "## no\nlanguage 1",
    ] {
        assert!(bad(stray).iter().any(|f| f.contains("P0107")), "{stray}");
    }
}

#[test]
fn a_broken_statement_keeps_its_name() {
    let (file, _) =
        read("language 1\nobserve rule lost -> when\nbackoff short = stepps 1m\nbucket b { htp 400 }");
    let names: Vec<_> = file
        .statements
        .iter()
        .map(|s| match &s.kind {
            StatementKind::Broken(ast::Broken { name: Some(name), .. }) => name.node.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["lost", "short", "b"]);
}

#[test]
fn regular_expressions_keep_their_slashes_and_flags() {
    let Cond::Test(test) = cond("let x = text matches /a\\/b [\"#]/c always") else { panic!() };
    let Op::Matches(regex) = test.op.node else { panic!() };
    assert_eq!((regex.pattern.as_str(), regex.case_sensitive, regex.always), ("a\\/b [\"#]", true, true));
}
