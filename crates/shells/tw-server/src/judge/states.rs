//! What properties have come to, for who asks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracewise::{Specification, Verdict};

/// A specification at work on a stream.
#[derive(Debug)]
pub struct Watched {
    /// The stream.
    pub stream: Arc<str>,
    /// The specification.
    pub spec: Arc<str>,
    /// Its properties, monitors, queries and requirements.
    pub properties: Mutex<Vec<PropertyState>>,
    /// Positions read.
    pub positions: AtomicU64,
    /// Lines that this specification could not read.
    pub left_out: AtomicU64,
    /// Bytes held.
    pub bytes: AtomicU64,
    /// What was wrong with the last of them.
    pub last_left_out: Mutex<Option<String>>,
    /// Why it is not at work any more.
    pub stopped: Mutex<Option<String>>,
}

/// What a property has come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertyState {
    /// Its name.
    pub name: String,
    /// The sentence in quotes after it.
    pub title: Option<String>,
    /// Its text.
    pub text: String,
    /// `property`, `monitor`, `query` or `requirement`.
    pub kind: &'static str,
    /// Its verdict, once that is settled; of a property that is told for each key or position, the last.
    pub verdict: Option<Verdict>,
    /// Violations so far.
    pub violations: u64,
    /// The JSON of the last.
    pub last: Option<String>,
    /// Why it is not at work any more, though others of its specification may be.
    pub stopped: Option<String>,
    /// Bytes that it holds, together with what it is judged with.
    pub bytes: u64,
    /// Of a query, what it is worth, as JSON.
    pub value: Option<String>,
    /// What is owed, as JSON, the most urgent first, …
    pub pending: Vec<String>,
    /// … and how much of it there is.
    pub pending_count: u64,
}

impl PropertyState {
    /// `violated`, `satisfied`, or `open` while it is neither.
    pub fn state(&self) -> &'static str {
        match self.verdict {
            _ if self.stopped.is_some() => "stopped",
            _ if self.violations > 0 => "violated",
            Some(Verdict::Violated) => "violated",
            Some(Verdict::Satisfied) => "satisfied",
            _ => "open",
        }
    }
}

impl Watched {
    /// Nothing is known yet.
    pub fn new(stream: &Arc<str>, spec: &Arc<str>, text: &Specification) -> Self {
        let program = &text.program;
        let root = |kind, name: &str, title: &Option<String>, text: String| PropertyState {
            name: name.to_string(),
            title: title.clone(),
            text,
            kind,
            ..PropertyState::default()
        };
        let mut properties = Vec::new();
        for own in &program.roots {
            let kind = match own.kind {
                tracewise::ir::RootKind::Property => "property",
                tracewise::ir::RootKind::Query => "query",
            };
            properties.push(root(kind, &own.name, &own.title, text.words(own.node)));
        }
        for own in &program.monitors {
            let head = format!("monitor {}({})", own.name, own.parameters.join(", "));
            properties.push(root("monitor", &own.name, &own.title, head));
        }
        for own in &program.requirements {
            properties.push(root("requirement", &own.root.name, &own.root.title, text.words(own.root.node)));
        }
        Self {
            stream: stream.clone(),
            spec: spec.clone(),
            properties: Mutex::new(properties),
            positions: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            last_left_out: Mutex::default(),
            stopped: Mutex::default(),
        }
    }

    /// Its properties.
    pub fn properties(&self) -> MutexGuard<'_, Vec<PropertyState>> {
        self.properties.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is pending is asked for anew.
    pub fn forget_pending(&self) {
        for own in self.properties().iter_mut() {
            own.pending.clear();
            own.pending_count = 0;
        }
    }

    /// Properties cannot go on, though others can; whether that is new.
    pub fn stop_some(&self, names: &[String], why: &str) -> bool {
        let mut new = false;
        for own in self.properties().iter_mut().filter(|own| names.contains(&own.name)) {
            new |= own.stopped.is_none();
            own.stopped.get_or_insert_with(|| why.to_string());
        }
        new
    }

    /// Properties hold so much together.
    pub fn weigh(&self, names: &[String], bytes: u64) {
        self.properties()
            .iter_mut()
            .filter(|own| names.contains(&own.name))
            .for_each(|own| own.bytes = bytes);
    }

    /// Why it is not at work any more, if that is so.
    pub fn stopped(&self) -> Option<String> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It cannot go on.
    pub fn stop(&self, why: String) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// What was wrong with the last line that was left out.
    pub fn last_left_out(&self) -> Option<String> {
        self.last_left_out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A line was left out.
    pub fn leave_out(&self, why: String) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
        *self.last_left_out.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}
