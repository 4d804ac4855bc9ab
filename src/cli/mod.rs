//! The command line. One file a command: its arguments, its work, its output.
//!
//! Arguments are parsed in full before anything touches the world; results go to stdout through
//! one locked, buffered writer, everything said about the work goes to stderr.

mod args;
mod escape;
mod failure;
mod jsonl;
mod lines;
mod progress;
mod table;
mod world;

mod completions;
mod man;

pub use args::{Args, main};
