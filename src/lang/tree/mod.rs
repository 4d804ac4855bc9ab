//! The resolved and checked tree: what `lang` hands to `table`. All `use`s are inserted, all edits
//! applied, all names resolved; order is the order in which rules are tried.

mod case;
mod cond;
mod declare;
mod id;
mod rule;

pub use case::{Case, Example, Expectation, TestBlock};
pub use cond::{ABORTS, BODIES, Cond, Field, Op, Phrases, Quantifier, Regex, Test, each_let, each_test};
pub use declare::{
    Alias, Bucket, External, Let, List, NamedBackoff, Reset, ResetPlace, Setting, SettingValue,
};
pub use id::{BackoffId, BlockId, BucketId, LetId, ListId, ResetId, RuleId, SettingId};
pub use rule::{Allow, Block, Rule};

use super::{
    policy::Policy,
    source::{Sources, Span},
};
pub use crate::time::Unit;

/// A whole rule set, checked.
#[derive(Clone, Debug, Default)]
pub struct Ruleset {
    /// The files it came from.
    pub sources: Sources,
    /// The two built-in buckets, then the declared ones.
    pub buckets: Vec<Bucket>,
    /// Provider families.
    pub aliases: Vec<Alias>,
    /// Named phrase lists, those of [`engine_list`] among them.
    pub lists: Vec<List>,
    /// Named conditions.
    pub lets: Vec<Let>,
    /// Groups and provider blocks, outer before inner.
    pub blocks: Vec<Block>,
    /// All rules in order of trial, observed ones in their places.
    pub rules: Vec<Rule>,
    /// Settings.
    pub settings: Vec<Setting>,
    /// Schedules.
    pub backoffs: Vec<NamedBackoff>,
    /// Reset declarations, in order of trial.
    pub resets: Vec<Reset>,
    /// The other policy slots.
    pub policy: Policy,
    /// `test` blocks; rules carry their own examples.
    pub tests: Vec<TestBlock>,
    /// Edits that were applied, for `rules effective`.
    pub edits: Vec<Edit>,
    /// Every `allow`, those of rules among them.
    pub allows: Vec<Allow>,
}

/// Lists that the engine itself reads, by their names.
pub mod engine_list {
    /// Keys of a payload below which stands what the user wrote (D13).
    pub const ECHO_KEYS: &str = "echo_keys";
    /// Providers whose profiles are those of their family's first member (C2).
    pub const LEGACY_PROVIDERS: &str = "legacy_providers";
    /// All of them.
    pub const ALL: [&str; 2] = [ECHO_KEYS, LEGACY_PROVIDERS];
}

impl Ruleset {
    /// The entries of a list that the engine reads; none when the rules have no such list.
    pub fn engine_list(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let lists = self.lists.iter().filter(move |list| &*list.name == name);
        lists.flat_map(|list| &list.entries).map(|entry| entry.node.as_str())
    }
}

/// An edit that was applied.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The statement.
    pub span: Span,
    /// What it changed, in words (`rule payment_required.anything_else dropped`).
    pub what: String,
}
