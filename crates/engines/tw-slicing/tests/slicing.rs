//! The vectors of the papers, and the laws of slices on random patterns and traces.

use tw_core::Value;
use tw_ir::CompareOp;
use tw_ir::monitor::Condition;
use tw_slicing::constraint::{Order, Term};
use tw_slicing::{Binding, Constraint, Joined, Object, Objects, Occurrences, Partial, Slices, definition};
use tw_testkit::{Rng, cases, texts};

/// A pattern: an event's name, and the variables of its arguments.
type Pattern = (&'static str, Vec<u32>);

/// What the events of a trace are about, one event at each position.
fn matchers(
    patterns: &[Pattern],
    variables: usize,
    trace: &[(&str, Vec<Object>)],
    injective: bool,
) -> Vec<Vec<Binding>> {
    let about = |(name, arguments): &(&str, Vec<Object>)| {
        let fitting =
            patterns.iter().filter(|(own, columns)| own == name && columns.len() == arguments.len());
        let found = fitting.filter_map(|(_, columns)| Binding::matcher(variables, columns, arguments));
        found.filter(|binding| !injective || binding.is_injective()).collect()
    };
    trace.iter().map(about).collect()
}

fn sliced<'a>(lattice: Partial<'a>, trace: &[Vec<Binding>]) -> Slices<Partial<'a>, usize> {
    let mut slices = Slices::new(lattice);
    trace.iter().enumerate().for_each(|(at, sigma)| slices.event(&at, sigma));
    slices
}

