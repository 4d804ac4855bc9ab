//! Inputs to begin with: what the repository has of rules, errors, scenarios and times.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pointsman::signal::Signal;
use serde_json::{Value, json};

use crate::{input, support::root};

/// An input larger than this teaches no more than its pieces.
const LARGEST: usize = 8 * 1024;

/// Writes seeds of every target to `folder/TARGET/NUMBER`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn write(folder: &Path) -> std::io::Result<()> {
    let rows = rows()?;
    let scenarios = texts(&root().join("tests/scenarios"), "yaml")?;
    for (target, seeds) in [
        ("rules", rules()?),
        ("classify", rows.iter().map(|row| input::write(&signal(row))).collect()),
        ("lines", rows.iter().map(line).chain(LINES.iter().map(ToString::to_string)).collect()),
        ("config", scenarios.iter().cloned().chain(CONFIGS.iter().map(ToString::to_string)).collect()),
        ("scenario", scenarios.clone()),
        ("import", imports()),
        ("times", times()),
        ("run", runs()),
    ] {
        let folder = folder.join(target);
        fs::create_dir_all(&folder)?;
        let fit = seeds.iter().filter(|seed| seed.len() <= LARGEST);
        for (number, seed) in fit.enumerate() {
            fs::write(folder.join(format!("{number:04}")), seed)?;
        }
    }
    Ok(())
}

/// The text of each file below a folder.
fn texts(folder: &Path, extension: &str) -> std::io::Result<Vec<String>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    let mut out = Vec::new();
    for path in paths {
        if path.is_dir() {
            out.extend(texts(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            out.extend(fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()));
        }
    }
    Ok(out)
}

/// Whole rule files, and the shipped ones in pieces that can be read alone.
fn rules() -> std::io::Result<Vec<String>> {
    let shipped = texts(&root().join("rules"), "rules")?;
    let mut out = texts(&root().join("tests/broken"), "rules")?;
    for text in &shipped {
        let pieces = text.split("\n\n").filter(|piece| !piece.starts_with("language"));
        out.extend(pieces.map(|piece| format!("language 1\n{piece}\n")));
    }
    out.extend(shipped);
    out.extend(["resets", "backoffs", "settings", "routing"].map(|name| {
        fs::read_to_string(root().join(format!("rules/policy/{name}.rules"))).unwrap_or_default()
    }));
    Ok(out)
}

fn rows() -> std::io::Result<Vec<Value>> {
    let mut rows = Vec::new();
    for text in texts(&root().join("tests/corpus"), "jsonl")? {
        rows.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
    }
    Ok(rows)
}

fn signal(row: &Value) -> Signal {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let headers = row["headers"].as_object().into_iter().flatten();
    Signal {
        provider: text(&row["provider"]),
        model: text(&row["model"]),
        status: row["status"].as_u64().and_then(|status| u16::try_from(status).ok()),
        code: text(&row["code"]),
        error_type: text(&row["errorType"]),
        message: text(&row["message"]),
        headers: headers.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect(),
        ..Signal::default()
    }
}

fn line(row: &Value) -> String {
    let mut row = row.clone();
    if let Some(row) = row.as_object_mut() {
        for remark in ["truth", "why", "source"] {
            row.remove(remark);
        }
    }
    row.to_string()
}

const LINES: [&str; 6] = [
    r#"{"id":7,"status":"429","code":1113,"message":{"error":["x"]},"details":"one","headers":{"a":5,"b":["c","d"]},"aborted":null}"#,
    r#"{"headers":[["retry-after","30"]],"status":429.0,"receivedAt":"2026-11-30T10:00:00Z","aborted":"user"}"#,
    "{\"message\":\"cut \\ud83d \\u4f59\\uD83D\\uDC4d\"}\r\n\n[1]\nhello",
    r#"{"status":"RESOURCE_EXHAUSTED","errorType":"x","details":["a","b"],"receivedAt":1790000000000}"#,
    r#"{"aborted":"cat"}"#,
    "\u{feff}{\"message\":\"a\u{202e}b\u{7f}\"}",
];

