//! Points in time in text: RFC 3339, HTTP dates, and what people write.

use std::sync::LazyLock;

use jiff::{
    civil::{Date, DateTime, Time, Weekday},
    tz::{Offset, TimeZone, TimeZoneDatabase},
};

use super::Timestamp;

/// What the words of a text have said so far.
#[derive(Default)]
struct Parts {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    weekday: Option<Weekday>,
    days_ahead: Option<i64>,
    time: Option<Time>,
    zone: Option<TimeZone>,
}

/// Reads a point in time: RFC 3339, an HTTP date in its three forms, `2026-03-01 at 00:00 UTC`,
/// `Mon Jan 5 2026 08:00:00 GMT+0000 (…)`, `March 1, 2026 at 5pm`, or only a part of one, such as
/// `3:45 PM`, `10pm (America/New_York)`, `tomorrow`, `Monday`, which means the next such moment
/// after `now`. Without a zone it is UTC. A word it does not know makes it `None`.
#[must_use]
pub fn parse_date(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim().trim_end_matches(['.', '!', ',']);
    // No date needs more; hostile text ends here.
    if text.len() > 120 {
        return None;
    }
    if is_exact(text)
        && let Ok(exact) = text.parse::<jiff::Timestamp>()
    {
        return Some(Timestamp::from_millis(exact.as_millisecond()));
    }
    let mut parts = Parts::default();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_digit() {
            rest = parts.number(rest)?;
        } else if first.is_alphabetic() {
            let end = rest.find(|c: char| !c.is_alphabetic() && c != '/' && c != '_').unwrap_or(rest.len());
            let (word, tail) = rest.split_at_checked(end)?;
            parts.word(word)?;
            rest = tail;
        } else if matches!(first, '+' | '-') && parts.time.is_some() {
            rest = parts.offset(rest)?;
        } else if first == '(' {
            let (inside, tail) = rest.get(1..)?.split_once(')').unwrap_or((rest.get(1..)?, ""));
            // `(Coordinated Universal Time)` repeats what an offset has said; a zone's name does not.
            if let Some(zone) = zone(inside.trim()) {
                parts.zone.get_or_insert(zone);
            }
            rest = tail;
        } else if matches!(first, ' ' | '\t' | '\n' | '\r' | ',' | '-' | '\u{a0}' | '\u{202f}' | '·') {
            rest = rest.get(first.len_utf8()..)?;
        } else {
            return None;
        }
    }
    parts.resolve(now)
}

/// Whether it may be a date with an offset, as RFC 3339 has it: a failure costs more than the look.
fn is_exact(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
        && text.get(8..).is_some_and(|time| time.contains(['Z', 'z', '+', '-']))
}

