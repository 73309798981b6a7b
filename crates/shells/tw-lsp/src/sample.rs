//! The sample trace that a specification names: its columns and events, from its first positions.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::SystemTime;
use tracewise::inspect::InspectReport;
use tracewise::language::TraceSettings;
use tracewise::{Reading, Session};

/// Positions that are looked at.
const MOST: u64 = 2000;
/// The longest line that is looked at, in bytes, and the bytes read at a time.
const LONGEST: usize = 1 << 20;

/// The last sample that was read.
#[derive(Default)]
pub struct Samples {
    last: Option<(Key, Option<Rc<InspectReport>>)>,
}

/// A file in a state, and how it is read.
#[derive(PartialEq)]
struct Key {
    path: PathBuf,
    modified: Option<SystemTime>,
    length: u64,
    settings: TraceSettings,
}

impl Samples {
    /// What the sample that the settings name holds; nothing if there is none, or it cannot be read.
    pub fn of(&mut self, settings: &TraceSettings) -> Option<Rc<InspectReport>> {
        let path = PathBuf::from(settings.sample.as_ref()?);
        // No pipes and devices: reading them would wait.
        let metadata = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let mut settings = settings.clone();
        // Where it is written changes with every line before it.
        if let Some((_, place)) = &mut settings.time_unit {
            *place = Default::default();
        }
        let key = Key { path, modified: metadata.modified().ok(), length: metadata.len(), settings };
        if let Some((last, sample)) = &self.last
            && *last == key
        {
            return sample.clone();
        }
        let read = Reading {
            format: key.settings.format.clone(),
            time: key.settings.time.clone(),
            event: key.settings.event.clone(),
            threads: 1,
            block: LONGEST,
            max_record: LONGEST,
            skip_bad_lines: true,
            ..Reading::default()
        };
        let file = key.path.to_string_lossy().into_owned();
        let report = Session::new().reading(read).inspect_first(&[file], MOST).ok().map(Rc::new);
        self.last = Some((key, report.clone()));
        report
    }
}
