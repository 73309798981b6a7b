//! All configurations and all transitions between them.

use super::prepare::Prepared;
use super::{Budget, Obstacle, Transition};
use crate::alternating::{Alternating, Expr, ExprId, NodeIndex, Options};
use crate::emptiness::expand::{Expansion, Next};
use crate::emptiness::graph::Configurations;
use crate::emptiness::scratch::{Context, Reader, Scratch};
use crate::emptiness::tables::Tables;
use crate::past::Past;
use rustc_hash::FxHashMap;

/// Units of work (expressions looked at) per transition of the budget.
const WORK_PER_TRANSITION: usize = 100;
/// Marks that fit into a word.
const MARKS: usize = 64;

/// The automaton as it was found.
pub(super) struct Raw {
    pub states: Vec<Vec<Transition>>,
    pub marks: u32,
}

/// One bit for each rejecting loop, given out as they are met.
#[derive(Default)]
struct Marks {
    bits: FxHashMap<NodeIndex, u32>,
}

impl Marks {
    fn of(&mut self, pending: &[NodeIndex]) -> Result<u64, Obstacle> {
        let mut set = 0;
        for &index in pending {
            let next = self.bits.len() as u32;
            let bit = *self.bits.entry(index).or_insert(next);
            if bit as usize >= MARKS {
                return Err(Obstacle::Size("eventualities", MARKS));
            }
            set |= 1 << bit;
        }
        Ok(set)
    }
}

pub(super) fn explore(prepared: &Prepared, budget: Budget) -> Result<Raw, Obstacle> {
    let Prepared { program, formula, letters, .. } = prepared;
    let past = Past::new(program, &[*formula]).map_err(Obstacle::Construct)?;
    let mut automaton = Alternating::new(Options::default());
    let expr = automaton.formula(program, *formula, false).map_err(Obstacle::Construct)?;
    let origin = past.origin();
    let atoms = program.atoms().len();
    let mut tables = Tables::new(past, atoms);
    tables.extend(&automaton);
    let mut scratch = Scratch::new(atoms);
    scratch.extend(&automaton);
    let reader = Reader { automaton: &automaton, tables: &tables };

    let mut configurations = Configurations::default();
    configurations.intern(&tables, conjuncts(reader, vec![expr]), &origin);
    let mut work = budget.transitions.saturating_mul(WORK_PER_TRANSITION);
    let (mut states, mut made) = (Vec::new(), 0);
    let mut marks = Marks::default();
    while states.len() < configurations.len() {
        if configurations.len() > budget.states {
            return Err(Obstacle::Size("states", budget.states));
        }
        let configuration = states.len() as u32;
        let obligations = configurations.obligations(configuration).collect();
        let memory = configurations.memory(configuration, origin.len());
        let mut expansion = Expansion::of_letters(reader, configuration, obligations, memory);
        let mut transitions = Vec::new();
        loop {
            let mut context = Context { reader, work: &mut work };
            match expansion.next(&mut context, &mut scratch) {
                Next::End => break,
                Next::Exhausted => return Err(Obstacle::Size("transitions", budget.transitions)),
                Next::Transition(found) => {
                    let owed = conjuncts(reader, found.obligations);
                    let target = configurations.intern(&tables, owed, &found.memory);
                    let mut literals = found.literals;
                    // What was guessed is nobody's business.
                    literals.retain(|&(atom, _)| (atom as usize) < letters.len());
                    // Pending for now: which marks there are is known at the end.
                    transitions.push(Transition { literals, target, marks: marks.of(&found.pending)? });
                    made += 1;
                }
            }
            if made > budget.transitions {
                return Err(Obstacle::Size("transitions", budget.transitions));
            }
        }
        expansion.suspend(&mut scratch);
        states.push(transitions);
    }
    let count = marks.bits.len() as u32;
    let all = if count == 64 { u64::MAX } else { (1 << count) - 1 };
    for transition in states.iter_mut().flatten() {
        transition.marks = all & !transition.marks;
    }
    Ok(Raw { states, marks: count })
}

/// What is owed, split at conjunctions, so that what is owed together and one by one is the same configuration. A
/// loop's own conjunction is kept whole: it is what the loop leads back to.
fn conjuncts(reader: Reader<'_>, owed: Vec<ExprId>) -> Vec<ExprId> {
    let (mut todo, mut flat) = (owed, Vec::new());
    while let Some(id) = todo.pop() {
        match reader.automaton.expr(id) {
            Expr::And(a, b) if !reader.tables.is_loop(id) => todo.extend([a, b]),
            Expr::True => {}
            _ => flat.push(id),
        }
    }
    flat
}
