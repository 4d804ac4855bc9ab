//! `classify` in JSON lines: one error in, one verdict out. The format is stable.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize,
    de::{self, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    escape::harmless_json,
    lines::{LONGEST, Line},
    lists::{Header, details, headers},
};
use crate::{
    signal::{Aborted, Headers, SignalRef, TEXT_LIMIT, Texts, unescape_into},
    time::Timestamp,
};

/// One line of input: what `classify` takes of it. Texts are borrowed from the line where they can be.
#[derive(Debug, Default)]
pub(super) struct Input<'a> {
    /// Given back as it came; never evidence.
    pub(super) id: Option<&'a RawValue>,
    provider: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    status: Option<u16>,
    code: Option<Cow<'a, str>>,
    error_type: Option<Cow<'a, str>>,
    message: Option<Cow<'a, str>>,
    details: Vec<Cow<'a, str>>,
    headers: Vec<Header<'a>>,
    aborted: Option<Aborted>,
    received_at: Option<Timestamp>,
}

impl Input<'_> {
    /// The id as a person writes it: a string without its quotes.
    pub(super) fn id_text(&self) -> Option<Cow<'_, str>> {
        self.id.and_then(text)
    }

    /// The evidence, as the library takes it.
    pub(super) fn signal(&self) -> SignalRef<'_> {
        SignalRef {
            provider: self.provider.as_deref(),
            model: self.model.as_deref(),
            status: self.status,
            code: self.code.as_deref(),
            error_type: self.error_type.as_deref(),
            param: None,
            message: self.message.as_deref(),
            details: Texts::Cows(&self.details),
            headers: Headers::Cows(&self.headers),
            aborted: self.aborted,
            received_at: self.received_at,
        }
    }
}

/// The values of a line, not yet looked into.
#[derive(Default)]
struct Fields<'a> {
    id: Option<&'a RawValue>,
    provider: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    code: Option<&'a RawValue>,
    error_type: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    details: Option<&'a RawValue>,
    headers: Option<&'a RawValue>,
    aborted: Option<&'a RawValue>,
    received_at: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Id,
    Provider,
    Model,
    Status,
    Code,
    ErrorType,
    Message,
    Details,
    Headers,
    Aborted,
    ReceivedAt,
    #[serde(other)]
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Fields::default();
                while let Some(key) = map.next_key()? {
                    let slot = match key {
                        Key::Id => &mut fields.id,
                        Key::Provider => &mut fields.provider,
                        Key::Model => &mut fields.model,
                        Key::Status => &mut fields.status,
                        Key::Code => &mut fields.code,
                        Key::ErrorType => &mut fields.error_type,
                        Key::Message => &mut fields.message,
                        Key::Details => &mut fields.details,
                        Key::Headers => &mut fields.headers,
                        Key::Aborted => &mut fields.aborted,
                        Key::ReceivedAt => &mut fields.received_at,
                        Key::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *slot = Some(map.next_value()?);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// Reads one line.
///
/// Values of another type than expected are taken for what they say: a number as `code` is its
/// digits, an object as `message` is its JSON, a word as `status` is a type.
///
/// # Errors
/// One sentence, when the line is not a JSON object, `id` is too long, or `aborted`, `headers` or
/// `receivedAt` cannot be understood.
fn read(line: &str) -> Result<Input<'_>, String> {
    if !line.trim_start().starts_with('{') {
        return Err("the line is not a JSON object; `--raw` takes plain log lines".into());
    }
    let fields: Fields = serde_json::from_str(line).map_err(|error| {
        let what = if error.is_eof() { "the JSON ends too early" } else { "the JSON is broken" };
        format!("{what}, at column {}", error.column())
    })?;
    if fields.id.is_some_and(|id| id.get().len() > TEXT_LIMIT) {
        return Err(format!("the `id` is longer than {} KiB", TEXT_LIMIT >> 10));
    }
    let mut input = Input {
        id: fields.id,
        provider: fields.provider.and_then(text),
        model: fields.model.and_then(text),
        status: None,
        code: fields.code.and_then(text),
        error_type: fields.error_type.and_then(text),
        message: fields.message.and_then(text),
        details: fields.details.map(details).unwrap_or_default(),
        headers: fields.headers.map(headers).transpose()?.unwrap_or_default(),
        aborted: fields.aborted.and_then(text).map(|said| aborted(&said)).transpose()?,
        received_at: fields.received_at.and_then(text).map(|said| instant(&said)).transpose()?,
    };
    if let Some(said) = fields.status.and_then(text) {
        match said.trim().parse::<f64>() {
            Ok(number) => input.status = whole(number),
            Err(_) => input.error_type = input.error_type.or(Some(said)),
        }
    }
    Ok(input)
}

/// Why a file of another encoding is not read.
pub(super) const UTF16: &str =
    "it is UTF-16 and not UTF-8 text; `iconv -f UTF-16 -t UTF-8` turns it into that";

/// Whether a text begins with the byte order mark of UTF-16.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Reads a line of input, unless it is too long to be whole; `text` is the line with what is not UTF-8
/// replaced.
///
/// # Errors
/// See [`read`].
pub(super) fn read_line<'l>(line: &Line<'_>, text: &'l str) -> Result<Input<'l>, String> {
    if !line.whole {
        return Err(format!("the line is longer than {} MiB", LONGEST >> 20));
    }
    // `--raw` would help nobody here.
    if !text.trim_start().starts_with('{') {
        if is_utf16(line.bytes) {
            return Err(format!("the line is not a JSON object: {UTF16}"));
        }
        if std::str::from_utf8(line.bytes).is_err() {
            return Err("the line is not a JSON object: it is not UTF-8 text".into());
        }
        if line.bytes.contains(&0) {
            return Err("the line is not a JSON object: it holds NUL bytes, as UTF-16 text does".into());
        }
    }
    read(text)
}

/// A value as text; `null` is none.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => Some(unescape(inner)),
        None if json == "null" => None,
        None => Some(Cow::Borrowed(json)),
    }
}

