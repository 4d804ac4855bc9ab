//! What the book in docs/ says of the language is what the language is.

use std::{fs, path::PathBuf};

use pointsman::{
    lang::{load, source::Span},
    table::{NoSettings, Table},
    verify,
};

use crate::support::root;

fn pages() -> Vec<(PathBuf, String)> {
    let mut pages: Vec<_> = fs::read_dir(root().join("docs/src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    pages.sort();
    pages
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs/src").join(name)).unwrap()
}

/// What the grammar takes literally, as a person writes it: the words of a `k_…` rule together, each
/// alternative of another rule alone.
fn keywords() -> Vec<String> {
    let grammar = fs::read_to_string(root().join("grammar/rules.pest")).unwrap();
    let grammar =
        grammar.split("// ----------").filter(|part| !part.trim_start_matches('-').starts_with(" slots"));
    let mut words = Vec::new();
    for line in grammar.flat_map(str::lines).map(|line| line.split("//").next().unwrap()) {
        let literals: Vec<&str> = line
            .split('"')
            .skip(1)
            .step_by(2)
            .filter(|text| text.starts_with(|c: char| c.is_ascii_lowercase()))
            .collect();
        if line.starts_with("k_") {
            words.push(literals.join(" "));
        } else {
            words.extend(literals.iter().map(|&word| word.to_owned()));
        }
    }
    words.sort();
    words.dedup();
    words
}

/// Whether `phrase` stands in `text` as words.
fn names(text: &str, phrase: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(phrase)
        .any(|(at, _)| !text[..at].ends_with(inside) && !text[at + phrase.len()..].starts_with(inside))
}

#[test]
fn the_reference_names_every_word_of_the_grammar() {
    let (words, text) = (keywords(), page("language.md"));
    assert!(words.len() > 120, "{words:?}");
    let missing: Vec<_> = words.iter().filter(|word| !names(&text, word)).collect();
    assert!(missing.is_empty(), "language.md does not speak of {missing:?}");
}

/// An example that is not a whole file is read below the shipped rules' names. Its own examples and tests are
/// run, and the shipped ones with them; what comes out otherwise is told on the page.
#[test]
fn every_example_of_the_book_loads_and_comes_out_as_the_page_says() {
    let (mut seen, mut shown) = (0, 0);
    for (path, page) in pages() {
        for block in page.split("```rules\n").skip(1) {
            let text = block.split("```").next().unwrap();
            let whole = if text.starts_with("language") {
                text.to_owned()
            } else {
                format!("language 1\nuse default\n{text}")
            };
            let loaded = load::from_text(&whole);
            let (set, _) =
                loaded.unwrap_or_else(|error| panic!("{}: {text}\n{:#?}", path.display(), error.diagnostics));
            let own = |span: Span| set.sources.get(span.source).is_some_and(|source| *source.text == *whole);
            let examples = set.rules.iter().flat_map(|rule| &rule.examples).map(|example| example.case.span);
            shown += examples.chain(set.tests.iter().map(|test| test.span)).filter(|span| own(*span)).count();
            let failures = verify::run(&Table::compile(set, &NoSettings).unwrap()).failures;
            let count = failures.iter().count();
            let said = format!("`{count} not as expected`");
            assert!(
                count == 0 || page.replace('\n', " ").contains(&said),
                "{} does not say {said}: {text}\n{failures:#?}",
                path.display()
            );
            seen += 1;
        }
    }
    assert!(seen >= 5 && shown >= 3, "{seen} examples with {shown} cases of their own");
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let summary = page("SUMMARY.md");
    for (path, text) in pages() {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("]({name})")),
            "{name} is not in the summary"
        );
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            let fine = link.starts_with("http")
                || target.is_empty()
                || root().join("docs/src").join(target).exists();
            assert!(fine, "{name} links to {link}");
        }
    }
}

/// A test that a page names as `subject::test` exists.
#[test]
fn the_tests_that_the_security_page_names_exist() {
    let mut seen = 0;
    for span in page("security.md").split('`').skip(1).step_by(2) {
        let Some((subject, name)) = span.rsplit_once("::") else { continue };
        let file = root().join("tests").join(format!("{}.rs", subject.replace("::", "/")));
        let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{} does not exist", file.display()));
        assert!(text.contains(&format!("fn {name}(")), "{} has no test {name}", file.display());
        seen += 1;
    }
    assert!(seen >= 10, "{seen}");
}

/// The table of fuzzing is the one that `fuzz/run` wrote beside libFuzzer's figures.
#[test]
fn the_figures_of_fuzzing_are_those_of_the_report() {
    let report = fs::read_to_string(root().join("fuzz/report/README.md")).unwrap();
    let page = page("security.md");
    let (_, shown) = page.split_once("<!-- fuzzing: begin -->\n").unwrap();
    assert_eq!(shown.split_once("<!-- fuzzing: end -->").unwrap().0, report, "run `fuzz/run`");
    assert!(report.lines().count() > 8, "{report}");
}

/// What embedding.md says of changed rules, as it stands there.
#[cfg(feature = "tokio")]
#[tokio::test(flavor = "current_thread")]
async fn an_engine_over_a_handle_takes_changed_rules() {
    use pointsman::{
        config::Config,
        host::{Engine, Reloaded, Rules},
        run::Routing,
        state::memory::MemoryStore,
    };
    use std::sync::Arc;

    let folder = tempfile::tempdir().unwrap();
    let (path, config) = (folder.path().join("acme.rules"), Config::default());
    let write = |bucket: &str| {
        let rule =
            format!("rule odd -> {bucket} when text has \"odd lane\"\n  example message \"odd lane\"\n");
        fs::write(&path, format!("language 1\n{rule}use default\n")).unwrap();
    };
    write("timeout");
    let rules = Rules::from_path(&path, config.clone()).unwrap();
    let routing = Arc::new(Routing::from(&config));
    let engine = Engine::with_rules(rules.clone(), routing, Arc::new(MemoryStore::new()));
    let watching = tokio::spawn({
        let engine = engine.clone();
        async move { engine.watch().await }
    });
    let before = engine.table().hash();

    write("no_such_bucket");
    assert!(rules.reload().is_err());
    assert_eq!(engine.table().hash(), before, "a bad file changes nothing");
    assert!(rules.in_force().failure.is_some());

    write("overloaded");
    assert!(matches!(rules.reload().unwrap(), Reloaded::Taken { .. }));
    assert_ne!(engine.table().hash(), before);
    watching.abort();
    engine.flush().unwrap();
}
