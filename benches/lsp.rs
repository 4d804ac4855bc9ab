//! How long an editor waits for the language server on the shipped rules.
//!
//! `cargo bench --bench lsp`. A copy of the shipped rules lies in a folder; each round changes one of its
//! files as typing does, and waits for the findings, a completion and a hover. `cargo bench --bench lsp --
//! own` edits an operator's file above `use default` instead. Each line says the figure, the limit, and
//! whether it holds.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may fail so, and prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock, and plays the editor's thread")]

use std::{
    io::{BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _, pipe},
    path::Path,
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use pointsman::{lang::shipped, lsp, table::NoSettings};
use serde_json::{Value, json};

#[path = "support/limits.rs"]
mod limits;
use limits::Limits;

/// What an answer may take.
const LIMIT_MS: f64 = 50.0;

const ROUNDS: usize = 60;

const OWN: &str = "language 1

## acme's gateway asks to slow down in a banner, under 403.
rule slow_down_banner -> rate_limit when provider is acme and text has \"slow down\"
  example provider acme status 403 message \"Slow down, friend! Back at 10:30.\"

use default
";

fn main() -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let own = std::env::args().any(|arg| arg == "own");
    let (name, at) = if own {
        std::fs::write(folder.join("main.rules"), OWN).unwrap();
        ("main.rules", "rule slow_down_banner")
    } else {
        for (name, text) in shipped::FILES {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        ("classify/texts_service.rules", "rule ")
    };
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let (server_reads, writer) = pipe().unwrap();
    let (reader, mut server_writes) = pipe().unwrap();
    let cache = folder.clone();
    let server = thread::spawn(move || {
        lsp::serve(BufReader::new(server_reads), &mut server_writes, &NoSettings, &cache)
    });
    let mut editor = Editor { writer, reader: BufReader::new(reader), next: 0 };
    let mut limits = Limits::default();
    measure(&mut limits, &mut editor, &folder.join(name), &text, at);
    editor.ask("shutdown", &Value::Null);
    editor.tell("exit", &Value::Null);
    assert_eq!(server.join().unwrap().unwrap(), lsp::End::Orderly);
    limits.end()
}

/// Types a word into a rule's condition, letter by letter, and takes it out again.
fn measure(limits: &mut Limits, editor: &mut Editor, path: &Path, text: &str, at: &str) {
    let uri = format!("file://{}", path.display());
    editor.ask("initialize", &json!({ "processId": null, "rootUri": null, "capabilities": {} }));
    editor.tell("initialized", &json!({}));
    let opened = json!({ "uri": uri, "languageId": "pointsman", "version": 1, "text": text });
    editor.tell("textDocument/didOpen", &json!({ "textDocument": opened }));
    editor.findings(1);

    let byte = text.find(at).unwrap();
    let rule = text.get(byte..).unwrap();
    let above = text.get(..byte).unwrap().matches('\n').count();
    let quote = rule.find("has ").unwrap() + 4 + rule.split_once("has ").unwrap().1.find('"').unwrap() + 1;
    let place = |byte: usize| {
        let before = rule.get(..byte).unwrap();
        let character = before.rsplit('\n').next().unwrap().encode_utf16().count();
        json!({ "line": above + before.matches('\n').count(), "character": character })
    };
    let named = json!({ "textDocument": { "uri": uri }, "position": place(rule.find("-> ").unwrap() + 4) });
    let inside = place(quote);
    let (mut findings, mut choices, mut hovers) = (Vec::new(), Vec::new(), Vec::new());
    let mut version = 1;
    for round in 0..ROUNDS {
        let word: &str = if round.is_multiple_of(2) { "q" } else { "" };
        let end = if word.is_empty() { place(quote + 1) } else { inside.clone() };
        version += 1;
        let change = json!({
            "textDocument": { "uri": uri, "version": version },
            "contentChanges": [{ "range": { "start": inside, "end": end }, "text": word }],
        });
        let start = Instant::now();
        editor.tell("textDocument/didChange", &change);
        choices.push(timed(|| drop(editor.ask("textDocument/completion", &named))));
        let asked = start.elapsed();
        editor.findings(version);
        findings.push(start.elapsed().saturating_sub(asked));
        hovers.push(timed(|| assert!(editor.ask("textDocument/hover", &named).is_object())));
    }
    line(limits, "completion just after an edit", &mut choices);
    line(limits, "hover", &mut hovers);
    line(limits, "findings after an edit", &mut findings);
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn line(limits: &mut Limits, what: &str, spans: &mut [Duration]) {
    spans.sort_unstable();
    for (name, rank) in [("fastest", 0), ("p50", spans.len() / 2), ("p95", spans.len() * 19 / 20)] {
        let span = spans.get(rank).copied().unwrap();
        limits.at_most(&format!("{what}, {name}, ms"), span.as_secs_f64() * 1e3, LIMIT_MS);
    }
}

/// The editor's end of the two pipes.
struct Editor {
    writer: PipeWriter,
    reader: BufReader<PipeReader>,
    next: i64,
}

impl Editor {
    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.writer, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The result of a request; what the server says meanwhile is passed over.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = json!(self.next);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|message| message.get("id") == Some(&id)).get_mut("result").unwrap().take()
    }

    fn findings(&mut self, version: i32) {
        self.wait(|message| message.pointer("/params/version") == Some(&json!(version)));
    }

    fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                self.reader.read_line(&mut line).unwrap();
                match line.trim().strip_prefix("Content-Length: ") {
                    Some(count) => length = count.parse().unwrap(),
                    None => break,
                }
            }
            let mut body = vec![0; length];
            self.reader.read_exact(&mut body).unwrap();
            let message: Value = serde_json::from_slice(&body).unwrap();
            if wanted(&message) {
                return message;
            }
        }
    }
}
