//! Random equations on random traces: what is computed is what the equations say, followed one by one.

use std::cell::RefCell;
use std::fmt::Write;
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Program, What};
use tw_spec::{LowerOptions, lower, parse};
use tw_streams::{Ahead, Pass, Streams};
use tw_testkit::{Rng, cases};

#[derive(Clone, Debug)]
enum Expr {
    Truth(bool),
    Number(i64),
    /// A name, its offset and its default, if it has one.
    Name(usize, Option<(i64, i64)>),
    First,
    Last,
    Not(Box<Expr>),
    Logic(&'static str, Box<Expr>, Box<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Has(Box<Expr>),
    Arithmetic(&'static str, Box<Expr>, Box<Expr>),
    Or(Box<Expr>, i64),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Names: two inputs, then streams; whether each is Boolean.
struct Spec {
    streams: Vec<(bool, Expr, bool)>,
}

const INPUTS: usize = 2;

impl Spec {
    fn is_bool(&self, name: usize) -> bool {
        if name < INPUTS { name == 0 } else { self.streams[name - INPUTS].0 }
    }

    fn name(&self, name: usize) -> String {
        match name {
            0 => "p".into(),
            1 => "n".into(),
            stream => format!("y{}", stream - INPUTS),
        }
    }

    fn random(random: &mut Rng, ahead: bool, keyed: bool) -> Self {
        let count = 1 + random.below(4);
        let kinds: Vec<bool> = (0..count).map(|_| random.below(2) == 0).collect();
        let blank = kinds.iter().map(|&kind| (kind, Expr::First, keyed && random.below(3) == 0)).collect();
        let mut spec = Spec { streams: blank };
        for (stream, kind) in kinds.into_iter().enumerate() {
            spec.streams[stream].1 = spec.expr(random, kind, 3, ahead);
        }
        spec
    }

    fn expr(&self, random: &mut Rng, truth: bool, depth: usize, ahead: bool) -> Expr {
        let part = |random: &mut Rng, truth: bool| Box::new(self.expr(random, truth, depth - 1, ahead));
        if depth == 0 || random.below(3) == 0 {
            let names: Vec<usize> =
                (0..INPUTS + self.streams.len()).filter(|&name| self.is_bool(name) == truth).collect();
            return match random.below(8) {
                0 if truth => Expr::Truth(random.below(2) == 0),
                1 if truth => Expr::First,
                2 if truth && ahead => Expr::Last,
                0 | 1 if !truth => Expr::Number(random.below(7) as i64 - 3),
                _ if names.is_empty() => {
                    if truth {
                        Expr::Truth(true)
                    } else {
                        Expr::Number(1)
                    }
                }
                _ => {
                    let name = names[random.below(names.len())];
                    let plain = name < INPUTS || random.below(12) == 0;
                    if plain && random.below(2) == 0 {
                        return Expr::Name(name, None);
                    }
                    let by = 1 + random.below(3) as i64;
                    let by = if ahead && random.below(3) == 0 { by } else { -by };
                    Expr::Name(name, Some((by, random.below(4) as i64 - 1)))
                }
            };
        }
        match (truth, random.below(6)) {
            (true, 0) => Expr::Not(part(random, true)),
            (true, 1..=2) => {
                let op = ["&", "|", "^", "->", "<->"][random.below(5)];
                Expr::Logic(op, part(random, true), part(random, true))
            }
            (true, 3) => {
                let op = ["==", "!=", "<", "<=", ">", ">="][random.below(6)];
                Expr::Compare(op, part(random, false), part(random, false))
            }
            (true, 4) => Expr::Has(part(random, false)),
            (false, 0..=2) => {
                let op = ["+", "-", "min", "max"][random.below(4)];
                Expr::Arithmetic(op, part(random, false), part(random, false))
            }
            (false, 3) => Expr::Or(part(random, false), random.below(5) as i64),
            _ => Expr::If(part(random, true), part(random, truth), part(random, truth)),
        }
    }

    fn print(&self, expr: &Expr, out: &mut String) {
        let two = |out: &mut String, a: &Expr, op: &str, b: &Expr| {
            out.push('(');
            self.print(a, out);
            let _ = write!(out, " {op} ");
            self.print(b, out);
            out.push(')');
        };
        match expr {
            Expr::Truth(value) => out.push_str(if *value { "true" } else { "false" }),
            Expr::Number(value) => {
                let _ = write!(out, "({value})");
            }
            Expr::Name(name, None) => out.push_str(&self.name(*name)),
            Expr::Name(name, Some((by, default))) => {
                let default =
                    if self.is_bool(*name) { (*default > 0).to_string() } else { default.to_string() };
                let _ = write!(out, "{}[{by:+}|{default}]", self.name(*name));
            }
            Expr::First => out.push_str("first"),
            Expr::Last => out.push_str("last"),
            Expr::Not(a) => {
                out.push_str("!(");
                self.print(a, out);
                out.push(')');
            }
            Expr::Logic(op, a, b) | Expr::Compare(op, a, b) => two(out, a, op, b),
            Expr::Arithmetic(op @ ("min" | "max"), a, b) => {
                let _ = write!(out, "{op}(");
                self.print(a, out);
                out.push_str(", ");
                self.print(b, out);
                out.push(')');
            }
            Expr::Arithmetic(op, a, b) => two(out, a, op, b),
            Expr::Has(a) => {
                out.push_str("has(");
                self.print(a, out);
                out.push(')');
            }
            Expr::Or(a, value) => {
                out.push('(');
                self.print(a, out);
                let _ = write!(out, " ?? {value})");
            }
            Expr::If(c, a, b) => {
                out.push_str("(if ");
                self.print(c, out);
                out.push_str(" then ");
                self.print(a, out);
                out.push_str(" else ");
                self.print(b, out);
                out.push(')');
            }
        }
    }

    fn text(&self) -> String {
        let mut out = String::from("var p: bool; var n: int;\n");
        for (number, (truth, expr, keyed)) in self.streams.iter().enumerate() {
            let _ = write!(out, "stream y{number}: {} = ", if *truth { "bool" } else { "int" });
            self.print(expr, &mut out);
            out.push_str(if *keyed { " by k;\n" } else { ";\n" });
        }
        out
    }
}

/// Null, or a number; a truth value is 0 or 1.
type Cell = Option<i64>;

struct Definition<'a> {
    spec: &'a Spec,
    p: &'a [bool],
    n: &'a [Cell],
    keys: &'a [Cell],
    known: RefCell<Vec<Vec<Option<Cell>>>>,
}

impl Definition<'_> {
    /// The positions that a stream counts: all, or those of the key at `at`.
    fn positions(&self, keyed: bool, at: usize) -> Vec<usize> {
        (0..self.p.len()).filter(|&other| !keyed || self.keys[other] == self.keys[at]).collect()
    }

    fn stream(&self, stream: usize, at: usize) -> Cell {
        if let Some(known) = self.known.borrow()[stream][at] {
            return known;
        }
        let (truth, expr, keyed) = &self.spec.streams[stream];
        let value = match *keyed && self.keys[at].is_none() {
            true => truth.then_some(0),
            false => self.value(expr, at, *keyed),
        };
        self.known.borrow_mut()[stream][at] = Some(value);
        value
    }

    fn name(&self, name: usize, at: usize) -> Cell {
        match name {
            0 => Some(self.p[at].into()),
            1 => self.n[at],
            stream => self.stream(stream - INPUTS, at),
        }
    }

    fn value(&self, expr: &Expr, at: usize, keyed: bool) -> Cell {
        let holds = |expr: &Expr| self.value(expr, at, keyed) == Some(1);
        let number = |expr: &Expr| self.value(expr, at, keyed);
        match expr {
            Expr::Truth(value) => Some((*value).into()),
            Expr::Number(value) => Some(*value),
            Expr::Name(name, None) => self.name(*name, at),
            Expr::Name(name, Some((by, default))) => {
                let own = self.positions(keyed, at);
                let rank = own.iter().position(|&own| own == at).unwrap() as i64;
                match usize::try_from(rank + by).ok().and_then(|rank| own.get(rank)) {
                    Some(&there) => self.name(*name, there),
                    None if self.spec.is_bool(*name) => Some((*default > 0).into()),
                    None => Some(*default),
                }
            }
            Expr::First => Some((self.positions(keyed, at)[0] == at).into()),
            Expr::Last => Some((*self.positions(keyed, at).last().unwrap() == at).into()),
            Expr::Not(a) => Some((!holds(a)).into()),
            Expr::Logic(op, a, b) => {
                let (a, b) = (holds(a), holds(b));
                let truth = match *op {
                    "&" => a && b,
                    "|" => a || b,
                    "^" => a != b,
                    "->" => !a || b,
                    _ => a == b,
                };
                Some(truth.into())
            }
            Expr::Compare(op, a, b) => {
                let (Some(a), Some(b)) = (number(a), number(b)) else { return Some(0) };
                let truth = match *op {
                    "==" => a == b,
                    "!=" => a != b,
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    _ => a >= b,
                };
                Some(truth.into())
            }
            Expr::Has(a) => Some(number(a).is_some().into()),
            Expr::Arithmetic(op, a, b) => {
                let (a, b) = (number(a)?, number(b)?);
                Some(match *op {
                    "+" => a + b,
                    "-" => a - b,
                    "min" => a.min(b),
                    _ => a.max(b),
                })
            }
            Expr::Or(a, value) => number(a).or(Some(*value)),
            Expr::If(c, a, b) => {
                if holds(c) {
                    number(a)
                } else {
                    number(b)
                }
            }
        }
    }

    /// Whether some value of a stream depends on itself, whatever the inputs.
    fn circular(&self) -> bool {
        let len = self.p.len();
        // 0: new, 1: being looked at, 2: done.
        let mut state = vec![0u8; self.spec.streams.len() * len];
        for root in 0..state.len() {
            let mut stack = vec![(root, false)];
            while let Some((at, done)) = stack.pop() {
                if done {
                    state[at] = 2;
                } else if state[at] == 0 {
                    state[at] = 1;
                    stack.push((at, true));
                    let mut reads = Vec::new();
                    let (_, expr, keyed) = &self.spec.streams[at / len];
                    self.reads(expr, at % len, *keyed, &mut reads);
                    for (stream, there) in reads {
                        match state[stream * len + there] {
                            0 => stack.push((stream * len + there, false)),
                            1 => return true,
                            _ => {}
                        }
                    }
                }
            }
        }
        false
    }

    fn reads(&self, expr: &Expr, at: usize, keyed: bool, out: &mut Vec<(usize, usize)>) {
        match expr {
            Expr::Name(name, by) if *name >= INPUTS => {
                let own = self.positions(keyed, at);
                let rank = own.iter().position(|&own| own == at).unwrap() as i64;
                let there = rank + by.map_or(0, |(by, _)| by);
                out.extend(
                    usize::try_from(there).ok().and_then(|there| Some((name - INPUTS, *own.get(there)?))),
                );
            }
            Expr::Not(a) | Expr::Has(a) | Expr::Or(a, _) => self.reads(a, at, keyed, out),
            Expr::Logic(_, a, b) | Expr::Compare(_, a, b) | Expr::Arithmetic(_, a, b) => {
                [a, b].into_iter().for_each(|part| self.reads(part, at, keyed, out));
            }
            Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.reads(part, at, keyed, out)),
            _ => {}
        }
    }
}

