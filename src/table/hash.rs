//! A stable version number of the rules in force, and the hasher of names.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use super::Settings;
use crate::lang::tree::Ruleset;

/// FNV-1a: the standard hasher may change between releases, and a version must not.
#[derive(Debug)]
pub(crate) struct Fnv(u64);

/// A map by names of the rules: short ones, looked up for every error, and no attacker's choice.
pub(crate) type Names<T> = HashMap<String, T, BuildHasherDefault<Fnv>>;

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// Hashes the text of every file, in order, and the settings in force.
pub(super) fn of(rules: &Ruleset, settings: &Settings) -> u64 {
    let mut hash = Fnv::default();
    for (_, source) in rules.sources.iter() {
        hash.write(&source.text.len().to_le_bytes());
        hash.write(source.text.as_bytes());
    }
    for (setting, value) in rules.settings.iter().zip(settings.iter()) {
        hash.write(format!("{}={:?}{:?};", setting.name, value.value, value.by_provider).as_bytes());
    }
    hash.0
}
