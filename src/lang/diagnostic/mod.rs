//! What the language tools tell people: one registry of codes, the messages, their rendering.
//!
//! A code is declared once, in [`codes`], beside its page; a [`Diagnostic`] is one finding; a pass
//! collects its findings in [`Diagnostics`].

pub mod codes;
pub mod nearest;
pub mod render;

use std::fmt;

use super::source::Span;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The rule set works, but something in it is probably not meant.
    Warning,
    /// The rule set cannot be used.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A number of things: `1 error`, `2 errors`, `3 entries`.
pub(crate) fn counted(count: impl fmt::Display + PartialEq + From<u8> + Copy, what: &str) -> String {
    match what.strip_suffix('y') {
        _ if count == 1.into() => format!("{count} {what}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {what}s"),
    }
}

/// A kind of finding: an entry of the registry. Two codes are equal when their ids are.
#[derive(Clone, Copy)]
pub struct Code {
    /// `P0101`: never reused.
    pub id: &'static str,
    /// Weight.
    pub severity: Severity,
    /// What it is, in a few lower-case words.
    pub title: &'static str,
    /// Markdown: what it means, then `## Bad`, `## Good` and `## Why`.
    pub page: &'static str,
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Code {}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// Longest text of a finding, in bytes: what it quotes may be a whole file.
const LONGEST: usize = 2_000;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// One lower-case sentence; the user's own text in backticks.
    pub message: String,
    /// Places and what to say of them; the first is where it happened. Texts may be empty.
    pub labels: Vec<(Span, String)>,
    /// How to mend it, in a sentence.
    pub help: Option<String>,
    /// Other places that have to do with it (`first declared here`), perhaps in other files.
    pub related: Vec<(Span, String)>,
}

impl Diagnostic {
    /// A finding at one place, without a text beside the place.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let labels = vec![(span, String::new())];
        Self { code, message: message.into(), labels, help: None, related: Vec::new() }
    }

    /// A text beside the first place.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Self {
        if let Some((_, first)) = self.labels.first_mut() {
            *first = text.into();
        }
        self
    }

    /// One more place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// How to mend it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// How to mend it, when there is something to say.
    #[must_use]
    pub fn maybe_help(mut self, text: Option<String>) -> Self {
        self.help = text.or(self.help);
        self
    }

    /// Another place that has to do with it.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }

    /// Cuts every text to [`LONGEST`].
    fn shorten(&mut self) {
        let places = self.labels.iter_mut().chain(&mut self.related).map(|(_, text)| text);
        for text in places.chain(&mut self.help).chain([&mut self.message]) {
            if text.len() > LONGEST {
                text.truncate(text.floor_char_boundary(LONGEST));
                text.push('…');
            }
        }
    }

    /// Where it happened.
    #[must_use]
    pub fn span(&self) -> Span {
        self.labels.first().map(|(span, _)| *span).unwrap_or_default()
    }

    /// Its weight.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity
    }
}

/// The findings of a run, in the order in which they turned up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Takes a finding, unless the very same one is among the last few. Texts of the user in it are cut
    /// to a length that a person reads.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.shorten();
        if !self.0.iter().rev().take(64).any(|d| *d == diagnostic) {
            self.0.push(diagnostic);
        }
    }

    /// Whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity() == Severity::Error)
    }

    /// How many errors and how many warnings.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let errors = self.0.iter().filter(|d| d.severity() == Severity::Error).count();
        (errors, self.0.len() - errors)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// By place, files in the order in which they were loaded.
    pub fn sort(&mut self) {
        self.0.sort_by(|a, b| (a.span(), a.code.id).cmp(&(b.span(), b.code.id)));
    }

    /// Keeps those for which `keep` holds (suppressions).
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.0.retain(keep);
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, iter: T) {
        iter.into_iter().for_each(|d| self.push(d));
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
