//! How long the columnar engine takes, by query: `cargo bench -p tw-query-columnar`.
//!
//! `POSITIONS` (10 million), `THREADS` (1), `REPEATS` (5, the best counts), `SEGMENT` (positions per segment; unset is
//! one trace), `BLOCK` (positions per block) change the run; `ONLY` selects rows whose text contains it. Where the
//! system tells it, the time that the first thread ran is shown too: on a busy machine it is the steadier figure.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tw_core::{Bits, Column};
use tw_ir::{
    Aggregate, ArithmeticOp, Expect, Function, Node, NodeId, Path, Program, Root, RootKind, Slot, What,
};
use tw_monitor::{EvaluateOptions, QueryEngine, Segments, Term, Trace};
use tw_query_columnar::Columnar;

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.replace('_', "").parse().ok()
}

/// A program that grows by one query after another.
struct Builder(Program);

/// Names of truth values: random, random, in long runs, rare.
const TRUTHS: [&str; 4] = ["p", "q", "run", "rare"];
/// Names of numbers.
const NUMBERS: [&str; 3] = ["i", "r", "wild"];

impl Builder {
    fn new() -> Self {
        let mut program = Program::default();
        let mut slot = |what| program.slots.push(Slot { what, declared: false, span: Default::default() });
        TRUTHS.iter().for_each(|name| slot(What::Proposition(Path::field(*name))));
        NUMBERS.iter().for_each(|name| slot(What::Variable(Path::field(*name), Expect::Number)));
        Builder(program)
    }

    fn truth(&mut self, name: &str) -> NodeId {
        let index = TRUTHS.iter().position(|truth| *truth == name).expect("a truth value");
        self.0.dag.add(Node::Truth(index as u32))
    }

    /// `guard : name`
    fn emit(&mut self, guard: NodeId, name: &str) -> NodeId {
        let index = NUMBERS.iter().position(|number| *number == name).expect("a number");
        let slot = self.0.dag.add(Node::Slot((TRUTHS.len() + index) as u32));
        self.0.dag.add(Node::Emit(guard, slot))
    }

    fn collect(&mut self, aggregate: Aggregate, body: NodeId) -> NodeId {
        self.0.dag.add(Node::Collect(aggregate, body))
    }

    fn during(&mut self, aggregate: Aggregate, body: NodeId, phi: NodeId) -> NodeId {
        self.0.dag.add(Node::CollectWhile(aggregate, body, phi))
    }

    fn next(&mut self, body: NodeId) -> NodeId {
        self.0.dag.variables = vec!["v".into()];
        let result = self.0.dag.add(Node::Variable(0));
        self.0.dag.add(Node::NextMap { body, result, parameter: 0 })
    }

    fn root(mut self, node: NodeId) -> Program {
        let (title, division, kind) = (None, Default::default(), RootKind::Query);
        self.0.roots.push(Root { name: "q".into(), title, division, kind, node, span: Default::default() });
        self.0
    }
}

type Make = fn(&mut Builder) -> NodeId;

/// `agg[count[p while q]]`
fn counts(b: &mut Builder, aggregate: Aggregate, q: &str) -> NodeId {
    let (p, q) = (b.truth("p"), b.truth(q));
    let count = b.during(Aggregate::Count, p, q);
    b.collect(aggregate, count)
}

/// `agg[p : x]`
fn values(b: &mut Builder, aggregate: Aggregate, guard: &str, name: &str) -> NodeId {
    let p = b.truth(guard);
    let x = b.emit(p, name);
    b.collect(aggregate, x)
}

/// `outer[inner[x while q]]`
fn stretches(b: &mut Builder, outer: Aggregate, inner: Aggregate, name: &str, q: &str) -> NodeId {
    let (p, q) = (b.truth("p"), b.truth(q));
    let x = b.emit(p, name);
    let inner = b.during(inner, x, q);
    b.collect(outer, inner)
}

