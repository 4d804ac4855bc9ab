//! Findings as text: one line each, JSON, and (with the `cli` feature) pictures of the source.

use serde::Serialize;

use super::{Diagnostic, Diagnostics, Severity};
use crate::lang::source::{Sources, Span};

#[cfg(feature = "cli")]
mod excerpt;
#[cfg(feature = "cli")]
mod graphical;
#[cfg(feature = "cli")]
pub use graphical::{Style, graphical};

/// `file:line:column: error[P0101]: message (help)`, one line.
#[must_use]
pub fn line(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let Diagnostic { code, message, help, .. } = diagnostic;
    let place = place(diagnostic.span(), sources);
    let help = help.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
    let prefix = match place {
        Some(Place { file, line, column, .. }) => format!("{file}:{line}:{column}: "),
        None => String::new(),
    };
    format!("{prefix}{}[{code}]: {message}{help}", code.severity).replace(['\n', '\r'], " ")
}

/// All findings, a line each.
#[must_use]
pub fn lines(diagnostics: &Diagnostics, sources: &Sources) -> String {
    diagnostics.iter().map(|d| line(d, sources) + "\n").collect()
}

/// A finding as JSON gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Json<'a> {
    /// `P0101`.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: Severity,
    /// The message.
    pub message: &'a str,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
    /// Where; the first is the main place.
    pub labels: Vec<JsonLabel<'a>>,
    /// Other places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<JsonLabel<'a>>,
}

/// A place in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonLabel<'a> {
    /// The place; absent for a place in no file.
    #[serde(flatten)]
    pub place: Option<Place<'a>>,
    /// What to say of it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub text: &'a str,
}

/// A place as people count: lines and columns (in characters) from 1, the end exclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place<'a> {
    /// The file's display name.
    pub file: &'a str,
    /// First line.
    pub line: usize,
    /// First column.
    pub column: usize,
    /// Last line.
    pub end_line: usize,
    /// One past the last column.
    pub end_column: usize,
}

/// The place behind a span; `None` for one that points into no file.
#[must_use]
pub fn place(span: Span, sources: &Sources) -> Option<Place<'_>> {
    let file = &*sources.get(span.source)?.name;
    let (line, column) = sources.line_column(span);
    let (end_line, end_column) = sources.line_column(Span { start: span.end, ..span });
    Some(Place { file, line, column, end_line, end_column })
}

/// A finding for JSON.
#[must_use]
pub fn json<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Json<'a> {
    let labels = |from: &'a [(Span, String)]| {
        from.iter().map(|(span, text)| JsonLabel { place: place(*span, sources), text }).collect()
    };
    Json {
        code: diagnostic.code.id,
        severity: diagnostic.severity(),
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        labels: labels(&diagnostic.labels),
        related: labels(&diagnostic.related),
    }
}
