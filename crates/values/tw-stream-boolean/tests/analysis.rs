//! What analyses say, against enumeration of all short inputs; witnesses are tested by the definition.

mod common;

use common::{Shape, Valuations, random, spec};
use tw_stream_boolean::{
    Analysis, Answer, Budget, Kind, Specification, Witness, Word, analyse, equal, includes, is_empty,
    is_model, is_universal, models,
};
use tw_testkit::{Rng, cases};

/// All inputs of a length.
fn inputs(spec: &Specification, len: usize) -> impl Iterator<Item = Word> {
    let streams = spec.inputs().len();
    (0..1u64 << (streams * len)).map(move |number| {
        let letters: Vec<u64> = (0..len).map(|at| number >> (at * streams) & ((1 << streams) - 1)).collect();
        Word::from_letters(streams, &letters)
    })
}

/// Inputs are enumerated up to this length, with all valuations of the outputs.
const LONGEST: usize = 5;

/// The length of the shortest input up to `longest` of which something is true, given which valuations are its models.
fn shortest(
    spec: &Specification,
    longest: usize,
    test: impl Fn(&Valuations<'_>, &Word, &[u64]) -> bool,
) -> Option<usize> {
    (1..=longest).find(|&len| {
        let valuations = Valuations::new(spec, len);
        inputs(spec, len).any(|input| test(&valuations, &input, &valuations.models(&input)))
    })
}

fn none(models: &[u64]) -> bool {
    models.iter().all(|models| *models == 0)
}

/// Trying valuations 64 at a time is trying them one by one.
#[test]
fn valuations_are_the_definition() {
    for seed in 0..cases(500) {
        let mut rng = Rng::new(seed ^ 0x7ab1e);
        let shape = small(&mut rng);
        let spec = random(&mut rng, &shape);
        let len = 1 + rng.below(10 / shape.outputs).min(4);
        let valuations = Valuations::new(&spec, len);
        for input in inputs(&spec, len).take(20) {
            let found = valuations.models(&input);
            let all: Vec<usize> = (0..shape.outputs).collect();
            let expected = models(&spec, &input).unwrap();
            let count: u32 = found.iter().map(|models| models.count_ones()).sum();
            assert_eq!(count as usize, expected.len(), "seed {seed}\n{spec}");
            assert_eq!(valuations.values(&found, &all).len(), expected.len());
            for model in &expected {
                let bit = |at: usize, output: usize| {
                    usize::from(model[output].get(at)) << (at * shape.outputs + output)
                };
                let places = (0..len).flat_map(|at| (0..shape.outputs).map(move |output| (at, output)));
                let number: usize = places.map(|(at, output)| bit(at, output)).sum();
                assert!(found[number >> 6] >> (number & 63) & 1 == 1, "seed {seed}\n{spec}");
            }
            let distinct = |output: usize| expected.iter().any(|model| model[output] != expected[0][output]);
            assert_eq!(valuations.differ(&found), spec.observed().into_iter().any(distinct));
        }
    }
}

/// Budgets with which states are listed, and with which they are not, so that sets answer.
const BOTH: [Budget; 2] = [Budget { states: 1 << 20, moves: 1 << 23 }, Budget { states: 1 << 20, moves: 0 }];

fn check(spec: &Specification, seed: u64) -> (bool, bool) {
    let analysis = analyse(spec, &Budget::default());
    assert_eq!(analysis.gave_up, None, "seed {seed}\n{spec}");
    let by_sets = analyse(spec, &BOTH[1]);
    let told = |analysis: &Analysis| {
        let witness = |witness: &Witness| (witness.kind, witness.input.len, witness.models.len());
        let witnesses: Vec<_> = analysis.witnesses.iter().map(witness).collect();
        (analysis.under_defined, analysis.over_defined, witnesses, analysis.gave_up)
    };
    assert_eq!(told(&analysis), told(&by_sets), "seed {seed}\n{spec}");
    for witness in &by_sets.witnesses {
        assert!(
            witness.models.iter().all(|model| is_model(spec, &witness.input, model)),
            "seed {seed}\n{spec}"
        );
    }
    let longest = LONGEST;
    let kinds = [
        (
            Kind::TwoModels,
            analysis.under_defined,
            shortest(spec, longest, |valuations, _, models| valuations.differ(models)),
        ),
        (Kind::NoModel, analysis.over_defined, shortest(spec, longest, |_, _, models| none(models))),
    ];
    for (kind, answer, expected) in kinds {
        let witness = analysis.witnesses.iter().find(|witness| witness.kind == kind);
        assert_eq!(answer, Some(witness.is_some()), "seed {seed}\n{spec}");
        let len = witness.map(|witness| witness.input.len);
        let known = len.filter(|len| *len <= longest);
        assert_eq!(known, expected, "seed {seed}: {kind:?}, witness of {len:?}\n{spec}");
        let Some(witness) = witness else { continue };
        for model in &witness.models {
            assert!(is_model(spec, &witness.input, model), "seed {seed}: {kind:?}\n{spec}");
        }
        match kind {
            Kind::TwoModels => {
                let [one, other] = &witness.models[..] else { panic!("seed {seed}: two models\n{spec}") };
                assert!(spec.observed().iter().any(|&output| one[output] != other[output]), "{spec}");
            }
            Kind::NoModel => {
                assert!(witness.models.is_empty());
                if let Some(all) = models(spec, &witness.input) {
                    assert!(all.is_empty(), "seed {seed}\n{spec}");
                }
            }
        }
    }
    let (under, over) = (analysis.under_defined == Some(true), analysis.over_defined == Some(true));
    assert_eq!(analysis.well_defined, Some(!under && !over));
    assert!(!analysis.well_formed || !under && !over);
    (under, over)
}

fn small(rng: &mut Rng) -> Shape {
    Shape {
        inputs: rng.below(3),
        outputs: 1 + rng.below(3),
        offset: 1 + rng.below(2),
        size: 1 + rng.below(4),
        present: rng.pick(&[0, 30, 60]),
        observe: true,
    }
}

#[test]
fn verdicts_are_those_of_enumeration() {
    let mut seen = [0; 4];
    for seed in 0..cases(1500) {
        let mut rng = Rng::new(seed ^ 0xa11);
        let shape = small(&mut rng);
        let spec = random(&mut rng, &shape);
        let (under, over) = check(&spec, seed);
        seen[usize::from(under) + 2 * usize::from(over)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn languages_are_those_of_enumeration() {
    let budget = Budget::default();
    let mut seen = [[0; 2]; 4];
    for seed in 0..cases(600) {
        let mut rng = Rng::new(seed ^ 0x1a9);
        let shape = Shape { inputs: 1, outputs: 2, observe: false, ..small(&mut rng) };
        let (a, b) = (random(&mut rng, &shape), random(&mut rng, &shape));
        let told = format!("seed {seed}\n{a}\n{b}");
        // Of each question: the answer, the length of what was shown, and what it has to show.
        let empty = is_empty(&a, &budget).unwrap();
        let universal = is_universal(&a, &budget).unwrap();
        let within = includes(&a, &b, &budget).unwrap();
        let of_b = |input: &Word| Valuations::new(&b, input.len).models(input);
        let answers = [
            (&empty, shortest(&a, LONGEST, |_, _, models| !none(models))),
            (&universal, shortest(&a, LONGEST, |_, _, models| none(models))),
            (&within, shortest(&a, LONGEST, |_, input, models| none(models) && !none(&of_b(input)))),
        ];
        let sets = [is_empty(&a, &BOTH[1]).unwrap(), is_universal(&a, &BOTH[1]).unwrap()];
        for (listed, set) in [&empty, &universal].into_iter().zip(&sets) {
            let len = |answer: &Answer| answer.input.as_ref().map(|input| input.len);
            assert_eq!((listed.answer, len(listed)), (set.answer, len(set)), "{told}");
            if let (Some(input), Some(model)) = (&set.input, &set.model) {
                assert!(is_model(&a, input, model), "{told}");
            }
        }
        for (nth, (answer, expected)) in answers.into_iter().enumerate() {
            let len = answer.input.as_ref().map(|input| input.len);
            assert_eq!(answer.answer, len.is_none(), "{told}");
            assert_eq!(len.filter(|len| *len <= LONGEST), expected, "question {nth}, {told}");
            seen[nth][usize::from(answer.answer)] += 1;
        }
        if let (Some(input), Some(model)) = (&empty.input, &empty.model) {
            assert!(is_model(&a, input, model), "{told}");
        }
        if let (Some(input), Some(model)) = (&within.input, &within.model) {
            assert!(is_model(&b, input, model), "{told}");
        }
        let on =
            if rng.one_in(2) { vec!["y0".to_string()] } else { vec!["y0".to_string(), "y1".to_string()] };
        // Half of the pairs differ by equations that say the same.
        let b = if rng.one_in(2) { spec(&equivalent(&a)) } else { b };
        let places = |spec: &Specification| -> Vec<usize> {
            let place = |name: &String| spec.outputs().iter().position(|output| output == name).unwrap();
            on.iter().map(place).collect()
        };
        let (in_a, in_b) = (places(&a), places(&b));
        // As far as all values of a word fit 20 bits.
        let longest = LONGEST.min(20 / b.outputs().len());
        let expected = shortest(&a, longest, |own, input, models| {
            let other = Valuations::new(&b, input.len);
            own.values(models, &in_a) != other.values(&other.models(input), &in_b)
        });
        let difference = equal(&a, &b, &on, &budget).unwrap().unwrap();
        let len = difference.as_ref().map(|difference| difference.input.len);
        assert_eq!(len.filter(|len| *len <= longest), expected, "{on:?}, {told}");
        seen[3][usize::from(len.is_none())] += 1;
        if let Some(difference) = difference.filter(|difference| difference.input.len <= longest) {
            let len = difference.input.len;
            let bits = (0..len).flat_map(|at| difference.values.iter().map(move |bits| bits.get(at)));
            let shown = bits.fold(0, |values, bit| values << 1 | u64::from(bit));
            let allows = |spec: &Specification, on: &[usize]| {
                let valuations = Valuations::new(spec, len);
                valuations.values(&valuations.models(&difference.input), on).contains(&shown)
            };
            let allowed = (allows(&a, &in_a), allows(&b, &in_b));
            assert_eq!(allowed, (difference.first, !difference.first), "{told}");
        }
    }
    assert!(seen.iter().flatten().all(|count| *count > 0), "{seen:?}");
}

/// The same equations, written as negations of negations with a new stream between.
fn equivalent(spec: &Specification) -> String {
    let mut text = String::new();
    for (nth, name) in spec.outputs().iter().enumerate() {
        text.push_str(&format!("{name} = !not_{name}; not_{name} = !({});", spec.equation_text(nth)));
    }
    // Inputs in the same order, whether they are used or not.
    spec.inputs().iter().for_each(|name| text.push_str(&format!("unused_{name} = {name};")));
    text
}

/// A chain of delays has as many states as values can stand in it: too many to be listed, few diagrams.
#[test]
fn sets_answer_where_states_are_too_many() {
    let delays = 20;
    let mut text = String::from("d0 = x; ");
    let mut holds = String::from("true");
    for nth in 1..=delays {
        text.push_str(&format!("d{nth} = d{nth}; "));
        holds.push_str(&format!(" & (d{nth} <-> d{}[-1|0])", nth - 1));
    }
    text.push_str(&format!("c = if {holds} then c else !c"));
    let budget = Budget { states: 1 << 17, moves: 1 << 12 };
    // The control stream has two values.
    let control = spec(&text);
    let analysis = analyse(&control, &budget);
    assert_eq!(analysis.under_defined, Some(true));
    let lengths: Vec<_> =
        analysis.witnesses.iter().map(|witness| (witness.kind, witness.input.len)).collect();
    assert_eq!(lengths, [(Kind::TwoModels, 1)]);
    // Without it every value is that of the input some positions before.
    let delayed = spec(&format!("{text}; observe d{delays}"));
    assert_eq!(analyse(&delayed, &budget).under_defined, Some(false));
    // What comes out has to be true at the end: the shortest input with a model is as long as the chain.
    let end = spec(&format!("{text}; z = if last & !d{delays} then !z else 0"));
    let found = is_empty(&end, &budget).unwrap();
    assert_eq!((found.answer, found.input.map(|input| input.len)), (false, Some(delays + 1)));
}

#[test]
fn a_small_budget_gives_up() {
    let spec = spec("y = if x[+3|0] then y[-3|1] else y[+3|0]; z = if y then z else !z[-2|0]");
    let analysis = analyse(&spec, &Budget { states: 4, moves: 1 << 20 });
    assert_eq!((analysis.well_defined, analysis.gave_up.is_some()), (None, true));
    assert!(analyse(&spec, &Budget::default()).gave_up.is_none());
}
