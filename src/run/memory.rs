//! What runs remember of each other beside the store: throttles and skip markers. In memory only.

use std::{collections::HashMap, time::Duration};

use crate::{state::model::Candidate, time::Timestamp};

/// Memory across the runs of one engine (B3, H3, I2, I3). Lost at restart, on purpose: it only holds back
/// probes and known failures for a while. A driver keeps one and hands it to every `next`.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The last probe of a provider, by what throttles it (I2, I3): a bucket's name, or nothing.
    probes: HashMap<(String, Option<String>), Timestamp>,
    /// Skip markers by session, and when they expire (H3).
    skips: HashMap<String, HashMap<Candidate, Timestamp>>,
    /// The number of sessions with markers at which the expired ones of all go.
    sweep_at: usize,
    /// The last origin probe, by session and origin (B3).
    origins: HashMap<String, HashMap<Candidate, OriginProbe>>,
    /// The number of sessions with origin probes at which those that hold nothing back any more go.
    sweep_origins_at: usize,
}

/// When an origin was probed, and how long that holds the next probe back (B3).
#[derive(Clone, Copy, Debug)]
struct OriginProbe {
    at: Timestamp,
    every: Duration,
}

impl Memory {
    /// Nothing remembered.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets what concerns a session: `reset` and `new` (K5).
    pub fn forget_session(&mut self, session: &str) {
        self.skips.remove(session);
        self.origins.remove(session);
    }

    /// Whether a probe of this provider is not held back (I2, I3).
    pub(super) fn may_probe(
        &self,
        provider: &str,
        bucket: Option<&str>,
        every: Duration,
        now: Timestamp,
    ) -> bool {
        let key = (provider.to_owned(), bucket.map(str::to_owned));
        self.probes.get(&key).is_none_or(|last| elapsed(*last, every, now))
    }

    pub(super) fn probed(&mut self, provider: &str, bucket: Option<&str>, now: Timestamp) {
        self.probes.insert((provider.to_owned(), bucket.map(str::to_owned)), now);
    }

    /// There was no call: what the probe of `at` used up is free again (C8), unless another run has used it
    /// since. The one before it was long enough ago.
    pub(super) fn not_probed(&mut self, provider: &str, bucket: Option<&str>, at: Timestamp) {
        let key = (provider.to_owned(), bucket.map(str::to_owned));
        if self.probes.get(&key) == Some(&at) {
            self.probes.remove(&key);
        }
    }

    /// Whether a skip marker of this candidate is alive (H3).
    pub(super) fn skips(&self, session: &str, candidate: &Candidate, now: Timestamp) -> bool {
        self.skips.get(session).and_then(|its| its.get(candidate)).is_some_and(|until| now < *until)
    }

    pub(super) fn skip(&mut self, session: &str, candidate: &Candidate, until: Timestamp, now: Timestamp) {
        if self.skips.len() >= self.sweep_at {
            self.skips.retain(|_, its| its.values().any(|until| now < *until));
            self.sweep_at = 2 * self.skips.len() + 64;
        }
        let its = self.skips.entry(session.to_owned()).or_default();
        its.retain(|_, until| now < *until);
        its.insert(candidate.clone(), until);
    }

    pub(super) fn origin_probed_at(&self, session: &str, origin: &Candidate) -> Option<Timestamp> {
        self.origins.get(session)?.get(origin).map(|probe| probe.at)
    }

    /// The origin is probed `now`; the next probe is due `every` later.
    pub(super) fn origin_probed(
        &mut self,
        session: &str,
        origin: &Candidate,
        every: Duration,
        now: Timestamp,
    ) {
        let holds = |probe: &OriginProbe| !elapsed(probe.at, probe.every, now);
        if self.origins.len() >= self.sweep_origins_at {
            self.origins.retain(|_, its| its.values().any(holds));
            self.sweep_origins_at = 2 * self.origins.len() + 64;
        }
        let its = self.origins.entry(session.to_owned()).or_default();
        its.retain(|_, probe| holds(probe));
        its.insert(origin.clone(), OriginProbe { at: now, every });
    }

    /// There was no call: the origin's probe is still due (B3, C8).
    pub(super) fn origin_not_probed(&mut self, session: &str, origin: &Candidate) {
        if let Some(its) = self.origins.get_mut(session) {
            its.remove(origin);
        }
    }
}

/// Whether `every` has passed since `last`; a clock that went backwards counts as passed, so that
/// it cannot hold a probe back for ever (E11).
pub(super) fn elapsed(last: Timestamp, every: Duration, now: Timestamp) -> bool {
    now < last || now.since(last) >= every
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate() -> Candidate {
        Candidate { provider: "acme".into(), model: "m".into() }
    }

    #[test]
    fn k5_forgetting_a_session_leaves_the_others_and_the_probes() {
        let mut memory = Memory::new();
        let now = Timestamp::from_millis(1_000);
        let later = now.after(Duration::from_mins(1));
        for session in ["a", "b"] {
            memory.skip(session, &candidate(), later, now);
            memory.origin_probed(session, &candidate(), Duration::from_mins(5), now);
        }
        memory.probed("acme", None, now);
        memory.forget_session("a");
        assert!(!memory.skips("a", &candidate(), now));
        assert!(memory.skips("b", &candidate(), now));
        assert_eq!(memory.origin_probed_at("a", &candidate()), None);
        assert_eq!(memory.origin_probed_at("b", &candidate()), Some(now));
        assert!(!memory.may_probe("acme", None, Duration::from_secs(30), now));
    }

    #[test]
    fn h3_expired_markers_do_not_pile_up() {
        let mut memory = Memory::new();
        for n in 0..10_000 {
            let now = Timestamp::from_millis(n * 1_000);
            memory.skip(&format!("s{n}"), &candidate(), now.after(Duration::from_secs(30)), now);
        }
        assert!(memory.skips.len() < 200, "{}", memory.skips.len());
        assert!(memory.skips("s9999", &candidate(), Timestamp::from_millis(10_000_000)));
    }

    #[test]
    fn b3_origin_probes_of_past_sessions_do_not_pile_up() {
        let mut memory = Memory::new();
        for n in 0..10_000 {
            let now = Timestamp::from_millis(n * 1_000);
            memory.origin_probed(&format!("s{n}"), &candidate(), Duration::from_mins(5), now);
        }
        assert!(memory.origins.len() < 1_000, "{}", memory.origins.len());
        assert!(memory.origin_probed_at("s9700", &candidate()).is_some(), "it still holds the next one back");
    }

    #[test]
    fn c8_a_probe_that_was_none_frees_no_later_one() {
        let mut memory = Memory::new();
        let (first, every) = (Timestamp::from_millis(1_000_000), Duration::from_secs(30));
        let second = first.after(every);
        memory.probed("acme", None, first);
        memory.not_probed("acme", None, first);
        assert!(memory.may_probe("acme", None, every, first));
        memory.probed("acme", None, second);
        memory.not_probed("acme", None, first);
        assert!(!memory.may_probe("acme", None, every, second));
    }

    #[test]
    fn a_clock_that_went_backwards_holds_no_probe_back() {
        let mut memory = Memory::new();
        memory.probed("acme", None, Timestamp::from_millis(1_000_000));
        assert!(memory.may_probe("acme", None, Duration::from_secs(30), Timestamp::from_millis(5)));
    }
}
