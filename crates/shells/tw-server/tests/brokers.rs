//! Sources against the real programs: what is published is in the log, over restarts of the server and of the broker.
//!
//! A program that is not installed leaves its test out, which says so; where continuous integration runs, that is a failure.

mod programs;

use programs::{Broker, Mqtt, Nats, Redis};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tw_server::{Config, Server};

const SPEC: &str = "trace { stream: web; }\nevent ask(id: int); event tell(id: int);
property asked : G forall i. tell(id: i) -> O ask(id: i);
";

struct House {
    folder: PathBuf,
    server: Option<Server>,
    said: Arc<Mutex<Vec<String>>>,
    settings: String,
}

impl House {
    fn new(folder: &Path, settings: String) -> Self {
        let folder = folder.join("data");
        std::fs::create_dir_all(folder.join("specs")).unwrap();
        std::fs::write(folder.join("specs/web.tw"), SPEC).unwrap();
        let mut house = Self { folder, server: None, said: Arc::default(), settings };
        house.start();
        house
    }

    fn start(&mut self) {
        let mut config = Config::new(self.folder.clone());
        config.set(&self.settings).unwrap();
        config.listen = "127.0.0.1:0".into();
        let said = self.said.clone();
        self.server = Some(Server::start(config, move |what| said.lock().unwrap().push(what)).unwrap());
    }

    fn stop(&mut self) {
        self.server.take().unwrap().stop();
    }

    fn get(&self, path: &str) -> String {
        let address = self.server.as_ref().unwrap().address();
        let mut connection = TcpStream::connect(address).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        connection.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        connection.read_to_string(&mut text).unwrap();
        text.split_once("\r\n\r\n").unwrap().1.to_string()
    }

