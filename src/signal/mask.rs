//! Cuts what looks like a credential out of a text, for everything that shows texts of providers (J6).

/// The text with every run that looks like a credential replaced by its first characters and `…`;
/// all else stays as it is, blanks and punctuation too.
pub(crate) fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after_scheme = false;
    for piece in text.split_inclusive(is_blank) {
        let word = piece.trim_end_matches(is_blank);
        let blank = piece.get(word.len()..).unwrap_or_default();
        if !word.is_empty() {
            if after_scheme {
                hide(word, &mut out);
            } else {
                mask_word(word, &mut out);
            }
            after_scheme = is_scheme(word);
        }
        out.push_str(blank);
    }
    out
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// Whether the next word is a credential: the word ends with the name of a scheme.
fn is_scheme(word: &str) -> bool {
    let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let last = end.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    last.eq_ignore_ascii_case("bearer") || (last.len() == end.len() && last.eq_ignore_ascii_case("basic"))
}

/// Cuts the first run of key characters, whatever it looks like.
fn hide(word: &str, out: &mut String) {
    let start = word.find(is_key).unwrap_or(word.len());
    let (before, rest) = word.split_at(start);
    let end = rest.find(|c| !is_key(c)).unwrap_or(rest.len());
    out.push_str(before);
    out.push('…');
    mask_word(rest.get(end..).unwrap_or_default(), out);
}

fn mask_word(word: &str, out: &mut String) {
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_key(c)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        if secret_like(run) {
            out.extend(run.chars().take(4));
            out.push('…');
        } else {
            out.push_str(run);
        }
        let next = tail.find(is_key).unwrap_or(tail.len());
        out.push_str(tail.get(..next).unwrap_or_default());
        rest = tail.get(next..).unwrap_or_default();
    }
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_+/=.".contains(c)
}

/// Whether a run of key characters is one: a known shape of key, or long and unlike a word, a model
/// name or a date.
fn secret_like(run: &str) -> bool {
    let known = ["sk-", "sk_", "pk_", "rk_", "AIza", "AKIA", "ASIA", "gsk_", "xai-", "hf_", "ghp_", "gho_"]
        .iter()
        .chain(&["ghu_", "github_pat_", "nvapi-", "r8_", "eyJ", "ya29.", "xox"]);
    if run.len() >= 8 && known.into_iter().any(|prefix| run.starts_with(prefix)) {
        return true;
    }
    let longest = run.split(['-', '_', '/', '.', '=', '+']).map(str::len).max().unwrap_or(0);
    let has = |test: fn(&char) -> bool| run.chars().any(|c| test(&c));
    let digit = has(char::is_ascii_digit);
    let upper = has(char::is_ascii_uppercase);
    let lower = has(char::is_ascii_lowercase);
    (longest >= 20 && digit && (upper || lower)) || (longest >= 16 && digit && upper && lower)
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn j6_keys_go_and_the_payload_stays_a_payload() {
        let text = r#"{"error":"no","headers":{"Authorization":"Bearer hello"},"key":"sk-abcdefgh"}"#;
        let cut = mask(text);
        assert_eq!(cut, r#"{"error":"no","headers":{"Authorization":"Bearer …"},"key":"sk-a…"}"#);
        assert!(serde_json::from_str::<serde_json::Value>(&cut).is_ok());
        assert_eq!(mask("a  b\n c basic plan"), "a  b\n c basic …");
        assert_eq!(mask("the basics cost 5"), "the basics cost 5");
    }
}
