//! Random windows on random traces: what is computed is the definition, of the trace and of each key, however batches are cut
//! and wherever the state is saved and read again.

use tw_core::{Batch, Bits, Column, Time, TimeUnit, Value};
use tw_engine_reference::{Reference, rolling};
use tw_ir::{Aggregate, Clock, Program, What};
use tw_monitor::{Engine, EvaluateOptions, Predicates, Trace};
use tw_spec::{LowerOptions, lower, parse};
use tw_streams::{Ahead, Divided, Measure, Pass, Streams};
use tw_testkit::{Rng, cases};

const SECOND: i64 = 1_000_000_000;

/// The columns of a trace.
#[derive(Clone, Debug)]
struct Log {
    p: Vec<bool>,
    n: Vec<Value>,
    r: Vec<Value>,
    m: Vec<Value>,
    s: Vec<Value>,
    k: Vec<Value>,
    times: Option<Vec<Time>>,
}

impl Log {
    fn random(random: &mut Rng) -> Self {
        let len = 1 + random.below(14);
        let null = |value: Value, random: &mut Rng| if random.one_in(5) { Value::Null } else { value };
        let wild = random.one_in(3);
        let int = |random: &mut Rng| Value::Int(random.below(7) as i64 - 3);
        let real = |random: &mut Rng| {
            let few = [0.1, 0.2, -0.0, 0.0, 2.5, 1.0, -3.75, 1e-3];
            let all = [1e17, -1e17, 1e-300, 1e300, 5e-324, -1e300, 3.3, 0.1, 1.7e308, 0.0, 1.0, 1e9];
            Value::Real(if wild { random.pick(&all) } else { random.pick(&few) })
        };
        let each = |random: &mut Rng, of: &mut dyn FnMut(&mut Rng) -> Value| -> Vec<Value> {
            (0..len).map(|_| of(random)).collect()
        };
        let n = each(random, &mut |random| {
            let value = int(random);
            null(value, random)
        });
        let r = each(random, &mut |random| {
            let value = real(random);
            null(value, random)
        });
        let m = each(random, &mut |random| {
            let value = if random.one_in(2) { int(random) } else { real(random) };
            null(value, random)
        });
        let s = each(random, &mut |random| {
            let value = Value::text(random.pick(&["a", "b", "c"]));
            null(value, random)
        });
        let k = each(random, &mut |random| {
            let value = Value::text(random.pick(&["u", "v"]));
            if random.one_in(7) { Value::Null } else { value }
        });
        let mut now = random.below(3) as i64 * SECOND;
        let times = (!random.one_in(4)).then(|| {
            let step = |random: &mut Rng| {
                now += random.pick(&[0, 0, 1, 1, 2, 5]) * SECOND;
                now
            };
            let mut step = step;
            (0..len).map(|_| step(random)).collect()
        });
        Self { p: (0..len).map(|_| random.one_in(2)).collect(), n, r, m, s, k, times }
    }

    fn at(&self, positions: &[usize]) -> Log {
        let of = |values: &[Value]| positions.iter().map(|&at| values[at].clone()).collect();
        Log {
            p: positions.iter().map(|&at| self.p[at]).collect(),
            n: of(&self.n),
            r: of(&self.r),
            m: of(&self.m),
            s: of(&self.s),
            k: of(&self.k),
            times: self.times.as_ref().map(|times| positions.iter().map(|&at| times[at]).collect()),
        }
    }

    /// What a reader would deliver, the key last.
    fn batch(&self, program: &Program) -> Batch {
        let column = |what: &What| match what {
            What::Variable(path, _) | What::Proposition(path) => match path.as_name() {
                Some("n") => ints(&self.n),
                Some("r") => reals(&self.r),
                Some("m") => Column::Any(self.m.clone()),
                Some("s") => texts(&self.s),
                Some("k") => Column::Any(self.k.clone()),
                _ => Column::Truth(self.p.iter().copied().collect()),
            },
            _ => Column::Truth(Bits::repeat(false, self.p.len())),
        };
        let mut slots: Vec<Column> = program.slots.iter().map(|slot| column(&slot.what)).collect();
        slots.push(texts(&self.k));
        Batch { len: self.p.len(), slots, times: self.times.clone() }
    }
}

fn ints(values: &[Value]) -> Column {
    let int = |value: &Value| if let Value::Int(int) = value { *int } else { 0 };
    Column::Int { values: values.iter().map(int).collect(), valid: present(values) }
}

fn reals(values: &[Value]) -> Column {
    let real = |value: &Value| if let Value::Real(real) = value { *real } else { 0.0 };
    Column::Real { values: values.iter().map(real).collect(), valid: present(values) }
}

fn texts(values: &[Value]) -> Column {
    match values.iter().all(Value::is_null) {
        true => Column::Any(values.to_vec()),
        false => Column::of_values(values.to_vec()),
    }
}