    fn until(&self, path: &str, good: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let body = self.get(path);
            if good(&body) {
                return body;
            }
            assert!(Instant::now() < until, "{path}: {body}\n{:?}", self.said.lock().unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The lines of the log, once there are so many.
    fn lines(&self, count: usize) -> Vec<String> {
        let path = "/v1/streams/web/events?limit=10000";
        let body = self.until(path, |body| body.lines().count() >= count && !body.starts_with("{\"error"));
        body.lines().map(str::to_string).collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

fn event(name: &str, id: usize) -> String {
    format!("{{\"time\": {id}, \"event\": \"{name}\", \"id\": {id}}}")
}

fn events(ids: std::ops::Range<usize>) -> Vec<Vec<u8>> {
    ids.map(|id| event("ask", id).into_bytes()).collect()
}

/// The first difference alone is shown.
fn same(found: &[String], expected: &[String]) {
    let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
    let at = differs.unwrap_or(found.len().min(expected.len()));
    let (one, other) = (found.get(at), expected.get(at));
    assert!(
        one == other,
        "line {at} of {}, expected {}: {one:?}, expected {other:?}",
        found.len(),
        expected.len()
    );
}

/// Everything that is the same for all brokers. `counts`: it numbers its messages, so that nothing is there twice.
fn from_messages_to_violations<B: Broker>(counts: bool) {
    let Some(mut broker) = B::start() else { return };
    // Before the server is there for the first time, MQTT keeps nothing for it.
    let early = if counts { 10 } else { 0 };
    broker.publish(&events(0..early));
    let settings = format!("[[source]]\nname = \"in\"\ninto = \"web\"\n{}", broker.settings());
    let mut house = House::new(broker.folder(), settings);
    house.until("/v1/sources", |body| body.contains("\"connected\":true"));
    broker.publish(&events(early..500));
    // What cannot be read is left out and does not hold up the rest; one message may have more lines than one.
    broker.publish(&[b"{oops".to_vec(), b"\xff\xfe\n".to_vec(), b"[1]".to_vec()]);
    broker.publish(&[format!("{}\n{}\n", event("ask", 500), event("tell", 501)).into_bytes()]);
    let mut all: Vec<String> = (0..501).map(|id| event("ask", id)).collect();
    all.push(event("tell", 501));
    same(&house.lines(502), &all);
    let told = house.until("/v1/sources", |body| body.contains("\"left_out\":3"));
    assert!(
        told.contains("\"source\":\"in\"")
            && told.contains("\"last_left_out\":\"")
            && !told.contains("secret"),
        "{told}"
    );
    assert_eq!(told.contains("\"position\":\""), counts, "{told}");
    let found = house.until("/v1/violations", |body| body.contains("\"end\":1"));
    assert!(found.contains("\"bindings\":{\"i\":501}"), "{found}");
    assert!(house.get("/metrics").contains("tracewise_source_connected{source=\"in\",kind="));

    // What is published while nobody listens is there afterwards, and nothing twice.
    house.stop();
    broker.publish(&events(600..900));
    house.start();
    all.extend((600..900).map(|id| event("ask", id)));
    same(&house.lines(all.len()), &all);

    // A broker that dies is told, and waited for.
    broker.kill();
    house.until("/healthz", |body| {
        body.contains("\"status\":\"ok\"") && body.contains("\"sources_failing\":[\"in\"]")
    });
    let told = house.get("/v1/sources");
    assert!(told.contains("\"connected\":false") && told.contains("\"why\":\""), "{told}");
    broker.restart();
    broker.publish(&events(900..950));
    all.extend((900..950).map(|id| event("ask", id)));
    house.until("/v1/streams/web/events?limit=10000", |body| body.contains(all.last().unwrap()));
    let mut found = house.lines(all.len());
    if !counts {
        // What MQTT's broker had not written down of our acknowledgements comes again.
        let mut seen = std::collections::HashSet::new();
        found.retain(|line| seen.insert(line.clone()));
    }
    same(&found, &all);
    assert!(!house.get("/healthz").contains("failing"));
    assert!(house.get("/metrics").contains("tracewise_source_failures_total"));
    let said = house.said.lock().unwrap().join("\n");
    assert!(said.contains("source in:") && said.contains("connected again"), "{said}");
}

#[test]
fn nats() {
    from_messages_to_violations::<Nats>(true);
}

#[test]
fn redis() {
    from_messages_to_violations::<Redis>(true);
}

#[test]
fn mqtt() {
    from_messages_to_violations::<Mqtt>(false);
}

/// A source without its broker says so; the server does the rest of its work.
#[test]
fn nobody_there() {
    let folder = programs::folder("nobody");
    let port = programs::free_port();
    let settings =
        format!("[[source]]\nkind = \"redis\"\nurl = \"redis://:secret@127.0.0.1:{port}\"\nkey = \"k\"\n");
    let house = House::new(&folder, settings);
    let told = house.until("/v1/sources", |body| body.contains("\"why\":\"cannot connect to 127.0.0.1"));
    assert!(told.contains("\"connected\":false") && !told.contains("secret"), "{told}");
    assert!(house.get("/readyz").contains("ok"));
    drop(house);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A stream of the same name that is another one is not read as if it went on.
#[test]
fn a_stream_made_anew() {
    let Some(mut broker) = Nats::start() else { return };
    broker.publish(&events(0..5));
    let settings = format!("[[source]]\nname = \"in\"\ninto = \"web\"\n{}", broker.settings());
    let mut house = House::new(broker.folder(), settings);
    house.lines(5);
    house.stop();
    broker.make_anew();
    broker.publish(&events(0..9));
    house.start();
    house.until("/v1/sources", |body| body.contains("was made anew since message 5 was read"));
    assert_eq!(house.lines(5).len(), 5);
    house.stop();
    // Under another name it is another source.
    house.settings = house.settings.replace("\"in\"", "\"again\"");
    house.start();
    assert_eq!(house.lines(14).len(), 14);
}

/// A work queue forgets what is acknowledged, and that is what is on disk.
#[test]
fn a_work_queue_is_emptied() {
    let Some(mut broker) = Nats::start() else { return };
    broker.make("workqueue");
    broker.publish(&events(0..300));
    let settings = format!("[[source]]\nname = \"in\"\ninto = \"web\"\n{}", broker.settings());
    let mut house = House::new(broker.folder(), settings);
    house.lines(300);
    let until = Instant::now() + Duration::from_secs(20);
    while broker.messages() > 0 {
        assert!(Instant::now() < until, "{} messages are left", broker.messages());
        std::thread::sleep(Duration::from_millis(20));
    }
    house.stop();
    broker.publish(&events(300..400));
    house.start();
    assert_eq!(house.lines(400).len(), 400);
}
