//! Which names a trace mentions, and what that means for those a program asks for.

use super::*;
use crate::{TraceWarning, TraceWarningKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Names kept for "did you mean"; beyond this many no more are remembered.
const REMEMBERED: usize = 4096;

/// What a trace was seen to mention.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// For each slot: its name occurred as a variable.
    pub variable: Vec<bool>,
    /// For each slot: its name occurred as an event.
    pub event: Vec<bool>,
    /// The `--by` column occurred.
    pub key: bool,
    /// Names of variables seen (some).
    pub variables: BTreeSet<Arc<str>>,
    /// Names of events seen (some).
    pub events: BTreeSet<Arc<str>>,
    /// The trace has events at all (an `event` column, or a format made of them).
    pub has_events: bool,
    /// Positions.
    pub positions: u64,
    /// Of names of events, those with a number of arguments that no slot has, where arguments have places.
    pub others: BTreeMap<Arc<str>, Others>,
    /// Names of the row noted last, in its order.
    latest: Vec<Arc<str>>,
}

/// Events that have another number of arguments than they are asked for with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// How many events.
    pub count: u64,
    /// The least number of arguments that one has.
    pub least: usize,
    /// The greatest.
    pub most: usize,
}

impl Others {
    /// One more, with so many arguments.
    pub(crate) fn note(&mut self, arguments: usize) {
        self.add(Others { count: 1, least: arguments, most: arguments });
    }

    fn told(&self, name: &str, asked: usize) -> String {
        let (events, have) = match self.count {
            1 => ("one event".to_string(), "has"),
            many => (format!("{many} events"), "have"),
        };
        let plural = if self.most == 1 { "" } else { "s" };
        let found = match self.least == self.most {
            true => self.most.to_string(),
            false => format!("{} to {}", self.least, self.most),
        };
        format!(
            "{events} `{name}` {have} {found} argument{plural} in this trace, where {asked} are asked for"
        )
        .replace("where 1 are", "where 1 is")
    }

    fn add(&mut self, more: Others) {
        if self.count == 0 {
            *self = more;
        } else if more.count > 0 {
            let (least, most) = (self.least.min(more.least), self.most.max(more.most));
            *self = Others { count: self.count + more.count, least, most };
        }
    }
}

/// The numbers of arguments that slots ask an event of each name for, as bits; names of which no slot says it are left out.
pub(crate) fn arities(projection: &Projection) -> HashMap<String, u64> {
    let mut found: HashMap<String, u64> = HashMap::new();
    for slot in &*projection.slots {
        if let (Some(arguments), What::Event { name, .. } | What::Tuples { name, .. }) =
            (slot.what.arguments(), &slot.what)
        {
            *found.entry(name.clone()).or_default() |= arity_bit(arguments);
        }
    }
    found
}

/// The bit of a number of arguments; very many are all alike.
#[inline]
pub(crate) fn arity_bit(arguments: usize) -> u64 {
    1 << arguments.min(63)
}

impl Vocabulary {
    /// Nothing seen yet of `slots` slots.
    pub fn new(slots: usize) -> Self {
        Self { variable: vec![false; slots], event: vec![false; slots], ..Self::default() }
    }

    /// Notes a row's names.
    pub fn note_row(&mut self, row: &Row) {
        self.positions += 1;
        for (index, (name, _)) in row.variables.iter().enumerate() {
            // Most rows share their names with the row before.
            if self.latest.get(index).is_some_and(|latest| Arc::ptr_eq(latest, name)) {
                continue;
            }
            self.latest.truncate(index);
            self.latest.push(Arc::clone(name));
            self.note_variable(name);
        }
        for event in &row.events {
            self.remember_event(&event.name);
        }
    }

    /// Notes that there is a variable of that name.
    pub fn note_variable(&mut self, name: &Arc<str>) {
        if self.variables.len() < REMEMBERED && !self.variables.contains(name) {
            self.variables.insert(Arc::clone(name));
        }
    }

    /// Notes that an event of that name happens, also for the slots that ask for it.
    pub fn note_event(&mut self, name: &Arc<str>, projection: &Projection) {
        self.remember_event(name);
        for (event, slot) in self.event.iter_mut().zip(&*projection.slots) {
            *event |= match &slot.what {
                What::Proposition(path) => path.to_string() == **name,
                What::Event { name: asked, .. } | What::Tuples { name: asked, .. } => **asked == **name,
                What::Variable(..)
                | What::Timing(_)
                | What::Stream { .. }
                | What::Shift(_)
                | What::Window(_) => false, // Bare propositions are noted with their rows.
            };
        }
    }

    fn remember_event(&mut self, name: &Arc<str>) {
        self.has_events = true;
        if self.events.len() < REMEMBERED && !self.events.contains(name) {
            self.events.insert(Arc::clone(name));
        }
    }

    /// Adds what another part of the trace mentioned.
    pub fn merge(&mut self, other: &Vocabulary) {
        for (mine, theirs) in self.variable.iter_mut().zip(&other.variable) {
            *mine |= theirs;
        }
        for (mine, theirs) in self.event.iter_mut().zip(&other.event) {
            *mine |= theirs;
        }
        for (name, others) in &other.others {
            self.others.entry(name.clone()).or_default().add(*others);
        }
        self.key |= other.key;
        self.has_events |= other.has_events;
        self.positions += other.positions;
        for (mine, theirs) in [(&mut self.variables, &other.variables), (&mut self.events, &other.events)] {
            for name in theirs {
                if mine.len() < REMEMBERED {
                    mine.insert(name.clone());
                }
            }
        }
    }

