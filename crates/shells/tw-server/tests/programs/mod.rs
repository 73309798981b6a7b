//! Brokers: the real programs, each on a folder and a port of its own, and as much of a client as publishing takes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A new folder.
pub fn folder(name: &str) -> PathBuf {
    static FOLDERS: AtomicU32 = AtomicU32::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("tracewise-{name}-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A program that listens.
pub struct Program {
    command: Vec<String>,
    pub folder: PathBuf,
    pub port: u16,
    child: Option<Child>,
}

impl Program {
    /// Starts it, if it is installed. `command` is told the folder and the port.
    fn start(name: &str, command: impl Fn(&Path, u16) -> Vec<String>) -> Option<Self> {
        let found = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
            .iter()
            .any(|own| Path::new(own).join(name).exists());
        if !found {
            assert!(std::env::var_os("CI").is_none(), "{name} is not installed");
            eprintln!("{name} is not installed; its test is left out");
            return None;
        }
        let (folder, port) = (folder(name), free_port());
        let mut program = Self { command: command(&folder, port), folder, port, child: None };
        program.run();
        Some(program)
    }

    fn run(&mut self) {
        let path = format!("{}:/usr/sbin:/usr/bin:/usr/local/bin", std::env::var("PATH").unwrap_or_default());
        let log = std::fs::File::create(self.folder.join("broker.log")).unwrap();
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).env("PATH", path).current_dir(&self.folder);
        command.stdin(Stdio::null()).stderr(log.try_clone().unwrap()).stdout(log);
        self.child = Some(command.spawn().unwrap());
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let log = std::fs::read_to_string(self.folder.join("broker.log")).unwrap();
            assert!(Instant::now() < until, "{} does not listen: {log}", self.command[0]);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        BufReader::new(stream)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A broker that a test starts.
pub trait Broker: Sized {
    /// Starts it, with something to publish to; nothing if it is not installed.
    fn start() -> Option<Self>;
    /// The program.
    fn program(&mut self) -> &mut Program;
    /// Its folder.
    fn folder(&self) -> &Path;
    /// What a source says of it.
    fn settings(&self) -> String;
    /// Publishes messages; the broker has acknowledged them when this returns.
    fn publish(&mut self, messages: &[Vec<u8>]);

    /// Kills it.
    fn kill(&mut self) {
        self.program().kill();
    }

    /// Starts it again.
    fn restart(&mut self) {
        self.program().run();
    }
}

pub struct Nats(Program);

impl Nats {
    fn ask(&self, questions: &[(String, Vec<u8>)]) -> Vec<String> {
        let mut connection = self.0.connect();
        let mut line = String::new();
        connection.read_line(&mut line).unwrap();
        assert!(line.starts_with("INFO "), "{line}");
        let mut all = b"CONNECT {\"verbose\":false}\r\nSUB answers 1\r\n".to_vec();
        for (subject, payload) in questions {
            all.extend_from_slice(format!("PUB {subject} answers {}\r\n", payload.len()).as_bytes());
            all.extend_from_slice(payload);
            all.extend_from_slice(b"\r\n");
        }
        connection.get_mut().write_all(&all).unwrap();
        let mut answers = Vec::new();
        while answers.len() < questions.len() {
            line.clear();
            connection.read_line(&mut line).unwrap();
            assert!(!line.is_empty() && !line.starts_with("-ERR"), "{line}");
            if let Some(length) = line.strip_prefix("MSG ").and_then(|rest| rest.split_whitespace().last()) {
                let mut payload = vec![0; length.parse::<usize>().unwrap() + 2];
                connection.read_exact(&mut payload).unwrap();
                answers.push(String::from_utf8(payload).unwrap());
            }
        }
        answers
    }

    /// Makes the stream.
    pub fn make(&mut self, retention: &str) {
        let settings =
            format!("{{\"name\":\"EVENTS\",\"subjects\":[\"events.>\"],\"retention\":\"{retention}\"}}");
        self.ask(&[("$JS.API.STREAM.DELETE.EVENTS".into(), Vec::new())]);
        let answers = self.ask(&[("$JS.API.STREAM.CREATE.EVENTS".into(), settings.into_bytes())]);
        assert!(answers[0].contains("did_create"), "{answers:?}");
    }

    /// Makes it anew.
    pub fn make_anew(&mut self) {
        self.make("limits");
    }

    /// How many messages it has.
    pub fn messages(&self) -> u64 {
        let answer = self.ask(&[("$JS.API.STREAM.INFO.EVENTS".into(), Vec::new())]).remove(0);
        let (_, rest) = answer.split_once("\"messages\":").unwrap();
        rest[..rest.find(',').unwrap()].parse().unwrap()
    }
}

impl Broker for Nats {
    fn start() -> Option<Self> {
        let program = Program::start("nats-server", |folder, port| {
            let folder = folder.join("store").display().to_string();
            let port = port.to_string();
            ["nats-server", "-a", "127.0.0.1", "-p", &port, "-js", "-sd", &folder]
                .map(str::to_string)
                .to_vec()
        })?;
        let mut broker = Self(program);
        broker.make("limits");
        Some(broker)
    }

    fn program(&mut self) -> &mut Program {
        &mut self.0
    }

    fn folder(&self) -> &Path {
        &self.0.folder
    }

    fn settings(&self) -> String {
        format!(
            "kind = \"nats\"\nurl = \"nats://127.0.0.1:{}\"\nstream = \"EVENTS\"\nsubject = \"events.>\"\n",
            self.0.port
        )
    }

    fn publish(&mut self, messages: &[Vec<u8>]) {
        for block in messages.chunks(1000) {
            let all: Vec<_> = block.iter().map(|own| ("events.a".to_string(), own.clone())).collect();
            assert!(self.ask(&all).iter().all(|answer| answer.contains("\"seq\"")));
        }
    }
}

pub struct Redis(Program);

impl Broker for Redis {
    fn start() -> Option<Self> {
        let program = Program::start("redis-server", |folder, port| {
            let (folder, port) = (folder.display().to_string(), port.to_string());
            let words =
                ["redis-server", "--bind", "127.0.0.1", "--port", &port, "--dir", &folder, "--save", ""];
            let kept = ["--appendonly", "yes", "--appendfsync", "always", "--requirepass", "secret"];
            words.iter().chain(&kept).map(|word| word.to_string()).collect()
        })?;
        Some(Self(program))
    }

    fn program(&mut self) -> &mut Program {
        &mut self.0
    }

    fn folder(&self) -> &Path {
        &self.0.folder
    }

    fn restart(&mut self) {
        self.0.run();
        // It listens before it has read what it kept.
        let mut line = String::new();
        while !line.starts_with("+PONG") {
            std::thread::sleep(Duration::from_millis(20));
            let mut connection = self.0.connect();
            connection.get_mut().write_all(b"AUTH secret\r\nPING\r\n").unwrap();
            connection.read_line(&mut line).unwrap();
            line.clear();
            connection.read_line(&mut line).unwrap();
        }
    }

    fn settings(&self) -> String {
        format!("kind = \"redis\"\nurl = \"redis://:secret@127.0.0.1:{}\"\nkey = \"events\"\n", self.0.port)
    }

    fn publish(&mut self, messages: &[Vec<u8>]) {
        let mut connection = self.0.connect();
        let mut all = b"AUTH secret\r\n".to_vec();
        for message in messages {
            all.extend_from_slice(b"*5\r\n$4\r\nXADD\r\n$6\r\nevents\r\n$1\r\n*\r\n$4\r\ndata\r\n");
            all.extend_from_slice(format!("${}\r\n", message.len()).as_bytes());
            all.extend_from_slice(message);
            all.extend_from_slice(b"\r\n");
        }
        connection.get_mut().write_all(&all).unwrap();
        for number in 0..1 + 2 * messages.len() {
            let mut line = String::new();
            connection.read_line(&mut line).unwrap();
            // A length and a text for each.
            assert!(number == 0 || !line.starts_with('-') && !line.is_empty(), "{line}");
        }
    }
}

pub struct Mqtt(Program);

impl Broker for Mqtt {
    fn start() -> Option<Self> {
        let program = Program::start("mosquitto", |folder, port| {
            let place = folder.display();
            let settings = format!(
                "listener {port} 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location {place}/\n\
                 autosave_interval 1\nautosave_on_changes true\nmax_queued_messages 0\nmax_inflight_messages 200\nuser root\n"
            );
            let path = folder.join("mosquitto.conf");
            std::fs::write(&path, settings).unwrap();
            vec!["mosquitto".into(), "-c".into(), path.display().to_string()]
        })?;
        Some(Self(program))
    }

    fn program(&mut self) -> &mut Program {
        &mut self.0
    }

    fn folder(&self) -> &Path {
        &self.0.folder
    }

    fn settings(&self) -> String {
        format!("kind = \"mqtt\"\nurl = \"mqtt://127.0.0.1:{}\"\ntopic = \"events/#\"\n", self.0.port)
    }

    fn publish(&mut self, messages: &[Vec<u8>]) {
        let mut connection = self.0.connect();
        connection.get_mut().write_all(b"\x10\x13\0\x04MQTT\x04\x02\0\x3c\0\x07pub-one").unwrap();
        let mut answer = [0; 4];
        connection.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [0x20, 2, 0, 0]);
        for (number, message) in (1u16..).zip(messages) {
            let mut rest = b"\0\x08events/a".to_vec();
            rest.extend(number.to_be_bytes());
            rest.extend_from_slice(message);
            let (low, high) = ((rest.len() % 128) as u8, (rest.len() / 128) as u8);
            let length = if high > 0 { vec![low | 128, high] } else { vec![low] };
            let packet = [&[0x32][..], &length, &rest].concat();
            connection.get_mut().write_all(&packet).unwrap();
            // One after the other: a broker may have few of them in flight.
            connection.read_exact(&mut answer).unwrap();
            assert_eq!(answer[..2], [0x40, 2]);
        }
    }
}
