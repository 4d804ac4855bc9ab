//! Times and spans as headers, bodies and people write them.

use std::time::Duration;

use pointsman::{
    classify::Scratch,
    signal::Signal,
    time::{Timestamp, Unit, format_duration, parse_date, parse_duration, parse_duration_literal, parse_in},
};

use crate::shipped;

/// The furthest that any reset of the shipped rules is trusted.
const CAP: Duration = Duration::from_secs(8 * 24 * 60 * 60);

const NOW: i64 = 1_790_000_000_000;

/// The first byte chooses a header, the rest is its value. A span never reaches back, agrees with
/// plain arithmetic where it is a plain number, and a verdict's reset never lies beyond the cap.
pub fn times(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let now = Timestamp::from_millis(NOW);
    for unit in [Unit::Milliseconds, Unit::Seconds, Unit::Minutes, Unit::Hours, Unit::Duration] {
        if let Some(at) = parse_in(&text, unit, now) {
            assert!(at >= now, "{text:?} in {unit:?} reaches back");
        }
    }
    plain(&text, now);
    for now in [i64::MIN, 0, NOW, i64::MAX] {
        let now = Timestamp::from_millis(now);
        let _ = parse_date(&text, now);
        let _ = parse_in(&text, Unit::Epoch, now);
        let _ = parse_in(&text, Unit::Hours, now);
    }
    if let Some(span) = parse_duration(&text) {
        let written = format_duration(span);
        let read = parse_duration_literal(&written).expect("a written span is read again");
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        assert_eq!(read, Duration::from_millis(millis), "{written}");
    }
    if let Some(span) = parse_duration_literal(&text) {
        assert_eq!(parse_duration_literal(&format_duration(span)), Some(span), "{text:?}");
        // What people write has no unit of its own for a minute, and so agrees.
        assert_eq!(parse_duration(&text), Some(span), "{text:?}");
    }
    header(*choice, &text, now);
}

/// A plain whole number in each unit, by 128-bit arithmetic.
fn plain(text: &str, now: Timestamp) {
    let digits = !text.is_empty() && text.len() <= 30 && text.bytes().all(|b| b.is_ascii_digit());
    let Some(number) = digits.then(|| text.parse::<u128>().ok()).flatten() else { return };
    let units =
        [(Unit::Milliseconds, 1), (Unit::Seconds, 1_000), (Unit::Minutes, 60_000), (Unit::Hours, 3_600_000)];
    for (unit, size) in units {
        let Some(at) = parse_in(text, unit, now) else {
            // More than a `Duration` holds.
            assert!(number * size / 1_000 > u128::from(u64::MAX), "{text:?} in {unit:?} is none");
            continue;
        };
        let end = i128::from(NOW) + i128::try_from(number * size).unwrap_or(i128::MAX / 2);
        assert_eq!(i128::from(at.as_millis()), end.min(i128::from(i64::MAX)), "{text:?} in {unit:?}");
    }
}

/// The value in a header, a field or a text of a rate limit.
fn header(choice: u8, value: &str, now: Timestamp) {
    let table = shipped::table();
    let named =
        |name: &str| Signal { headers: vec![(name.to_owned(), value.to_owned())], ..Signal::default() };
    let said = |text: String| Signal { message: Some(text), ..Signal::default() };
    let field = |name: &str| {
        said(serde_json::json!({ "error": { "message": "rate limit reached", (name): value } }).to_string())
    };
    let mut signal = match choice % 16 {
        0 => named("retry-after"),
        1 => named("retry-after-ms"),
        2 => named("x-ratelimit-reset"),
        3 => named("ratelimit-reset"),
        4 => named("x-ratelimit-reset-requests"),
        5 => named("x-ratelimit-reset-tokens"),
        6 => named("anthropic-ratelimit-unified-reset"),
        7 => named("anthropic-ratelimit-tokens-reset"),
        8 => field("resets_in_seconds"),
        9 => field("resets_at"),
        10 => field("retryDelay"),
        11 => field("retry_after"),
        12 => said(format!("Rate limit reached, try again in {value}")),
        13 => said(format!("Rate limit reached, resets {value}")),
        14 => said(format!("Rate limit reached, try again at {value}")),
        _ => said(format!("Rate limit reached, regain access on {value}")),
    };
    signal.status = Some(429);
    signal.received_at = Some(now);
    let verdict = table.classify(&signal.as_ref(), &mut Scratch::default());
    if let Some(hint) = verdict.reset {
        assert!(hint.at > now, "{value:?}: a reset in the past");
        assert!(hint.at <= now.after(CAP), "{value:?}: {} lies beyond the cap", hint.at);
        assert!(!hint.clamped() || hint.given != hint.at);
    }
}
