//! Silences: violations that webhooks do not tell for a while. They stand in a file, so that they outlive the server.

use super::matching::{Labels, Matcher};
use super::settings::Window;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most there may be.
const MOST: usize = 1000;
/// How long one that is over is still shown, in milliseconds.
const SHOWN: u64 = 24 * 3600 * 1000;

/// What is not told from one time to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// What it is known by.
    pub id: String,
    /// All of them have to take a violation.
    pub matchers: Vec<Matcher>,
    /// Milliseconds since 1970.
    pub from: u64,
    /// The same.
    pub until: u64,
    /// Why.
    pub comment: String,
    /// Whose token it was.
    pub by: Option<String>,
}

impl Silence {
    /// As JSON; times in seconds.
    pub fn json(&self) -> Value {
        let matchers: Vec<String> = self.matchers.iter().map(Matcher::text).collect();
        json!({"id": self.id, "match": matchers, "from": self.from as f64 / 1e3, "until": self.until as f64 / 1e3,
               "comment": self.comment, "by": self.by})
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_string);
        let time = |name: &str| value[name].as_f64().map(|seconds| (seconds * 1e3).round() as u64);
        let matchers = value["match"].as_array()?.iter().map(|text| Matcher::parse(text.as_str()?).ok());
        Some(Self {
            id: text("id")?,
            matchers: matchers.collect::<Option<_>>()?,
            from: time("from")?,
            until: time("until")?,
            comment: text("comment").unwrap_or_default(),
            by: text("by"),
        })
    }

    fn silences(&self, labels: &Labels, now: u64) -> bool {
        (self.from..self.until).contains(&now) && self.matchers.iter().all(|own| own.takes(labels))
    }
}

/// All silences: those that were asked for, and the windows of the settings.
#[derive(Debug)]
pub struct Silences {
    path: PathBuf,
    windows: Vec<Window>,
    all: Mutex<Vec<Silence>>,
}

impl Silences {
    /// Reads those that were kept.
    pub fn open(data: &Path, windows: Vec<Window>) -> io::Result<Self> {
        let path = data.join("silences.json");
        let all = match std::fs::read(&path) {
            Ok(bytes) => {
                let read = serde_json::from_slice::<Vec<Value>>(&bytes).ok();
                let read = read.and_then(|all| all.iter().map(Silence::read).collect::<Option<Vec<_>>>());
                let why = || format!("{}: it is no list of silences", path.display());
                read.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, why()))?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { path, windows, all: Mutex::new(all) })
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Silence>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, those that ended today included.
    pub fn all(&self) -> Vec<Silence> {
        self.locked().clone()
    }

    /// Whether something is not told at a time.
    pub fn silences(&self, labels: &Labels, now: u64) -> bool {
        self.windows.iter().any(|own| own.silences(labels, now))
            || self.locked().iter().any(|own| own.silences(labels, now))
    }

    /// Adds one. It is on disk before this returns.
    pub fn add(&self, silence: Silence, now: u64) -> io::Result<()> {
        let mut all = self.locked();
        let mut new: Vec<Silence> =
            all.iter().filter(|own| own.until.saturating_add(SHOWN) > now).cloned().collect();
        if new.len() >= MOST {
            return Err(io::Error::other(format!(
                "there are {MOST} silences already, the most there may be"
            )));
        }
        new.push(silence);
        self.keep(&new)?;
        *all = new;
        Ok(())
    }

    /// Ends one; whether it was there.
    pub fn remove(&self, id: &str) -> io::Result<bool> {
        let mut all = self.locked();
        let new: Vec<Silence> = all.iter().filter(|own| own.id != id).cloned().collect();
        if new.len() == all.len() {
            return Ok(false);
        }
        self.keep(&new)?;
        *all = new;
        Ok(true)
    }

    fn keep(&self, all: &[Silence]) -> io::Result<()> {
        let list: Vec<Value> = all.iter().map(Silence::json).collect();
        tracewise::files::write_file(&self.path, Value::from(list).to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{Matcher, Silence, Silences};
    use crate::webhooks::matching::{Labels, tests::told};

    #[test]
    fn silences_are_kept() {
        let folder = std::env::temp_dir().join(format!("tracewise-silences-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let silences = Silences::open(&folder, Vec::new()).expect("none");
        let own = Silence {
            id: "a".into(),
            matchers: vec![Matcher::parse("property=p*").expect("a matcher")],
            from: 1000,
            until: 5250,
            comment: "work on \"it\"".into(),
            by: None,
        };
        silences.add(own.clone(), 0).expect("kept");
        let again = Silences::open(&folder, Vec::new()).expect("kept");
        assert_eq!(again.all(), [own]);
        let (yes, no) = (Labels::of(&told(1, "web", "p1")), Labels::of(&told(2, "web", "q")));
        assert!(again.silences(&yes, 1000) && again.silences(&yes, 5249));
        assert!(!again.silences(&yes, 999) && !again.silences(&yes, 5250) && !again.silences(&no, 2000));
        assert!(again.remove("a").expect("kept") && !again.remove("a").expect("kept"));
        assert!(Silences::open(&folder, Vec::new()).expect("kept").all().is_empty());
        std::fs::write(folder.join("silences.json"), "{}").expect("written");
        assert!(Silences::open(&folder, Vec::new()).is_err());
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
