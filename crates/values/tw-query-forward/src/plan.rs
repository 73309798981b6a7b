//! The network that a program becomes: nodes that emit streams, and sinks that make values of them.

use crate::fragment::{is_predicate, why_not};
use tw_core::Value;
use tw_ir::{Aggregate, Applied, Form, Function, Node, NodeId, Program, Semantics};
use tw_monitor::{EvaluateOptions, Map, Unsupported};
use tw_statistics::Limits;

/// What a node does with the streams of its operands.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A column of `Program::atoms`.
    Atom(usize),
    /// A column of `Program::terms`.
    Term(usize),
    Bool(bool),
    First,
    Last,
    Not,
    And,
    Or,
    Xor,
    Implies,
    Iff,
    /// `X`, `N`, and their truth at the last position; nothing if that is the operand's.
    Next(Option<bool>),
    /// A future operator that waits for a position that decides.
    Future(Kept),
    /// A past operator that carries its truth along.
    Past(Kept),
    /// `Y`, `Z`, and their truth at the first position.
    Previous(bool),
    /// `φ : e` with e a stream.
    Emit,
    /// `φ : c`
    EmitConstant(Value),
    Both(Function),
    Either(Function),
    /// `!{c} ψ`, with the constant if c is one and a stream otherwise.
    Fails(Option<Value>),
    Default(Option<Value>),
    NextMap(Map),
    UntilMap(Map),
    While(Aggregate),
}

/// An until or a release, which hold with their right operand or with their left one and themselves at the neighbour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) form: Form,
    /// Whether there is no left operand.
    pub(crate) alone: bool,
    /// Its truth beyond the last position, or before the first.
    pub(crate) weak: bool,
}

/// A node of the network.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) id: NodeId,
    pub(crate) op: Op,
    /// The streams it reads. A node with one operand has it twice, one without has none.
    pub(crate) inputs: Option<[usize; 2]>,
}

/// What is made of streams.
#[derive(Clone, Debug)]
pub(crate) enum Use {
    /// The value at the first position.
    First { input: usize },
    /// `agg[ψ]` at the first position.
    Running { id: NodeId, aggregate: Aggregate, input: usize },
    /// `agg[ψ while φ]` at the first position.
    Stretch { id: NodeId, aggregate: Aggregate, inputs: [usize; 2] },
    /// `outer[inner[ψ while φ]]` at the first position, without keeping stretches.
    Nested { id: NodeId, outer: Aggregate, inner: Aggregate, inputs: [usize; 2] },
    /// All values.
    Gather { input: usize },
}

impl Use {
    pub(crate) fn inputs(&self) -> [usize; 2] {
        match *self {
            Use::First { input } | Use::Running { input, .. } | Use::Gather { input } => [input, input],
            Use::Stretch { inputs, .. } | Use::Nested { inputs, .. } => inputs,
        }
    }
}

/// How the value of a query at the first position is made of what sinks hold, children before parents.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Sink(usize),
    Constant(Value),
    Both(Function, usize, usize),
    Either(Function, usize, usize),
    /// The experiment, then c.
    Fails(usize, usize),
    Default(usize, usize),
}

/// A program made ready.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) program: Program,
    pub(crate) atoms: usize,
    pub(crate) terms: usize,
    pub(crate) parts: Vec<Part>,
    pub(crate) sinks: Vec<Use>,
    pub(crate) formulas: Vec<Formula>,
    /// For each root its formula.
    pub(crate) roots: Vec<usize>,
    pub(crate) limits: Limits,
    pub(crate) budget: usize,
}

impl Plan {
    /// Computes every root at the first position.
    pub(crate) fn of_roots(program: &Program, options: &EvaluateOptions) -> Result<Plan, Unsupported> {
        if options.semantics == Semantics::Ltl3 {
            let what = "values over all infinite continuations (`⟨semantics: ltl3⟩`)".into();
            let help = Some("use `⟨semantics: finite⟩`".into());
            return Err(Unsupported { node: None, what, help, exhausted: false });
        }
        if let Some(refusal) = program.roots.iter().find_map(|root| why_not(program, root.node)) {
            return Err(refusal);
        }
        let mut builder = Builder::new(program, options);
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        builder.formulas(&roots);
        builder.finish(&roots)
    }

    /// Collects what the given nodes are worth at every position; each must be one whose values arrive in time.
    pub(crate) fn of_columns(
        program: &Program,
        options: &EvaluateOptions,
        nodes: &[NodeId],
    ) -> Result<Plan, Unsupported> {
        let mut builder = Builder::new(program, options);
        for &id in nodes {
            let input = builder.stream(id);
            builder.plan.sinks.push(Use::Gather { input });
        }
        builder.finish(&[])
    }

