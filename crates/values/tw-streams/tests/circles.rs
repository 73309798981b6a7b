//! Random Boolean equations, most of them around circles, some streams observed: a trace has values where the definition finds
//! one model, and otherwise the error that all equations together give. That there is no model may show earlier than in two passes
//! over all of them, which guess what is known.

use std::fmt::Write;
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Program, What};
use tw_spec::{LowerOptions, lower, parse};
use tw_stream_boolean::{Limits, Passes, Unsolved, Word, models};
use tw_streams::{Boolean, Input, Streams};
use tw_testkit::{Rng, cases};

const NAMES: [&str; 2] = ["x", "z"];

fn expression(random: &mut Rng, streams: usize, depth: usize) -> String {
    if depth == 0 || random.below(4) == 0 {
        let shifted = |random: &mut Rng, name: String| match random.below(5) {
            0 => format!("{name}[-{}|{}]", 1 + random.below(2), random.below(2) == 0),
            1 => format!("{name}[+{}|{}]", 1 + random.below(2), random.below(2) == 0),
            _ => name,
        };
        return match random.below(7) {
            0 => random.pick(&["first", "last", "true"]).to_string(),
            1 | 2 => {
                let name = random.pick(&NAMES).to_string();
                shifted(random, name)
            }
            _ => {
                let name = format!("y{}", random.below(streams));
                shifted(random, name)
            }
        };
    }
    let mut part = || expression(random, streams, depth - 1);
    let (a, b, c) = (part(), part(), part());
    match random.below(7) {
        0 => format!("!{a}"),
        1 => format!("({a} & {b})"),
        2 => format!("({a} | {b})"),
        3 => format!("({a} -> {b})"),
        4 => format!("({a} <-> {b})"),
        _ => format!("(if {a} then {b} else {c})"),
    }
}

fn specification(random: &mut Rng) -> String {
    let streams = 1 + random.below(3);
    let mut text = String::from("var x: bool; var z: bool;\n");
    for number in 0..streams {
        let equation = match random.below(6) {
            // What is free, and what decides for others.
            0 => format!("y{number}"),
            1 => {
                let test = expression(random, streams, 2);
                format!("if {test} then y{number} else !y{number}")
            }
            _ => expression(random, streams, 2),
        };
        let _ = writeln!(text, "stream y{number}: bool = {equation};");
    }
    for number in 0..streams {
        if random.one_in(4) {
            let _ = writeln!(text, "observe y{number};");
        }
    }
    text
}

fn lowered(text: &str) -> Program {
    let tree = parse(text, 0);
    assert!(!tree.has_errors(), "{text}{:?}", tree.diagnostics);
    let program = lower(&tree.value, &LowerOptions::default());
    assert!(!program.has_errors(), "{text}{:?}", program.diagnostics);
    program.value
}

fn batch(program: &Program, columns: &[Bits]) -> Batch {
    let column = |what: &What| match what {
        What::Variable(path, _) => {
            let at = NAMES.iter().position(|name| path.as_name() == Some(name));
            Column::Truth(columns[at.expect("an input")].clone())
        }
        _ => Column::Truth(Bits::repeat(false, columns[0].len())),
    };
    let slots = program.slots.iter().map(|slot| column(&slot.what)).collect();
    Batch { len: columns[0].len(), slots, times: None }
}

/// Values of the observed streams, or the error, by two passes over all equations and, for values, by the definition.
fn expected(program: &Program, columns: &[Bits], text: &str) -> Option<Result<Vec<Bits>, Unsolved>> {
    let all = Boolean::all(program).expect("Boolean equations");
    let column = |input: Input| match input {
        Input::Slot(slot) => match &program.slots[slot as usize].what {
            What::Variable(path, _) => {
                columns[NAMES.iter().position(|name| path.as_name() == Some(name)).expect("an input")].clone()
            }
            what => panic!("{what:?}"),
        },
        Input::Formula(_) => panic!("no formula is an input"),
    };
    let word = Word { len: columns[0].len(), columns: all.inputs().map(column).collect() };
    let spec = all.specification();
    let models = models(spec, &word)?;
    let run = |passes| {
        let program = tw_stream_boolean::Program::new(spec, passes).expect("a small specification");
        program.run(&word, &Limits::default())
    };
    let (two, auto) = (run(Passes::Two), run(Passes::Auto));
    let observed = |model: &Vec<Bits>| spec.observed().into_iter().map(|own| model[own].clone()).collect();
    let mut found: Vec<Vec<Bits>> = models.iter().map(observed).collect();
    found.sort_by_key(|model| format!("{model:?}"));
    found.dedup();
    Some(match (&found[..], two, auto) {
        ([], Err(Unsolved::NoModel { .. }), Err(error @ Unsolved::NoModel { .. })) => Err(error),
        ([one], Ok(_), Ok(_)) => Ok(one.clone()),
        ([_, _, ..], Err(error @ Unsolved::Several { .. }), Err(same)) if error == same => Err(error),
        (found, two, auto) => panic!("{found:?} {two:?} {auto:?}\n{text}"),
    })
}

