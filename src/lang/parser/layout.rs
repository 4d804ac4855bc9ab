//! Lines and brackets: a file becomes pieces, each a statement or a slot, by the line rules alone.
//!
//! A piece ends at a line break or `;`. A line goes on after `and`, `or`, `not`, `,` and an open
//! bracket, inside round and square brackets, and when the next one begins with `and`, `or`,
//! `when`, `by` or `reaction`. What stands between `{` and `}` is pieces again.

use super::{
    keywords::OPENERS,
    report::{Report, Reported},
    token::{Bracket, Kind, Token},
};
use crate::lang::diagnostic::{Diagnostic, codes::syntax};

/// How deep brackets may be nested: the parser and everything after it recurse no deeper.
pub const DEEPEST: usize = 64;

/// Longest name or number, in bytes: tables, logs and messages show names whole.
const LONGEST_WORD: usize = 100;

/// One piece: its head, and what stands in its braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First token of the head.
    pub first: usize,
    /// One past the last token of the head.
    pub last: usize,
    /// The `##` lines above it: tokens from the first to one past the last.
    pub doc: Option<(usize, usize)>,
    /// Its braces.
    pub body: Option<Body>,
    /// Lines and brackets are in order. If not, that is already reported.
    pub sound: bool,
}

/// What stands between braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The token `{`.
    pub open: usize,
    /// The token `}`; absent when the file ends before it.
    pub close: Option<usize>,
    /// Its pieces.
    pub pieces: Vec<Piece>,
}

/// Splits a file into pieces.
pub fn layout(text: &str, tokens: &[Token], report: &mut Report<'_>) -> Vec<Piece> {
    let mut walk = Walk { text, tokens, at: 0, depth: 0, report };
    walk.pieces(None).0
}

struct Walk<'a, 'r> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    report: &'a mut Report<'r>,
}

impl Walk<'_, '_> {
    /// Pieces up to the end of the file, or up to the `}` of an opened brace.
    fn pieces(&mut self, opened: Option<usize>) -> (Vec<Piece>, Option<usize>) {
        let mut pieces = Vec::new();
        let mut doc: Option<(usize, usize)> = None;
        while let Some(token) = self.tokens.get(self.at) {
            match token.kind {
                Kind::Newline | Kind::Semicolon | Kind::Comment => self.at += 1,
                Kind::Doc => {
                    let this = (doc.map_or(self.at, |(first, _)| first), self.at + 1);
                    if self.begins_line() {
                        doc = Some(this);
                    } else {
                        self.stray_doc(Some((self.at, self.at + 1)));
                    }
                    self.at += 1;
                }
                Kind::Close(Bracket::Curly) if opened.is_some() => {
                    self.stray_doc(doc);
                    self.at += 1;
                    return (pieces, Some(self.at - 1));
                }
                Kind::Close(_) => {
                    let what = format!("this `{}` closes nothing", token.text(self.text));
                    self.report.at(syntax::UNBALANCED, token.start..token.end, what, "take it away");
                    self.at += 1;
                }
                _ => pieces.push(self.piece(doc.take())),
            }
        }
        self.stray_doc(doc);
        if let Some(open) = opened {
            self.open_bracket(open);
        }
        (pieces, None)
    }

    /// Whether nothing stands before the current token on its line, or only a `{`.
    fn begins_line(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_none_or(|t| matches!(t.kind, Kind::Newline | Kind::Open(_)))
    }

    fn piece(&mut self, doc: Option<(usize, usize)>) -> Piece {
        let mut piece = Piece { first: self.at, last: self.at, doc, body: None, sound: true };
        let mut open: Vec<usize> = Vec::new();
        while let Some(token) = self.tokens.get(self.at) {
            match token.kind {
                Kind::Newline => match self.goes_on_at(piece.last, !open.is_empty()) {
                    Some(next) => {
                        self.at = next;
                        continue;
                    }
                    None => break,
                },
                Kind::Semicolon | Kind::Close(Bracket::Curly) => break,
                Kind::Comment => {}
                Kind::Doc => {
                    self.stray_doc(Some((self.at, self.at + 1)));
                }
                Kind::Open(Bracket::Curly) => {
                    if self.close_all(&mut open).is_err() {
                        piece.sound = false;
                    }
                    piece.body = self.body(&mut piece.sound);
                    return piece;
                }
                // One character that means nothing is often the first of two quotes: say it once.
                Kind::Stray if !piece.sound => {}
                kind => {
                    if self.token(token, kind, &mut open).is_err() {
                        piece.sound = false;
                    }
                    piece.last = self.at + 1;
                }
            }
            self.at += 1;
        }
        if self.close_all(&mut open).is_err() {
            piece.sound = false;
        }
        piece
    }

