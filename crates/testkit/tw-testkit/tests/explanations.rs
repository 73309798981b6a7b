//! What explanations look like, operator by operator, and formulas of any depth.

use tw_core::{Bits, Column, Value};
use tw_engine_reference::Reference;
use tw_ir::{
    ArithmeticOp, Clock, CompareOp, Expect, Node, NodeId, Path, Program, Root, RootKind, Semantics, Slot,
    Temporal, What, display,
};
use tw_monitor::{Engine, EvaluateOptions, Explanation, Predicates, Segments, Trace, explain};
use tw_testkit::check_explanation;

struct Fixture {
    program: Program,
    trace: Trace,
    options: EvaluateOptions,
}

/// Propositions a, b, c, each a string with `1` where it holds.
fn fixture(rows: [&str; 3]) -> Fixture {
    let mut program = Program::default();
    for name in ["a", "b", "c"] {
        let what = What::Proposition(Path::field(name));
        program.slots.push(Slot { what, declared: false, span: Default::default() });
        program.dag.add(Node::Truth(program.slots.len() as u32 - 1));
    }
    let columns: Vec<Bits> = rows.iter().map(|row| row.chars().map(|cell| cell == '1').collect()).collect();
    let trace = Trace {
        len: rows[0].len(),
        slots: Some(columns.into_iter().map(Column::Truth).collect()),
        ..Trace::default()
    };
    Fixture { program, trace, options: EvaluateOptions { clock: Clock::Index, ..EvaluateOptions::default() } }
}

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

impl Fixture {
    fn add(&mut self, node: Node) -> NodeId {
        self.program.dag.add(node)
    }

    fn explain(&mut self, node: NodeId, at: usize, depth: usize) -> Explanation {
        let root = Root {
            name: String::new(),
            title: None,
            division: Default::default(),
            kind: RootKind::Property,
            node,
            span: Default::default(),
        };
        self.program.roots = vec![root];
        let mut evaluator = Reference.plan(&self.program, &self.options).unwrap();
        let explanation =
            explain(&self.program, &self.trace, &self.options, evaluator.as_mut(), node, at, depth).unwrap();
        check_explanation(&self.program, &self.trace, &self.options, &explanation).unwrap();
        explanation
    }

    /// One line per claim, indented, and the open obligations.
    fn tree(&mut self, node: NodeId, at: usize) -> String {
        let explanation = self.explain(node, at, Explanation::DEPTH);
        let mut lines = Vec::new();
        let mut todo = vec![(0, 0)];
        while let Some((index, indent)) = todo.pop() {
            let claim = &explanation.claims[index];
            let (first, last) = claim.range;
            let place = if first == last { format!("{first}") } else { format!("{first}..{last}") };
            let formula = display(&self.program, claim.node);
            lines.push(format!(
                "{}{formula} {} at {place}: {:?}",
                "  ".repeat(indent),
                claim.holds,
                claim.rule
            ));
            todo.extend(claim.children.iter().rev().map(|&child| (child, indent + 1)));
        }
        for (node, since) in &explanation.pending {
            lines.push(format!("pending {} since {since}", display(&self.program, *node)));
        }
        lines.join("\n")
    }
}

#[test]
fn an_unanswered_request() {
    let mut f = fixture(["10100", "01000", "00000"]);
    let answered = f.add(Node::Unary(Temporal::Finally, None, B));
    let implies = f.add(Node::Implies(A, answered));
    let always = f.add(Node::Unary(Temporal::Globally, None, implies));
    assert_eq!(
        f.tree(always, 0),
        "\
G (a -> F b) false at 0: FailsAt { at: 2 }
  a -> F b false at 2: Both
    a true at 2: Atom
    F b false at 2: Never { pending: true }
      b false at 2..4: Throughout
pending F b since 2"
    );
}

#[test]
fn an_until_is_broken_pending_or_kept() {
    let mut f = fixture(["11011", "00010", "00000"]);
    let until = f.add(Node::Binary(Temporal::Until, None, A, B));
    assert_eq!(
        f.tree(until, 0),
        "\
a U b false at 0: BrokenAt { at: 2 }
  a false at 2: Atom
  b false at 0..2: Throughout"
    );
    assert_eq!(
        f.tree(until, 4),
        "\
a U b false at 4: Never { pending: true }
  b false at 4: Atom
  a true at 4: Atom
pending a U b since 4"
    );
    assert_eq!(f.tree(until, 3), "a U b true at 3: Witness { at: 3 }\n  b true at 3: Atom");
    let not = f.add(Node::Not(until));
    // Under a true root nothing is missed.
    assert!(!f.tree(not, 4).contains("pending a U b since"));
}

