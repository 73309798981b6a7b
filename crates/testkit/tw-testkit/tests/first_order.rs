//! The definition of quantifiers: what it says of formulas whose truth is plain, and how often it has to refuse.

use tw_core::{TimeUnit, Value};
use tw_engine_reference::Reference;
use tw_ir::Clock;
use tw_monitor::{Answer, Engine, EvaluateOptions, Unsupported};
use tw_testkit::first_order::{Log, agree, case, explained};
use tw_testkit::{cases, texts};

/// The log of a text, with the column `c` if values for it are given.
fn log(text: &str, column: &[Value]) -> Log {
    let mut log = Log::from_text(text);
    let column = if column.is_empty() { vec![Value::Null; log.times.len()] } else { column.to_vec() };
    log.columns = vec![("c".to_owned(), column)];
    log
}

fn answer(specification: &str, log: &Log) -> Result<Answer, Unsupported> {
    let program = texts::specification(specification);
    let options =
        EvaluateOptions { clock: Clock::Stamps, unit: TimeUnit::Nanoseconds, ..EvaluateOptions::default() };
    let trace = log.trace(&program).unwrap();
    let mut answers = Reference.plan(&program, &options)?.evaluate(&trace, usize::MAX)?;
    Ok(answers.remove(0))
}

fn holds(formula: &str, log: &Log) -> bool {
    answer(&format!("property a : {formula};"), log).unwrap().holds.get(0)
}

/// The violations as text: position, bindings, and `…` where infinitely many fail.
fn violations(specification: &str, log: &Log) -> Vec<String> {
    let program = texts::specification(specification);
    let answer = answer(specification, log).unwrap();
    let told = answer.violations.iter().zip(&answer.bindings).map(|(at, bindings)| {
        let pair = |(variable, value): &(u32, Value)| {
            format!(" {}={value}", program.dag.variables[*variable as usize])
        };
        let pairs: String = bindings.pairs().iter().map(pair).collect();
        format!("{at}{pairs}{}", if bindings.infinite() { " …" } else { "" })
    });
    told.collect()
}

const LOG: &str = "@0 p(1) p(3) q(\"a\") @1 q(3) r(1,2) @1 r(1,3) r(2,3) @5 p(1)";

#[test]
fn values_that_nobody_has_seen() {
    let log = log(LOG, &[]);
    for (formula, expected) in [
        ("exists x. G !p(x)", true),
        ("forall x. F (p(x) | q(x) | r(x, _) | r(_, x))", false),
        // There is always one more, and always one between two.
        ("exists x. x > 0 & forall y. y > 0 -> y <= x", false),
        ("forall x. x > 1 & x < 3 -> exists y. y > 1 & y < x", true),
        ("forall x. x > 1 & x < 3 -> exists y, z. y > 1 & y < z & z < x", true),
        ("exists x. x > 1 & x < 3 & forall y. y > 1 & y < 3 -> y <= x", false),
        ("exists x. x > 1 & x < 2 & G (!p(x) & !q(x))", true),
        ("exists x. x > \"a\" & x < \"b\"", true),
        ("exists x. x < \"\"", false),
        ("forall x. x in {1..3} -> x >= 1", true),
        ("exists x, y, z. x < y & y < z & z < 1 & x > 0", true),
        ("exists x. forall y. x == y", false),
        ("forall x. exists y. x == y", true),
        ("exists x. q(x) & x > 1", false),
        ("forall x. p(x) -> exists y. y > x", true),
    ] {
        assert_eq!(holds(formula, &log), expected, "{formula}");
    }
}

