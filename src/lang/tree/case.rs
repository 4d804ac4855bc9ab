//! Examples and tests.

use std::time::Duration;

use super::{BackoffId, BucketId, RuleId};
use crate::{lang::source::Span, time::Timestamp};

/// `example` or `counterexample` under a rule.
#[derive(Clone, Debug)]
pub struct Example {
    /// `counterexample`: this rule must not decide it.
    pub counter: bool,
    /// The case; its guard is already filled in.
    pub case: Case,
}

/// A signal as a test writes it.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Provider.
    pub provider: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Status.
    pub status: Option<u16>,
    /// Code.
    pub code: Option<String>,
    /// Type.
    pub error_type: Option<String>,
    /// Param.
    pub param: Option<String>,
    /// Message.
    pub message: Option<String>,
    /// Details.
    pub details: Vec<String>,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// `aborted user|host|deadline`.
    pub aborted: Option<String>,
    /// `at TIME`.
    pub at: Option<Timestamp>,
    /// `reset in D` that is expected; `Some(None)`: `no reset`.
    pub reset: Option<Option<Duration>>,
    /// The whole case.
    pub span: Span,
}

/// A `test` block.
#[derive(Clone, Debug)]
pub struct TestBlock {
    /// Its title.
    pub title: String,
    /// What it expects.
    pub cases: Vec<Expectation>,
    /// The head.
    pub span: Span,
}

/// One line of a `test` block.
#[expect(clippy::large_enum_variant, reason = "nearly all of them are verdicts")]
#[derive(Clone, Debug)]
pub enum Expectation {
    /// `… -> bucket [by RULE]`.
    Verdict {
        /// The signal.
        case: Case,
        /// The bucket.
        bucket: BucketId,
        /// The rule.
        by: Option<RuleId>,
    },
    /// `backoff NAME after N failures -> D`.
    Backoff {
        /// The schedule.
        backoff: BackoffId,
        /// How many failures there were, the last one included.
        failures: u32,
        /// The step that follows.
        expect: Duration,
        /// The line.
        span: Span,
    },
}