/// The word for how an attempt was cut off.
pub(super) fn aborted(said: &str) -> Result<Aborted, String> {
    match said {
        "user" => Ok(Aborted::User),
        "host" => Ok(Aborted::Host),
        "deadline" => Ok(Aborted::Deadline),
        other => {
            let other = shown(other);
            Err(format!("`{other}` does not say how it was aborted; `user`, `host` or `deadline` does"))
        }
    }
}

/// A point in time: RFC 3339, or milliseconds since the epoch.
pub(super) fn instant(said: &str) -> Result<Timestamp, String> {
    let said = said.trim();
    let millis = said.parse().ok().map(jiff::Timestamp::from_millisecond);
    millis
        .unwrap_or_else(|| said.parse())
        .map(|time| Timestamp::from_millis(time.as_millisecond()))
        .map_err(|_| format!("`{}` is not a time; write it like `2026-11-30T10:00:00Z`", shown(said)))
}

/// As much of a wrong word as a sentence holds.
fn shown(said: &str) -> &str {
    said.get(..said.floor_char_boundary(100)).unwrap_or_default()
}

/// A status out of range is none: hosts write 0 or -1 when there was no answer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn whole(number: f64) -> Option<u16> {
    (100.0..1000.0).contains(&number).then_some(number as u16)
}

/// The text of a JSON string whose syntax has been checked. Half a surrogate pair, as cut texts
/// have it, becomes U+FFFD.
fn unescape(inner: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    unescape_into(inner, &mut out);
    Cow::Owned(out)
}

/// Appends a text as a JSON string.
pub(super) fn push_string(out: &mut Vec<u8>, text: &str) {
    // A string always serialises.
    push_json(out, &serde_json::to_string(text).unwrap_or_default());
}

