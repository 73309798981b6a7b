//! How the time of queries grows with the length of a trace: the queries of the statistics paper on its two programs,
//! in memory, by every engine.
//!
//! ```text
//! cargo run --release -p tracewise --example scaling -- [--to 100000000] [--engines columnar,reverse] [--plot FILE.svg]
//! ```
//!
//! Prints nanoseconds per position for each length; `--plot` draws time against length, one line per query.

use std::time::Instant;
use tracewise::Specification;
use tracewise::engines::{Answers, Engine};
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Node, Program, Root, What};
use tw_monitor::{EvaluateOptions, Predicates, Terms, Trace};
use tw_plot::{Axis, Body, Chart, Scale, Series};

const MUX: &str = include_str!("../../../examples/spl/mux-sem.spl");
const MUX_QUERIES: &str = include_str!("../../../examples/spl/mux-sem.tw");
const ABP: &str = include_str!("../../../examples/spl/abp.spl");
const ABP_QUERIES: &str = include_str!("../../../examples/spl/abp.tw");

/// States that are turned into columns at a time.
const BLOCK: usize = 1 << 16;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        arguments.iter().position(|given| given == name).and_then(|at| arguments.get(at + 1)).cloned()
    };
    let to: usize = option("--to").and_then(|text| text.parse().ok()).unwrap_or(100_000_000);
    let engines = option("--engines").unwrap_or("columnar,reverse,forward".into());
    let mut lines: Vec<Series> = Vec::new();
    println!("program,query,engine,positions,seconds,ns per position");
    let mut length = 10_000;
    while length <= to {
        for (program, text, queries, loss) in
            [("mux-sem", MUX, MUX_QUERIES, 0), ("abp", ABP, ABP_QUERIES, 20)]
        {
            let spec = Specification::from_text("queries", queries).expect("the queries are well-formed");
            for root in &spec.program.roots {
                let alone = Program { roots: vec![root.clone()], ..spec.program.clone() };
                let trace = simulate(&alone, text, loss, length);
                let values = tracewise::engines::giving(Answers::Values);
                for engine in values.filter(|engine| engines.contains(engine.name())) {
                    let Some(seconds) = measure(engine, &alone, &trace) else { continue };
                    let each = seconds / length as f64 * 1e9;
                    println!("{program},{},{},{length},{seconds:.6},{each:.3}", root.name, engine.name());
                    let name = format!("{} ({})", root.name, engine.name());
                    let point = (length as f64, Some(seconds));
                    match lines.iter_mut().find(|line| line.name == name) {
                        Some(line) => line.points.push(point),
                        None => lines.push(Series { name, points: vec![point], step: false }),
                    }
                }
            }
        }
        length *= 10;
    }
    if let Some(path) = option("--plot") {
        let chart = Chart {
            title: "Time of the paper's queries against the length of the trace".into(),
            subtitle: Some("in memory, one core".into()),
            x: Axis { label: "positions".into(), scale: Scale::Log },
            y: Axis { label: "seconds".into(), scale: Scale::Log },
            body: Body::Series { series: lines },
        };
        tw_plot::write(&chart, path.as_ref()).expect("the picture can be written");
    }
}

/// Best of several runs on one thread, guards included, planning not; `None` if the engine refuses the query.
fn measure(engine: &dyn Engine, program: &Program, trace: &Trace) -> Option<f64> {
    let options = EvaluateOptions { threads: 1, ..EvaluateOptions::default() };
    let rounds = if trace.len <= 1_000_000 { 15 } else { 3 };
    let mut evaluator = engine.plan(program, &options).ok()?;
    let nodes = evaluator.guards().to_vec();
    let root = |&node: &tw_ir::NodeId| Root::property("", node);
    let formulas = Program { roots: nodes.iter().map(root).collect(), ..program.clone() };
    let known = program.atoms();
    let atoms = formulas.atoms();
    let atoms = atoms.iter().filter_map(|atom| known.binary_search(atom).ok());
    let shown = Trace {
        len: trace.len,
        atoms: atoms.map(|at| trace.atoms[at].clone()).collect(),
        ..Trace::default()
    };
    let mut truth =
        tracewise::engines::named(Answers::Verdicts, "columnar")?.plan(&formulas, &options).ok()?;
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let started = Instant::now();
        let guards = if nodes.is_empty() { Vec::new() } else { truth.columns(&shown, &nodes).ok()? };
        evaluator.give(guards);
        evaluator.run(trace, &mut tw_monitor::Sink::default()).ok()?;
        best = best.min(started.elapsed().as_secs_f64());
    }
    Some(best)
}

/// The trace of a run, as the program's atoms and terms see it.
fn simulate(program: &Program, text: &str, loss: u8, length: usize) -> Trace {
    let (machine, findings) = tw_spl::parse("program", text);
    assert!(findings.is_empty(), "the example program is well-formed");
    let mut run = tw_spl::Simulator::new(&machine, 1, loss).expect("it has an initial state");
    let column_of = |what: &What| {
        let name = match what {
            What::Proposition(path) | What::Variable(path, _) => path.to_string(),
            What::Timing(timing) => timing.measure.name().to_string(),
            What::Stream { name, .. } | What::Event { name, .. } | What::Tuples { name, .. } => name.clone(),
            What::Shift(shift) => shift.path.to_string(),
            What::Window(window) => window.text.clone(),
        };
        run.columns().iter().position(|column| *column.name == *name).expect("the program has this column")
    };
    let sources: Vec<(usize, bool)> = program
        .slots
        .iter()
        .enumerate()
        .map(|(slot, of)| {
            let read = |node: &Node| matches!(node, Node::Slot(s) | Node::Truth(s) if *s as usize == slot);
            let used = program.dag.nodes().iter().any(read);
            (if used { column_of(&of.what) } else { 0 }, matches!(of.what, What::Proposition(_)))
        })
        .collect();
    let (predicates, terms) = (Predicates::new(program), Terms::new(program));
    let mut trace = Trace { atoms: vec![Bits::new(); program.atoms().len()], ..Trace::default() };
    while trace.len < length {
        let len = BLOCK.min(length - trace.len);
        let mut truths: Vec<Bits> = vec![Bits::with_capacity(len); sources.len()];
        let mut numbers: Vec<Vec<i64>> = vec![Vec::new(); sources.len()];
        for _ in 0..len {
            for (slot, &(column, proposition)) in sources.iter().enumerate() {
                match run.state().get(column) {
                    Some(Value::Bool(b)) => truths[slot].push(b),
                    Some(Value::Int(i)) if proposition => truths[slot].push(i != 0),
                    Some(Value::Int(i)) => numbers[slot].push(i),
                    _ => truths[slot].push(false),
                }
            }
            run.step().expect("the example program does not fail");
        }
        let columns = truths.into_iter().zip(numbers).map(|(truth, values)| match values.is_empty() {
            true => Column::Truth(truth),
            false => Column::Int { valid: Bits::repeat(true, values.len()), values },
        });
        let batch = Batch { len, slots: columns.collect(), times: None };
        let atoms = predicates.evaluate(&batch).expect("predicates of propositions");
        trace.atoms.iter_mut().zip(&atoms).for_each(|(column, more)| column.append(more));
        let more = terms.evaluate(&batch);
        match trace.terms.is_empty() {
            true => trace.terms = more,
            false => trace.terms.iter_mut().zip(more).for_each(|(term, more)| term.append(more)),
        }
        trace.len += len;
    }
    trace
}
