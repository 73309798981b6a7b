//! Runs `corpus/<logic>/<case>.twt`, which `tracewise test` reads too: every case holds prose, a specification, a trace and
//! the verdicts to expect, and
//! every engine that accepts the specification must give them.
//!
//! Blocks: `tw` the specification; a format's name the trace; `verdicts` (or `verdicts repeat-last`, `verdicts ltl3`)
//! one line a property, `name: satisfied`, `name: unknown` or `name: violated [positions…]`; `eval` lines `name: 1 0 1`
//! with the truth at each position; `values` lines `name: 5` with the value of a query at the first position, `null` for
//! none and `error` where it cannot be computed; `values everywhere` lines `name: 5 null 7` with the value at each;
//! `robustness` lines `name: 1 -inf 2` with the robustness at each, of the stored trace and of the same as a stream.

#[path = "corpus/robustness.rs"]
mod robustness;

use std::path::{Path, PathBuf};
use tracewise::check::CheckOptions;
use tracewise::engines::Answers;
use tracewise::query::QueryOptions;
use tracewise::trace::format_named;
use tracewise::{Error, Evaluating, Reading, Semantics, Session, Specification, Verdict, engines};

struct Case {
    name: String,
    spec: String,
    format: String,
    trace: String,
    expected: Vec<(String, String)>,
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut files: Vec<PathBuf> = Vec::new();
    for logic in std::fs::read_dir(root).unwrap() {
        for file in std::fs::read_dir(logic.unwrap().path()).unwrap() {
            files.push(file.unwrap().path());
        }
    }
    files.sort();
    files.iter().map(|file| read_case(file)).collect()
}

fn read_case(file: &Path) -> Case {
    let text = std::fs::read_to_string(file).unwrap();
    let mut case = Case {
        name: file.display().to_string(),
        spec: String::new(),
        format: String::new(),
        trace: String::new(),
        expected: Vec::new(),
    };
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let body = body.iter().map(|line| format!("{line}\n")).collect::<String>();
        match info {
            "tw" => case.spec = body,
            _ if info.starts_with("verdicts")
                || info == "eval"
                || info == "robustness"
                || info.starts_with("values") =>
            {
                case.expected.push((info.to_string(), body))
            }
            format if format_named(format).is_some() => {
                case.format = format.to_string();
                case.trace = body;
            }
            other => panic!("{}: block `{other}`", case.name),
        }
    }
    assert!(!case.expected.is_empty(), "{} expects nothing", case.name);
    case
}

#[test]
fn every_engine_agrees_with_the_corpus() {
    let directory = std::env::temp_dir().join(format!("tracewise-corpus-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let trace = directory.join("trace").display().to_string();
    let cases = cases();
    assert!(cases.len() >= 8, "the corpus has {} cases", cases.len());
    for case in &cases {
        std::fs::write(&trace, &case.trace).unwrap();
        let read = Reading { format: Some(case.format.clone()), ..Reading::default() };
        let session = Session::new().reading(read);
        let mut ran = 0;
        for engine in engines::giving(Answers::Verdicts).map(|engine| engine.name()).chain(["auto"]) {
            ran += usize::from(run(case, &session, engine, &trace));
        }
        let queries: Vec<&str> = engines::giving(Answers::Values).map(|engine| engine.name()).collect();
        ran += run_queries(case, &session, &queries, &trace);
        ran += robustness::run(case, &session, &trace);
        assert!(ran > 0, "{}: no engine accepts it", case.name);
    }
    std::fs::remove_dir_all(directory).unwrap();
}

fn by(engine: &str) -> Evaluating {
    Evaluating { engine: engine.into(), ..Evaluating::default() }
}

/// False if the engine refuses the specification.
fn run(case: &Case, session: &Session, engine: &str, trace: &String) -> bool {
    let spec = Specification::from_text("corpus", &case.spec)
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let mut ran = false;
    for (kind, expected) in
        case.expected.iter().filter(|(kind, _)| !kind.starts_with("values") && kind != "robustness")
    {
        if kind == "eval" {
            for line in expected.lines() {
                let (name, bits) = line.split_once(':').unwrap();
                let mut one = spec.clone();
                one.program.roots.retain(|root| root.name == name);
                match session.clone().evaluating(by(engine)).eval(&one, std::slice::from_ref(trace)) {
                    Ok(report) => {
                        let got: Vec<&str> = (0..report.values.len())
                            .map(|at| if report.values.get(at) { "1" } else { "0" })
                            .collect();
                        assert_eq!(got.join(" "), bits.trim(), "{} {name} by {engine}", case.name);
                        ran = true;
                    }
                    Err(Error::Unsupported { .. }) => continue,
                    Err(error) => panic!("{} by {engine}: {error}", case.name),
                }
            }
            continue;
        }
        let semantics = Semantics::ALL.iter().find(|(name, _)| kind.ends_with(name));
        let options = CheckOptions { violations: usize::MAX, ..CheckOptions::default() };
        let semantics = semantics.map_or(Semantics::Finite, |(_, semantics)| *semantics);
        let report = match session.clone().evaluating(Evaluating { semantics, ..by(engine) }).check(
            &spec,
            std::slice::from_ref(trace),
            &options,
        ) {
            Ok(report) => report,
            Err(Error::Unsupported { .. }) => continue,
            Err(error) => panic!("{} by {engine}: {error}", case.name),
        };
        let got: Vec<String> = report
            .properties
            .iter()
            .map(|property| {
                let positions: String = property
                    .violations
                    .iter()
                    .filter_map(|violation| violation.position)
                    .map(|position| format!(" {position}"))
                    .collect();
                // Over infinite continuations a property may be lost that the finite trace has: nothing to point at.
                assert!(
                    property.explanation.is_some() == (property.verdict == Verdict::Violated)
                        || semantics == Semantics::Ltl3,
                    "{}",
                    case.name
                );
                format!("{}: {}{positions}", property.name, property.verdict.as_str())
            })
            .collect();
        assert_eq!(got.join("\n"), expected.trim(), "{} by {engine}, {kind}", case.name);
        ran = true;
    }
    ran
}

/// How many of the engines accept some query; those must give the values expected, one query at a time.
fn run_queries(case: &Case, session: &Session, engines: &[&str], trace: &String) -> usize {
    let spec = Specification::from_text("corpus", &case.spec)
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let mut accepted = 0;
    for engine in engines {
        let mut ran = false;
        for (kind, expected) in case.expected.iter().filter(|(kind, _)| kind.starts_with("values")) {
            let everywhere = kind.ends_with("everywhere");
            let options = QueryOptions { everywhere, ..QueryOptions::default() };
            let session = session.clone().evaluating(by(engine));
            for line in expected.lines() {
                let (name, expected) = line.split_once(':').unwrap();
                let mut one = spec.clone();
                one.program.roots.retain(|root| root.name == name);
                let found = match session.query(&one, std::slice::from_ref(trace), &options) {
                    Ok(report) if !report.failures.is_empty() => "error".to_string(),
                    Ok(report) => {
                        let query = &report.queries[0];
                        let first = std::slice::from_ref(&query.groups[0].value);
                        let values = query.everywhere.as_deref().unwrap_or(first);
                        values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
                    }
                    // The definition answers everything.
                    Err(Error::Unsupported { .. }) if *engine != "reference" => continue,
                    Err(error) => panic!("{} {name} by {engine}: {error}", case.name),
                };
                assert_eq!(found, expected.trim(), "{} {name} by {engine}, {kind}", case.name);
                ran = true;
            }
        }
        accepted += usize::from(ran);
    }
    accepted
}
