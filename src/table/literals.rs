//! All phrases and required literals, and what finding one means.
//!
//! The scan reads each byte of the folded texts once, with blank, `_` and `-` made one letter. A
//! pattern that stands there names its uses: which atom it makes true, in which kinds of text, and
//! what must still be looked at around it.

use std::ops::Range;

use foldhash::HashSet;

use super::{
    ask,
    atom::AtomId,
    finder::{Begins, Finder, Hit, PADDING},
};
use crate::lang::{literal, tree::Field};

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

/// The patterns and what their hits mean.
pub(crate) struct Literals {
    /// By [`group`]; texts have few patterns that wrappers or codes have too.
    groups: [Option<Patterns>; GROUPS],
    raw: Vec<u8>,
}

/// Kinds of segments have bits of [`ask::bit`], and some share a group.
const GROUPS: usize = 8;

/// The group of a kind: message and details have nearly the same patterns.
#[inline]
fn group(kind: u8) -> usize {
    if kind & ask::mask(&Field::Text) != 0 { 0 } else { kind.trailing_zeros() as usize }
}

/// What is looked for in one group of kinds.
struct Patterns {
    finder: Finder,
    /// Uses of pattern `n` stand at `offsets[n]..offsets[n + 1]`.
    offsets: Vec<u32>,
    uses: Vec<Use>,
}

impl std::fmt::Debug for Literals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Literals").field("raw", &self.raw.len()).finish_non_exhaustive()
    }
}

/// Writes texts as the scan reads them: blank, `_` and `-` are one letter.
pub(crate) fn letters(texts: &str, out: &mut Vec<u8>) {
    /// So many at once: wide registers serve, and no byte is left over.
    const AT_ONCE: usize = 32;
    out.clear();
    out.extend_from_slice(texts.as_bytes());
    out.resize(texts.len().next_multiple_of(AT_ONCE) + AT_ONCE.max(PADDING), 0);
    for byte in out.as_chunks_mut::<AT_ONCE>().0.as_flattened_mut() {
        *byte = if matches!(*byte, b'_' | b'-') { b' ' } else { *byte };
    }
}

impl Literals {
    /// Calls `hit` with every use whose check holds in the text of this kind that stands in `texts` at
    /// `place`; an atom may come several times. `letters` are the texts as [`letters`] writes them, `hits`
    /// is room to work in.
    pub(crate) fn scan(
        &self,
        letters: &[u8],
        texts: &[u8],
        place: Range<usize>,
        kind: u8,
        hits: &mut Vec<Hit>,
        mut found: impl FnMut(AtomId),
    ) {
        let Some(Some(patterns)) = self.groups.get(group(kind)) else { return };
        let Some(padded) = letters.get(place.start..place.end + PADDING) else { return };
        let Some(text) = texts.get(place) else { return };
        patterns.finder.find(padded, hits, |hit| {
            let (start, end) = (hit.start as usize, hit.end as usize);
            for one in patterns.uses_of(hit.pattern) {
                let holds = one.mask & kind != 0
                    && match one.check {
                        Check::None => true,
                        Check::Word => is_word(text, start, end),
                        Check::Raw | Check::Prefix | Check::Whole => self.is_exact(one, text, start, end),
                    };
                if holds {
                    found(one.atom);
                }
            }
        });
    }

