use super::*;
use crate::{Expect, Path, PathStep, Pattern, Slot, What};
use tw_diag::Span;

fn proposition(program: &mut Program, path: Path) -> NodeId {
    program.slots.push(Slot { what: What::Proposition(path), declared: false, span: Span::default() });
    program.dag.add(Node::Truth((program.slots.len() - 1) as u32))
}

#[test]
fn names_that_would_be_misread_are_quoted() {
    for (name, shown) in [
        ("queue", "queue"),
        ("größe_2", "größe_2"),
        ("T", "`T`"),
        ("until", "`until`"),
        ("2x", "`2x`"),
        ("a-b", "`a-b`"),
        ("a`b", "`a``b`"),
        ("", "``"),
    ] {
        let mut program = Program::default();
        let node = proposition(&mut program, Path::field(name));
        assert_eq!(display(&program, node), shown);
    }
    let mut program = Program::default();
    let steps = vec![PathStep::Field("a".into()), PathStep::Each, PathStep::Field("b c".into())];
    let node = proposition(&mut program, Path { steps });
    assert_eq!(display(&program, node), "a[*].`b c`");
}

#[test]
fn values_are_quoted_and_escaped() {
    let mut program = Program::default();
    for (value, shown) in [
        (Value::text("a\"b\\c\n\t\r"), r#""a\"b\\c\n\t\u{d}""#),
        (Value::Real(1.0), "1.0"),
        (Value::Real(-0.5), "-0.5"),
        (Value::Int(i64::MIN), "-9223372036854775808"),
        (Value::Bool(true), "true"),
        (Value::Null, "null"),
    ] {
        let node = program.dag.constant(value);
        assert_eq!(display(&program, node), shown);
    }
}

#[test]
fn arguments_are_printed_as_given() {
    let mut program = Program::default();
    program.dag.variables = vec!["u".into()];
    let declared = |index, name: &str| ArgumentKey::Declared { index, name: name.into(), of: 2 };
    let constant = PatternArgument::Constant(Value::text("x"));
    for (arguments, arity, shown) in [
        (vec![(ArgumentKey::Index(1), PatternArgument::Variable(0))], Some(3), "e(_, u, _)"),
        (vec![(ArgumentKey::Name("T".into()), PatternArgument::Variable(0))], None, "e(`T`: u)"),
        (
            vec![(declared(0, "a"), constant), (declared(1, "b"), PatternArgument::Variable(0))],
            None,
            "e(a: \"x\", b: u)",
        ),
    ] {
        program.dag.patterns.push(Pattern { name: "e".into(), arguments, arity, slot: 0 });
        let node = program.dag.add(Node::Pattern((program.dag.patterns.len() - 1) as u32));
        assert_eq!(display(&program, node), shown);
    }
}

#[test]
fn shared_formulas_end_somewhere() {
    let mut program = Program::default();
    let mut node = proposition(&mut program, Path::field("p"));
    for _ in 0..200 {
        node = program.dag.add(Node::And(node, node));
    }
    let shown = display(&program, node);
    assert!(shown.ends_with('…') && shown.len() < LIMIT + 100);
}

#[test]
fn depth_costs_no_stack() {
    let mut program = Program::default();
    let slot = Slot {
        what: What::Variable(Path::field("x"), Expect::Number),
        declared: false,
        span: Span::default(),
    };
    program.slots.push(slot);
    let mut node = program.dag.add(Node::Slot(0));
    for _ in 0..100_000 {
        node = program.dag.add(Node::Negate(node));
    }
    assert_eq!(display(&program, node).len(), 100_000 * 3 - 1);
}
