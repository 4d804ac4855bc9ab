//! When nothing matched: the rules that came nearest, and what kept each from matching.

use serde::Serialize;

use super::trace::{Kind, Tested, Tracer};
use crate::lang::tree::RuleId;

/// A rule that nearly matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Near {
    /// Full name.
    pub rule: String,
    /// `file:line`.
    pub at: String,
    /// The bucket that it names.
    pub bucket: String,
    /// How many of its conditions held.
    pub held: usize,
    /// The conditions that failed.
    pub failed: Vec<Tested>,
}

/// The rules with the most satisfied tests; of those, the ones that lack least, in order.
pub(super) fn nearest(tracer: &Tracer<'_>, most: usize) -> Vec<Near> {
    let count = u32::try_from(tracer.table.ruleset().rules.len()).unwrap_or(u32::MAX);
    let mut all: Vec<Near> = (0..count)
        .map(|index| {
            let considered = tracer.rule(RuleId(index));
            let mut near = Near {
                rule: considered.rule,
                at: considered.at,
                bucket: considered.bucket,
                held: 0,
                failed: Vec::new(),
            };
            for test in considered.tests {
                count_in(test, &mut near);
            }
            near
        })
        .filter(|near| near.held > 0 && !near.failed.is_empty())
        .collect();
    all.sort_by_key(|near| (std::cmp::Reverse(near.held), near.failed.len()));
    all.truncate(most);
    all
}

/// Counts the parts that must all hold. What holds for lack of something says nothing of nearness.
fn count_in(test: Tested, near: &mut Near) {
    match test.kind {
        Kind::All => test.parts.into_iter().for_each(|part| count_in(part, near)),
        Kind::Named if test.what.starts_with("block ") => {
            test.parts.into_iter().for_each(|part| count_in(part, near));
        }
        Kind::Not | Kind::Always if test.holds => {}
        _ if test.holds => near.held += 1,
        _ => near.failed.push(test),
    }
}
