//! What holds of every run, whatever the policy, the failures, the clock and other hands.
//! `POINTSMAN_RUN_PLANS` says how many plans are played (400 if it is not set).

use proptest::{prelude::*, test_runner::FileFailurePersistence};

use crate::support::plan::play;

/// Cases that once failed; they are tried first.
const REGRESSIONS: FileFailurePersistence =
    FileFailurePersistence::Direct("tests/data/run_properties.regressions");

#[expect(clippy::disallowed_methods, reason = "how long a test takes is for who runs it to say")]
fn config() -> ProptestConfig {
    let cases = std::env::var("POINTSMAN_RUN_PLANS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let failure_persistence = Some(Box::new(REGRESSIONS) as _);
    ProptestConfig { cases, max_shrink_iters: 2_000, failure_persistence, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_run_ends_and_keeps_its_word(bytes in prop::collection::vec(any::<u8>(), 300..1_800)) {
        let first = play(&bytes);
        prop_assert_eq!(first, play(&bytes), "the same seed gives the same steps");
    }
}
