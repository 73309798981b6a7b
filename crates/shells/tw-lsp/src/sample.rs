//! The sample trace that a specification names: its columns and events, from its first positions.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::SystemTime;
use tracewise::diag::plain;
use tracewise::inspect::InspectReport;
use tracewise::language::TraceSettings;
use tracewise::{Error, Reading, Session};

/// Positions that are looked at.
const MOST: u64 = 2000;
/// The longest line that is looked at, in bytes, and the bytes read at a time.
const LONGEST: usize = 1 << 20;

/// The last sample that was read.
#[derive(Default)]
pub struct Samples {
    last: Option<(Key, Found)>,
}

/// What a sample holds, or why that is not known.
type Found = Result<Rc<InspectReport>, String>;

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
        self.read(settings)?.ok()
    }

    /// Why the sample that the settings name cannot be read, if it is there and cannot.
    pub fn trouble(&mut self, settings: &TraceSettings) -> Option<String> {
        self.read(settings)?.err()
    }

    fn read(&mut self, settings: &TraceSettings) -> Option<Found> {
        let path = PathBuf::from(settings.sample.as_ref()?);
        let metadata = std::fs::metadata(&path).ok()?;
        // No pipes and devices: reading them would wait.
        if !metadata.is_file() {
            return Some(Err("it is no file".to_owned()));
        }
        let mut settings = settings.clone();
        // Where it is written changes with every line before it.
        if let Some((_, place)) = &mut settings.time_unit {
            *place = Default::default();
        }
        let key = Key { path, modified: metadata.modified().ok(), length: metadata.len(), settings };
        if let Some((last, found)) = &self.last
            && *last == key
        {
            return Some(found.clone());
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
        let found = match Session::new().reading(read).inspect_first(&[file], MOST) {
            Ok(report) if report.positions > 0 => Ok(Rc::new(report)),
            Ok(InspectReport { skipped: Some(skipped), .. }) => Err(plain(&skipped.message)),
            Ok(_) => Err("it has no positions".to_owned()),
            Err(error) => Err(told(&error)),
        };
        self.last = Some((key, found.clone()));
        Some(found)
    }
}

/// The message of an error, without what renders it for a terminal.
fn told(error: &Error) -> String {
    let found = error.to_json().into_iter().next();
    let message = found.as_ref().and_then(|found| found["message"].as_str());
    plain(message.unwrap_or("it cannot be read"))
}
