//! Evidence × table → verdict, and the explanation of a verdict.

mod verdict;

pub use verdict::{ResetHint, Verdict};
