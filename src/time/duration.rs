//! Spans of time in text: the language's literals (`1h30m`) and what people and APIs write.

use std::{fmt::Write as _, time::Duration};

/// Milliseconds in a day, hour, minute, second.
const DAY: u64 = 86_400_000;
const HOUR: u64 = 3_600_000;
const MINUTE: u64 = 60_000;
const SECOND: u64 = 1_000;

/// Reads a literal of the language or the command line: whole numbers with a unit each, without
/// blanks, as in `5h`, `1h30m`, `8d`, `250ms`. `None` for anything else, and for a span beyond
/// 2^64 milliseconds.
#[must_use]
pub fn parse_duration_literal(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut millis: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, tail) = tail.split_at_checked(letters)?;
        let unit = match unit {
            "ms" => 1,
            "s" => SECOND,
            "m" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            _ => return None,
        };
        millis = millis.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        rest = tail;
    }
    Some(Duration::from_millis(millis))
}

/// Writes a span as the language does: `8d`, `24h`, `1h30m`, `2m5s`, `250ms`, `0s`. Days begin at
/// two, because a schedule says `24h`. Parts below a millisecond are left out.
/// [`parse_duration_literal`] reads it back.
#[must_use]
pub fn format_duration(span: Duration) -> String {
    let mut rest = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (size, unit) in [(DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s"), (1, "ms")] {
        let count = rest / size;
        if count > 0 && (size != DAY || count >= 2) {
            let _ = write!(text, "{count}{unit}");
            rest %= size;
        }
    }
    if text.is_empty() {
        text.push_str("0s");
    }
    text
}

/// A decimal number without sign, times `unit` milliseconds. A number too large for any span is the
/// longest one: it says "very long", and bounds cut it like any other (E6).
pub(super) fn scaled(number: &str, unit: u64) -> Option<Duration> {
    const NANOS: u128 = 1_000_000;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let unit = u128::from(unit) * NANOS;
    // Digits alone fail to be a number only by being too many.
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().unwrap_or(u128::MAX) };
    let mut nanos = whole.saturating_mul(unit);
    let fraction = fraction.get(..fraction.len().min(9))?;
    if !fraction.is_empty() {
        let scale = 10u128.pow(u32::try_from(fraction.len()).ok()?);
        nanos = nanos.saturating_add(fraction.parse::<u128>().ok()? * unit / scale);
    }
    let Ok(secs) = u64::try_from(nanos / 1_000_000_000) else { return Some(Duration::MAX) };
    Some(Duration::new(secs, u32::try_from(nanos % 1_000_000_000).ok()?))
}

/// Reads a span as people and APIs write it: `6m0s`, `1h2m3.5s`, `120ms`, `2 hours 5 minutes`,
/// `5 days, 22 hours and 11 minutes`, `an hour`, `5 分钟`. A bare number has no unit and is none.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim().trim_end_matches(['.', '!']);
    for lead in ["in ", "about ", "around ", "approximately ", "~"] {
        if rest.get(..lead.len()).is_some_and(|start| start.eq_ignore_ascii_case(lead)) {
            rest = rest.get(lead.len()..)?.trim_start();
        }
    }
    let mut total: Option<Duration> = None;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', ',']);
        if let Some(tail) = rest.strip_prefix("and ") {
            rest = tail.trim_start();
        }
        if rest.is_empty() {
            return total;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (mut number, mut tail) = rest.split_at_checked(digits)?;
        if number.is_empty() {
            tail = ["an ", "a ", "one "].iter().find_map(|article| rest.strip_prefix(article))?;
            number = "1";
        }
        let tail = tail.trim_start_matches([' ', '\t', '\n', '\r', '-']);
        let letters = tail.len() - tail.trim_start_matches(char::is_alphabetic).len();
        let (word, tail) = tail.split_at_checked(letters)?;
        let (unit, left) = unit(word)?;
        let part = scaled(number, unit)?;
        total = Some(total.unwrap_or_default().saturating_add(part));
        // A unit in a script without blanks may be followed by anything.
        rest = if left.is_empty() { tail } else { return total };
    }
}

/// A unit's milliseconds, and what of the word stands behind it.
fn unit(word: &str) -> Option<(u64, &str)> {
    const HAN: [(&str, u64); 9] = [
        ("毫秒", 1),
        ("秒", SECOND),
        ("分钟", MINUTE),
        ("分鐘", MINUTE),
        ("分", MINUTE),
        ("小时", HOUR),
        ("小時", HOUR),
        ("天", DAY),
        ("日", DAY),
    ];
    let mut lower = [0u8; 12];
    if let Some(slot) = lower.get_mut(..word.len()) {
        slot.copy_from_slice(word.as_bytes());
        slot.make_ascii_lowercase();
        let unit = match &*slot {
            b"ms" | b"msec" | b"msecs" | b"millisecond" | b"milliseconds" => 1,
            b"s" | b"sec" | b"secs" | b"second" | b"seconds" => SECOND,
            b"m" | b"min" | b"mins" | b"minute" | b"minutes" => MINUTE,
            b"h" | b"hr" | b"hrs" | b"hour" | b"hours" => HOUR,
            b"d" | b"day" | b"days" => DAY,
            b"w" | b"week" | b"weeks" => 7 * DAY,
            _ => 0,
        };
        if unit > 0 {
            return Some((unit, ""));
        }
    }
    HAN.iter().find_map(|(name, unit)| word.strip_prefix(name).map(|left| (*unit, left)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_back() {
        for (text, millis) in [
            ("5h", 5 * HOUR),
            ("1h30m", 90 * MINUTE),
            ("8d", 8 * DAY),
            ("24h", DAY),
            ("250ms", 250),
            ("2m5s", 125 * SECOND),
            ("0s", 0),
        ] {
            let span = Duration::from_millis(millis);
            assert_eq!(parse_duration_literal(text), Some(span), "{text}");
            assert_eq!(format_duration(span), text);
        }
        for text in
            ["", "5", "h", "5 h", "1.5h", "-5h", "5x", "99999999999999999999h", "18446744073709551615d"]
        {
            assert_eq!(parse_duration_literal(text), None, "{text}");
        }
        assert!(parse_duration_literal(&format_duration(Duration::MAX)).is_some());
    }

    #[test]
    fn spans_as_people_write_them() {
        for (text, millis) in [
            ("6m0s", 6 * MINUTE),
            ("1h2m3.5s", HOUR + 2 * MINUTE + 3_500),
            ("34s", 34_000),
            ("34.074824224s", 34_074),
            ("120ms", 120),
            ("2 hours 5 minutes", 2 * HOUR + 5 * MINUTE),
            ("5 days 22 hours 11 minutes", 5 * DAY + 22 * HOUR + 11 * MINUTE),
            ("5 days, 22 hours and 11 minutes", 5 * DAY + 22 * HOUR + 11 * MINUTE),
            ("1d 2h", DAY + 2 * HOUR),
            ("in 10 Minutes.", 10 * MINUTE),
            ("an hour", HOUR),
            ("5-hour", 5 * HOUR),
            ("5 分钟后重试", 5 * MINUTE),
        ] {
            assert_eq!(parse_duration(text).map(|d| d.as_millis()), Some(u128::from(millis)), "{text}");
        }
        for text in ["", "34", "s", "soon", "5 bananas", "1..5s", "-3s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        let endless = format!("{}h 5m", "9".repeat(60));
        assert_eq!(parse_duration(&endless), Some(Duration::MAX), "too long to count is the longest");
    }
}
