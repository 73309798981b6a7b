//! From files to a stored trace: read in parallel, predicates evaluated block by block as they arrive, so that only
//! what an engine asks for is kept: the truth of atoms, and perhaps values, tuples or what predicates are worth.

use super::faults::{Fault, never_occurs, not_whole, other_arity};
use super::open::{Opened, skipped_note};
use super::order::StepsBack;
use super::streams::{Computing, Gathered};
use super::timing::{Timings, reads_times, refuse_without_time};
use super::vacuous::never_held;
use crate::error::Budget;
use crate::{Error, Session, Specification};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::{Batch, Bits, Column, GrowingTexts, Position, Relation, Time, Value};
use tw_diag::Diagnostic;
use tw_ir::{Node, NodeId, Program, SlotId, What};
use tw_log_slices::Piece;
use tw_monitor::{PredicateError, Predicates, Signals, Term, Terms, Trace, Wanted};
use tw_trace::{Located, Projection, Summary, TraceError, TraceErrorKind};

/// A trace in memory and the way back to its lines.
pub(crate) struct Loaded {
    pub opened: Opened,
    pub trace: Trace,
    pub summary: Summary,
    pub keys: Option<Keys>,
    /// The columns of [`Need::kept`], unless somebody took them.
    pub kept: Vec<Column>,
    /// Those that equations define, by their slots: no line shows them.
    pub computed: Vec<(SlotId, Column)>,
    pub warnings: Vec<Diagnostic>,
    projection: Projection,
    divided: bool,
}

/// What is known of the positions of a batch beside their columns.
#[derive(Clone, Copy)]
pub(crate) struct Passing<'a> {
    pub len: usize,
    /// The numbers of the positions' keys, where there is a key: `u32::MAX` is none.
    pub keys: Option<&'a [u32]>,
    /// Timestamps, if they are kept.
    pub times: Option<&'a [Time]>,
}

/// Why columns were not taken.
pub(crate) enum Untaken {
    Budget(Budget),
    /// A term has no value in this batch.
    Term(PredicateError),
}

impl From<Budget> for Untaken {
    fn from(budget: Budget) -> Self {
        Untaken::Budget(budget)
    }
}

impl From<PredicateError> for Untaken {
    fn from(error: PredicateError) -> Self {
        Untaken::Term(error)
    }
}

/// Takes the columns of [`Need::kept`] while a trace is read, batch by batch and in its order, so that nobody has to keep them.
pub(crate) trait Taker {
    fn take(&mut self, columns: Vec<Column>, read: Passing<'_>) -> Result<(), Untaken>;
    /// Takes the pieces that [`Need::cutting`] made of the positions from `start` on, which nobody keeps then.
    fn pieces(&mut self, pieces: Vec<Vec<Piece>>, start: Position) -> Result<(), Budget> {
        let _ = (pieces, start);
        Ok(())
    }
}

/// What becomes of the positions of a batch, on the thread that read it: of each property, its pieces.
pub(crate) type Cutting<'a> = dyn Fn(Trace) -> Vec<Vec<Piece>> + Sync + 'a;

impl Loaded {
    /// Where positions of the log are.
    pub fn locate(&self, positions: &[Position]) -> HashMap<Position, Located> {
        self.opened.locate(&self.summary.locator, positions)
    }

    /// What a computed column holds at a position of the log.
    pub fn computed(&self, slot: SlotId, position: Position) -> Option<Value> {
        let (_, column) = self.computed.iter().find(|(own, _)| *own == slot)?;
        Some(column.value(position))
    }

    /// The trace as reports call it.
    pub fn name(&self) -> &str {
        &self.opened.name
    }

