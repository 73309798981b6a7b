//! Which states have their verdict for good.
//!
//! Over finite traces: a state whose own end value and that of every state it leads to agree. Over infinite ones: a
//! state that no infinite continuation satisfies, or whose negation none does. Of a safe formula the states themselves
//! tell: a word violates it that leads to the residual false, and the others satisfy it. Otherwise one question of
//! emptiness answers many: what leads to a satisfiable state is satisfiable, and what an unsatisfiable one leads to is
//! not, so that few states of each strongly connected part are asked about. Questions have a budget; if it runs out,
//! there is no automaton, rather than one whose verdicts come late.

use super::Stop;
use super::explore::Explorer;
use crate::diagram::{Diagram, Diagrams};
use crate::emptiness::Emptiness;

/// Most conjunctions that are asked about for one residual.
const CUBES: usize = 1_000;
/// And if there are more.
const PATHS: usize = 64;

/// Why a verdict over infinite continuations is not known.
pub(super) fn undecided() -> Stop {
    Stop::Budget(crate::emptiness::gave_up())
}

/// The verdict of each state by the end values: `None` is a state before the first position, which has none.
pub(super) fn finite(ends: &[Option<bool>], successors: &[Vec<u32>]) -> Vec<Option<bool>> {
    let predecessors = reverse(successors);
    let mut verdicts = vec![None; ends.len()];
    for value in [false, true] {
        // Those that can come to the other value, and what leads to them.
        let open = leading(&predecessors, ends.iter().map(|&end| end == Some(!value)).collect());
        for (verdict, open) in verdicts.iter_mut().zip(open) {
            if !open {
                *verdict = Some(value);
            }
        }
    }
    verdicts
}

/// The given states and all that lead to one of them.
fn leading(predecessors: &[Vec<u32>], mut found: Vec<bool>) -> Vec<bool> {
    let mut todo: Vec<u32> = (0..found.len() as u32).filter(|&state| found[state as usize]).collect();
    while let Some(state) = todo.pop() {
        for &before in &predecessors[state as usize] {
            if !std::mem::replace(&mut found[before as usize], true) {
                todo.push(before);
            }
        }
    }
    found
}

/// The given states and all whose every continuation comes to one of them.
fn inevitable(successors: &[Vec<u32>], predecessors: &[Vec<u32>], mut found: Vec<bool>) -> Vec<bool> {
    let mut open: Vec<usize> = successors.iter().map(Vec::len).collect();
    let mut todo: Vec<u32> = (0..found.len() as u32).filter(|&state| found[state as usize]).collect();
    while let Some(state) = todo.pop() {
        for &before in &predecessors[state as usize] {
            open[before as usize] -= 1;
            if open[before as usize] == 0 && !std::mem::replace(&mut found[before as usize], true) {
                todo.push(before);
            }
        }
    }
    found
}

/// The verdict of each state over infinite continuations.
pub(super) fn infinite(
    explorer: &mut Explorer,
    emptiness: &mut Emptiness,
    successors: &[Vec<u32>],
) -> Result<Vec<Option<bool>>, Stop> {
    let predecessors = reverse(successors);
    let [safe, negation_safe] = explorer.obligations.safe();
    if safe || negation_safe {
        // The residual that no continuation mends.
        let bad = Diagram::constant(!safe);
        let bad: Vec<bool> =
            (0..successors.len() as u32).map(|state| explorer.state(state).residual == bad).collect();
        let lost = inevitable(successors, &predecessors, bad.clone());
        let open = leading(&predecessors, bad);
        let verdict = |(lost, open): (bool, bool)| match (lost, open) {
            (true, _) => Some(!safe),
            (_, false) => Some(safe),
            _ => None,
        };
        return Ok(lost.into_iter().zip(open).map(verdict).collect());
    }
    let mut verdicts = vec![None; successors.len()];
    for negated in [false, true] {
        let mut satisfiable: Vec<Option<bool>> = vec![None; successors.len()];
        // Late states first: they are nearer to the parts that are never left.
        for state in (0..successors.len() as u32).rev() {
            if satisfiable[state as usize].is_some() {
                continue;
            }
            let answer = ask(explorer, emptiness, state, negated).ok_or_else(undecided)?;
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
    Ok(verdicts)
}

/// The verdict of one state over infinite continuations, without looking at others. The outer `None` is that of a
/// question that is too much work, where no other tells the verdict.
pub(super) fn alone(explorer: &mut Explorer, emptiness: &mut Emptiness, state: u32) -> Option<Option<bool>> {
    let satisfiable = ask(explorer, emptiness, state, false);
    if satisfiable == Some(false) {
        return Some(Some(false));
    }
    match (satisfiable, ask(explorer, emptiness, state, true)) {
        (_, Some(false)) => Some(Some(true)),
        (Some(true), Some(true)) => Some(None),
        _ => None,
    }
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
    // Of a function that is too wide, some conjunctions may still show that it is satisfiable.
    let (cubes, mut all) = match diagrams.cover(asked, CUBES).ok().flatten() {
        Some(cubes) => (cubes, Some(false)),
        None => (diagrams.paths(asked, PATHS), None),
    };
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
