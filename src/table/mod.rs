//! Checked tree → immutable matcher table, with the values of settings in force.

mod error;
mod hash;
mod settings;
mod slots;

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
        Ok(Self { rules, settings, families, hash })
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Table>();
};