/// f(2) h(2) f(1) f(2) h(2) f(3) h(3) h(1), whose values are their own numbers.
fn fired() -> (Objects, Vec<(&'static str, Vec<Object>)>) {
    let mut objects = Objects::default();
    (0..4).for_each(|number| assert_eq!(objects.of(&Value::Int(number)), number as Object));
    let trace = [("f", 2), ("h", 2), ("f", 1), ("f", 2), ("h", 2), ("f", 3), ("h", 3), ("h", 1)];
    (objects, trace.into_iter().map(|(name, value)| (name, vec![value])).collect())
}

fn both() -> Vec<Pattern> {
    vec![("f", vec![0]), ("f", vec![1]), ("h", vec![0]), ("h", vec![1])]
}

/// V1: pairs of things of one kind. The top, whose slice is the whole trace, is not kept.
#[test]
fn patterns_make_pairs() {
    let (objects, trace) = fired();
    let trace = matchers(&both(), 2, &trace, true);
    let lattice = Partial { variables: 2, injective: true, constraint: None, objects: &objects };
    let after_two = sliced(lattice, &trace[..2]);
    assert_eq!(after_two.len(), 3);
    let slices = sliced(lattice, &trace);
    assert_eq!(slices.len(), 13);
    let expected: &[(Option<Object>, Option<Object>, &[usize])] = &[
        (None, None, &[]),
        (Some(2), None, &[0, 1, 3, 4]),
        (Some(1), None, &[2, 7]),
        (Some(3), None, &[5, 6]),
        (Some(1), Some(2), &[0, 1, 2, 3, 4, 7]),
        (Some(1), Some(3), &[2, 5, 6, 7]),
        (Some(2), Some(3), &[0, 1, 3, 4, 5, 6]),
    ];
    for (x, y, positions) in expected {
        assert_eq!(slices.of(&Binding(vec![*x, *y])), *positions);
        assert_eq!(slices.of(&Binding(vec![*y, *x])), *positions);
    }
    // What was never found has the slice of the largest below it.
    assert_eq!(slices.of(&Binding(vec![Some(2), Some(0)])), [0, 1, 3, 4]);
}

/// The condition that a monitor's `where` is.
fn condition(text: &str) -> (tw_ir::Program, Condition) {
    let text = format!("monitor Mo(x, y, z) {{ event e(x, y, z); where {text}; }}");
    let program = texts::specification(&text);
    let condition = program.monitors[0].constraint.clone().expect("a constraint");
    (program, condition)
}

/// V2: the same under x > y.
#[test]
fn constraints_prune_pairs() {
    let (mut objects, trace) = fired();
    let (program, condition) = condition("x > y");
    let constraint = Constraint::new(&program, &condition, &mut objects);
    let trace = matchers(&both(), 2, &trace, false);
    let free = sliced(Partial { variables: 2, injective: true, constraint: None, objects: &objects }, &trace);
    let lattice =
        Partial { variables: 2, injective: false, constraint: Some(&constraint), objects: &objects };
    let slices = sliced(lattice, &trace);
    assert_eq!(slices.len(), 10);
    let gone = |binding: &Binding| matches!(binding.0[..], [Some(x), Some(y)] if x < y);
    for (binding, positions) in free.iter() {
        let kept = slices.iter().find(|(other, _)| *other == binding);
        assert_eq!(kept.is_none(), gone(binding), "{binding:?}");
        assert!(kept.is_none_or(|(_, own)| own == positions), "{binding:?}");
    }
}

/// V3: a property of two events pending together, on slices: the one of higher priority is handled first.
#[test]
fn scheduling_on_slices() {
    let literal = "G (fx -> ((!fy U hx) | (!hy U hx)))";
    let stronger = "G (fx -> (!hy U hx))";
    let holds = |formula: &str, word: &[&str]| {
        let text = format!("monitor Mo {{ event fx; event fy; event hx; event hy; ltl : {formula}; }}");
        let monitor = &texts::specification(&text).monitors[0];
        let automaton = tw_automata::formalism::EventAutomaton::new(monitor).expect("an automaton");
        let number =
            |name: &&str| monitor.events.iter().position(|event| event.name == **name).expect("an event");
        let state = word.iter().map(number).fold(0, |state, event| automaton.step(state, event));
        !automaton.output(state).violated_at_end
    };
    // Of the three wanted pairs, x the higher: tau 2,1, tau 3,1 and tau 3,2.
    let wanted: [&[&str]; 3] = [
        &["fx", "hx", "fy", "fx", "hx", "hy"],
        &["fy", "fx", "hx", "hy"],
        &["fy", "hy", "fy", "hy", "fx", "hx"],
    ];
    for word in wanted {
        assert!(holds(literal, word) && holds(stronger, word), "{word:?}");
    }
    let both: &[&str] = &["fx", "fy", "hy", "hx"];
    assert!(!holds(literal, both) && !holds(stronger, both));
    let one: &[&str] = &["fy", "fx", "hy", "hx"];
    assert!(holds(literal, one) && !holds(stronger, one));
}

/// V4: the table of Roşu and Chen. V5: one pattern per event, so that an event is about one binding.
#[test]
fn one_pattern_per_event_is_algorithm_a() {
    let mut objects = Objects::default();
    let [a1, a2, b1, c1] = ["a1", "a2", "b1", "c1"].map(|name| objects.of(&Value::text(name)));
    let events: &[&[(usize, Object)]] = &[
        &[(0, a1)],
        &[(0, a2)],
        &[(1, b1)],
        &[(0, a2), (1, b1)],
        &[(0, a1)],
        &[],
        &[(1, b1)],
        &[(2, c1)],
        &[(0, a2), (2, c1)],
        &[(0, a1), (1, b1), (2, c1)],
        &[],
    ];
    let about = |event: &&[(usize, Object)]| {
        let mut binding = Binding::empty(3);
        event.iter().for_each(|&(variable, object)| binding.0[variable] = Some(object));
        vec![binding]
    };
    let trace: Vec<Vec<Binding>> = events.iter().map(about).collect();
    let slices =
        sliced(Partial { variables: 3, injective: false, constraint: None, objects: &objects }, &trace);
    let (a, b, c) = (Some(a1), Some(b1), Some(c1));
    let expected: &[([Option<Object>; 3], &[usize])] = &[
        ([None, None, None], &[6, 11]),
        ([a, None, None], &[1, 5, 6, 11]),
        ([Some(a2), None, None], &[2, 6, 11]),
        ([None, b, None], &[3, 6, 7, 11]),
        ([None, None, c], &[6, 8, 11]),
        ([a, b, None], &[1, 3, 5, 6, 7, 11]),
        ([a, None, c], &[1, 5, 6, 8, 11]),
        ([Some(a2), b, None], &[2, 3, 4, 6, 7, 11]),
        ([Some(a2), None, c], &[2, 6, 8, 9, 11]),
        ([None, b, c], &[3, 6, 7, 8, 11]),
        ([a, b, c], &[1, 3, 5, 6, 7, 8, 10, 11]),
        ([Some(a2), b, c], &[2, 3, 4, 6, 7, 8, 9, 11]),
    ];
    assert_eq!(slices.len(), expected.len());
    for (binding, positions) in expected {
        let found: Vec<usize> = slices.of(&Binding(binding.to_vec())).iter().map(|at| at + 1).collect();
        assert_eq!(found, *positions, "{binding:?}");
    }
}

/// Random patterns, traces and constraints: the table is the definition, also where two variables may be one thing, and any
/// binding has the slice of the largest below it.
#[test]
fn slices_are_those_of_the_definition() {
    let mut random = Rng::new(5);
    let mut objects = Objects::default();
    (0..4).for_each(|number| assert_eq!(objects.of(&Value::Int(number)), number as Object));
    let (program, condition) = condition("x > y & y != z");
    let constraint = Constraint::new(&program, &condition, &mut objects);
    let (mut several, mut constrained) = (0u64, 0u64);
    for case in 0..cases(2_000) {
        let variables = 3;
        let column = |random: &mut Rng| random.below(variables) as u32;
        let patterns: Vec<Pattern> = (0..1 + random.below(5))
            .map(|_| {
                let name = random.pick(&["f", "g", "r"]);
                let arity = if name == "r" { 2 } else { 1 };
                (name, (0..arity).map(|_| column(&mut random)).collect())
            })
            .collect();
        let trace: Vec<(&str, Vec<Object>)> = (0..random.below(9))
            .map(|_| {
                let name = random.pick(&["f", "g", "r"]);
                let arity = if name == "r" { 2 } else { 1 };
                (name, (0..arity).map(|_| random.below(3) as Object).collect())
            })
            .collect();
        let injective = random.one_in(2);
        let constraint = random.one_in(3).then_some(&constraint);
        let trace = matchers(&patterns, variables, &trace, injective);
        let lattice = Partial { variables, injective, constraint, objects: &objects };
        let slices = sliced(lattice, &trace);
        let allowed =
            |sigma: &Vec<Binding>| sigma.iter().filter(|about| lattice.allows(about)).cloned().collect();
        let trace: Vec<Vec<Binding>> = trace.iter().map(allowed).collect();
        assert_eq!(slices.len(), definition::bindings(&trace, &lattice).len(), "case {case}: {trace:?}");
        for (binding, positions) in slices.iter() {
            assert_eq!(positions, definition::slice(&trace, binding), "case {case}: {binding:?} {trace:?}");
        }
        // By indices, the same.
        let (mut joined, mut occurrences) = (Joined::new(lattice), Occurrences::default());
        for (position, about) in
            trace.iter().enumerate().flat_map(|(at, all)| all.iter().map(move |one| (at, one)))
        {
            occurrences.push(position, about);
            assert!(joined.add(about, usize::MAX));
        }
        assert_eq!(joined.bindings().len(), slices.len(), "case {case}: {trace:?}");
        for binding in joined.bindings() {
            assert_eq!(occurrences.slice(binding), slices.of(binding), "case {case}: {binding:?} {trace:?}");
        }
        let any = |random: &mut Rng| (!random.one_in(3)).then(|| random.below(4) as Object);
        let theta = Binding((0..variables).map(|_| any(&mut random)).collect());
        if lattice.allows(&theta) {
            assert_eq!(
                slices.of(&theta),
                definition::slice(&trace, &theta),
                "case {case}: {theta:?} {trace:?}"
            );
        }
        several += u64::from(!injective && trace.iter().any(|sigma| sigma.len() > 1));
        constrained += u64::from(constraint.is_some() && slices.len() > 3);
    }
    assert!(several * 10 > cases(2_000) && constrained * 20 > cases(2_000), "{several} {constrained}");
}

/// The solver against a search for values, among more than the constraints name.
#[test]
fn the_order_solver_is_complete() {
    let mut random = Rng::new(9);
    let mut objects = Objects::default();
    // Values 4, 8 and 12 are written; others lie between and beyond.
    let numbers: Vec<Object> = (0..17).map(|number| objects.of(&Value::Int(number))).collect();
    let text = objects.of(&Value::text("a"));
    let (mut yes, mut no) = (0u64, 0u64);
    for case in 0..cases(2_000) {
        let value = |random: &mut Rng| numbers[4 + 4 * random.below(3)];
        let mut order = Order::default();
        let mut written = Vec::new();
        for _ in 0..1 + random.below(5) {
            let mut term = || match random.one_in(4) {
                true => Term::Object(value(&mut random)),
                false => Term::Variable(random.below(3) as u32),
            };
            let (a, b) = (term(), term());
            let op = random.pick(&[
                CompareOp::Eq,
                CompareOp::Ne,
                CompareOp::Lt,
                CompareOp::Le,
                CompareOp::Gt,
                CompareOp::Ge,
            ]);
            order.compare(op, a, b);
            written.push((op, a, b));
        }
        let bound = |random: &mut Rng| random.one_in(3).then(|| value(random));
        let binding = Binding((0..3).map(|_| bound(&mut random)).collect());
        let holds = |values: &[Object]| {
            let of = |term: Term| match term {
                Term::Variable(variable) => objects.value(values[variable as usize]),
                Term::Object(object) => objects.value(object),
            };
            written.iter().all(|&(op, a, b)| tw_monitor::compare(op, of(a), of(b)))
        };
        let choices =
            |variable: usize| binding.0[variable].map_or_else(|| numbers.clone(), |value| vec![value]);
        let found = choices(0)
            .iter()
            .any(|&x| choices(1).iter().any(|&y| choices(2).iter().any(|&z| holds(&[x, y, z]))));
        assert_eq!(order.satisfiable(&binding, &objects), found, "case {case}: {written:?} {binding:?}");
        if found { yes += 1 } else { no += 1 }
    }
    assert!(yes > cases(2_000) / 10 && no > cases(2_000) / 10, "{yes} {no}");
    // Numbers and texts have no order.
    let mut order = Order::default();
    order.compare(CompareOp::Le, Term::Variable(0), Term::Variable(1));
    assert!(!order.satisfiable(&Binding(vec![Some(numbers[1]), Some(text)]), &objects));
    assert!(order.satisfiable(&Binding(vec![Some(text), None]), &objects));
}
