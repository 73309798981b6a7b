//! What the walker has to do with each key and each event name, worked out once from the projection.

use crate::formats::json_record::Keys;
use crate::{Projection, expect_of};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_core::Value;
use tw_ir::{ArgumentKey, Expect, Path, PathStep, What};

/// Index in [`Plan::fields`].
pub(super) type FieldId = u32;
/// Index in [`Plan::nodes`].
pub(super) type NodeId = u32;

/// The node of the record itself.
pub(super) const ROOT: NodeId = 0;
/// Longest path that is followed key by key.
const STEPS: usize = 16;

/// The plan.
pub(super) struct Plan {
    pub(super) keys: Keys,
    /// Use of each column: the slots', then the `--by` key's.
    pub(super) columns: Vec<Expect>,
    /// For each slot: its value may also be found by decoding another key's.
    pub(super) decoded: Vec<bool>,
    /// What to do with the value of each key that matters; nothing if it only matters what is inside.
    pub(super) fields: Vec<Vec<Action>>,
    /// Keys of the record.
    pub(super) by_name: FxHashMap<String, FieldId>,
    /// Keys inside keys that are followed without looking at the rest of the object.
    pub(super) nodes: Vec<Node>,
    pub(super) events: FxHashMap<String, EventPlan>,
    /// Slots in the order of the projection; the `--by` key is not one.
    pub(super) slots: usize,
    pub(super) timed: bool,
    /// Timestamps may go back.
    pub(super) any_order: bool,
    /// Deliver timestamps.
    pub(super) times: bool,
    /// Nanoseconds per unit of the `n`-th decimal place, 0 where that is not whole.
    pub(super) scale: [i64; 20],
}

/// A key that leads to others.
#[derive(Default)]
pub(super) struct Node {
    pub(super) children: FxHashMap<String, Child>,
}

/// A key inside a node.
#[derive(Clone, Copy)]
pub(super) struct Child {
    pub(super) field: FieldId,
    /// If it leads to others itself.
    pub(super) node: Option<NodeId>,
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
    /// Propositions of its name, and the field that has the name.
    pub(super) propositions: Vec<(usize, FieldId)>,
    /// Slots without arguments.
    pub(super) plain: Vec<usize>,
    /// Slots with arguments.
    pub(super) patterns: Vec<(usize, Vec<(FieldId, Value)>)>,
}

impl Plan {
    /// `None` if the projection asks for something only the definition does.
    pub(super) fn new(projection: &Projection, keys: Keys, timed: bool) -> Option<Self> {
        let unit = keys.stamps.nanoseconds();
        let mut scale = [0; 20];
        let mut power: i64 = 1;
        for scale in &mut scale {
            *scale = if unit % power == 0 { unit / power } else { 0 };
            power = power.checked_mul(10).unwrap_or(i64::MAX);
        }
        let slots = &projection.slots;
        let mut plan = Self {
            keys,
            columns: slots.iter().map(|slot| expect_of(&slot.what)).collect(),
            decoded: vec![false; slots.len()],
            fields: Vec::new(),
            by_name: FxHashMap::default(),
            nodes: vec![Node::default()],
            events: FxHashMap::default(),
            slots: slots.len(),
            timed,
            any_order: false,
            times: timed && projection.times,
            scale,
        };
        let mut nested = Vec::new();
        for (index, slot) in slots.iter().enumerate() {
            match &slot.what {
                What::Proposition(path) => {
                    if path.has_each() {
                        return None;
                    }
                    let name = path.to_string();
                    let field = plan.path(index, path, &mut nested);
                    plan.events.entry(name).or_default().propositions.push((index, field));
                }
                What::Variable(path, _) => {
                    plan.path(index, path, &mut nested);
                }
                // Row by row, block by block: tuples have no columns of their own yet.
                What::Tuples { .. }
                | What::Timing(_)
                | What::Stream { .. }
                | What::Shift(_)
                | What::Window(_) => return None,
                What::Event { name, arguments, .. } if arguments.is_empty() => {
                    plan.events.entry(name.clone()).or_default().plain.push(index);
                }
                What::Event { name, arguments, .. } => {
                    let mut pattern = Vec::new();
                    for (key, constant) in arguments {
                        let (ArgumentKey::Name(argument) | ArgumentKey::Declared { name: argument, .. }) =
                            key
                        else {
                            return None;
                        };
                        let field = plan.field(argument);
                        plan.fields[field as usize].push(Action::Remember);
                        pattern.push((field, constant.clone()));
                    }
                    plan.events.entry(name.clone()).or_default().patterns.push((index, pattern));
                }
            }
        }
        let mut key = None;
        if let Some(wanted) = &projection.key {
            let field = plan.field(&wanted.name);
            key = Some((wanted, field)).filter(|_| wanted.is_nested());
            // A nested key that is read for something else as well is left to the definition.
            if key.is_some() && !plan.fields[field as usize].is_empty() {
                return None;
            }
            plan.fields[field as usize].push(Action::Key(plan.columns.len()));
            plan.columns.push(Expect::Text);
        }
        let paths: Vec<Path> = nested.iter().map(|(_, path, _)| path.clone()).collect();
        plan.nest(nested);
        if let Some((key, field)) = key {
            if !plan.may_follow(&key.path, &paths) {
                return None;
            }
            plan.follow(&key.path, field);
        }
        Some(plan)
    }

