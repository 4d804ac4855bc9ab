//! Cuts the keys in use out of what a provider said (J6): some repeat them, as they are or escaped.

use secrecy::{ExposeSecret, SecretString};

use super::spelt::find;
use crate::signal::Signal;

/// What stands in a key's place.
const CUT: &str = "…";

/// Shorter secrets are words (`ollama`, `none`), and would tear holes into texts.
const LEAST: usize = 8;

/// Cuts `secrets` out of every text of `signal`.
pub(super) fn redact<'a>(signal: &mut Signal, secrets: impl IntoIterator<Item = &'a SecretString>) {
    for secret in secrets {
        let secret = secret.expose_secret().trim();
        if secret.len() < LEAST {
            continue;
        }
        let texts = [&mut signal.message, &mut signal.code, &mut signal.error_type, &mut signal.param];
        let texts = texts.into_iter().flatten().chain(&mut signal.details);
        let headers = signal.headers.iter_mut().map(|(_, value)| value);
        for text in texts.chain(headers) {
            cut(text, secret);
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
