//! Cutting: one trace, many pieces.

use crate::shard::{Bucket, Division, Shard, buckets};
use tw_core::{Bits, Position, Relation};
use tw_ir::{Node, Program};
use tw_monitor::{Segments, Trace};

/// A slice: some positions of a trace with some of their tuples.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    /// What may be reported of it.
    pub shard: Shard,
    /// The position of the log of each of its positions, ascending.
    pub order: Vec<u32>,
    /// What engines read.
    pub trace: Trace,
}

impl Piece {
    /// Tuples and positions: about what it costs.
    pub fn weight(&self) -> usize {
        let tuples = |own: &Relation| own.starts().last().map_or(0, |&count| count as usize);
        self.trace.len + self.trace.relations.iter().map(tuples).sum::<usize>()
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        let trace = &self.trace;
        self.order.len() * 4
            + trace.atoms.iter().map(Bits::heap_bytes).sum::<usize>()
            + trace.times.as_ref().map_or(0, |times| times.len() * 8)
            + trace.relations.iter().map(Relation::heap_bytes).sum::<usize>()
            + trace.terms.iter().map(|term| term.column.heap_bytes()).sum::<usize>()
    }
}

/// Of a pattern's tuples, the bucket of each in each division whose variable it mentions, once for each place where it does.
struct Sorted {
    columns: Vec<Vec<Vec<u32>>>,
}

impl Sorted {
    fn new(relation: &Relation, variables: &[u32], divisions: &[Division]) -> Self {
        let of = |division: &Division| {
            let named = variables.iter().enumerate().filter(|(_, own)| **own == division.variable);
            named.filter_map(|(at, _)| Some(buckets(relation.columns().get(at)?, *division))).collect()
        };
        Self { columns: divisions.iter().map(of).collect() }
    }

    /// The slices that keep a tuple; none where it names two buckets, and so no value.
    fn slices(&self, tuple: usize, divisions: &[Division], slices: &mut Vec<u32>) {
        slices.clear();
        slices.push(0);
        for (columns, division) in self.columns.iter().zip(divisions) {
            let mut named = columns.iter().map(|column| column[tuple]);
            match named.next() {
                Some(is) => {
                    if named.any(|other| other != is) {
                        return slices.clear();
                    }
                    slices.iter_mut().for_each(|slice| *slice = *slice * division.of + is);
                }
                None => {
                    *slices = slices
                        .iter()
                        .flat_map(|slice| (0..division.of).map(move |is| slice * division.of + is))
                        .collect();
                }
            }
        }
    }
}

/// Which positions, and of them which tuples, each slice keeps.
struct Kept {
    /// Of each pattern, the first one about the same event: they have one relation.
    shown: Vec<usize>,
    /// The positions of each slice.
    orders: Vec<Vec<u32>>,
    /// Of each slice and relation: where the tuples of its positions start, and which they are.
    starts: Vec<Vec<u32>>,
    tuples: Vec<Vec<u32>>,
}

fn keep(
    program: &Program,
    trace: &Trace,
    range: (Position, Position),
    divisions: &[Division],
    filter: bool,
) -> Kept {
    let count = divisions.iter().map(|division| division.of as usize).product::<usize>().max(1);
    let patterns = program.patterns();
    let variables = |id: &tw_ir::NodeId| match program.dag.node(*id) {
        Node::Pattern(pattern) => program.dag.patterns[pattern as usize].variables().collect::<Vec<u32>>(),
        _ => Vec::new(),
    };
    // Patterns about one event have one relation, of which a slice keeps what one of them asks for.
    let slots: Vec<_> = patterns.iter().map(|id| program.pattern_slot(*id)).collect();
    let first = |at: usize| slots.iter().position(|slot| *slot == slots[at]).unwrap_or(at);
    let shown: Vec<usize> = (0..trace.relations.len()).map(first).collect();
    let distinct: Vec<usize> = (0..shown.len()).filter(|&at| shown[at] == at).collect();
    let sorted = |&own: &usize| -> Vec<Sorted> {
        let alike = (0..shown.len()).filter(|&at| shown[at] == own);
        alike.map(|at| Sorted::new(&trace.relations[own], &variables(&patterns[at]), divisions)).collect()
    };
    let sorted: Vec<Vec<Sorted>> = distinct.iter().map(sorted).collect();
    let relations = distinct.len();
    let mut orders: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut starts: Vec<Vec<u32>> = vec![vec![0]; count * relations];
    let mut tuples: Vec<Vec<u32>> = vec![Vec::new(); count * relations];
    let (mut slices, mut more, mut touched) = (Vec::new(), Vec::new(), Vec::new());
    let mut stamps = vec![usize::MAX; count];
    for at in range.0..range.1.min(trace.len) {
        touched.clear();
        for (number, &relation) in distinct.iter().enumerate() {
            for tuple in trace.relations[relation].tuples(at) {
                let (one, others) = (&sorted[number][0], &sorted[number][1..]);
                one.slices(tuple, divisions, &mut slices);
                for other in others {
                    other.slices(tuple, divisions, &mut more);
                    slices.extend_from_slice(&more);
                }
                if !others.is_empty() {
                    slices.sort_unstable();
                    slices.dedup();
                }
                for &slice in &slices {
                    let slice = slice as usize;
                    tuples[slice * relations + number].push(tuple as u32);
                    if stamps[slice] != at {
                        stamps[slice] = at;
                        touched.push(slice);
                    }
                }
            }
        }
        if !filter || trace.atoms.iter().any(|atom| atom.get(at)) {
            touched.clear();
            touched.extend(0..count);
        }
        for &slice in &touched {
            orders[slice].push(at as u32);
            for number in 0..relations {
                let own = slice * relations + number;
                starts[own].push(tuples[own].len() as u32);
            }
        }
    }
    Kept { shown, orders, starts, tuples }
}

