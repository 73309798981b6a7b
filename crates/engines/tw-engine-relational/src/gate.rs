//! A program as gates: conjunction, quantifier, step and until, over edges that may negate.

use crate::predicate::{Input, Level, Predicate};
use crate::rules::{Rules, compile};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_ir::{Node, NodeId, Program, Semantics, Tally, Ticks};
use tw_monitor::{EvaluateOptions, Unsupported};

/// A gate, or what it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) gate: u32,
    pub(crate) negated: bool,
}

impl Edge {
    pub(crate) const YES: Edge = Edge { gate: 0, negated: false };

    pub(crate) fn not(self) -> Edge {
        Edge { negated: !self.negated, ..self }
    }

    pub(crate) fn index(self) -> usize {
        self.gate as usize
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Gate {
    Yes,
    First,
    /// By its place in `Program::atoms`.
    Atom(usize),
    /// By its place in `Program::patterns`, with the level and number of each column, by level.
    Pattern(usize, Vec<(Level, usize)>),
    Predicate(u32),
    And(Vec<Edge>),
    Exists(Level, Edge),
    Step {
        past: bool,
        ticks: Ticks,
        of: Edge,
    },
    Until {
        past: bool,
        ticks: Ticks,
        hold: Option<Edge>,
        goal: Edge,
    },
}

/// Of each event pattern the first that reads the same events, whatever its variables are called. Who reads that one has one
/// table for both.
fn shared(program: &Program, patterns: &[NodeId]) -> Vec<usize> {
    let slots: Vec<_> = patterns.iter().map(|&node| program.pattern_slot(node)).collect();
    let first = |at: usize| slots[..at].iter().position(|slot| slot.is_some() && *slot == slots[at]);
    (0..slots.len()).map(|at| first(at).unwrap_or(at)).collect()
}

/// The edges that a gate reads; of a predicate those of its tallies.
pub(crate) fn operands(gate: &Gate, predicates: &[Predicate], tallies: &[Tallied]) -> Vec<Edge> {
    match gate {
        Gate::Yes | Gate::First | Gate::Atom(_) | Gate::Pattern(..) => Vec::new(),
        Gate::Predicate(number) => {
            let tally = |(_, input): &(NodeId, Input)| match input {
                Input::Tally(tally) => Some(tallies[*tally as usize].of),
                _ => None,
            };
            predicates[*number as usize].inputs.iter().filter_map(tally).collect()
        }
        Gate::And(edges) => edges.clone(),
        Gate::Exists(_, of) | Gate::Step { of, .. } => vec![*of],
        Gate::Until { hold, goal, .. } => hold.iter().copied().chain([*goal]).collect(),
    }
}

/// What is asked of a root: the n-th of the n-th.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The root itself, or what stands below the outer quantifiers and one `G`.
    pub(crate) edge: Edge,
    /// Of the latter: the variables, in the order of the quantifiers.
    pub(crate) outer: Option<Vec<Level>>,
    /// Whether it is asked at every position, not only at the first.
    pub(crate) each: bool,
}

/// A term over the valuations that make a formula true.
#[derive(Clone, Debug)]
pub(crate) struct Tallied {
    /// The term.
    pub(crate) node: NodeId,
    pub(crate) kind: Tally,
    /// The variables that it binds, ascending.
    pub(crate) bound: Vec<Level>,
    /// What is added up, of each valuation.
    pub(crate) value: Option<Predicate>,
    pub(crate) of: Edge,
}

/// A program made ready.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) program: Arc<Program>,
    pub(crate) gates: Vec<Gate>,
    /// Whether a gate is known only after its position: something below it looks ahead.
    pub(crate) delayed: Vec<bool>,
    /// Whether some gate is.
    pub(crate) waits: bool,
    /// The gates that remember something or are delayed.
    pub(crate) stateful: Vec<usize>,
    pub(crate) predicates: Arc<Vec<Predicate>>,
    pub(crate) tallies: Vec<Tallied>,
    /// The formula that each gate was made for.
    pub(crate) origin: Vec<NodeId>,
    /// The variable of each level.
    pub(crate) variables: Vec<u32>,
    pub(crate) asked: Vec<Asked>,
    /// How many roots and atoms the program has.
    pub(crate) roots: usize,
    pub(crate) atoms: usize,
    pub(crate) repeat: bool,
    /// Whether time is counted in positions.
    pub(crate) index: bool,
    /// The questions that rules answer, and how.
    pub(crate) rules: Arc<Rules>,
    /// Bytes that may be held.
    pub(crate) budget: usize,
}

