//! Against the definition, on random formulas and logs.

use crate::Relational;
use crate::rules::Kind;
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
        // As a specification has them: one slot for all patterns that read the same events.
        let others = program.dag.patterns.iter().find(|own| own.name == name).map(|own| own.slot);
        let slot = others.unwrap_or_else(|| {
            let arguments = (0..arity).map(ArgumentKey::Index).collect();
            let (name, constants) = (name.into(), Vec::new());
            let what = What::Tuples { name, constants, arity: Some(arity), arguments };
            program.slots.push(Slot { what, declared: false, span: Default::default() });
            program.slots.len() as u32 - 1
        });
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

fn log(program: &Program, random: &mut Random, longest: u64) -> Trace {
    let len = 1 + random.below(longest) as usize;
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

#[derive(Debug, Default)]
struct Counts {
    compared: usize,
    refused: usize,
    violations: usize,
    /// By rules: all, those that wait, that stand, whose tables are signed or say how long others were.
    ruled: [usize; 5],
}

impl Counts {
    fn rules(&mut self, rules: &crate::rules::Rules) {
        if !rules.answers.contains(&true) {
            return;
        }
        let kind = |is: fn(&Kind) -> bool| rules.tables.iter().any(is);
        let some = [
            true,
            !rules.windows.is_empty(),
            !rules.standing.is_empty(),
            kind(|kind| matches!(kind, Kind::Signed { .. })),
            kind(|kind| matches!(kind, Kind::AsOf { .. })),
        ];
        self.ruled.iter_mut().zip(some).for_each(|(count, some)| *count += usize::from(some));
    }
}

/// Compares a program of one root with the definition on random logs: stored, live in pieces, and restored.
fn compare(program: &Program, random: &mut Random, seed: u64, longest: u64, counts: &mut Counts) {
    let options = EvaluateOptions::default();
    let text = tw_ir::display(program, program.roots[0].node);
    for _ in 0..3 {
        let trace = log(program, random, longest);
        let Ok(expected) = tw_engine_reference::Reference
            .plan(program, &options)
            .and_then(|mut plan| plan.evaluate(&trace, 1_000_000))
        else {
            continue;
        };
        if let Ok(plan) = crate::plan(program, &options, false) {
            counts.rules(&plan.rules);
        }
        let mut plan =
            Relational.plan(program, &options).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
        let found = match plan.evaluate(&trace, 1_000_000) {
            Err(refusal) => {
                counts.refused += 1;
                if std::env::var("SHOW").is_ok() {
                    eprintln!("{text}: {}", refusal.what);
                }
                continue;
            }
            Ok(found) => found,
        };
        counts.compared += 1;
        counts.violations += expected[0].violations.len();
        let tell = |trace: &Trace| format!("{:?} {:?}", trace.times, trace.slots);
        assert_eq!(found[0].holds, expected[0].holds, "{text} seed {seed}\n{}", tell(&trace));
        let pairs = |answer: &tw_monitor::Answer| {
            let at = |at: usize| {
                let here = answer.violations.iter().zip(&answer.bindings).filter(move |(own, _)| **own == at);
                let here: Vec<&[(u32, Value)]> = here.map(|(_, bound)| bound.pairs()).collect();
                let every =
                    |variable: u32| here.iter().all(|pairs| pairs.iter().any(|(own, _)| *own == variable));
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
        let live = live(program, &options, &trace, random);
        assert_eq!(live.holds, found[0].holds, "live: {text} seed {seed}\n{}", tell(&trace));
        let (mut told, mut stored) = (entries(&live), entries(&found[0]));
        told.sort();
        stored.sort();
        assert_eq!(told, stored, "live: {text} seed {seed}\n{}", tell(&trace));
    }
}

fn cases() -> u64 {
    std::env::var("TRACEWISE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

#[test]
fn random_formulas_mean_what_the_definition_says() {
    let mut counts = Counts::default();
    for seed in 0..cases() {
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
        compare(&program, &mut random, seed, 6, &mut counts);
    }
    eprintln!("{counts:?}");
    assert!(counts.compared > counts.refused * 20);
}

/// Formulas as people write them: what events bind is asked of the past and of the future.
struct Policy<'r> {
    program: Program,
    random: &'r mut Random,
}

impl Policy<'_> {
    fn interval(&mut self) -> Option<Interval> {
        let bound = |n: u64| Bound { billionths: i128::from(n) * 1_000_000_000, unit: None, open: false };
        let (low, width) = (self.random.below(3), self.random.below(4));
        match self.random.below(6) {
            0 | 1 => None,
            2 => Some(Interval { low: bound(0), high: Some(bound(0)) }),
            3 => Some(Interval { low: bound(low), high: None }),
            4 => Some(Interval { low: bound(low), high: Some(bound(low + width)) }),
            _ => Some(Interval { low: bound(0), high: Some(bound(width)) }),
        }
    }

    fn atom(&mut self, vars: &[u32]) -> NodeId {
        let pick = |random: &mut Random| vars[random.below(vars.len() as u64) as usize];
        let (x, y) = (pick(self.random), pick(self.random));
        match self.random.below(3) {
            0 => pattern(&mut self.program, 0, &[x]),
            1 => pattern(&mut self.program, 1, &[x]),
            _ => pattern(&mut self.program, 2, &[x, y]),
        }
    }

    fn unary(&mut self, operator: Temporal, of: NodeId) -> NodeId {
        let interval = self.interval();
        self.program.dag.add(Node::Unary(operator, interval, of))
    }

    /// An event, or several together.
    fn goal(&mut self, vars: &[u32], depth: u32) -> NodeId {
        let atom = self.atom(vars);
        if depth == 0 || self.random.below(3) > 0 {
            return atom;
        }
        let other = self.literal(vars, depth - 1);
        let other = if self.random.below(2) == 0 { self.program.dag.add(Node::Not(other)) } else { other };
        let or = self.random.below(4) == 0;
        self.program.dag.add(if or { Node::Or(atom, other) } else { Node::And(atom, other) })
    }

    fn literal(&mut self, vars: &[u32], depth: u32) -> NodeId {
        match self.random.below(14) {
            0 => self.atom(vars),
            1 | 2 => {
                let goal = self.goal(vars, depth);
                self.unary(Temporal::Once, goal)
            }
            3 | 4 => {
                let (mut hold, goal) = (self.atom(vars), self.goal(vars, depth));
                if self.random.below(4) > 0 {
                    hold = self.program.dag.add(Node::Not(hold));
                }
                let interval = self.interval();
                self.program.dag.add(Node::Binary(Temporal::Since, interval, hold, goal))
            }
            5 => {
                let of = self.literal(vars, depth.saturating_sub(1));
                self.unary(Temporal::Previous, of)
            }
            6 | 7 => {
                let goal = self.goal(vars, depth);
                self.unary(Temporal::Finally, goal)
            }
            8 => {
                let goal = self.goal(vars, depth);
                let (outer, inner) = match self.random.below(2) {
                    0 => (Temporal::Once, Temporal::Finally),
                    _ => (Temporal::Finally, Temporal::Once),
                };
                let zero = Bound { billionths: 0, unit: None, open: false };
                let zero = Some(Interval { low: zero, high: Some(zero) });
                let inner = self.program.dag.add(Node::Unary(inner, zero, goal));
                self.unary(outer, inner)
            }
            9 | 10 if self.program.dag.variables.len() < 4 => {
                let variable = self.program.dag.variables.len() as u32;
                self.program.dag.variables.push(format!("v{variable}"));
                let inner: Vec<u32> = vars.iter().copied().chain([variable]).collect();
                let (a, b) = (self.literal(&inner, depth.saturating_sub(1)), self.literal(&inner, 0));
                let b = if self.random.below(2) == 0 { self.program.dag.add(Node::Not(b)) } else { b };
                let both = self.program.dag.add(Node::And(a, b));
                self.program.dag.add(Node::Exists(variable, both))
            }
            // What the values of events have left, and what there was before them.
            11 if vars.len() > 1 => {
                let (event, other) = (self.atom(&vars[..1]), self.atom(&vars[1..]));
                let past = self.program.dag.add(Node::Unary(Temporal::Once, None, other));
                let past = match self.random.below(3) {
                    0 => self.program.dag.add(Node::Not(past)),
                    1 => self.program.dag.add(Node::Unary(Temporal::Previous, None, past)),
                    _ => past,
                };
                let both = self.program.dag.add(Node::And(event, past));
                self.program.dag.add(Node::Unary(Temporal::Once, None, both))
            }
            12 => {
                let x = self.program.dag.add(Node::Variable(vars[0]));
                let one = self.program.dag.constant(Value::Int(1));
                let ops = [CompareOp::Eq, CompareOp::Lt];
                self.program.dag.add(Node::Compare(ops[self.random.below(2) as usize], x, one))
            }
            _ => {
                let (a, b) = (self.atom(vars), self.atom(vars));
                self.program.dag.add(Node::Or(a, b))
            }
        }
    }

    fn root(&mut self) -> NodeId {
        let count = 1 + self.random.below(2) as u32;
        let vars: Vec<u32> = (0..count).collect();
        self.program.dag.variables = vars.iter().map(|var| format!("v{var}")).collect();
        let mut guard = match count {
            1 => self.atom(&vars),
            _ => pattern(&mut self.program, 2, &[0, 1]),
        };
        if self.random.below(5) == 0 {
            guard = self.program.dag.add(Node::Unary(Temporal::Once, None, guard));
        }
        for _ in 0..self.random.below(3) {
            let other = self.literal(&vars, 2);
            guard = self.program.dag.add(Node::And(guard, other));
        }
        let then = self.literal(&vars, 2);
        let then = if self.random.below(2) == 0 { self.program.dag.add(Node::Not(then)) } else { then };
        let mut all = self.program.dag.add(Node::Implies(guard, then));
        for &var in vars.iter().rev() {
            all = self.program.dag.add(Node::Forall(var, all));
        }
        self.program.dag.add(Node::Unary(Temporal::Globally, None, all))
    }
}

#[test]
fn policies_by_rules_mean_what_the_definition_says() {
    let mut counts = Counts::default();
    for seed in 0..cases() {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234);
        let mut policy = Policy { program: Program::default(), random: &mut random };
        let root = policy.root();
        let mut program = policy.program;
        program.roots.push(Root::property("it", root));
        compare(&program, &mut random, seed, 10, &mut counts);
    }
    eprintln!("{counts:?}");
    assert!(counts.ruled[0] * 2 > counts.compared, "{counts:?}");
    assert!(counts.ruled.iter().all(|count| *count as u64 > cases() / 500), "{counts:?}");
}
