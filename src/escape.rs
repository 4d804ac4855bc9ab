//! Foreign text before people, on a terminal or in an editor. An error text may hold anything: escape
//! sequences that move the cursor or set the title, characters that turn the line around. None of it
//! goes out raw.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
    io,
};

use crate::signal::is_hazard;

/// Shows a text on one line: control characters, line breaks, and invisible or direction-changing
/// characters come out escaped (`\n`, `\u{1b}`).
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_hazard(*c)) {
            let (safe, tail) = rest.split_at(at);
            f.write_str(safe)?;
            match c {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                c => write!(f, "\\u{{{:x}}}", u32::from(c))?,
            }
            rest = tail.get(c.len_utf8()..).unwrap_or("");
        }
        f.write_str(rest)
    }
}

/// A text with every hazard but line breaks and tabs replaced by characters of the same length in
/// bytes, so that spans into it stay right. For whole files that a diagnostic quotes.
pub(crate) fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.len_utf8() {
            _ if c == '\n' || c == '\t' || !is_hazard(c) => out.push(c),
            // U+FFFD takes three bytes.
            3 => out.push('\u{fffd}'),
            n => out.extend(std::iter::repeat_n('?', n)),
        }
    }
    out
}

/// Text of any number of lines for a terminal: as it is, but for hazards other than line breaks.
pub(crate) fn shown_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "{}", Shown(line));
    }
    out
}

/// JSON with every hazard in its strings escaped as JSON does it, so that it means the same.
pub(crate) fn harmless_json(json: &str) -> Cow<'_, str> {
    // Outside of strings JSON holds no hazard but line breaks and tabs.
    let hazard = |c: char| !matches!(c, '\n' | '\r' | '\t') && is_hazard(c);
    if !json.contains(hazard) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if hazard(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Writes a value as one line of JSON that no terminal obeys.
///
/// # Errors
/// When `out` takes no more.
pub(crate) fn write_json(out: &mut dyn io::Write, value: &impl serde::Serialize) -> io::Result<()> {
    let json = serde_json::to_string(value)?;
    writeln!(out, "{}", harmless_json(&json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hazards_are_escaped_and_the_rest_stays() {
        let text = "a\u{1b}[31mred\u{7} 余额不足 👍🏽 \u{202e}evil\u{2066}\u{9b}1m\r\nb\0";
        let shown = Shown(text).to_string();
        assert_eq!(shown, "a\\u{1b}[31mred\\u{7} 余额不足 👍🏽 \\u{202e}evil\\u{2066}\\u{9b}1m\\r\\nb\\u{0}");
        assert!(!shown.chars().any(is_hazard));
    }

    #[test]
    fn json_is_escaped_and_means_the_same() {
        let value = serde_json::json!({ "a\u{9b}1m": "\u{202e}x\u{7f}\u{e0001}", "plain": "é\n" });
        let mut out = Vec::new();
        write_json(&mut out, &value).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.trim_end().chars().any(is_hazard), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn masking_keeps_lengths_and_lines() {
        let text = "x\u{1b}\ty\u{9b}\n\u{202e}z\u{e0001}";
        let masked = masked(text);
        assert_eq!(masked, "x?\ty??\n\u{fffd}z????");
        assert_eq!(masked.len(), text.len());
    }

    #[test]
    fn lines_keep_their_breaks() {
        assert_eq!(shown_lines("a\n\u{1b}b\n"), "a\n\\u{1b}b\n");
    }
}
