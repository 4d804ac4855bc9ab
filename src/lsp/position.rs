//! Positions as the protocol counts them: lines from 0, and UTF-16 units within a line.

use std::ops::Range;

use lsp_types::Position;

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
    Lines::new(text).position(offset)
}

/// Range of a byte range.
#[must_use]
pub fn range(text: &str, bytes: Range<usize>) -> lsp_types::Range {
    Lines::new(text).range(bytes)
}

/// A text of which many positions are wanted.
pub struct Lines<'a> {
    text: &'a str,
    /// The byte at which each line begins.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, starts: std::iter::once(0).chain(breaks(text).map(|at| at + 1)).collect() }
    }

    /// Position of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let end = floor(self.text, offset);
        let line = self.starts.partition_point(|start| *start <= end).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let character = self.text.get(start..end).unwrap_or("").chars().map(width).sum();
        Position { line: u32::try_from(line).unwrap_or(u32::MAX), character }
    }

    /// Range of a byte range.
    #[must_use]
    pub fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        let start = self.position(bytes.start);
        lsp_types::Range { start, end: self.position(bytes.end.max(bytes.start)) }
    }
}

/// Where lines end. `\r\n` is one line break, at its `\n`.
fn breaks(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'\n', b'\r', bytes)
        .filter(|at| bytes.get(*at) == Some(&b'\n') || bytes.get(at + 1) != Some(&b'\n'))
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn width(c: char) -> u32 {
    if c.len_utf16() == 2 { 2 } else { 1 }
}

fn line_start(text: &str, line: u32) -> Option<usize> {
    match line.checked_sub(1) {
        Some(before) => breaks(text).nth(before as usize).map(|at| at + 1),
        None => Some(0),
    }
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
