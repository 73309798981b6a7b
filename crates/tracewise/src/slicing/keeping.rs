//! Which events of a position a slice keeps when slices are written as files. What a property asks is looked up once, and the
//! buckets of an event are computed once per position, however many slices there are.

use std::collections::{HashMap, HashSet};
use tw_core::Value;
use tw_ir::{ArgumentKey, Node, PatternArgument, Program, What};
use tw_log_slices::{Bucket, Division, Shard, bucket};
use tw_trace::{Arguments, Event, Row};

/// What a property asks of events.
pub(super) struct Keeping<'p> {
    /// Of each event's name, the arguments of the patterns that are about it.
    patterns: HashMap<&'p str, Vec<&'p [(ArgumentKey, PatternArgument)]>>,
    /// Events without variables are read as truth values, which every slice has.
    everywhere: HashSet<String>,
    /// The divisions that its slices have.
    divisions: Vec<Division>,
}

/// The slices that an event belongs to.
pub(super) enum Belongs {
    Everywhere,
    /// For each pattern that is about it, the buckets of its values; to slices that have those of one pattern.
    Buckets(Vec<Vec<(Division, u32)>>),
}

impl Belongs {
    /// To the slice with these buckets: a pattern of the property is about it and names no other bucket.
    pub(super) fn to(&self, slice: &[Bucket]) -> bool {
        let Belongs::Buckets(patterns) = self else { return true };
        patterns.iter().any(|values| {
            slice.iter().all(|own| {
                values.iter().filter(|(division, _)| *division == own.division).all(|(_, is)| *is == own.is)
            })
        })
    }
}

static NULL: Value = Value::Null;

fn argument<'r>(row: &'r Row, event: &'r Event, key: &ArgumentKey) -> &'r Value {
    match (&event.arguments, key) {
        (Arguments::Positional(values), ArgumentKey::Index(at) | ArgumentKey::Declared { index: at, .. }) => {
            values.get(*at).unwrap_or(&NULL)
        }
        (Arguments::OfRow, ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. }) => {
            row.variables.iter().find(|(own, _)| **own == **name).map_or(&NULL, |(_, value)| value)
        }
        _ => &NULL,
    }
}

impl<'p> Keeping<'p> {
    pub(super) fn new<'s>(program: &'p Program, slices: impl Iterator<Item = &'s Shard>) -> Self {
        let mut patterns: HashMap<&str, Vec<&[_]>> = HashMap::new();
        for id in program.patterns() {
            if let Node::Pattern(pattern) = program.dag.node(id)
                && let Some(pattern) = program.dag.patterns.get(pattern as usize)
            {
                patterns.entry(&*pattern.name).or_default().push(&pattern.arguments);
            }
        }
        let mut everywhere = HashSet::new();
        let roots: Vec<_> = program.roots.iter().map(|root| root.node).collect();
        for id in program.reachable(&roots) {
            if let Node::Truth(slot) = program.dag.node(id) {
                match &program.slots[slot as usize].what {
                    What::Event { name, .. } => _ = everywhere.insert(name.to_string()),
                    What::Proposition(path) => _ = everywhere.insert(path.to_string()),
                    _ => {}
                }
            }
        }
        let mut divisions: Vec<Division> = Vec::new();
        for own in slices.flat_map(|slice| &slice.buckets) {
            if !divisions.contains(&own.division) {
                divisions.push(own.division);
            }
        }
        Keeping { patterns, everywhere, divisions }
    }

    /// Of each event of a position, where it belongs.
    pub(super) fn belong(&self, row: &Row) -> Vec<Belongs> {
        row.events.iter().map(|event| self.one(row, event)).collect()
    }

    fn one(&self, row: &Row, event: &Event) -> Belongs {
        if self.everywhere.contains(&*event.name) {
            return Belongs::Everywhere;
        }
        let mut all = Vec::new();
        for arguments in self.patterns.get(&*event.name).into_iter().flatten() {
            let mut values = Vec::new();
            for (key, wanted) in *arguments {
                let PatternArgument::Variable(variable) = wanted else { continue };
                for division in self.divisions.iter().filter(|own| own.variable == *variable) {
                    let value = argument(row, event, key);
                    values.push((*division, bucket(value, division.salt, division.of)));
                }
            }
            all.push(values);
        }
        Belongs::Buckets(all)
    }
}
