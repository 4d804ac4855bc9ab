//! Normalised evidence: what tests of the language look at.
//!
//! All folded texts lie one behind another in one buffer, a `\0` after each, so that one
//! pass reads every byte once and no phrase runs across two texts. The buffers are reused from
//! one error to the next.

use std::ops::Range;

use super::{fold, input::Aborted, scratch::Scratch};

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

impl Body {
    pub(crate) const ALL: [Self; 3] = [Self::Text, Self::Json, Self::Html];

    /// As rules write it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Html => "html",
        }
    }
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
    /// The one status, always 400 or more: the host's, else the first found outside-in.
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
    /// Working space of the normaliser.
    pub buffers: Buffers,
}

/// Working space, kept from error to error so that nothing is allocated anew.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    /// Length of the message at the head of [`Evidence::original`].
    pub(super) message_len: usize,
    /// Header pairs of earlier errors, to be written anew.
    pub(super) spare: Vec<(String, String)>,
    pub(super) scratch: Scratch,
}

/// So many header pairs are kept to be written anew, and none of which a part holds more bytes: each may
/// have been the long one of its error.
const MOST_SPARE: usize = 64;
const LARGEST_SPARE: usize = 1024;

impl Evidence {
    /// Forgets everything but its buffers.
    pub fn clear(&mut self) {
        self.folded.clear();
        self.original.clear();
        self.segments.clear();
        self.status = None;
        self.statuses.clear();
        self.leading_number = None;
        self.body = Body::Text;
        self.provider.clear();
        self.model.clear();
        let room = MOST_SPARE.saturating_sub(self.buffers.spare.len());
        let small = |(name, value): &(String, String)| name.capacity().max(value.capacity()) <= LARGEST_SPARE;
        self.buffers.spare.extend(self.headers.drain(..).filter(small).take(room));
        self.aborted = None;
        self.scalars.clear();
        self.cut = false;
        self.too_deep = false;
        self.buffers.message_len = 0;
        self.buffers.scratch.clear();
    }

    /// Whether there is nothing to look at: no text but the user's own, no code, no number, nothing that
    /// was left closed (D12).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.status.is_none()
            && self.leading_number.is_none()
            && self.aborted.is_none()
            && !self.too_deep
            && self.segments.iter().all(|segment| segment.kind == SegmentKind::Echo)
    }

    /// The folded texts of one kind, in order.
    pub fn of(&self, kind: SegmentKind) -> impl Iterator<Item = &str> {
        self.segments
            .iter()
            .filter(move |segment| segment.kind == kind)
            .map(|segment| self.folded_text(segment))
    }

    /// The folded message and details, outside-in: what `text` means in a rule.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let text = |segment: &&Segment| matches!(segment.kind, SegmentKind::Message | SegmentKind::Detail);
        self.segments.iter().filter(text).map(|segment| self.folded_text(segment))
    }

    /// A segment's folded text.
    #[must_use]
    pub fn folded_text(&self, segment: &Segment) -> &str {
        self.folded.get(segment.folded.clone()).unwrap_or_default()
    }

    /// A segment's text as it was given.
    #[must_use]
    pub fn original_text(&self, segment: &Segment) -> &str {
        self.original.get(segment.original.clone()).unwrap_or_default()
    }

    /// The values of the header `name` (lower case).
    pub fn header(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A scalar's key and value.
    #[must_use]
    pub fn scalar_text(&self, scalar: &Scalar) -> (&str, &str) {
        let text = |range: &Range<usize>| self.original.get(range.clone()).unwrap_or_default();
        (text(&scalar.key), text(&scalar.value))
    }

    /// The part of [`Evidence::original`] that a part of [`Evidence::folded`] came from. `None` when
    /// the range is empty or lies in no segment. Folds the segment anew: for explanations, not for
    /// matching.
    #[must_use]
    pub fn original_of(&self, folded: &Range<usize>) -> Option<Range<usize>> {
        let at = self.segments.partition_point(|segment| segment.folded.end < folded.end);
        let segment = self.segments.get(at).filter(|segment| segment.folded.start <= folded.start)?;
        let inner = folded.start - segment.folded.start..folded.end.checked_sub(segment.folded.start)?;
        let span = fold::unfold(self.original_text(segment), &inner)?;
        Some(segment.original.start + span.start..segment.original.start + span.end)
    }

    /// The raw message (without one, the first text) for a person: at most 200 characters on one
    /// line, blanks run together, control and direction characters replaced.
    #[must_use]
    pub fn preview(&self) -> String {
        const LONGEST: usize = 200;
        let raw = self.original.get(..self.buffers.message_len).filter(|raw| !raw.trim().is_empty());
        let raw = raw
            .or_else(|| self.segments.first().map(|segment| self.original_text(segment)))
            .unwrap_or_default();
        let mut preview = String::new();
        let mut length = 0;
        for c in raw.trim().chars() {
            if length == LONGEST {
                preview.push('…');
                break;
            }
            let c = match c {
                c if c.is_whitespace() => ' ',
                c if c.is_control() || is_invisible(c) => char::REPLACEMENT_CHARACTER,
                c => c,
            };
            if c != ' ' || !preview.ends_with(' ') {
                preview.push(c);
                length += 1;
            }
        }
        preview
    }
}

/// Characters that turn or hide the text around them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{Headers, Normaliser, SignalRef};

    #[test]
    fn long_headers_of_many_errors_do_not_pile_up() {
        let long = "x".repeat(60_000);
        let mut evidence = Evidence::default();
        for short in 0..200 {
            let mut headers = vec![("a", "b"); short];
            headers.push(("long", &*long));
            let signal = SignalRef { headers: Headers::Borrowed(&headers), ..SignalRef::default() };
            Normaliser::default().read(&signal, &mut evidence);
            assert_eq!(evidence.headers.len(), short + 1);
        }
        evidence.clear();
        let held = evidence.buffers.spare.iter().map(|(name, value)| name.capacity() + value.capacity());
        assert!(held.sum::<usize>() <= MOST_SPARE * 2 * LARGEST_SPARE);
        assert!(!evidence.buffers.spare.is_empty(), "short ones are written anew");
    }
}
