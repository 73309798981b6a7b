//! From automata to instructions.
//!
//! Operands stand before what contains them, in the automaton and here, so that one pass over the instructions computes a
//! stretch of positions. A loop of the automaton is one instruction, which carries the value of its transient node.

use crate::words::Word;
use std::collections::{BTreeSet, HashMap};
use tw_automata::algebraic::{Algebraic, Apply, Assertion, Combine, Datum, Expr, ExprId, Node, Role};
use tw_core::Value;
use tw_ir::{Aggregate, Function, Node as Part, NodeId, Program};
use tw_monitor::{Map, Unsupported};

/// Where a value is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A formula, by its register among the words.
    Truth(u32),
    /// An experiment, by its instruction.
    Value(u32),
}

/// A term.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Constant(Value),
    /// A column of the trace.
    Term(u32),
}

/// A function f, and how many parts its value has if its argument has so many.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    pub map: Map,
    parts: usize,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// ⟨p, d⟩.
    Emit(u32, Source),
    Both(Function, Operand, Operand),
    Either(Function, Operand, Operand),
    /// `A and[pi2] B`.
    Then(Operand, Operand),
    /// negate_c(A).
    Negate(Operand, Source),
    /// default_c(A).
    Default(Operand, Source),
    /// f(A).
    Map(Operand, Mapping),
    /// ⟨A, f⟩ without a loop.
    Next(Operand, Option<Mapping>),
    /// `goal or[first] (hold and[pi2] ⟨…, id⟩)`.
    Until(Operand, Operand),
    /// `⟨…, id⟩ or[f_agg] body`.
    Collect(Aggregate, Operand),
    /// `condition and[pi2] (⟨…, id⟩ or[f_agg] body)`.
    During(Aggregate, Operand, Operand),
}

/// Queries as instructions.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub words: Vec<Word>,
    pub ops: Vec<Op>,
    /// For each instruction that collects, the aggregate of the query.
    pub origins: Vec<Option<NodeId>>,
    pub outputs: Vec<Operand>,
}

struct Compiler<'a> {
    program: &'a Program,
    automaton: &'a Algebraic,
    atoms: Vec<NodeId>,
    terms: Vec<NodeId>,
    guards: &'a [NodeId],
    compiled: Compiled,
    word_index: HashMap<Word, u32>,
    formulas: HashMap<NodeId, u32>,
    operands: HashMap<ExprId, Operand>,
    /// How many parts the value of each instruction may have: pairs of pairs double with every level.
    parts: Vec<usize>,
    bytes: usize,
    budget: usize,
}

/// Bytes of a part of a value that is no number, and of a register.
const PART: usize = 48;
const REGISTER: usize = 64 * 16 + 256;

impl Compiled {
    /// The instructions for `goals`; their registers must fit in `budget` bytes.
    pub(crate) fn new(
        program: &Program,
        automaton: &Algebraic,
        guards: &[NodeId],
        goals: &[ExprId],
        budget: usize,
    ) -> Result<Self, Unsupported> {
        let compiled =
            Compiled { words: Vec::new(), ops: Vec::new(), origins: Vec::new(), outputs: Vec::new() };
        let mut compiler = Compiler {
            program,
            automaton,
            atoms: program.atoms(),
            terms: program.terms(),
            guards,
            compiled,
            word_index: HashMap::new(),
            formulas: HashMap::new(),
            operands: HashMap::new(),
            parts: Vec::new(),
            bytes: 0,
            budget,
        };
        let mut needed: BTreeSet<ExprId> = goals.iter().copied().collect();
        let mut order = Vec::new();
        while let Some(id) = needed.pop_last() {
            order.push(id);
            needed.extend(compiler.inputs(id));
        }
        for id in order.into_iter().rev() {
            let operand = compiler.expr(id)?;
            compiler.operands.insert(id, operand);
        }
        compiler.compiled.outputs = goals.iter().map(|goal| compiler.operands[goal]).collect();
        Ok(compiler.compiled)
    }
}

