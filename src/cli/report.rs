//! Diagnostics on stderr, as a person reads them.

use std::io::Write as _;

use super::{
    escape::{masked, shown_lines},
    world::World,
};
use crate::lang::{
    diagnostic::{
        Diagnostic, Diagnostics, counted,
        render::{Style, graphical},
    },
    source::{Sources, Span},
};

/// Pictures beyond this number help nobody, and each costs a look at its whole file.
const MOST: usize = 50;

/// Prints findings on stderr.
pub(super) fn report(diagnostics: &Diagnostics, sources: &Sources, world: &World) {
    if diagnostics.is_empty() {
        return;
    }
    let style = Style { color: world.stderr_colour(), width: world.width };
    let mut first = Diagnostics::default();
    first.extend(diagnostics.iter().take(MOST).map(harmless));
    let text = graphical(&first, &masked_sources(sources), style);
    let mut err = std::io::stderr().lock();
    // A closed stderr is no reason to stop.
    let _ = err.write_all(text.as_bytes());
    if diagnostics.len() > MOST {
        let _ = writeln!(err, "… and {} more", diagnostics.len() - MOST);
    }
}

/// `2 errors, 1 warning`.
pub(super) fn errors_and_warnings(errors: usize, warnings: usize) -> String {
    match (counted(errors, "error"), counted(warnings, "warning")) {
        (errors, _) if warnings == 0 => errors,
        (_, warnings) if errors == 0 => warnings,
        (errors, warnings) => format!("{errors}, {warnings}"),
    }
}

/// The finding with nothing in its texts that a terminal would obey.
fn harmless(found: &Diagnostic) -> Diagnostic {
    let labels =
        |from: &[(Span, String)]| from.iter().map(|(span, text)| (*span, shown_lines(text))).collect();
    Diagnostic {
        code: found.code,
        message: shown_lines(&found.message),
        labels: labels(&found.labels),
        help: found.help.as_deref().map(shown_lines),
        related: labels(&found.related),
    }
}

fn masked_sources(sources: &Sources) -> Sources {
    let mut out = Sources::default();
    for (_, source) in sources.iter() {
        out.add(shown_lines(&source.name), masked(&source.text));
    }
    out
}
