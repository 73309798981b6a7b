//! What is sure about a formula when an event happens, by what the event says.
//!
//! No two events happen at the same instant, so at an instant either nothing happens and all atoms are false, or one of
//! the events does whose windows hold the instant, and all atoms are what that event says. A formula that holds in each
//! of these cases holds on every execution, even if no atom of it is certain: `G (p -> q)` where each p has its q.

use crate::algebra::{combine, table};
use crate::steps::{Operand, Step};
use crate::windows::Windows;
use crate::{Run, Signal};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tw_core::Bits;
use tw_monitor::Trace;

/// Different events that a formula is looked at for, if it has temporal operators; more are not told apart.
const CASES: usize = 64;
/// The same if it has none, when a case costs nothing.
const PLAIN_CASES: usize = 1 << 12;

/// When a formula certainly holds, and when it certainly fails.
#[derive(Clone)]
pub(crate) enum Sure {
    /// At every instant the one or the other.
    Known(bool),
    /// The two signals, and whether they change places.
    Signals(Rc<[Signal; 2]>, bool),
}

impl Sure {
    fn of(holds: Signal, fails: Signal) -> Sure {
        Sure::Signals(Rc::new([holds, fails]), false)
    }

    fn negate(self, negated: bool) -> Sure {
        match self {
            Sure::Known(value) => Sure::Known(value ^ negated),
            Sure::Signals(pair, swapped) => Sure::Signals(pair, swapped ^ negated),
        }
    }

    fn and(self, other: Sure) -> Sure {
        match (self, other) {
            (Sure::Known(false), _) | (_, Sure::Known(false)) => Sure::Known(false),
            (Sure::Known(true), sure) | (sure, Sure::Known(true)) => sure,
            (Sure::Signals(a, swap_a), Sure::Signals(b, swap_b)) => {
                let (a, b) = (order(&a, swap_a), order(&b, swap_b));
                Sure::of(a[0].and(b[0]), a[1].or(b[1]))
            }
        }
    }

    fn xor(self, other: Sure) -> Sure {
        match (self, other) {
            (Sure::Known(value), sure) | (sure, Sure::Known(value)) => sure.negate(value),
            (Sure::Signals(a, swap_a), Sure::Signals(b, swap_b)) => {
                let (a, b) = (order(&a, swap_a), order(&b, swap_b));
                let differ = a[0].and(b[1]).or(&a[1].and(b[0]));
                Sure::of(differ, a[0].and(b[0]).or(&a[1].and(b[1])))
            }
        }
    }

    /// When it certainly has that value, if that changes.
    fn signal(&self, value: bool) -> Result<&Signal, bool> {
        match self {
            Sure::Known(is) => Err(*is == value),
            Sure::Signals(pair, swapped) => Ok(&pair[usize::from(value == *swapped)]),
        }
    }
}

fn order(pair: &[Signal; 2], swapped: bool) -> [&Signal; 2] {
    if swapped { [&pair[1], &pair[0]] } else { [&pair[0], &pair[1]] }
}

/// A formula up to its outermost temporal operators, in every case.
pub(crate) struct Cases {
    /// When it certainly holds, and when it certainly fails, whatever happens.
    pub(crate) sure: [Signal; 2],
    /// What is sure when an event happens, for each kind of event.
    kinds: Vec<Sure>,
    /// The kind of each event; empty if there are too many kinds.
    kind_of: Vec<u16>,
}

/// The connectives below a formula, down to atoms and temporal operators; ascending.
pub(crate) fn block(list: &[Step], root: usize) -> Vec<usize> {
    let mut seen = HashSet::from([root]);
    let mut todo = vec![root];
    while let Some(step) = todo.pop() {
        if let Step::And(a, b) | Step::Xor(a, b) = list[step] {
            todo.extend([a.step, b.step].into_iter().filter(|&step| seen.insert(step)));
        }
    }
    let mut steps: Vec<usize> = seen.into_iter().collect();
    steps.sort_unstable();
    steps
}

