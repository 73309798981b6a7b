//! Every operator, on random signals, against its definition.

use super::definition::{Cells, cells, define};
use super::make::{Shape, formula, interval, options, parse, root, signal, span, trace};
use crate::formula::Formulas;
use crate::{Dense, End, Reading, Run, Signal, Span, Window, dense, reading};
use tw_core::{Bits, TimeUnit};
use tw_ir::{Clock, Node, NodeId, Semantics, Temporal, display};
use tw_monitor::{Engine, EvaluateOptions, Segments, Trace};
use tw_testkit::{Rng, cases};

/// All nodes of random formulas, over random signals.
#[test]
fn formulas_are_their_definitions() {
    for seed in 0..cases(10_000) {
        let mut rng = Rng::new(seed);
        let program =
            formula(&mut rng, Shape { propositions: 3, operators: 6, metric: 700, unit: 1, since: true });
        let span = span(&mut rng, 9);
        let atoms: Vec<Signal> = program.atoms().iter().map(|_| signal(&mut rng, span)).collect();
        let wanted = program.reachable(&[program.roots[0].node]);
        let mut formulas = Formulas::new(&program, &wanted, TimeUnit::Nanoseconds, 1 << 20).unwrap();
        // Twice, so that buffers are used again.
        formulas.signals(span, |atom, _| atoms[atom].clone()).unwrap();
        let signals = formulas.signals(span, |atom, _| atoms[atom].clone()).unwrap();
        let mut defined: Vec<Cells> = vec![Vec::new(); program.dag.len()];
        for (id, found) in wanted.iter().zip(&signals) {
            let atom = program.atoms().binary_search(id).ok();
            let truth = match atom {
                Some(atom) => cells(&atoms[atom]),
                None => define(program.dag.node(*id), span, |id| defined[id.index()].clone()),
            };
            assert_eq!(
                cells(found),
                truth,
                "seed {seed}: {} over {:?}\n{atoms:#?}",
                display(&program, *id),
                (span.start(), span.end())
            );
            defined[id.index()] = truth;
        }
    }
}

/// The same through the public operators, on longer signals.
#[test]
fn operators_on_longer_signals() {
    for seed in 0..cases(10_000).min(2_000) {
        let mut rng = Rng::new(seed);
        let span = span(&mut rng, 40);
        let (a, b) = (signal(&mut rng, span), signal(&mut rng, span));
        let i = interval(&mut rng, 1);
        let window = Window::new(i, TimeUnit::Nanoseconds).unwrap();
        let (p, q) = (NodeId(0), NodeId(1));
        let table = [
            (Node::And(p, q), a.and(&b)),
            (Node::Or(p, q), a.or(&b)),
            (Node::Not(p), a.clone().complement()),
            (Node::Unary(Temporal::Finally, Some(i), p), a.finally(window)),
            (Node::Unary(Temporal::Globally, Some(i), p), a.globally(window)),
            (Node::Unary(Temporal::Once, Some(i), p), a.once(window)),
            (Node::Unary(Temporal::Historically, Some(i), p), a.historically(window)),
            (Node::Binary(Temporal::Until, Some(i), p, q), a.until(window, &b)),
            (Node::Binary(Temporal::Since, Some(i), p, q), a.since(window, &b)),
        ];
        for (node, found) in table {
            let expected = define(node, span, |id| cells(if id == p { &a } else { &b }));
            assert_eq!(cells(&found), expected, "seed {seed}: {node:?} of {a:?} and {b:?}");
        }
    }
}

/// Ends, by hand.
#[test]
fn ends_stay_open_or_closed() {
    let span = Span::new(0, 20).unwrap();
    let run = |low, low_open, high, high_open| Run {
        low: End { time: low, open: low_open },
        high: End { time: high, open: high_open },
    };
    let text = |signal: &Signal| signal.runs(true).map(|run| run.to_string()).collect::<Vec<_>>().join(" ");
    let window = |text: &str| {
        let program = parse(&format!("F{text} p"));
        let node = program.dag.node(program.roots[0].node);
        Window::new(node.interval().unwrap(), TimeUnit::Nanoseconds).unwrap()
    };
    let p = Signal::new(span, [run(10, false, 12, true), Run::closed(17, 17)]);
    assert_eq!(text(&p), "[10,12) [17,17]");
    assert_eq!(text(&p.clone().complement()), "[0,10) [12,17) (17,20]");
    assert_eq!(text(&p.finally(window("[1,3]"))), "[7,11) [14,16]");
    assert_eq!(text(&p.finally(window("(1,3)"))), "(7,11) (14,16)");
    assert_eq!(text(&p.once(window("(1,3]"))), "(11,15) (18,20]");
    assert_eq!(text(&p.once(window("[5,5]"))), "[15,17)");
    assert_eq!(text(&p.globally(window("[0,1]"))), "[10,11)");
    // At the ends of time, windows are cut, and an empty window asks for nothing.
    assert_eq!(text(&p.globally(window("[4,5]"))), "[6,7) (16,20]");
    assert_eq!(text(&p.historically(window("[0,inf)"))), "");
    // q holds up to 12, which is not inside, p from 12 on: the end of a right-open run can be reached.
    let q = Signal::new(span, [run(3, true, 12, true)]);
    let goal = Signal::new(span, [run(12, false, 13, false)]);
    assert_eq!(text(&q.until(window("[0,4]"), &goal)), "[8,13]");
    assert_eq!(text(&q.until(window("(0,4)"), &goal)), "(8,12)");
    // …but not if the goal begins after it.
    let late = Signal::new(span, [run(12, true, 13, false)]);
    assert_eq!(text(&q.until(window("[0,4]"), &late)), "(12,13]");
    let early = Signal::new(span, [run(1, false, 3, false)]);
    assert_eq!(text(&q.since(window("[2,inf)"), &early)), "[5,12)");
    assert_eq!(text(&q.since(window("(0,2)"), &early)), "(3,5)");
}

