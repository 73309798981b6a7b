//! What a trie says at its leaves: true, false, or a condition on variables that no path has given a value yet.
//!
//! Conditions are formulas over predicates, each stored once. They are rare: a predicate beside an event pattern that binds
//! its variables is decided on the spot. What is left of them when a variable is quantified away is solved, or refused.

use crate::key::Key;
use crate::predicate::{Input, Level, Predicate};
use crate::save::{Saved, load_option, save_option};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_core::Value;
use tw_core::codec::{Corrupt, put, put_text, take, take_len, take_text};
use tw_ir::Program;

/// Truth of a set of valuations: [`Truth::NO`], [`Truth::YES`], or a condition by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Truth(pub(crate) u32);

impl Truth {
    pub(crate) const NO: Truth = Truth(0);
    pub(crate) const YES: Truth = Truth(1);

    pub(crate) fn of(holds: bool) -> Truth {
        Truth(u32::from(holds))
    }

    /// Whether it is known.
    pub(crate) fn known(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }
}

#[derive(Clone, Debug)]
enum Condition {
    Not(Truth),
    And(Truth, Truth),
    /// A predicate, with what is known of its inputs.
    Is(u32, Vec<Option<Value>>),
    /// Some value of the variable, but for these, makes it true: which is found out when nothing else is unknown in it.
    Some(Truth, Level, Arc<[Key]>),
    /// What has no truth: an error for who asks, and for nobody else.
    Poison(Refused),
}

/// Why an answer is refused while running: the variable, and what stands in the way.
#[derive(Clone, Debug)]
pub(crate) enum Refused {
    /// Nothing gives values to a variable that this predicate needs.
    Unguarded(Level, u32),
    /// A tally has no value: infinitely many valuations, of this variable.
    Infinite(Level),
    /// A value cannot be computed.
    Value(String),
    /// More conditions than the budget.
    Conditions,
    /// So many bytes are more than may be held.
    Memory(usize),
}

/// All conditions of a run.
#[derive(Clone, Debug)]
pub(crate) struct Truths {
    pub(crate) program: Arc<Program>,
    pub(crate) predicates: Arc<Vec<Predicate>>,
    /// Of each level whether it ranges over whole numbers alone.
    pub(crate) whole: Vec<bool>,
    conditions: Vec<Condition>,
    /// The levels of each condition, ascending.
    levels: Vec<Vec<Level>>,
    known: FxHashMap<(u32, u32, bool), Truth>,
    instances: FxHashMap<(u32, String), Truth>,
    pub(crate) refused: Option<Refused>,
}

/// Predicates with what is known of their inputs, and values.
type Leaves<'t> = (Vec<(u32, &'t [Option<Value>])>, Vec<Value>);

/// Conditions that may be there at a time.
const CONDITIONS: usize = 1_000_000;

impl Truths {
    pub(crate) fn new(program: Arc<Program>, predicates: Arc<Vec<Predicate>>, whole: Vec<bool>) -> Self {
        Self {
            program,
            predicates,
            whole,
            conditions: Vec::new(),
            levels: Vec::new(),
            known: FxHashMap::default(),
            instances: FxHashMap::default(),
            refused: None,
        }
    }

    /// Whether there are conditions at all: most runs have none, and need not look for them.
    pub(crate) fn any(&self) -> bool {
        !self.conditions.is_empty()
    }

    fn add(&mut self, condition: Condition, levels: Vec<Level>) -> Truth {
        if self.conditions.len() >= CONDITIONS {
            self.refused.get_or_insert(Refused::Conditions);
            return Truth::NO;
        }
        self.conditions.push(condition);
        self.levels.push(levels);
        Truth(self.conditions.len() as u32 + 1)
    }

    fn condition(&self, truth: Truth) -> &Condition {
        &self.conditions[truth.0 as usize - 2]
    }

    /// Whether a variable ranges over values of this kind.
    pub(crate) fn admits(&self, level: Level, key: &Key) -> bool {
        !self.whole.get(level as usize).copied().unwrap_or(false) || key.is_whole()
    }

    /// The variables that it hangs on.
    pub(crate) fn levels(&self, truth: Truth) -> &[Level] {
        if truth.0 < 2 { &[] } else { &self.levels[truth.0 as usize - 2] }
    }

    pub(crate) fn not(&mut self, truth: Truth) -> Truth {
        if truth.0 < 2 {
            return Truth(1 - truth.0);
        }
        if let Condition::Not(inner) = self.condition(truth) {
            return *inner;
        }
        if let Some(&known) = self.known.get(&(truth.0, 0, true)) {
            return known;
        }
        let levels = self.levels(truth).to_vec();
        let negated = self.add(Condition::Not(truth), levels);
        self.known.insert((truth.0, 0, true), negated);
        negated
    }

