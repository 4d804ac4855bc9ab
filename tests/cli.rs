//! The binary, run as a user runs it. Cases are data in `tests/cli/*.case`; what data cannot say
//! (bytes that are no text, closed pipes, memory) stands here.
//!
//! A case: `$ pointsman ARGUMENTS`, then sections `--- stdin`, `--- file NAME`, `--- env`,
//! `--- stdout`, `--- stderr`, `--- exit N`. It runs in an empty folder of its own, and `{root}`
//! stands for the repository. Line numbers of shipped rules are left out. `BLESS=1` writes what is printed into the cases.

use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, Output, Stdio},
};

mod bad_input;
mod files;
#[cfg(unix)]
mod progress;
mod snapshot;

use crate::support::root;

const BINARY: &str = env!("CARGO_BIN_EXE_pointsman");

/// The binary with a clean environment.
fn pointsman(args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end with `input` on stdin.
fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = input.to_vec();
    let writer = std::thread::Builder::new()
        .spawn(move || {
            // The command may end without reading everything.
            let _ = stdin.write_all(&input);
        })
        .expect("a thread starts");
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    output
}

/// The most memory that a running process has had, in kB; nothing once it has ended.
#[cfg(target_os = "linux")]
fn peak(child: &std::process::Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let told = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    told.trim().strip_suffix(" kB")?.parse().ok()
}

#[test]
fn cases() {
    let folder = root().join("tests/cli");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "case"));
    paths.sort();
    assert!(!paths.is_empty());
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let case = Case::parse(&text);
        let got = case.with_output(&case.run());
        let got = got.print();
        if got != case.print() {
            if bless {
                std::fs::write(path, got).unwrap();
            } else {
                wrong.push(format!("{}\n--- expected\n{}\n--- got\n{got}", path.display(), case.print()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// One case file: the head (comments and command), and sections by their title.
#[derive(Clone)]
struct Case {
    head: String,
    sections: Vec<(String, String)>,
}

impl Case {
    fn parse(text: &str) -> Self {
        let mut case = Self { head: String::new(), sections: Vec::new() };
        for line in text.split_inclusive('\n') {
            if let Some(title) = line.strip_prefix("--- ") {
                case.sections.push((title.trim_end().to_owned(), String::new()));
            } else if let Some((_, body)) = case.sections.last_mut() {
                body.push_str(line);
            } else {
                case.head.push_str(line);
            }
        }
        case
    }

    fn print(&self) -> String {
        let mut out = self.head.clone();
        for (title, body) in &self.sections {
            out += &format!("--- {title}\n{body}");
        }
        out
    }

    fn section(&self, title: &str) -> &str {
        self.sections.iter().find(|(name, _)| name == title).map_or("", |(_, body)| body)
    }

    fn run(&self) -> Output {
        let folder = tempfile::tempdir().unwrap();
        for (title, body) in &self.sections {
            if let Some(name) = title.strip_prefix("file ") {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, body).unwrap();
            }
        }
        let command = self.head.lines().find_map(|line| line.strip_prefix("$ pointsman")).expect("a command");
        let args = words(&command.replace("{root}", root().to_str().unwrap()));
        let mut command = pointsman(&[]);
        command.args(args).current_dir(folder.path());
        for line in self.section("env").lines() {
            let (name, value) = line.split_once('=').expect("NAME=VALUE");
            command.env(name, value);
        }
        run(command, self.section("stdin").as_bytes())
    }

    /// The case as it would stand with this output: nothing printed, no section.
    fn with_output(&self, output: &Output) -> Self {
        let mut case = self.clone();
        case.sections
            .retain(|(title, _)| title != "stdout" && title != "stderr" && !title.starts_with("exit"));
        for (title, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let mut text = String::from_utf8(bytes.clone()).expect("output is UTF-8");
            if !text.is_empty() {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                let text = text.replace(root().to_str().unwrap(), "{root}");
                case.sections.push((title.to_owned(), without_shipped_lines(&text)));
            }
        }
        let code = output.status.code().expect("an exit code");
        case.sections.push((format!("exit {code}"), String::new()));
        case
    }
}

/// Lines of shipped files move with every rule: `classify/codes.rules:97` is `classify/codes.rules:N`.
fn without_shipped_lines(text: &str) -> String {
    let place = regex::Regex::new(r"\b((?:classify|policy|providers)/\w+\.rules):\d+").unwrap();
    place.replace_all(text, "$1:N").into_owned()
}

/// Splits at blanks; single and double quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => out.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

#[test]
fn a_closed_pipe_is_success() {
    for args in [&["man"][..], &["completions", "bash"]] {
        let mut child = pointsman(args).spawn().unwrap();
        drop(child.stdout.take());
        assert!(child.wait().unwrap().success(), "{args:?}");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "{args:?}");
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let output = run(pointsman(&["--help"]), b"");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["completions", "man", "--rules", "POINTSMAN_RULES", "Exit codes: 0"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(output.status.success());
    assert!(Path::new(BINARY).exists());
}

#[test]
fn the_shipped_rules_are_clean_and_pass_their_tests() {
    for args in [&["check", "--deny", "warnings"][..], &["test"]] {
        let output = run(pointsman(args), b"");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// `cargo insta` takes what `snapshot accept` writes: its own loader reads the file.
#[test]
fn insta_reads_an_accepted_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("kept");
    let corpus = folder.path().join("field.jsonl");
    std::fs::copy(root().join("tests/corpus/field.jsonl"), &corpus).unwrap();
    let args = ["snapshot", "accept", corpus.to_str().unwrap(), "--snapshots", store.to_str().unwrap()];
    assert_eq!(run(pointsman(&args), b"").status.code(), Some(0));
    let path = store.join("field.snap");
    let loaded = insta::Snapshot::from_file(&path).unwrap();
    assert_eq!(loaded.metadata().source(), Some("field.jsonl"));
    assert_eq!(loaded.metadata().expression(), Some("pointsman snapshot"));
    let rows = loaded.as_text().unwrap().to_string();
    assert_eq!(rows.lines().count(), std::fs::read_to_string(&corpus).unwrap().lines().count());
    assert!(rows.lines().all(|row| row.split_whitespace().count() >= 5), "{rows}");

    // And back: what insta writes is compared with as before.
    loaded.save(&path).unwrap();
    let args = ["snapshot", "check", corpus.to_str().unwrap(), "--snapshots", store.to_str().unwrap()];
    let checked = run(pointsman(&args), b"");
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stderr));
}
