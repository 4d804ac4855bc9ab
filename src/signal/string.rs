//! Quoted strings of JSON and of Python's `repr`, also broken ones.

use memchr::memchr2;

use super::swar::{self, equal, first};

/// A quoted string: where its content ends, where reading goes on, whether it holds escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quoted {
    pub(super) end: usize,
    pub(super) next: usize,
    pub(super) escaped: bool,
    /// The eight bytes that its content begins with; also those behind it, zeros behind the input.
    pub(super) word: u64,
}

/// The string whose content starts at `start`. A single quote ends it only where the value ends
/// too, so that an apostrophe that nobody escaped does no harm. Cut strings end with the input.
#[inline]
pub(super) fn quoted(bytes: &[u8], start: usize, quote: u8) -> Quoted {
    // Most strings are shorter than what a search by wide registers takes to begin.
    let (mut at, mut word) = (start, swar::padded(bytes, start));
    let first_word = word;
    for _ in 0..2 {
        let found = equal(word, quote) | equal(word, b'\\');
        if found != 0 {
            let end = at + first(found);
            if bytes.get(end) == Some(&b'"') || (bytes.get(end) == Some(&quote) && value_ends(bytes, end + 1))
            {
                return Quoted { end, next: end + 1, escaped: false, word: first_word };
            }
            break;
        }
        at += 8;
        word = swar::padded(bytes, at);
    }
    let (end, next, escaped) = end_of(bytes, at, quote);
    Quoted { end, next, escaped, word: first_word }
}

/// The first eight bytes and the length of the string between double quotes that `content` begins
/// with. `None` when it is longer than 15 bytes, or ends in an escape.
#[inline]
pub(super) fn short_string(content: &[u8]) -> Option<(u64, usize)> {
    let (head, tail) = content.split_first_chunk()?;
    let word = u64::from_le_bytes(*head);
    let mut length = first(equal(word, b'"'));
    if length == 8 {
        length += first(equal(u64::from_le_bytes(*tail.first_chunk()?), b'"'));
    }
    let escape = length.checked_sub(1).and_then(|last| content.get(last)) == Some(&b'\\');
    (length < 16 && !escape).then_some((word, length))
}

/// Where a string ends of which the bytes before `start` are read, where reading goes on, and
/// whether it holds escapes.
fn end_of(bytes: &[u8], start: usize, quote: u8) -> (usize, usize, bool) {
    let mut at = start;
    let mut escaped = false;
    while let Some(next) = bytes.get(at..).and_then(|rest| quote_or_escape(quote, rest)) {
        at += next;
        if bytes.get(at) == Some(&b'\\') {
            escaped = true;
            at += 2;
        } else if quote == b'\'' && !value_ends(bytes, at + 1) {
            at += 1;
        } else {
            return (at, at + 1, escaped);
        }
    }
    (bytes.len(), bytes.len(), escaped)
}

/// Where the next quote or backslash stands.
#[inline]
fn quote_or_escape(quote: u8, rest: &[u8]) -> Option<usize> {
    const NEAR: usize = 2;
    let (words, _) = rest.as_chunks::<8>();
    let mut at = 0;
    for word in words.iter().take(NEAR) {
        let word = u64::from_le_bytes(*word);
        let found = equal(word, quote) | equal(word, b'\\');
        if found != 0 {
            return Some(at + first(found));
        }
        at += 8;
    }
    memchr2(quote, b'\\', rest.get(at..)?).map(|further| at + further)
}

/// Whether a `,`, `:`, a closing bracket or the end comes next.
pub(super) fn value_ends(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.iter().take(64).find(|b| !b.is_ascii_whitespace()) {
        Some(b) => matches!(b, b',' | b':' | b'}' | b']' | b')'),
        None => true,
    }
}

/// Appends the text that `source` stands for. Escapes that mean nothing stay as they are.
pub(crate) fn unescape_into(source: &str, out: &mut String) {
    let mut rest = source;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(head);
        let (c, used) = escape(tail.as_bytes());
        out.push(c);
        rest = tail.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// The character that an escape at the start of `bytes` stands for, and its length.
fn escape(bytes: &[u8]) -> (char, usize) {
    let plain = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b @ (b'"' | b'\'' | b'\\' | b'/')) => char::from(*b),
        Some(b'x') => return hex(bytes, 2, 2).and_then(char::from_u32).map_or(('\\', 1), |c| (c, 4)),
        Some(b'u') => return unicode(bytes),
        _ => return ('\\', 1),
    };
    (plain, 2)
}

/// `\uXXXX`, or two of them for one character. Half a pair is the replacement character.
fn unicode(bytes: &[u8]) -> (char, usize) {
    let Some(first) = hex(bytes, 2, 4) else {
        return ('\\', 1);
    };
    if (0xd800..0xdc00).contains(&first)
        && bytes.get(6..8) == Some(b"\\u")
        && let Some(second) = hex(bytes, 8, 4).filter(|second| (0xdc00..0xe000).contains(second))
    {
        let c = char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        return (c.unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

/// `count` hexadecimal digits at `at`.
fn hex(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    bytes.get(at..at + count)?.iter().try_fold(0, |sum, b| Some(sum * 16 + char::from(*b).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes() {
        for (source, text) in [
            (r"a\nb\t\u4f60\ud83d\ude00\/", "a\nb\t你😀/"),
            (r#"it\'s \"x\" \\"#, r#"it's "x" \"#),
            (r"\d \x41 \u12 \ud800x \", "\\d A \\u12 \u{fffd}x \\"),
        ] {
            let mut out = String::new();
            unescape_into(source, &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn an_apostrophe_ends_nothing() {
        let source = b"It's gone', 'x'";
        assert_eq!(quoted(source, 0, b'\'').end, 9);
        assert_eq!(quoted(b"cut o", 0, b'"').end, 5);
        assert_eq!(quoted(br"cut \", 0, b'"').next, 5);
    }

    proptest! {
        #[test]
        fn fast_is_slow(text in "[a-z]{0,9}[a'\\\\\": ,}é]{0,14}[a-z]{0,9}", single in any::<bool>()) {
            let bytes = text.as_bytes();
            let quote = if single { b'\'' } else { b'"' };
            let Quoted { end, next, escaped, word } = quoted(bytes, 0, quote);
            prop_assert_eq!((end, next, escaped), end_of(bytes, 0, quote));
            let first: Vec<u8> = bytes.iter().copied().chain([0; 8]).take(8).collect();
            prop_assert_eq!(&word.to_le_bytes()[..], &first);
            let short = short_string(bytes);
            if let Some((start, length)) = short {
                let long = quoted(bytes, 0, b'"');
                prop_assert_eq!((start, length), (long.word, long.end));
            }
            let plain = bytes.iter().take(16).position(|b| matches!(b, b'"' | b'\\'));
            let near = bytes.len() >= 16 && plain.is_some_and(|at| bytes[at] == b'"');
            prop_assert!(short.is_some() || !near, "a short one is found");
        }
    }
}
