//! Rule files in memory, and spans that point into them.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

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
pub struct Sources(Vec<Held>);

/// A file, and where its lines begin once somebody has asked.
#[derive(Clone, Debug)]
struct Held {
    source: Source,
    marks: Arc<OnceLock<Box<[Mark]>>>,
}

/// A place whose line and column are known.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: usize,
    line: usize,
    column: usize,
}

/// Bytes after which a long line is marked again.
const STRIDE: usize = 4096;

impl Held {
    fn marks(&self) -> &[Mark] {
        self.marks.get_or_init(|| {
            let mut mark = Mark { at: 0, line: 1, column: 1 };
            let (mut line, mut column) = (1, 1);
            let mut marks = vec![mark];
            for (at, c) in self.source.text.char_indices() {
                if column == 1 && line > mark.line || at - mark.at >= STRIDE {
                    mark = Mark { at, line, column };
                    marks.push(mark);
                }
                if c == '\n' {
                    line += 1;
                    column = 1;
                } else {
                    column += 1;
                }
            }
            marks.into()
        })
    }

    /// Line and column of a byte, or of the start of the file when no character begins there.
    fn line_column(&self, at: usize) -> (usize, usize) {
        let marks = self.marks();
        let before = marks.partition_point(|mark| mark.at <= at).checked_sub(1);
        let Some((mark, between)) = before
            .and_then(|index| marks.get(index))
            .and_then(|mark| Some((mark, self.source.text.get(mark.at..at)?)))
        else {
            return (1, 1);
        };
        // No line begins in between, except at the very end of the text.
        match between.strip_suffix('\n') {
            Some(_) => (mark.line + 1, 1),
            None => (mark.line, mark.column + between.chars().count()),
        }
    }
}

impl Sources {
    /// Adds a file and gives its id.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> SourceId {
        self.push(Source { name: name.into(), text: text.into(), shipped: None })
    }

    /// Adds a file with all that is known of it, and gives its id.
    pub fn push(&mut self, source: Source) -> SourceId {
        let id = self.next_id();
        self.0.push(Held { source, marks: Arc::default() });
        id
    }

    /// The id of the file that is added next.
    #[must_use]
    pub fn next_id(&self) -> SourceId {
        SourceId(u32::try_from(self.0.len()).unwrap_or(u32::MAX))
    }

    /// Gives every file but the shipped ones another name, made of its name.
    pub fn rename(&mut self, name: impl Fn(&str) -> String) {
        for Held { source, .. } in self.0.iter_mut().filter(|held| held.source.shipped.is_none()) {
            source.name = name(&source.name).into();
        }
    }

    /// The file behind an id.
    #[must_use]
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.0.get(id.0 as usize).map(|held| &held.source)
    }

    /// All files, in the order in which they were loaded.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        (0u32..).map(SourceId).zip(self.0.iter().map(|held| &held.source))
    }

    /// The text that a span covers; empty when the span points nowhere.
    #[must_use]
    pub fn snippet(&self, span: Span) -> &str {
        self.get(span.source).and_then(|s| s.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// Line and column (from 1, columns in characters) of the span's start.
    #[must_use]
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        self.0.get(span.source.0 as usize).map_or((1, 1), |held| held.line_column(span.start as usize))
    }

    /// `file:line`, as `classify` prints it.
    #[must_use]
    pub fn locate(&self, span: Span) -> String {
        let name = self.get(span.source).map_or("?", |s| &s.name);
        format!("{name}:{}", self.line_column(span).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_those_of_a_plain_count() {
        let long = "é中x".repeat(STRIDE);
        for text in ["", "a", "\n", "a\n\nbé\nc", "a\r\nb\n", &format!("{long}\n{long}é\n\n{long}")] {
            let mut sources = Sources::default();
            let source = sources.add("x", text);
            for at in (0..=text.len() + 1).filter(|at| *at < 40 || at % 997 < 4 || *at + 9 > text.len()) {
                let before = text.get(..at).unwrap_or("");
                let plain = (
                    before.matches('\n').count() + 1,
                    before.rsplit('\n').next().unwrap().chars().count() + 1,
                );
                let span = Span { source, start: u32::try_from(at).unwrap(), end: 0 };
                assert_eq!(sources.line_column(span), plain, "{at} of {}", text.len());
            }
        }
    }
}
