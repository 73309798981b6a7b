//! Which callsites can matter, decided once for each.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{PoisonError, RwLock};
use tracewise::Specification;
use tracewise::ir::{ArgumentKey, Path, PathStep, What};
use tracing::Metadata;
use tracing::callsite::Identifier;

/// Added to a span's name when it closes.
pub(crate) const END: &str = "_end";
pub(crate) const ENTER: &str = "_enter";
pub(crate) const EXIT: &str = "_exit";

/// What every event has.
const CONTEXT: [&str; 3] = ["thread", "level", "target"];

/// The names that a specification mentions.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// Names of events.
    events: FxHashSet<String>,
    /// Variables.
    variables: FxHashSet<String>,
    /// Variables, and arguments of events.
    fields: FxHashSet<String>,
    /// Every event is a position.
    pub every_event: bool,
}

impl Vocabulary {
    pub fn of(spec: &Specification) -> Self {
        let mut names = Vocabulary::default();
        let first = |path: &Path| match path.steps.first() {
            Some(PathStep::Field(name)) => name.clone(),
            _ => String::new(),
        };
        for slot in &spec.program.slots {
            match &slot.what {
                // A bare name is an event or a variable, whichever the program has.
                What::Proposition(path) => {
                    names.events.extend(path.as_name().map(str::to_string));
                    names.variables.insert(first(path));
                }
                What::Timing(_) | What::Stream { .. } | What::Shift(_) | What::Window(_) => {}
                What::Variable(path, _) => {
                    names.variables.insert(first(path));
                }
                What::Event { name, arguments, .. } => {
                    names.events.insert(name.clone());
                    names.fields.extend(arguments.iter().filter_map(|(key, _)| match key {
                        ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. } => Some(name.clone()),
                        ArgumentKey::Index(_) => None,
                    }));
                }
                What::Tuples { name, constants, arguments, .. } => {
                    names.events.insert(name.clone());
                    let keys = constants.iter().map(|(key, _)| key).chain(arguments);
                    names.fields.extend(keys.filter_map(|key| match key {
                        ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. } => Some(name.clone()),
                        ArgumentKey::Index(_) => None,
                    }));
                }
            }
        }
        names.fields.extend(names.variables.iter().cloned());
        names.every_event = CONTEXT.iter().any(|name| names.variables.contains(*name));
        names
    }

    /// Whether an event of this name, with these fields of its own, is a position.
    pub fn counts<'f>(&self, name: &str, mut fields: impl Iterator<Item = &'f str>) -> bool {
        self.every_event
            || self.events.contains(name)
            || fields.any(|field| self.variables.contains(root(field)))
    }

    /// Whether the specification reads the field.
    pub fn reads(&self, field: &str) -> bool {
        self.fields.contains(root(field))
    }
}

/// A field `http.status` is read as a part of `http`.
fn root(field: &str) -> &str {
    field.split('.').next().unwrap_or(field)
}

/// What to do with a callsite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Nothing it does matters.
    None,
    /// Its fields may be arguments of events inside it, no more.
    Fields,
    /// It may be a position, or is written out.
    All,
}

/// The callsites seen so far.
#[derive(Debug, Default)]
pub(crate) struct Callsites {
    known: RwLock<FxHashMap<Identifier, Interest>>,
}

impl Callsites {
    /// What to do with a callsite.
    pub fn interest(&self, metadata: &'static Metadata<'static>, names: &Vocabulary) -> Interest {
        let key = metadata.callsite();
        if let Some(&known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known;
        }
        let interest = judge(metadata, names);
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(key, interest);
        interest
    }
}

fn judge(metadata: &'static Metadata<'static>, names: &Vocabulary) -> Interest {
    if names.every_event {
        return Interest::All;
    }
    let fields = || metadata.fields().iter().map(|field| field.name());
    let may_count = if metadata.is_span() {
        let name = metadata.name();
        let made = ["", END, ENTER, EXIT].map(|end| format!("{name}{end}"));
        made.iter().any(|name| names.counts(name, fields()))
    } else {
        // Named when it happens, or named here.
        fields().any(|field| matches!(field, "event" | "message"))
            || names.counts(name_of(metadata), fields())
    };
    match (may_count, metadata.is_span() && fields().any(|field| names.reads(field))) {
        (true, _) => Interest::All,
        (false, true) => Interest::Fields,
        (false, false) => Interest::None,
    }
}

/// The name of an event that its fields do not name: given with `name:`, else its target.
pub(crate) fn name_of(metadata: &'static Metadata<'static>) -> &'static str {
    // Without `name:` the macros make one of the place, which is no use as a name.
    let name = metadata.name();
    if name.starts_with("event ") && name.contains(':') { metadata.target() } else { name }
}
