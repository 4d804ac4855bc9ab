//! All phrases and required literals in one automaton.
//!
//! The scan reads each byte of the folded texts once, with blank, `_` and `-` made one letter. A
//! pattern that ends there names its uses: which atom it makes true, in which kinds of text, and
//! what must still be looked at around it.

use std::collections::HashMap;

use daachorse::DoubleArrayAhoCorasick;

use super::{TableError, atom::AtomId};
use crate::lang::literal;

/// What must hold around a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing: the hit opens a regular expression.
    None,
    /// Word edges.
    Word,
    /// The exact bytes.
    Raw,
    /// The exact bytes, at the start of the text.
    Prefix,
    /// The exact bytes, and nothing else but a final `.` or `!`.
    Whole,
}

/// What a pattern is good for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) atom: AtomId,
    /// Kinds of segments, as bits of [`super::ask::bit`].
    pub(crate) mask: u8,
    pub(crate) check: Check,
    /// The exact bytes in [`Literals::raw`], where the check asks for them.
    raw: (u32, u32),
}

/// The automaton and what its hits mean.
pub(crate) struct Literals {
    automaton: Option<DoubleArrayAhoCorasick<u32>>,
    /// Uses of pattern `n` stand at `offsets[n]..offsets[n + 1]`.
    offsets: Vec<u32>,
    uses: Vec<Use>,
    raw: Vec<u8>,
    /// Kinds of segments that any use looks at.
    pub(crate) mask: u8,
}

impl std::fmt::Debug for Literals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Literals")
            .field("patterns", &self.offsets.len().saturating_sub(1))
            .finish_non_exhaustive()
    }
}

/// Writes a text as the scan reads it: blank, `_` and `-` are one letter.
pub(crate) fn letters(text: &str, out: &mut Vec<u8>) {
    out.clear();
    out.extend(text.bytes().map(|byte| if byte == b'_' || byte == b'-' { b' ' } else { byte }));
}

impl Literals {
    /// Calls `hit` with every use whose check holds in one text of this kind; an atom may come several
    /// times. `letters` is the text as [`letters`] writes it.
    pub(crate) fn scan(&self, letters: &[u8], text: &[u8], kind: u8, mut hit: impl FnMut(AtomId)) {
        if kind & self.mask == 0 {
            return;
        }
        let Some(automaton) = &self.automaton else { return };
        for found in automaton.find_overlapping_iter(letters) {
            for one in self.uses_of(found.value()) {
                if one.mask & kind != 0 && self.holds(one, text, found.start(), found.end()) {
                    hit(one.atom);
                }
            }
        }
    }

    fn uses_of(&self, pattern: u32) -> &[Use] {
        let pattern = pattern as usize;
        let (Some(from), Some(to)) = (self.offsets.get(pattern), self.offsets.get(pattern + 1)) else {
            return &[];
        };
        self.uses.get(*from as usize..*to as usize).unwrap_or_default()
    }

    #[inline]
    fn holds(&self, one: &Use, text: &[u8], start: usize, end: usize) -> bool {
        let exact = || text.get(start..end) == self.raw.get(one.raw.0 as usize..one.raw.1 as usize);
        match one.check {
            Check::None => true,
            Check::Word => is_word(text, start, end),
            Check::Raw => exact(),
            Check::Prefix => start == 0 && exact(),
            Check::Whole => start == 0 && matches!(text.get(end..), Some([] | [b'.' | b'!'])) && exact(),
        }
    }
}

/// Whether a hit is no part of a longer word: an edge counts only between ASCII letters or digits.
#[inline]
pub(crate) fn is_word(text: &[u8], start: usize, end: usize) -> bool {
    let word = |at: Option<&u8>| at.is_some_and(u8::is_ascii_alphanumeric);
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    let last = end.checked_sub(1).and_then(|at| text.get(at));
    !(word(before) && word(text.get(start)) || word(last) && word(text.get(end)))
}

/// Collects patterns while rules are compiled.
#[derive(Debug, Default)]
pub(super) struct LiteralsBuilder {
    patterns: Vec<(String, Vec<Use>)>,
    ids: HashMap<String, usize>,
    raw: Vec<u8>,
}

impl LiteralsBuilder {
    /// Adds a use of `text` (folded). An empty text is never found.
    pub(super) fn add(&mut self, text: &str, atom: AtomId, mask: u8, check: Check) {
        if text.is_empty() {
            return;
        }
        let raw = match check {
            Check::None | Check::Word => (0, 0),
            Check::Raw | Check::Prefix | Check::Whole => {
                let start = self.raw.len();
                self.raw.extend_from_slice(text.as_bytes());
                (narrow(start), narrow(self.raw.len()))
            }
        };
        let form = match check {
            // These come in the normal form already.
            Check::None | Check::Word => text.to_owned(),
            Check::Raw | Check::Prefix | Check::Whole => literal::normal(text),
        };
        let next = self.patterns.len();
        let id = *self.ids.entry(form).or_insert_with_key(|form| {
            self.patterns.push((form.clone(), Vec::new()));
            next
        });
        if let Some((_, uses)) = self.patterns.get_mut(id) {
            uses.push(Use { atom, mask, check, raw });
        }
    }

    pub(super) fn build(self) -> Result<Literals, TableError> {
        let mut offsets = vec![0];
        let mut uses = Vec::new();
        for (_, of_pattern) in &self.patterns {
            uses.extend_from_slice(of_pattern);
            offsets.push(narrow(uses.len()));
        }
        let automaton = if self.patterns.is_empty() {
            None
        } else {
            let numbered = self.patterns.iter().map(|(text, _)| text).zip(0u32..);
            let built = DoubleArrayAhoCorasick::with_values(numbered);
            Some(built.map_err(|error| TableError::TooManyPhrases(error.to_string()))?)
        };
        let mask = uses.iter().fold(0, |mask, one| mask | one.mask);
        Ok(Literals { automaton, offsets, uses, raw: self.raw, mask })
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
