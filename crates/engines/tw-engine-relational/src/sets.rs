//! The sets that gates stand for at the current position, from states that have been brought there.

use crate::gate::{Edge, Gate, Plan};
use crate::key::Key;
use crate::map::Map;
use crate::predicate::{Input, Level, Predicate};
use crate::state::{Events, From, Since, Stamps, Until, Window};
use crate::tally::{Worth, tally};
use crate::trie::{Op, Plain, Set, Split, Trie, at, copy, exists, join};
use crate::truth::{Refused, Truth, Truths};
use std::sync::Arc;
use tw_core::{Position, Relation, Time, Value};
use tw_monitor::Positions;

/// What a gate remembers.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// Nothing.
    None,
    Since(Since),
    /// The set at the position before, and when that was.
    Before(Option<(Set, Time)>),
    Until(Until),
}

/// A set at hand: as it is, or as a state that is read.
pub(crate) enum Operand<'s> {
    Set(Set, Plain),
    Since(&'s Trie<Stamps>, Window),
    Until(&'s Trie<Events>, From),
}

impl Operand<'_> {
    pub(crate) fn join(&self, truths: &mut Truths, op: Op, set: &Set) -> Set {
        match self {
            Operand::Set(other, read) => join(truths, op, set, *read, other),
            Operand::Since(state, read) => join(truths, op, set, *read, state),
            Operand::Until(state, read) => join(truths, op, set, *read, state),
        }
    }

    pub(crate) fn copy(&self, truths: &mut Truths) -> Set {
        match self {
            Operand::Set(set, Plain { negated: false }) => set.clone(),
            Operand::Set(set, read) => copy(truths, *read, set),
            Operand::Since(state, read) => copy(truths, *read, state),
            Operand::Until(state, read) => copy(truths, *read, state),
        }
    }

    pub(crate) fn exists(&self, truths: &mut Truths, level: Level) -> Set {
        match self {
            Operand::Set(set, read) => exists(truths, *read, set, level),
            Operand::Since(state, read) => exists(truths, *read, state, level),
            Operand::Until(state, read) => exists(truths, *read, state, level),
        }
    }
}

/// The position that gates are read at.
#[derive(Clone, Copy)]
pub(crate) struct Here<'h> {
    pub(crate) positions: &'h Positions<'h>,
    /// In these positions.
    pub(crate) place: usize,
    /// From the beginning of the trace.
    pub(crate) at: Position,
    pub(crate) now: Time,
}

/// Reads gates that nothing after the position decides.
pub(crate) struct Sets<'s, 't> {
    pub(crate) plan: &'s Plan,
    pub(crate) truths: &'t mut Truths,
    pub(crate) states: &'s [State],
    pub(crate) memo: &'t mut [Option<Set>],
    pub(crate) here: Here<'t>,
}