    /// Reads the trace once more, as [`Opened::scan`] does; `fold` says when it has seen enough.
    pub fn again<T: Send>(
        &self,
        session: &Session,
        spec: &Specification,
        map: &(dyn Fn(Batch) -> T + Sync),
        fold: &mut dyn FnMut(T) -> ControlFlow<()>,
    ) -> Result<(), TraceError> {
        // They were computed before, so they can be.
        let key = self.projection.key.as_ref().map(|key| key.name.as_str());
        let computing = Computing::new(session, spec, (key, self.divided)).ok().flatten();
        let (opened, read) = (&self.opened, (&self.projection, self.divided, computing));
        let map = |batch: Result<Batch, PredicateError>| batch.ok().map(map);
        let mut fold = |part: Option<T>| Ok(part.map_or(ControlFlow::Break(()), &mut *fold));
        let over = |what: String, _| TraceError::new(TraceErrorKind::Budget, what);
        scan(session, spec, opened, read, (&map, &mut fold), &over).map(drop)
    }
}

/// What is to be taken from a trace beside the truth of atoms.
#[derive(Clone, Copy, Default)]
pub(crate) struct Need<'a> {
    /// What the engine reads.
    pub wanted: Wanted,
    /// Timestamps, whether or not the program measures time.
    pub times: bool,
    /// The `by` column.
    pub key: Option<&'a str>,
    /// Whether it divides the whole trace.
    pub divided: bool,
    /// Slots to be kept as they are read.
    pub kept: &'a [SlotId],
    /// Whether equations are computed that nobody reads.
    pub computed: bool,
    /// Cuts batches instead of keeping them.
    pub cutting: Option<&'a Cutting<'a>>,
}

/// The `by` column.
#[derive(Default)]
pub(crate) struct Keys {
    /// Distinct texts, in order of appearance.
    pub names: Vec<Arc<str>>,
    /// Index into `names` per position, `u32::MAX` where the column is null.
    pub ids: Vec<u32>,
    index: FxHashMap<Arc<str>, u32>,
}

impl Keys {
    /// The number of a text.
    pub fn number(&mut self, text: &Arc<str>) -> u32 {
        if let Some(&known) = self.index.get(text) {
            return known;
        }
        let number = self.names.len() as u32;
        self.names.push(text.clone());
        self.index.insert(text.clone(), number);
        number
    }

    /// The number of a text that is known.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.index.get(text).copied()
    }

    /// Appends the values of a column as keys of further positions.
    pub fn extend_values(&mut self, column: &Column) {
        for at in 0..column.len() {
            let id = match column.value(at) {
                Value::Null => u32::MAX,
                Value::Str(text) => self.number(&text),
                other => self.number(&other.to_string().into()),
            };
            self.ids.push(id);
        }
    }

    /// Appends the keys of further positions: a column of texts, as readers deliver keys.
    pub fn extend(&mut self, column: &Column) {
        let Column::Text { ids, dictionary, valid } = column else { return };
        let numbers: Vec<u32> = dictionary.entries.iter().map(|text| self.number(text)).collect();
        if valid.count_ones() == ids.len() {
            self.ids.extend(ids.iter().map(|&id| numbers[id as usize]));
            return;
        }
        let number = |(at, &id): (usize, &u32)| if valid.get(at) { numbers[id as usize] } else { u32::MAX };
        self.ids.extend(ids.iter().enumerate().map(number));
    }
}

/// Slots with tuples that are few.
const FEW: usize = 16;
/// Bytes of a block times how many slots with tuples there are.
const BLOCK: usize = 32 << 20;

/// What is read of one batch, on the thread that reads it.
#[derive(Default)]
struct Part {
    len: usize,
    atoms: Vec<Bits>,
    signals: Vec<Vec<f64>>,
    terms: Vec<Term>,
    times: Option<Vec<Time>>,
    slots: Option<Vec<Column>>,
    relations: Vec<Relation>,
    kept: Vec<Column>,
    key: Option<Column>,
    back: StepsBack,
    pieces: Option<Vec<Vec<Piece>>>,
}