#[test]
fn the_past_is_mirrored_and_stays_in_its_segment() {
    let mut f = fixture(["01110", "10000", "00000"]);
    let since = f.add(Node::Binary(Temporal::Since, None, A, B));
    assert_eq!(
        f.tree(since, 3),
        "\
a S b true at 3: Witness { at: 0 }
  b true at 0: Atom
  a true at 1..3: Throughout"
    );
    assert_eq!(
        f.tree(since, 4),
        "a S b false at 4: BrokenAt { at: 4 }\n  a false at 4: Atom\n  b false at 4: Atom"
    );
    f.trace.segments = Some(Segments { starts: vec![0, 2] });
    assert_eq!(
        f.tree(since, 3),
        "\
a S b false at 3: Never { pending: false }
  b false at 2..3: Throughout
  a true at 2..3: Throughout"
    );
    let previous = f.add(Node::Unary(Temporal::Previous, None, A));
    assert_eq!(f.tree(previous, 2), "Y a false at 2: NoPrevious");
}

#[test]
fn ends_of_the_trace() {
    let mut f = fixture(["001", "000", "000"]);
    let next = f.add(Node::Unary(Temporal::Next, None, A));
    assert_eq!(f.tree(next, 2), "X a false at 2: NoNext\npending X a since 2");
    let weak = f.add(Node::Unary(Temporal::WeakNext, None, B));
    assert_eq!(f.tree(weak, 2), "N b true at 2: NoNext");
    f.options.semantics = Semantics::RepeatLast;
    assert_eq!(f.tree(next, 2), "X a true at 2: RepeatsLast\n  a true at 2: Atom");
    let release = f.add(Node::Binary(Temporal::Release, None, C, B));
    let or = f.add(Node::Or(release, next));
    assert_eq!(
        f.tree(or, 0),
        "\
c R b | X a false at 0: Both
  c R b false at 0: BrokenAt { at: 0 }
    b false at 0: Atom
  X a false at 0: Neighbour
    a false at 1: Atom"
    );
}

/// 100,000 operators inside each other: nothing recurses, and the depth limit cuts the explanation.
#[test]
fn formulas_of_any_depth() {
    let mut f = fixture(["101", "010", "000"]);
    let mut node = A;
    for level in 0..100_000 {
        node = f.add(match level % 4 {
            0 => Node::Not(node),
            1 => Node::Iff(C, node),
            2 => Node::Binary(Temporal::Until, None, B, node),
            _ => Node::Binary(Temporal::Since, None, C, node),
        });
    }
    let explanation = f.explain(node, 0, Explanation::DEPTH);
    assert!(explanation.claims.len() > 5 && explanation.claims.len() < 10_000);
    assert!(display(&f.program, node).len() > 100_000);
    f.explain(node, 0, 30);
}

/// A term of 100,000 additions.
#[test]
fn terms_of_any_depth() {
    let mut f = fixture(["11", "00", "00"]);
    f.program.slots[0].what = What::Variable(Path::field("a"), Expect::Number);
    let column = Column::Int { values: vec![1, 5], valid: Bits::repeat(true, 2) };
    f.trace.slots.as_mut().unwrap()[0] = column;
    let x = f.add(Node::Slot(0));
    let one = f.program.dag.constant(Value::Int(1));
    let mut term = x;
    for _ in 0..100_000 {
        term = f.add(Node::Arithmetic(ArithmeticOp::Add, term, one));
    }
    let limit = f.program.dag.constant(Value::Int(100_003));
    let node = f.add(Node::Compare(CompareOp::Gt, term, limit));
    assert_eq!(f.explain(node, 1, 3).claims.len(), 1);
    let batch = tw_core::Batch { len: 2, slots: f.trace.slots.clone().unwrap(), times: None };
    let bits = Predicates::new(&f.program).evaluate(&batch).unwrap();
    assert_eq!(bits[0], [false, true].into_iter().collect());
}
