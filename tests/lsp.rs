//! `pointsman lsp` over stdio, as an editor talks to it.

mod edits;
mod pipes;

use std::{
    io::{BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::Duration,
};

use serde_json::{Value, json};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// An editor with a server and a folder of its own.
struct Editor {
    folder: tempfile::TempDir,
    server: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    next: i64,
    /// Messages of the server that nobody has asked for yet.
    told: Vec<Value>,
}

fn listen(output: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = pipes::read(&mut output)
                && sender.send(message).is_ok()
            {}
        })
        .unwrap();
    receiver
}

impl Editor {
    /// A server that has said nothing yet.
    fn started() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new(env!("CARGO_BIN_EXE_pointsman"))
            .arg("lsp")
            .env_clear()
            .env("HOME", folder.path())
            .env("POINTSMAN_SDK_RETRY_MAX_WAIT_SECONDS", "7")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let input = server.stdin.take();
        let output = listen(server.stdout.take().unwrap());
        Self { folder, server, input, output, next: 0, told: Vec::new() }
    }

    /// A server that is ready, and files on disk.
    fn with(files: &[(&str, &str)]) -> Self {
        let mut editor = Self::started();
        for (name, text) in files {
            let path = editor.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let answer =
            editor.ask("initialize", &json!({ "processId": null, "rootUri": null, "capabilities": {} }));
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
        editor.tell("initialized", &json!({}));
        editor
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The whole answer to a request.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|message| message["id"] == json!(id))
    }

    /// The result of a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.told.iter().position(&wanted) {
            return self.told.remove(at);
        }
        loop {
            let message = self.output.recv_timeout(PATIENCE).expect("the server answers");
            if wanted(&message) {
                return message;
            }
            self.told.push(message);
        }
    }

    fn open(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        let document = json!({ "uri": uri, "languageId": "pointsman", "version": 1, "text": text });
        self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    fn change(&mut self, name: &str, version: i32, text: &str) {
        let uri = self.uri(name);
        self.tell(
            "textDocument/didChange",
            &json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] }),
        );
    }

    /// The next findings of a file: code, line and first and last column.
    fn findings(&mut self, name: &str, version: i32) -> Vec<(String, u64, u64, u64)> {
        let uri = self.uri(name);
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri.as_str()
                && (version == 0 || message["params"]["version"] == version)
        });
        let found = message["params"]["diagnostics"].as_array().unwrap().clone();
        let of = |one: &Value| {
            let range = &one["range"];
            (
                one["code"].as_str().unwrap().to_owned(),
                range["start"]["line"].as_u64().unwrap(),
                range["start"]["character"].as_u64().unwrap(),
                range["end"]["character"].as_u64().unwrap(),
            )
        };
        found.iter().map(of).collect()
    }

    /// A request about the place of `needle` in a text, `into` UTF-16 units after its start.
    fn at(&mut self, method: &str, name: &str, text: &str, needle: &str, into: usize) -> Value {
        let byte = text.find(needle).unwrap_or_else(|| panic!("no `{needle}`"));
        let line = text[..byte].matches('\n').count();
        let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
        let character = text[start..byte].encode_utf16().count() + into;
        let uri = self.uri(name);
        self.ask(
            method,
            &json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } }),
        )
    }

    fn hover(&mut self, name: &str, text: &str, needle: &str) -> String {
        let answer = self.at("textDocument/hover", name, text, needle, 0);
        answer["contents"]["value"].as_str().unwrap_or("").to_owned()
    }

    /// Where the name at `needle` is declared: file names and the text of the ranges.
    fn definition(&mut self, name: &str, text: &str, needle: &str) -> Vec<(PathBuf, u64)> {
        let answer = self.at("textDocument/definition", name, text, needle, 0);
        let places = answer.as_array().cloned().unwrap_or_default();
        let path = |place: &Value| {
            let uri = place["uri"].as_str().unwrap().to_owned();
            (
                PathBuf::from(uri.strip_prefix("file://").unwrap()),
                place["range"]["start"]["line"].as_u64().unwrap(),
            )
        };
        places.iter().map(path).collect()
    }

    /// What may be put in at the `|` of a text, which is opened as version `version`.
    fn choices(&mut self, name: &str, version: i32, text: &str) -> Vec<String> {
        let written = text.replace('|', "");
        self.change(name, version, &written);
        let before = &text[..text.find('|').unwrap()];
        let line = before.matches('\n').count();
        let character = before.rsplit('\n').next().unwrap().encode_utf16().count();
        let uri = self.uri(name);
        let answer = self.ask(
            "textDocument/completion",
            &json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } }),
        );
        let items = answer["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    fn code(mut self) -> Option<i32> {
        drop(self.input.take());
        self.server.wait().unwrap().code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

const MAIN: &str = "language 1

## Says 额度 😀 too.
rule slow_down -> rate_limit when provider is acme and text has \"slow down 慢\" and my_words
  example provider acme message \"slow down 慢, 额度\"

use \"parts/words.rules\"
use default

extend usage_window_words with [\"fortnightly\"]
set billing_start = 1h
replace backoff short = steps 30s, 2m
drop rule payment_required.anything_else
";

const WORDS: &str = "language 1

## Words of ours.
let my_words = text has \"额度\"
";

#[test]
fn a_whole_session() {
    let mut editor = Editor::with(&[("main.rules", MAIN), ("parts/words.rules", WORDS)]);
    editor.open("main.rules", MAIN);
    let found = editor.findings("main.rules", 1);
    assert!(!found.iter().any(|(code, ..)| !code.starts_with("P07")), "{found:?}");

    let hover = editor.hover("main.rules", MAIN, "my_words");
    assert!(hover.contains("Words of ours.") && hover.contains("parts/words.rules:4"), "{hover}");
    let hover = editor.hover("main.rules", MAIN, "billing_start");
    assert!(hover.contains("In force: `1h`") && hover.contains("main.rules:11"), "{hover}");
    let hover = editor.hover("main.rules", MAIN, "rate_limit");
    assert!(hover.contains("cooldown model using short until reset at least 1s at most 24h"), "{hover}");
    let hover = editor.hover("main.rules", MAIN, "short");
    assert!(hover.contains("30s → 2m"), "{hover}");
    let hover = editor.hover("main.rules", MAIN, "usage_window_words");
    assert!(hover.contains("\"fortnightly\"") && hover.contains("main.rules:10"), "{hover}");
    let hover = editor.hover("main.rules", MAIN, "slow_down");
    assert!(hover.contains("Says 额度 😀 too.") && hover.contains("tried as number 1 of"), "{hover}");

    let words = editor.path("parts/words.rules");
    assert_eq!(editor.definition("main.rules", MAIN, "my_words"), [(words.clone(), 3)]);
    assert_eq!(editor.definition("main.rules", MAIN, "parts/"), [(words, 0)]);
    let shipped = editor.definition("main.rules", MAIN, "rate_limit");
    let (file, line) = shipped.first().unwrap();
    assert!(file.ends_with("policy/buckets.rules"), "{shipped:?}");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.lines().nth(usize::try_from(*line).unwrap()).unwrap().contains("bucket rate_limit"));
    for needle in
        ["default", "short", "usage_window_words", "billing_start", "anything_else", "payment_required."]
    {
        assert!(!editor.definition("main.rules", MAIN, needle).is_empty(), "{needle}");
    }

    let untidy = MAIN.replace("use default", "use   default");
    editor.change("main.rules", 2, &untidy);
    let uri = editor.uri("main.rules");
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let edits =
        editor.ask("textDocument/formatting", &json!({ "textDocument": { "uri": uri }, "options": options }));
    assert_eq!(edits[0]["newText"], "use default\n");
    assert_eq!(edits[0]["range"]["start"]["line"], 7);
    assert_eq!(edits.as_array().unwrap().len(), 1);

    assert_eq!(editor.ask("shutdown", &Value::Null), Value::Null);
    editor.tell("exit", &Value::Null);
    assert_eq!(editor.code(), Some(0));
}

#[test]
fn unsaved_texts_count_and_findings_go_away() {
    let mut editor = Editor::with(&[("main.rules", MAIN), ("parts/words.rules", WORDS)]);
    editor.open("parts/words.rules", WORDS);
    assert_eq!(editor.findings("parts/words.rules", 1), []);
    // The other file of the rule set, which is not open, loses its name.
    editor.change("parts/words.rules", 2, "language 1\nlet my_word = text has \"额度\"\n");
    let found = editor.findings("main.rules", 0);
    let column = MAIN.lines().nth(3).unwrap().find("my_words").unwrap();
    // `慢` is one UTF-16 unit and three bytes.
    let column = u64::try_from(column).unwrap() - 2;
    assert!(found.contains(&("P0201".to_owned(), 3, column, column + 8)), "{found:?}");
    editor.change("parts/words.rules", 3, WORDS);
    assert_eq!(editor.findings("main.rules", 0), []);
    // A closed document counts as its file again.
    let uri = editor.uri("parts/words.rules");
    editor.change("parts/words.rules", 4, "language 1\n");
    assert!(!editor.findings("main.rules", 0).is_empty());
    editor.tell("textDocument/didClose", &json!({ "textDocument": { "uri": uri } }));
    assert_eq!(editor.findings("main.rules", 0), []);
}

#[test]
fn columns_are_utf_16_units() {
    let mut editor = Editor::with(&[]);
    let text = "language 1\nrule a -> nix when message is \"😀额度\" and text has \"\"\n";
    editor.open("own.rules", text);
    let found = editor.findings("own.rules", 1);
    let line = text.lines().nth(1).unwrap();
    let column = |needle: &str| line[..line.find(needle).unwrap()].encode_utf16().count() as u64;
    let empty = found.iter().find(|(_, _, start, _)| *start == column("\"\"")).unwrap();
    assert_eq!(empty.3, empty.2 + 2, "{found:?}");
    // An edit in the middle, by UTF-16 positions: `额` goes.
    let start = column("额度");
    let uri = editor.uri("own.rules");
    editor.tell(
        "textDocument/didChange",
        &json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": [{
                "range": { "start": { "line": 1, "character": start }, "end": { "line": 1, "character": start + 1 } },
                "text": ""
            }]
        }),
    );
    let after = editor.findings("own.rules", 2);
    assert!(after.iter().any(|(_, _, at, _)| *at == column("\"\"") - 1), "{after:?}");
}

