//! Walking through JSON and Python dicts, whole or broken, without recursion.

use std::ops::Range;

use memchr::memchr2;

use super::{
    bytes::{Class, blanks, skip_closed, word_length},
    evidence::Scalar,
    keys::Key,
    lift::Lift,
    scratch::{DEPTH, Find, Found, Job, LONGEST_SCALAR, MOST_SCALARS, Weight},
    status::{self, Lead},
    string::{quoted, short_string, value_ends},
    swar,
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
    /// It lies below a key of the user's words: so do all its keys.
    echo: bool,
}

impl Lift<'_> {
    /// A JSON value or a Python dict that begins with the bracket at `start`, however broken; gives
    /// back where it ends.
    pub(super) fn payload(&mut self, index: usize, job: &Job, start: usize) -> usize {
        let bytes = self.source.as_bytes().get(..job.range.end).unwrap_or_default();
        // The innermost open container, and those around it; before the first there is none.
        let mut top = Frame::default();
        let mut around = [Frame::default(); DEPTH];
        let mut depth = 0usize;
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            match Class::of(byte) {
                Class::Open => {
                    top.waiting = false;
                    if let Some(outer) = around.get_mut(depth) {
                        *outer = top;
                        top.object = byte == b'{';
                        top.echo = top.key == Key::Echo;
                        depth += 1;
                        at += 1;
                        if top.object && !top.echo {
                            at = self.pass_over(&mut top, bytes, at);
                        }
                    } else {
                        self.scratch.too_deep = true;
                        at = skip_closed(bytes, at);
                    }
                }
                Class::Close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                    at += 1;
                    top = around.get(depth).copied().unwrap_or_default();
                }
                Class::Quote => {
                    let start = at + 1;
                    let string = quoted(bytes, start, byte);
                    if bytes.get(start) == Some(&b'{') && !value_ends(bytes, string.next) {
                        // A payload whose quotes lost their escapes: walk right into it.
                        at = start;
                    } else if top.object && !top.waiting {
                        self.key(&mut top, bytes, start..string.end, string.word);
                        at = string.next;
                    } else {
                        top.waiting = false;
                        at = string.next;
                        let content = start..string.end;
                        let text = bytes.get(content.clone()).unwrap_or_default();
                        if says_nothing(top.key, string.word, text) {
                            self.keep(&top, content);
                        } else {
                            self.string(index, job, &top, depth, content, string.escaped);
                        }
                    }
                }
                Class::Word => {
                    let start = at;
                    at += word_length(bytes.get(at..).unwrap_or_default());
                    // `b'…'` and `u'…'` of Python.
                    if at <= start + 2 && matches!(bytes.get(at), Some(b'\'' | b'"')) {
                        continue;
                    }
                    if top.waiting || !top.object {
                        top.waiting = false;
                        self.scalar(index, job, &top, depth, start..at);
                    } else if bytes.get(at) == Some(&b':') {
                        let word = swar::padded(bytes, start);
                        self.key(&mut top, bytes, start..at, word);
                    }
                }
                Class::Comma => {
                    at += 1;
                    top.waiting = false;
                    if top.object && !top.echo {
                        at = self.pass_over(&mut top, bytes, at);
                    }
                }
                Class::Line => at = blanks(bytes, at + 1),
                Class::Other => at += 1,
            }
        }
        bytes.len()
    }

    /// Passes over members that, as most of a long payload, say nothing: short strings and numbers
    /// below keys without a meaning, no blanks between them. Gives back where something else stands,
    /// which may be the value of the key that was read last.
    fn pass_over(&mut self, frame: &mut Frame, bytes: &[u8], at: usize) -> usize {
        let mut rest = bytes.get(at..).unwrap_or_default();
        while let [b'"', key @ ..] = rest
            && let Some((word, length)) = short_string(key)
            && let Some([b'"', b':', value @ ..]) = key.get(length..)
        {
            let start = bytes.len() - key.len();
            self.key(frame, bytes, start..start + length, word);
            rest = value;
            if !matches!(frame.key, Key::Other | Key::Name) {
                break;
            }
            let (text, length, quote) = match value {
                [b'"', text @ ..] => match short_string(text) {
                    Some((word, length))
                        if says_nothing(frame.key, word, text.get(..length).unwrap_or_default()) =>
                    {
                        (text, length, 1)
                    }
                    _ => break,
                },
                [b'0'..=b'9' | b'-', ..] => (value, word_length(value), 0),
                _ => break,
            };
            let Some(tail @ [b',' | b'}', ..]) = text.get(length + quote..) else { break };
            frame.waiting = false;
            let start = bytes.len() - text.len();
            self.keep(frame, start..start + length);
            let [b',', more @ ..] = tail else {
                rest = tail;
                break;
            };
            rest = more;
        }
        bytes.len() - rest.len()
    }

    /// Reads the key at a place, whose first bytes are `word`.
    #[inline]
    fn key(&self, top: &mut Frame, bytes: &[u8], at: Range<usize>, word: u64) {
        top.key_at = (at.start, at.end);
        top.key = if top.echo { Key::Echo } else { self.keys.meaning(bytes, at, word) };
        top.waiting = true;
    }

    /// A number or a bare word.
    fn scalar(&mut self, index: usize, job: &Job, frame: &Frame, depth: usize, range: Range<usize>) {
        let bytes = self.source.as_bytes().get(range.clone()).unwrap_or_default();
        if frame.key == Key::Echo || matches!(bytes, b"null" | b"None" | b"undefined") {
            return;
        }
        self.keep(frame, range.clone());
        if !matches!(frame.key, Key::Code | Key::Type | Key::Status) {
            return;
        }
        let text = self.source.get(range.clone()).unwrap_or_default();
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
    #[inline]
    fn keep(&mut self, frame: &Frame, value: Range<usize>) {
        if value.len() <= LONGEST_SCALAR && self.scratch.scalars.len() < MOST_SCALARS {
            let key = frame.key_at.0..frame.key_at.1;
            self.scratch.scalars.push(Scalar { key, value });
        }
    }

    /// A string, by what its key says of it.
    #[inline(never)]
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
        if frame.key == Key::Echo {
            let range = self.decode(range, escaped);
            self.scratch.push(find(Find::Echo, range));
            return;
        }
        self.keep(frame, range.clone());
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
            Key::Name if !(is_class(raw.as_bytes()) && is_token(raw)) => {}
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
                let opens = |raw: &str| matches!(raw.as_bytes(), [b'{' | b'[', ..]);
                let blank = raw.as_bytes().first().is_some_and(|first| !first.is_ascii_graphic());
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

/// Whether a string, which begins with `word`, says nothing below such a key.
#[inline]
fn says_nothing(key: Key, word: u64, string: &[u8]) -> bool {
    let [first, ..] = word.to_le_bytes();
    match key {
        Key::Other => first.is_ascii_graphic() && !matches!(first, b'{' | b'['),
        Key::Name => !is_class(string),
        _ => false,
    }
}

/// Whether a name is that of an exception.
fn is_class(name: &[u8]) -> bool {
    name.ends_with(b"Error") || name.ends_with(b"Exception")
}

/// One word, as codes are: `invalid_grant`, `API_KEY_INVALID`, `rateLimitExceeded`.
fn is_token(text: &str) -> bool {
    text.len() <= 64
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::signal::{Evidence, Normaliser, Signal};

    fn read(message: &str) -> Evidence {
        let normaliser = Normaliser::new(["input", "user_input"].map(String::from));
        let signal = Signal { message: Some(message.to_owned()), ..Signal::default() };
        let mut evidence = Evidence::default();
        normaliser.read(&signal.as_ref(), &mut evidence);
        evidence
    }

    /// All that was read of a payload, wherever it stands.
    fn told(evidence: &Evidence) -> String {
        let texts: Vec<_> = evidence.segments.iter().map(|s| (s.kind, evidence.original_text(s))).collect();
        let scalars: Vec<_> = evidence.scalars.iter().map(|scalar| evidence.scalar_text(scalar)).collect();
        format!("{texts:?} {scalars:?} {:?} {:?}", evidence.statuses, evidence.leading_number)
    }

    /// Members, a NUL where a blank may stand.
    fn member() -> impl Strategy<Value = String> {
        let key = "error|message|code|type|name|status|input|user_input|Error_Code|[a-z_]{0,3}|[a-zA-Z_$-]{7,9}|[a-z]{15,17}|a\\\\\"b";
        let string = "[ -!#-\\[\\]-~é]{0,18}|\\{\\\\\"a\\\\\":1\\}|[a-z]{0,4}\\\\[n\"\\\\u]|Value(Error|Exception)|429";
        let value = prop_oneof![
            string.prop_map(|text| format!("\"{text}\"")),
            "-?[0-9]{1,3}(\\.5)?|null|true|\\{\0\\}|\\[\0\\]",
        ];
        (key, value).prop_map(|(key, value)| format!("\"{key}\"\0:\0{value}"))
    }

    proptest! {
        #[test]
        fn a_payload_says_the_same_with_blanks_and_without(
            members in prop::collection::vec(member(), 1..6), open in "\\{|\\{\"error\"\0:\0\\{|\\[\\{", close in "\\}{0,2}",
        ) {
            let payload = format!("{open}\0\"x\"\0:\01\0,\0{}\0{close}", members.join("\0,\0"));
            let spaced = told(&read(&payload.replace('\0', " ")));
            prop_assert_eq!(told(&read(&payload.replace('\0', ""))), &*spaced);
            prop_assert_eq!(told(&read(&payload.replace('\0', "\n          "))), &*spaced);
        }
    }
}
