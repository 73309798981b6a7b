//! The other commands: `eval`, `explain`, `fmt`, `inspect`, `convert`, `completions`, `man`, and help.

use crate::common::{command, directory, finish, tracewise, tracewise_with};
use serde_json::{Value, json};

#[test]
fn eval_prints_one_value_per_position() {
    let run = tracewise("eval -e 'a -> F b' ab.csv --output json");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.out.lines().next(), Some(r#"{"position":0,"value":true}"#));
    let values: Vec<Value> = tracewise("eval -e 'a' ab.csv --output json").json();
    assert_eq!(values.len(), 4);
    assert_eq!(values[1], json!({"position": 1, "value": false}));
}

#[test]
fn eval_text_shows_runs() {
    let run = tracewise("eval -e a ab.csv");
    assert_eq!(
        run.out,
        "  0  true\n1–2  false\n  3  true\ntrue at 2 of 4 positions of ab.csv; engine columnar\n"
    );
    assert_eq!(tracewise("eval -e a ab.csv good.jsonl").code, 2, "one trace");
}

#[test]
fn explain_names_fragment_and_engine() {
    let run = tracewise("explain web.tw --output json");
    assert_eq!(run.code, 0, "{run:?}");
    let objects = run.json();
    assert_eq!(objects.len(), 4);
    assert_eq!(objects[0]["property"], "answered");
    assert_eq!(objects[0]["engine"], "columnar");
    assert_eq!((&objects[0]["future"], &objects[0]["past"]), (&json!(true), &json!(false)));
    assert_eq!(objects[3]["specification"], "web.tw");
    let text = tracewise("explain -e 'G (a -> F b)'");
    assert_eq!(text.code, 0, "{text:?}");
    assert!(text.out.contains("linear temporal logic") && text.out.contains("columnar"), "{}", text.out);
    assert_eq!(tracewise("explain").code, 2);
    assert_eq!(tracewise("explain -e 'G ('").code, 2);
}

#[test]
fn fmt_is_idempotent_and_checks() {
    let directory = directory("fmt");
    let file = directory.join("spec.tw");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/crooked.tw"), &file).unwrap();
    let fmt = |option: &str| finish(command().arg("fmt").args(option.split_whitespace()).arg(&file), "");
    let before = std::fs::read_to_string(&file).unwrap();
    let printed = fmt("");
    assert_eq!(printed.code, 0, "{printed:?}");
    assert_ne!(printed.out, before);
    assert!(printed.out.contains("// why"), "{}", printed.out);
    let check = fmt("--check");
    assert_eq!(check.code, 1, "{check:?}");
    assert!(
        check.out.contains("not in canonical form") && check.out.contains("\n+ property p"),
        "{}",
        check.out
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "only --write writes");
    assert_eq!(fmt("--write").code, 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed.out);
    assert_eq!(fmt("--check").code, 0);
    assert_eq!(fmt("").out, printed.out);
    assert_eq!(fmt("--output json").json()[0]["changed"], false);
}

#[test]
fn fmt_refuses_what_does_not_parse() {
    let run = tracewise_with("fmt -", "property p : G (a -> ;");
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
    assert!(run.err.contains('^'), "{}", run.err);
    assert_eq!(tracewise("fmt no-such.tw").code, 2);
    assert_eq!(
        tracewise_with("fmt -", "property p:a;").out,
        tracewise_with("fmt -", "property   p :\n a ;").out
    );
}

#[test]
fn inspect_tells_what_there_is() {
    let object = tracewise("inspect web.jsonl --output json").json().remove(0);
    assert_eq!((&object["format"], &object["positions"]), (&json!("jsonl"), &json!(5)));
    assert_eq!(object["span"], json!(["0", "4"]));
    assert_eq!(object["events"][0], json!({"name": "req", "count": 3}));
    let names: Vec<&Value> =
        object["columns"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(names, ["id", "queue"]);
    let text = tracewise("inspect web.jsonl").out;
    assert!(text.starts_with("web.jsonl  jsonl · 5 positions · time 0 to 4\n"), "{text}");
    assert!(text.contains("queue") && text.contains("tracewise check -e '"), "{text}");
    assert_eq!(tracewise("inspect no-such.csv").code, 2);
}

#[test]
fn convert_there_and_back() {
    let directory = directory("convert");
    let (csv, back) = (directory.join("web.csv"), directory.join("web.jsonl"));
    let there = finish(command().args(["convert", "web.jsonl", "-o"]).arg(&csv), "");
    assert_eq!(there.code, 0, "{there:?}");
    assert!(there.out.starts_with("wrote 5 positions to "), "{}", there.out);
    let again =
        finish(command().arg("convert").arg(&csv).arg("-o").arg(&back).args(["--output", "json"]), "");
    assert_eq!(again.json()[0]["positions"], 5);
    let verdicts = |path: &std::path::Path| {
        let run = finish(command().args(["check", "web.tw", "--output", "json"]).arg(path), "");
        run.json().iter().map(|o| (o["verdict"].clone(), o["violation_count"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&back), verdicts(std::path::Path::new("web.jsonl")));
    assert_eq!(verdicts(&csv), verdicts(std::path::Path::new("web.jsonl")));
    let stdout = tracewise("convert ab.csv -o - --to jsonl");
    assert_eq!((stdout.code, stdout.json().len()), (0, 4), "{stdout:?}");
    assert_eq!(tracewise("convert ab.csv -o nowhere.xyz").code, 2);
    assert_eq!(tracewise("convert ab.csv").code, 2);
}

#[test]
fn csv_is_guarded_against_formulas_on_request() {
    let trace = "{\"who\":\"=1+1\",\"n\":-2}\n{\"who\":\"-x\",\"n\":3}\n";
    let run = |arguments: &[&str]| finish(command().args(arguments), trace);
    let convert = ["convert", "-", "--format", "jsonl", "--to", "csv", "-o", "-"];
    assert_eq!(run(&convert).out, "who,n\n=1+1,-2\n-x,3\n");
    assert_eq!(run(&[&convert[..], &["--csv-guard"]].concat()).out, "who,n\n'=1+1,-2\n'-x,3\n");
    let query = ["query", "-e", "sum[n] by who", "-", "--format", "jsonl", "--output"];
    let asked = run(&[&query[..], &["csv", "--csv-guard"]].concat());
    assert!(asked.out.contains(",'=1+1,-2\n") && asked.out.contains(",'-x,3\n"), "{asked:?}");
    let plain = run(&[&query[..], &["csv"]].concat());
    assert_eq!(plain.out, asked.out.replace('\'', ""));
    for refused in [
        &[&query[..], &["json"]].concat()[..],
        &["convert", "-", "--format", "jsonl", "--to", "json", "-o", "-"],
    ] {
        let end = run(&[refused, &["--csv-guard"]].concat());
        assert!(end.code == 2 && end.err.contains("--csv-guard is for"), "{end:?}");
    }
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = tracewise(&format!("completions {shell}"));
        assert_eq!(run.code, 0, "{shell}");
        assert!(run.out.contains("tracewise") && run.out.contains("no-explain"), "{shell}");
    }
    assert_eq!(tracewise("completions tcsh").code, 2);
}

#[test]
fn manual_pages() {
    let main = tracewise("man");
    assert_eq!(main.code, 0);
    assert!(main.out.contains(".TH tracewise 1"), "{}", main.out);
    let directory = directory("man");
    let run = finish(command().arg("man").arg(&directory), "");
    assert_eq!(run.code, 0, "{run:?}");
    let page = std::fs::read_to_string(directory.join("tracewise-check.1")).unwrap();
    assert!(page.contains(".TH tracewise-check 1") && page.contains("violations"), "{page}");
}

#[test]
fn help_lists_every_command() {
    let run = tracewise("--help");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let expected = "\
Check traces, logs and live events against temporal requirements

Usage: tracewise [OPTIONS] <COMMAND>

Commands:
  check        Verdict of each property on each trace, with an explanation of every violation
  query        Value of each query on each trace: counts, extremes, averages, quantiles
  eval         Truth value of a formula at each position
  classify     Sorts traces into classes that fail, or hold, in the same way
  watch        Verdicts on a live trace, one line as soon as each is settled
  record       Run a program; what it asks of libc becomes a trace, or is checked while it runs
  serve        A server: events in by HTTP, every requirement kept judged, violations out
  robust       By how much each property holds or fails, and which sample decides that
  stream       Columns that equations define, and what can be said of them before they run
  chart        Sequence charts: which traces they admit, and what they say as formulas
  explain      Fragment, chosen engine and why, and size of each property
  fmt          Canonical formatting of specifications
  lint         Errors and warnings of specifications, without a trace
  lsp          The language server: specifications in editors
  generate     Code that fires the events of a specification's monitors: a function for each
  import       Read the specification of another monitor and print it as a `.tw` file
  test         Specifications with small traces and expected verdicts: does what is expected come
               out?
  inspect      Columns, types, event names, time span and sample rows of a trace
  init         A first specification for a trace, with properties that hold in it now
  convert      Write a trace in another format
  slice        For each binding of variables, the positions that are about nothing else
  split        The slices of a log as files, with a manifest that `check` reads
  templates    The templates of a text log, as events that a specification can declare
  simulate     Run an SPL program and write the trace of its states
  merge        Merge traces into a model: states, transitions, and how often each was seen
  model-check  Check formulas on a model: CTL, LTL, how likely they are
  coverage     How much the traces of a merged model have shown, and what may be missing
  races        Possible deadlocks and data races, from one trace of locks and accesses
  schema       The JSON Schema of a command's JSON
  completions  Shell completion script, on standard output
  man          Manual pages: the main one on standard output, or all of them into a directory
  help         Print this message or the help of the given subcommand(s)

Options:
      --color <WHEN>  Colour: auto, always or never [default: auto]
      --deny <WHAT>   With `warnings`, a warning gives the exit code of a violation
  -q, --quiet         Print nothing but errors; the exit code tells the outcome
  -h, --help          Print help
  -V, --version       Print version

Exit codes: 0 all properties hold, 1 something is violated, 2 bad usage or input, 3 undecided.
";
    assert_eq!(run.out, expected);
    for command in [
        "check",
        "query",
        "eval",
        "classify",
        "robust",
        "explain",
        "fmt",
        "lint",
        "lsp",
        "schema",
        "import",
        "inspect",
        "convert",
        "slice",
        "split",
        "simulate",
        "races",
        "completions",
        "man",
    ] {
        let help = tracewise(&format!("{command} --help"));
        assert_eq!(help.code, 0, "{command}");
        assert!(help.out.contains("Usage: tracewise"), "{command}: {}", help.out);
    }
    assert_eq!(tracewise("--version").out, format!("tracewise {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn explain_says_which_engines_are_kept_as_published() {
    for (engine, paper) in [
        ("rewrite", Some("Monitoring Programs using Rewriting")),
        ("depth-first", Some("Checking Finite Traces using Alternating Automata")),
        ("automaton", None),
        ("columnar", None),
    ] {
        let run = tracewise(&format!("explain -e 'G (p -> F q)' --engine {engine}"));
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(paper.is_some(), run.out.contains("kept as published"), "{engine}: {}", run.out);
        assert!(run.out.contains(paper.unwrap_or("you named it")), "{engine}: {}", run.out);
    }
}
