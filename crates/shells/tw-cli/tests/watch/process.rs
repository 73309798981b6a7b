//! A watch that runs beside the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tracewise::error::Setting;

/// Long enough for a loaded machine; nothing waits so long that goes well.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `tracewise watch`.
pub struct Watch {
    child: Child,
    pub input: Option<ChildStdin>,
    out: Receiver<String>,
    err: Receiver<String>,
}

/// What a run left behind, and what was not yet asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct End {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub out: Vec<String>,
    pub err: Vec<String>,
}

impl End {
    /// Standard output as JSON.
    pub fn json(&self) -> Vec<serde_json::Value> {
        crate::common::schema::hold(["watch", "--output", "json"].into_iter(), &self.out.join("\n"));
        self.out.iter().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// Starts one with these arguments.
pub fn watch(arguments: &[&str]) -> Watch {
    let mut command = crate::common::command();
    command.arg("watch").args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command runs");
    let (out, err) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
    Watch { input: child.stdin.take(), child, out, err }
}

/// The whole of a run with this text on standard input.
pub fn run(arguments: &[&str], input: &str) -> End {
    let mut watch = watch(arguments);
    // It may end without reading.
    let _ = watch.input.take().unwrap().write_all(input.as_bytes());
    watch.end()
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            if sender.send(line.expect("UTF-8")).is_err() {
                break;
            }
        }
    });
    receiver
}

impl Watch {
    /// Writes to standard input.
    pub fn write(&mut self, text: &str) {
        self.input.as_mut().expect("it is open").write_all(text.as_bytes()).expect("it reads");
    }

    /// The next line of standard output.
    pub fn line(&self) -> String {
        self.out.recv_timeout(PATIENCE).expect("a line on standard output")
    }

    /// The next line of standard output, as JSON.
    pub fn json(&self) -> serde_json::Value {
        let line = self.line();
        crate::common::schema::hold(["watch", "--output", "json"].into_iter(), &line);
        serde_json::from_str(&line).expect(&line)
    }

    /// The next line of standard error that holds `text`.
    pub fn error_line(&self, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.err.recv_timeout(left).expect("a line on standard error");
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Positions read, by the next list of what is pending; verdicts before it go to `seen`.
    pub fn positions(&self, seen: &mut Vec<String>) -> u64 {
        loop {
            let line = self.line();
            match serde_json::from_str::<serde_json::Value>(&line).expect(&line)["positions"].as_u64() {
                Some(positions) => return positions,
                None => seen.push(line),
            }
        }
    }

    /// Whether nothing was said for a while.
    pub fn is_silent(&self) -> bool {
        self.out.recv_timeout(Duration::from_millis(100)).is_err()
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Ends it at once, as a crash would.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Closes standard input and waits for the end.
    pub fn end(mut self) -> End {
        drop(self.input.take());
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("it can be waited for") {
                Some(status) => break status,
                None if Instant::now() > until => {
                    let _ = self.child.kill();
                    panic!("it does not end");
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let (out, err): (Vec<String>, Vec<String>) = (self.out.iter().collect(), self.err.iter().collect());
        let unspelled = out.iter().chain(&err).find(|line| !Setting::named_in(line).is_empty());
        assert_eq!(unspelled, None, "users of the command read flags");
        End { code: status.code(), out, err }
    }
}

/// A fresh directory for one test.
pub fn directory(test: &str) -> PathBuf {
    crate::common::directory(&format!("watch/{test}"))
}

/// A file in it.
pub fn file(test: &str, name: &str, text: &str) -> String {
    let path = directory(test).join(name);
    std::fs::write(&path, text).expect("the file is written");
    path.to_str().expect("UTF-8").to_string()
}