/// What a formula is evaluated on.
pub(crate) struct Context<'c, 't> {
    pub(crate) list: &'c [Step],
    pub(crate) trace: &'c Trace,
    pub(crate) windows: &'c Windows<'t>,
    /// Of the temporal operators when they certainly hold, and when they certainly fail.
    pub(crate) made: &'c [Option<Rc<[Signal; 2]>>],
}

impl Context<'_, '_> {
    /// The formula at `root` in every case.
    pub(crate) fn cases(&self, root: Operand) -> Cases {
        let block = block(self.list, root.step);
        let mut atoms: Vec<usize> = Vec::new();
        for &step in &block {
            if let Step::Atom(atom) = self.list[step] {
                atoms.push(atom);
            }
        }
        atoms.sort_unstable();
        atoms.dedup();
        let plain = block.iter().all(|&step| !matches!(self.list[step], Step::Reach { .. }));
        let most = if plain { PLAIN_CASES } else { CASES };
        let nothing = self.value(&block, root, |_| Sure::Known(false));
        match self.kinds(&atoms, most) {
            Some((keys, kind_of)) => {
                let says = |key: u64, atom| match atoms.binary_search(&atom) {
                    Ok(place) => Sure::Known(key >> place & 1 == 1),
                    Err(_) => Sure::Known(false),
                };
                let kinds: Vec<Sure> =
                    keys.iter().map(|&key| self.value(&block, root, |atom| says(key, atom))).collect();
                let sure = self.whatever_happens(&nothing, &kinds, &kind_of);
                Cases { sure, kinds, kind_of }
            }
            None => {
                let sure = self.value(&block, root, |atom| self.atom(&self.trace.atoms[atom]));
                let signal = |value| match sure.signal(value) {
                    Ok(signal) => signal.clone(),
                    Err(is) => Signal::constant(self.windows.span, is),
                };
                Cases { sure: [signal(true), signal(false)], kinds: Vec::new(), kind_of: Vec::new() }
            }
        }
    }

    /// The different truths that events give to the atoms, a bit each, and which event gives which.
    fn kinds(&self, atoms: &[usize], most: usize) -> Option<(Vec<u64>, Vec<u16>)> {
        if atoms.len() > 64 {
            return None;
        }
        let segment = self.windows.segment.clone();
        let (mut keys, mut kind_of) = (Vec::new(), Vec::with_capacity(segment.len()));
        let mut known: HashMap<u64, u16> = HashMap::new();
        // Of few atoms, all kinds have their place: no need to hash.
        let mut places = [u16::MAX; 256];
        let few = atoms.len() <= 8;
        let mut last = None;
        for at in segment {
            let mut key = 0;
            for (place, &atom) in atoms.iter().enumerate() {
                key |= u64::from(self.trace.atoms[atom].get(at)) << place;
            }
            let kind = match last {
                Some((same, kind)) if same == key => kind,
                _ if few && places[key as usize] != u16::MAX => places[key as usize],
                _ => {
                    let kind = *known.entry(key).or_insert_with(|| {
                        keys.push(key);
                        (keys.len() - 1) as u16
                    });
                    if keys.len() > most {
                        return None;
                    }
                    last = Some((key, kind));
                    if few {
                        places[key as usize] = kind;
                    }
                    kind
                }
            };
            kind_of.push(kind);
        }
        Some((keys, kind_of))
    }

    /// An atom that is not told apart by events: it holds when an event with it happens at a known instant, and fails
    /// where none can.
    fn atom(&self, bits: &Bits) -> Sure {
        let segment = &self.windows.segment;
        let exact = segment.clone().filter(|&at| bits.get(at)).filter_map(|at| {
            let (low, high) = self.windows.window(at - segment.start);
            (low == high).then_some(Run::closed(low, low))
        });
        Sure::of(Signal::new(self.windows.span, exact), self.windows.relax(bits, Vec::new()).complement())
    }

