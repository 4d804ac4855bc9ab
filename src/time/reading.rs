//! Reading a time that something outside the rules wrote, in a declared unit (E6).

use std::time::Duration;

use super::{
    Timestamp,
    date::parse_date,
    duration::{parse_duration, scaled},
};

/// The unit or form of a value outside the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Milliseconds, fractions allowed.
    Milliseconds,
    /// Seconds, fractions allowed.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
    /// A point in time: seconds or milliseconds since the epoch, told apart by size.
    Epoch,
    /// A point in time: HTTP date, RFC 3339, or a plain date with time.
    Date,
    /// A span as people and APIs write it: `1h2m3s`, `6m0s`, `34s`, `2 hours 5 minutes`.
    Duration,
}

/// Reads `text` in `unit`; spans count from `now`. `None` when it is not of that form, so that the
/// next unit of a declaration can be tried; an epoch before 2001-09-09 is none, because a number
/// that small is a span. Never overflows: what is too far lies at the end of time.
#[must_use]
pub fn parse_in(text: &str, unit: Unit, now: Timestamp) -> Option<Timestamp> {
    /// 10^9 seconds: 2001-09-09. In milliseconds the same digits are 1970, in seconds 10^11 is 5138.
    const LEAST_EPOCH: Duration = Duration::from_secs(1_000_000_000);
    const LEAST_MILLIS: Duration = Duration::from_secs(100_000_000_000);
    let text = text.trim().trim_matches(['"', '\'']);
    let span = match unit {
        Unit::Milliseconds => scaled(text, 1),
        Unit::Seconds => scaled(text, 1_000),
        Unit::Minutes => scaled(text, 60_000),
        Unit::Hours => scaled(text, 3_600_000),
        Unit::Duration => parse_duration(text),
        Unit::Date => return parse_date(text, now),
        Unit::Epoch => {
            let since = scaled(text, 1_000).filter(|since| *since >= LEAST_EPOCH)?;
            let since = if since >= LEAST_MILLIS { since / 1_000 } else { since };
            return Some(Timestamp::EPOCH.after(since));
        }
    };
    span.map(|span| now.after(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit() {
        let now = Timestamp::from_millis(1_000);
        for (text, unit, millis) in [
            ("1500", Unit::Milliseconds, 2_500),
            ("1.5", Unit::Seconds, 2_500),
            (" \"34\" ", Unit::Seconds, 35_000),
            ("0", Unit::Seconds, 1_000),
            ("2", Unit::Minutes, 121_000),
            ("1", Unit::Hours, 3_601_000),
            ("1741305600", Unit::Epoch, 1_741_305_600_000),
            ("1741305600000", Unit::Epoch, 1_741_305_600_000),
            ("1741305600.5", Unit::Epoch, 1_741_305_600_500),
            ("34s", Unit::Duration, 35_000),
            ("1970-01-01T00:00:09Z", Unit::Date, 9_000),
        ] {
            assert_eq!(parse_in(text, unit, now), Some(Timestamp::from_millis(millis)), "{text} {unit:?}");
        }
        for (text, unit) in [
            ("-1", Unit::Seconds),
            ("", Unit::Seconds),
            (".", Unit::Seconds),
            ("34s", Unit::Seconds),
            ("60", Unit::Epoch),
            ("60", Unit::Duration),
            ("1e9", Unit::Epoch),
            ("60", Unit::Date),
        ] {
            assert_eq!(parse_in(text, unit, now), None, "{text} {unit:?}");
        }
        for (text, unit) in [
            ("99999999999999", Unit::Hours),
            ("99999999999999999999999999", Unit::Seconds),
            ("99999999999999999999999999.5", Unit::Epoch),
        ] {
            let end = Some(Timestamp::from_millis(i64::MAX));
            assert_eq!(parse_in(text, unit, now), end, "{text} {unit:?}: far away is the end of time");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,40}|[0-9:. apm/+-]{0,20}", now: i64) {
            for unit in [Unit::Milliseconds, Unit::Seconds, Unit::Minutes, Unit::Hours, Unit::Epoch, Unit::Date, Unit::Duration] {
                let _ = parse_in(&text, unit, Timestamp::from_millis(now));
            }
        }
    }
}
