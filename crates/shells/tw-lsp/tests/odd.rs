//! Clients that count, write and send as others do not.

mod client;

use client::Client;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tw_lsp::Left;

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

/// A file as clients name it: whatever is no plain letter or digit as `%XX`.
fn uri(file: &Path) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(byte);
    let path = file.to_string_lossy().into_owned();
    let coded: String = path
        .bytes()
        .map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect();
    format!("file://{coded}")
}

/// What a client's own text is after the edits of an answer: it counts in units of UTF-16, by hand.
fn edited(text: &str, edits: &Value) -> String {
    let offset = |place: &Value| {
        let line = place["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut left = place["character"].as_u64().expect("a character") as usize;
        let mut at = start;
        for c in text[start..].chars().take_while(|c| *c != '\n') {
            if left == 0 {
                break;
            }
            left -= c.len_utf16();
            at += c.len_utf8();
        }
        assert_eq!(left, 0, "{place} in {text:?}");
        at
    };
    let mut list: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|edit| {
            let new = edit["newText"].as_str().expect("a text");
            (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), new)
        })
        .collect();
    list.sort_unstable();
    let mut out = text.to_owned();
    for (start, end, new) in list.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

/// Characters of four bytes and two units, lines that end in `\r\n`, a folder with blanks and umlauts.
#[test]
fn text_is_any_text() {
    let folder = folder("lsp odd/ein Ordner ä 100% #1");
    std::fs::write(folder.join("log 1.csv"), "queue,name\n3,\"😀\"\n12,bob\n").expect("the sample");
    let mut client = Client::start(&uri(&folder.join("𝒮 spec.tw")), json!({}));
    let text = "trace { sample: \"log 1.csv\"; }\r\n/* 😀😀 */ let busy = queue > 10; // 😀\r\n\
                property p \"😀😀\" : G (busy -> F !busy);\r\nproperty q \"𝒮\" : G (name == \"😀\" -> F busy);\r\n";
    assert_eq!(client.open(text), []);
    // The name behind two characters of two units each, and the sample behind the coded name of the folder.
    assert!(client.hover(2, 25).contains("let busy = queue > 10;"), "{}", client.hover(2, 25));
    assert!(client.hover(1, 26).contains("int, 3 to 12"), "{}", client.hover(1, 26));
    let mut params = client.at(3, 40);
    params["newName"] = json!("crowded");
    let found = client.ask("textDocument/rename", params);
    let renamed = edited(text, &found["changes"][client.uri.as_str()]);
    assert_eq!(renamed, text.replace("busy", "crowded"));
    // Formatting leaves the text as `fmt` has it, whichever way its lines end.
    let options =
        json!({"textDocument": {"uri": client.uri}, "options": {"tabSize": 4, "insertSpaces": true}});
    let formatted = edited(text, &client.ask("textDocument/formatting", options.clone()));
    let canonical = tracewise::language::print(&tracewise::language::parse(text, 0).value);
    assert_eq!(formatted, canonical);
    client.tell(
        "textDocument/didChange",
        json!({"textDocument": {"uri": client.uri, "version": 3}, "contentChanges": [{"text": formatted}]}),
    );
    assert_eq!(client.findings(), []);
    assert_eq!(client.ask("textDocument/formatting", options), json!([]));
    assert_eq!(client.leave(), Left::Properly);
}

/// Several changes in one message each count in the text that the one before left; ranges may be the wrong way round, or end
/// where there is nothing.
#[test]
fn changes_are_taken_in_order() {
    let mut client = Client::start("file:///none.tw", json!({}));
    client.open("property p : G a;\n");
    let at = |line: u64, character: u64| json!({"line": line, "character": character});
    let change =
        |start: Value, end: Value, text: &str| json!({"range": {"start": start, "end": end}, "text": text});
    let all = json!([
        change(at(0, 0), at(0, 0), "// 😀\r\n"),
        change(at(0, 5), at(0, 3), "ö"),
        change(at(1, 15), at(1, 16), "(new & b"),
        change(at(9, 9), at(99, 99), "property r : F new;"),
        change(at(0, 4), at(0, 77), ""),
    ]);
    client.tell(
        "textDocument/didChange",
        json!({"textDocument": {"uri": client.uri, "version": 2}, "contentChanges": all}),
    );
    assert_eq!(client.findings(), [("unclosed-bracket".to_owned(), 1)]);
    let found = client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": client.uri}}));
    let names: Vec<&str> =
        found.as_array().expect("symbols").iter().filter_map(|own| own["name"].as_str()).collect();
    assert_eq!(names, ["p", "r"]);
    // A change that says no place is left out, the text stays.
    for range in [
        json!({"start": at(0, 0)}),
        json!(7),
        json!({"start": {"line": -1, "character": 0}, "end": at(0, 1)}),
    ] {
        client.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": client.uri, "version": 3}, "contentChanges": [{"range": range, "text": "lost"}]}),
        );
        assert_eq!(client.findings(), [("unclosed-bracket".to_owned(), 1)]);
    }
    assert_eq!(client.edit((1, 23), (1, 23), ")"), []);
    assert_eq!(client.leave(), Left::Properly);
}