/// Gates that may stand above one another.
const DEPTH: usize = 2_000;

impl Plan {
    /// `each` asks roots of any shape at every position.
    pub(crate) fn new(program: &Program, options: &EvaluateOptions, each: bool) -> Result<Self, Unsupported> {
        // What stands below the outer quantifiers and `G` is asked at every position; they are not evaluated themselves.
        let asked = program.roots.iter().map(|root| match program.invariant(root.node) {
            Some((outer, body)) => (Some(outer), body, true),
            None => (None, root.node, each),
        });
        let mut plan = Self::asking(program, asked.collect(), options, true)?;
        // Rules find violations; they do not say of every position that there is none.
        if !each {
            plan.rules = Arc::new(compile(&plan));
            plan.left_to_tries();
        }
        Ok(plan)
    }

    /// Gates that rules alone would ask are not kept up.
    fn left_to_tries(&mut self) {
        let mut used = vec![false; self.gates.len()];
        for (asked, question) in self.asked.iter().enumerate() {
            used[question.edge.index()] |= !self.rules.answers[asked];
        }
        for at in (0..self.gates.len()).rev() {
            if used[at] {
                for edge in operands(&self.gates[at], &self.predicates, &self.tallies) {
                    used[edge.index()] = true;
                }
            }
        }
        self.stateful.retain(|at| used[*at]);
        for (delayed, used) in self.delayed.iter_mut().zip(&used) {
            *delayed &= used;
        }
        self.waits = self.delayed.contains(&true);
    }

    /// For the truth of formulas at every position.
    pub(crate) fn columns(
        program: &Program,
        nodes: &[NodeId],
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        Self::asking(program, nodes.iter().map(|&node| (None, node, true)).collect(), options, false)
    }

    /// For what violates formulas, or their negations, where the variables are the given ones.
    pub(crate) fn bound(
        program: &Program,
        nodes: &[(NodeId, Vec<u32>)],
        negated: bool,
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        let asked = nodes.iter().map(|(node, outer)| (Some(outer.clone()), *node, true)).collect();
        let mut plan = Self::asking(program, asked, options, false)?;
        plan.asked.iter_mut().for_each(|asked| asked.edge.negated ^= negated);
        plan.rules = Arc::new(compile(&plan));
        plan.left_to_tries();
        Ok(plan)
    }

    /// `share`: patterns that read the same events are read as one. Who leaves out the events that do not fit the values of a
    /// pattern's variables has them apart.
    fn asking(
        program: &Program,
        asked: Vec<(Option<Vec<u32>>, NodeId, bool)>,
        options: &EvaluateOptions,
        share: bool,
    ) -> Result<Self, Unsupported> {
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let variables = variables(program, &roots);
        let mut lower = Lower::new(program, options, &variables, share);
        let bodies: Vec<NodeId> = asked.iter().map(|(_, body, _)| *body).collect();
        for id in program.reachable_until(&bodies, |id| lower.leaf(id)) {
            let edge = lower.node(id)?;
            lower.edges.insert(id, edge);
        }
        let level =
            |variable: &u32| variables.iter().position(|own| own == variable).map(|level| level as Level);
        let asked = asked.iter().map(|(outer, body, each)| Asked {
            edge: lower.edges[body],
            outer: outer.as_ref().map(|outer| outer.iter().filter_map(level).collect()),
            each: *each,
        });
        let asked: Vec<Asked> = asked.collect();
        let (atoms, answers) = (lower.atoms.len(), asked.len());
        let Lower { gates, predicates, tallies, origin, .. } = lower;
        let mut delayed = vec![false; gates.len()];
        let mut depth = vec![0usize; gates.len()];
        for (at, gate) in gates.iter().enumerate() {
            let ahead = matches!(gate, Gate::Step { past: false, .. } | Gate::Until { past: false, .. });
            let below = operands(gate, &predicates, &tallies);
            delayed[at] = ahead || below.iter().any(|edge| delayed[edge.index()]);
            depth[at] = below.iter().map(|edge| depth[edge.index()] + 1).max().unwrap_or(0);
            if depth[at] > DEPTH {
                return Err(Unsupported::budget(format!("more than {DEPTH} operators inside one another")));
            }
        }
        let keeps = |at: &usize| delayed[*at] || matches!(gates[*at], Gate::Step { .. } | Gate::Until { .. });
        let stateful = (0..gates.len()).filter(keeps).collect();
        Ok(Self {
            program: Arc::new(program.clone()),
            waits: delayed.contains(&true),
            stateful,
            gates,
            delayed,
            predicates: Arc::new(predicates),
            tallies,
            origin,
            variables,
            asked,
            roots: roots.len(),
            atoms,
            repeat: options.semantics == Semantics::RepeatLast,
            index: options.clock == tw_ir::Clock::Index,
            rules: Arc::new(Rules { answers: vec![false; answers], ..Rules::default() }),
            budget: options.memory_budget,
        })
    }
}

