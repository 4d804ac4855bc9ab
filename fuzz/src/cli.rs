//! JSON lines, as `classify` reads and answers them. These parts of the command line are no public
//! API, and so are included here.

#[path = "../../src/cli/answer.rs"]
mod answer;
#[path = "../../src/escape.rs"]
mod escape;
#[path = "../../src/cli/jsonl.rs"]
mod jsonl;
#[path = "../../src/cli/lines.rs"]
mod lines;
#[path = "../../src/cli/lists.rs"]
mod lists;

use pointsman::{classify::Scratch, time::Timestamp};
use serde_json::Value;

use crate::shipped;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// Any bytes are lines; each gets one line of JSON that no terminal obeys, and is read as a plain
/// JSON reader would read it.
pub fn lines(data: &[u8]) {
    let table = shipped::table();
    let mut answers = answer::Answers::new(table);
    let mut scratch = Scratch::default();
    let mut lines = lines::Lines::new(data);
    let mut count = 0;
    while let Some(line) = lines.next(|| Ok(())).expect("bytes can be read") {
        count += 1;
        assert_eq!(line.number, count);
        let text = String::from_utf8_lossy(line.bytes);
        let mut out = Vec::new();
        match jsonl::read_line(&line, &text) {
            Ok(input) => {
                agrees(&text, &input);
                let mut signal = input.signal();
                let now = *signal.received_at.get_or_insert(NOW);
                let verdict = table.classify(&signal, &mut scratch);
                answers.push(&mut out, input.id, &verdict, now);
                answer::message(scratch.evidence());
            }
            Err(error) => {
                let plain = serde_json::from_str::<Value>(&text);
                assert!(
                    !plain.is_ok_and(|value| value.is_object()) || error.contains('`'),
                    "{text:?} is an object, but: {error}"
                );
                answer::push_error(&mut out, line.number, &error);
            }
        }
        let out = String::from_utf8(out).expect("text");
        let whole = out.strip_suffix('\n').expect("a line");
        assert!(!whole.contains(|c: char| c.is_control()), "{whole:?}");
        assert!(serde_json::from_str::<&serde_json::value::RawValue>(whole).is_ok(), "{whole:?}");
    }
    let breaks = data.iter().filter(|byte| **byte == b'\n').count() as u64;
    let open = u64::from(!data.is_empty() && !data.ends_with(b"\n"));
    assert_eq!(count, breaks + open, "as many lines as there are");
}

/// What a plain reader finds: the texts of keys that hold strings.
fn agrees(text: &str, input: &jsonl::Input<'_>) {
    // A plain reader refuses half a surrogate pair, and great depth.
    let Ok(Value::Object(plain)) = serde_json::from_str::<Value>(text) else { return };
    let signal = input.signal();
    for (key, found) in [
        ("provider", signal.provider),
        ("model", signal.model),
        ("code", signal.code),
        ("message", signal.message),
    ] {
        match plain.get(key) {
            Some(Value::String(said)) => assert_eq!(found, Some(said.as_str()), "{key}"),
            None | Some(Value::Null) => assert_eq!(found, None, "{key}"),
            Some(_) => assert!(found.is_some(), "{key}"),
        }
    }
    if let Some(number) = plain.get("status").and_then(Value::as_u64) {
        let status = u16::try_from(number).ok().filter(|status| (100..1000).contains(status));
        assert_eq!(signal.status, status);
    }
}
