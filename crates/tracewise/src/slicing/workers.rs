//! Processes that evaluate slices. Each is asked for one slice after another on its standard input, a line each, and answers with a
//! line on its standard output when the answer lies beside the slice. One that dies is started again, and its slice tried again.

use super::pieces::{Pieces, read};
use super::{evaluate as evaluate_here, parallel};
use crate::{Error, Session, Specification};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use tw_ir::Clock;
use tw_log_slices::{Piece, Sliced, load_answer, save_answer};
use tw_monitor::Answer;

/// How often a slice is given to a worker before it is evaluated here.
const TRIES: usize = 3;

/// What a worker is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The property, by its number.
    pub root: usize,
    /// What intervals measure: whether the log has timestamps is known to who read it.
    pub clock: Clock,
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
        format!("{} {clock} {} {}", self.root, self.most, self.file.display())
    }

    /// Reads back what [`Work::line`] wrote.
    pub fn parse(line: &str) -> Option<Work> {
        let mut parts = line.trim_end_matches(['\n', '\r']).splitn(4, ' ');
        let root = parts.next()?.parse().ok()?;
        let name = parts.next()?;
        let clock = Clock::ALL.iter().find(|(own, _)| *own == name).map(|(_, clock)| *clock)?;
        let most = parts.next()?.parse().ok()?;
        Some(Work { root, clock, most, file: parts.next()?.into() })
    }
}

/// Where the answer to a slice lies.
fn answered(file: &Path) -> PathBuf {
    file.with_extension("answer")
}

struct Worker {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
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
        Ok(Worker { child, lines })
    }

    /// Whether the slice was evaluated; an error if the worker is no more.
    fn ask(&mut self, work: &Work) -> std::io::Result<bool> {
        let input = self.child.stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        writeln!(input, "{}", work.line())?;
        input.flush()?;
        let mut reply = String::new();
        self.lines.read_line(&mut reply)?;
        match reply.trim_end() {
            "done" => Ok(true),
            "refused" => Ok(false),
            _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It ends when nobody can ask it anything.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the slices say, each evaluated by some worker; nothing for one that is refused.
pub(super) fn evaluate(
    pieces: &Pieces,
    (command, count): &(Vec<String>, usize),
    work: &Work,
    here: &(dyn Fn(&Piece) -> Result<Option<Answer>, Error> + Sync),
) -> Result<Vec<Option<Sliced>>, Error> {
    let idle: Mutex<Vec<Worker>> = Mutex::new(Vec::new());
    let take = || idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
    let put = |worker| idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(worker);
    parallel((*count).max(1), pieces.len(), &|number| {
        let sliced = |piece: Piece, answer| Sliced { shard: piece.shard, order: piece.order, answer };
        if let Some(file) = pieces.file(number) {
            let work = Work { file: file.to_path_buf(), ..work.clone() };
            for _ in 0..TRIES {
                let worker = take().map_or_else(|| Worker::start(command), Ok);
                let Ok(mut worker) = worker else { continue };
                match worker.ask(&work) {
                    Ok(true) => {
                        put(worker);
                        let bytes = std::fs::read(answered(file)).unwrap_or_default();
                        if let Ok(answer) = load_answer(&mut bytes.as_slice()) {
                            return Ok(Some(sliced(read(file)?, answer)));
                        }
                    }
                    Ok(false) => {
                        put(worker);
                        return Ok(None);
                    }
                    // It died; another takes its place.
                    Err(_) => drop(worker),
                }
            }
        }
        let piece = pieces.get(number)?.into_owned();
        Ok(here(&piece)?.map(|answer| sliced(piece, answer)))
    })
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
    let Some(answer) = evaluate_here(session, &alone, &options, &piece.trace, work.most)? else {
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
        let work = Work { root: 3, clock: Clock::Index, most: usize::MAX, file: "/a b/c d".into() };
        assert_eq!(Work::parse(&format!("{}\n", work.line())), Some(work));
        assert_eq!(
            (Work::parse(""), Work::parse("1 noon 2 x"), Work::parse("1 index 2")),
            (None, None, None)
        );
    }
}
