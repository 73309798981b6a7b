//! `simulate`: traces in every format, errors with the program's lines, deadlocks, and the examples.

mod common;

use common::{directory, root};
use std::process::{Output, Stdio};

fn tracewise(line: &str) -> Output {
    let mut command = common::command();
    command.current_dir(root()).args(line.split_whitespace()).stdin(Stdio::null());
    command.output().expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn fine(line: &str) -> String {
    let output = tracewise(line);
    assert_eq!(output.status.code(), Some(0), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Fails with exit code 2; standard error.
fn bad(line: &str) -> String {
    let output = tracewise(line);
    assert_eq!(output.status.code(), Some(2), "{line}: {}", text(&output.stdout));
    text(&output.stderr)
}

#[test]
fn csv_is_the_states_before_each_step() {
    let out = fine("simulate examples/spl/mux-sem.spl --steps 5 --seed 1 -o - --to csv");
    let expected = "r,at_l0,at_l1,at_l2,at_l3,at_l4,at_m0,at_m1,at_m2,at_m3,at_m4\n\
        1,true,false,false,false,false,true,false,false,false,false\n\
        1,false,true,false,false,false,true,false,false,false,false\n\
        1,false,true,false,false,false,false,true,false,false,false\n\
        1,false,false,true,false,false,false,true,false,false,false\n\
        0,false,false,false,true,false,false,true,false,false,false\n";
    assert_eq!(out, expected);
}

#[test]
fn formats_hold_the_same_trace() {
    let directory = directory("simulate/formats");
    let shown = directory.display();
    let mut converted = Vec::new();
    for extension in ["csv", "jsonl", "json", "csv.gz", "jsonl.zst"] {
        let out = format!("{shown}/abp.{extension}");
        let told = fine(&format!("simulate examples/spl/abp.spl --steps 300 --seed 7 --loss 20 -o {out}"));
        assert!(told.starts_with("wrote 300 positions to"), "{told}");
        fine(&format!("convert {out} -o {out}.all --to jsonl"));
        converted.push(std::fs::read_to_string(format!("{out}.all")).unwrap());
    }
    assert_eq!(converted[0].lines().count(), 300);
    for other in &converted[1..] {
        assert_eq!(&converted[0], other);
    }
    let lines = fine("simulate examples/spl/abp.spl --steps 300 --seed 7 --loss 20 -o -");
    assert_eq!(lines, converted[0]);
    let inspected = fine(&format!("inspect {shown}/abp.csv"));
    for column in [["at_l3", "bool"], ["Sender.seq", "bool"], ["i", "int"]] {
        let found = inspected.lines().any(|line| line.split_whitespace().take(2).eq(column));
        assert!(found, "{column:?}\n{inspected}");
    }
    assert!(!directory.join("abp.csv.partial").exists());
}

#[test]
fn props_leave_integers_out_and_say_so() {
    let output = tracewise("simulate examples/spl/mux-sem.spl --steps 3 --seed 1 -o - --to props");
    assert_eq!(text(&output.stdout), "at_l0 at_m0\nat_l1 at_m0\nat_l1 at_m1\n");
    assert!(text(&output.stderr).contains("integers are left out: r"), "{}", text(&output.stderr));
    let quiet = tracewise("simulate examples/spl/mux-sem.spl --steps 3 -o - --to props --quiet");
    assert_eq!(text(&quiet.stderr), "");
}

#[test]
fn properties_hold_of_the_traces() {
    let directory = directory("simulate/properties");
    let shown = directory.display();
    for (program, formula) in [
        ("mux-sem", "G !(at_l3 & at_m3) & G (r >= 0 & r <= 1)"),
        ("abp", "G (i <= j & j <= i + 1) & G (at_l2 <-> at_l3)"),
        ("peterson", "G !(at_l4 & at_m4) & F at_l4 & F at_m4"),
        ("dining", "F G (at_a3 & at_b3 & at_c3)"),
    ] {
        let trace = format!("{shown}/{program}.csv");
        fine(&format!("simulate examples/spl/{program}.spl --steps 20000 --seed 3 --loss 10 -o {trace}"));
        let mut command = common::command();
        let status = command.args(["check", "--quiet", "-e", formula, &trace]).status().unwrap();
        assert_eq!(status.code(), Some(0), "{program}: {formula}");
    }
}

#[test]
fn the_same_seed_is_the_same_trace() {
    let run =
        |seed: u32| fine(&format!("simulate examples/spl/abp.spl --steps 500 --seed {seed} --loss 20 -o -"));
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
    assert_eq!(fine("simulate examples/spl/abp.spl --steps 0 --to csv -o -").lines().count(), 1);
}

#[test]
fn a_deadlock_is_noted() {
    let line = "simulate examples/spl/dining.spl --steps 5000 --seed 1 -o -";
    let output = tracewise(line);
    assert_eq!(output.status.code(), Some(0));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(out.lines().count(), 5000);
    assert!(err.starts_with("warning[deadlock]: deadlock at position "), "{err}");
    for words in ["`A` waits here", "`B` waits here", "`C` waits here", "a3: request fork[2]"] {
        assert!(err.contains(words), "{words}\n{err}");
    }
    let last: Vec<&str> = out.lines().rev().take(2).collect();
    assert_eq!(last[0], last[1]);
    let directory = directory("simulate/deadlock");
    let told = fine(&format!(
        "simulate examples/spl/dining.spl --steps 5000 --seed 1 --output json -o {}/d.csv",
        directory.display()
    ));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["positions"], 5000);
    let position = told["stuck"].as_u64().unwrap();
    let first = out.lines().position(|line| line == last[0]).unwrap() as u64;
    assert_eq!(position, first);
}

#[test]
fn bad_programs_and_bad_usage() {
    let directory = directory("simulate/bad");
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let out = directory.join("out.csv").display().to_string();
    let syntax = write("syntax.spl", "local x : integer\nl0: x := ;\nl1: y := 1\nl2: x = 2\n");
    let err = bad(&format!("simulate {syntax} --steps 5 -o {out}"));
    assert!(err.contains("syntax.spl:2:10") && err.contains("syntax.spl:4:7"), "{err}");
    let zero =
        write("zero.spl", "local x : integer where x = 3\nl0: loop forever do\n  l1: x := 6 / x - 1\n");
    let err = bad(&format!("simulate {zero} --steps 50 -o {out}"));
    assert!(err.contains("error[division-by-zero]: 6 is divided by zero"), "{err}");
    assert!(err.contains("zero.spl:3:12") && err.contains("at position"), "{err}");
    assert!(!directory.join("out.csv").exists() && !directory.join("out.csv.partial").exists());
    // The states up to the error can be had.
    fine(&format!("simulate {zero} --steps 3 -o {out}"));
    let json = bad(&format!("simulate {zero} --steps 50 -o {out} --output json"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["error"]["line"].as_u64(), json["error"]["code"].as_str()),
        (Some(3), Some("division-by-zero"))
    );

    let good = write("good.spl", "l0: skip");
    for (line, words) in [
        (format!("simulate {good} --steps 5 -o {out}.xyz"), "cannot tell the format"),
        (format!("simulate {good} --steps 5 -o {out} --to events"), "holds events"),
        (format!("simulate {good} --steps 5 -o {good} --to csv"), "is the program itself"),
        (format!("simulate {good} --steps x -o {out}"), "invalid value"),
        (format!("simulate {good} --steps 5 --loss 101 -o {out}"), "101 is not in 0..=100"),
        (format!("simulate {good}.none --steps 5 -o {out}"), "cannot read"),
        (format!("simulate {good} --steps 5 -o {}/none/t.csv", directory.display()), "cannot write"),
        (
            format!("simulate {} --steps 5 -o {out}", write("empty.spl", "skip")),
            "neither variables nor labels",
        ),
    ] {
        let err = bad(&line);
        assert!(err.contains(words), "{line}: expected {words}\n{err}");
    }
    std::fs::write(directory.join("latin.spl"), b"l0: skip // caf\xe9").unwrap();
    let err = bad(&format!("simulate {}/latin.spl --steps 5 -o {out}", directory.display()));
    assert!(err.contains("line 1 is not UTF-8"), "{err}");
}

#[test]
fn the_queries_of_the_paper_are_well_formed() {
    for name in ["mux-sem", "abp"] {
        fine(&format!("fmt --check examples/spl/{name}.tw"));
        fine(&format!("explain examples/spl/{name}.tw"));
    }
}

/// The values of a specification's queries on a simulated trace, as JSON texts, by name.
fn values(program: &str, options: &str, engine: &str) -> Vec<(String, String)> {
    let directory = directory(&format!("{program}-{engine}-{}", options.replace(' ', "")));
    let trace = directory.join("trace.csv");
    let trace = trace.display();
    fine(&format!("simulate examples/spl/{program}.spl {options} -o {trace}"));
    let out = fine(&format!("query examples/spl/{program}.tw {trace} --engine {engine} --output json"));
    let value = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        (line["query"].as_str().expect("a name").to_string(), line["value"].to_string())
    };
    out.lines().map(value).collect()
}

#[test]
fn the_queries_of_the_paper_have_their_values() {
    // steps, seed; semaphore, exclusion, visits, bias (to four digits), overtaking
    let mux: [(u32, u32, &str, f64, &str); 5] = [
        (20, 1, "[3,1]", 3.0, "1"),
        (100, 1, "[13,11]", 1.1818, "2"),
        (1_000, 1, "[126,123]", 1.0244, "4"),
        (1_000, 42, "[130,119]", 1.0924, "2"),
        (100_000, 1, "[12490,12509]", 0.99848, "6"),
    ];
    // steps, loss; throughput, sent and received, most, average
    let abp: [(u32, u32, &str, &str, &str, f64); 5] = [
        (100, 20, "8", "[11,9]", "3", 1.375),
        (1_000, 0, "110", "[111,111]", "1", 1.0),
        (1_000, 20, "66", "[113,83]", "4", 1.6865671641791045),
        (1_000, 50, "26", "[113,58]", "21", 4.185185185185185),
        (100_000, 20, "7131", "[11276,9008]", "9", 1.581043185642176),
    ];
    for engine in ["columnar", "forward", "reverse", "reference"] {
        // The definition is quadratic.
        let short = |steps: &u32| engine != "reference" || *steps <= 1_000;
        for (steps, seed, visits, bias, overtaking) in mux.iter().filter(|row| short(&row.0)) {
            let found = values("mux-sem", &format!("--steps {steps} --seed {seed}"), engine);
            let of = |name: &str| found.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str()).expect(name);
            assert_eq!((of("semaphore"), of("exclusion")), ("1", "1"), "{engine} {steps} {seed}");
            assert_eq!((of("visits"), of("overtaking")), (*visits, *overtaking), "{engine} {steps} {seed}");
            let ratio: f64 = of("bias").parse().expect("a number");
            assert!((ratio - bias).abs() < 5e-5, "{engine} {steps} {seed}: {ratio}");
        }
        for (steps, loss, throughput, sent, most, average) in abp.iter().filter(|row| short(&row.0)) {
            let found = values("abp", &format!("--steps {steps} --seed 1 --loss {loss}"), engine);
            let of = |name: &str| found.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str()).expect(name);
            let whole = (of("throughput"), of("sent_received"), of("most"));
            assert_eq!(whole, (*throughput, *sent, *most), "{engine} {steps} {loss}");
            assert_eq!(of("average").parse::<f64>().expect("a number"), *average, "{engine} {steps} {loss}");
        }
    }
}
