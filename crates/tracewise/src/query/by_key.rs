//! Aggregates per key, folded while the trace is read: nothing of the log is kept but one value per key.
//!
//! That is for queries that collect numbers, or count positions, over the whole of each key's trace; every other query divides the
//! trace first, so that temporal operators work per key.

use super::{EXPLAINED, Group, QueryOptions, QueryReport, QueryResult, missing, one_key};
use crate::run::columns::Keys;
use crate::run::divide::no_value;
use crate::run::faults::{Fault, never_occurs, nothing_to};
use crate::run::open::Opened;
use crate::run::order::{Aside, StepsBack};
use crate::run::timing::reads_times;
use crate::{Error, Session, Specification};
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Aggregate, Node, NodeId, SlotId};
use tw_monitor::{PredicateError, Predicates};
use tw_statistics::{Accumulator, Limits};
use tw_trace::Projection;

/// What one query collects.
#[derive(Clone, Copy)]
struct Ask {
    aggregate: Aggregate,
    /// The atom, by number, of the positions that count; all without one.
    guard: Option<usize>,
    /// The column whose values are collected; `None` where positions are counted.
    slot: Option<SlotId>,
}

/// What all queries collect, if they can be folded while the trace is read.
pub(super) struct Plan {
    key: String,
    asks: Vec<Ask>,
}

/// What a batch adds for each text of its dictionary of keys.
enum Partial {
    Counts(Vec<u64>),
    Ints(Vec<Option<i64>>),
    Sums(Vec<Option<i128>>),
    Reals(Vec<Option<f64>>),
}

struct Part {
    len: usize,
    back: StepsBack,
    names: Vec<Arc<str>>,
    /// `None` if this way does not know what some column holds.
    partials: Result<Option<Vec<Partial>>, PredicateError>,
}

/// Whether every query is of that kind. What is not known in advance (a column that does not hold numbers) is told by
/// [`run`], which then has to leave the trace to another way: it must be possible to read it again.
pub(super) fn fits(
    session: &Session,
    options: &QueryOptions,
    spec: &Specification,
    files: &[String],
    engine: &str,
) -> Option<Plan> {
    let program = &spec.program;
    let plain = engine == "columnar"
        && !options.everywhere
        && !options.witness
        && !program.derives()
        && !reads_times(session, spec)
        && files.iter().all(|file| std::fs::metadata(file).is_ok_and(|meta| meta.is_file()));
    let same = program.roots.iter().all(|root| root.division.by.is_some() && root.division.every.is_none());
    let key = one_key(spec).filter(|_| plain && same)?;
    let atoms = program.atoms();
    let guard = |id: NodeId| match program.dag.node(id) {
        Node::Bool(true) => Some(None),
        _ => atoms.binary_search(&id).ok().map(Some),
    };
    let ask = |root: &tw_ir::Root| {
        let Node::Collect(aggregate, body) = program.dag.node(root.node) else { return None };
        match (aggregate, program.dag.node(body)) {
            (Aggregate::Count, Node::Emit(formula, term)) => match program.dag.node(term) {
                Node::Slot(slot) => Some(Ask { aggregate, guard: guard(formula)?, slot: Some(slot) }),
                _ => None,
            },
            (Aggregate::Count, _) => Some(Ask { aggregate, guard: guard(body)?, slot: None }),
            (Aggregate::Sum | Aggregate::Min | Aggregate::Max, Node::Emit(formula, term)) => {
                match program.dag.node(term) {
                    Node::Slot(slot) => Some(Ask { aggregate, guard: guard(formula)?, slot: Some(slot) }),
                    _ => None,
                }
            }
            _ => None,
        }
    };
    let asks = program.roots.iter().map(ask).collect::<Option<Vec<Ask>>>()?;
    Some(Plan { key, asks })
}

