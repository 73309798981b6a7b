//! Where continuous time must agree with positions, for strictly increasing timestamps.

use super::make::{Shape, formula, options, root};
use crate::{Reading, dense};
use tw_core::{Bits, Time};
use tw_engine_reference::Reference;
use tw_ir::{Clock, Node, NodeId, Program, Temporal, display};
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_testkit::{Rng, cases};

/// Positions with increasing timestamps; the last column is true everywhere.
fn positions(rng: &mut Rng, atoms: usize) -> Trace {
    let len = 1 + rng.below(14);
    let mut now = 0;
    let times: Vec<Time> = (0..len)
        .map(|_| {
            now += rng.pick(&[1, 1, 2, 3]);
            now
        })
        .collect();
    let column = |rng: &mut Rng, often| (0..len).map(|_| rng.chance(often)).collect::<Bits>();
    let mut columns: Vec<Bits> = (1..atoms).map(|_| column(rng, 450)).collect();
    columns.push(Bits::repeat(true, len));
    Trace { len, atoms: columns, times: Some(times), ..Trace::default() }
}

/// Copies a program, every operator replaced by what `rewrite` makes of it over the new operands.
fn translate(program: &Program, mut rewrite: impl FnMut(&mut Program, Node) -> NodeId) -> Program {
    let mut copy = super::make::propositions(program.slots.len() as u32);
    let mut map: Vec<NodeId> = Vec::new();
    for &node in program.dag.nodes() {
        let node = node.with_children(|child| map[child.index()]);
        let id = rewrite(&mut copy, node);
        map.push(id);
    }
    copy.roots.push(root(map[program.roots[0].node.index()]));
    // All propositions are read, so that both programs have the same atoms.
    for index in 0..program.slots.len() {
        copy.roots.push(root(NodeId(index as u32)));
    }
    copy
}

fn compare(seed: u64, program: &Program, pointwise: &Program, trace: &Trace, reading: Reading) {
    let node = program.roots[0].node;
    let signal = dense(program, node, trace, reading, &options()).unwrap();
    let mut sampled = Bits::new();
    signal.sample(trace.times.as_ref().unwrap(), &mut sampled);
    let stamps = EvaluateOptions { clock: Clock::Stamps, ..options() };
    let mut reference = Reference.plan(pointwise, &stamps).unwrap();
    let expected = reference.columns(trace, &[pointwise.roots[0].node]).unwrap().remove(0);
    assert_eq!(
        sampled,
        expected,
        "seed {seed}: {} / {} at {:?}",
        display(program, node),
        display(pointwise, pointwise.roots[0].node),
        trace.times
    );
}

/// States, no intervals, no `first`. By induction every formula is constant while a state lasts, so `F G O H U R W M` mean the
/// same over instants as over positions. `φ S ψ` does not: ψ's last instant lies before the end of its state, the rest
/// of which asks for φ too, so it means ψ | (φ S (φ & ψ)) over positions; likewise its dual `T`, and `B`.
#[test]
fn states_without_intervals() {
    for seed in 0..cases(10_000).min(20_000) {
        let mut rng = Rng::new(seed);
        let shape = Shape { propositions: 3, operators: 7, metric: 0, unit: 1, since: true };
        // `first` is an instant, which is not how long the first state lasts.
        let program = translate(&formula(&mut rng, shape), |copy, node| {
            copy.dag.add(if node == Node::First { Node::Bool(false) } else { node })
        });
        let pointwise = translate(&program, |copy, node| {
            let mut add = |node| copy.dag.add(node);
            match node {
                Node::Binary(Temporal::Since, _, a, b) => {
                    let both = add(Node::And(a, b));
                    let before = add(Node::Binary(Temporal::Since, None, a, both));
                    add(Node::Or(b, before))
                }
                Node::Binary(Temporal::Trigger, _, a, b) => {
                    let either = add(Node::Or(a, b));
                    let before = add(Node::Binary(Temporal::Trigger, None, a, either));
                    add(Node::And(b, before))
                }
                // b T (a | b).
                Node::Binary(Temporal::BackTo, _, a, b) => {
                    let either = add(Node::Or(a, b));
                    let before = add(Node::Binary(Temporal::Trigger, None, b, either));
                    add(Node::And(either, before))
                }
                node => add(node),
            }
        });
        let trace = positions(&mut rng, 3);
        compare(seed, &program, &pointwise, &trace, Reading::States);
    }
}

