//! Normalised evidence: what tests of the language look at.
//!
//! All folded texts lie one behind another in one buffer, a `\0` after each, so that one pass of an
//! automaton reads every byte once and no phrase runs across two texts. The buffers are reused from
//! one error to the next.

use std::ops::Range;

use super::input::Aborted;

/// What a stretch of the folded buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// The innermost lifted message, or the whole message when nothing was lifted.
    Message,
    /// A further message or a detail, outside-in; `text` is message and details.
    Detail,
    /// Prose around a payload.
    Wrapper,
    /// What the user wrote.
    Echo,
    /// A `code` at any level.
    Code,
    /// A `type` (or `status` word such as `RESOURCE_EXHAUSTED`) at any level.
    Type,
    /// A `param` at any level.
    Param,
}

/// A text of the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// Its place in [`Evidence::folded`], without the closing `\0`.
    pub folded: Range<usize>,
    /// Its place in [`Evidence::original`].
    pub original: Range<usize>,
}

/// A scalar JSON field, for reset declarations: ranges into [`Evidence::original`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The key, as written.
    pub key: Range<usize>,
    /// The value, unquoted.
    pub value: Range<usize>,
}

/// The kind of body that a message turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Body {
    /// Plain text, or nothing.
    #[default]
    Text,
    /// It held JSON (or a Python dict).
    Json,
    /// It held an HTML page.
    Html,
}

/// Normalised evidence of one error.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// All folded texts, each closed by `\0`.
    pub folded: String,
    /// All original texts, in which spans for people are given.
    pub original: String,
    /// The texts in order: message, details, wrapper, echo, codes, types, params.
    pub segments: Vec<Segment>,
    /// The one status: the host's if 400 or more, else the first found outside-in.
    pub status: Option<u16>,
    /// Every status found.
    pub statuses: Vec<u16>,
    /// A leading number that is no status.
    pub leading_number: Option<u32>,
    /// The kind of body.
    pub body: Body,
    /// Folded provider id, empty when unknown.
    pub provider: String,
    /// Folded model id, empty when unknown.
    pub model: String,
    /// Header names (lower case) and values as received; empty after [`Evidence::clear`].
    pub headers: Vec<(String, String)>,
    /// How the attempt was cut off.
    pub aborted: Option<Aborted>,
    /// Scalar JSON fields, at most 256.
    pub scalars: Vec<Scalar>,
    /// Texts were cut to their limit.
    pub cut: bool,
    /// JSON deeper than the limit was left closed.
    pub too_deep: bool,
}
