//! A recording: what a program needs to be recorded, and its events as they come.

use crate::calls::number;
use crate::folder::Folder;
use crate::json::{self, Record};
use crate::merge::Merge;
use crate::ring::{CLAIMED, ENDED, FREE, SLOTS, Shared, Slot};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often slots are looked for that were not in use.
const LOOK: Duration = Duration::from_millis(1);
/// Calls that say how processes live and end.
const START: u16 = number("start");
const EXECVE: u16 = number("execve");
const EXEC_FAILED: u16 = number("exec_failed");
const EXIT: u16 = number("exit");
const SPAWN: u16 = number("posix_spawn");
const FORK: u16 = number("fork");
const VFORK: u16 = number("vfork");
/// How often it is asked whether processes live.
const ASK: Duration = Duration::from_millis(50);

/// What is known of a process.
#[derive(Debug, Default)]
struct Process {
    /// It has events of its own; others are known by what their parents said.
    begun: bool,
    /// What it executes, between the call and the start of that program.
    executes: Option<String>,
    /// What it was made for by `posix_spawn`, until that begins.
    spawned: Option<String>,
    /// Its number is one of another namespace: nothing can be asked about it.
    foreign: bool,
    /// Its first thread is counted: a program that it executes goes on as that thread, at another place.
    counted: bool,
    /// It said that it ends.
    exits: bool,
    over: bool,
}

/// How a recording went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events that were recorded.
    pub events: u64,
    /// Processes that had some.
    pub processes: u64,
    /// Threads that had some.
    pub threads: u64,
    /// Events that could not be written: the shared memory was full and stayed so.
    pub lost: u64,
    /// Events that were begun, and whose thread ended before they were written.
    pub unfinished: u64,
    /// Events that took so long that later ones did not wait for them; they stand where they came.
    pub late: u64,
    /// Processes that were ended by something else than their own `exit`.
    pub killed: u64,
    /// Processes that were still running.
    pub running: u64,
    /// Programs that were executed and could not be recorded.
    pub unrecorded: Vec<String>,
}

impl Summary {
    /// Whether the trace has every event of every process up to its end, or up to where the recording ended.
    pub fn whole(&self) -> bool {
        self.processes > 0 && self.lost + self.unfinished == 0 && self.unrecorded.is_empty()
    }
}

/// Tells the recorded program that a verdict was told, so that it need not wait for it any longer.
#[derive(Clone)]
pub struct Bell(Arc<Shared>);

impl Bell {
    /// Rings it.
    pub fn ring(&self) {
        self.0.told();
    }
}

/// Records the processes that run in its environment.
pub struct Recorder {
    shared: Arc<Shared>,
    folder: Folder,
    merge: Merge,
    used: Vec<usize>,
    looked: Instant,
    /// Look at once.
    look: bool,
    asked: Instant,
    /// From the monotonic clock to the time since 1970.
    offset: i128,
    latest: u64,
    processes: BTreeMap<u32, Process>,
    summary: Summary,
    /// The process of the latest event.
    seen: u32,
    words: Vec<u64>,
}

impl Recorder {
    /// Makes what processes need.
    pub fn new() -> io::Result<Self> {
        let (folder, file) = Folder::new()?;
        let shared = Arc::new(Shared::new(&file)?);
        let now = Instant::now();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as i128;
        Ok(Self {
            shared,
            folder,
            merge: Merge::default(),
            used: Vec::new(),
            looked: now,
            look: false,
            asked: now,
            offset: wall - i128::from(monotonic()),
            latest: 0,
            processes: BTreeMap::new(),
            summary: Summary::default(),
            seen: 0,
            words: Vec::new(),
        })
    }

