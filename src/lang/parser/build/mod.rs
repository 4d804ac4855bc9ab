//! Pieces and nodes → syntax tree.

mod case;
mod cond;
mod edit;
mod form;
mod reaction;
mod rule;
mod slot;
mod statement;

use std::ops::Range;

use super::{
    expect::{Around, unexpected},
    grammar::{Node, Rule, read},
    keywords::is_reserved,
    layout::{Body, Piece},
    report::{Built, Report, Reported},
    token::{Kind, Token, doc_line},
    values::Wrong,
};
use crate::lang::{
    ast::{Allow, Broken, File, Statement, StatementKind},
    diagnostic::{Diagnostic, codes::syntax},
    source::{Span, Spanned},
};

/// The version of the language that this build speaks.
const LANGUAGE: u32 = 1;

/// Builds the tree of one file.
pub struct Builder<'a, 'r> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    /// Examples and tests are read, not passed over.
    pub cases: bool,
    pub report: Report<'r>,
}

/// Where a piece stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Top,
    Block,
}

impl Builder<'_, '_> {
    /// The whole file.
    pub fn file(mut self, source: crate::lang::source::SourceId, pieces: &[Piece]) -> File {
        let mut statements = Vec::new();
        let mut language = None;
        self.pieces(pieces, Level::Top, &mut statements, &mut language);
        if language.is_none() && !pieces.is_empty() {
            let span = self.report.span(0..0);
            self.report.push(
                Diagnostic::new(syntax::NO_LANGUAGE, span, "the file does not say its language version")
                    .help(format!("begin it with `language {LANGUAGE}`")),
            );
        }
        File { source, language, statements }
    }

    /// The statements of a block's braces.
    fn block(&mut self, body: &Body) -> Vec<Statement> {
        let mut statements = Vec::new();
        self.pieces(&body.pieces, Level::Block, &mut statements, &mut None);
        statements
    }

    fn pieces(
        &mut self,
        pieces: &[Piece],
        level: Level,
        out: &mut Vec<Statement>,
        language: &mut Option<Spanned<u32>>,
    ) {
        let mut allows: Vec<Allow> = Vec::new();
        let mut doc: Option<Spanned<String>> = None;
        for (index, piece) in pieces.iter().enumerate() {
            if !self.cases && self.is_case(piece) {
                continue;
            }
            let own_doc = self.doc(piece);
            let Ok(node) = self.head(piece, Rule::statement) else {
                self.body_of_broken(piece);
                out.push(self.statement(piece, doc.take().or(own_doc), std::mem::take(&mut allows), None));
                continue;
            };
            match node.rule {
                Rule::allow => {
                    allows.extend(self.allow(&node).ok());
                    doc = doc.or(own_doc);
                    self.bodiless(piece).ok();
                    continue;
                }
                Rule::example => {
                    self.undocumented(own_doc);
                    self.attach_example(&node, piece, out);
                    continue;
                }
                Rule::language => {
                    self.undocumented(own_doc);
                    self.language(&node, index == 0 && level == Level::Top, language);
                    continue;
                }
                _ => {}
            }
            let fits = level == Level::Top || matches!(node.rule, Rule::rule | Rule::group | Rule::provider);
            let before = self.report.left();
            let built = if fits { self.kind(&node, piece) } else { Err(self.misplaced(&node, piece)) };
            if built.is_err() && before > 0 && before == self.report.left() {
                self.unreadable(node.range.clone());
            }
            let allows = std::mem::take(&mut allows);
            out.push(self.statement(piece, doc.take().or(own_doc), allows, built.ok()));
        }
        for allow in allows {
            self.report.push(
                Diagnostic::new(syntax::STRAY_ALLOW, allow.span, "this `allow` belongs to no statement")
                    .help("put it above the statement that it speaks for, or take it away"),
            );
        }
        self.undocumented(doc);
    }

