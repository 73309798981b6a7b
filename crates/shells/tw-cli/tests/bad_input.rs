//! Bad files, bad specifications and bad usage, each through the built command.
//!
//! Every bad case exits with 2, prints nothing on standard output (so no verdict), does not panic, and says what
//! `bad_input.snap` holds for it. The fine cases look odd and are none of that: they exit with 0.
//! `UPDATE_SNAPSHOTS=1 cargo test -p tw-cli --test bad_input` rewrites the snapshots; read the difference as a user would.

#[path = "bad_input/charts.rs"]
mod charts;
mod common;
#[path = "bad_input/import.rs"]
mod import;
#[path = "bad_input/races.rs"]
mod races;
#[path = "bad_input/slice.rs"]
mod slice;
#[path = "bad_input/specifications.rs"]
mod specifications;
#[path = "bad_input/structured.rs"]
mod structured;
#[path = "bad_input/tables.rs"]
mod tables;
#[path = "bad_input/texts.rs"]
mod texts;
#[path = "bad_input/usage.rs"]
mod usage;

use common::words;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Nobody reads more than this.
const LONGEST: usize = 8 << 10;
/// No message takes this long, even on a busy machine; a hang does.
const SLOWEST: Duration = Duration::from_secs(60);

/// One run of the command in a directory of its own.
struct Case {
    name: &'static str,
    /// Arguments, split at white space; `'…'` is kept together.
    command: String,
    files: Vec<(&'static str, Content)>,
    input: &'static [u8],
    fine: bool,
}

enum Content {
    Bytes(Vec<u8>),
    /// A beginning, then zeros up to this length; takes no space on most disks.
    Sparse(&'static [u8], u64),
    Directory,
}

/// A case that must fail.
fn bad(name: &'static str, command: impl Into<String>) -> Case {
    Case { name, command: command.into(), files: Vec::new(), input: b"", fine: false }
}

/// A case that only looks odd.
fn fine(name: &'static str, command: impl Into<String>) -> Case {
    Case { fine: true, ..bad(name, command) }
}

impl Case {
    fn file(mut self, name: &'static str, bytes: impl AsRef<[u8]>) -> Self {
        self.files.push((name, Content::Bytes(bytes.as_ref().to_vec())));
        self
    }

    fn command(self, command: &str) -> Self {
        Self { command: command.to_string(), ..self }
    }

    fn sparse(mut self, name: &'static str, head: &'static [u8], length: u64) -> Self {
        self.files.push((name, Content::Sparse(head, length)));
        self
    }

    fn directory(mut self, name: &'static str) -> Self {
        self.files.push((name, Content::Directory));
        self
    }

    fn input(mut self, bytes: &'static [u8]) -> Self {
        self.input = bytes;
        self
    }

