//! Rules that an earlier rule provably covers.

use super::{
    claim::{Claim, Claims},
    cover::Prover,
};
use crate::lang::{
    diagnostic::{Diagnostic, codes::lints},
    tree::{Rule, Ruleset},
};

/// Most steps of all proofs together: beyond it the rest goes unproven, never wrongly reported.
const MAX_STEPS: usize = 10_000_000;

/// One warning for each rule that can never decide because an earlier one takes all of its errors.
pub(super) fn covered(set: &Ruleset) -> Vec<Diagnostic> {
    let mut claims = Claims::new(set);
    let whole: Vec<Claim> = set.rules.iter().map(|rule| conjunction(set, rule, &mut claims)).collect();
    let prover = Prover::new(set, &mut claims, MAX_STEPS);
    let mut out = Vec::new();
    for (j, (later, needs)) in set.rules.iter().zip(&whole).enumerate() {
        if prover.is_spent() {
            break;
        }
        let earlier = set.rules.iter().zip(&whole).take(j).filter(|(rule, _)| !rule.observe && !closes(rule));
        let outline = prover.outline(needs);
        for (rule, holds) in earlier {
            if prover.may_imply(outline, holds) && prover.implies(needs, holds) {
                out.push(
                    Diagnostic::new(
                        lints::COVERED_RULE,
                        later.name_span,
                        format!(
                            "rule `{}` is never reached: rule `{}` matches all of its errors first",
                            later.name, rule.name
                        ),
                    )
                    .here("never reached")
                    .related(rule.name_span, "matches first")
                    .help("move it above the other, narrow the other, or take it out"),
                );
                break;
            }
        }
    }
    out
}

/// Whether the first rule provably covers a later one.
pub(super) fn first_covers(set: &Ruleset) -> bool {
    let Some((first, rest)) = set.rules.split_first() else { return false };
    let mut claims = Claims::new(set);
    let prover = Prover::new(set, &mut claims, MAX_STEPS);
    let holds = conjunction(set, first, &mut claims);
    rest.iter().any(|later| prover.implies(&conjunction(set, later, &mut claims), &holds))
}

/// An `otherwise` outside of blocks covers whatever follows, and has its own report.
fn closes(rule: &Rule) -> bool {
    rule.otherwise && rule.block.is_none()
}

/// The rule's condition and those of all blocks around it.
fn conjunction(set: &Ruleset, rule: &Rule, claims: &mut Claims<'_>) -> Claim {
    let mut parts = vec![claims.of(&rule.when)];
    let mut at = rule.block;
    while let Some(block) = at.and_then(|id| set.blocks.get(id.index())) {
        parts.push(claims.of(&block.guard));
        at = block.parent;
    }
    Claim::All(parts)
}
