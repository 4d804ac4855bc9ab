//! Folding: two spellings of one text become one.
//!
//! Lower case, white-space and control characters to blanks, runs of blanks to one, none at either
//! end, typographic quotes and dashes to plain ones, the long s to the plain one, for which an
//! expression that ignores case would take it. A NUL becomes a blank like any other control
//! character, so that no input can forge the end of a text.

use std::ops::Range;

use super::swar::{self, HIGH, ONES};

/// Appends the folded `text` to `out`.
pub(crate) fn fold_into(text: &str, out: &mut String) {
    let start = out.len();
    fold_but_capitals(text, out);
    if let Some(new) = out.get_mut(start..) {
        new.make_ascii_lowercase();
    }
}

/// [`fold_into`], but for capitals of ASCII: those of many texts are made small at once.
pub(super) fn fold_but_capitals(text: &str, out: &mut String) {
    if is_short_and_plain(text.as_bytes()) {
        out.push_str(text);
        return;
    }
    let start = out.len();
    let mut rest = text;
    while !rest.is_empty() {
        let blank_before = out.len() == start || out.ends_with(' ');
        if let Some((head, tail)) = rest.split_at_checked(plain_prefix(rest.as_bytes(), blank_before)) {
            out.push_str(head);
            rest = tail;
        }
        if let Some((blanks, tail)) = rest.split_at_checked(blank_prefix(rest.as_bytes()))
            && !blanks.is_empty()
        {
            push_char(' ', start, out);
            rest = tail;
        }
        let mut chars = rest.chars();
        while let Some(c) = chars.clone().next().filter(|c| !c.is_ascii()) {
            push_char(c, start, out);
            chars.next();
        }
        rest = chars.as_str();
    }
    if out.len() > start && out.ends_with(' ') {
        out.pop();
    }
}

/// How many bytes from the start are blanks and control characters of ASCII.
fn blank_prefix(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| **b <= b' ' || **b == 0x7f).count()
}

/// How many bytes from the start need nothing but lower case: printable ASCII, single blanks.
fn plain_prefix(bytes: &[u8], blank_before: bool) -> usize {
    let mut plain = 0;
    if !(blank_before && bytes.first() == Some(&b' ')) {
        let (blocks, _) = bytes.as_chunks::<32>();
        let (behind, _) = bytes.get(1..).unwrap_or_default().as_chunks::<32>();
        plain = 32 * blocks.iter().zip(behind).take_while(|(block, behind)| is_plain(block, behind)).count();
    }
    // A block ends before no second blank.
    let mut blanks = if blank_before && plain == 0 { LAST } else { 0 };
    let (words, rest) = bytes.get(plain..).unwrap_or_default().as_chunks::<8>();
    for word in words {
        let (odd, here) = odd_bytes(u64::from_le_bytes(*word), blanks);
        if odd != 0 {
            return plain + swar::first(odd);
        }
        blanks = here;
        plain += 8;
    }
    if rest.is_empty() {
        return plain;
    }
    // The last word, of which the first bytes were looked at before: the first is no second blank.
    if let Some(at) = bytes.len().checked_sub(8) {
        (plain, blanks) = (at, 0);
    }
    let (odd, _) = odd_bytes(swar::padded(bytes, plain), blanks);
    if odd == 0 { bytes.len() } else { bytes.len().min(plain + swar::first(odd)) }
}

/// Whether a text, as most are, needs nothing but lower case; `false` may be wrong.
#[inline]
fn is_short_and_plain(text: &[u8]) -> bool {
    const BLOCK: usize = 16;
    let (Some((first, behind)), Some((last, before))) = (text.split_first(), text.split_last()) else {
        return false;
    };
    // Blocks of bytes and of those behind them; the last ones may overlap those before.
    let (Some(end), Some(behind_end)) = (before.last_chunk::<BLOCK>(), behind.last_chunk::<BLOCK>()) else {
        return false;
    };
    if text.len() > LONGEST_SHORT || !first.is_ascii_graphic() || *last == b' ' {
        return false;
    }
    let blocks = before.as_chunks::<BLOCK>().0.iter().zip(behind.as_chunks::<BLOCK>().0);
    let mut odd = [0; BLOCK];
    for (block, behind) in blocks.chain([(end, behind_end)]) {
        for ((odd, b), next) in odd.iter_mut().zip(block).zip(behind) {
            *odd |= u8::from(!(0x20..0x7f).contains(next)) | u8::from((b | next) == b' ');
        }
    }
    odd == [0; BLOCK]
}

/// Whether a block is printable ASCII in which no blank follows another; `false` may be wrong. `behind`
/// is the block that begins one byte later.
fn is_plain(block: &[u8; 32], behind: &[u8; 32]) -> bool {
    let odd = |b: &u8, next: &u8| u8::from(!(0x20..0x7f).contains(b)) | u8::from((b | next) == b' ');
    block.iter().zip(behind).fold(0, |any, (b, next)| any | odd(b, next)) == 0
}

