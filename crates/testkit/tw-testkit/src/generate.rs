//! Random programs and traces.

use crate::Rng;
use tw_core::{Batch, Bits, Column, Dictionary, Position, Time, TimeUnit, Value};
use tw_ir::{
    ArithmeticOp, Bound, Clock, CompareOp, Expect, Interval, Node, NodeId, Path, PathStep, Program, Root,
    RootKind, Semantics, SetItem, Slot, Temporal, What,
};
use tw_monitor::{EvaluateOptions, PredicateError, Predicates, Segments, Terms, Trace};

/// What kind of cases to make.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Lengths of traces, one of which is picked.
    pub lengths: &'static [usize],
    /// Deepest nesting of operators.
    pub depth: usize,
    /// Chance in a thousand of an interval on a temporal operator.
    pub metric: usize,
    /// Chance in a thousand of a predicate over values where a proposition could stand.
    pub values: usize,
    /// Whether past operators stand over past ones only, as engines that read forward ask.
    pub online: bool,
}

impl Shape {
    /// Traces around word boundaries, past and future mixed to depth 6.
    pub const SMALL: Shape = Shape {
        lengths: &[1, 2, 3, 5, 17, 63, 64, 65, 127, 128, 129, 200],
        depth: 6,
        metric: 0,
        values: 60,
        online: false,
    };
    /// Traces around a page of bits.
    pub const LONG: Shape =
        Shape { lengths: &[4095, 4096, 4097], depth: 6, metric: 0, values: 0, online: false };
    /// Short traces, half of the temporal operators with intervals.
    pub const METRIC: Shape =
        Shape { lengths: &[1, 2, 3, 5, 8, 13, 21, 40], depth: 5, metric: 500, values: 30, online: false };
    /// Formulas that can be read forward, on short traces.
    pub const ONLINE: Shape =
        Shape { lengths: &[1, 2, 3, 5, 8, 17, 40, 64, 65], depth: 4, metric: 0, values: 30, online: true };
}

/// A program, the slots of a trace, and how to evaluate the one on the other.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it was made from.
    pub seed: u64,
    /// The formulas.
    pub program: Program,
    /// One column per slot.
    pub slots: Vec<Column>,
    /// Timestamps, never decreasing within a segment.
    pub times: Vec<Time>,
    /// Where segments start.
    pub starts: Vec<Position>,
    /// Semantics, clock, threads, block size.
    pub options: EvaluateOptions,
}

