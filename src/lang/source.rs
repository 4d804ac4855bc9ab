//! Rule files in memory, and spans that point into them.

use std::{ops::Deref, sync::Arc};

/// One loaded rule file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A byte range of one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub node: T,
    /// Where it was written.
    pub span: Span,
}

impl<T> Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.node
    }
}

/// A rule file: its display name (`providers.rules`, or a path as the user gave it) and text.
#[derive(Clone, Debug)]
pub struct Source {
    /// How messages and `at` columns call it.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// Its path among the shipped rules, when it is one of them.
    pub shipped: Option<&'static str>,
}

/// All files of one rule set.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a file and gives its id.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> SourceId {
        self.push(Source { name: name.into(), text: text.into(), shipped: None })
    }

    /// Adds a file with all that is known of it, and gives its id.
    pub fn push(&mut self, source: Source) -> SourceId {
        let id = SourceId(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        self.0.push(source);
        id
    }

    /// The file behind an id.
    #[must_use]
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.0.get(id.0 as usize)
    }

    /// All files, in the order in which they were loaded.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        (0u32..).map(SourceId).zip(&self.0)
    }

    /// The text that a span covers; empty when the span points nowhere.
    #[must_use]
    pub fn snippet(&self, span: Span) -> &str {
        self.get(span.source).and_then(|s| s.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// Line and column (from 1, columns in characters) of the span's start.
    #[must_use]
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let before = self.get(span.source).and_then(|s| s.text.get(..span.start as usize)).unwrap_or("");
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// `file:line`, as `classify` prints it.
    #[must_use]
    pub fn locate(&self, span: Span) -> String {
        let name = self.get(span.source).map_or("?", |s| &s.name);
        format!("{name}:{}", self.line_column(span).0)
    }
}
