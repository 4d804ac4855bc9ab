//! All phrases and required literals in one automaton.
//!
//! The scan reads each byte of the folded texts once, with blank, `_` and `-` made one letter. A
//! pattern that ends there names its uses: which atom it makes true, in which kinds of text, and
//! what must still be looked at around it.
//!
//! The automaton holds only as much of a pattern's beginning as tells it from most others, since
//! building it costs more than all the rest of a table; what follows is compared at a hit.

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
    /// What must follow the hit for the pattern to be whole, in [`Literals::raw`] too.
    rest: (u32, u32),
}

/// The automaton and what its hits mean.
pub(crate) struct Literals {
    automaton: Option<DoubleArrayAhoCorasick<u32>>,
    /// Uses of beginning `n` stand at `offsets[n]..offsets[n + 1]`.
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
                if one.mask & kind == 0 {
                    continue;
                }
                let rest = self.raw(one.rest);
                let end = found.end() + rest.len();
                let whole = rest.is_empty() || letters.get(found.end()..end) == Some(rest);
                if whole && self.holds(one, text, found.start(), end) {
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
    fn raw(&self, (from, to): (u32, u32)) -> &[u8] {
        self.raw.get(from as usize..to as usize).unwrap_or_default()
    }

    #[inline]
    fn holds(&self, one: &Use, text: &[u8], start: usize, end: usize) -> bool {
        let exact = || text.get(start..end) == Some(self.raw(one.raw));
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

/// So many bytes of a pattern are always in the automaton.
const BEGINNING: usize = 8;

/// Of patterns that begin alike, at most twice as many are told apart by comparing.
const CROWD: usize = 4;

/// Collects patterns while rules are compiled.
#[derive(Debug, Default)]
pub(super) struct LiteralsBuilder {
    patterns: Vec<(String, Use)>,
    raw: Vec<u8>,
}

impl LiteralsBuilder {
    /// Adds a use of `text` (folded). An empty text is never found.
    pub(super) fn add(&mut self, text: &str, atom: AtomId, mask: u8, check: Check) {
        if text.is_empty() {
            return;
        }
        let exact = match check {
            Check::None | Check::Word => "",
            Check::Raw | Check::Prefix | Check::Whole => text,
        };
        let raw = keep(&mut self.raw, exact.as_bytes());
        let form = match check {
            // These come in the normal form already.
            Check::None | Check::Word => text.to_owned(),
            Check::Raw | Check::Prefix | Check::Whole => literal::normal(text),
        };
        self.patterns.push((form, Use { atom, mask, check, raw, rest: (0, 0) }));
    }

    pub(super) fn build(mut self) -> Result<Literals, TableError> {
        self.patterns.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut distinct: Vec<&[u8]> = self.patterns.iter().map(|(form, _)| form.as_bytes()).collect();
        distinct.dedup();
        let mut at = 0;
        let mut cut: Vec<(&[u8], Use)> = Vec::with_capacity(self.patterns.len());
        for (form, one) in &self.patterns {
            at += usize::from(distinct.get(at) != Some(&form.as_bytes()));
            let (beginning, rest) = form.as_bytes().split_at(beginning(&distinct, at));
            cut.push((beginning, Use { rest: keep(&mut self.raw, rest), ..*one }));
        }
        cut.sort_by_key(|(beginning, _)| *beginning);
        let mut beginnings: Vec<&[u8]> = Vec::with_capacity(cut.len());
        let mut offsets = Vec::with_capacity(cut.len() + 1);
        let mut uses = Vec::with_capacity(cut.len());
        for (beginning, one) in cut {
            if beginnings.last() != Some(&beginning) {
                beginnings.push(beginning);
                offsets.push(narrow(uses.len()));
            }
            uses.push(one);
        }
        offsets.push(narrow(uses.len()));
        let automaton = if beginnings.is_empty() {
            None
        } else {
            let built = DoubleArrayAhoCorasick::with_values(beginnings.into_iter().zip(0u32..));
            Some(built.map_err(|error| TableError::TooManyPhrases(error.to_string()))?)
        };
        let mask = uses.iter().fold(0, |mask, one| mask | one.mask);
        Ok(Literals { automaton, offsets, uses, raw: self.raw, mask })
    }
}

/// How much of a pattern to put into the automaton: in sorted order, the one [`CROWD`] places away
/// on either side begins otherwise.
fn beginning(sorted: &[&[u8]], at: usize) -> usize {
    let Some(own) = sorted.get(at) else { return 0 };
    let shared = |other: Option<usize>| {
        let other = other.and_then(|other| sorted.get(other)).copied().unwrap_or_default();
        own.iter().zip(other).take_while(|(a, b)| a == b).count()
    };
    let alike = shared(at.checked_sub(CROWD)).max(shared(at.checked_add(CROWD)));
    own.len().min(BEGINNING.max(alike + 1))
}

/// Keeps bytes for comparing; where they stand.
fn keep(raw: &mut Vec<u8>, bytes: &[u8]) -> (u32, u32) {
    let start = raw.len();
    raw.extend_from_slice(bytes);
    (narrow(start), narrow(raw.len()))
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_begin_alike_are_told_apart() {
        let mut patterns: Vec<String> =
            (0..40).map(|n| format!("quota exceeded for tier {n} of plan")).collect();
        patterns.extend(
            ["quota", "quota exceeded", "quota exceeded f", "额度已用完", "额度已用尽"].map(String::from),
        );
        let mut builder = LiteralsBuilder::default();
        for (atom, pattern) in (0u32..).zip(&patterns) {
            builder.add(pattern, AtomId(atom), 1, Check::Word);
            builder.add(pattern, AtomId(1_000 + atom), 1, Check::None);
        }
        let built = builder.build().unwrap();
        let texts =
            ["quota exceeded for tier 7 of planet", "the quota exceeded for tier 13 of plan", "额度已用尽。"];
        for text in texts.into_iter().chain(patterns.iter().map(String::as_str)) {
            let mut hits = Vec::new();
            built.scan(text.as_bytes(), text.as_bytes(), 1, |atom| hits.push(atom.0));
            hits.sort_unstable();
            let mut expected = Vec::new();
            for (atom, pattern) in (0u32..).zip(&patterns) {
                for (start, found) in text.match_indices(pattern.as_str()) {
                    expected.push(1_000 + atom);
                    expected.extend(is_word(text.as_bytes(), start, start + found.len()).then_some(atom));
                }
            }
            expected.sort_unstable();
            assert_eq!(hits, expected, "{text}");
        }
    }
}
