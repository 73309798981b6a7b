//! Evidence checked step by step from the semantics, for tests. Nothing is shared with those who make it.
//!
//! The transitions of a path exist, a cycle closes and is fair, and the path formula has the claimed truth on the path:
//! on every continuation of a path that ends, exactly on one that goes on for ever. Where nothing was cut, that truth
//! must follow from the values of the states and from the claims in the tree alone; each claim is compared with the
//! fixpoints of the definitions.

use crate::naive::{self, Naive, Set};
use crate::{Checker, Evidence};
use std::collections::HashMap;
use tw_core::{Bits, TimeUnit};
use tw_ir::{Clock, Node, NodeId, Program, Way};
use tw_model::State;

/// True, false, or not known.
type Known = Option<bool>;

fn and(a: Known, b: Known) -> Known {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn not(a: Known) -> Known {
    a.map(|a| !a)
}

fn or(a: Known, b: Known) -> Known {
    not(and(not(a), not(b)))
}

/// Whether a tree of evidence shows what it says.
pub(crate) fn valid(
    checker: &Checker,
    program: &Program,
    atoms: &[Bits],
    evidence: &Evidence,
) -> Result<(), String> {
    let (mut pieces, mut next) = (vec![evidence], 0);
    while next < pieces.len() {
        pieces.extend(pieces[next].branches.iter().map(|(_, branch)| branch));
        next += 1;
    }
    let shown = pieces.iter().map(|piece| ((piece.node, piece.steps[0]), piece.holds)).collect();
    let judge = Judge {
        checker,
        program,
        atoms,
        known: program.atoms(),
        sets: naive::satisfied(checker, program, evidence.node, atoms),
        fair: Naive::new(checker).fair,
        shown,
        whole: !pieces.iter().any(|piece| piece.cut),
    };
    pieces.iter().try_for_each(|piece| {
        judge.piece(piece).map_err(|error| {
            format!("{error}: `{}` {} {:?}", tw_ir::display(program, piece.node), piece.holds, piece)
        })
    })
}

struct Judge<'a> {
    checker: &'a Checker<'a>,
    program: &'a Program,
    atoms: &'a [Bits],
    known: Vec<NodeId>,
    sets: Vec<Option<Set>>,
    fair: Set,
    shown: HashMap<(NodeId, State), bool>,
    whole: bool,
}

impl Judge<'_> {
    fn piece(&self, piece: &Evidence) -> Result<(), String> {
        let check = |good: bool, error: &str| if good { Ok(()) } else { Err(error.to_owned()) };
        let steps = &piece.steps;
        check(!steps.is_empty(), "no state")?;
        let follows = |from: State, to: State| self.checker.graph().successors(from).contains(&to);
        check(steps.windows(2).all(|step| follows(step[0], step[1])), "no such transition")?;
        for (at, branch) in &piece.branches {
            check(steps.get(*at) == branch.steps.first(), "a branch begins elsewhere")?;
        }
        if let Some(cycle) = piece.cycle {
            check(cycle < steps.len() && follows(steps[steps.len() - 1], steps[cycle]), "no cycle")?;
            let met = |set: &Bits| steps[cycle..].iter().any(|&state| set.get(state as usize));
            check(self.checker.fair_sets().iter().all(met), "the cycle is not fair")?;
        }
        let node = self.program.dag.node(piece.node);
        if let Some(set) = &self.sets[piece.node.index()] {
            check(set[steps[0] as usize] == piece.holds, "the claim is wrong")?;
        }
        let (formula, value) = match (node, piece.holds) {
            (Node::SomePath(path), true) => (path, true),
            (Node::AllPaths(path), false) => (path, false),
            (Node::SomePath(_) | Node::AllPaths(_), _) => {
                return check(steps.len() == 1 && piece.cycle.is_none(), "a path for all paths");
            }
            _ => (piece.node, piece.holds),
        };
        if node.is_branching() && piece.cycle.is_none() {
            check(self.fair[steps[steps.len() - 1] as usize], "no path that counts goes on")?;
        }
        if piece.cut && steps.len() == 1 {
            return Ok(());
        }
        let word = Word::new(self.program, formula, steps, piece.cycle);
        check(word.truth(self, formula) == Some(value), "the path does not show it")
    }

    /// What is known of a path quantifier in a state.
    fn quantifier(&self, node: NodeId, state: State) -> Known {
        if self.whole {
            return self.shown.get(&(node, state)).copied();
        }
        self.sets[node.index()].as_ref().map(|set| set[state as usize])
    }
}

/// A path as a word: its states, with the cycle written out often enough for operators that look back.
struct Word {
    states: Vec<State>,
    cycle: Option<usize>,
}

