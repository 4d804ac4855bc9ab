//! Diagnostics as SARIF 2.1.0, for code scanning.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::lang::{
    diagnostic::{Diagnostic, Diagnostics, Severity, codes, render},
    source::{Sources, Span},
};

/// One run with all findings, the rules (codes) that they belong to, and results from elsewhere.
pub(super) fn log(diagnostics: &Diagnostics, sources: &Sources, more: Vec<Value>) -> Value {
    let mut used: Vec<_> = diagnostics.iter().map(|found| found.code).collect();
    used.sort_by_key(|code| code.id);
    used.dedup();
    let rules: Vec<Value> = used
        .iter()
        .map(|code| {
            json!({
                "id": code.id,
                "shortDescription": { "text": code.title },
                "help": { "text": codes::page(*code), "markdown": codes::page(*code) },
                "defaultConfiguration": { "level": level(code.severity) },
            })
        })
        .collect();
    let results: Vec<Value> = diagnostics.iter().map(|found| result(found, sources)).chain(more).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "pointsman",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(found: &Diagnostic, sources: &Sources) -> Value {
    let text = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    let mut places = found.labels.iter().chain(&found.related);
    let mut result = json!({
        "ruleId": found.code.id,
        "level": level(found.severity()),
        "message": { "text": text },
        "locations": places.next().and_then(|place| location(place, sources)).into_iter().collect::<Vec<_>>(),
    });
    let related: Vec<Value> = places.filter_map(|place| location(place, sources)).collect();
    if !related.is_empty()
        && let Some(result) = result.as_object_mut()
    {
        result.insert("relatedLocations".into(), related.into());
    }
    result
}

fn location((span, text): &(Span, String), sources: &Sources) -> Option<Value> {
    let place = render::place(*span, sources)?;
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(place.file) },
        "region": {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        },
    } });
    if !text.is_empty()
        && let Some(location) = location.as_object_mut()
    {
        location.insert("message".into(), json!({ "text": text }));
    }
    Some(location)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// A path as a relative reference: what may not stand in one is percent-encoded.
pub(super) fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            b'\\' => out.push('/'),
            // Writing to a string cannot fail.
            byte => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}
