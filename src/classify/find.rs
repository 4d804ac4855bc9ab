//! One question and one text, answered plainly. Fields that the scan does not cover use it, and so
//! does the explanation, which wants the place.

use std::ops::Range;

use crate::table::{
    ask::{Want, without_final},
    exprs::Exprs,
    literals::is_word,
};

/// Where a text satisfied a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) range: Range<usize>,
    /// The range is one of the original text, not of the folded one.
    pub(super) original: bool,
}

/// Finds what `want` asks for in one text, given folded and as it came.
pub(super) fn find(want: &Want, folded: &str, original: &str, exprs: &Exprs) -> Option<Place> {
    let range = match want {
        Want::Is(values) => values
            .iter()
            .any(|value| folded == value || without_final(folded) == value)
            .then_some(0..folded.len())?,
        Want::Has(phrases) => phrases.iter().find_map(|phrase| find_phrase(phrase, folded))?,
        Want::Contains(part) if !part.is_empty() => {
            folded.find(part.as_str()).map(|at| at..at + part.len())?
        }
        Want::Starts(prefix) if !prefix.is_empty() => {
            folded.starts_with(prefix.as_str()).then_some(0..prefix.len())?
        }
        Want::Matches(id) => {
            let expr = exprs.get(*id)?;
            let text = if expr.case_sensitive { original } else { folded };
            let range = expr.get()?.find(text)?.range();
            return Some(Place { range, original: expr.case_sensitive });
        }
        _ => return None,
    };
    Some(Place { range, original: false })
}

/// The first place of a phrase as words; blank, `_` and `-` are one letter.
fn find_phrase(phrase: &str, text: &str) -> Option<Range<usize>> {
    let letter = |byte: &u8| if matches!(byte, b'_' | b'-') { b' ' } else { *byte };
    let (phrase, text) = (phrase.as_bytes(), text.as_bytes());
    if phrase.is_empty() {
        return None;
    }
    text.windows(phrase.len()).enumerate().find_map(|(start, window)| {
        let end = start + phrase.len();
        (window.iter().map(letter).eq(phrase.iter().map(letter)) && is_word(text, start, end))
            .then_some(start..end)
    })
}

/// Whether `text` fits a pattern in which `*` stands for anything.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(middle) = last.replace(part) {
            match rest.find(middle) {
                Some(at) => rest = rest.get(at + middle.len()..).unwrap_or(""),
                None => return false,
            }
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, text, fits) in [
            ("kimi*", "kimi-k2", true),
            ("kimi*", "akimi", false),
            ("*-reset", "a-reset", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("a*b*b", "aXXb", false),
            ("a*bb*b", "abb", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("exact", "exact", true),
            ("exact", "exactly", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn phrases_are_words() {
        for (phrase, text, at) in [
            ("rate limit", "the rate_limit here", Some(4)),
            ("rate limit", "corporate limits", None),
            ("rate limit", "rate limits, rate-limit", Some(13)),
            ("余额", "a余额b", Some(1)),
            ("429", "id 14290", None),
            ("429", "(429)", Some(1)),
        ] {
            assert_eq!(find_phrase(phrase, text).map(|range| range.start), at, "{phrase} in {text}");
        }
    }
}