    /// A number that differs for programs that read saved states differently.
    pub(crate) fn fingerprint(&self) -> u64 {
        let text = format!("{:?}{:?}{:?}{:?}", self.parts, self.sinks, self.formulas, self.roots);
        // FNV-1a: the same number in every build.
        text.bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

struct Builder<'p> {
    program: &'p Program,
    atoms: Vec<NodeId>,
    terms: Vec<NodeId>,
    repeat: bool,
    plan: Plan,
    /// The stream of each node that has one, as an experiment and as a term, and the formula.
    stream_of: Vec<Option<usize>>,
    term_of: Vec<Option<usize>>,
    /// A predicate or term that the trace has no column for.
    unknown: Option<NodeId>,
    formula_of: Vec<Option<usize>>,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, options: &EvaluateOptions) -> Self {
        let (atoms, terms) = (program.atoms(), program.terms());
        let exact_bytes = Limits::default().exact_bytes.min(options.memory_budget / 4);
        let plan = Plan {
            program: program.clone(),
            atoms: atoms.len(),
            terms: terms.len(),
            parts: Vec::new(),
            sinks: Vec::new(),
            formulas: Vec::new(),
            roots: Vec::new(),
            limits: Limits { exact_bytes },
            budget: options.memory_budget,
        };
        let none = vec![None; program.dag.len()];
        let repeat = options.semantics == Semantics::RepeatLast;
        Self {
            program,
            atoms,
            terms,
            repeat,
            plan,
            stream_of: none.clone(),
            term_of: none.clone(),
            unknown: None,
            formula_of: none,
        }
    }

    fn finish(mut self, roots: &[NodeId]) -> Result<Plan, Unsupported> {
        if let Some(id) = self.unknown {
            let what = "a predicate here, since its truth is not among the trace's columns";
            return Err(Unsupported::construct(id, what).help("ask for formulas of the program's queries"));
        }
        self.plan.roots = roots.iter().filter_map(|root| self.formula_of[root.index()]).collect();
        Ok(self.plan)
    }

    /// The formulas of nodes that are asked at the first position.
    fn formulas(&mut self, roots: &[NodeId]) {
        let dag = &self.program.dag;
        let mut asked = vec![false; dag.len()];
        roots.iter().for_each(|root| asked[root.index()] = true);
        for index in (0..dag.len()).rev() {
            if asked[index] {
                match dag.nodes()[index] {
                    Node::Both(_, a, b) | Node::Either(_, a, b) => {
                        (asked[a.index()], asked[b.index()]) = (true, true);
                    }
                    Node::Fails(a, _) | Node::Default(a, _) => asked[a.index()] = true,
                    _ => {}
                }
            }
        }
        for id in (0..dag.len() as u32).map(NodeId).filter(|id| asked[id.index()]) {
            let below = |id: NodeId| self.formula_of[id.index()].unwrap_or_default();
            let formula = match dag.node(id) {
                Node::Both(g, a, b) => Formula::Both(g, below(a), below(b)),
                Node::Either(g, a, b) => Formula::Either(g, below(a), below(b)),
                Node::Fails(a, term) => {
                    let a = below(a);
                    Formula::Fails(a, self.first(term))
                }
                Node::Default(a, term) => {
                    let a = below(a);
                    Formula::Default(a, self.first(term))
                }
                node => {
                    let sink = self.sink(id, node);
                    self.plan.sinks.push(sink);
                    Formula::Sink(self.plan.sinks.len() - 1)
                }
            };
            self.plan.formulas.push(formula);
            self.formula_of[id.index()] = Some(self.plan.formulas.len() - 1);
        }
    }

    /// The formula of a term at the first position.
    fn first(&mut self, term: NodeId) -> usize {
        let formula = match self.program.dag.node(term) {
            Node::Constant(constant) => {
                Formula::Constant(self.program.dag.constants[constant as usize].clone())
            }
            _ => {
                let input = self.term(term);
                self.plan.sinks.push(Use::First { input });
                Formula::Sink(self.plan.sinks.len() - 1)
            }
        };
        self.plan.formulas.push(formula);
        self.plan.formulas.len() - 1
    }

    fn sink(&mut self, id: NodeId, node: Node) -> Use {
        match node {
            Node::Collect(outer, a) => match self.program.dag.node(a) {
                Node::CollectWhile(inner, a, b) if crate::nested::fuses(outer, inner) => {
                    Use::Nested { id, outer, inner, inputs: [self.stream(a), self.stream(b)] }
                }
                _ => Use::Running { id, aggregate: outer, input: self.stream(a) },
            },
            Node::CollectWhile(aggregate, a, b) => {
                Use::Stretch { id, aggregate, inputs: [self.stream(a), self.stream(b)] }
            }
            _ => Use::First { input: self.stream(id) },
        }
    }

