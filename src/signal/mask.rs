//! Cuts what looks like a credential out of a text, for everything that shows texts of providers (J6).

/// The same text with every run that looks like a key, and whatever follows `Bearer`, replaced by `…`.
/// White space stays.
pub(crate) fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after_scheme = false;
    for piece in text.split_inclusive(is_gap) {
        let word = piece.trim_end_matches(is_gap);
        if !word.is_empty() {
            if after_scheme {
                out.push('…')
            } else {
                out.push_str(&mask_word(word))
            }
            after_scheme = ["bearer", "bearer:", "basic"].iter().any(|scheme| {
                word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != ':')
                    .eq_ignore_ascii_case(scheme)
            });
        }
        out.push_str(piece.get(word.len()..).unwrap_or_default());
    }
    out
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// A word with every run that looks like a credential replaced by its first characters and `…`.
fn mask_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut run = String::new();
    for c in word.chars() {
        if c.is_ascii_alphanumeric() || "-_+/=.".contains(c) {
            run.push(c);
        } else {
            flush(&mut out, &mut run);
            out.push(c);
        }
    }
    flush(&mut out, &mut run);
    out
}

fn flush(out: &mut String, run: &mut String) {
    if secret_like(run) {
        out.extend(run.chars().take(4));
        out.push('…');
    } else {
        out.push_str(run);
    }
    run.clear();
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
