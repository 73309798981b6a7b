//! Linear time: is there a path from an initial state that violates the formula?

use super::{Stop, SymbolicChecker};
use crate::linear::lasso::rolled_up;
use crate::linear::unsupported;
use crate::{Evidence, Linear};
use tw_automata::Buchi;
use tw_automata::buchi::Budget;
use tw_ir::{Node, NodeId, Program};
use tw_model::State;
use tw_model::symbolic::Bdd;
use tw_monitor::Unsupported;

impl SymbolicChecker {
    /// Whether a formula holds on every path that counts; `atoms` are the states of each of [`Program::atoms`].
    pub fn linear(&mut self, program: &Program, root: NodeId, atoms: &[Bdd]) -> Result<Linear, Unsupported> {
        Ok(self.ask(program, root, atoms)?)
    }

    fn ask(&mut self, program: &Program, root: NodeId, atoms: &[Bdd]) -> Result<Linear, Stop> {
        let known = program.atoms();
        let plain = self.plain(program, root, &known, atoms)?;
        let literal =
            |id: NodeId| !matches!(program.dag.node(id), Node::Bool(_)) && plain[id.index()].is_some();
        let buchi = Buchi::over(program, root, true, literal, Budget::default())
            .map_err(|obstacle| unsupported(program, obstacle))?;
        let letters: Option<Vec<Bdd>> = buchi.letters.iter().map(|letter| plain[letter.index()]).collect();
        let letters =
            letters.ok_or_else(|| Unsupported::construct(root, "atoms that the model does not tell"))?;
        let automaton = self.automaton(&buchi, &letters)?;
        let initial = self.space.initial;
        // Every continuation will do once the automaton has decided, if all of them count.
        let decides = |state: usize| !self.is_fair() && buchi.is_universal(state as u32);
        let decided: Vec<bool> = (0..buchi.states.len()).map(decides).collect();
        let (pairs, decisive) = self.forward(&automaton, initial, |state| decided[state])?;
        let explored = pairs.iter().map(|&set| self.space.count(set)).fold(0, u64::saturating_add);
        let path = match decisive {
            Some(way) => {
                let steps = way[..way.len().max(2) - 1].iter().map(|pair| pair.0).collect();
                Some((steps, None))
            }
            None => {
                let accepting = self.accepting(&automaton, pairs)?;
                let from = self.and(initial, accepting[0])?;
                match self.pick(from) {
                    None => None,
                    Some(state) => {
                        let found = self.lasso(&automaton, &accepting, (state, 0))?.ok_or(Stop::Full)?;
                        let (mut stem, begin) = found;
                        let states = |pairs: Vec<super::product::Pair>| -> Vec<State> {
                            pairs.into_iter().map(|pair| pair.0).collect()
                        };
                        let cycle = stem.split_off(begin);
                        Some(rolled_up(states(stem), states(cycle)))
                    }
                }
            }
        };
        let counterexample = path.map(|(steps, cycle)| Evidence::path(root, false, steps, cycle));
        let explored = usize::try_from(explored).unwrap_or(usize::MAX);
        Ok(Linear { counterexample, automaton: buchi.states.len(), explored })
    }

    /// The sets of the subformulas without temporal operators, which are letters as they stand.
    fn plain(
        &mut self,
        program: &Program,
        root: NodeId,
        known: &[NodeId],
        atoms: &[Bdd],
    ) -> Result<Vec<Option<Bdd>>, Stop> {
        let mut sets: Vec<Option<Bdd>> = vec![None; program.dag.len()];
        for id in crate::branching::used(program, root, known) {
            let of = |id: NodeId| sets[id.index()];
            let atom = known.binary_search(&id).ok().and_then(|atom| atoms.get(atom).copied());
            sets[id.index()] = match (atom, program.dag.node(id)) {
                (Some(set), _) => Some(set),
                (None, Node::Bool(value)) => Some(if value { self.space.states } else { Bdd::FALSE }),
                (None, Node::Not(a)) => match of(a) {
                    Some(set) => Some(self.space.others(set)?),
                    None => None,
                },
                (None, node) => match node.children().map(of).collect::<Option<Vec<Bdd>>>().as_deref() {
                    Some(&[a, b]) => self.connective(node, a, b)?,
                    _ => None,
                },
            };
        }
        Ok(sets)
    }

    fn connective(&mut self, node: Node, a: Bdd, b: Bdd) -> Result<Option<Bdd>, Stop> {
        Ok(Some(match node {
            Node::And(..) => self.and(a, b)?,
            Node::Or(..) => self.or(a, b)?,
            Node::Xor(..) => self.space.store.xor(a, b)?,
            Node::Implies(..) => {
                let not = self.space.others(a)?;
                self.or(not, b)?
            }
            Node::Iff(..) => {
                let differ = self.space.store.xor(a, b)?;
                self.space.others(differ)?
            }
            _ => return Ok(None),
        }))
    }
}
