//! Text → syntax tree → resolved and checked tree, diagnostics, formatter.

pub mod ast;
mod literal;
pub mod pattern;
pub mod policy;
pub mod source;
pub mod tree;