impl<'s> Sets<'s, '_> {
    pub(crate) fn operand(&mut self, edge: Edge) -> Operand<'s> {
        match &self.states[edge.index()] {
            State::Since(since) => Operand::Since(&since.state, since.window(edge.negated)),
            _ => Operand::Set(self.set(edge.gate), Plain { negated: edge.negated }),
        }
    }

    pub(crate) fn set(&mut self, gate: u32) -> Set {
        if let Some(set) = &self.memo[gate as usize] {
            return set.clone();
        }
        let plan = self.plan;
        let set = match &plan.gates[gate as usize] {
            Gate::Yes => Set::YES,
            Gate::First => Set::of(self.here.at == 0),
            Gate::Atom(place) => Set::of(self.here.positions.atoms[*place].get(self.here.place)),
            Gate::Pattern(place, levels) => self.pattern(*place, levels),
            Gate::Predicate(predicate) => self.filter(&Set::YES, *predicate, false),
            Gate::And(edges) => self.and(edges),
            Gate::Exists(level, of) => {
                let of = self.operand(*of);
                of.exists(self.truths, *level)
            }
            // What holds here was put into the memo when the position came.
            Gate::Step { .. } => Set::NO,
            Gate::Until { .. } => match &self.states[gate as usize] {
                State::Since(since) => copy(self.truths, since.window(false), &since.state),
                _ => Set::NO,
            },
        };
        self.memo[gate as usize] = Some(set.clone());
        set
    }

    /// All of them together, small ones first.
    pub(crate) fn and(&mut self, edges: &[Edge]) -> Set {
        self.all_of(Set::YES, edges)
    }

    fn all_of(&mut self, mut all: Set, edges: &[Edge]) -> Set {
        for edge in edges {
            all = self.under(&all, *edge);
            if matches!(all, Trie::Leaf(Truth::NO)) {
                break;
            }
        }
        all
    }

    /// What of a set is in that of an edge. What stands below is asked of this set alone: a few valuations, whatever there is
    /// beside them.
    fn under(&mut self, set: &Set, edge: Edge) -> Set {
        let plan = self.plan;
        let whole = matches!(set, Trie::Leaf(Truth::YES)) || self.memo[edge.index()].is_some();
        match &plan.gates[edge.index()] {
            Gate::Predicate(predicate)
                if edge.negated || !plan.predicates[*predicate as usize].generates(&plan.program) =>
            {
                self.filter(set, *predicate, edge.negated)
            }
            Gate::And(edges) if !whole => {
                let inner = self.all_of(set.clone(), edges);
                if edge.negated { self.without(set, &inner) } else { inner }
            }
            Gate::Exists(level, of) if !whole => {
                let inner = self.under(set, *of);
                let inner = exists(self.truths, Plain { negated: false }, &inner, *level);
                join(self.truths, Op::And, set, Plain { negated: edge.negated }, &inner)
            }
            _ => {
                let operand = self.operand(edge);
                operand.join(self.truths, Op::And, set)
            }
        }
    }

    fn without(&mut self, set: &Set, other: &Set) -> Set {
        join(self.truths, Op::And, set, Plain { negated: true }, other)
    }

    fn pattern(&self, place: usize, columns: &[(Level, usize)]) -> Set {
        let relation = &self.here.positions.relations[place];
        let tuples = relation.tuples(self.here.place);
        if tuples.is_empty() || columns.is_empty() {
            return Set::of(!tuples.is_empty());
        }
        let mut set = Set::NO;
        for number in tuples {
            insert(self.truths, &mut set, columns, (relation, number), None);
        }
        set
    }

    /// What of a set satisfies a predicate here.
    pub(crate) fn filter(&mut self, set: &Set, predicate: u32, negated: bool) -> Set {
        let plan = self.plan;
        let mut tallies = Vec::new();
        let mut values = match self.columns(&plan.predicates[predicate as usize]) {
            Ok(values) => values,
            Err(poison) => {
                return join(self.truths, Op::And, set, Plain { negated: false }, &Trie::Leaf(poison));
            }
        };
        for (place, (_, input)) in plan.predicates[predicate as usize].inputs.iter().enumerate() {
            let Input::Tally(number) = input else { continue };
            let tallied = &plan.tallies[*number as usize];
            let terms = match tallied.value.as_ref().map(|value| self.columns(value)).transpose() {
                Ok(terms) => terms.unwrap_or_default(),
                Err(poison) => {
                    return join(self.truths, Op::And, set, Plain { negated: false }, &Trie::Leaf(poison));
                }
            };
            // Only what belongs to the set is counted: it says which groups are asked for.
            let of = self.operand(tallied.of).join(self.truths, Op::And, set);
            tallies.push((place, tally(self.truths, tallied, &of, &terms)));
        }
        Filter { truths: self.truths, predicate, negated }.run(set, &tallies, &mut values, None)
    }

    /// The columns that a predicate or term reads here; variables and tallies are left open.
    pub(crate) fn columns(&mut self, of: &Predicate) -> Result<Vec<Option<Value>>, Truth> {
        let mut values = Vec::with_capacity(of.inputs.len());
        for (_, input) in &of.inputs {
            values.push(match input {
                Input::Variable(_) | Input::Tally(_) => None,
                Input::Term(place) => match self.here.positions.terms[*place].at(self.here.place) {
                    Ok(value) => Some(value),
                    Err(message) => return Err(self.truths.poison(Refused::Value(message.to_string()))),
                },
            });
        }
        Ok(values)
    }
}

/// Adds a tuple to a set of tuples, column by column; `before` is the variable and value of the column before.
fn insert(
    truths: &Truths,
    set: &mut Set,
    columns: &[(Level, usize)],
    (relation, number): (&Relation, usize),
    before: Option<(Level, &Key)>,
) {
    let [(level, column), below @ ..] = columns else {
        *set = Set::YES;
        return;
    };
    let key = Key::of(&relation.columns()[*column], number);
    let Some(key) = key.filter(|key| truths.admits(*level, key)) else { return };
    if let Some((own, known)) = before
        && own == *level
    {
        // A variable that is written twice.
        if *known == key {
            insert(truths, set, below, (relation, number), before);
        }
        return;
    }
    // What does not come to an end is not added.
    let mut child = match set {
        Trie::Split(split) => split.points.get(&key).cloned().unwrap_or(Set::NO),
        Trie::Leaf(_) => Set::NO,
    };
    insert(truths, &mut child, below, (relation, number), Some((*level, &key)));
    if let Trie::Leaf(Truth::NO) = child {
        return;
    }
    match set {
        Trie::Split(split) => Arc::make_mut(split).points.insert(&key, child),
        Trie::Leaf(_) => {
            let points = Map::one(key, child);
            *set = Trie::Split(Arc::new(Split { level: *level, rest: Set::NO, points }));
        }
    }
}

/// A predicate applied to sets.
pub(crate) struct Filter<'f> {
    pub(crate) truths: &'f mut Truths,
    pub(crate) predicate: u32,
    pub(crate) negated: bool,
}