/// Reads a whole trace for a program; `signals` are those of an engine that asks for what predicates are worth.
pub(crate) fn read(
    session: &Session,
    spec: &Specification,
    files: &[String],
    need: Need<'_>,
    signals: Option<Arc<dyn Signals>>,
    mut taker: Option<&mut dyn Taker>,
) -> Result<Loaded, Error> {
    // What cannot be computed is told before anything is read.
    let computing = Computing::new(session, spec, (need.key, need.divided))?;
    let explained = explained(&spec.program);
    let kept: Vec<SlotId> = need.kept.iter().chain(&explained).copied().collect();
    let (asked, need) = (need.kept.len(), Need { kept: &kept, ..need });
    let computing =
        computing.and_then(|computing| match need.computed || reads_all(&spec.program, need.wanted) {
            true if need.computed && need.kept.is_empty() => Some(computing.unseen()),
            true => Some(computing),
            false => {
                let read = read_by_formulas(&spec.program);
                computing.only(|slot| need.kept.contains(&slot) || read.contains(&slot))
            }
        });
    let mut opened = Opened::new(session, files)?;
    let lenient = opened.let_time_go_back(session, spec);
    opened.read.block = opened.read.block.min(block(&spec.program));
    let times = need.times || reads_times(session, spec);
    let mut reader = Reader::new(spec, need, signals, (times, lenient));
    let projection = Projection::of(&spec.program, need.key, times || lenient);
    let (take, budget) = (reader.take(), session.evaluate.memory_budget);
    let fault = RefCell::new(Fault::default());
    // Only the fold knows where a batch begins, and so where a value is missing.
    let mut fold = |part: Result<Part, PredicateError>| {
        let mut part = part.map_err(|error| fault.borrow_mut().note(error, reader.trace.len))?;
        let (start, len) = (reader.trace.len, part.len);
        if let (Some(pieces), Some(taker)) = (part.pieces.take(), &mut taker) {
            reader.trace.len += len;
            reader.back.then(part.back);
            taker.pieces(pieces, start).map_err(|budget| fault.borrow_mut().out_of(budget))?;
            return Ok(ControlFlow::Continue(()));
        }
        let kept = taker.is_some().then(|| part.kept.drain(..asked).collect());
        reader.fold(part);
        if let (Some(taker), Some(kept)) = (&mut taker, kept) {
            let keys = need.key.map(|_| &reader.keys.ids[start..]);
            let times = reader.times.get(start..start + len);
            let taken = taker.take(kept, Passing { len, keys, times });
            taken.map_err(|why| match why {
                Untaken::Budget(budget) => fault.borrow_mut().out_of(budget),
                Untaken::Term(error) => fault.borrow_mut().note(error, start),
            })?;
        }
        let held = reader.held();
        if held > budget {
            let what = format!("the columns of {} positions", reader.trace.len);
            return Err(fault.borrow_mut().over(what, held, budget, need.wanted.signals));
        }
        Ok(ControlFlow::Continue(()))
    };
    let over = |what: String, bytes: usize| fault.borrow_mut().over(what, bytes, budget, false);
    let read = (&projection, need.divided, computing);
    let take = |batch: Result<Batch, PredicateError>| batch.and_then(&take);
    let scanned = scan(session, spec, &opened, read, (&take, &mut fold), &over);
    let mut summary = scanned.map_err(|error| fault.borrow().word(session, spec, &opened, error))?;
    let timed = summary.timed && times;
    if !summary.timed && summary.positions > 0 {
        refuse_without_time(spec, &opened)?;
    }
    let mut warnings = opened.notes();
    warnings.extend(skipped_note(summary.skipped, summary.bad_lines.first(), &opened.name));
    let back = reader.back.warning(&opened.name);
    let (trace, keys, mut kept) = reader.finish(timed);
    let columns = kept.split_off(kept.len().saturating_sub(explained.len()));
    let computed = explained.into_iter().zip(columns).collect();
    let cut = need.cutting.is_some();
    let never = if cut { Vec::new() } else { other_arity(spec, &mut summary, &trace.relations) };
    warnings.extend(never_occurs(spec, &summary));
    warnings.extend(back);
    if trace.len > 0 && !cut {
        warnings.extend(never);
        warnings.extend(never_held(spec, &trace, &opened));
        warnings.extend(not_whole(spec, &trace.relations));
    }
    let (keys, divided) = (need.key.map(|_| keys), need.divided);
    Ok(Loaded { opened, trace, summary, keys, kept, computed, warnings, projection, divided })
}

