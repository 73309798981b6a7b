//! What a stream keeps beside its log: which specifications judge which lines (`plan`), and how far they are (`state`).

use super::states::PropertyState;
use crate::pack::{Packer, Unpacker, read};
use crate::specs::Spec;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tracewise::Verdict;

const PLAN: &str = "tracewise plan 1";
const CUTS: &str = "tracewise cuts of a log 1";
const STATE: &str = "tracewise state of a stream 1";

/// A specification on a stream.
#[derive(Clone, Debug)]
pub struct Assigned {
    /// The specification.
    pub spec: Arc<Spec>,
    /// Lines before the first that it judges.
    pub since: u64,
}

/// From a line on, these specifications judge.
#[derive(Clone, Debug)]
pub struct Change {
    /// Lines before it.
    pub at: u64,
    /// All that judge from there on.
    pub specs: Vec<Assigned>,
}

/// Keeps what changes when; the first is in force.
pub fn save_plan(folder: &Path, changes: &[Change]) -> io::Result<()> {
    let mut pack = Packer::default();
    pack.number(changes.len() as u64);
    for change in changes {
        pack.number(change.at);
        pack.number(change.specs.len() as u64);
        for assigned in &change.specs {
            pack.bytes(assigned.spec.name.as_bytes());
            pack.number(assigned.since);
            pack.bytes(assigned.spec.text.as_bytes());
        }
    }
    pack.write(&folder.join("plan"), PLAN)
}

/// Reads it back; specifications that are the same as known ones are these, of others what `own` leaves of them.
pub fn load_plan(
    folder: &Path,
    known: &[Arc<Spec>],
    own: &dyn Fn(Arc<Spec>) -> Option<Arc<Spec>>,
) -> io::Result<Vec<Change>> {
    let Some(file) = read(&folder.join("plan"))? else { return Ok(Vec::new()) };
    let mut from = Unpacker::new(&file, PLAN)?;
    let mut changes = Vec::new();
    for _ in 0..from.number()? {
        let (at, count) = (from.number()?, from.number()?);
        let mut specs = Vec::new();
        for _ in 0..count {
            let (name, since, text) = (from.text()?, from.number()?, from.text()?);
            let same = known.iter().find(|spec| *spec.name == *name && *spec.text == *text);
            let spec = match same {
                Some(spec) => spec.clone(),
                // What was understood once may not be by another build: then it judges no more.
                None => match Spec::read(name, text).ok().and_then(|spec| own(Arc::new(spec))) {
                    Some(spec) => spec,
                    None => continue,
                },
            };
            specs.push(Assigned { spec, since });
        }
        changes.push(Change { at, specs });
    }
    Ok(changes)
}

/// Lines before which the log was cut back, in order.
pub fn load_cuts(folder: &Path) -> io::Result<Vec<u64>> {
    let Some(file) = read(&folder.join("cuts"))? else { return Ok(Vec::new()) };
    let mut from = Unpacker::new(&file, CUTS)?;
    (0..from.number()?).map(|_| from.number()).collect()
}

/// Keeps them, with one more: what comes after it stands where other lines stood.
pub fn add_cut(folder: &Path, cuts: &mut Vec<u64>, line: u64) -> io::Result<()> {
    // Lines that came after an earlier cut are gone with this one, and so may be what was found in them: each counts.
    cuts.push(line);
    let mut pack = Packer::default();
    pack.number(cuts.len() as u64);
    cuts.iter().for_each(|cut| pack.number(*cut));
    pack.write(&folder.join("cuts"), CUTS)
}

/// How far the judging of a stream is.
#[derive(Debug, Default)]
pub struct State {
    /// Lines before the next one to be judged.
    pub next: u64,
    /// Violations of all streams that were told before.
    pub told: u64,
    /// Of each specification.
    pub specs: Vec<SpecState>,
}

/// The state of a specification on a stream.
#[derive(Debug, Default)]
pub struct SpecState {
    /// Its name.
    pub name: String,
    /// Lines before its first.
    pub since: u64,
    /// What its watch keeps; nothing if it was stopped, for this reason.
    pub watch: Vec<u8>,
    /// Why it was stopped.
    pub stopped: Option<String>,
    /// Lines that it left out.
    pub left_out: u64,
    /// What its properties have come to.
    pub properties: Vec<PropertyState>,
}

impl State {
    /// Keeps it.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        let mut pack = Packer::default();
        pack.number(self.next);
        pack.number(self.told);
        pack.number(self.specs.len() as u64);
        for spec in &self.specs {
            pack.bytes(spec.name.as_bytes());
            pack.number(spec.since);
            pack.bytes(&spec.watch);
            pack.maybe(spec.stopped.as_deref());
            pack.number(spec.left_out);
            pack.number(spec.properties.len() as u64);
            for own in &spec.properties {
                pack.bytes(own.name.as_bytes());
                pack.bytes(own.text.as_bytes());
                pack.maybe(own.stopped.as_deref());
                pack.number(match own.verdict {
                    None => 0,
                    Some(Verdict::Satisfied) => 1,
                    Some(Verdict::Violated) => 2,
                    Some(Verdict::Unknown) => 3,
                });
                pack.number(own.violations);
                pack.maybe(own.last.as_deref());
                pack.maybe(own.value.as_deref());
            }
        }
        pack.write(&folder.join("state"), STATE)
    }

    /// Lines before the next one to be judged, of what a file has.
    pub fn line(file: &[u8]) -> io::Result<u64> {
        Unpacker::new(file, STATE)?.number()
    }

    /// Reads it back; `None` if there is none.
    pub fn load(folder: &Path) -> io::Result<Option<Self>> {
        let Some(file) = read(&folder.join("state"))? else { return Ok(None) };
        let mut from = Unpacker::new(&file, STATE)?;
        let mut state = State { next: from.number()?, told: from.number()?, specs: Vec::new() };
        for _ in 0..from.number()? {
            let mut spec = SpecState {
                name: from.text()?.to_string(),
                since: from.number()?,
                watch: from.bytes()?.to_vec(),
                stopped: from.maybe()?,
                left_out: from.number()?,
                properties: Vec::new(),
            };
            for _ in 0..from.number()? {
                spec.properties.push(PropertyState {
                    name: from.text()?.to_string(),
                    text: from.text()?.to_string(),
                    stopped: from.maybe()?,
                    verdict: match from.number()? {
                        1 => Some(Verdict::Satisfied),
                        2 => Some(Verdict::Violated),
                        3 => Some(Verdict::Unknown),
                        _ => None,
                    },
                    violations: from.number()?,
                    last: from.maybe()?,
                    value: from.maybe()?,
                    ..PropertyState::default()
                });
            }
            state.specs.push(spec);
        }
        Ok(Some(state))
    }
}
