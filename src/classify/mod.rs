//! Evidence × table → verdict, and the explanation of a verdict.

mod classifier;
pub mod explain;
mod find;
mod judge;
mod reset;
mod truths;
mod verdict;

pub use classifier::Scratch;
pub use explain::{Explanation, explain};
pub use verdict::{ResetHint, Verdict};
