//! What is kept of errors for the operator: those that no rule matched, how often each rule decided,
//! and which rules a host has in force. None of it steers a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::store::StoreError;
use crate::{
    signal::{Aborted, Signal, SignalRef, mask},
    time::Timestamp,
};

/// Entries of an inbox at most; of more, those seen longest ago are dropped.
pub const ENTRIES: usize = 1_000;

/// Bytes of all samples at most; of more, those seen longest ago are dropped.
pub const BYTES: usize = 1 << 20;

/// Tallies at most; of more, those of rules that decided longest ago are dropped.
pub const TALLIES: usize = 10_000;

/// Characters of one text of a sample at most.
const TEXT: usize = 4_000;

/// Details, and headers, of a sample at most.
const MANY: usize = 16;

/// Characters of a header's value at most.
const HEADER: usize = 200;

/// An error as it is kept: without secrets, its texts cut to a bounded length. Its JSON is a line that
/// `classify` reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sample {
    /// See [`Signal::provider`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// See [`Signal::model`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// See [`Signal::status`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// See [`Signal::code`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// See [`Signal::error_type`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// See [`Signal::param`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// See [`Signal::message`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// See [`Signal::details`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// See [`Signal::headers`]; none that carries a credential.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// See [`Signal::aborted`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Aborted>,
}

impl Sample {
    /// What is kept of an error (J6).
    #[must_use]
    pub fn of(signal: &SignalRef<'_>) -> Self {
        let text = |text: Option<&str>| text.map(|text| shortened(&mask(text), TEXT));
        let headers = signal.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
        let headers = headers.filter(|(name, _)| !is_private(name));
        Self {
            provider: text(signal.provider),
            model: text(signal.model),
            status: signal.status,
            code: text(signal.code),
            error_type: text(signal.error_type),
            param: text(signal.param),
            message: text(signal.message),
            details: signal.details.iter().take(MANY).filter_map(|detail| text(Some(detail))).collect(),
            headers: headers.take(MANY).map(|(n, value)| (n, shortened(&mask(value), HEADER))).collect(),
            aborted: signal.aborted,
        }
    }

    /// The same, as the classifier takes it.
    #[must_use]
    pub fn signal(&self) -> Signal {
        Signal {
            provider: self.provider.clone(),
            model: self.model.clone(),
            status: self.status,
            code: self.code.clone(),
            error_type: self.error_type.clone(),
            param: self.param.clone(),
            message: self.message.clone(),
            details: self.details.clone(),
            headers: self.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            aborted: self.aborted,
            received_at: None,
        }
    }
}

fn shortened(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect()
}

/// Headers that may carry a credential or say who somebody is; limits of tokens are none.
fn is_private(name: &str) -> bool {
    const PARTS: [&str; 10] = [
        "auth",
        "cookie",
        "credential",
        "key",
        "passphrase",
        "password",
        "passwd",
        "secret",
        "session",
        "token",
    ];
    let is_limit = name.contains("ratelimit") || name.contains("rate-limit");
    !is_limit && name != "www-authenticate" && PARTS.iter().any(|part| name.contains(part))
}

/// An error that no rule matched, and how often it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, never used again.
    pub id: u64,
    /// What all its errors have in common; see [`crate::signal::fingerprint`].
    pub fingerprint: String,
    /// The first of them.
    pub sample: Sample,
    /// The bucket that it fell into.
    pub bucket: String,
    /// How often it came.
    pub count: u64,
    /// When it first came.
    pub first_at: Timestamp,
    /// When it last came.
    pub last_at: Timestamp,
}

/// How often a rule decided, or (an observed one) would have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The rule's full name.
    pub rule: String,
    /// It was only observed.
    pub observed: bool,
    /// How often.
    pub count: u64,
    /// When last.
    pub last_at: Timestamp,
}

/// Everything that is kept of errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    /// The entries, by number.
    pub entries: Vec<Entry>,
    /// The tallies, by name of rule.
    pub tallies: Vec<Tally>,
    /// How many entries were dropped to keep within bounds, ever.
    pub dropped: u64,
}

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
        let (bucket, place) = (bucket.to_owned(), 1);
        self.add(
            fingerprint,
            New { sample, bucket, count: 1, first_at: now, last_at: now, place },
            self.places,
        );
        self.places += 1;
    }

    /// Adds what came again or first, `after` so many others.
    fn add(&mut self, fingerprint: String, mut new: New, after: u64) {
        new.place += after;
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
    pub(super) fn in_order(&self) -> Vec<(&String, &New)> {
        let mut all: Vec<_> = self.unmatched.iter().collect();
        all.sort_by_key(|(_, new)| new.place);
        all
    }

    /// The place of what has a fingerprint; what is not among them comes before all.
    pub(super) fn place(&self, fingerprint: &str) -> u64 {
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
            self.add(fingerprint, new, before);
        }
        for (rule, (count, last_at)) in since.tallies {
            let (sum, last) = self.tallies.entry(rule).or_insert((0, last_at));
            *sum += count;
            *last = (*last).max(last_at);
        }
    }
}

