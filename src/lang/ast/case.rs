//! Examples, tests, and the cases in them.

use std::time::Duration;

use super::{Name, Path};
use crate::{
    lang::source::{Span, Spanned},
    time::Timestamp,
};

/// `example CASE` or `counterexample CASE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// `counterexample`.
    pub counter: bool,
    /// The case.
    pub case: Case,
    /// The whole line.
    pub span: Span,
}

/// A signal as a test writes it, and the reset time that is expected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// `provider ID`.
    pub provider: Option<Name>,
    /// `model ID`.
    pub model: Option<Name>,
    /// `status N`.
    pub status: Option<Spanned<u16>>,
    /// `code "…"`.
    pub code: Option<Name>,
    /// `type "…"`.
    pub error_type: Option<Name>,
    /// `param "…"`.
    pub param: Option<Name>,
    /// `message "…"`.
    pub message: Option<Name>,
    /// `detail "…"`, any number.
    pub details: Vec<Name>,
    /// `header "name" "value"`, any number.
    pub headers: Vec<(Name, Name)>,
    /// `aborted user|host|deadline`.
    pub aborted: Option<Name>,
    /// `at TIME`.
    pub at: Option<Spanned<Timestamp>>,
    /// `reset in D`; inside: `None` for `no reset`.
    pub reset: Option<Spanned<Option<Duration>>>,
    /// All fields.
    pub span: Span,
}

/// `test "…" { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct TestBlock {
    /// Its title.
    pub title: Spanned<String>,
    /// Its lines.
    pub cases: Vec<Expectation>,
    /// From `test` to the title.
    pub head: Span,
}

/// One line of a test.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// `CASE -> BUCKET [by RULE] [reset in D | no reset]`.
    Verdict {
        /// The signal.
        case: Box<Case>,
        /// The bucket.
        bucket: Name,
        /// The rule.
        by: Option<Path>,
        /// The line.
        span: Span,
    },
    /// `backoff NAME after N failures -> D`.
    Backoff {
        /// The schedule.
        backoff: Name,
        /// How many failures came before.
        failures: Spanned<u32>,
        /// The step that follows.
        expect: Spanned<Duration>,
        /// The line.
        span: Span,
    },
}
