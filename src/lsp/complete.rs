//! Completion: the words that the grammar allows at a place, and the names that fit there.

use std::collections::BTreeMap;

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, MarkupContent, MarkupKind, Range,
    TextEdit,
};

use super::{
    analysis::Analysis,
    position,
    symbols::{Kind, Role},
};
use crate::escape::{Shown, shown_lines};
use crate::lang::{
    diagnostic::{Severity, codes},
    load::files::{Files as _, Folder},
    parser::next::{Next, next},
    shipped,
    tree::{ABORTS, BODIES, BucketId},
};

/// Most choices of one answer; the editor asks again when more is typed.
const MOST: usize = 1_000;

/// Words that begin a statement inside a block.
const IN_BLOCKS: &[&str] = &["rule", "observe", "group", "provider", "example", "counterexample", "allow"];

/// What may be put in at byte `at` of `text`, and whether that is all.
#[must_use]
pub fn complete(analysis: &Analysis, text: &str, at: usize) -> (Vec<CompletionItem>, bool) {
    let Some(next) = next(text, at) else { return (Vec::new(), true) };
    let range = position::range(text, next.range.clone());
    let mut list = List { analysis, range, next: &next, items: Vec::new() };
    if next.in_string {
        list.strings();
    } else {
        list.words();
        list.names();
    }
    let whole = list.items.len() <= MOST;
    list.items.truncate(MOST);
    (list.items, whole)
}

struct List<'a> {
    analysis: &'a Analysis,
    /// What is put in stands for this.
    range: Range,
    next: &'a Next,
    items: Vec<CompletionItem>,
}

impl List<'_> {
    fn push(&mut self, label: &str, kind: CompletionItemKind, detail: Option<String>, doc: Option<String>) {
        let doc = doc
            .map(|doc| MarkupContent { kind: MarkupKind::Markdown, value: shown_lines(&doc) })
            .map(Documentation::MarkupContent);
        self.items.push(CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            detail,
            documentation: doc,
            text_edit: Some(CompletionTextEdit::Edit(TextEdit {
                range: self.range,
                new_text: label.to_owned(),
            })),
            ..CompletionItem::default()
        });
    }

    fn words(&mut self) {
        let outside = |head: &Vec<String>| {
            head.first().is_some_and(|w| matches!(w.as_str(), "group" | "provider" | "in"))
        };
        let in_block = self.next.around.last().is_some_and(outside) && self.next.before.is_empty();
        for word in &self.next.words {
            let first = word.split(' ').next().unwrap_or(word);
            let joins = matches!(first, "when" | "and" | "or" | "by" | "reaction");
            if !in_block || joins || IN_BLOCKS.contains(&first) {
                self.push(word, CompletionItemKind::KEYWORD, None, None);
            }
        }
    }

    fn names(&mut self) {
        let before: Vec<&str> = self.next.before.iter().map(String::as_str).collect();
        let inside: Vec<&str> =
            self.next.around.last().map(|head| head.iter().map(String::as_str).collect()).unwrap_or_default();
        match wanted(&before, &inside, self.next.name) {
            Wanted::Names(kinds) => kinds.iter().for_each(|kind| self.declared(*kind, None)),
            Wanted::RulesOf(block) => self.declared(Kind::Rule, Some(block)),
            Wanted::Words(words) => {
                for word in words {
                    self.push(word, CompletionItemKind::ENUM_MEMBER, None, None);
                }
            }
            Wanted::Sets => {
                shipped::names().for_each(|name| self.push(name, CompletionItemKind::MODULE, None, None));
            }
            Wanted::Codes => {
                for code in codes::all().filter(|code| code.severity == Severity::Warning) {
                    self.push(code.id, CompletionItemKind::CONSTANT, Some(code.title.to_owned()), None);
                }
            }
            Wanted::Nothing => {}
        }
    }

    /// All names of a kind; of rules those of one block, if it is said, by their bare name.
    fn declared(&mut self, kind: Kind, block: Option<&str>) {
        let mut names: BTreeMap<&str, (String, Option<String>)> = BTreeMap::new();
        for (source, symbol) in self.analysis.names().filter(|(_, symbol)| symbol.kind == kind) {
            let used_as_name = kind == Kind::Alias && symbol.role == Role::Uses;
            if symbol.role != Role::Declares && !used_as_name {
                continue;
            }
            let name = match block {
                Some(block) => symbol.name.strip_prefix(block).and_then(|rest| rest.strip_prefix('.')),
                None => Some(symbol.name.as_str()),
            };
            let file = self
                .analysis
                .sources
                .get(source)
                .map_or_else(String::new, |file| Shown(&file.name).to_string());
            if let Some(name) = name {
                names.entry(name).or_insert_with(|| (file, symbol.doc.clone()));
            }
        }
        if kind == Kind::Bucket {
            for (name, _) in BucketId::BUILT_IN {
                names.entry(name).or_insert_with(|| ("built in".to_owned(), None));
            }
        }
        for (name, (file, doc)) in names {
            let bare = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
            let label = if bare { name.to_owned() } else { format!("{name:?}") };
            self.push(&label, item_kind(kind), Some(file), doc);
        }
    }

    /// Inside a string: the file of a `use`.
    fn strings(&mut self) {
        if self.next.before.iter().map(String::as_str).ne(["use"]) {
            return;
        }
        let mut paths = Folder::new(&self.analysis.folder).list();
        paths.retain(|path| path != "main.rules");
        for path in paths {
            self.push(&Shown(&path).to_string(), CompletionItemKind::FILE, None, None);
        }
    }
}

