//! The server from outside: by HTTP, over restarts, with what clients send that they should not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tw_server::{Config, Server};

const SPEC: &str = "trace { stream: \"web, w-*\"; }
event request(id: string); event response(id: string, status: int);
property answered : G (request -> F[0,5s] response);
property ok : G (response -> status < 500);
property known : G forall i. response(id: i) -> O request(id: i);
query requests : count[request];
";

/// A server on a folder of its own, which goes when the test is over.
struct House {
    folder: PathBuf,
    server: Option<Server>,
    said: Arc<Mutex<Vec<String>>>,
    config: fn(&mut Config),
}

impl House {
    fn new(name: &str, specs: &[(&str, &str)], config: fn(&mut Config)) -> Self {
        let folder = std::env::temp_dir().join(format!("tracewise-server-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("data/specs")).unwrap();
        for (name, text) in specs {
            std::fs::write(folder.join(format!("data/specs/{name}.tw")), text).unwrap();
        }
        Self::on(folder, config)
    }

    /// On what a folder has.
    fn on(folder: PathBuf, config: fn(&mut Config)) -> Self {
        let mut house = Self { folder, server: None, said: Arc::default(), config };
        house.start();
        house
    }

    fn start(&mut self) {
        let mut config = Config::new(self.folder.join("data"));
        config.listen = "127.0.0.1:0".into();
        (self.config)(&mut config);
        let said = self.said.clone();
        self.server = Some(Server::start(config, move |what| said.lock().unwrap().push(what)).unwrap());
    }

    fn restart(&mut self) {
        self.server.take().unwrap().stop();
        self.start();
    }

    fn address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().address()
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.ask_with(method, path, "", body.as_bytes())
    }

    fn ask_with(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
        let mut connection = TcpStream::connect(self.address()).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n"
        );
        connection.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut text = Vec::new();
        connection.read_to_end(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_string())
    }

    fn post(&self, stream: &str, lines: &str) -> (u16, String) {
        self.ask("POST", &format!("/v1/streams/{stream}/events"), lines)
    }

