//! Text → syntax tree → resolved and checked tree, diagnostics, formatter.

mod literal;
pub mod pattern;
pub mod ast;
pub mod policy;
pub mod source;
pub mod tree;
