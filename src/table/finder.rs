//! Finds all of many patterns in a text, in one pass.
//!
//! A filter says of any four bytes whether a pattern may begin so: most places of a text end there, and
//! no place waits for the one before. At the others a tree is walked whose edges are what patterns share,
//! so that a place costs no more than its longest pattern.

use std::ops::Range;

/// So many bytes must stand behind the end of a text, the first of them a NUL, which no pattern holds: so
/// none is found beyond.
pub(super) const PADDING: usize = 2 * LANES;

/// So many places are looked at together.
const LANES: usize = 8;

/// Patterns are first told apart by so many bytes.
const KEY: usize = 4;

/// The filter has two to the power of this many slots: it stays in the nearest cache.
const FILTER_BITS: u32 = 15;

/// A node holds at most so many bytes; longer stretches are chains.
const LABEL: usize = 8;

/// Where a pattern may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begins(u8);

impl Begins {
    /// Behind what is no ASCII letter or digit; it does not end before one either.
    pub(super) const AT_WORDS: Self = Self(1);
    /// Anywhere.
    pub(super) const ANYWHERE: Self = Self(2);

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// As the filter says it of patterns too short for a whole key.
    fn short(self) -> u8 {
        self.0 << 2
    }
}

/// Patterns, ready to be found.
pub(super) struct Finder {
    /// By [`slot`] of four bytes: where patterns may begin that begin with them.
    filter: Box<[u8; 1 << FILTER_BITS]>,
    /// Open addressing: the first bytes of patterns, and their node.
    roots: Vec<(u32, u32)>,
    root_bits: u32,
    /// Whether a root has one byte, two and so on, a bit each.
    lengths: u8,
    nodes: Vec<Node>,
    /// The first byte of each node's label; those below one node differ in it.
    firsts: Vec<u8>,
}

/// A stretch that all patterns through it share, behind what the nodes above it hold.
#[derive(Clone, Copy)]
struct Node {
    /// The bytes as a number, the first the lowest.
    label: u64,
    /// Which bits of it count.
    mask: u64,
    /// The pattern that ends here, or [`NONE`].
    pattern: u32,
    children: (u32, u32),
    length: u32,
}

const NONE: u32 = u32::MAX;

impl Finder {
    /// Takes patterns in ascending order, none twice, none empty. They are told by their numbers.
    #[expect(clippy::large_stack_arrays, reason = "the filter goes to the heap, once for a kind of text")]
    pub(super) fn new(patterns: &[(&[u8], Begins)]) -> Self {
        let keys = || patterns.chunk_by(|(one, _), (other, _)| key_of(one) == key_of(other));
        let size = (2 * keys().count()).next_power_of_two().max(2);
        let mut finder = Self {
            filter: Box::new([0; 1 << FILTER_BITS]),
            roots: vec![(0, NONE); size],
            root_bits: size.trailing_zeros(),
            lengths: 0,
            nodes: Vec::new(),
            firsts: Vec::new(),
        };
        for (pattern, begins) in patterns {
            finder.let_through(pattern, *begins);
        }
        // Nodes are made level by level, so that those below one stand together.
        let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
        let mut from = 0;
        for group in keys() {
            let Some((pattern, _)) = group.first() else { continue };
            let length = pattern.len().min(KEY);
            finder.add_root(key_of(pattern), narrow(groups.len()));
            finder.lengths |= 1 << (length - 1);
            groups.push((from..from + group.len(), length));
            from += group.len();
        }
        let mut at = 0;
        while let Some((group, depth)) = groups.get(at).cloned() {
            finder.add_node(patterns, group, depth, &mut groups);
            at += 1;
        }
        finder
    }

    /// Lets the filter pass a pattern's beginning.
    fn let_through(&mut self, pattern: &[u8], begins: Begins) {
        let mut pass = |four: [u8; KEY], flags: u8| {
            if let Some(slot) = self.filter.get_mut(slot(u32::from_le_bytes(four))) {
                *slot |= flags;
            }
        };
        match *pattern {
            [a, b, c, d, ..] => pass([a, b, c, d], begins.0),
            [a, b, c] => {
                let word = begins == Begins::AT_WORDS && c.is_ascii_alphanumeric();
                for d in (0..=u8::MAX).filter(|d| !(word && d.is_ascii_alphanumeric())) {
                    pass([a, b, c, d], begins.short());
                }
            }
            // So short a phrase is rare: every place is worth a look then.
            _ => self.filter.iter_mut().for_each(|slot| *slot |= begins.short()),
        }
    }