/// The computed columns that an explanation of a property may name.
fn explained(program: &Program) -> Vec<SlotId> {
    let read = read_by(program, program.roots.iter().map(|root| root.node).collect());
    program.derived().filter(|slot| read.contains(slot)).collect()
}

/// The slots that properties, queries and what engines are given of them read.
fn read_by_formulas(program: &Program) -> FxHashSet<SlotId> {
    let roots = program.roots.iter().map(|root| root.node);
    read_by(program, roots.chain(program.atoms()).chain(program.terms()).chain(program.patterns()).collect())
}

fn read_by(program: &Program, nodes: Vec<NodeId>) -> FxHashSet<SlotId> {
    let slot = |id: NodeId| match program.dag.node(id) {
        Node::Slot(slot) | Node::Truth(slot) => Some(slot),
        _ => program.pattern_slot(id),
    };
    program.reachable(&nodes).into_iter().filter_map(slot).collect()
}

/// Whether columns are read that no formula names.
fn reads_all(program: &Program, wanted: Wanted) -> bool {
    wanted.slots || !program.monitors.is_empty()
}

/// Bytes of a block for the slots of a program: each with tuples takes four bytes for every position, whatever happens there.
fn block(program: &Program) -> usize {
    let tuples = program.slots.iter().filter(|slot| matches!(slot.what, What::Tuples { .. })).count();
    match tuples {
        0..FEW => usize::MAX,
        many => (BLOCK / many).max(1 << 15),
    }
}

/// What is done with a batch on the thread that read it, and with what that gives, in the order of the trace.
type Folding<'f, T> = (
    &'f (dyn Fn(Result<Batch, PredicateError>) -> T + Sync),
    &'f mut dyn FnMut(T) -> Result<ControlFlow<()>, TraceError>,
);

/// Scans a trace with what timestamps say of its positions and what equations define filled in. `over` makes an error of bytes
/// beyond the memory budget.
fn scan<T: Send>(
    session: &Session,
    spec: &Specification,
    opened: &Opened,
    (projection, divided, mut computing): (&Projection, bool, Option<Computing>),
    (take, fold): Folding<'_, T>,
    over: &dyn Fn(String, usize) -> TraceError,
) -> Result<Summary, TraceError> {
    let key = projection.key.as_ref().map(|key| key.name.as_str());
    let mut timings = Timings::new(&spec.program, session.read.unit, key, divided);
    match (&mut timings, &mut computing) {
        (None, None) => opened.scan(session, projection, &|batch| Ok(take(Ok(batch))), fold),
        (Some(timings), None) if timings.is_local() => {
            let map = |mut batch: Batch| {
                timings.fill_local(&mut batch);
                Ok(take(Ok(batch)))
            };
            opened.scan(session, projection, &map, fold)
        }
        // What positions before or after say is known in the order of the trace alone.
        (timings, computing) => {
            let at_once = computing.as_ref().is_some_and(|computing| !computing.looks_back());
            let mut gathered = Gathered::default();
            let mut fold_filled = |mut batch: Batch| {
                if let Some(timings) = timings {
                    timings.fill(&mut batch);
                }
                if at_once {
                    gathered.push(batch);
                    let held = gathered.held();
                    return match held > session.evaluate.memory_budget {
                        true => Err(over(format!("the columns of {} positions", gathered.len()), held)),
                        false => Ok(ControlFlow::Continue(())),
                    };
                }
                let filled = computing.as_mut().map_or(Ok(()), |computing| computing.fill(spec, &mut batch));
                fold(take(filled.map(|()| batch)))
            };
            let summary = opened.scan(session, projection, &Ok, &mut fold_filled)?;
            if let Some(computing) = computing.as_ref().filter(|_| at_once && gathered.len() > 0) {
                let mut batch = gathered.into_batch();
                let filled = computing.whole(spec, &mut batch);
                let _ = fold(take(filled.map(|()| batch)))?;
            }
            Ok(summary)
        }
    }
}

