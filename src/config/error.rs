//! What is wrong with a config, and where.

use std::fmt;

/// Why a config cannot be used (L1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// It is longer than any config.
    #[error("the config is {bytes} bytes long, more than {limit}; is it the right file?")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The most that is read.
        limit: usize,
    },
    /// It is no YAML.
    #[error("the config is not valid YAML: {0}")]
    Yaml(Problem),
    /// It is YAML, and says something that pointsman cannot follow.
    #[error("{}", list(.0))]
    Invalid(Vec<Problem>),
}

impl ConfigError {
    /// The single problems, in the order of the file.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::TooLong { .. } => &[],
            Self::Yaml(problem) => std::slice::from_ref(problem),
            Self::Invalid(problems) => problems,
        }
    }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

/// One thing that is wrong (L1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// One lower-case sentence.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
    /// The line, from 1; 0 when unknown.
    pub line: usize,
    /// The column, from 1; 0 when unknown.
    pub column: usize,
    /// Byte offset of that place.
    pub offset: usize,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}