    /// Asks until an answer is as it should be.
    fn until(&self, path: &str, good: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let (_, body) = self.ask("GET", path, "");
            if good(&body) {
                return body;
            }
            assert!(Instant::now() < until, "{path}: {body}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn violations(&self, count: usize) -> Vec<String> {
        let body = self.until("/v1/violations", |body| body.matches("\"id\":\"").count() >= count);
        let ids = body.match_indices("{\"id\":\"").map(|(at, _)| body[at + 7..at + 39].to_string());
        let ids: Vec<String> = ids.collect();
        assert_eq!(ids.len(), count, "{body}");
        ids
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

fn event(time: u32, name: &str, id: &str) -> String {
    let status = if name == "response" { ", \"status\": 200" } else { "" };
    format!("{{\"time\": {time}, \"event\": \"{name}\", \"id\": \"{id}\"{status}}}\n")
}

#[test]
fn a_folder_has_one_server() {
    let house = House::new("two", &[("web", SPEC)], |_| {});
    let mut config = Config::new(house.folder.join("data"));
    config.listen = "127.0.0.1:0".into();
    let why = match Server::start(config, |_| {}) {
        Ok(_) => panic!("there are two"),
        Err(why) => why.to_string(),
    };
    assert!(why.contains("in use by another server"), "{why}");
    assert_eq!(house.post("web", &event(1, "request", "a")), (200, "{\"taken\":1}".to_string()));
}

#[test]
fn a_stream_begins_with_its_first_line() {
    let house = House::new("begins", &[("web", SPEC)], |_| {});
    let skip = "/v1/streams/web/events?on-bad=skip";
    assert_eq!(house.post("web", "{bad\n").0, 400);
    assert_eq!(house.post("web", "").0, 200);
    let (status, told) = house.ask("POST", skip, "{bad\n");
    assert!(status == 200 && told.contains("\"taken\":0") && told.contains("\"bad_lines\":1"), "{told}");
    let streams = || house.ask("GET", "/v1/streams", "").1;
    assert!(!streams().contains("web"), "{}", streams());
    let line = event(1, "request", "a");
    let (status, told) = house.ask("POST", skip, &format!("{{bad\n{line}"));
    assert!(status == 200 && told.contains("\"taken\":1") && told.contains("\"bad_lines\":1"), "{told}");
    assert!(streams().contains("web"), "{}", streams());
}

#[test]
fn who_is_refused_before_the_body_is_read_hears_why() {
    let house = House::new("unread", &[("web", SPEC)], |_| {});
    // More than the buffers of a connection hold.
    let body = vec![b' '; 15_000_000];
    for path in ["/v1/streams/web/events?ack=nonsense", "/v1/streams/no%2Fname/events"] {
        let (status, told) = house.ask_with("POST", path, "", &body);
        assert_eq!(status, 400, "{told}");
    }
    let (status, told) = house.ask_with("POST", "/v1/streams/web/events", "Content-Encoding: br\r\n", &body);
    assert_eq!(status, 415, "{told}");
}

#[test]
fn from_a_post_to_a_violation() {
    let house = House::new("post", &[("web", SPEC)], |_| {});
    let lines = event(1, "request", "a") + &event(2, "response", "a") + &event(3, "response", "z");
    assert_eq!(house.post("web", &lines), (200, "{\"taken\":3}".to_string()));
    // The last line needs no end, and the next is another.
    assert_eq!(house.post("w-2", event(1, "response", "b").trim_end()).0, 200);
    assert_eq!(house.post("w-2", event(2, "response", "c").trim_end()).0, 200);
    house.violations(3);
    let body = house.ask("GET", "/v1/violations?stream=web&property=known", "").1;
    assert!(
        body.contains("\"position\":2,\"time\":3,\"bindings\":{\"i\":\"z\"},\"line\":{\"line\":3,"),
        "{body}"
    );
    // A stream that no specification names is kept, and not judged.
    assert_eq!(house.post("other", &event(1, "response", "q")).0, 200);
    let states = house.until("/v1/properties?stream=web", |body| body.contains("\"value\":1"));
    assert!(
        states.contains("\"property\":\"known\"") && states.contains("\"state\":\"violated\""),
        "{states}"
    );
    assert!(
        house
            .ask("GET", "/metrics", "")
            .1
            .contains("tracewise_violations_total{stream=\"web\",spec=\"web\",property=\"known\"} 1")
    );
    for path in [
        "/v1/feed?since=x",
        "/v1/history?since=-1",
        "/v1/violations?since=",
        "/v1/streams/web/events?since=1.5",
    ] {
        let (status, told) = house.ask("GET", path, "");
        assert!(status == 400 && told.contains("expected a number"), "{path}: {status} {told}");
    }
    let mut connection = TcpStream::connect(house.address()).unwrap();
    let head = "GET /v1/streams/web/events?since=1&limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    connection.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    assert!(text.contains("\r\ntracewise-first-line: 2\r\n"), "{text}");
    let stored = house.ask("GET", "/v1/streams/web/events?since=1&limit=1", "");
    assert_eq!(stored, (200, event(2, "response", "a")));
}

#[test]
fn bad_lines_refuse_all_or_are_left_out() {
    let house = House::new("bad", &[("web", SPEC)], |_| {});
    let lines = format!("{}{{oops\n{}", event(1, "request", "a"), event(2, "response", "z"));
    let (status, body) = house.post("web", &lines);
    assert!(status == 400 && body.contains("line 2, column 2"), "{status} {body}");
    assert_eq!(house.ask("GET", "/v1/streams/web/events", "").0, 404, "nothing began");
    let (status, body) = house.ask("POST", "/v1/streams/web/events?on-bad=skip", &lines);
    assert!(status == 200 && body.starts_with("{\"taken\":2,\"bad_lines\":1"), "{status} {body}");
    let before = house.ask("GET", "/v1/streams/web/events", "").1;
    assert_eq!(house.post("web", &lines).0, 400);
    assert_eq!(house.ask("GET", "/v1/streams/web/events", "").1, before);
    house.violations(1);
    // A type that a specification does not expect is its own affair.
    assert_eq!(
        house.post("web", "{\"time\": 3, \"event\": \"response\", \"id\": \"a\", \"status\": \"x\"}\n").0,
        200
    );
    house.until("/v1/properties", |body| body.contains("\"left_out\":1"));
    for (path, headers, body, expected) in [
        ("/v1/streams/..%2f..%2fetc/events", "", &b"{}\n"[..], 400),
        ("/v1/streams/.hidden/events", "", b"{}\n", 400),
        ("/v1/streams/web/events?ack=never", "", b"{}\n", 400),
        ("/v1/streams/web/events", "Content-Encoding: br\r\n", b"{}\n", 415),
        ("/v1/streams/web/events", "Content-Encoding: gzip\r\n", b"this is no gzip", 400),
        ("/v1/streams/web/events", "Content-Encoding: zstd\r\n", b"nor zstd", 400),
        ("/v1/streams/web/events", "", b"\xff\xfe\n", 400),
        ("/v1/nowhere", "", b"", 404),
    ] {
        let (status, answer) = house.ask_with("POST", path, headers, body);
        assert_eq!(status, expected, "{path} {headers}: {answer}");
    }
}

#[test]
fn packed_bodies_and_csv() {
    let house = House::new("packed", &[("web", SPEC)], |config| config.limits.unpacked = 100_000);
    let csv = "time,event,id,status\n1,request,a,\n2,response,a,200\n3,response,b,200\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(csv.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let headers = "Content-Type: text/csv; charset=utf-8\r\nContent-Encoding: gzip\r\n";
    let path = "/v1/streams/web/events";
    assert_eq!(house.ask_with("POST", path, headers, &gzip), (200, "{\"taken\":3}".to_string()));
    let zstd = zstd::stream::encode_all(event(4, "response", "c").as_bytes(), 1).unwrap();
    assert_eq!(house.ask_with("POST", path, "Content-Encoding: zstd\r\n", &zstd).0, 200);
    house.violations(2);
    // What grows beyond the limit is not taken, however small it comes.
    let bomb = zstd::stream::encode_all(vec![b' '; 50_000_000].as_slice(), 1).unwrap();
    assert_eq!(house.ask_with("POST", path, "Content-Encoding: zstd\r\n", &bomb).0, 413);
    let (status, body) = house.ask_with("POST", path, "Content-Type: text/csv\r\n", b"time,event\n1,a,b,c\n");
    assert!(status == 400 && body.contains(":2:"), "{body}");
}

#[test]
fn what_was_found_survives_a_restart() {
    let mut house = House::new("restart", &[("web", SPEC)], |_| {});
    house.post("web", &(event(1, "request", "a") + &event(2, "response", "z")));
    let before = house.violations(1);
    house.post("web", &event(3, "request", "b"));
    house.until("/v1/streams", |body| body.contains("\"lines\":3") && body.contains("\"behind\":0"));
    house.restart();
    assert_eq!(house.violations(1), before);
    // What was owed before is owed still: b was never answered.
    house.post("web", &event(20, "request", "c"));
    let both = house.violations(2);
    assert_eq!(both[0], before[0]);
    let body = house.ask("GET", "/v1/violations?property=answered", "").1;
    assert!(body.contains("\"position\":2") && body.contains("\"line\":3"), "{body}");
}

#[test]
fn a_damaged_log_is_cut_and_judged_up_to_there() {
    let mut house = House::new("damaged", &[("web", SPEC)], |_| {});
    house.post("web", &event(1, "response", "y"));
    house.post("web", &event(2, "response", "z"));
    house.violations(2);
    house.server.take().unwrap().stop();
    let path = house.folder.join("data/streams/web/log/00000000000000000000.log");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    house.start();
    let said = house.said.lock().unwrap().join("\n");
    assert!(said.contains("a record is cut short") && said.contains("goes on after line 1"), "{said}");
    // The state knew more than the log has: it is judged again, with the ids of before.
    house.violations(2);
    house.post("web", &event(2, "response", "x"));
    house.violations(3);
}

#[test]
fn a_change_keeps_what_did_not_change() {
    let house = House::new("change", &[], |_| {});
    let first = "property answered : G (request -> F[0,5s] response);\nproperty gone : G request;\n";
    assert_eq!(house.ask("PUT", "/v1/specs/s", first).0, 200);
    house.post("web", &event(1, "request", "a"));
    house.until("/v1/streams", |body| body.contains("\"behind\":0"));
    let second =
        "property fresh : G (request -> X response);\nproperty answered : G (request -> F[0,5s] response);\n";
    let (status, body) = house.ask("PUT", "/v1/specs/s", second);
    assert!(status == 200 && body.contains("\"streams\":[\"web\"]"), "{body}");
    house.post("web", &(event(20, "request", "b") + &event(21, "request", "c")));
    house.violations(2);
    let body = house.ask("GET", "/v1/violations?property=answered", "").1;
    assert!(body.contains("\"position\":0,\"time\":1,"), "the first request was not forgotten: {body}");
    let body = house.ask("GET", "/v1/violations?property=fresh", "").1;
    assert!(body.contains("\"position\":1,\"time\":20,"), "{body}");
    let (status, body) = house.ask("PUT", "/v1/specs/s", "property x : G (a ->");
    assert!(status == 422 && body.contains("\"diagnostics\":[{"), "{body}");
    assert_eq!(house.ask("GET", "/v1/specs/s", ""), (200, second.to_string()));
    assert_eq!(house.ask("DELETE", "/v1/specs/s", "").0, 200);
    house.until("/v1/properties", |body| body == "{\"properties\":[]}");
}

#[test]
fn a_specification_is_tried_on_the_past() {
    let house = House::new("try", &[], |_| {});
    house.post("web", &(0..50).map(|at| event(at, "request", "a")).collect::<String>());
    let text = "property never : G (time < 40);\nquery n : count[request];\n";
    let (status, body) = house.ask("POST", "/v1/specs/new/try?since=10", text);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("\"from\":10,\"to\":50,\"whole\":false,\"positions\":40"), "{body}");
    assert!(body.contains("\"violations\":10,") && body.contains("\"position\":30,\"time\":40"), "{body}");
    assert!(body.contains("\"value\":40"), "{body}");
    assert_eq!(house.ask("GET", "/v1/specs", "").1, "{\"specs\":[]}");
    assert_eq!(house.ask("GET", "/v1/violations", "").1, "{\"violations\":[],\"next\":0,\"end\":0}");
}

/// One property keeps every id that it sees, the other nothing: the first is stopped, and says so.
#[test]
fn a_property_that_holds_too_much_ends_alone() {
    let spec = "property greedy : G forall i. response(id: i) -> O request(id: i);\nproperty small : G !(event response);\n";
    let spec = format!("event request(id: string); event response(id: string);\n{spec}");
    let house = House::new("budget", &[("s", &spec)], |config| config.memory = 2 << 20);
    for block in 0..40 {
        let lines: String = (0..1000).map(|at| event(1, "request", &format!("id-{block}-{at}"))).collect();
        assert_eq!(house.post("web", &lines).0, 200);
    }
    house.until("/v1/properties?property=greedy", |body| body.contains("\"state\":\"stopped\""));
    let (_, body) = house.ask("GET", "/v1/properties?property=greedy", "");
    assert!(body.contains("more than"), "{body}");
    house.post("web", &event(2, "response", "never"));
    house.violations(1);
    let said = house.said.lock().unwrap().join("\n");
    assert!(said.contains("greedy stopped"), "{said}");
}

fn folder_of_specs(house: &House) -> PathBuf {
    Path::new(&house.folder).join("data/specs")
}

#[test]
fn the_folder_is_looked_at_again() {
    let house = House::new("folder", &[], |config| config.reload = Duration::from_millis(20));
    house.post("web", &event(1, "request", "a"));
    std::fs::write(folder_of_specs(&house).join("late.tw"), "property p : G !response;\n").unwrap();
    house.until("/v1/properties", |body| body.contains("\"property\":\"p\""));
    std::fs::write(folder_of_specs(&house).join("broken.tw"), "property p : G (").unwrap();
    house.post("web", &event(2, "response", "a"));
    house.violations(1);
    let until = Instant::now() + Duration::from_secs(20);
    let told =
        |said: &String| said.starts_with("specification broken.tw:1:16: ") && said.lines().count() == 1;
    while !house.said.lock().unwrap().iter().any(told) {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn other_machines_are_not_let_in_without_tokens() {
    let mut config = Config::new(std::env::temp_dir().join("tracewise-server-open"));
    config.listen = "0.0.0.0:0".into();
    let refused = Server::start(config, |_| {}).err().map(|error| error.to_string());
    assert!(refused.is_some_and(|why| why.contains("--tokens")));
}

const TIMED: &str = "property answered : G (request -> F[0,2s] response);
property known : G (response -> O request);
property often : G (request -> F response);
";

fn of(user: &str, time: u32, name: &str) -> String {
    format!("{{\"time\": {time}, \"event\": \"{name}\", \"user\": \"{user}\"}}\n")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// What the clock said is part of what is judged: it is told without further events, and found again after a crash.
#[test]
fn time_passes_without_events() {
    // States are kept at the end alone: a crash leaves none.
    let config = |config: &mut Config| {
        config.late = Some(Duration::from_millis(300));
        config.checkpoint = Duration::from_secs(3600);
    };
    let keyed = format!("trace {{ by: user; }}\n{TIMED}").replace("property ", "property k_");
    let mut house = House::new("clock", &[("whole", TIMED), ("keyed", &keyed)], config);
    let began = Instant::now();
    house.post("web", &(of("a", 10, "request") + &of("b", 10, "request") + &of("b", 11, "response")));
    // With `a`, whose response never came; all requests together have had one.
    let ids = house.violations(1);
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(2200 - 1000) && took < Duration::from_secs(20), "{took:?}");
    let (_, found) = house.ask("GET", "/v1/violations", "");
    assert!(found.contains("k_answered") && found.contains("was due by 12"), "{found}");
    let too_late = |house: &House| {
        // Where no time is measured it is judged where it stands; here every specification measures some.
        house.post("web", &of("a", 11, "response"));
        house.until("/v1/properties", |body| {
            body.matches("\"left_out\":1").count() == 6 && !body.contains("\"left_out\":0")
        });
        house.post("web", &of("c", 100, "request"));
        house.until("/v1/streams", |body| body.contains("\"behind\":0"));
        assert_eq!(house.violations(1), ids);
        let (_, properties) = house.ask("GET", "/v1/properties", "");
        properties
    };
    // As a crash leaves it: what is written, and no more.
    let crashed = house.folder.with_extension("crashed");
    let _ = std::fs::remove_dir_all(&crashed);
    copy(&house.folder, &crashed);
    let unbroken = too_late(&house);
    let other = House::on(crashed, config);
    assert_eq!(other.violations(1), ids);
    let broken = too_late(&other);
    // What is held depends on the way, and how far the clock had come on when the line came on the moment.
    let same = |text: &str| {
        let mut parts: Vec<&str> = text.split(",\"").collect();
        parts.retain(|part| !part.starts_with("bytes\":") && !part.starts_with("last_left_out\":"));
        parts.join(",")
    };
    assert!(unbroken.contains("\"state\":\"violated\""), "{unbroken}");
    assert_eq!(same(&unbroken), same(&broken));
    // And over a regular end.
    house.restart();
    assert_eq!(house.violations(1), ids);
    house.post("web", &(of("c", 99, "response") + &of("c", 101, "response")));
    house.until("/v1/streams", |body| body.contains("\"behind\":0"));
    assert_eq!(house.violations(1), ids);
}

/// What was open goes on over a restart and under a text that says more, and when it is due its line is still told.
#[test]
fn time_passes_after_a_restart_and_a_change() {
    let keyed = format!("trace {{ by: user; }}\n{TIMED}").replace("property ", "property k_");
    let mut house = House::new("clock-on", &[("whole", TIMED), ("keyed", &keyed)], |config| {
        config.late = Some(Duration::from_millis(300));
    });
    house.post("web", &of("a", 10, "request"));
    house.until("/v1/streams", |body| body.contains("\"behind\":0"));
    house.restart();
    for (name, text) in [("whole", TIMED), ("keyed", &keyed)] {
        let more = format!("{text}property {name}_more : G (request -> time > 0);\n");
        assert_eq!(house.ask("PUT", &format!("/v1/specs/{name}"), &more).0, 200);
    }
    house.violations(2);
    let (_, found) = house.ask("GET", "/v1/violations", "");
    assert!(
        !found.contains("\"line\":null") && found.matches("\\\"user\\\": \\\"a\\\"").count() == 2,
        "{found}"
    );
    assert_eq!(found.matches("due ").count(), 2, "{found}");
}

/// Without one nothing is due before a line says so.
#[test]
fn without_a_clock_time_stands_still() {
    let house = House::new("still", &[("whole", TIMED)], |_| {});
    house.post("web", &of("a", 10, "request"));
    std::thread::sleep(Duration::from_millis(3500));
    assert_eq!(house.ask("GET", "/v1/violations", "").1.matches("\"id\"").count(), 0);
    assert!(!house.folder.join("data/streams/web/ticks").exists());
    house.post("web", &of("a", 12, "response"));
    house.post("web", &(of("b", 12, "request") + &of("c", 15, "request")));
    house.violations(1);
}
