//! The process's environment, as settings and secrets are looked up in it (C8, E9, H3, L2).

use secrecy::SecretString;

use crate::{config::Config, state::secret::SecretSource, table::SettingSource};

/// A config, and the environment of this process: what [`crate::table::Table::compile`] takes in a
/// host (L2).
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// The host's config.
    pub config: &'a Config,
}

impl SettingSource for Environment<'_> {
    fn config(&self, path: &str) -> Option<f64> {
        self.config.numbers.get(path)
    }

    fn config_by_provider(&self, path: &str) -> Vec<(String, f64)> {
        self.config.numbers.all(path).to_vec()
    }

    fn env(&self, name: &str) -> Option<String> {
        variable(name)
    }
}

/// Secrets of `env:NAME` from the environment of this process, of `file:PATH` from the disk (C8).
#[derive(Clone, Copy, Debug, Default)]
pub struct Process;

impl SecretSource for Process {
    fn env(&self, name: &str) -> Option<SecretString> {
        variable(name).map(SecretString::from)
    }
}

#[expect(clippy::disallowed_methods, reason = "the driver's own look at the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
