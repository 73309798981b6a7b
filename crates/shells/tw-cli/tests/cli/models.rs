//! `merge`, `model-check`, `coverage`: from traces to a model and its answers.

use crate::common::{Run, directory, finish, tracewise};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The three traces of the paper's first figure.
const TRACES: [&str; 3] = ["state\ns1\ns1\ns1\n", "state\ns1\ns2\ns1\n", "state\ns2\ns2\ns1\n"];

/// Formulas and their truth on the models that keep the state, the time, and the change; `None` where it cannot be asked.
const TABLE: [(&str, [Option<bool>; 3]); 13] = [
    ("AF s1", [Some(false), Some(true), Some(true)]),
    ("AF s2", [Some(false), Some(false), Some(true)]),
    ("EF s2", [Some(true), Some(true), Some(true)]),
    ("AG s1", [Some(false), Some(false), Some(false)]),
    ("AG EF s1", [Some(true), Some(true), Some(true)]),
    ("AG (s1 -> AF s2)", [Some(false), Some(false), Some(false)]),
    ("AG ((s1 & time<2) -> AF s2)", [None, Some(false), Some(true)]),
    ("EF (s2 & EX (s2 & EX s2))", [Some(true), Some(false), Some(false)]),
    ("EF (s2 & EX s2)", [Some(true), Some(false), Some(false)]),
    ("AF AG s1", [Some(false), Some(true), Some(true)]),
    ("A [s2 U s1]", [Some(false), Some(true), Some(true)]),
    ("AG (s2 -> EX s1)", [Some(true), Some(false), Some(true)]),
    ("AX s2", [Some(false), Some(false), Some(false)]),
];

const KEEPS: [&str; 3] = ["state", "time", "change"];

/// Traces in a fresh directory, and a command that runs there.
struct Case(std::path::PathBuf);

impl Case {
    fn new(name: &str, traces: &[&str]) -> Self {
        let folder = directory(name);
        for (index, text) in traces.iter().enumerate() {
            std::fs::write(folder.join(format!("t{}.csv", index + 1)), text).unwrap();
        }
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Run {
        finish(crate::common::command().current_dir(&self.0).args(arguments), "")
    }

    fn merge(&self, keep: &str, out: &str) -> Run {
        self.merge_with(keep, out, &[])
    }

    fn merge_with(&self, keep: &str, out: &str, more: &[&str]) -> Run {
        let count = std::fs::read_dir(&self.0).unwrap().flatten();
        let count = count.filter(|entry| entry.path().extension().is_some_and(|e| e == "csv")).count();
        let traces: Vec<String> = (1..=count).map(|index| format!("t{index}.csv")).collect();
        let mut arguments = vec!["merge", "--keep", keep];
        arguments.extend(traces.iter().map(String::as_str));
        arguments.extend(["-o", out]);
        arguments.extend(more);
        let run = self.run(&arguments);
        assert_eq!(run.code, 0, "{}", run.err);
        run
    }

    fn ask(&self, model: &str, flag: &str, formula: &str) -> Value {
        let run = self.run(&["model-check", model, flag, formula, "--output", "json"]);
        assert!(run.code == 0 || run.code == 1, "{formula}: {}", run.err);
        let answer = run.json().remove(0);
        assert_eq!(answer["holds"] == json!(true), run.code == 0, "{formula}");
        answer
    }
}

#[test]
fn the_table_of_the_paper_on_every_model_and_format() {
    let case = Case::new("table", &TRACES);
    for (column, keep) in KEEPS.iter().enumerate() {
        for extension in ["json", "smv"] {
            let model = format!("{keep}.{extension}");
            case.merge(keep, &model);
            for (formula, truth) in TABLE {
                let run = case.run(&["model-check", &model, "--ctl", formula, "--output", "json"]);
                let Some(holds) = truth[column] else {
                    assert_eq!(run.code, 2, "{formula}");
                    assert!(run.err.contains("--keep time"), "{}", run.err);
                    continue;
                };
                let answer = &run.json()[0];
                assert_eq!(run.code, i32::from(!holds), "{formula} on {model}: {}", run.err);
                assert_eq!(answer["formula"], json!(formula));
                assert_eq!((&answer["logic"], &answer["holds"]), (&json!("ctl"), &json!(holds)), "{formula}");
                assert!(answer["trace"].is_array());
            }
        }
    }
}

/// The words of a text, white space aside; `--` comments left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for line in text.lines().map(|line| line.split("--").next().unwrap_or("")) {
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
        }
    }
    tokens
}

