use super::*;
use crate::past::Past;
use tw_ir::{Node, Path, Program, Root, RootKind, Slot, Temporal, What};

/// A program under construction; propositions by number.
#[derive(Default)]
struct Make(Program);

impl Make {
    fn p(&mut self, number: usize) -> NodeId {
        while self.0.slots.len() <= number {
            let what = What::Proposition(Path::field(format!("p{}", self.0.slots.len())));
            self.0.slots.push(Slot { what, declared: false, span: Default::default() });
        }
        self.add(Node::Truth(number as u32))
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.0.dag.add(node)
    }

    /// Asks for a formula, and returns it in canonical form.
    fn goal(&mut self, node: NodeId, terms: &mut Terms) -> Result<FormulaId, Untranslatable> {
        let (kind, span) = (RootKind::Property, Default::default());
        self.0.roots.push(Root {
            name: "r".into(),
            title: None,
            division: Default::default(),
            kind,
            node,
            span,
        });
        terms.translate(&self.0, &Past::default(), node)
    }
}

fn terms() -> Terms {
    Terms::new(false, Limits::default())
}

/// Formulas over three atoms, by truth table: every operation is that of the tables.
#[test]
fn the_ring_is_that_of_truth_tables() {
    let (mut make, mut terms) = (Make::default(), terms());
    let columns = [0b1010_1010u8, 0b1100_1100, 0b1111_0000];
    let mut known: Vec<(FormulaId, u8)> = vec![(FormulaId::FALSE, 0), (FormulaId::TRUE, 255)];
    for (number, column) in columns.into_iter().enumerate() {
        let node = make.p(number);
        known.push((make.goal(node, &mut terms).unwrap(), column));
    }
    // All 256 functions turn up, each as one formula.
    let mut at = 0;
    while at < known.len() {
        for other in 0..=at {
            let ((f, x), (g, y)) = (known[at], known[other]);
            for (formula, table) in [
                (terms.and(f, g), x & y),
                (terms.or(f, g), x | y),
                (terms.xor(f, g), x ^ y),
                (terms.implies(f, g), !x | y),
                (terms.not(f), !x),
            ] {
                let formula = formula.unwrap();
                match known.iter().find(|(_, known)| *known == table) {
                    Some((known, _)) => assert_eq!(formula, *known),
                    None => known.push((formula, table)),
                }
            }
        }
        at += 1;
    }
    assert_eq!(known.len(), 256);
    for (formula, table) in known {
        let bit = |row: usize| table >> row & 1 == 1;
        for row in 0..8 {
            let values: Vec<bool> = (0..3).map(|atom| row >> atom & 1 == 1).collect();
            assert_eq!(terms.evaluate(formula, &values), bit(row));
        }
        // The cubes are disjoint, cover all, and have the value of the formula.
        let covers =
            |cube: &Cube, row: usize| cube.iter().all(|(atom, value)| (row >> atom.0 & 1 == 1) == *value);
        for row in 0..8 {
            let under: Vec<bool> =
                terms.cubes(formula).filter(|(_, c)| covers(c, row)).map(|(v, _)| v).collect();
            assert_eq!(under, [bit(row)]);
        }
        // What is written structurally is read back.
        let monomials: Vec<Vec<u32>> = terms.monomials(formula).into_iter().map(<[u32]>::to_vec).collect();
        assert_eq!(terms.sum_of(&monomials), Some(Ok(formula)));
    }
    assert_eq!(terms.sum_of(&[vec![3]]), None);
}

#[test]
fn wide_combinations_of_propositions_stay_whole() {
    let (mut make, mut terms) = (Make::default(), terms());
    let mut any = make.p(0);
    for number in 1..30 {
        let p = make.p(number);
        any = make.add(Node::Or(any, p));
    }
    let next = make.add(Node::Unary(Temporal::Next, None, any));
    let all = make.add(Node::Not(any));
    let both = make.add(Node::And(next, all));
    let goal = make.goal(both, &mut terms).unwrap();
    assert_eq!(terms.size(goal), 2);
    assert_eq!(terms.support(goal), (0..30).collect::<Vec<u32>>());
    for row in [0u64, 1, 1 << 29] {
        let event = Event { row: &[row], atoms: 30, past: &[] };
        let after = terms.after(goal, &event).unwrap();
        assert_eq!(after == FormulaId::FALSE, row != 0);
        if row == 0 {
            assert_eq!(terms.after(after, &event).unwrap(), FormulaId::FALSE);
            let event = Event { row: &[2], ..event };
            assert_eq!(terms.after(after, &event).unwrap(), FormulaId::TRUE);
        }
    }
    // Eight monomials and more of them with temporal parts cannot stay whole, up to the limit.
    let mut either = make.add(Node::Unary(Temporal::Finally, None, any));
    for number in 0..30 {
        let p = make.p(number);
        let f = make.add(Node::Unary(Temporal::Finally, None, p));
        either = make.add(Node::Or(either, f));
    }
    let Err(Untranslatable::Exceeded(_, Exceeded::Monomials { found, limit })) =
        make.goal(either, &mut terms)
    else {
        panic!("2^31 monomials")
    };
    assert!(found > limit && limit == Limits::default().monomials);
}

