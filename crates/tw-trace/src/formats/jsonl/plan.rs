//! What the walker has to do with each key and each event name, worked out once from the projection.

use crate::formats::json_record::Keys;
use crate::{Projection, expect_of};
use rustc_hash::FxHashMap;
use tw_core::Value;
use tw_ir::{ArgumentKey, Expect, Path, PathStep, What};

/// Index in [`Plan::fields`].
pub(super) type FieldId = u32;

/// The plan.
pub(super) struct Plan {
    pub(super) keys: Keys,
    /// Use of each column: the slots', then the `--by` key's.
    pub(super) columns: Vec<Expect>,
    /// For each slot: its path has several steps, so its value may be found in two places.
    pub(super) nested: Vec<bool>,
    /// Keys that are read.
    pub(super) fields: Vec<Vec<Action>>,
    pub(super) by_name: FxHashMap<String, FieldId>,
    pub(super) events: FxHashMap<String, EventPlan>,
    /// Column of the `--by` key.
    pub(super) key: Option<usize>,
    pub(super) timed: bool,
    /// Deliver timestamps.
    pub(super) times: bool,
    /// Nanoseconds per unit of the `n`-th decimal place, 0 where that is not whole.
    pub(super) scale: [i64; 20],
}

/// What to do with the value of a key.
pub(super) enum Action {
    /// It is a slot's.
    Store(usize),
    /// It is the `--by` key.
    Key(usize),
    /// A slot's is inside; a key of the path's whole name (the field) comes first.
    Inside { slot: usize, path: Path, whole: FieldId },
    /// It is an event's argument: remember where it is.
    Remember,
}

/// What an event makes true.
#[derive(Default)]
pub(super) struct EventPlan {
    /// Propositions of its name.
    pub(super) propositions: Vec<usize>,
    /// Slots without arguments.
    pub(super) plain: Vec<usize>,
    /// Slots with arguments.
    pub(super) patterns: Vec<(usize, Vec<(FieldId, Value)>)>,
}

impl Plan {
    /// `None` if the projection asks for something only the definition does.
    pub(super) fn new(projection: &Projection<'_>, keys: Keys, timed: bool) -> Option<Self> {
        let unit = keys.unit.nanoseconds();
        let mut scale = [0; 20];
        let mut power: i64 = 1;
        for scale in &mut scale {
            *scale = if unit % power == 0 { unit / power } else { 0 };
            power = power.checked_mul(10).unwrap_or(i64::MAX);
        }
        let slots = projection.slots;
        let mut plan = Self {
            keys,
            columns: slots.iter().map(|slot| expect_of(&slot.what)).collect(),
            nested: vec![false; slots.len()],
            fields: Vec::new(),
            by_name: FxHashMap::default(),
            events: FxHashMap::default(),
            key: None,
            timed,
            times: timed && projection.times,
            scale,
        };
        for (index, slot) in slots.iter().enumerate() {
            match &slot.what {
                What::Proposition(path) => {
                    if path.has_each() {
                        return None;
                    }
                    plan.path(index, path);
                    plan.events.entry(path.to_string()).or_default().propositions.push(index);
                }
                What::Variable(path, _) => plan.path(index, path),
                What::Event { name, arguments, .. } if arguments.is_empty() => {
                    plan.events.entry(name.clone()).or_default().plain.push(index);
                }
                What::Event { name, arguments, .. } => {
                    let mut pattern = Vec::new();
                    for (key, constant) in arguments {
                        let (ArgumentKey::Name(argument) | ArgumentKey::Declared { name: argument, .. }) = key else {
                            return None;
                        };
                        let field = plan.field(argument, Action::Remember);
                        pattern.push((field, constant.clone()));
                    }
                    plan.events.entry(name.clone()).or_default().patterns.push((index, pattern));
                }
            }
        }
        if let Some(name) = projection.key {
            plan.key = Some(plan.columns.len());
            plan.field(name, Action::Key(plan.columns.len()));
            plan.columns.push(Expect::Text);
        }
        Some(plan)
    }

    fn field(&mut self, name: &str, action: Action) -> FieldId {
        let id = match self.by_name.get(name) {
            Some(&id) => id,
            None => {
                let id = self.fields.len() as FieldId;
                self.fields.push(Vec::new());
                self.by_name.insert(name.to_string(), id);
                id
            }
        };
        self.fields[id as usize].push(action);
        id
    }

    fn path(&mut self, slot: usize, path: &Path) {
        let whole = self.field(&path.to_string(), Action::Store(slot));
        if let [PathStep::Field(first), _, ..] = path.steps.as_slice() {
            self.nested[slot] = true;
            self.field(first, Action::Inside { slot, path: path.clone(), whole });
        }
    }
}