#[test]
fn completion_knows_the_place() {
    let mut editor = Editor::with(&[("main.rules", MAIN), ("parts/words.rules", WORDS)]);
    editor.open("main.rules", MAIN);
    let mut version = 1;
    let mut choices = |tail: &str| {
        version += 1;
        editor.choices("main.rules", version, &format!("{MAIN}{tail}"))
    };
    for (tail, some, none) in [
        ("|", "rule", "rate_limit"),
        ("rule x -> |", "rate_limit", "text"),
        ("rule x -> |", "unclassified", "rule"),
        ("rule x -> billing when |", "my_words", "billing"),
        ("rule x -> billing when |", "leading_number", "rotate"),
        ("rule x -> billing when text |", "has any of", "rotate"),
        ("rule x -> billing when text has any of |", "usage_window_words", "my_words"),
        ("rule x -> billing when text has \"额度\" and provider is |", "openai", "rule"),
        ("rule x -> billing when body is |", "html", "host"),
        ("rule x -> billing when billing_text reaction { disable profile using |", "short", "billing_start"),
        ("drop rule pay|", "payment_required.anything_else", "billing"),
        ("drop rule payment_required.|", "payment_required.anything_else", "billing"),
        ("in group payment_required before |", "anything_else", "slow_down"),
        ("in group payment_required after anything_else {\n  |", "rule", "setting"),
        ("set |", "billing_cap", "short"),
        ("extend |", "usage_window_words", "billing_cap"),
        ("replace backoff |", "short", "billing_cap"),
        ("bucket x { |", "keeps_probe_slot", "rate_limit"),
        ("on billing { |", "rotate", "transient"),
        ("on billing { disable profile using short until reset at least |", "billing_cap", "rotate"),
        ("use |", "strict", "rule"),
        ("use \"|", "parts/words.rules", "main.rules"),
        ("allow |", "P0707", "P0101"),
        ("test \"x\" { message \"y\" -> billing by |", "payment_required.anything_else", "billing"),
        ("setting x = 5m from |", "config", "rule"),
    ] {
        let found = choices(tail);
        assert!(found.iter().any(|one| one == some), "`{tail}` offers no `{some}`: {found:?}");
        assert!(!found.iter().any(|one| one == none), "`{tail}` offers `{none}`");
    }
    assert_eq!(choices("# rule |"), Vec::<String>::new());
}

