//! A backoff schedule whose every value is resolved: what a ladder climbs (E1, E3, E5, E10).

use std::time::Duration;

/// A schedule, free of settings and names of the rules. Two failures climb the same ladder when
/// profile, scope and `name` are equal (E10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Its name in the rules.
    pub name: String,
    /// The steps.
    pub steps: Steps,
    /// Share of a step by which it may vary either way, in percent; 0: none.
    pub jitter_percent: u8,
}

/// How a schedule grows (E1, E3, E5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// A list; the last repeats. An empty list means no window.
    List(Vec<Duration>),
    /// Doubling from a start up to a cap.
    Doubling {
        /// The first step.
        from: Duration,
        /// The longest step.
        up_to: Duration,
    },
}

impl Schedule {
    /// A schedule without jitter.
    #[must_use]
    pub fn new(name: impl Into<String>, steps: Steps) -> Self {
        Self { name: name.into(), steps, jitter_percent: 0 }
    }

    /// The length of step `step`, counted from 1, without jitter (E1, E3, E5). Step 0 counts as 1.
    #[must_use]
    pub fn step(&self, step: u32) -> Duration {
        let above = step.saturating_sub(1);
        match &self.steps {
            Steps::List(list) => {
                let at = usize::try_from(above).unwrap_or(usize::MAX).min(list.len().saturating_sub(1));
                list.get(at).copied().unwrap_or_default()
            }
            Steps::Doubling { from, up_to } => {
                let factor = 1_u32.checked_shl(above).unwrap_or(u32::MAX);
                from.checked_mul(factor).unwrap_or(Duration::MAX).min(*up_to)
            }
        }
    }

    /// Like [`Self::step`], varied by the jitter; the same seed and step give the same length.
    #[must_use]
    pub fn jittered(&self, step: u32, seed: u64) -> Duration {
        let plain = self.step(step);
        if self.jitter_percent == 0 {
            return plain;
        }
        let number = |millis: u128| u64::try_from(millis).unwrap_or(u64::MAX);
        let millis = number(plain.as_millis());
        let swing = number(plain.as_millis() * u128::from(self.jitter_percent.min(100)) / 100);
        let span = swing.saturating_mul(2).saturating_add(1);
        let drawn = mix(seed ^ mix(u64::from(step))) % span;
        Duration::from_millis(millis.saturating_sub(swing).saturating_add(drawn))
    }
}

/// Spreads a seed over all bits, so that near seeds draw far apart.
fn mix(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn minutes(n: u64) -> Duration {
        Duration::from_secs(n * 60)
    }

    fn walk(schedule: &Schedule) -> Vec<u64> {
        (1..=5).map(|n| schedule.step(n).as_secs() / 60).collect()
    }

    #[test]
    fn e1_the_last_step_of_a_list_repeats() {
        let short =
            Schedule::new("short", Steps::List(vec![minutes(1), minutes(5), minutes(25), minutes(60)]));
        assert_eq!(walk(&short), [1, 5, 25, 60, 60]);
        assert_eq!(short.step(u32::MAX), minutes(60));
        assert_eq!(short.step(0), minutes(1));
    }

    #[test]
    fn e3_doubling_stops_at_the_cap() {
        let billing = Schedule::new("billing", Steps::Doubling { from: minutes(300), up_to: minutes(1440) });
        assert_eq!(walk(&billing), [300, 600, 1200, 1440, 1440]);
        assert_eq!(billing.step(200), minutes(1440));
    }

    #[test]
    fn e5_doubling_from_ten_minutes() {
        let auth = Schedule::new("auth", Steps::Doubling { from: minutes(10), up_to: minutes(60) });
        assert_eq!(walk(&auth), [10, 20, 40, 60, 60]);
    }

    #[test]
    fn jitter_is_seeded_and_stays_within_its_share() {
        let mut short = Schedule::new("short", Steps::List(vec![minutes(1)]));
        short.jitter_percent = 10;
        let draws: Vec<_> = (0..50).map(|seed| short.jittered(1, seed)).collect();
        assert!(draws.iter().all(|d| (54_000..=66_000).contains(&d.as_millis())));
        assert!(draws.iter().any(|d| *d != draws[0]), "it varies");
        let few = Schedule {
            steps: Steps::List(vec![Duration::from_millis(150)]),
            jitter_percent: 4,
            ..short.clone()
        };
        let spans: std::collections::BTreeSet<_> =
            (0..500).map(|seed| few.jittered(1, seed).as_millis()).collect();
        assert!(spans.into_iter().eq(144..=156), "all of its share, both ends included");
        assert_eq!(draws[7], short.jittered(1, 7), "the same seed draws the same");
    }
    #[test]
    fn what_a_seed_draws_stays_the_same() {
        // A simulation with a seed can be told of and run again, also by a later version.
        let schedule =
            Schedule { name: "short".into(), steps: Steps::List(vec![minutes(1)]), jitter_percent: 10 };
        let drawn = |seed| [1, 2].map(|step| schedule.jittered(step, seed).as_millis());
        assert_eq!(drawn(0), [61_245, 63_778]);
        assert_eq!(drawn(1), [59_660, 64_638]);
        assert_eq!(drawn(1 << 63), [61_764, 61_712]);
    }
}