impl Plan {
    /// The tallies of a predicate, with the places of its inputs that they are.
    pub(crate) fn tallied(&self, predicate: u32) -> impl Iterator<Item = (usize, &Tallied)> {
        let inputs = self.predicates[predicate as usize].inputs.iter().enumerate();
        inputs.filter_map(|(place, (_, input))| match input {
            Input::Tally(tally) => Some((place, &self.tallies[*tally as usize])),
            _ => None,
        })
    }

    /// What is owed, in words of the language.
    pub(crate) fn told(&self, owed: &[(NodeId, bool)]) -> String {
        let one = |(node, negated): &(NodeId, bool)| {
            let text = tw_ir::display(&self.program, *node);
            if *negated { format!("!({text})") } else { text }
        };
        owed.iter().map(one).collect::<Vec<_>>().join(" | ")
    }
}

/// The quantified variables, outer ones first.
fn variables(program: &Program, roots: &[NodeId]) -> Vec<u32> {
    let (mut found, mut todo) = (Vec::new(), roots.to_vec());
    todo.reverse();
    let mut seen = vec![false; program.dag.len()];
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let node = program.dag.node(id);
        let bound = match node {
            Node::Forall(variable, _) | Node::Exists(variable, _) => vec![variable],
            Node::Tally(_, bound, ..) => program.dag.bound[bound as usize].clone(),
            _ => Vec::new(),
        };
        for variable in bound {
            if !found.contains(&variable) {
                found.push(variable);
            }
        }
        let mut children: Vec<NodeId> = node.children().collect();
        children.reverse();
        todo.extend(children);
    }
    found
}

struct Lower<'p> {
    program: &'p Program,
    options: &'p EvaluateOptions,
    variables: &'p [u32],
    atoms: Vec<NodeId>,
    patterns: Vec<NodeId>,
    /// Of each of them the first that reads the same events.
    shared: Vec<usize>,
    terms: Vec<NodeId>,
    edges: FxHashMap<NodeId, Edge>,
    gates: Vec<Gate>,
    known: FxHashMap<Gate, u32>,
    predicates: Vec<Predicate>,
    tallies: Vec<Tallied>,
    tally_nodes: Vec<NodeId>,
    origin: Vec<NodeId>,
    /// The formula at hand.
    node: NodeId,
}

impl<'p> Lower<'p> {
    fn new(program: &'p Program, options: &'p EvaluateOptions, variables: &'p [u32], share: bool) -> Self {
        let (atoms, patterns, terms) = (program.atoms(), program.patterns(), program.terms());
        let known = FxHashMap::from_iter([(Gate::Yes, 0)]);
        let (edges, gates, origin, node) =
            (FxHashMap::default(), vec![Gate::Yes], vec![NodeId(0)], NodeId(0));
        let (predicates, tallies, tally_nodes) = Default::default();
        Self {
            program,
            options,
            variables,
            atoms,
            shared: if share { shared(program, &patterns) } else { (0..patterns.len()).collect() },
            patterns,
            terms,
            edges,
            gates,
            known,
            predicates,
            tallies,
            tally_nodes,
            origin,
            node,
        }
    }

    fn level(&self, variable: u32) -> Option<Level> {
        self.variables.iter().position(|own| *own == variable).map(|level| level as Level)
    }

