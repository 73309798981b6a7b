//! One position on: which atoms matter, what the slices turn into, and whether they may end here.

use super::machine::{Key, NONE, Slices};
use super::unfold::{Ending, Unfold, below};
use rustc_hash::FxHashMap;
use tw_automata::alternating::{Expr, ExprId, Label, NodeIndex};
use tw_monitor::{State, Unsupported, words};

impl Slices {
    /// What must hold at the next position for the sake of a node.
    pub(super) fn owed(&self, number: u32) -> ExprId {
        match (number as usize).checked_sub(self.automaton.nodes().len()) {
            None => self.automaton.node(NodeIndex(number)).delta,
            Some(entry) => {
                let goal = &self.goals[entry / 2];
                if entry % 2 == 0 { goal.expr } else { goal.negation.unwrap_or(goal.expr) }
            }
        }
    }

    /// The atoms that decide where a state leads.
    pub(super) fn mask(&self, key: Key) -> Box<[u64]> {
        let mut mask = if self.past.is_empty() {
            vec![0u64; words(self.atoms)]
        } else {
            self.goals[key.owner as usize].reads.to_vec()
        };
        let mut exprs = Vec::new();
        for set in [key.slices, key.negation].into_iter().filter(|&set| set != NONE) {
            for &number in self.sets.get(set).iter().flat_map(|&slice| self.slices.get(slice)) {
                if self.published {
                    let node = self.automaton.node(NodeIndex(number));
                    add_atom(&mut mask, node.label, self.atoms);
                    exprs.extend(node.stays.then_some(node.delta));
                } else {
                    exprs.push(self.owed(number));
                }
            }
        }
        if let Some(ahead) = self.goals[key.owner as usize].ahead.as_ref().filter(|_| key.ahead != NONE) {
            for &atom in ahead.atoms() {
                mask[atom as usize / 64] |= 1 << (atom % 64);
            }
        }
        for id in below(&self.automaton, &exprs) {
            if let Expr::Node(index) = self.automaton.expr(id) {
                add_atom(&mut mask, self.automaton.node(index).label, self.atoms);
            }
        }
        mask.into()
    }

    /// Where a set of slices leads, and whether the goal holds if this is the last position.
    pub(super) fn advance(&mut self, set: u32, row: &[u64]) -> Result<(u32, bool), Unsupported> {
        let slices = self.listed(set);
        let mut ending = Ending { automaton: &self.automaton, row, known: FxHashMap::default() };
        let mut next = Vec::new();
        let mut ends = false;
        if self.published {
            let (automaton, limits) = (&self.automaton, self.limits);
            for slice in slices {
                let node = |number: &u32| automaton.node(NodeIndex(*number));
                ends |= slice.iter().all(|number| {
                    let node = node(number);
                    let goes_on = if node.stays { ending.holds(node.delta) } else { node.accepting };
                    goes_on && node.label.holds(row, true)
                });
                if !slice.iter().all(|number| node(number).label.holds(row, false)) {
                    continue;
                }
                let id = self.slices.add(&slice);
                if !self.successors.contains_key(&id) {
                    let mut unfold = Unfold { automaton, limits, row: None, known: FxHashMap::default() };
                    let owed: Vec<ExprId> = slice.iter().map(|number| node(number).delta).collect();
                    let found = unfold.all(&owed)?;
                    self.bytes += found.iter().map(|slice| slice.len() * 4 + 24).sum::<usize>() + 48;
                    self.successors.insert(id, found);
                }
                next.extend_from_slice(&self.successors[&id]);
            }
        } else {
            let mut unfold = Unfold {
                automaton: &self.automaton,
                limits: self.limits,
                row: Some(row),
                known: FxHashMap::default(),
            };
            for slice in slices {
                let owed: Vec<ExprId> = slice.iter().map(|&number| self.owed(number)).collect();
                ends = ends || owed.iter().all(|&expr| ending.holds(expr));
                next.extend(unfold.all(&owed)?);
            }
        }
        self.limits.normalise(&mut next);
        if next.len() > self.limits.slices {
            return Err(self.limits.over());
        }
        Ok((self.set(next), ends))
    }

    /// The state after a position, for a row that was not met in this state before.
    #[cold]
    pub(super) fn find(&mut self, goal: usize, key: Key, row: &[u64]) -> Result<State, Unsupported> {
        let (mut extended, mut memory) = (row.to_vec(), key.memory);
        if !self.past.is_empty() {
            let (now, mut next) = self.past.advance(row, &self.memory(key.memory));
            // Past operators are read after the last atom, where the row may hold anything.
            if let (Some(last), bits @ 1..) = (extended.last_mut(), self.atoms % 64) {
                *last &= (1 << bits) - 1;
            }
            extended.resize(words(self.atoms + now.len()), 0);
            for (index, _) in now.iter().enumerate().filter(|(_, value)| **value) {
                let atom = self.atoms + index;
                extended[atom / 64] |= 1 << (atom % 64);
            }
            self.own(goal, &mut next);
            memory = self.remembered(&next);
        }
        let (slices, ends) = self.advance(key.slices, &extended)?;
        let negation = match key.negation {
            NONE => NONE,
            set => self.advance(set, &extended)?.0,
        };
        let ahead = match &self.goals[goal].ahead {
            Some(ahead) if key.ahead != NONE => ahead.step(key.ahead, row),
            _ => NONE,
        };
        self.state(Key { slices, negation, memory, ahead, ends, ..key })
    }
}

fn add_atom(mask: &mut [u64], label: Label, atoms: usize) {
    // Atoms beyond the program's are past operators, which follow from the state and the others.
    if let Label::Atom(atom, _) = label
        && (atom as usize) < atoms
    {
        mask[atom as usize / 64] |= 1 << (atom % 64);
    }
}