const QUERIES: &[(&str, Make)] = &[
    ("count[p]", |b| {
        let p = b.truth("p");
        b.collect(Aggregate::Count, p)
    }),
    ("count[p] / count[q]", |b| {
        let (p, q) = (b.truth("p"), b.truth("q"));
        let (p, q) = (b.collect(Aggregate::Count, p), b.collect(Aggregate::Count, q));
        b.0.dag.add(Node::Both(Function::Arithmetic(ArithmeticOp::Div), p, q))
    }),
    ("max[count[p while q]], q random", |b| counts(b, Aggregate::Max, "q")),
    ("max[count[p while q]], q in long runs", |b| counts(b, Aggregate::Max, "run")),
    ("avg[count[p while q]], q random", |b| counts(b, Aggregate::Avg, "q")),
    ("avg[count[p while q]], q in long runs", |b| counts(b, Aggregate::Avg, "run")),
    ("min[count[p while q]], q random", |b| counts(b, Aggregate::Min, "q")),
    ("var[count[p while q]], q random", |b| counts(b, Aggregate::Var, "q")),
    ("sum[p : i]", |b| values(b, Aggregate::Sum, "p", "i")),
    ("sum[run : i]", |b| values(b, Aggregate::Sum, "run", "i")),
    ("avg[p : i]", |b| values(b, Aggregate::Avg, "p", "i")),
    ("sum[p : r]", |b| values(b, Aggregate::Sum, "p", "r")),
    ("sum[run : r]", |b| values(b, Aggregate::Sum, "run", "r")),
    ("avg[p : r]", |b| values(b, Aggregate::Avg, "p", "r")),
    ("sum[p : wild]", |b| values(b, Aggregate::Sum, "p", "wild")),
    ("min[p : i]", |b| values(b, Aggregate::Min, "p", "i")),
    ("max[p : r]", |b| values(b, Aggregate::Max, "p", "r")),
    ("var[p : i]", |b| values(b, Aggregate::Var, "p", "i")),
    ("var[p : r]", |b| values(b, Aggregate::Var, "p", "r")),
    ("median[p : i]", |b| values(b, Aggregate::Median, "p", "i")),
    ("median[p : r]", |b| values(b, Aggregate::Median, "p", "r")),
    ("distinct[p : i]", |b| values(b, Aggregate::Distinct, "p", "i")),
    ("first[rare : i]", |b| values(b, Aggregate::First, "rare", "i")),
    ("corr[p : i, p : r]", |b| {
        let p = b.truth("p");
        let (i, r) = (b.emit(p, "i"), b.emit(p, "r"));
        let pair = b.0.dag.add(Node::Both(Function::Pair, i, r));
        b.collect(Aggregate::Corr, pair)
    }),
    ("max[sum[p : i while q]], q random", |b| stretches(b, Aggregate::Max, Aggregate::Sum, "i", "q")),
    ("max[sum[p : i while q]], q in long runs", |b| stretches(b, Aggregate::Max, Aggregate::Sum, "i", "run")),
    ("max[sum[p : r while q]], q random", |b| stretches(b, Aggregate::Max, Aggregate::Sum, "r", "q")),
    ("max[avg[p : i while q]], q random", |b| stretches(b, Aggregate::Max, Aggregate::Avg, "i", "q")),
    ("avg[max[p : r while q]], q random", |b| stretches(b, Aggregate::Avg, Aggregate::Max, "r", "q")),
    ("avg[rare &{second} X count[p while q]]", |b| {
        let (rare, p, q) = (b.truth("rare"), b.truth("p"), b.truth("q"));
        let count = b.during(Aggregate::Count, p, q);
        let next = b.next(count);
        let both = b.0.dag.add(Node::Both(Function::Second, rare, next));
        b.collect(Aggregate::Avg, both)
    }),
    ("max[(p : i) |{+} (q : i)]", |b| {
        let (p, q) = (b.truth("p"), b.truth("q"));
        let (x, y) = (b.emit(p, "i"), b.emit(q, "i"));
        let sum = b.0.dag.add(Node::Either(Function::Arithmetic(ArithmeticOp::Add), x, y));
        b.collect(Aggregate::Max, sum)
    }),
];

