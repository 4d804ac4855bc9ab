//! Values out of their text. An error is a code, a sentence and a help; the caller knows the place.

use std::time::Duration;

use crate::{
    lang::diagnostic::{Code, codes::syntax},
    time::Timestamp,
};

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The code.
    pub code: Code,
    /// Bytes from the value's start, when only a part of it is wrong.
    pub part: Option<std::ops::Range<usize>>,
    /// The sentence.
    pub message: String,
    /// How to mend it.
    pub help: &'static str,
}

fn wrong(code: Code, message: String, help: &'static str) -> Wrong {
    Wrong { code, part: None, message, help }
}

/// The text of a string, quotes taken off and escapes replaced.
pub fn string(written: &str) -> Result<String, Wrong> {
    let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or("");
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        out.push_str(plain);
        let start = written.len() - 1 - escape.len();
        let (c, length) = escaped(escape, start)?;
        out.push(c);
        rest = escape.get(length..).unwrap_or("");
    }
    out.push_str(rest);
    Ok(out)
}

/// The character that the escape at the start stands for, and the escape's length.
fn escaped(escape: &str, start: usize) -> Result<(char, usize), Wrong> {
    let letter = escape.chars().nth(1).unwrap_or(' ');
    let plain = match letter {
        '"' | '\\' => Some(letter),
        'n' => Some('\n'),
        't' => Some('\t'),
        _ => None,
    };
    let unicode = || {
        let (digits, _) = escape.strip_prefix("\\u{")?.split_once('}')?;
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() <= 6)?;
        Some((char::from_u32(number)?, digits.len() + 4))
    };
    if let Some(found) = plain.map(|c| (c, 2)).or_else(unicode) {
        return Ok(found);
    }
    let (message, help) = if letter == 'u' {
        let message = "`\\u` is not followed by the number of a character in braces".to_owned();
        (message, "write the number in hexadecimal, such as `\\u{e9}`")
    } else {
        let help = "the escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}`; a backslash itself is `\\\\`";
        (format!("strings have no escape `\\{letter}`"), help)
    };
    Err(Wrong { code: syntax::BAD_ESCAPE, part: Some(start..start + 1 + letter.len_utf8()), message, help })
}

/// A number from `low` to `high`; `what` names it.
pub fn number(written: &str, what: &str, low: u32, high: u32) -> Result<u32, Wrong> {
    written.parse().ok().filter(|n| (low..=high).contains(n)).ok_or_else(|| {
        let message = format!("{what} is a number from {low} to {high}, not `{written}`");
        wrong(syntax::BAD_NUMBER, message, "write a number inside these bounds")
    })
}

/// The longest duration: a hundred years. Nothing that rules schedule is longer.
const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);

/// Units of durations, largest first, in milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// `1h30m`, `500ms`: numbers with units, largest first, each at most once.
pub fn duration(written: &str) -> Result<Duration, Wrong> {
    let mut millis: u64 = 0;
    let mut smallest = 0;
    let mut rest = written;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        rest = tail;
        let place = UNITS.iter().position(|(name, _)| *name == unit).filter(|place| *place >= smallest);
        let Some((place, (_, factor))) = place.and_then(|place| UNITS.get(place).map(|unit| (place, unit)))
        else {
            let message = format!("the units of `{written}` are out of order");
            return Err(wrong(
                syntax::BAD_NUMBER,
                message,
                "write the largest unit first, each once: `1h30m`",
            ));
        };
        smallest = place + 1;
        let part = number.parse::<u64>().ok().and_then(|n| n.checked_mul(*factor));
        let sum = part.and_then(|part| millis.checked_add(part)).map(Duration::from_millis);
        let Some(sum) = sum.filter(|sum| *sum <= LONGEST) else {
            let message = format!("the duration `{written}` is too long");
            return Err(wrong(syntax::BAD_NUMBER, message, "write at most 100 years (`36500d`)"));
        };
        millis = u64::try_from(sum.as_millis()).unwrap_or(u64::MAX);
    }
    Ok(Duration::from_millis(millis))
}

/// A point in time as RFC 3339 writes it.
pub fn time(written: &str) -> Result<Timestamp, Wrong> {
    written.parse::<jiff::Timestamp>().map(|time| Timestamp::from_millis(time.as_millisecond())).map_err(
        |_| {
            let help = "write date, `T`, time of day, and `Z` or an offset, such as `2026-02-28T22:00:00Z`";
            wrong(syntax::BAD_TIME, format!("`{written}` is not a point in time"), help)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_know_their_escapes_and_no_other() {
        assert_eq!(string(r#""a\"b\\c\n\t\u{e9}é""#).unwrap(), "a\"b\\c\n\té\u{e9}");
        assert_eq!(string(r#""é \q""#).unwrap_err().part, Some(4..6));
        assert!(
            string(r#""\u{110000}""#).is_err()
                && string(r#""\u{d800}""#).is_err()
                && string(r#""\u41""#).is_err()
        );
    }

    #[test]
    fn durations_go_from_large_to_small() {
        assert_eq!(duration("1h30m").unwrap(), Duration::from_mins(90));
        assert_eq!(duration("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(duration("1m5ms").unwrap(), Duration::from_millis(60_005));
        assert!(
            duration("30m1h").is_err()
                && duration("1m1m").is_err()
                && duration("99999999999999999999d").is_err()
        );
        assert!(duration("36500d").is_ok() && duration("36501d").is_err());
    }

    #[test]
    fn numbers_stay_in_bounds() {
        assert_eq!(number("429", "a status", 100, 599), Ok(429));
        assert!(
            number("600", "a status", 100, 599).is_err() && number("99999999999", "a count", 0, 9).is_err()
        );
    }

    #[test]
    fn times_need_a_zone_and_a_real_date() {
        assert_eq!(time("1970-01-01T00:00:01Z").unwrap().as_millis(), 1_000);
        assert_eq!(time("1970-01-01T01:00:00+01:00").unwrap().as_millis(), 0);
        assert!(time("2026-02-31T22:00:00Z").is_err() && time("2026-02-28T22:00:00").is_err());
    }
}
