//! Errors that no rule matched: what is kept of them, and drafts of rules for them.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail so")]

mod drafts;
#[cfg(feature = "sqlite")]
mod kept;
mod variants;
#[cfg(feature = "cli")]
mod way;
