//! An operator is a row: what the table says of one is what the language reads and prints, and what the reference computes.

use std::path::{Path, PathBuf};
use tw_core::{Bits, Column};
use tw_engine_reference::Reference;
use tw_ir::{Clock, Form, NodeId, Program, Temporal, Way, display};
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_spec::{LowerOptions, lower, parse_formula, print_expr};
use tw_testkit::{Rng, cases};

/// The operator over operands in text.
fn written(operator: Temporal, interval: &str, a: &str, b: &str) -> String {
    let letter = operator.row().letter;
    match operator.row().prefix {
        true => format!("{letter}{interval} {b}"),
        false => format!("{a} {letter}{interval} {b}"),
    }
}

fn read(text: &str) -> Program {
    let tree = parse_formula(text, 0);
    assert!(tree.diagnostics.is_empty(), "{text}: {:?}", tree.diagnostics);
    let program = lower(&tree.value, &LowerOptions::default());
    assert!(program.diagnostics.is_empty(), "{text}: {:?}", program.diagnostics);
    program.value
}

/// The truth of a formula over `p` and `q` by the reference, positions being time.
fn column(program: &Program, node: NodeId, rows: &[(bool, bool)]) -> Bits {
    let slot = |slot: &tw_ir::Slot| -> Bits {
        let is_p = format!("{:?}", slot.what).contains("\"p\"");
        rows.iter().map(|&(p, q)| if is_p { p } else { q }).collect()
    };
    let slots = program.slots.iter().map(|read| Column::Truth(slot(read))).collect();
    let trace = Trace { len: rows.len(), slots: Some(slots), ..Trace::default() };
    let options = EvaluateOptions { clock: Clock::Index, ..EvaluateOptions::default() };
    let mut reference = Reference.plan(program, &options).expect("a formula of the language");
    reference.columns(&trace, &[node]).expect("a column").remove(0)
}

/// Both formulas are true at the same positions of random traces.
fn equal(one: &str, other: &str) {
    let program = read(&format!("({one}) <-> ({other})"));
    let root = program.roots[0].node;
    for seed in 0..cases(300) {
        let mut rng = Rng::new(seed);
        let len = 1 + rng.below(9);
        let rows: Vec<(bool, bool)> = (0..len).map(|_| (rng.one_in(2), rng.one_in(2))).collect();
        let same = column(&program, root, &rows);
        let differs = (0..rows.len()).find(|&at| !same.get(at));
        assert_eq!(differs, None, "`{one}` is not `{other}` on {rows:?} (seed {seed})");
    }
}

const INTERVALS: [&str; 5] = ["", "[0,2]", "[1,3]", "[2,inf)", "(0,2)"];

#[test]
fn every_row_is_read_and_printed_as_it_says() {
    for operator in Temporal::all() {
        let row = operator.row();
        for spelling in [row.letter, row.word].into_iter().filter(|spelling| !spelling.is_empty()) {
            for interval in INTERVALS {
                let text = match row.prefix {
                    true => format!("{spelling}{interval} q"),
                    false => format!("p {spelling}{interval} q"),
                };
                let canonical = written(operator, interval, "p", "q");
                let program = read(&text);
                let root = program.roots[0].node;
                assert_eq!(display(&program, root), canonical, "{text}");
                let found = program.dag.node(root).temporal().expect("a temporal operator");
                assert_eq!((found.operator, found.left.is_none()), (operator, row.prefix), "{text}");
                let tree = parse_formula(&text, 0).value;
                let last = tw_spec::ast::ExprId(tree.exprs.len() as u32 - 1);
                assert_eq!(print_expr(&tree, last), canonical, "{text}");
            }
            // A name that is spelt so stands in backquotes, and is read back.
            let quoted = format!("`{spelling}`");
            let program = read(&quoted);
            assert_eq!(display(&program, program.roots[0].node), quoted);
        }
    }
}

#[test]
fn definitions_of_the_operators() {
    // With `X`, `Y`, `U` and `S` everything else is said.
    for interval in INTERVALS {
        for (operator, definition) in [
            ("N{} q", "!X{} !q"),
            ("Z{} q", "!Y{} !q"),
            ("F{} q", "true U{} q"),
            ("G{} q", "!(true U{} !q)"),
            ("O{} q", "true S{} q"),
            ("H{} q", "!(true S{} !q)"),
            ("p R{} q", "!(!p U{} !q)"),
            ("p T{} q", "!(!p S{} !q)"),
            ("p W{} q", "!(!q U{} (!p & !q))"),
            ("p B{} q", "!(!q S{} (!p & !q))"),
            ("p M{} q", "q U{} (p & q)"),
        ] {
            equal(&operator.replace("{}", interval), &definition.replace("{}", interval));
        }
    }
    equal("p W q", "(p U q) | G p");
    equal("p B q", "(p S q) | H p");
    equal("p M q", "(p R q) & F p");
}