/// Events, with intervals. Positions are the instants where an event e happens, so a formula over positions is the
/// same over instants if every operator asks for e: `φ U ψ` is `(e -> φ) U (e & ψ)`, and so on.
#[test]
fn events_with_intervals() {
    for seed in 0..cases(10_000).min(20_000) {
        let mut rng = Rng::new(seed);
        let shape = Shape { propositions: 4, operators: 7, metric: 700, unit: 1, since: true };
        let original = formula(&mut rng, shape);
        let pointwise = translate(&original, |copy, node| copy.dag.add(closed(node)));
        let event = NodeId(3);
        let instants = translate(&pointwise, |copy, node| {
            let mut add = |node| copy.dag.add(node);
            use Node::*;
            match node {
                Unary(Temporal::Finally, i, a) | Unary(Temporal::Once, i, a) => {
                    let there = add(And(event, a));
                    add(if matches!(node, Unary(Temporal::Finally, ..)) {
                        Unary(Temporal::Finally, i, there)
                    } else {
                        Unary(Temporal::Once, i, there)
                    })
                }
                Unary(Temporal::Globally, i, a) | Unary(Temporal::Historically, i, a) => {
                    let there = add(Implies(event, a));
                    add(if matches!(node, Unary(Temporal::Globally, ..)) {
                        Unary(Temporal::Globally, i, there)
                    } else {
                        Unary(Temporal::Historically, i, there)
                    })
                }
                Binary(Temporal::Until, i, a, b) | Binary(Temporal::Since, i, a, b) => {
                    let (hold, goal) = (add(Implies(event, a)), add(And(event, b)));
                    add(if matches!(node, Binary(Temporal::Until, ..)) {
                        Binary(Temporal::Until, i, hold, goal)
                    } else {
                        Binary(Temporal::Since, i, hold, goal)
                    })
                }
                Binary(Temporal::Release, i, a, b) | Binary(Temporal::Trigger, i, a, b) => {
                    let (free, hold) = (add(And(event, a)), add(Implies(event, b)));
                    add(if matches!(node, Binary(Temporal::Release, ..)) {
                        Binary(Temporal::Release, i, free, hold)
                    } else {
                        Binary(Temporal::Trigger, i, free, hold)
                    })
                }
                Binary(Temporal::WeakUntil, i, a, b) | Binary(Temporal::BackTo, i, a, b) => {
                    let either = add(Or(a, b));
                    let (free, hold) = (add(And(event, b)), add(Implies(event, either)));
                    add(if matches!(node, Binary(Temporal::WeakUntil, ..)) {
                        Binary(Temporal::Release, i, free, hold)
                    } else {
                        Binary(Temporal::Trigger, i, free, hold)
                    })
                }
                Binary(Temporal::StrongRelease, i, a, b) => {
                    let both = add(And(a, b));
                    let (hold, goal) = (add(Implies(event, b)), add(And(event, both)));
                    add(Binary(Temporal::Until, i, hold, goal))
                }
                node => add(node),
            }
        });
        let trace = positions(&mut rng, 4);
        compare(seed, &instants, &pointwise, &trace, Reading::Events);
    }
}

/// `(2,3)` holds no whole number of ticks, which a discrete clock refuses: such ends are closed.
fn closed(node: Node) -> Node {
    let close = |i: Option<tw_ir::Interval>| {
        i.map(|mut i| {
            if let Some(high) = &mut i.high
                && high.billionths - i.low.billionths < 2_000_000_000
            {
                i.low.open = false;
                high.open = false;
            }
            i
        })
    };
    match node {
        Node::Unary(operator, i, a) => Node::Unary(operator, close(i), a),
        Node::Binary(operator, i, a, b) => Node::Binary(operator, close(i), a, b),
        node => node,
    }
}
