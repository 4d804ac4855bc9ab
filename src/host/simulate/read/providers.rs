//! What calls get.

use serde_yaml::Value;

use super::{known_profile, values};
use crate::{
    config::{Unknown, Walker},
    host::simulate::scenario::{Entry, Scenario},
    signal::{Aborted, Signal},
};

const ENTRY: &[&str] =
    &["profile", "provider", "model", "from", "until", "times", "takes", "fail", "ok", "partial", "repair"];
const FAIL: &[&str] = &["status", "code", "errorType", "param", "message", "details", "headers", "aborted"];

/// One entry of `providers`.
pub(super) fn entry(walk: &mut Walker<'_>, value: &Value, scenario: &Scenario) -> Option<Entry> {
    let map = walk.section(value, ENTRY, Unknown::Error)?;
    let mut entry = Entry::default();
    let mut ok = None;
    walk.key(map, "profile", |walk, value| entry.profile = known_profile(walk, value, scenario));
    walk.key(map, "provider", |walk, value| entry.provider = walk.string(value));
    walk.key(map, "model", |walk, value| entry.model = walk.string(value));
    walk.key(map, "from", |walk, value| entry.from = values::duration(walk, value));
    walk.key(map, "until", |walk, value| entry.until = values::duration(walk, value));
    walk.key(map, "times", |walk, value| entry.times = values::whole(walk, value, 0, u32::MAX));
    walk.key(map, "takes", |walk, value| entry.takes = values::duration(walk, value).unwrap_or_default());
    walk.key(map, "fail", |walk, value| entry.fail = fail(walk, value));
    walk.key(map, "ok", |walk, value| ok = values::flag(walk, value));
    walk.key(map, "partial", |walk, value| entry.partial = values::flag(walk, value) == Some(true));
    walk.key(map, "repair", |walk, value| entry.repair = values::flag(walk, value) == Some(true));
    match (ok, map.contains_key("fail")) {
        (Some(true), true) => {
            let help = "leave one of them out".to_owned();
            walk.problem("an entry says both `ok: true` and `fail`".to_owned(), Some(help));
        }
        (Some(false), false) => {
            let help = "say how it fails: `fail: { status: 500 }`".to_owned();
            walk.problem("an entry says `ok: false` and no more".to_owned(), Some(help));
        }
        _ => {}
    }
    if let (Some(from), Some(until)) = (entry.from, entry.until)
        && until <= from
    {
        walk.problem(
            "an entry ends before it begins".to_owned(),
            Some("let `until` be later than `from`".to_owned()),
        );
    }
    Some(entry)
}

fn fail(walk: &mut Walker<'_>, value: &Value) -> Option<Signal> {
    let map = walk.section(value, FAIL, Unknown::Error)?;
    let mut signal = Signal::default();
    walk.key(map, "status", |walk, value| {
        signal.status = values::whole(walk, value, 100, 999).and_then(|status| u16::try_from(status).ok());
    });
    walk.key(map, "code", |walk, value| signal.code = values::text(walk, value));
    walk.key(map, "errorType", |walk, value| signal.error_type = values::text(walk, value));
    walk.key(map, "param", |walk, value| signal.param = values::text(walk, value));
    walk.key(map, "message", |walk, value| signal.message = values::body(walk, value));
    walk.key(map, "details", |walk, value| {
        walk.entries(value, |walk, value| signal.details.extend(values::body(walk, value)));
    });
    walk.key(map, "headers", |walk, value| {
        let Some(headers) = walk.map(value) else { return };
        walk.each(headers, |walk, name, value| {
            signal.headers.extend(values::text(walk, value).map(|value| (name.to_owned(), value)));
        });
    });
    walk.key(map, "aborted", |walk, value| signal.aborted = aborted(walk, value));
    Some(signal)
}

/// Who cancelled.
pub(super) fn aborted(walk: &mut Walker<'_>, value: &Value) -> Option<Aborted> {
    Some(match values::word(walk, value, "no one who cancels", &["user", "host", "deadline"])? {
        "user" => Aborted::User,
        "host" => Aborted::Host,
        _ => Aborted::Deadline,
    })
}
