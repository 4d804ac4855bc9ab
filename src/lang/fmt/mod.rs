//! The canonical form of a rule file.
//!
//! One blank between tokens, two blanks a level, one statement a line, no blank at a line's end, at
//! most one empty line between lines, `[…]` with a comma at the end when and only when it is closed
//! on a line of its own. The writer's line breaks inside a statement stay, as do all comments; a
//! body written on one line stays there while it fits. The `when` of a `reset` stands before `in`.

mod head;

use super::{
    diagnostic::Diagnostics,
    parser::{
        self,
        layout::{Body, Piece, layout},
        report::Report,
        token::{Kind, Token, doc_line, tokens},
    },
    source::SourceId,
};

/// A body written on one line stays there when the line is no longer than this.
const WIDEST: usize = 100;

/// Blanks a level.
const LEVEL: usize = 2;

/// Blanks before a line that goes on from the one above.
const CONTINUED: usize = 4;

/// The canonical form: the same meaning, the same comments. Formatting it again changes nothing.
///
/// # Errors
/// The syntax errors of a text that cannot be read; their spans carry [`SourceId`] 0.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    let mut found = Diagnostics::default();
    parser::parse(SourceId::default(), text, &mut found);
    if found.has_errors() {
        return Err(found);
    }
    let tokens = tokens(text);
    let pieces = layout(text, &tokens, &mut Report::new(SourceId::default(), &mut found));
    let mut printer = Printer { text, tokens: &tokens, out: String::new(), indent: 0 };
    printer.body(0, tokens.len(), &pieces, 0);
    printer.end_line();
    Ok(printer.out)
}

struct Printer<'a> {
    text: &'a str,
    tokens: &'a [Token],
    out: String,
    /// Of the current line.
    indent: usize,
}

impl Printer<'_> {
    fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn word(&self, at: usize) -> &str {
        self.token(at).map_or("", |t| t.text(self.text))
    }

    fn end_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Begins a line.
    fn line(&mut self, indent: usize) {
        self.end_line();
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.indent = indent;
    }

    /// How long the current line is, in characters.
    fn column(&self) -> usize {
        self.out.rsplit('\n').next().unwrap_or("").chars().count()
    }

    /// The pieces between two tokens, each on its own line, with the comments around them.
    fn body(&mut self, from: usize, to: usize, pieces: &[Piece], indent: usize) {
        let mut at = from;
        for piece in pieces {
            let under_rule = matches!(self.word(piece.first), "example" | "counterexample");
            let indent = if under_rule { indent + LEVEL } else { indent };
            let empty_line = self.gap(at..piece.first, indent);
            self.end_line();
            if empty_line {
                self.out.push('\n');
            }
            self.line(indent);
            self.piece(piece, indent);
            at = self.after(piece);
        }
        self.gap(at..to, indent);
    }

    /// One past the last token of a piece.
    fn after(&self, piece: &Piece) -> usize {
        match &piece.body {
            Some(body) => body.close.map_or(self.tokens.len(), |close| close + 1),
            None => piece.last,
        }
    }

    /// The comments between two pieces: on the line of the piece before, or on lines of their own.
    /// Gives whether an empty line comes next; the start of a body has none.
    fn gap(&mut self, range: std::ops::Range<usize>, indent: usize) -> bool {
        let mut first = range.start == 0 || self.word(range.start - 1) == "{";
        let mut breaks = 0usize;
        for at in range {
            let Some(token) = self.token(at).copied() else { continue };
            match token.kind {
                Kind::Newline => breaks += 1,
                Kind::Comment if breaks == 0 && !self.out.is_empty() && !self.out.ends_with('\n') => {
                    self.out.push_str("  ");
                    self.out.push_str(token.text(self.text));
                }
                Kind::Comment | Kind::Doc => {
                    self.end_line();
                    if breaks > 1 && !first {
                        self.out.push('\n');
                    }
                    self.line(indent);
                    self.comment(&token);
                    breaks = 0;
                    first = false;
                }
                _ => {}
            }
        }
        breaks > 1 && !first
    }

    fn comment(&mut self, token: &Token) {
        let text = token.text(self.text);
        if token.kind == Kind::Doc {
            let line = doc_line(text);
            self.out.push_str("##");
            if !line.is_empty() {
                self.out.push(' ');
                self.out.push_str(line);
            }
        } else {
            self.out.push_str(text);
        }
    }

    fn piece(&mut self, piece: &Piece, indent: usize) {
        self.head(piece, indent);
        let Some(body) = &piece.body else { return };
        self.out.push_str(" {");
        let last = body.close.unwrap_or(self.tokens.len());
        if let Some(inline) = self.inline(body).filter(|text| self.column() + text.chars().count() <= WIDEST)
        {
            self.out.push_str(&inline);
            return;
        }
        let outer = self.indent;
        self.body(body.open + 1, last, &body.pieces, outer + LEVEL);
        self.line(outer);
        self.out.push('}');
    }

    /// What follows `{` when the whole body stands on one line, and has no comments.
    fn inline(&self, body: &Body) -> Option<String> {
        let inside = self.tokens.get(body.open + 1..body.close?)?;
        if inside.iter().any(|t| !t.counts()) {
            return None;
        }
        let mut out = String::new();
        for (index, piece) in body.pieces.iter().enumerate() {
            out.push_str(if index == 0 { " " } else { "; " });
            let mut printer = Printer { out: String::new(), ..*self };
            printer.head(piece, 0);
            out.push_str(&printer.out);
            if let Some(inner) = &piece.body {
                out.push_str(" {");
                out.push_str(&self.inline(inner)?);
            }
        }
        out.push_str(" }");
        Some(out)
    }
}
