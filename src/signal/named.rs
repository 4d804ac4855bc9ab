//! Finds values that are secret because of the name before them: `api_key=…`, `"password": "…"` (J6).

use std::ops::Range;

/// Name and value lie around `:` or `=`; between them may stand blanks, quotes and a bracket.
pub(super) fn hide_named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices([':', '=']) {
        // Inside a value that was just cut.
        if at < done {
            continue;
        }
        let before = text.get(done..at).unwrap_or_default();
        let Some(name) = Name::before(before) else { continue };
        let Some(Value { range, bare }) = value(text, at + 1, &name) else { continue };
        out.push_str(text.get(done..range.start).unwrap_or_default());
        // A number of JSON becomes a string, so that the payload stays one.
        let quote = if bare { name.quote } else { "" };
        out.extend([quote, "…", quote]);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// A name that says that a secret follows.
struct Name<'t> {
    /// Its letters and digits, in lower case.
    plain: String,
    /// The quote after it, with the backslashes before it.
    quote: &'t str,
}

/// Ends of names of secrets, without what separates their words.
const SECRET: [&str; 15] = [
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "subscriptionkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "credential",
];

/// Ends of names that messages also use for what is no secret: `token: signature mismatch`.
const OFTEN_PROSE: [&str; 5] = ["token", "cookie", "auth", "authentication", "authorization"];

/// Words before a credential: the scheme that it is for.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "apikey", "digest", "negotiate"];

/// What messages say where a value would stand.
const WORDS: &str = " a absent an and are at be blank cannot check contact could denied deprecated disabled \
    does empty error exceeded expected expired failed failure false field filtered for found from has hidden \
    in incorrect invalid is it key limit malformed masked mismatch missing must need needed no none not null \
    of omitted or please provided redacted refused rejected required revoked set should something the this \
    to too true unauthorized undefined unknown unset unsupported valid value was with wrong you your ";

impl<'t> Name<'t> {
    fn before(text: &'t str) -> Option<Self> {
        let text = text.trim_end_matches(is_blank);
        let name = text.trim_end_matches(is_quote);
        let quote = text.get(name.len()..).unwrap_or_default();
        // Two words at most may be one name: `API key`.
        let mut plain = String::new();
        let mut blanks = 0;
        for c in name.chars().rev().take(64) {
            match c {
                '-' | '_' | '.' => {}
                ' ' if blanks == 0 => blanks += 1,
                c if c.is_ascii_alphanumeric() => plain.insert(0, c.to_ascii_lowercase()),
                _ => break,
            }
        }
        let name = Self { plain, quote };
        (name.is(&SECRET) || name.is(&OFTEN_PROSE)).then_some(name)
    }

    fn is(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.plain.ends_with(end))
    }
}

struct Value {
    range: Range<usize>,
    bare: bool,
}

/// The value after a separator that ends at `from`; `None` when there is none, or nothing secret.
fn value(text: &str, from: usize, name: &Name<'_>) -> Option<Value> {
    let rest = text.get(from..)?;
    let start = rest.find(|c| !(is_blank(c) || matches!(c, '=' | ':' | '>' | '[' | '(')))?;
    let (gap, rest) = rest.split_at_checked(start)?;
    let from = from + start;
    // `b'…'` and the like of Python.
    let prefix = rest.len() - rest.trim_start_matches(['b', 'u', 'r']).len();
    let at = if prefix <= 2 && rest.get(prefix..)?.starts_with(is_quote) { prefix } else { 0 };
    let slashes = rest.get(at..)?.chars().take_while(|c| *c == '\\').count();
    let quote = rest.get(at + slashes..)?.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        let begin = at + slashes + 1;
        let content = rest.get(begin..)?;
        let content = content.get(..closing(content, quote, slashes))?;
        let skipped = scheme(content);
        let secret = content.get(skipped..)?;
        return (!is_prose(secret)).then(|| {
            let begin = from + begin + skipped;
            Value { range: begin..begin + secret.len(), bare: false }
        });
    }
    if gap.contains('\n') {
        return None;
    }
    let skipped = scheme(rest);
    let secret = bare(rest.get(skipped..)?, name);
    let letters = secret.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '_' | '\''));
    let count = secret.len() < 6 && secret.chars().all(|c| c.is_ascii_digit());
    let prose = !name.is(&SECRET) && skipped == 0 && ((letters && !gap.is_empty()) || count);
    (!prose && !is_prose(secret)).then(|| {
        let begin = from + skipped;
        Value { range: begin..begin + secret.len(), bare: skipped == 0 }
    })
}

/// Where a quoted value ends: at a quote with no more backslashes than the first one had, else with the line.
fn closing(content: &str, quote: char, slashes: usize) -> usize {
    let mut before = 0;
    for (at, c) in content.char_indices() {
        match c {
            '\\' => before += 1,
            c if c == quote && before <= slashes => return at - before,
            '\n' => return at,
            _ => before = 0,
        }
    }
    content.len()
}

/// Length of the name of a scheme and the blanks after it; 0 when something else stands there.
fn scheme(value: &str) -> usize {
    let word = value.find(is_blank).unwrap_or(value.len());
    let is_one = value.get(..word).is_some_and(|word| SCHEMES.iter().any(|s| word.eq_ignore_ascii_case(s)));
    let rest = value.get(word..).unwrap_or_default();
    let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
    if is_one { word + blanks } else { 0 }
}

/// A value without quotes; that of a cookie goes to the end of its line.
fn bare<'t>(rest: &'t str, name: &Name<'_>) -> &'t str {
    let end = rest.find(|c| is_blank(c) || is_quote(c) || "<>,;&()[]{}|".contains(c)).unwrap_or(rest.len());
    let word = rest.get(..end).unwrap_or_default();
    if name.plain.ends_with("cookie") && word.contains('=') {
        let line = rest.find(['\n', '\r', '"']).unwrap_or(rest.len());
        return rest.get(..line).unwrap_or_default();
    }
    word.trim_end_matches(['.', ':', '!', '?'])
}

/// Whether a value is nothing, or made of words that messages use.
fn is_prose(value: &str) -> bool {
    value.split(|c: char| c.is_whitespace() || c == '_').filter(|word| !word.is_empty()).all(|word| {
        let word = word.trim_end_matches(['.', ',', '!']).to_ascii_lowercase();
        WORDS.contains(&format!(" {word} "))
    })
}

/// What separates words.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '\\')
}