fn lowered(text: &str) -> Program {
    let tree = parse(text, 0);
    assert!(!tree.has_errors(), "{text}{:?}", tree.diagnostics);
    let again = tw_spec::print(&tree.value);
    assert_eq!(again, tw_spec::print(&parse(&again, 0).value), "{text}");
    let program = lower(&tree.value, &LowerOptions::default());
    assert!(!program.has_errors(), "{text}{:?}", program.diagnostics);
    program.value
}

/// The columns that a reader would deliver.
fn batch(program: &Program, p: &[bool], n: &[Cell], keys: &[Cell]) -> Batch {
    let column = |what: &What| match what {
        What::Variable(path, _) if path.as_name() == Some("p") => Column::Truth(p.iter().copied().collect()),
        What::Variable(path, _) if path.as_name() == Some("n") => Column::Int {
            values: n.iter().map(|cell| cell.unwrap_or(0)).collect(),
            valid: n.iter().map(Option::is_some).collect(),
        },
        What::Variable(..) => {
            Column::Any(keys.iter().map(|key| key.map_or(Value::Null, Value::Int)).collect())
        }
        _ => Column::Truth(Bits::repeat(false, p.len())),
    };
    Batch { len: p.len(), slots: program.slots.iter().map(|slot| column(&slot.what)).collect(), times: None }
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Bool(truth) => Some(truth.into()),
        Value::Int(number) => Some(number),
        _ => None,
    }
}

