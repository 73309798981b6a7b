//! The loop: messages in, answers out, in order.

use crate::document::{Document, Encoding};
use crate::framing::{self, Incoming};
use crate::sample::Samples;
use crate::{complete, diagnostics, format, hover, names};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, sync_channel};

/// How the client left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It said so.
    Properly,
    /// It was gone, or said `exit` without `shutdown`.
    Suddenly,
}

/// Messages that wait at most; a client that sends more waits itself.
const WAITING: usize = 256;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const NOT_INITIALIZED: i64 = -32002;
const CANCELLED: i64 = -32800;
const REQUEST_FAILED: i64 = -32803;

/// Serves one client until it leaves. Reading goes on while an answer is made, so that what was cancelled meanwhile is not
/// answered, and a text that has changed again is not looked at.
pub fn serve(input: impl Read + Send + 'static, output: impl Write) -> io::Result<Left> {
    let (send, receive) = sync_channel(WAITING);
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Ok(Some(incoming)) = framing::read(&mut input) {
            if send.send(incoming).is_err() {
                return;
            }
        }
    });
    let mut server = Server {
        output,
        documents: BTreeMap::new(),
        unseen: Vec::new(),
        samples: Samples::default(),
        encoding: Encoding::Utf16,
        snippets: false,
        state: State::New,
    };
    server.run(&receive)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Running,
    ShutDown,
}

struct Server<W> {
    output: W,
    documents: BTreeMap<String, Document>,
    /// Documents whose findings are to be told.
    unseen: Vec<String>,
    samples: Samples,
    encoding: Encoding,
    snippets: bool,
    state: State,
}

type Answer = Result<Value, (i64, String)>;

impl<W: Write> Server<W> {
    fn run(&mut self, receive: &Receiver<Incoming>) -> io::Result<Left> {
        let mut waiting: VecDeque<Incoming> = VecDeque::new();
        let mut cancelled: HashSet<String> = HashSet::new();
        loop {
            waiting.extend(receive.try_iter());
            for incoming in &waiting {
                if let Incoming::Message(message) = incoming
                    && message["method"] == "$/cancelRequest"
                {
                    cancelled.insert(message["params"]["id"].to_string());
                }
            }
            let incoming = match waiting.pop_front() {
                Some(incoming) => incoming,
                None => {
                    // Nothing more has come: what was changed is looked at.
                    cancelled.clear();
                    self.tell()?;
                    match receive.recv() {
                        Ok(incoming) => incoming,
                        Err(_) => return Ok(Left::Suddenly),
                    }
                }
            };
            match incoming {
                Incoming::Broken(why) => self.reply(&Value::Null, Err((PARSE_ERROR, why)))?,
                Incoming::Message(message) => {
                    if message["method"] == "exit" && message.get("id").is_none() {
                        return Ok(match self.state {
                            State::ShutDown => Left::Properly,
                            _ => Left::Suddenly,
                        });
                    }
                    let stopped = message.get("id").is_some_and(|id| cancelled.remove(&id.to_string()));
                    self.message(&message, stopped)?;
                }
            }
        }
    }

    /// Tells what is wrong with the documents that changed.
    fn tell(&mut self) -> io::Result<()> {
        for uri in std::mem::take(&mut self.unseen) {
            if let Some(document) = self.documents.get(&uri) {
                let told = diagnostics::publish(document, &mut self.samples, self.encoding);
                framing::write(&mut self.output, &told)?;
            }
        }
        Ok(())
    }

    fn reply(&mut self, id: &Value, answer: Answer) -> io::Result<()> {
        let mut message = json!({"jsonrpc": "2.0", "id": id});
        match answer {
            Ok(result) => message["result"] = result,
            Err((code, why)) => message["error"] = json!({"code": code, "message": why}),
        }
        framing::write(&mut self.output, &message)
    }

