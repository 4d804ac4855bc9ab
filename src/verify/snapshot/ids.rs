//! Ids for errors that bring none, or none that is one word.

use std::{collections::HashMap, fmt::Write as _};

/// Makes ids that are one word each, and no two the same.
#[derive(Debug, Default)]
pub struct Ids(HashMap<String, u32>);

impl Ids {
    /// The id of an error: its own, else one made from its text, so that errors added above it do
    /// not change it. The second error with the same id gets `~2` behind it.
    pub fn next(&mut self, own: Option<&str>, text: &[u8]) -> String {
        let mut id = match own {
            Some(own) if is_word(own) => own.to_owned(),
            Some(own) => quoted(own),
            None => format!("#{:012x}", fingerprint(text) >> 16),
        };
        let base = id.clone();
        while let Some(count) = self.0.get_mut(&id) {
            *count += 1;
            id = format!("{base}~{count}");
        }
        self.0.insert(id.clone(), 1);
        id
    }
}

fn is_word(id: &str) -> bool {
    !id.is_empty() && !id.starts_with(['"', '#']) && !id.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// A JSON string without blanks.
fn quoted(id: &str) -> String {
    let mut out = String::new();
    for c in serde_json::Value::from(id).to_string().chars() {
        if c.is_whitespace() || c.is_control() {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// FNV-1a: the same on every machine and with every release.
fn fingerprint(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_words_and_differ() {
        let mut ids = Ids::default();
        let made = [Some("a"), Some("a"), Some("a b"), Some(""), Some("#x"), None, None]
            .map(|own| ids.next(own, b"text"));
        for (at, id) in made.iter().enumerate() {
            assert_eq!(id.split_whitespace().count(), 1, "{id}");
            assert!(!made[..at].contains(id), "{id}");
        }
        assert_eq!(made[..3], ["a", "a~2", "\"a\\u0020b\""]);
        assert_eq!(Ids::default().next(None, b"text"), made[5], "the same text, the same id");
    }
}
