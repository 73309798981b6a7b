//! Known chains in fractions, random chains against iteration and against all their paths.

use super::*;
use tw_ir::What;
use tw_model::{Graph, Model, Record, Seen};
use tw_testkit::texts::branching as lowered;
use tw_testkit::{Rng, cases};

/// A model from (from, to, count) and how many traces begin in each state.
fn model(states: usize, edges: &[(u32, u32, u64)], starts: &[(u32, u64)]) -> Model {
    let graph = Graph::from_edges(states, edges.iter().map(|&(from, to, _)| (from, to)));
    let mut seen = vec![Seen::default(); graph.edges()];
    for &(from, to, count) in edges {
        seen[graph.edge(from, to).unwrap() as usize].count += count;
    }
    let record = Record { edges: seen, starts: starts.iter().map(|s| s.1).collect(), ..Record::default() };
    let initial = starts.iter().map(|s| s.0).collect();
    Model { graph, initial, record: Some(record), ..Model::default() }
}

/// The formula's probability where propositions hold in the given states.
fn ask(model: &Model, text: &str, sets: &[(&str, Bits)]) -> Result<Probability, Unsupported> {
    let program = lowered(text);
    let truth = |id: NodeId| match program.dag.node(id) {
        tw_ir::Node::Truth(slot) => match &program.slots[slot as usize].what {
            What::Proposition(path) | What::Variable(path, _) => {
                let name = path.to_string();
                sets.iter().find(|(known, _)| *known == name).map(|(_, set)| set)
            }
            _ => None,
        },
        _ => None,
    };
    probability(&Checker::new(model), &program, program.roots[0].node, &truth)
}

fn set(states: usize, members: &[usize]) -> Bits {
    (0..states).map(|state| members.contains(&state)).collect()
}

fn fraction(found: &Probability) -> String {
    found.fraction.expect("a small model").to_string()
}

/// A gambler with i of n coins who wins a coin in w of w + l rounds has everything in the end with probability
/// (1 − rⁱ) / (1 − rⁿ), r = l / w.
#[test]
fn a_gambler_is_ruined_as_often_as_books_say() {
    let game = |states: usize, win: u64, lose: u64, from: u32| {
        let last = states as u32 - 1;
        let mut edges = vec![(0, 0, 0), (last, last, 0)];
        edges.extend((1..last).flat_map(|at| [(at, at + 1, win), (at, at - 1, lose)]));
        let model = model(states, &edges, &[(from, 5)]);
        let sets = [("rich", set(states, &[states - 1])), ("poor", set(states, &[0]))];
        let rich = ask(&model, "EF rich", &sets).unwrap();
        let poor = ask(&model, "F poor", &sets).unwrap();
        let never = ask(&model, "AG !rich", &sets).unwrap();
        assert_eq!((rich.method, rich.lower, rich.upper), (Method::Elimination, rich.value, rich.value));
        // Ruin is certain but for riches, and what holds never is the contrary of what holds once.
        assert!((poor.value / never.value - 1.0).abs() < 1e-13 && rich.complement == never.value);
        rich
    };
    assert_eq!(fraction(&game(8, 1, 1, 3)), "3/7");
    assert_eq!(fraction(&game(5, 2, 1, 1)), "8/15");
    assert_eq!(fraction(&game(4, 1, 2, 1)), "1/7");
    // So rare that differences of numbers near 1 would have lost it.
    let rare = game(31, 1, 9, 1);
    let exact = 8.0 / (9f64.powi(30) - 1.0);
    assert!((rare.value / exact - 1.0).abs() < 1e-13, "{} {exact}", rare.value);
    let sure = ask(&model(2, &[(0, 1, 1), (0, 0, u64::MAX >> 12)], &[(0, 1)]), "F q", &[("q", set(2, &[1]))]);
    assert_eq!(sure.map(|p| (p.value, p.method)).ok(), Some((1.0, Method::Search)));
    let near = game(31, 9, 1, 29);
    assert!(near.value < 1.0 && (near.complement / (8.0 / (9f64.powi(30) - 1.0)) - 1.0).abs() < 1e-13);
    let nearer = game(400, 9, 1, 398);
    assert!(nearer.value < 1.0 && nearer.complement > 0.0 && nearer.complement < 1e-300);
}

