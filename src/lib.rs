//! pointsman: failover policy for language-model calls, written as rules.
//!
//! The way through the house: `lang` turns rule files into a checked tree, `table` compiles it,
//! `signal` normalises a host's error, `classify` brings both together, `run` drives rotation and
//! fallback over `state`, and `host` does the I/O that the run asks for.

pub mod classify;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
#[cfg(feature = "cli")]
mod escape;
pub mod host;
pub mod lang;
#[cfg(feature = "lsp")]
pub mod lsp;
pub mod run;
pub mod signal;
pub mod state;
pub mod table;
pub mod time;
pub mod verify;

/// The README's Rust, compiled and run with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