impl Compiler<'_> {
    /// What must be computed before an expression.
    fn inputs(&self, id: ExprId) -> Vec<ExprId> {
        if let Some(index) = self.automaton.loop_of(id)
            && let Node::Transient(transient) = self.automaton.node(index)
        {
            return match transient.role {
                Role::Next => vec![transient.successor],
                Role::Until { hold, goal } => hold.into_iter().chain([goal]).collect(),
                Role::Collect(_, body) => vec![body],
                Role::During { body, condition, .. } => vec![body, condition],
            };
        }
        match self.automaton.expr(id) {
            Expr::Node(index) => match self.automaton.node(index) {
                Node::Terminal(..) => Vec::new(),
                Node::Transient(transient) => vec![transient.successor],
            },
            Expr::And(_, a, b) | Expr::Or(_, a, b) => vec![a, b],
            Expr::Apply(_, a) => vec![a],
        }
    }

    fn expr(&mut self, id: ExprId) -> Result<Operand, Unsupported> {
        use Operand::Truth;
        let of = |compiler: &Self, id: ExprId| compiler.operands[&id];
        if let Some(index) = self.automaton.loop_of(id)
            && let Node::Transient(transient) = *self.automaton.node(index)
        {
            let op = match transient.role {
                Role::Until { hold, goal } => match (hold.map(|hold| of(self, hold)), of(self, goal)) {
                    (None, Truth(goal)) => return Ok(self.word(Word::Until(None, goal))),
                    (Some(Truth(hold)), Truth(goal)) => return Ok(self.word(Word::Until(Some(hold), goal))),
                    (Some(hold), goal) => Op::Until(hold, goal),
                    (None, goal) => Op::Until(self.word(Word::Constant(true)), goal),
                },
                Role::Collect(aggregate, body) => Op::Collect(aggregate, of(self, body)),
                Role::During { aggregate, body, condition } => {
                    Op::During(aggregate, of(self, body), of(self, condition))
                }
                Role::Next => return Err(Unsupported::construct(transient.origin, "a loop through `X`")),
            };
            return self.op(op, Some(transient.origin));
        }
        let op = match self.automaton.expr(id) {
            Expr::Node(index) => match *self.automaton.node(index) {
                Node::Terminal(assertion, datum) => {
                    let holds = self.assertion(assertion)?;
                    match datum {
                        Datum::True => return Ok(Truth(holds)),
                        Datum::Term(term) => Op::Emit(holds, self.source(term)?),
                    }
                }
                Node::Transient(transient) => match (of(self, transient.successor), transient.map) {
                    (Truth(a), None) => return Ok(self.word(Word::Next(a, transient.stays))),
                    (a, None) => Op::Next(a, None),
                    (a, Some((result, parameter))) => Op::Next(a, Some(self.mapping(a, result, parameter)?)),
                },
            },
            Expr::And(g, a, b) => match (g, of(self, a), of(self, b)) {
                (Combine::Second, Truth(a), Truth(b)) => return Ok(self.word(Word::And(a, b))),
                (Combine::Second, a, b) => Op::Then(a, b),
                (Combine::Function(g), Truth(a), Truth(b)) if keeps_truth(g) => {
                    return Ok(self.word(Word::And(a, b)));
                }
                (Combine::Function(g), a, b) => Op::Both(g, a, b),
                _ => return Err(untied()),
            },
            Expr::Or(g, a, b) => match (g, of(self, a), of(self, b)) {
                (Combine::Function(g), Truth(a), Truth(b)) if keeps_truth(g) => {
                    return Ok(self.word(Word::Or(a, b)));
                }
                (Combine::Function(g), a, b) => Op::Either(g, a, b),
                _ => return Err(untied()),
            },
            Expr::Apply(f, a) => match (f, of(self, a)) {
                // The instruction that collects has it.
                (Apply::Statistic(_), a) => return Ok(a),
                (Apply::Negate(Datum::True), Truth(a)) => return Ok(self.word(Word::Not(a))),
                (Apply::Negate(Datum::True), a) => Op::Negate(a, Source::Constant(Value::Bool(true))),
                (Apply::Negate(Datum::Term(c)), a) => Op::Negate(a, self.source(c)?),
                (Apply::Default(c), a) => Op::Default(a, self.source(c)?),
                (Apply::Map { result, parameter }, a) => Op::Map(a, self.mapping(a, result, parameter)?),
            },
        };
        self.op(op, None)
    }

    fn word(&mut self, word: Word) -> Operand {
        Operand::Truth(self.register(word))
    }

    fn register(&mut self, word: Word) -> u32 {
        let words = &mut self.compiled.words;
        *self.word_index.entry(word).or_insert_with(|| {
            words.push(word);
            (words.len() - 1) as u32
        })
    }

    fn op(&mut self, op: Op, origin: Option<NodeId>) -> Result<Operand, Unsupported> {
        let parts = self.parts_of(&op);
        let values = if parts > 1 { parts.saturating_mul(64 * PART) } else { 0 };
        self.bytes = self.bytes.saturating_add(REGISTER).saturating_add(values);
        if self.bytes > self.budget {
            let what =
                format!("registers of {} bytes within the memory budget of {}", self.bytes, self.budget);
            return Err(Unsupported::budget(what));
        }
        self.parts.push(parts);
        self.compiled.ops.push(op);
        self.compiled.origins.push(origin);
        Ok(Operand::Value((self.compiled.ops.len() - 1) as u32))
    }

    fn parts(&self, operand: Operand) -> usize {
        match operand {
            Operand::Truth(_) => 1,
            Operand::Value(op) => self.parts[op as usize],
        }
    }

    fn parts_of(&self, op: &Op) -> usize {
        let of = |operand: &Operand| self.parts(*operand);
        match op {
            Op::Emit(..) => 1,
            Op::Both(Function::Pair, a, b) | Op::Either(Function::Pair, a, b) => {
                of(a).saturating_add(of(b)).saturating_add(1)
            }
            Op::Both(_, a, b) | Op::Either(_, a, b) => of(a).max(of(b)),
            Op::Then(_, a) | Op::Until(_, a) | Op::Next(a, None) => of(a),
            Op::Negate(a, _) | Op::Default(a, _) => of(a),
            Op::Map(_, mapping) | Op::Next(_, Some(mapping)) => mapping.parts,
            Op::Collect(aggregate, a) | Op::During(aggregate, a, _) => match aggregate {
                Aggregate::Histogram(bins) => (*bins as usize).saturating_mul(4),
                _ => of(a),
            },
        }
    }

    /// A function of the values of `a`.
    fn mapping(&self, a: Operand, result: NodeId, parameter: u32) -> Result<Mapping, Unsupported> {
        let dag = &self.program.dag;
        let mut found = BTreeSet::from([result]);
        let mut todo = vec![result];
        while let Some(id) = todo.pop() {
            todo.extend(dag.node(id).children().filter(|&child| found.insert(child)));
        }
        let mut parts: HashMap<NodeId, usize> = HashMap::new();
        for id in found {
            let most = dag.node(id).children().map(|child| parts[&child]).max().unwrap_or(1);
            let here = match dag.node(id) {
                Part::Slot(_) | Part::Truth(_) => {
                    return Err(Unsupported::construct(id, "a name of the trace in a function"));
                }
                Part::Variable(variable) if variable == parameter => self.parts(a),
                Part::Variable(_) => {
                    return Err(Unsupported::construct(id, "a variable from outside a function"));
                }
                Part::Tuple(a, b) => parts[&a].saturating_add(parts[&b]).saturating_add(1),
                _ => most,
            };
            parts.insert(id, here);
        }
        Ok(Mapping { map: Map::new(self.program, result, parameter), parts: parts[&result] })
    }

    fn source(&self, term: NodeId) -> Result<Source, Unsupported> {
        if let Part::Constant(constant) = self.program.dag.node(term) {
            return Ok(Source::Constant(self.program.dag.constants[constant as usize].clone()));
        }
        let place = self.terms.binary_search(&term);
        let place = place.map_err(|_| Unsupported::construct(term, "a term that no query reads"))?;
        Ok(Source::Term(place as u32))
    }

    fn assertion(&mut self, assertion: Assertion) -> Result<u32, Unsupported> {
        let (formula, positive) = match assertion {
            Assertion::Constant(value) => return Ok(self.register(Word::Constant(value))),
            Assertion::Formula(formula, positive) => (formula, positive),
        };
        let mut needed = BTreeSet::from([formula]);
        let mut order = Vec::new();
        while let Some(id) = needed.pop_last() {
            if !self.formulas.contains_key(&id) {
                order.push(id);
                if self.guards.binary_search(&id).is_err() && self.atoms.binary_search(&id).is_err() {
                    needed.extend(self.program.dag.node(id).children());
                }
            }
        }
        for id in order.into_iter().rev() {
            let register = self.formula(id)?;
            self.formulas.insert(id, register);
        }
        let holds = self.formulas[&formula];
        Ok(if positive { holds } else { self.register(Word::Not(holds)) })
    }

    /// A formula that one position decides, or whose truth is given; its parts are compiled.
    fn formula(&mut self, id: NodeId) -> Result<u32, Unsupported> {
        if let Ok(guard) = self.guards.binary_search(&id) {
            return Ok(self.register(Word::Guard(guard as u32)));
        }
        if let Ok(atom) = self.atoms.binary_search(&id) {
            return Ok(self.register(Word::Atom(atom as u32)));
        }
        let of = |compiler: &Self, id: NodeId| compiler.formulas[&id];
        let word = match self.program.dag.node(id) {
            Part::Bool(value) => Word::Constant(value),
            Part::First => Word::First,
            Part::Last => Word::Last,
            Part::Not(a) => Word::Not(of(self, a)),
            Part::And(a, b) => Word::And(of(self, a), of(self, b)),
            Part::Or(a, b) => Word::Or(of(self, a), of(self, b)),
            Part::Xor(a, b) => Word::Xor(of(self, a), of(self, b)),
            Part::Iff(a, b) => {
                let differ = self.register(Word::Xor(of(self, a), of(self, b)));
                Word::Not(differ)
            }
            Part::Implies(a, b) => {
                let not = self.register(Word::Not(of(self, a)));
                Word::Or(not, of(self, b))
            }
            _ => return Err(Unsupported::construct(id, "a formula whose truth it was not given")),
        };
        Ok(self.register(word))
    }
}

/// Whether g of two truth values is `true`.
fn keeps_truth(g: Function) -> bool {
    matches!(g, Function::True | Function::First | Function::Second)
}

fn untied() -> Unsupported {
    Unsupported { node: None, what: "a loop without its node".into(), help: None, exhausted: false }
}