#[test]
fn the_module_of_the_paper_token_for_token() {
    let case = Case::new("figure", &TRACES);
    case.merge("time", "model.smv");
    let written = std::fs::read_to_string(case.0.join("model.smv")).unwrap();
    let expected = "MODULE main VAR state:{s2, s1}; time: 1 .. 3; INIT \
        (state = s1 & time = 1) | (state = s2 & time = 1) TRANS \
        (state=s1 & next(state)=s1 & time = 1 & next(time) = 2) | \
        (state=s1 & next(state)=s2 & time = 1 & next(time) = 2) | \
        (state=s1 & next(state)=s1 & time = 2 & next(time) = 3) | \
        (state=s2 & next(state)=s2 & time = 1 & next(time) = 2) | \
        (state=s1 & next(state)=s1 & time = 3 & next(time) = 3) | \
        (state=s2 & next(state)=s1 & time = 2 & next(time) = 3)";
    let parts = |text: &str| -> (Vec<String>, BTreeSet<String>, BTreeSet<String>) {
        let joined = tokens(text).join(" ");
        let (head, rest) = joined.split_once(" INIT ").expect("INIT");
        let (initial, transitions) = rest.split_once(" TRANS ").expect("TRANS");
        let disjuncts = |text: &str| text.split(" | ").map(str::to_string).collect();
        (head.split(' ').map(str::to_string).collect(), disjuncts(initial), disjuncts(transitions))
    };
    assert_eq!(parts(&written), parts(expected));
    // The spelling of the contract.
    assert!(written.contains("(state = s1 & next(state) = s2 & time = 1 & next(time) = 2)"), "{written}");
    case.merge("state", "state.smv");
    assert!(!std::fs::read_to_string(case.0.join("state.smv")).unwrap().contains("time"));
}

#[test]
fn every_step_of_a_path_leads_to_its_line() {
    let case = Case::new("lines", &TRACES);
    case.merge("time", "model.json");
    let answer = case.ask("model.json", "--ctl", "AF s2");
    let states: Vec<&Value> = answer["trace"].as_array().unwrap().iter().map(|step| &step["state"]).collect();
    assert_eq!(states, [&json!("s1"); 3]);
    assert_eq!(answer["loop"], json!(2));
    assert_eq!(answer["loop_assumed"], json!(true));
    assert_eq!(answer["origin"], json!("observed"));
    assert_eq!(answer["pieces"][0], json!({"from": 0, "to": 2, "trace": "t1.csv", "lines": [2, 3, 4]}));
    assert_eq!(answer["pieces"][1], json!({"from": 2, "to": 3, "trace": null, "lines": []}));
    assert_eq!(answer["trace"][1]["time"], json!(2));
    assert_eq!(answer["trace"][1]["source"], json!({"trace": "t1.csv", "line": 3}));
    // Three times s2 in a row was never seen: the model that forgets time invents it.
    case.merge("state", "state.json");
    let invented = case.ask("state.json", "--ctl", "EF (s2 & EX (s2 & EX s2))");
    assert_eq!((&invented["holds"], &invented["origin"]), (&json!(true), &json!("spliced")), "{invented}");
    let text = case.run(&["model-check", "state.json", "--ctl", "EF (s2 & EX (s2 & EX s2))"]);
    assert!(text.out.contains("witness, spliced from"), "{}", text.out);
}

