//! The head of a statement: blanks, line breaks and commas.

use super::{
    super::parser::{
        layout::Piece,
        token::{Bracket, Kind, Token},
    },
    CONTINUED, LEVEL, Printer,
};

impl Printer<'_> {
    /// The head of a piece, from the current column on.
    pub(super) fn head(&mut self, piece: &Piece, indent: usize) {
        let order = self.order(piece);
        // The indents of the lines on which the open brackets stand.
        let mut open: Vec<usize> = Vec::new();
        let mut breaks = 0usize;
        let mut before: Option<Kind> = None;
        for (index, at) in order.iter().copied().enumerate() {
            let Some(token) = self.token(at).copied() else { continue };
            let kind = token.kind;
            if kind == Kind::Newline {
                breaks += 1;
                continue;
            }
            if matches!(kind, Kind::Close(_)) {
                let line = open.pop().unwrap_or(indent);
                if breaks > 0 {
                    self.start_line(line, breaks, before);
                }
            } else if breaks > 0 {
                let line = open.last().map_or(indent + CONTINUED, |line| line + LEVEL);
                self.start_line(line, breaks, before);
            } else if before.is_some() && kind == Kind::Comment {
                self.out.push_str("  ");
            } else if before.is_some_and(|before| blank_between(before, kind)) {
                self.out.push(' ');
            }
            self.out.push_str(token.text(self.text));
            if matches!(kind, Kind::Open(_)) {
                open.push(self.indent);
            }
            if self.lacks_comma(&order, index) {
                self.out.push(',');
            }
            breaks = 0;
            before = Some(kind);
        }
    }

    fn start_line(&mut self, indent: usize, breaks: usize, before: Option<Kind>) {
        self.end_line();
        if breaks > 1 && !matches!(before, Some(Kind::Open(_))) {
            self.out.push('\n');
        }
        self.line(indent);
    }

    /// Whether only line breaks and comments stand between a token and the next `]`; and if so,
    /// whether there is a line break.
    fn before_close(&self, rest: &[usize]) -> Option<bool> {
        let mut breaks = false;
        for at in rest {
            match self.token(*at)?.kind {
                Kind::Newline => breaks = true,
                Kind::Comment => {}
                Kind::Close(Bracket::Square) => return Some(breaks),
                _ => return None,
            }
        }
        None
    }

    /// An entry before a `]` on another line gets a comma.
    fn lacks_comma(&self, order: &[usize], index: usize) -> bool {
        let kind = order.get(index).and_then(|at| self.token(*at)).map(|t| t.kind);
        let rest = order.get(index + 1..).unwrap_or_default();
        matches!(kind, Some(Kind::Str | Kind::Word)) && self.before_close(rest) == Some(true)
    }

    /// The tokens of the head, each comma right behind what it follows, and none before a `]`.
    fn commas(&self, piece: &Piece) -> Vec<usize> {
        let all: Vec<usize> = (piece.first..piece.last).collect();
        let mut out: Vec<usize> = Vec::with_capacity(all.len());
        for (index, at) in all.iter().copied().enumerate() {
            if self.token(at).is_none_or(|t| t.kind != Kind::Comma) {
                out.push(at);
                continue;
            }
            let counts = |at: &usize| self.token(*at).is_some_and(Token::counts);
            let behind = out.iter().rposition(counts).map_or(0, |last| last + 1);
            let comment = |at: &usize| self.token(*at).is_some_and(|t| t.kind == Kind::Comment);
            if !out.get(behind..).unwrap_or_default().iter().any(comment) {
                out.truncate(behind);
            }
            if self.before_close(all.get(index + 1..).unwrap_or_default()).is_none() {
                out.insert(behind, at);
            }
        }
        out
    }

    /// The tokens of the head in canonical order: as written, but for commas, and but that the `when`
    /// of a `reset` goes before its units. With comments or line breaks it stays where it is.
    fn order(&self, piece: &Piece) -> Vec<usize> {
        let all = self.commas(piece);
        if self.word(piece.first) != "reset"
            || all.iter().any(|at| !self.token(*at).is_some_and(Token::counts))
        {
            return all;
        }
        let find = |word: &str| all.iter().position(|at| self.word(*at) == word);
        let (Some(units), Some(when)) = (find("in"), find("when")) else { return all };
        if when < units {
            return all;
        }
        let trusted = all.windows(2).position(|pair| match pair {
            [a, b] => self.word(*a) == "trusted" && self.word(*b) == "up",
            _ => false,
        });
        let end = trusted.filter(|at| *at > when).unwrap_or(all.len());
        let parts = [0..units, when..end, units..when, end..all.len()];
        parts.into_iter().flat_map(|part| all.get(part).unwrap_or_default().iter().copied()).collect()
    }
}

fn blank_between(before: Kind, kind: Kind) -> bool {
    let open = matches!(before, Kind::Open(_));
    let tight = matches!(kind, Kind::Close(_) | Kind::Comma);
    !open && !tight
}