/// Distances and instants at the edge of 64 bits.
#[test]
fn far_away_is_exact() {
    let span = Span::new(-1, i64::MAX - 2).unwrap();
    let p = Signal::new(span, [Run::closed(-1, -1), Run::closed(i64::MAX - 2, i64::MAX - 2)]);
    let far = Window::closed(i64::MAX - 1, i64::MAX - 1).unwrap();
    assert_eq!(p.finally(far).runs(true).collect::<Vec<_>>(), [Run::closed(-1, -1)]);
    assert_eq!(p.once(far).runs(true).collect::<Vec<_>>(), [Run::closed(i64::MAX - 2, i64::MAX - 2)]);
    let further = Window::closed(i64::MAX, i64::MAX).unwrap();
    assert_eq!((p.finally(further).stretches(), p.once(further).stretches()), (1, 1));
    assert_eq!(p.once(Window::closed(0, i64::MAX).unwrap()), Signal::constant(span, true));
    assert_eq!((Span::new(0, i64::MAX), Span::new(-2, i64::MAX - 2), Span::new(1, 0)), (None, None, None));
}

/// Both readings of a trace, with equal timestamps.
#[test]
fn positions_are_states_or_events() {
    let program = parse("p");
    let node = program.roots[0].node;
    let check = |positions: &[(i64, &str)], states: &str, events: &str| {
        let trace = trace(&program, positions);
        for (reading, expected) in [(Reading::States, states), (Reading::Events, events)] {
            let signal = dense(&program, node, &trace, reading, &options()).unwrap();
            let runs: Vec<String> = signal.runs(true).map(|run| run.to_string()).collect();
            assert_eq!(runs.join(" "), expected, "{positions:?} as {reading:?}");
        }
    };
    check(&[(0, "p"), (3, "p"), (5, ""), (9, "")], "[0,5)", "[0,0] [3,3]");
    check(&[(0, ""), (3, "p")], "[3,3]", "[3,3]");
    // The last state of an instant wins; of events each counts.
    check(&[(0, ""), (3, "p"), (3, ""), (6, "")], "", "[3,3]");
    check(&[(0, ""), (3, ""), (3, "p"), (3, "p"), (6, "")], "[3,6)", "[3,3]");
    check(&[(0, "p"), (3, ""), (3, "p"), (6, ""), (6, "p")], "[0,6]", "[0,0] [3,3] [6,6]");
    check(&[(-7, "p")], "[-7,-7]", "[-7,-7]");
}

fn random_trace(rng: &mut Rng, atoms: usize, starts: &[usize], len: usize) -> Trace {
    let mut now = 0;
    let times = (0..len).map(|at| {
        now = if starts.contains(&at) { 3 } else { now + rng.pick(&[0, 1, 1, 2, 4]) };
        now
    });
    let times = times.collect();
    let turn = rng.pick(&[200, 500]);
    let mut column = || {
        let mut value = rng.one_in(2);
        let turned = (0..len).map(|_| {
            value ^= rng.chance(turn);
            value
        });
        turned.collect::<Bits>()
    };
    let atoms = (0..atoms).map(|_| column()).collect();
    let segments = (starts.len() > 1).then(|| Segments { starts: starts.to_vec() });
    Trace { len, atoms, times: Some(times), segments, ..Trace::default() }
}

