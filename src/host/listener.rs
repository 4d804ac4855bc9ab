//! Who hears of what runs do (J2, J4).

use tokio::sync::mpsc::UnboundedSender;

use super::rules::{ReloadError, Reloaded};
use crate::run::{Event, Notice};

/// Hears of every event and notice (J2, J4). Called from the run: be quick, or pass it on through a channel.
pub trait Listener: Send + Sync {
    /// Something happened in a run of `session`.
    fn event(&self, session: Option<&str>, event: &Event) {
        let _ = (session, event);
    }

    /// A message for the user of `session` (J4); the turn's outcome holds it too.
    fn notice(&self, session: Option<&str>, notice: &Notice) {
        let _ = (session, notice);
    }

    /// Changed rule files were taken, or refused.
    fn reloaded(&self, done: &Result<Reloaded, ReloadError>) {
        let _ = done;
    }
}

/// What a channel carries (J2, J4).
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// An event of a session.
    Event(Option<String>, Event),
    /// A message for its user.
    Notice(Option<String>, Notice),
}

/// Passes everything on; nobody minds when the other end is gone.
impl Listener for UnboundedSender<Said> {
    fn event(&self, session: Option<&str>, event: &Event) {
        drop(self.send(Said::Event(session.map(str::to_owned), event.clone())));
    }

    fn notice(&self, session: Option<&str>, notice: &Notice) {
        drop(self.send(Said::Notice(session.map(str::to_owned), notice.clone())));
    }
}
