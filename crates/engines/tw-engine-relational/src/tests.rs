//! Against the definition, on random formulas and logs.

use crate::Relational;
use tw_core::{Column, Relation, Value};
use tw_ir::{
    ArgumentKey, Bound, CompareOp, Interval, Node, NodeId, Pattern, PatternArgument, Program, Root, Slot,
    Temporal, What,
};
use tw_monitor::{Engine, EvaluateOptions, Trace};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

const EVENTS: [(&str, usize); 3] = [("p", 1), ("q", 1), ("r", 2)];

fn pattern(program: &mut Program, event: usize, variables: &[u32]) -> NodeId {
    let (name, arity) = EVENTS[event];
    let arguments = variables
        .iter()
        .enumerate()
        .map(|(at, variable)| (ArgumentKey::Index(at), PatternArgument::Variable(*variable)))
        .collect::<Vec<_>>();
    let known = program.dag.patterns.iter().position(|own| own.name == name && own.arguments == arguments);
    let index = known.unwrap_or_else(|| {
        let keys = (0..arity).map(ArgumentKey::Index).collect();
        let what =
            What::Tuples { name: name.into(), constants: Vec::new(), arity: Some(arity), arguments: keys };
        program.slots.push(Slot { what, declared: false, span: Default::default() });
        let slot = program.slots.len() as u32 - 1;
        program.dag.patterns.push(Pattern { name: name.into(), arguments, arity: Some(arity), slot });
        program.dag.patterns.len() - 1
    });
    program.dag.add(Node::Pattern(index as u32))
}

fn formula(program: &mut Program, random: &mut Random, free: &mut Vec<u32>, depth: u32) -> NodeId {
    let pick = |random: &mut Random, free: &[u32]| free[random.below(free.len() as u64) as usize];
    if depth == 0 || random.below(6) == 0 {
        if free.is_empty() {
            return program.dag.add(Node::Bool(random.below(2) == 0));
        }
        let (x, y) = (pick(random, free), pick(random, free));
        return match random.below(9) {
            0..=2 => pattern(program, 0, &[x]),
            3 | 4 => pattern(program, 1, &[x]),
            5 | 6 => pattern(program, 2, &[x, y]),
            _ => {
                let ops = [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le];
                let against = random.below(2);
                let op = ops[random.below(if against == 0 { 4 } else { 2 }) as usize];
                let a = program.dag.add(Node::Variable(x));
                let b = match against {
                    0 => program.dag.constant(Value::Int(random.below(4) as i64)),
                    _ => program.dag.add(Node::Variable(y)),
                };
                program.dag.add(Node::Compare(op, a, b))
            }
        };
    }
    let interval = |random: &mut Random| {
        let bound = |n: u64| Bound { billionths: i128::from(n) * 1_000_000_000, unit: None, open: false };
        let low = random.below(3);
        let high = low + random.below(4);
        match random.below(3) {
            0 => None,
            1 => Some(Interval { low: bound(low), high: Some(bound(high)) }),
            _ => Some(Interval { low: bound(low), high: None }),
        }
    };
    match random.below(10) {
        0 => {
            let a = formula(program, random, free, depth - 1);
            program.dag.add(Node::Not(a))
        }
        1..=3 => {
            let a = formula(program, random, free, depth - 1);
            let b = formula(program, random, free, depth - 1);
            let kinds = [Node::And(a, b), Node::Or(a, b), Node::Implies(a, b), Node::Iff(a, b)];
            program.dag.add(kinds[random.below(4) as usize])
        }
        4..=6 if program.dag.variables.len() < 3 => {
            let variable = program.dag.variables.len() as u32;
            program.dag.variables.push(format!("v{variable}"));
            free.push(variable);
            let a = formula(program, random, free, depth - 1);
            free.pop();
            let exists = random.below(2) == 0;
            program.dag.add(if exists { Node::Exists(variable, a) } else { Node::Forall(variable, a) })
        }
        _ => {
            let operators: Vec<Temporal> = Temporal::all().collect();
            let operator = operators[random.below(operators.len() as u64) as usize];
            let a = formula(program, random, free, depth - 1);
            let interval = interval(random);
            if operator.row().prefix {
                program.dag.add(Node::Unary(operator, interval, a))
            } else {
                let b = formula(program, random, free, depth - 1);
                program.dag.add(Node::Binary(operator, interval, a, b))
            }
        }
    }
}

fn log(program: &Program, random: &mut Random) -> Trace {
    let len = 1 + random.below(6) as usize;
    let mut happened: Vec<Vec<(usize, Vec<Value>)>> = vec![Vec::new(); len];
    for here in &mut happened {
        for _ in 0..random.below(4) {
            let event = random.below(3) as usize;
            let values = (0..EVENTS[event].1).map(|_| match random.below(8) {
                0 => Value::text("a"),
                1 => Value::Real(1.0),
                _ => Value::Int(random.below(3) as i64),
            });
            let values = values.collect();
            here.push((event, values));
        }
    }
    let mut time = 0;
    let times: Vec<i64> = (0..len)
        .map(|_| {
            time += random.below(3) as i64;
            time * 1_000_000_000
        })
        .collect();
    let slots: Vec<Column> = program
        .slots
        .iter()
        .map(|slot| {
            let What::Tuples { name, arity, .. } = &slot.what else { unreachable!() };
            let mut starts = vec![0u32];
            let mut columns: Vec<Vec<Value>> = vec![Vec::new(); arity.unwrap_or(0)];
            for here in &happened {
                for (event, values) in here {
                    if EVENTS[*event].0 == name {
                        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value.clone()));
                    }
                }
                starts.push(columns[0].len() as u32);
            }
            Column::Tuples(Relation::new(starts, columns.into_iter().map(Column::Any).collect()))
        })
        .collect();
    let relations = program
        .patterns()
        .iter()
        .map(|&node| match &slots[program.pattern_slot(node).unwrap() as usize] {
            Column::Tuples(relation) => relation.clone(),
            _ => unreachable!(),
        })
        .collect();
    Trace { len, times: Some(times), slots: Some(slots), relations, ..Trace::default() }
}

