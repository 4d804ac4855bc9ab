//! [`Table::classify`]: the way from an error to its verdict.

use super::{Verdict, judge::Judge, reset, truths::Truths};
use crate::{
    lang::tree::BucketId,
    signal::{Evidence, SignalRef},
    table::Table,
    time::Timestamp,
};

/// Working memory of classification; one a thread, reused from error to error and table to table.
/// After the first few errors nothing is allocated any more.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    evidence: Evidence,
    truths: Truths,
}

impl Scratch {
    /// The evidence of the error that was classified last, to show it to people.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    pub(super) fn truths(&mut self) -> &mut Truths {
        &mut self.truths
    }
}

impl Table {
    /// Classifies an error (D). Never fails: what no rule knows is `unclassified`, and a signal
    /// without anything to look at `empty_response` (D12). Reset times (E6) count from
    /// [`SignalRef::received_at`]; without it none are given.
    pub fn classify(&self, signal: &SignalRef<'_>, scratch: &mut Scratch) -> Verdict {
        let Scratch { evidence, truths } = scratch;
        self.normalise(signal, evidence);
        judge(self, evidence, signal.received_at, truths)
    }

    /// Classifies evidence that is normalised already, received at a known time or not.
    pub fn classify_evidence(
        &self,
        evidence: &Evidence,
        received_at: Option<Timestamp>,
        scratch: &mut Scratch,
    ) -> Verdict {
        judge(self, evidence, received_at, &mut scratch.truths)
    }
}

fn judge(table: &Table, evidence: &Evidence, received_at: Option<Timestamp>, truths: &mut Truths) -> Verdict {
    let mut observed = Vec::new();
    let mut judge = Judge::begin(table, evidence, truths);
    let (rule, bucket) = match judge.decide(&mut observed) {
        Some((rule, bucket)) => (Some(rule), bucket),
        None if evidence.is_empty() => (None, BucketId::EMPTY_RESPONSE),
        None => (None, BucketId::UNCLASSIFIED),
    };
    let mut verdict = Verdict { bucket, rule, reset: None, observed };
    if let Some(now) = received_at
        && let Some(bounds) = table.reaction(&verdict).window.node.and_then(|window| window.until_reset)
    {
        verdict.reset = reset::hint(&mut judge, bounds, now);
    }
    verdict
}
