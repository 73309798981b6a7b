//! Converting keeps verdicts or refuses: random traces of every format, through chains over all of them.

use std::path::Path;
use tracewise::check::CheckOptions;
use tracewise::convert::ConvertOptions;
use tracewise::trace::formats;
use tracewise::{Reading, Session, Specification, Verdict};
use tw_testkit::Rng;
use tw_testkit::conformance::cases;

/// A column has one type in formats that have types; in the others its use decides. What is asked here uses it as what
/// it is: a column of numbers, or of texts, some of which may look like numbers.
struct Kind {
    cells: &'static [&'static str],
    values: &'static [&'static str],
    events: &'static [&'static str],
    columns: &'static [&'static str],
}

const NUMBERS: Kind = Kind {
    cells: &["", "7", "12.50", "1", "0", "1e2", "-3"],
    values: &["null", "7", "12.50", "1", "0", "1e2", "-3"],
    events: &[
        "F e(_, 7)",
        "F e(7, _)",
        "G !e(1, 0)",
        "F (e(_, _) & X f(_))",
        "G (f(12.5) -> O e(_, _))",
        "F (exists v. e(v, _) & X f(v))",
        "F (exists v. e(_, v) & v > 2)",
    ],
    columns: &["F (a == 7)", "F (a == b)", "F (a > 5)", "F (a < b)", "G !(a > 2 & b != 7)", "F (a + b == 8)"],
};

const TEXTS: Kind = Kind {
    cells: &["", "x", "7", "007", "12.50", "true", "18446744073709551616", "a b"],
    values: &["null", "\"\"", "\"x\"", "\"7\"", "\"007\"", "\"true\"", "\"a b\""],
    events: &[
        "G !e(\"x\", _)",
        "F e(_, \"7\")",
        "F e(\"007\", _)",
        "G !e(\"\", _)",
        "F (f(\"true\") S e(_, \"x\"))",
        "F (e(_, _) & X f(_))",
    ],
    columns: &[
        "F (a == \"7\")",
        "F (a == \"007\")",
        "F (a == \"\")",
        "F (a != \"x\")",
        "F (a matches \"0.*\")",
    ],
};

/// A trace, its format, and whether it has events.
fn trace(rng: &mut Rng, kind: &Kind) -> (String, &'static str, bool) {
    let format = rng.pick(&["events", "monpoly", "csv", "jsonl", "json", "csrv-csv"]);
    let events = matches!(format, "events" | "monpoly" | "csrv-csv") || rng.one_in(2);
    let cells = if matches!(format, "jsonl" | "json") { kind.values } else { kind.cells };
    let mut lines = Vec::new();
    for at in 0..1 + rng.below(5) {
        // The first says what the columns are.
        let pair = at == 0 || rng.one_in(2);
        let (a, b) = if at == 0 { (x(cells), x(cells)) } else { (rng.pick(cells), rng.pick(cells)) };
        let quoted = |cell: &str| if cell.contains(' ') { format!("\"{cell}\"") } else { cell.to_string() };
        lines.push(match (format, events) {
            ("events", _) if pair => format!("e,{a},{b}"),
            ("events", _) => format!("f,{a}"),
            ("monpoly", _) if pair => format!("@{at} e ({},{})", quoted(a), quoted(b)),
            ("monpoly", _) if a.is_empty() => format!("@{at}"),
            ("monpoly", _) => format!("@{at} f ({})", quoted(a)),
            ("csrv-csv", _) if pair => format!("e, arg1 = {}, arg2 = {}", quoted(a), quoted(b)),
            ("csrv-csv", _) => format!("f, arg1 = {}", quoted(a)),
            ("csv", true) if pair => format!("e,{a},{b}"),
            ("csv", true) => format!("f,{a},"),
            ("csv", false) => format!("{a},{b},k"),
            (_, true) if pair => format!("{{\"event\":\"e\",\"arg1\":{a},\"arg2\":{b}}}"),
            (_, true) => format!("{{\"event\":\"f\",\"arg1\":{a}}}"),
            _ => format!("{{\"a\":{a},\"b\":{b}}}"),
        });
    }
    let mut text = lines.join(if format == "json" { ",\n" } else { "\n" });
    match format {
        "csv" => text.insert_str(0, if events { "event,arg1,arg2\n" } else { "a,b,k\n" }),
        "json" => text = format!("[{text}]"),
        _ => {}
    }
    text.push('\n');
    (text, format, events)
}

/// Text that looks like nothing else, or any cell that is not null.
fn x(cells: &[&'static str]) -> &'static str {
    cells.iter().find(|cell| cell.contains('x')).unwrap_or(&cells[2])
}

fn verdict(formula: &str, events: bool, path: &Path, format: &str) -> Option<Verdict> {
    let declared = if events { "event e(arg1, arg2);\nevent f(arg1);\n" } else { "" };
    let spec = Specification::from_text("s.tw", &format!("{declared}property p : {formula};\n")).ok()?;
    let session = Session::new().reading(Reading { format: Some(format.into()), ..Reading::default() });
    let report = session.check(&spec, &[path.display().to_string()], &CheckOptions::default()).ok()?;
    Some(report.properties[0].verdict)
}

#[test]
fn verdicts_survive_chains_of_conversions() {
    let folder = std::env::temp_dir().join(format!("tracewise-convert-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let names: Vec<&str> = formats().iter().map(|format| format.name()).collect();
    let mut rng = Rng::new(41);
    let (mut compared, mut pairs) = (0, std::collections::BTreeSet::new());
    for case in 0..cases(400).min(4_000) {
        let kind = if rng.one_in(2) { NUMBERS } else { TEXTS };
        let (text, first, events) = trace(&mut rng, &kind);
        let mut path = folder.join(format!("{case}-0"));
        std::fs::write(&path, &text).unwrap();
        let formula = rng.pick(if events { kind.events } else { kind.columns });
        let mut format = first;
        let mut chain = vec![first];
        let Some(expected) = verdict(formula, events, &path, format) else { continue };
        for step in 1..4 {
            let next = rng.pick(&names);
            let to = folder.join(format!("{case}-{step}"));
            let session =
                Session::new().reading(Reading { format: Some(format.into()), ..Reading::default() });
            let options = ConvertOptions { to: Some(next.into()), ..ConvertOptions::default() };
            let converted =
                session.convert(&[path.display().to_string()], &to.display().to_string(), &options);
            if converted.is_err() {
                continue;
            }
            pairs.insert((format, next));
            chain.push(next);
            (path, format) = (to, next);
            // Without the trace's types a question may have no answer; it never has another.
            if let Some(found) = verdict(formula, events, &path, format) {
                let now = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                assert_eq!(found, expected, "{formula} along {chain:?}:\n{text}became\n{now}");
                compared += 1;
            }
        }
        if case % 100 == 0 {
            std::fs::remove_dir_all(&folder).unwrap();
            std::fs::create_dir_all(&folder).unwrap();
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(compared > 100 && pairs.len() > 12, "{compared} comparisons over {pairs:?}");
}