    /// Whether the exact bytes stand where the check wants them.
    #[inline(never)]
    fn is_exact(&self, one: &Use, text: &[u8], start: usize, end: usize) -> bool {
        let (from, to) = one.raw;
        let place = match one.check {
            Check::None | Check::Word | Check::Raw => true,
            Check::Prefix => start == 0,
            Check::Whole => start == 0 && matches!(text.get(end..), Some([] | [b'.' | b'!'])),
        };
        place && text.get(start..end) == self.raw.get(from as usize..to as usize)
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

impl Patterns {
    fn uses_of(&self, pattern: u32) -> &[Use] {
        let pattern = pattern as usize;
        let (Some(from), Some(to)) = (self.offsets.get(pattern), self.offsets.get(pattern + 1)) else {
            return &[];
        };
        self.uses.get(*from as usize..*to as usize).unwrap_or_default()
    }
}

/// Collects patterns while rules are compiled.
#[derive(Debug, Default)]
pub(super) struct LiteralsBuilder {
    patterns: Vec<(String, Use)>,
    raw: Vec<u8>,
}

impl LiteralsBuilder {
    /// Adds a use of `text` (folded). An empty text is never found.
    pub(super) fn add(&mut self, text: &str, atom: AtomId, mask: u8, check: Check) {
        // No folded text holds a NUL.
        if text.is_empty() || text.contains('\0') {
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
        self.patterns.push((form, Use { atom, mask, check, raw }));
    }

    /// By atom: how many errors of a million are likely to make it true. As many as there are patterns
    /// that would: what rules speak of often stands in many errors.
    pub(super) fn frequencies(&mut self, atoms: usize) -> Vec<u32> {
        self.patterns.sort_by(|(one, _), (other, _)| one.cmp(other));
        let patterns = Patterns::new(&self.patterns.iter().collect::<Vec<_>>());
        let alike = || self.patterns.chunk_by(|(one, _), (other, _)| one == other);
        let mut forms: Vec<u8> = Vec::new();
        for (form, _) in alike().filter_map(<[_]>::first) {
            forms.extend(form.bytes().chain([0]));
        }
        forms.extend([0; PADDING]);
        let mut holding = vec![0u64; patterns.offsets.len()];
        patterns.finder.find(&forms, &mut Vec::new(), |hit| {
            if let Some(holding) = holding.get_mut(hit.pattern as usize) {
                *holding += 1;
            }
        });
        // Of few patterns each would seem frequent.
        let count = holding.len().max(1_000) as u64;
        let mut frequencies = vec![0u32; atoms];
        for (pattern, holding) in (0u32..).zip(holding) {
            let share = u32::try_from(holding * 1_000_000 / count).unwrap_or(u32::MAX);
            for one in patterns.uses_of(pattern) {
                if let Some(frequency) = frequencies.get_mut(one.atom.index()) {
                    *frequency = frequency.saturating_add(share);
                }
            }
        }
        frequencies
    }

    /// Forgets the gates of expressions that are none of these.
    pub(super) fn retain_gates(&mut self, kept: &HashSet<AtomId>) {
        self.patterns.retain(|(_, one)| one.check != Check::None || kept.contains(&one.atom));
    }

    pub(super) fn build(mut self) -> Literals {
        self.patterns.sort_by(|(one, _), (other, _)| one.cmp(other));
        let groups = std::array::from_fn(|at| {
            let here = |mask: u8| (0..u8::BITS).any(|kind| mask >> kind & 1 != 0 && group(1 << kind) == at);
            let asked = self.patterns.iter().filter(|(_, one)| here(one.mask));
            let asked: Vec<&(String, Use)> = asked.collect();
            (!asked.is_empty()).then(|| Patterns::new(&asked))
        });
        Literals { groups, raw: self.raw }
    }
}

impl Patterns {
    /// Takes patterns in ascending order.
    fn new(asked: &[&(String, Use)]) -> Self {
        let mut offsets = Vec::with_capacity(asked.len() + 1);
        let mut uses = Vec::with_capacity(asked.len());
        let mut forms: Vec<(&[u8], Begins)> = Vec::with_capacity(asked.len());
        for alike in asked.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((form, _)) = alike.first() else { continue };
            let anywhere = alike.iter().any(|(form, one)| begins(form, one.check) == Begins::Anywhere);
            let begins = if anywhere { Begins::Anywhere } else { Begins::AtWords };
            offsets.push(narrow(uses.len()));
            forms.push((form.as_bytes(), begins));
            uses.extend(alike.iter().map(|(_, one)| *one));
        }
        offsets.push(narrow(uses.len()));
        Self { finder: Finder::new(&forms), offsets, uses }
    }
}

/// Where a pattern may begin so that its check can hold.
fn begins(form: &str, check: Check) -> Begins {
    match check {
        // A whole text stands behind no letter and before none.
        Check::Whole => Begins::AtWords,
        Check::Word if form.starts_with(|c: char| c.is_ascii_alphanumeric()) => Begins::AtWords,
        Check::None | Check::Word | Check::Raw | Check::Prefix => Begins::Anywhere,
    }
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
        let built = builder.build();
        let texts =
            ["quota exceeded for tier 7 of planet", "the quota exceeded for tier 13 of plan", "额度已用尽。"];
        for text in texts.into_iter().chain(patterns.iter().map(String::as_str)) {
            let mut found = Vec::new();
            let mut padded = Vec::new();
            letters(text, &mut padded);
            built
                .scan(&padded, text.as_bytes(), 0..text.len(), 1, &mut Vec::new(), |atom| found.push(atom.0));
            found.sort_unstable();
            let mut expected = Vec::new();
            for (atom, pattern) in (0u32..).zip(&patterns) {
                for (start, part) in text.match_indices(pattern.as_str()) {
                    expected.push(1_000 + atom);
                    expected.extend(is_word(text.as_bytes(), start, start + part.len()).then_some(atom));
                }
            }
            expected.sort_unstable();
            assert_eq!(found, expected, "{text}");
        }
    }
}
