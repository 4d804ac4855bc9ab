//! A language server in this process, at the other end of two pipes: for tests and for the bench.

use std::{
    io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write as _, pipe},
    path::Path,
    thread::{Builder, JoinHandle},
};

use pointsman::{lsp, table::NoSettings};
use serde_json::{Value, json};

/// The server, and the editor's ends of the pipes.
pub struct Server {
    writer: PipeWriter,
    reader: BufReader<PipeReader>,
    thread: JoinHandle<io::Result<lsp::End>>,
    next: i64,
}

impl Server {
    /// Starts one that writes its copies of shipped files below `cache`.
    pub fn new(cache: &Path) -> Self {
        let (server_reads, writer) = pipe().unwrap();
        let (reader, mut server_writes) = pipe().unwrap();
        let cache = cache.to_owned();
        let serve = move || lsp::serve(BufReader::new(server_reads), &mut server_writes, &NoSettings, &cache);
        let thread = Builder::new().spawn(serve).unwrap();
        let mut server = Self { writer, reader: BufReader::new(reader), thread, next: 0 };
        let client = json!({ "processId": null, "rootUri": null, "capabilities": {} });
        server.ask("initialize", &client, |_| ());
        server.tell("initialized", &json!({}));
        server
    }

    /// Ends it; `meanwhile` is given what it says before that.
    pub fn end(mut self, meanwhile: impl FnMut(&Value)) {
        self.ask("shutdown", &Value::Null, meanwhile);
        self.tell("exit", &Value::Null);
        assert_eq!(self.thread.join().unwrap().unwrap(), lsp::End::Orderly);
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.writer, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    pub fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The result of a request; `meanwhile` is given what the server says before it.
    pub fn ask(&mut self, method: &str, params: &Value, mut meanwhile: impl FnMut(&Value)) -> Value {
        self.next += 1;
        let id = json!(self.next);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut message = self.hear();
            if message.get("id") == Some(&id) {
                return message.get_mut("result").unwrap().take();
            }
            meanwhile(&message);
        }
    }

    /// The next message.
    pub fn hear(&mut self) -> Value {
        read(&mut self.reader).unwrap()
    }
}

/// The next message of a server; nothing when it has ended.
pub fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        match line.trim().strip_prefix("Content-Length: ") {
            Some(count) => length = count.parse().unwrap(),
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}
