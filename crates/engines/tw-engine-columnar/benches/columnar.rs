//! How long the columnar engine takes, by formula: `cargo bench -p tw-engine-columnar`.
//!
//! `POSITIONS` (100 million), `THREADS` (1), `REPEATS` (5, the best counts) and `SEGMENT` (positions per segment;
//! unset is one trace), `BLOCK` (positions per block) change the run; `ONLY` selects rows whose text contains it.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tw_core::Bits;
use tw_engine_columnar::Columnar;
use tw_ir::{Node, NodeId, Program, Root, RootKind, Temporal};
use tw_monitor::{Engine, EvaluateOptions, Segments, Trace};

/// Prefix notation, one letter per operator: `->`, `&`, `|`, `^`, `!` and `X N F G U W R M Y Z O H S B T`.
const FORMULAS: [&str; 24] = [
    "G > a F b",
    "G > a O b",
    "G > a X b",
    "G > a Y b",
    "G > a S b c",
    "S a b",
    "B a b",
    "G T a b",
    "G S a b",
    "G U a b",
    "G W a b",
    "G R a b",
    "G M a b",
    "G & a & b | c d",
    "G > O a & b H c",
    "G > S a b X U c & Y d F e",
    "G > Y S a b W c X d",
    "U a S b U c S d U e S f U g h",
    "G S a S b S c S d S e S f S g h",
    "G U a U b U c U d U e U f U g h",
    "G > a | U b c & S d e X X f",
    "F & a X & b X & c X d",
    "H > a O & b Y c",
    "G ^ U a b S c d",
];

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.replace('_', "").parse().ok()
}

/// Reads a formula of `FORMULAS` from its end, so that operands are there when their operator is met.
fn parse(program: &mut Program, text: &str) -> NodeId {
    let mut stack: Vec<NodeId> = Vec::new();
    for token in text.split_whitespace().rev() {
        let mut pop = || stack.pop().expect("an operand");
        let node = match token {
            ">" => Node::Implies(pop(), pop()),
            "&" => Node::And(pop(), pop()),
            "|" => Node::Or(pop(), pop()),
            "^" => Node::Xor(pop(), pop()),
            "!" => Node::Not(pop()),
            token => match Temporal::spelled(token) {
                Some(operator) if operator.row().prefix => Node::Unary(operator, None, pop()),
                Some(operator) => Node::Binary(operator, None, pop(), pop()),
                None => Node::Truth(u32::from(token.as_bytes()[0] - b'a')),
            },
        };
        stack.push(program.dag.add(node));
    }
    stack.pop().expect("a formula")
}

fn add_root(program: &mut Program, text: &str) {
    let node = parse(program, text);
    let name = text.to_owned();
    program.roots.push(Root {
        name,
        title: None,
        division: Default::default(),
        kind: RootKind::Property,
        node,
        span: Default::default(),
    });
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Eight atoms; a and b half of the time, the others from rare to frequent.
fn columns(len: usize) -> Vec<Bits> {
    (0..8)
        .map(|atom| {
            let mut random = Random(0x9E37_79B9 + atom);
            let word = || match atom {
                0 | 1 => random.next(),
                2 | 3 => random.next() & random.next(),
                4 | 5 => random.next() | random.next() | random.next(),
                6 => random.next() & random.next() & random.next() & random.next(),
                _ => random.next() | random.next() | random.next() | random.next(),
            };
            Bits::from_words(std::iter::repeat_with(word).take(len.div_ceil(64)).collect(), len)
        })
        .collect()
}

/// Nanoseconds this thread has run so far, where the system tells: steadier than the clock on a busy machine.
fn time_on_processor() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}

struct Bench {
    columns: Vec<Bits>,
    len: usize,
    segment: Option<usize>,
    options: EvaluateOptions,
    repeats: usize,
}

impl Bench {
    fn row(&self, name: &str, program: &Program) {
        let atoms = program.atoms().into_iter().filter_map(|id| match program.dag.node(id) {
            Node::Truth(slot) => Some(self.columns[slot as usize].clone()),
            _ => None,
        });
        let starts = |every| (0..self.len).step_by(every).collect();
        let segments = self.segment.map(|every| Segments { starts: starts(every) });
        let trace = Trace { len: self.len, atoms: atoms.collect(), segments, ..Trace::default() };
        let planning = Instant::now();
        let mut evaluator = Columnar.plan(program, &self.options).expect("propositional");
        let planning = planning.elapsed();
        let mut best = Duration::MAX;
        let running = time_on_processor();
        let mut violations = 0;
        for _ in 0..self.repeats {
            let started = Instant::now();
            let answers = evaluator.evaluate(black_box(&trace), 10).expect("within the budget");
            best = best.min(started.elapsed());
            violations = black_box(answers).iter().map(|answer| answer.violation_count).sum();
        }
        let milliseconds = best.as_secs_f64() * 1e3;
        let each = best.as_secs_f64() * 1e9 / self.len as f64;
        let planning = planning.as_secs_f64() * 1e3;
        // With several threads the first one mostly waits, so its time says nothing.
        let on_processor = match (running, time_on_processor(), self.options.threads) {
            (Some(from), Some(to), 1) => format!("{:.2} ms", (to - from) as f64 / 1e6 / self.repeats as f64),
            _ => "-".into(),
        };
        println!(
            "{name:<36} {milliseconds:>9.3} ms {each:>8.4} ns/position {on_processor:>12} {planning:>8.2} ms {violations:>12}"
        );
    }
}

/// `count` properties that share eight atoms.
fn mixed(count: usize) -> Program {
    let mut program = Program::default();
    let mut random = Random(42);
    for _ in 0..count {
        let mut atom = || ["a", "b", "c", "d", "e", "f", "g", "h"][(random.next() >> 20) as usize % 8];
        let (p, q, r, s) = (atom(), atom(), atom(), atom());
        let text = match program.roots.len() % 8 {
            0 => format!("G > {p} F {q}"),
            1 => format!("G > {p} S {q} {r}"),
            2 => format!("G > {p} X U {q} {r}"),
            3 => format!("G > & {p} Y {q} | {r} {s}"),
            4 => format!("G > O {p} S {q} | {r} {s}"),
            5 => format!("G > {p} U ! {q} & {r} F {s}"),
            6 => format!("G > Y {p} B {q} {r}"),
            _ => format!("G > & {p} {q} W {r} S {s} {p}"),
        };
        add_root(&mut program, &text);
    }
    program
}

fn main() {
    let len = number("POSITIONS").unwrap_or(100_000_000);
    let threads = number("THREADS").unwrap_or(1);
    let bench = Bench {
        columns: columns(len),
        len,
        segment: number("SEGMENT"),
        options: EvaluateOptions { threads, block: number("BLOCK"), ..EvaluateOptions::default() },
        repeats: number("REPEATS").unwrap_or(5),
    };
    let only = std::env::var("ONLY").unwrap_or_default();
    println!("{len} positions, {threads} thread(s), best of {}", bench.repeats);
    println!(
        "{:<36} {:>12} {:>20} {:>12} {:>11} {:>12}",
        "", "time", "", "mean CPU", "planning", "violations"
    );
    for text in FORMULAS.into_iter().filter(|text| text.contains(&only)) {
        let mut program = Program::default();
        add_root(&mut program, text);
        bench.row(text, &program);
    }
    for count in [10, 100, 1000] {
        let name = format!("{count} properties");
        if name.contains(&only) && (count < 1000 || len <= 10_000_000) {
            bench.row(&name, &mixed(count));
        }
    }
}
