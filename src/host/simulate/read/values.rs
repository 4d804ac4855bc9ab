//! Single values.

use std::time::Duration;

use serde_yaml::Value;

use crate::{
    config::Walker,
    time::{parse_duration, parse_duration_literal},
};

/// A text; numbers and yes or no are taken as they are written.
pub(super) fn text(walk: &mut Walker<'_>, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        other => {
            walk.mismatch("a text", other);
            None
        }
    }
}

/// A text, or a structure as the JSON that it is.
pub(super) fn body(walk: &mut Walker<'_>, value: &Value) -> Option<String> {
    match value {
        Value::Mapping(_) | Value::Sequence(_) => {
            let json = serde_json::to_string(value).ok();
            if json.is_none() {
                walk.mismatch("a text, or a map that can be written as JSON", value);
            }
            json
        }
        _ => text(walk, value),
    }
}

/// A span since the start, or of time.
pub(super) fn duration(walk: &mut Walker<'_>, value: &Value) -> Option<Duration> {
    let written = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) if number.as_f64() == Some(0.0) => return Some(Duration::ZERO),
        Value::Number(number) => number.to_string(),
        other => {
            walk.mismatch("a duration such as `90s`", other);
            return None;
        }
    };
    let read = parse_duration_literal(&written).or_else(|| parse_duration(&written));
    if read.is_none() {
        let help = if written.chars().all(|c| c.is_ascii_digit()) {
            format!("it has no unit; write `{written}s`, or another of `ms`, `s`, `m`, `h`, `d`")
        } else {
            "write it as `90s`, `10m`, `1h30m`, `2d`".to_owned()
        };
        walk.problem(format!("`{written}` is no duration"), Some(help));
    }
    read
}

/// Yes or no.
pub(super) fn flag(walk: &mut Walker<'_>, value: &Value) -> Option<bool> {
    let flag = value.as_bool();
    if flag.is_none() {
        walk.mismatch("`true` or `false`", value);
    }
    flag
}

/// A whole number in a range.
pub(super) fn whole(walk: &mut Walker<'_>, value: &Value, low: u32, high: u32) -> Option<u32> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    let fits = number.filter(|number| (low..=high).contains(number));
    if fits.is_none() {
        let expected = match high {
            u32::MAX => format!("a whole number of {low} or more"),
            _ => format!("a whole number from {low} to {high}"),
        };
        if let Some(number) = value.as_i64() {
            walk.problem(format!("`{number}` does not fit here"), Some(format!("write {expected}")));
        } else {
            walk.mismatch(&expected, value);
        }
    }
    fits
}

/// One of several words.
pub(super) fn word<'w>(
    walk: &mut Walker<'_>,
    value: &Value,
    what: &str,
    words: &[&'w str],
) -> Option<&'w str> {
    let written = text(walk, value)?;
    let found = words.iter().copied().find(|word| *word == written);
    if found.is_none() {
        walk.unknown_word(&written, what, words);
    }
    found
}
