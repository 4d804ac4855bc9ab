//! What can go wrong when a table is compiled.

/// Why a rule set could not be put in force.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A value of the config that its setting cannot take.
    #[error("config `{path}` is `{value}`, but setting `{setting}` takes {expected}")]
    Config {
        /// The setting.
        setting: String,
        /// The dotted config path, with the provider where the value is one provider's.
        path: String,
        /// The value as it stands there.
        value: String,
        /// What it should be.
        expected: String,
    },
    /// A value of the environment that its setting cannot take.
    #[error("environment variable `{name}` is `{value}`, but setting `{setting}` takes {expected}, or `off`")]
    Env {
        /// The setting.
        setting: String,
        /// The variable.
        name: String,
        /// The value as it stands there.
        value: String,
        /// What it should be.
        expected: String,
    },
    /// A regular expression that is malformed or too large; the checker reports it with its place.
    #[error("regular expression `{pattern}` cannot be used: {message}")]
    Regex {
        /// Between the slashes.
        pattern: String,
        /// Why.
        message: String,
    },
}
