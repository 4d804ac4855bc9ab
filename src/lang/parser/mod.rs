//! Text → syntax tree. Bad input never panics and never hangs: a file has a greatest size, brackets
//! a greatest depth, and every pass is linear.
//!
//! `token` cuts the text, `layout` finds statements by lines and brackets, `grammar` (pest) reads
//! the words of each, `build` makes the tree, `expect` the messages. A broken statement is reported
//! and left as [`StatementKind::Broken`](super::ast::StatementKind::Broken); the others go on.

mod build;
mod expect;
mod grammar;
mod keywords;
pub(super) mod layout;
pub mod next;
pub(super) mod report;
pub(super) mod token;
mod values;
mod words;

use super::{
    ast::File,
    diagnostic::{
        Diagnostic, Diagnostics,
        codes::{loading, syntax},
    },
    source::{SourceId, Span},
};

/// The largest rule file, in bytes.
pub const LARGEST: usize = 4 << 20;

/// Text from the bytes of a rule file.
///
/// # Errors
/// Not UTF-8 (`P0802`, at the first wrong byte) or larger than [`LARGEST`] (`P0803`).
pub fn decode(source: SourceId, bytes: Vec<u8>) -> Result<String, Box<Diagnostic>> {
    if bytes.len() > LARGEST {
        return Err(Box::new(too_large(source, bytes.len())));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes().get(..at).unwrap_or_default().split(|b| *b == b'\n').count();
        let span = Span { source, ..Span::default() };
        let message = format!("the file is not UTF-8 text: byte {at}, on line {line}, begins no character");
        Box::new(Diagnostic::new(loading::NOT_TEXT, span, message).help("save the file as UTF-8"))
    })
}

/// Reads one rule file. Whatever the text is, a file comes back; what is wrong with it goes to
/// `diagnostics`, in order of place (at most a hundred findings a file).
pub fn parse(source: SourceId, text: &str, diagnostics: &mut Diagnostics) -> File {
    parse_some(source, text, true, diagnostics)
}

/// Like [`parse`]; without `cases`, examples and tests are passed over.
pub(super) fn parse_some(source: SourceId, text: &str, cases: bool, diagnostics: &mut Diagnostics) -> File {
    if text.len() > LARGEST {
        diagnostics.push(too_large(source, text.len()));
        return File { source, language: None, statements: Vec::new() };
    }
    if let Some(at) = lone_return(text) {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let message = "a carriage return stands alone, and ends no line";
        let help = "save the file with line feeds, alone or behind each carriage return";
        let span = Span { source, start: at, end: at + 1 };
        diagnostics.push(Diagnostic::new(syntax::BAD_CHARACTER, span, message).help(help));
        return File { source, language: None, statements: Vec::new() };
    }
    let tokens = token::tokens(text);
    let mut found = Diagnostics::default();
    let mut report = report::Report::new(source, &mut found);
    let pieces = layout::layout(text, &tokens, &mut report);
    let file = build::Builder { text, tokens: &tokens, cases, report }.file(source, &pieces);
    found.sort();
    diagnostics.extend(found);
    file
}

/// A carriage return without its line feed. What stands behind it would seem to be on the same line: in a
/// comment, perhaps.
fn lone_return(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let alone = |at: &usize| bytes.get(at + 1).is_some_and(|next| *next != b'\n');
    text.match_indices('\r').map(|(at, _)| at).find(alone)
}

fn too_large(source: SourceId, bytes: usize) -> Diagnostic {
    let span = Span { source, ..Span::default() };
    let message = format!("the file has {bytes} bytes, and at most {LARGEST} are read");
    Diagnostic::new(loading::TOO_LARGE, span, message).help("split it into files that `use` each other")
}
