//! Which states have their verdict for good.
//!
//! Over finite traces: a state whose own end value and that of every state it leads to agree. Over infinite ones: a
//! state that no infinite continuation satisfies, or whose negation none does. There one question answers many: what
//! leads to a satisfiable state is satisfiable, and what an unsatisfiable one leads to is not, so that few states of
//! each strongly connected part are asked about.

use super::explore::Explorer;
use crate::diagram::{Diagram, Diagrams};
use crate::emptiness::Emptiness;

/// Most conjunctions that are asked about for one residual; beyond, its state is left open.
const CUBES: usize = 64;

/// The verdict of each state by the end values: `None` is a state before the first position, which has none.
pub(super) fn finite(ends: &[Option<bool>], successors: &[Vec<u32>]) -> Vec<Option<bool>> {
    let predecessors = reverse(successors);
    let mut verdicts = vec![None; ends.len()];
    for value in [false, true] {
        // Those that can come to the other value, and what leads to them.
        let mut open: Vec<bool> = ends.iter().map(|&end| end == Some(!value)).collect();
        let mut todo: Vec<u32> = (0..ends.len() as u32).filter(|&state| open[state as usize]).collect();
        while let Some(state) = todo.pop() {
            for &before in &predecessors[state as usize] {
                if !std::mem::replace(&mut open[before as usize], true) {
                    todo.push(before);
                }
            }
        }
        for (verdict, open) in verdicts.iter_mut().zip(open) {
            if !open {
                *verdict = Some(value);
            }
        }
    }
    verdicts
}

/// The verdict of each state over infinite continuations.
pub(super) fn infinite(
    explorer: &mut Explorer,
    emptiness: &mut Emptiness,
    successors: &[Vec<u32>],
) -> Vec<Option<bool>> {
    let predecessors = reverse(successors);
    let mut verdicts = vec![None; successors.len()];
    for negated in [false, true] {
        let mut satisfiable: Vec<Option<bool>> = vec![None; successors.len()];
        // Late states first: they are nearer to the parts that are never left.
        for state in (0..successors.len() as u32).rev() {
            if satisfiable[state as usize].is_some() {
                continue;
            }
            let Some(answer) = ask(explorer, emptiness, state, negated) else { continue };
            satisfiable[state as usize] = Some(answer);
            let mut todo = vec![state];
            while let Some(state) = todo.pop() {
                let answer = satisfiable[state as usize];
                let around = if answer == Some(true) { &predecessors } else { successors };
                for &other in &around[state as usize] {
                    if satisfiable[other as usize].is_none() {
                        satisfiable[other as usize] = answer;
                        todo.push(other);
                    }
                }
                if answer == Some(false) {
                    // Whoever leads to unsatisfiable states alone is one.
                    for &before in &predecessors[state as usize] {
                        let all = successors[before as usize]
                            .iter()
                            .all(|&next| satisfiable[next as usize] == Some(false));
                        if all && satisfiable[before as usize].is_none() {
                            satisfiable[before as usize] = answer;
                            todo.push(before);
                        }
                    }
                }
            }
        }
        for (verdict, satisfiable) in verdicts.iter_mut().zip(satisfiable) {
            if satisfiable == Some(false) {
                *verdict = Some(negated);
            }
        }
    }
    verdicts
}

/// The verdict of one state over infinite continuations, without looking at others.
pub(super) fn alone(explorer: &mut Explorer, emptiness: &mut Emptiness, state: u32) -> Option<bool> {
    [false, true].into_iter().find(|&negated| ask(explorer, emptiness, state, negated) == Some(false))
}

/// Whether some infinite word satisfies the residual of a state, or its negation; `None` when that is too much work.
fn ask(explorer: &mut Explorer, emptiness: &mut Emptiness, state: u32, negated: bool) -> Option<bool> {
    let residual = explorer.state(state).residual;
    let memory = explorer.memory(state).to_vec();
    let diagrams = &mut explorer.diagrams;
    let asked = if negated { negation(diagrams, residual)? } else { residual };
    if let Some(constant) = asked.as_constant() {
        return Some(constant);
    }
    let cubes = diagrams.cover(asked, CUBES).ok()??;
    let mut all = Some(false);
    for cube in cubes {
        let owed: Vec<_> =
            cube.iter().map(|&(variable, value)| (explorer.obligations.formula(variable), !value)).collect();
        match emptiness.satisfiable(&explorer.obligations.program, &owed, &memory) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => all = None,
        }
    }
    all
}

fn negation(diagrams: &mut Diagrams, diagram: Diagram) -> Option<Diagram> {
    diagrams.not(diagram).ok()
}

fn reverse(successors: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (state, next) in successors.iter().enumerate() {
        next.iter().for_each(|&next| predecessors[next as usize].push(state as u32));
    }
    predecessors
}
