//! What rules name: buckets, families, lists, conditions, settings, schedules, reset times.

use std::{sync::Arc, time::Duration};

use super::{Cond, Regex};
use crate::{
    lang::{
        policy::{Backoff, DurationSlot, Reaction, Traits},
        source::{Span, Spanned},
    },
    time::Unit,
};

/// A class of errors.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// What a host should answer its own client with.
    pub http: Option<u16>,
    /// What the interpreter knows of it.
    pub traits: Traits,
    /// The reaction of its `on` block (or the built-in one).
    pub reaction: Reaction,
    /// The declaration.
    pub span: Span,
}

/// `alias openai = openai-codex, …`: providers of one family.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The family's name; a provider itself.
    pub family: String,
    /// Its other members.
    pub members: Vec<String>,
    /// The declaration.
    pub span: Span,
}

/// A named list of phrases.
#[derive(Clone, Debug)]
pub struct List {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The entries, each with its place.
    pub entries: Vec<Spanned<String>>,
    /// The declaration.
    pub span: Span,
}

/// A named condition.
#[derive(Clone, Debug)]
pub struct Let {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The condition.
    pub cond: Cond,
    /// The declaration.
    pub span: Span,
}

/// An operator's tunable value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The value in the rules, after `set`.
    pub value: SettingValue,
    /// `from config "…" in UNIT`.
    pub from_config: Option<External>,
    /// `by provider from config "…" in UNIT`.
    pub by_provider: Option<External>,
    /// `from env "…" in UNIT`.
    pub from_env: Option<External>,
    /// The declaration.
    pub span: Span,
    /// The `set` that gave the value, if one did.
    pub set_by: Option<Span>,
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A duration; `off` is zero.
    Duration(Duration),
    /// A count.
    Count(u32),
}

/// A place outside the rules from which a setting may be overridden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Config path or environment variable.
    pub path: String,
    /// The unit of numbers there; for counts, none.
    pub unit: Option<Unit>,
    /// The path.
    pub span: Span,
}

/// A named schedule.
#[derive(Clone, Debug)]
pub struct NamedBackoff {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The schedule.
    pub backoff: Backoff,
    /// The declaration.
    pub span: Span,
}

/// Where a reset time may be found, and in what unit.
#[derive(Clone, Debug)]
pub struct Reset {
    /// Its name.
    pub name: Arc<str>,
    /// Doc comment.
    pub doc: Option<String>,
    /// The place.
    pub from: ResetPlace,
    /// Units, tried in order.
    pub units: Vec<Unit>,
    /// `when …`: only then.
    pub when: Cond,
    /// `trusted up to D`: beyond the bounds of the bucket.
    pub trusted: Option<DurationSlot>,
    /// The declaration.
    pub span: Span,
}

/// The place of a reset time.
#[derive(Clone, Debug, PartialEq)]
pub enum ResetPlace {
    /// A response header; may be a glob, then the latest counts.
    Header(Spanned<String>),
    /// A JSON field, at any level.
    Field(Spanned<String>),
    /// The group `t` of a regular expression over the texts.
    Text(Regex),
}
