//! The command line. One file a command: its arguments, its work, its output.
//!
//! Arguments are parsed in full before anything touches the world; results go to stdout through
//! one locked, buffered writer, everything said about the work goes to stderr.

mod answer;
mod args;
mod atomic;
mod corpus;
mod failure;
mod flags;
mod input;
mod jsonl;
mod lines;
mod lists;
mod progress;
mod report;
mod rulebook;
mod sarif;
mod statefile;
mod table;
mod world;

mod check;
mod classify;
mod completions;
mod diff;
mod explain;
mod fmt;
mod format;
mod import;
mod inbox;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
mod orders;
mod profiles;
mod rules;
mod schedules;
mod session;
mod simulate;
mod snapshot;
mod status;
mod test;

use crate::escape;

pub use args::{Args, main};