#[test]
fn until_and_since_by_their_definitions() {
    for (letter, past) in [("U", false), ("S", true)] {
        for (interval, low, high) in [("", 0, usize::MAX), ("[1,3]", 1, 3), ("[2,inf)", 2, usize::MAX)] {
            let program = read(&format!("p {letter}{interval} q"));
            for seed in 0..cases(300) {
                let mut rng = Rng::new(seed);
                let rows: Vec<_> = (0..1 + rng.below(9)).map(|_| (rng.one_in(3), rng.one_in(3))).collect();
                let rows: Vec<(bool, bool)> = rows.into_iter().map(|(not, q)| (!not, q)).collect();
                let found = column(&program, program.roots[0].node, &rows);
                for at in 0..rows.len() {
                    let goal = |&k: &usize| (low..=high).contains(&k.abs_diff(at)) && rows[k].1;
                    let expected = match past {
                        false => (at..rows.len()).filter(goal).any(|k| (at..k).all(|j| rows[j].0)),
                        true => (0..=at).filter(goal).any(|k| (k + 1..=at).all(|j| rows[j].0)),
                    };
                    assert_eq!(found.get(at), expected, "{letter}{interval} at {at} of {rows:?}");
                }
            }
        }
    }
}

#[test]
fn every_row_obeys_its_properties() {
    for operator in Temporal::all() {
        let row = operator.row();
        for interval in INTERVALS {
            // It fails where its dual holds of the negations.
            if let Some(dual) = operator.dual() {
                let negated = written(dual, interval, "!p", "!q");
                equal(&written(operator, interval, "p", "q"), &format!("!({negated})"));
            }
            // It is an until or the dual of one, as engines are told.
            let program = read(&written(operator, interval, "p", "q"));
            let applied = program.dag.node(program.roots[0].node).temporal().expect("temporal");
            if let Some(Way { dual, hold, goal: (goal, beside) }) = applied.way() {
                let name = |id: NodeId| display(&program, id);
                let (not, and) = if dual { ("!", " | ") } else { ("", " & ") };
                let hold = hold.map_or("true".to_owned(), |hold| format!("{not}{}", name(hold)));
                let goal = match beside {
                    Some(beside) => format!("{not}({}{and}{})", name(goal), name(beside)),
                    None => format!("{not}{}", name(goal)),
                };
                let until = if row.past { "S" } else { "U" };
                let way = format!("{not}({hold} {until}{interval} {goal})");
                equal(&written(operator, interval, "p", "q"), &way);
            }
        }
        // Without an interval it is what its equation makes of it at the neighbour; weak, it holds beyond the edge.
        let itself = written(operator, "", "p", "q");
        let step = match (row.past, row.weak) {
            (false, false) => "X",
            (false, true) => "N",
            (true, false) => "Y",
            (true, true) => "Z",
        };
        let unfolded = match (row.form, row.prefix) {
            (Form::Step, _) => continue,
            (Form::Until, true) => format!("q | {step} ({itself})"),
            (Form::Until, false) => format!("q | (p & {step} ({itself}))"),
            (Form::Release, true) => format!("q & {step} ({itself})"),
            (Form::Release, false) => format!("q & (p | {step} ({itself}))"),
        };
        equal(&itself, &unfolded);
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && !matches!(name.as_str(), "tests" | "benches" | "examples" | "target") {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// One file lists the operators. Others name those that they have a special way for, never most of them: readers of other
/// languages map these onto ours, word by word.
#[test]
fn nobody_lists_the_operators_again() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the folder of crates");
    let mut files = Vec::new();
    sources(crates, &mut files);
    assert!(files.len() > 300, "{} sources", files.len());
    let names: Vec<String> = Temporal::all().map(|operator| format!("{operator:?}")).collect();
    for file in files {
        let place = file.strip_prefix(crates).expect("below the crates").to_string_lossy().into_owned();
        if place == "base/tw-ir/src/operators.rs" || place.starts_with("language/tw-import/src/formats") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("text");
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let listed = names.iter().filter(|name| words.contains(&name.as_str())).count();
        assert!(listed <= names.len() / 2, "{place} names {listed} of {} operators", names.len());
    }
}
