//! Texts of providers, made fit for logs: short, one line, without credentials and without characters
//! that a terminal obeys or that turn a line around (J1, J6).

use crate::signal::{Signal, is_hazard, mask};

/// Characters of a preview.
const LENGTH: usize = 200;

/// One line about an error that a person can read.
pub(super) fn summary(signal: &Signal) -> Option<String> {
    let texts = [&signal.message, &signal.code, &signal.error_type];
    let text = texts.into_iter().flatten().chain(&signal.details).find(|text| !text.trim().is_empty())?;
    Some(preview(text))
}

/// At most [`LENGTH`] characters of a text, on one line, without secrets.
pub(super) fn preview(text: &str) -> String {
    let mut out = String::new();
    let mut left = LENGTH;
    // Generous head: white space and secrets shrink, so more than LENGTH characters may be read.
    let head: String = text.chars().take(LENGTH * 4).collect();
    let head = mask(&head);
    for word in head.split(|c: char| c.is_whitespace() || is_hazard(c)).filter(|word| !word.is_empty()) {
        for c in (if out.is_empty() { "" } else { " " }).chars().chain(word.chars()) {
            if left == 0 {
                out.push('…');
                return out;
            }
            out.push(c);
            left -= 1;
        }
    }
    if text.chars().nth(LENGTH * 4).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn j6_what_looks_like_a_key_is_cut() {
        let text = "Incorrect API key provided: sk-proj-abc123DEF456. Authorization: Bearer hello";
        assert_eq!(preview(text), "Incorrect API key provided: sk-p… Authorization: Bearer …");
        assert_eq!(preview("key=0123456789abcdef0123456789abcdef!"), "key=…!");
    }

    #[test]
    fn models_words_and_times_stay() {
        let text = "model claude-opus-4-8-20251101 at 2026-02-28T22:00:00Z: internationalization";
        assert_eq!(preview(text), text);
    }

    #[test]
    fn a_preview_is_one_short_line_without_control_characters() {
        assert_eq!(preview("a\n\u{1b}[31mb\0c"), "a [31mb c");
        assert_eq!(preview("x\u{9b}2J\u{202e}evil\u{2066}\u{e0041}"), "x 2J evil");
        let long = preview(&"word ".repeat(1_000));
        assert_eq!(long.chars().count(), LENGTH + 1);
        assert!(long.ends_with('…'));
        assert!(preview(&"é".repeat(5_000)).chars().count() <= LENGTH + 1);
    }
}