    /// Whether what stands below is no formula of its own. In predicates that are not atoms there are tallies.
    fn leaf(&self, id: NodeId) -> bool {
        self.atoms.binary_search(&id).is_ok()
            || matches!(self.program.dag.node(id), Node::Truth(_) | Node::Pattern(_))
    }

    fn gate(&mut self, gate: Gate) -> Edge {
        if let Some(&gate) = self.known.get(&gate) {
            return Edge { gate, negated: false };
        }
        let number = self.gates.len() as u32;
        self.gates.push(gate.clone());
        self.origin.push(self.node);
        self.known.insert(gate, number);
        Edge { gate: number, negated: false }
    }

    fn and(&mut self, edges: impl IntoIterator<Item = Edge>) -> Edge {
        let mut all = Vec::new();
        for edge in edges {
            match &self.gates[edge.index()] {
                Gate::Yes if edge.negated => return Edge::YES.not(),
                Gate::Yes => {}
                Gate::And(inner) if !edge.negated => all.extend(inner.iter().copied()),
                _ => all.push(edge),
            }
        }
        // What is cheap and small first: it decides what is asked of the others.
        all.sort_by_key(|edge| (self.rank(*edge), *edge));
        all.dedup();
        if all.windows(2).any(|pair| pair[0] == pair[1].not()) {
            return Edge::YES.not();
        }
        match all.as_slice() {
            [] => Edge::YES,
            [only] => *only,
            _ => self.gate(Gate::And(all)),
        }
    }

    fn rank(&self, edge: Edge) -> u8 {
        match (&self.gates[edge.index()], edge.negated) {
            (Gate::Yes | Gate::First | Gate::Atom(_), _) => 0,
            (Gate::Pattern(..), false) => 1,
            (Gate::Predicate(number), false) if self.predicates[*number as usize].generates(self.program) => {
                1
            }
            (Gate::Predicate(_), _) => 6,
            (Gate::Exists(..) | Gate::And(_), false) => 2,
            (Gate::Until { .. }, _) => 5,
            (_, false) => 3,
            (_, true) => 4,
        }
    }

    fn or(&mut self, a: Edge, b: Edge) -> Edge {
        self.and([a.not(), b.not()]).not()
    }

    fn ticks(&self, id: NodeId, node: Node) -> Result<Ticks, Unsupported> {
        let Some(interval) = node.interval() else { return Ok(Ticks { low: 0, high: i64::MAX }) };
        let ticks = interval.ticks(self.options.clock, self.options.unit);
        ticks.map_err(|error| Unsupported::construct(id, format!("this interval: {error}")))
    }