fn present(values: &[Value]) -> Bits {
    values.iter().map(|value| !value.is_null()).collect()
}

/// A formula of the past.
fn formula(random: &mut Rng, depth: usize, timed: bool) -> String {
    let interval = |random: &mut Rng| match random.below(4) {
        0 if timed => random.pick(&["[0,2s]", "[1s,3s]", "(0s,2s]", "[2s,inf)", "[0,0]"]),
        1 => random.pick(&["[0,2]", "[1,3]", "[1,1]", "[2,inf)"]),
        _ => "",
    };
    if depth == 0 {
        return random.pick(&["p", "!p", "n > 0", "first", "has(r)", "s == \"a\""]).to_owned();
    }
    let a = formula(random, depth - 1, timed);
    match random.below(4) {
        0 => a,
        1 => format!("({}{} {a})", random.pick(&["Y", "Z", "O", "H"]), interval(random)),
        2 => {
            let b = formula(random, depth - 1, timed);
            format!("(({a}) {}{} ({b}))", random.pick(&["S", "B", "T"]), interval(random))
        }
        _ => {
            let b = formula(random, depth - 1, timed);
            format!("(({a}) {} ({b}))", random.pick(&["&", "|", "->"]))
        }
    }
}

/// Where a formula holds, by the reference engine.
fn truth(text: &str, log: &Log) -> Vec<bool> {
    let program = lowered(&format!("property q : {text};"));
    let mut batch = log.batch(&program);
    batch.slots.pop();
    let atoms = Predicates::new(&program).evaluate(&batch).expect("no overflow");
    let trace = Trace {
        len: batch.len,
        atoms,
        times: batch.times.clone(),
        slots: Some(batch.slots),
        ..Trace::default()
    };
    let clock = if log.times.is_some() { Clock::Stamps } else { Clock::Index };
    let options = EvaluateOptions { clock, ..EvaluateOptions::default() };
    let mut evaluator = Reference.plan(&program, &options).expect("a formula of the past");
    let column = evaluator.columns(&trace, &[program.roots[0].node]).expect("no budget").remove(0);
    (0..batch.len).map(|at| column.get(at)).collect()
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

/// A window, as text and by its parts.
#[derive(Clone, Debug)]
struct Rolled {
    aggregate: Aggregate,
    body: String,
    guard: Option<String>,
    /// Of which column: `n r m s`, `a` for a window inside, or nothing for a count.
    column: char,
    over: Result<i64, i64>,
    round: bool,
}

impl Rolled {
    fn random(random: &mut Rng, timed: bool) -> Self {
        use Aggregate::*;
        let aggregate = random.pick(&[
            Count,
            Count,
            Sum,
            Min,
            Max,
            Avg,
            Avg,
            First,
            Last,
            Var,
            Stddev,
            Median,
            Quantile(900_000_000),
            Quantile(0),
            Mode,
            Distinct,
        ]);
        let column = match aggregate {
            Count => 'p',
            First | Last | Mode | Distinct => random.pick(&['n', 'r', 'm', 's']),
            _ => random.pick(&['n', 'r', 'm', 'a']),
        };
        let depth = random.below(3);
        let body = match column {
            'p' => formula(random, depth, timed),
            'a' => "max[n over 2]".to_owned(),
            name => name.to_string(),
        };
        let guard = (column != 'p' && random.one_in(2)).then(|| formula(random, depth, timed));
        let over = match timed && random.one_in(2) {
            true => Err(random.below(5) as i64),
            false => Ok(1 + random.below(5) as i64),
        };
        let round = guard.is_none() && random.one_in(3);
        Self { aggregate, body, guard, column, over, round }
    }

    fn text(&self) -> String {
        let guard = self.guard.as_ref().map_or(String::new(), |guard| format!("({guard}) : "));
        let over = match self.over {
            Ok(positions) => positions.to_string(),
            Err(seconds) => format!("{seconds}s"),
        };
        let (open, close) = if self.round { ('(', ')') } else { ('[', ']') };
        format!("{}{open}{guard}{} over {over}{close}", self.aggregate, self.body)
    }

    /// By the definition, on one trace.
    fn expected(&self, log: &Log) -> Vec<Result<Value, String>> {
        let places: Vec<i64> = (0..log.p.len() as i64).collect();
        let values: Vec<Value> = match self.column {
            'p' => {
                let holds = truth(&self.body, log).into_iter();
                holds.map(|holds| if holds { Value::Bool(true) } else { Value::Null }).collect()
            }
            'n' => log.n.clone(),
            'r' => log.r.clone(),
            'm' => log.m.clone(),
            's' => log.s.clone(),
            _ => rolling(Aggregate::Max, &log.n, &places, 1).into_iter().map(Result::unwrap).collect(),
        };
        let guard = self.guard.as_ref().map(|guard| truth(guard, log));
        let inside = |(at, value): (usize, Value)| match &guard {
            Some(guard) if !guard[at] => Value::Null,
            _ => value,
        };
        let values: Vec<Value> = values.into_iter().enumerate().map(inside).collect();
        match self.over {
            Ok(positions) => rolling(self.aggregate, &values, &places, positions - 1),
            Err(seconds) => {
                rolling(self.aggregate, &values, log.times.as_ref().expect("timed"), seconds * SECOND)
            }
        }
    }
}

/// Equal to the bit, but for what columns of reals make of the kinds of numbers.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b && a.kind() == b.kind(),
    }
}

