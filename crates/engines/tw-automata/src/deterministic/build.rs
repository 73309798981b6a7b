//! From a formula to its minimal automaton: explore, settle, minimise, number.

use super::explore::Explorer;
use super::tree::{Forest, Tree};
use super::{CONFIGURATIONS, Deterministic, Options, Output, Stop, minimise, settle};
use crate::diagram::Diagram;
use crate::emptiness::Emptiness;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_ir::{NodeId, Program, Semantics};

impl Deterministic {
    /// The automaton of a formula.
    pub fn new(program: &Arc<Program>, goal: NodeId, options: &Options) -> Result<Self, Stop> {
        Self::among(program, &program.atoms().into(), goal, options)
    }

    /// As [`Deterministic::new`], where the program's atoms are known: it has many formulas, and this is one of them.
    pub fn among(
        program: &Arc<Program>,
        atoms: &Arc<[NodeId]>,
        goal: NodeId,
        options: &Options,
    ) -> Result<Self, Stop> {
        let Options { semantics, budget, anywhere, verdicts_only } = *options;
        let mut explorer =
            Explorer::new(program, atoms, goal, semantics == Semantics::RepeatLast, budget, budget.work())?;
        let mut forest = Forest::default();
        let origin = explorer.obligations.past.origin();
        explorer.enter(&origin)?;
        // While the goal is only entered, the states are the memories that it can be entered after.
        let mut entered = 0;
        while anywhere && !origin.is_empty() && entered < explorer.len() {
            explorer.remember(entered as u32, &mut Forest::default(), budget.nodes)?;
            entered += 1;
        }
        let entered: Vec<u32> = (0..explorer.len() as u32).collect();
        let mut trees = Vec::new();
        while trees.len() < explorer.len() {
            trees.push(explorer.expand(trees.len() as u32, &mut forest, budget.nodes)?);
            if forest.len() > budget.nodes {
                return Err(Stop::Budget(format!("more than {} tests of atoms", budget.nodes)));
            }
        }
        let successors: Vec<Vec<u32>> = trees.iter().map(|&tree| forest.leaves(tree)).collect();
        let ends: Vec<Option<bool>> =
            (0..trees.len() as u32).map(|state| explorer.state(state).end).collect();
        let verdicts = if semantics == Semantics::Ltl3 {
            let mut emptiness = Emptiness::among(atoms, &explorer.obligations.past, CONFIGURATIONS);
            settle::infinite(&mut explorer, &mut emptiness, &successors)?
        } else {
            settle::finite(&ends, &successors)
        };
        let output = |(verdict, end): (Option<bool>, Option<bool>)| match verdict {
            Some(_) => Output { verdict, end: verdict },
            None => Output { verdict, end: if verdicts_only { None } else { end } },
        };
        let outputs: Vec<Output> = verdicts.into_iter().zip(ends).map(output).collect();
        Ok(Self::minimal(explorer, &forest, &trees, &outputs, &entered, semantics))
    }

    fn minimal(
        mut explorer: Explorer,
        forest: &Forest,
        trees: &[Tree],
        outputs: &[Output],
        entered: &[u32],
        semantics: Semantics,
    ) -> Self {
        let mut class = minimise::classes(forest, trees, outputs, |output| output.verdict.is_some());
        join_entries(&mut class, forest, trees, outputs);
        // Classes in the order in which they are found from where the goal is entered; the smallest residual names one.
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        let mut order: Vec<u32> = Vec::new();
        let mut of_class: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for state in 0..trees.len() as u32 {
            of_class.entry(class[state as usize]).or_default().push(state);
        }
        let mut todo: std::collections::VecDeque<u32> = entered.iter().copied().collect();
        while let Some(state) = todo.pop_front() {
            let name = class[state as usize];
            if let std::collections::hash_map::Entry::Vacant(entry) = number.entry(name) {
                entry.insert(order.len() as u32);
                // A class speaks with the voice of a member that has been stepped, if it has one.
                let members = &of_class[&name];
                let voice = members.iter().copied().find(|&member| outputs[member as usize].end.is_some());
                let voice = voice.unwrap_or(state);
                order.push(voice);
                if outputs[voice as usize].verdict.is_none() {
                    todo.extend(forest.leaves(trees[voice as usize]));
                }
            }
        }
        let atoms = explorer.obligations.atoms.clone();
        let (mut small, mut done) = (Forest::default(), FxHashMap::default());
        let mut minimal_trees = Vec::with_capacity(order.len());
        let mut residuals = Vec::with_capacity(order.len());
        for (index, &state) in order.iter().enumerate() {
            let output = outputs[state as usize];
            minimal_trees.push(match output.verdict {
                Some(_) => Tree::leaf(index as u32),
                None => small.copy(
                    forest,
                    trees[state as usize],
                    &|atom| atoms[atom as usize],
                    &|next| number[&class[next as usize]],
                    &mut done,
                ),
            });
            let members =
                of_class[&class[state as usize]].iter().map(|&member| explorer.state(member).residual);
            let smallest = members.min_by_key(|&residual| explorer.diagrams.size(residual));
            residuals.push(match output.verdict {
                Some(verdict) => Diagram::constant(verdict),
                None => smallest.unwrap_or(Diagram::TRUE),
            });
        }
        let entries = entered
            .iter()
            .map(|&state| (explorer.memory(state).to_vec(), number[&class[state as usize]]))
            .collect();
        let entry_mask = explorer.entry_mask();
        let explored = (trees.len(), explorer.residuals());
        explorer.diagrams.compact(&mut residuals);
        Self {
            forest: small,
            trees: minimal_trees,
            outputs: order.iter().map(|&state| outputs[state as usize]).collect(),
            entries,
            entry_mask,
            explored,
            residuals,
            diagrams: explorer.diagrams,
            obligations: explorer.obligations,
            semantics,
        }
    }
}

/// Before the first position there is no end value, so a state there may be one with any that moves alike.
fn join_entries(class: &mut [u32], forest: &Forest, trees: &[Tree], outputs: &[Output]) {
    let (mut signatures, mut done) = (Forest::default(), FxHashMap::default());
    let mut known: FxHashMap<Tree, u32> = FxHashMap::default();
    let mut joined = Vec::new();
    for wants_end in [true, false] {
        for state in 0..trees.len() {
            let Output { verdict, end } = outputs[state];
            if end.is_some() != wants_end {
                continue;
            }
            let signature = match verdict {
                Some(_) => Tree::leaf(class[state]),
                None => signatures.copy(
                    forest,
                    trees[state],
                    &|atom| atom,
                    &|next| class[next as usize],
                    &mut done,
                ),
            };
            if wants_end {
                known.entry(signature).or_insert(class[state]);
            } else if let Some(&other) = known.get(&signature) {
                joined.push((state, other));
            }
        }
    }
    // Nothing leads to such a state, so the other classes stay as they are.
    joined.into_iter().for_each(|(state, other)| class[state] = other);
}
