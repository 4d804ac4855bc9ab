//! What bytes of a payload are.

use super::{
    string::quoted,
    swar::{self, ONES},
};

/// What a byte begins.
#[derive(Clone, Copy)]
pub(super) enum Class {
    Open,
    Close,
    Quote,
    Word,
    Comma,
    Line,
    Other,
}

impl Class {
    #[inline]
    pub(super) fn of(byte: u8) -> Self {
        CLASSES.get(usize::from(byte)).copied().unwrap_or(Self::Other)
    }
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, clippy::indexing_slicing, reason = "byte is below 256")]
        {
            classes[byte] = match byte as u8 {
                b'{' | b'[' => Class::Open,
                b'}' | b']' => Class::Close,
                b'"' | b'\'' => Class::Quote,
                b'0'..=b'9' | b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Word,
                b',' => Class::Comma,
                b'\n' => Class::Line,
                _ => Class::Other,
            };
        }
        byte += 1;
    }
    classes
};

/// Behind the blanks at `at`, as a line of a payload for people begins with.
pub(super) fn blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = swar::word(bytes, at) {
        let other = (word ^ (u64::from(b' ') * ONES)).trailing_zeros() as usize / 8;
        at += other;
        if other < 8 {
            break;
        }
    }
    at
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

/// Bytes of the number or bare word that a text begins with.
pub(super) fn word_length(text: &[u8]) -> usize {
    text.iter().take_while(|b| is_word(**b)).count()
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
pub(super) fn skip_closed(bytes: &[u8], start: usize) -> usize {
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
