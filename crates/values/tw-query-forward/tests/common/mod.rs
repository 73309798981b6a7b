//! Queries from text, traces from tables, and the two programs of the statistics paper, simulated.
#![allow(dead_code)]

use std::collections::BTreeMap;
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Path, Program, What};
use tw_monitor::{Computed, EvaluateOptions, Predicates, QueryEngine, QueryMonitor, Term, Terms, Trace};
use tw_query_forward::Forward;

/// The queries, in their order.
pub fn program(queries: &[&str]) -> Program {
    let text: String =
        queries.iter().enumerate().map(|(number, query)| format!("query q{number} : {query};\n")).collect();
    let parsed = tw_spec::parse(&text, 0);
    assert!(!parsed.has_errors(), "{text}{:?}", parsed.diagnostics);
    let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
    assert!(!lowered.has_errors(), "{text}{:?}", lowered.diagnostics);
    lowered.value
}

/// Columns by name, all of one length.
#[derive(Default)]
pub struct Table(BTreeMap<String, Column>);

impl Table {
    pub fn truth(mut self, name: &str, values: impl IntoIterator<Item = bool>) -> Self {
        self.0.insert(name.into(), Column::Truth(values.into_iter().collect()));
        self
    }

    pub fn ints(mut self, name: &str, values: impl IntoIterator<Item = i64>) -> Self {
        let values: Vec<i64> = values.into_iter().collect();
        let valid = Bits::repeat(true, values.len());
        self.0.insert(name.into(), Column::Int { values, valid });
        self
    }

    pub fn any(mut self, name: &str, values: impl IntoIterator<Item = Value>) -> Self {
        self.0.insert(name.into(), Column::Any(values.into_iter().collect()));
        self
    }

    /// What the program reads of it.
    pub fn trace(&self, program: &Program) -> Trace {
        let len = self.0.values().next().map_or(0, Column::len);
        let column = |path: &Path| {
            let found = self.0.iter().find(|(name, _)| Path::field(name.as_str()) == *path);
            found.map(|(_, column)| column.clone()).unwrap_or_else(|| panic!("no column {path:?}"))
        };
        let slot = |slot: &tw_ir::Slot| match &slot.what {
            What::Proposition(path) | What::Variable(path, _) => column(path),
            other => panic!("{other:?}"),
        };
        let batch = Batch { len, slots: program.slots.iter().map(slot).collect(), times: None };
        Trace {
            len,
            atoms: Predicates::new(program).evaluate(&batch).unwrap(),
            terms: Terms::new(program).evaluate(&batch),
            ..Trace::default()
        }
    }
}

/// Some consecutive positions, as a live trace brings them.
pub fn part(trace: &Trace, from: usize, to: usize) -> (Vec<Bits>, Vec<Term>) {
    let order: Vec<u32> = (from as u32..to as u32).collect();
    let atoms = trace.atoms.iter().map(|bits| (from..to).map(|at| bits.get(at)).collect()).collect();
    (atoms, trace.terms.iter().map(|term| term.gather(&order)).collect())
}

pub fn push(monitor: &mut dyn QueryMonitor, trace: &Trace, from: usize, to: usize) {
    let (atoms, terms) = part(trace, from, to);
    monitor
        .push(&tw_monitor::Positions { len: to - from, atoms: &atoms, terms: &terms, ..Default::default() })
        .unwrap();
}

/// The values of queries over a stored trace, and of a monitor fed in chunks of each of several sizes.
pub fn values(queries: &[&str], table: &Table) -> Vec<Computed> {
    let program = program(queries);
    let trace = table.trace(&program);
    let mut evaluator = Forward.plan(&program, &EvaluateOptions::default()).unwrap();
    let stored: Vec<Computed> =
        evaluator.values(&trace, &[]).unwrap().into_iter().map(|mut segments| segments.remove(0)).collect();
    for size in [1, 2, 63, 64, 65, 1000] {
        let mut monitor = Forward.monitor(&program, &EvaluateOptions::default()).unwrap();
        for from in (0..trace.len).step_by(size) {
            push(&mut *monitor, &trace, from, trace.len.min(from + size));
        }
        assert_eq!(monitor.values().unwrap(), stored, "{queries:?} in chunks of {size}");
    }
    stored
}

/// The generator of the simulators: `x := x·6364136223846793005 + 1442695040888963407`.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }
}

