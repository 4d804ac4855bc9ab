//! Findings of one file on their way out: spans from byte offsets, and an end to endless lists.

use std::ops::Range;

use crate::lang::{
    diagnostic::{Code, Diagnostic, Diagnostics},
    source::{SourceId, Span},
};

/// Errors after this many in one file are not shown: the file is not what it should be, and the
/// first ones say why.
const MOST: usize = 100;

/// An error that is already reported.
#[derive(Clone, Copy, Debug)]
pub struct Reported;

/// A result whose error is already reported.
pub type Built<T> = Result<T, Reported>;

/// Where the findings of one file go.
pub struct Report<'a> {
    source: SourceId,
    out: &'a mut Diagnostics,
    left: usize,
}

impl<'a> Report<'a> {
    pub fn new(source: SourceId, out: &'a mut Diagnostics) -> Self {
        Self { source, out, left: MOST }
    }

    /// How many more findings are taken.
    pub fn left(&self) -> usize {
        self.left
    }

    /// The span of a byte range of this file.
    pub fn span(&self, range: Range<usize>) -> Span {
        let at = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { source: self.source, start: at(range.start), end: at(range.end) }
    }

    /// Takes a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.left > 0 {
            self.left -= 1;
            self.out.push(diagnostic);
        }
        Reported
    }

    /// Takes a finding at one place, with help.
    pub fn at(
        &mut self,
        code: Code,
        range: Range<usize>,
        message: impl Into<String>,
        help: &str,
    ) -> Reported {
        let span = self.span(range);
        self.push(Diagnostic::new(code, span, message).help(help))
    }
}