    /// Runs it and returns its snapshot, or what is wrong apart from the wording.
    fn run(&self, root: &Path) -> Result<String, String> {
        let directory = root.join(self.name);
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        for (name, content) in &self.files {
            let path = directory.join(name);
            let made = match content {
                Content::Bytes(bytes) => std::fs::write(&path, bytes),
                Content::Sparse(head, length) => std::fs::write(&path, head)
                    .and_then(|()| std::fs::OpenOptions::new().write(true).open(&path)?.set_len(*length)),
                Content::Directory => std::fs::create_dir(&path),
            };
            made.map_err(|error| format!("cannot prepare {name}: {error}"))?;
        }
        // Standard input from a file and output into files: no pipe can fill up while the time is watched.
        let stream = |name: &str| directory.join(name);
        std::fs::write(stream("<input>"), self.input).map_err(|error| error.to_string())?;
        let open = |name: &str| std::fs::File::create(stream(name)).map_err(|error| error.to_string());
        let mut child = Command::new(env!("CARGO_BIN_EXE_tracewise"))
            .args(words(&self.command))
            .current_dir(&directory)
            .env_clear()
            .stdin(std::fs::File::open(stream("<input>")).map_err(|error| error.to_string())?)
            .stdout(Stdio::from(open("<output>")?))
            .stderr(Stdio::from(open("<errors>")?))
            .spawn()
            .map_err(|error| error.to_string())?;
        let started = Instant::now();
        let status = loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if started.elapsed() > SLOWEST => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("does not end within {SLOWEST:?}"));
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let read = |name: &str| std::fs::read(stream(name)).map_err(|error| error.to_string());
        let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|error| format!("not UTF-8: {error}"));
        let (out, err) = (utf8(read("<output>")?)?, utf8(read("<errors>")?)?);
        let err = err.replace(&directory.display().to_string(), "<dir>");
        // A build with Parquet and Arrow lists two formats more.
        let err = err.replace(", parquet, arrow", "");
        // Large inputs have served their purpose.
        let _ = std::fs::remove_dir_all(&directory);
        let expected = if self.fine { 0 } else { 2 };
        let wrong = if status.code() != Some(expected) {
            Some(format!("ended with {status}, expected exit code {expected}"))
        } else if out.is_empty() == self.fine {
            Some("a bad case says nothing on standard output, a fine one something".to_string())
        } else if err.is_empty() != self.fine {
            Some("a bad case says why on standard error, a fine one nothing".to_string())
        } else if err.contains("panicked") || err.contains("RUST_BACKTRACE") {
            Some("panicked".to_string())
        } else if out.len() + err.len() > LONGEST {
            Some(format!("wrote {} bytes", out.len() + err.len()))
        } else {
            (out.chars().chain(err.chars()).find(|c| c.is_control() && *c != '\n'))
                .map(|control| format!("wrote the control character {control:?}"))
        };
        let shown = |text: &str| text.chars().take(LONGEST).collect::<String>();
        match wrong {
            Some(wrong) => Err(format!("{wrong}\n-- output\n{}-- errors\n{}", shown(&out), shown(&err))),
            None => Ok(format!("$ tracewise {}\nexit {expected}\n{out}{err}", self.command)),
        }
    }
}

/// The cases' results in order, run on a few threads.
fn results(cases: &[Case], root: &Path) -> Vec<Result<String, String>> {
    let next = AtomicUsize::new(0);
    let mut all: Vec<(usize, Result<String, String>)> = std::thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(index) else { return done };
                done.push((index, case.run(root)));
            }
        };
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

#[test]
fn messages() {
    let cases: Vec<Case> = [
        tables::cases(),
        structured::cases(),
        specifications::cases(),
        texts::cases(),
        usage::cases(),
        races::cases(),
        slice::cases(),
        import::cases(),
        charts::cases(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let names: HashSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len(), "names of cases are unique");
    assert!(cases.iter().filter(|case| !case.fine).count() >= 70, "the table is not to shrink");

    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bad_input");
    let _ = std::fs::remove_dir_all(&root);
    let results = results(&cases, &root);
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_input.snap");
    let stored = std::fs::read_to_string(&snapshots).unwrap_or_default();
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();

    let (mut failures, mut text) = (String::new(), String::new());
    for (case, result) in cases.iter().zip(&results) {
        let head = format!("=== {}\n", case.name);
        match result {
            Err(wrong) => {
                let _ = writeln!(failures, "{head}$ tracewise {}\n{wrong}", case.command);
            }
            Ok(snapshot) => {
                let entry = format!("{head}{snapshot}\n");
                if !update && !stored.contains(&entry) {
                    let known =
                        stored.split("=== ").find(|entry| entry.starts_with(&format!("{}\n", case.name)));
                    let known = known.unwrap_or("(nothing)\n");
                    let _ =
                        writeln!(failures, "{head}-- the snapshot is\n{known}-- but the run is\n{snapshot}");
                }
                text.push_str(&entry);
            }
        }
    }
    if update {
        std::fs::write(&snapshots, &text).expect("the snapshots can be written");
    } else if failures.is_empty() {
        assert!(!text.contains('⟨'), "a setting of the library is not spelled as a flag");
        assert_eq!(stored, text, "the snapshots hold more than the cases; UPDATE_SNAPSHOTS=1 rewrites them");
    }
    assert!(failures.is_empty(), "{failures}\n(UPDATE_SNAPSHOTS=1 rewrites tests/bad_input.snap)");
}
