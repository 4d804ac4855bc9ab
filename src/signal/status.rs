//! Numbers in prose: which are HTTP statuses, and which merely lead a text.

use memchr::memchr2_iter;

use super::words::{is_counted, is_of_statuses};

/// What a text begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// No number.
    None,
    /// A status.
    Status(u16),
    /// A number that is no status.
    Number(u32),
}

/// The number at the very start of a text. It is a status when `:`, `{`, `<`, `"`, the end or its
/// registered reason phrase follows: `402 items found` is no payment matter.
pub(super) fn lead(text: &str) -> Lead {
    let text = text.trim_start();
    let digits = text.bytes().take(10).take_while(u8::is_ascii_digit).count();
    let Some((number, rest)) = text.split_at_checked(digits).filter(|_| (1..=9).contains(&digits)) else {
        return Lead::None;
    };
    let mut after = rest.chars();
    let joined = match after.next() {
        Some(c) if c.is_ascii_alphanumeric() || c == '_' => true,
        Some('.' | ',' | '-' | '/' | '%') => after.next().is_some_and(|c| c.is_ascii_alphanumeric()),
        _ => false,
    };
    let Some(number) = number.parse::<u32>().ok().filter(|_| !joined) else {
        return Lead::None;
    };
    match http_status(number).filter(|_| digits == 3) {
        Some(status) if follows_status(status, rest) => Lead::Status(status),
        _ => Lead::Number(number),
    }
}

/// A number in the range of HTTP statuses.
pub(super) fn http_status(number: u32) -> Option<u16> {
    u16::try_from(number).ok().filter(|status| (100..600).contains(status))
}

/// Whether what stands behind a leading number shows that it is a status.
fn follows_status(status: u16, rest: &str) -> bool {
    let after = rest.trim_start();
    if after.is_empty() || rest.starts_with(':') || after.starts_with(['{', '<', '"']) {
        return true;
    }
    reasons(status).iter().any(|reason| {
        after.split_at_checked(reason.len()).is_some_and(|(head, tail)| {
            head.eq_ignore_ascii_case(reason)
                && !tail.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        })
    })
}

/// Reason phrases of the HTTP status registry, former names included, and those that nginx and
/// Cloudflare send for numbers of their own.
const fn reasons(status: u16) -> &'static [&'static str] {
    match status {
        400 => &["Bad Request"],
        401 => &["Unauthorized"],
        402 => &["Payment Required"],
        403 => &["Forbidden"],
        404 => &["Not Found"],
        405 => &["Method Not Allowed"],
        406 => &["Not Acceptable"],
        407 => &["Proxy Authentication Required"],
        408 => &["Request Timeout", "Request Time-out"],
        409 => &["Conflict"],
        410 => &["Gone"],
        411 => &["Length Required"],
        412 => &["Precondition Failed"],
        413 => &["Content Too Large", "Payload Too Large", "Request Entity Too Large"],
        414 => &["URI Too Long", "Request-URI Too Long"],
        415 => &["Unsupported Media Type"],
        416 => &["Range Not Satisfiable"],
        417 => &["Expectation Failed"],
        421 => &["Misdirected Request"],
        422 => &["Unprocessable Content", "Unprocessable Entity"],
        423 => &["Locked"],
        424 => &["Failed Dependency"],
        425 => &["Too Early"],
        426 => &["Upgrade Required"],
        428 => &["Precondition Required"],
        429 => &["Too Many Requests"],
        431 => &["Request Header Fields Too Large"],
        451 => &["Unavailable For Legal Reasons"],
        499 => &["Client Closed Request"],
        500 => &["Internal Server Error"],
        501 => &["Not Implemented"],
        502 => &["Bad Gateway"],
        503 => &["Service Unavailable", "Service Temporarily Unavailable"],
        504 => &["Gateway Timeout", "Gateway Time-out"],
        505 => &["HTTP Version Not Supported"],
        506 => &["Variant Also Negotiates"],
        507 => &["Insufficient Storage"],
        508 => &["Loop Detected"],
        510 => &["Not Extended"],
        511 => &["Network Authentication Required"],
        520 => &["Web Server Returned an Unknown Error"],
        521 => &["Web Server Is Down"],
        522 => &["Connection Timed Out"],
        523 => &["Origin Is Unreachable"],
        524 => &["A Timeout Occurred"],
        _ => &[],
    }
}