    /// The formula, its atoms being so.
    fn value(&self, block: &[usize], root: Operand, atom: impl Fn(usize) -> Sure) -> Sure {
        let span = self.windows.span;
        let mut values: Vec<Sure> = Vec::with_capacity(block.len());
        let instant = |time| {
            let there = Signal::new(span, [Run::closed(time, time)]);
            Sure::of(there.clone(), there.complement())
        };
        for &step in block {
            let of = |operand: Operand| {
                let place = block.binary_search(&operand.step).unwrap_or_default();
                values[place].clone().negate(operand.negated)
            };
            let value = match self.list[step] {
                Step::True => Sure::Known(true),
                Step::First => instant(span.start()),
                Step::Last => instant(span.end()),
                Step::Atom(place) => atom(place),
                Step::And(a, b) => of(a).and(of(b)),
                Step::Xor(a, b) => of(a).xor(of(b)),
                Step::Reach { .. } => {
                    Sure::Signals(self.made[step].clone().expect("operands come first"), false)
                }
            };
            values.push(value);
        }
        let place = block.binary_search(&root.step).unwrap_or_default();
        values.swap_remove(place).negate(root.negated)
    }

    /// When the formula certainly holds, and fails: in every case that an instant allows.
    fn whatever_happens(&self, nothing: &Sure, kinds: &[Sure], kind_of: &[u16]) -> [Signal; 2] {
        let span = self.windows.span;
        // The windows of events by what is sure of them: it holds, it fails, or by kind.
        let group = |sure: &Sure, kind: usize| match sure {
            Sure::Known(true) => 0,
            Sure::Known(false) => 1,
            Sure::Signals(..) => 2 + kind,
        };
        let groups: Vec<usize> = kinds.iter().enumerate().map(|(kind, sure)| group(sure, kind)).collect();
        let mut ranges: Vec<Vec<(u64, u64)>> = vec![Vec::new(); 2 + kinds.len()];
        let mut exact = Vec::new();
        for (event, &kind) in kind_of.iter().enumerate() {
            let (low, high) = self.windows.cells(event);
            ranges[groups[usize::from(kind)]].push((low, high + 1));
            if low == high {
                exact.push((low, low + 1));
            }
        }
        let windows: Vec<Signal> =
            ranges.into_iter().map(|ranges| Signal::from_ranges(span, ranges)).collect();
        let exact = Signal::from_ranges(span, exact);
        [true, false].map(|value| {
            // Where an event has a known instant, nothing else can be the case.
            let mut sure = match nothing.signal(value) {
                Ok(signal) => signal.or(&exact),
                Err(true) => Signal::constant(span, true),
                Err(false) => exact.clone(),
            };
            let against = &windows[usize::from(value)];
            sure = combine(&sure, against, table::AND_NOT, Vec::new());
            for (kind, of) in kinds.iter().enumerate() {
                if let Ok(signal) = of.signal(value) {
                    let either = combine(&windows[2 + kind], signal, table::IMPLIES, Vec::new());
                    sure = sure.and(&either);
                }
            }
            sure
        })
    }
}

impl Cases {
    /// Whether the formula has that value wherever in its window (of cells, both inside) the event happens.
    pub(crate) fn at_event(&self, event: usize, value: bool, (low, high): (u64, u64)) -> bool {
        let Some(&kind) = self.kind_of.get(event) else { return false };
        match self.kinds[usize::from(kind)].signal(value) {
            Err(is) => is,
            Ok(signal) => signal.around(low).is_some_and(|(_, to)| to > high),
        }
    }

    /// Bytes held on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let kinds = self.kinds.iter().map(|sure| match sure {
            Sure::Known(_) => 0,
            Sure::Signals(pair, _) => pair[0].heap_bytes() + pair[1].heap_bytes(),
        });
        let sure = self.sure[0].heap_bytes() + self.sure[1].heap_bytes();
        kinds.sum::<usize>() + sure + 2 * self.kind_of.len()
    }
}
