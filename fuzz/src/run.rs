//! Turns, failures, the clock and other hands → the run machine, with the property tests' oracle.

use crate::support::plan::{Call, MODELS, Meddling, Plan, play};

/// Any bytes are a plan: the run ends, nobody is called without reason, the budget holds, windows
/// never move backwards, another hand's changes stay, and the same seed gives the same steps.
pub fn run(data: &[u8]) {
    let plan = plan(&mut Bytes(data));
    let first = play(&plan);
    assert_eq!(first, play(&plan), "the same seed gives the same steps");
}

/// Input, byte by byte; behind its end there are zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most
    }

    fn wide(&mut self) -> u64 {
        u64::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    fn one_in(&mut self, most: usize) -> bool {
        self.below(most) == 1
    }

    fn many<T>(&mut self, least: usize, most: usize, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| make(self)).collect()
    }
}

fn plan(bytes: &mut Bytes<'_>) -> Plan {
    Plan {
        policy: bytes.below(7),
        chain: bytes.many(1, 6, |bytes| bytes.below(MODELS.len())),
        profiles: bytes.many(4, 4, |bytes| bytes.below(5)),
        pinned: bytes.one_in(5).then(|| bytes.below(3)),
        mends: bytes.one_in(2),
        broken: bytes.one_in(10),
        turns: bytes.many(1, 8, |bytes| match bytes.below(2) {
            0 => bytes.wide() % 120,
            _ => bytes.wide(),
        }),
        calls: bytes.many(1, 48, call),
    }
}

fn call(bytes: &mut Bytes<'_>) -> Call {
    Call {
        outcome: bytes.below(20),
        partial: bytes.one_in(20),
        reset: bytes.one_in(5).then(|| u32::try_from(bytes.wide() * 2 + 1).unwrap_or(1)),
        takes: u64::from(bytes.byte()) % 40,
        meddling: match bytes.below(16) {
            1 => Meddling::Pick(bytes.below(MODELS.len())),
            2 => Meddling::Compact,
            3 => Meddling::Clear,
            4 => Meddling::Fail(bytes.below(3)),
            _ => Meddling::None,
        },
    }
}
