//! What needs rules and matching together: examples and tests through the whole list, warnings with
//! proofs and witnesses, coverage.

mod claim;
mod cover;
pub mod coverage;
pub mod diff;
mod examples;
mod shadow;
mod slots;
pub mod snapshot;
pub mod suggest;

pub use coverage::{Coverage, coverage};
pub use examples::{Report, signal};

use crate::{
    lang::{
        check,
        diagnostic::{Diagnostics, codes::lints},
    },
    table::Table,
};

/// Runs every example, counterexample and test of the rules. An example that another rule wins, where its
/// rule says `allow P0704`, is meant so, and no failure.
#[must_use]
pub fn run(table: &Table) -> Report {
    let mut report = examples::run(table);
    check::without_allowed(table.ruleset(), &mut report.failures);
    report
}

/// All warnings that `check` prints beside the errors: those found at loading, examples that another
/// rule wins, rules that an earlier one covers, and `allow`s that nothing needed. In order of place.
#[must_use]
pub fn warnings(table: &Table, found: Diagnostics) -> Diagnostics {
    let mut allows = table.ruleset().allows.clone();
    let mut out = Diagnostics::default();
    out.extend(shadow::covered(table.ruleset()));
    out.extend(
        examples::run(table).failures.into_iter().filter(|failure| failure.code == lints::EXAMPLE_LOST),
    );
    check::suppress(&mut allows, &mut out);
    let unused = check::unused_allows(&allows);
    out.extend(found);
    out.extend(unused);
    out.sort();
    out
}