const CONFIGS: [&str; 4] = [
    "auth:\n  profiles:\n    openai:work@example.com: { provider: openai, mode: oauth, email: work@example.com }\n    anthropic:default: { mode: api_key }\n  order: { openai: [openai:work@example.com] }\n  cooldowns:\n    billingBackoffHours: 2.5\n    billingBackoffHoursByProvider: { openai: 1 }\n    billingMaxHours: 24\n    failureWindowHours: 24\n    overloadedProfileRotations: 1\n    rateLimitedProfileRotations: 2\n    overloadedBackoffMs: 500\n",
    "agents:\n  defaults:\n    model: { primary: openai/gpt-5.5, fallbacks: [anthropic/claude-opus-4-8, ollama/qwen/x] }\n    imageModel: a/b\n    heartbeat: { model: a/c }\n  list:\n    - { id: helper, model: groq/llama }\n    - id: other\n      model: { primary: a/b, fallbacks: [] }\n",
    "{\"agents\":{\"defaults\":{\"model\":\"a/b\"}},\"channels\":{\"x\":1}}",
    "a: &a [x, x]\nb: *a\nauth: { profils: {} }\n",
];

/// Each with the byte that chooses the file.
fn imports() -> Vec<String> {
    let profiles = json!({
        "version": 1,
        "profiles": {
            "openai-codex:me@x.org": { "type": "oauth", "provider": "openai-codex", "access": "sk-planted-a",
                "refresh": "sk-planted-r", "expires": 1_800_000_100_000_i64, "email": "me@x.org" },
            "groq:default": { "type": "api_key", "provider": "groq", "key": "sk-planted-k" },
            "b:t": { "type": "token", "provider": "b", "token": "sk-planted-t" },
        },
        "usageStats": { "groq:default": { "lastUsed": 1, "errorCount": 3, "cooldownUntil": 1_800_000_600_000_i64,
            "cooldownReason": "rate_limit", "cooldownModel": "m", "disabledUntil": 1_800_009_000_000_i64,
            "disabledReason": "billing", "failureCounts": { "billing": 2 }, "lastFailureAt": 1_799_999_000_000_i64 } },
        "order": { "groq": ["groq:default"] },
    });
    let usage = json!({ "usageStats": { "groq:default": { "lastUsed": 5.5, "cooldownUntil": "x" } } });
    let by_provider = json!({
        "openai": { "type": "api_key", "key": "sk-planted-k" },
        "anthropic": { "type": "oauth", "access": "sk-planted-a", "refresh": "sk-planted-r", "expires": 1 },
        "groq": "sk-planted-plain",
    });
    let mut out =
        vec![format!("\0{profiles}"), format!("\0{profiles}\u{1e}{usage}"), format!("\u{3}{usage}")];
    out.extend(["\u{1}", "\u{2}"].map(|file| format!("{file}{by_provider}")));
    out.extend(["\0[]", "\0{", "\u{1}{\"a\":{}}", "\0{\"profiles\":{\"a:b\":{\"type\":\"api_key\",\"provider\":\"a\",\"key\":\"sk-planted-k\"},\"a:b\":{}}}"].map(str::to_owned));
    out
}

/// Each value behind the byte of each place that it may stand in.
fn times() -> Vec<String> {
    const VALUES: [&str; 28] = [
        "30",
        "1.5",
        "0",
        "86400",
        "1772316900",
        "1772316900000",
        "6m0s",
        "1h2m3.5s",
        "120ms",
        "2 hours 5 minutes",
        "5 days, 22 hours and 11 minutes",
        "an hour",
        "5 分钟",
        "~179 min",
        "Sat, 28 Feb 2026 22:10:00 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "2026-02-28T22:05:00Z",
        "2026-03-01T08:00:00.250+02:00",
        "2026-03-01 at 00:00 UTC",
        "Mon Jan 5 2026 08:00:00 GMT+0100 (Central European Standard Time)",
        "March 1, 2026 at 5pm",
        "Mar 3, 9am (America/New_York)",
        "3:45 PM",
        "tomorrow at 9:00",
        "Monday",
        "2026-08-27 21:31:39 +0800 CST",
        "-1",
    ];
    (0..16u8).flat_map(|place| VALUES.map(|value| format!("{}{value}", char::from(place)))).collect()
}

/// Bytes of a small generator, as text so that all seeds are alike.
fn runs() -> Vec<String> {
    let mut state = 1u64;
    let mut byte = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(u8::try_from(state >> 57).unwrap_or(0))
    };
    (1..65usize).map(|size| (0..size * 5).map(|_| byte()).collect()).collect()
}
