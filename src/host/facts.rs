//! What a host's own error types know of an HTTP answer, without depending on any of them.

use std::error::Error;

/// What one link of an error's chain tells (D14).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// HTTP status.
    pub status: Option<u16>,
    /// Error code.
    pub code: Option<String>,
    /// Error type, or the class of an exception.
    pub error_type: Option<String>,
    /// Response headers.
    pub headers: Vec<(String, String)>,
    /// The body, if it was read.
    pub body: Option<String>,
}

/// Reads [`Facts`] from the error types that a host uses (D14). `downcast_ref` tells them apart; a closure
/// does as well.
///
/// ```
/// use pointsman::host::{AttemptError, Facts};
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("the server answered {0}")]
/// struct Answered(u16);
///
/// let reader = |link: &(dyn std::error::Error + 'static)| {
///     let Answered(status) = link.downcast_ref()?;
///     Some(Facts { status: Some(*status), ..Facts::default() })
/// };
/// let error = AttemptError::from_error_with(&Answered(503), &reader);
/// assert_eq!(error.signal().status, Some(503));
/// ```
pub trait ReadError {
    /// What this link tells; `None` when it is of no type that the host knows.
    fn read(&self, link: &(dyn Error + 'static)) -> Option<Facts>;
}

impl<F: Fn(&(dyn Error + 'static)) -> Option<Facts>> ReadError for F {
    fn read(&self, link: &(dyn Error + 'static)) -> Option<Facts> {
        self(link)
    }
}

/// What the standard library's own errors tell: the names that systems give to network failures.
pub(super) fn standard(link: &(dyn Error + 'static)) -> Option<Facts> {
    use std::io::ErrorKind as Kind;
    let error = link.downcast_ref::<std::io::Error>()?;
    let code = match error.kind() {
        Kind::ConnectionRefused => "ECONNREFUSED",
        Kind::ConnectionReset => "ECONNRESET",
        Kind::ConnectionAborted => "ECONNABORTED",
        Kind::TimedOut => "ETIMEDOUT",
        Kind::BrokenPipe => "EPIPE",
        Kind::HostUnreachable => "EHOSTUNREACH",
        Kind::NetworkUnreachable => "ENETUNREACH",
        Kind::AddrNotAvailable => "EADDRNOTAVAIL",
        _ => return None,
    };
    Some(Facts { code: Some(code.to_owned()), ..Facts::default() })
}
