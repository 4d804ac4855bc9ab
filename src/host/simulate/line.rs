//! The timeline.

use std::{sync::Arc, time::Duration};

use serde::{Serialize, Serializer};

use super::scenario::Turn;
use crate::run::Event;

/// One event of the timeline. In JSON: `atMs`, `session`, and the event, flat; all times count from
/// the start of the scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// When, since the start.
    #[serde(rename = "atMs", serialize_with = "millis")]
    pub at: Duration,
    /// In which session.
    pub session: Arc<str>,
    /// Of which run, from 1; 0 when the host did something without one.
    #[serde(skip)]
    pub run: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

fn millis<S: Serializer>(span: &Duration, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u64(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

/// Somebody who looks on.
pub trait Watch {
    /// The host does something.
    fn turn(&mut self, turn: &Turn) {
        let _ = turn;
    }

    /// Something happens.
    fn line(&mut self, line: Line);
}

/// Nobody looks on.
impl Watch for () {
    fn line(&mut self, _: Line) {}
}

impl Watch for Vec<Line> {
    fn line(&mut self, line: Line) {
        self.push(line);
    }
}