#[test]
fn a_half_typed_file_still_answers() {
    let mut editor = Editor::with(&[("main.rules", MAIN), ("parts/words.rules", WORDS)]);
    editor.open("main.rules", MAIN);
    editor.findings("main.rules", 1);
    let broken = format!("{MAIN}rule half -> billing when my_words and (text has \"额");
    editor.change("main.rules", 2, &broken);
    assert!(!editor.findings("main.rules", 2).is_empty());
    // What is in force is that of the last sound text.
    let hover = editor.hover("main.rules", &broken, "billing_start");
    assert!(hover.contains("In force: `1h`"), "{hover}");
    let last = editor.at("textDocument/hover", "main.rules", &broken, "my_words and (", 3);
    assert!(last["contents"]["value"].as_str().unwrap().contains("Words of ours."), "{last}");
    // Every beginning of the file is survived.
    let cuts: Vec<usize> = broken.char_indices().map(|(at, _)| at).step_by(7).collect();
    for (version, cut) in (3..).zip(cuts) {
        editor.change("main.rules", version, &broken[..cut]);
        editor.at("textDocument/completion", "main.rules", &broken[..cut], "", 0);
    }
    editor.change("main.rules", 900, MAIN);
    let found = editor.findings("main.rules", 900);
    assert!(found.iter().all(|(code, ..)| code.starts_with("P07")), "{found:?}");
}

