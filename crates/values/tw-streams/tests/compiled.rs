//! Compiled equations against the definition: random specifications of all types, columns of all kinds, batches of every size,
//! saved and loaded in between; values to the last bit, errors to the last word.

use std::fmt::Write;
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Expect, Program, What};
use tw_spec::{LowerOptions, lower, parse};
use tw_streams::{Pass, StreamError, Streams};
use tw_testkit::{Rng, cases};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Type {
    Bool,
    Int,
    Real,
    Text,
}

const TYPES: [(Type, &str); 4] =
    [(Type::Bool, "bool"), (Type::Int, "int"), (Type::Real, "real"), (Type::Text, "string")];

struct Writer<'r> {
    random: &'r mut Rng,
    /// Names of each type: inputs, then streams.
    names: Vec<(String, Type)>,
    /// How many of them can be read at the same position.
    known: usize,
    /// Whether numbers are so large that sums overflow.
    large: bool,
}

impl Writer<'_> {
    fn default(&mut self, ty: Type) -> String {
        match (ty, self.random.below(5)) {
            (Type::Bool, n) => (n % 2 == 0).to_string(),
            (Type::Int | Type::Real, 0) => "null".into(),
            (Type::Real, 1) => "0.5".into(),
            (Type::Real, 2) => "-0.0".into(),
            (Type::Int | Type::Real, n) => (n as i64 - 3).to_string(),
            (Type::Text, _) => "\"a\"".into(),
        }
    }

    fn name(&mut self, ty: Type) -> Option<String> {
        let fits: Vec<usize> = (0..self.names.len()).filter(|&at| self.names[at].1 == ty).collect();
        let at = *fits.get(self.random.below(fits.len().max(1)))?;
        let name = self.names[at].0.clone();
        if at < self.known && self.random.below(2) == 0 {
            return Some(name);
        }
        let by = [1, 1, 1, 2, 3, 7][self.random.below(6)];
        Some(format!("{name}[-{by}|{}]", self.default(ty)))
    }

    fn literal(&mut self, ty: Type) -> String {
        match ty {
            Type::Bool => ["true", "false", "first"][self.random.below(3)].into(),
            Type::Int if self.large && self.random.below(3) == 0 => {
                ["4611686018427387904", "9007199254740993", "9223372036854775807"][self.random.below(3)]
                    .into()
            }
            Type::Int => format!("({})", self.random.below(9) as i64 - 4),
            Type::Real => ["0.5", "1.5", "0.25", "(-2.5)", "1e308", "0.0"][self.random.below(6)].into(),
            Type::Text => ["\"a\"", "\"b\""][self.random.below(2)].into(),
        }
    }

    /// Numbers of either type.
    fn number(&mut self, depth: usize) -> String {
        let ty = if self.random.below(2) == 0 { Type::Int } else { Type::Real };
        self.expr(ty, depth)
    }

    fn expr(&mut self, ty: Type, depth: usize) -> String {
        if depth == 0 || self.random.below(4) == 0 {
            return match self.random.below(4) {
                0 => self.literal(ty),
                _ => self.name(ty).unwrap_or_else(|| self.literal(ty)),
            };
        }
        let depth = depth - 1;
        let choice = self.random.below(8);
        if choice < 2 {
            let (c, a) = (self.expr(Type::Bool, depth), self.expr(ty, depth));
            // A whole number is a number.
            let b = if ty == Type::Real { self.number(depth) } else { self.expr(ty, depth) };
            return format!("(if {c} then {a} else {b})");
        }
        match ty {
            Type::Bool => match choice {
                2 => format!("!({})", self.expr(Type::Bool, depth)),
                3 | 4 => {
                    let op = ["&", "|", "^", "->", "<->"][self.random.below(5)];
                    format!("({} {op} {})", self.expr(Type::Bool, depth), self.expr(Type::Bool, depth))
                }
                5 => {
                    let op = ["==", "!=", "<", "<=", ">", ">="][self.random.below(6)];
                    format!("({} {op} {})", self.number(depth), self.number(depth))
                }
                6 => match self.random.below(3) {
                    0 => format!("({} in {{1, 2.5, 3..4}})", self.number(depth)),
                    1 => format!("has({})", self.number(depth)),
                    _ => {
                        let op = ["==", "!=", "<"][self.random.below(3)];
                        format!("({} {op} \"b\")", self.expr(Type::Text, depth))
                    }
                },
                _ => format!("(({}) == ({}))", self.expr(Type::Real, depth), self.expr(Type::Int, depth)),
            },
            Type::Int => match choice {
                2 => format!("-({})", self.expr(ty, depth)),
                3 => format!("abs({})", self.expr(ty, depth)),
                4 => format!("({} ?? {})", self.expr(ty, depth), self.literal(ty)),
                _ => self.arithmetic(ty, depth),
            },
            Type::Real => match choice {
                2 => format!("-({})", self.number(depth)),
                3 => format!("abs({})", self.number(depth)),
                4 => format!("({} ?? {})", self.number(depth), self.literal(ty)),
                5 => format!("({} / {})", self.number(depth), self.number(depth)),
                _ => self.arithmetic(ty, depth),
            },
            Type::Text => self.name(ty).unwrap_or_else(|| self.literal(ty)),
        }
    }

    fn arithmetic(&mut self, ty: Type, depth: usize) -> String {
        let part = |writer: &mut Self| match ty {
            Type::Real => writer.number(depth),
            _ => writer.expr(ty, depth),
        };
        let (a, b) = (part(self), part(self));
        match self.random.below(6) {
            0 => format!("min({a}, {b})"),
            1 => format!("max({a}, {b})"),
            2 => format!("({a} % {b})"),
            3 => format!("({a} * {b})"),
            4 => format!("({a} - {b})"),
            _ => format!("({a} + {b})"),
        }
    }
}