/// Calls `found` for each `HTTP NNN`, `status[ code][:] NNN` and `Error[ code][:] NNN` of 400 or
/// more that counts nothing, in order. Looks only where a 4 or a 5 stands.
pub(super) fn scan(text: &str, mut found: impl FnMut(u16)) {
    let bytes = text.as_bytes();
    for at in memchr2_iter(b'4', b'5', bytes) {
        if let Some(status) = three_digits(bytes, at)
            && let Some(herald) = bytes.get(..at).and_then(herald)
            && !text.get(at + 3..).is_some_and(|rest| counts(rest, herald))
        {
            found(status);
        }
    }
}

/// What announces a status.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Herald {
    /// `Error: 402`, which may go on `rows failed`.
    Error,
    /// `HTTP 402`, `status 402`, which may go on `errors`.
    Http,
}

/// Whether what stands behind an announced number shows that it counts or measures something:
/// `402 items failed`, `402,000`, `402-page`, `402%`, `402 of 500`.
fn counts(rest: &str, herald: Herald) -> bool {
    let mut after = rest.chars();
    match (after.next(), after.next()) {
        (Some('%'), _) => return true,
        (Some(',' | '\'' | '\u{2019}'), Some(next)) if next.is_ascii_digit() => return true,
        (Some('-' | '\u{2010}'..='\u{2013}'), Some(next))
            if next.is_ascii_lowercase() || next.is_ascii_digit() =>
        {
            return true;
        }
        (Some(first), _) if !is_gap(first) && first != '/' => return false,
        _ => {}
    }
    let rest = match rest.as_bytes() {
        // Most go on with a word; the others need a closer look.
        [b' ', b'A'..=b'Z' | b'a'..=b'z', ..] => rest.get(1..).unwrap_or_default(),
        _ => more_digits(rest).trim_start_matches(is_gap),
    };
    let (word, tail) = rest.split_at(rest.bytes().take_while(u8::is_ascii_alphabetic).count());
    let mut tail = tail.chars();
    let ends = match (tail.next(), tail.next()) {
        (None, _) => true,
        (Some(c), _) if c.is_whitespace() => true,
        (Some('.' | ',' | ';' | '!' | '?' | ')'), next) => !next.is_some_and(char::is_alphanumeric),
        _ => false,
    };
    if word.is_empty() {
        return rest.starts_with('%');
    }
    ends && is_counted(word) && !(herald == Herald::Http && is_of_statuses(word))
}

/// A blank within a line.
fn is_gap(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\n' | '\r')
}

/// Behind the second number of `402/500 rows` and `402 000 rows`.
fn more_digits(rest: &str) -> &str {
    let more = rest.strip_prefix(|c| c == '/' || is_gap(c)).unwrap_or(rest);
    let digits = more.bytes().take_while(u8::is_ascii_digit).count();
    more.get(digits..).filter(|_| digits == 3).unwrap_or(rest)
}

/// The number of exactly three digits at `at`.
fn three_digits(bytes: &[u8], at: usize) -> Option<u16> {
    let digit = |at: usize| bytes.get(at).filter(|b| b.is_ascii_digit()).map(|b| u16::from(b - b'0'));
    let word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let number = digit(at)? * 100 + digit(at + 1)? * 10 + digit(at + 2)?;
    let fraction = bytes.get(at + 3) == Some(&b'.') && digit(at + 4).is_some();
    let before = at.checked_sub(1);
    (!word(at + 3) && !fraction && !before.is_some_and(word)).then_some(number)
}

/// What `before` ends in, if it announces a status.
fn herald(before: &[u8]) -> Option<Herald> {
    let (plain, colon) = match strip(before) {
        [rest @ .., b':' | b'='] => (strip(rest), true),
        rest => (rest, false),
    };
    if plain.len() == before.len() && !colon {
        return None;
    }
    let (mut word, mut rest) = last_word(plain);
    if word.eq_ignore_ascii_case(b"code") {
        (word, rest) = last_word(strip(rest));
        if word.eq_ignore_ascii_case(b"http") {
            return None;
        }
    }
    let is = |known: &[u8]| word.eq_ignore_ascii_case(known);
    if [&b"error"[..], b"errorcode", b"error_code"].into_iter().any(is) {
        return Some(Herald::Error);
    }
    if is(b"status") && last_word(strip(rest)).0.eq_ignore_ascii_case(b"exit") {
        return None;
    }
    let http = [&b"status"[..], b"http", b"statuscode", b"status_code", b"http_status"].into_iter().any(is);
    (http || protocol(plain)).then_some(Herald::Http)
}

