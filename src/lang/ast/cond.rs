//! Conditions.

use super::Name;
use crate::lang::{
    source::{Span, Spanned},
    tree::{Field, Quantifier, Regex},
};

/// A condition. Parentheses leave no trace but the shape of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Cond {
    /// `a and b and …`: two at least.
    All(Vec<Cond>, Span),
    /// `a or b or …`: two at least.
    Any(Vec<Cond>, Span),
    /// `not a`.
    Not(Box<Cond>, Span),
    /// The name of a `let`.
    Named(Name),
    /// A field and a question.
    Test(Test),
}

impl Cond {
    /// The whole condition.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::All(_, span) | Self::Any(_, span) | Self::Not(_, span) => *span,
            Self::Named(name) => name.span,
            Self::Test(test) => test.span,
        }
    }
}

/// A field and what is asked of it. Whether the two go together is the checker's business.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The field.
    pub field: Spanned<Field>,
    /// The question.
    pub op: Spanned<Op>,
    /// Both.
    pub span: Span,
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `is VALUE`.
    Is(Value),
    /// `in [VALUE, …]` or `in LIST`.
    In(Values),
    /// `has "p"`, `has any of …`, `has all of …`.
    Has(Quantifier, Phrases),
    /// `contains "p"`.
    Contains(Spanned<String>),
    /// `matches /re/`.
    Matches(Regex),
    /// `starts with "p"`.
    StartsWith(Spanned<String>),
    /// `is present`.
    Present,
    /// `is absent`.
    Absent,
}

/// A single value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string, or a bare word (`provider is acme`, `body is html`).
    Text(Spanned<String>),
    /// A number or a range of numbers.
    Number(NumberRange),
}

impl Value {
    /// Where it stands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Text(text) => text.span,
            Self::Number(range) => range.span,
        }
    }
}

/// `N` (then both ends are the same) or `N..N`, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// Lowest.
    pub low: u32,
    /// Highest.
    pub high: u32,
    /// Where it stands.
    pub span: Span,
}

/// The values behind `in`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// In place.
    Inline(Vec<Value>),
    /// The name of a list.
    List(Name),
}

/// The phrases behind `has`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phrases {
    /// In place.
    Inline(Vec<Spanned<String>>),
    /// The name of a list.
    List(Name),
}
