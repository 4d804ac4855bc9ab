//! Rules and the blocks around them.

use super::{Cond, Example, Name, OwnReaction, Statement};
use crate::lang::source::{Span, Spanned};

/// `[observe] rule NAME -> BUCKET when COND [reaction …]`, and the examples below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// `observe`.
    pub observe: Option<Span>,
    /// Its own name; in `replace rule a.b` the part after the dot.
    pub name: Name,
    /// Where matching errors go.
    pub bucket: Name,
    /// When it matches.
    pub condition: Condition,
    /// `reaction { … }`.
    pub reaction: Option<OwnReaction>,
    /// `example` and `counterexample`.
    pub examples: Vec<Example>,
    /// From `rule` (or `observe`) to the end of the condition or reaction, without the examples.
    pub head: Span,
}

/// When a rule matches.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `when …`.
    When(Cond),
    /// `otherwise`, and where it stands.
    Otherwise(Span),
}

/// `group NAME [when COND] { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: Name,
    /// What must hold for all rules inside.
    pub when: Option<Cond>,
    /// Rules and inner blocks.
    pub body: Vec<Statement>,
    /// From `group` to the end of the condition.
    pub head: Span,
}

/// `provider ID [as NAME] { … }`, `provider [ID, "glob*"] as NAME { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderBlock {
    /// Ids and globs; never empty.
    pub ids: Vec<Spanned<String>>,
    /// `as NAME`.
    pub name: Option<Name>,
    /// Rules and inner blocks.
    pub body: Vec<Statement>,
    /// From `provider` to the name.
    pub head: Span,
}