fn entries(answer: &tw_monitor::Answer) -> Vec<(usize, String)> {
    let bound = answer.bindings.iter().map(|bound| format!("{:?}", bound.pairs()));
    answer.violations.iter().copied().zip(bound).collect()
}

/// The answer of a monitor that is fed in random pieces, and saved and restored between some of them.
fn live(
    program: &Program,
    options: &EvaluateOptions,
    trace: &Trace,
    random: &mut Random,
) -> tw_monitor::Answer {
    let monitor = || Relational.monitor(program, options, tw_monitor::Telling::Violations).unwrap();
    let (mut own, mut sink, mut at) = (monitor(), tw_monitor::Sink::default(), 0);
    while at < trace.len {
        let len = 1 + random.below((trace.len - at) as u64) as usize;
        let order: Vec<u32> = (at as u32..(at + len) as u32).collect();
        let part = trace.gather(&order, vec![0]);
        own.feed(&part.positions(), &mut sink).unwrap();
        at += len;
        if random.below(2) == 0 {
            let mut bytes = Vec::new();
            own.save(&mut bytes);
            own = monitor();
            own.restore(&bytes).unwrap();
        }
        // Asking changes nothing.
        own.pending();
        own.next_deadline();
        if random.below(3) == 0 {
            own.finish(&mut tw_monitor::Sink::default()).unwrap();
        }
        if random.below(3) == 0 && at < trace.len {
            let before = trace.times.as_ref().unwrap()[at].saturating_sub(1);
            own.advance(before, &mut sink).unwrap();
        }
    }
    let verdicts = own.finish(&mut sink).unwrap().unwrap();
    let told = sink.settled.iter().filter(|settled| settled.about.is_some());
    tw_monitor::Answer {
        holds: verdicts.iter().map(|known| known.truth().unwrap()).collect(),
        violations: told.clone().filter_map(|settled| settled.about).collect(),
        bindings: told.map(|settled| settled.bindings.clone()).collect(),
        ..Default::default()
    }
}

#[test]
fn random_formulas_mean_what_the_definition_says() {
    let cases: u64 = std::env::var("TRACEWISE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let (mut refused, mut compared, mut violations) = (0, 0, 0);
    for seed in 0..cases {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut program = Program::default();
        program.dag.variables.push("v0".into());
        let mut free = vec![0];
        let body = formula(&mut program, &mut random, &mut free, 4);
        let all = program.dag.add(Node::Forall(0, body));
        let root = match random.below(3) {
            0 => all,
            1 => program.dag.add(Node::Unary(Temporal::Globally, None, all)),
            _ => {
                let always = program.dag.add(Node::Unary(Temporal::Globally, None, body));
                program.dag.add(Node::Forall(0, always))
            }
        };
        program.roots.push(Root::property("it", root));
        let options = EvaluateOptions::default();
        for _ in 0..3 {
            let trace = log(&program, &mut random);
            let Ok(expected) = tw_engine_reference::Reference
                .plan(&program, &options)
                .and_then(|mut plan| plan.evaluate(&trace, 1_000_000))
            else {
                continue;
            };
            let text = tw_ir::display(&program, root);
            let mut plan =
                Relational.plan(&program, &options).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
            match plan.evaluate(&trace, 1_000_000) {
                Err(refusal) => {
                    refused += 1;
                    if std::env::var("SHOW").is_ok() {
                        eprintln!("{text}: {}", refusal.what);
                    }
                }
                Ok(found) => {
                    compared += 1;
                    violations += expected[0].violations.len();
                    let tell = |trace: &Trace| format!("{:?} {:?}", trace.times, trace.slots);
                    assert_eq!(found[0].holds, expected[0].holds, "{text} seed {seed}\n{}", tell(&trace));
                    let pairs = |answer: &tw_monitor::Answer| {
                        let at = |at: usize| {
                            let here = answer
                                .violations
                                .iter()
                                .zip(&answer.bindings)
                                .filter(move |(own, _)| **own == at);
                            let here: Vec<&[(u32, Value)]> = here.map(|(_, bound)| bound.pairs()).collect();
                            let every = |variable: u32| {
                                here.iter().all(|pairs| pairs.iter().any(|(own, _)| *own == variable))
                            };
                            let pick = |pairs: &&[(u32, Value)]| {
                                let kept: Vec<_> = pairs.iter().filter(|(own, _)| every(*own)).collect();
                                format!("{kept:?}").replace("Real(1.0)", "Int(1)")
                            };
                            let mut told: Vec<String> = here.iter().map(pick).collect();
                            told.sort();
                            told.dedup();
                            told
                        };
                        (0..trace.len).map(at).collect::<Vec<_>>()
                    };
                    assert_eq!(pairs(&found[0]), pairs(&expected[0]), "{text} seed {seed}\n{}", tell(&trace));
                    let live = live(&program, &options, &trace, &mut random);
                    assert_eq!(live.holds, found[0].holds, "live: {text} seed {seed}\n{}", tell(&trace));
                    let (mut told, mut stored) = (entries(&live), entries(&found[0]));
                    told.sort();
                    stored.sort();
                    assert_eq!(told, stored, "live: {text} seed {seed}\n{}", tell(&trace));
                }
            }
        }
    }
    eprintln!("{compared} compared, {refused} refused, {violations} violations");
    assert!(compared > refused * 20);
}
