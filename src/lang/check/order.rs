//! What stands where nothing reaches it, and what nobody names.

use std::collections::HashSet;

use crate::lang::{
    diagnostic::{Diagnostic, Diagnostics, codes::lints},
    load::Program,
    source::{SourceId, Span},
    tree::{Expectation, RuleId, Ruleset},
};

pub(super) fn lints(set: &Ruleset, program: &Program, out: &mut Diagnostics) {
    closed(set, program, out);
    examples(set, out);
    let first = program.statements.first().map(|s| s.span.start);
    let elsewhere = program.statements.first().is_some_and(|s| s.span.source != SourceId(0));
    if !program.with_default && !elsewhere {
        let at = first.unwrap_or(0);
        out.push(
            Diagnostic::new(
                lints::NOT_DEFAULT,
                Span { start: at, end: at, ..Span::default() },
                "the shipped rules are not in force",
            )
            .help("add `use default` where the shipped rules should stand in the list"),
        );
    }
}

/// Rules after an `otherwise` that stands outside of any block of a used file.
fn closed(set: &Ruleset, program: &Program, out: &mut Diagnostics) {
    let closing = |r: &crate::lang::tree::Rule| r.otherwise && r.block.is_none() && !r.observe;
    let Some(at) = set.rules.iter().position(closing) else { return };
    let Some(closer) = set.rules.get(at) else { return };
    // The first of them stands for all.
    let Some(later) = set.rules.iter().skip(at + 1).find(|r| r.span.source != closer.span.source) else {
        return;
    };
    let mut problem = Diagnostic::new(
        lints::CLOSED,
        later.name_span,
        format!("rule `{}` and what follows it are never tried", later.name),
    )
    .here("stands below an `otherwise`")
    .related(closer.span, "closes the list")
    .help("move the rules above the `use`");
    if let Some(user) = program.used_by.get(&closer.span.source) {
        problem = problem.related(*user, "used here");
    }
    out.push(problem);
}

/// Rules that neither an example nor a test shows at work.
fn examples(set: &Ruleset, out: &mut Diagnostics) {
    let verdicts = set.tests.iter().flat_map(|test| &test.cases);
    let tested: HashSet<RuleId> = verdicts
        .filter_map(|case| match case {
            Expectation::Verdict { by, .. } => *by,
            Expectation::Backoff { .. } => None,
        })
        .collect();
    for (id, rule) in (0u32..).map(RuleId).zip(&set.rules) {
        if rule.examples.iter().all(|e| e.counter) && !tested.contains(&id) {
            out.push(
                Diagnostic::new(
                    lints::NO_EXAMPLE,
                    rule.name_span,
                    format!("rule `{}` has no example", rule.name),
                )
                .here("nothing shows what it is for")
                .help("add `example message \"…\"` below it, with a text that it is meant for"),
            );
        }
    }
}
