//! As much of HTTP/1.1 as the example needs. A real host uses its own client here.

use std::net::SocketAddr;

use pointsman::host::{Attempt, AttemptError};
use secrecy::ExposeSecret;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    net::TcpStream,
};

use super::refused;

type Reader = Lines<BufReader<TcpStream>>;

/// Asks for a whole answer.
pub async fn plain(place: SocketAddr, attempt: &Attempt) -> Result<String, AttemptError> {
    let (_, mut reader) = send(place, attempt, false).await?;
    rest(&mut reader).await
}

/// Asks for an answer word by word, as server-sent events.
pub async fn stream(place: SocketAddr, attempt: &Attempt) -> Result<String, AttemptError> {
    let (status, mut reader) = send(place, attempt, true).await?;
    let mut words = Vec::new();
    while let Some(line) = reader.next_line().await? {
        match line.split_once(": ") {
            Some(("data", "[DONE]")) => return Ok(words.join(" ")),
            // The status said all is well, but the stream says otherwise.
            Some(("error", body)) => return Err(refused(status, Vec::new(), body.to_owned())),
            Some(("data", word)) => {
                attempt.delivered(); // a word reaches the user: no other attempt may follow
                words.push(word.to_owned());
            }
            _ => {}
        }
    }
    Err(AttemptError::message("the stream ended before its last event").code("ECONNRESET"))
}

async fn send(place: SocketAddr, attempt: &Attempt, stream: bool) -> Result<(u16, Reader), AttemptError> {
    let mut socket = TcpStream::connect(place).await?;
    let key = attempt.secret.as_ref().map(ExposeSecret::expose_secret).unwrap_or_default();
    let accept = if stream { "text/event-stream" } else { "application/json" };
    let head = format!(
        "POST /v1/{} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\naccept: {accept}\r\n\
         content-length: 0\r\n\r\n",
        attempt.model
    );
    socket.write_all(head.as_bytes()).await?;
    let mut lines = BufReader::new(socket).lines();
    let first = lines.next_line().await?.unwrap_or_default();
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let Some(status) = status else { return Err(AttemptError::message("no HTTP answer")) };
    let mut headers = Vec::new();
    while let Some(line) = lines.next_line().await?.filter(|line| !line.is_empty()) {
        headers.extend(line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    if status == 200 {
        return Ok((status, lines));
    }
    let body = rest(&mut lines).await?;
    Err(refused(status, headers, body))
}

async fn rest(reader: &mut Reader) -> Result<String, AttemptError> {
    let mut body = String::new();
    reader.get_mut().read_to_string(&mut body).await?;
    Ok(body)
}