/// The columns under construction.
struct Reader<'r> {
    spec: &'r Specification,
    need: Need<'r>,
    signals: Option<Arc<dyn Signals>>,
    /// The slots of the patterns, each once; several may stand on one.
    tupled: Vec<SlotId>,
    trace: Trace,
    /// Whether times are kept, and whether they may go back.
    timing: (bool, bool),
    back: StepsBack,
    times: Vec<Time>,
    kept: Vec<Column>,
    keys: Keys,
    /// The texts of columns of slots, kept ones and terms, and of tuples.
    texts: [Vec<GrowingTexts>; 3],
    tuples: Vec<Vec<GrowingTexts>>,
}

impl<'r> Reader<'r> {
    fn new(
        spec: &'r Specification,
        need: Need<'r>,
        signals: Option<Arc<dyn Signals>>,
        timing: (bool, bool),
    ) -> Self {
        let program = &spec.program;
        let mut tupled: Vec<SlotId> = match need.wanted.relations {
            true => pattern_slots(spec).collect(),
            false => Vec::new(),
        };
        tupled.sort_unstable();
        tupled.dedup();
        // An engine that measures reads what predicates are worth, not whether they hold.
        let atoms = if signals.is_some() { 0 } else { program.atoms().len() };
        let trace = Trace {
            atoms: vec![Bits::new(); atoms],
            relations: vec![Relation::default(); tupled.len()],
            slots: need.wanted.slots.then(Vec::new),
            ..Trace::default()
        };
        let tuples = vec![Vec::new(); tupled.len()];
        let (times, kept, keys, texts) = Default::default();
        let back = StepsBack::default();
        Self { spec, need, signals, tupled, trace, timing, back, times, kept, keys, texts, tuples }
    }