#[test]
fn windows_are_what_the_definition_says() {
    let (mut keyed_cases, mut timed_cases) = (0, 0);
    for seed in 0..cases(8_000) {
        let random = &mut Rng::new(seed);
        let log = Log::random(random);
        let window = Rolled::random(random, log.times.is_some());
        let text = format!("property q : has({});", window.text());
        let program = lowered(&text);
        let slot = program.windows().map(|(slot, _)| slot).last().expect("there is a window") as usize;
        let keyed = random.one_in(3);
        let measure = Measure { clock: Clock::Stamps, unit: TimeUnit::Seconds };
        let divided = Divided { key: keyed.then_some("k"), whole: keyed, measure };
        let streams = Streams::divided(&program, divided).expect("there are windows");
        assert!(streams.looks_back(), "{text}");
        let mut expected = vec![Ok(Value::Null); log.p.len()];
        let parts: Vec<Vec<usize>> = match keyed {
            false => vec![(0..log.p.len()).collect()],
            true => ["u", "v"]
                .iter()
                .map(|key| (0..log.p.len()).filter(|&at| log.k[at] == Value::text(key)).collect())
                .collect(),
        };
        for part in parts.iter().filter(|part| !part.is_empty()) {
            for (&at, value) in part.iter().zip(window.expected(&log.at(part))) {
                expected[at] = value;
            }
        }
        // A sum beyond 64 bits is an error of the whole; these have none.
        let expected: Vec<Value> = expected.into_iter().map(|value| value.expect("small numbers")).collect();
        let check = |found: &Batch, from: usize, who: &str| {
            for at in 0..found.len {
                let (found, expected) = (found.slots[slot].value(at), &expected[from + at]);
                assert!(
                    same(&found, expected),
                    "seed {seed}, {who} at {}: {found:?}, not {expected:?}\n{text}\n{log:#?}",
                    from + at
                );
            }
        };
        let mut all = log.batch(&program);
        streams.whole(&program, &mut all).expect("no overflow");
        check(&all, 0, "whole");
        let (mut pass, mut from) = (Pass::default(), 0);
        while from < log.p.len() {
            let to = from + 1 + random.below(log.p.len() - from);
            let mut part = log.at(&(from..to).collect::<Vec<_>>()).batch(&program);
            // A batch that is not taken leaves no trace.
            let before = pass.clone();
            if random.one_in(3) {
                let mut once = part.clone();
                pass.fill(&streams, &program, &mut once).expect("no overflow");
                pass = before;
            }
            pass.fill(&streams, &program, &mut part).expect("no overflow");
            check(&part, from, "pass");
            if random.one_in(2) {
                let mut saved = Vec::new();
                pass.save(&mut saved);
                pass = Pass::load(&streams, &mut saved.as_slice()).expect("what was saved");
            }
            from = to;
        }
        // Beside a stream that looks ahead, position after position.
        let program = lowered(&format!("{text} stream late: int = n[+2|0]; property l : late > 0;"));
        let slot = program.windows().map(|(slot, _)| slot).last().expect("there is a window");
        let streams = Streams::divided(&program, divided).expect("there are windows");
        let plan = streams.plan(&program).expect("two positions ahead");
        let whole = (&streams, &program, &plan);
        let (mut ahead, mut from, mut told) = (Ahead::default(), 0, 0);
        while told < log.p.len() {
            let to = from + (1 + random.below(log.p.len())).min(log.p.len() - from);
            let columns = match to > from {
                true => ahead.push(whole, &log.at(&(from..to).collect::<Vec<_>>()).batch(&program)),
                false => ahead.finish(whole),
            };
            let columns = columns.expect("no overflow");
            let (_, column) = columns.iter().find(|(found, _)| *found == slot).expect("the window");
            for at in 0..column.len() {
                assert!(same(&column.value(at), &expected[told + at]), "seed {seed}, ahead\n{text}");
            }
            told += column.len();
            from = to;
            let mut saved = Vec::new();
            ahead.save(&mut saved);
            ahead = Ahead::load(&streams, &mut saved.as_slice()).expect("what was saved");
        }
        keyed_cases += u64::from(keyed);
        timed_cases += u64::from(window.over.is_err());
    }
    assert!(keyed_cases * 5 > cases(8_000) && timed_cases * 5 > cases(8_000));
}
