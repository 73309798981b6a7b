//! Branching time by its definitions, for tests: operators by their own equations, solved by trying again until nothing
//! changes. No duals, no counting, no components; under fairness the nested fixpoint of Emerson and Lei.

use crate::Checker;
use tw_core::{Bits, TimeUnit};
use tw_ir::{Clock, Node, NodeId, Program, Way};
use tw_model::{Graph, Model, State};
use tw_testkit::Rng;

/// One truth value per state.
pub(crate) type Set = Vec<bool>;

/// A least fixpoint begins with no state, a greatest one with all.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Until,
    Release,
}

/// Distances: the least, and the greatest if there is one.
#[derive(Clone, Copy)]
struct Window {
    low: u64,
    high: Option<u64>,
}

/// A model and which paths of it count.
pub(crate) struct Naive<'a> {
    graph: &'a Graph,
    fairness: Vec<Set>,
    /// States from which a path counts.
    pub fair: Set,
}

/// The states of each state formula up to the root; `None` for path formulas and for what is not CTL.
pub(crate) fn satisfied(
    checker: &Checker,
    program: &Program,
    root: NodeId,
    atoms: &[Bits],
) -> Vec<Option<Set>> {
    let naive = Naive::new(checker);
    let known = program.atoms();
    let mut sets: Vec<Option<Set>> = Vec::new();
    for (index, &node) in program.dag.nodes()[..=root.index()].iter().enumerate() {
        let of = |id: NodeId| sets[id.index()].as_ref();
        let zip = |a, b, f: fn(bool, bool) -> bool| Some(map(of(a)?, of(b)?, f));
        let set = match (known.binary_search(&NodeId(index as u32)), node) {
            (Ok(atom), _) => Some((0..naive.states()).map(|state| atoms[atom].get(state)).collect()),
            (_, Node::Bool(value)) => Some(vec![value; naive.states()]),
            (_, Node::Last) => Some(vec![false; naive.states()]),
            (_, Node::Not(a)) => of(a).map(not),
            (_, Node::And(a, b)) => zip(a, b, |a, b| a && b),
            (_, Node::Or(a, b)) => zip(a, b, |a, b| a || b),
            (_, Node::Xor(a, b)) => zip(a, b, |a, b| a != b),
            (_, Node::Implies(a, b)) => zip(a, b, |a, b| !a || b),
            (_, Node::Iff(a, b)) => zip(a, b, |a, b| a == b),
            (_, Node::SomePath(path)) => naive.quantified(program, path, true, &sets),
            (_, Node::AllPaths(path)) => naive.quantified(program, path, false, &sets),
            _ => None,
        };
        sets.push(set);
    }
    sets
}

fn not(set: &Set) -> Set {
    set.iter().map(|value| !value).collect()
}

