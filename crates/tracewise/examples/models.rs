//! How long formulas take on random models in memory.
//!
//! ```text
//! cargo run --release -p tracewise --example models -- [--states 1000000] [--degree 5] [--seed 1] [--json FILE]
//! ```
//!
//! A model has that many states, each with that many transitions to states drawn at random (equal ones count once); `p`
//! holds in one of a hundred states, `q` in half of them, `r` nowhere. `--json` writes the model to a file, for other programs.

use std::time::Instant;
use tracewise::Session;
use tracewise::model::{Logic, Model, ModelOptions, Question, write_model};
use tw_check::{Checker, Labels, branching, linear};
use tw_model::{Cells, Domain, Graph, Variable};

const FORMULAS: &[(Logic, &str)] = &[
    (Logic::Branching, "AG EF p"),
    (Logic::Branching, "AF p"),
    (Logic::Branching, "AF r"),
    (Logic::Branching, "E[q U p]"),
    (Logic::Branching, "EG q"),
    (Logic::Branching, "AG (q -> EX p)"),
    (Logic::Linear, "G (p -> F q)"),
    (Logic::Linear, "G (p -> F r)"),
    (Logic::Linear, "G (p -> F (q | !q))"),
    (Logic::Linear, "G F q -> G F p"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        arguments.iter().position(|given| given == name).and_then(|at| arguments.get(at + 1)).cloned()
    };
    let number =
        |name: &str, default: u64| option(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let model =
        random(number("--states", 1_000_000) as u32, number("--degree", 5) as u32, number("--seed", 1));
    if let Some(path) = option("--json") {
        write_model(&model, &path).expect("the model can be written");
    }
    println!("states,transitions,logic,formula,holds,milliseconds,check alone");
    let checker = Checker::new(&model);
    let session = Session::new();
    for &(logic, text) in FORMULAS {
        let question = [Question::new(logic, text)];
        let mut best = f64::INFINITY;
        let mut holds = false;
        for _ in 0..3 {
            let started = Instant::now();
            let report =
                session.model_check(&model, &question, &ModelOptions::default()).expect("it can be checked");
            best = best.min(started.elapsed().as_secs_f64() * 1e3);
            holds = report.formulas[0].holds;
        }
        let alone = check_alone(&checker, logic, text);
        let (states, edges) = (model.states(), model.graph.edges());
        println!("{states},{edges},{},{text},{holds},{best:.3},{alone:.3}", logic.name());
    }
    if let Some(line) = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| status.lines().find(|line| line.starts_with("VmHWM")).map(str::to_string))
    {
        println!("# {line}");
    }
}

/// Milliseconds of the check on a model made ready: predicates and verdict, without the path that shows it.
fn check_alone(checker: &Checker<'_>, logic: Logic, text: &str) -> f64 {
    let parse = match logic {
        Logic::Branching => tw_spec::parse_branching,
        Logic::Linear => tw_spec::parse_formula,
    };
    let program = tw_spec::lower(&parse(text, 0).value, &tw_spec::LowerOptions::default()).value;
    let root = program.roots[0].node;
    let once = || {
        let started = Instant::now();
        let labels = Labels::new(checker.model, &program).expect("the names are the model's");
        let holds = match logic {
            Logic::Branching => {
                branching(checker, &program, root, &labels.atoms).map(|answer| answer.holds())
            }
            Logic::Linear => linear(checker, &program, root, &labels.atoms).map(|answer| answer.holds()),
        };
        std::hint::black_box(holds.expect("it can be checked"));
        started.elapsed().as_secs_f64() * 1e3
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// The same model for the same numbers.
fn random(states: u32, degree: u32, seed: u64) -> Model {
    // A number from its index, so that transitions need not be stored to be drawn again.
    let draw = |index: u64| tw_testkit::Rng::new(index.wrapping_add(seed << 32)).bits();
    let edges = (0..states).flat_map(move |from| {
        (0..degree).map(move |at| {
            let index = u64::from(from) * u64::from(degree) + u64::from(at);
            (from, (draw(index) % u64::from(states)) as u32)
        })
    });
    let truth = |name: &str, salt: u64, one_in: u64| Variable {
        name: name.into(),
        domain: Domain::Boolean,
        cells: Cells::Own(
            (0..u64::from(states))
                .map(|state| u32::from(one_in > 0 && draw(salt.wrapping_add(state)).is_multiple_of(one_in)))
                .collect(),
        ),
    };
    Model {
        variables: vec![truth("p", 1 << 60, 100), truth("q", 1 << 61, 2), truth("r", 1 << 62, 0)],
        initial: vec![0],
        graph: Graph::from_edges(states as usize, edges),
        ..Model::default()
    }
}
