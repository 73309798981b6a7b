//! A source that reads Kafka, against the cluster that librdkafka brings for tests: the server is a process that is killed at random moments
//! (`KILLS` times, 10 if nothing is said); afterwards every message is in the log once, and the violations are those of an unbroken run.

use rdkafka::config::ClientConfig;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tw_server::{Config, Server};

const TOPIC: &str = "events";
const PARTITIONS: i32 = 3;
const SPEC: &str = "event ask(id: int); event tell(id: int);
property asked : G forall i. tell(id: i) -> O ask(id: i);
";
/// Says, to the process that is to be the server, where its folder is.
const FOLDER: &str = "TRACEWISE_TEST_SERVER";

/// Not a test: what the process is that is killed.
#[test]
fn the_server() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let mut config = Config::new(folder.clone());
    config.set(&std::fs::read_to_string(folder.join("config.toml")).unwrap()).unwrap();
    config.listen = "127.0.0.1:0".into();
    let server = Server::start(config, |what| eprintln!("{what}")).unwrap();
    println!("\nlistening on {}", server.address());
    server.wait().unwrap();
    server.stop();
}

struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start(folder: &Path) -> Self {
        let said = std::fs::File::options().create(true).append(true).open(folder.join("said")).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_server", "--nocapture"]).env(FOLDER, folder);
        let mut child = command.stdout(Stdio::piped()).stderr(said).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address =
            lines.find_map(|line| line.unwrap().strip_prefix("listening on ").map(str::to_string)).unwrap();
        // What else it prints is read, so that it never waits.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn get(&self, path: &str) -> String {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        connection
            .write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes())
            .unwrap();
        let mut text = String::new();
        connection.read_to_string(&mut text).unwrap();
        text.split_once("\r\n\r\n").unwrap().1.to_string()
    }

    fn lines(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        loop {
            let page = self.get(&format!("/v1/streams/web/events?since={}&limit=10000", all.len()));
            if page.is_empty() || page.starts_with("{\"error") {
                return all;
            }
            all.extend(page.lines().map(str::to_string));
        }
    }
}

/// Partition, number in it, and what it says: three of four answers were asked for.
fn message(number: usize) -> (i32, String) {
    let id = number / 2;
    let name = if number % 2 == 1 || id % 4 == 3 { "tell" } else { "ask" };
    (
        (id % PARTITIONS as usize) as i32,
        format!("{{\"event\": \"{name}\", \"id\": {id}, \"number\": {number}}}"),
    )
}

#[test]
fn killed_at_any_moment() {
    let kills: usize = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10);
    let folder = std::env::temp_dir().join(format!("tracewise-kafka-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("specs")).unwrap();
    std::fs::write(folder.join("specs/web.tw"), SPEC).unwrap();
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic(TOPIC, PARTITIONS, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    let first = brokers.split(',').next().unwrap();
    let settings = format!(
        "[server]\ncheckpoint = \"20ms\"\n[log]\nsegment = \"100KB\"\n[[source]]\nkind = \"kafka\"\nname = \"in\"\ninto = \"web\"\n\
         url = \"kafka://{first}\"\ntopic = \"{TOPIC}\"\n"
    );
    std::fs::write(folder.join("config.toml"), settings).unwrap();
    let over = AtomicBool::new(false);
    let (published, process) = std::thread::scope(|scope| {
        let publisher = scope.spawn(|| {
            let producer: BaseProducer =
                ClientConfig::new().set("bootstrap.servers", &brokers).create().unwrap();
            let mut number = 0;
            while !over.load(Ordering::SeqCst) {
                for _ in 0..40 {
                    let (partition, text) = message(number);
                    let record = BaseRecord::<(), str>::to(TOPIC).partition(partition).payload(&text);
                    producer.send(record).map_err(|(error, _)| error).unwrap();
                    number += 1;
                }
                producer.flush(Duration::from_secs(20)).unwrap();
                std::thread::sleep(Duration::from_millis(10));
            }
            number
        });
        let mut process = Process::start(&folder);
        for kill in 0..kills {
            // Moments between too early and long at work.
            std::thread::sleep(Duration::from_millis(20 + (kill as u64 * 7919) % 700));
            process.kill();
            process = Process::start(&folder);
        }
        over.store(true, Ordering::SeqCst);
        (publisher.join().unwrap(), process)
    });
    let until = Instant::now() + Duration::from_secs(60);
    let mut lines = process.lines();
    while lines.len() < published {
        assert!(
            Instant::now() < until,
            "{} of {published} lines: {}",
            lines.len(),
            process.get("/v1/sources")
        );
        std::thread::sleep(Duration::from_millis(100));
        lines = process.lines();
    }
    for partition in 0..PARTITIONS {
        let of = |(own, text): (i32, String)| (own == partition).then_some(text);
        let expected: Vec<String> = (0..published).map(message).filter_map(of).collect();
        let number =
            |line: &String| line.rsplit_once(": ").unwrap().1.trim_end_matches('}').parse::<usize>().unwrap();
        let own: Vec<String> =
            lines.iter().filter(|line| message(number(line)).0 == partition).cloned().collect();
        assert!(
            own == expected,
            "partition {partition}: {} messages, expected {}",
            own.len(),
            expected.len()
        );
    }
    let expected: BTreeSet<usize> =
        (0..published).map(|number| number / 2).filter(|id| id % 4 == 3).collect();
    let (mut found, mut since) = (Vec::new(), 0);
    let until = Instant::now() + Duration::from_secs(60);
    while found.len() < 2 * expected.len() {
        assert!(Instant::now() < until, "{} violations of {}", found.len(), 2 * expected.len());
        let page = process.get(&format!("/v1/violations?since={since}&limit=10000"));
        let bound = page.match_indices("\"bindings\":{\"i\":").map(|(at, text)| {
            let rest = &page[at + text.len()..];
            rest[..rest.find('}').unwrap()].parse::<usize>().unwrap()
        });
        found.extend(bound);
        let next = page.rsplit_once("\"next\":").unwrap().1;
        since = next[..next.find(',').unwrap()].parse().unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    // Each of them is answered twice, and asked for never.
    let all: BTreeSet<usize> = found.iter().copied().collect();
    assert_eq!((all, found.len()), (expected.clone(), 2 * expected.len()));
    println!("{kills} kills, {published} messages, {} violations", found.len());
    process.kill();
    std::fs::remove_dir_all(folder).unwrap();
}
