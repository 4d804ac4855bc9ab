//! What a server says after many edits is what a new one says of the same texts: nothing that it keeps
//! between edits is ever stale.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};

use super::pipes::Server;

/// The files that are edited; the last one is not open in the editor, but changes on disk.
const NAMES: [&str; 4] = ["main.rules", "parts/a.rules", "parts/b.rules", "parts/disk.rules"];
const CLOSED: usize = 3;

const TEXTS: [&str; 4] = [
    "language 1

bucket busy { transient }
bucket money {}
on busy { cooldown model using short; rotate; fallback }
on money { disable profile using long; surface }
backoff short = steps 30s, wait
backoff long = doubling from 1h up to 24h
setting wait = 2m

use \"parts/a.rules\"
use \"parts/disk.rules\"
use \"parts/b.rules\"

## What is left.
rule rest -> busy when status in [500..599]
  example status 503 message \"come back later\"
  counterexample status 402 message \"pay\"

extend slow_words with [\"slower please\"]
test \"the list\" {
  status 429 message \"slow down, friend\" -> busy by slow
  message \"balance is zero\" -> money
  backoff short after 2 failures -> 2m
}
",
    "language 1

## Words for haste.
list slow_words = [\"slow down\", \"too fast\", \"slow down now\"]

rule slow -> busy when text has any of slow_words
  example message \"slow down\"
  example status 429 message \"you are too fast\"

allow P0704 \"another one may win\"
rule fast -> busy when text has \"far too fast\" and status is 429
  example status 429 message \"far too fast\"

rule number -> busy when text matches /limit of \\d+ requests/
  example message \"a limit of 17 requests\"
",
    "language 1

let paid = text has any of [\"balance\", \"credit balance\"] or code is \"broke\"

group accounts when provider in [acme, globex] {
  rule broke -> money when paid and not status is 429
    example message \"your balance is zero\"
    counterexample status 429 message \"your balance is zero\"

  rule plan -> money when message contains \"plan\"
    example message \"no such plan\"
}

rule covered -> busy when text has \"slow down now\"
  example message \"slow down now\"
",
    "language 1

rule teapot -> busy when status is 418 and not paid
  example status 418 message \"short and stout\"
",
];

/// A client and its server, in this process.
struct Client {
    server: Server,
    folder: String,
    /// The findings that the editor shows.
    shown: BTreeMap<String, Value>,
}

/// Notes the findings of a message.
fn note(shown: &mut BTreeMap<String, Value>, message: &Value) {
    if message["method"] == "textDocument/publishDiagnostics" {
        let uri = message["params"]["uri"].as_str().unwrap().to_owned();
        let found = message["params"]["diagnostics"].clone();
        shown.remove(&uri);
        if found != json!([]) {
            shown.insert(uri, found);
        }
    }
}

impl Client {
    fn new(folder: &Path) -> Self {
        let server = Server::new(&folder.with_file_name("cache"));
        Self { server, folder: folder.display().to_string(), shown: BTreeMap::new() }
    }

    /// Ends both; gives the findings that were shown last.
    fn end(mut self) -> BTreeMap<String, Value> {
        self.server.end(|message| note(&mut self.shown, message));
        self.shown
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.folder)
    }

    fn open(&mut self, name: &str, version: usize, text: &str) {
        let uri = self.uri(name);
        let document = json!({ "uri": uri, "languageId": "pointsman", "version": version, "text": text });
        self.server.tell("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    fn change(&mut self, name: &str, version: usize, text: &str) {
        let document = json!({ "uri": self.uri(name), "version": version });
        let changes = json!([{ "text": text }]);
        self.server
            .tell("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// Waits for the findings of a version of an open file and for those that come with them.
    fn settle(&mut self, name: &str, version: usize) {
        let uri = self.uri(name);
        loop {
            let message = self.server.hear();
            note(&mut self.shown, &message);
            if message["params"]["uri"] == uri.as_str() && message["params"]["version"] == version {
                break;
            }
        }
        self.complete(name, 0, 0);
    }

    fn complete(&mut self, name: &str, line: usize, character: usize) -> Value {
        let uri = self.uri(name);
        let place = json!({ "line": line, "character": character });
        let at = json!({ "textDocument": { "uri": uri }, "position": place });
        self.server.ask("textDocument/completion", &at, |message| note(&mut self.shown, message))
    }
}

/// A small generator of numbers that are the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }

    /// One edit of one text.
    fn edit(&mut self, texts: &[String], at: usize) -> String {
        let text = &texts[at];
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(6) {
            0 if !lines.is_empty() => drop(lines.remove(one)),
            1 if !lines.is_empty() => lines.insert(other, lines[one]),
            2 if !lines.is_empty() => lines.swap(one, other),
            3 => {
                let from: Vec<&str> = texts[self.below(texts.len())].split_inclusive('\n').collect();
                lines.insert(one, from.get(self.below(from.len())).copied().unwrap_or("\n"));
            }
            4 => {
                let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let place = places[self.below(places.len())];
                let sign = ["x", " ", "\"", "{", "}", "#", "9"][self.below(7)];
                return format!("{}{sign}{}", &text[..place], &text[place..]);
            }
            _ => {
                let words: Vec<&str> = text.split_whitespace().collect();
                let others: Vec<&str> = texts[self.below(texts.len())].split_whitespace().collect();
                if let (Some(word), Some(new)) =
                    (words.get(self.below(words.len())), others.get(self.below(others.len())))
                {
                    return text.replacen(word, new, 1);
                }
            }
        }
        lines.concat()
    }
}

/// Files that are edited, one of which may not be open in the editor.
struct Desk<'a> {
    folder: &'a Path,
    names: &'a [&'a str],
    texts: Vec<String>,
    closed: Option<usize>,
}

impl Desk<'_> {
    fn write(&self, at: usize) {
        let path = self.folder.join(self.names[at]);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &self.texts[at]).unwrap();
    }

    /// A client with the open files; the root last.
    fn client(&self) -> Client {
        let mut client = Client::new(self.folder);
        for at in (0..self.names.len()).rev().filter(|at| Some(*at) != self.closed) {
            client.open(self.names[at], 0, &self.texts[at]);
        }
        client.settle(self.names[0], 0);
        client
    }

    /// Tells a client of a text; the root always comes last, so that its version says that all is seen.
    fn tell(&self, client: &mut Client, at: usize, version: usize) {
        if Some(at) == self.closed {
            self.write(at);
            client.server.tell("workspace/didChangeWatchedFiles", &json!({ "changes": [] }));
        } else {
            client.change(self.names[at], version, &self.texts[at]);
        }
    }
}