fn map(a: &Set, b: &Set, f: impl Fn(bool, bool) -> bool) -> Set {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

impl<'a> Naive<'a> {
    pub fn new(checker: &'a Checker) -> Self {
        let graph = checker.graph();
        let set = |bits: &Bits| (0..graph.states()).map(|state| bits.get(state)).collect();
        let fairness: Vec<Set> = checker.fair_sets().iter().map(set).collect();
        let mut naive = Naive { graph, fairness, fair: vec![true; graph.states()] };
        naive.fair = naive.fair_globally(&vec![true; graph.states()]);
        naive
    }

    fn states(&self) -> usize {
        self.graph.states()
    }

    fn some_next(&self, set: &Set) -> Set {
        let has = |state| self.graph.successors(state).iter().any(|&to| set[to as usize]);
        (0..self.states() as State).map(has).collect()
    }

    fn all_next(&self, set: &Set) -> Set {
        let has = |state| self.graph.successors(state).iter().all(|&to| set[to as usize]);
        (0..self.states() as State).map(has).collect()
    }

    fn fixpoint(&self, start: bool, step: impl Fn(&Set) -> Set) -> Set {
        let mut set = vec![start; self.states()];
        loop {
            let next = step(&set);
            if next == set {
                return set;
            }
            set = next;
        }
    }

    /// `E[a U b]`, whether paths count or not.
    fn some_until(&self, a: &Set, b: &Set) -> Set {
        self.fixpoint(false, |set| map(b, &map(a, &self.some_next(set), |a, b| a && b), |a, b| a || b))
    }

    /// States from which a path stays in `set` and meets every fairness set again and again.
    fn fair_globally(&self, set: &Set) -> Set {
        self.fixpoint(true, |so_far| {
            let mut next = map(set, &self.some_next(so_far), |a, b| a && b);
            for fairness in &self.fairness {
                let goal = map(&map(set, so_far, |a, b| a && b), fairness, |a, b| a && b);
                let there = self.some_next(&self.some_until(set, &goal));
                next = map(&next, &there, |a, b| a && b);
            }
            next
        })
    }

    /// States from which some path (or, all paths) satisfies a path formula that is one operator, perhaps negated.
    fn quantified(&self, program: &Program, path: NodeId, some: bool, sets: &[Option<Set>]) -> Option<Set> {
        if let Some(set) = &sets[path.index()] {
            return Some(map(set, &self.fair, |set, fair| if some { set && fair } else { set || !fair }));
        }
        let node = program.dag.node(path);
        if let Node::Not(inner) = node {
            return self.quantified(program, inner, !some, sets).as_ref().map(not);
        }
        let window = node.interval().map_or(Window { low: 0, high: None }, |interval| {
            let ticks = interval.ticks(Clock::Index, TimeUnit::Seconds).unwrap();
            let high = (ticks.high < i64::MAX).then_some(ticks.high as u64);
            Window { low: ticks.low as u64, high }
        });
        let of = |id: NodeId| sets[id.index()].clone();
        let operator = node.temporal()?;
        let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
            let inside = window.low <= 1 && window.high.is_none_or(|high| high >= 1);
            let set = of(operator.right)?;
            return Some(match (inside, some) {
                (false, true) => map(&vec![operator.weak; self.states()], &self.fair, |a, b| a && b),
                (false, false) => map(&vec![operator.weak; self.states()], &self.fair, |a, b| a || !b),
                (true, true) => self.some_next(&map(&set, &self.fair, |a, b| a && b)),
                (true, false) => self.all_next(&map(&set, &self.fair, |a, b| a || !b)),
            });
        };
        let kind = if dual { Kind::Release } else { Kind::Until };
        let a = hold.map_or(Some(vec![!dual; self.states()]), of)?;
        let b = match beside {
            Some(beside) => map(&of(goal)?, &of(beside)?, |a, b| if dual { a || b } else { a && b }),
            None => of(goal)?,
        };
        Some(match (some, self.fairness.is_empty()) {
            (true, _) => self.windowed(kind, window, &a, &b, true),
            (false, true) => self.windowed(kind, window, &a, &b, false),
            // On all paths that count: on none of them the dual of the negations.
            (false, false) => {
                let dual = if kind == Kind::Until { Kind::Release } else { Kind::Until };
                not(&self.windowed(dual, window, &not(&a), &not(&b), true))
            }
        })
    }

    /// The equations, from the end of the window to its beginning and on to the state itself.
    fn windowed(&self, kind: Kind, window: Window, a: &Set, b: &Set, some: bool) -> Set {
        let next = |set: &Set| if some { self.some_next(set) } else { self.all_next(set) };
        // Whatever ends what is asked of a path must leave one that counts.
        let ends = |set: &Set| if some { map(set, &self.fair, |a, b| a && b) } else { set.clone() };
        let inside = |set: &Set| match kind {
            Kind::Until => map(&ends(b), &map(a, &next(set), |a, b| a && b), |a, b| a || b),
            Kind::Release => map(b, &map(&ends(a), &next(set), |a, b| a || b), |a, b| a && b),
        };
        let before = |set: &Set| match kind {
            Kind::Until => map(a, &next(set), |a, b| a && b),
            Kind::Release => map(&ends(a), &next(set), |a, b| a || b),
        };
        let mut set = match (window.high, kind) {
            (Some(high), _) => (window.low..high).fold(ends(b), |set, _| inside(&set)),
            (None, Kind::Until) => self.fixpoint(false, inside),
            (None, Kind::Release) if self.fairness.is_empty() => self.fixpoint(true, inside),
            (None, Kind::Release) => {
                let released = self.some_until(b, &ends(&map(a, b, |a, b| a && b)));
                map(&released, &self.fair_globally(b), |a, b| a || b)
            }
        };
        for _ in 0..window.low {
            set = before(&set);
        }
        set
    }
}

/// A random model: few states, some without successors, one or more initial.
pub(crate) fn random_model(random: &mut Rng, most: usize) -> Model {
    let states = 1 + random.below(most);
    let edges = random.below(2 * states + 2);
    let edges: Vec<(State, State)> =
        (0..edges).map(|_| (random.below(states) as State, random.below(states) as State)).collect();
    let mut initial: Vec<State> = (0..1 + random.below(2)).map(|_| random.below(states) as State).collect();
    initial.sort_unstable();
    initial.dedup();
    Model { initial, graph: Graph::from_edges(states, edges.into_iter()), ..Model::default() }
}

/// A random set of states.
pub(crate) fn random_set(random: &mut Rng, states: usize) -> Bits {
    let per_mille = random.pick(&[200, 500, 800]);
    (0..states).map(|_| random.chance(per_mille)).collect()
}
