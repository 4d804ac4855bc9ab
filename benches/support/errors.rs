//! The errors that are measured: real ones, and long ones made up.

#![allow(dead_code, reason = "no bench uses all of it")]

use std::sync::LazyLock;

use pointsman::signal::Signal;

/// The corpus of real errors.
pub static CORPUS: LazyLock<Vec<Signal>> = LazyLock::new(|| {
    let rows = include_str!("../../tests/corpus/field.jsonl").lines();
    let rows = rows.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    rows.map(|row| {
        let text = |key: &str| row.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
        let status = row.get("status").and_then(serde_json::Value::as_u64);
        Signal {
            provider: text("provider"),
            status: status.and_then(|status| u16::try_from(status).ok()),
            code: text("code"),
            error_type: text("errorType"),
            message: text("message"),
            ..Signal::default()
        }
    })
    .collect()
});

/// The error whose text is of median length.
pub fn typical() -> Signal {
    let mut sorted: Vec<&Signal> = CORPUS.iter().collect();
    sorted.sort_by_key(|signal| signal.message.as_ref().map(String::len));
    sorted.get(sorted.len() / 2).map(|signal| (*signal).clone()).unwrap_or_default()
}

/// A page of an intermediary, mostly style as those are.
pub fn page(size: usize) -> Signal {
    let style = ".cf-wrapper a:hover { color: #2f7bbf; padding: 0 12px } ".repeat(size / 80);
    let mut page = format!(
        "<!DOCTYPE html><html><head><title>502 Bad gateway</title><style>{style}</style></head><body><h1>Bad \
         gateway</h1>"
    );
    while page.len() < size {
        page.push_str("<p>The web server reported an error. Please try again in a few minutes.</p>\n");
    }
    page.truncate(size);
    body(page)
}

/// A payload whose message stands behind many other fields.
pub fn payload(size: usize) -> Signal {
    let mut payload = String::from("{\"error\":{\"metadata\":[");
    while payload.len() < size - 120 {
        payload
            .push_str("{\"name\":\"upstream\",\"region\":\"eu-west-1\",\"latency_ms\":1840,\"attempt\":2},");
    }
    payload.push_str("{}],\"message\":\"The model is overloaded. Please try again later.\",\"code\":503}}");
    body(payload)
}

/// A body of a gateway's error.
pub fn body(message: String) -> Signal {
    Signal { message: Some(message), status: Some(502), ..Signal::default() }
}