/// Edits files at random, and has a new server look at them after each edit.
fn play(seed: u64, names: &[&str], originals: &[&str], closed: Option<usize>, rounds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap().join("rules");
    let texts = originals.iter().map(|text| (*text).to_owned()).collect();
    let mut desk = Desk { folder: &folder, names, texts, closed };
    (0..names.len()).for_each(|at| desk.write(at));
    let mut client = desk.client();
    let mut dice = Dice(seed);
    let (mut moved, mut sound) = (0, 0);
    for round in 1..=rounds {
        let before = client.shown.clone();
        if dice.below(2) == 0 {
            for (at, original) in originals.iter().enumerate() {
                (*original).clone_into(&mut desk.texts[at]);
                desk.tell(&mut client, at, round);
            }
        }
        let at = dice.below(names.len());
        desk.texts[at] = dice.edit(&desk.texts, at);
        desk.tell(&mut client, at, round);
        client.change(names[0], rounds + round, &desk.texts[0]);
        client.settle(names[0], rounds + round);
        let mut new = desk.client();
        let (line, character) = (dice.below(desk.texts[0].lines().count()), dice.below(30));
        let choices = [&mut client, &mut new].map(|client| client.complete(names[0], line, character));
        let what =
            || format!("seed {seed}, round {round}, after an edit of {}:\n{}", names[at], desk.texts[at]);
        assert_eq!(choices[0], choices[1], "{}", what());
        assert_eq!(client.shown, new.end(), "{}", what());
        moved += usize::from(client.shown != before);
        let mut found = client.shown.values().flat_map(|found| found.as_array().unwrap());
        sound += usize::from(found.all(|one| one["severity"] == 2));
    }
    assert!(moved * 2 > rounds && sound * 8 > rounds, "{moved} and {sound} of {rounds}");
    client.end();
}

#[test]
fn many_edits_leave_nothing_stale() {
    for seed in 1..=8 {
        play(seed, &NAMES, &TEXTS, Some(CLOSED), 40);
    }
}

#[test]
fn edits_above_the_shipped_rules_leave_nothing_stale() {
    let own = "language 1\nuse \"parts/a.rules\"\nuse default\nset sdk_wait = 30s\ndrop rule payment_required.anything_else\n";
    let part =
        "language 1\nrule slow -> rate_limit when text has \"slow down\"\n  example message \"slow down\"\n";
    play(5, &NAMES[..2], &[own, part], None, 8);
}