#[test]
fn settings_of_the_environment_are_in_force() {
    let mut editor = Editor::with(&[]);
    let text = "language 1\nuse default\nset sdk_wait = 30s\n";
    editor.open("own.rules", text);
    let hover = editor.hover("own.rules", text, "sdk_wait");
    assert!(hover.contains("In force: `7s`, from the environment"), "{hover}");
}

#[test]
fn odd_messages_get_proper_errors() {
    let mut editor = Editor::started();
    assert_eq!(editor.request("textDocument/hover", &json!({}))["error"]["code"], -32002);
    editor.ask("initialize", &json!({ "capabilities": {} }));
    assert_eq!(editor.request("initialize", &json!({ "capabilities": {} }))["error"]["code"], -32600);
    assert_eq!(editor.request("textDocument/nonsense", &json!([1]))["error"]["code"], -32601);
    assert_eq!(editor.request("textDocument/hover", &json!({ "position": "here" }))["error"]["code"], -32602);
    assert_eq!(editor.request("textDocument/hover", &Value::Null)["error"]["code"], -32602);
    for body in ["{", "[]", "null", "\"x\"", "{\"id\":{},\"method\":1}"] {
        editor.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let answer = editor.wait(|message| message["id"].is_null() && message.get("error").is_some());
        assert!(answer["error"]["code"].as_i64().unwrap() < -32000, "{answer}");
    }
    editor.raw(b"rubbish\r\n\r\nContent-Length: x\r\n\r\n");
    for (method, params) in [
        (
            "textDocument/didChange",
            json!({ "textDocument": { "uri": "file:///none", "version": 1 }, "contentChanges": [] }),
        ),
        ("textDocument/didOpen", json!({ "textDocument": 7 })),
        ("textDocument/didClose", json!({ "textDocument": { "uri": "file:///none" } })),
        ("$/unknown", json!({})),
        ("$/cancelRequest", json!({ "id": 99 })),
    ] {
        editor.tell(method, &params);
    }
    let document =
        json!({ "uri": "untitled:Untitled-1", "languageId": "pointsman", "version": 1, "text": "use \"x\"" });
    editor.tell("textDocument/didOpen", &json!({ "textDocument": document }));
    let place = json!({ "textDocument": { "uri": "untitled:Untitled-1" }, "position": { "line": 4_000_000_000_u32, "character": 7 } });
    assert_eq!(editor.ask("textDocument/hover", &place), Value::Null);
    editor.ask("shutdown", &Value::Null);
    assert_eq!(editor.request("textDocument/hover", &json!({}))["error"]["code"], -32600);
    editor.tell("exit", &Value::Null);
    assert_eq!(editor.code(), Some(0));
}

