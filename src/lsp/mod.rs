//! The language server: diagnostics, hover, definitions, completion and formatting for editors,
//! over stdio.
//!
//! [`serve`] is the loop, `session` the protocol, `workspace` knows which rule set a document
//! belongs to, `analysis` is one rule set at one moment; the rest answers one kind of request each.

mod analysis;
mod complete;
mod documents;
mod format;
mod hover;
mod links;
mod position;
mod publish;
mod serve;
mod session;
mod symbols;
mod uri;
mod wire;
mod workspace;

pub use serve::{End, serve};
