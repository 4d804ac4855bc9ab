//! Messages on a byte stream: a header with `Content-Length`, an empty line, JSON.
//!
//! Own code, because a server must survive what a client sends: a length is never trusted with an
//! allocation, and a message that is no JSON costs only itself.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

use crate::escape::harmless_json;

/// Largest message, in bytes. A larger one is passed over.
const LARGEST: u64 = 64 << 20;

/// Longest header line, in bytes.
const LONGEST_HEADER: u64 = 4 << 10;

/// Error codes of JSON-RPC and the protocol.
pub mod code {
    /// The message is no JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// The message is no request, or comes at the wrong time.
    pub const INVALID_REQUEST: i32 = -32600;
    /// The method is not known.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The server failed.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// `initialize` has not come yet.
    pub const NOT_INITIALIZED: i32 = -32002;
    /// The client took the request back.
    pub const CANCELLED: i32 = -32800;
}

/// A request that could not be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// See [`code`].
    pub code: i32,
    /// Why, in a sentence.
    pub message: String,
}

impl Refusal {
    /// A refusal with a reason.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// A message from the client.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// Wants an answer.
    Request {
        /// A number or a string.
        id: Value,
        /// What is asked.
        method: String,
        /// With what.
        params: Value,
    },
    /// Wants none.
    Notification {
        /// What is told.
        method: String,
        /// With what.
        params: Value,
    },
    /// The answer to a request of the server; it asks nothing that matters.
    Response,
    /// Could not be read.
    Broken(Refusal),
}

/// Reads one message. `None` at the end of the stream.
///
/// # Errors
/// When the stream fails.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let length = loop {
        match header(input)? {
            Header::End => return Ok(None),
            Header::Length(length) => break length,
            Header::Broken(message) => {
                return Ok(Some(Incoming::Broken(Refusal::new(code::INVALID_REQUEST, message))));
            }
            // Something that is no message: look for the next header.
            Header::Nothing => {}
        }
    };
    if length > LARGEST {
        io::copy(&mut input.take(length), &mut io::sink())?;
        let message = format!("a message has at most {} MiB", LARGEST >> 20);
        return Ok(Some(Incoming::Broken(Refusal::new(code::INVALID_REQUEST, message))));
    }
    let mut body = Vec::new();
    let got = input.take(length).read_to_end(&mut body)?;
    if (got as u64) < length {
        return Ok(None);
    }
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(value) => message(value),
        Err(error) => Incoming::Broken(Refusal::new(code::PARSE_ERROR, format!("no JSON: {error}"))),
    }))
}

enum Header {
    End,
    Length(u64),
    /// Its length is none; why.
    Broken(String),
    Nothing,
}

/// The lines up to an empty one.
fn header(input: &mut impl BufRead) -> io::Result<Header> {
    const LENGTH: &str = "content-length:";
    let mut header = Header::Nothing;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(Header::End);
        }
        let line = String::from_utf8_lossy(&line).trim().to_ascii_lowercase();
        if line.is_empty() {
            return Ok(header);
        }
        // After a body of unknown length the next header begins in the middle of a line.
        if let Some(at) = line.rfind(LENGTH) {
            let value = line.get(at + LENGTH.len()..).unwrap_or_default().trim();
            header = value.parse().map_or_else(
                |_| Header::Broken("the value of `Content-Length` is a number of bytes".to_owned()),
                Header::Length,
            );
        }
    }
}

fn message(mut value: Value) -> Incoming {
    let method = value.get("method").and_then(Value::as_str).map(str::to_owned);
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    let answers = value.get("result").is_some() || value.get("error").is_some();
    let params = value.get_mut("params").map_or(Value::Null, Value::take);
    match (method, id) {
        (Some(method), Some(id)) => Incoming::Request { id, method, params },
        (Some(method), None) => Incoming::Notification { method, params },
        (None, _) if answers => Incoming::Response,
        (None, _) => Incoming::Broken(Refusal::new(
            code::INVALID_REQUEST,
            "a message is an object with a `method`; batches are not known",
        )),
    }
}

/// Writes the answer to a request.
///
/// # Errors
/// When the stream takes no more.
pub fn answer(output: &mut dyn Write, id: &Value, result: Result<Value, Refusal>) -> io::Result<()> {
    let body = match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Refusal { code, message }) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    };
    write(output, &body)
}

/// Writes a notification.
///
/// # Errors
/// When the stream takes no more.
pub fn notify(output: &mut dyn Write, method: &str, params: &impl serde::Serialize) -> io::Result<()> {
    write(output, &json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn write(output: &mut dyn Write, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let body = harmless_json(&body);
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Incoming> {
        let mut input = bytes;
        std::iter::from_fn(|| read(&mut input).unwrap()).collect()
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn kinds_of_messages_are_told_apart() {
        let stream = [
            framed(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"日本"}}"#),
            framed(r#"{"method":"b"}"#),
            framed(r#"{"id":7,"result":null}"#),
        ];
        let got = all(stream.concat().as_bytes());
        assert_eq!(
            got,
            [
                Incoming::Request { id: json!(1), method: "a".into(), params: json!({"x": "日本"}) },
                Incoming::Notification { method: "b".into(), params: Value::Null },
                Incoming::Response,
            ]
        );
    }

    #[test]
    fn what_is_no_message_costs_only_itself() {
        let good = framed(r#"{"method":"exit"}"#);
        let bad = [
            framed("{"),
            framed("[]"),
            framed("{\"id\":{}}"),
            "rubbish\r\n\r\n".to_owned(),
            "Content-Length: no\r\n\r\n".to_owned(),
            framed(&"[".repeat(5_000)),
        ];
        let got = all((bad.concat() + &good).as_bytes());
        let broken = got.iter().filter(|one| matches!(one, Incoming::Broken(_))).count();
        assert_eq!(broken, 5, "{got:?}");
        assert_eq!(got.last(), Some(&Incoming::Notification { method: "exit".into(), params: Value::Null }));
    }

    #[test]
    fn a_bad_length_costs_its_message_and_not_the_next() {
        let next = framed(r#"{"method":"exit"}"#);
        let got = all(format!("Content-Length: 1x\r\n\r\n{{\"method\":\"lost\"}}{next}").as_bytes());
        let exit = Incoming::Notification { method: "exit".into(), params: Value::Null };
        assert!(matches!(got.as_slice(), [Incoming::Broken(_), last] if *last == exit), "{got:?}");
    }

    #[test]
    fn a_length_is_not_trusted() {
        assert_eq!(all(b"Content-Length: 18446744073709551615\r\n\r\n{}").len(), 1);
        assert_eq!(all(b"Content-Length: 60000000\r\n\r\n{}"), []);
        assert_eq!(all(b"Content-Length: -1\r\n\r\n").len(), 1);
    }
}
