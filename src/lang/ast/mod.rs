//! The syntax tree: one rule file as it was written, with a span on everything that a message may
//! want to point at. No name is resolved here.
//!
//! [`statement`] holds what stands in a file, [`rule`] rules and their blocks, [`cond`] conditions,
//! [`reaction`] what follows from an error, [`policy`] the closed policy forms, [`case`] examples
//! and tests.

pub mod case;
pub mod cond;
pub mod policy;
pub mod reaction;
pub mod rule;
pub mod statement;

use std::time::Duration;

pub use self::{
    case::{Case, Example, Expectation, TestBlock},
    cond::{Cond, NumberRange, Op, Phrases, Test, Value, Values},
    policy::{
        Budget, PinKind, PolicyForm, PrimaryProbe, SdkRetry, SkipCache, SourceBody, SourcePolicy, SourceSlots,
    },
    reaction::{InARow, OwnReaction, Reaction, ResetBounds, Rotate, Window},
    rule::{Condition, Group, ProviderBlock, Rule},
    statement::{
        Alias, Allow, Backoff, Broken, Bucket, DropKind, Edit, External, Growth, Let, List, Reset,
        ResetPlace, Setting, SettingValue, Statement, StatementKind, UseTarget,
    },
};
use super::source::{SourceId, Spanned};

/// A name, a provider id or a string, and where it stands.
pub type Name = Spanned<String>;

/// A value written out, or the name of the setting that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot<T> {
    /// Written out.
    Fixed(T),
    /// The setting's name.
    Setting(String),
}

/// A duration or a setting's name.
pub type DurationSlot = Spanned<Slot<Duration>>;

/// A count or a setting's name.
pub type CountSlot = Spanned<Slot<u32>>;

/// One rule file.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Which file.
    pub source: SourceId,
    /// `language N`, when it stands there.
    pub language: Option<Spanned<u32>>,
    /// Everything else, in order.
    pub statements: Vec<Statement>,
}

/// `rule`, or `block.rule`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The block's name.
    pub block: Option<Name>,
    /// The rule's own name.
    pub name: Name,
}

impl Path {
    /// As it is written: `block.rule`.
    #[must_use]
    pub fn full(&self) -> String {
        match &self.block {
            Some(block) => format!("{}.{}", block.node, self.name.node),
            None => self.name.node.clone(),
        }
    }

    /// From the block's name to the rule's.
    #[must_use]
    pub fn span(&self) -> super::source::Span {
        match &self.block {
            Some(block) => super::source::Span { end: self.name.span.end, ..block.span },
            None => self.name.span,
        }
    }
}
