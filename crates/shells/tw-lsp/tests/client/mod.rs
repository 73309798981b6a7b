//! A client of the server, as editors are.

// Each program of tests takes some of it.
#![allow(dead_code)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::thread::JoinHandle;
use tw_lsp::{Left, serve};

/// A client as editors are: it sends, and waits for what it asked for.
pub struct Client {
    pub to: Option<PipeWriter>,
    pub from: BufReader<PipeReader>,
    pub server: Option<JoinHandle<Left>>,
    pub next: u64,
    pub uri: String,
}

impl Client {
    pub fn start(uri: &str, capabilities: Value) -> Client {
        let (input, to) = pipe().expect("a pipe");
        let (from, output) = pipe().expect("a pipe");
        let server = std::thread::spawn(move || serve(input, output).expect("the client reads"));
        let from = BufReader::new(from);
        let mut client = Client { to: Some(to), from, server: Some(server), next: 0, uri: uri.to_owned() };
        client.ask("initialize", json!({"capabilities": capabilities}));
        client.tell("initialized", json!({}));
        client
    }

    pub fn raw(&mut self, text: &str) {
        self.raw_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub fn raw_bytes(&mut self, bytes: &[u8]) {
        self.to.as_mut().expect("open").write_all(bytes).expect("the server reads");
    }

    pub fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("text") > 0, "the server is gone");
            match line.trim() {
                "" => break,
                line => {
                    length =
                        line.strip_prefix("Content-Length: ").expect("a length").parse().expect("a number")
                }
            }
        }
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).expect("the body");
        serde_json::from_slice(&body).expect("JSON")
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The whole answer to a request.
    pub fn answer(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        self.raw(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}).to_string());
        loop {
            let message = self.receive();
            if message["id"] == self.next {
                return message;
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The next findings: code and the line that they begin at.
    pub fn findings(&mut self) -> Vec<(String, u64)> {
        loop {
            let message = self.receive();
            if message["method"] == "textDocument/publishDiagnostics" {
                let list = message["params"]["diagnostics"].as_array().expect("a list").clone();
                let told = |own: &Value| {
                    let line = own["range"]["start"]["line"].as_u64().expect("a line");
                    (own["code"].as_str().expect("a code").to_owned(), line)
                };
                return list.iter().map(told).collect();
            }
        }
    }

    pub fn open(&mut self, text: &str) -> Vec<(String, u64)> {
        let item = json!({"uri": self.uri, "languageId": "tracewise", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": item}));
        self.findings()
    }

    pub fn edit(&mut self, start: (u64, u64), end: (u64, u64), text: &str) -> Vec<(String, u64)> {
        let place = |(line, character): (u64, u64)| json!({"line": line, "character": character});
        let range = json!({"start": place(start), "end": place(end)});
        self.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": self.uri, "version": 2}, "contentChanges": [{"range": range, "text": text}]}),
        );
        self.findings()
    }

    pub fn at(&self, line: u64, character: u64) -> Value {
        json!({"textDocument": {"uri": self.uri}, "position": {"line": line, "character": character}})
    }

    pub fn hover(&mut self, line: u64, character: u64) -> String {
        let place = self.at(line, character);
        let found = self.ask("textDocument/hover", place);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    pub fn labels(&mut self, line: u64, character: u64) -> Vec<String> {
        let place = self.at(line, character);
        let found = self.ask("textDocument/completion", place);
        let items = found["items"].as_array().expect("items");
        items.iter().map(|item| item["label"].as_str().expect("a label").to_owned()).collect()
    }

    pub fn leave(mut self) -> Left {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.server.take().expect("running").join().expect("no panic")
    }
}