/// Mutual exclusion with a semaphore: the two locations and the semaphore.
pub fn mux(len: usize, seed: u64) -> Vec<(u8, u8, i64)> {
    let (mut draw, mut at, mut r) = (Draw(seed), [0u8, 0], 1);
    let mut states = Vec::with_capacity(len);
    for _ in 0..len {
        states.push((at[0], at[1], r));
        let mut process = draw.next(2) as usize;
        if at[process] == 2 && r == 0 {
            process = 1 - process;
        }
        match at[process] {
            2 => r -= 1,
            4 => r += 1,
            _ => {}
        }
        at[process] = if at[process] == 4 { 1 } else { at[process] + 1 };
    }
    states
}

/// The alternating bit protocol: the locations of sender and receiver.
pub fn abp(len: usize, loss: u64, seed: u64) -> Vec<(u8, u8)> {
    use std::collections::VecDeque;
    let mut draw = Draw(seed);
    let (mut l, mut m, mut wait) = (0u8, 0u8, 0);
    let (mut data, mut acks) = (VecDeque::new(), VecDeque::new());
    let (mut seq, mut ack, mut timeout) = (true, false, false);
    let (mut received, mut expected) = (false, true);
    let mut states = Vec::with_capacity(len);
    for _ in 0..len {
        states.push((l, m));
        let sender = !(l == 2 && acks.is_empty() && wait < 5);
        let receiver = !(m == 1 && data.is_empty());
        let choice = draw.next(2);
        if l == 2 {
            wait += 1;
        }
        let sends = match (choice, sender, receiver) {
            (_, false, false) => continue,
            (0, true, _) | (1, true, false) => true,
            _ => false,
        };
        if sends {
            l = match l {
                1 => {
                    if draw.next(100) >= loss {
                        data.push_back(seq);
                    }
                    wait = 0;
                    2
                }
                2 => {
                    match acks.pop_front() {
                        Some(found) => ack = found,
                        None => timeout = true,
                    }
                    5
                }
                5 if !timeout && ack == seq => 6,
                5 => 7,
                6 => {
                    seq = !seq;
                    7
                }
                7 => {
                    timeout = false;
                    1
                }
                other => other + 1,
            };
        } else {
            m = match m {
                1 => {
                    received = data.pop_front().unwrap_or(received);
                    2
                }
                2 if received == expected => 3,
                2 => 4,
                3 => {
                    expected = !expected;
                    4
                }
                4 => {
                    if draw.next(100) >= loss {
                        acks.push_back(received);
                    }
                    1
                }
                other => other + 1,
            };
        }
    }
    states
}

/// The paper's queries: four about the semaphore, four about the protocol.
pub const MUX: [&str; 4] = [
    "max[r]",
    "max[(at_l3 : 1) |{+} (at_m3 : 1)]",
    "count[at_l3 & X !at_l3] / count[at_m3 & X !at_m3]",
    "max[count[!at_m3 & X at_m3 while at_l2]]",
];
pub const ABP: [&str; 4] = [
    "count[at_l6 & X !at_l6]",
    "count[at_l1 & X !at_l1] &{pair} count[at_m1 & X !at_m1]",
    "max[count[at_l1 & X !at_l1 while sending]]",
    "avg[(at_l0 | at_l6) &{second} X{v => v} count[at_l1 & X !at_l1 while sending]]",
];

pub fn mux_table(len: usize, seed: u64) -> Table {
    let states = mux(len, seed);
    Table::default()
        .ints("r", states.iter().map(|state| state.2))
        .truth("at_l2", states.iter().map(|state| state.0 == 2))
        .truth("at_l3", states.iter().map(|state| state.0 == 3))
        .truth("at_m3", states.iter().map(|state| state.1 == 3))
}

pub fn abp_table(len: usize, loss: u64, seed: u64) -> Table {
    let states = abp(len, loss, seed);
    Table::default()
        .truth("at_l0", states.iter().map(|state| state.0 == 0))
        .truth("at_l1", states.iter().map(|state| state.0 == 1))
        .truth("at_l6", states.iter().map(|state| state.0 == 6))
        .truth("at_m1", states.iter().map(|state| state.1 == 1))
        .truth("sending", states.iter().map(|state| matches!(state.0, 1..=5 | 7)))
}