#[test]
fn whole_numbers_have_gaps() {
    let log = log(LOG, &[]);
    for (formula, expected) in [
        (
            "exists x. p(x) & exists y. !e(y) & y > x & y < 3 & forall z. z > x & z < 3 & !e(z) -> z == y",
            true,
        ),
        ("exists x. x > 1 & x < 2 & O e(x)", false),
        ("exists x. x > 1 & x < 2 & !e(x)", false),
        ("exists x. x > 1 & x < 3 & !e(x)", true),
        ("exists x, y. x > 1 & x < y & y < 3 & !e(x) & !e(y)", false),
        ("exists x. x > 3 & !(exists y. y > 3 & y < x & !e(y)) & !e(x)", true),
        ("exists x. !e(x) & forall y. e(y) | y <= x", false),
        ("exists x. !e(x) & x == \"a\"", false),
    ] {
        // `e` never happens; that it is declared makes these variables whole.
        let found = answer(&format!("event e(k: int); property a : {formula};"), &log).unwrap();
        assert_eq!(found.holds.get(0), expected, "{formula}");
    }
    // The same without a declaration: between any two numbers there is another one.
    assert!(holds("exists x, y. x > 1 & x < y & y < 3 & !e(x) & !e(y)", &log));
    assert_eq!(
        violations("event e(k: int); property a : G forall x. x > 1 & x < 4 -> e(x) | q(x);", &log),
        ["0 x=2", "0 x=3", "1 x=2", "2 x=2", "2 x=3", "3 x=2", "3 x=3"]
    );
}

#[test]
fn aggregates_over_valuations() {
    let log = log(LOG, &[Value::Int(3), Value::Null, Value::Int(2), Value::Int(1)]);
    for (formula, expected) in [
        ("count(x : p(x)) == 2", true),
        ("X count(x : p(x)) == 0", true),
        ("X sum(x for x : p(x)) == 0", true),
        ("X (max(x for x : p(x)) == max(x for x : p(x)))", false),
        ("sum(x for x : p(x)) == 4 & min(x for x : p(x)) == 1 & avg(x for x : p(x)) == 2", true),
        // A set of valuations, not of values.
        ("F (count(x, y : r(x, y)) == 2 & sum(1 for x, y : r(x, y)) == 2 & count(y : r(_, y)) == 1)", true),
        ("count(x, y : F r(x, y)) == 3", true),
        ("count(x : F[0,1] r(x, _)) == 2 & count(x : F[2,9] r(x, _)) == 0", true),
        // Free variables of quantifiers around.
        ("forall x. p(x) -> count(y : F r(x, y)) == 3 - x", true),
        ("exists x. p(x) & count(y : F r(x, y)) == 2", true),
        ("exists x. p(x) & count(y : F r(y, x)) == 2", true),
        ("forall x. count(y : p(y) & y < x) <= 2", true),
        ("exists x. count(y : p(y) & y < x) == 2", true),
        ("exists x. count(y : p(y) & y < x) == 3", false),
        // A value of a variable outside is one value, seen or not.
        ("exists x. count(y : y == x & !(F p(y))) == 1", true),
        ("count(x : x == c) == 1 & X (count(x : x == c) == 0)", true),
        ("sum(x + c for x : p(x)) == 10", true),
        // Texts are left out of sums, but not of counts.
        ("sum(x for x : q(x)) == 0 & count(x : q(x)) == 1", true),
        ("exists x. p(x) & x + 1 == 2 & x * 2 < 3", true),
        ("exists x. F q(x) & x matches \"^a\"", true),
        ("forall x in c. p(x)", true),
        ("exists x in c. !p(x)", false),
        ("X ((forall x in c. false) & !(exists x in c. true))", true),
    ] {
        assert_eq!(holds(formula, &log), expected, "{formula}");
    }
}

#[test]
fn what_is_refused() {
    let log = log(LOG, &[]);
    for (formula, what) in [
        ("count(x : !p(x)) > 1", "`count` of infinitely many values of `x`"),
        ("exists y. p(y) & sum(y for x : x > y) > 1", "`sum` of infinitely many values of `x`"),
        ("exists x. x + 1 > 2", "arithmetic on quantified variables that nothing guards"),
        ("exists x. p(x) & exists y. y == x + 1 & !p(y)", "arithmetic on quantified variables"),
        ("exists x. !p(x) & x matches \"a\"", "a regular expression over a quantified variable"),
        ("exists x. x == count(y : p(y))", "an aggregate compared with a quantified variable"),
        ("exists x. sum(x for y : p(y)) > 3", "an aggregate of the values of a quantified variable"),
    ] {
        let found = answer(&format!("property a : {formula};"), &log).unwrap_err();
        assert!(found.what.contains(what), "{formula}: {}", found.what);
        assert!(found.node.is_some() && found.help.is_some(), "{formula}");
    }
}