/// t1 = s1 s1 s1, t2 = s1 s2 s1, t3 = s2 s2 s1, merged by instants: s1@1, s2@1, s1@2, s2@2, s1@3.
#[test]
fn three_traces_by_instants() {
    let edges = [(0, 2, 1), (0, 3, 1), (1, 3, 1), (2, 4, 1), (3, 4, 2), (4, 4, 0)];
    let model = model(5, &edges, &[(0, 2), (1, 1)]);
    let sets = [("s1", set(5, &[0, 2, 4])), ("s2", set(5, &[1, 3]))];
    for (text, expected, method) in [
        ("EF s2", "2/3", Method::Elimination),
        ("AG s1", "1/3", Method::Elimination),
        ("AF s1", "1", Method::Search),
        ("F (s1 & s2)", "0", Method::Search),
        ("s1", "2/3", Method::Starts),
        ("!s1", "1/3", Method::Starts),
        ("X s2", "2/3", Method::Steps),
        ("X X[1,1] s2", "", Method::Steps),
        ("X[2,3] s2", "0", Method::Steps),
        ("N[2,3] s2", "1", Method::Steps),
        ("N s2", "2/3", Method::Steps),
        ("!AX s2", "1/3", Method::Steps),
        ("A[s2 U s1]", "1", Method::Search),
        ("s1 U s2", "2/3", Method::Elimination),
        ("s2 W s1", "1", Method::Search),
        ("F[1,1] s2", "2/3", Method::Steps),
        ("F[0,0] s2", "1/3", Method::Steps),
        ("G[1,inf) s1", "1/3", Method::Steps),
        ("G[2,inf) s1", "1", Method::Steps),
    ] {
        let found = ask(&model, text, &sets);
        if expected.is_empty() {
            let refused = found.expect_err(text);
            assert!(refused.what.contains("`X` inside another operator"), "{}", refused.what);
            continue;
        }
        let found = found.expect(text);
        assert_eq!((fraction(&found).as_str(), found.method), (expected, method), "{text}");
    }
    let each = ask(&model, "F s2", &sets).unwrap().states;
    assert_eq!(each, [0.5, 1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn ends_are_no_events_and_assumed_loops_only_where_nothing_is_seen() {
    // The loop at 0 was assumed although traces go on from there.
    let model = model(3, &[(0, 0, 0), (0, 1, 1), (0, 2, 3), (1, 1, 0)], &[(0, 4)]);
    let sets = [("one", set(3, &[1])), ("two", set(3, &[2]))];
    assert_eq!(fraction(&ask(&model, "F one", &sets).unwrap()), "1/4");
    assert_eq!(fraction(&ask(&model, "F (one | two)", &sets).unwrap()), "1");
    // State 2 has no transition at all: it stays.
    assert_eq!(fraction(&ask(&model, "G[1,inf) two", &sets).unwrap()), "3/4");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let known = model(1, &[(0, 0, 1)], &[(0, 1)]);
    let sets = [("p", set(1, &[0]))];
    for (text, says) in [
        ("G F p", "`F` inside another operator"),
        ("G (p -> O p)", "past (`O`)"),
        ("p & X p", "`X` inside another operator"),
        ("F[1ms,2ms] p", "unit"),
        ("F first", "past (`first`)"),
    ] {
        let refused = ask(&known, text, &sets).expect_err(text);
        assert!(refused.what.contains(says), "{text}: {}", refused.what);
    }
    assert_eq!(ask(&known, "F last", &sets).unwrap().value, 0.0);
    let bare = Model { record: None, ..known.clone() };
    assert!(ask(&bare, "F p", &sets).unwrap_err().what.contains("without counts"));
    let program = lowered("F p");
    let all = Bits::repeat(true, 1);
    let fair = Checker::new(&known).fairness(vec![all.clone()]);
    assert!(probability(&fair, &program, program.roots[0].node, &|_| Some(&all)).is_err());
    let mut misfit = known.clone();
    misfit.record.as_mut().unwrap().edges.clear();
    assert!(ask(&misfit, "F p", &sets).unwrap_err().what.contains("do not fit"));
    let nobody = model(1, &[(0, 0, 1)], &[(0, 0)]);
    assert!(ask(&nobody, "F p", &sets).unwrap_err().what.contains("no trace begins"));
}

struct Random {
    model: Model,
    sets: [(&'static str, Bits); 2],
    /// Probabilities, state by state.
    steps: Vec<Vec<f64>>,
}

fn random(rng: &mut Rng, most: usize) -> Random {
    let states = 1 + rng.below(most);
    let mut edges = Vec::new();
    for from in 0..states {
        for _ in 0..rng.below(4) {
            edges.push((from as u32, rng.below(states) as u32, rng.below(4) as u64));
        }
    }
    let last = (states as u32 - 1, 1);
    let start = |state: usize| rng.one_in(2).then(|| (state as u32, rng.below(3) as u64));
    let starts: Vec<(u32, u64)> = (0..states - 1).filter_map(start).chain([last]).collect();
    let mut steps = vec![vec![0.0; states]; states];
    for (from, row) in steps.iter_mut().enumerate() {
        let leaving: Vec<_> = edges.iter().filter(|edge| edge.0 as usize == from).collect();
        leaving.iter().for_each(|edge| row[edge.1 as usize] += edge.2 as f64);
        if row.iter().all(|&weight| weight == 0.0) {
            leaving.iter().for_each(|edge| row[edge.1 as usize] = 1.0);
        }
        if leaving.is_empty() {
            row[from] = 1.0;
        }
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|weight| *weight /= sum);
    }
    let model = model(states, &edges, &starts);
    let mut some = || (0..states).map(|_| rng.one_in(2)).collect();
    let sets = [("p", some()), ("q", some())];
    Random { model, sets, steps }
}

impl Random {
    /// The fixpoint of `value = f(p, q, value one step on)`, from below or from above.
    fn fixpoint(&self, above: bool, f: impl Fn(bool, bool, f64) -> f64) -> Vec<f64> {
        let states = self.steps.len();
        let mut values = vec![if above { 1.0 } else { 0.0 }; states];
        for _ in 0..100_000 {
            let mut moved = 0.0f64;
            for state in 0..states {
                let on = self.steps[state].iter().zip(&values).map(|(step, value)| step * value).sum();
                let value = f(self.sets[0].1.get(state), self.sets[1].1.get(state), on);
                moved = moved.max((value - values[state]).abs());
                values[state] = value;
            }
            if moved < 1e-17 {
                break;
            }
        }
        values
    }

    fn starts(&self, values: &[f64]) -> f64 {
        let record = self.model.record.as_ref().unwrap();
        let sum: u64 = record.starts.iter().sum();
        let weighted = self.model.initial.iter().zip(&record.starts);
        weighted.map(|(&state, &count)| count as f64 * values[state as usize]).sum::<f64>() / sum as f64
    }
}

type Expansion = (&'static str, bool, fn(bool, bool, f64) -> f64);

#[test]
fn random_chains_agree_with_iteration() {
    let expansions: [Expansion; 7] = [
        ("F q", false, |_, q, on| if q { 1.0 } else { on }),
        ("G p", true, |p, _, on| if p { on } else { 0.0 }),
        ("p U q", false, |p, q, on| {
            if q {
                1.0
            } else if p {
                on
            } else {
                0.0
            }
        }),
        ("p W q", true, |p, q, on| {
            if q {
                1.0
            } else if p {
                on
            } else {
                0.0
            }
        }),
        ("p R q", true, |p, q, on| {
            if !q {
                0.0
            } else if p {
                1.0
            } else {
                on
            }
        }),
        ("p M q", false, |p, q, on| {
            if !q {
                0.0
            } else if p {
                1.0
            } else {
                on
            }
        }),
        ("!(p U !(p <-> q))", false, |p, q, on| {
            if p != q {
                1.0
            } else if p {
                on
            } else {
                0.0
            }
        }),
    ];
    let mut rng = Rng::new(17);
    let (mut between, mut fractions) = (0, 0);
    for case in 0..cases(1_500).min(6_000) {
        let chain = random(&mut rng, 7);
        for (text, above, f) in expansions {
            let mut expected = chain.fixpoint(above, f);
            if text.starts_with('!') {
                expected.iter_mut().for_each(|value| *value = 1.0 - *value);
            }
            let found = ask(&chain.model, text, &chain.sets).expect(text);
            for (found, expected) in found.states.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-9, "case {case}: {text} {found} {expected}");
            }
            assert!((found.value - chain.starts(&expected)).abs() < 1e-9, "case {case}: {text}");
            assert!((found.value + found.complement - 1.0).abs() < 1e-14, "case {case}: {text}");
            let open = found.value > 0.0 && found.value < 1.0;
            between += usize::from(open);
            if let Some(fraction) = found.fraction {
                fractions += 1;
                let value = fraction.numerator as f64 / fraction.denominator as f64;
                assert!((found.value - value).abs() <= 1e-14 * value, "case {case}: {text} {fraction}");
                assert_eq!(open, value > 0.0 && fraction.numerator < fraction.denominator);
            }
        }
    }
    assert!(between > 500 && fractions > 5_000, "{between} {fractions}");
}

/// Whether a path satisfies `p op[low,high] q`, by the definition of the operator; the path is longer than `high`.
fn by_definition(operator: &str, low: usize, high: usize, p: &[bool], q: &[bool]) -> bool {
    let until = |left: &dyn Fn(usize) -> bool, right: &dyn Fn(usize) -> bool| {
        (low..=high).any(|at| right(at) && (0..at).all(left))
    };
    match operator {
        "F" => (low..=high).any(|at| q[at]),
        "G" => (low..=high).all(|at| q[at]),
        "U" => until(&|at| p[at], &|at| q[at]),
        "M" => until(&|at| q[at], &|at| p[at] && q[at]),
        // Within the bounds q holds, unless p came before.
        "R" => (low..=high).all(|at| q[at] || (0..at).any(|before| p[before])),
        "W" => (low..=high).all(|at| p[at] || q[at] || (0..at).any(|before| q[before])),
        _ => unreachable!("{operator}"),
    }
}

#[test]
fn bounds_agree_with_all_paths() {
    let mut rng = Rng::new(23);
    let mut between = 0;
    for case in 0..cases(400).min(2_000) {
        let chain = random(&mut rng, 4);
        let (low, more) = (rng.below(3), rng.below(3));
        let high = low + more;
        for operator in ["F", "G", "U", "W", "R", "M"] {
            let mut expected = vec![0.0; chain.steps.len()];
            for (start, expected) in expected.iter_mut().enumerate() {
                let mut open = vec![(vec![start], 1.0)];
                while let Some((path, chance)) = open.pop() {
                    if path.len() == high + 1 {
                        let of = |set: usize| -> Vec<bool> {
                            path.iter().map(|&state| chain.sets[set].1.get(state)).collect()
                        };
                        let holds = by_definition(operator, low, high, &of(0), &of(1));
                        *expected += if holds { chance } else { 0.0 };
                        continue;
                    }
                    for (to, &step) in chain.steps[*path.last().unwrap()].iter().enumerate() {
                        if step > 0.0 {
                            open.push(([&path[..], &[to]].concat(), chance * step));
                        }
                    }
                }
            }
            let left = if matches!(operator, "F" | "G") { "" } else { "p " };
            let text = format!("{left}{operator}[{low},{high}] q");
            let found = ask(&chain.model, &text, &chain.sets).expect(&text);
            for (found, expected) in found.states.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "case {case}: {text} {found} {expected}");
            }
            let value = found.fraction.map(|f| f.numerator as f64 / f.denominator as f64);
            assert!((found.value - value.expect("small")).abs() < 1e-14, "case {case}: {text}");
            assert!((found.value - chain.starts(&expected)).abs() < 1e-12);
            between += usize::from(found.value > 0.0 && found.value < 1.0);
        }
    }
    assert!(between > 200, "{between}");
}

/// A walk on a ring too large for elimination: bounds that hold the truth between them.
#[test]
fn large_components_are_iterated() {
    let states = 3_000u32;
    let mut edges = vec![(0, 0, 0), (1, 1, 0)];
    // Every state goes to a goal now and then, and on round the ring else.
    for at in 2..states {
        let on = if at + 1 == states { 2 } else { at + 1 };
        edges.extend([(at, on, 96), (at, 0, 1), (at, 1, 3)]);
    }
    let model = model(states as usize, &edges, &[(2, 1)]);
    let sets = [("goal", set(states as usize, &[0]))];
    let found = ask(&model, "F goal", &sets).unwrap();
    assert_eq!((found.method, found.fraction), (Method::Iteration, None));
    assert!(found.lower <= 0.25 + 1e-15 && found.upper >= 0.25 - 1e-15, "{found:?}");
    assert!(found.upper - found.lower < 2e-12, "{} {}", found.lower, found.upper);
    assert!((found.value - 0.25).abs() < 1e-12);
}

#[test]
fn a_long_chain_takes_no_stack_and_certain_bounds_stop_early() {
    let states = 200_000u32;
    let mut edges: Vec<(u32, u32, u64)> = (1..states).map(|at| (at - 1, at, 1)).collect();
    edges.push((0, states - 1, 1));
    let model = model(states as usize, &edges, &[(0, 1)]);
    let sets = [("q", set(states as usize, &[states as usize - 2]))];
    let found = ask(&model, "F q", &sets).unwrap();
    assert_eq!((found.value, fraction(&found).as_str()), (0.5, "1/2"));
    let sets = [("q", set(states as usize, &[states as usize - 1]))];
    assert_eq!(ask(&model, "F[0,1000000000000] q", &sets[..0]).err().map(|e| e.exhausted), Some(false));
    assert_eq!(ask(&model, "F[0,1] q", &sets).unwrap().value, 0.5);
}
