//! Taking payloads apart: which stretches of the original text are what.
//!
//! Works in rounds over positions of one source text. A round reads the jobs of the round before
//! it: texts in which payloads may lie. Unescaped strings gather in `decoded`, which becomes the
//! tail of the source when the round ends, so every position is good from the start and nothing
//! recurses.

use std::ops::Range;

use memchr::{memchr2, memchr3};

use super::{
    evidence::{Body, Scalar},
    html,
    keys::{EchoKeys, Key, key_of},
    status::{self, Lead},
    string::{quoted, unescape_into, value_ends},
};

/// JSON containers inside one another that are opened.
pub(super) const DEPTH: usize = 8;
/// Strings inside strings that are opened.
const STRINGS: u8 = 8;
/// Bounds on what one error can make, far above any real one.
const MOST_FOUND: usize = 512;
const MOST_JOBS: usize = 128;
pub(super) const MOST_SCALARS: usize = 256;
const LONGEST_SCALAR: usize = 256;

/// What a found stretch is, before the innermost message is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// Text of a job outside its payloads.
    Prose,
    Message,
    Detail,
    Echo,
    Code,
    Type,
    Param,
}

/// A stretch of the source.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) find: Find,
    /// Levels of nesting above it: what is outside counts first.
    pub(super) depth: u8,
    pub(super) range: Range<usize>,
    /// The job it was found in.
    pub(super) job: usize,
}

/// What the prose of a job is when its payloads hold no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Message,
    Detail,
    /// Nothing.
    None,
}

/// A text in which payloads may lie.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) range: Range<usize>,
    pub(super) depth: u8,
    strings: u8,
    pub(super) weight: Weight,
    /// Given by the host as a detail: nothing in it is the message.
    pub(super) detail: bool,
    parent: Option<usize>,
    /// A payload in it held a text.
    pub(super) lifted: bool,
}

impl Job {
    /// A text as the host gave it.
    pub(super) fn given(range: Range<usize>, detail: bool) -> Self {
        let weight = if detail { Weight::Detail } else { Weight::Message };
        Self { range, depth: 0, strings: 0, weight, detail, parent: None, lifted: false }
    }
}

/// All that lifting makes; lives in the evidence, so that its buffers are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) found: Vec<Found>,
    pub(super) jobs: Vec<Job>,
    pub(super) statuses: Vec<(u8, u16)>,
    pub(super) scalars: Vec<Scalar>,
    pub(super) decoded: String,
    /// `(kind, depth, position)` of what was found, in the order of the evidence.
    pub(super) order: Vec<(u8, u8, usize)>,
    title: String,
    visible: String,
    pub(super) leading: Option<u32>,
    pub(super) body: Body,
    pub(super) too_deep: bool,
    pub(super) cut: bool,
}

impl Scratch {
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.jobs.clear();
        self.statuses.clear();
        self.scalars.clear();
        self.decoded.clear();
        self.order.clear();
        self.leading = None;
        self.body = Body::Text;
        self.too_deep = false;
        self.cut = false;
    }

    /// Notes a stretch.
    pub(super) fn push(&mut self, found: Found) {
        if self.found.len() < MOST_FOUND {
            self.found.push(found);
        } else {
            self.cut = true;
        }
    }

    /// Notes a status.
    pub(super) fn status(&mut self, depth: u8, status: u16) {
        if self.statuses.len() < MOST_FOUND {
            self.statuses.push((depth, status));
        }
    }
}

/// An open container.
#[derive(Clone, Copy, Default)]
struct Frame {
    object: bool,
    /// What the next value is; an array's values are what its key says.
    key: Key,
    key_at: (usize, usize),
    /// An object's key has been read and waits for its value.
    waiting: bool,
    echo: bool,
}