    pub(crate) fn and(&mut self, a: Truth, b: Truth) -> Truth {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (Truth::NO, _) => return Truth::NO,
            (Truth::YES, other) => return other,
            _ if a == b => return a,
            _ => {}
        }
        if matches!(self.condition(b), Condition::Not(inner) if *inner == a)
            || matches!(self.condition(a), Condition::Not(inner) if *inner == b)
        {
            return Truth::NO;
        }
        if let Some(&known) = self.known.get(&(a.0, b.0, false)) {
            return known;
        }
        let mut levels: Vec<Level> = self.levels(a).iter().chain(self.levels(b)).copied().collect();
        levels.sort_unstable();
        levels.dedup();
        let both = self.add(Condition::And(a, b), levels);
        self.known.insert((a.0, b.0, false), both);
        both
    }

    pub(crate) fn or(&mut self, a: Truth, b: Truth) -> Truth {
        match (a, b) {
            (Truth::YES, _) | (_, Truth::YES) => return Truth::YES,
            (Truth::NO, other) | (other, Truth::NO) => return other,
            _ => {}
        }
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// A predicate with what is known of its inputs.
    pub(crate) fn instance(&mut self, predicate: u32, values: Vec<Option<Value>>) -> Truth {
        let own = &self.predicates[predicate as usize];
        if values.iter().all(Option::is_some) {
            let values: Vec<Value> = values.into_iter().flatten().collect();
            return match own.truth(&self.program, &values) {
                Ok(holds) => Truth::of(holds),
                Err(message) => self.poison(Refused::Value(message)),
            };
        }
        let mut levels: Vec<Level> = (own.inputs.iter().zip(&values))
            .filter_map(|((_, input), value)| match (input, value) {
                (Input::Variable(level), None) => Some(*level),
                _ => None,
            })
            .collect();
        levels.sort_unstable();
        levels.dedup();
        let name = (predicate, format!("{values:?}"));
        if let Some(&known) = self.instances.get(&name) {
            return known;
        }
        let truth = self.add(Condition::Is(predicate, values), levels);
        self.instances.insert(name, truth);
        truth
    }

    pub(crate) fn poison(&mut self, why: Refused) -> Truth {
        let name = (u32::MAX, format!("{why:?}"));
        if let Some(&known) = self.instances.get(&name) {
            return known;
        }
        let truth = self.add(Condition::Poison(why), Vec::new());
        self.instances.insert(name, truth);
        truth
    }

    /// The same where a variable has this value.
    pub(crate) fn put(&mut self, truth: Truth, level: Level, value: &Value) -> Truth {
        if truth.0 < 2 || self.levels(truth).binary_search(&level).is_err() {
            return truth;
        }
        match self.condition(truth).clone() {
            Condition::Not(inner) => {
                let inner = self.put(inner, level, value);
                self.not(inner)
            }
            Condition::And(a, b) => {
                let a = self.put(a, level, value);
                if a == Truth::NO {
                    return a;
                }
                let b = self.put(b, level, value);
                self.and(a, b)
            }
            Condition::Is(predicate, mut values) => {
                let own = self.predicates.clone();
                for ((_, input), place) in own[predicate as usize].inputs.iter().zip(&mut values) {
                    if *input == Input::Variable(level) {
                        *place = Some(value.clone());
                    }
                }
                self.instance(predicate, values)
            }
            Condition::Some(inner, own, taken) => {
                let inner = self.put(inner, level, value);
                self.exists(inner, own, &taken)
            }
            Condition::Poison(_) => truth,
        }
    }

    /// The predicates in a condition, and the values that quantifiers in it leave out; `None` where it has no truth.
    fn leaves(&self, truth: Truth) -> Option<Leaves<'_>> {
        let (mut found, mut taken, mut todo) = (Vec::new(), Vec::new(), vec![truth]);
        while let Some(truth) = todo.pop() {
            if truth.0 < 2 {
                continue;
            }
            match self.condition(truth) {
                Condition::Not(inner) => todo.push(*inner),
                Condition::And(a, b) => todo.extend([*a, *b]),
                Condition::Is(predicate, values) => found.push((*predicate, values.as_slice())),
                Condition::Some(inner, _, keys) => {
                    todo.push(*inner);
                    taken.extend(keys.iter().map(Key::value));
                }
                Condition::Poison(_) => return None,
            }
        }
        Some((found, taken))
    }

    /// Why a condition cannot be decided.
    pub(crate) fn reason(&self, truth: Truth) -> Refused {
        let (mut todo, mut reason) = (vec![truth], None);
        while let Some(truth) = todo.pop() {
            if truth.0 < 2 {
                continue;
            }
            match self.condition(truth) {
                Condition::Not(inner) | Condition::Some(inner, ..) => todo.push(*inner),
                Condition::And(a, b) => todo.extend([*a, *b]),
                Condition::Is(predicate, _) => {
                    let level = self.levels(truth).first().copied().unwrap_or(0);
                    reason = Some(Refused::Unguarded(level, *predicate));
                }
                Condition::Poison(why) => return why.clone(),
            }
        }
        reason.unwrap_or(Refused::Conditions)
    }

    /// The values of a variable, but for those `taken`, at which a condition on it alone holds.
    pub(crate) fn solve(&mut self, truth: Truth, level: Level, taken: &[Key]) -> Option<Solution> {
        let (leaves, mut turns) = self.leaves(truth)?;
        let mut others = false;
        // Other variables are compared with this one or with values, at which it may therefore matter on which side it lies.
        for (predicate, values) in leaves {
            let predicate = &self.predicates[predicate as usize];
            for ((_, input), value) in predicate.inputs.iter().zip(values) {
                if let (Input::Variable(level), None) = (input, value) {
                    others |= self.whole.get(*level as usize).copied().unwrap_or(false);
                    turns.extend(predicate.turns(&self.program, *level, values)?);
                }
            }
        }
        let mut solution = Solution { points: Vec::new(), infinite: false };
        let whole = self.whole.get(level as usize).copied().unwrap_or(false);
        let mut numbers: Vec<f64> = Vec::new();
        let mut texts: Vec<Arc<str>> = Vec::new();
        let mut seen: Vec<Key> = taken.to_vec();
        if !whole {
            // No text lies before it, which an order can tell.
            turns.push(Value::text(""));
        }
        for value in turns {
            match &value {
                Value::Int(int) => numbers.push(*int as f64),
                Value::Real(real) => numbers.push(*real),
                Value::Str(text) => texts.push(text.clone()),
                _ => {}
            }
            let Some(key) = Key::new(value) else { continue };
            if seen.contains(&key) {
                continue;
            }
            if whole && !key.is_whole() {
                continue;
            }
            match self.put(truth, level, &key.value()).known() {
                Some(true) => solution.points.push(key.clone()),
                Some(false) => {}
                None => return None,
            }
            seen.push(key);
        }
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let outer =
            (numbers.first().map_or(0.0, |low| low - 1.0), numbers.last().map_or(1.0, |high| high + 1.0));
        let mut between: Vec<Value> = vec![Value::Real(outer.0 - 0.5), Value::Real(outer.1 + 0.5)];
        if whole {
            between = vec![Value::Int(outer.0.floor() as i64 - 1), Value::Int(outer.1.ceil() as i64 + 1)];
        } else {
            between.extend(gaps(texts));
        }
        // Where another variable takes whole numbers alone, those are apart for this one too.
        let beside = !whole && others;
        if beside {
            between.extend([outer.0.floor() as i64 - 1, outer.1.ceil() as i64 + 1].map(Value::Int));
        }
        for pair in numbers.windows(2) {
            if !whole {
                between.push(Value::Real(pair[0] + (pair[1] - pair[0]) / 2.0));
                if !beside {
                    continue;
                }
            }
            // The whole numbers between two turns are finitely many.
            let (low, high) = (pair[0].floor() as i64 + 1, pair[1].ceil() as i64 - 1);
            if high.saturating_sub(low) > 100_000 {
                between.push(Value::Int(low + (high - low) / 2));
                continue;
            }
            if low > high || self.put(truth, level, &Value::Int(low)) == Truth::NO {
                continue;
            }
            let inside = (low..=high).map(Key::Int).filter(|key| !seen.contains(key));
            solution.points.extend(inside);
        }
        for value in between {
            match self.put(truth, level, &value).known() {
                Some(true) => solution.infinite = true,
                Some(false) => {}
                None => return None,
            }
        }
        Some(solution)
    }

    /// The values of a variable for which the others can be chosen so that it is true, but for these values.
    pub(crate) fn project(&mut self, truth: Truth, level: Level, taken: &[(Level, Key)]) -> Option<Solution> {
        let of = |level: Level| -> Vec<Key> {
            taken.iter().filter(|(own, _)| *own == level).map(|(_, key)| key.clone()).collect()
        };
        let others: Vec<Level> = self.levels(truth).iter().copied().filter(|own| *own != level).collect();
        let left = others.iter().fold(truth, |truth, other| self.exists(truth, *other, &of(*other)));
        self.solve(left, level, &of(level))
    }

    /// Whether some value of the variable, but for those `taken`, makes it true.
    pub(crate) fn exists(&mut self, truth: Truth, level: Level, taken: &[Key]) -> Truth {
        if truth.0 < 2 || self.levels(truth).binary_search(&level).is_err() {
            return truth;
        }
        if self.levels(truth).len() > 1 {
            let levels = self.levels(truth).iter().copied().filter(|own| *own != level).collect();
            return self.add(Condition::Some(truth, level, taken.into()), levels);
        }
        match self.solve(truth, level, taken) {
            Some(solution) => Truth::of(solution.infinite || !solution.points.is_empty()),
            None => self.poison(self.reason(truth)),
        }
    }
}