#[test]
fn a_trace_has_values_where_it_has_one_model() {
    let (mut values, mut none, mut several, mut circles) = (0, 0, 0, 0);
    for seed in 0..cases(6_000) as u64 {
        let random = &mut Rng::new(seed);
        let text = specification(random);
        let program = lowered(&text);
        let streams = Streams::new(&program).expect("there are streams");
        let len = 1 + random.below(5);
        let columns: Vec<Bits> =
            NAMES.iter().map(|_| (0..len).map(|_| random.below(2) == 0).collect()).collect();
        let Some(expected) = expected(&program, &columns, &text) else { continue };
        circles += usize::from(streams.cycle(&program).is_some());
        let mut all = batch(&program, &columns);
        // All of them, or what is needed alone.
        let observed = |slot| program.streams.iter().any(|stream| stream.observed && stream.slot == slot);
        let streams = if random.one_in(2) { streams.only(observed).expect("some") } else { streams };
        let found = streams.whole(&program, &mut all);
        match (&expected, found) {
            (Ok(expected), Ok(())) => {
                values += 1;
                let observed = program.streams.iter().filter(|stream| stream.observed);
                for (stream, bits) in observed.zip(expected) {
                    for at in 0..len {
                        let found = all.slots[stream.slot as usize].value(at);
                        assert_eq!(
                            found,
                            Value::Bool(bits.get(at)),
                            "{} at {at}\n{text}{columns:?}",
                            stream.name
                        );
                    }
                }
            }
            (Err(expected), Err(found)) => {
                none += usize::from(matches!(expected, Unsolved::NoModel { .. }));
                several += usize::from(matches!(expected, Unsolved::Several { .. }));
                let same = |position: usize| {
                    found.message
                        == match expected {
                            Unsolved::NoModel { .. } => Unsolved::NoModel { position }.to_string(),
                            _ => Unsolved::Several { position }.to_string(),
                        }
                };
                let right = match expected {
                    Unsolved::NoModel { position } => (0..=*position).any(same),
                    Unsolved::Several { position } => same(*position),
                    _ => false,
                };
                assert!(right, "seed {seed}: {found:?} for {expected:?}\n{text}{columns:?}");
            }
            (expected, found) => panic!("seed {seed}: {found:?} for {expected:?}\n{text}{columns:?}"),
        }
    }
    println!("{circles} circles: {values} with values, {none} without a model, {several} with several");
    assert!(values > 0 && none > 0 && several > 0);
}

fn run(text: &str, columns: [&[u8]; 2]) -> Result<Vec<Vec<u8>>, String> {
    let program = lowered(text);
    let bits = |column: &[u8]| column.iter().map(|bit| *bit == 1).collect::<Bits>();
    let mut all = batch(&program, &columns.map(bits));
    let streams = Streams::new(&program).expect("there are streams");
    streams.whole(&program, &mut all).map_err(|error| error.message)?;
    let observed = program.streams.iter().filter(|stream| stream.observed);
    let values = |stream: &tw_ir::Stream| {
        let value = |at| u8::from(all.slots[stream.slot as usize].value(at) == Value::Bool(true));
        (0..all.len).map(value).collect()
    };
    Ok(observed.map(values).collect())
}

#[test]
fn circles_that_read_each_other_are_solved_together() {
    let text = "var x: bool; var z: bool; stream u: bool = u;
        stream v: bool = ((v -> u) & (if u[-2|true] then v[-1|true] else x));";
    assert_eq!(run(text, [&[1, 0, 0, 0], &[0; 4]]), Ok(vec![vec![1; 4], vec![1; 4]]));
}

#[test]
fn what_nobody_observes_may_have_several_values() {
    let text = "var x: bool; var z: bool; stream u: bool = u & x; stream v: bool = x[-2|false]; observe v;";
    assert_eq!(run(text, [&[1, 0, 1], &[0; 3]]), Ok(vec![vec![0, 0, 1]]));
    // A model there must be.
    let text = "var x: bool; var z: bool; stream u: bool = u & !u | x; stream v: bool = if u then v else !v;
        stream w: bool = x; observe w;";
    let none = "the input has no model: no values satisfy the equations up to position 1";
    assert_eq!(run(text, [&[1, 0, 1], &[0; 3]]), Err(none.into()));
}

#[test]
fn no_model_is_told_before_several() {
    let text = "var x: bool; var z: bool; stream u: bool = u; stream v: bool = if z then v else !v;";
    let none = "the input has no model: no values satisfy the equations up to position 1";
    assert_eq!(run(text, [&[0; 3], &[1, 0, 1]]), Err(none.into()));
}

/// What is no truth value stands between circles: each side is solved by itself.
#[test]
fn numbers_between_circles_are_computed() {
    let text = "var x: bool; var z: bool; stream u: bool = u & x; stream n: int = if u then 1 else 2;
        stream v: bool = if n > 1 then x else v; stream w: bool = w & x | v; observe u; observe v; observe w;";
    assert_eq!(run(text, [&[0, 0], &[0; 2]]), Ok(vec![vec![0, 0], vec![0, 0], vec![0, 0]]));
    let several = "the input has several models, which first differ at position 1";
    assert_eq!(run(text, [&[0, 1], &[0; 2]]), Err(several.into()));
}