/// Appends JSON, with nothing in it that a terminal would obey.
pub(super) fn push_json(out: &mut Vec<u8>, json: &str) {
    if json.is_ascii() && !json.contains('\u{7f}') {
        out.extend_from_slice(json.as_bytes());
    } else {
        out.extend_from_slice(harmless_json(json).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_taken_and_no_other() {
        let line = r#"{"id":"a1","provider":"openrouter","model":"x","status":403,"code":"c","errorType":"t","message":"m\nn","details":["d"],"headers":{"retry-after":"30"},"aborted":"user","receivedAt":"2026-11-30T10:00:00Z","truth":"billing","why":["x"],"param":"p"}"#;
        let input = read(line).unwrap();
        assert_eq!(input.id.unwrap().get(), r#""a1""#);
        let signal = input.signal();
        assert_eq!(signal.provider, Some("openrouter"));
        assert_eq!((signal.status, signal.code, signal.error_type), (Some(403), Some("c"), Some("t")));
        assert_eq!((signal.message, signal.details.iter().collect()), (Some("m\nn"), vec!["d"]));
        assert_eq!(signal.headers.iter().collect::<Vec<_>>(), [("retry-after", "30")]);
        assert_eq!(signal.aborted, Some(Aborted::User));
        assert_eq!(signal.received_at, Some(Timestamp::from_millis(1_796_032_800_000)));
        assert_eq!(signal.param, None, "not part of the format");
    }

    #[test]
    fn values_of_other_types_say_what_they_say() {
        let line = r#"{"status":"429","code":1113,"message":{"error":["x"]},"details":"one","headers":{"a":5,"b":["c","d"]},"aborted":null}"#;
        let input = read(line).unwrap();
        let signal = input.signal();
        assert_eq!((signal.status, signal.code), (Some(429), Some("1113")));
        assert_eq!(signal.message, Some(r#"{"error":["x"]}"#));
        assert_eq!(signal.details.iter().collect::<Vec<_>>(), ["one"]);
        assert_eq!(signal.headers.iter().collect::<Vec<_>>(), [("a", "5"), ("b", "c"), ("b", "d")]);
        let word = read(r#"{"status":"RESOURCE_EXHAUSTED"}"#).unwrap();
        assert_eq!((word.signal().status, word.signal().error_type), (None, Some("RESOURCE_EXHAUSTED")));
        for none in ["0", "-1", "99999", "1e9", "null"] {
            assert_eq!(read(&format!(r#"{{"status":{none}}}"#)).unwrap().status, None, "{none}");
        }
        assert_eq!(read(r#"{"status":429.0}"#).unwrap().status, Some(429));
        assert_eq!(read(r#"{"message":"a","message":"b"}"#).unwrap().message.as_deref(), Some("b"));
        assert_eq!(read(r#"{"headers":[["a","b"]]}"#).unwrap().headers, [("a".into(), "b".into())]);
    }

    #[test]
    fn strings_are_unescaped_as_json_says() {
        for text in ["plain", "a\"b\\c/d", "tab\tline\n\r\u{8}\u{c}\u{0}", "é 余额 👍🏽", "\\u0041", "\\"]
        {
            let json = serde_json::to_string(text).unwrap();
            let line = format!(r#"{{"message":{json}}}"#);
            assert_eq!(read(&line).unwrap().message.as_deref(), Some(text));
        }
        let message = |json: &str| read(json).unwrap().message.unwrap().into_owned();
        assert_eq!(message(r#"{"message":"\u4f59\uD83D\uDC4d\/"}"#), "余👍/");
        assert_eq!(message(r#"{"message":"cut \ud83d"}"#), "cut \u{fffd}");
        assert_eq!(message(r#"{"message":"\udc4d\ud83dx\ud83d\u0041"}"#), "\u{fffd}\u{fffd}x\u{fffd}A");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (line, part) in [
            ("hello", "not a JSON object"),
            ("[1]", "not a JSON object"),
            ("", "not a JSON object"),
            (r#"{"message":"x"#, "ends too early"),
            (r#"{"message" "x"}"#, "broken, at column 12"),
            (r#"{"message":"x"} y"#, "broken"),
            ("{\"message\":\"a\0b\"}", "broken"),
            (r#"{"aborted":"cat"}"#, "`cat`"),
            (r#"{"receivedAt":"soon"}"#, "`soon`"),
            (r#"{"headers":"x"}"#, "`headers`"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn what_nobody_looks_at_is_not_held() {
        let many = "1,".repeat(1_000_000) + "1";
        let line = format!(r#"{{"details":[{many}]}}"#);
        assert_eq!(read(&line).unwrap().details.len(), TEXT_LIMIT + 1, "one more says that it is cut");
        // A name stands beside each of its values.
        let name = "\\n".repeat(30_000);
        let line = format!(r#"{{"headers":{{"retry-after":"5","{name}":[{many}],"last":1}}}}"#);
        let held = read(&line).unwrap().headers;
        assert_eq!(held.iter().map(|(name, _)| name.len()).collect::<Vec<_>>(), [11, 30_000, 30_000]);
        let pairs = format!(r#"["a","b"],{}["a","b"]"#, r#"["",""],"#.repeat(1_000_000));
        let line = format!(r#"{{"headers":[{pairs}]}}"#);
        assert!(read(&line).unwrap().headers.len() <= TEXT_LIMIT);
        let long = "x".repeat(1_000_000);
        for field in ["id", "aborted", "receivedAt"] {
            let error = read(&format!(r#"{{"{field}":"{long}"}}"#)).unwrap_err();
            assert!(error.len() < 250, "{field}");
        }
        assert_eq!(read(&format!(r#"{{"id":"{long}"}}"#)).unwrap_err(), "the `id` is longer than 64 KiB");
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let line = format!(r#"{{"message":{deep},"other":{deep}}}"#);
        assert_eq!(read(&line).unwrap().message.map(|text| text.len()), Some(200_000));
    }
}
