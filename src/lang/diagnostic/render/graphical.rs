//! Pictures of the source with the places underlined, by miette.

use std::{fmt, ops::Range};

use miette::{Diagnostic as Miette, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use super::{
    super::{Diagnostic, Diagnostics, Severity},
    excerpt::Excerpt,
};
use crate::lang::source::{SourceId, Sources, Span};

/// How pictures are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// With ANSI colours.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
}

/// All findings, a picture each.
#[must_use]
pub fn graphical(diagnostics: &Diagnostics, sources: &Sources, style: Style) -> String {
    let theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(style.width).with_links(false);
    let mut out = String::new();
    for diagnostic in diagnostics {
        let report = Report::new(diagnostic, sources);
        if handler.render_report(&mut out, &report).is_err() {
            out.push_str(&super::line(diagnostic, sources));
        }
        out.push('\n');
    }
    out
}

/// A finding as miette wants it: all labels in one file, other files as related reports.
#[derive(Debug)]
struct Report {
    code: Option<&'static str>,
    severity: miette::Severity,
    message: String,
    help: Option<String>,
    source: Option<Excerpt>,
    labels: Vec<LabeledSpan>,
    related: Vec<Report>,
}

impl Report {
    fn new(diagnostic: &Diagnostic, sources: &Sources) -> Self {
        let main = diagnostic.span().source;
        let all = || diagnostic.labels.iter().chain(&diagnostic.related);
        let elsewhere = all().filter(|(span, _)| span.source != main);
        let (source, labels) = picture(main, all().filter(|(span, _)| span.source == main), sources);
        Self {
            code: Some(diagnostic.code.id),
            severity: match diagnostic.severity() {
                Severity::Warning => miette::Severity::Warning,
                Severity::Error => miette::Severity::Error,
            },
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            source,
            labels,
            related: elsewhere.map(|place| Self::aside(place, sources)).collect(),
        }
    }

    fn aside(place: &(Span, String), sources: &Sources) -> Self {
        let bare = (place.0, String::new());
        let (source, labels) = picture(place.0.source, std::iter::once(&bare), sources);
        Self {
            code: None,
            severity: miette::Severity::Advice,
            message: place.1.clone(),
            help: None,
            source,
            labels,
            related: Vec::new(),
        }
    }
}

/// What is shown of a file, and its places in that.
fn picture<'a>(
    id: SourceId,
    labels: impl Iterator<Item = &'a (Span, String)>,
    sources: &Sources,
) -> (Option<Excerpt>, Vec<LabeledSpan>) {
    let mut places: Vec<(Range<usize>, &str)> = labels
        .map(|(span, text)| (span.start as usize..span.end.max(span.start) as usize, text.as_str()))
        .collect();
    let source = sources.get(id).map(|source| {
        for (range, _) in &mut places {
            *range = first_lines(&source.text, range.clone());
        }
        let mut ranges: Vec<_> = places.iter_mut().map(|(range, _)| range).collect();
        Excerpt::new(&source.name, &source.text, &mut ranges)
    });
    let labelled = |(range, text): (Range<usize>, &str)| {
        LabeledSpan::new((!text.is_empty()).then(|| text.to_owned()), range.start, range.len())
    };
    (source, places.into_iter().map(labelled).collect())
}

/// The place without what lies beyond its first lines.
fn first_lines(text: &str, place: Range<usize>) -> Range<usize> {
    const MOST: usize = 30;
    let lines = text.get(place.clone()).unwrap_or("");
    let end = lines.match_indices('\n').nth(MOST).map_or(place.end, |(at, _)| place.start + at);
    place.start..end
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

impl Miette for Report {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.map(|code| Box::new(code) as _)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Miette> + 'a>> {
        (!self.related.is_empty()).then(|| Box::new(self.related.iter().map(|r| r as &dyn Miette)) as _)
    }
}
