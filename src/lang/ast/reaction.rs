//! What follows from an error. Each slot is `None` when it is not named.

use super::{CountSlot, DurationSlot, Name};
use crate::lang::{
    policy::{End, Lane, Scope},
    source::{Span, Spanned},
};

/// `reaction { … }` or `reaction only { … }` of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnReaction {
    /// `only`: takes nothing from the bucket.
    pub only: Option<Span>,
    /// The slots it names.
    pub reaction: Reaction,
}

/// The slots between the braces of `on` and `reaction`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// `cooldown …`, `disable …`; inside: `None` for `no window`.
    pub window: Option<Spanned<Option<Window>>>,
    /// `rotate …`; inside: `None` for `no rotate`.
    pub rotate: Option<Spanned<Option<Rotate>>>,
    /// `retry once if repaired`; inside: `false` for `no retry`.
    pub retry: Option<Spanned<bool>>,
    /// `fallback`, `surface`, `fallback else surface`.
    pub end: Option<Spanned<End>>,
    /// `say "…"`.
    pub say: Option<Spanned<String>>,
    /// The braces and what stands between them.
    pub span: Span,
}

/// `cooldown|disable model|profile using BACKOFF [until reset at least D at most D] [after N in a row within D]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Short or long.
    pub lane: Lane,
    /// Model or profile.
    pub scope: Scope,
    /// The schedule's name.
    pub backoff: Name,
    /// `until reset …`.
    pub until_reset: Option<ResetBounds>,
    /// `after …`.
    pub after: Option<InARow>,
}

/// `at least D at most D`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResetBounds {
    /// Shorter hints become this.
    pub at_least: DurationSlot,
    /// Longer hints become this.
    pub at_most: DurationSlot,
}

/// `after N in a row within D`.
#[derive(Clone, Debug, PartialEq)]
pub struct InARow {
    /// The failure that opens the window.
    pub count: Spanned<u32>,
    /// How close together.
    pub within: DurationSlot,
}

/// `rotate [up to N] [after D]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotate {
    /// How many.
    pub up_to: Option<CountSlot>,
    /// A pause before each.
    pub after: Option<DurationSlot>,
}
