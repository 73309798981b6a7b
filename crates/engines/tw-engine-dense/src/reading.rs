//! From positions to instants and back.

use crate::formula::Formulas;
use crate::signal::Union;
use crate::{Signal, Span};
use std::ops::Range;
use tw_core::{Bits, Position, Time};
use tw_ir::{NodeId, Program};
use tw_monitor::{EvaluateOptions, Trace, Unsupported};

/// What a position says about the time around its timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A state: it holds from its timestamp up to the next one, the last one to the end of the trace. Of positions with
    /// equal timestamps the last one gives the state at that instant and after; the others last no time at all.
    States,
    /// An event: it holds at its timestamp alone. Events with equal timestamps happen together: at that instant, what
    /// one of them says holds.
    Events,
}

/// The timestamps of the positions of one segment, which never decrease.
pub(crate) fn times<'t>(trace: &'t Trace, segment: &Range<Position>) -> Result<&'t [Time], Unsupported> {
    let refuse = |what: &str| Unsupported { node: None, what: what.into(), help: None, exhausted: false };
    let times = trace.times.as_deref().and_then(|times| times.get(segment.clone())).ok_or_else(|| {
        refuse("continuous time on a trace without timestamps").help("count positions: ⟨clock: index⟩")
    })?;
    if times.is_empty() {
        return Err(refuse("continuous time on a trace without positions"));
    }
    if !times.is_sorted() {
        return Err(refuse("timestamps that decrease"));
    }
    Ok(times)
}

/// The stretch between two instants.
pub(crate) fn span(start: Time, end: Time) -> Result<Span, Unsupported> {
    Span::new(start, end).ok_or_else(|| Unsupported {
        node: None,
        what: "continuous time over more than 292 years".into(),
        help: Some("check the timestamps, or use ⟨clock: stamps⟩".into()),
        exhausted: false,
    })
}

/// An atom as a signal: `bits` are its truth at the positions of the trace, `times` are those of the segment alone.
/// O(changes), but O(positions) for events.
pub(crate) fn signal(
    bits: &Bits,
    segment: &Range<Position>,
    times: &[Time],
    reading: Reading,
    span: Span,
    buffer: Vec<u64>,
) -> Signal {
    let mut union = Union::new(span, buffer, 0);
    let mut at = segment.start;
    while let Some(from) = bits.find(true, at).filter(|&from| from < segment.end) {
        let to = bits.find(false, from).map_or(segment.end, |to| to.min(segment.end));
        let positions = from - segment.start..to - segment.start;
        match reading {
            Reading::States => {
                let begin = span.cell(times[positions.start]);
                let end = times.get(positions.end).map_or(span.cells(), |&time| span.cell(time));
                if begin < end {
                    union.add(begin, end);
                }
            }
            Reading::Events => {
                for &time in &times[positions] {
                    let cell = span.cell(time);
                    union.add(cell, cell + 1);
                }
            }
        }
        at = to;
    }
    union.finish()
}

impl Signal {
    /// The truth at each of the instants, which never decrease; appended to `out`. O(runs · log(instants per run)).
    pub fn sample(&self, times: &[Time], out: &mut Bits) {
        let mut done = 0;
        // Instants before the span, if any.
        done += gallop(times, |&time| time < self.span().start());
        out.push_repeat(false, done);
        let mut value = self.first();
        for &cut in &self.cuts()[1..] {
            // Of the instants, those in cells before the cut.
            let count =
                gallop(&times[done..], |&time| time <= self.span().end() && self.span().cell(time) < cut);
            out.push_repeat(value, count);
            done += count;
            value = !value;
        }
        out.push_repeat(false, times.len() - done);
    }
}

/// How many items from the front satisfy `yes`, which those behind the first that does not do not either.
fn gallop<T>(items: &[T], yes: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    while step < items.len() && yes(&items[step]) {
        step *= 2;
    }
    let (low, high) = (step / 2, items.len().min(step + 1));
    // `low` is 0 or known to satisfy it.
    low + items[low..high].partition_point(yes)
}

/// The truth of `root` at every instant of the trace (of its first segment, if it has several): from the first
/// timestamp to the last. Which positions hold what between timestamps, `reading` says. Costs O(changes) per operator
/// of the formula, and 8 bytes per change for each operand still needed.
///
/// ```
/// use tw_core::Bits;
/// use tw_engine_dense::{Reading, dense};
/// use tw_ir::{Clock, Node, Path, Program, Root, Slot, Temporal, What};
/// use tw_monitor::{EvaluateOptions, Trace};
///
/// // F p, where p is true from 2 s on and false again from 5 s on
/// let mut program = Program::default();
/// let what = What::Proposition(Path::field("p"));
/// program.slots.push(Slot { what, declared: false, span: Default::default() });
/// let p = program.dag.add(Node::Truth(0));
/// let node = program.dag.add(Node::Unary(Temporal::Finally, None, p));
/// let root = Root::property("F p", node);
/// program.roots.push(root);
///
/// let column: Bits = [false, true, false, false].into_iter().collect();
/// let times = Some([0, 2, 5, 9].map(|s| s * 1_000_000_000).to_vec());
/// let trace = Trace { len: 4, atoms: vec![column], times, ..Trace::default() };
/// let options = EvaluateOptions { clock: Clock::Dense, ..Default::default() };
/// let signal = dense(&program, node, &trace, Reading::States, &options).unwrap();
/// let runs: Vec<String> = signal.runs(true).map(|run| run.to_string()).collect();
/// assert_eq!(runs, ["[0,5000000000)"]);
/// ```
pub fn dense(
    program: &Program,
    root: NodeId,
    trace: &Trace,
    reading: Reading,
    options: &EvaluateOptions,
) -> Result<Signal, Unsupported> {
    let mut formulas = Formulas::new(program, &[root], options.unit, options.memory_budget)?;
    let segment = 0..trace.segment_end(0);
    let mut signals = segment_signals(&mut formulas, trace, segment, reading)?;
    Ok(signals.swap_remove(0))
}

/// The wanted formulas on one segment.
pub(crate) fn segment_signals(
    formulas: &mut Formulas,
    trace: &Trace,
    segment: Range<Position>,
    reading: Reading,
) -> Result<Vec<Signal>, Unsupported> {
    let times = times(trace, &segment)?;
    let span = span(times[0], times[times.len() - 1])?;
    columns(formulas, trace)?;
    formulas.signals(span, |atom, buffer| signal(&trace.atoms[atom], &segment, times, reading, span, buffer))
}

/// Checks that the trace has the atoms that the formulas read.
pub(crate) fn columns(formulas: &Formulas, trace: &Trace) -> Result<(), Unsupported> {
    let missing =
        |&(_, atom): &(NodeId, usize)| trace.atoms.get(atom).is_none_or(|bits| bits.len() < trace.len);
    match formulas.atoms().find(missing) {
        None => Ok(()),
        Some((id, _)) => Err(Unsupported::construct(id, "an atom without its truth at every position")),
    }
}