    /// The variables that a program is to be started with. The program itself does not see them.
    pub fn environment(&self) -> [(&'static str, OsString); 2] {
        let mut preload = self.folder.library.clone().into_os_string();
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        [("LD_PRELOAD", preload), ("TRACEWISE_RECORD", self.folder.ring.clone().into_os_string())]
    }

    /// Somebody judges the events as they come: a program that is about to be stopped by libc waits, a little, until the
    /// bell rings.
    pub fn checking(&self) -> Bell {
        self.shared.checking();
        Bell(self.shared.clone())
    }

    /// Writes the events that have come since, a line of JSON each; whether there was one.
    pub fn drain(&mut self, to: &mut Vec<u8>) -> bool {
        let now = Instant::now();
        if std::mem::take(&mut self.look) || now.duration_since(self.looked) >= LOOK {
            self.looked = now;
            self.used.clear();
            self.used.extend(
                (0..SLOTS).filter(|index| !matches!(self.shared.slot(*index).state(), FREE | CLAIMED)),
            );
        }
        let asks = now.duration_since(self.asked) >= ASK;
        let (mut any, mut words) = (false, std::mem::take(&mut self.words));
        let (shared, used) = (self.shared.clone(), std::mem::take(&mut self.used));
        // A thread tells its end, unless it was made behind the back of libc or of the library.
        let crowded = used.len() > SLOTS / 2;
        for slot in used.iter().map(|index| shared.slot(*index)) {
            // Asked before: what an ended thread wrote was written before it ended.
            let ended = slot.state() == ENDED;
            if slot.state() == FREE {
                continue;
            }
            let mut merge = std::mem::take(&mut self.merge);
            let came = slot.drain(&mut words, &mut |record| {
                self.announced(record);
                merge.take(record, &mut |record| self.emit(record, to));
            });
            self.merge = merge;
            any |= came;
            if ended && !came {
                self.count_thread(&slot);
                slot.free();
            } else if asks && !came && !slot.foreign() {
                if !alive(slot.pid()) {
                    self.over(slot.pid());
                    slot.end();
                } else if crowded && !runs(slot.pid(), slot.tid()) {
                    slot.end();
                }
            }
        }
        (self.used, self.words) = (used, words);
        if asks {
            self.asked = now;
            let mut merge = std::mem::take(&mut self.merge);
            merge.overdue(false, &mut |record| self.emit(record, to));
            self.merge = merge;
        }
        any
    }

    /// A child is known when its parent says that it is there, not when it says something itself: that may be long after its
    /// parent has ended. And at once, not in the order of all events, where it may have to wait for others.
    fn announced(&mut self, record: Record<'_>) {
        let child = match record.call() {
            FORK | VFORK => u32::try_from(record.result()).ok(),
            SPAWN if record.result() == 0 => record.argument(1).map(|child| child as u32),
            _ => None,
        };
        // Numbers of another namespace name nobody here.
        let Some(child) = child.filter(|child| *child > 0 && !record.foreign) else { return };
        let process = self.processes.entry(child).or_default();
        if process.over {
            // The number was another process's before.
            self.summary.processes += u64::from(process.begun);
            *process = Process::default();
        }
    }

    fn count_thread(&mut self, slot: &Slot<'_>) {
        let first = self.processes.get_mut(&slot.pid()).filter(|_| slot.pid() == slot.tid());
        let known = first.is_some_and(|process| std::mem::replace(&mut process.counted, true));
        self.summary.threads += u64::from(!slot.nested() && !known);
    }

    fn over(&mut self, pid: u32) {
        if let Some(process) = self.processes.get_mut(&pid) {
            process.over = true;
        }
    }

    fn emit(&mut self, record: Record<'_>, to: &mut Vec<u8>) {
        self.latest = self.latest.max((i128::from(record.time()) + self.offset).max(0) as u64);
        json::write(record, self.latest, to);
        self.summary.events += 1;
        self.keep_books(record);
    }

    fn keep_books(&mut self, record: Record<'_>) {
        let pid = record.process();
        let call = record.call();
        // All others say nothing of their process but that it is there.
        if !matches!(call, START | EXECVE | EXEC_FAILED | EXIT | SPAWN) && self.seen == pid {
            return;
        }
        self.seen = pid;
        if call == SPAWN
            && record.result() == 0
            && let Some(child) = record.argument(1)
        {
            let child = self.processes.entry(child as u32).or_default();
            child.spawned = Some(record.first_text().unwrap_or_default());
        }
        let process = self.processes.entry(pid).or_default();
        process.foreign |= record.foreign;
        process.begun = true;
        if call == START {
            process.spawned = None;
            // A process of a number that was there before is another one, unless it executes a program.
            if process.executes.take().is_none() && process.over {
                *process = Process { begun: true, ..Process::default() };
                self.summary.processes += 1;
            }
        } else if call == EXECVE {
            process.executes = Some(record.first_text().unwrap_or_default());
        } else if call == EXEC_FAILED {
            process.executes = None;
        } else if call == EXIT {
            process.exits = true;
        }
    }

    /// Whether processes that were recorded, or that those have made, are still running. What the last of them wrote before it
    /// ended may name another one: that nobody runs is sure where [`drain_all`](Self::drain_all) brings nothing more.
    pub fn running(&self) -> bool {
        self.processes.iter().any(|(pid, process)| !process.over && !process.foreign && alive(*pid))
    }

    /// As [`drain`](Self::drain), of threads that have come just now, too.
    pub fn drain_all(&mut self, to: &mut Vec<u8>) -> bool {
        self.look = true;
        self.drain(to)
    }

    /// The process `pid` has ended so: nothing more is recorded. Writes what was left, how the process ended, and an event
    /// `recorded` that says how the recording went.
    pub fn finish(mut self, pid: u32, status: ExitStatus, to: &mut Vec<u8>) -> Summary {
        // What the process wrote last may name others.
        while self.drain_all(to) {}
        let others = self
            .processes
            .iter()
            .filter(|(own, process)| **own != pid && !process.over && !process.foreign && alive(**own));
        let running: Vec<u32> = others.map(|(own, _)| *own).collect();
        self.summary.running = running.len() as u64;
        self.shared.close();
        // What threads of others are writing just now is short; what was begun long ago never comes.
        let until = Instant::now() + Duration::from_millis(if self.summary.running > 0 { 20 } else { 0 });
        loop {
            if !self.drain_all(to) && Instant::now() >= until {
                break;
            }
        }
        let mut merge = std::mem::take(&mut self.merge);
        merge.overdue(true, &mut |record| self.emit(record, to));
        merge.finish(self.shared.tickets());
        let (shared, used) = (self.shared.clone(), std::mem::take(&mut self.used));
        for slot in used.iter().map(|index| shared.slot(*index)).filter(|slot| slot.state() != FREE) {
            self.count_thread(&slot);
        }
        let begun = self.processes.values().filter(|process| process.begun && process.spawned.is_none());
        self.summary.processes += begun.count() as u64;
        (self.summary.unfinished, self.summary.late, self.summary.lost) =
            (merge.missing, merge.late, self.shared.lost());
        for (own, process) in &self.processes {
            if let Some(program) = process.executes.as_ref().or(process.spawned.as_ref()) {
                self.summary.unrecorded.push(program.clone());
            }
            let quiet =
                process.begun && !process.exits && process.executes.is_none() && process.spawned.is_none();
            let ended = *own == pid || !running.contains(own) && !alive(*own);
            self.summary.killed += u64::from(quiet && !process.foreign && ended);
        }
        self.say_the_end(pid, status, to);
        self.summary
    }

    fn say_the_end(&mut self, pid: u32, status: ExitStatus, to: &mut Vec<u8>) {
        match (status.code(), status.signal()) {
            (Some(code), _) => {
                json::head(self.latest, "exited", pid, pid, to);
                to.extend_from_slice(format!(",\"status\":{code}}}\n").as_bytes());
            }
            (None, signal) => {
                json::head(self.latest, "killed", pid, pid, to);
                let name = crate::names::signal(signal.unwrap_or_default());
                to.extend_from_slice(format!(",\"signal\":\"{name}\"}}\n").as_bytes());
            }
        }
        let summary = &self.summary;
        json::head(self.latest, "recorded", pid, pid, to);
        for (name, value) in [
            ("events", summary.events),
            ("processes", summary.processes),
            ("lost", summary.lost),
            ("unfinished", summary.unfinished),
            ("late", summary.late),
            ("running", summary.running),
        ] {
            to.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
        }
        to.extend_from_slice(format!(",\"whole\":{}}}\n", summary.whole()).as_bytes());
    }
}

/// The clock that records have their time of.
fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to the value that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Whether a process runs: one that has ended and is not waited for does not. One whose first thread has ended looks the same, but for
/// the number of its threads.
fn alive(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let Some((_, rest)) = stat.rsplit_once(") ") else { return false };
    let mut fields = rest.split(' ');
    let ended = matches!(fields.next(), None | Some("" | "Z" | "X"));
    let threads = fields.nth(16).and_then(|threads| threads.parse::<u32>().ok()).unwrap_or(1);
    !ended || threads > 1
}

/// Whether a thread runs.
fn runs(pid: u32, thread: u32) -> bool {
    fs::metadata(format!("/proc/{pid}/task/{thread}")).is_ok()
}