#[test]
fn a_change_that_does_not_fit_is_said_and_its_document_unknown_until_it_comes_whole() {
    let broken = "language 1\nrule\n";
    let outside = json!({ "start": { "line": 40, "character": 0 }, "end": { "line": 41, "character": 0 } });
    let backward = json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 0, "character": 0 } });
    for changes in [
        json!([{ "range": outside, "text": "x" }]),
        json!([{ "range": backward, "text": "x" }]),
        json!([{ "range": 7, "text": "x" }]),
        json!("x"),
    ] {
        let mut editor = Editor::with(&[("main.rules", broken)]);
        editor.open("main.rules", broken);
        assert!(!editor.findings("main.rules", 1).is_empty());
        let document = json!({ "uri": editor.uri("main.rules"), "version": 2 });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        editor.tell("textDocument/didChange", &params);
        let said = editor.wait(|message| message["method"] == "window/logMessage");
        assert!(said["params"]["message"].as_str().unwrap().contains("`textDocument/didChange`"), "{said}");
        let shown = editor.wait(|message| message["method"] == "textDocument/publishDiagnostics");
        assert_eq!(shown["params"]["diagnostics"], json!([]), "nothing stale stays");
        let place = json!({ "textDocument": document, "position": { "line": 0, "character": 0 } });
        assert_eq!(
            editor.ask(
                "textDocument/formatting",
                &json!({ "textDocument": document, "options": { "tabSize": 2, "insertSpaces": true } })
            ),
            Value::Null
        );
        assert_eq!(editor.ask("textDocument/hover", &place), Value::Null);
        editor.change("main.rules", 3, broken);
        assert!(!editor.findings("main.rules", 3).is_empty(), "the whole text came");
    }
}

#[test]
fn a_length_that_is_none_is_answered() {
    let mut editor = Editor::with(&[]);
    editor.raw(b"Content-Length: x\r\n\r\n");
    let answer = editor.wait(|message| message["id"].is_null() && message.get("error").is_some());
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
}

#[test]
fn exit_codes_tell_whether_it_was_shut_down() {
    let mut editor = Editor::with(&[]);
    editor.tell("exit", &Value::Null);
    assert_eq!(editor.code(), Some(1));
    assert_eq!(Editor::with(&[]).code(), Some(1), "the input ended");
    let mut editor = Editor::started();
    editor.tell("exit", &Value::Null);
    assert_eq!(editor.code(), Some(1), "before `initialize`");
}

#[test]
fn a_request_that_was_taken_back_is_answered_so() {
    let mut editor = Editor::with(&[("main.rules", MAIN), ("parts/words.rules", WORDS)]);
    editor.open("main.rules", MAIN);
    let uri = editor.uri("main.rules");
    let place = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
    // One write, so that all of it waits while the first is answered.
    let mut bytes = Vec::new();
    for message in [
        json!({ "jsonrpc": "2.0", "id": "a", "method": "textDocument/completion", "params": place }),
        json!({ "jsonrpc": "2.0", "id": "b", "method": "textDocument/completion", "params": place }),
        json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": "b" } }),
    ] {
        let body = message.to_string();
        bytes.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
    }
    editor.raw(&bytes);
    assert!(editor.wait(|message| message["id"] == "a").get("result").is_some());
    let answer = editor.wait(|message| message["id"] == "b");
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
}

#[test]
fn rapid_edits_of_a_huge_file_are_not_analysed_one_by_one() {
    use std::fmt::Write as _;
    let mut editor = Editor::with(&[]);
    let mut text = String::from("language 1\nuse default\n");
    for number in 0..300 {
        let _ = writeln!(text, "rule r{number} -> billing when text has \"phrase number {number} 额度\"");
    }
    editor.open("huge.rules", &text);
    for version in 2..=200 {
        editor.change("huge.rules", version, &format!("{text}# {version}\n"));
    }
    editor.findings("huge.rules", 200);
    let publications =
        editor.told.iter().filter(|m| m["method"] == "textDocument/publishDiagnostics").count();
    assert!(publications < 60, "{publications} publications for 200 versions");
}