/// Numbers that look random, the same each time.
fn mix(seed: u64) -> u64 {
    tw_testkit::Rng::new(seed).bits()
}

fn truth(name: &str, len: usize) -> Bits {
    let seed = TRUTHS.iter().position(|truth| *truth == name).unwrap_or_default() as u64;
    let word = |index: usize| {
        let random = |salt: u64| mix((index as u64) << 8 | seed << 4 | salt);
        match name {
            "rare" => random(0) & random(1) & random(2) & random(3) & random(4),
            // A run of about a thousand positions, a gap of some.
            "run" if index.is_multiple_of(16) => random(0),
            "run" => u64::MAX,
            _ => random(0),
        }
    };
    Bits::from_words((0..len.div_ceil(64)).map(word).collect(), len)
}

fn column(name: &str, len: usize) -> Column {
    let valid = Bits::repeat(true, len);
    let random = |at: usize| mix(at as u64 ^ 0xabcd_0000_0000);
    match name {
        "i" => Column::Int { values: (0..len).map(|at| random(at) as i64 >> 44).collect(), valid },
        // About a thousand, with hundredths.
        "r" => {
            Column::Real { values: (0..len).map(|at| (random(at) % 200_000) as f64 / 100.0).collect(), valid }
        }
        // Magnitudes from 1e-100 to 1e100.
        _ => {
            let wild = |at: usize| 10f64.powi((random(at) % 200) as i32 - 100) * (random(at) >> 40) as f64;
            Column::Real { values: (0..len).map(wild).collect(), valid }
        }
    }
}

/// How long this thread has run.
fn ran() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

fn main() {
    let len = number("POSITIONS").unwrap_or(10_000_000);
    let threads = number("THREADS").unwrap_or(1);
    let repeats = number("REPEATS").unwrap_or(5);
    let only = std::env::var("ONLY").unwrap_or_default();
    let segments =
        number("SEGMENT").map(|segment| Segments { starts: (0..len).step_by(segment.max(1)).collect() });
    let options = EvaluateOptions { threads, block: number("BLOCK"), ..EvaluateOptions::default() };
    println!("{len} positions, {threads} threads, best of {repeats}");
    for (text, make) in QUERIES.iter().filter(|(text, _)| text.contains(&only)) {
        let mut builder = Builder::new();
        let node = make(&mut builder);
        let program = builder.root(node);
        let slot_of = |id: &NodeId| match program.dag.node(*id) {
            Node::Truth(slot) => TRUTHS[slot as usize],
            Node::Slot(slot) => NUMBERS[slot as usize - TRUTHS.len()],
            _ => "",
        };
        let terms = program
            .terms()
            .into_iter()
            .map(|id| Term { column: column(slot_of(&id), len), errors: Vec::new() });
        let trace = Trace { len, terms: terms.collect(), segments: segments.clone(), ..Trace::default() };
        let mut evaluator = Columnar.plan(&program, &options).expect("a plan");
        let guards: Vec<Bits> = evaluator.guards().iter().map(|id| truth(slot_of(id), len)).collect();
        let (mut best, mut busy) = (Duration::MAX, None);
        for _ in 0..repeats {
            let (start, before) = (Instant::now(), ran());
            black_box(evaluator.values(&trace, &guards).expect("values"));
            best = best.min(start.elapsed());
            let now = ran().zip(before).map(|(now, before)| now - before);
            busy = [busy, now].into_iter().flatten().min();
        }
        let ns = |time: Duration| time.as_secs_f64() * 1e9 / len as f64;
        print!("{text:44} {:9.2} ms {:8.3} ns/position", best.as_secs_f64() * 1e3, ns(best));
        println!("{}", busy.map_or(String::new(), |busy| format!(" {:8.3} running", ns(busy))));
    }
}
