//! The bodies of the fuzz targets. Each takes any bytes and panics when something that holds of
//! every input does not; libFuzzer runs them by way of `fuzz_targets/`, [`replay`](../bin/replay.rs)
//! without it.

// What is included from the crate's own sources and tests names these as `crate::…`.
pub(crate) use pointsman::{classify, lang, table, time, verify};

#[allow(dead_code, reason = "only what reading and answering need is used of the included files")]
mod cli;
mod config;
mod import;
mod input;
mod judge;
mod rules;
mod run;
mod scenario;
pub mod seeds;
mod shipped;
mod signal;
mod support;
mod times;

pub use cli::lines;
pub use config::config;
pub use import::import;
pub use judge::classify;
pub use rules::rules;
pub use run::run;
pub use scenario::scenario;
pub use times::times;

/// A target's body.
pub type Body = fn(&[u8]);

/// Every target by name.
pub const TARGETS: [(&str, Body); 8] = [
    ("rules", rules),
    ("classify", classify),
    ("lines", lines),
    ("config", config),
    ("scenario", scenario),
    ("import", import),
    ("times", times),
    ("run", run),
];
