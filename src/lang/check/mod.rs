//! Warnings that need no matching, and suppressions.

mod broad;
mod order;
mod phrases;

pub use phrases::has_words;

use super::{
    diagnostic::{
        Diagnostic, Diagnostics, Severity,
        codes::{self, lints},
    },
    load::Program,
    tree::{Allow, Ruleset},
};

/// The warnings about a rule set without errors.
pub(super) fn lints(set: &Ruleset, program: &Program, out: &mut Diagnostics) {
    phrases::lints(set, out);
    broad::lints(set, out);
    order::lints(set, program, out);
}

/// Takes out the warnings that an `allow` names, and marks those `allow`s as used.
pub fn suppress(allows: &mut [Allow], out: &mut Diagnostics) {
    out.retain(|finding| {
        let allow = allows.iter_mut().find(|allow| speaks_of(allow, finding));
        let Some(allow) = allow else { return true };
        allow.used = true;
        false
    });
}

/// Takes out the warnings that an `allow` names, and nothing else.
pub(crate) fn without_allowed(set: &Ruleset, out: &mut Diagnostics) {
    out.retain(|finding| !set.allows.iter().any(|allow| speaks_of(allow, finding)));
}

/// Whether an `allow` speaks of a finding. Errors cannot be allowed.
fn speaks_of(allow: &Allow, finding: &Diagnostic) -> bool {
    let at = finding.span();
    finding.severity() != Severity::Error
        && allow.code.eq_ignore_ascii_case(finding.code.id)
        && allow.span.source == at.source
        && allow.span.start <= at.start
        && at.end <= allow.span.end
}

/// Reports the `allow`s that nothing needed. Only after every pass has had its [`suppress`].
#[must_use]
pub fn unused_allows(allows: &[Allow]) -> Vec<Diagnostic> {
    let unused = allows.iter().filter(|allow| !allow.used);
    let report = |allow: &Allow| {
        let code = codes::find(&allow.code);
        match code.map(|c| c.severity) {
            Some(Severity::Warning) => Diagnostic::new(
                lints::UNUSED_ALLOW,
                allow.at,
                format!("`{}` is allowed, and does not occur", allow.code),
            )
            .here("applies to nothing")
            .help("take the line out"),
            Some(Severity::Error) => Diagnostic::new(
                lints::UNKNOWN_ALLOW,
                allow.at,
                format!("`{}` is an error, and cannot be allowed", allow.code),
            )
            .here("has no effect")
            .help("mend the statement, and take the line out"),
            None => {
                Diagnostic::new(lints::UNKNOWN_ALLOW, allow.at, format!("there is no code `{}`", allow.code))
                    .here("has no effect")
                    .help("each warning begins with its code, such as `P0707`")
            }
        }
    };
    unused.map(report).collect()
}
