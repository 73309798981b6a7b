//! What analyses say, against enumeration of all short inputs; witnesses are tested by the definition.

mod common;

use common::{Shape, random, spec};
use tw_stream_boolean::{
    Budget, Kind, Specification, Word, analyse, equal, includes, is_empty, is_model, is_universal, models,
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

/// The values of the observed outputs that models of an input have, each once.
fn observed(spec: &Specification, input: &Word) -> Vec<Vec<tw_core::Bits>> {
    let mut found: Vec<Vec<tw_core::Bits>> = Vec::new();
    for model in models(spec, input).unwrap() {
        let values: Vec<_> = spec.observed().into_iter().map(|output| model[output].clone()).collect();
        if !found.contains(&values) {
            found.push(values);
        }
    }
    found
}

/// The length of the shortest input up to `longest` of which something is true.
fn shortest(spec: &Specification, longest: usize, test: impl Fn(&Word) -> bool) -> Option<usize> {
    (1..=longest).find(|&len| inputs(spec, len).any(|input| test(&input)))
}

/// How long inputs are enumerated: as far as all values of a word fit so many bits, 5 at most.
fn longest(spec: &Specification, bits: usize) -> usize {
    (bits / (spec.outputs().len() + spec.inputs().len())).clamp(3, 5)
}

fn check(spec: &Specification, seed: u64) -> (bool, bool) {
    let analysis = analyse(spec, &Budget::default());
    assert_eq!(analysis.gave_up, None, "seed {seed}\n{spec}");
    // Some are looked at more closely.
    let longest = longest(spec, if seed.is_multiple_of(250) { 20 } else { 15 });
    let kinds = [
        (
            Kind::TwoModels,
            analysis.under_defined,
            shortest(spec, longest, |input| observed(spec, input).len() > 1),
        ),
        (
            Kind::NoModel,
            analysis.over_defined,
            shortest(spec, longest, |input| observed(spec, input).is_empty()),
        ),
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
        let accepts = |spec: &Specification, input: &Word| !models(spec, input).unwrap().is_empty();
        let told = format!("seed {seed}\n{a}\n{b}");
        // Of each question: the answer, the length of what was shown, and what it has to show.
        let empty = is_empty(&a, &budget).unwrap();
        let universal = is_universal(&a, &budget).unwrap();
        let within = includes(&a, &b, &budget).unwrap();
        let answers = [
            (&empty, shortest(&a, 4, |input| accepts(&a, input))),
            (&universal, shortest(&a, 4, |input| !accepts(&a, input))),
            (&within, shortest(&a, 4, |input| accepts(&b, input) && !accepts(&a, input))),
        ];
        for (nth, (answer, expected)) in answers.into_iter().enumerate() {
            let len = answer.input.as_ref().map(|input| input.len);
            assert_eq!(answer.answer, len.is_none(), "{told}");
            assert_eq!(len.filter(|len| *len <= 4), expected, "question {nth}, {told}");
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
        let values = |spec: &Specification, input: &Word| {
            let places: Vec<usize> = on
                .iter()
                .map(|name| spec.outputs().iter().position(|output| output == name).unwrap())
                .collect();
            let project = |model: Vec<tw_core::Bits>| -> Vec<tw_core::Bits> {
                places.iter().map(|&output| model[output].clone()).collect()
            };
            let mut all: Vec<_> = models(spec, input).unwrap().into_iter().map(project).collect();
            all.sort_by_key(|columns| columns.iter().map(|bits| bits.words().to_vec()).collect::<Vec<_>>());
            all.dedup();
            all
        };
        let difference = equal(&a, &b, &on, &budget).unwrap().unwrap();
        let expected = shortest(&a, 3, |input| values(&a, input) != values(&b, input));
        let len = difference.as_ref().map(|difference| difference.input.len);
        assert_eq!(len.filter(|len| *len <= 3), expected, "{on:?}, {told}");
        seen[3][usize::from(len.is_none())] += 1;
        if let Some(difference) = difference
            && difference.input.len <= 3
        {
            let [yes, no] = if difference.first { [&a, &b] } else { [&b, &a] };
            assert!(values(yes, &difference.input).contains(&difference.values), "{told}");
            assert!(!values(no, &difference.input).contains(&difference.values), "{told}");
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

#[test]
fn a_small_budget_gives_up() {
    let spec = spec("y = if x[+3|0] then y[-3|1] else y[+3|0]; z = if y then z else !z[-2|0]");
    let analysis = analyse(&spec, &Budget { states: 4, moves: 1 << 20 });
    assert_eq!((analysis.well_defined, analysis.gave_up.is_some()), (None, true));
    assert!(analyse(&spec, &Budget::default()).gave_up.is_none());
}
