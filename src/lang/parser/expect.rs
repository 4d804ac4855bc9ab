//! Messages for what the grammar could not read.

use super::{
    grammar::{Rule, Stopped},
    keywords::{FIELDS, FIRST, is_reserved},
    token::{Kind, Token},
    words::{self, Term},
};
use crate::lang::{
    diagnostic::{
        Diagnostic,
        codes::syntax,
        nearest::{did_you_mean, nearest},
    },
    source::Span,
};

/// A piece as the messages see it.
pub struct Around<'a> {
    /// The whole file.
    pub text: &'a str,
    /// The tokens of the piece's head.
    pub head: &'a [Token],
    /// The `{` of the piece, if it has one.
    pub brace: Option<&'a Token>,
}

/// The message for a piece that could not be read; `span` makes spans of byte ranges.
pub fn unexpected(
    around: &Around<'_>,
    stopped: &Stopped,
    span: impl Fn(std::ops::Range<usize>) -> Span,
) -> Diagnostic {
    let head: Vec<&Token> = around.head.iter().filter(|t| t.counts()).collect();
    let index = head.iter().position(|t| t.end > stopped.at).unwrap_or(head.len());
    let text = |at: usize| head.get(at).map_or("", |t| t.text(around.text));
    let before = |steps: usize| index.checked_sub(steps).map_or("", text);
    let found = head.get(index).copied().or(around.brace);
    let end = head.last().map_or(stopped.at, |t| t.end);
    let place = span(found.map_or(end..end, |t| t.start..t.end));
    let word = found.map_or("", |t| t.text(around.text));
    let kind = found.map(|t| t.kind);

    if index == 0 && stopped.expected == [Rule::statement] {
        return unknown_statement(word, place);
    }
    if kind == Some(Kind::Word) {
        let digits = word.starts_with(|c: char| c.is_ascii_digit());
        let wanted = |list: &[Rule]| stopped.expected.iter().any(|one| list.contains(one));
        if digits && wanted(&[Rule::duration, Rule::duration_slot, Rule::setting_value]) {
            return Diagnostic::new(syntax::BAD_NUMBER, place, format!("`{word}` is not a duration"))
                .help("write numbers with `ms`, `s`, `m`, `h` or `d`, such as `90s` or `1h30m`");
        }
        if stopped.expected.iter().all(|one| is_name(*one)) {
            return bad_name(word, place);
        }
        let asked = ["is", "in", "has", "contains", "matches", "starts"].contains(&word);
        let opened = ["when", "and", "or", "not", "(", "="].contains(&before(2));
        if asked && opened && wanted(&[Rule::k_and, Rule::k_or]) {
            let field = before(1);
            let at = index.checked_sub(1).and_then(|at| head.get(at)).map_or(place, |t| span(t.start..t.end));
            return Diagnostic::new(syntax::UNKNOWN_FIELD, at, format!("errors have no field `{field}`"))
                .help(did_you_mean(field, FIELDS.iter().copied()).unwrap_or_else(fields));
        }
        if word == "not" && before(1) == "is" {
            return Diagnostic::new(syntax::UNEXPECTED, place, "`not` stands before what it negates")
                .help(format!("write `not {} is …`", before(2)));
        }
    }
    let expected = listed(&stopped.expected);
    let after = match before(1) {
        "" => String::new(),
        word => format!(" after `{}`", short(word)),
    };
    let found = if word.is_empty() { "the end of the line".to_owned() } else { format!("`{}`", short(word)) };
    Diagnostic::new(syntax::UNEXPECTED, place, format!("expected {expected}{after}, found {found}"))
        .maybe_help(misspelt(&stopped.expected, word))
}

/// The message for a line whose first word begins no statement.
fn unknown_statement(word: &str, place: Span) -> Diagnostic {
    let help = did_you_mean(word, FIRST.iter().copied()).unwrap_or_else(|| {
        "a line goes on from the one above only after `and`, `or`, `not`, `,` or an open bracket, or when it begins \
         with `and`, `or`, `when`, `by` or `reaction`"
            .to_owned()
    });
    Diagnostic::new(syntax::UNKNOWN_STATEMENT, place, format!("no statement begins with `{}`", short(word)))
        .help(help)
}

fn bad_name(word: &str, place: Span) -> Diagnostic {
    if is_reserved(word) {
        return Diagnostic::new(
            syntax::BAD_NAME,
            place,
            format!("`{word}` is a word of the language and cannot be a name"),
        )
        .help("choose another name, or a longer one");
    }
    let mended: String = word
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .skip_while(|c| !c.is_ascii_lowercase())
        .collect();
    let help = "names are small letters, digits and `_`, and begin with a letter";
    let help = if mended.is_empty() { help.to_owned() } else { format!("{help}: `{mended}`") };
    Diagnostic::new(syntax::BAD_NAME, place, format!("`{}` cannot be a name", short(word))).help(help)
}

fn is_name(of: Rule) -> bool {
    matches!(of, Rule::name | Rule::path | Rule::path_part | Rule::after_dot)
}

/// When the word that was found is nearly one that was expected.
fn misspelt(expected: &[Rule], word: &str) -> Option<String> {
    let words = expected.iter().filter_map(|one| match words::term(*one) {
        Term::Word(word) => word.split(' ').next(),
        Term::Thing(thing) => thing.strip_prefix('`')?.split(['`', ' ']).next(),
    });
    nearest(word, words).map(|name| format!("did you mean `{name}`?"))
}

fn fields() -> String {
    format!("the fields are `{}`", FIELDS.join("`, `"))
}

/// `a, b or c`, each once, the end of the statement last.
fn listed(expected: &[Rule]) -> String {
    let mut things: Vec<String> = Vec::new();
    let last = expected.iter().filter(|one| **one == Rule::EOI);
    for one in expected.iter().filter(|one| **one != Rule::EOI).chain(last) {
        let thing = match words::term(*one) {
            Term::Word(word) => format!("`{word}`"),
            Term::Thing(thing) => thing.to_owned(),
        };
        if !things.contains(&thing) {
            things.push(thing);
        }
    }
    match things.split_last() {
        None => "something else".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// At most thirty characters of the user's text.
fn short(text: &str) -> String {
    match text.char_indices().nth(30) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
        None => text.to_owned(),
    }
}