    /// Judges the names a program asked for: unknown ones are errors, or warnings where events are an open
    /// vocabulary; a name that is a variable and an event is an error.
    pub fn judge(&self, projection: &Projection, open: bool) -> Result<Vec<TraceWarning>, TraceError> {
        let mut warnings = Vec::new();
        if self.positions == 0 {
            return Ok(warnings);
        }
        self.hidden(projection)?;
        let no_columns = open && self.variables.is_empty();
        let open = open || self.has_events;
        for (index, slot) in projection.slots.iter().enumerate() {
            let id = index as SlotId;
            let name = describe(&slot.what);
            let (variable, event) = (self.variable[index], self.event[index]);
            match &slot.what {
                What::Proposition(_) if variable && (event || self.events.contains(name.as_str())) => {
                    return Err(TraceError::new(
                        TraceErrorKind::AmbiguousName,
                        format!("`{name}` is a column and an event of this trace; write `event {name}` for the event or `` `{name}` `` in backquotes for the column"),
                    )
                    .for_slot(id));
                }
                What::Event { arguments, .. } if event => {
                    if let Some(argument) = self.unknown_argument(arguments.iter().map(|(key, _)| key)) {
                        return Err(self.unknown(argument).for_slot(id));
                    }
                }
                What::Tuples { constants, arguments, .. } if event => {
                    let keys = constants.iter().map(|(key, _)| key).chain(arguments);
                    if let Some(argument) = self.unknown_argument(keys) {
                        return Err(self.unknown(argument).for_slot(id));
                    }
                }
                _ if variable || event || slot.declared => {}
                What::Event { .. } | What::Tuples { .. } if !open => {
                    return Err(TraceError::new(
                        TraceErrorKind::UnknownName,
                        format!("`{name}` is used as an event, but this trace has no events (no `event` column; `⟨event: COL⟩` names another)"),
                    )
                    .naming(&name)
                    .for_slot(id));
                }
                What::Proposition(_)
                | What::Event { .. }
                | What::Tuples { .. }
                | What::Variable(_, Expect::Bool)
                    if open && (no_columns || !matches!(slot.what, What::Variable(..))) =>
                {
                    let near =
                        tw_core::suggest(&name, self.events.iter().chain(&self.variables).map(|n| &**n));
                    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                    warnings.push(TraceWarning {
                        message: format!("event `{name}` never occurs in this trace{hint}"),
                        slot: Some(id),
                        kind: TraceWarningKind::NeverOccurs,
                    });
                }
                _ => return Err(self.unknown(&name).for_slot(id)),
            }
        }
        for (name, others) in &self.others {
            let asked = projection.slots.iter().enumerate().find_map(|(index, slot)| match &slot.what {
                What::Event { name: own, .. } | What::Tuples { name: own, .. } if **own == **name => {
                    Some((index, slot.what.arguments()?))
                }
                _ => None,
            });
            let Some((index, asked)) = asked else { continue };
            warnings.push(TraceWarning {
                message: others.told(name, asked),
                slot: Some(index as SlotId),
                kind: TraceWarningKind::OtherArity,
            });
        }
        if let Some(key) = &projection.key
            && !self.key
            && !self.variables.contains(key.name.as_str())
        {
            return Err(self.unknown(&key.name));
        }
        Ok(warnings)
    }

    /// Whether the trace has a column that a name of the specification would hide: values under that name would be others.
    pub fn hidden(&self, projection: &Projection) -> Result<(), TraceError> {
        let Some(&id) = projection.bare.iter().find(|id| self.variable[**id as usize]) else { return Ok(()) };
        let name = describe(&projection.slots[id as usize].what);
        let message = match tw_ir::Measure::parse(&name) {
            None => format!(
                "`{name}` is a column of this trace, and a stream of the specification; rename the stream"
            ),
            Some(_) => format!(
                "`{name}` is a column of this trace, and what its timestamps say; write `` `{name}` `` in backquotes for the column \
                 or `{name}()` for the time"
            ),
        };
        Err(TraceError::new(TraceErrorKind::AmbiguousName, message).for_slot(id))
    }

    /// A named argument that no position has, in a trace whose arguments have names.
    fn unknown_argument<'s>(&self, mut arguments: impl Iterator<Item = &'s ArgumentKey>) -> Option<&'s str> {
        let remembered_all = self.variables.len() < REMEMBERED;
        arguments.find_map(|key| match key {
            ArgumentKey::Name(name) if remembered_all && !self.variables.contains(name.as_str()) => {
                Some(name.as_str())
            }
            _ => None,
        })
    }

    fn unknown(&self, name: &str) -> TraceError {
        let hint = match tw_core::suggest(name, self.variables.iter().map(|n| &**n)) {
            Some(near) => format!("did you mean {}?", quote(near)),
            None if self.variables.is_empty() => "this trace has no variables".to_string(),
            None => {
                let some: Vec<String> = self.variables.iter().take(8).map(|n| quote(n)).collect();
                let more = if self.variables.len() > 8 { ", …" } else { "" };
                format!("the trace has {}{more}", some.join(", "))
            }
        };
        TraceError::new(TraceErrorKind::UnknownName, format!("unknown variable {}: {hint}", quote(name)))
            .naming(name)
    }
}