fn specification(random: &mut Rng) -> String {
    let mut text = String::from("var p: bool; var n: int; var x: real; var z: real; var s: string;\n");
    let inputs =
        [("p", Type::Bool), ("n", Type::Int), ("x", Type::Real), ("z", Type::Real), ("s", Type::Text)];
    let mut names: Vec<(String, Type)> = inputs.map(|(name, ty)| (name.to_owned(), ty)).to_vec();
    let kinds = [Type::Bool, Type::Int, Type::Real, Type::Real, Type::Text];
    for stream in 0..1 + random.below(5) {
        let texts = usize::from(random.below(3) == 0);
        names.push((format!("y{stream}"), kinds[random.below(4 + texts)]));
    }
    let (large, keyed) = (random.below(4) == 0, random.below(6) == 0);
    for at in inputs.len()..names.len() {
        let (name, ty) = names[at].clone();
        let known = at;
        let mut writer = Writer { random, names: names.clone(), known, large };
        let equation = writer.expr(ty, 3);
        let declared = TYPES.iter().find(|(known, _)| *known == ty).map_or("", |(_, name)| name);
        let by = if keyed && random.below(4) == 0 { " by n" } else { "" };
        let _ = writeln!(text, "stream {name}: {declared} = {equation}{by};");
    }
    text
}

/// A column of the kind that a reader delivers.
fn column(random: &mut Rng, what: &What, len: usize, style: usize) -> Column {
    let valid: Bits = (0..len).map(|_| style.is_multiple_of(2) || random.below(4) > 0).collect();
    let number = |random: &mut Rng| match random.below(20) {
        0 => i64::MAX - random.below(3) as i64,
        1 => 9_007_199_254_740_993,
        _ => random.below(9) as i64 - 4,
    };
    let small = |random: &mut Rng| random.below(9) as i64 - 4;
    let real = |random: &mut Rng| [0.0, -0.0, 0.5, -1.5, 2.25, 3.0, 1e300][random.below(7)];
    match what {
        What::Variable(_, Expect::Bool) | What::Proposition(_) => {
            Column::Truth((0..len).map(|_| random.below(2) == 0).collect())
        }
        What::Variable(_, Expect::Int) => {
            let values = (0..len).map(|_| if style >= 4 { number(random) } else { small(random) });
            Column::Int { values: values.collect(), valid }
        }
        What::Variable(_, Expect::Text | Expect::Line) => {
            let text = |at: usize| match valid.get(at) {
                true => Value::text(["a", "b", "c"][random.below(3)]),
                false => Value::Null,
            };
            Column::of_values((0..len).map(text).collect())
        }
        What::Variable(..) => match style % 3 {
            0 => Column::Real { values: (0..len).map(|_| real(random)).collect(), valid },
            1 if style >= 4 => Column::Int { values: (0..len).map(|_| small(random)).collect(), valid },
            _ => {
                let value = |at: usize| match (valid.get(at), random.below(2)) {
                    (false, _) => Value::Null,
                    (_, 0) => Value::Int(if style >= 6 { number(random) } else { small(random) }),
                    _ => Value::Real(real(random)),
                };
                Column::Any((0..len).map(value).collect())
            }
        },
        _ => Column::Truth(Bits::repeat(false, len)),
    }
}

