//! All tests that use pointsman from outside, in one binary. One file a subject; behaviours carry
//! their id in the test's name (`e1_short_ladder`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail loudly, like tests"
)]

mod buckets;
mod budget;
mod chain;
mod check;
mod classify;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_state;
mod config;
mod credentials;
mod docs;
mod examples;
mod explain;
mod formatter;
mod fuzz_regressions;
mod grammar;
#[cfg(feature = "tokio")]
mod host;
#[cfg(feature = "cli")]
mod hostile;
mod import;
mod inbox;
mod lints;
#[cfg(feature = "lsp")]
mod lsp;
mod meanwhile;
mod notices;
mod oracle;
mod overlay;
mod overrides;
mod probes;
mod profiles;
mod readme;
mod reload;
mod reset;
mod rotation;
mod run_flow;
mod run_properties;
mod scenarios;
mod sdk;
#[cfg(all(feature = "sqlite", feature = "tokio"))]
mod secrets;
mod seeded;
mod shipped_rules;
mod signal;
mod state;
#[cfg(feature = "cli")]
mod status;
mod store;
mod store_faults;
mod support;
#[cfg(feature = "cli")]
mod terminal;
