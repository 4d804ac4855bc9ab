//! A policy, turns, failures, the clock and other hands → the run machine, with the property tests' oracle.

use crate::support::plan::play;

/// Any bytes are a plan: the runs end, nobody is called without reason, the budget holds, windows
/// never move backwards, another hand's changes stay, and the same seed gives the same steps.
pub fn run(data: &[u8]) {
    assert_eq!(play(data), play(data), "the same seed gives the same steps");
}
