//! Ready scenarios in `tests/scenarios/`, each with the timeline that it must give.

use std::{fmt::Write as _, path::PathBuf, sync::Arc};

use pointsman::{
    config::Outside,
    host::simulate::{Line, Scenario},
    lang::load,
    state::memory::MemoryStore,
    table::Table,
    time::Timestamp,
};

use crate::support::{root, rules, with_snapshots};

/// The timeline of a scenario in JSON lines, as `simulate` prints them. A line `# rules: PATH` in its
/// head names the rules that it is played with; then it is
/// played with the shipped ones too, to show the difference.
fn timeline(path: &PathBuf, with_rules: bool) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(scenario.hints, [], "{}", path.display());
    let loaded = match rules_of(&text) {
        Some(rules) if with_rules => load::from_path(&root().join(rules)),
        _ => rules::rules(),
    };
    let (rules, _) = loaded.unwrap_or_else(|error| panic!("{:#?}", error.diagnostics));
    let env = |name: &str| scenario.env.get(name).cloned();
    let table = Table::compile(rules, &Outside { config: &scenario.config, env: &env }).unwrap();
    let (store, mut lines) = (MemoryStore::new(), Vec::<Line>::new());
    let start = scenario.starts(None, Timestamp::EPOCH).unwrap();
    scenario.play(Arc::new(table), &store, start, 1, &mut lines).unwrap();
    lines.iter().fold(String::new(), |mut out, line| {
        writeln!(out, "{}", serde_json::to_string(line).unwrap()).unwrap();
        out
    })
}

fn rules_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("# rules: "))
}

fn scenarios() -> Vec<PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(root().join("tests/scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn timelines() {
    with_snapshots("scenarios", || {
        for path in scenarios() {
            let name = path.file_stem().unwrap().to_str().unwrap();
            insta::assert_snapshot!(name, timeline(&path, true));
            if rules_of(&std::fs::read_to_string(&path).unwrap()).is_some() {
                let by_default = timeline(&path, false);
                assert_ne!(by_default, timeline(&path, true), "the rules of {name} show no difference");
                insta::assert_snapshot!(format!("{name}_by_default"), by_default);
            }
        }
    });
}

fn problems(text: &str) -> Vec<String> {
    Scenario::parse(text).unwrap_err().problems().iter().map(ToString::to_string).collect()
}

#[test]
fn turns_come_in_order_of_time_and_of_the_file() {
    let text = "turns: [ { at: 1m, session: a }, { at: 0, session: b }, { at: 60s, session: c } ]";
    let scenario = Scenario::parse(text).unwrap();
    let sessions: Vec<_> = scenario.turns.iter().map(|turn| turn.session.as_str()).collect();
    assert_eq!(sessions, ["b", "a", "c"]);
}

#[test]
fn what_is_no_scenario_is_said_at_its_place() {
    assert!(problems("turns: [ {").concat().contains("line "));
    assert_eq!(problems("- a\n"), ["a scenario must be a map, not a list"]);
    assert_eq!(problems("turns: 5"), ["line 1: `turns` must be a list, not a number"]);
    assert!(Scenario::parse("").unwrap().turns.is_empty());
    assert!(Scenario::parse(&"# long\n".repeat(700_000)).is_err(), "longer than any scenario");
    // Aliases that multiply: refused or read, but never a hang.
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let of = vec![format!("*a{}", n - 1); 10].join(", ");
        bomb += &format!("a{n}: &a{n} [{of}]\n");
    }
    assert!(Scenario::parse(&bomb).is_err());
    assert!(Scenario::parse(&"[".repeat(100_000)).is_err(), "too deep");
}

#[test]
fn misspelt_agents_and_profiles_are_hinted_at() {
    let text = "
config: { agents: { list: [ { id: helper, model: a/b } ] } }
profiles: [ { id: 'a:work', kind: oauth } ]
providers: [ { profile: 'a:wrok' } ]
turns: [ { at: 0s, session: s, agent: helpre } ]
";
    let hints = Scenario::parse(text).unwrap().hints;
    let hints: Vec<_> = hints.iter().map(ToString::to_string).collect();
    assert_eq!(
        hints,
        [
            "line 4: no profile of this scenario is called `a:wrok`; did you mean `a:work`?",
            "line 5: no agent of the config is called `helpre`; did you mean `helper`?",
        ]
    );
}

#[test]
fn the_same_seed_gives_the_same_timeline() {
    for name in ["k4_two_runs_roll_back", "e7_inside_an_open_window"] {
        let path = root().join(format!("tests/scenarios/{name}.yaml"));
        assert_eq!(timeline(&path, true), timeline(&path, true));
    }
}

#[test]
fn at_least_thirty_scenarios_cover_every_section_that_can_be_shown() {
    let names: Vec<_> =
        scenarios().iter().map(|p| p.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(names.len() >= 30, "{names:?}");
    for section in "abcefghijkl".chars() {
        assert!(names.iter().any(|name| name.starts_with(section)), "no scenario of section {section}");
    }
}
