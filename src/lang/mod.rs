//! Text → syntax tree → resolved and checked tree, diagnostics, formatter.

pub mod ast;
pub mod check;
pub mod diagnostic;
pub mod effective;
pub mod fmt;
pub(crate) mod literal;
pub mod load;
pub mod overlay;
pub mod parser;
pub mod pattern;
pub mod policy;
mod resolve;
pub mod shipped;
pub mod source;
pub mod tree;

pub use self::resolve::names::block_name;
