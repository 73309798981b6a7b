//! What variables range over: the values seen, and as many others as formulas can tell apart.
//!
//! A formula cannot tell values apart that it does not mention and the trace does not hold, but for their order. So where some
//! variables have values, another one needs no more than those, the seen ones, and one value in every gap between them.
//! Variables have levels, higher than those of the variables around them; each level has one more value in every gap of the
//! level below. Whole numbers are not dense: how many there are between two of them can be told, up to a number that doubles
//! with every further variable. So all whole numbers between those seen are there, and beyond them all that are so near.

use super::guards::{Guards, is_seen};
use crate::term;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use tw_core::{Column, Value};
use tw_ir::{CompareOp, Node, NodeId, Program, SetItem, What};
use tw_monitor::{Trace, Unsupported};

/// How many whole numbers between those seen are looked at.
const WHOLE: i64 = 4096;

/// The values, and which of them each variable takes.
pub(super) struct Domain {
    pub(super) values: Vec<Value>,
    /// Which of them stand for infinitely many.
    pub(super) stands: Vec<bool>,
    /// Of each variable the values that it takes.
    pub(super) ranges: Vec<Vec<usize>>,
}

/// The values of a level and of those below it.
struct Growing {
    values: Vec<Value>,
    stands: Vec<bool>,
    levels: Vec<usize>,
}

impl Growing {
    fn add(&mut self, value: Value, stands: bool, level: usize) {
        if !value.is_null() && !self.values.iter().any(|known| term::equal(known, &value)) {
            self.values.push(value);
            self.stands.push(stands);
            self.levels.push(level);
        }
    }

    fn sorted(&self, kind: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut values: Vec<Value> = self.values.iter().filter(|value| kind(value)).cloned().collect();
        values.sort_by(|a, b| term::order(a, b).unwrap_or(Ordering::Equal));
        values
    }
}

impl Domain {
    pub(super) fn new(
        program: &Program,
        trace: &Trace,
        wanted: &[NodeId],
        guards: &Guards,
        free: &[Vec<u32>],
    ) -> Result<Self, Unsupported> {
        let reachable = program.reachable(wanted);
        let mut growing = Growing { values: Vec::new(), stands: Vec::new(), levels: Vec::new() };
        for value in seen(program, trace, &reachable, guards) {
            growing.add(value, false, 0);
        }
        let seen = growing.values.len();
        let levels = levels(program, &reachable, guards, free)?;
        let deepest = levels.iter().flatten().copied().max().unwrap_or(0);
        let open = |variable: u32| !guards.is_guarded(variable);
        let whole =
            (0..levels.len()).any(|number| levels[number].is_some() && program.dag.is_whole(number as u32));
        let ordered = reachable.iter().any(|&id| orders(program, id, &open));
        if ordered && whole {
            between(&mut growing)?;
        }
        for level in 1..=deepest {
            match ordered {
                true => refine(&mut growing, level, deepest - level, whole),
                false => apart(&mut growing, level, whole),
            }
        }
        let range = |number: usize| -> Vec<usize> {
            let fits = |place: &usize| {
                let own = match levels[number] {
                    None => *place < seen,
                    Some(level) => growing.levels[*place] <= level,
                };
                own && (!program.dag.is_whole(number as u32) || is_whole(&growing.values[*place]))
            };
            (0..growing.values.len()).filter(fits).collect()
        };
        let ranges = (0..levels.len()).map(range).collect();
        Ok(Self { values: growing.values, stands: growing.stands, ranges })
    }
}

fn is_whole(value: &Value) -> bool {
    matches!(value, Value::Int(_)) || matches!(value, Value::Real(real) if real.fract() == 0.0)
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Real(_))
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Int(int) => *int as f64,
        Value::Real(real) => *real,
        _ => 0.0,
    }
}

