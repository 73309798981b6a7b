//! `--on-violation`: a command for each violation, which the stream does not wait for.
//!
//! A few threads start commands and wait for their end. A violation finds its place in a queue or, when the commands
//! are slower than the violations for long, is counted and left out; the stream is never held up.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tracewise::watch::WatchVerdict;

/// Commands that run at once.
const AT_ONCE: usize = 4;
/// Violations that wait for theirs.
const WAITING: usize = 10_000;

/// What a command is told.
struct Job {
    property: String,
    position: String,
    line: String,
    key: String,
    object: String,
}

/// Starts commands.
pub struct Alarm {
    jobs: SyncSender<Job>,
    workers: Vec<JoinHandle<()>>,
    failed: Arc<AtomicU64>,
    left_out: u64,
}

impl Alarm {
    /// An alarm that runs `command` by `sh -c`.
    pub fn new(command: &str) -> Self {
        let (jobs, queue) = sync_channel(WAITING);
        let queue = Arc::new(Mutex::new(queue));
        let failed = Arc::new(AtomicU64::new(0));
        let worker = |_| {
            let (queue, failed, command) = (Arc::clone(&queue), Arc::clone(&failed), command.to_string());
            std::thread::spawn(move || work(&queue, &failed, &command))
        };
        Self { jobs, workers: (0..AT_ONCE).map(worker).collect(), failed, left_out: 0 }
    }

    /// Has the command run for a violation.
    pub fn ring(&mut self, verdict: &WatchVerdict<'_>, object: String) {
        let job = Job {
            // Nothing in the environment may hold a NUL; a formula in quotes could.
            property: verdict.property.replace('\0', "\u{FFFD}"),
            position: verdict.about.unwrap_or(verdict.position).to_string(),
            // A deadline has no line of its own: that of the position that failed stands for it.
            line: verdict
                .line
                .as_ref()
                .or(verdict.violation.as_ref().and_then(|violation| violation.line.as_ref()))
                .map_or(String::new(), |line| line.line.to_string()),
            key: verdict.bindings.first().map_or(String::new(), |(_, key)| match key {
                tracewise::Value::Str(text) => text.replace('\0', "\u{FFFD}"),
                other => other.to_string(),
            }),
            object,
        };
        self.left_out += u64::from(self.jobs.try_send(job).is_err());
    }

    /// Waits for all commands; what there is to say about them.
    pub fn finish(self) -> Vec<String> {
        drop(self.jobs);
        for worker in self.workers {
            let _ = worker.join();
        }
        let mut notes = Vec::new();
        match self.failed.load(Ordering::SeqCst) {
            0 => {}
            failed => notes.push(format!("{failed} of the commands of --on-violation failed")),
        }
        if self.left_out > 0 {
            let count = self.left_out;
            notes
                .push(format!("--on-violation was too slow: its command was not run for {count} violations"));
        }
        notes
    }
}

fn work(queue: &Mutex<Receiver<Job>>, failed: &AtomicU64, command: &str) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        if !run(command, &job).unwrap_or(false) {
            failed.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Runs the command to its end; whether it succeeded.
fn run(command: &str, job: &Job) -> std::io::Result<bool> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .env("TRACEWISE_PROPERTY", &job.property)
        .env("TRACEWISE_POSITION", &job.position)
        .env("TRACEWISE_LINE", &job.line)
        .env("TRACEWISE_KEY", &job.key)
        .stdin(Stdio::piped())
        // Standard output is for verdicts alone.
        .stdout(std::io::stderr())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // It need not read.
        let _ = writeln!(input, "{}", job.object);
    }
    Ok(child.wait()?.success())
}
