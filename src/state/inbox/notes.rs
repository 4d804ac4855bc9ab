//! What was seen of errors and waits to be stored.

use std::collections::{BTreeMap, BTreeSet};

use super::{BYTES, ENTRIES, Sample, size, too_much};
use crate::time::Timestamp;

/// Something that came, again or for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// The first error.
    pub sample: Sample,
    /// The bucket that it fell into.
    pub bucket: String,
    /// How often.
    pub count: u64,
    /// When first.
    pub first_at: Timestamp,
    /// When last.
    pub last_at: Timestamp,
    /// Its place among all that was noted, from 1: tells errors of one moment apart.
    pub place: u64,
}

/// What was seen and is not stored yet; at most twice as much as an inbox holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// By fingerprint.
    pub unmatched: BTreeMap<String, New>,
    /// By rule and whether it was observed: how often, and when last.
    pub tallies: BTreeMap<(String, bool), (u64, Timestamp)>,
    /// Errors that were too many to keep: those seen longest ago.
    pub dropped: u64,
    /// The place of the latest.
    places: u64,
    /// Bytes of all samples.
    bytes: usize,
}

impl Notes {
    /// Whether there is nothing to store.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unmatched.is_empty() && self.tallies.is_empty() && self.dropped == 0
    }

    /// Notes an error that no rule matched.
    pub fn unmatched(&mut self, fingerprint: String, bucket: &str, sample: Sample, now: Timestamp) {
        self.places += 1;
        let (bucket, place) = (bucket.to_owned(), self.places);
        self.add(fingerprint, New { sample, bucket, count: 1, first_at: now, last_at: now, place });
    }

    /// Adds what came again or first.
    fn add(&mut self, fingerprint: String, new: New) {
        if let Some(there) = self.unmatched.get_mut(&fingerprint) {
            there.count += new.count;
            there.last_at = there.last_at.max(new.last_at);
            there.place = new.place;
            return;
        }
        self.bytes += size(&new.sample);
        self.unmatched.insert(fingerprint, new);
        // Cut rarely, then far: a store cuts what it takes anyway.
        if self.unmatched.len() >= 2 * ENTRIES || self.bytes >= 2 * BYTES {
            self.cut();
        }
    }

    /// Keeps what an inbox would.
    fn cut(&mut self) {
        let sizes =
            self.unmatched.values().map(|new| (new.place, size(&new.sample), (new.last_at, new.place)));
        let over: BTreeSet<u64> = too_much(sizes.collect()).into_iter().collect();
        self.unmatched.retain(|_, new| !over.contains(&new.place));
        self.dropped += over.len() as u64;
        self.bytes = self.unmatched.values().map(|new| size(&new.sample)).sum();
    }

    /// What came without a rule, in the order in which it was seen last.
    pub(in crate::state) fn in_order(&self) -> Vec<(&String, &New)> {
        let mut all: Vec<_> = self.unmatched.iter().collect();
        all.sort_by_key(|(_, new)| new.place);
        all
    }

    /// The place of what has a fingerprint; what is not among them comes before all.
    pub(in crate::state) fn place(&self, fingerprint: &str) -> u64 {
        self.unmatched.get(fingerprint).map_or(0, |new| new.place)
    }

    /// Notes that a rule decided, or was observed.
    pub fn matched(&mut self, rule: &str, observed: bool, now: Timestamp) {
        let (count, last) = self.tallies.entry((rule.to_owned(), observed)).or_insert((0, now));
        *count += 1;
        *last = (*last).max(now);
    }

    /// Puts what could not be stored back before what came since.
    pub fn put_back(&mut self, earlier: Self) {
        let since = std::mem::replace(self, earlier);
        self.dropped += since.dropped;
        let before = self.places;
        self.places += since.places;
        for (fingerprint, new) in since.unmatched {
            self.add(fingerprint, New { place: before + new.place, ..new });
        }
        for (rule, (count, last_at)) in since.tallies {
            let (sum, last) = self.tallies.entry(rule).or_insert((0, last_at));
            *sum += count;
            *last = (*last).max(last_at);
        }
    }
}
