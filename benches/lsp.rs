//! How long an editor waits for the language server on the shipped rules.
//!
//! `cargo bench --bench lsp`. A copy of the shipped rules lies in a folder; each round changes one of its
//! files as typing does, and waits for the findings, a completion and a hover: first the largest file, then
//! a small one, then an operator's file above `use default`, and last one of 6,000 rules. Each line says the
//! figure, the limit, and whether it holds. `cargo bench --bench lsp -- 5` takes five rounds instead of 60,
//! and `-- 5 overlay` only of the kinds named.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may fail so, and prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::{
    fmt::Write as _,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use pointsman::lang::shipped;
use serde_json::json;

#[path = "support/limits.rs"]
mod limits;
#[path = "../tests/lsp/pipes.rs"]
mod pipes;
use limits::Limits;
use pipes::Server;

/// What an answer may take, on the shipped rules and on very many.
const LIMIT_MS: f64 = 50.0;
const LIMIT_MANY_MS: f64 = 1_000.0;

const ROUNDS: usize = 60;

const OWN: &str = "language 1

## acme's gateway asks to slow down in a banner, under 403.
rule slow_down_banner -> rate_limit when provider is acme and text has \"slow down\"
  example provider acme status 403 message \"Slow down, friend! Back at 10:30.\"

use default
";

/// What is edited: a word for it, the file, and where in it.
const KINDS: [(&str, &str, &str); 4] = [
    ("largest", "classify/texts_service.rules", "rule "),
    ("small", "providers/anthropic.rules", "rule "),
    ("overlay", "main.rules", "rule slow_down_banner"),
    ("many", "main.rules", "rule r3000 "),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds = args.iter().find_map(|arg| arg.parse().ok());
    let named = |kind: &str| args.iter().any(|arg| arg == kind);
    let all = !KINDS.iter().any(|(kind, ..)| named(kind));
    let mut limits = Limits::default();
    for (kind, name, at) in KINDS.into_iter().filter(|(kind, ..)| all || named(kind)) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let limit = if kind == "many" { LIMIT_MANY_MS } else { LIMIT_MS };
        let rounds = rounds.unwrap_or(if kind == "many" { ROUNDS / 10 } else { ROUNDS });
        write(kind, &folder);
        let mut server = Server::new(&folder);
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let waits = edit(&mut server, &folder.join(name), &text, at, rounds);
        for (what, mut spans) in ["completion just after an edit", "hover", "findings"].into_iter().zip(waits)
        {
            line(&mut limits, &format!("{kind}: {what}"), &mut spans, limit);
        }
        server.end(|_| ());
    }
    limits.end()
}

/// Writes the rules that are edited.
fn write(kind: &str, folder: &Path) {
    let many = || {
        let mut text = "language 1\n\n".to_owned();
        for n in 0..6_000 {
            let status = 400 + n % 200;
            writeln!(text, "rule r{n} -> billing when status is {status} and text has \"phrase number {n}\"")
                .unwrap();
            writeln!(text, "  example status {status} message \"this is phrase number {n}, in a message\"")
                .unwrap();
        }
        text + "\nuse default\n"
    };
    match kind {
        "overlay" => std::fs::write(folder.join("main.rules"), OWN).unwrap(),
        "many" => std::fs::write(folder.join("main.rules"), many()).unwrap(),
        _ => {
            for (name, text) in shipped::FILES {
                let path = folder.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
        }
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn line(limits: &mut Limits, what: &str, spans: &mut [Duration], limit: f64) {
    spans.sort_unstable();
    for (name, rank) in [("fastest", 0), ("p50", spans.len() / 2), ("p95", spans.len() * 19 / 20)] {
        let span = spans.get(rank).copied().unwrap();
        limits.at_most(&format!("{what}, {name}, ms"), span.as_secs_f64() * 1e3, limit);
    }
}

/// Types a letter into a rule's condition, and takes it out again, over and over. Gives the waits for
/// completions, hovers and findings.
fn edit(server: &mut Server, path: &Path, text: &str, at: &str, rounds: usize) -> [Vec<Duration>; 3] {
    let uri = format!("file://{}", path.display());
    let opened = json!({ "uri": uri, "languageId": "pointsman", "version": 1, "text": text });
    server.tell("textDocument/didOpen", &json!({ "textDocument": opened }));
    findings_of(server, 1);

    let rule = text.find(at).unwrap();
    let behind = |from: usize, what: &str| from + text.get(from..).unwrap().find(what).unwrap() + what.len();
    let place = |byte: usize| {
        let before = text.get(..byte).unwrap();
        let character = before.rsplit('\n').next().unwrap().encode_utf16().count();
        json!({ "line": before.matches('\n').count(), "character": character })
    };
    let quote = behind(behind(rule, "has "), "\"");
    let named = json!({ "textDocument": { "uri": uri }, "position": place(behind(rule, "-> ") + 1) });
    let inside = place(quote);
    let (mut findings, mut choices, mut hovers) = (Vec::new(), Vec::new(), Vec::new());
    let mut version = 1;
    for round in 0..rounds {
        let word: &str = if round.is_multiple_of(2) { "q" } else { "" };
        let end = if word.is_empty() { place(quote + 1) } else { inside.clone() };
        version += 1;
        let change = json!({
            "textDocument": { "uri": uri, "version": version },
            "contentChanges": [{ "range": { "start": inside, "end": end }, "text": word }],
        });
        let start = Instant::now();
        server.tell("textDocument/didChange", &change);
        choices.push(timed(|| drop(server.ask("textDocument/completion", &named, |_| ()))));
        let asked = start.elapsed();
        findings_of(server, version);
        findings.push(start.elapsed().saturating_sub(asked));
        hovers.push(timed(|| assert!(server.ask("textDocument/hover", &named, |_| ()).is_object())));
    }
    [choices, hovers, findings]
}

/// Waits for the findings of a version.
fn findings_of(server: &mut Server, version: i32) {
    while server.hear().pointer("/params/version") != Some(&json!(version)) {}
}
