//! `record`: a program runs, and what it asks of libc becomes a trace, a line of JSON per call.
//!
//! The calls are written down inside the program (`tw-record`) and read here while it runs. Whoever takes the lines stores them, or
//! hands them to a watch ([`crate::watch::watch_channel`]), so that rules are checked by the one way that streams go. The
//! program's input, output and status are its own.

use crate::Error;
use crate::trace::formats;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;
use tw_record::Recorder;
pub use tw_record::{Bell, Summary, signal};

/// Bytes after which lines are handed on though more are there.
const ENOUGH: usize = 1 << 16;

/// What to run.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// The program, as `execvp` finds it.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Whether to go on until the processes that it leaves behind have ended, too.
    pub all: bool,
}

/// How it went.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// How the program ended.
    pub status: ExitStatus,
    /// What was recorded.
    pub summary: Summary,
}

/// Refuses a name by which the trace, which is lines of JSON, would be read as something else.
pub fn check_name(path: &str) -> Result<(), Error> {
    match tw_trace::detect(path, &formats()) {
        Some(format) if format.name() != "jsonl" && !tw_trace::is_ambiguous(path) => {
            Err(Error::refused_instead(
                format!("`{path}` is a name for `{}`, and lines of JSON are recorded", format.name()),
                "name it `.jsonl` (or `.jsonl.gz`, `.jsonl.zst`); `tracewise convert` writes other formats",
            ))
        }
        _ => Ok(()),
    }
}

/// Writes a trace to a file: compressed if its name ends in `.gz` or `.zst`.
pub fn writer<'a>(path: &str, file: impl Write + 'a) -> io::Result<Box<dyn Write + 'a>> {
    tw_trace::compress(path, file)
}

/// A program that is to be recorded.
pub struct Recording {
    recorder: Recorder,
    command: Command,
    all: bool,
}

impl Recording {
    /// Looks whether the program can be recorded, and prepares that. It does not run yet.
    pub fn new(options: &RecordOptions) -> Result<Self, Error> {
        let shown = &options.program;
        let path = tw_record::find(shown).ok_or_else(|| {
            Error::refused(format!(
                "there is no program `{shown}` that could be run: {}",
                "look at its name and at PATH"
            ))
        })?;
        if let Err((file, why)) = tw_record::judge(&path) {
            return Err(Error::refused_instead(
                format!("`{}` {why}", file.display()),
                "`strace -f -ttt` sees its system calls, and `tracewise check` reads what it writes",
            ));
        }
        let recorder = Recorder::new().map_err(|error| Error::io("cannot prepare the recording", error))?;
        let mut command = Command::new(shown);
        command.args(&options.arguments).envs(recorder.environment());
        Ok(Self { recorder, command, all: options.all })
    }

    /// Events are judged as they come; the bell is rung for each verdict that was told.
    pub fn checking(&self) -> Bell {
        self.recorder.checking()
    }

    /// Runs the program, tells its process to `started`, reads until it has ended, and hands on whole lines in their order.
    /// Whoever takes them may be slow: then the program waits.
    pub fn run(
        mut self,
        started: impl FnOnce(u32),
        mut take: impl FnMut(&mut Vec<u8>),
    ) -> Result<Recorded, Error> {
        let shown = self.command.get_program().to_string_lossy().into_owned();
        let mut child =
            self.command.spawn().map_err(|error| Error::io(format!("cannot run `{shown}`"), error))?;
        started(child.id());
        self.read(&mut child, &mut take)
            .map_err(|error| Error::io(format!("cannot wait for `{shown}`"), error))
    }

    fn read(mut self, child: &mut Child, take: &mut dyn FnMut(&mut Vec<u8>)) -> io::Result<Recorded> {
        let mut lines = Vec::with_capacity(2 * ENOUGH);
        let (mut ended, mut idle) = (None, 0u32);
        let status = loop {
            let came = self.recorder.drain(&mut lines);
            if lines.len() >= ENOUGH || (!came && !lines.is_empty()) {
                take(&mut lines);
                lines.clear();
            }
            if came {
                idle = 0;
                continue;
            }
            ended = match ended {
                None => child.try_wait()?,
                ended => ended,
            };
            if let Some(status) = ended
                && (!self.all || !self.recorder.running())
            {
                // What they wrote last, before they ended, may name processes that go on.
                if self.recorder.drain_all(&mut lines) {
                    continue;
                }
                break status;
            }
            idle += 1;
            let pause = if idle < 20 {
                50
            } else if idle < 200 {
                200
            } else {
                1000
            };
            std::thread::sleep(Duration::from_micros(pause));
        };
        let summary = self.recorder.finish(child.id(), status, &mut lines);
        take(&mut lines);
        Ok(Recorded { status, summary })
    }
}
