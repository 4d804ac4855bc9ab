//! Atoms: the elementary truths of one classification, each a number.

use super::{
    ask::{Ask, ExprId},
    program::Entry,
};

/// A place among the truths of one classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AtomId(pub(crate) u32);

impl AtomId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How an atom gets its truth.
#[derive(Clone, Debug)]
pub(crate) enum Atom {
    /// From the scan: true when hit, else false.
    Scanned,
    /// By running an expression over texts of these kinds, if all its gates were hit.
    Expr {
        /// The atoms of its sets of required literals; without any it always runs.
        gates: Vec<AtomId>,
        /// Kinds of segments.
        mask: u8,
        /// The expression.
        expr: ExprId,
    },
    /// By looking at the evidence.
    Direct(Ask),
    /// From other atoms: a named condition or a block's guard.
    Derived(Entry),
}
