//! Taking payloads apart: which stretches of the original text are what.
//!
//! Works in rounds over positions of one source text. A round reads the jobs of the round before
//! it: texts in which payloads may lie. Unescaped strings gather in `decoded`, which becomes the
//! tail of the source when the round ends, so every position is good from the start and nothing
//! recurses.

use std::ops::Range;

use memchr::memchr3;

use super::{
    bytes::payload_starts,
    evidence::Body,
    html,
    keys::Keys,
    scratch::{Find, Found, Job, MOST_FOUND, MOST_JOBS, STRINGS, Scratch, Weight},
    status::{self, Lead},
    string::unescape_into,
};

/// One round.
pub(super) struct Lift<'a> {
    pub(super) source: &'a str,
    pub(super) scratch: &'a mut Scratch,
    pub(super) keys: &'a Keys,
}

impl Lift<'_> {
    /// Reads one job: prose, payloads and pages in turn.
    pub(super) fn run(&mut self, index: usize) {
        let Some(job) = self.scratch.jobs.get(index).cloned() else {
            return;
        };
        let Some(text) = self.source.get(..job.range.end) else {
            return;
        };
        let bytes = text.as_bytes();
        if job.weight != Weight::None {
            self.lead(text, job.range.start, job.depth);
        }
        let mut prose = job.range.start;
        let mut at = job.range.start;
        while let Some(next) = bytes.get(at..).and_then(|rest| memchr3(b'{', b'[', b'<', rest)) {
            at += next;
            let end = match bytes.get(at) {
                Some(b'<') if html::starts(bytes, at) => {
                    self.prose(index, &job, prose..at);
                    Some(self.page(index, &job, at))
                }
                Some(b'<') => None,
                _ if payload_starts(bytes, at) => {
                    self.prose(index, &job, prose..at);
                    self.scratch.body = Body::Json;
                    Some(self.payload(index, &job, at))
                }
                _ if bytes.get(at..at + 3) == Some(b"{\\\"") && job.strings < STRINGS => {
                    // Escaped once too often, as logs do: the rest is read as a string.
                    self.prose(index, &job, prose..at);
                    self.open(index, &job, at..bytes.len(), true, job.weight, job.depth);
                    Some(bytes.len())
                }
                _ => None,
            };
            at = end.unwrap_or(at + 1);
            if end.is_some() {
                prose = at;
            }
        }
        self.prose(index, &job, prose..bytes.len());
    }

    /// A number at the start of a text.
    fn lead(&mut self, text: &str, start: usize, depth: u8) {
        match status::lead(text.get(start..).unwrap_or_default()) {
            Lead::Status(status) => self.scratch.status(depth, status),
            Lead::Number(number) => {
                self.scratch.leading.get_or_insert(number);
            }
            Lead::None => {}
        }
    }

    /// Announced statuses in a text.
    fn statuses(&mut self, range: &Range<usize>, depth: u8) {
        let text = self.source.get(range.clone()).unwrap_or_default();
        status::scan(text, |status| self.scratch.status(depth, status));
    }

    /// Text outside payloads, unless it is only brackets and the frame of a stream.
    fn prose(&mut self, index: usize, job: &Job, range: Range<usize>) {
        let Some(text) = self.source.get(range.clone()) else {
            return;
        };
        let text = text.trim_start();
        let start = range.end - text.len();
        let mut text = text.trim_end();
        if range.end < job.range.end {
            // The field of a stream that the payload stood in.
            let field = text.strip_suffix("data:").filter(|rest| rest.is_empty() || rest.ends_with('\n'));
            text = field.unwrap_or(text).trim_end();
        }
        if !text.chars().any(char::is_alphanumeric) || text == "data: [DONE]" {
            return;
        }
        let range = start..start + text.len();
        if job.weight != Weight::None {
            self.statuses(&range, job.depth);
        }
        self.scratch.push(Found { find: Find::Prose, depth: job.depth, range, job: index });
    }

    /// An HTML page; gives back where it ends.
    fn page(&mut self, index: usize, job: &Job, at: usize) -> usize {
        let mut title = std::mem::take(&mut self.scratch.title);
        let mut visible = std::mem::take(&mut self.scratch.visible);
        title.clear();
        visible.clear();
        let text = self.source.get(..job.range.end).unwrap_or_default();
        let end = html::read(text, at, &mut title, &mut visible);
        self.scratch.body = Body::Html;
        self.lead(&title, 0, job.depth + 1);
        for (text, find) in [(&title, Find::Message), (&visible, Find::Message)] {
            if text.chars().any(char::is_alphanumeric) {
                let start = self.source.len() + self.scratch.decoded.len();
                self.scratch.decoded.push_str(text);
                let depth = job.depth + 1;
                status::scan(text, |status| self.scratch.status(depth, status));
                self.mark(index);
                self.scratch.push(Found { find, depth, range: start..start + text.len(), job: index });
            }
        }
        self.scratch.title = title;
        self.scratch.visible = visible;
        end
    }

    /// A payload held a text: the prose around it, at every level, is a wrapper.
    pub(super) fn mark(&mut self, index: usize) {
        let mut next = Some(index);
        while let Some(job) =
            next.and_then(|index| self.scratch.jobs.get_mut(index)).filter(|job| !job.lifted)
        {
            job.lifted = true;
            next = job.parent;
        }
    }

    /// Puts a text on the list of the next round.
    pub(super) fn open(
        &mut self,
        parent: usize,
        job: &Job,
        range: Range<usize>,
        escaped: bool,
        weight: Weight,
        depth: u8,
    ) {
        if job.strings >= STRINGS {
            self.scratch.too_deep = true;
            return;
        }
        if self.scratch.jobs.len() >= MOST_JOBS {
            self.scratch.cut = true;
            return;
        }
        let range = self.decode(range, escaped);
        self.scratch.jobs.push(Job {
            range,
            depth,
            strings: job.strings + 1,
            weight,
            detail: job.detail,
            parent: Some(parent),
            lifted: false,
        });
    }

    /// The place of a string's text, unescaped if need be.
    pub(super) fn decode(&mut self, range: Range<usize>, escaped: bool) -> Range<usize> {
        if !escaped {
            return range;
        }
        let start = self.source.len() + self.scratch.decoded.len();
        unescape_into(self.source.get(range).unwrap_or_default(), &mut self.scratch.decoded);
        start..self.source.len() + self.scratch.decoded.len()
    }

    /// The text at a place that [`Self::decode`] gave.
    fn text(&self, range: &Range<usize>) -> &str {
        match range.start.checked_sub(self.source.len()) {
            Some(start) if range.end > self.source.len() => {
                self.scratch.decoded.get(start..range.end - self.source.len())
            }
            _ => self.source.get(range.clone()),
        }
        .unwrap_or_default()
    }

    /// A string that people read; a payload may lie in it.
    pub(super) fn prose_value(
        &mut self,
        index: usize,
        job: &Job,
        level: u8,
        range: Range<usize>,
        escaped: bool,
        weight: Weight,
    ) {
        let bytes = self.source.as_bytes().get(range.clone()).unwrap_or_default();
        if memchr3(b'{', b'[', b'<', bytes).is_some() {
            self.mark(index);
            self.open(index, job, range, escaped, weight, level);
            return;
        }
        let range = self.decode(range, escaped);
        let text = self.text(&range);
        if !text.chars().any(char::is_alphanumeric) {
            return;
        }
        let lead = status::lead(text);
        let start = self.scratch.statuses.len();
        let mut seen = std::mem::take(&mut self.scratch.statuses);
        status::scan(self.text(&range), |status| {
            if seen.len() < MOST_FOUND {
                seen.push((level, status));
            }
        });
        self.scratch.statuses = seen;
        match lead {
            Lead::Status(status) => self.scratch.statuses.insert(start, (level, status)),
            Lead::Number(number) => {
                self.scratch.leading.get_or_insert(number);
            }
            Lead::None => {}
        }
        self.mark(index);
        let find = if weight == Weight::Message { Find::Message } else { Find::Detail };
        self.scratch.push(Found { find, depth: level, range, job: index });
    }
}
