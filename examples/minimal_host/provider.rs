//! A provider on this machine, with a mood for each key.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// How it answers.
#[derive(Clone, Copy, Default)]
pub enum Mood {
    #[default]
    Well,
    RateLimited,
    Overloaded,
    /// Status 200, and an error as the first event.
    FailsInside,
    /// The connection ends after a few words.
    BreaksOff,
}

type Moods = Arc<Mutex<HashMap<String, Mood>>>;

pub struct Provider {
    pub address: SocketAddr,
    moods: Moods,
}

impl Provider {
    /// Starts it on a free port.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, moods) = (listener.local_addr()?, Moods::default());
        let serving = Arc::clone(&moods);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // A client that hangs up is no trouble of the provider's.
                drop(answer(socket, &serving).await);
            }
        });
        Ok(Self { address, moods })
    }

    /// Changes its mood towards a key.
    pub fn mood(&self, key: &str, mood: Mood) {
        self.moods.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), mood);
    }
}

async fn answer(socket: TcpStream, moods: &Moods) -> io::Result<()> {
    let mut lines = BufReader::new(socket).lines();
    let (mut key, mut stream) = (String::new(), false);
    while let Some(line) = lines.next_line().await?.filter(|line| !line.is_empty()) {
        match line.split_once(": ") {
            Some(("authorization", value)) => value.trim_start_matches("Bearer ").clone_into(&mut key),
            Some(("accept", value)) => stream = value == "text/event-stream",
            _ => {}
        }
    }
    let mood = moods.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied().unwrap_or_default();
    let text = match (mood, stream) {
        (Mood::RateLimited, _) => {
            "HTTP/1.1 429 Too Many Requests\r\nretry-after: 20\r\n\r\n\
             {\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Rate limit reached for requests\"}}"
        }
        (Mood::Overloaded, _) => {
            "HTTP/1.1 529 Overloaded\r\n\r\n{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"
        }
        (Mood::Well, false) => "HTTP/1.1 200 OK\r\n\r\nHello there.",
        (Mood::Well, true) => "HTTP/1.1 200 OK\r\n\r\ndata: Hello\n\ndata: there.\n\ndata: [DONE]\n\n",
        (Mood::FailsInside, _) => {
            "HTTP/1.1 200 OK\r\n\r\n\
             error: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
        }
        (Mood::BreaksOff, _) => "HTTP/1.1 200 OK\r\n\r\ndata: Hel\n\n",
    };
    lines.get_mut().write_all(text.as_bytes()).await?;
    lines.get_mut().shutdown().await
}
