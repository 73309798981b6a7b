//! Against Maude itself, where it is installed: normal forms, residuals and verdicts of random formulas, and the
//! obligations of the paper's proof.

mod common;

use common::{event, program, trace};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use tw_automata::past::Past;
use tw_automata::residual::{Limits, Terms};
use tw_engine_rewrite::{Rewrite, maude};
use tw_ir::{Node, NodeId, Program, Semantics};
use tw_monitor::{Engine, EvaluateOptions};
use tw_testkit::conformance::cases;
use tw_testkit::{Case, Shape};

/// What Maude answers to a file: one line per goal, the result alone. `None` where there is no Maude.
fn run(input: &str) -> Option<Vec<String>> {
    let child = Command::new("maude")
        .args(["-no-banner", "-no-wrap", "-batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: `maude` is not installed");
        return None;
    };
    let (mut stdin, input) = (child.stdin.take().unwrap(), format!("{input}\nquit\n"));
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.contains("Warning") && !errors.contains("Error"), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    // Both sorts have a true and a false, so Maude says which one it means.
    let plain = |term: &str| term.replace("(true).Bool", "true").replace("(false).Bool", "false");
    let result = |line: &str| line.strip_prefix("result ")?.split_once(": ").map(|(_, term)| plain(term));
    Some(text.lines().filter_map(result).collect())
}

/// The file for a formula, cut where the goals begin: the system with the atoms `a b c d`.
fn system() -> String {
    let every = r"(a W b) & (b R c) & (c M d) & (d U a) & last";
    let all = program(&[every]);
    let text = maude(&all, &[all.roots[0].node], None).unwrap();
    let end = text.rfind("endfm\n").unwrap() + "endfm\n".len();
    let same = "fmod SAME is extending PROPERTIES .\n  op same : Formula Formula -> Bool .\n  vars X Y : Formula .\n  \
                eq same(X, X) = true .\n  eq same(X, Y) = false [owise] .\nendfm\n";
    format!("{}{same}", &text[..end])
}

/// The formula of a goal as `maude` writes it.
fn written(program: &Program, formula: NodeId) -> Option<String> {
    let text = maude(program, &[formula], None).ok()?;
    let goal = text.lines().find_map(|line| line.strip_prefix("red "))?;
    goal.strip_suffix(" .").map(str::to_owned)
}

/// The expected normal form as `maude` writes it.
fn expected(text: &str) -> String {
    text.lines().find_map(|line| line.strip_prefix("*** expected: ")).unwrap().to_owned()
}

/// Random formulas about the future over `a b c d`, with traces.
fn future_cases(count: usize) -> impl Iterator<Item = Case> {
    let shape = Shape { lengths: &[1, 2, 3, 5, 8], depth: 4, values: 0, ..Shape::ONLINE };
    let future = |case: &Case| !case.program.dag.nodes().iter().any(|n| n.is_past() || *n == Node::First);
    (0..).map(move |seed| Case::new(seed, &shape)).filter(future).take(count)
}

#[test]
fn normal_forms_residuals_and_verdicts_are_those_of_maude() {
    let count = (cases(100_000) / 100).clamp(50, 1_000) as usize;
    let mut input = system();
    let mut goals = Vec::new();
    let mut formulas = 0;
    for mut case in future_cases(2 * count) {
        if formulas == count {
            break;
        }
        case.starts = vec![0];
        let (program, trace) = (&case.program, case.trace(false).unwrap());
        let root = program.roots[0].node;
        let Some(formula) = written(program, root) else { continue };
        formulas += 1;
        let normal = expected(&maude(program, &[root], None).unwrap());
        let _ = writeln!(input, "red same({formula}, {normal}) .");
        goals.push((case.seed, "normal form", true));

        // The residual after the first event, as the canonical form of what is left.
        let mut terms = Terms::new(true, Limits::default());
        let goal = terms.translate(program, &Past::default(), root).unwrap();
        let rows: Vec<u64> = (0..trace.len)
            .map(|at| trace.atoms.iter().enumerate().fold(0, |row, (i, c)| row | u64::from(c.get(at)) << i))
            .collect();
        let residual = terms.after(goal, &event(program, &rows[..1])).unwrap();
        let names = Letters(program);
        let residual = terms.print(residual, &names, tw_automata::residual::Syntax::Maude);
        let first = names.event(rows[0]);
        let _ = writeln!(input, "red same(({formula}){{{first}}}, {residual}) .");
        goals.push((case.seed, "residual", true));

        let options = EvaluateOptions { semantics: Semantics::RepeatLast, ..EvaluateOptions::default() };
        let answers = Rewrite.plan(program, &options).unwrap().evaluate(&trace, 0).unwrap();
        let events: Vec<String> = rows.iter().map(|&row| names.event(row)).collect();
        for relation in ["|-", "|="] {
            let _ = writeln!(input, "red {} {relation} {formula} .", events.join(", "));
            goals.push((case.seed, relation, answers[0].holds.get(0)));
        }
    }
    assert_eq!(formulas, count);
    let Some(results) = run(&input) else { return };
    assert_eq!(results.len(), goals.len());
    for ((seed, what, expected), result) in goals.into_iter().zip(results) {
        assert_eq!(result, expected.to_string(), "{what}, seed {seed}");
    }
}