    /// Whether a piece is an example or a test, going by its first word.
    fn is_case(&self, piece: &Piece) -> bool {
        let word = self.tokens.get(piece.first).map_or("", |token| token.text(self.text));
        matches!(word, "example" | "counterexample" | "test")
    }

    fn statement(
        &mut self,
        piece: &Piece,
        doc: Option<Spanned<String>>,
        allows: Vec<Allow>,
        kind: Option<StatementKind>,
    ) -> Statement {
        let kind = kind.unwrap_or_else(|| StatementKind::Broken(self.broken(piece)));
        Statement { doc, allows, kind, span: self.report.span(self.whole(piece)) }
    }

    /// What can still be seen of a broken statement.
    fn broken(&self, piece: &Piece) -> Broken {
        let head = self.tokens.get(piece.first..piece.last).unwrap_or_default();
        let words: Vec<&Token> = head.iter().filter(|t| t.counts()).take(4).collect();
        let keyword = words.first().map(|t| t.text(self.text).to_owned());
        let second = words.iter().skip(1).find(|t| !is_reserved(t.text(self.text)));
        let name = second.filter(|t| t.kind == Kind::Word).map(|t| Spanned {
            node: t.text(self.text).rsplit('.').next().unwrap_or("").to_owned(),
            span: self.report.span(t.start..t.end),
        });
        Broken { keyword, name }
    }

    /// The errors inside the braces of a block whose head is broken.
    fn body_of_broken(&mut self, piece: &Piece) {
        let first = self.tokens.get(piece.first).map_or("", |t| t.text(self.text));
        if let Some(body) = piece.body.as_ref().filter(|_| matches!(first, "group" | "provider" | "in")) {
            self.block(body);
        }
    }

    /// Reads the head of a piece by an entry of the grammar; gives the one node inside.
    fn head(&mut self, piece: &Piece, entry: Rule) -> Built<Node> {
        let node = self.slot(piece, entry)?;
        let range = node.range.clone();
        node.parts.into_iter().next().ok_or_else(|| self.unreadable(range))
    }

    /// Reads the head of a piece by an entry of the grammar.
    fn slot(&mut self, piece: &Piece, entry: Rule) -> Built<Node> {
        // After the last finding that is shown, the rest of a file of rubbish costs nothing.
        if !piece.sound || self.report.left() == 0 {
            return Err(Reported);
        }
        let head = self.tokens.get(piece.first..piece.last).unwrap_or_default();
        let (Some(first), Some(last)) = (head.first(), head.last()) else {
            let brace = self.whole(piece);
            return Err(self.report.at(
                syntax::UNEXPECTED,
                brace,
                "expected a statement, found `{`",
                "name the block",
            ));
        };
        let range = first.start..last.end;
        read(entry, self.text, range).map_err(|stopped| {
            let brace = piece.body.as_ref().and_then(|body| self.tokens.get(body.open));
            let around = Around { text: self.text, head, brace };
            let diagnostic = unexpected(&around, &stopped, |range| self.report.span(range));
            self.report.push(diagnostic)
        })
    }

