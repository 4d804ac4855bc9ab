//! What the README says of the code.

use crate::support::root;

#[test]
fn the_readme_shows_the_whole_of_the_smallest_example() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let (readme, example) = (read("README.md"), read("examples/embed.rs"));
    let code = &example[example.find("use std::").unwrap()..];
    assert!(
        readme.contains(&format!("```rust\n{code}```\n")),
        "README.md does not show examples/embed.rs as it is"
    );
}

#[cfg(feature = "cli")]
fn help(args: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_pointsman")).args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(feature = "cli")]
#[test]
fn the_readme_names_every_command() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, table) = readme.split_once("## Commands").unwrap();
    let table: String = table.lines().filter(|line| line.starts_with('|')).collect();
    let help = help(&["--help"]);
    let commands = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    let commands = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        assert!(table.contains(&format!("`{command}`")), "the table lacks `{command}`");
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_book_names_every_flag_of_snapshots() {
    let page = std::fs::read_to_string(root().join("docs/src/cli.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("`snapshot`")).unwrap();
    let help = help(&["snapshot", "check", "--help"]);
    let flags = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
    let everywhere = ["--help", "--rules", "--color", "--version"];
    for flag in flags.filter(|flag| !everywhere.contains(flag)) {
        assert!(section.contains(flag), "cli.md does not speak of `snapshot {flag}`");
    }
}