impl Filter<'_> {
    /// What of a set satisfies the predicate. `tallies` are the tries of inputs that have one; `deepest` is the last level on
    /// the path from the root of the whole set.
    pub(crate) fn run(
        &mut self,
        set: &Set,
        tallies: &[(usize, Trie<Worth>)],
        values: &mut Vec<Option<Value>>,
        deepest: Option<Level>,
    ) -> Set {
        if let Trie::Leaf(Truth::NO) = set {
            return Set::NO;
        }
        let of = |trie: &Trie<Worth>| match trie {
            Trie::Split(split) => Some(split.level),
            Trie::Leaf(_) => None,
        };
        let own = match set {
            Trie::Split(split) => Some(split.level),
            Trie::Leaf(_) => None,
        };
        let level = tallies.iter().filter_map(|(_, trie)| of(trie)).chain(own).min();
        let Some(level) = level else { return self.leaf(set, tallies, values, deepest) };
        let predicates = self.truths.predicates.clone();
        let inputs = &predicates[self.predicate as usize].inputs;
        let give = |values: &mut Vec<Option<Value>>, given: Option<Value>| {
            for ((_, input), value) in inputs.iter().zip(values.iter_mut()) {
                if *input == Input::Variable(level) {
                    value.clone_from(&given);
                }
            }
        };
        if let (Trie::Split(split), []) = (set, tallies) {
            let found = split.map(|key, child| {
                give(values, key.map(Key::value));
                self.run(child, tallies, values, Some(level))
            });
            give(values, None);
            return found;
        }
        let mut keys: Map<()> = Map::default();
        if let Trie::Split(split) = set
            && split.level == level
        {
            split.points.each(&mut |key, _| {
                keys.insert(key, ());
                true
            });
        }
        for (_, trie) in tallies {
            if let Trie::Split(split) = trie
                && split.level == level
            {
                split.points.each(&mut |key, _| {
                    keys.insert(key, ());
                    true
                });
            }
        }
        let below = |key: Option<&Key>| -> Vec<(usize, Trie<Worth>)> {
            tallies.iter().map(|(place, trie)| (*place, child(trie, level, key).clone())).collect()
        };
        let rest = self.run(child(set, level, None), &below(None), values, Some(level));
        let mut points = Map::default();
        keys.each(&mut |key, ()| {
            give(values, Some(key.value()));
            let own = match set {
                Trie::Split(split) if split.level == level => child(set, level, Some(key)).clone(),
                _ => at(self.truths, set, level, key),
            };
            let child = self.run(&own, &below(Some(key)), values, Some(level));
            if !child.same(&rest) {
                points.insert(key, child);
            }
            true
        });
        give(values, None);
        Trie::split(level, rest, points)
    }

    fn leaf(
        &mut self,
        set: &Set,
        tallies: &[(usize, Trie<Worth>)],
        values: &mut [Option<Value>],
        deepest: Option<Level>,
    ) -> Set {
        let Trie::Leaf(leaf) = set else { return Set::NO };
        // A tally that hangs on conditions is taken case by case.
        if let Some((at, cases)) = tallies.iter().enumerate().find_map(|(at, (_, trie))| match trie {
            Trie::Leaf(Worth::Cases(cases)) => Some((at, cases)),
            _ => None,
        }) {
            let mut found = Set::NO;
            for (when, worth) in cases {
                let mut one = tallies.to_vec();
                one[at].1 = Trie::Leaf(worth.clone());
                let own = Trie::Leaf(self.truths.and(*leaf, *when));
                let own = self.leaf(&own, &one, values, deepest);
                found = join(self.truths, Op::Or, &found, Plain { negated: false }, &own);
            }
            return found;
        }
        let truths = &mut *self.truths;
        for (place, trie) in tallies {
            let Trie::Leaf(worth) = trie else { continue };
            match worth.value(truths) {
                Ok(value) => values[*place] = Some(value),
                Err(poison) => return Trie::Leaf(truths.and(*leaf, poison)),
            }
        }
        let predicates = truths.predicates.clone();
        let own = &predicates[self.predicate as usize];
        let open = |((_, input), value): (&(_, Input), &Option<Value>)| match (input, value) {
            (Input::Variable(level), None) => Some(*level),
            _ => None,
        };
        let mut unknown = own.inputs.iter().zip(values.iter()).filter_map(open);
        if let (Some(level), None, false) = (unknown.next(), unknown.next(), self.negated)
            && deepest.is_none_or(|deepest| deepest < level)
            && let Some(keys) = own.names(&truths.program.clone(), level, values)
        {
            let mut points = Map::default();
            for key in keys.into_iter().filter(|key| truths.admits(level, key)).collect::<Vec<_>>() {
                let leaf = truths.put(*leaf, level, &key.value());
                if leaf != Truth::NO {
                    points.insert(&key, Trie::Leaf(leaf));
                }
            }
            return Trie::split(level, Set::NO, points);
        }
        let truth = truths.instance(self.predicate, values.to_vec());
        let truth = if self.negated { truths.not(truth) } else { truth };
        Trie::Leaf(truths.and(*leaf, truth))
    }
}

/// What a trie says where the variable of a level has a value, or none of those that it tells apart.
fn child<'t, L>(trie: &'t Trie<L>, level: Level, key: Option<&Key>) -> &'t Trie<L>
where
    L: Clone + PartialEq,
{
    match trie {
        Trie::Split(split) if split.level == level => {
            key.and_then(|key| split.points.get(key)).unwrap_or(&split.rest)
        }
        other => other,
    }
}