    /// One token inside a head: brackets are matched, broken tokens reported.
    fn token(&mut self, token: &Token, kind: Kind, open: &mut Vec<usize>) -> Result<(), Reported> {
        let range = token.start..token.end;
        match kind {
            Kind::Open(_) => {
                open.push(self.at);
                if self.depth + open.len() == DEEPEST + 1 {
                    return Err(self.too_deep(range));
                }
                if self.depth + open.len() > DEEPEST {
                    return Err(Reported);
                }
            }
            Kind::Close(bracket) => {
                let partner = open.last().and_then(|at| self.tokens.get(*at));
                if partner.is_some_and(|t| t.kind == Kind::Open(bracket)) {
                    open.pop();
                } else {
                    let what = format!("this `{}` closes nothing", token.text(self.text));
                    return Err(self.report.at(
                        syntax::UNBALANCED,
                        range,
                        what,
                        "take it away, or open it before",
                    ));
                }
            }
            Kind::OpenString => {
                let what = "this string has no closing quote".to_owned();
                return Err(self.report.at(
                    syntax::OPEN_STRING,
                    range,
                    what,
                    "close it with `\"` on the same line",
                ));
            }
            Kind::OpenRegex => {
                let what = "this regular expression has no closing slash".to_owned();
                return Err(self.report.at(
                    syntax::OPEN_REGEX,
                    range,
                    what,
                    "close it with `/` on the same line",
                ));
            }
            Kind::Stray => return Err(self.stray(token)),
            Kind::Word if token.end - token.start > LONGEST_WORD => {
                let what = format!("this word has more than {LONGEST_WORD} bytes");
                let help = "shorten it; a longer text stands in quotes";
                return Err(self.report.at(syntax::BAD_NAME, range, what, help));
            }
            _ => {}
        }
        Ok(())
    }

    /// The token with which the statement goes on after the line break here, if it does.
    fn goes_on_at(&self, last: usize, inside: bool) -> Option<usize> {
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let ahead = rest.iter().position(|t| !matches!(t.kind, Kind::Newline | Kind::Comment))?;
        let next = rest.get(ahead)?;
        let word = next.text(self.text);
        // A word that can only begin a statement ends an unfinished one, so that one error stays one.
        if OPENERS.contains(&word) {
            return None;
        }
        let before = last.checked_sub(1).and_then(|at| self.tokens.get(at));
        let unfinished = before.is_some_and(|t| {
            matches!(t.kind, Kind::Comma | Kind::Open(_)) || matches!(t.text(self.text), "and" | "or" | "not")
        });
        let joins = matches!(word, "and" | "or" | "when" | "by" | "reaction");
        (inside || unfinished || joins).then_some(self.at + ahead)
    }

    /// The braces at the current token; nothing may follow them on their line.
    fn body(&mut self, sound: &mut bool) -> Option<Body> {
        let open = self.at;
        let range = self.tokens.get(open).map_or(0..0, |t| t.start..t.end);
        if self.depth >= DEEPEST {
            self.too_deep(range);
            *sound = false;
            self.skip_braces();
            return None;
        }
        self.at += 1;
        self.depth += 1;
        let (pieces, close) = self.pieces(Some(open));
        self.depth -= 1;
        if let Some(next) = self.tokens.get(self.at)
            && !matches!(next.kind, Kind::Newline | Kind::Semicolon | Kind::Comment | Kind::Doc)
            && next.kind != Kind::Close(Bracket::Curly)
        {
            let what = format!("expected a line break or `;` after `}}`, found `{}`", next.text(self.text));
            self.report.at(syntax::UNEXPECTED, next.start..next.end, what, "begin a new line here");
        }
        Some(Body { open, close, pieces })
    }

    /// Passes over a brace and all that it holds.
    fn skip_braces(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.kind {
                Kind::Open(Bracket::Curly) => depth += 1,
                Kind::Close(Bracket::Curly) => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn close_all(&mut self, open: &mut Vec<usize>) -> Result<(), Reported> {
        let first = open.first().copied();
        open.clear();
        first.map_or(Ok(()), |at| Err(self.open_bracket(at)))
    }

    fn open_bracket(&mut self, at: usize) -> Reported {
        let Some(token) = self.tokens.get(at) else { return Reported };
        let (open, close) = match token.kind {
            Kind::Open(Bracket::Round) => ('(', ')'),
            Kind::Open(Bracket::Square) => ('[', ']'),
            _ => ('{', '}'),
        };
        let what = format!("this `{open}` is never closed");
        self.report.at(syntax::UNBALANCED, token.start..token.end, what, &format!("close it with `{close}`"))
    }

    fn too_deep(&mut self, range: std::ops::Range<usize>) -> Reported {
        let what = format!("brackets are nested more than {DEEPEST} deep");
        self.report.at(syntax::TOO_DEEP, range, what, "name inner conditions with `let`")
    }

    fn stray(&mut self, token: &Token) -> Reported {
        let c = token.text(self.text).chars().next().unwrap_or(' ');
        let shown = if c.is_control() || c.is_whitespace() || c == '\u{feff}' {
            format!("the character U+{:04X}", u32::from(c))
        } else {
            format!("`{c}`")
        };
        let help = match c {
            '\u{2018}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => "strings stand in plain quotes: `\"`",
            c if c.is_whitespace() => "use an ordinary blank",
            '\u{2192}' => "write `->`",
            _ => "take it away; inside a string it may be written as `\\u{…}`",
        };
        self.report.at(
            syntax::BAD_CHARACTER,
            token.start..token.end,
            format!("{shown} means nothing here"),
            help,
        )
    }

    fn stray_doc(&mut self, doc: Option<(usize, usize)>) {
        let Some((first, last)) = doc else { return };
        let (Some(first), Some(last)) = (self.tokens.get(first), self.tokens.get(last - 1)) else { return };
        let span = self.report.span(first.start..last.end);
        self.report.push(
            Diagnostic::new(syntax::STRAY_DOC, span, "this doc comment belongs to no statement")
                .help("put it above a statement, or begin it with one `#`"),
        );
    }
}
