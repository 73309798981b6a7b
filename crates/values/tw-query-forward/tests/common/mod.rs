//! Queries from text, traces from tables, and those of the two programs of the statistics paper.
#![allow(dead_code)]

use std::collections::BTreeMap;
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Path, Program, What};
use tw_monitor::{Computed, EvaluateOptions, Predicates, QueryEngine, QueryMonitor, Term, Terms, Trace};
use tw_query_forward::Forward;
use tw_testkit::protocols::{alternating_bit, semaphore};
pub use tw_testkit::texts::queries as program;

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
    let states = semaphore(len, seed);
    Table::default()
        .ints("r", states.iter().map(|state| state.2))
        .truth("at_l2", states.iter().map(|state| state.0 == 2))
        .truth("at_l3", states.iter().map(|state| state.0 == 3))
        .truth("at_m3", states.iter().map(|state| state.1 == 3))
}

pub fn abp_table(len: usize, loss: u64, seed: u64) -> Table {
    let states = alternating_bit(len, loss, seed);
    Table::default()
        .truth("at_l0", states.iter().map(|state| state.0 == 0))
        .truth("at_l1", states.iter().map(|state| state.0 == 1))
        .truth("at_l6", states.iter().map(|state| state.0 == 6))
        .truth("at_m1", states.iter().map(|state| state.1 == 1))
        .truth("sending", states.iter().map(|state| matches!(state.0, 1..=5 | 7)))
}
