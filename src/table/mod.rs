//! Checked tree → immutable matcher table, with the values of settings in force.

pub(crate) mod ask;
pub(crate) mod atom;
mod compile;
mod error;
pub(crate) mod exprs;
mod hash;
mod index;
pub(crate) mod literals;
pub(crate) mod program;
mod settings;
mod slots;

pub(crate) use compile::Matcher;

pub use error::TableError;
pub use settings::{InForce, NoSettings, Origin, SettingSource, Settings};

use std::collections::HashMap;

use crate::lang::tree::Ruleset;

/// A compiled rule set. Immutable, `Send + Sync`, meant to be shared in an `Arc`; a reload makes a
/// new one.
#[derive(Debug)]
pub struct Table {
    rules: Ruleset,
    settings: Settings,
    /// Folded provider id → family.
    families: HashMap<String, String>,
    hash: u64,
    matcher: Matcher,
}

impl Table {
    /// Compiles a checked rule set, with settings overridden by `source` (L2).
    ///
    /// # Errors
    /// When `source` holds something that cannot be a value of its setting.
    pub fn compile(rules: Ruleset, source: &dyn SettingSource) -> Result<Self, TableError> {
        let settings = Settings::read(&rules, source)?;
        let families = slots::families(&rules.aliases);
        let hash = hash::of(&rules, &settings);
        let matcher = compile::compile(&rules, &families)?;
        Ok(Self { rules, settings, families, hash, matcher })
    }

    /// Builds every regular expression now instead of at its first literal hit: for a reload, before
    /// the new table takes the old one's place.
    pub fn warm(&self) {
        self.matcher.exprs.warm();
    }

    pub(crate) fn matcher(&self) -> &Matcher {
        &self.matcher
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Table>();
};