/// One round.
pub(super) struct Lift<'a> {
    pub(super) source: &'a str,
    pub(super) scratch: &'a mut Scratch,
    pub(super) echo: &'a EchoKeys,
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
    fn mark(&mut self, index: usize) {
        let mut next = Some(index);
        while let Some(job) =
            next.and_then(|index| self.scratch.jobs.get_mut(index)).filter(|job| !job.lifted)
        {
            job.lifted = true;
            next = job.parent;
        }
    }

    /// Puts a text on the list of the next round.
    fn open(
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
    fn decode(&mut self, range: Range<usize>, escaped: bool) -> Range<usize> {
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

    /// A JSON value or a Python dict, however broken; gives back where it ends.
    fn payload(&mut self, index: usize, job: &Job, start: usize) -> usize {
        let bytes = self.source.as_bytes().get(..job.range.end).unwrap_or_default();
        let mut frames = [Frame::default(); DEPTH];
        let mut depth = 0usize;
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            let top = depth.checked_sub(1).and_then(|top| frames.get_mut(top));
            match byte {
                b'{' | b'[' => {
                    let (key, key_at, echo) = top.map_or((Key::Other, (0, 0), false), |top| {
                        top.waiting = false;
                        (top.key, top.key_at, top.echo || top.key == Key::Echo)
                    });
                    if let Some(frame) = frames.get_mut(depth) {
                        *frame = Frame { object: byte == b'{', key, key_at, waiting: false, echo };
                        depth += 1;
                        at += 1;
                    } else {
                        self.scratch.too_deep = true;
                        at = skip_closed(bytes, at);
                    }
                }
                b'}' | b']' => {
                    at += 1;
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at;
                    }
                }
                b'"' | b'\'' => {
                    let string = quoted(bytes, at + 1, byte);
                    let content = at + 1..string.end;
                    if bytes.get(at + 1) == Some(&b'{') && !value_ends(bytes, string.next) {
                        // A payload whose quotes lost their escapes: walk right into it.
                        at += 1;
                        continue;
                    }
                    at = string.next;
                    let Some(top) = top else { return at };
                    if top.object && !top.waiting {
                        let key = bytes.get(content.clone()).unwrap_or_default();
                        top.key = if self.echo.contains(key) { Key::Echo } else { key_of(key) };
                        top.key_at = (content.start, content.end);
                        top.waiting = true;
                    } else {
                        top.waiting = false;
                        let frame = *top;
                        self.string(index, job, &frame, depth, content, string.escaped);
                    }
                }
                b'0'..=b'9' | b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    let length =
                        bytes.get(at..).unwrap_or_default().iter().take_while(|b| is_word(**b)).count();
                    let word = at..at + length;
                    at = word.end;
                    let Some(top) = top else { return at };
                    // `b'…'` and `u'…'` of Python.
                    if length <= 2 && matches!(bytes.get(at), Some(b'\'' | b'"')) {
                        continue;
                    }
                    if top.object && !top.waiting && bytes.get(at) == Some(&b':') {
                        let key = bytes.get(word.clone()).unwrap_or_default();
                        top.key = if self.echo.contains(key) { Key::Echo } else { key_of(key) };
                        top.key_at = (word.start, word.end);
                        top.waiting = true;
                    } else if top.waiting || !top.object {
                        top.waiting = false;
                        let frame = *top;
                        self.scalar(index, job, &frame, depth, word);
                    }
                }
                b',' => {
                    at += 1;
                    if let Some(top) = top {
                        top.waiting = false;
                    }
                }
                _ => at += 1,
            }
        }
        bytes.len()
    }

    /// A number or a bare word.
    fn scalar(&mut self, index: usize, job: &Job, frame: &Frame, depth: usize, range: Range<usize>) {
        let text = self.source.get(range.clone()).unwrap_or_default();
        if frame.echo || frame.key == Key::Echo || matches!(text, "null" | "None" | "undefined") {
            return;
        }
        self.keep(frame, &range);
        let level = level(job, depth);
        let number = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        match frame.key {
            Key::Code if number => {
                self.number(text, level);
                self.scratch.push(Found { find: Find::Code, depth: level, range, job: index });
            }
            Key::Type if number => {
                self.scratch.push(Found { find: Find::Type, depth: level, range, job: index })
            }
            Key::Status => self.number(text, level),
            _ => {}
        }
    }

    /// A number under `code` or `status`: a status, if it is in range.
    fn number(&mut self, text: &str, depth: u8) {
        if let Some(status) = text.parse().ok().filter(|_| text.len() == 3).and_then(status::http_status) {
            self.scratch.status(depth, status);
        }
    }

    /// Keeps a scalar for reset declarations.
    fn keep(&mut self, frame: &Frame, value: &Range<usize>) {
        if value.len() <= LONGEST_SCALAR && self.scratch.scalars.len() < MOST_SCALARS {
            let key = frame.key_at.0..frame.key_at.1;
            self.scratch.scalars.push(Scalar { key, value: value.clone() });
        }
    }

    /// A string, by what its key says of it.
    fn string(
        &mut self,
        index: usize,
        job: &Job,
        frame: &Frame,
        depth: usize,
        range: Range<usize>,
        escaped: bool,
    ) {
        let level = level(job, depth);
        let find = |find, range| Found { find, depth: level, range, job: index };
        if frame.echo || frame.key == Key::Echo {
            let range = self.decode(range, escaped);
            self.scratch.push(find(Find::Echo, range));
            return;
        }
        self.keep(frame, &range);
        let raw = self.source.get(range.clone()).unwrap_or_default();
        if raw.is_empty() {
            return;
        }
        match frame.key {
            Key::Message => self.prose_value(index, job, level, range, escaped, Weight::Message),
            Key::Detail | Key::Body => self.prose_value(index, job, level, range, escaped, Weight::Detail),
            Key::MessageOrCode | Key::DetailOrCode => {
                if is_token(raw) {
                    self.scratch.push(find(Find::Code, range.clone()));
                }
                let weight = if frame.key == Key::MessageOrCode { Weight::Message } else { Weight::Detail };
                self.prose_value(index, job, level, range, escaped, weight);
            }
            Key::Carrier => {
                if memchr2(b'{', b'<', raw.as_bytes()).is_some() {
                    self.open(index, job, range, escaped, Weight::None, level);
                }
            }
            Key::Code => {
                self.number(raw, level);
                let range = self.decode(range, escaped);
                self.scratch.push(find(Find::Code, range));
            }
            Key::Status => match status::lead(raw) {
                Lead::Status(status) => self.scratch.status(level, status),
                Lead::Number(_) => {}
                Lead::None => {
                    let range = self.decode(range, escaped);
                    self.scratch.push(find(Find::Type, range));
                }
            },
            Key::Name if !(is_token(raw) && (raw.ends_with("Error") || raw.ends_with("Exception"))) => {}
            Key::Type | Key::Name => {
                let range = self.decode(range, escaped);
                self.scratch.push(find(Find::Type, range));
            }
            Key::Param => {
                let range = self.decode(range, escaped);
                self.scratch.push(find(Find::Param, range));
            }
            Key::Echo => {}
            Key::Other => {
                if raw.trim_start().starts_with(['{', '[']) && raw.contains(':') {
                    self.open(index, job, range, escaped, Weight::None, level);
                }
            }
        }
    }

    /// A string that people read; a payload may lie in it.
    fn prose_value(
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

/// Levels above a value in a job.
fn level(job: &Job, depth: usize) -> u8 {
    job.depth.saturating_add(u8::try_from(depth).unwrap_or(u8::MAX))
}

/// A byte of a number or a bare word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.')
}

