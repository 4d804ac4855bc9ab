//! What is known so far of one error: truths of atoms, and rules worth a look. Reused from one error
//! to the next; only what was touched is cleared.

use crate::table::{atom::AtomId, finder::Hit};

/// The working memory of one classification.
#[derive(Clone, Debug, Default)]
pub(super) struct Truths {
    pub(super) known: Known,
    pub(super) candidates: Candidates,
    /// The folded texts as the scan reads them, and its room to work in.
    pub(super) letters: Vec<u8>,
    pub(super) hits: Vec<Hit>,
}

impl Truths {
    /// Makes room for a table; forgets what an earlier error left.
    pub(super) fn prepare(&mut self, atoms: usize, rules: usize) {
        self.known.prepare(atoms);
        self.candidates.prepare(rules);
    }
}

/// Truths of atoms.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// By atom; zero when its truth is not known yet.
    states: Vec<u8>,
    touched: Vec<AtomId>,
}

const FALSE: u8 = 1;
const TRUE: u8 = 2;

impl Known {
    fn prepare(&mut self, atoms: usize) {
        for atom in self.touched.drain(..) {
            if let Some(state) = self.states.get_mut(atom.index()) {
                *state = 0;
            }
        }
        if self.states.len() < atoms {
            self.states.resize(atoms, 0);
        }
    }

    /// What is known of an atom.
    #[inline]
    pub(super) fn get(&self, atom: AtomId) -> Option<bool> {
        match self.states.get(atom.index()) {
            Some(&TRUE) => Some(true),
            Some(&FALSE) => Some(false),
            _ => None,
        }
    }

    /// Remembers the truth of an atom, unless it was known before.
    #[inline]
    pub(super) fn set(&mut self, atom: AtomId, truth: bool) {
        if let Some(state @ 0) = self.states.get_mut(atom.index()) {
            *state = if truth { TRUE } else { FALSE };
            self.touched.push(atom);
        }
    }

    /// The atoms whose truth is known.
    #[inline]
    pub(super) fn atoms(&self) -> &[AtomId] {
        &self.touched
    }
}

/// Rules worth a look, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    /// A bit for each rule, and a bit for each word that has any.
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl Candidates {
    fn prepare(&mut self, rules: usize) {
        for (at, word) in self.summary.iter_mut().enumerate() {
            while *word != 0 {
                let slot = at * 64 + word.trailing_zeros() as usize;
                if let Some(rules) = self.words.get_mut(slot) {
                    *rules = 0;
                }
                *word &= *word - 1;
            }
        }
        let words = rules.div_ceil(64);
        if self.words.len() < words {
            self.words.resize(words, 0);
            self.summary.resize(words.div_ceil(64), 0);
        }
    }

    #[inline]
    pub(super) fn add(&mut self, rule: u32) {
        let slot = rule as usize / 64;
        if let Some(word) = self.words.get_mut(slot) {
            *word |= 1 << (rule % 64);
        }
        if let Some(word) = self.summary.get_mut(slot / 64) {
            *word |= 1 << (slot % 64);
        }
    }

    /// Takes the first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        for (at, summary) in self.summary.iter_mut().enumerate() {
            if *summary == 0 {
                continue;
            }
            let slot = at * 64 + summary.trailing_zeros() as usize;
            let word = self.words.get_mut(slot)?;
            let rule = slot * 64 + word.trailing_zeros() as usize;
            *word &= word.wrapping_sub(1);
            if *word == 0 {
                *summary &= *summary - 1;
            }
            return u32::try_from(rule).ok();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_come_in_order_and_leave_nothing_behind() {
        let mut truths = Truths::default();
        truths.prepare(4, 10_000);
        for rule in [9_999, 3, 64, 3, 4_200, 63] {
            truths.candidates.add(rule);
        }
        let taken: Vec<u32> = std::iter::from_fn(|| truths.candidates.pop()).collect();
        assert_eq!(taken, [3, 63, 64, 4_200, 9_999]);
        let left = [7, 70, 4_200, 9_000];
        for rule in left {
            truths.candidates.add(rule);
        }
        truths.known.set(AtomId(2), false);
        truths.known.set(AtomId(2), true);
        assert_eq!(truths.known.get(AtomId(2)), Some(false), "it need not be found out again");
        assert_eq!(truths.known.atoms(), [AtomId(2)]);
        truths.prepare(4, 10_000);
        assert_eq!((truths.candidates.pop(), truths.known.get(AtomId(2))), (None, None));
        let next = left.map(|rule| rule + 1);
        for rule in next {
            truths.candidates.add(rule);
        }
        assert_eq!(next.map(|_| truths.candidates.pop()), next.map(Some), "their words are empty too");
    }

    #[test]
    fn room_grows_with_the_table_and_stays() {
        let mut truths = Truths::default();
        for (atoms, rules) in [(2, 64), (4, 10_000), (1, 1), (4, 10_000)] {
            truths.prepare(atoms, rules);
            let (atom, rule) = (AtomId(u32::try_from(atoms - 1).unwrap()), u32::try_from(rules - 1).unwrap());
            truths.known.set(atom, true);
            assert_eq!(truths.known.atoms(), [atom]);
            truths.candidates.add(rule);
            assert_eq!((truths.known.get(atom), truths.candidates.pop()), (Some(true), Some(rule)));
        }
    }
}
