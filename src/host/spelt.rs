//! Finds a key in a text that spells it otherwise than it is (J6): in escapes of JSON, of URLs or of
//! HTML, one inside another, or with characters in between that nobody sees.

use std::ops::Range;

use crate::signal::is_hazard;

/// How often a text may have been escaped, one escape inside another.
const LAYERS: u8 = 4;

/// How much that is not seen may stand between two characters of a key; else a text made of it costs
/// its square.
const UNSEEN: usize = 16;

/// HTML's names of what keys are made of, and of what is not seen.
const NAMES: [(&str, char); 23] = [
    ("amp", '&'),
    ("apos", '\''),
    ("ast", '*'),
    ("bsol", '\\'),
    ("colon", ':'),
    ("comma", ','),
    ("commat", '@'),
    ("dollar", '$'),
    ("equals", '='),
    ("excl", '!'),
    ("gt", '>'),
    ("lowbar", '_'),
    ("lt", '<'),
    ("num", '#'),
    ("percnt", '%'),
    ("period", '.'),
    ("plus", '+'),
    ("quot", '"'),
    ("semi", ';'),
    ("shy", '\u{ad}'),
    ("sol", '/'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
];

/// Where `secret` stands next in `text`, from `from` on. Linear in the text; allocates nothing.
pub(super) fn find(text: &str, from: usize, secret: &str) -> Option<Range<usize>> {
    let (first, rest) = visible(secret, 0)?;
    text.get(from..)?.char_indices().filter(|(_, c)| *c == first || begins_escape(*c)).find_map(|(at, _)| {
        let start = from + at;
        // What is not seen is skipped only behind the first character.
        let (_, next) = read(text, start, LAYERS).filter(|(c, _)| *c == first)?;
        Some(start..matched(text, next, secret, rest)?)
    })
}

/// Where what is left of `secret` ends in the text, if it stands here.
fn matched(text: &str, mut at: usize, secret: &str, mut rest: usize) -> Option<usize> {
    while let Some((wanted, next)) = visible(secret, rest) {
        (_, at) = visible(text, at).filter(|(c, _)| *c == wanted)?;
        rest = next;
    }
    Some(at)
}

/// The next character that is seen, unescaped, and where it ends. A key is read in the same way as the
/// text: so one that looks escaped itself is found too.
fn visible(text: &str, mut at: usize) -> Option<(char, usize)> {
    for _ in 0..UNSEEN {
        let (c, next) = read(text, at, LAYERS)?;
        if !is_unseen(c) {
            return Some((c, next));
        }
        at = if c == '\u{1b}' { behind_colour(text, next) } else { next };
    }
    None
}

fn is_unseen(c: char) -> bool {
    is_hazard(c) || matches!(c, '\u{34f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Behind the rest of a terminal's `ESC [ 31 m`.
fn behind_colour(text: &str, at: usize) -> usize {
    let Some(('[', mut end)) = read(text, at, LAYERS) else { return at };
    for _ in 0..UNSEEN {
        let Some((c, next)) = read(text, end, LAYERS) else { break };
        match c {
            '0'..='9' | ';' | '?' => end = next,
            '@'..='~' => return next,
            _ => break,
        }
    }
    at
}

const fn begins_escape(c: char) -> bool {
    matches!(c, '\\' | '%' | '&')
}

/// The character at `at` once `layers` of escapes are taken off, and where it ends.
fn read(text: &str, at: usize, layers: u8) -> Option<(char, usize)> {
    let Some(layers) = layers.checked_sub(1) else {
        let c = text.get(at..)?.chars().next()?;
        return Some((c, at + c.len_utf8()));
    };
    let under = Under { text, layers };
    let (c, next) = under.read(at)?;
    let unescaped = match c {
        '\\' => under.backslash(next),
        '%' => under.percent(next),
        '&' => under.entity(next),
        _ => None,
    };
    unescaped.or(Some((c, next)))
}

/// A text as the layer below shows it.
#[derive(Clone, Copy)]
struct Under<'t> {
    text: &'t str,
    layers: u8,
}

impl Under<'_> {
    fn read(self, at: usize) -> Option<(char, usize)> {
        read(self.text, at, self.layers)
    }

    /// Behind `wanted`, if that stands here.
    fn behind(self, wanted: char, at: usize) -> Option<usize> {
        self.read(at).filter(|(c, _)| *c == wanted).map(|(_, next)| next)
    }

    /// A number of at least one digit, and at most `most`.
    fn number(self, mut at: usize, radix: u32, most: usize) -> Option<(u32, usize, usize)> {
        let (mut number, mut digits) = (0_u32, 0);
        while digits < most
            && let Some((c, next)) = self.read(at)
            && let Some(digit) = c.to_digit(radix)
        {
            number = number.checked_mul(radix)?.checked_add(digit)?;
            (at, digits) = (next, digits + 1);
        }
        (digits > 0).then_some((number, at, digits))
    }

    /// A hexadecimal number of just so many digits.
    fn hex(self, at: usize, digits: usize) -> Option<(u32, usize)> {
        let (number, end, found) = self.number(at, 16, digits)?;
        (found == digits).then_some((number, end))
    }

    /// `\/`, `\n`, `\x2f`, `\u002f`, `\u{2f}`, `\U0000002f`.
    fn backslash(self, at: usize) -> Option<(char, usize)> {
        let (c, next) = self.read(at)?;
        let number = match c {
            'u' => self.unicode(next),
            'U' => self.hex(next, 8),
            'x' => self.hex(next, 2),
            'n' | 'r' | 't' | 'b' | 'f' => Some((u32::from('\n'), next)),
            _ => None,
        };
        let number = number.and_then(|(number, end)| Some((char::from_u32(number)?, end)));
        number.or(Some((c, next)))
    }

    /// Four digits, two times four, or any in braces.
    fn unicode(self, at: usize) -> Option<(u32, usize)> {
        if let Some(open) = self.behind('{', at) {
            let (number, end, _) = self.number(open, 16, 6)?;
            return Some((number, self.behind('}', end)?));
        }
        let (high, end) = self.hex(at, 4)?;
        if !(0xd800..0xdc00).contains(&high) {
            return Some((high, end));
        }
        let (low, end) = self.hex(self.behind('u', self.behind('\\', end)?)?, 4)?;
        let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        Some((0x1_0000 + ((high - 0xd800) << 10) + low, end))
    }

    /// The UTF-8 bytes of one character, each as `%2F`.
    fn percent(self, at: usize) -> Option<(char, usize)> {
        let (first, mut end) = self.hex(at, 2)?;
        let (mut number, more) = match first {
            0..0x80 => (first, 0),
            0xc0..0xe0 => (first & 0x1f, 1),
            0xe0..0xf0 => (first & 0x0f, 2),
            0xf0..0xf8 => (first & 0x07, 3),
            _ => return None,
        };
        for _ in 0..more {
            let (byte, next) = self.hex(self.behind('%', end)?, 2)?;
            (number, end) = (number << 6 | byte & 0x3f, next);
        }
        Some((char::from_u32(number)?, end))
    }

    /// `&#47;`, `&#x2F;`, `&sol;`.
    fn entity(self, at: usize) -> Option<(char, usize)> {
        // Read once: it may be escaped itself, and so on.
        let (initial, number) = self.read(at)?;
        if initial != '#' {
            return self.named(initial, number);
        }
        let hex = self.read(number).filter(|(c, _)| matches!(c, 'x' | 'X')).map(|(_, digits)| digits);
        let (number, end, _) = match hex {
            Some(digits) => self.number(digits, 16, 8)?,
            None => self.number(number, 10, 8)?,
        };
        Some((char::from_u32(number)?, self.behind(';', end)?))
    }

    fn named(self, initial: char, next: usize) -> Option<(char, usize)> {
        let fitting = NAMES.iter().filter(|(name, _)| name.starts_with(initial));
        fitting.into_iter().find_map(|(name, c)| {
            let end = name.chars().skip(1).try_fold(next, |at, letter| self.behind(letter, at))?;
            Some((*c, self.behind(';', end)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    const KEY: &str = "k7Qp/Zx9tLm/3vRb8wYc/2nTq+Jd5";

    /// The whole text is the key, spelt like this.
    fn is_found(spelt: &str, key: &str) {
        let text = format!("wrong key \\\"{spelt}\\\" & more%");
        let found = find(&text, 0, key).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(&text[found], spelt);
    }

    #[test]
    fn j6_a_key_is_found_however_it_is_escaped() {
        let each = |to: fn(char) -> String| KEY.chars().map(to).collect::<String>();
        for spelt in [
            KEY.replace('/', r"\/"),
            KEY.replace('/', r"\\\/"),
            KEY.replace('/', r"\u002F"),
            KEY.replace('/', r"\\u002f"),
            KEY.replace('/', r"\\\\u002f"),
            KEY.replace('/', r"\x2f"),
            KEY.replace('/', r"\u{2f}"),
            KEY.replace('/', "%2F"),
            KEY.replace('/', "%252f"),
            KEY.replace('/', "&#x2F;").replace('+', "&plus;"),
            KEY.replace('/', "&amp;#47;"),
            KEY.replace('/', r"\u0026#x2F;"),
            KEY.replace('/', r"%5C/"),
            each(|c| format!("\\u{:04x}", u32::from(c))),
            each(|c| format!("%{:02X}", u32::from(c))),
            each(|c| format!("&#{};", u32::from(c))),
            KEY.replace('/', "\u{200b}/\u{ad}"),
            KEY.replace('Q', r"\u200bQ&shy;%E2%80%8B"),
            KEY.replace('Q', "\u{1b}[1;31mQ\u{1b}[0m"),
            KEY.replace('Q', r"\u001b[31mQ\u001b[0m"),
            KEY.replace('Q', "\r\nQ"),
        ] {
            is_found(&spelt, KEY);
        }
    }

    #[test]
    fn j6_keys_of_odd_characters_are_found() {
        is_found(r#"say-\"that\"-aloud"#, r#"say-"that"-aloud"#);
        is_found(r"back\\slash\\es", r"back\slash\es");
        is_found(r"back\\\\slash\\\\es", r"back\slash\es");
        is_found("schl\\u00fcssel-\\ud83d\\udd11", "schlüssel-🔑");
        is_found("schl%C3%BCssel-%F0%9F%94%91", "schlüssel-🔑");
        is_found("schl&#252;ssel-&#x1f511;", "schlüssel-🔑");
        is_found(r"a%2Fb\/c&amp;d-escaped", "a%2Fb/c&amp;d-escaped");
        is_found("%25%25%25%25%25%25%25%25", "%25%25%25%25%25%25%25%25");
    }

    #[test]
    fn what_is_no_key_stays() {
        for text in ["", "k7Qp", r"k7Qp\/Zx9tLm\", "k7Qp%2", "k7Qp&#x2F", r"k7Qp\u00", r"k7Qp\ud800\u0041x"] {
            assert_eq!(find(text, 0, KEY), None, "{text}");
        }
        assert_eq!(find("anything", 0, "\u{200b}\u{200b}"), None, "a key that nobody sees");
    }

    #[test]
    fn odd_texts_end() {
        for piece in
            ["\\", "%", "%25", "&", "&amp;", "&#x26;", r"\u005c", "k\u{200b}", r"\u200b", "k\u{1b}[", "&s"]
        {
            let text = piece.repeat(16_384 / piece.len());
            assert_eq!(find(&text, 0, KEY), None, "{piece}");
        }
    }
}
