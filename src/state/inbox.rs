//! What is kept of errors for the operator: those that no rule matched, how often each rule decided,
//! and which rules a host has in force. None of it steers a run.

mod notes;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::notes::{New, Notes};
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
