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

impl Aborted {
    pub(crate) const ALL: [Self; 3] = [Self::User, Self::Host, Self::Deadline];

    /// As rules write it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Host => "host",
            Self::Deadline => "deadline",
        }
    }
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

impl Signal {
    /// The same, borrowed.
    #[must_use]
    pub fn as_ref(&self) -> SignalRef<'_> {
        SignalRef {
            provider: self.provider.as_deref(),
            model: self.model.as_deref(),
            status: self.status,
            code: self.code.as_deref(),
            error_type: self.error_type.as_deref(),
            param: self.param.as_deref(),
            message: self.message.as_deref(),
            details: Texts::Owned(&self.details),
            headers: Headers::Owned(&self.headers),
            aborted: self.aborted,
            received_at: self.received_at,
        }
    }
}

/// [`Signal`], borrowed: what [`super::Evidence`] is made from without copying.
#[derive(Clone, Copy, Debug, Default)]
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
    pub details: Texts<'a>,
    /// See [`Signal::headers`].
    pub headers: Headers<'a>,
    /// See [`Signal::aborted`].
    pub aborted: Option<Aborted>,
    /// See [`Signal::received_at`].
    pub received_at: Option<Timestamp>,
}

/// Texts that somebody else holds.
#[derive(Clone, Copy, Debug)]
pub enum Texts<'a> {
    /// Slices.
    Borrowed(&'a [&'a str]),
    /// Strings.
    Owned(&'a [String]),
    /// Either, as a parser leaves them.
    Cows(&'a [Cow<'a, str>]),
}

impl<'a> Texts<'a> {
    /// Each text.
    pub fn iter(self) -> impl Iterator<Item = &'a str> {
        let (slices, strings, cows): (&[&str], &[String], &[Cow<str>]) = match self {
            Self::Borrowed(slices) => (slices, &[], &[]),
            Self::Owned(strings) => (&[], strings, &[]),
            Self::Cows(cows) => (&[], &[], cows),
        };
        let slices = slices.iter().copied().chain(strings.iter().map(String::as_str));
        slices.chain(cows.iter().map(AsRef::as_ref))
    }
}

impl Default for Texts<'_> {
    fn default() -> Self {
        Self::Borrowed(&[])
    }
}

/// Names and values that somebody else holds.
#[derive(Clone, Copy, Debug)]
pub enum Headers<'a> {
    /// Slices.
    Borrowed(&'a [(&'a str, &'a str)]),
    /// Strings.
    Owned(&'a [(String, String)]),
    /// Either, as a parser leaves them.
    Cows(&'a [(Cow<'a, str>, Cow<'a, str>)]),
}

/// A name and a value, each borrowed or not.
type CowPair<'a> = (Cow<'a, str>, Cow<'a, str>);

impl<'a> Headers<'a> {
    /// Each name with its value.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut slices: &[(&str, &str)] = &[];
        let mut owned: &[(String, String)] = &[];
        let mut cows: &[CowPair<'a>] = &[];
        match self {
            Self::Borrowed(pairs) => slices = pairs,
            Self::Owned(pairs) => owned = pairs,
            Self::Cows(pairs) => cows = pairs,
        }
        let strings = owned.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let cows = cows.iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
        slices.iter().copied().chain(strings).chain(cows)
    }
}

impl Default for Headers<'_> {
    fn default() -> Self {
        Self::Borrowed(&[])
    }
}
