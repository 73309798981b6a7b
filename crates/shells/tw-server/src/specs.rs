//! Specifications: files of a folder, or what was put there by request.

use crate::names;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracewise::diag::Diagnostic;
use tracewise::watch::{Prepared, WatchOptions, watch_channel};
use tracewise::{Error, Evaluating, Reading, Semantics, Session, Specification, TimeUnit};

/// Parts of formulas that a specification may have: each stream that it is about has its own machines for them.
const NODES: usize = 20_000;

/// A specification that the server has.
#[derive(Debug)]
pub struct Spec {
    /// Its name: that of its file, without `.tw`.
    pub name: Arc<str>,
    /// As written.
    pub text: Arc<str>,
    /// As understood.
    pub specification: Specification,
    /// The streams it is about; all, if it names none.
    pub streams: Option<Vec<String>>,
}

impl Spec {
    /// Understands a text, or says what is wrong with it.
    pub fn read(name: &str, text: &str) -> Result<Self, Error> {
        let specification = Specification::from_text(&format!("{name}.tw"), text)?;
        let nodes = specification.program.dag.len();
        if nodes > NODES {
            return Err(Error::refused(format!(
                "the specification has {nodes} parts, more than the {NODES} that a server watches on each of its streams"
            )));
        }
        let streams = specification.settings.stream.as_ref().map(|names| {
            names.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect()
        });
        if streams.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::refused("`stream` names no stream, so the specification would be about none"));
        }
        let spec = Self { name: name.into(), text: text.into(), specification, streams };
        // What no engine runs is refused when it is put, not when the first event comes.
        let prepared = spec.prepare("stream", usize::MAX)?;
        prepared.begin(&mut vec![crate::judge::Nobody; prepared.sinks()])?;
        Ok(spec)
    }

    /// Whether it is about a stream.
    pub fn is_about(&self, stream: &str) -> bool {
        self.streams.as_ref().is_none_or(|names| names.iter().any(|name| names::matches(name, stream)))
    }

    /// How a stream is watched by it.
    pub fn prepare(&self, stream: &str, memory: usize) -> Result<Prepared, Error> {
        let settings = &self.specification.settings;
        let session = self.session(memory).evaluating(evaluating(memory, Semantics::Ltl3));
        let options = WatchOptions {
            by: settings.by.clone(),
            skip_bad_lines: true,
            ..WatchOptions::new(watch_channel(stream).1)
        };
        session.prepare_watch(&self.specification, &options)
    }

    /// How its traces are read, and judged when they are over.
    pub fn session(&self, memory: usize) -> Session {
        let settings = &self.specification.settings;
        let unit = settings.time_unit.as_ref().and_then(|(unit, _)| TimeUnit::parse(unit));
        let reading = Reading {
            format: Some("jsonl".into()),
            time: settings.time.clone(),
            event: settings.event.clone(),
            unit: unit.unwrap_or(TimeUnit::Seconds),
            numbers: unit,
            skip_bad_lines: true,
            threads: 1,
            ..Reading::default()
        };
        Session::new().reading(reading).evaluating(evaluating(memory, Semantics::Finite))
    }

    /// Which of its properties, and whatever else has a name, can be judged where only the events of some values of a field are seen.
    pub fn divisible_by(&self, field: &str) -> Vec<(String, Result<(), String>)> {
        self.session(usize::MAX).divisible_by(&self.specification, field)
    }

    /// The same with these properties alone; nothing without any.
    pub fn only(self: &Arc<Self>, names: &[String], all: usize) -> Option<Arc<Self>> {
        match names.len() {
            0 => None,
            count if count == all => Some(self.clone()),
            _ => {
                let specification = self.specification.only(names).ok()?.into_owned();
                let (name, text, streams) = (self.name.clone(), self.text.clone(), self.streams.clone());
                Some(Arc::new(Self { name, text, specification, streams }))
            }
        }
    }

    /// What may be wrong with it.
    pub fn doubts(&self) -> Vec<Diagnostic> {
        let mut doubts = self.specification.warnings.clone();
        doubts.extend(self.specification.doubts());
        doubts
    }
}

fn evaluating(memory: usize, semantics: Semantics) -> Evaluating {
    let defaults = Evaluating::default();
    Evaluating { semantics, memory_budget: memory.min(defaults.memory_budget), ..defaults }
}

/// All specifications, and the folder where they are.
pub struct Specs {
    folder: PathBuf,
    all: Mutex<Vec<Arc<Spec>>>,
}

/// A file that could not be read as a specification.
pub struct Unread {
    /// Its name.
    pub name: String,
    /// Why not.
    pub error: Error,
}

impl Specs {
    /// Reads the folder, which is made if it is not there.
    pub fn open(folder: &Path) -> io::Result<(Self, Vec<Unread>)> {
        std::fs::create_dir_all(folder)?;
        let specs = Self { folder: folder.to_path_buf(), all: Mutex::default() };
        let (_, unread) = specs.reload()?;
        Ok((specs, unread))
    }

    /// All of them, by name.
    pub fn all(&self) -> Vec<Arc<Spec>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the folder again; whether something changed. A file that cannot be understood leaves what was there before.
    pub fn reload(&self) -> io::Result<(bool, Vec<Unread>)> {
        let before = self.all();
        let (mut after, mut unread) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".tw"));
            let Some(name) = name.filter(|name| names::check("specification", name).is_ok()) else {
                continue;
            };
            let known = before.iter().find(|spec| &*spec.name == name);
            let text = match std::fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) => {
                    let error = Error::Io { what: format!("cannot read {}", path.display()), error };
                    unread.push(Unread { name: name.to_string(), error });
                    after.extend(known.cloned());
                    continue;
                }
            };
            match known.filter(|known| *known.text == text) {
                Some(known) => after.push(known.clone()),
                None => match Spec::read(name, &text) {
                    Ok(spec) => after.push(Arc::new(spec)),
                    Err(error) => {
                        unread.push(Unread { name: name.to_string(), error });
                        after.extend(known.cloned());
                    }
                },
            }
        }
        after.sort_by(|a, b| a.name.cmp(&b.name));
        let same = before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| Arc::ptr_eq(a, b));
        *self.all.lock().unwrap_or_else(PoisonError::into_inner) = after;
        Ok((!same, unread))
    }

    /// Keeps a specification, in place of the one of its name.
    pub fn put(&self, spec: Spec) -> io::Result<Arc<Spec>> {
        let path = self.folder.join(format!("{}.tw", spec.name));
        tracewise::files::write_file(&path, spec.text.as_bytes())?;
        let spec = Arc::new(spec);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.name != spec.name);
        all.push(spec.clone());
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(spec)
    }

    /// Takes one away; whether it was there.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        match std::fs::remove_file(self.folder.join(format!("{name}.tw"))) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        self.all.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| &*known.name != name);
        Ok(true)
    }
}
