//! Every engine against the definition, on random specifications and inputs.

mod common;

use common::{Shape, input, random, text};
use tw_core::Bits;
use tw_stream_boolean::{
    Id, Limits, Live, Node, Passes, Program, Specification, Unsolved, Word, is_model, models,
};
use tw_testkit::{Rng, cases};

fn told(spec: &Specification, input: &Word) -> String {
    let columns: Vec<String> = input.columns.iter().map(text).collect();
    format!("{spec}input {columns:?} of {}", input.len)
}

/// The first position at which models differ in what is observed.
fn first_difference(spec: &Specification, models: &[Vec<Bits>], len: usize) -> Option<usize> {
    let observed = spec.observed();
    (0..len).find(|&at| {
        models
            .iter()
            .any(|model| observed.iter().any(|&output| model[output].get(at) != models[0][output].get(at)))
    })
}

fn live(spec: &Specification, input: &Word) -> Option<Vec<Bits>> {
    let mut live = Live::new(spec)?;
    let mut row = vec![false; spec.outputs().len()];
    let mut found = vec![Bits::new(); row.len()];
    let mut next = 0;
    let mut put = |position: u64, row: &[bool]| {
        assert_eq!(position, next);
        next += 1;
        found.iter_mut().zip(row).for_each(|(bits, &value)| bits.push(value));
    };
    for position in 0..input.len {
        let values: Vec<bool> = input.columns.iter().map(|bits| bits.get(position)).collect();
        if let Some(at) = live.push(&values, &mut row) {
            assert_eq!(at + live.delay(), position as u64);
            put(at, &row);
        }
        if position % 3 == 1 {
            // Saved, and gone on with elsewhere.
            let mut saved = Vec::new();
            live.save(&mut saved);
            let mut other = Live::new(spec)?;
            other.load(&mut &saved[..]).unwrap();
            live = other;
        }
    }
    while let Some(at) = live.finish(&mut row) {
        put(at, &row);
    }
    Some(found)
}

/// The outputs that have a value are the model's; observed ones have one.
fn agree(spec: &Specification, found: &[Option<Bits>], model: &[Bits]) -> bool {
    (0..model.len()).all(|output| match &found[output] {
        Some(bits) => *bits == model[output],
        None => !spec.is_observed(output),
    })
}

/// The first position up to which no values satisfy all equations, by trying all.
fn first_contradiction(spec: &Specification, input: &Word) -> usize {
    let outputs = spec.outputs().len();
    let all = 1u64 << (outputs * input.len);
    let fails = |valuation: u64| {
        let letters: Vec<u64> = (0..input.len).map(|at| valuation >> (at * outputs)).collect();
        first_failure(spec, input, &Word::from_letters(outputs, &letters).columns).unwrap()
    };
    (0..all).map(fails).max().unwrap()
}

/// The first position at which some equation does not hold.
fn first_failure(spec: &Specification, input: &Word, outputs: &[Bits]) -> Option<usize> {
    fn value(spec: &Specification, id: Id, at: usize, input: &Word, outputs: &[Bits]) -> bool {
        let of = |id: Id| value(spec, id, at, input, outputs);
        let place = |offset: i32| at.checked_add_signed(offset as isize).filter(|place| *place < input.len);
        match spec.nodes()[id as usize] {
            Node::Stream { stream, offset, default } => place(offset).map_or(default, |place| {
                spec.as_output(stream)
                    .map_or_else(|| &input.columns[stream as usize], |output| &outputs[output])
                    .get(place)
            }),
            Node::Outside(offset) => place(offset).is_none(),
            node => node.apply(|id| if of(id) { u64::MAX } else { 0 }) & 1 == 1,
        }
    }
    (0..input.len).find(|&at| {
        (0..outputs.len())
            .any(|output| outputs[output].get(at) != value(spec, spec.equation(output), at, input, outputs))
    })
}