/// The positions that each slice keeps of a trace: what [`cut`] gives pieces of.
pub fn needed_by(program: &Program, trace: &Trace, divisions: &[Division], filter: bool) -> Vec<Vec<u32>> {
    keep(program, trace, (0, trace.len), divisions, filter).orders
}

/// The slices of the positions `range` of a trace of a program with one root: one per bucket, or per combination of buckets. With
/// `filter`, positions at which nothing happens in a slice are left out of it.
pub fn cut(
    program: &Program,
    trace: &Trace,
    range: (Position, Position),
    divisions: &[Division],
    filter: bool,
) -> Vec<Piece> {
    let Kept { shown, orders, starts, tuples } = keep(program, trace, range, divisions, filter);
    let until = trace.until.or_else(|| trace.times.as_ref()?.last().copied());
    let (mut starts, mut tuples) = (starts.into_iter(), tuples.into_iter());
    let piece = |(slice, order): (usize, Vec<u32>)| {
        let mut own: Vec<Relation> = Vec::with_capacity(shown.len());
        for (at, &first) in shown.iter().enumerate() {
            if first < at {
                own.push(own[first].clone());
                continue;
            }
            let (starts, kept) = (starts.next().unwrap_or_default(), tuples.next().unwrap_or_default());
            let columns = trace.relations[at].columns().iter().map(|column| column.gather(&kept)).collect();
            own.push(Relation::new(starts, columns));
        }
        let relations = own;
        let bare = Trace { relations: Vec::new(), until, ..shallow(trace) };
        let mut part = bare.gather(&order, vec![0]);
        (part.relations, part.segments) = (relations, None);
        Piece {
            shard: Shard { buckets: buckets_of(slice as u32, divisions), positions: None },
            order,
            trace: part,
        }
    };
    orders.into_iter().enumerate().map(piece).collect()
}

/// The buckets of a slice, by its number among all combinations.
pub fn buckets_of(slice: u32, divisions: &[Division]) -> Vec<Bucket> {
    let (mut rest, mut own) = (slice, Vec::new());
    for division in divisions.iter().rev() {
        own.push(Bucket { division: *division, is: rest % division.of.max(1) });
        rest /= division.of.max(1);
    }
    own.reverse();
    own
}

/// The trace without its tuples, whose copies are cheap to make.
fn shallow(trace: &Trace) -> Trace {
    Trace {
        len: trace.len,
        atoms: trace.atoms.clone(),
        times: trace.times.clone(),
        slots: trace.slots.clone(),
        terms: trace.terms.clone(),
        relations: Vec::new(),
        signals: Vec::new(),
        segments: None,
        until: trace.until,
    }
}

/// A trace of many keys, laid end to end, as so many of fewer keys: whole keys each, the n-th to the n-th, and the numbers of the
/// keys of each.
pub fn cut_keys(trace: &Trace, parts: usize) -> Vec<(Piece, Vec<usize>)> {
    let parts = parts.clamp(1, trace.starts().len().max(1));
    let part = |part: usize| {
        let keys: Vec<usize> = (part..trace.starts().len()).step_by(parts).collect();
        let (mut order, mut starts) = (Vec::new(), Vec::new());
        for &key in &keys {
            starts.push(order.len());
            order.extend(trace.starts()[key] as u32..trace.segment_end(key) as u32);
        }
        let own = trace.gather(&order, starts.clone());
        let own = Trace { segments: Some(Segments { starts }), until: trace.until, ..own };
        (Piece { shard: Shard::default(), order, trace: own }, keys)
    };
    (0..parts).map(part).collect()
}