#[test]
fn the_end_of_each_operator() {
    use Node::*;
    type Operator = fn(NodeId, NodeId) -> Node;
    let table: [(Operator, [bool; 4]); 9] = [
        // Under neither, the first, the second, both of the operands.
        (|a, _| Unary(Temporal::Next, None, a), [false; 4]),
        (|a, _| Unary(Temporal::WeakNext, None, a), [true; 4]),
        (|a, _| Unary(Temporal::Globally, None, a), [false, true, false, true]),
        (|a, _| Unary(Temporal::Finally, None, a), [false, true, false, true]),
        (|a, b| Binary(Temporal::Until, None, a, b), [false, false, true, true]),
        (|a, b| Binary(Temporal::WeakUntil, None, a, b), [false, true, true, true]),
        (|a, b| Binary(Temporal::Release, None, a, b), [false, false, true, true]),
        (|a, b| Binary(Temporal::StrongRelease, None, a, b), [false, false, false, true]),
        (|_, _| Last, [true; 4]),
    ];
    for repeat_last in [false, true] {
        for (operator, mut expected) in table {
            let (mut make, mut terms) = (Make::default(), Terms::new(repeat_last, Limits::default()));
            let (a, b) = (make.p(0), make.p(1));
            let _ = (make.goal(a, &mut terms), make.goal(b, &mut terms));
            let node = make.add(operator(a, b));
            if repeat_last
                && matches!(node_of(&make, node), Unary(Temporal::Next, ..) | Unary(Temporal::WeakNext, ..))
            {
                expected = [false, true, false, true];
            }
            let goal = make.goal(node, &mut terms).unwrap();
            let ends =
                [0u64, 1, 2, 3].map(|row| terms.at_end(goal, &Event { row: &[row], atoms: 2, past: &[] }));
            assert_eq!(ends, expected, "{:?}, {repeat_last}", node_of(&make, node));
        }
    }
}

fn node_of(make: &Make, id: NodeId) -> Node {
    make.0.dag.node(id)
}

#[test]
fn what_is_kept_survives_forgetting() {
    let (mut make, mut terms) = (Make::default(), terms());
    let (a, b) = (make.p(0), make.p(1));
    let until = make.add(Node::Binary(Temporal::Until, None, a, b));
    let always = make.add(Node::Unary(Temporal::Globally, None, until));
    let goal = make.goal(always, &mut terms).unwrap();
    let event = Event { row: &[1], atoms: 2, past: &[] };
    let mut residual = terms.after(goal, &event).unwrap();
    let shown = terms.print(residual, &make.0, Syntax::Specification);
    for _ in 0..100 {
        let garbage = terms.not(residual).unwrap();
        terms.or(garbage, goal).unwrap();
    }
    let before = terms.heap_bytes();
    terms.retain([&mut residual].into_iter());
    assert!(terms.heap_bytes() < before);
    assert_eq!(terms.print(residual, &make.0, Syntax::Specification), shown);
    assert_eq!(terms.after(residual, &event).unwrap(), residual);
}

#[test]
fn limits_are_kept() {
    let mut make = Make::default();
    let mut terms = Terms::new(false, Limits { monomials: 8, terms: 200 });
    let mut formula = FormulaId::TRUE;
    let mut outcome = Ok(formula);
    for number in 0..100 {
        let p = make.p(number);
        let next = make.add(Node::Unary(Temporal::Next, None, p));
        let next = make.goal(next, &mut terms).unwrap();
        outcome = terms.and(formula, next);
        match outcome {
            Ok(product) => formula = product,
            Err(_) => break,
        }
    }
    assert_eq!(outcome, Err(Exceeded::Terms { limit: 200 }));
}

/// Printing, translating and transforming are loops.
#[test]
fn depth_costs_no_stack() {
    let (mut make, mut terms) = (Make::default(), terms());
    let mut node = make.p(0);
    for _ in 0..100_000 {
        node = make.add(Node::Unary(Temporal::Next, None, node));
    }
    let goal = make.goal(node, &mut terms).unwrap();
    assert_eq!(terms.print(goal, &make.0, Syntax::Specification).len(), 200_002);
    assert_eq!(terms.words(goal, &make.0).len(), 200_002);
    let after = terms.after(goal, &Event { row: &[0], atoms: 1, past: &[] }).unwrap();
    assert_eq!(terms.print(after, &make.0, Syntax::Maude).len(), 99_999 * 2 + 2 + 99_998 * 2);
    assert!(!terms.at_end(goal, &Event { row: &[1], atoms: 1, past: &[] }));
}