impl Word {
    fn new(program: &Program, formula: NodeId, steps: &[State], cycle: Option<usize>) -> Self {
        let mut states = steps.to_vec();
        let Some(mut begin) = cycle else { return Self { states, cycle } };
        // Each operator that looks back may tell one more round apart, or as many as its interval is long.
        let mut rounds = 1;
        for id in program.reachable(&[formula]) {
            let node = program.dag.node(id);
            if node.is_past() || node == Node::First {
                let (low, high) = window(node);
                rounds += 1 + low + if high < usize::MAX { high } else { 0 };
            }
        }
        for _ in 0..rounds {
            let next = states.len();
            states.extend_from_within(begin..);
            begin = next;
        }
        Self { states, cycle: Some(begin) }
    }

    fn truth(&self, judge: &Judge, formula: NodeId) -> Known {
        let mut columns: Vec<Vec<Known>> = vec![Vec::new(); formula.index() + 1];
        for id in judge.program.reachable(&[formula]) {
            let column = (0..self.states.len()).map(|at| match judge.known.binary_search(&id) {
                Ok(atom) => Some(judge.atoms[atom].get(self.states[at] as usize)),
                Err(_) => self.node(judge, id, at, &columns),
            });
            columns[id.index()] = column.collect();
        }
        columns[formula.index()][0]
    }

    /// The truth of a column at any position of the word, also beyond what is written out.
    fn at(&self, column: &[Known], at: usize) -> Known {
        match self.cycle {
            _ if at < column.len() => column[at],
            Some(cycle) => column[cycle + (at - cycle) % (column.len() - cycle)],
            None => None,
        }
    }

    fn node(&self, judge: &Judge, id: NodeId, at: usize, columns: &[Vec<Known>]) -> Known {
        use Node::*;
        let node = judge.program.dag.node(id);
        let of = |id: NodeId, at: usize| self.at(&columns[id.index()], at);
        let (low, high) = window(node);
        // Some k at a distance within the interval such that b there and a before; the mirror image looks back.
        let until = |a: &dyn Fn(usize) -> Known, b: &dyn Fn(usize) -> Known| {
            // Beyond the end and one more round nothing new comes.
            let limit = (at + low).max(self.states.len()) + self.states.len();
            let (mut found, mut so_far) = (Some(false), Some(true));
            for k in at..=at.saturating_add(high).min(limit) {
                if k >= at + low {
                    found = or(found, and(so_far, b(k)));
                }
                so_far = and(so_far, a(k));
            }
            found
        };
        let since = |a: &dyn Fn(usize) -> Known, b: &dyn Fn(usize) -> Known| {
            let (mut found, mut so_far) = (Some(false), Some(true));
            for k in (at.saturating_sub(high)..=at).rev() {
                if at - k >= low {
                    found = or(found, and(so_far, b(k)));
                }
                so_far = and(so_far, a(k));
            }
            found
        };
        if let Some(operator) = node.temporal() {
            let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
                let there = if operator.past { at.checked_sub(1) } else { Some(at + 1) };
                let there = there.filter(|_| low <= 1 && high >= 1);
                return there.map_or(Some(operator.weak), |there| of(operator.right, there));
            };
            let turned = |known: Known| if dual { not(known) } else { known };
            let hold = |k| hold.map_or(Some(true), |hold| turned(of(hold, k)));
            let beside = |k| beside.map_or(Some(true), |beside| turned(of(beside, k)));
            let goal = |k| and(turned(of(goal, k)), beside(k));
            return turned(if operator.past { since(&hold, &goal) } else { until(&hold, &goal) });
        }
        match node {
            Bool(value) => Some(value),
            First => Some(at == 0),
            Last => Some(false),
            AllPaths(_) | SomePath(_) => judge.quantifier(id, self.states[at]),
            Not(a) => not(of(a, at)),
            And(a, b) => and(of(a, at), of(b, at)),
            Or(a, b) => or(of(a, at), of(b, at)),
            Implies(a, b) => or(not(of(a, at)), of(b, at)),
            Xor(a, b) => of(a, at).zip(of(b, at)).map(|(a, b)| a != b),
            Iff(a, b) => of(a, at).zip(of(b, at)).map(|(a, b)| a == b),
            // Terms: what predicates are made of.
            _ => None,
        }
    }
}

/// The interval of an operator in transitions.
fn window(node: Node) -> (usize, usize) {
    let Some(interval) = node.interval() else { return (0, usize::MAX) };
    let ticks = interval.ticks(Clock::Index, TimeUnit::Seconds).expect("an interval in transitions");
    (ticks.low as usize, if ticks.high == i64::MAX { usize::MAX } else { ticks.high as usize })
}
