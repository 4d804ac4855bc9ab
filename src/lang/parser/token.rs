//! Tokens: as much as lines, brackets, comments and the formatter need. What a word means is the
//! grammar's business.

/// A piece of a file. Blanks between tokens are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word, name, number, duration or time.
    Word,
    /// `"…"`.
    Str,
    /// `/…/`, with flags.
    Regex,
    /// `(`, `[` or `{`.
    Open(Bracket),
    /// `)`, `]` or `}`.
    Close(Bracket),
    /// `,`.
    Comma,
    /// `;`.
    Semicolon,
    /// `=` or `->`.
    Sign,
    /// `# …`; also a ruler of three or more `#`.
    Comment,
    /// `## …`.
    Doc,
    /// A line break.
    Newline,
    /// A string without an end.
    OpenString,
    /// A regular expression without an end.
    OpenRegex,
    /// A character that means nothing here.
    Stray,
}

/// The three kinds of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    /// `()`.
    Round,
    /// `[]`.
    Square,
    /// `{}`.
    Curly,
}

impl Token {
    /// Its text.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start..self.end).unwrap_or("")
    }

    /// Whether it is neither a comment nor a line break.
    pub fn counts(&self) -> bool {
        !matches!(self.kind, Kind::Comment | Kind::Doc | Kind::Newline)
    }
}

/// The text of a `##` line.
pub fn doc_line(text: &str) -> &str {
    let line = text.strip_prefix("##").unwrap_or(text);
    line.strip_prefix(' ').unwrap_or(line)
}

/// All tokens of a text. A byte order mark at the start is passed over.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut out = Vec::new();
    while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        if matches!(first, ' ' | '\t' | '\r') {
            at += 1;
            continue;
        }
        let (kind, length) = token(first, rest);
        out.push(Token { kind, start: at, end: at + length });
        at += length;
    }
    out
}

fn token(first: char, rest: &str) -> (Kind, usize) {
    match first {
        '\n' => (Kind::Newline, 1),
        '(' => (Kind::Open(Bracket::Round), 1),
        '[' => (Kind::Open(Bracket::Square), 1),
        '{' => (Kind::Open(Bracket::Curly), 1),
        ')' => (Kind::Close(Bracket::Round), 1),
        ']' => (Kind::Close(Bracket::Square), 1),
        '}' => (Kind::Close(Bracket::Curly), 1),
        ',' => (Kind::Comma, 1),
        ';' => (Kind::Semicolon, 1),
        '=' => (Kind::Sign, 1),
        '-' if rest.starts_with("->") => (Kind::Sign, 2),
        '#' => {
            let doc = rest.starts_with("##") && !rest.starts_with("###");
            let kind = if doc { Kind::Doc } else { Kind::Comment };
            (kind, line(rest).len())
        }
        '"' => delimited(rest, b'"', Kind::Str, Kind::OpenString),
        '/' => delimited(rest, b'/', Kind::Regex, Kind::OpenRegex),
        c if in_word(c) => (Kind::Word, word(rest)),
        c => (Kind::Stray, c.len_utf8()),
    }
}

/// The rest of the line, without blanks at its end.
fn line(rest: &str) -> &str {
    rest.split('\n').next().unwrap_or(rest).trim_end_matches([' ', '\t', '\r'])
}

/// A string or regular expression: up to the closing mark, or, without one, to the end of the line.
fn delimited(rest: &str, mark: u8, whole: Kind, open: Kind) -> (Kind, usize) {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => break,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == mark => {
                let flags = if mark == b'/' { rest.get(at + 1..).map_or(0, word) } else { 0 };
                return (whole, at + 1 + flags);
            }
            _ => {}
        }
    }
    (open, line(rest).len())
}

/// The length of the word at the start.
fn word(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        if byte.is_ascii() {
            let arrow = byte == b'-' && bytes.get(at + 1) == Some(&b'>');
            if !in_ascii_word(byte) || arrow {
                break;
            }
            at += 1;
        } else {
            let Some(letter) = rest.get(at..).and_then(|rest| rest.chars().next()) else { break };
            if !letter.is_alphanumeric() {
                break;
            }
            at += letter.len_utf8();
        }
    }
    at
}

fn in_word(c: char) -> bool {
    u8::try_from(c).ok().filter(u8::is_ascii).map_or_else(|| c.is_alphanumeric(), in_ascii_word)
}

fn in_ascii_word(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'#' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).iter().map(|t| (t.kind, t.text(text))).collect()
    }

    #[test]
    fn signs_end_words() {
        assert_eq!(
            kinds("a->b=openai-codex 500..599;1h30m"),
            [
                (Kind::Word, "a"),
                (Kind::Sign, "->"),
                (Kind::Word, "b"),
                (Kind::Sign, "="),
                (Kind::Word, "openai-codex"),
                (Kind::Word, "500..599"),
                (Kind::Semicolon, ";"),
                (Kind::Word, "1h30m"),
            ]
        );
    }

    #[test]
    fn marks_inside_strings_and_expressions_are_text() {
        let text = "\"a # \\\" b\" /x\\/#[\"]/c # rest \t\r\n## doc";
        assert_eq!(
            kinds(text),
            [
                (Kind::Str, "\"a # \\\" b\""),
                (Kind::Regex, "/x\\/#[\"]/c"),
                (Kind::Comment, "# rest"),
                (Kind::Newline, "\n"),
                (Kind::Doc, "## doc"),
            ]
        );
    }

    #[test]
    fn an_open_string_ends_with_its_line() {
        assert_eq!(kinds("\"a\\\nb").first(), Some(&(Kind::OpenString, "\"a\\")));
        assert_eq!(kinds("/a b \n"), [(Kind::OpenRegex, "/a b"), (Kind::Newline, "\n")]);
    }

    #[test]
    fn a_mark_at_the_start_is_passed_over_and_quotes_of_print_are_stray() {
        assert_eq!(
            kinds("\u{feff}x \u{201c} \0"),
            [(Kind::Word, "x"), (Kind::Stray, "\u{201c}"), (Kind::Stray, "\0")]
        );
    }
}
