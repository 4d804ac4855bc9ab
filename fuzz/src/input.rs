//! An error as a text that a person can read and a fuzzer can change: heads, an empty line, the
//! message; further details behind a record separator (0x1e).
//!
//! ```text
//! provider: openrouter
//! status: 429
//! header retry-after: 30
//!
//! Rate limit reached
//! ```

use std::fmt::Write as _;

use pointsman::{
    signal::{Aborted, Signal},
    time::Timestamp,
};

/// Divides a message from the details behind it.
const DETAIL: char = '\u{1e}';

/// Reads a signal; whatever the bytes, there is one.
pub fn read(data: &[u8]) -> Signal {
    let text = String::from_utf8_lossy(data);
    let mut signal = Signal::default();
    let mut rest = &*text;
    while let Some((line, tail)) = rest.split_once('\n') {
        rest = tail;
        let Some((key, value)) = line.split_once(": ") else { break };
        let value = value.to_owned();
        match key {
            "provider" => signal.provider = Some(value),
            "model" => signal.model = Some(value),
            "status" => signal.status = value.parse().ok(),
            "code" => signal.code = Some(value),
            "type" => signal.error_type = Some(value),
            "param" => signal.param = Some(value),
            "aborted" => {
                signal.aborted = match &*value {
                    "user" => Some(Aborted::User),
                    "host" => Some(Aborted::Host),
                    "deadline" => Some(Aborted::Deadline),
                    _ => None,
                }
            }
            "at" => signal.received_at = value.parse().ok().map(Timestamp::from_millis),
            _ => match key.strip_prefix("header ") {
                Some(name) => signal.headers.push((name.to_owned(), value)),
                None => break,
            },
        }
    }
    let mut texts = rest.split(DETAIL).map(str::to_owned);
    signal.message = texts.next().filter(|text| !text.is_empty());
    signal.details = texts.collect();
    signal
}

/// Writes a signal so that [`read`] gives it again.
pub fn write(signal: &Signal) -> String {
    let mut out = String::new();
    let mut head = |key: &str, value: Option<&str>| {
        if let Some(value) = value {
            let _ = writeln!(out, "{key}: {}", value.replace('\n', " "));
        }
    };
    head("provider", signal.provider.as_deref());
    head("model", signal.model.as_deref());
    head("status", signal.status.map(|status| status.to_string()).as_deref());
    head("code", signal.code.as_deref());
    head("type", signal.error_type.as_deref());
    head("param", signal.param.as_deref());
    let aborted = signal.aborted.map(|aborted| match aborted {
        Aborted::User => "user",
        Aborted::Host => "host",
        Aborted::Deadline => "deadline",
    });
    head("aborted", aborted);
    head("at", signal.received_at.map(|at| at.as_millis().to_string()).as_deref());
    for (name, value) in &signal.headers {
        head(&format!("header {name}"), Some(value));
    }
    out.push('\n');
    out.push_str(signal.message.as_deref().unwrap_or_default());
    for detail in &signal.details {
        out.push(DETAIL);
        out.push_str(detail);
    }
    out
}
