//! Findings as the editor shows them.

use std::{cell::OnceCell, collections::BTreeMap};

use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString,
    PublishDiagnosticsParams, Uri,
};

use super::{analysis::Analysis, documents::Documents, links::Links, position::Lines, symbols::Kind};
use crate::{
    escape::shown_lines,
    lang::{
        diagnostic::{Diagnostic, Severity, codes::lints},
        source::{SourceId, Span},
    },
};

/// The findings of a rule set, for each of its own files; those without any are named too, so that
/// old findings go away. Keys are URIs.
#[must_use]
pub fn findings(
    analysis: &Analysis,
    documents: &Documents,
    links: &Links,
) -> BTreeMap<String, PublishDiagnosticsParams> {
    let files = analysis.sources.iter().map(|_| OnceCell::new()).collect();
    let page = Page { analysis, documents, links, files };
    let mut out = BTreeMap::new();
    for (source, path) in analysis.own().filter(|(_, path)| !documents.is_lost(path)) {
        let Some(uri) = links.uri(analysis, documents, source) else { continue };
        let version = documents.get(path).map(|document| document.version);
        let found = analysis.diagnostics.iter().filter(|found| page.shown_in(found) == source);
        let diagnostics = found.map(|found| page.finding(found, source)).collect();
        out.insert(uri.as_str().to_owned(), PublishDiagnosticsParams { uri, diagnostics, version });
    }
    out
}

struct Page<'a> {
    analysis: &'a Analysis,
    documents: &'a Documents,
    links: &'a Links,
    /// The lines of each file, once they are asked for.
    files: Vec<OnceCell<Lines<'a>>>,
}

impl<'a> Page<'a> {
    /// The file in which a finding is shown: its own, or for one in a shipped file (or in none) the root.
    fn shown_in(&self, found: &Diagnostic) -> SourceId {
        let at = found.span().source;
        if self.analysis.path(at).is_some() { at } else { SourceId(0) }
    }

    fn finding(&self, found: &Diagnostic, source: SourceId) -> lsp_types::Diagnostic {
        let mut message = found.message.clone();
        let mut places = found.labels.as_slice();
        let range = if found.span().source == source {
            if let Some(((_, text), rest)) = places.split_first() {
                places = rest;
                if !text.is_empty() {
                    message = format!("{message}: {text}");
                }
            }
            self.range(found.span())
        } else {
            // The edit or `use` that brought it in is in the root, or below it: its `use` is shown.
            self.use_of_shipped(source)
        };
        if let Some(help) = &found.help {
            message = format!("{message}\nhelp: {help}");
        }
        let related = places.iter().chain(&found.related).filter_map(|(span, text)| {
            let message = if text.is_empty() { "here".to_owned() } else { shown_lines(text) };
            Some(DiagnosticRelatedInformation { location: self.location(*span)?, message })
        });
        lsp_types::Diagnostic {
            range,
            severity: Some(match found.severity() {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: Some(NumberOrString::String(found.code.id.to_owned())),
            source: Some("pointsman".to_owned()),
            message: shown_lines(&message),
            related_information: Some(related.collect::<Vec<_>>()).filter(|all| !all.is_empty()),
            tags: (found.code == lints::UNUSED).then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..lsp_types::Diagnostic::default()
        }
    }

    fn use_of_shipped(&self, root: SourceId) -> lsp_types::Range {
        let names = self.analysis.symbols.get(root.0 as usize).map(|all| all.as_slice()).unwrap_or_default();
        let range = names.iter().find(|name| name.kind == Kind::Set).map_or(0..0, |name| name.range.clone());
        self.lines(root).map_or_else(Default::default, |lines| lines.range(range))
    }

    fn range(&self, span: Span) -> lsp_types::Range {
        let range = span.start as usize..span.end as usize;
        self.lines(span.source).map_or_else(Default::default, |lines| lines.range(range))
    }

    fn lines(&self, source: SourceId) -> Option<&Lines<'a>> {
        let (text, lines) = (&self.analysis.sources.get(source)?.text, self.files.get(source.0 as usize)?);
        Some(lines.get_or_init(|| Lines::new(text)))
    }

    fn location(&self, span: Span) -> Option<Location> {
        let uri = self.links.uri(self.analysis, self.documents, span.source)?;
        Some(Location { uri, range: self.range(span) })
    }
}

/// That a file has no findings (any more).
#[must_use]
pub fn nothing(uri: Uri) -> PublishDiagnosticsParams {
    PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None }
}