/// The values, or nothing if another way has to find them.
pub(super) fn run(
    session: &Session,
    spec: &Specification,
    files: &[String],
    plan: &Plan,
    (engine, explain): (&'static str, bool),
) -> Result<Option<QueryReport>, Error> {
    let mut opened = Opened::new(session, files)?;
    let lenient = opened.let_time_go_back(session, spec);
    let predicates = Predicates::new(&spec.program);
    let guarded = plan.asks.iter().any(|ask| ask.guard.is_some());
    let projection = Projection::of(&spec.program, Some(&plan.key), lenient);
    let map = |batch: Batch| {
        let back = batch.times.as_deref().map(StepsBack::of).unwrap_or_default();
        let atoms = if guarded { predicates.evaluate(&batch) } else { Ok(Vec::new()) };
        let names = match batch.slots.last() {
            Some(Column::Text { dictionary, .. }) => dictionary.entries.clone(),
            _ => Vec::new(),
        };
        let partials = atoms.map(|atoms| plan.asks.iter().map(|ask| partial(&batch, ask, &atoms)).collect());
        Ok(Part { len: batch.len, back, names, partials })
    };
    let (mut fault, mut back, mut fit, mut positions) = (Fault::default(), StepsBack::default(), true, 0);
    let mut keys = Keys::default();
    let limits = Limits { exact_bytes: session.evaluate.memory_budget / 4 };
    let mut folds: Vec<Vec<Accumulator>> = vec![Vec::new(); plan.asks.len()];
    let mut fold = |part: Part| {
        back.then(part.back);
        let partials = part.partials.map_err(|error| fault.note(error, positions))?;
        positions += part.len;
        let Some(partials) = partials else {
            fit = false;
            return Ok(ControlFlow::Break(()));
        };
        let numbers: Vec<u32> = part.names.iter().map(|name| keys.number(name)).collect();
        for ((ask, partial), folds) in plan.asks.iter().zip(partials).zip(&mut folds) {
            let empty = || Accumulator::new(ask.aggregate, limits);
            folds.resize_with(keys.names.len(), empty);
            add(folds, &numbers, partial);
        }
        Ok(ControlFlow::Continue(()))
    };
    let scanned = opened.scan(session, &projection, &map, &mut fold);
    if !fit {
        return Ok(None);
    }
    let summary = scanned.map_err(|error| fault.word(session, spec, &opened, error))?;
    if positions == 0 {
        return Err(nothing_to(&opened.name, "ask"));
    }
    if keys.names.is_empty() {
        return Err(no_value(&plan.key, &opened.name));
    }
    let explain = explain && keys.names.len() <= EXPLAINED;
    let mut queries = Vec::with_capacity(folds.len());
    for (root, folds) in spec.program.roots.iter().zip(folds) {
        let mut groups = Vec::with_capacity(folds.len());
        for (segment, (name, fold)) in keys.names.iter().zip(folds).enumerate() {
            // A sum that overflows is worded by the other way.
            let Ok(value) = fold.result() else { return Ok(None) };
            let why = value.is_null() && explain;
            let missing = why.then(|| missing::of_aggregate(spec, root.node)).flatten();
            let key = Some(Value::Str(name.clone()));
            groups.push(Group { segment, key, window: None, value, missing, witness: None });
        }
        queries.push(QueryResult {
            name: root.name.clone(),
            title: root.title.clone(),
            expression: spec.words(root.node),
            by: root.division.by.as_ref().map(ToString::to_string),
            every: None,
            groups,
            everywhere: None,
            times: None,
            approximate: Vec::new(),
            counts: super::counts(spec, root),
        });
    }
    let mut warnings = spec.warnings.clone();
    warnings.extend(opened.notes());
    warnings.extend(never_occurs(spec, &summary));
    warnings.extend(Aside::of(back, &summary).warnings(&opened.name));
    Ok(Some(QueryReport {
        trace: opened.name,
        positions: summary.positions,
        bytes: summary.bytes,
        engine,
        queries,
        requirements: Vec::new(),
        failures: Vec::new(),
        warnings,
    }))
}

/// What a batch adds to one query; `None` if a column holds something else than numbers.
fn partial(batch: &Batch, ask: &Ask, atoms: &[Bits]) -> Option<Partial> {
    let Some(Column::Text { ids, dictionary, valid }) = batch.slots.last() else { return None };
    let count = dictionary.entries.len();
    let guard = ask.guard.map(|atom| &atoms[atom]);
    let keyed = Keyed { ids, valid, guard };
    let column = ask.slot.map(|slot| &batch.slots[slot as usize]);
    Some(match (ask.aggregate, column) {
        (Aggregate::Count, column) => {
            let mut counts = vec![0u64; count];
            let given = match column {
                None => None,
                Some(Column::Int { valid, .. } | Column::Real { valid, .. } | Column::Text { valid, .. }) => {
                    Some(valid)
                }
                Some(_) => return None,
            };
            keyed.each(given, |_, id| counts[id] += 1);
            Partial::Counts(counts)
        }
        (Aggregate::Sum, Some(Column::Int { values, valid })) => {
            let mut sums: Vec<Option<i128>> = vec![None; count];
            keyed.each(Some(valid), |at, id| *sums[id].get_or_insert(0) += i128::from(values[at]));
            Partial::Sums(sums)
        }
        (Aggregate::Max | Aggregate::Min, Some(Column::Int { values, valid })) => {
            let greatest = ask.aggregate == Aggregate::Max;
            let mut best: Vec<Option<i64>> = vec![None; count];
            keyed.each(Some(valid), |at, id| {
                let (value, best) = (values[at], &mut best[id]);
                *best =
                    Some(best.map_or(value, |best| if greatest { best.max(value) } else { best.min(value) }));
            });
            Partial::Ints(best)
        }
        (Aggregate::Max | Aggregate::Min, Some(Column::Real { values, valid })) => {
            let greatest = ask.aggregate == Aggregate::Max;
            let mut best: Vec<Option<f64>> = vec![None; count];
            keyed.each(Some(valid), |at, id| {
                let (value, best) = (values[at], &mut best[id]);
                let better = best.is_none_or(|best| if greatest { value > best } else { value < best });
                if better {
                    *best = Some(value);
                }
            });
            Partial::Reals(best)
        }
        _ => return None,
    })
}

/// The keys of a batch.
struct Keyed<'b> {
    ids: &'b [u32],
    valid: &'b Bits,
    guard: Option<&'b Bits>,
}