    fn add_root(&mut self, key: u32, node: u32) {
        let mask = self.roots.len() - 1;
        let mut at = hash(key, self.root_bits);
        while let Some(root) = self.roots.get_mut(at) {
            if root.1 == NONE {
                *root = (key, node);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// Makes the node of a group that shares `depth` bytes, and puts the groups below it on the list.
    fn add_node(
        &mut self,
        patterns: &[(&[u8], Begins)],
        group: Range<usize>,
        depth: usize,
        groups: &mut Vec<(Range<usize>, usize)>,
    ) {
        let tail =
            |at: usize| patterns.get(at).and_then(|(pattern, _)| pattern.get(depth..)).unwrap_or_default();
        let (first, last) = (tail(group.start), tail(group.end - 1));
        let shared = first.iter().zip(last).take(LABEL).take_while(|(a, b)| a == b).count();
        let mut label = [0; LABEL];
        label.iter_mut().zip(first).take(shared).for_each(|(to, from)| *to = *from);
        self.firsts.push(first.first().copied().unwrap_or_default());
        // Of patterns that begin alike, the shortest comes first.
        let ends = first.len() == shared;
        let below = group.start + usize::from(ends)..group.end;
        let children = narrow(groups.len());
        let mut from = below.start;
        let below = patterns.get(below).unwrap_or_default();
        let depth = depth + shared;
        for part in below.chunk_by(|(one, _), (other, _)| one.get(depth) == other.get(depth)) {
            groups.push((from..from + part.len(), depth));
            from += part.len();
        }
        self.nodes.push(Node {
            label: u64::from_le_bytes(label),
            mask: u64::MAX.checked_shr(u64::BITS - 8 * narrow(shared)).unwrap_or_default(),
            pattern: if ends { narrow(group.start) } else { NONE },
            children: (children, narrow(groups.len())),
            length: narrow(shared),
        });
    }

    /// Calls `found` with the number and place of every pattern in `padded` without its last [`PADDING`]
    /// bytes. Not all of those found elsewhere than [`Begins`] says are told.
    #[inline]
    pub(super) fn find(&self, padded: &[u8], mut found: impl FnMut(u32, usize, usize)) {
        let length = padded.len().saturating_sub(PADDING);
        let mut start = 0;
        while start < length {
            // Places are gathered before any is looked at: nothing need be guessed meanwhile.
            let end = length.min(start + BLOCK);
            let (mut places, mut at) = (0, start);
            while let Some(bytes) = padded.get(at..).and_then(|rest| rest.first_chunk())
                && at < end
            {
                places |= self.places(bytes) << (at - start);
                at += LANES;
            }
            while places != 0 {
                let place = start + places.trailing_zeros() as usize;
                if place < length {
                    self.find_at(padded, place, &mut found);
                }
                places &= places - 1;
            }
            start = end;
        }
    }

    /// At which of the first [`LANES`] bytes a pattern may begin, a bit each.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "lower bytes are what is wanted")]
    fn places(&self, bytes: &[u8; 2 * LANES]) -> u64 {
        let bytes = u128::from_le_bytes(*bytes);
        let mut begins = 0;
        for lane in 0..LANES {
            begins |= u64::from(self.begins((bytes >> (8 * lane)) as u32)) << (8 * lane);
        }
        // The high bit of each lane that is not zero; then these bits next to each other.
        let lanes = ((begins + 0x7f * ONES) & (0x80 * ONES)) >> 7;
        lanes.wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    /// What the filter says of four bytes.
    #[inline]
    fn begins(&self, four: u32) -> u8 {
        self.filter.get(slot(four)).copied().unwrap_or_default()
    }

    /// The patterns that begin at `start`.
    #[inline]
    fn find_at(&self, padded: &[u8], start: usize, found: &mut impl FnMut(u32, usize, usize)) {
        let Some(four) = padded.get(start..).and_then(|rest| rest.first_chunk::<KEY>()) else { return };
        let four = u32::from_le_bytes(*four);
        let begins = self.begins(four);
        let before = start.checked_sub(1).and_then(|before| padded.get(before));
        if begins & IN_WORDS == 0 && before.is_some_and(u8::is_ascii_alphanumeric) {
            return;
        }
        if begins >= Begins::AT_WORDS.short() {
            for length in (1..KEY).filter(|length| self.lengths >> (length - 1) & 1 != 0) {
                self.look(four, length, padded, start, found);
            }
        }
        self.look(four, KEY, padded, start, found);
    }

    /// The patterns at `start` whose root has so many bytes.
    #[inline]
    fn look(
        &self,
        four: u32,
        length: usize,
        padded: &[u8],
        start: usize,
        found: &mut impl FnMut(u32, usize, usize),
    ) {
        let key = four & (u32::MAX >> (8 * (KEY - length)));
        // A NUL at its end makes it the key of something shorter.
        if key >> (8 * (length - 1)) != 0
            && let Some(node) = self.root(key)
        {
            self.walk(node, padded, start, start + length, found);
        }
    }

    #[inline]
    fn root(&self, key: u32) -> Option<u32> {
        let mask = self.roots.len() - 1;
        let mut at = hash(key, self.root_bits);
        loop {
            let (known, node) = self.roots.get(at).copied()?;
            if known == key || node == NONE {
                return Some(node).filter(|node| *node != NONE);
            }
            at = (at + 1) & mask;
        }
    }

    /// The patterns of a node and below it; the bytes before `at` have been compared.
    #[inline]
    fn walk(
        &self,
        root: u32,
        padded: &[u8],
        start: usize,
        mut at: usize,
        found: &mut impl FnMut(u32, usize, usize),
    ) {
        let mut node = root;
        while let Some(here) = self.nodes.get(node as usize) {
            let next = padded.get(at..).and_then(|rest| rest.first_chunk::<LABEL>());
            let next = next.map_or(0, |next| u64::from_le_bytes(*next));
            if (here.label ^ next) & here.mask != 0 {
                return;
            }
            at += here.length as usize;
            if here.pattern != NONE {
                found(here.pattern, start, at);
            }
            let (from, to) = here.children;
            let firsts = self.firsts.get(from as usize..to as usize).unwrap_or_default();
            let Some(byte) = padded.get(at) else { return };
            let Some(child) = firsts.iter().position(|first| first == byte) else { return };
            node = from + narrow(child);
        }
    }
}

/// Places looked at before any pattern is sought: as many as a number has bits.
const BLOCK: usize = 64;

const ONES: u64 = 0x0101_0101_0101_0101;

/// What the filter says of patterns that may begin inside words.
const IN_WORDS: u8 = Begins::ANYWHERE.0 | Begins::ANYWHERE.0 << 2;

/// The place of four bytes in the filter.
#[inline]
fn slot(four: u32) -> usize {
    hash(four, FILTER_BITS)
}

/// A number of so many bits that depends on all bytes of a key.
#[inline]
fn hash(key: u32, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b1) >> (u32::BITS - bits)) as usize
}

/// The first bytes of a pattern as a number. No text and no pattern holds a NUL, so that those of
/// different length differ.
#[inline]
fn key_of(pattern: &[u8]) -> u32 {
    let mut key = [0; KEY];
    key.iter_mut().zip(pattern).for_each(|(to, from)| *to = *from);
    u32::from_le_bytes(key)
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// All places of all patterns, one by one.
    fn plain(patterns: &[(&[u8], Begins)], text: &[u8]) -> Vec<(u32, usize, usize)> {
        let mut found = Vec::new();
        for (number, (pattern, begins)) in (0u32..).zip(patterns) {
            for (start, window) in text.windows(pattern.len()).enumerate() {
                let word = start == 0 || !text[start - 1].is_ascii_alphanumeric();
                let ends = text.get(start + window.len()).is_none_or(|next| !next.is_ascii_alphanumeric());
                if (word && ends || *begins != Begins::AT_WORDS) && window == *pattern {
                    found.push((number, start, start + window.len()));
                }
            }
        }
        found.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn what_is_there_is_found_and_nothing_else(
            patterns in prop::collection::btree_set("[ab .é]{1,3}|[ab ]{4,20}|[ab]{9}c{0,9}", 0..40),
            begins in prop::collection::vec(1u8..4, 40),
            text in "([ab .é]{0,30}|[ab]{9}c{0,9}){0,6}",
        ) {
            let patterns: BTreeSet<String> = patterns;
            let of = |(pattern, begins): (&'_ String, &u8)| (pattern.clone().into_bytes(), Begins(*begins));
            let patterns: Vec<(Vec<u8>, Begins)> = patterns.iter().zip(&begins).map(of).collect();
            let patterns: Vec<(&[u8], Begins)> =
                patterns.iter().map(|(pattern, begins)| (pattern.as_slice(), *begins)).collect();
            // What follows a text is another one.
            let padded = [text.as_bytes(), b"\0ab ab . ab ab .ab"].concat();
            let mut found = Vec::new();
            Finder::new(&patterns).find(&padded[..text.len() + PADDING], |number, start, end| {
                found.push((number, start, end));
            });
            found.sort_unstable();
            let before = found.len();
            found.dedup();
            prop_assert_eq!(before, found.len());
            for wanted in plain(&patterns, text.as_bytes()) {
                prop_assert!(found.contains(&wanted), "{:?} of {:?}", wanted, patterns);
            }
            for (number, start, end) in found {
                prop_assert_eq!(&text.as_bytes()[start..end], patterns[number as usize].0);
            }
        }
    }
}
