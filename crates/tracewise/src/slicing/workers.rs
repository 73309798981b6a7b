//! Processes that evaluate slices. Each is asked for one slice after another on its standard input, a line each, and answers with a
//! line on its standard output when the answer lies beside the slice. One that dies is started again, and its slice tried again.

use super::evaluate as evaluate_here;
use super::pieces::{Slice, read};
use super::queue::Stop;
use crate::{Error, Session, Specification};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use tw_ir::Clock;
use tw_log_slices::{Piece, Sliced, load_answer, save_answer};

/// How often a slice is given to a worker before it is evaluated here.
const TRIES: usize = 3;

/// What a worker is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The property, by its number.
    pub root: usize,
    /// What intervals measure: whether the log has timestamps is known to who read it.
    pub clock: Clock,
    /// Whether positions with equal timestamps are evaluated as one.
    pub collapse: bool,
    /// How many violations are listed.
    pub most: usize,
    /// The slice.
    pub file: PathBuf,
}

impl Work {
    /// As a line.
    pub fn line(&self) -> String {
        let clock =
            Clock::ALL.iter().find(|(_, clock)| *clock == self.clock).map_or("stamps", |(name, _)| name);
        let one = if self.collapse { "one" } else { "each" };
        format!("{} {clock} {one} {} {}", self.root, self.most, self.file.display())
    }

    /// Reads back what [`Work::line`] wrote.
    pub fn parse(line: &str) -> Option<Work> {
        let mut parts = line.trim_end_matches(['\n', '\r']).splitn(5, ' ');
        let root = parts.next()?.parse().ok()?;
        let name = parts.next()?;
        let clock = Clock::ALL.iter().find(|(own, _)| *own == name).map(|(_, clock)| *clock)?;
        let collapse = match parts.next()? {
            "one" => true,
            "each" => false,
            _ => return None,
        };
        let most = parts.next()?.parse().ok()?;
        Some(Work { root, clock, collapse, most, file: parts.next()?.into() })
    }
}

/// Where the answer to a slice lies.
fn answered(file: &Path) -> PathBuf {
    file.with_extension("answer")
}

struct Worker {
    /// Ended by who asks it, or by who does not wait for it any more.
    child: Arc<Mutex<Child>>,
    /// It ends when nobody can ask it anything.
    asks: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Worker {
    fn start(command: &[String]) -> std::io::Result<Worker> {
        let (program, arguments) = command.split_first().ok_or(std::io::ErrorKind::NotFound)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let lines = child.stdout.take().map(BufReader::new).ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok(Worker { asks: child.stdin.take(), child: Arc::new(Mutex::new(child)), lines })
    }

    /// Whether the slice was evaluated; an error if the worker is no more.
    fn ask(&mut self, work: &Work) -> std::io::Result<bool> {
        let asks = self.asks.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        writeln!(asks, "{}", work.line())?;
        asks.flush()?;
        let mut reply = String::new();
        self.lines.read_line(&mut reply)?;
        match reply.trim_end() {
            "done" => Ok(true),
            "refused" => Ok(false),
            _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.asks.take());
        end(&self.child);
    }
}

/// The processes that wait for work.
pub(super) struct Workers<'c> {
    command: &'c [String],
    idle: Mutex<Vec<Worker>>,
}

/// Evaluates a slice in this process.
type Here<'h> = dyn Fn(&Slice, &Stop) -> Result<Option<Sliced>, Error> + Sync + 'h;

impl<'c> Workers<'c> {
    pub fn new(command: &'c [String]) -> Self {
        Self { command, idle: Mutex::default() }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What a slice says, evaluated by some worker, or here after several have died; nothing if it is refused.
    pub fn evaluate(
        &self,
        slice: &Slice,
        work: &Work,
        stop: &Stop,
        here: &Here<'_>,
    ) -> Result<Option<Sliced>, Error> {
        for _ in 0..TRIES {
            let waiting = self.idle().pop();
            let Ok(mut worker) = waiting.map_or_else(|| Worker::start(self.command), Ok) else { continue };
            let child = worker.child.clone();
            stop.on_set(Some(Box::new(move || end(&child))));
            // Whoever stops it may have come before that.
            let asked = if stop.is_set() { Ok(false) } else { worker.ask(work) };
            stop.on_set(None);
            if stop.is_set() {
                return Ok(None);
            }
            match asked {
                Ok(true) => {
                    self.idle().push(worker);
                    let bytes = std::fs::read(answered(&work.file)).unwrap_or_default();
                    if let Ok(answer) = load_answer(&mut bytes.as_slice()) {
                        let Piece { shard, order, .. } = read(&work.file)?;
                        return Ok(Some(Sliced { shard, order, answer, exact: slice.exact }));
                    }
                }
                Ok(false) => {
                    self.idle().push(worker);
                    return Ok(None);
                }
                // It died; another takes its place.
                Err(_) => drop(worker),
            }
        }
        here(slice, stop)
    }
}

/// A worker's life: slices are named line by line, until there are no more.
pub(crate) fn work(
    session: &Session,
    spec: &Specification,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), Error> {
    let spec = &*spec.properties()?;
    let broken = |error| Error::io("a worker cannot talk to who started it", error);
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line).map_err(broken)? == 0 {
            return Ok(());
        }
        let reply = match Work::parse(&line).map(|work| one(session, spec, &work)) {
            Some(Ok(true)) => "done",
            _ => "refused",
        };
        writeln!(output, "{reply}").and_then(|()| output.flush()).map_err(broken)?;
    }
}

fn one(session: &Session, spec: &Specification, work: &Work) -> Result<bool, Error> {
    let Some(root) = spec.program.roots.get(work.root) else { return Ok(false) };
    let alone = spec.with_roots(vec![root.clone()]);
    let piece = read(&work.file)?;
    let mut options = session.evaluate_options();
    options.clock = work.clock;
    let Some(answer) = evaluate_here(session, &alone, &options, (&piece.trace, work.collapse), work.most)?
    else {
        return Ok(false);
    };
    let mut bytes = Vec::new();
    save_answer(&answer, &mut bytes);
    let file = answered(&work.file);
    std::fs::write(&file, bytes)
        .map_err(|error| Error::io(format!("cannot write the answer `{}`", file.display()), error))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_a_line() {
        for collapse in [true, false] {
            let file = "/a b/c d".into();
            let work = Work { root: 3, clock: Clock::Index, collapse, most: usize::MAX, file };
            assert_eq!(Work::parse(&format!("{}\n", work.line())), Some(work));
        }
        assert_eq!(
            (Work::parse(""), Work::parse("1 noon one 2 x"), Work::parse("1 index each 2")),
            (None, None, None)
        );
    }
}
