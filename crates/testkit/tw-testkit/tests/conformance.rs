//! Every engine on random cases, and explanations of the answers.
//!
//! `TRACEWISE_CASES` sets how many cases there are in all; each test takes its share.

use tw_core::Bits;
use tw_engine_columnar::Columnar;
use tw_engine_reference::Reference;
use tw_ir::{NodeId, Program};
use tw_monitor::{
    Bindings, Engine, EvaluateOptions, Evaluator, Explanation, PlannedEvaluator, Request, Rule, Sink, Trace,
    Unsupported, Wanted, explain, explain_many,
};
use tw_testkit::conformance::{cases, compare, describe};
use tw_testkit::{Case, Rng, Shape, check_explanation};

const CASES: u64 = 200_000;

/// The columnar engine takes everything that is generated here; a refusal would hide a difference.
fn columnar_agrees(shape: &Shape, seeds: std::ops::Range<u64>) {
    let summary = compare(&Columnar, shape, seeds.clone());
    assert_eq!((summary.compared, summary.refused), (seeds.end - seeds.start, 0));
}

// Two halves, so that they run on two cores.
#[test]
fn columnar_agrees_with_the_reference_1() {
    columnar_agrees(&Shape::SMALL, 0..cases(CASES) / 2);
}

#[test]
fn columnar_agrees_with_the_reference_2() {
    let cases = cases(CASES);
    columnar_agrees(&Shape::SMALL, cases / 2..cases);
}

#[test]
fn columnar_agrees_with_the_reference_on_long_traces() {
    columnar_agrees(&Shape::LONG, 0..(cases(CASES) / 400).max(10));
}

/// The reference engine on given atoms: what differs from the reference proper is the atoms.
struct GivenAtoms;

impl Engine for GivenAtoms {
    fn name(&self) -> &'static str {
        "predicates"
    }

    fn about(&self) -> &'static str {
        "the reference on atoms from Predicates"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        Ok(Box::new(OnAtoms(Reference.plan(program, options)?)))
    }
}

struct OnAtoms<'p>(Box<dyn Evaluator + 'p>);

impl Evaluator for OnAtoms<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        self.0.run(trace, sink)
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        self.0.columns(trace, nodes)
    }
}

/// Predicates over values in every case: the columns of `Predicates` against the reference's own reading of values.
#[test]
fn predicates_agree_with_the_reference() {
    let shape = Shape { lengths: &[1, 30, 64, 70], depth: 1, values: 1000, ..Shape::SMALL };
    let cases = cases(CASES) / 10;
    let summary = compare(&GivenAtoms, &shape, 0..cases);
    // Arithmetic never overflows here, but it may meet text.
    assert!(summary.compared > cases * 9 / 10, "{summary:?}");
}

/// Explains every root of the case at a random position, with columns from `engine`, and checks the result.
fn explanations_hold(engine: &dyn Engine, shape: &Shape, seeds: std::ops::Range<u64>) {
    let (mut explained, mut pending, mut inner) = (0, 0, 0);
    for seed in seeds {
        let case = Case::new(seed, shape);
        let mut rng = Rng::new(seed);
        let Ok(trace) = case.trace(case.has_values()) else { continue };
        let mut evaluator = engine.plan(&case.program, &case.options).unwrap();
        let mut given = trace.clone();
        if evaluator.wanted() == Wanted::ATOMS {
            given.slots = None;
        }
        for root in &case.program.roots {
            let at = if rng.one_in(2) { 0 } else { rng.below(case.len()) };
            let depth = rng.pick(&[0, 1, 3, Explanation::DEPTH, 1000]);
            let explanation =
                explain(&case.program, &given, &case.options, evaluator.as_mut(), root.node, at, depth)
                    .unwrap();
            if let Err(why) = check_explanation(&case.program, &trace, &case.options, &explanation) {
                panic!("seed {seed}, {} at {at}: {why}\n{}{explanation:#?}", root.name, describe(&case));
            }
            // Only a limit cuts.
            let truncated = explanation.claims.iter().any(|claim| claim.rule == Rule::Truncated);
            assert!(!truncated || depth < 1000, "seed {seed}");
            explained += 1;
            inner += explanation.claims.iter().filter(|claim| !claim.children.is_empty()).count();
            pending += usize::from(!explanation.pending.is_empty());
        }
    }
    // The cases are worth something only if there was something to explain.
    assert!(
        inner > explained && pending > explained / 100,
        "{explained} explained, {inner} steps, {pending} pending"
    );
}

#[test]
fn explanations_of_columnar_answers_hold() {
    explanations_hold(&Columnar, &Shape::SMALL, 0..(cases(CASES) / 20).max(200));
}

#[test]
fn explanations_with_intervals_hold() {
    explanations_hold(&Reference, &Shape::METRIC, 0..(cases(CASES) / 20).max(200));
}

/// Explaining many formulas together, in whatever room, says what explaining each alone says: that is taken from columns, those
/// from what is nearby, as far as that settles it.
#[test]
fn explanations_together_are_those_alone() {
    together_as_alone(&Columnar, &Shape::SMALL, (cases(CASES) / 100).max(200));
    together_as_alone(&Reference, &Shape::METRIC, (cases(CASES) / 100).max(200));
}

fn together_as_alone(engine: &dyn Engine, shape: &Shape, seeds: u64) {
    for seed in 0..seeds {
        let case = Case::new(seed, shape);
        let Ok(trace) = case.trace(case.has_values()) else { continue };
        let mut evaluator = engine.plan(&case.program, &case.options).unwrap();
        let mut rng = Rng::new(seed);
        let mut requests: Vec<(NodeId, usize)> = Vec::new();
        for root in &case.program.roots {
            requests.push((root.node, 0));
            requests.push((root.node, rng.below(case.len())));
        }
        requests.push(requests[0]);
        let depth = rng.pick(&[1, 3, Explanation::DEPTH]);
        let alone: Vec<Explanation> = requests
            .iter()
            .map(|&(node, at)| {
                explain(&case.program, &trace, &case.options, evaluator.as_mut(), node, at, depth).unwrap()
            })
            .collect();
        // Where it fails first is what the answers say.
        let answers = evaluator.evaluate(&trace, usize::MAX).unwrap();
        let fails = |(node, at): &(NodeId, usize)| {
            let root = case.program.roots.iter().position(|root| root.node == *node)?;
            let end = trace.segment_of(*at).1;
            answers[root].violations.iter().copied().find(|found| (*at..end).contains(found))
        };
        let fails: Vec<Option<usize>> = requests.iter().map(fails).collect();
        let requests: Vec<Request> =
            requests.into_iter().map(|(node, at)| (node, at, Bindings::default())).collect();
        for budget in [0, 64, 1000, usize::MAX] {
            let together = explain_many(
                &case.program,
                &trace,
                &case.options,
                evaluator.as_mut(),
                (&requests, if budget == 64 { &[] } else { &fails }),
                depth,
                budget,
            );
            assert_eq!(together.unwrap(), alone, "seed {seed}, budget {budget}\n{}", describe(&case));
        }
    }
}
