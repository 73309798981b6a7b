//! Events by other ways than a POST of lines: OpenTelemetry, flows, sockets, syslog; by the programs that really send them where those
//! are installed.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tw_server::{At, Config, Kind, Listening, Server};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server on a folder of its own, which goes when the test is over.
struct House {
    folder: PathBuf,
    server: Option<Server>,
}

impl House {
    fn new(name: &str, configure: impl FnOnce(&mut Config, &Path)) -> Self {
        let folder = std::env::temp_dir().join(format!("tracewise-ingest-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut config = Config::new(folder.join("data"));
        config.listen = "127.0.0.1:0".into();
        configure(&mut config, &folder);
        let server = Server::start(config, |_| {}).unwrap();
        Self { folder, server: Some(server) }
    }

    fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    fn connect(&self) -> TcpStream {
        let connection = TcpStream::connect(self.server().address()).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection
    }

    fn source(&self, kind: impl Fn(&Kind) -> bool) -> SocketAddr {
        let found = self.server().listening().iter().find(|open| kind(&open.kind)).unwrap();
        match found.at {
            At::Address(address) => address,
            At::Path(_) => panic!("a socket of the network"),
        }
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut connection = self.connect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n"
        );
        connection.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let (status, body) = answer(&mut connection);
        (status, body)
    }

    fn post(&self, path: &str, kind: &str, body: &[u8]) -> (u16, Vec<u8>) {
        self.ask("POST", path, &format!("Content-Type: {kind}\r\n"), body)
    }

    /// The events of a stream, once there are so many.
    fn events(&self, stream: &str, count: usize) -> Vec<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            let path = format!("/v1/streams/{stream}/events?limit=100000");
            let (status, body) = self.ask("GET", &path, "", b"");
            let text = String::from_utf8(body).unwrap();
            if status == 200 && text.lines().count() >= count {
                assert_eq!(text.lines().count(), count, "{text}");
                return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            }
            assert!(Instant::now() < until, "{stream}: {status} {text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn metric(&self, name: &str) -> f64 {
        let (_, body) = self.ask("GET", "/metrics", "", b"");
        let text = String::from_utf8(body).unwrap();
        let values =
            text.lines().filter(|line| line.starts_with(name)).filter_map(|line| line.rsplit(' ').next());
        values.map(|value| value.parse::<f64>().unwrap()).sum()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn answer(connection: &mut TcpStream) -> (u16, Vec<u8>) {
    let mut all = Vec::new();
    // A server that has answered and closes does not wait for what is still being sent.
    let _ = connection.read_to_end(&mut all);
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer");
    let status = std::str::from_utf8(&all[9..12]).unwrap().parse().unwrap();
    (status, all[end + 4..].to_vec())
}

/// A field of a message in protobuf.
fn field(number: u64, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(number << 3 | 2, &mut out);
    varint(value.len() as u64, &mut out);
    out.extend_from_slice(value);
    out
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number(field: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value, &mut out);
    out
}

fn eight(field: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3 | 1, &mut out);
    out.extend_from_slice(&value.to_le_bytes());
    out
}

fn attribute(at: u64, key: &str, value: &[u8]) -> Vec<u8> {
    field(at, &[field(1, key.as_bytes()), field(2, value)].concat())
}

/// A request with spans of the service `shop`, in protobuf.
fn request(spans: &[Vec<u8>]) -> Vec<u8> {
    let resource = field(1, &attribute(1, "service.name", &field(1, b"shop")));
    let spans: Vec<u8> = spans.iter().flat_map(|span| field(2, span)).collect();
    field(1, &[resource, field(2, &spans)].concat())
}

const SECOND: u64 = 1_000_000_000;

fn span(start: u64, end: u64) -> Vec<u8> {
    let values = [field(1, &number(3, 7)), field(1, &field(1, b"x"))].concat();
    let moment =
        [eight(1, start.saturating_add(1)), field(2, b"miss"), attribute(3, "a.b", &number(2, 1))].concat();
    [
        field(1, &[0xab; 16]),
        field(2, &[1; 8]),
        field(4, &[2; 8]),
        field(5, b"charge \"card\""),
        number(6, 3),
        eight(7, start),
        eight(8, end),
        attribute(9, "http.status", &number(3, 503)),
        attribute(9, "http.path", &field(1, "/kä".as_bytes())),
        attribute(9, "load", &eight(4, 0.5_f64.to_bits())),
        attribute(9, "list", &field(5, &values)),
        attribute(9, "raw", &field(7, b"foo")),
        field(11, &moment),
        field(15, &[number(3, 2), field(2, b"late")].concat()),
        // What is not known is passed over.
        field(99, b"?"),
    ]
    .concat()
}

#[test]
fn spans_in_protobuf_and_in_json_are_the_same() {
    let house = House::new("otlp", |_, _| {});
    let body = request(&[span(2 * SECOND, 4 * SECOND + 500_000_000)]);
    assert_eq!(house.post("/v1/traces", "application/x-protobuf", &body), (200, Vec::new()));
    let events = house.events("otlp", 3);
    let attributes =
        json!({"http": {"status": 503, "path": "/kä"}, "load": 0.5, "list": [7, "x"], "raw": "Zm9v"});
    let common = |event: &str, time: &str| {
        json!({"time": time, "event": event, "name": "charge \"card\"", "service": "shop", "trace_id": "ab".repeat(16),
               "span_id": "01".repeat(8), "attributes": attributes, "parent_id": "02".repeat(8), "status": "error",
               "kind": "client", "message": "late"})
    };
    assert_eq!(events[0], common("span_start", "1970-01-01T00:00:02Z"));
    let mut end = common("span_end", "1970-01-01T00:00:04.5Z");
    end["duration"] = json!(2.5);
    assert_eq!(events[2], end);
    let moment = json!({"time": "1970-01-01T00:00:02.000000001Z", "event": "span_event", "name": "miss", "service": "shop",
                        "trace_id": "ab".repeat(16), "span_id": "01".repeat(8), "attributes": {"a": {"b": true}},
                        "span": "charge \"card\""});
    assert_eq!(events[1], moment);

    let value = |kind: &str, value: Value| json!({kind: value});
    let pair = |key: &str, value: Value| json!({"key": key, "value": value});
    let list = json!({"values": [{"intValue": "7"}, {"stringValue": "x"}]});
    let document = json!({"resourceSpans": [{
        "resource": {"attributes": [pair("service.name", value("stringValue", "shop".into()))]},
        "scopeSpans": [{"spans": [{
            "traceId": "ab".repeat(16), "spanId": "01".repeat(8), "parentSpanId": "02".repeat(8), "name": "charge \"card\"",
            "kind": 3, "startTimeUnixNano": "2000000000", "endTimeUnixNano": "4500000000",
            "attributes": [
                pair("http.status", value("intValue", "503".into())), pair("http.path", value("stringValue", "/kä".into())),
                pair("load", value("doubleValue", json!(0.5))), pair("list", value("arrayValue", list)),
                pair("raw", value("bytesValue", "Zm9v".into()))],
            "events": [{"timeUnixNano": "2000000001", "name": "miss", "attributes": [pair("a.b", value("boolValue", true.into()))]}],
            "status": {"code": 2, "message": "late"}}]}]}]});
    // Into a stream that the path names, packed.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(document.to_string().as_bytes()).unwrap();
    let headers = "Content-Type: application/json; charset=utf-8\r\nContent-Encoding: gzip\r\n";
    let packed = gzip.finish().unwrap();
    let answer = house.ask("POST", "/v1/streams/json/otlp/v1/traces", headers, &packed);
    assert_eq!(answer, (200, b"{}".to_vec()));
    assert_eq!(house.events("json", 3), events);
}

#[test]
fn records_become_events() {
    let house =
        House::new("otlp-logs", |config, _| config.set("[otlp]\nstream = \"of-{service}\"\n").unwrap());
    let record = [
        eight(11, 3 * SECOND),
        number(2, 13),
        field(3, b"WARN"),
        field(5, &field(6, &attribute(1, "disk.full", &number(3, u64::MAX)))),
        field(12, b"disk"),
    ]
    .concat();
    let untimed = field(5, &field(1, b"no time"));
    let records = [field(2, &record), field(2, &untimed)].concat();
    let services = [("a/b", &records), ("c", &records)].map(|(service, records)| {
        let resource = field(1, &attribute(1, "service.name", &field(1, service.as_bytes())));
        field(1, &[resource, field(2, records)].concat())
    });
    let answer = house.post("/v1/logs", "application/x-protobuf", &services.concat());
    assert_eq!(answer, (200, Vec::new()));
    for (stream, service) in [("of-a_b", "a/b"), ("of-c", "c")] {
        let events = house.events(stream, 2);
        let expected = json!({"time": "1970-01-01T00:00:03Z", "event": "log", "name": "disk", "service": service,
                              "severity": "WARN", "severity_number": 13, "body": {"disk": {"full": -1}}});
        assert_eq!(events[0], expected);
        assert!(
            events[1]["body"] == "no time" && events[1]["time"].as_str().unwrap() > "2026",
            "{}",
            events[1]
        );
    }
}

#[test]
fn what_is_no_span_is_rejected_and_the_others_are_taken() {
    let house = House::new("otlp-bad", |config, _| config.limits.line = 2000);
    let good = span(SECOND, 2 * SECOND);
    let late = span(u64::MAX, u64::MAX);
    let long = [span(SECOND, SECOND), attribute(9, "x", &field(1, &[b'x'; 3000]))].concat();
    let mut deep = number(3, 1);
    for _ in 0..100 {
        deep = field(5, &field(1, &deep));
    }
    let deep = [span(SECOND, SECOND), attribute(9, "x", &deep)].concat();
    let body = request(&[good, late, long, deep]);
    let (status, answer) = house.post("/v1/traces", "application/x-protobuf", &body);
    let text = String::from_utf8_lossy(&answer);
    assert!(status == 200 && answer[2..4] == [0x08, 3], "{text}");
    assert!(
        text.contains("`startTimeUnixNano`: found `18446744073709551615`, expected nanoseconds"),
        "{text}"
    );
    house.events("otlp", 3);
    let json = br#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"soon"}]}]}]}"#;
    let (status, answer) = house.post("/v1/traces", "application/json", json);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert!(status == 200 && answer["partialSuccess"]["rejectedSpans"] == "1", "{answer}");
    for (path, kind, body, expected) in [
        ("/v1/traces", "application/x-protobuf", &b"\x0a\x05ab"[..], 400),
        ("/v1/traces", "application/json", b"{", 400),
        ("/v1/traces", "text/plain", b"", 415),
        ("/v1/streams/..%2fx/otlp/v1/logs", "application/x-protobuf", &request(&[])[..], 200),
    ] {
        let (status, answer) = house.post(path, kind, body);
        assert_eq!(status, expected, "{path} {kind}: {}", String::from_utf8_lossy(&answer));
    }
    let one = request(&[span(SECOND, SECOND)]);
    assert_eq!(house.post("/v1/streams/.hidden/otlp/v1/traces", "application/x-protobuf", &one).0, 400);
    house.events("otlp", 3);
}

/// The library that most programs export with, by both protocols.
#[test]
fn opentelemetry_exports_to_it() {
    for protocol in ["http", "grpc"] {
        let house = House::new(&format!("otlp-{protocol}"), |_, _| {});
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/senders/otlp.py");
        let address = house.server().address().to_string();
        let sent = Command::new("python3").arg(script).args([protocol, &address]).output();
        let Ok(sent) = sent else { return eprintln!("left out: there is no Python") };
        if sent.status.code() == Some(77) {
            return eprintln!("left out: {}", String::from_utf8_lossy(&sent.stdout));
        }
        let errors = String::from_utf8_lossy(&sent.stderr);
        assert!(sent.status.success() && !errors.contains("ailed"), "{protocol}: {errors}");
        let events = house.events("otlp", 11);
        let of = |event: &str, name: &str| {
            let found = events.iter().find(|own| own["event"] == event && own["name"] == name);
            found.unwrap_or_else(|| panic!("{protocol}: no {event} {name} in {events:?}"))
        };
        for round in ["outer-0", "outer-1"] {
            let outer = of("span_end", round);
            let http = json!({"request": {"method": "GET"}, "status": 503});
            assert_eq!(outer["attributes"], json!({"http": http, "sizes": [1, 2]}));
            assert_eq!((&outer["status"], &outer["message"]), (&"error".into(), &"it was \"late\"".into()));
            assert_eq!((&outer["service"], &outer["kind"]), (&"shop".into(), &"server".into()));
            assert!(
                outer["duration"].as_f64().unwrap() > 0.0 && outer["trace_id"].as_str().unwrap().len() == 32
            );
        }
        assert!(of("span_start", "outer-0").get("duration").is_none());
        let miss = of("span_event", "cache miss");
        assert_eq!(miss["attributes"], json!({"key": "käse", "ratio": 0.25, "cold": true}));
        assert_eq!(miss["span"], "inner");
        let log = events.iter().find(|own| own["event"] == "log").unwrap();
        assert_eq!(log["body"], "disk is 93% full");
        assert!(log["severity"].as_str().unwrap().starts_with("WARN"), "{log}");
    }
}

fn line(number: usize) -> String {
    format!("{{\"time\": {number}, \"event\": \"e\", \"n\": {number}}}\n")
}

#[test]
fn a_body_flows() {
    let house = House::new("flow", |config, _| config.limits.line = 1000);
    let flow = |query: &str, pieces: &[&[u8]]| {
        let mut connection = house.connect();
        let head = format!(
            "POST /v1/streams/web/events/flow{query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        connection.write_all(head.as_bytes()).unwrap();
        for piece in pieces {
            let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
            // It may have been answered.
            let _ = connection.write_all(&chunk);
        }
        let _ = connection.write_all(b"0\r\n\r\n");
        let (status, body) = answer(&mut connection);
        let body = String::from_utf8(body).unwrap();
        let json =
            body.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{status} {body}"));
        (status, serde_json::from_str::<Value>(json).unwrap())
    };
    let text: String = (0..500).map(line).collect();
    for size in [1000, 37, 7] {
        let pieces: Vec<&[u8]> = text.trim_end().as_bytes().chunks(size).collect();
        assert_eq!(flow("", &pieces), (200, json!({"taken": 500})), "{size}");
    }
    assert_eq!(house.events("web", 1500)[1499]["n"], 499);
    // Up to the bad line all is taken, and no more.
    let (good, more) = (line(1) + &line(2), line(3));
    let (status, told) = flow("", &[good.as_bytes(), b"{oops\n", more.as_bytes()]);
    assert!(status == 400 && told["taken"] == 2, "{told}");
    assert!(told["error"].as_str().unwrap().starts_with("line 3, column 2: "), "{told}");
    let told = flow("?on-bad=skip", &[good.as_bytes(), b"{oops\n", more.as_bytes()]);
    assert_eq!(told, (200, json!({"taken": 3, "bad_lines": 1})));
    let (status, told) = flow("?ack=memory", &[good.as_bytes(), &[b'x'; 1500]]);
    assert!(status == 400 && told["error"].as_str().unwrap().starts_with("line 3: "), "{told}");
    house.events("web", 1507);
    assert_eq!(flow("?ack=never", &[]).0, 400);
}

/// Both ways of a WebSocket, by hand.
struct Socket(BufReader<TcpStream>);

impl Socket {
    fn open(house: &House, path: &str) -> Self {
        let mut connection = house.connect();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        connection.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(connection);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 101 "), "{line}");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Self(reader)
    }

    fn send(&mut self, text: &str) {
        let mut frame = vec![0x81, 0xfe];
        frame.extend_from_slice(&u16::try_from(text.len()).unwrap().to_be_bytes());
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(text.as_bytes());
        self.0.get_mut().write_all(&frame).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        assert_eq!(head[0], 0x81, "a text");
        let length = match head[1] {
            126 => {
                let mut two = [0; 2];
                self.0.read_exact(&mut two).unwrap();
                u16::from_be_bytes(two).into()
            }
            length => usize::from(length),
        };
        let mut text = vec![0; length];
        self.0.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

#[test]
fn each_message_of_a_socket_is_answered() {
    let house = House::new("ws", |_, _| {});
    let mut socket = Socket::open(&house, "/v1/streams/web/events/ws");
    // Many at once, answered in their order.
    for number in 0..200 {
        socket.send(&(0..=number % 3).map(line).collect::<String>());
    }
    for number in 0..200 {
        assert_eq!(socket.hear(), json!({"taken": number % 3 + 1}));
    }
    let all = (0..200).map(|number| number % 3 + 1).sum();
    house.events("web", all);
    socket.send(&(line(1) + "nonsense"));
    let told = socket.hear();
    assert!(told["taken"] == 0 && told["error"].as_str().unwrap().starts_with("line 2, "), "{told}");
    socket.send(line(5).trim_end());
    assert_eq!(socket.hear(), json!({"taken": 1}));
    house.events("web", all + 1);
}

#[test]
fn lines_come_over_tcp_and_unix_sockets() {
    let house = House::new("sockets", |config, folder| {
        config.limits.line = 500;
        config.limits.connections = 3;
        config.listening.push(Listening::tcp("127.0.0.1:0=web").unwrap());
        config.listening.push(Listening::unix(&format!("{}=web", folder.join("in.sock").display())).unwrap());
        let set = "[[listen.tcp]]\naddress = \"127.0.0.1:0\"\nstream = \"logfmt\"\nformat = \"logfmt\"\n";
        config.set(set).unwrap();
    });
    let address = house.source(|kind| *kind == Kind::Lines("jsonl".into()));
    let mut tcp = TcpStream::connect(address).unwrap();
    let mut unix = std::os::unix::net::UnixStream::connect(house.folder.join("in.sock")).unwrap();
    for piece in line(1).as_bytes().chunks(5) {
        tcp.write_all(piece).unwrap();
        tcp.flush().unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    unix.write_all((line(2) + "{bad\n" + &line(3)).as_bytes()).unwrap();
    house.events("web", 3);
    // An endless line is one that is lost; a line that is open at the end is none.
    tcp.write_all(&[&[b'x'; 2000][..], b"\n", line(4).as_bytes(), b"{\"open\": 1"].concat()).unwrap();
    drop((tcp, unix));
    house.events("web", 4);
    let until = Instant::now() + PATIENCE;
    while house.metric("tracewise_source_lost_total") < 3.0 {
        assert!(Instant::now() < until, "{}", house.metric("tracewise_source_lost_total"));
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut held: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
    while house.metric("tracewise_source_connections") < 3.0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut refused = String::new();
    TcpStream::connect(address).unwrap().read_to_string(&mut refused).unwrap();
    assert!(refused.contains("3 connections are served at once"), "{refused}");
    held[0].write_all(line(5).as_bytes()).unwrap();
    house.events("web", 5);

    let logfmt = house.source(|kind| *kind == Kind::Lines("logfmt".into()));
    let mut tcp = TcpStream::connect(logfmt).unwrap();
    tcp.write_all(b"time=2026-01-02T03:04:05Z level=warn n=1\n").unwrap();
    house.events("logfmt", 1);
    tcp.write_all(b"time=2026-01-02T03:04:06Z level=warn n=x1\n").unwrap();
    let events = house.events("logfmt", 2);
    assert_eq!((&events[0]["n"], &events[1]["n"]), (&1.into(), &"x1".into()));
}

#[test]
fn other_machines_write_only_where_that_is_said() {
    let start = |settings: &str| {
        let mut config = Config::new(std::env::temp_dir().join("tracewise-ingest-open"));
        config.listen = "127.0.0.1:0".into();
        config.set(settings).unwrap();
        Server::start(config, |_| {}).err().map(|error| error.to_string())
    };
    let why = start("[[listen.syslog]]\naddress = \"0.0.0.0:0\"\nstream = \"s\"\n");
    assert!(why.as_ref().is_some_and(|why| why.contains("open = true")), "{why:?}");
    let mut config = Config::new("data".into());
    for (text, expected) in [
        ("[[listen.tcp]]\nstream = \"s\"\n", "no `address`"),
        ("[[listen.tcp]]\naddress = \"a:1\"\n", "no `stream`"),
        ("[[listen.tcp]]\naddress = \"a:1\"\nstream = \"../s\"\n", "expected the name of a stream"),
        ("[[listen.tcp]]\naddress = \"a:1\"\nstream = \"s\"\nformat = \"xml\"\n", "found the format `xml`"),
        ("[[listen.unix]]\npath = \"a\"\nstream = \"s\"\nmode = 3\n", "found the setting `mode`"),
        ("[[listen.syslog]]\naddress = \"a:1\"\nstream = \"s\"\nprotocol = \"x\"\n", "expected udp or tcp"),
        ("[listen.tcp]\naddress = \"a:1\"\n", "[[listen.…]]"),
        ("[otlp]\nstream = \"a/{service}\"\n", "expected the name of a stream"),
    ] {
        let why = config.set(text).unwrap_err();
        assert!(why.contains(expected), "{text}: {why}");
    }
    for text in ["web", "=web", "127.0.0.1:1=", "127.0.0.1:1=a/b"] {
        assert!(Listening::tcp(text).is_err(), "{text}");
    }
}

#[test]
fn syslog_comes_from_programs() {
    let house = House::new("syslog", |config, _| {
        config.listening.push(Listening::Syslog {
            address: "127.0.0.1:0".into(),
            udp: true,
            tcp: false,
            stream: "udp".into(),
            open: false,
        });
        config.listening.push(Listening::Syslog {
            address: "127.0.0.1:0".into(),
            udp: false,
            tcp: true,
            stream: "tcp".into(),
            open: false,
        });
    });
    let (udp, tcp) =
        (house.source(|kind| *kind == Kind::Datagrams), house.source(|kind| *kind == Kind::Syslog));
    // By hand: both framings on one connection, then a message without an end.
    let mut connection = TcpStream::connect(tcp).unwrap();
    connection.write_all(b"<34>Oct 11 22:14:15 mymachine su[9]: 'su root' failed\n").unwrap();
    connection.write_all(b"59 <165>1 2003-08-24T05:14:15.000003-07:00 h app 1 ID - two\nxx<13>last").unwrap();
    drop(connection);
    let events = house.events("tcp", 3);
    assert_eq!((&events[0]["app"], &events[0]["pid"]), (&"su".into(), &9.into()));
    assert_eq!((&events[0]["facility"], &events[0]["severity"]), (&4.into(), &2.into()));
    assert_eq!(
        (&events[1]["time"], &events[1]["message"]),
        (&"2003-08-24T12:14:15.000003Z".into(), &"two#012xx".into())
    );
    assert_eq!(events[2]["message"], "last");
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    for number in 0..50 {
        datagrams.send_to(format!("<14>1 - h a - - - {number}").as_bytes(), udp).unwrap();
    }
    let events = house.events("udp", 50);
    assert!(
        events
            .iter()
            .zip(0..)
            .all(|(own, number)| own["message"].as_str().and_then(|text| text.parse().ok()) == Some(number))
    );

    let (mut of_udp, mut of_tcp) = (50, 3);
    let logger = |arguments: &[&str], address: SocketAddr| {
        let port = address.port().to_string();
        let ran = Command::new("logger")
            .args(["-n", "127.0.0.1", "-P", &port, "-t", "shop"])
            .args(arguments)
            .args(["-p", "local0.err", "it failed"])
            .output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    let mut heard = 0;
    for (more, is_udp) in [
        (&["--udp", "--rfc5424"][..], true),
        (&["--udp", "--rfc3164"], true),
        (&["--tcp", "--rfc5424", "--octet-count"], false),
        (&["--tcp", "--rfc3164", "--octet-count"], false),
        (&["--tcp", "--rfc5424"], false),
    ] {
        if !logger(more, if is_udp { udp } else { tcp }) {
            eprintln!("left out: `logger {}`", more.join(" "));
            continue;
        }
        let (stream, count) = if is_udp { ("udp", &mut of_udp) } else { ("tcp", &mut of_tcp) };
        *count += 1;
        let events = house.events(stream, *count);
        let own = &events[events.len() - 1];
        assert_eq!((&own["app"], &own["message"]), (&"shop".into(), &"it failed".into()), "{more:?}: {own}");
        assert_eq!((&own["facility"], &own["severity"]), (&16.into(), &3.into()), "{own}");
        heard += 1;
    }
    eprintln!("{heard} of 5 ways of `logger`");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/senders/syslog.py");
    for (protocol, address, stream, count) in [("udp", udp, "udp", of_udp), ("tcp", tcp, "tcp", of_tcp)] {
        let port = address.port().to_string();
        let ran = Command::new("python3").arg(&script).args([protocol, "127.0.0.1", &port, "20"]).status();
        if !ran.is_ok_and(|ran| ran.success()) {
            return eprintln!("left out: Python's handler");
        }
        let events = house.events(stream, count + 20);
        let own = &events[events.len() - 1];
        assert_eq!(
            (&own["app"], &own["message"]),
            (&"shop".into(), &"order 19 failed#012and so on".into()),
            "{own}"
        );
        assert_eq!((&own["facility"], &own["severity"]), (&19.into(), &3.into()), "{own}");
    }
}

/// A connection that says it speaks HTTP/2, and then does not, harms nobody.
#[test]
fn half_a_greeting_is_nothing() {
    let house = House::new("http2", |_, _| {});
    let mut connections = Vec::new();
    for begin in [
        "P",
        "PR",
        "PRI ",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "PRI * HTTP/1.1\r\n\r\n",
        "PRX / HTTP/1.1\r\n\r\n",
    ] {
        let mut connection = house.connect();
        connection.write_all(begin.as_bytes()).unwrap();
        connections.push(connection);
    }
    let mut garbage = house.connect();
    garbage.write_all(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[0xff; 4000][..]].concat()).unwrap();
    assert_eq!(house.ask("GET", "/healthz", "", b"").0, 200);
    let mut split = house.connect();
    split.write_all(b"P").unwrap();
    std::thread::sleep(Duration::from_millis(30));
    split
        .write_all(b"UT /v1/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        .unwrap();
    assert_eq!(answer(&mut split).0, 404);
}

/// Whatever begins with a brace and is no object is refused, with its place, and leaves nothing behind.
#[test]
fn odd_lines_are_refused_with_their_place() {
    let house = House::new("odd", |_, _| {});
    let good = "{\"time\": 1, \"event\": \"e\"}\n";
    assert_eq!(house.post("/v1/streams/web/events", "", good.as_bytes()).0, 200);
    for odd in [
        "{",
        "{}{}",
        "{} {}",
        "{}x",
        "{},",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{'a': 1}",
        "{a: 1}",
        "{1: 2}",
        "{\"a\": 01}",
        "{\"a\": +1}",
        "{\"a\": .5}",
        "{\"a\": 1.}",
        "{\"a\": 1e}",
        "{\"a\": NaN}",
        "{\"a\": Infinity}",
        "{\"a\": tru}",
        "{\"a\": True}",
        "{\"a\": \"b}",
        "{\"a\": \"\\x\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": \"\t\"}",
        "{\"a\": [1}",
        "{\"a\": [1,]}",
        "{\"a\": {]}",
        "{\"a\": 1]",
        "{\"a\": 1}}",
        "{/**/}",
        "{\"a\": 1} // x",
        "{\"a\": 1}\0",
        "{\"a\": \u{a0}1}",
        "{\"a\": 1 \"b\": 2}",
        "{\"a\":: 1}",
        "{{}}",
        "{[]}",
        "{\"a\": undefined}",
        "{\"a\": 0x1}",
        "{\"a\": -}",
        "{null}",
    ] {
        for (before, after) in [("", ""), (good, good), ("", good)] {
            let body = format!("{before}{odd}\n{after}");
            let (status, answer) = house.post("/v1/streams/web/events", "", body.as_bytes());
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            let line = 1 + before.lines().count();
            assert!(status == 400 && answer["taken"] == 0, "{odd:?}: {status} {answer}");
            let place = &answer["bad"][0];
            assert!(
                place["line"] == line && place["column"].as_u64().is_some_and(|column| column > 0),
                "{odd:?}: {answer}"
            );
        }
    }
    house.events("web", 1);
}
