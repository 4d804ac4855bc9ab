//! Config and environment as the place where settings of the rules are looked up (L2).

use super::Config;
use crate::table::SettingSource;

/// A config, and a way to read the environment.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    /// The config.
    pub config: &'a Config,
    /// An environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

impl SettingSource for Outside<'_> {
    fn config(&self, path: &str) -> Option<f64> {
        self.config.numbers.get(path)
    }

    fn config_by_provider(&self, path: &str) -> Vec<(String, f64)> {
        self.config.numbers.all(path).to_vec()
    }

    fn env(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }
}

/// A config alone, without an environment.
impl SettingSource for Config {
    fn config(&self, path: &str) -> Option<f64> {
        self.numbers.get(path)
    }

    fn config_by_provider(&self, path: &str) -> Vec<(String, f64)> {
        self.numbers.all(path).to_vec()
    }

    fn env(&self, _: &str) -> Option<String> {
        None
    }
}