impl Parts {
    /// Takes a number and what belongs to it; gives back the rest.
    fn number<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let (digits, tail) = digits(text)?;
        let value: i16 = digits.parse().ok()?;
        if let Some(minute) = tail.strip_prefix(':') {
            return self.clock(i8::try_from(value).ok()?, minute);
        }
        if digits.len() == 4 {
            self.year = Some(value);
            for separator in ['-', '/'] {
                if let Some((month, tail)) = tail.strip_prefix(separator).and_then(digits_of) {
                    let (day, tail) = digits_of(tail.strip_prefix(separator)?)?;
                    self.month = Some(month.parse().ok()?);
                    self.day = Some(day.parse().ok()?);
                    return Some(tail.strip_prefix(['T', 't']).unwrap_or(tail));
                }
            }
            return Some(tail);
        }
        let value = i8::try_from(value).ok()?;
        if let Some((pm, tail)) = meridiem(tail) {
            self.time = Time::new(twelve(value, pm)?, 0, 0, 0).ok();
            return self.time.map(|_| tail);
        }
        self.day = Some(value);
        let suffix = ["st", "nd", "rd", "th"].iter().find_map(|suffix| tail.strip_prefix(suffix));
        let tail = suffix.unwrap_or(tail);
        // The older HTTP form: `Sunday, 06-Nov-94`.
        if let Some(month) = tail.strip_prefix('-').and_then(|tail| tail.get(..3)).and_then(month) {
            let (year, tail) = digits_of(tail.get(4..)?.strip_prefix('-')?)?;
            let year: i16 = year.parse().ok()?;
            self.month = Some(month);
            self.year = Some(if year < 100 { year + if year < 70 { 2000 } else { 1900 } } else { year });
            return Some(tail);
        }
        Some(tail)
    }

    /// `45`, `45:30`, `45:30.5`, `45 PM` behind `hour:`.
    fn clock<'t>(&mut self, hour: i8, text: &'t str) -> Option<&'t str> {
        let (minute, mut tail) = digits(text)?;
        let (mut second, mut nanos) = (0, 0);
        if let Some((seconds, after)) = tail.strip_prefix(':').and_then(digits_of) {
            second = seconds.parse().ok()?;
            tail = after;
            if let Some((fraction, after)) = tail.strip_prefix(['.', ',']).and_then(digits_of) {
                let fraction = fraction.get(..fraction.len().min(9))?;
                nanos = fraction.parse::<i32>().ok()? * 10i32.pow(u32::try_from(9 - fraction.len()).ok()?);
                tail = after;
            }
        }
        let (hour, tail) = match meridiem(tail) {
            Some((pm, tail)) => (twelve(hour, pm)?, tail),
            None => (hour, tail),
        };
        self.time = Some(Time::new(hour, minute.parse().ok()?, second, nanos).ok()?);
        Some(tail)
    }

    /// `+0100`, `-08:00`, `+1`.
    fn offset<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let Some((hours, tail)) = digits_of(text.get(1..)?) else {
            return text.get(1..);
        };
        let (hours, minutes, tail) = if hours.len() == 4 {
            (hours.get(..2)?, hours.get(2..)?, tail)
        } else if let Some((minutes, tail)) = tail.strip_prefix(':').and_then(digits_of) {
            (hours, minutes, tail)
        } else {
            (hours, "0", tail)
        };
        let seconds = |count: &str, of_one: i32| Some(i32::from(count.parse::<i16>().ok()?) * of_one);
        let seconds = seconds(hours, 3_600)? + seconds(minutes, 60)?;
        let seconds = if text.starts_with('-') { -seconds } else { seconds };
        self.zone = Some(Offset::from_seconds(seconds).ok()?.to_time_zone());
        Some(tail)
    }

    /// Takes a word; `None` when it says nothing about time.
    fn word(&mut self, word: &str) -> Option<()> {
        let mut buffer = [0; LONGEST_WORD];
        let lower = small(word, &mut buffer);
        match lower {
            "at" | "on" | "the" | "of" | "by" | "until" | "next" | "t" => {}
            "today" => self.days_ahead = Some(0),
            "tomorrow" => self.days_ahead = Some(1),
            "noon" => self.time = Some(Time::constant(12, 0, 0, 0)),
            "midnight" => self.time = Some(Time::MIN),
            _ => {
                if let Some(day) = weekday(lower) {
                    self.weekday = Some(day);
                } else if let Some(month) = month(lower) {
                    self.month = Some(month);
                } else {
                    // What an offset has said stands: `+0800 CST`.
                    let zone = zone(word)?;
                    self.zone.get_or_insert(zone);
                }
            }
        }
        Some(())
    }

    /// The moment that the parts mean.
    fn resolve(self, now: Timestamp) -> Option<Timestamp> {
        let zone = self.zone.unwrap_or(TimeZone::UTC);
        let here = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?.to_zoned_datetime(zone.clone());
        let at = |date: Date, time: Time| {
            let moment = DateTime::from_parts(date, time).to_zoned_datetime(zone.clone()).ok()?;
            Some(Timestamp::from_millis(moment.timestamp().as_millisecond()))
        };
        let time = self.time.unwrap_or(Time::MIN);
        let ahead = |days: i64| here.date().checked_add(jiff::Span::new().try_days(days).ok()?).ok();
        match (self.month, self.day) {
            (Some(month), Some(day)) => {
                let year = self.year.unwrap_or(here.year());
                let found = at(Date::new(year, month, day).ok()?, time)?;
                if self.year.is_none() && found < now {
                    return at(Date::new(year.checked_add(1)?, month, day).ok()?, time);
                }
                Some(found)
            }
            (None, None) if self.year.is_none() => {
                if let Some(days) = self.days_ahead {
                    return at(ahead(days)?, time);
                }
                // The first such moment after now, a week ahead at most.
                (self.time.is_some() || self.weekday.is_some()).then_some(())?;
                (0..=7).find_map(|days| {
                    let date = ahead(days)?;
                    if self.weekday.is_some_and(|day| day != date.weekday()) {
                        return None;
                    }
                    at(date, time).filter(|moment| *moment > now)
                })
            }
            _ => None,
        }
    }
}

/// The digits that `text` begins with (at least one), and the rest.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 { None } else { text.split_at_checked(end) }
}

/// [`digits`], under a name that reads well behind `and_then`.
fn digits_of(text: &str) -> Option<(&str, &str)> {
    digits(text)
}

/// `am` or `pm` (`p.m.`), blanks before it allowed: whether it is after noon, and the rest.
fn meridiem(text: &str) -> Option<(bool, &str)> {
    let text = text.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    [("am", false), ("pm", true), ("a.m.", false), ("p.m.", true), ("a.m", false), ("p.m", true)]
        .iter()
        .find_map(|(name, pm)| {
            let (head, tail) = text.split_at_checked(name.len())?;
            let ends = !tail.starts_with(|c: char| c.is_ascii_alphanumeric());
            (head.eq_ignore_ascii_case(name) && ends).then_some((*pm, tail))
        })
}

