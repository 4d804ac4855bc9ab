//! A failed call, as a host tells it.

use std::{error::Error, fmt};

use super::facts::{ReadError, standard};
use crate::{
    run::Failed,
    signal::{Aborted, Signal},
};

/// Links of a `source()` chain that are read.
const LINKS: usize = 32;

/// Why an attempt failed: everything the host knows of it, and whether output has reached the user (D14, H5).
/// A success status with an error inside is reported the same way.
///
/// ```
/// use pointsman::host::AttemptError;
///
/// let error = AttemptError::new()
///     .status(429)
///     .header("retry-after", "30")
///     .body(r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#);
/// assert_eq!(error.signal().status, Some(429));
/// ```
#[derive(Clone, Default)]
pub struct AttemptError {
    failed: Failed,
}

impl AttemptError {
    /// An error of which nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An error with this message.
    #[must_use]
    pub fn message(message: impl Into<String>) -> Self {
        Self::new().body(message)
    }

    /// An error with its whole `source()` chain: the outermost text as the message, the others as
    /// details; names of network failures as the code (D14).
    #[must_use]
    pub fn from_error(error: &(dyn Error + 'static)) -> Self {
        Self::from_error_with(error, &standard)
    }

    /// Like [`Self::from_error`], with a reader for the host's own error types. What an outer link
    /// tells counts before what an inner one tells; a body counts before the message.
    #[must_use]
    pub fn from_error_with(error: &(dyn Error + 'static), reader: &dyn ReadError) -> Self {
        let mut signal = Signal::default();
        let mut texts: Vec<String> = Vec::new();
        let mut link = Some(error);
        for _ in 0..LINKS {
            let Some(this) = link else { break };
            if let Some(inner) = this.downcast_ref::<Self>() {
                return inner.clone().under(signal, texts);
            }
            if let Some(facts) = reader.read(this).or_else(|| standard(this)) {
                signal.status = signal.status.or(facts.status);
                signal.code = signal.code.or(facts.code);
                signal.error_type = signal.error_type.or(facts.error_type);
                signal.message = signal.message.or(facts.body);
                if signal.headers.is_empty() {
                    signal.headers = facts.headers;
                }
            }
            let text = this.to_string();
            // Many types print what their source prints.
            if !text.trim().is_empty() && !texts.iter().any(|outer| outer.contains(&text)) {
                texts.push(text);
            }
            link = this.source();
        }
        Self::default().under(signal, texts)
    }

    /// Puts what outer links told before what is known here.
    fn under(mut self, outer: Signal, texts: Vec<String>) -> Self {
        let inner = &mut self.failed.signal;
        inner.status = outer.status.or(inner.status);
        inner.code = outer.code.or(inner.code.take());
        inner.error_type = outer.error_type.or(inner.error_type.take());
        inner.message = outer.message.or(inner.message.take());
        if !outer.headers.is_empty() {
            inner.headers = outer.headers;
        }
        let mut texts = texts.into_iter();
        if inner.message.is_none() {
            inner.message = texts.next();
        }
        inner.details.splice(0..0, texts);
        self
    }

    /// The HTTP status (D14).
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.failed.signal.status = Some(status);
        self
    }

    /// A response header; its name in any case (D14).
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.failed.signal.headers.push((name.into(), value.into()));
        self
    }

    /// All response headers (D14).
    #[must_use]
    pub fn headers<N: Into<String>, V: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let headers = headers.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.failed.signal.headers.extend(headers);
        self
    }

    /// The whole body, or the message of an exception (D14).
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.failed.signal.message = Some(body.into());
        self
    }

    /// An error code that did not come with the body (D14).
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.failed.signal.code = Some(code.into());
        self
    }

    /// An error type, or the class of an exception (D14).
    #[must_use]
    pub fn error_type(mut self, error_type: impl Into<String>) -> Self {
        self.failed.signal.error_type = Some(error_type.into());
        self
    }

    /// A further text (D14).
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.failed.signal.details.push(detail.into());
        self
    }

    /// Output of this attempt has reached the user (H5): no other attempt follows.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.failed.partial = true;
        self
    }

    /// The host's own side cut the call off (D11).
    #[must_use]
    pub fn aborted(mut self, by: Aborted) -> Self {
        self.failed.aborted = Some(by);
        self.failed.signal.aborted = Some(by);
        self
    }

    /// What is known of the failure (D14).
    #[must_use]
    pub const fn signal(&self) -> &Signal {
        &self.failed.signal
    }
}

impl From<Signal> for AttemptError {
    fn from(signal: Signal) -> Self {
        let aborted = signal.aborted;
        Self { failed: Failed { signal, aborted, ..Failed::default() } }
    }
}

impl From<std::io::Error> for AttemptError {
    fn from(error: std::io::Error) -> Self {
        Self::from_error(&error)
    }
}

impl From<AttemptError> for Failed {
    fn from(error: AttemptError) -> Self {
        error.failed
    }
}

/// Shows no texts: a provider's may repeat the key (J6).
impl fmt::Debug for AttemptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptError")
            .field("status", &self.failed.signal.status)
            .field("partial", &self.failed.partial)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for AttemptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.failed.signal.status, self.failed.partial) {
            (Some(status), false) => write!(f, "the call failed with status {status}"),
            (Some(status), true) => write!(f, "the call broke off with status {status}"),
            (None, false) => f.write_str("the call failed"),
            (None, true) => f.write_str("the call broke off"),
        }
    }
}

impl Error for AttemptError {}
