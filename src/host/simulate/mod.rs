//! The simulator: plays what a host does, and what providers answer, on a virtual clock through the
//! real interpreter. Nothing sleeps; the same scenario, rules and seed give the same timeline.
//!
//! [`Scenario`] is a file that a person writes; [`Player`] takes turns and answers from anywhere.

mod answers;
mod error;
mod flight;
mod line;
mod play;

mod queue;
mod read;
mod scenario;
mod start;
mod turn;

pub use answers::{Answers, Outcome, Reply, Script};
pub use error::{PlayError, ScenarioError};
pub use line::{Line, Watch};
pub use play::Player;
pub use scenario::{Act, Ask, Entry, Pinned, Scenario, ScenarioProfile, Switch, Turn};
pub use start::{latest, prepare};
