//! Cuts the keys in use out of what a provider said (J6): some repeat them, as they are or escaped.

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

/// Cuts `secrets` out of every text of `signal`. Of a text that nobody looks at to its end, the end goes.
pub(super) fn redact<'a>(signal: &mut Signal, secrets: impl IntoIterator<Item = &'a SecretString>) {
    let secrets: Vec<&str> = secrets.into_iter().map(|secret| secret.expose_secret().trim()).collect();
    let texts = [&mut signal.message, &mut signal.code, &mut signal.error_type, &mut signal.param];
    let texts = texts.into_iter().flatten().chain(&mut signal.details);
    let headers = signal.headers.iter_mut().map(|(_, value)| value);
    for text in texts.chain(headers) {
        let torn = text.len() > KEPT;
        text.truncate(text.floor_char_boundary(KEPT));
        for secret in secrets.iter().filter(|secret| secret.len() >= LEAST) {
            cut(text, secret);
        }
        if torn {
            text.truncate(text.floor_char_boundary(text.len().saturating_sub(TORN).max(TEXT_LIMIT)));
        }
    }
}

fn cut(text: &mut String, secret: &str) {
    // As it is, also where half an escape at its end goes on in the text.
    if text.contains(secret) {
        *text = text.replace(secret, CUT);
    }
    let (mut out, mut from) = (String::new(), 0);
    while let Some(found) = find(text, from, secret) {
        out.extend([text.get(from..found.start).unwrap_or_default(), CUT]);
        from = found.end;
    }
    if from > 0 {
        out.push_str(text.get(from..).unwrap_or_default());
        *text = out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "planted/key+zz==";

    fn redacted(message: String) -> String {
        let mut signal = Signal { message: Some(message), ..Signal::default() };
        redact(&mut signal, [&SecretString::from(KEY)]);
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