impl Truths {
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        put(self.conditions.len() as u64, out);
        for condition in &self.conditions {
            match condition {
                Condition::Not(inner) => {
                    put(0, out);
                    inner.save(out);
                }
                Condition::And(a, b) => {
                    put(1, out);
                    a.save(out);
                    b.save(out);
                }
                Condition::Is(predicate, values) => {
                    put(2, out);
                    put(u64::from(*predicate), out);
                    put(values.len() as u64, out);
                    values.iter().for_each(|value| save_option(value, out));
                }
                Condition::Some(inner, level, taken) => {
                    put(3, out);
                    inner.save(out);
                    put(u64::from(*level), out);
                    taken.to_vec().save(out);
                }
                Condition::Poison(why) => {
                    let (kind, number, text) = match why {
                        Refused::Unguarded(level, predicate) => (4, (*level, *predicate), ""),
                        Refused::Infinite(level) => (5, (*level, 0), ""),
                        Refused::Value(message) => (6, (0, 0), message.as_str()),
                        Refused::Conditions | Refused::Memory(_) => (7, (0, 0), ""),
                    };
                    put(kind, out);
                    put(u64::from(number.0), out);
                    put(u64::from(number.1), out);
                    put_text(text, out);
                }
            }
        }
    }

    pub(crate) fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        let corrupt = || Corrupt("the saved state has a condition of another formula".into());
        let small =
            |from: &mut &[u8]| -> Result<u32, Corrupt> { u32::try_from(take(from)?).map_err(|_| corrupt()) };
        for number in 0..take_len(from)? {
            let before =
                |truth: Truth| if truth.0 as usize <= number + 1 { Ok(truth) } else { Err(corrupt()) };
            // Made again in the order in which they were made, they have the numbers that they had.
            let made = match take(from)? {
                0 => {
                    let inner = before(Truth::load(from)?)?;
                    self.not(inner)
                }
                1 => {
                    let (a, b) = (before(Truth::load(from)?)?, before(Truth::load(from)?)?);
                    self.and(a, b)
                }
                2 => {
                    let predicate = small(from)?;
                    let own = self.predicates.get(predicate as usize).ok_or_else(corrupt)?.inputs.len();
                    if take_len(from)? != own {
                        return Err(corrupt());
                    }
                    let values: Result<Vec<_>, Corrupt> = (0..own).map(|_| load_option(from)).collect();
                    self.instance(predicate, values?)
                }
                3 => {
                    let (inner, level) = (before(Truth::load(from)?)?, small(from)?);
                    let taken: Vec<Key> = Saved::load(from)?;
                    self.exists(inner, level, &taken)
                }
                kind => {
                    let (level, predicate, text) = (small(from)?, small(from)?, take_text(from)?);
                    self.poison(match kind {
                        4 if (predicate as usize) < self.predicates.len() => {
                            Refused::Unguarded(level, predicate)
                        }
                        5 => Refused::Infinite(level),
                        6 => Refused::Value(text.to_string()),
                        7 => Refused::Conditions,
                        _ => return Err(corrupt()),
                    })
                }
            };
            if made.0 as usize != number + 2 {
                return Err(corrupt());
            }
        }
        Ok(())
    }
}

/// A text before, between and after these, for all the others there; before the empty text there is none.
fn gaps(mut texts: Vec<Arc<str>>) -> Vec<Value> {
    texts.push("".into());
    texts.sort();
    texts.dedup();
    let mut found = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        // Just after a text, whatever comes next: no text of a trace holds these characters in a row.
        let after = format!("{text}\u{0}\u{10FFFF}");
        if texts.get(at + 1).is_none_or(|next| **next > *after) {
            found.push(Value::text(&after));
        }
    }
    found
}

/// The values of a variable that satisfy a condition.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub(crate) points: Vec<Key>,
    /// Beside the points, infinitely many.
    pub(crate) infinite: bool,
}