    /// What is done with a batch on the thread that read it.
    fn take(&self) -> impl Fn(Batch) -> Result<Part, PredicateError> + Sync + use<'r> {
        let program = &self.spec.program;
        let (predicates, terms) = (Predicates::new(program), Terms::new(program));
        let (need, signals, tupled) = (self.need, self.signals.clone(), self.tupled.clone());
        let (keep_times, lenient) = self.timing;
        let patterned: Vec<SlotId> = pattern_slots(self.spec).collect();
        let distinct = need.kept.iter().collect::<FxHashSet<_>>().len() == need.kept.len();
        let asked = program.roots.len() + program.monitors.len();
        let nobody_else = distinct && asked == 0 && !(need.wanted.slots || need.wanted.terms);
        move |mut batch: Batch| {
            let key = need.key.and_then(|_| batch.slots.pop());
            let (len, times) = (batch.len, batch.times.take());
            let back = times.as_deref().filter(|_| lenient).map(StepsBack::of).unwrap_or_default();
            let times = times.filter(|_| keep_times);
            let keep = |&slot: &SlotId| match nobody_else {
                true => std::mem::replace(&mut batch.slots[slot as usize], Column::Truth(Bits::new())),
                false => batch.slots[slot as usize].clone(),
            };
            let kept = need.kept.iter().map(keep).collect();
            let terms = if need.wanted.terms { terms.evaluate(&batch) } else { Vec::new() };
            // Nobody else reads the tuples, unless slots are kept.
            let relation = |&slot: &SlotId| match &mut batch.slots[slot as usize] {
                Column::Tuples(relation) if need.wanted.slots => relation.clone(),
                Column::Tuples(relation) => std::mem::take(relation),
                _ => Relation::default(),
            };
            let relations = tupled.iter().map(relation).collect();
            let mut part = Part { len, times, kept, terms, relations, key, back, ..Part::default() };
            match &signals {
                Some(signals) => part.signals = signals.signals(&batch)?,
                None if need.wanted.slots => {
                    part.atoms = predicates.evaluate(&batch)?;
                    part.slots = Some(batch.slots);
                }
                None => part.atoms = predicates.evaluate_owned(batch)?,
            }
            if let Some(cutting) = need.cutting {
                let relation = |slot: &SlotId| {
                    let own = tupled.binary_search(slot).ok();
                    own.map_or_else(Relation::default, |at| part.relations[at].clone())
                };
                let trace = Trace {
                    len: part.len,
                    atoms: std::mem::take(&mut part.atoms),
                    times: part.times.take(),
                    terms: std::mem::take(&mut part.terms),
                    relations: patterned.iter().map(relation).collect(),
                    ..Trace::default()
                };
                part.relations = Vec::new();
                part.pieces = Some(cutting(trace));
            }
            Ok(part)
        }
    }

    /// Appends what was read of a batch.
    fn fold(&mut self, part: Part) {
        let trace = &mut self.trace;
        trace.len += part.len;
        self.back.then(part.back);
        trace.atoms.iter_mut().zip(&part.atoms).for_each(|(column, more)| column.append(more));
        match trace.signals.is_empty() {
            true => trace.signals = part.signals,
            false => {
                trace.signals.iter_mut().zip(part.signals).for_each(|(column, more)| column.extend(more))
            }
        }
        self.times.extend(part.times.into_iter().flatten());
        let [slots, kept, terms] = &mut self.texts;
        if let (Some(columns), Some(more)) = (&mut trace.slots, part.slots) {
            append_columns(columns, more, slots);
        }
        append_columns(&mut self.kept, part.kept, kept);
        append_terms(&mut trace.terms, part.terms, terms);
        for ((relation, more), texts) in trace.relations.iter_mut().zip(part.relations).zip(&mut self.tuples)
        {
            relation.append_with(texts, more);
        }
        if let Some(column) = part.key {
            self.keys.extend(&column);
        }
    }

    /// Bytes held, about.
    fn held(&self) -> usize {
        let trace = &self.trace;
        let terms = trace.terms.iter().map(|term| &term.column);
        let columns = terms.chain(trace.slots.iter().flatten()).chain(&self.kept);
        trace.atoms.iter().map(Bits::heap_bytes).sum::<usize>()
            + columns.map(Column::heap_bytes).sum::<usize>()
            + trace.relations.iter().map(Relation::heap_bytes).sum::<usize>()
            + trace.signals.iter().map(|column| column.len() * 8).sum::<usize>()
            + self.times.len() * 8
            + self.keys.ids.len() * 4
    }

    fn finish(mut self, timed: bool) -> (Trace, Keys, Vec<Column>) {
        self.trace.times = timed.then_some(self.times);
        if self.need.wanted.relations {
            let own = |slot: SlotId| self.tupled.binary_search(&slot).ok();
            let own = pattern_slots(self.spec).filter_map(own).map(|at| self.trace.relations[at].clone());
            self.trace.relations = own.collect();
        }
        (self.trace, self.keys, self.kept)
    }
}

/// The slots of the patterns with variables, in their order.
fn pattern_slots(spec: &Specification) -> impl Iterator<Item = SlotId> {
    let program = &spec.program;
    program.patterns().into_iter().filter_map(|node| program.pattern_slot(node))
}

pub(crate) fn append_columns(columns: &mut Vec<Column>, more: Vec<Column>, texts: &mut Vec<GrowingTexts>) {
    if columns.is_empty() {
        *columns = more;
        texts.resize(columns.len(), GrowingTexts::default());
        return;
    }
    for ((column, more), texts) in columns.iter_mut().zip(more).zip(texts) {
        texts.append(column, more);
    }
}

fn append_terms(terms: &mut Vec<Term>, more: Vec<Term>, texts: &mut Vec<GrowingTexts>) {
    if terms.is_empty() {
        *terms = more;
        texts.resize(terms.len(), GrowingTexts::default());
        return;
    }
    for ((term, more), texts) in terms.iter_mut().zip(more).zip(texts) {
        term.append_with(texts, more);
    }
}