/// The generated propositions have names that Maude takes as they are.
struct Letters<'a>(&'a Program);

impl Letters<'_> {
    fn event(&self, row: u64) -> String {
        let atoms = self.0.atoms();
        let held = (0..atoms.len()).filter(|at| row >> at & 1 == 1);
        let names: Vec<String> = held.map(|at| tw_ir::display(self.0, atoms[at])).collect();
        if names.is_empty() { "nil".to_owned() } else { names.join(" ") }
    }
}

impl tw_automata::residual::Names for Letters<'_> {
    fn name(&self, terms: &Terms, atom: tw_automata::residual::AtomId) -> (String, bool) {
        (tw_ir::display(self.0, terms.origin(atom)), false)
    }
}

#[test]
fn the_exported_file_answers_as_it_says() {
    let all = program(&[
        "G (a -> F b)",
        "F !G (a -> F b)",
        "G (x > 3 -> (p1 U `odd name`)) | (`in` R o)",
        "F last & (a W (b M a))",
        "N (a ^ X b)",
    ]);
    let roots: Vec<NodeId> = all.roots.iter().map(|root| root.node).collect();
    let events = trace(&all, "a b, a, c a, a b, c b, a b, a, c a, a b, c b");
    let text = maude(&all, &roots, Some(&events)).unwrap();
    assert!(text.contains("*** x > 3") && text.contains("*** `odd name`"), "{text}");
    let options = EvaluateOptions { semantics: Semantics::RepeatLast, ..EvaluateOptions::default() };
    let answers = Rewrite.plan(&all, &options).unwrap().evaluate(&events, 0).unwrap();
    let Some(results) = run(&text) else { return };
    assert_eq!(results.len(), 2 * roots.len());
    for (answer, pair) in answers.iter().zip(results.chunks(2)) {
        assert_eq!(pair[1], answer.holds.get(0).to_string(), "{}", pair[0]);
    }
    // One trace is too long to be written, and the file says so.
    let long = trace(&all, &vec!["a"; 1_001].join(","));
    assert!(maude(&all, &roots, Some(&long)).unwrap().contains("1001 positions"));
}

#[test]
fn past_operators_are_refused_by_name() {
    let all = program(&["G (a -> F b)", "G (a -> O b)"]);
    assert!(maude(&all, &[all.roots[0].node], None).is_ok());
    let refused = maude(&all, &[all.roots[1].node], None).unwrap_err();
    assert!(!refused.exhausted && refused.what.contains("`O b`"), "{refused:?}");
}

/// The lemmas behind "T |= X iff T |- X", by structural induction, and the induction on traces: each obligation is a
/// term that reduces to true.
#[test]
fn the_obligations_of_the_proof_reduce_to_true() {
    let lemmas = r"
fmod PROOF-OF-LEMMAS is
  extending LTL-REVISED .
  op e : -> Event .
  op t : -> Trace .
  ops f g h : -> Atom .
  ops y z : -> Formula .
  eq e |= y = e |- y .
  eq e |= z = e |- z .
  eq e,t |= y = t |= y{e} .
  eq e,t |= z = t |= z{e} .
  eq g{e} = true .
  eq h{e} = false .
endfm
red ((e |= f) == (e |- f)) and ((e |= true) == (e |- true)) and ((e |= false) == (e |- false))
  and ((e |= y /\ z) == (e |- y /\ z)) and ((e |= y ++ z) == (e |- y ++ z))
  and ((e |= [] y) == (e |- [] y)) and ((e |= <> y) == (e |- <> y))
  and ((e |= y U z) == (e |- y U z)) and ((e |= o y) == (e |- o y))
  and ((e,t |= true) == (t |= true{e})) and ((e,t |= false) == (t |= false{e}))
  and ((e,t |= g) == (t |= g{e})) and ((e,t |= h) == (t |= h{e}))
  and ((e,t |= y /\ z) == (t |= (y /\ z){e})) and ((e,t |= y ++ z) == (t |= (y ++ z){e}))
  and ((e,t |= [] y) == (t |= ([] y){e})) and ((e,t |= <> y) == (t |= (<> y){e}))
  and ((e,t |= y U z) == (t |= (y U z){e})) and ((e,t |= o y) == (t |= (o y){e})) .
fmod LEMMAS is
  protecting LTL-REVISED .
  var E : Event .
  var T : Trace .
  var X : Formula .
  eq E |= X = E |- X .
  eq E,T |= X = T |= X{E} .
endfm
fmod PROOF-OF-THEOREM is
  protecting LEMMAS .
  op e : -> Event .
  op t : -> Trace .
  op x : -> Formula .
  var X : Formula .
  eq t |= X = t |- X .
endfm
red (e |= x) == (e |- x) .
red (e,t |= x) == (e,t |- x) .
";
    let Some(results) = run(&format!("{}{lemmas}", system())) else { return };
    assert_eq!(results, ["true"; 3]);
}
