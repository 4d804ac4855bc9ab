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

/// Likewise for patterns shorter than a key, which are few.
const SHORT_BITS: u32 = 10;

/// A node holds at most so many bytes; longer stretches are chains.
const LABEL: usize = 8;

/// Where a pattern may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// Behind what is no ASCII letter or digit; it does not end before one either.
    AtWords,
    /// Anywhere.
    Anywhere,
}

/// Patterns, ready to be found.
pub(super) struct Finder {
    /// By [`slot`] of four bytes: 1 when a pattern may begin with them, and 0.
    filter: Box<[u8; 1 << FILTER_BITS]>,
    /// Open addressing: the first bytes of patterns, and their node.
    roots: Vec<(u32, u32)>,
    root_bits: u32,
    /// By [`short_slot`] of two bytes: how long patterns are that begin with them and are shorter than a
    /// key, a bit for each length.
    shorts: [u8; 1 << SHORT_BITS],
    nodes: Vec<Node>,
    /// The first byte of each node's label; those below one node differ in it.
    firsts: Vec<u8>,
}

/// A pattern by its number, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(super) pattern: u32,
    pub(super) start: u32,
    pub(super) end: u32,
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
    length: u8,
    /// A pattern through it may begin anywhere.
    anywhere: bool,
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
            shorts: [0; 1 << SHORT_BITS],
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
            finder.add_root(key_of(pattern), narrow(groups.len()));
            groups.push((from..from + group.len(), pattern.len().min(KEY)));
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
        let mut pass = |four: [u8; KEY]| {
            if let Some(slot) = self.filter.get_mut(slot(u32::from_le_bytes(four))) {
                *slot = 1;
            }
        };
        let mut note = |two: [u8; 2]| {
            if let Some(lengths) = self.shorts.get_mut(short_slot(u16::from_le_bytes(two).into())) {
                *lengths |= 1 << pattern.len();
            }
        };
        match *pattern {
            [a, b, c, d, ..] => pass([a, b, c, d]),
            [a, b, c] => {
                note([a, b]);
                let word = begins == Begins::AtWords && c.is_ascii_alphanumeric();
                let next = (0..=u8::MAX).filter(|d| !(word && d.is_ascii_alphanumeric()));
                next.for_each(|d| pass([a, b, c, d]));
            }
            // So short a phrase is rare: every place is worth a look then.
            [a, ref more @ ..] => {
                let next = more.first().map_or(0..=u8::MAX, |b| *b..=*b);
                next.for_each(|b| note([a, b]));
                self.filter.fill(1);
            }
            [] => {}
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
        let here = patterns.get(group.clone()).unwrap_or_default();
        let tail = |at: usize| here.get(at).and_then(|(pattern, _)| pattern.get(depth..)).unwrap_or_default();
        let (first, last) = (tail(0), tail(here.len() - 1));
        let shared = first.iter().zip(last).take(LABEL).take_while(|(a, b)| a == b).count();
        let mut label = [0; LABEL];
        label.iter_mut().zip(first).take(shared).for_each(|(to, from)| *to = *from);
        self.firsts.push(first.first().copied().unwrap_or_default());
        // Of patterns that begin alike, the shortest comes first.
        let ends = first.len() == shared;
        let children = narrow(groups.len());
        let mut from = group.start + usize::from(ends);
        let depth = depth + shared;
        let below = here.get(usize::from(ends)..).unwrap_or_default();
        for part in below.chunk_by(|(one, _), (other, _)| one.get(depth) == other.get(depth)) {
            groups.push((from..from + part.len(), depth));
            from += part.len();
        }
        self.nodes.push(Node {
            label: u64::from_le_bytes(label),
            mask: u64::MAX.checked_shr(u64::BITS - 8 * narrow(shared)).unwrap_or_default(),
            pattern: if ends { narrow(group.start) } else { NONE },
            children: (children, narrow(groups.len())),
            length: u8::try_from(shared).unwrap_or(u8::MAX),
            anywhere: here.iter().any(|(_, begins)| *begins == Begins::Anywhere),
        });
    }

    /// Calls `found` with every pattern in `padded` without its last [`PADDING`] bytes. Not all of those
    /// found elsewhere than [`Begins`] says are told. `hits` is room to work in.
    #[inline]
    pub(super) fn find(&self, padded: &[u8], hits: &mut Vec<Hit>, mut found: impl FnMut(Hit)) {
        let length = padded.len().saturating_sub(PADDING);
        let mut start = 0;
        while start < length {
            // Places are gathered before any is looked at: nothing need be guessed meanwhile.
            let mut rest = padded.get(start..).unwrap_or_default();
            let (mut places, mut at) = (0, 0);
            while at < BLOCK.min(length - start)
                && let Some(bytes) = rest.first_chunk()
            {
                places |= self.places(bytes) << at;
                rest = rest.get(LANES..).unwrap_or_default();
                at += LANES;
            }
            // None begins at the NUL behind a text, and what follows is another text.
            if length - start < BLOCK {
                places &= (1 << (length - start)) - 1;
            }
            while places != 0 {
                self.find_at(padded, start + places.trailing_zeros() as usize, hits);
                places &= places - 1;
            }
            // Likewise what hits mean is looked up together.
            hits.iter().copied().for_each(&mut found);
            hits.clear();
            start += BLOCK;
        }
    }

    /// At which of the first [`LANES`] bytes a pattern may begin, a bit each.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "lower bytes are what is wanted")]
    fn places(&self, bytes: &[u8; 2 * LANES]) -> u64 {
        let bytes = u128::from_le_bytes(*bytes);
        let begins = |lane: usize| {
            u64::from(self.filter.get(slot((bytes >> (8 * lane)) as u32)).copied().unwrap_or_default())
        };
        // Two sums, as neither then waits long for the last term.
        let (mut low, mut high) = (0, 0);
        for lane in (0..LANES / 2).rev() {
            low = 2 * low + begins(lane);
            high = 2 * high + begins(lane + LANES / 2);
        }
        low | high << (LANES / 2)
    }

    /// The patterns that begin at `start`.
    #[inline]
    fn find_at(&self, padded: &[u8], start: usize, hits: &mut Vec<Hit>) {
        let Some(four) = padded.get(start..).and_then(|rest| rest.first_chunk::<KEY>()) else { return };
        let four = u32::from_le_bytes(*four);
        if let Some(node) = self.root(four) {
            self.walk(node, padded, start, start + KEY, hits);
        }
        let shorts = self.shorts.get(short_slot(four)).copied().unwrap_or_default();
        if shorts != 0 {
            self.find_shorts(shorts, four, padded, start, hits);
        }
    }

    /// The patterns that begin at `start` and are shorter than a key; their lengths are bits of `shorts`.
    #[inline(never)]
    fn find_shorts(&self, mut shorts: u8, four: u32, padded: &[u8], start: usize, hits: &mut Vec<Hit>) {
        while shorts != 0 {
            let length = shorts.trailing_zeros();
            if let Some(node) = self.root(four | u32::MAX << (8 * length)) {
                self.walk(node, padded, start, start + length as usize, hits);
            }
            shorts &= shorts - 1;
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
    fn walk(&self, root: u32, padded: &[u8], start: usize, mut at: usize, hits: &mut Vec<Hit>) {
        let before = start.checked_sub(1).and_then(|before| padded.get(before));
        let anywhere = self.nodes.get(root as usize).is_some_and(|node| node.anywhere);
        if !anywhere && before.is_some_and(u8::is_ascii_alphanumeric) {
            return;
        }
        let mut node = root;
        while let Some(here) = self.nodes.get(node as usize) {
            let next = padded.get(at..).and_then(|rest| rest.first_chunk::<LABEL>());
            let next = next.map_or(0, |next| u64::from_le_bytes(*next));
            if (here.label ^ next) & here.mask != 0 {
                return;
            }
            at += usize::from(here.length);
            if here.pattern != NONE {
                hits.push(Hit { pattern: here.pattern, start: narrow(start), end: narrow(at) });
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

/// The place of four bytes in the filter.
#[inline]
fn slot(four: u32) -> usize {
    hash(four, FILTER_BITS)
}

/// The place of the first two bytes of four in the table of short patterns.
#[inline]
fn short_slot(four: u32) -> usize {
    hash(four & 0xffff, SHORT_BITS)
}

/// A number of so many bits that depends on all bytes of a key.
#[inline]
fn hash(key: u32, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b1) >> (u32::BITS - bits)) as usize
}

/// The first bytes of a pattern as a number. What a shorter one lacks is filled with a byte that no text
/// holds.
#[inline]
fn key_of(pattern: &[u8]) -> u32 {
    let mut key = [u8::MAX; KEY];
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
                if (word && ends || *begins != Begins::AtWords) && window == *pattern {
                    found.push((number, start, start + window.len()));
                }
            }
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn three_letters_are_found_whatever_follows() {
        for (begins, text) in
            [(Begins::Anywhere, "xabcd"), (Begins::AtWords, "abc.d"), (Begins::AtWords, "abc")]
        {
            let finder = Finder::new(&[(b"abc", begins)]);
            let padded = [text.as_bytes(), &[0; PADDING]].concat();
            let mut found = Vec::new();
            finder.find(&padded, &mut Vec::new(), |hit| found.push(hit.start as usize));
            assert_eq!(found, [text.find("abc").unwrap()], "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_there_is_found_and_nothing_else(
            patterns in prop::collection::btree_set("[ab .é]{1,3}|[ab ]{4,20}|[ab]{9}c{0,9}", 0..40),
            begins in prop::collection::vec(prop_oneof![Just(Begins::AtWords), Just(Begins::Anywhere)], 40),
            text in "([ab .é]{0,30}|[ab]{9}c{0,9}){0,6}",
        ) {
            let patterns: BTreeSet<String> = patterns;
            let of = |(pattern, begins): (&'_ String, &Begins)| (pattern.clone().into_bytes(), *begins);
            let patterns: Vec<(Vec<u8>, Begins)> = patterns.iter().zip(&begins).map(of).collect();
            let patterns: Vec<(&[u8], Begins)> =
                patterns.iter().map(|(pattern, begins)| (pattern.as_slice(), *begins)).collect();
            // What follows a text is another one.
            let padded = [text.as_bytes(), b"\0ab ab . ab ab .ab"].concat();
            let mut found = Vec::new();
            Finder::new(&patterns).find(&padded[..text.len() + PADDING], &mut Vec::new(), |hit| {
                found.push((hit.pattern, hit.start as usize, hit.end as usize));
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