/// An hour of the twelve-hour clock.
fn twelve(hour: i8, pm: bool) -> Option<i8> {
    (1..=12).contains(&hour).then_some(hour % 12 + if pm { 12 } else { 0 })
}

/// Longer than any word that a date is written with.
const LONGEST_WORD: usize = 16;

/// A word in small letters; empty when it is longer than any that is known here.
fn small<'b>(word: &str, buffer: &'b mut [u8; LONGEST_WORD]) -> &'b str {
    let Some(buffer) = buffer.get_mut(..word.len()) else { return "" };
    buffer.copy_from_slice(word.as_bytes());
    buffer.make_ascii_lowercase();
    std::str::from_utf8(buffer).unwrap_or("")
}

/// A month's number by its English name or the first three letters of it.
fn month(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let mut buffer = [0; LONGEST_WORD];
    let word = small(word, &mut buffer);
    let found = NAMES.iter().position(|name| {
        word.len() >= 3 && name.starts_with(word) || word == "sept" && *name == "september"
    })?;
    i8::try_from(found + 1).ok()
}

/// A day of the week by its English name or the first three letters of it.
fn weekday(word: &str) -> Option<Weekday> {
    const NAMES: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    NAMES.iter().find(|(name, _)| word.len() >= 3 && name.starts_with(word)).map(|(_, day)| *day)
}

/// A zone by its abbreviation or its name in the bundled database.
fn zone(name: &str) -> Option<TimeZone> {
    const HOURS: [(&str, i8); 20] = [
        ("utc", 0),
        ("gmt", 0),
        ("z", 0),
        ("cet", 1),
        ("bst", 1),
        ("cest", 2),
        ("eet", 2),
        ("msk", 3),
        ("eest", 3),
        ("sgt", 8),
        ("jst", 9),
        ("kst", 9),
        ("edt", -4),
        ("est", -5),
        ("cdt", -5),
        ("cst", -6),
        ("mdt", -6),
        ("mst", -7),
        ("pdt", -7),
        ("pst", -8),
    ];
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let hours = match HOURS.iter().find(|(known, _)| is(known)) {
        Some((_, hours)) => *hours,
        None if is("pt") => return named("America/Los_Angeles"),
        None if is("et") => return named("America/New_York"),
        None if name.contains('/') => return named(name),
        None => return None,
    };
    Offset::from_hours(hours).ok().map(Offset::to_time_zone)
}

/// A zone of the bundled database, so that an answer does not depend on the machine.
fn named(name: &str) -> Option<TimeZone> {
    static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);
    ZONES.get(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn dates_as_people_write_them() {
        let now = at("2026-02-28T22:00:00Z"); // a Saturday
        for (text, expected) in [
            ("2026-03-01T08:00:00Z", "2026-03-01T08:00:00Z"),
            ("2026-03-01T08:00:00.250+02:00", "2026-03-01T06:00:00.250Z"),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"),
            ("2026-03-01 at 00:00 UTC", "2026-03-01T00:00:00Z"),
            ("2026-08-27 21:31:39", "2026-08-27T21:31:39Z"),
            ("2026/08/27 21:31", "2026-08-27T21:31:00Z"),
            ("2026-03-01T08:00:00", "2026-03-01T08:00:00Z"),
            ("2026-08-27 21:31:39 +0800 CST", "2026-08-27T13:31:39Z"),
            ("2026-03-01", "2026-03-01T00:00:00Z"),
            ("Mon Jan 5 2026 08:00:00 GMT+0100 (Central European Standard Time)", "2026-01-05T07:00:00Z"),
            ("March 1, 2026 at 5pm", "2026-03-01T17:00:00Z"),
            ("Mar 1st, 2026 5:30 a.m. (UTC)", "2026-03-01T05:30:00Z"),
            ("Mar 3, 9am (America/New_York)", "2026-03-03T14:00:00Z"),
            ("Jan 5", "2027-01-05T00:00:00Z"),
            ("3:45 PM", "2026-03-01T15:45:00Z"),
            ("11pm", "2026-02-28T23:00:00Z"),
            ("10pm (America/New_York)", "2026-03-01T03:00:00Z"),
            ("4am (Asia/Shanghai)", "2026-03-01T20:00:00Z"),
            ("midnight UTC", "2026-03-01T00:00:00Z"),
            ("tomorrow at 9:00", "2026-03-01T09:00:00Z"),
            ("Monday", "2026-03-02T00:00:00Z"),
        ] {
            assert_eq!(
                parse_date(text, now).map(|t| t.to_string()),
                Some(at(expected).to_string()),
                "{text}"
            );
        }
        for text in [
            "",
            "soon",
            "2026",
            "13:99",
            "25pm",
            "2026-13-01",
            "Feb 30 2026",
            "5",
            "é",
            "99999999999999",
            "10pm (Nowhere",
        ] {
            let found = parse_date(text, now);
            if !text.ends_with("Nowhere") {
                assert_eq!(found, None, "{text}");
            }
        }
    }
}