    /// The braces that a form must have.
    fn body<'p>(&mut self, piece: &'p Piece) -> Built<&'p Body> {
        piece.body.as_ref().ok_or_else(|| {
            let head = self.whole(piece);
            let text = self.text.get(head.clone()).unwrap_or("").lines().last().unwrap_or("").trim();
            let message = format!("expected `{{` after `{text}`, found the end of the line");
            self.report.at(
                syntax::UNEXPECTED,
                head.end..head.end,
                message,
                "begin the braces on the same line",
            )
        })
    }

    /// For forms that have no braces.
    fn bodiless(&mut self, piece: &Piece) -> Built<()> {
        let Some(body) = &piece.body else { return Ok(()) };
        let brace = self.tokens.get(body.open).map_or(0..0, |t| t.start..t.end);
        let what = "expected the end of the statement, found `{`";
        Err(self.report.at(syntax::UNEXPECTED, brace, what, "this form has no braces"))
    }

    /// The bytes from a piece's first token to its last, braces included.
    fn whole(&self, piece: &Piece) -> Range<usize> {
        let start = self.tokens.get(piece.first).map_or(0, |t| t.start);
        let head = piece.last.checked_sub(1).filter(|last| *last >= piece.first);
        let end = match &piece.body {
            Some(body) => body.close.or(self.tokens.len().checked_sub(1)),
            None => head,
        };
        let end = end.and_then(|at| self.tokens.get(at)).map_or(start, |t| t.end);
        start..end.max(start)
    }

    fn doc(&self, piece: &Piece) -> Option<Spanned<String>> {
        let (first, last) = piece.doc?;
        let tokens = self.tokens.get(first..last)?;
        let lines = tokens.iter().filter(|t| t.kind == Kind::Doc).map(|t| doc_line(t.text(self.text)));
        let node = lines.collect::<Vec<_>>().join("\n");
        let span = self.report.span(tokens.first()?.start..tokens.last()?.end);
        Some(Spanned { node, span })
    }

    fn undocumented(&mut self, doc: Option<Spanned<String>>) {
        if let Some(doc) = doc {
            self.report.push(
                Diagnostic::new(syntax::STRAY_DOC, doc.span, "this doc comment belongs to no statement")
                    .help("put it above a statement, or begin it with one `#`"),
            );
        }
    }

    fn allow(&mut self, node: &Node) -> Built<Allow> {
        let code = self.plain(node.need(Rule::code)?);
        let reason = self.string(node)?;
        if reason.node.trim().is_empty() {
            self.report.push(
                Diagnostic::new(syntax::MISSING_PART, reason.span, "this `allow` gives no reason")
                    .here("empty")
                    .help("say here why it is meant so"),
            );
        }
        Ok(Allow { code, reason, span: self.span(node) })
    }

    fn language(&mut self, node: &Node, first: bool, language: &mut Option<Spanned<u32>>) {
        let span = self.span(node);
        if let Some(before) = language {
            let before = before.span;
            self.report.push(
                Diagnostic::new(syntax::TWICE, span, "the language is given twice")
                    .related(before, "first here")
                    .help("keep the first"),
            );
            return;
        }
        let Ok(number) = self.number(node, "a language version", 0, u32::MAX) else {
            *language = Some(Spanned { node: LANGUAGE, span });
            return;
        };
        *language = Some(Spanned { node: number.node, span });
        if number.node == 0 || number.node > LANGUAGE {
            let message = format!("this build does not know language {}", number.node);
            let help = format!("it speaks language {LANGUAGE}; a newer build may know more");
            self.report.push(Diagnostic::new(syntax::NEWER_LANGUAGE, number.span, message).help(help));
        } else if !first {
            self.report.push(
                Diagnostic::new(syntax::MISPLACED, span, "`language` is not the first statement of the file")
                    .help("move it to the top"),
            );
        }
    }

    fn misplaced(&mut self, node: &Node, piece: &Piece) -> Reported {
        let word = self.tokens.get(piece.first).map_or("", |t| t.text(self.text)).to_owned();
        let message = format!("`{word}` cannot stand inside a block");
        let range = node.range.clone();
        self.report.at(
            syntax::MISPLACED,
            range,
            message,
            "blocks hold rules and blocks; move it to the top of the file",
        )
    }

    /// The span of a node.
    fn span(&self, node: &Node) -> Span {
        self.report.span(node.range.clone())
    }

    fn unreadable(&mut self, range: Range<usize>) -> Reported {
        self.report.at(syntax::UNEXPECTED, range, "this cannot be read", "write it in another way")
    }

    /// Reports what is wrong with the value of a node.
    fn wrong(&mut self, node: &Node, wrong: Wrong) -> Reported {
        let start = node.range.start;
        let range = wrong.part.map_or(node.range.clone(), |part| start + part.start..start + part.end);
        self.report.at(wrong.code, range, wrong.message, wrong.help)
    }
}
