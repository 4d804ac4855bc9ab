//! Rules and the blocks around them.

use std::sync::Arc;

use super::{BlockId, BucketId, Cond, Example};
use crate::lang::{policy::Reaction, source::Span};

/// A `group … when` or `provider` block: a guard around its rules.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its name, unique.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The enclosing block.
    pub parent: Option<BlockId>,
    /// Its own guard, without the parent's.
    pub guard: Cond,
    /// Its header.
    pub span: Span,
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Full name, `block.rule`.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The innermost block; its guards and its parents' must hold too.
    pub block: Option<BlockId>,
    /// Where matching errors go.
    pub bucket: BucketId,
    /// The condition; [`Cond::Always`] for `otherwise`.
    pub when: Cond,
    /// `otherwise`.
    pub otherwise: bool,
    /// `observe rule`: counted and shown, decides nothing.
    pub observe: bool,
    /// The rule's own reaction merged over its bucket's; absent: the bucket's.
    pub reaction: Option<Reaction>,
    /// Examples and counterexamples.
    pub examples: Vec<Example>,
    /// Suppressed diagnostics.
    pub allows: Vec<Allow>,
    /// From `rule` (or `observe`) to the end of its head line.
    pub span: Span,
    /// The bare name.
    pub name_span: Span,
}

/// `allow P0207 "reason"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The code.
    pub code: String,
    /// Why.
    pub reason: String,
    /// The statement below it.
    pub span: Span,
    /// The line itself.
    pub at: Span,
    /// It has suppressed something.
    pub used: bool,
}
