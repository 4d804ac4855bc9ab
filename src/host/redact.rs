//! Cuts the keys in use out of what a provider said (J6): some repeat them, as they are or escaped.

use std::ops::Range;

use memchr::memchr2_iter;
use secrecy::{ExposeSecret, SecretString};

use super::spelt::find;
use crate::signal::{Signal, TEXT_LIMIT};

/// What stands in a key's place.
const CUT: &str = "…";

/// Shorter secrets are words (`ollama`, `none`), and would tear holes into texts.
const LEAST: usize = 8;

/// What is kept of a text, in bytes: twice what is looked at, so that half a key stands far behind that.
const KEPT: usize = 2 * TEXT_LIMIT;

/// What is taken off the end of a text that is cut there: no key is longer, however it is spelt.
const TORN: usize = 16 * 1024;

/// How much may be read for the keys of other turns: bytes of texts times keys.
const WORK: usize = 2 * 1024 * 1024;

/// Cuts keys out of every text of `signal`: those of the turn, and of `others` as many as are read soon. Of a
/// text that nobody looks at to its end, the end goes.
pub(super) fn redact<'a>(
    signal: &mut Signal,
    of_turn: impl Iterator<Item = &'a SecretString>,
    others: impl Iterator<Item = &'a SecretString>,
) {
    let texts = [&mut signal.message, &mut signal.code, &mut signal.error_type, &mut signal.param];
    let texts = texts.into_iter().flatten().chain(&mut signal.details);
    let texts = texts.chain(signal.headers.iter_mut().map(|(_, value)| value));
    let texts = texts.map(|text| {
        let torn = text.len() > KEPT;
        text.truncate(text.floor_char_boundary(KEPT));
        (text, torn)
    });
    let texts: Vec<(&mut String, bool)> = texts.collect();
    let bytes: usize = texts.iter().map(|(text, _)| text.len()).sum();
    let others = others.take(WORK / bytes.max(1));
    let keys = of_turn.chain(others).map(|secret| secret.expose_secret().trim());
    // Mostly none of thousands stands there, and only those that do are put in order.
    let stands =
        |key: &str, text: &str| find_in_any_case(text, 0, key).is_some() || find(text, 0, key).is_some();
    let keys = keys.filter(|key| key.len() >= LEAST);
    let mut keys: Vec<&str> = keys.filter(|key| texts.iter().any(|(text, _)| stands(key, text))).collect();
    // The longest first, in case that one begins another.
    keys.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    keys.dedup();
    for (text, torn) in texts {
        for key in &keys {
            // As it is, also where half an escape at its end goes on in the text.
            cut(text, |text, from| find_in_any_case(text, from, key));
            cut(text, |text, from| find(text, from, key));
        }
        if torn {
            text.truncate(text.floor_char_boundary(text.len().saturating_sub(TORN).max(TEXT_LIMIT)));
        }
    }
}

fn cut(text: &mut String, next: impl Fn(&str, usize) -> Option<Range<usize>>) {
    let (mut out, mut from) = (String::new(), 0);
    while let Some(found) = next(text, from) {
        out.extend([text.get(from..found.start).unwrap_or_default(), CUT]);
        from = found.end;
    }
    if from > 0 {
        out.push_str(text.get(from..).unwrap_or_default());
        *text = out;
    }
}

/// Where `key` stands next in `text`, its ASCII letters in either case.
fn find_in_any_case(text: &str, from: usize, key: &str) -> Option<Range<usize>> {
    let (text, key) = (text.as_bytes().get(from..)?, key.as_bytes());
    let first = key.first()?;
    let mut places = memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text);
    let fits =
        |at: &usize| text.get(*at..at + key.len()).is_some_and(|place| place.eq_ignore_ascii_case(key));
    places.find(fits).map(|at| from + at..from + at + key.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "planted/key+zz==";

    fn redacted(message: String) -> String {
        let mut signal = Signal { message: Some(message), ..Signal::default() };
        redact(&mut signal, [&SecretString::from(KEY)].into_iter(), [].into_iter());
        signal.message.unwrap()
    }

    #[test]
    fn long_texts_lose_their_end_and_no_part_of_a_key_is_left() {
        for filler in ["&", "%", "\\", "é", "&amp;"] {
            let long = filler.repeat(1_000_000);
            let text = redacted(format!("{KEY} {long}"));
            assert!(text.starts_with(CUT) && text.len() < KEPT, "{filler}: {}", text.len());
        }
        for gap in 0..KEY.len() {
            let text =
                redacted(format!("{}{}{KEY}{}", KEY, "x".repeat(KEPT - KEY.len() - gap), "y".repeat(10)));
            assert!(!text.contains("plant"), "{gap}");
            assert!(text.len() >= TEXT_LIMIT);
        }
        let whole = "z".repeat(KEPT);
        assert_eq!(redacted(whole.clone()), whole);
    }
}