/// One word, as codes are: `invalid_grant`, `API_KEY_INVALID`, `rateLimitExceeded`.
fn is_token(text: &str) -> bool {
    text.len() <= 64
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether a payload begins at the bracket at `at`: an object with a quoted key and a colon, an
/// array of such objects, or nothing between brackets that end the text. Braces of prose
/// (`{model_name}`) and of program output begin none. Looks at a bounded stretch only.
fn payload_starts(bytes: &[u8], at: usize) -> bool {
    const LONGEST_KEY: usize = 64;
    /// Blanks, and what terminals and logs put before a line.
    fn skip(bytes: &[u8], mut at: usize) -> usize {
        let end = at + 256;
        while at < end && bytes.get(at).is_some_and(|b| b.is_ascii_whitespace() || *b >= 0x80) {
            at += 1;
        }
        at
    }
    let mut open = at;
    let mut next = skip(bytes, at + 1);
    while bytes.get(open) == Some(&b'[') {
        match bytes.get(next) {
            Some(b'{') => {
                open = next;
                next = skip(bytes, next + 1);
            }
            Some(b']') => return blank(bytes, next + 1),
            _ => return false,
        }
    }
    let Some(quote @ (b'"' | b'\'')) = bytes.get(next).copied() else {
        return bytes.get(next) == Some(&b'}') && blank(bytes, next + 1);
    };
    let key = bytes.get(next + 1..).unwrap_or_default();
    let Some(length) = key.iter().take(LONGEST_KEY).position(|b| *b == quote) else {
        return false;
    };
    bytes.get(skip(bytes, next + length + 2)) == Some(&b':')
}

/// Whether nothing follows.
fn blank(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_none_or(|rest| rest.iter().all(u8::is_ascii_whitespace))
}

/// Behind the closed container at `start`.
fn skip_closed(bytes: &[u8], start: usize) -> usize {
    let mut open = 0usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => open += 1,
            b'}' | b']' => open = open.saturating_sub(1),
            b'"' => {
                at = quoted(bytes, at + 1, *byte).next;
                continue;
            }
            _ => {}
        }
        at += 1;
        if open == 0 {
            return at;
        }
    }
    bytes.len()
}