/// The arguments of patterns, what terms without variables are, and constants.
fn seen(program: &Program, trace: &Trace, reachable: &[NodeId], guards: &Guards) -> Vec<Value> {
    let dag = &program.dag;
    let slots = trace.slots.as_deref().unwrap_or_default();
    let mut values = Vec::new();
    for &id in reachable {
        match dag.node(id) {
            Node::Pattern(index) => {
                if let Some(Column::Tuples(relation)) = slots.get(dag.patterns[index as usize].slot as usize)
                {
                    let tuples = relation.columns().first().map_or(0, Column::len);
                    values.extend((0..tuples).flat_map(|number| relation.tuple(number)));
                }
            }
            Node::Constant(constant) => values.push(dag.constants[constant as usize].clone()),
            Node::In(_, set) => dag.sets[set as usize].iter().for_each(|item| match item {
                SetItem::Value(value) => values.push(value.clone()),
                SetItem::Range(low, high) => values.extend([Value::Int(*low), Value::Int(*high)]),
            }),
            Node::Slot(slot) => {
                let several =
                    matches!(&program.slots[slot as usize].what, What::Variable(path, _) if path.has_each());
                let Some(column) = slots.get(slot as usize) else { continue };
                for at in 0..column.len() {
                    match column.value(at) {
                        Value::List(items) if several => values.extend(items),
                        value => values.push(value),
                    }
                }
            }
            Node::Arithmetic(..)
            | Node::Negate(_)
            | Node::Abs(_)
            | Node::Tuple(..)
            | Node::IfThenElse(..)
                if is_seen(program, id, guards.over_variable()) =>
            {
                let parts = term::parts(program, id);
                let given = |_| Ok(vec![Value::Null]);
                let at = |at| term::evaluate(program, slots, &parts, at, &given, &|_| Value::Null, true);
                // What cannot be computed is told where it is asked for.
                values.extend((0..trace.len).filter_map(|place| at(place).ok()).flatten());
            }
            _ => {}
        }
    }
    values
}

/// Of each variable that nothing guards its level: above those of the variables that have values where it is bound.
fn levels(
    program: &Program,
    reachable: &[NodeId],
    guards: &Guards,
    free: &[Vec<u32>],
) -> Result<Vec<Option<usize>>, Unsupported> {
    let dag = &program.dag;
    let mut levels: Vec<Option<usize>> = vec![None; dag.variables.len()];
    let mut above: BTreeSet<(u32, u32)> = BTreeSet::new();
    let open = |variable: &u32| !guards.is_guarded(*variable);
    for &id in reachable {
        let node = dag.node(id);
        let bound = match node {
            Node::Forall(variable, _) | Node::Exists(variable, _) => vec![variable],
            _ => dag.binds(node).to_vec(),
        };
        let mut around: Vec<u32> = free[id.index()].iter().copied().filter(open).collect();
        for variable in bound.into_iter().filter(open) {
            levels[variable as usize].get_or_insert(1);
            above.extend(around.iter().map(|&other| (other, variable)));
            around.push(variable);
        }
    }
    for _ in 0..=levels.len() {
        let mut changed = false;
        for &(outer, inner) in &above {
            let least = levels[outer as usize].map(|level| level + 1);
            if levels[inner as usize] < least {
                (levels[inner as usize], changed) = (least, true);
            }
        }
        if !changed {
            return Ok(levels);
        }
    }
    Err(Unsupported {
        node: None,
        what: "variables that nothing guards, each inside the scope of the other".into(),
        help: None,
        exhausted: false,
    })
}

/// Whether a predicate asks for the order of values that a variable takes which nothing guards.
fn orders(program: &Program, id: NodeId, open: &dyn Fn(u32) -> bool) -> bool {
    let dag = &program.dag;
    let ordered = match dag.node(id) {
        Node::Compare(op, ..) => !matches!(op, CompareOp::Eq | CompareOp::Ne),
        Node::In(_, set) => dag.sets[set as usize].iter().any(|item| matches!(item, SetItem::Range(..))),
        _ => false,
    };
    let variable = |part: &NodeId| matches!(dag.node(*part), Node::Variable(variable) if open(variable));
    ordered && term::parts(program, id).iter().any(variable)
}

