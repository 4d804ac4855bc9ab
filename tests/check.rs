//! Broken and doubtful rule files, each with what is said about it; pages of codes; the shipped rules.

use std::{collections::BTreeSet, fmt::Write, fs, path::Path};

use pointsman::{
    lang::{
        diagnostic::{Diagnostic, Diagnostics, codes, render},
        load::{self, Loaded, files::Memory},
        source::Sources,
    },
    table::{NoSettings, Table},
    verify,
};

use crate::support::{root, with_snapshots};

/// Everything that `check` and `test` find.
fn findings(loaded: Loaded) -> (Diagnostics, Sources) {
    match loaded {
        Err(error) => (error.diagnostics, error.sources),
        Ok((set, found)) => {
            let sources = set.sources.clone();
            let table = Table::compile(set, &NoSettings).unwrap();
            let mut all = verify::warnings(&table, found);
            let report = verify::run(&table);
            all.extend(report.failures.into_iter().filter(|f| f.code == codes::lints::TEST_FAILED));
            (all, sources)
        }
    }
}

/// A finding with the text under each of its marks.
fn shown(finding: &Diagnostic, sources: &Sources) -> String {
    let mut out = format!("{}[{}]: {}\n", finding.severity(), finding.code, finding.message);
    let mut place = |mark: &str, (span, text): &(pointsman::lang::source::Span, String)| {
        let Some(at) = render::place(*span, sources) else { return };
        let under = sources.snippet(*span).lines().next().unwrap_or("");
        let _ = writeln!(out, "  {mark} {}:{}:{} `{under}` {text}", at.file, at.line, at.column);
    };
    finding.labels.iter().for_each(|label| place("at", label));
    finding.related.iter().for_each(|label| place("see", label));
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "  help: {help}");
    }
    out
}

fn broken_files() -> Vec<String> {
    let entries = fs::read_dir(root().join("tests/broken")).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter(|n| n.rsplit_once('.').is_some_and(|(_, end)| end == "rules")).collect();
    names.sort();
    names
}

/// The files stand alone on purpose; only one of them is about that.
fn matters(name: &str, finding: &Diagnostic) -> bool {
    finding.code != codes::lints::NOT_DEFAULT || name == "not_default.rules"
}

#[test]
fn broken_files_are_explained() {
    let names = broken_files();
    assert!(names.len() >= 40, "{}", names.len());
    for name in names {
        let (found, sources) = findings(load::from_path(&root().join("tests/broken").join(&name)));
        let text: Vec<String> =
            found.iter().filter(|f| matters(&name, f)).map(|f| shown(f, &sources)).collect();
        let text = if text.is_empty() { "nothing to say\n".to_owned() } else { text.join("\n") };
        with_snapshots("check", || insta::assert_snapshot!(name.trim_end_matches(".rules"), text));
    }
}

#[test]
fn every_code_of_meaning_is_met() {
    let mut met = BTreeSet::new();
    for name in broken_files() {
        let (found, _) = findings(load::from_path(&root().join("tests/broken").join(&name)));
        met.extend(found.iter().map(|f| f.code.id));
    }
    // The parser's codes have tests of their own; files too large or unreadable are made below.
    let elsewhere = |id: &str| id.starts_with("P01") || ["P0801", "P0803"].contains(&id);
    let missing: Vec<&str> =
        codes::all().map(|c| c.id).filter(|id| !elsewhere(id) && !met.contains(id)).collect();
    assert!(missing.is_empty(), "no broken file shows {missing:?}");
}

#[test]
fn every_finding_helps_and_points_somewhere() {
    for name in broken_files() {
        let (found, sources) = findings(load::from_path(&root().join("tests/broken").join(&name)));
        for finding in found.iter().filter(|f| !f.code.id.starts_with("P01")) {
            let text = shown(finding, &sources);
            assert!(finding.help.is_some(), "{name}: {text}");
            assert!(
                render::place(finding.span(), &sources).is_some() || name == "not_text.rules",
                "{name}: {text}"
            );
            assert!(!finding.message.ends_with('.'), "{name}: {text}");
            assert!(finding.message.chars().next().is_some_and(|c| !c.is_uppercase()), "{name}: {text}");
        }
    }
}

/// What a page's example needs around it to be about one thing only.
const AROUND: &str = "
bucket rate_limit { http 429; transient }
bucket billing { http 402 }
bucket timeout { http 504 }
bucket overloaded { http 503; transient }
bucket model_not_found { http 404 }
bucket format { http 400 }
on rate_limit { fallback }
on billing { fallback }
on timeout { fallback }
on overloaded { fallback }
on model_not_found { fallback }
on format { surface }
";

#[test]
fn bad_examples_of_pages_show_their_code() {
    // Deep and long things would make a page of their own.
    let elsewhere =
        |id: &str| id.starts_with("P01") || id.starts_with("P08") || ["P0210", "P0308"].contains(&id);
    for code in codes::all().filter(|c| !elsewhere(c.id)) {
        let (bad, good) = codes::examples(code).unwrap();
        let found = |example: &str| {
            let declared = |line: &&str| {
                let head = line.split('{').next().unwrap_or("").trim();
                let bucket = head.replace("on ", "bucket ");
                line.is_empty()
                    || ![head, &bucket].iter().any(|h| example.contains(*h))
                        && !example.contains("use default")
            };
            let around: Vec<&str> = AROUND.lines().filter(declared).collect();
            let text = format!("language 1\n{example}\n{}", around.join("\n"));
            let files = Memory::new().with("main.rules", text).with(
                "all.rules",
                "language 1\nrule whatever -> unclassified otherwise\n  example message \"anything\"\n",
            );
            findings(load::load(&files, "main.rules"))
        };
        let (in_bad, sources) = found(bad);
        assert!(
            in_bad.iter().any(|f| f.code == code),
            "{code}: bad example\n{}",
            render::lines(&in_bad, &sources)
        );
        let (in_good, sources) = found(good);
        let inside = |f: &&Diagnostic| (f.span().start as usize) < "language 1\n".len() + good.len();
        assert!(
            in_good.iter().filter(inside).all(|f| f.code != code),
            "{code}: good example\n{}",
            render::lines(&in_good, &sources)
        );
    }
}

#[test]
fn shipped_rules_are_clean() {
    let (found, sources) = findings(load::shipped());
    assert!(found.is_empty(), "{}", render::lines(&found, &sources));
}

#[test]
fn presets_load() {
    for name in pointsman::lang::shipped::names() {
        let loaded = load::from_text(&format!("language 1\nuse {name}\n"));
        assert!(
            loaded.is_ok(),
            "{name}: {}",
            loaded.map_or_else(|e| render::lines(&e.diagnostics, &e.sources), |_| String::new())
        );
    }
}

#[test]
fn odd_inputs_are_answered() {
    let big = Memory::new().with("main.rules", vec![b'#'; 10 << 20]);
    let error = load::load(&big, "main.rules").unwrap_err();
    assert!(render::lines(&error.diagnostics, &error.sources).contains("P0803"));
    assert!(load::from_text("").is_ok());
    let error = load::from_path(Path::new("/nowhere/at/all.rules")).unwrap_err();
    assert!(render::lines(&error.diagnostics, &error.sources).contains("P0808"));
    let nested = format!("language 1\nrule a -> unclassified when {}status is 429", "not ".repeat(100_000));
    let _ = load::from_text(&nested);
    let nested = format!("language 1\nrule a -> unclassified when {}", "(".repeat(100_000));
    assert!(load::from_text(&nested).is_err());
    assert!(load::from_text("language 1\nrule \0 -> x").is_err());
}
