//! What holds of every run, whatever the policy, the failures, the clock and other hands.

use proptest::{prelude::*, test_runner::FileFailurePersistence};

use crate::support::plan::*;

/// Cases that once failed; they are tried first.
const REGRESSIONS: FileFailurePersistence =
    FileFailurePersistence::Direct("tests/data/run_properties.regressions");

fn calls() -> impl Strategy<Value = Call> {
    let meddling = prop_oneof![
        12 => Just(Meddling::None),
        1 => (0..MODELS.len()).prop_map(Meddling::Pick),
        1 => Just(Meddling::Compact),
        1 => Just(Meddling::Clear),
        1 => (0..3usize).prop_map(Meddling::Fail),
    ];
    (0..20usize, prop::bool::weighted(0.05), prop::option::weighted(0.2, 1..100_000u32), 0..40u64, meddling)
        .prop_map(|(outcome, partial, reset, takes, meddling)| Call {
            outcome,
            partial,
            reset,
            takes,
            meddling,
        })
}

fn plans() -> impl Strategy<Value = Plan> {
    (
        0..7usize,
        prop::collection::vec(0..MODELS.len(), 1..6),
        prop::collection::vec(0..4usize, 4),
        prop::option::weighted(0.2, 0..3usize),
        any::<bool>(),
        prop::bool::weighted(0.1),
        prop::collection::vec(prop_oneof![0..120u64, 0..40_000u64], 1..6),
        prop::collection::vec(calls(), 1..40),
    )
        .prop_map(|(policy, chain, profiles, pinned, mends, broken, turns, calls)| Plan {
            policy,
            chain,
            profiles,
            pinned,
            mends,
            broken,
            turns,
            calls,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: Some(Box::new(REGRESSIONS)), ..ProptestConfig::default() })]

    #[test]
    fn every_run_ends_and_keeps_its_word(plan in plans()) {
        let first = play(&plan);
        let second = play(&plan);
        prop_assert_eq!(first, second, "the same seed gives the same steps");
    }
}