enum Wanted<'a> {
    Names(&'static [Kind]),
    RulesOf(&'a str),
    Words(&'static [&'static str]),
    Sets,
    Codes,
    Nothing,
}

/// The names that fit after these tokens; `inside`: the head around them.
fn wanted<'a>(before: &[&'a str], inside: &[&str], name: bool) -> Wanted<'a> {
    use Wanted::{Codes, Names, Nothing, RulesOf, Sets, Words};
    let last = before.last().copied().unwrap_or("");
    let first = before.first().copied().unwrap_or("");
    if before == ["allow"] {
        return Codes;
    }
    if !name {
        return Nothing;
    }
    match before {
        ["use"] => return Sets,
        ["drop" | "replace", "rule"] | ["replace", "observe", "rule"] => return Names(&[Kind::Rule]),
        ["drop" | "replace" | "in", "group" | "provider"] => {
            return Names(&[Kind::Block]);
        }
        ["drop" | "replace", "reset"] => return Names(&[Kind::Reset]),
        ["drop" | "replace", "alias"] => return Names(&[Kind::Alias]),
        ["replace", "list"] | ["extend"] => return Names(&[Kind::List]),
        ["replace", "let"] => return Names(&[Kind::Let]),
        ["replace", "setting"] | ["set"] => return Names(&[Kind::Setting]),
        ["replace", "backoff"] => return Names(&[Kind::Backoff]),
        ["replace", "bucket" | "on"] | ["on"] => return Names(&[Kind::Bucket]),
        ["in", "group" | "provider", block, "before" | "after"] => return RulesOf(block),
        [] if inside.first() == Some(&"probe") => return Names(&[Kind::Bucket]),
        [
            "bucket" | "alias" | "list" | "let" | "rule" | "group" | "setting" | "reset" | "observe"
            | "language",
            ..,
        ] if before.len() == 1 || last == "rule" || last == "as" => {
            return Nothing;
        }
        ["backoff"] if inside.first() != Some(&"test") => return Nothing,
        _ => {}
    }
    let asked = before.len().checked_sub(2).and_then(|at| before.get(at)).copied().unwrap_or("");
    match last {
        "->" => Names(&[Kind::Bucket]),
        "using" | "backoff" => Names(&[Kind::Backoff]),
        "by" => Names(&[Kind::Rule]),
        "of" | "in" => Names(&[Kind::List]),
        "is" if asked == "provider" => Names(&[Kind::Alias]),
        "is" if asked == "body" => Words(BODIES),
        "is" if asked == "aborted" => Words(ABORTS),
        "provider" => Names(&[Kind::Alias]),
        "when" | "and" | "or" | "not" | "(" => Names(&[Kind::Let]),
        "=" if first == "let" || before.starts_with(&["replace", "let"]) => Names(&[Kind::Let]),
        "[" | "," if first == "provider" => Names(&[Kind::Alias]),
        "=" | "," if matches!(first, "alias") => Names(&[Kind::Alias]),
        "," | "steps" | "from" | "to" | "least" | "most" | "after" | "within" | "every" | "for"
        | "attempts" | "elapsed" => Names(&[Kind::Setting]),
        _ => Nothing,
    }
}

fn item_kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Rule => CompletionItemKind::FUNCTION,
        Kind::Block => CompletionItemKind::MODULE,
        Kind::Bucket => CompletionItemKind::CLASS,
        Kind::Alias | Kind::Code => CompletionItemKind::CONSTANT,
        Kind::List => CompletionItemKind::ENUM,
        Kind::Let => CompletionItemKind::VARIABLE,
        Kind::Setting => CompletionItemKind::PROPERTY,
        Kind::Backoff => CompletionItemKind::VALUE,
        Kind::Reset => CompletionItemKind::EVENT,
        Kind::Set | Kind::File => CompletionItemKind::FILE,
    }
}