/// A sample that is not there is told of; one that is long is looked at in its first lines alone; of one that cannot be read
/// is told why.
#[test]
fn samples_are_what_they_are() {
    let folder = folder("lsp odd/samples");
    let mut client = Client::start(&uri(&folder.join("s.tw")), json!({}));
    let text = |file: &str| format!("trace {{ sample: \"{file}\"; }}\nproperty p : G (queue > 10);\n");
    assert_eq!(client.open(&text("none.jsonl")), [("no-sample".to_owned(), 0)]);
    assert!(client.hover(1, 17).contains("a column"), "{}", client.hover(1, 17));
    // It comes while the specification is open.
    std::fs::write(folder.join("none.jsonl"), "{\"queue\": 7}\n").expect("a sample");
    assert_eq!(client.edit((1, 0), (1, 0), " "), []);
    assert!(client.hover(1, 18).contains("7 to 7"), "{}", client.hover(1, 18));
    std::fs::remove_file(folder.join("none.jsonl")).expect("it is there");
    // A long one.
    let line = "{\"queue\": 12, \"text\": \"0123456789012345678901234567890123456789\"}\n";
    std::fs::write(folder.join("long.jsonl"), line.repeat(1_500_000)).expect("a sample");
    std::fs::write(folder.join("binary.jsonl"), vec![0xff; 4 << 20]).expect("a sample");
    std::fs::write(folder.join("empty.jsonl"), "").expect("a sample");
    std::fs::write(folder.join("bad.jsonl"), "{\"queue\": 7\n").expect("a sample");
    std::fs::write(folder.join("header.csv"), "queue\n").expect("a sample");
    for (file, told, why) in [
        ("long.jsonl", "12 to 12", ""),
        ("header.csv", "a column", "it has no positions"),
        ("binary.jsonl", "a column", "the limit for one record"),
        ("empty.jsonl", "a column", "it has no positions"),
        ("bad.jsonl", "a column", "expected"),
        (".", "a column", "it is no file"),
    ] {
        client.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": client.uri, "version": 3}, "contentChanges": [{"text": text(file)}]}),
        );
        let found = loop {
            let message = client.receive();
            if message["method"] == "textDocument/publishDiagnostics" {
                break message["params"]["diagnostics"].clone();
            }
        };
        match why {
            "" => assert_eq!(found, json!([]), "{file}"),
            why => {
                let message = found[0]["message"].as_str().expect("a finding");
                assert!(found[0]["code"] == "no-sample" && message.contains(why), "{file}: {message}");
            }
        }
        let start = Instant::now();
        assert!(client.hover(1, 17).contains(told), "{file}: {}", client.hover(1, 17));
        client.labels(1, 16);
        assert!(start.elapsed() < Duration::from_secs(2), "{file}: {:?}", start.elapsed());
    }
    std::fs::remove_file(folder.join("long.jsonl")).expect("it is there");
    assert_eq!(client.leave(), Left::Properly);
}

/// A format that is none is a finding where it is written.
#[test]
fn formats_are_known() {
    let mut client = Client::start("file:///s.tw", json!({}));
    assert_eq!(
        client.open("trace {\n  format: jsnl;\n}\nproperty p : G a;\n"),
        [("bad-setting".to_owned(), 1)]
    );
    assert_eq!(client.edit((1, 10), (1, 14), "csrv-csv"), []);
    assert_eq!(client.edit((1, 10), (1, 18), "parquet"), []);
    assert_eq!(client.leave(), Left::Properly);
}

/// Texts of many megabytes, deep and wide: there is an answer, and the next document is served.
#[test]
fn huge_texts_are_survived() {
    let mut client = Client::start("file:///huge.tw", json!({}));
    let texts = [
        format!("property p : {}", "(".repeat(200_000)),
        "a".repeat(3_000_000),
        "x & ".repeat(300_000),
        "/*".repeat(100_000),
        "\"".repeat(500_000),
        "\r".repeat(1_000_000),
        "event e(a);\n".repeat(50_000),
        "property p : G (a -> F b);\n".repeat(20_000),
    ];
    for text in texts {
        client.open(&text);
        client.hover(0, 5);
        client.labels(0, 15);
        client.labels(u64::from(u32::MAX), 0);
        client.edit((0, 1), (0, 1), "x");
    }
    client.uri = "file:///small.tw".to_owned();
    assert_eq!(client.open("property p : G a;\n"), []);
    assert_eq!(client.leave(), Left::Properly);
}

/// Requests that wait and are cancelled are not answered with what was asked; the order of answers is that of the requests.
#[test]
fn what_is_cancelled_is_answered_as_cancelled() {
    let mut client = Client::start("file:///none.tw", json!({}));
    client.open(&"property p : G (a -> F b);\n".repeat(2_000));
    // The first request keeps the server busy: the change before it makes it look at all of the text.
    let framed = |message: Value| {
        let text = message.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let document = json!({"uri": client.uri});
    let ask = |id: u64| {
        let params = json!({"textDocument": document, "position": {"line": 0, "character": 14}});
        framed(json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": params}))
    };
    let mut all = framed(json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params":
        {"textDocument": {"uri": document["uri"], "version": 2}, "contentChanges": [{"range": place, "text": " "}]}}));
    all += &(1000..1050).map(ask).collect::<String>();
    for id in 1001..1050 {
        all += &framed(json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}}));
    }
    client.raw_bytes(all.as_bytes());
    let (mut answered, mut cancelled, mut next) = (0, 0, 1000);
    while next < 1050 {
        let message = client.receive();
        let Some(id) = message["id"].as_u64() else { continue };
        assert_eq!(id, next, "in order, each once");
        next += 1;
        match message["error"]["code"].as_i64() {
            None => answered += 1,
            Some(code) => {
                assert_eq!(code, -32800, "{message}");
                cancelled += 1;
            }
        }
    }
    assert!(answered >= 1 && cancelled >= 1, "{answered} {cancelled}");
    assert_eq!(client.leave(), Left::Properly);
}