    fn field(&mut self, name: &str) -> FieldId {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let id = self.new_field();
        self.by_name.insert(name.to_string(), id);
        id
    }

    fn new_field(&mut self) -> FieldId {
        self.fields.push(Vec::new());
        (self.fields.len() - 1) as FieldId
    }

    /// The field of a path's whole name.
    fn path(&mut self, slot: usize, path: &Path, nested: &mut Vec<(usize, Path, FieldId)>) -> FieldId {
        let whole = self.field(&path.to_string());
        self.fields[whole as usize].push(Action::Store(slot));
        if path.steps.len() > 1 {
            nested.push((slot, path.clone(), whole));
        }
        whole
    }

    /// Paths of several steps: key by key where that is all there is to do, else by decoding the value of the first key.
    fn nest(&mut self, nested: Vec<(usize, Path, FieldId)>) {
        let first = |path: &Path| match path.steps.first() {
            Some(PathStep::Field(name)) => name.clone(),
            _ => String::new(),
        };
        let mut decode: FxHashSet<String> = FxHashSet::default();
        for (_, path, whole) in &nested {
            let name = first(path);
            let taken = self.by_name.get(&name).is_some_and(|&field| !self.fields[field as usize].is_empty());
            let shared = |action: &Action| {
                let Action::Store(slot) = action else { return true };
                !nested.iter().any(|(other, same, _)| other == slot && same == path)
            };
            let inside =
                |other: &Path| path.steps.len() < other.steps.len() && other.steps.starts_with(&path.steps);
            if taken
                || path.has_each()
                || path.steps.len() > STEPS
                || self.fields[*whole as usize].iter().any(shared)
                || nested.iter().any(|(_, other, _)| inside(other))
                || name == self.keys.time
                || name == self.keys.event
            {
                decode.insert(name);
            }
        }
        for (slot, path, whole) in nested {
            let name = first(&path);
            if decode.contains(&name) {
                let field = self.field(&name);
                self.decoded[slot] = true;
                self.fields[field as usize].push(Action::Inside { slot, path, whole });
            } else {
                self.follow(&path, whole);
            }
        }
    }

    /// Whether a path can be followed key by key beside the others, which have their nodes.
    fn may_follow(&self, path: &Path, others: &[Path]) -> bool {
        let Some(PathStep::Field(first)) = path.steps.first() else { return false };
        let taken = self.by_name.get(first).is_some_and(|&field| !self.fields[field as usize].is_empty());
        let overlaps =
            |other: &Path| other.steps.starts_with(&path.steps) || path.steps.starts_with(&other.steps);
        !taken
            && path.steps.len() <= STEPS
            && *first != self.keys.time
            && *first != self.keys.event
            && !others.iter().any(overlaps)
    }

    /// Adds the nodes of a path; its last key is `field`, the same as a key of the path's whole name, so that a record
    /// with both is noticed.
    fn follow(&mut self, path: &Path, field: FieldId) {
        let mut node = ROOT;
        for (index, step) in path.steps.iter().enumerate() {
            let PathStep::Field(name) = step else { return };
            if index + 1 == path.steps.len() {
                self.nodes[node as usize].children.insert(name.clone(), Child { field, node: None });
                return;
            }
            node = match self.nodes[node as usize].children.get(name) {
                Some(Child { node: Some(inner), .. }) => *inner,
                _ => {
                    let inner = self.nodes.len() as NodeId;
                    self.nodes.push(Node::default());
                    let field = self.new_field();
                    let child = Child { field, node: Some(inner) };
                    self.nodes[node as usize].children.insert(name.clone(), child);
                    inner
                }
            };
        }
    }
}
