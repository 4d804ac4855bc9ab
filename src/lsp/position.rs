//! Positions as the protocol counts them: lines from 0, and UTF-16 units within a line.

use lsp_types::{Position, Range};

/// Byte offset of a position. A position beyond its line's end is the end; one inside a character
/// is before it; one beyond the last line is the end of the text.
#[must_use]
pub fn offset(text: &str, position: Position) -> usize {
    let Some(start) = line_start(text, position.line) else { return text.len() };
    let mut units = position.character;
    for (at, c) in text.get(start..).unwrap_or("").char_indices() {
        let width = width(c);
        if units < width || matches!(c, '\n' | '\r') {
            return start + at;
        }
        units -= width;
    }
    text.len()
}

/// Position of a byte offset.
#[must_use]
pub fn position(text: &str, offset: usize) -> Position {
    let before = text.get(..floor(text, offset)).unwrap_or(text);
    let bytes = before.as_bytes();
    let mut line = 0;
    let mut start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        // `\r\n` is one line break, at its `\n`; the end of the text may cut it.
        let alone = *byte == b'\r' && text.as_bytes().get(at + 1) != Some(&b'\n');
        if *byte == b'\n' || alone {
            line += 1;
            start = at + 1;
        }
    }
    let character = before.get(start..).unwrap_or("").chars().map(width).sum();
    Position { line, character }
}

/// Range of a byte range.
#[must_use]
pub fn range(text: &str, bytes: std::ops::Range<usize>) -> Range {
    Range { start: position(text, bytes.start), end: position(text, bytes.end.max(bytes.start)) }
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn width(c: char) -> u32 {
    if c.len_utf16() == 2 { 2 } else { 1 }
}

fn line_start(text: &str, line: u32) -> Option<usize> {
    if line == 0 {
        return Some(0);
    }
    let bytes = text.as_bytes();
    let breaks = bytes
        .iter()
        .enumerate()
        .filter(|(at, byte)| **byte == b'\n' || (**byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')));
    breaks.map(|(at, _)| at + 1).nth(line as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a额度b\r\n😀x\rlast\n";

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn characters_are_counted_in_utf_16() {
        for (position_, found) in [
            (at(0, 0), "a额"),
            (at(0, 1), "额度"),
            (at(0, 3), "b\r"),
            (at(1, 0), "😀"),
            (at(1, 2), "x\r"),
            (at(2, 0), "last"),
            (at(3, 0), ""),
        ] {
            let byte = offset(TEXT, position_);
            assert!(TEXT[byte..].starts_with(found), "{position_:?}");
            assert_eq!(position(TEXT, byte), position_, "{found}");
        }
    }

    #[test]
    fn positions_that_do_not_exist_are_clamped() {
        assert_eq!(offset(TEXT, at(0, 99)), TEXT.find('\r').unwrap(), "the end of the line");
        assert_eq!(offset(TEXT, at(1, 1)), TEXT.find('😀').unwrap(), "inside a pair of units");
        assert_eq!(offset(TEXT, at(99, 0)), TEXT.len());
        assert_eq!(offset(TEXT, at(u32::MAX, u32::MAX)), TEXT.len());
        assert_eq!(position(TEXT, 2), at(0, 1), "inside a character");
        assert_eq!(position(TEXT, usize::MAX), at(3, 0));
    }

    #[test]
    fn every_offset_comes_back() {
        for (byte, c) in TEXT.char_indices() {
            if c != '\n' {
                assert_eq!(offset(TEXT, position(TEXT, byte)), byte, "{c:?}");
            }
        }
    }
}