#[test]
fn impossible_is_not_said_where_not_seen_is_meant() {
    let case = Case::new("unseen", &TRACES);
    case.merge("time", "model.json");
    let run = case.run(&["model-check", "model.json", "--ctl", "EF (s2 & EX (s2 & EX s2))"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("not seen") && run.out.contains("does not make it impossible"), "{}", run.out);
    // A state that the model lacks is false, with a warning.
    let run = case.run(&["model-check", "model.json", "--ctl", "EF s3"]);
    assert_eq!(run.code, 1);
    assert!(
        run.err.contains("no state of this model is `s3`") && run.err.contains("did you mean"),
        "{}",
        run.err
    );
}

#[test]
fn linear_time_with_lassos() {
    let case = Case::new("linear", &TRACES);
    case.merge("time", "model.json");
    for (formula, holds) in [
        ("F s1", true),
        ("G F s1", true),
        ("F G s1", true),
        ("F s2", false),
        ("G (s2 -> X s1)", false),
        ("G (s1 & Y s2 -> O s2)", true),
    ] {
        assert_eq!(case.ask("model.json", "--ltl", formula)["holds"], json!(holds), "{formula}");
    }
    let answer = case.ask("model.json", "--ltl", "G (s2 -> X s1)");
    assert_eq!(answer["logic"], json!("ltl"));
    let steps: Vec<String> =
        answer["trace"].as_array().unwrap().iter().map(|s| s["state"].as_str().unwrap().into()).collect();
    assert_eq!(steps[..2], ["s2", "s2"]);
}

#[test]
fn one_go_from_traces_to_answers() {
    let case = Case::new("one-go", &TRACES);
    std::fs::write(case.0.join("questions.ctl"), "// Is s1 reached?\nAF s1\n\n// Again and again?\nG F s1\n")
        .unwrap();
    let run = case.run(&["merge", "--keep", "time", "t1.csv", "t2.csv", "t3.csv", "--spec", "questions.ctl"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("5 states, 6 transitions (1 assumed where traces end)"), "{}", run.out);
    assert!(run.out.contains("Is s1 reached?") && run.out.contains("2 of 2 formulas hold"), "{}", run.out);
    let run = case.run(&[
        "merge", "--keep", "time", "t1.csv", "t2.csv", "t3.csv", "--ctl", "AF s2", "--output", "json",
    ]);
    assert_eq!((run.code, run.json().len()), (1, 1));
}

#[test]
fn formulas_in_the_model_and_fairness() {
    let folder = directory("smv");
    let case = Case(folder);
    let text = "MODULE main\n VAR\n  x: {a, b};\n ASSIGN\n  init(x) := a;\n  next(x) := {a, b};\nSPEC AG EF x = b\nLTLSPEC G F x = b\n";
    std::fs::write(case.0.join("m.smv"), text).unwrap();
    let run = case.run(&["model-check", "m.smv", "--output", "json"]);
    let verdicts: Vec<Value> = run.json().iter().map(|answer| answer["holds"].clone()).collect();
    assert_eq!((run.code, verdicts), (1, vec![json!(true), json!(false)]), "{}", run.err);
    let run = case.run(&["model-check", "m.smv", "--fair", "x = b", "--output", "json"]);
    assert_eq!(run.code, 0, "{}", run.out);
    std::fs::write(case.0.join("m.smv"), format!("{text}FAIRNESS x = b\n")).unwrap();
    assert_eq!(case.run(&["model-check", "m.smv"]).code, 0);
}

#[test]
fn probabilities_and_rare_transitions() {
    // From a: three times to b, once to c.
    let case = Case::new("rare", &["state\na\nb\n", "state\na\nb\n", "state\na\nb\n", "state\na\nc\n"]);
    case.merge("state", "model.json");
    let run = case.run(&["model-check", "model.json", "--ctl", "EF c", "--probability", "--output", "json"]);
    let answer = &run.json()[0];
    assert_eq!((&answer["probability"], &answer["probability_fraction"]), (&json!(0.25), &json!("1/4")));
    assert_eq!(case.run(&["model-check", "model.json", "--ctl", "EF c"]).code, 0);
    assert_eq!(case.run(&["model-check", "model.json", "--ctl", "EF c", "--min-count", "2"]).code, 1);
}

#[test]
fn states_of_columns_and_of_predicates() {
    let case =
        Case::new("named", &["queue,busy\n1,true\n12,true\n30,false\n", "queue,busy\n12,true\n2,false\n"]);
    case.merge("state", "all.json");
    assert_eq!(case.ask("all.json", "--ctl", "EF (queue = 30 & busy)")["holds"], json!(false));
    assert_eq!(case.ask("all.json", "--ctl", "EF (queue = 12 & busy)")["holds"], json!(true));
    case.merge_with("state", "busy.json", &["--state", "busy"]);
    let run = case.run(&["model-check", "busy.json", "--ctl", "AG (state = true | state = false)"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    case.merge_with("state", "pair.smv", &["--state", "busy,queue"]);
    assert_eq!(case.ask("pair.smv", "--ctl", "EF (queue > 20 & busy)")["holds"], json!(false));
    std::fs::write(case.0.join("states.tw"), "let full = queue > 10;\nlet tens = queue / 10 > 2;\n").unwrap();
    case.merge_with("state", "named.json", &["--states", "states.tw"]);
    for (formula, holds) in [
        ("EF (full & !tens)", true),
        ("EF `full+tens`", true),
        ("AG (tens -> full)", true),
        ("EF other", true),
    ] {
        let answer = case.ask("named.json", "--ctl", formula);
        assert_eq!(answer["holds"], json!(holds), "{formula}: {answer}");
    }
}

#[test]
fn one_trace_per_value_of_a_column() {
    let log = "order,event\n1,placed\n2,placed\n1,paid\n2,cancelled\n1,shipped\n";
    let case = Case::new("by", &[log]);
    case.merge_with("state", "orders.json", &["--by", "order", "--state", "event"]);
    let answer = case.ask("orders.json", "--ctl", "EF (placed & EX (paid & EX shipped))");
    assert_eq!((&answer["holds"], &answer["origin"]), (&json!(true), &json!("observed")), "{answer}");
    assert_eq!(answer["pieces"][0]["lines"], json!([2, 4, 6]), "{answer}");
    assert_eq!(case.ask("orders.json", "--ctl", "EF (cancelled & EX shipped)")["holds"], json!(false));
    // An order that was only placed: without a mark at its end the model has forgotten it.
    std::fs::write(case.0.join("t1.csv"), format!("{log}3,placed\n")).unwrap();
    let run = case.merge_with("state", "orders.json", &["--by", "order", "--state", "event"]);
    assert!(run.err.contains("1 trace ends where others go on"), "{}", run.err);
    // Both the merging and the question know of it: it is told once.
    let asked = ["--by", "order", "--state", "event", "--ctl", "EF placed", "--output", "json"];
    let answer = case.merge_with("state", "orders.json", &asked).json().remove(0);
    let told = answer["warnings"].as_array().unwrap().iter().filter(|told| told["code"] == "lost-ends");
    assert_eq!(told.count(), 1, "{answer}");
    let lost = "AG (placed -> AX (paid | cancelled))";
    assert_eq!(case.ask("orders.json", "--ctl", lost)["holds"], json!(true));
    case.merge_with("state", "orders.json", &["--by", "order", "--state", "event", "--end-loops", "state"]);
    let answer = case.ask("orders.json", "--ctl", lost);
    assert_eq!((&answer["holds"], &answer["origin"]), (&json!(false), &json!("observed")), "{answer}");
    assert_eq!(answer["pieces"][0]["lines"], json!([7, 7]), "{answer}");
}

#[test]
fn other_formats_are_written() {
    let case = Case::new("formats", &TRACES);
    for (name, begins) in
        [("m.dot", "digraph"), ("m.svg", "<svg"), ("m.pml", ""), ("m.prism", "dtmc"), ("m.aut", "des")]
    {
        case.merge("time", name);
        let text = std::fs::read_to_string(case.0.join(name)).unwrap();
        assert!(text.contains(begins) && !text.is_empty(), "{name}: {text}");
    }
    assert!(!Path::new(&case.0.join("m.dot.part")).exists());
    let run = case.run(&["model-check", "m.dot", "--ctl", "EF s1"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("cannot be read back"), "{}", run.err);
}

#[test]
fn what_is_wrong_is_said() {
    let case = Case::new("wrong", &["state\n", "state\ns1\n"]);
    let fails = |arguments: &[&str], message: &str| {
        let run = case.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.out);
        assert!(run.err.contains(message), "{arguments:?}: {}", run.err);
        assert!(run.out.is_empty(), "{}", run.out);
    };
    fails(&["merge", "--keep", "time", "t1.csv", "-o", "m.json"], "t1.csv: the trace has no positions");
    fails(&["merge", "--keep", "time", "t2.csv"], "say where to write the model");
    fails(&["merge", "--keep", "time", "t2.csv", "--state", "stat", "-o", "m.json"], "did you mean `state`?");
    fails(&["merge", "--keep", "time", "t2.csv", "none.csv", "-o", "m.json"], "none.csv");
    fails(&["merge", "--keep", "time", "t2.csv", "-o", "m.xyz"], "cannot tell the format of the model");
    fails(&["merge", "--keep", "time", "t2.csv", "--max-states", "0", "-o", "m.json"], "more than 0 states");
    fails(&["model-check", "t2.csv", "--ctl", "EF s1"], "is a trace; make a model of it first");
    assert_eq!(case.run(&["merge", "--keep", "state", "t2.csv", "-o", "m.json"]).code, 0);
    fails(&["model-check", "m.json"], "there is no formula");
    fails(&["model-check", "m.json", "--ctl", "AG ("], "");
    fails(&["model-check", "m.json", "--ctl", "G s1"], "put `A` or `E` before it");
    fails(&["model-check", "m.json", "--ctl", "EF time < 3"], "--keep time");
    std::fs::write(case.0.join("bad.json"), "{\"model\": \"tracewise\", \"states\": [1}").unwrap();
    fails(&["model-check", "bad.json", "--ctl", "EF s1"], "bad.json:1:");
    std::fs::write(case.0.join("bad.smv"), "MODULE main\n VAR\n  x: {a, b;\n").unwrap();
    fails(&["model-check", "bad.smv", "--ctl", "EF a"], "bad.smv:3:");
}

#[test]
fn coverage_says_what_may_be_missing() {
    let case = Case::new("coverage", &TRACES);
    case.merge("state", "model.json");
    let run = case.run(&["coverage", "model.json", "--output", "json", "--plot", "curve.svg"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let answer = &run.json()[0];
    assert_eq!(answer["states"]["seen"], json!(2), "{answer}");
    assert_eq!(answer["transitions"]["seen"], json!(4), "{answer}");
    assert!(std::fs::read_to_string(case.0.join("curve.svg")).unwrap().starts_with("<svg"));
    let run = tracewise("coverage none.json");
    assert_eq!(run.code, 2);
}

#[test]
fn models_are_written_in_other_formats() {
    let case = Case::new("rewritten", &TRACES);
    case.merge("time", "model.json");
    let run =
        case.run(&["model-check", "model.json", "-o", "again.json", "-o", "model.smv", "-o", "model.pml"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""), "{}", run.err);
    let read = |name: &str| std::fs::read_to_string(case.0.join(name)).unwrap();
    assert_eq!(read("model.json"), read("again.json"));
    assert!(read("model.smv").contains("next(time)") && read("model.pml").contains("active proctype"));
}

/// A path as printed, against the model's file and the logs: every step is a transition, every transition that was not
/// assumed was seen where it is said to be, and every piece is what its trace says, line by line.
fn validate(folder: &Path, model: &Value, answer: &Value) {
    let states = model["states"].as_array().unwrap();
    let known = |step: &Value| {
        states
            .iter()
            .position(|state| state["state"] == step["state"] && state["time"] == step["time"])
            .unwrap()
    };
    let edges = model["edges"].as_array().unwrap();
    let edge =
        |from: usize, to: usize| edges.iter().find(|e| e["from"] == json!(from) && e["to"] == json!(to));
    let steps = answer["trace"].as_array().unwrap();
    let Some(first) = steps.first() else { return };
    assert!(!states[known(first)]["initial"].is_null(), "{first} is no initial state");
    let back = answer["loop"].as_u64().map(|at| &steps[at as usize]);
    let walk: Vec<&Value> = steps.iter().chain(back).collect();
    for (at, pair) in walk.windows(2).enumerate() {
        let found = edge(known(pair[0]), known(pair[1]))
            .unwrap_or_else(|| panic!("no transition at step {at}: {answer}"));
        if at + 1 < steps.len() {
            assert_eq!(pair[1]["assumed"], json!(found["count"].is_null()), "{answer}");
            let place = &found["first"];
            if !place.is_null() {
                let trace = &model["traces"][place["trace"].as_u64().unwrap() as usize];
                assert_eq!(pair[1]["source"], json!({"trace": trace, "line": place["line"]}));
            }
        }
    }
    let Some(pieces) = answer["pieces"].as_array() else { return };
    let (mut reached, mut seen) = (0, 0);
    for piece in pieces {
        let (from, to) = (piece["from"].as_u64().unwrap() as usize, piece["to"].as_u64().unwrap() as usize);
        assert_eq!(from, reached, "{answer}");
        reached = to;
        let Some(trace) = piece["trace"].as_str() else {
            let assumed = edge(known(walk[from]), known(walk[from + 1])).unwrap();
            assert!(assumed["count"].is_null(), "{answer}");
            continue;
        };
        seen += 1;
        let log = std::fs::read_to_string(folder.join(trace)).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        let numbers: Vec<usize> =
            piece["lines"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
        assert_eq!(numbers.len(), to - from + 1);
        for (step, &line) in walk[from..=to].iter().zip(&numbers) {
            assert_eq!(step["state"].as_str(), Some(lines[line - 1]), "{answer}");
            assert!(step["time"].is_null() || step["time"] == json!(line - 1), "{answer}");
        }
        // Between two steps the trace did not change its state; where every position is a step, lines follow each other.
        for (pair, step) in numbers.windows(2).zip(&walk[from..]) {
            let between = &lines[pair[0]..pair[1] - 1];
            assert!(between.iter().all(|line| step["state"].as_str() == Some(line)), "{answer}");
        }
    }
    assert_eq!(reached + 1, walk.len(), "{answer}");
    // Observed: one trace, from its first line on, and to its last where the path stays because nothing is known.
    let observed = answer["origin"] == json!("observed");
    if observed {
        assert_eq!(seen, 1, "{answer}");
        assert_eq!(pieces[0]["lines"][0], json!(2), "{answer}");
        assert!(back.is_none() || answer["loop_assumed"] == json!(true), "{answer}");
        if let [own, _assumed] = pieces.as_slice() {
            let log = std::fs::read_to_string(folder.join(own["trace"].as_str().unwrap())).unwrap();
            let last = own["lines"].as_array().unwrap().last().unwrap().as_u64().unwrap() as usize;
            let lines: Vec<&str> = log.lines().collect();
            assert!(lines[last - 1..].iter().all(|line| *line == lines[last - 1]), "{answer}");
        }
    }
}

#[test]
fn every_printed_path_is_true() {
    let mut seed = 7u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    let formulas = [
        ("--ctl", "AF s3"),
        ("--ctl", "EF (s3 & EX s1)"),
        ("--ctl", "EG !s2"),
        ("--ctl", "AG (s1 -> AF s2)"),
        ("--ctl", "E[!s3 U s2 & EX s2]"),
        ("--ctl", "AG EF s1"),
        ("--ctl", "EF[2,4] s2"),
        ("--ctl", "E (F s3 & G !s2)"),
        ("--ltl", "G F s1"),
        ("--ltl", "F G s2"),
        ("--ltl", "G (s1 -> X !s2)"),
        ("--ltl", "G (s3 -> O s2)"),
    ];
    let mut shown = 0;
    for round in 0..6 {
        let mut trace = || {
            let states: Vec<String> = (0..2 + draw(7)).map(|_| format!("s{}", 1 + draw(3))).collect();
            format!("state\n{}\n", states.join("\n"))
        };
        let traces: Vec<String> = (0..4).map(|_| trace()).collect();
        let traces: Vec<&str> = traces.iter().map(String::as_str).collect();
        let case = Case::new(&format!("printed-{round}"), &traces);
        let keep = KEEPS[round % 3];
        case.merge(keep, "model.json");
        let model: Value =
            serde_json::from_str(&std::fs::read_to_string(case.0.join("model.json")).unwrap()).unwrap();
        let mut arguments = vec!["model-check", "model.json", "--output", "json"];
        formulas.iter().for_each(|(flag, formula)| arguments.extend([flag, formula]));
        for answer in case.run(&arguments).json() {
            validate(&case.0, &model, &answer);
            shown += usize::from(!answer["trace"].as_array().unwrap().is_empty());
        }
    }
    assert!(shown > 20, "{shown} paths");
}

#[test]
fn observed_is_said_of_what_a_trace_did_and_nothing_else() {
    let origin = |name: &str, traces: &[&str], more: &[&str]| {
        let traces: Vec<String> =
            traces.iter().map(|states| format!("state\n{}\n", states.replace(' ', "\n"))).collect();
        let case = Case::new(name, &traces.iter().map(String::as_str).collect::<Vec<_>>());
        let files: Vec<String> = (1..=traces.len()).map(|index| format!("t{index}.csv")).collect();
        let mut arguments = vec!["merge", "--keep", "state"];
        arguments.extend(files.iter().map(String::as_str));
        arguments.extend(more);
        let text = case.run(&arguments).out;
        arguments.extend(["--output", "json"]);
        let answer = case.run(&arguments).json().remove(0);
        (answer["origin"].as_str().unwrap_or("").to_string(), answer["pieces"][0]["trace"].clone(), text)
    };
    // A loop that the trace left again.
    let (said, _, text) = origin("left", &["s1 s1 s2"], &["--ctl", "AF s2"]);
    assert!(said == "spliced" && text.contains("went round once, but not for ever"), "{text}");
    // A loop assumed where another trace ended: that one is the witness.
    let ends = ["--end-loops", "all", "--ctl", "AF c"];
    let (said, trace, text) = origin("ended", &["a b c", "a b"], &ends);
    assert!(
        said == "observed" && trace == json!("t2.csv") && text.contains("some trace ended here"),
        "{text}"
    );
    let (said, _, text) = origin("ended-later", &["a b c", "c b"], &ends);
    assert!(said == "spliced", "{text}");
    // What was left out as rare is not called unknown.
    let rare = ["--min-count", "3", "--ctl", "AF c"];
    let (said, trace, text) = origin("rare-ends", &["a b c", "a b c", "a b"], &rare);
    assert!(said == "observed" && trace == json!("t3.csv") && text.contains("left out as rare"), "{text}");
    // A trace that went this way after something else.
    let (said, _, text) = origin("later", &["x a b", "a c"], &["--ltl", "G (b -> O x)"]);
    assert!(said == "spliced" && text.contains("but not from beginning to end"), "{text}");
    // A step that nobody took, after the end of the only trace.
    let (said, trace, _) = origin("stays", &["s1"], &["--ctl", "EX s1"]);
    assert_eq!((said.as_str(), trace), ("observed", json!("t1.csv")));
}

#[test]
fn traces_that_changed_are_noticed() {
    let case = Case::new("changed", &["state\na\nb\nc\n"]);
    case.merge("state", "model.json");
    std::fs::write(case.0.join("t1.csv"), "state\nx\ny\nz\n").unwrap();
    let answer = case.ask("model.json", "--ctl", "EF c");
    assert_eq!(answer["origin"], json!("unknown"), "{answer}");
    assert!(answer["origin_unknown"].as_str().unwrap().contains("changed"), "{answer}");
}

#[test]
fn one_state_can_show_it() {
    let case = Case(directory("one-state"));
    std::fs::write(case.0.join("x.smv"), "MODULE main\nVAR x: boolean;\nASSIGN next(x) := x;\n").unwrap();
    for (flag, formula, holds) in [
        ("--ctl", "AG x", false),
        ("--ltl", "G x", false),
        ("--ctl", "!AG x", false),
        ("--ctl", "EF (x | !x)", true),
        ("--ctl", "x | !x", true),
    ] {
        let answer = case.ask("x.smv", flag, formula);
        assert_eq!(answer["holds"], json!(holds), "{formula}");
        let shown = formula != "!AG x";
        assert_eq!(answer["trace"].as_array().unwrap().len(), usize::from(shown), "{formula}: {answer}");
    }
    // Some initial states only.
    let case = Case::new("some-initial", &TRACES);
    case.merge("time", "model.json");
    let run = case.run(&["model-check", "model.json", "--ctl", "EF (s2 & EX s2)"]);
    assert!(
        run.out.contains("1 of 2 initial states") && run.out.contains("not seen from s1 @ 1"),
        "{}",
        run.out
    );
}

#[test]
fn fairness_that_nothing_has_is_said() {
    let case = Case::new("unfair", &TRACES);
    case.merge("time", "model.json");
    let run = case.run(&["model-check", "model.json", "--fair", "s9", "--ctl", "AG false"]);
    assert_eq!(run.code, 0);
    assert!(run.err.contains("no state of this model is `s9`"), "{}", run.err);
    assert!(run.err.contains("no fair path begins in 2 initial states"), "{}", run.err);
    assert!(run.out.contains("every fair path"), "{}", run.out);
    let run = case.run(&["model-check", "model.json", "--ltl", "AF s1"]);
    assert!(run.code == 2 && run.err.contains("ask it with --ctl"), "{}", run.err);
}

#[test]
fn steps_keep_variables_that_are_called_like_fields() {
    let case = Case::new("fields", &["source,assumed,x\nweb,1,1\napp,0,2\n"]);
    case.merge("state", "model.json");
    let answer = case.ask("model.json", "--ctl", "EF x = 2");
    assert_eq!((&answer["trace"][1]["$source"], &answer["trace"][1]["$assumed"]), (&json!("app"), &json!(0)));
    assert_eq!(answer["trace"][1]["source"]["line"], json!(3));
}

/// Each free variable doubles the states; formulas that name all of them are answered nevertheless.
#[test]
fn many_free_variables_that_formulas_name() {
    let folder = directory("many-free");
    let names: Vec<String> = (0..24).map(|at| format!("b{at}")).collect();
    let mut text = "MODULE main\nVAR\n".to_owned();
    names.iter().for_each(|name| text += &format!("  {name} : boolean;\n"));
    text += "  n : 0..4;\nASSIGN init(n) := 0; next(n) := case b0 & n < 4 : n + 1; TRUE : n; esac;\n";
    (1..12).for_each(|at| {
        text += &format!("next(b{at}) := case b{} : b{}; TRUE : {{TRUE, FALSE}}; esac;\n", at - 1, at + 9)
    });
    text += "DEFINE full := n = 4;\n";
    let (any, all) = (names[1..].join(" | "), names.join(" & "));
    text += &format!("CTLSPEC AG (b0 -> EF b23)\nLTLSPEC G (b0 -> F ({any}))\nINVARSPEC !({all} & full)\n");
    text += "CTLSPEC AG (full -> AG full)\nLTLSPEC F G !b0 | F full\n";
    std::fs::write(folder.join("free.smv"), text).unwrap();
    let run = finish(crate::common::command().current_dir(&folder).args(["model-check", "free.smv"]), "");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("3 of 5 formulas hold on free.smv (83,886,080 states, "), "{}", run.out);
    assert!(run.out.contains(", as sets)"), "{}", run.out);
    let run = finish(
        crate::common::command().current_dir(&folder).args(["model-check", "free.smv", "--output", "json"]),
        "",
    );
    let answers = run.json();
    let holds: Vec<bool> = answers.iter().map(|answer| answer["holds"].as_bool().unwrap()).collect();
    assert_eq!(holds, [true, false, false, true, true]);
    assert!(answers.iter().all(|answer| answer["engine"] == "symbolic"));
    let truth = |step: &Value, name: &str| step[name].as_bool().unwrap();
    // From some step with `b0` on, nothing else for ever.
    let steps = answers[1]["trace"].as_array().unwrap();
    let first = steps.iter().position(|step| truth(step, "b0")).unwrap();
    let from = first.min(answers[1]["loop"].as_u64().unwrap() as usize);
    assert!(steps[from..].iter().all(|step| names[1..].iter().all(|name| !truth(step, name))), "{steps:?}");
    // `n` counts the steps with `b0` before it.
    let steps = answers[2]["trace"].as_array().unwrap();
    let mut count = 0;
    for step in steps {
        assert_eq!(step["n"], count, "{steps:?}");
        count = (count + i64::from(truth(step, "b0"))).min(4);
    }
    let last = steps.last().unwrap();
    assert!(names.iter().all(|name| truth(last, name)) && last["full"] == true, "{last}");
}

/// More states than a number has room for are not told as a number.
#[test]
fn beyond_counting() {
    let folder = directory("beyond-counting");
    let names: Vec<String> = (0..80).map(|at| format!("b{at}")).collect();
    let mut text = "MODULE main\nVAR\n".to_owned();
    names.iter().for_each(|name| text += &format!("  {name} : boolean;\n"));
    text += &format!("SPEC AG ({})\nLTLSPEC G F ({})\n", names.join(" | "), names.join(" & "));
    std::fs::write(folder.join("m.smv"), text).unwrap();
    let run = finish(crate::common::command().current_dir(&folder).args(["model-check", "m.smv"]), "");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    let told = "0 of 2 formulas hold on m.smv (more than 10^19 states, more than 10^19 transitions, as sets)";
    assert!(run.out.contains(told), "{}", run.out);
    assert!(run.out.contains("more than 10^19 of more than 10^19 initial states"), "{}", run.out);
}

/// As many definitions as states, each over one of them: reading them is not a look at all pairs.
#[test]
fn many_different_events_are_read_back() {
    let folder = directory("many-events-back");
    let events: String = (0..20_000).map(|at| format!("e{at}\n")).collect();
    std::fs::write(folder.join("t.events"), events).unwrap();
    let run = |arguments: &[&str]| finish(crate::common::command().current_dir(&folder).args(arguments), "");
    let merged = run(&["merge", "--keep", "state", "t.events", "-o", "m.smv"]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    assert!(std::fs::metadata(folder.join("m.smv")).unwrap().len() < 8 << 20);
    let asked =
        run(&["model-check", "m.smv", "--ctl", "EF e19999", "--ctl", "AG (e7 -> AX e9)", "--output", "json"]);
    assert_eq!(asked.code, 1, "{}", asked.err);
    let holds: Vec<bool> = asked.json().iter().map(|answer| answer["holds"].as_bool().unwrap()).collect();
    assert_eq!(holds, [true, false]);
}

/// Of many different events each happens in few states: work and memory go with those.
#[test]
fn many_different_events_are_merged_and_asked() {
    let folder = directory("many-events");
    let events: String = (0..20_000).map(|at| format!("e{at}\n")).collect();
    std::fs::write(folder.join("t.events"), events).unwrap();
    let run = |arguments: &[&str]| finish(crate::common::command().current_dir(&folder).args(arguments), "");
    let merge = ["merge", "--keep", "state", "t.events", "-o", "m.json", "--output", "json"];
    let asked = run(&[merge.as_slice(), &["--ctl", "EF e19999", "--ctl", "AG (e7 -> AX e9)"]].concat());
    assert_eq!(asked.code, 1, "{}", asked.err);
    let answers: Vec<Value> = asked.json().into_iter().filter(|line| line.get("holds").is_some()).collect();
    let shown = |answer: &Value| answer["trace"].as_array().map_or(0, Vec::len);
    assert_eq!((answers[0]["holds"].as_bool(), shown(&answers[0])), (Some(true), 20_000));
    // Of a path so long what each state is not is left out.
    assert_eq!((&answers[0]["trace"][9]["state"], &answers[0]["cut"]), (&json!("e9"), &json!(true)));
    assert_eq!((answers[1]["holds"].as_bool(), &answers[1]["trace"][7]["e7"]), (Some(false), &json!(true)));
    assert!(std::fs::metadata(folder.join("m.json")).unwrap().len() < 20 << 20);
    let again = run(&["model-check", "m.json", "--ctl", "AG (e7 -> AX e8)", "--output", "json"]);
    assert_eq!(again.json()[0]["holds"], true, "{}", again.err);
}
