//! Walking through JSON and Python dicts, whole or broken, without recursion.

use std::ops::Range;

use memchr::memchr2;

use super::{
    evidence::Scalar,
    keys::{Key, key_of},
    lift::Lift,
    scratch::{DEPTH, Find, Found, Job, LONGEST_SCALAR, MOST_SCALARS, Weight},
    status::{self, Lead},
    string::{quoted, value_ends},
};

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

impl Lift<'_> {
    /// A JSON value or a Python dict, however broken; gives back where it ends.
    pub(super) fn payload(&mut self, index: usize, job: &Job, start: usize) -> usize {
        let bytes = self.source.as_bytes().get(..job.range.end).unwrap_or_default();
        // The innermost open container, and those around it; before the first there is none.
        let mut top = Frame::default();
        let mut around = [Frame::default(); DEPTH];
        let mut depth = 0usize;
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' => {
                    top.waiting = false;
                    if let Some(outer) = around.get_mut(depth) {
                        *outer = top;
                        top.object = byte == b'{';
                        top.echo |= top.key == Key::Echo;
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
                    top = around.get(depth).copied().unwrap_or_default();
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
                    if depth == 0 {
                        return at;
                    }
                    if top.object && !top.waiting {
                        let key = bytes.get(content.clone()).unwrap_or_default();
                        top.key = if self.echo.contains(key) { Key::Echo } else { key_of(key) };
                        top.key_at = (content.start, content.end);
                        top.waiting = true;
                    } else {
                        top.waiting = false;
                        self.string(index, job, &top, depth, content, string.escaped);
                    }
                }
                b'0'..=b'9' | b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    let length =
                        bytes.get(at..).unwrap_or_default().iter().take_while(|b| is_word(**b)).count();
                    let word = at..at + length;
                    at = word.end;
                    if depth == 0 {
                        return at;
                    }
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
                        self.scalar(index, job, &top, depth, word);
                    }
                }
                b',' => {
                    at += 1;
                    top.waiting = false;
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
        let number = || text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        match frame.key {
            Key::Code if number() => {
                self.number(text, level);
                self.scratch.push(Found { find: Find::Code, depth: level, range, job: index });
            }
            Key::Type if number() => {
                self.scratch.push(Found { find: Find::Type, depth: level, range, job: index });
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
            Key::Name if !((raw.ends_with("Error") || raw.ends_with("Exception")) && is_token(raw)) => {}
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
                let opens = |raw: &str| raw.starts_with(['{', '[']);
                let blank = raw.starts_with(|c: char| !c.is_ascii_graphic());
                if (opens(raw) || blank && opens(raw.trim_start())) && raw.contains(':') {
                    self.open(index, job, range, escaped, Weight::None, level);
                }
            }
        }
    }
}

/// Levels above a value in a job.
fn level(job: &Job, depth: usize) -> u8 {
    job.depth.saturating_add(u8::try_from(depth).unwrap_or(u8::MAX))
}

/// Whether a byte belongs to a number or a bare word.
const WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, clippy::indexing_slicing, reason = "byte is below 256")]
        {
            word[byte] =
                (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'-' | b'+' | b'.');
        }
        byte += 1;
    }
    word
};

fn is_word(byte: u8) -> bool {
    WORD.get(usize::from(byte)).copied().unwrap_or_default()
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
pub(super) fn payload_starts(bytes: &[u8], at: usize) -> bool {
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
