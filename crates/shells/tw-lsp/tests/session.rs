//! A client's session, from the first message to the last.

mod client;

use client::Client;
use serde_json::{Value, json};
use std::io::{BufReader, Write, pipe};
use tw_lsp::{Left, serve};

const SAMPLE: &str = "\
{\"time\": 1, \"event\": \"request\", \"user\": \"ann\", \"queue\": 3, \"http\": {\"status\": 200}}
{\"time\": 2, \"event\": \"reply\", \"user\": \"ann\", \"queue\": 12, \"http\": {\"status\": 500}}
";

const TEXT: &str = "\
trace { sample: \"log.jsonl\"; }
// Too many wait.
let busy = queue > 10;
event login(user: string);
property calm \"the queue is emptied\" : G (busy -> F !busy);
property answered : G (request -> F[0,5] reply);
property known : G forall u. login(u) -> O login(user: u);
";

fn folder(name: &str) -> std::path::PathBuf {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

#[test]
fn a_session_of_an_editor() {
    let folder = folder("lsp session");
    std::fs::write(folder.join("log.jsonl"), SAMPLE).expect("the sample");
    let uri = format!("file://{}/spec.tw", folder.display().to_string().replace(' ', "%20"));
    let mut client = Client::start(
        &uri,
        json!({"textDocument": {"completion": {"completionItem": {"snippetSupport": true}}}}),
    );

    // Open.
    assert_eq!(client.open(TEXT), []);

    // Edit wrongly: the parenthesis goes, and the rest of the file is understood; then half a name more.
    assert_eq!(client.edit((5, 46), (5, 47), ""), [("unclosed-bracket".to_owned(), 5)]);
    assert!(client.hover(5, 24).contains("an event, 1 times"), "{}", client.hover(5, 24));
    let found = client.edit((7, 0), (7, 0), "property ha");
    assert_eq!(found, [("unclosed-bracket".to_owned(), 5), ("bad-declaration".to_owned(), 7)]);
    assert_eq!(client.edit((7, 0), (7, 11), ""), [("unclosed-bracket".to_owned(), 5)]);
    assert_eq!(client.edit((5, 46), (5, 46), ")"), []);

    // Two types.
    let found = client.edit((7, 0), (7, 0), "property odd : G (queue == \"many\");\n");
    assert_eq!(found, [("two-types".to_owned(), 7)]);
    assert_eq!(client.edit((7, 0), (8, 0), ""), []);

    // Complete.
    client.edit((7, 0), (7, 0), "property p : G (");
    let labels = client.labels(7, 16);
    for wanted in [
        "busy",
        "login",
        "queue",
        "user",
        "http.status",
        "request",
        "reply",
        "G",
        "eventually",
        "count",
        "responds",
    ] {
        let known = wanted != "responds" || labels.iter().any(|label| label.contains("response"));
        assert!(
            known && (wanted == "responds" || labels.iter().any(|label| label == wanted)),
            "{wanted}: {labels:?}"
        );
    }
    client.edit((7, 16), (7, 16), "busy ");
    let labels = client.labels(7, 21);
    assert!(labels.contains(&"->".to_owned()) && labels.contains(&"until".to_owned()), "{labels:?}");
    assert!(!labels.contains(&"queue".to_owned()), "{labels:?}");
    client.edit((7, 16), (7, 21), "http.");
    assert_eq!(client.labels(7, 21), ["status"]);
    client.edit((7, 0), (7, 21), "");
    assert!(client.labels(7, 0).contains(&"monitor".to_owned()));
    client.edit((7, 0), (7, 0), "var q: ");
    assert_eq!(client.labels(7, 7), ["bool", "int", "real", "string"]);
    client.edit((7, 0), (7, 7), "");
    assert_eq!(client.labels(0, 8).first().map(String::as_str), Some("time"));

    // Hover: type, operator in words, engine.
    let macro_of = client.hover(4, 43);
    assert!(macro_of.contains("let busy = queue > 10;") && macro_of.contains("a formula"), "{macro_of}");
    assert!(macro_of.contains("Too many wait."), "{macro_of}");
    let operator = client.hover(4, 39);
    assert!(operator.contains("φ holds at every position from here on"), "{operator}");
    assert!(operator.contains("`always`"), "{operator}");
    let property = client.hover(4, 10);
    assert!(property.contains("Runs on the engine `"), "{property}");
    let column = client.hover(2, 12);
    assert!(column.contains("used as a number") && column.contains("int, 3 to 12"), "{column}");
    assert_eq!(client.hover(1, 5), "");

    // Definition, references, highlights, symbols.
    let place = client.at(4, 43);
    let found = client.ask("textDocument/definition", place.clone());
    assert_eq!(
        found["range"],
        json!({"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 8}})
    );
    let found = client.ask("textDocument/references", place.clone());
    assert_eq!(found.as_array().map(Vec::len), Some(3));
    let found = client.ask("textDocument/documentHighlight", place.clone());
    assert_eq!(found.as_array().map(Vec::len), Some(3));
    let found = client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
    let symbols: Vec<&str> =
        found.as_array().expect("a list").iter().map(|own| own["name"].as_str().expect("a name")).collect();
    assert_eq!(symbols, ["busy", "login", "calm", "answered", "known"]);

    // Rename a macro, an event and a variable; what would capture another name is refused.
    let mut rename = |line, character, new: &str| {
        let mut params = client.at(line, character);
        params["newName"] = json!(new);
        client.answer("textDocument/rename", params)
    };
    let found = rename(4, 43, "crowded");
    let edits = found["result"]["changes"][&uri].as_array().expect("edits");
    assert_eq!(edits.len(), 3, "{found}");
    assert!(edits.iter().all(|edit| edit["newText"] == "crowded"));
    let found = rename(3, 7, "sign_in");
    assert_eq!(found["result"]["changes"][&uri].as_array().map(Vec::len), Some(3), "{found}");
    let found = rename(6, 27, "who");
    assert_eq!(found["result"]["changes"][&uri].as_array().map(Vec::len), Some(3), "{found}");
    for (new, part) in [
        ("queue", "already"),
        ("login", "already"),
        ("request", "already"),
        ("U", "not a name"),
        ("a b", "not a name"),
        ("", "not a name"),
    ] {
        let found = rename(4, 43, new);
        let why = found["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(why.contains(part), "{new}: {found}");
    }

    // Format: only the lines that differ.
    client.edit((0, 0), (0, 99), "// Queues.");
    client.edit((4, 39), (4, 40), "always ");
    let options = json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}});
    let found = client.ask("textDocument/formatting", options.clone());
    let edits = found.as_array().expect("edits");
    assert_eq!(edits.len(), 1);
    assert_eq!(edits[0]["range"]["start"], json!({"line": 4, "character": 0}));
    assert_eq!(edits[0]["range"]["end"], json!({"line": 5, "character": 0}));
    assert_eq!(edits[0]["newText"], "property calm \"the queue is emptied\" : G (busy -> F !busy);\n");
    client.edit((4, 0), (4, 8), "prop");
    assert_eq!(client.ask("textDocument/formatting", options), Value::Null);

    client.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(client.findings(), []);
    assert_eq!(client.leave(), Left::Properly);
}

#[test]
fn monitors_have_names_of_their_own() {
    let mut client =
        Client::start("untitled:Untitled-1", json!({"general": {"positionEncodings": ["utf-16", "utf-8"]}}));
    let text = "\
let open = 1 > 0;
monitor Files(f) \"a file stays open\" {
  creation event open(f);
  event close(f) = shut(file: f) when size > 0;
  fsm : s0 [ open -> s1 ] s1 [ close -> s0 ];
  on s1 \"{f}\";
}
property p : open;
";
    assert_eq!(client.open(text), []);
    let mut rename = |line, character, new: &str| {
        let mut params = client.at(line, character);
        params["newName"] = json!(new);
        let found = client.answer("textDocument/rename", params);
        let edits = found["result"]["changes"]["untitled:Untitled-1"].as_array().cloned().unwrap_or_default();
        edits.iter().map(|edit| edit["range"]["start"]["line"].as_u64().expect("a line")).collect::<Vec<_>>()
    };
    // By these names the event `open` of the trace is found.
    assert_eq!(rename(2, 18, "opened"), [0u64; 0]);
    assert_eq!(rename(1, 14, "file"), [0u64; 0]);
    assert_eq!(rename(3, 9, "closed"), [3, 4]);
    assert_eq!(rename(0, 5, "always_open"), [0, 7]);
    assert_eq!(rename(4, 27, "busy"), [4, 4, 5]);
    // Two events of one name would be one.
    assert_eq!(rename(2, 18, "close"), [0u64; 0]);
    let labels = client.labels(4, 13);
    assert!(labels.contains(&"open".to_owned()) && labels.contains(&"s1".to_owned()), "{labels:?}");
    assert!(client.labels(5, 2).contains(&"creation".to_owned()));
    assert_eq!(client.leave(), Left::Properly);
}

/// Names say what the events of a monitor are in the trace: renamed, they read the same.
#[test]
fn renaming_keeps_what_monitors_read() {
    let text = "\
event open(file, mode);
event close(file);
event stop;
monitor Twice(file, mode) {
  event open(mode, file /* ) */) when mode > 0;
  event close(file);
  event stop;
  event seen(file) = close(file: file);
  end close(file) when mode == 1;
  ere : open close close | stop seen;
}
monitor Undeclared(x) { event read(x); event none; ere : read none; }
";
    let mut client = Client::start("untitled:Untitled-1", json!({}));
    assert_eq!(client.open(text), []);
    let mut renamed = |line: u64, character, new: &str| {
        let mut params = client.at(line, character);
        params["newName"] = json!(new);
        let found = client.answer("textDocument/rename", params);
        let why = || found["error"]["message"].as_str().expect("an error").to_owned();
        let mut edits =
            found["result"]["changes"]["untitled:Untitled-1"].as_array().cloned().ok_or_else(why)?;
        edits.reverse();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for edit in edits {
            let at = |end: &str| edit["range"][end]["character"].as_u64().expect("a place") as usize;
            let line = edit["range"]["start"]["line"].as_u64().expect("a line") as usize;
            lines[line].replace_range(at("start")..at("end"), edit["newText"].as_str().expect("a text"));
        }
        Ok::<_, String>(lines)
    };
    let lines = renamed(3, 14, "f").expect("edits");
    assert_eq!(lines[4], "  event open(mode, f /* ) */) = open(mode: mode, file: f) when mode > 0;");
    // By position it is the same argument.
    assert_eq!(
        (lines[5].as_str(), lines[7].as_str()),
        ("  event close(f);", "  event seen(f) = close(file: f);")
    );
    let lines = renamed(5, 8, "shut").expect("edits");
    assert_eq!(lines[5], "  event shut(file) = close(file: file);");
    assert_eq!(lines[9], "  ere : open shut shut | stop seen;");
    assert_eq!(renamed(6, 8, "over").expect("edits")[6], "  event over = stop;");
    let lines = renamed(0, 6, "enter").expect("edits");
    assert_eq!(lines[4], "  event open(mode, file /* ) */) = enter(mode: mode, file: file) when mode > 0;");
    let lines = renamed(0, 11, "path").expect("edits");
    assert_eq!(lines[4], "  event open(mode, file /* ) */) = open(mode: mode, path: file) when mode > 0;");
    assert_eq!(renamed(1, 12, "path").expect("edits")[7], "  event seen(file) = close(path: file);");
    // Nobody knows whether its trace has arguments by name.
    for character in [19, 30, 35] {
        let why = renamed(11, character, "y").expect_err("refused");
        assert!(why.contains("write `event read(x);`"), "{why}");
    }
    assert!(renamed(11, 46, "y").expect("edits")[11].contains("event y = none; ere : read y;"));
}

#[test]
fn time_and_elapsed_are_words_of_the_language() {
    let mut client = Client::start("untitled:Untitled-1", json!({}));
    let text = "property p : G (elapsed < 200ms | time > 3 | x > 2 | `elapsed` > 1);\n";
    assert_eq!(client.open(text), []);
    assert!(client.hover(0, 17).contains("since the position before this one"));
    assert!(client.hover(0, 35).contains("the timestamp of the position"));
    assert!(client.hover(0, 55).contains("a column"));
    for (character, new, allowed) in [
        (17, "since", false),
        (35, "since", false),
        (45, "elapsed", false),
        (45, "time", false),
        (45, "y", true),
        (55, "since", true),
    ] {
        let mut params = client.at(0, character);
        params["newName"] = json!(new);
        let found = client.answer("textDocument/rename", params);
        assert_eq!(found.get("error").is_none(), allowed, "{character} {new}: {found}");
    }
    let place = client.at(0, 17);
    assert_eq!(client.ask("textDocument/prepareRename", place), Value::Null);
    assert_eq!(client.leave(), Left::Properly);
}

#[test]
fn places_are_counted_as_the_client_counts() {
    for (known, character) in [(json!(["utf-8"]), 22), (json!(["utf-32"]), 18), (json!(null), 19)] {
        let mut client = Client::start("file:///none.tw", json!({"general": {"positionEncodings": known}}));
        let text = "property a \"𝒳ä\" : G (p;\n";
        let item = json!({"uri": client.uri, "version": 1, "text": text});
        client.tell("textDocument/didOpen", json!({"textDocument": item}));
        let message = client.receive();
        let found = &message["params"]["diagnostics"][0];
        assert_eq!(found["code"], "unclosed-bracket");
        assert_eq!(found["range"]["start"]["character"], character + 2, "{known}");
        assert_eq!(client.leave(), Left::Properly);
    }
}

/// Whatever a client sends, the server answers and goes on.
#[test]
fn any_message_is_survived() {
    let mut client = Client::start("file:///none.tw", json!({}));
    client.open("property p : G (a -> b);\n");
    for (text, code) in [
        ("{", -32700),
        ("", -32700),
        ("7", -32600),
        ("[]", -32600),
        ("{\"id\": 1}", -32600),
        ("{\"id\": [], \"method\": \"shutdown\"}", -32600),
        ("{\"id\": \"x\", \"method\": 3}", -32600),
        ("{\"id\": \"x\", \"method\": \"initialize\"}", -32600),
        ("{\"id\": \"x\", \"method\": \"workspace/symbol\"}", -32601),
        ("{\"id\": \"x\", \"method\": \"textDocument/hover\"}", -32602),
        (
            "{\"id\": \"x\", \"method\": \"textDocument/hover\", \"params\": {\"textDocument\": {\"uri\": \"file:///none.tw\"}}}",
            -32602,
        ),
        (
            "{\"id\": \"x\", \"method\": \"textDocument/hover\", \"params\": {\"textDocument\": {\"uri\": \"file:///other.tw\"}}}",
            -32602,
        ),
        (
            "{\"id\": \"x\", \"method\": \"textDocument/semanticTokens/full\", \"params\": {\"textDocument\": {\"uri\": \"file:///none.tw\"}}}",
            -32601,
        ),
    ] {
        client.raw(text);
        let answer = client.receive();
        assert_eq!(answer["error"]["code"], code, "{text}: {answer}");
    }
    // These have no answer.
    for (method, params) in [
        (
            "textDocument/didChange",
            json!({"textDocument": {"uri": "file:///other.tw"}, "contentChanges": [{"text": ""}]}),
        ),
        ("textDocument/didChange", json!({"textDocument": {"uri": "file:///none.tw"}, "contentChanges": 7})),
        ("textDocument/didOpen", json!(null)),
        ("$/cancelRequest", json!({"id": 99})),
        ("$/setTrace", json!({"value": "off"})),
        ("workspace/didChangeConfiguration", json!({})),
    ] {
        client.tell(method, params);
    }
    client.raw("{\"jsonrpc\": \"2.0\", \"id\": 5, \"result\": null}");
    // Places that are none.
    for place in [(9, 0), (0, 999), (u64::MAX, u64::MAX)] {
        client.hover(place.0, place.1);
        client.labels(place.0, place.1);
    }
    // A request that is cancelled before it is looked at; both come at once.
    let open = json!({"textDocument": {"uri": "file:///none.tw"}});
    let request =
        json!({"jsonrpc": "2.0", "id": "late", "method": "textDocument/documentSymbol", "params": open})
            .to_string();
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "late"}}).to_string();
    let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let both = framed(&request) + &framed(&cancel);
    client.to.as_mut().expect("open").write_all(both.as_bytes()).expect("the server reads");
    let answer = loop {
        let message = client.receive();
        if message["id"] == "late" {
            break message;
        }
    };
    assert!(answer["error"]["code"] == -32800 || answer["result"].is_array(), "{answer}");
    client.ask("shutdown", Value::Null);
    assert_eq!(client.answer("textDocument/hover", json!({}))["error"]["code"], -32600);
    client.to = None;
    assert_eq!(client.server.take().expect("running").join().expect("no panic"), Left::Suddenly);
}

#[test]
fn nothing_is_answered_before_it_begins() {
    let (input, to) = pipe().expect("a pipe");
    let (from, output) = pipe().expect("a pipe");
    let server = std::thread::spawn(move || serve(input, output).expect("the client reads"));
    let mut client = Client {
        to: Some(to),
        from: BufReader::new(from),
        server: Some(server),
        next: 0,
        uri: String::new(),
    };
    assert_eq!(client.answer("textDocument/hover", json!({}))["error"]["code"], -32002);
    client.tell("exit", Value::Null);
    assert_eq!(client.server.take().expect("running").join().expect("no panic"), Left::Suddenly);
}