/// Which rules a host has in force, as it last said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The table's version.
    pub version: String,
    /// Where the rules came from.
    pub source: String,
    /// When this table was taken.
    pub loaded_at: Timestamp,
    /// How often the host has taken a new table.
    pub reloads: u64,
    /// When files were last refused, and why, if nothing was taken since.
    pub failure: Option<(Timestamp, String)>,
}

/// A store that keeps what is seen of errors.
pub trait Records {
    /// Adds what was seen, and drops what is too much.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written.
    fn note(&self, notes: &Notes) -> Result<(), StoreError>;

    /// Everything that is kept.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be read.
    fn inbox(&self) -> Result<Inbox, StoreError>;

    /// Drops entries by number; how many there were.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written.
    fn drop_entries(&self, ids: &[u64]) -> Result<usize, StoreError>;

    /// Says which rules are in force.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written.
    fn put_in_force(&self, rules: &InForce) -> Result<(), StoreError>;

    /// The rules that a host last said to be in force.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be read.
    fn in_force(&self) -> Result<Option<InForce>, StoreError>;
}

/// The records of a store in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub inbox: Inbox,
    next: u64,
    pub in_force: Option<InForce>,
}

impl Kept {
    pub fn note(&mut self, notes: &Notes) {
        self.inbox.dropped += notes.dropped;
        for (fingerprint, new) in notes.in_order() {
            if let Some(there) = self.inbox.entries.iter_mut().find(|it| it.fingerprint == *fingerprint) {
                there.count += new.count;
                there.last_at = there.last_at.max(new.last_at);
                continue;
            }
            self.next += 1;
            self.inbox.entries.push(Entry {
                id: self.next,
                fingerprint: fingerprint.clone(),
                sample: new.sample.clone(),
                bucket: new.bucket.clone(),
                count: new.count,
                first_at: new.first_at,
                last_at: new.last_at,
            });
        }
        let seen = |entry: &Entry| (entry.last_at, notes.place(&entry.fingerprint));
        let sizes = self.inbox.entries.iter().map(|entry| (entry.id, size(&entry.sample), seen(entry)));
        let over = too_much(sizes.collect());
        self.inbox.dropped += over.len() as u64;
        self.inbox.entries.retain(|entry| !over.contains(&entry.id));
        for ((rule, observed), (count, last_at)) in &notes.tallies {
            let there = self.inbox.tallies.iter_mut().find(|it| it.rule == *rule && it.observed == *observed);
            if let Some(there) = there {
                there.count += count;
                there.last_at = there.last_at.max(*last_at);
            } else if self.inbox.tallies.len() < TALLIES {
                let (rule, observed) = (rule.clone(), *observed);
                self.inbox.tallies.push(Tally { rule, observed, count: *count, last_at: *last_at });
            }
        }
        self.inbox.tallies.sort_by(|a, b| (&a.rule, a.observed).cmp(&(&b.rule, b.observed)));
    }

    pub fn drop_entries(&mut self, ids: &[u64]) -> usize {
        let before = self.inbox.entries.len();
        self.inbox.entries.retain(|entry| !ids.contains(&entry.id));
        before - self.inbox.entries.len()
    }
}

/// Bytes of a sample as it is stored.
fn size(sample: &Sample) -> usize {
    serde_json::to_string(sample).map_or(0, |json| json.len())
}

/// Of entries (number, bytes, last seen: when, and after what in that moment): those to drop, so that the
/// rest keeps within bounds.
pub(super) fn too_much(mut entries: Vec<(u64, usize, (Timestamp, u64))>) -> Vec<u64> {
    entries.sort_by_key(|(id, _, seen)| std::cmp::Reverse((*seen, *id)));
    let mut bytes = 0;
    let mut over = Vec::new();
    for (place, (id, size, _)) in entries.into_iter().enumerate() {
        bytes += size;
        if place >= ENTRIES || bytes > BYTES {
            over.push(id);
        }
    }
    over
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_longest_ago_is_dropped_first() {
        let at = |millis| (Timestamp::from_millis(millis), 0);
        assert_eq!(too_much(vec![(1, BYTES, at(1)), (2, 10, at(3)), (3, 10, at(2))]), [1]);
        let many = (0..ENTRIES as u64 + 2).map(|n| (n, 1, at(i64::try_from(n).unwrap()))).collect();
        assert_eq!(too_much(many), [1, 0]);
    }

    #[test]
    fn j6_a_sample_holds_no_key_and_no_cookie() {
        let headers =
            [("Set-Cookie", "id=1"), ("X-RateLimit-Limit-Tokens", "5"), ("x-note", "sk-planted-12")];
        let signal = SignalRef {
            message: Some("Incorrect key sk-planted-abc"),
            headers: crate::signal::Headers::Borrowed(&headers),
            ..SignalRef::default()
        };
        let json = serde_json::to_string(&Sample::of(&signal)).unwrap();
        assert_eq!(
            json,
            r#"{"message":"Incorrect key sk-p…","headers":{"x-note":"sk-p…","x-ratelimit-limit-tokens":"5"}}"#
        );
    }
}
