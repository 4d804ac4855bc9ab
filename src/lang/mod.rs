//! Text → syntax tree → resolved and checked tree, diagnostics, formatter.

pub mod policy;
pub mod source;
pub mod tree;
