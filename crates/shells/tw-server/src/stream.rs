//! A stream: its log, who writes it, who judges it.

use crate::judge::{Change, Judge, Progress, add_cut, load_cuts};
use crate::log::{Commit, Limits, Log, Mark, Receipt, Refused};
use crate::verdicts::Verdicts;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tracewise::Reading;
use tracewise::trace::{Arrived, Gate};

/// A stream.
pub struct Stream {
    /// Its name.
    pub name: Arc<str>,
    /// Its log.
    pub log: Log,
    /// What waits to be written.
    pub commit: Commit,
    /// What judges it.
    pub judge: Arc<Judge>,
    /// Positions taken since the server began.
    pub taken: AtomicU64,
    /// Lines refused since then.
    pub refused: AtomicU64,
    gate: Mutex<Gate>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What a stream is opened with.
pub struct Opening<'o> {
    /// The folder of all streams.
    pub folder: &'o Path,
    /// How logs are kept.
    pub limits: Limits,
    /// Bytes of a line.
    pub line: usize,
    /// Bytes that a specification may hold.
    pub memory: usize,
    /// How often the state is kept.
    pub checkpoint: Duration,
    /// How late lines may come, where time passes without them.
    pub late: Option<Duration>,
    /// Where violations go.
    pub verdicts: &'o Arc<Verdicts>,
    /// Told what people should know.
    pub said: &'o Arc<dyn Fn(String) + Send + Sync>,
}

/// What became of lines that came.
#[derive(Debug)]
pub enum Taken {
    /// They are taken, some left out.
    Lines(Arrived),
    /// Some cannot be read, so none is taken.
    Bad(Arrived),
}

impl Stream {
    /// Opens a stream; `changes` says which specifications judge it, given the lines there are and those of its own that the
    /// folder has.
    pub fn open(
        name: &str,
        opening: &Opening<'_>,
        changes: impl FnOnce(&Path, u64) -> io::Result<VecDeque<Change>>,
    ) -> io::Result<Arc<Stream>> {
        let folder = opening.folder.join(name);
        let (log, found) = Log::open(&folder.join("log"), opening.limits)?;
        if let Some(cut) = &found.cut {
            (opening.said)(format!("stream {name}: {cut}"));
        }
        let mut cuts = load_cuts(&folder)?;
        if found.cut.is_some() {
            add_cut(&folder, &mut cuts, log.end())?;
        }
        let commit = Commit::new(&log);
        let changes = changes(&folder, log.end())?;
        let judge = Arc::new(Judge {
            stream: name.into(),
            folder,
            log: log.clone(),
            commit: commit.clone(),
            verdicts: opening.verdicts.clone(),
            changes: Mutex::new(changes),
            watched: Mutex::default(),
            judged_before: log.end(),
            cuts: Mutex::new(cuts),
            progress: Progress::default(),
            stop: AtomicBool::new(false),
            asked: Default::default(),
            memory: opening.memory,
            every: opening.checkpoint,
            late: opening.late,
            said: opening.said.clone(),
        });
        let gate = gate(opening.line).map_err(|error| io::Error::other(crate::words::error(&error)))?;
        let stream = Arc::new(Self {
            name: name.into(),
            log,
            commit,
            judge,
            taken: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            gate: Mutex::new(gate),
            threads: Mutex::default(),
        });
        let (commit, log, said) = (stream.commit.clone(), stream.log.clone(), opening.said.clone());
        let of = name.to_string();
        let write = move || commit.run(&log, &|what| said(format!("stream {of}: {what}")));
        let judge = stream.judge.clone();
        let threads = [
            std::thread::Builder::new().name("log".into()).spawn(write)?,
            std::thread::Builder::new().name("judge".into()).spawn(move || judge.run())?,
        ];
        stream.threads.lock().unwrap_or_else(PoisonError::into_inner).extend(threads);
        Ok(stream)
    }

    /// Takes whole lines, all of them or, if some cannot be read and `skip` says so, the others.
    pub fn take(&self, bytes: &[u8], skip: bool, receipt: Option<Receipt>) -> Result<Taken, Failed> {
        self.take_marked(bytes, skip, None, receipt)
    }

    /// The same with how far their source has been read.
    pub fn take_marked(
        &self,
        bytes: &[u8],
        skip: bool,
        mark: Option<Mark>,
        receipt: Option<Receipt>,
    ) -> Result<Taken, Failed> {
        // The order in which lines pass the gate is that of the log.
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let mut refused = None;
        let arrived = gate.read(bytes, |arrived| {
            if !arrived.bad.is_empty() && !skip {
                return false;
            }
            let good;
            let (bytes, lines) = match arrived.bad.as_slice() {
                [] => (bytes, arrived.lines),
                bad => {
                    good = without(bytes, bad);
                    (&good[..], arrived.lines - bad.len() as u64)
                }
            };
            if lines == 0 {
                // Nothing to wait for.
                receipt.into_iter().for_each(|receipt| receipt(Ok(())));
                return true;
            }
            match self.commit.take(bytes, lines, mark, receipt) {
                Ok(_) => true,
                Err(why) => {
                    refused = Some(why);
                    false
                }
            }
        });
        drop(gate);
        if let Some(why) = refused {
            return Err(Failed::Refused(why));
        }
        let arrived = arrived.map_err(Failed::Unread)?;
        if !arrived.bad.is_empty() && !skip {
            self.refused.fetch_add(arrived.lines, Ordering::Relaxed);
            return Ok(Taken::Bad(arrived));
        }
        self.taken.fetch_add(arrived.positions, Ordering::Relaxed);
        self.refused.fetch_add(arrived.bad.len() as u64, Ordering::Relaxed);
        Ok(Taken::Lines(arrived))
    }

    /// Lines that wait to be judged.
    pub fn behind(&self) -> u64 {
        self.commit.end().saturating_sub(self.judge.progress.judged.load(Ordering::Relaxed))
    }

    /// Writes what waits, keeps the state, and ends.
    pub fn close(&self) {
        self.commit.close();
        self.judge.stop.store(true, Ordering::SeqCst);
        self.log.wake();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// What lines of at most so many bytes pass to be taken.
fn gate(line: usize) -> Result<Gate, tracewise::Error> {
    Gate::new(&Reading { format: Some("jsonl".into()), threads: 1, max_record: line, ..Reading::default() })
}

/// Whether lines, with `skip` some of them, would be the first of a stream; if not, what became of them there.
pub fn would_begin(bytes: &[u8], line: usize, skip: bool) -> Result<Option<Taken>, Failed> {
    let arrived = gate(line).and_then(|mut gate| gate.read(bytes, |_| true)).map_err(Failed::Unread)?;
    let bad = arrived.bad.len() as u64;
    Ok(match () {
        () if bad > 0 && !skip => Some(Taken::Bad(arrived)),
        () if arrived.lines == bad => Some(Taken::Lines(arrived)),
        () => None,
    })
}

/// Why lines were not looked at, or not taken.
#[derive(Debug)]
pub enum Failed {
    /// They cannot be read at all.
    Unread(tracewise::Error),
    /// They cannot be kept now.
    Refused(Refused),
}

/// Lines without some of them, by their numbers from 1.
fn without(bytes: &[u8], bad: &[u64]) -> Vec<u8> {
    let mut good = Vec::with_capacity(bytes.len());
    let mut bad = bad.iter().peekable();
    for (number, line) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
        if bad.next_if(|bad| **bad == number).is_none() {
            good.extend_from_slice(line);
        }
    }
    good
}
