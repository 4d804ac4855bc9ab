//! Examples and tests of the rules through the whole list, and what they cover (language.md §6).

use pointsman::{
    lang::{
        diagnostic::{codes::lints, render},
        load,
    },
    table::{NoSettings, Table},
    verify::{self, Report},
};

fn table(text: &str) -> Table {
    let (set, _) = load::from_text(&format!("language 1\n{text}"))
        .unwrap_or_else(|e| panic!("{}", render::lines(&e.diagnostics, &e.sources)));
    Table::compile(set, &NoSettings).unwrap()
}

fn lines(table: &Table, report: &Report) -> Vec<String> {
    report.failures.iter().map(|f| render::line(f, &table.ruleset().sources)).collect()
}

#[test]
fn a_lost_example_names_both_places() {
    let table = table(
        "rule limit -> unclassified when text has \"limit reached\"\nrule spend -> empty_response when text has \"spend limit\"\n  example message \"Spend limit reached\"",
    );
    let report = verify::run(&table);
    assert_eq!(report.cases, 1);
    let lost = report.failures.iter().next().unwrap();
    assert_eq!(lost.code, lints::EXAMPLE_LOST);
    assert!(lost.message.contains("`limit`") && lost.message.contains("`spend`"), "{}", lost.message);
    assert_eq!(table.locate(lost.span()), "main.rules:4");
    let places: Vec<String> = lost.related.iter().map(|(span, _)| table.locate(*span)).collect();
    assert_eq!(places, ["main.rules:2", "main.rules:3"]);
}

#[test]
fn examples_of_a_block_need_not_repeat_its_guard() {
    let table = table(
        "group paid when status is 402 {\n  rule rest -> unclassified otherwise\n    example message \"anything\"\n}\nprovider acme {\n  rule slow -> unclassified when text has \"slow down\"\n    example message \"slow down\"\n    counterexample provider other message \"slow down\"\n}",
    );
    let report = verify::run(&table);
    assert_eq!((report.cases, report.passed()), (3, true), "{:?}", lines(&table, &report));
}

#[test]
fn a_counterexample_that_its_rule_decides_fails() {
    let table = table(
        "rule limit -> unclassified when text has \"limit\"\n  counterexample message \"corporate limits\"\n  counterexample message \"a limit\"",
    );
    let report = verify::run(&table);
    assert_eq!(report.failures.len(), 1);
    assert!(lines(&table, &report)[0].starts_with("main.rules:4:"), "{:?}", lines(&table, &report));
}

#[test]
fn an_observed_rule_is_shown_by_its_example() {
    let table = table(
        "observe rule seen -> empty_response when text has \"strange thing\"\n  example message \"a strange thing\"",
    );
    assert!(verify::run(&table).passed());
}

#[test]
fn schedules_are_tested_by_their_failures() {
    let rules = |expect: &str| {
        table(&format!(
            "backoff short = steps 1m, 5m, 25m, 1h\non unclassified {{ cooldown profile using short; fallback }}\ntest \"short\" {{\n  backoff short after 3 failures -> {expect}\n  backoff short after 9 failures -> 1h\n}}"
        ))
    };
    assert!(verify::run(&rules("25m")).passed());
    let wrong = rules("1h");
    let found = lines(&wrong, &verify::run(&wrong));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("expected `1h`, got `25m`"), "{found:?}");
}

#[test]
fn a_case_may_expect_a_reset_time() {
    let rules = |reset: &str| {
        table(&format!(
            "backoff short = steps 1m\nreset wait from header \"retry-after\" in seconds, date\non unclassified {{ cooldown profile using short until reset at least 1s at most 1h; fallback }}\nrule slow -> unclassified when text has \"slow down\"\n  example message \"slow down\" header \"retry-after\" \"90\" {reset}"
        ))
    };
    assert!(verify::run(&rules("reset in 90s")).passed());
    assert!(!verify::run(&rules("reset in 2m")).passed());
    assert!(!verify::run(&rules("no reset")).passed());
}

#[test]
fn coverage_is_never_rounded_up() {
    let share = |reached, total| verify::coverage::Share { reached, total };
    let percent = |reached, total| share(reached, total).percent();
    assert_eq!(percent(99_999, 100_000), "99.99");
    assert_eq!([percent(199, 200), percent(200, 200), percent(0, 0)], ["99.5", "100", "100"]);
    assert_eq!(
        [percent(1, 3), percent(1, 8), percent(201, 20_000), percent(1, 100_000)],
        ["33.33", "12.5", "1", "0"]
    );
    for total in [1, 7, 100, 10_000, 123_457] {
        assert!(share(total - 1, total).hundredths() < 10_000);
        assert_eq!(share(total, total).hundredths(), 10_000);
    }
}

#[test]
fn coverage_names_rules_entries_and_branches() {
    let table = table(
        "list words = [\"daily limit\", \"weekly limit\"]\nrule window -> unclassified when text has any of words\n  example message \"daily limit\"\nrule either -> unclassified when text has \"slow down\" or status is 410\n  example status 410 message \"x\"\nrule dark -> unclassified when status is 411\n",
    );
    let coverage = verify::coverage(&table).unwrap();
    assert_eq!((coverage.rules.reached, coverage.rules.total), (2, 3));
    assert_eq!((coverage.entries.reached, coverage.entries.total), (1, 2));
    assert_eq!((coverage.branches.reached, coverage.branches.total), (1, 2));
    assert_eq!(coverage.least(), 5_000);
    let what: Vec<&str> = coverage.unreached.iter().map(|u| u.what.as_str()).collect();
    assert_eq!(what, ["entry `weekly limit`", "branch `text has \"slow down\"`", "rule `dark`"]);
}

#[test]
fn a_branch_counts_only_where_its_rule_decides() {
    let table = table(
        "rule first -> unclassified when status is 410\n  example status 410 message \"slow down\"\nrule second -> unclassified when text has \"slow down\" or text has \"wait a bit\"\n  example message \"wait a bit\"",
    );
    let coverage = verify::coverage(&table).unwrap();
    assert_eq!((coverage.branches.reached, coverage.branches.total), (1, 2));
}

#[test]
fn a_suppression_is_used_up_or_reported() {
    let warnings = |text: &str| {
        let (set, found) = load::from_text(&format!("language 1\nuse default\n{text}")).unwrap();
        let table = Table::compile(set, &NoSettings).unwrap();
        let found = verify::warnings(&table, found);
        found.iter().map(|w| w.code.id).collect::<Vec<_>>()
    };
    let rule = "rule odd -> billing when text contains \"qqxqq\"\n  example message \"aqqxqqa\"";
    assert_eq!(warnings(rule), ["P0712"]);
    assert_eq!(warnings(&format!("allow P0712 \"glued ids\"\n{rule}")), [""; 0]);
    assert_eq!(warnings(&format!("allow P0711 \"long\"\n{rule}")), ["P0715", "P0712"]);
}

#[test]
fn the_shipped_examples_hold() {
    let (set, _) = load::shipped().unwrap();
    let table = Table::compile(set, &NoSettings).unwrap();
    let report = verify::run(&table);
    assert!(report.passed(), "{:#?}", lines(&table, &report));
    assert!(report.cases > 100);
}