/// The engine samples the signals, tells segments apart, and lists the states in which `G φ` is violated.
#[test]
fn the_engine_reads_the_signals() {
    for seed in 0..cases(10_000).min(3_000) {
        let mut rng = Rng::new(seed);
        let mut program =
            formula(&mut rng, Shape { propositions: 3, operators: 5, metric: 500, unit: 1, since: true });
        let body = program.roots[0].node;
        let always = program.dag.add(Node::Unary(Temporal::Globally, None, body));
        program.roots.push(root(always));
        let len = 1 + rng.below(12);
        let starts: Vec<usize> = (0..len).filter(|&at| at == 0 || rng.one_in(6)).collect();
        let trace = random_trace(&mut rng, program.atoms().len(), &starts, len);
        let times = trace.times.as_ref().unwrap();
        let limit = rng.below(5);
        let mut evaluator = Dense.plan(&program, &options()).unwrap();
        evaluator.evaluate(&trace, limit).unwrap();
        let answers = evaluator.evaluate(&trace, limit).unwrap();
        let columns = evaluator.columns(&trace, &[body, always]).unwrap();
        let mut violations = Vec::new();
        for (index, &start) in trace.starts().iter().enumerate() {
            let segment = start..trace.segment_end(index);
            let mut formulas =
                Formulas::new(&program, &[body, always], TimeUnit::Nanoseconds, 1 << 20).unwrap();
            let signals =
                reading::segment_signals(&mut formulas, &trace, segment.clone(), Reading::States).unwrap();
            for (root, signal) in signals.iter().enumerate() {
                assert_eq!(answers[root].holds.get(index), signal.at(times[start]), "seed {seed}");
                for at in segment.clone() {
                    assert_eq!(columns[root].get(at), signal.at(times[at]), "seed {seed}, position {at}");
                }
            }
            for at in segment.clone() {
                // [τ, the next τ), or [τ, τ] for the last.
                let stay = match times.get(at + 1).filter(|_| at + 1 < segment.end) {
                    Some(&next) => Run {
                        low: End { time: times[at], open: false },
                        high: End { time: next, open: true },
                    },
                    None => Run::closed(times[at], times[at]),
                };
                let stay = Signal::new(signals[0].span(), [stay]);
                if stay.and(&signals[0].clone().complement()).runs(true).next().is_some() {
                    violations.push(at);
                }
            }
        }
        assert_eq!(answers[1].violation_count, violations.len(), "seed {seed}");
        violations.truncate(limit);
        assert_eq!(answers[1].violations, violations, "seed {seed}");
        assert_eq!(answers[1].holds.count_ones() < starts.len(), answers[1].violation_count > 0);
    }
}

/// What has no meaning is refused by name.
#[test]
fn refusals() {
    let refused = |text: &str, options: &EvaluateOptions| {
        let program = parse(text);
        match Dense.plan(&program, options) {
            Ok(_) => String::from("accepted"),
            Err(refusal) => {
                let node = refusal.node.map_or(String::new(), |node| display(&program, node) + ": ");
                node + &refusal.what
            }
        }
    };
    for (text, operator) in [("G (a -> X b)", "X"), ("N b", "N"), ("Y b", "Y"), ("O Z b", "Z")] {
        let expected = format!("{operator} b: `{operator}` over continuous time");
        assert!(refused(text, &options()).starts_with(&expected), "{}", refused(text, &options()));
    }
    assert_eq!(
        refused("F[1.5,2] a", &options()),
        "F[1.5,2] a: this interval: the bound is finer than the clock"
    );
    assert_eq!(refused("F(1,2) a", &options()), "accepted");
    assert_eq!(
        refused("F a", &EvaluateOptions { clock: Clock::Stamps, ..options() }),
        "positions alone: it is for continuous time"
    );
    let ltl3 = EvaluateOptions { semantics: Semantics::Ltl3, ..options() };
    assert_eq!(refused("F a", &ltl3), "three-valued verdicts (ltl3) over continuous time");

    let program = parse("F a");
    let run = |trace: Trace, options: &EvaluateOptions| {
        Dense.plan(&program, options).unwrap().evaluate(&trace, 1).unwrap_err().what
    };
    let good = trace(&program, &[(0, "a"), (1, "")]);
    assert_eq!(
        run(Trace { times: None, ..good.clone() }, &options()),
        "continuous time on a trace without timestamps"
    );
    assert_eq!(run(Trace::default(), &options()), "continuous time on a trace without timestamps");
    assert_eq!(
        run(Trace { times: Some(vec![1, 0]), ..good.clone() }, &options()),
        "timestamps that decrease"
    );
    assert_eq!(
        run(Trace { atoms: vec![], ..good.clone() }, &options()),
        "an atom without its truth at every position"
    );
    let far = Trace { times: Some(vec![i64::MIN, i64::MAX]), ..good.clone() };
    assert_eq!(run(far, &options()), "continuous time over more than 292 years");
    let small = EvaluateOptions { memory_budget: 10, ..options() };
    assert_eq!(run(good, &small), "continuous time within the memory budget");
}

/// A formula as deep as memory allows is a loop.
#[test]
fn depth_is_no_danger() {
    let mut program = super::make::propositions(1);
    let mut node = NodeId(0);
    for _ in 0..100_000 {
        node = program.dag.add(Node::Unary(Temporal::Finally, Some(interval(&mut Rng::new(3), 1)), node));
        node = program.dag.add(Node::Not(node));
    }
    program.roots.push(root(node));
    let trace = trace(&program, &[(0, ""), (5, "p0"), (90, "")]);
    // Signals that nobody reads any more are given back.
    let little = EvaluateOptions { memory_budget: 1 << 12, ..options() };
    let signal = dense(&program, node, &trace, Reading::States, &little).unwrap();
    assert_eq!(signal.span(), Span::new(0, 90).unwrap());
    assert!(crate::label(&program, node, false).is_err());
}