#[test]
fn the_root_is_found_upward_and_only_when_it_uses_the_file() {
    let mut editor = Editor::with(&[
        ("main.rules", "language 1\nuse \"deep/er/used.rules\"\nbucket b { transient }\non b { surface }\n"),
        ("deep/er/used.rules", ""),
        ("deep/er/alone.rules", ""),
    ]);
    let text = "language 1\nrule x -> b when status is 402\n  example status 402\n";
    editor.open("deep/er/used.rules", text);
    let used = editor.findings("deep/er/used.rules", 1);
    assert!(!used.iter().any(|(code, ..)| code == "P0203"), "{used:?}");
    editor.open("deep/er/alone.rules", text);
    let alone = editor.findings("deep/er/alone.rules", 1);
    assert!(alone.iter().any(|(code, line, ..)| code == "P0203" && *line == 1), "{alone:?}");
}

#[test]
fn no_text_of_the_rules_turns_a_line_around_or_controls_a_terminal() {
    let mut editor = Editor::with(&[]);
    let text = "language 1\nuse default\n\n## Doc \u{202e}evil\u{9b}1m.\nbucket odd { transient }\n\
                on odd { surface }\n\n## Why \u{202e}not\u{9d}0;x.\n\
                rule r -> odd when text has \"a \u{202e}b\u{9b}\"\n\
                \texample message \"\u{202e}nothing\u{85}\"\n";
    editor.open("own.rules", text);
    let found = editor.wait(|message| message["method"] == "textDocument/publishDiagnostics");
    let hover = editor.at("textDocument/hover", "own.rules", text, "r -> odd", 0);
    let choices = editor.at("textDocument/completion", "own.rules", text, "odd when", 0);
    for answer in [&found["params"]["diagnostics"], &hover["contents"], &choices] {
        let shown = answer.to_string();
        assert!(shown.contains("\\\\u{202e}"), "{shown}");
        let hazard = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!shown.contains(hazard), "{shown:?}");
    }
    let value = hover["contents"]["value"].as_str().unwrap();
    assert!(value.lines().count() > 5, "{value}");
}

/// Where shipped files go: below the user's own folder for such things, and nowhere else.
#[test]
fn shipped_files_are_shown_as_read_only_copies() {
    let mut editor = Editor::with(&[]);
    let text = "language 1\nuse default\n";
    editor.open("own.rules", text);
    let places = editor.definition("own.rules", text, "default");
    let (file, _) = places.first().unwrap();
    assert!(file.starts_with(editor.path(".cache")), "{file:?}");
    assert!(std::fs::metadata(file).unwrap().permissions().readonly());
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/main.rules");
    assert_eq!(std::fs::read(file).unwrap(), std::fs::read(known).unwrap());
}

/// Completion, and the colours of editors, know every word of the grammar.
#[test]
fn every_word_of_the_grammar_is_known_to_completion_and_colours() {
    let root = crate::support::root();
    let grammar = std::fs::read_to_string(root.join("grammar/rules.pest")).unwrap();
    let colours = std::fs::read_to_string(root.join("editors/rules.tmLanguage.json")).unwrap();
    let known = pointsman::lang::parser::next::all_words();
    let coloured: Vec<&str> = colours.split(|c: char| !c.is_ascii_lowercase() && c != '_').collect();
    let rules = grammar.lines().filter(|line| !line.trim_start().starts_with("//"));
    let quoted = rules.flat_map(|line| line.split('"').skip(1).step_by(2));
    let mut words: Vec<&str> =
        quoted.filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')).collect();
    // Units of durations, the flag of expressions, and signs of names.
    words.retain(|word| !["", "ms", "s", "m", "h", "d", "c", "_"].contains(word));
    words.sort_unstable();
    words.dedup();
    assert!(words.len() > 150, "{}", words.len());
    for word in words {
        assert!(known.contains(&word), "`{word}` is not known to completion");
        assert!(coloured.contains(&word), "`{word}` has no colour");
    }
}