#[test]
fn violations_name_valuations() {
    let log = log("@0 p(1) p(\"b\") p(0.5) @2 r(1,2) r(1,7) p(2) @3 q(1)", &[]);
    for (formula, expected) in [
        ("G forall x. p(x) -> F q(x)", vec!["0 x=0.5", "0 x=b", "1 x=2"]),
        ("forall x. G forall y. r(x, y) -> F q(y)", vec!["1 x=1 y=2", "1 x=1 y=7"]),
        ("G forall y, x. r(x, y) -> F q(y)", vec!["1 y=2 x=1", "1 y=7 x=1"]),
        ("G forall x. p(x)", vec!["0 …", "1 …", "2 …"]),
        ("G forall x. !p(x) | x == 1", vec!["0 x=0.5", "0 x=b", "1 x=2"]),
        // One entry for each combination of what is finite.
        ("G forall x, y. p(x) -> y > x", vec!["0 x=0.5 …", "0 x=1 …", "0 x=b …", "1 x=2 …"]),
        ("G forall x, y. r(x, y) -> x == 2", vec!["1 x=1 y=2", "1 x=1 y=7"]),
        ("F forall x. p(x)", vec![]),
    ] {
        assert_eq!(violations(&format!("property a : {formula};"), &log), expected, "{formula}");
    }
}

/// A column in an argument place is compared at the position where the pattern stands, and null is equal to nothing.
#[test]
fn columns_are_compared_where_they_stand() {
    let log =
        log("@0 p(1) @1 p(2) @2 p(2) @3 p(2)", &[Value::Int(1), Value::Int(1), Value::Null, Value::Int(2)]);
    let program = texts::formula("p(c)");
    let trace = log.trace(&program).unwrap();
    let mut reference = Reference.plan(&program, &EvaluateOptions::default()).unwrap();
    let column = reference.columns(&trace, &[program.roots[0].node]).unwrap().remove(0);
    assert_eq!((0..4).map(|at| column.get(at)).collect::<Vec<_>>(), [true, false, false, true]);
}

/// The definition explains itself, too.
#[test]
fn explanations_are_proofs() {
    let summary = explained(&Reference, 0..cases(1500).min(5_000));
    assert!(summary.bound > 0 && summary.quantifiers.iter().all(|count| *count > 0), "{summary:?}");
    assert!(summary.refused * 20 < summary.explanations, "{summary:?}");
}

#[test]
fn cases_are_varied_and_mostly_defined() {
    let count = cases(1500);
    let summary = agree(&Reference, 0..count);
    assert_eq!(summary.refused, [0; 3]);
    // About one in seven has no variables, and is left out.
    let third = count / 3;
    assert!(summary.compared[0] * 10 > third * 8, "{summary:?}");
    assert!(summary.compared[1] * 10 > third * 7 && summary.compared[2] * 10 > third * 6, "{summary:?}");
    let (mut bound, mut infinite, mut violated) = (0, 0, 0);
    for seed in 0..count {
        let case = case(seed);
        let Ok(mut evaluator) = Reference.plan(&case.program, &case.options()) else { continue };
        let Ok(answers) = evaluator.evaluate(&case.trace().unwrap(), usize::MAX) else { continue };
        violated += u64::from(!answers[0].holds.get(0));
        bound += u64::from(answers[0].bindings.iter().any(|bindings| !bindings.is_empty()));
        infinite += u64::from(answers[0].bindings.iter().any(|bindings| bindings.infinite()));
    }
    assert!(
        violated > third / 2 && bound > third / 8 && infinite > third / 16,
        "{violated} {bound} {infinite}"
    );
}