fn check(spec: &Specification, input: &Word) -> usize {
    let all = models(spec, input).unwrap();
    let difference = first_difference(spec, &all, input.len);
    for passes in [Passes::Auto, Passes::Two, Passes::Classic] {
        let found = match Program::new(spec, passes) {
            Ok(program) => program.run(input, &Limits::default()),
            Err(Unsolved::NotWellFormed) => continue,
            Err(other) => panic!("{other}: {}", told(spec, input)),
        };
        match (all.len(), difference, found) {
            // What is known from well-formed equations may show it earlier.
            (0, _, Err(Unsolved::NoModel { position }))
                if spec.outputs().len() * input.len > 8
                    || position == first_contradiction(spec, input)
                    || passes == Passes::Auto && position < first_contradiction(spec, input) => {}
            (1.., Some(at), Err(Unsolved::Several { position })) if at == position => {}
            (1.., None, Ok(found)) if agree(spec, &found, &all[0]) => {}
            (count, at, found) => panic!(
                "{passes:?}: {count} models, difference {at:?}, found {found:?}\n{}\nmodels {:?}",
                told(spec, input),
                all.iter().map(|model| model.iter().map(text).collect::<Vec<_>>()).collect::<Vec<_>>()
            ),
        }
    }
    if let Some(found) = live(spec, input) {
        assert_eq!(vec![found], all, "live: {}", told(spec, input));
    }
    all.len()
}

#[test]
fn engines_are_the_definition_on_small_inputs() {
    let mut counts = [0usize; 3];
    for seed in 0..cases(25_000) {
        let mut rng = Rng::new(seed);
        let shape = Shape {
            inputs: rng.below(3),
            outputs: 1 + rng.below(3),
            offset: 1 + rng.below(3),
            size: 1 + rng.below(5),
            present: rng.pick(&[0, 20, 60]),
            observe: true,
        };
        let spec = random(&mut rng, &shape);
        for _ in 0..4 {
            let len = 1 + rng.below(12 / shape.outputs).min(5);
            let input = input(&mut rng, shape.inputs, len);
            counts[check(&spec, &input).min(2)] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count * 50 > counts[1]), "{counts:?}");
}

/// Long traces go by words and tables: what is found is a model, and all ways find the same.
#[test]
fn engines_agree_on_long_inputs() {
    let (mut solved, mut tables) = (0, 0);
    for seed in 0..cases(3_000) {
        let mut rng = Rng::new(seed ^ 0x5eed);
        let shape = Shape {
            inputs: rng.below(4),
            outputs: 1 + rng.below(6),
            offset: rng.pick(&[1, 1, 2, 3, 70]),
            size: 1 + rng.below(5),
            present: rng.pick(&[0, 5, 30]),
            observe: false,
        };
        let spec = random(&mut rng, &shape);
        let len = rng.pick(&[63, 64, 65, 200, 700, 3000, 9000]) + rng.below(5);
        let input = input(&mut rng, shape.inputs, len);
        let limits = Limits { sets: 1 << 10, ..Limits::default() };
        let mut results = Vec::new();
        for passes in [Passes::Auto, Passes::Two, Passes::Classic] {
            match Program::new(&spec, passes).and_then(|program| program.run(&input, &limits)) {
                Ok(found) => results.push(Ok(found.into_iter().flatten().collect::<Vec<_>>())),
                Err(Unsolved::NoModel { .. }) => results.push(Err(None)),
                Err(Unsolved::Several { position }) => results.push(Err(Some(position))),
                Err(Unsolved::NotWellFormed | Unsolved::TooLarge { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        if let Some(found) = live(&spec, &input) {
            results.push(Ok(found));
        }
        if let Some(Ok(first)) = results.first() {
            solved += 1;
            tables += usize::from(results.len() > 1 && len > 1000);
            assert!(is_model(&spec, &input, first), "seed {seed}: no model\n{spec}");
        }
        for result in &results {
            if result != &results[0] {
                let differ = |a: &[Bits], b: &[Bits]| {
                    (0..len).find(|&at| a.iter().zip(b).any(|(a, b)| a.get(at) != b.get(at)))
                };
                let at = match (&results[0], result) {
                    (Ok(a), Ok(b)) => format!("differ at {:?}", differ(a, b)),
                    (a, b) => format!("{:?} and {:?}", a.as_ref().err(), b.as_ref().err()),
                };
                panic!("seed {seed}, {len} positions: {at}\n{spec}");
            }
        }
    }
    assert!(solved * 10 > cases(3_000) && tables > 0, "{solved} {tables}");
}