    fn message(&mut self, message: &Value, stopped: bool) -> io::Result<()> {
        let (id, params) = (message.get("id"), &message["params"]);
        let Some(method) = message["method"].as_str() else {
            // An answer to a question is none of ours: none is asked.
            let answer = message.get("result").is_some() || message.get("error").is_some();
            return match (answer, message.is_object()) {
                (true, true) => Ok(()),
                _ => {
                    let why = "a message has a method".to_owned();
                    self.reply(id.unwrap_or(&Value::Null), Err((INVALID_REQUEST, why)))
                }
            };
        };
        let Some(id) = id else {
            if self.state == State::Running {
                self.notification(method, params)?;
            }
            return Ok(());
        };
        if !(id.is_string() || id.is_number() || id.is_null()) {
            return self
                .reply(&Value::Null, Err((INVALID_REQUEST, "an id is a number or a text".to_owned())));
        }
        let answer = match (self.state, method) {
            _ if stopped => Err((CANCELLED, "cancelled".to_owned())),
            (State::New, "initialize") => Ok(self.initialize(params)),
            (_, "initialize") => Err((INVALID_REQUEST, "initialized already".to_owned())),
            (State::New, _) => Err((NOT_INITIALIZED, "not initialized yet".to_owned())),
            (_, "shutdown") => {
                self.state = State::ShutDown;
                Ok(Value::Null)
            }
            (State::ShutDown, _) => Err((INVALID_REQUEST, "shut down already".to_owned())),
            (State::Running, _) => self.request(method, params),
        };
        self.reply(id, answer)
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.state = State::Running;
        let known = &params["capabilities"]["general"]["positionEncodings"];
        let knows = |encoding: Encoding| {
            known.as_array().is_some_and(|list| list.iter().any(|own| own.as_str() == Some(encoding.name())))
        };
        let chosen = [Encoding::Utf8, Encoding::Utf32].into_iter().find(|encoding| knows(*encoding));
        self.encoding = chosen.unwrap_or(Encoding::Utf16);
        let item = &params["capabilities"]["textDocument"]["completion"]["completionItem"];
        self.snippets = item["snippetSupport"] == true;
        json!({
            "capabilities": {
                "positionEncoding": self.encoding.name(),
                "textDocumentSync": {"openClose": true, "change": 2},
                "hoverProvider": true,
                "completionProvider": {"triggerCharacters": [".", ":", "["]},
                "definitionProvider": true,
                "referencesProvider": true,
                "documentHighlightProvider": true,
                "documentSymbolProvider": true,
                "documentFormattingProvider": true,
                "renameProvider": {"prepareProvider": true},
            },
            "serverInfo": {"name": "tracewise", "version": env!("CARGO_PKG_VERSION")},
        })
    }

    fn notification(&mut self, method: &str, params: &Value) -> io::Result<()> {
        let item = &params["textDocument"];
        let Some(uri) = item["uri"].as_str() else { return Ok(()) };
        match method {
            "textDocument/didOpen" => {
                let text = item["text"].as_str().unwrap_or_default().to_owned();
                let document = Document::new(uri.to_owned(), item["version"].clone(), text);
                self.documents.insert(uri.to_owned(), document);
            }
            "textDocument/didChange" => {
                let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
                for change in params["contentChanges"].as_array().into_iter().flatten() {
                    document.change(change, self.encoding);
                }
                document.version = item["version"].clone();
            }
            "textDocument/didClose" => {
                self.documents.remove(uri);
                return framing::write(&mut self.output, &diagnostics::clear(uri));
            }
            _ => return Ok(()),
        }
        if !self.unseen.iter().any(|own| own == uri) {
            self.unseen.push(uri.to_owned());
        }
        Ok(())
    }

    fn request(&mut self, method: &str, params: &Value) -> Answer {
        if !method.starts_with("textDocument/") {
            return Err((METHOD_NOT_FOUND, format!("`{method}` is not known")));
        }
        let uri = params["textDocument"]["uri"].as_str();
        let document = uri.and_then(|uri| self.documents.get(uri));
        let document = document.ok_or((INVALID_PARAMS, "no such document is open".to_owned()))?;
        let encoding = self.encoding;
        match method {
            "textDocument/formatting" => return Ok(format::edits(document, encoding)),
            "textDocument/documentSymbol" => return Ok(names::symbols(document, encoding)),
            _ => {}
        }
        let offset = document.offset(&params["position"], encoding);
        let at = offset.ok_or((INVALID_PARAMS, "a position is expected".to_owned()));
        Ok(match method {
            "textDocument/hover" => {
                let sample = self.samples.of(&document.look().settings);
                hover::hover(document, at?, sample.as_deref(), encoding)
            }
            "textDocument/completion" => {
                let sample = self.samples.of(&document.look().settings);
                complete::complete(document, at?, sample.as_deref(), self.snippets)
            }
            "textDocument/definition" => names::definition(document, at?, encoding),
            "textDocument/documentHighlight" => names::highlights(document, at?, encoding),
            "textDocument/references" => {
                let declared = params["context"]["includeDeclaration"] != false;
                names::references(document, at?, declared, encoding)
            }
            "textDocument/prepareRename" => names::prepare(document, at?, encoding),
            "textDocument/rename" => {
                let new = params["newName"].as_str();
                let new = new.ok_or((INVALID_PARAMS, "a new name is expected".to_owned()))?;
                names::rename(document, at?, new, encoding).map_err(|why| (REQUEST_FAILED, why))?
            }
            _ => return Err((METHOD_NOT_FOUND, format!("`{method}` is not known"))),
        })
    }
}
