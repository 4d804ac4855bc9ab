//! The loop: one thread reads messages, this one answers them in order.
//!
//! Edits are only noted; diagnostics are made when the client has been quiet for a moment, or when
//! they are long overdue. A slow rule set so costs a client that types at most one analysis a while.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Write},
    path::Path,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    session::{After, Session},
    wire::{self, Incoming, Refusal, code},
};
use crate::table::SettingSource;

/// Messages that may wait; beyond, the client's pipe fills up.
const WAITING: usize = 256;

/// How long the client must be quiet before diagnostics are made: as long as the last time took, but no
/// longer than the second; or the first, which is next to nothing, where the last time was [`FAST`].
const QUIET: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(300));

/// Below this, diagnostics are made faster than anybody types.
const FAST: Duration = Duration::from_millis(50);

/// After this time, and as often as they take, diagnostics are made although edits go on.
const OVERDUE: Duration = Duration::from_millis(400);

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// `shutdown`, then `exit`: exit code 0.
    Orderly,
    /// `exit` or the end of the input without `shutdown`: exit code 1.
    Abrupt,
}

/// Serves one client until it says `exit` or its stream ends. Settings in force come from
/// `settings`; copies of shipped files are written below `cache` when a client wants to see one.
///
/// # Errors
/// When `output` takes no more.
#[expect(
    clippy::disallowed_methods,
    reason = "a driver: it starts the reading thread and waits by the clock"
)]
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    settings: &dyn SettingSource,
    cache: &Path,
) -> io::Result<End> {
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    thread::spawn(move || {
        let mut input = input;
        while let Ok(Some(message)) = wire::read(&mut input) {
            let last = is_notification(&message, "exit");
            if sender.send(message).is_err() || last {
                break;
            }
        }
    });
    let mut session = Session::new(output, settings, cache);
    let mut queue = Queue { receiver, waiting: VecDeque::new() };
    let mut dirty: Option<Instant> = None;
    let mut took = Duration::ZERO;
    loop {
        let overdue = dirty.is_some_and(|since| since.elapsed() > OVERDUE + took);
        let message = if overdue {
            None
        } else {
            let quiet = if took < FAST { QUIET.0 } else { took.min(QUIET.1) };
            match queue.next(dirty.map(|_| quiet)) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(session.end()),
            }
        };
        let Some(message) = message else {
            let start = Instant::now();
            session.publish()?;
            took = start.elapsed();
            dirty = None;
            continue;
        };
        if let Incoming::Request { id, .. } = &message
            && queue.is_cancelled(id)
        {
            session.answer(id, Err(Refusal::new(code::CANCELLED, "the request was taken back")))?;
            continue;
        }
        match session.handle(message)? {
            After::Nothing => {}
            After::Dirty => dirty = dirty.or_else(|| Some(Instant::now())),
            After::Exit => return Ok(session.end()),
        }
    }
}

struct Queue {
    receiver: Receiver<Incoming>,
    waiting: VecDeque<Incoming>,
}

impl Queue {
    /// The next message, waited for at most this long (`None`: as long as it takes).
    fn next(&mut self, wait: Option<Duration>) -> Result<Incoming, RecvTimeoutError> {
        if let Some(message) = self.waiting.pop_front() {
            return Ok(message);
        }
        match wait {
            Some(wait) => self.receiver.recv_timeout(wait),
            None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Whether the client has already taken a request back.
    fn is_cancelled(&mut self, id: &Value) -> bool {
        while self.waiting.len() < WAITING
            && let Ok(message) = self.receiver.try_recv()
        {
            self.waiting.push_back(message);
        }
        self.waiting.iter().any(|message| {
            is_notification(message, "$/cancelRequest")
                && matches!(message, Incoming::Notification { params, .. } if params.get("id") == Some(id))
        })
    }
}

fn is_notification(message: &Incoming, name: &str) -> bool {
    matches!(message, Incoming::Notification { method, .. } if method == name)
}