impl Keyed<'_> {
    /// Every position that has a key, counts, and has a value, with the key's number.
    #[inline(always)]
    fn each(&self, given: Option<&Bits>, mut f: impl FnMut(usize, usize)) {
        for (at, (ids, &word)) in self.ids.chunks(64).zip(self.valid.words()).enumerate() {
            let mut word = word;
            for also in [self.guard, given].into_iter().flatten() {
                word &= also.words()[at];
            }
            let base = 64 * at;
            if word == u64::MAX {
                ids.iter().enumerate().for_each(|(bit, &id)| f(base + bit, id as usize));
                continue;
            }
            while word != 0 {
                let bit = word.trailing_zeros() as usize;
                f(base + bit, ids[bit] as usize);
                word &= word - 1;
            }
        }
    }
}

/// Adds what a batch has to what was folded before; `numbers` are those of its keys.
fn add(folds: &mut [Accumulator], numbers: &[u32], partial: Partial) {
    let places = numbers.iter().map(|&number| number as usize);
    match partial {
        Partial::Counts(counts) => {
            places
                .zip(counts)
                .filter(|(_, count)| *count > 0)
                .for_each(|(at, count)| folds[at].push_true(count));
        }
        Partial::Ints(best) => {
            let found = places.zip(best).filter_map(|(at, best)| Some((at, best?)));
            found.for_each(|(at, best)| folds[at].push_int(best));
        }
        Partial::Reals(best) => {
            let found = places.zip(best).filter_map(|(at, best)| Some((at, best?)));
            found.for_each(|(at, best)| folds[at].push_real(best));
        }
        Partial::Sums(sums) => {
            for (at, mut sum) in places.zip(sums).filter_map(|(at, sum)| Some((at, sum?))) {
                // As many whole numbers of 64 bits as it takes: a batch has at most so many.
                loop {
                    let part = sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                    folds[at].push_int(part);
                    sum -= i128::from(part);
                    if sum == 0 {
                        break;
                    }
                }
            }
        }
    }
}