/// `HTTP/1.1`, `HTTP/2`.
fn protocol(plain: &[u8]) -> bool {
    let version = plain.iter().rev().take(4).take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let name = plain.len().checked_sub(version).and_then(|end| plain.get(..end));
    version > 0
        && name.is_some_and(|name| {
            name.len() >= 5 && name.get(name.len() - 5..).is_some_and(|n| n.eq_ignore_ascii_case(b"http/"))
        })
}

/// Without blanks at the end; a few at most.
fn strip(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().rev().take(8).take_while(|b| b.is_ascii_whitespace()).count();
    bytes.get(..bytes.len() - blanks).unwrap_or_default()
}

/// The last word and what stands before it.
fn last_word(bytes: &[u8]) -> (&[u8], &[u8]) {
    let letters =
        bytes.iter().rev().take(16).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let (rest, word) = bytes.split_at(bytes.len() - letters);
    (word, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<u16> {
        let mut found = Vec::new();
        scan(text, |status| found.push(status));
        found
    }

    #[test]
    fn a_leading_number_is_a_status_only_in_set_forms() {
        for text in [
            "402",
            " 402 ",
            "402: x",
            "402 {\"a\":1}",
            "402{",
            "402 <html>",
            "402 \"text\"",
            "402 Payment Required",
            "402 payment required: x",
        ] {
            assert_eq!(lead(text), Lead::Status(402), "{text}");
        }
        for text in [
            "402 items found in the database",
            "402 Too Many Requests",
            "402 payment requiredness",
            "402 : x",
        ] {
            assert_eq!(lead(text), Lead::Number(402), "{text}");
        }
        for text in [
            "402nd",
            "402.5 ms",
            "4,000 tokens",
            "2026-01-01",
            "x 402",
            "",
            "99999999999 x",
            "402_x",
            "5-hour limit",
        ] {
            assert_eq!(lead(text), Lead::None, "{text}");
        }
        assert_eq!(lead("42: the answer"), Lead::Number(42));
        assert_eq!(lead("999: x"), Lead::Number(999));
    }

    #[test]
    fn announced_statuses() {
        for text in [
            "HTTP 429",
            "http 429: x",
            "status: 429",
            "Status 429",
            "status code: 429",
            "status code 429",
            "Error code: 429 - {",
            "Error: 429 x",
            "API Error: 429",
            "(HTTP 429)",
            "HTTP/1.1 429 Too Many",
            "HTTP/2 429",
            "status_code: 429",
            "StatusCode: 429",
            "status=429 body",
            "Invalid status code: 429 Too",
            "got (status 429 Forbidden)",
            "error  429.",
            "Error: 429 You have been limited",
            "error 429 from provider",
            "Error: 429, try again",
            "Error: 429 - {",
            "HTTP 429 too many requests",
            "Error: 429 thinking is enabled",
            "Error: 429 status code (no body)",
            "status 429 was returned",
            "status=429 headers={}",
            "Error: 429 messages.1: text",
            "too many HTTP 429 errors",
            "Error: 429\nrows",
            "status 429 means too fast",
        ] {
            assert_eq!(all(text), [429], "{text}");
        }
        for text in [
            "429",
            "limit 429",
            "Error 4290",
            "error x429",
            "error 429.5",
            "terror 429",
            "HTTPS 429",
            "request 429",
            "code 429",
            "Error-429",
            "status: 404040",
            "no error in 429",
            "http code 429",
            "error429",
            "Error: 402 items failed validation",
            "Import failed with error: 402 rows could not be parsed",
            "Error: 402,000 rows",
            "Error: 402 000 rows",
            "Error: 402/500 rows",
            "Error: 402-page PDF rejected",
            "Error: 402% over",
            "Error: 402 % over",
            "Error: 402 MB too much",
            "Error: 402 of 500 failed",
            "Error: 402 errors found",
            "HTTP 402 requests were sent",
            "An error 429 rows long",
            "Validation error: 429 characters over the limit",
            "Validation error: 429\u{a0}characters.",
            "exit status 404",
            "status 400-499",
        ] {
            assert!(all(text).is_empty(), "{text}");
        }
        assert_eq!(all("HTTP 502: upstream status 429"), [502, 429]);
    }
}