/// The batch as a program delivers it that has one position at a time.
fn one_by_one(
    pass: &mut Pass,
    streams: &Streams,
    program: &Program,
    batch: &mut Batch,
) -> Result<(), StreamError> {
    let mut columns: Vec<Vec<Value>> = vec![Vec::new(); program.streams.len()];
    for at in 0..batch.len {
        let mut row: Vec<Value> = batch.slots.iter().map(|column| column.value(at)).collect();
        pass.row(streams, program, None, &mut row)?;
        for (column, stream) in columns.iter_mut().zip(&program.streams) {
            column.push(row[stream.slot as usize].clone());
        }
    }
    for (column, stream) in columns.into_iter().zip(&program.streams) {
        batch.slots[stream.slot as usize] = Column::Any(column);
    }
    Ok(())
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

fn lowered(text: &str) -> Option<Program> {
    let tree = parse(text, 0);
    assert!(!tree.has_errors(), "{text}{:?}", tree.diagnostics);
    let program = lower(&tree.value, &LowerOptions::default());
    // Some combinations are no terms of the language.
    (!program.has_errors()).then_some(program.value)
}

#[test]
fn compiled_equations_are_the_equations() {
    let (mut compared, mut errors, mut compiled) = (0u64, 0, 0);
    for seed in 0..cases(10_000) as u64 {
        let random = &mut Rng::new(seed);
        let text = specification(random);
        let Some(program) = lowered(&text) else { continue };
        let streams = Streams::new(&program).expect("there are streams");
        if !streams.looks_back() {
            continue;
        }
        let (mut pass, mut definition) = (Pass::default(), Pass::default().by_definition());
        let mut style = random.below(8);
        for number in 0..1 + random.below(4) {
            if random.below(4) == 0 {
                style = random.below(8);
            }
            let len = [1, 1, 2, 5, 40, 64, 65, 150][random.below(8)];
            let mut batch = Batch {
                len,
                slots: program.slots.iter().map(|slot| column(random, &slot.what, len, style)).collect(),
                times: None,
            };
            let mut expected = batch.clone();
            let rows = random.below(3) == 0;
            let found = match rows {
                true => one_by_one(&mut pass, &streams, &program, &mut batch),
                false => pass.fill(&streams, &program, &mut batch),
            };
            let wanted = definition.fill(&streams, &program, &mut expected);
            // Who goes position by position meets the first error, who goes stream by stream that of the first stream.
            match (&found, &wanted) {
                (Err(_), Err(_)) if rows => {}
                _ => assert_eq!(found, wanted, "seed {seed}, batch {number}\n{text}"),
            }
            if found.is_err() {
                errors += 1;
                break;
            }
            for stream in &program.streams {
                let slot = stream.slot as usize;
                for at in 0..len {
                    let (found, wanted) = (batch.slots[slot].value(at), expected.slots[slot].value(at));
                    assert!(
                        same(&found, &wanted),
                        "seed {seed}, batch {number} of {len}: {} at {at} is {found:?}, not {wanted:?}\n{text}{:?}",
                        stream.name,
                        expected.slots
                    );
                    compared += 1;
                }
            }
            compiled += usize::from(pass.is_compiled());
            if random.below(3) == 0 {
                let (mut saved, mut other) = (Vec::new(), Vec::new());
                pass.save(&mut saved);
                definition.save(&mut other);
                assert!(saved == other, "seed {seed}, batch {number}: what is held differs\n{text}");
                pass = Pass::load(&streams, &mut saved.as_slice()).expect("what was saved");
                definition =
                    Pass::load(&streams, &mut other.as_slice()).expect("what was saved").by_definition();
            }
        }
    }
    println!("{compared} values, {errors} errors, {compiled} batches compiled");
    assert!(compared > 0 && errors > 0 && compiled > 0);
}

/// What somebody reads is the same whether or not the rest is computed; who asks only for values to be there finds the same errors.
#[test]
fn what_is_read_is_the_same_alone() {
    let (mut compared, mut errors) = (0u64, 0);
    for seed in 0..cases(4_000) as u64 {
        let random = &mut Rng::new(seed ^ 0x0a1e);
        let text = specification(random);
        let Some(program) = lowered(&text) else { continue };
        let streams = Streams::new(&program).expect("there are streams");
        if !streams.looks_back() {
            continue;
        }
        let wanted: Vec<_> = program.derived().filter(|_| random.below(3) == 0).collect();
        let only = streams.only(|slot| wanted.contains(&slot));
        let stream = |slot| program.streams.iter().any(|stream| stream.slot == slot);
        assert!(only.is_some() || !wanted.iter().any(|&slot| stream(slot)), "seed {seed}\n{text}");
        let unseen = streams.clone().unseen();
        let (mut definition, mut part, mut none) =
            (Pass::default().by_definition(), Pass::default(), Pass::default());
        let mut style = random.below(8);
        for number in 0..1 + random.below(4) {
            if random.below(4) == 0 {
                style = random.below(8);
            }
            let len = [1, 5, 64, 65, 150][random.below(5)];
            let slots = program.slots.iter().map(|slot| column(random, &slot.what, len, style)).collect();
            let mut expected = Batch { len, slots, times: None };
            let (mut alone, mut unread) = (expected.clone(), expected.clone());
            let whole = definition.fill(&streams, &program, &mut expected);
            let told = none.fill(&unseen, &program, &mut unread);
            assert_eq!(told.is_err(), whole.is_err(), "seed {seed}, batch {number}\n{text}{told:?}{whole:?}");
            let found = only.as_ref().map_or(Ok(()), |only| part.fill(only, &program, &mut alone));
            if whole.is_err() {
                errors += 1;
                break;
            }
            assert_eq!(found, Ok(()), "seed {seed}, batch {number}\n{text}");
            for &slot in &wanted {
                for at in 0..len {
                    let (found, wanted) =
                        (alone.slots[slot as usize].value(at), expected.slots[slot as usize].value(at));
                    assert!(
                        same(&found, &wanted),
                        "seed {seed}, batch {number} of {len}: slot {slot} at {at} is {found:?}, not {wanted:?}\n{text}"
                    );
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} values, {errors} errors");
    assert!(compared > 0 && errors > 0);
}