impl Case {
    /// The case of a seed.
    pub fn new(seed: u64, shape: &Shape) -> Case {
        let mut rng = Rng::new(seed);
        let len = rng.pick(shape.lengths);
        let program = program(&mut rng, shape);
        let starts = starts(&mut rng, len);
        let times = times(&mut rng, len, &starts);
        let options = EvaluateOptions {
            semantics: rng.pick(&[Semantics::Finite, Semantics::RepeatLast]),
            clock: rng.pick(&[Clock::Stamps, Clock::Index]),
            unit: TimeUnit::Nanoseconds,
            threads: 1 + rng.below(4),
            block: rng.pick(&[None, Some(64), Some(128), Some(192), Some(1024)]),
            ..EvaluateOptions::default()
        };
        Case { seed, slots: slots(&mut rng, len), program, times, starts, options }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no positions; generated cases have some.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The trace with its atoms evaluated. With `values` it has the slots, too, from which the reference computes
    /// atoms itself.
    pub fn trace(&self, values: bool) -> Result<Trace, PredicateError> {
        let batch = Batch { len: self.len(), slots: self.slots.clone(), times: Some(self.times.clone()) };
        Ok(Trace {
            len: self.len(),
            terms: Terms::new(&self.program).evaluate(&batch),
            atoms: Predicates::new(&self.program).evaluate(&batch)?,
            times: batch.times,
            slots: values.then_some(batch.slots),
            segments: (self.starts.len() > 1).then(|| Segments { starts: self.starts.clone() }),
            ..Trace::default()
        })
    }

    /// Whether some predicate is about values rather than propositions.
    pub fn has_values(&self) -> bool {
        self.program.atoms().iter().any(|&atom| !matches!(self.program.dag.node(atom), Node::Truth(_)))
    }

    /// The formulas that a root rests on, ascending: those whose truth can be asked for.
    pub fn formulas(&self) -> Vec<NodeId> {
        let atoms = self.program.atoms();
        let roots: Vec<NodeId> = self.program.roots.iter().map(|root| root.node).collect();
        let mut seen = vec![false; self.program.dag.len()];
        let mut todo = roots;
        while let Some(id) = todo.pop() {
            if !std::mem::replace(&mut seen[id.index()], true) && atoms.binary_search(&id).is_err() {
                todo.extend(self.program.dag.node(id).children());
            }
        }
        (0..self.program.dag.len() as u32).map(NodeId).filter(|id| seen[id.index()]).collect()
    }
}

const PROPOSITIONS: usize = 4;

/// The slots of every generated program: propositions, then an integer, a real, a text, anything, a list.
fn declare(program: &mut Program) {
    let variable = |name: &str, expect| What::Variable(Path::field(name), expect);
    let propositions = ["a", "b", "c", "d"].map(|name| What::Proposition(Path::field(name)));
    let tags = Path { steps: vec![PathStep::Field("tags".into()), PathStep::Each] };
    let values = [
        variable("x", Expect::Number),
        variable("y", Expect::Number),
        variable("name", Expect::Text),
        variable("any", Expect::Any),
        What::Variable(tags, Expect::Any),
    ];
    let slot = |what| Slot { what, declared: false, span: Default::default() };
    program.slots = propositions.into_iter().chain(values).map(slot).collect();
}

fn program(rng: &mut Rng, shape: &Shape) -> Program {
    let mut program = Program::default();
    declare(&mut program);
    program.dag.sets.push(vec![
        SetItem::Range(0, 2),
        SetItem::Value(Value::text("bob")),
        SetItem::Value(Value::Real(-0.5)),
    ]);
    program.dag.regexes.extend(regex::Regex::new("^[ab]"));
    let mut made = Vec::new();
    for number in 0..1 + rng.below(3) {
        let depth = rng.below(shape.depth + 1);
        let mut node = formula(rng, &mut program, shape, depth, &mut made);
        if rng.one_in(3) {
            node = program.dag.add(Node::Unary(Temporal::Globally, None, node));
        }
        let name = format!("root{number}");
        program.roots.push(Root {
            name,
            title: None,
            division: Default::default(),
            kind: RootKind::Property,
            node,
            span: Default::default(),
        });
    }
    program.spans = vec![None; program.dag.len()];
    program
}

/// A formula of at most the given depth; `made` are those to share. Recursion is bounded by the depth.
fn formula(
    rng: &mut Rng,
    program: &mut Program,
    shape: &Shape,
    depth: usize,
    made: &mut Vec<NodeId>,
) -> NodeId {
    if !made.is_empty() && rng.one_in(8) {
        return rng.pick(made);
    }
    if depth == 0 {
        return atom(rng, program, shape);
    }
    let a = formula(rng, program, shape, depth - 1, made);
    let (prefixes, infixes) = (temporals(true), temporals(false));
    // Connectives come first among what has two operands, and until twice.
    let binary = 2 + prefixes.len();
    let choice = rng.below(binary + 7 + infixes.len());
    let interval = if rng.chance(shape.metric) { Some(interval(rng)) } else { None };
    let node = match choice {
        0 | 1 => Node::Not(a),
        prefix if prefix < binary => Node::Unary(prefixes[prefix - 2], interval, a),
        _ => {
            let smaller = rng.below(depth);
            let b = formula(rng, program, shape, smaller, made);
            let (a, b) = if rng.one_in(2) { (a, b) } else { (b, a) };
            match choice - binary {
                0 => Node::And(a, b),
                1 => Node::Or(a, b),
                2 => Node::Xor(a, b),
                3 | 4 => Node::Implies(a, b),
                5 => Node::Iff(a, b),
                6 => Node::Binary(Temporal::Until, interval, a, b),
                infix => Node::Binary(infixes[infix - 7], interval, a, b),
            }
        }
    };
    let node = if shape.online { readable_forward(program, node) } else { node };
    let node = program.dag.add(node);
    made.push(node);
    node
}

/// The operators with one operand, or with two.
pub(crate) fn temporals(prefix: bool) -> Vec<Temporal> {
    Temporal::all().filter(|operator| operator.row().prefix == prefix).collect()
}

/// A past operator over future ones is replaced by its mirror image.
pub(crate) fn readable_forward(program: &Program, node: Node) -> Node {
    let operands: Vec<NodeId> = node.children().collect();
    let future = |id: &NodeId| {
        let node = program.dag.node(*id);
        node.is_future() || node == Node::Last
    };
    if !node.is_past() || !program.reachable(&operands).iter().any(future) {
        return node;
    }
    match node {
        Node::Unary(operator, i, a) => Node::Unary(operator.mirror().unwrap_or(operator), i, a),
        Node::Binary(operator, i, a, b) => Node::Binary(operator.mirror().unwrap_or(operator), i, a, b),
        node => node,
    }
}

fn interval(rng: &mut Rng) -> Interval {
    let bound = |n: usize, open| Bound { billionths: n as i128 * 1_000_000_000, unit: None, open };
    let low = rng.below(4);
    // Open ends move the bounds inward by one tick, so two more keep the interval from being empty.
    let high = if rng.one_in(3) { None } else { Some(bound(low + 2 + rng.below(6), rng.one_in(3))) };
    Interval { low: bound(low, rng.one_in(4)), high }
}

fn atom(rng: &mut Rng, program: &mut Program, shape: &Shape) -> NodeId {
    if rng.chance(shape.values) {
        return comparison(rng, program);
    }
    let node = match rng.below(30) {
        0 => Node::Bool(true),
        1 => Node::Bool(false),
        2 => Node::First,
        3 => Node::Last,
        _ => Node::Truth(rng.below(PROPOSITIONS) as u32),
    };
    program.dag.add(node)
}

fn comparison(rng: &mut Rng, program: &mut Program) -> NodeId {
    use CompareOp::*;
    let op = rng.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
    let slot = |rng: &mut Rng, program: &mut Program| {
        let slot = PROPOSITIONS + rng.below(5);
        program.dag.add(Node::Slot(slot as u32))
    };
    let node = match rng.below(6) {
        0 => {
            let a = slot(rng, program);
            if rng.one_in(2) { Node::In(a, 0) } else { Node::Matches(a, 0) }
        }
        1 | 2 => {
            let (a, b) = (number(rng, program, 2), number(rng, program, 1));
            Node::Compare(op, a, b)
        }
        3 => {
            let (a, b) = (slot(rng, program), slot(rng, program));
            Node::Compare(op, a, b)
        }
        4 => {
            let [a, b, c, d] =
                [0; 4].map(|_| if rng.one_in(2) { slot(rng, program) } else { constant(rng, program) });
            let (left, right) = (program.dag.add(Node::Tuple(a, b)), program.dag.add(Node::Tuple(c, d)));
            Node::Compare(op, left, right)
        }
        _ => {
            let (a, b) = (slot(rng, program), constant(rng, program));
            if rng.one_in(2) { Node::Compare(op, a, b) } else { Node::Compare(op, b, a) }
        }
    };
    program.dag.add(node)
}

fn constant(rng: &mut Rng, program: &mut Program) -> NodeId {
    let value = match rng.below(5) {
        0 | 1 => Value::Int(rng.below(7) as i64 - 3),
        2 => Value::Real(rng.below(13) as f64 / 2.0 - 3.0),
        3 => Value::text(rng.pick(&NAMES)),
        _ => Value::Int(1 << 53 | 1),
    };
    program.dag.constant(value)
}

/// A term over the two numeric slots, values too small to overflow.
fn number(rng: &mut Rng, program: &mut Program, depth: usize) -> NodeId {
    use ArithmeticOp::*;
    if depth == 0 || rng.one_in(4) {
        return match rng.below(3) {
            0 => program.dag.constant(Value::Int(rng.below(9) as i64 - 4)),
            1 => program.dag.add(Node::Slot(PROPOSITIONS as u32)),
            _ => program.dag.add(Node::Slot(PROPOSITIONS as u32 + 1)),
        };
    }
    let a = number(rng, program, depth - 1);
    let node = match rng.below(10) {
        0 => Node::Negate(a),
        1 => Node::Abs(a),
        2 => {
            let condition = if rng.one_in(2) {
                program.dag.add(Node::Truth(0))
            } else {
                program.dag.add(Node::Compare(CompareOp::Gt, a, a))
            };
            Node::IfThenElse(condition, a, number(rng, program, depth - 1))
        }
        _ => Node::Arithmetic(
            rng.pick(&[Add, Sub, Mul, Div, Rem, Min, Max]),
            a,
            number(rng, program, depth - 1),
        ),
    };
    program.dag.add(node)
}

const NAMES: [&str; 4] = ["ann", "bob", "eve", "żak"];

fn starts(rng: &mut Rng, len: usize) -> Vec<Position> {
    let mut starts = vec![0];
    if rng.one_in(4) {
        let every = 1 + rng.below(70);
        starts.extend((1..len).filter(|_| rng.one_in(every)));
    }
    starts
}

fn times(rng: &mut Rng, len: usize, starts: &[Position]) -> Vec<Time> {
    let mut now = 0;
    (0..len)
        .map(|at| {
            now = if starts.binary_search(&at).is_ok() { 0 } else { now + rng.pick(&[0, 0, 1, 1, 2, 5]) };
            now
        })
        .collect()
}

/// Truth values in runs: rare, common and alternating ones all occur, so that carries travel far and near.
pub(crate) fn runs(rng: &mut Rng, len: usize) -> Bits {
    let (turn_on, turn_off) = (rng.pick(&[5, 50, 300, 500, 950]), rng.pick(&[5, 50, 300, 500, 950]));
    let mut value = rng.one_in(2);
    (0..len)
        .map(|_| {
            value ^= rng.chance(if value { turn_off } else { turn_on });
            value
        })
        .collect()
}

fn slots(rng: &mut Rng, len: usize) -> Vec<Column> {
    let mut columns: Vec<Column> = (0..PROPOSITIONS).map(|_| Column::Truth(runs(rng, len))).collect();
    let any = |rng: &mut Rng| match rng.below(6) {
        0 => Value::Null,
        1 => Value::Int(rng.below(7) as i64 - 3),
        2 => Value::Real(rng.below(13) as f64 / 2.0 - 3.0),
        3 => Value::text(rng.pick(&NAMES)),
        4 => Value::Bool(rng.one_in(2)),
        _ => Value::Real((1u64 << 53) as f64),
    };
    columns.push(Column::Int {
        values: (0..len).map(|_| rng.below(9) as i64 - 4).collect(),
        valid: runs(rng, len),
    });
    columns.push(Column::Real {
        values: (0..len).map(|_| rng.below(17) as f64 / 2.0 - 4.0).collect(),
        valid: runs(rng, len),
    });
    columns.push(Column::Text {
        ids: (0..len).map(|_| rng.below(NAMES.len()) as u32).collect(),
        dictionary: Dictionary { entries: NAMES.map(Into::into).to_vec() },
        valid: runs(rng, len),
    });
    columns.push(Column::Any((0..len).map(|_| any(rng)).collect()));
    let list = |rng: &mut Rng| Value::List((0..rng.below(4)).map(|_| any(rng)).collect());
    columns
        .push(Column::Any((0..len).map(|_| if rng.one_in(5) { Value::Null } else { list(rng) }).collect()));
    columns
}