/// Longer texts are folded stretch by stretch.
const LONGEST_SHORT: usize = 256;

/// The high bit of the last byte.
const LAST: u64 = 1 << 63;

/// Eight bytes at once. The first result is zero when all are printable ASCII and no two blanks
/// stand together; the second has the high bit of each byte that is a blank, as `before` has for
/// the eight bytes before.
fn odd_bytes(word: u64, before: u64) -> (u64, u64) {
    let low = word & !HIGH;
    let beyond = word | (low + ONES);
    let below = !((word | HIGH) - 0x20 * ONES);
    let blanks = !((low ^ (0x20 * ONES)) + 0x7f * ONES) & HIGH;
    let double = blanks & ((blanks << 8) | (before >> 56));
    (((beyond | below) & HIGH) | double, blanks)
}

/// Appends one folded character; `start` is where the text began in `out`.
fn push_char(c: char, start: usize, out: &mut String) {
    match c {
        // Scripts without capitals, above all the Chinese.
        '\u{3001}'..='\u{a63f}' | '\u{ac00}'..='\u{d7ff}' => out.push(c),
        '\u{200b}' | '\u{feff}' => {}
        c if c.is_control() || c.is_whitespace() => {
            if out.len() > start && !out.ends_with(' ') {
                out.push(' ');
            }
        }
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{02bc}' => out.push('\''),
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{00ab}' | '\u{00bb}' => out.push('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
        'ſ' => out.push('s'),
        c if c.is_ascii() => out.push(c.to_ascii_lowercase()),
        c => out.extend(c.to_lowercase()),
    }
}

/// The part of `text` whose folded form covers `wanted`, a range of the folded text. Folds anew,
/// character by character: for explanations only.
pub(super) fn unfold(text: &str, wanted: &Range<usize>) -> Option<Range<usize>> {
    let mut out = String::with_capacity(text.len());
    let mut span: Option<Range<usize>> = None;
    for (at, c) in text.char_indices() {
        let before = out.len();
        push_char(c, 0, &mut out);
        if out.len() > wanted.start && before < wanted.end {
            let end = at + c.len_utf8();
            span = Some(span.map_or(at, |span| span.start)..end);
        }
    }
    span.filter(|_| wanted.start < wanted.end && wanted.end <= out.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fold(text: &str) -> String {
        let mut out = String::from("before ");
        fold_into(text, &mut out);
        out.split_off("before ".len())
    }

    /// Folding by characters alone.
    fn slow(text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            push_char(c, 0, &mut out);
        }
        out.trim_end_matches(' ').to_owned()
    }

    #[test]
    fn two_spellings_become_one() {
        for (text, folded) in [
            ("Rate  Limit\n\tReached ", "rate limit reached"),
            ("You’re out of “Credits” – sorry", "you're out of \"credits\" - sorry"),
            ("Requeſt \u{212a}ey", "request key"),
            ("ПРЕВЫШЕН Лимит", "превышен лимит"),
            ("a\0b", "a b"),
            ("\u{a0}x\u{3000}", "x"),
            ("x““““““““““", "x\"\"\"\"\"\"\"\"\"\""),
            ("«««««««««««««««««", "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""),
            (
                "as long as two blocks of\0 thirty-two bytes, or as good as",
                "as long as two blocks of thirty-two bytes, or as good as",
            ),
            ("", ""),
            (" \n ", ""),
        ] {
            assert_eq!(fold(text), folded, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn fast_is_slow(text in "([ -~]{0,40}|[a-cA-C ]{0,80}|\\PC| |\n|\0|\x7f|“|İ|余){0,8}") {
            prop_assert_eq!(fold(&text), slow(&text));
        }

        #[test]
        fn unfolding_finds_what_folds_to_it(text in "([a-zA-Z]{0,4}|  |\n|’|é|İ){0,8}", from in 0usize..20, len in 1usize..10) {
            let folded = fold(&text);
            if let Some(wanted) = folded.get(from..from + len) {
                let span = unfold(&text, &(from..from + len)).unwrap();
                let again = slow(&format!("x{}", text.get(span).unwrap()));
                prop_assert!(again.contains(wanted.trim()), "{again:?} {wanted:?}");
            }
        }
    }

    #[test]
    fn what_is_no_part_of_the_folded_text_comes_from_nowhere() {
        assert_eq!(unfold("ab", &(1..3)), None);
        assert_eq!(unfold("é", &(1..1)), None);
    }

    #[test]
    fn scripts_without_capitals_stay_as_they_are() {
        for c in ('\u{3001}'..='\u{a63f}').chain('\u{ac00}'..='\u{d7ff}') {
            assert!(!c.is_whitespace() && !c.is_control() && c.to_lowercase().eq([c]), "{c:?}");
        }
    }
}
