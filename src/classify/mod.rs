//! Evidence × table → verdict, and the explanation of a verdict.

mod classifier;
mod find;
mod judge;
mod reset;
mod truths;
mod verdict;

pub use classifier::Scratch;
pub use verdict::{ResetHint, Verdict};
