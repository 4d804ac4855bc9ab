//! The laboratory of the crate's own tests, and what holds of every run in it.

use std::path::PathBuf;

/// The repository's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[path = "../../tests/support/lab.rs"]
#[allow(dead_code, reason = "made for more than one user")]
pub mod lab;
#[path = "../../tests/support/plan.rs"]
pub mod plan;
#[path = "../../tests/support/rules.rs"]
#[allow(dead_code, reason = "made for more than one user")]
pub mod rules;
