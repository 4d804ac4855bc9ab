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
