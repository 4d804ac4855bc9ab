//! What a host tells of a failure.

use std::borrow::Cow;

use crate::time::Timestamp;

/// How an attempt was cut off by the host's side (D11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aborted {
    /// The user cancelled.
    User,
    /// The host cancelled.
    Host,
    /// A deadline of the host passed.
    Deadline,
}

/// A failure as a host holds it. Everything is optional; all of it is evidence but
/// `received_at`, which is the clock of reset times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signal {
    /// The provider that was called.
    pub provider: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Error code.
    pub code: Option<String>,
    /// Error type, or the class of an exception.
    pub error_type: Option<String>,
    /// The parameter at fault.
    pub param: Option<String>,
    /// The message or whole body.
    pub message: Option<String>,
    /// Further texts, outside-in.
    pub details: Vec<String>,
    /// Response headers; names in any case.
    pub headers: Vec<(String, String)>,
    /// Whether the host's side cut the attempt off.
    pub aborted: Option<Aborted>,
    /// When the failure arrived; reset times count from it.
    pub received_at: Option<Timestamp>,
}

/// [`Signal`], borrowed: what [`super::Evidence`] is made from without copying.
#[derive(Clone, Debug, Default)]
pub struct SignalRef<'a> {
    /// See [`Signal::provider`].
    pub provider: Option<&'a str>,
    /// See [`Signal::model`].
    pub model: Option<&'a str>,
    /// See [`Signal::status`].
    pub status: Option<u16>,
    /// See [`Signal::code`].
    pub code: Option<&'a str>,
    /// See [`Signal::error_type`].
    pub error_type: Option<&'a str>,
    /// See [`Signal::param`].
    pub param: Option<&'a str>,
    /// See [`Signal::message`].
    pub message: Option<&'a str>,
    /// See [`Signal::details`].
    pub details: Cow<'a, [Cow<'a, str>]>,
    /// See [`Signal::headers`].
    pub headers: Cow<'a, [(Cow<'a, str>, Cow<'a, str>)]>,
    /// See [`Signal::aborted`].
    pub aborted: Option<Aborted>,
    /// See [`Signal::received_at`].
    pub received_at: Option<Timestamp>,
}