    fn part(&mut self, id: NodeId, op: Op, inputs: Option<[usize; 2]>) -> usize {
        self.plan.parts.push(Part { id, op, inputs });
        self.plan.parts.len() - 1
    }

    /// The stream of a term that is no constant.
    fn term(&mut self, id: NodeId) -> usize {
        if let Some(found) = self.term_of[id.index()] {
            return found;
        }
        let column = self.terms.binary_search(&id).unwrap_or_else(|_| {
            self.unknown = Some(id);
            0
        });
        let part = self.part(id, Op::Term(column), None);
        self.term_of[id.index()] = Some(part);
        part
    }

    /// The stream of an experiment or formula. Works through the nodes below it without recursion.
    fn stream(&mut self, root: NodeId) -> usize {
        let mut todo = vec![root];
        while let Some(&id) = todo.last() {
            if self.stream_of[id.index()].is_none() {
                let before = todo.len();
                todo.extend(self.operands(id).into_iter().filter(|id| self.stream_of[id.index()].is_none()));
                if todo.len() > before {
                    continue;
                }
                let stream = self.add(id);
                self.stream_of[id.index()] = Some(stream);
            }
            todo.pop();
        }
        self.stream_of[root.index()].unwrap_or_default()
    }

    /// The experiments and formulas directly below.
    fn operands(&self, id: NodeId) -> Vec<NodeId> {
        let dag = &self.program.dag;
        match dag.node(id) {
            node if is_predicate(node) => Vec::new(),
            Node::Emit(a, _) | Node::Fails(a, _) | Node::Default(a, _) | Node::NextMap { body: a, .. } => {
                vec![a]
            }
            Node::UntilMap { pair, .. } => dag.node(pair).children().collect(),
            node => node.children().collect(),
        }
    }

    /// The part of a node whose operands have their streams.
    fn add(&mut self, id: NodeId) -> usize {
        let dag = &self.program.dag;
        let node = dag.node(id);
        let of = |id: NodeId| self.stream_of[id.index()].unwrap_or_default();
        let constant = |term: NodeId| match dag.node(term) {
            Node::Constant(constant) => Some(dag.constants[constant as usize].clone()),
            _ => None,
        };
        let operands: Vec<usize> = self.operands(id).into_iter().map(of).collect();
        let inputs = match operands[..] {
            [] => None,
            [a] => Some([a, a]),
            [a, b, ..] => Some([a, b]),
        };
        let op = match node {
            Node::Emit(formula, term) => match constant(term) {
                Some(value) => Op::EmitConstant(value),
                None => {
                    let term = self.term(term);
                    return match dag.node(formula) {
                        Node::Bool(true) => term,
                        _ => self.part(id, Op::Emit, Some([operands[0], term])),
                    };
                }
            },
            Node::Fails(_, term) | Node::Default(_, term) => {
                let value = constant(term);
                let second = if value.is_some() { operands[0] } else { self.term(term) };
                let op = if matches!(node, Node::Fails(..)) { Op::Fails(value) } else { Op::Default(value) };
                return self.part(id, op, Some([operands[0], second]));
            }
            Node::Both(g, ..) => Op::Both(g),
            Node::Either(g, ..) => Op::Either(g),
            Node::NextMap { result, parameter, .. } => Op::NextMap(Map::new(self.program, result, parameter)),
            Node::UntilMap { result, parameter, .. } => {
                Op::UntilMap(Map::new(self.program, result, parameter))
            }
            Node::CollectWhile(aggregate, ..) => Op::While(aggregate),
            Node::Bool(value) => Op::Bool(value),
            Node::First => Op::First,
            Node::Last => Op::Last,
            Node::Not(_) => Op::Not,
            Node::And(..) => Op::And,
            Node::Or(..) => Op::Or,
            Node::Xor(..) => Op::Xor,
            Node::Implies(..) => Op::Implies,
            Node::Iff(..) => Op::Iff,
            node if node.is_temporal() => self.temporal(node),
            _ => match self.atoms.binary_search(&id) {
                Ok(column) => Op::Atom(column),
                Err(_) => {
                    self.unknown = Some(id);
                    Op::Bool(false)
                }
            },
        };
        self.part(id, op, inputs)
    }

    fn temporal(&self, node: Node) -> Op {
        let Some(Applied { form, past, weak, left, .. }) = node.temporal() else { return Op::Bool(false) };
        let kept = Kept { form, alone: left.is_none(), weak };
        match (form, past) {
            (Form::Step, false) => Op::Next((!self.repeat).then_some(weak)),
            (Form::Step, true) => Op::Previous(weak),
            (_, false) => Op::Future(kept),
            (_, true) => Op::Past(kept),
        }
    }
}
