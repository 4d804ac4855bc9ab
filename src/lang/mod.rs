//! Text → syntax tree → resolved and checked tree, diagnostics, formatter.

pub mod ast;
pub mod diagnostic;
pub(crate) mod literal;
pub mod pattern;
pub mod policy;
pub mod source;
pub mod tree;
