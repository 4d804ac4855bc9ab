//! Why a verdict is what it is, and why another rule did not match.
//!
//! The explanation answers every question anew, plainly and with the place in the text; that it
//! agrees with the table is tested.

mod findings;
mod nearest;
mod outcome;
mod show;
mod trace;

use serde::Serialize;

pub use findings::{Findings, Header, Text};
pub use nearest::Near;
pub use outcome::{ResetShown, Slot, WindowShown, slots};
pub use trace::{Considered, Hit, Kind, Tested};

use super::{Scratch, Verdict, judge::Judge};
use crate::{
    lang::{source::Span, tree::RuleId},
    signal::{Evidence, SignalRef},
    table::Table,
    time::Timestamp,
};

/// How many nearest rules are shown when nothing matched.
const NEAREST: usize = 5;

/// A full explanation of one verdict. Serialises to camelCase JSON; `Display` is plain text, with
/// control characters escaped.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// What normalisation found.
    pub found: Findings,
    /// The bucket.
    pub bucket: String,
    /// The bucket's doc comment.
    pub bucket_doc: Option<String>,
    /// The deciding rule; absent when nothing matched.
    pub rule: Option<RuleShown>,
    /// The rules that were looked at, in order, the deciding one last.
    pub considered: Vec<Considered>,
    /// How many rules up to there could not apply and were not looked at.
    pub passed_over: usize,
    /// Observed rules that matched.
    pub observed: Vec<RuleShown>,
    /// What follows, slot by slot.
    pub reaction: Vec<Slot>,
    /// The provider's own reset time, when the reaction asks for it and one was found.
    pub reset: Option<ResetShown>,
    /// The window that a first failure would open.
    pub window: Option<WindowShown>,
    /// When nothing matched: the rules that came nearest.
    pub nearest: Vec<Near>,
    /// The same as [`Table::classify`] gives.
    #[serde(skip)]
    pub verdict: Verdict,
}

/// A rule by name and place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleShown {
    /// Full name.
    pub name: String,
    /// `file:line`.
    pub at: String,
    /// Its doc comment.
    pub doc: Option<String>,
}

/// Explains the verdict on an error. Times count from [`SignalRef::received_at`], else from `now`.
#[must_use]
pub fn explain(table: &Table, signal: &SignalRef<'_>, now: Timestamp) -> Explanation {
    let received_at = signal.received_at.unwrap_or(now);
    let mut evidence = Evidence::default();
    table.normalise(signal, &mut evidence);
    let mut scratch = Scratch::default();
    let verdict = table.classify_evidence(&evidence, Some(received_at), &mut scratch);
    let looked_at = Judge::begin(table, &evidence, scratch.truths()).candidates_up_to(verdict.rule);
    let tracer = trace::Tracer { table, evidence: &evidence };
    let rules_up_to = verdict.rule.map_or(table.ruleset().rules.len(), |rule| rule.index() + 1);
    let bucket = table.bucket(verdict.bucket);
    Explanation {
        found: findings::findings(table, signal, &evidence),
        bucket: bucket.name.to_string(),
        bucket_doc: bucket.doc.clone(),
        rule: verdict.rule.map(|rule| shown(table, rule)),
        passed_over: rules_up_to.saturating_sub(looked_at.len()),
        considered: looked_at.into_iter().map(|rule| tracer.rule(rule)).collect(),
        observed: verdict.observed.iter().map(|rule| shown(table, *rule)).collect(),
        reaction: slots(table, table.reaction(&verdict)),
        reset: outcome::reset(table, &verdict, received_at),
        window: outcome::window(table, &verdict, &evidence, received_at),
        nearest: if verdict.rule.is_none() { nearest::nearest(&tracer, NEAREST) } else { Vec::new() },
        verdict,
    }
}

fn shown(table: &Table, rule: RuleId) -> RuleShown {
    let rule = table.rule(rule);
    RuleShown { name: rule.name.to_string(), at: place(table, rule.span), doc: rule.doc.clone() }
}

/// `file:line`, or where a slot that nobody wrote comes from.
fn place(table: &Table, span: Span) -> String {
    if table.ruleset().sources.get(span.source).is_none() {
        "built in".to_owned()
    } else {
        table.locate(span)
    }
}
