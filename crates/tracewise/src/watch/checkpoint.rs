//! The file that keeps the state of a watch.
//!
//! ```text
//! magic and version │ BLAKE3 of the rest │ what was watched, how │ the stream │ its time │ the monitor │ verdicts told
//! ```
//!
//! It is replaced as a whole: written beside, forced to disk, renamed over the old one, and the directory forced to
//! disk. Whoever is killed at any moment leaves the old state or the new one. A file that is cut short, damaged or of
//! another watch is refused by name of what differs.

use super::state::{bytes, number, put_bytes, text};
use super::told::Record;
use std::io::{self, Write};
use std::path::Path;
use tw_core::codec::put;
use tw_core::{NewFile, read_file};

const MAGIC: &[u8; 16] = b"tracewise state\n";
const VERSION: u8 = 12;
/// Most bytes of a checkpoint that are read.
const LARGEST: u64 = 4 << 30;
const HEADER: usize = MAGIC.len() + 1 + 32;

/// The state of a watch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Checkpoint {
    /// What was watched and how: labels and values, all of which have to agree.
    pub settings: Vec<(String, String)>,
    /// `Live::save`.
    pub live: Vec<u8>,
    /// How far its time has come, and what waits for it.
    pub time: Vec<u8>,
    /// `Monitor::save`.
    pub monitor: Vec<u8>,
    /// `QueryMonitor::save`.
    pub queries: Vec<u8>,
    /// What monitors keep and told.
    pub monitors: Vec<u8>,
    /// What was told: first lines and how many there were.
    pub told: Record,
    /// Lines left out.
    pub bad_lines: u64,
}

impl Checkpoint {
    /// Replaces the file at `path`.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = NewFile::create(path)?;
        file.write_all(&self.to_bytes())?;
        file.commit()
    }

    /// As the file holds it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = self.encode();
        [MAGIC, &[VERSION][..], blake3::hash(&body).as_bytes(), &body].concat()
    }

    /// Reads it back; `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, String> {
        let bytes = match read_file(path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        Self::of_bytes(&bytes).map(Some)
    }

    /// Reads it from the bytes of a file.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, String> {
        if !bytes.starts_with(MAGIC) {
            return Err("this is not a checkpoint".into());
        }
        match bytes.get(MAGIC.len()) {
            Some(&VERSION) => {}
            Some(other) => {
                return Err(format!("it has version {other} of the format, this build reads {VERSION}"));
            }
            None => return Err("it is cut short".into()),
        }
        let Some((header, body)) = bytes.split_at_checked(HEADER) else {
            return Err("it is cut short".into());
        };
        if blake3::hash(body).as_bytes() != &header[MAGIC.len() + 1..] {
            return Err("it is damaged or cut short: its content does not have its checksum".into());
        }
        Self::decode(body)
    }

    /// What differs between the two watches, in words.
    pub fn differs(&self, settings: &[(String, String)]) -> Option<String> {
        let value = |label: &str| settings.iter().find(|(other, _)| other == label).map(|(_, value)| value);
        self.settings.iter().find_map(|(label, theirs)| match value(label) {
            Some(ours) if ours == theirs => None,
            _ if label == "specification" => Some("it is of another specification".into()),
            Some(ours) => Some(format!("its {label} is {theirs}, that of this run is {ours}")),
            None => Some(format!("its {label} is {theirs}, which this build does not know")),
        })
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(self.settings.len() as u64, &mut out);
        for (label, value) in &self.settings {
            put_bytes(label.as_bytes(), &mut out);
            put_bytes(value.as_bytes(), &mut out);
        }
        put_bytes(&self.live, &mut out);
        put_bytes(&self.time, &mut out);
        put_bytes(&self.monitor, &mut out);
        put_bytes(&self.queries, &mut out);
        put_bytes(&self.monitors, &mut out);
        self.told.save(&mut out);
        put(self.bad_lines, &mut out);
        out
    }

    fn decode(mut body: &[u8]) -> Result<Self, String> {
        let from = &mut body;
        let mut state = Self::default();
        for _ in 0..number(from)? {
            state.settings.push((text(from)?, text(from)?));
        }
        state.live = bytes(from)?.to_vec();
        state.time = bytes(from)?.to_vec();
        state.monitor = bytes(from)?.to_vec();
        state.queries = bytes(from)?.to_vec();
        state.monitors = bytes(from)?.to_vec();
        state.told = Record::load(from)?;
        state.bad_lines = number(from)?;
        if from.is_empty() { Ok(state) } else { Err("it is longer than it should be".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::told::{Failure, Told};
    use super::*;
    use tw_monitor::{Bindings, Obligation};

    fn example() -> Checkpoint {
        let bindings = Bindings::new(vec![(0, tw_core::Value::text("bob")), (3, tw_core::Value::Int(-7))]);
        let due = Obligation {
            root: 1,
            since: 7,
            residual: "F[0,5s] ack".into(),
            deadline: Some(-3),
            bindings: bindings.clone(),
        };
        let failure = Failure {
            position: 5,
            time: Some(-9),
            line: Some((6, "früh".into())),
            bindings: bindings.clone(),
        };
        let told = |root: usize, line| Told {
            root,
            position: 300 * root,
            holds: root == 1,
            line,
            time: (root == 1).then_some(i64::MIN),
            due: (root == 1).then(|| due.clone()),
            failure: (root == 1).then(|| failure.clone()),
            failures: 7 * root as u64,
            key: vec![("user".into(), tw_core::Value::text("eve")); root],
        };
        let mut record = Record::default();
        for (root, line) in [(0, None), (1, Some((7, "löst\n".into()))), (1, None)] {
            record.note(told(root, line));
        }
        Checkpoint {
            settings: vec![("engine".into(), "rewrite".into()), ("specification".into(), "ab".into())],
            live: vec![1, 2, 3],
            time: vec![9],
            monitor: vec![0; 300],
            queries: vec![7; 9],
            monitors: vec![5; 3],
            told: record,
            bad_lines: 3,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = std::env::temp_dir().join(format!("tracewise-checkpoint-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("state");
        assert_eq!(Checkpoint::read(&path), Ok(None));
        example().write(&path).unwrap();
        example().write(&path).unwrap();
        assert_eq!(Checkpoint::read(&path), Ok(Some(example())));
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "nothing is left beside it");

        // Cut anywhere, or with any byte changed, it is refused.
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(Checkpoint::read(&path).is_err(), "cut at {at}");
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            assert!(Checkpoint::read(&path).is_err(), "damaged at {at}");
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn differences_are_named() {
        let settings = |engine: &str, spec: &str| {
            vec![("engine".to_string(), engine.to_string()), ("specification".to_string(), spec.to_string())]
        };
        assert_eq!(example().differs(&settings("rewrite", "ab")), None);
        let engine = example().differs(&settings("automaton", "ab")).unwrap();
        assert_eq!(engine, "its engine is rewrite, that of this run is automaton");
        assert!(example().differs(&settings("rewrite", "cd")).unwrap().contains("another specification"));
    }
}