    fn node(&mut self, id: NodeId) -> Result<Edge, Unsupported> {
        self.node = id;
        if let Ok(place) = self.atoms.binary_search(&id) {
            return Ok(self.gate(Gate::Atom(place)));
        }
        let node = self.program.dag.node(id);
        if node.is_temporal() {
            return self.temporal(id, node);
        }
        let of = |id: NodeId| self.edges[&id];
        Ok(match node {
            Node::Bool(value) => Edge { gate: 0, negated: !value },
            Node::First => self.gate(Gate::First),
            Node::Last => {
                let ticks = Ticks { low: 0, high: i64::MAX };
                self.gate(Gate::Step { past: false, ticks, of: Edge::YES }).not()
            }
            Node::Not(a) => of(a).not(),
            Node::And(a, b) => {
                let both = [of(a), of(b)];
                self.and(both)
            }
            Node::Or(a, b) => {
                let (a, b) = (of(a), of(b));
                self.or(a, b)
            }
            Node::Implies(a, b) => {
                let (a, b) = (of(a).not(), of(b));
                self.or(a, b)
            }
            Node::Xor(a, b) | Node::Iff(a, b) => {
                let (a, b) = (of(a), of(b));
                let (one, other) = (self.and([a, b.not()]), self.and([a.not(), b]));
                let differ = self.or(one, other);
                if matches!(node, Node::Xor(..)) { differ } else { differ.not() }
            }
            Node::Forall(variable, body) | Node::Exists(variable, body) => {
                let forall = matches!(node, Node::Forall(..));
                let body = of(body);
                let Some(level) = self.level(variable) else { return Ok(body) };
                let body = if forall { body.not() } else { body };
                let some = if body.gate == 0 { body } else { self.gate(Gate::Exists(level, body)) };
                if forall { some.not() } else { some }
            }
            Node::Pattern(index) => {
                let pattern = &self.program.dag.patterns[index as usize];
                let levels: Option<Vec<Level>> =
                    pattern.variables().map(|variable| self.level(variable)).collect();
                match (levels, self.patterns.binary_search(&id)) {
                    (Some(levels), Ok(place)) => {
                        let mut columns: Vec<_> = levels.into_iter().zip(0..).collect();
                        columns.sort_unstable();
                        self.gate(Gate::Pattern(self.shared[place], columns))
                    }
                    _ => return Err(Unsupported::construct(id, "a variable that no quantifier binds")),
                }
            }
            Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_) => {
                let predicate = self.predicate(id)?;
                self.predicates.push(predicate);
                self.gate(Gate::Predicate(self.predicates.len() as u32 - 1))
            }
            Node::Tally(kind, bound, value, formula) => {
                let mut bound: Vec<Level> = self.program.dag.bound[bound as usize]
                    .iter()
                    .filter_map(|&own| self.level(own))
                    .collect();
                bound.sort_unstable();
                let value = if kind == Tally::Count { None } else { Some(self.predicate(value)?) };
                self.tallies.push(Tallied { node: id, kind, bound, value, of: self.edges[&formula] });
                self.tally_nodes.push(id);
                Edge::YES
            }
            // Terms are read by the predicate above them.
            Node::Constant(_)
            | Node::Slot(_)
            | Node::Variable(_)
            | Node::Negate(_)
            | Node::Abs(_)
            | Node::Arithmetic(..)
            | Node::IfThenElse(..)
            | Node::Tuple(..) => Edge::YES,
            other => return Err(Unsupported::construct(id, format!("`{}`", other.operator()))),
        })
    }

    fn predicate(&self, id: NodeId) -> Result<Predicate, Unsupported> {
        let dag = &self.program.dag;
        let input = |id: NodeId| match dag.node(id) {
            Node::Variable(variable) => self.level(variable).map(Input::Variable),
            Node::Slot(_) => self.terms.binary_search(&id).ok().map(Input::Term),
            Node::Tally(..) => {
                self.tally_nodes.iter().position(|own| *own == id).map(|tally| Input::Tally(tally as u32))
            }
            _ => None,
        };
        let strange = |id: &NodeId| {
            let node = dag.node(*id);
            node.is_temporal()
                || matches!(
                    node,
                    Node::Forall(..) | Node::Exists(..) | Node::Pattern(_) | Node::First | Node::Last
                )
                || matches!(node, Node::Slot(_) | Node::Variable(_)) && input(*id).is_none()
        };
        let below = self.program.reachable_until(&[id], |id| input(id).is_some());
        if let Some(&node) = below.iter().find(|id| strange(id)) {
            let what = format!("`{}` inside a term beside quantified variables", dag.node(node).operator());
            return Err(Unsupported::construct(node, what));
        }
        Ok(Predicate::new(self.program, id, input))
    }

    fn temporal(&mut self, id: NodeId, node: Node) -> Result<Edge, Unsupported> {
        let Some(applied) = node.temporal() else { return Ok(Edge::YES) };
        let ticks = self.ticks(id, node)?;
        let of = |id: NodeId| self.edges[&id];
        let past = applied.past;
        let Some(way) = applied.way() else {
            let of = of(applied.right);
            let step = |of| Gate::Step { past, ticks, of };
            return Ok(if applied.weak { self.gate(step(of.not())).not() } else { self.gate(step(of)) });
        };
        let sign = |edge: Edge| if way.dual { edge.not() } else { edge };
        let hold = way.hold.map(|hold| sign(of(hold))).filter(|hold| *hold != Edge::YES);
        let (goal, beside) = (sign(of(way.goal.0)), way.goal.1.map(|beside| sign(of(beside))));
        let goal = match beside {
            Some(beside) => self.and([goal, beside]),
            None => goal,
        };
        Ok(sign(self.gate(Gate::Until { past, ticks, hold, goal })))
    }
}
