//! Conditions as jump code: every step asks one atom and says where to go on.

use super::atom::AtomId;

/// Where a program begins: a step, or a known answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub(crate) u32);

impl Entry {
    pub(crate) const YES: Self = Self(u32::MAX);
    pub(crate) const NO: Self = Self(u32::MAX - 1);
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) atom: AtomId,
    pub(crate) yes: Entry,
    pub(crate) no: Entry,
}

/// The steps of all programs. Later steps come first, since they are written backwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code(Vec<Step>);

impl Code {
    pub(crate) fn push(&mut self, step: Step) -> Entry {
        // Two equal answers need no question.
        if step.yes == step.no {
            return step.yes;
        }
        self.0.push(step);
        Entry(u32::try_from(self.0.len() - 1).unwrap_or(Entry::NO.0))
    }

    /// Runs a program with the truths that `holds` gives.
    #[inline]
    pub(crate) fn run(&self, mut at: Entry, mut holds: impl FnMut(AtomId) -> bool) -> bool {
        // Steps only lead to earlier ones, so this ends.
        while let Some(step) = self.0.get(at.0 as usize) {
            at = if holds(step.atom) { step.yes } else { step.no };
        }
        at == Entry::YES
    }
}
