//! Why a scenario cannot be read, or not be played.

use crate::{config::Problem, run::OutOfTurn, state::store::StoreError};

/// Why a scenario cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// It is longer than any scenario.
    #[error("the scenario is {bytes} bytes long, more than {limit}; is it the right file?")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The most that is read.
        limit: usize,
    },
    /// It is no YAML.
    #[error("the scenario is not valid YAML: {0}")]
    Yaml(Problem),
    /// It is YAML, and says something that cannot be played.
    #[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<Problem>),
}

impl ScenarioError {
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

/// Why a scenario broke off.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The simulator and the interpreter misunderstood each other: a bug.
    #[error("the interpreter was called out of turn: {0}")]
    OutOfTurn(#[from] OutOfTurn),
}