#[test]
fn computed_columns_are_what_equations_say() {
    let (mut passes, mut wholes, mut circles, mut lives) = (0, 0, 0, 0);
    for seed in 0..cases(20_000) as u64 {
        let random = &mut Rng::new(seed);
        let (ahead, keyed) = (random.below(3) > 0, random.below(3) == 0);
        let spec = Spec::random(random, ahead, keyed);
        let text = spec.text();
        let program = lowered(&text);
        let streams = Streams::new(&program).expect("there are streams");
        let len = if streams.cycle(&program).is_some() { 24 } else { 1 + random.below(12) };
        let p: Vec<bool> = (0..len).map(|_| random.below(2) == 0).collect();
        let n: Vec<Cell> =
            (0..len).map(|_| (random.below(5) > 0).then(|| random.below(9) as i64 - 4)).collect();
        let keys: Vec<Cell> =
            (0..len).map(|_| (random.below(6) > 0).then(|| random.below(3) as i64)).collect();
        let known = RefCell::new(vec![vec![None; len]; spec.streams.len()]);
        let definition = Definition { spec: &spec, p: &p, n: &n, keys: &keys, known };
        if streams.cycle(&program).is_some() {
            // Offsets in a key's positions and in the trace's may or may not meet.
            assert!(keyed || definition.circular(), "{text}");
            circles += 1;
            continue;
        }
        assert!(!definition.circular(), "{text}");
        let check = |batch: &Batch, from: usize, who: &str| {
            for (number, stream) in program.streams.iter().enumerate() {
                for at in 0..batch.len {
                    let found = cell(batch.slots[stream.slot as usize].value(at));
                    let expected = definition.stream(number, from + at);
                    assert_eq!(
                        found,
                        expected,
                        "{who}: y{number} at {}\n{text}{p:?}\n{n:?}\n{keys:?}",
                        from + at
                    );
                }
            }
        };
        let mut all = batch(&program, &p, &n, &keys);
        streams.whole(&program, &mut all).expect("no overflow");
        check(&all, 0, "whole");
        wholes += 1;
        // Some of them alone.
        let read: Vec<bool> = program.streams.iter().map(|_| random.below(2) == 0).collect();
        let is_read =
            |slot| program.streams.iter().zip(&read).any(|(stream, read)| *read && stream.slot == slot);
        if let Some(only) = streams.only(is_read) {
            let mut some = batch(&program, &p, &n, &keys);
            only.whole(&program, &mut some).expect("no overflow");
            for stream in program.streams.iter().filter(|stream| is_read(stream.slot)) {
                let slot = stream.slot as usize;
                let values =
                    |batch: &Batch| (0..len).map(|at| batch.slots[slot].value(at)).collect::<Vec<_>>();
                assert_eq!(values(&some), values(&all), "{} alone\n{text}", stream.name);
            }
        }
        let shape = streams.shape(&program);
        assert_eq!(streams.looks_back(), shape.look_ahead == Some(0) && only_back(&spec), "{text}{shape:?}");
        if let Some(plan) = streams.plan(&program) {
            // Live: each position a bounded time after its own, the last ones at the end.
            lives += usize::from(plan.ahead() > 0);
            let (mut ahead, mut from, mut told) = (Ahead::default(), 0, 0);
            let whole = (&streams, &program, &plan);
            while from <= len {
                let to = if from == len { len } else { from + 1 + random.below(len - from) };
                let columns = match from < len {
                    true => ahead.push(whole, &batch(&program, &p[from..to], &n[from..to], &keys[from..to])),
                    false => ahead.finish(whole),
                };
                let columns = columns.expect("no overflow");
                let count = columns.first().map_or(0, |(_, column)| column.len());
                for (number, stream) in program.streams.iter().enumerate() {
                    let of = columns.iter().find(|(slot, _)| *slot == stream.slot).expect("a stream");
                    for at in 0..count {
                        let expected = definition.stream(number, told + at);
                        assert_eq!(
                            cell(of.1.value(at)),
                            expected,
                            "live: y{number} at {}\n{text}",
                            told + at
                        );
                    }
                }
                told += count;
                let waits = if from < len { to - (plan.ahead() as usize).min(to) } else { len };
                assert_eq!(told, waits, "{text}");
                if random.below(2) == 0 {
                    let mut saved = Vec::new();
                    ahead.save(&mut saved);
                    ahead = Ahead::load(&streams, &mut saved.as_slice()).expect("what was saved");
                }
                from = if from == len { len + 1 } else { to };
            }
        }
        if streams.looks_back() {
            passes += 1;
            let (mut pass, mut from) = (Pass::default(), 0);
            while from < len {
                let to = from + 1 + random.below(len - from);
                let mut part = batch(&program, &p[from..to], &n[from..to], &keys[from..to]);
                pass.fill(&streams, &program, &mut part).expect("no overflow");
                check(&part, from, "pass");
                if random.below(2) == 0 {
                    let mut saved = Vec::new();
                    pass.save(&mut saved);
                    pass = Pass::load(&streams, &mut saved.as_slice()).expect("what was saved");
                }
                from = to;
            }
        }
    }
    println!("{wholes} wholes, {passes} passes, {lives} live with look-ahead, {circles} circles");
    assert!(lives > 0 && passes > 0 && wholes > passes && circles > 0);
}

/// Whether no offset looks ahead and `last` does not occur.
fn only_back(spec: &Spec) -> bool {
    fn back(expr: &Expr) -> bool {
        match expr {
            Expr::Last => false,
            Expr::Name(_, Some((by, _))) => *by < 0,
            Expr::Not(a) | Expr::Has(a) | Expr::Or(a, _) => back(a),
            Expr::Logic(_, a, b) | Expr::Compare(_, a, b) | Expr::Arithmetic(_, a, b) => back(a) && back(b),
            Expr::If(a, b, c) => back(a) && back(b) && back(c),
            _ => true,
        }
    }
    spec.streams.iter().all(|(_, expr, _)| back(expr))
}