/// All whole numbers between those seen.
fn between(growing: &mut Growing) -> Result<(), Unsupported> {
    let numbers = growing.sorted(is_number);
    let (Some(low), Some(high)) = (numbers.first(), numbers.last()) else { return Ok(()) };
    let (low, high) = (number(low).floor(), number(high).ceil());
    if high - low > WHOLE as f64 {
        let what = format!("more than {WHOLE} whole numbers between those seen, one after the other");
        return Err(
            Unsupported::budget(what).help("let an event pattern bind the variable that is declared `int`")
        );
    }
    (low as i64..=high as i64).for_each(|whole| growing.add(Value::Int(whole), false, 0));
    Ok(())
}

/// Where no order is asked for: one value like no other.
fn apart(growing: &mut Growing, level: usize, whole: bool) {
    if whole {
        let highest = growing.sorted(is_number).last().map_or(0.0, number);
        growing.add(Value::Int((highest as i64).saturating_add(1)), true, level);
    }
    // No text of a trace holds this character.
    growing.add(Value::text(&format!("\u{10FFFF}{level}")), true, level);
}

/// One more value in every gap, where `further` levels follow.
fn refine(growing: &mut Growing, level: usize, further: usize, whole: bool) {
    if whole {
        whole_numbers(growing, level, 1i64 << further.min(20));
    }
    let numbers = growing.sorted(is_number);
    let mut fresh: Vec<f64> = Vec::new();
    for pair in numbers.windows(2) {
        let (low, high) = (number(&pair[0]), number(&pair[1]));
        let middle = low + (high - low) / 2.0;
        // A whole number could be told from its neighbours.
        let part = middle.floor() + 0.5;
        fresh.push(if part > low && part < high { part } else { middle });
    }
    match (numbers.first(), numbers.last()) {
        (Some(low), Some(high)) => fresh.extend([number(low).floor() - 0.5, number(high).ceil() + 0.5]),
        _ => fresh.push(0.5),
    }
    fresh.into_iter().for_each(|real| growing.add(Value::Real(real), true, level));
    // The least of all texts is one of a kind.
    growing.add(Value::text(""), false, 0);
    let texts = growing.sorted(|value| matches!(value, Value::Str(_)));
    for (place, text) in texts.iter().enumerate() {
        let Value::Str(low) = text else { continue };
        let above = |candidate: &Value| {
            texts.get(place + 1).is_none_or(|high| term::order(candidate, high) == Some(Ordering::Less))
        };
        let candidate = |zeros: usize| Value::text(&format!("{low}{}\u{1}", "\0".repeat(zeros)));
        if let Some(fresh) = (0..64).map(candidate).find(above) {
            growing.add(fresh, true, level);
        }
    }
}

/// Whole numbers beyond those seen: all that are within `near` of one that is there, and one in the middle of what is left.
fn whole_numbers(growing: &mut Growing, level: usize, near: i64) {
    let mut there: Vec<(i64, bool)> = (0..growing.values.len())
        .filter(|&place| is_whole(&growing.values[place]))
        .map(|place| (number(&growing.values[place]) as i64, growing.stands[place]))
        .collect();
    if there.is_empty() {
        growing.add(Value::Int(0), true, level);
        there.push((0, true));
    }
    there.sort_unstable();
    let mut fresh: Vec<(i64, bool)> = Vec::new();
    for pair in there.windows(2) {
        let ((low, below), (high, above)) = (pair[0], pair[1]);
        fresh.extend((1..=near).map(|step| (low + step, below)).filter(|(whole, _)| *whole < high));
        fresh.extend((1..=near).map(|step| (high - step, above)).filter(|(whole, _)| *whole > low));
        let middle = low + (high - low) / 2;
        fresh.extend((middle > low && middle < high).then_some((middle, true)));
    }
    if let (Some(&(low, below)), Some(&(high, above))) = (there.first(), there.last()) {
        fresh.extend((1..=near).flat_map(|step| [(low - step, below), (high + step, above)]));
        fresh.extend([(low - 4 * near, true), (high + 4 * near, true)]);
    }
    // What is near to a number that was seen is just that number.
    fresh.sort_by_key(|(_, stands)| *stands);
    fresh.into_iter().for_each(|(whole, stands)| growing.add(Value::Int(whole), stands, level));
}
