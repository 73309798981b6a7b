//! Queries written out by the printer and read again compute the same values.

use tw_core::{Column, Value};
use tw_ir::{Aggregate, ArithmeticOp, Expect, Function, Node, NodeId, Program, What, display};
use tw_spec::{LowerOptions, lower, parse_query};
use tw_testkit::cases;
use tw_testkit::query::{QueryCase, QueryShape, describe, reference_columns, same, shrink};

/// The query of the given root, printed and read again, on the same trace; or why it cannot be read.
fn read_again(case: &QueryCase, root: usize) -> Result<QueryCase, String> {
    let text = display(&case.program, case.program.roots[root].node);
    let parsed = parse_query(&text, 0);
    if parsed.has_errors() {
        return Err(format!("{text}\n  does not parse: {:?}\n", parsed.diagnostics[0].message));
    }
    let lowered = lower(&parsed.value, &LowerOptions::default());
    if lowered.has_errors() {
        return Err(format!("{text}\n  has errors: {:?}\n", lowered.diagnostics[0].message));
    }
    let slots = lowered.value.slots.iter().map(|slot| column(case, &slot.what)).collect();
    Ok(QueryCase { program: lowered.value, slots, ..case.clone() })
}

/// The values that the case has for a name, as a reader would deliver them for its new use.
fn column(case: &QueryCase, wanted: &What) -> Column {
    let path = |what: &What| match what {
        What::Proposition(path) | What::Variable(path, _) => path.clone(),
        _ => panic!("none is generated"),
    };
    let slot = case.program.slots.iter().position(|slot| path(&slot.what) == path(wanted)).unwrap();
    let column = &case.slots[slot];
    match wanted {
        What::Variable(_, Expect::Any) => {
            Column::Any((0..case.len()).map(|at| column.value(at)).collect::<Vec<Value>>())
        }
        _ => column.clone(),
    }
}

/// Whether the query can be written at all: `!{c}` takes constants and `|{g}` no `%`, though the IR has them.
fn can_be_written(case: &QueryCase) -> bool {
    use Aggregate::{Distinct, Mode};
    let dag = &case.program.dag;
    let constant = |id: NodeId| {
        let parts = case.program.reachable(&[id]);
        !parts.iter().any(|&part| matches!(dag.node(part), Node::Slot(_) | Node::Truth(_)))
    };
    case.experiments().iter().all(|&id| match dag.node(id) {
        Node::Fails(_, c) => constant(c),
        Node::Either(function, ..) => function != Function::Arithmetic(ArithmeticOp::Rem),
        Node::Collect(Mode | Distinct, a) | Node::CollectWhile(Mode | Distinct, a, _) => {
            !hands_on_a_name(&case.program, a)
        }
        _ => true,
    })
}

/// Whether an experiment may have the value of a bare proposition: `mode[p ?? 0]` is about the values of p, not about
/// where it holds.
fn hands_on_a_name(program: &Program, experiment: NodeId) -> bool {
    let dag = &program.dag;
    let mut todo = vec![experiment];
    while let Some(id) = todo.pop() {
        match dag.node(id) {
            Node::Truth(_) => return true,
            Node::Default(a, _) | Node::Both(Function::First, a, _) | Node::Both(Function::Second, _, a) => {
                todo.push(a);
            }
            Node::Either(Function::First | Function::Second, a, b) => todo.extend([a, b]),
            Node::NextMap { body, result, .. } if matches!(dag.node(result), Node::Variable(_)) => {
                todo.push(body)
            }
            Node::UntilMap { pair, result, .. } if matches!(dag.node(result), Node::Variable(_)) => {
                todo.extend(dag.node(pair).children().nth(1));
            }
            _ => {}
        }
    }
    false
}

/// One root of the case alone.
fn alone(case: &QueryCase, root: usize) -> QueryCase {
    let roots = vec![case.program.roots[root].clone()];
    QueryCase { program: Program { roots, ..case.program.clone() }, ..case.clone() }
}

/// What is different about the first query read again.
fn difference(case: &QueryCase) -> Option<String> {
    let again = match read_again(case, 0) {
        Ok(again) => again,
        Err(message) => return Some(message),
    };
    let values = |case: &QueryCase| {
        reference_columns(case, &[case.program.roots[0].node]).map(|mut columns| columns.remove(0))
    };
    let (expected, found) = match (values(case), values(&again)) {
        (Ok(expected), Ok(found)) => (expected, found),
        (Err(_), Err(_)) => return None,
        (expected, found) => return Some(format!("{expected:?}\n  read again {found:?}\n")),
    };
    let at = (0..case.len()).find(|&at| !same(&expected.at(at), &found.at(at)))?;
    Some(format!(
        "read again as {}\n  at {at} it is {:?}, not {:?}\n",
        display(&again.program, again.program.roots[0].node),
        found.at(at),
        expected.at(at)
    ))
}

#[test]
fn printed_queries_mean_the_same() {
    let cases = cases(2000).min(10_000);
    let mut tried = 0;
    for (shape, seeds) in [(&QueryShape::SMALL, 0..cases), (&QueryShape::NUMERIC, 0..cases / 10)] {
        for seed in seeds {
            let whole = QueryCase::new(seed, shape);
            for root in 0..whole.program.roots.len() {
                let case = alone(&whole, root);
                if !can_be_written(&case) {
                    continue;
                }
                tried += 1;
                if difference(&case).is_some() {
                    let small = shrink(case, |case| can_be_written(case) && difference(case).is_some());
                    panic!("seed {seed}, root {root}\n{}{}", describe(&small), difference(&small).unwrap());
                }
            }
        }
    }
    assert!(tried > cases, "{tried} queries tried");
}
