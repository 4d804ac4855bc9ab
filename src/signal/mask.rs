//! Cuts what looks like a credential out of a text, for everything that shows texts of providers (J6).

use super::named::{hide_named, is_blank};

/// The text with every run that looks like a credential replaced by its first characters and `…`;
/// all else stays as it is, blanks and punctuation too.
pub(crate) fn mask(text: &str) -> String {
    let text = hide_named(text);
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

/// Whether the next word is a credential: the word ends with the name of a scheme.
fn is_scheme(word: &str) -> bool {
    let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let last = end.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let before = end.strip_suffix(last).and_then(|before| before.chars().next_back());
    last.eq_ignore_ascii_case("bearer")
        || (last.eq_ignore_ascii_case("basic") && before.is_none_or(|c| matches!(c, '"' | '\'' | ':' | '=')))
}

/// Cuts the first run of key characters, whatever it looks like.
fn hide(word: &str, out: &mut String) {
    let cut = word.trim_start_matches(['"', '\'', '\\']).starts_with('…');
    let Some(start) = word.find(is_key).filter(|_| !cut) else {
        return mask_word(word, out);
    };
    let (before, rest) = word.split_at(start);
    let end = rest.find(|c| !is_key(c)).unwrap_or(rest.len());
    out.push_str(before);
    out.push('…');
    mask_word(rest.get(end..).unwrap_or_default(), out);
}

fn mask_word(word: &str, out: &mut String) {
    let mut rest = word;
    // What stands between this run and the one before.
    let mut between = "";
    while !rest.is_empty() {
        if let Some(end) = userinfo(between, rest) {
            out.push_str("//…");
            rest = rest.get(end..).unwrap_or_default();
        }
        let end = rest.find(|c| !is_key(c)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        if let Some(value) = given(between, run) {
            out.extend([run.get(..value).unwrap_or_default(), "…"]);
        } else if secret_like(run) {
            out.extend(run.chars().take(4));
            out.push('…');
        } else {
            out.push_str(run);
        }
        let next = tail.find(is_key).unwrap_or(tail.len());
        between = tail.get(..next).unwrap_or_default();
        out.push_str(between);
        rest = tail.get(next..).unwrap_or_default();
    }
}

/// Where the value of `key=…` and the like begins in the query of a URL.
fn given(before: &str, run: &str) -> Option<usize> {
    const NAMES: [&str; 6] = ["key", "token", "sig", "signature", "auth", "code"];
    let (name, value) = run.split_once('=')?;
    let is_one = before.ends_with(['?', '&']) && NAMES.iter().any(|one| name.eq_ignore_ascii_case(one));
    (is_one && !value.trim_matches('=').is_empty()).then_some(name.len() + 1)
}

/// Where `//user:password` of `https://user:password@host` ends.
fn userinfo(before: &str, rest: &str) -> Option<usize> {
    let rest = rest.strip_prefix("//").filter(|_| before.ends_with(':'))?;
    let host = rest.find(['/', '?', '#', '"', '\'', '<', '>']).unwrap_or(rest.len());
    let at = rest.get(..host)?.rfind('@').filter(|at| *at > 0)?;
    Some("//".len() + at)
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

/// Whether a character can do more to a terminal than take its place.
pub(crate) fn is_hazard(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
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

    /// A piece of a text that must not stay.
    const SECRETS: &[(&str, &str)] = &[
        ("Incorrect API key provided: sk-proj-Zq3v.", "Zq3v"),
        ("bad key sk-ant-api03-AAbb in x-api-key", "AAbb"),
        ("Authorization: Bearer abc.def", "abc.def"),
        ("authorization=bearer%20x bearer: hunter", "hunter"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        (r#"{"Authorization":"Basic dXNlcjpwYXNz"}"#, "dXNlcjpwYXNz"),
        ("API key not valid: AIzaSyA1234567890abcdefghijk", "SyA12345"),
        ("GET https://host/v1/models?key=hunter2 failed", "hunter2"),
        ("https://host/x?alt=sse&key=AbCdEf&x=1", "AbCdEf"),
        ("https://host/blob?sv=1&sig=pQr%2Bs", "pQr"),
        ("proxy http://user:hunter2@10.0.0.1:8080/ refused", "hunter2"),
        ("postgres://admin:p@ss@db/x", "p@ss"),
        ("https://tokenonly@github.com/x", "tokenonly"),
        ("jwt eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl expired", "c2lnbmF0dXJl"),
        ("0123456789abcdef0123456789abcdef is unknown", "456789abcdef0123"),
        ("token Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA== refused", "YmFyYmF6"),
        (r#"{"api_key":"hunter2","model":"gpt"}"#, "hunter2"),
        (r#"{"api_key": "hunter2", "model": "gpt"}"#, "hunter2"),
        (r#"{\"password\":\"hunter2\"}"#, "hunter2"),
        ("api_key=hunter2 is wrong", "hunter2"),
        (r#"password: "hunter2pw9""#, "hunter2pw9"),
        (r#"login with password="correct horse battery" failed"#, "horse"),
        (r#"login with password="correct horse bat"#, "bat"),
        (r#"api_key="plainapik123""#, "plainapik123"),
        ("access_token='plainacc123'", "plainacc123"),
        (r#"client_secret="s3cr3tvalue99""#, "s3cr3tvalue99"),
        ("token=plaintok123", "plaintok123"),
        ("secret: plainsec123", "plainsec123"),
        ("X-Api-Key: plainxkey123", "plainxkey123"),
        ("pwd=swordfish", "swordfish"),
        ("the password is bad, password: swordfish", "swordfish"),
        ("cookie: sid=plaincookie123; theme=dark", "dark"),
        (r#"{"set-cookie":["sid=plaincookie123; Path=/"]}"#, "plaincookie123"),
        ("x-auth: mysecretvalue9", "mysecretvalue9"),
        ("Authorization: Token swordfish", "swordfish"),
        ("Authorization: hunter2abc", "hunter2abc"),
        ("the API key: hunter2 was refused", "hunter2"),
        ("OPENAI_API_KEY = hunter2", "hunter2"),
        ("{'clientSecret': b'hunter2'}", "hunter2"),
        ("{password => 'hunter2'}", "hunter2"),
        (r#"{\\\"api_key\\\": \\\"hunter2\\\"}"#, "hunter2"),
        (r#"{"password":"a\"hunter2"}"#, "hunter2"),
        ("Ocp-Apim-Subscription-Key: hunter2", "hunter2"),
        ("ghp_abcdefghij1234 revoked", "efghij"),
        ("AKIAIOSFODNN7EXAMPLE is not authorized", "OSFODNN7"),
        ("nvapi-abcdefgh was refused", "efgh"),
    ];

    #[test]
    fn j6_every_shape_of_a_key_is_cut() {
        for (text, secret) in SECRETS {
            assert!(text.contains(secret));
            let cut = mask(text);
            assert!(!cut.contains(secret) && cut.contains('…'), "{text}: {cut}");
            assert_eq!(mask(&cut), cut, "cutting again changes nothing");
        }
    }

    #[test]
    fn a_payload_stays_a_payload_when_a_number_is_cut() {
        assert_eq!(mask(r#"{"password":123456,"n":1}"#), r#"{"password":"…","n":1}"#);
        assert_eq!(mask(r#"{"api_key": "missing it"}"#), r#"{"api_key": "missing it"}"#);
        assert_eq!(mask(r#"password="correct horse", user="x""#), r#"password="…", user="x""#);
    }

    #[test]
    fn what_only_resembles_a_key_stays() {
        for text in [
            "model claude-opus-4-8-20251101 at 2026-02-28T22:00:00Z",
            "Rate limit reached for gpt-5.5-turbo-preview on tokens per min (TPM): Limit 30000",
            "quota key=requests_per_minute is used up",
            "password: incorrect, token: expired, secret: none",
            "see https://platform.example.com/docs/rate-limits?model=gpt-5.5&lang=en#top",
            "mail to support@example.com, or https://x.example/@user/posts",
            "https://api.example.com/v1/chat/completions returned 429",
            r#"{"error":{"code":"invalid_api_key","type":"invalid_request_error","param":"api_key"}}"#,
            "internationalization_of_configuration_settings failed",
            "accounts/fireworks/models/llama-v3p1-405b-instruct",
            "the bare, a bear market",
            "token limit exceeded, tokens: 4096, max_tokens=4096, token count: 12",
            "secret not found; the password is wrong; cookie: missing",
            "api_key: missing",
            "api_key: invalid",
            "api_key: required, api_key=null",
            "Invalid token: signature mismatch",
            "unexpected token: }",
            r#"{"errors":{"password":"is required","token":null,"api_key":"missing"}}"#,
            r#"{"token_type":"bearer","prompt_token":12,"tokens":[1,2]}"#,
            "Authentication failed: the key is unknown. Authorization: required",
            "x-api-key: \nsee the docs",
        ] {
            assert_eq!(mask(text), text);
        }
    }
}
