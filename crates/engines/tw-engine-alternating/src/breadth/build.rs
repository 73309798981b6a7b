//! From formulas to a machine, or the refusal of what cannot be read forward.

use super::family::Limits;
use super::intern::Interned;
use super::machine::Slices;
use super::settle::Ahead;
use crate::goals::{automaton_options, refuse};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;
use tw_automata::alternating::{Alternating, ExprId, Refused};
use tw_automata::emptiness::{Emptiness, gave_up};
use tw_automata::informative::informative;
use tw_automata::past::Past;
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{EvaluateOptions, Unsupported, words};

/// What is known of a goal.
pub(super) struct Goal {
    pub(super) node: NodeId,
    pub(super) expr: ExprId,
    pub(super) negation: Option<ExprId>,
    /// What shows verdicts that slices show late.
    pub(super) ahead: Option<Ahead>,
    /// The past operators in it, by memory.
    pub(super) memories: Vec<bool>,
    /// The atoms that those read.
    pub(super) reads: Box<[u64]>,
}

impl Slices {
    /// A machine whose goals are the given formulas.
    pub(super) fn build(
        program: &Program,
        formulas: &[NodeId],
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        let offline = |refused: Refused| {
            let forward = refused.what.contains("reading forward");
            let refusal = refuse(refused);
            if !forward {
                return refusal;
            }
            refusal.help("`reverse`, `depth-first` and `columnar` read a stored trace in both directions")
        };
        let past = Past::new(program, formulas).map_err(offline)?;
        let atoms = program.atoms();
        let three_valued = options.semantics == Semantics::Ltl3;
        let mut automaton = Alternating::new(automaton_options(options));
        let literal =
            |id: NodeId| past.atom(id).or_else(|| atoms.binary_search(&id).ok().map(|atom| atom as u32));
        let mut goals = Vec::with_capacity(formulas.len());
        let shared = Arc::new(program.clone());
        for &node in formulas {
            let expr = automaton.formula_over(program, node, false, literal).map_err(offline)?;
            let negation = if three_valued {
                Some(automaton.formula_over(program, node, true, literal).map_err(offline)?)
            } else {
                None
            };
            let (memories, reads) = pasts(program, &atoms, &past, node);
            // The published algorithm goes by slices alone.
            let late = !options.faithful && !three_valued && !informative(program, node);
            let ahead = late.then(|| Ahead::new(&shared, node, &past, options)).flatten();
            goals.push(Goal { node, expr, negation, ahead, memories, reads });
        }
        let mut reads = vec![0; words(atoms.len())];
        for goal in &goals {
            reads.iter_mut().zip(&goal.reads).for_each(|(all, own)| *all |= own);
        }
        let reads = reads.into_boxed_slice();
        let mut emptiness = three_valued.then(|| Emptiness::new(program, &past, options.state_budget));
        if let Some(emptiness) = &mut emptiness {
            // What cannot be decided at the start is not left to show in the middle of a trace.
            for &node in formulas {
                let [holds, fails] =
                    [false, true].map(|no| emptiness.satisfiable(program, &[(node, no)], &past.origin()));
                if emptiness.gave_up() && holds != Some(false) && fails != Some(false) {
                    return Err(Unsupported::budget(gave_up()));
                }
            }
        }
        let limits = Limits { minimal: !options.faithful, slices: options.state_budget.max(1) };
        let mut machine = Self {
            program: program.clone(),
            automaton,
            goals,
            past,
            atoms: atoms.len(),
            limits,
            // The published algorithm is two-valued.
            published: options.faithful && !three_valued,
            slices: Interned::default(),
            sets: Interned::default(),
            memories: Interned::default(),
            histories: Vec::new(),
            reads,
            entered: FxHashMap::default(),
            states: Vec::new(),
            free: Vec::new(),
            crowd: (limits.slices, options.memory_budget / 2),
            index: FxHashMap::default(),
            transitions: 0,
            successors: FxHashMap::default(),
            emptiness,
            undecided: false,
            bytes: 0,
            memory_budget: options.memory_budget,
            texts: RefCell::default(),
        };
        machine.remembered(&machine.past.origin());
        Ok(machine)
    }
}

/// The past operators of a formula, and the atoms that they read.
fn pasts(program: &Program, atoms: &[NodeId], past: &Past, formula: NodeId) -> (Vec<bool>, Box<[u64]>) {
    let reachable = program.reachable(&[formula]);
    let has = |node| reachable.binary_search(&node).is_ok();
    let memories: Vec<bool> = past.memories().iter().map(|memory| has(memory.node)).collect();
    let own: Vec<NodeId> =
        past.memories().iter().map(|memory| memory.node).filter(|&node| has(node)).collect();
    let mut reads = vec![0; words(atoms.len())];
    for id in program.reachable(&own) {
        if let Ok(atom) = atoms.binary_search(&id) {
            reads[atom / 64] |= 1 << (atom % 64);
        }
    }
    (memories, reads.into())
}
