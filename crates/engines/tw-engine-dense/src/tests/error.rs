//! Imprecise clocks: the examples of the paper and of its erratum, and what properties are worth.

use super::make::{options, parse, trace};
use crate::{ClockError, Label, Observation, Outcome, Reading, Report, Run, Why};
use crate::{certain, dense, imprecise, judge, label, reported};
use tw_core::Time;
use tw_ir::display;

fn labels(text: &str) -> (Result<Label, String>, Result<Label, String>) {
    let program = parse(text);
    let of = |negated| {
        label(&program, program.roots[0].node, negated).map_err(|blocked| {
            let not = if blocked.negated { "not " } else { "" };
            format!("{not}{}", display(&program, blocked.node))
        })
    };
    (of(false), of(true))
}

fn report(text: &str, error: Time, positions: &[(i64, &str)]) -> Report {
    let program = parse(text);
    let trace = trace(&program, positions);
    let observation = Observation::new(&trace, ClockError::Same(error));
    imprecise(&program, program.roots[0].node, &observation, &options()).unwrap()
}

/// E1: which executions are possible; tenths.
#[test]
fn executions_within_the_error() {
    let program = parse("p | q | r | s");
    let trace = trace(&program, &[(10, "p"), (10, "q"), (20, "r"), (50, "s")]);
    let observation = Observation::new(&trace, ClockError::Same(10));
    let allows = |instants: &[Time]| observation.allows(instants).unwrap();
    assert!(allows(&[13, 6, 12, 45]), "in another order than logged");
    assert!(allows(&[0, 20, 30, 60]));
    assert!(!allows(&[13, 6, 13, 45]), "two at once");
    assert!(
        !allows(&[21, 6, 12, 45]) && !allows(&[13, 6, 12, 61]) && !allows(&[13, 6, 12, 39]),
        "too far off"
    );
    assert!(!allows(&[-1, 6, 12, 45]) && !allows(&[13, 6, 12]));
}

/// E2 and E4: labels, with the subformula that prevents one.
#[test]
fn labels_of_the_paper() {
    use Label::*;
    let no = |node: &str| Err(node.to_owned());
    assert_eq!(labels("!p -> O[1,2] q"), (Ok(Some), Ok(All)));
    assert_eq!(labels("p -> O[1,2] q"), (Ok(Some), Ok(Some)));
    // (p & α) -> O (q & β), for α and β that allow a guarantee or not.
    assert_eq!(labels("(p & !r) -> O[1,2] (q & !s)"), (Ok(Some), no("not O[1,2] (q & !s)")));
    assert_eq!(labels("(p & !r) -> O[1,2] (q & s)"), (no("q & s"), Ok(Some)));
    assert_eq!(labels("(p & r) -> O[1,2] (q & !s)"), (Ok(Some), no("p & r")));
    assert_eq!(labels("true"), (Ok(All), Ok(All)));
    assert_eq!(labels("first -> !last"), (Ok(All), Ok(All)));
    assert_eq!(labels("G !p"), (Ok(All), Ok(Some)));
    assert_eq!(labels("F p"), (Ok(Some), Ok(All)));
    assert_eq!(labels("!p U q"), (Ok(Some), no("not !p U q")));
    assert_eq!(labels("p U !q"), (no("p U !q"), no("not p U !q")));
    assert_eq!(labels("!p S !q"), (Ok(All), no("not !p S !q")));
    assert_eq!(labels("!p W !q"), (Ok(All), no("not !p W !q")));
    assert_eq!(labels("!p M q"), (no("!p M q"), no("not !p M q")));
    assert_eq!(labels("p <-> q"), (no("p <-> q"), Ok(Some)));
    assert_eq!(labels("p ^ q"), (Ok(Some), no("not p ^ q")));
    assert_eq!(labels("p -> X q").0, no("X q"));
}

/// E3: both sides hold on some execution, never on the same.
#[test]
fn a_conjunction_has_no_label() {
    let report = report("(p & O[1,1] q) & (p & F[1,1] q)", 2, &[(2, "p"), (3, "q"), (10, "r")]);
    assert!(report.signal.at(2));
    assert_eq!(report.at(2), Outcome::NoGuarantee);
    assert_eq!(report.satisfied.unwrap_err().why, Why::Conjunction);
    assert_eq!(report.meaning(true), Outcome::NoGuarantee);
}

/// E5: the printed rule for release would promise an execution here, and there is none. Halves.
#[test]
fn the_erratum() {
    let report = report("G[0,2] q", 2, &[(1, "q"), (20, "r")]);
    assert!(report.signal.at(0), "the relaxed formula is true");
    assert_eq!((report.at(0), report.satisfied.unwrap_err().why), (Outcome::NoGuarantee, Why::Throughout));
    assert_eq!(labels("false R[0,1] q").0, Err("false R[0,1] q".into()));
    assert_eq!(labels("H[0,1] q").0, Err("H[0,1] q".into()));
    assert_eq!(labels("false T[0,1] q").0, Err("false T[0,1] q".into()));
}

/// Outcomes over time, and of the property.
#[test]
fn reports() {
    let text = |report: &Report| {
        let runs = report.outcomes().into_iter().map(|(run, outcome)| format!("{run} {}", outcome.name()));
        runs.collect::<Vec<_>>().join(", ")
    };
    let never = report("G !p", 2, &[(1, "q"), (10, "p"), (20, "q")]);
    assert!(never.always);
    assert_eq!(text(&never), "[0,8) satisfied-for-all, [8,12] violated-for-some, (12,22] satisfied-for-all");
    assert_eq!(never.outcome(), Outcome::ViolatedForSome);
    assert_eq!(report("G !p", 2, &[(1, "q")]).outcome(), Outcome::SatisfiedForAll);
    // Every instant is 5 or less after a p, on some execution for each: that is no promise about all instants.
    let often = report("G O[0,5] p", 1, &[(0, "p"), (6, "p")]);
    assert_eq!((text(&often), often.outcome()), ("[0,7] satisfied-for-some".into(), Outcome::NoGuarantee));
    let rarely = report("G O[0,5] p", 1, &[(0, "p"), (8, "p")]);
    assert_eq!(text(&rarely), "[0,6] satisfied-for-some, (6,7) violated-for-all, [7,9] satisfied-for-some");
    assert_eq!(rarely.outcome(), Outcome::ViolatedForAll);
    // Not `G`: asked when time begins.
    let first = report("F[0,3] p", 1, &[(4, "q"), (9, "p")]);
    assert_eq!(text(&first), "[3,5) violated-for-all, [5,10] satisfied-for-some");
    assert_eq!(first.outcome(), Outcome::ViolatedForAll);
    assert_eq!(report("F[0,5] p", 1, &[(4, "q"), (9, "p")]).outcome(), Outcome::SatisfiedForSome);
    assert_eq!(text(&report("G (p U !q)", 1, &[(4, "q"), (9, "p")])), "[3,10] none");
    let program = parse("G[0,inf) G !p");
    assert!(reported(&program, program.roots[0].node).1);
    assert!(matches!(program.dag.node(reported(&program, program.roots[0].node).0), tw_ir::Node::Not(_)));
}

/// Time begins when told, errors differ, and what makes no sense is refused.
#[test]
fn observations() {
    let program = parse("p");
    let node = program.roots[0].node;
    let trace = trace(&program, &[(5, "p"), (7, ""), (7, "p"), (20, "")]);
    let run = |error: ClockError<'_>, origin: Option<Time>| {
        let observation = Observation { origin, ..Observation::new(&trace, error) };
        imprecise(&program, node, &observation, &options())
            .map(|report| format!("{:?}", report.signal))
            .map_err(|e| e.what)
    };
    use ClockError::*;
    assert_eq!(run(Same(1), None).unwrap(), "[4,21]: [4,8]");
    assert_eq!(run(Same(1), Some(0)).unwrap(), "[0,21]: [4,8]");
    assert_eq!(run(Same(9), None).unwrap(), "[0,29]: [0,16]");
    assert_eq!(run(Each(&[0, 1, 1, 3]), None).unwrap(), "[5,23]: [5,5] [6,8]");
    assert_eq!(run(Each(&[1, 1, 9, 3]), None).unwrap(), "[0,23]: [0,16]");
    assert!(run(Same(0), None).unwrap_err().starts_with("an exact timestamp, at position 1,"));
    assert!(run(Each(&[0, 1, 2, 3]), None).unwrap_err().starts_with("an exact timestamp, at position 0,"));
    assert_eq!(run(Each(&[1, 1, -1, 3]), None).unwrap_err(), "a negative clock error, at position 2");
    assert_eq!(run(Each(&[1]), None).unwrap_err(), "events without a clock error");
    assert_eq!(run(Same(1), Some(6)).unwrap_err(), "an event before the beginning of time");
    assert_eq!(run(Same(i64::MAX), None).unwrap_err(), "continuous time over more than 292 years");
}

/// Without error, an execution is the trace as it is.
#[test]
fn no_error_is_exact() {
    let program = parse("G (p -> F[0,5] q)");
    let trace = trace(&program, &[(0, "p"), (4, "q"), (6, "p"), (20, "q")]);
    let observation = Observation::new(&trace, ClockError::Same(0));
    let report = imprecise(&program, program.roots[0].node, &observation, &options()).unwrap();
    let exact = dense(&program, report.formula, &trace, Reading::Events, &options()).unwrap();
    assert_eq!(report.signal, exact);
    assert_eq!(exact.runs(false).collect::<Vec<_>>(), [Run::closed(6, 6)]);
}

/// An answer that certainly comes in time, perhaps, and certainly not.
#[test]
fn more_is_certain_than_labels_tell() {
    let outcome = |text: &str, positions: &[(i64, &str)]| {
        let program = parse(text);
        let trace = trace(&program, positions);
        let observation = Observation::new(&trace, ClockError::Same(1));
        let sure = certain(&program, program.roots[0].node, &observation, &options()).unwrap();
        sure.at(sure.satisfied.span().start())
    };
    use Outcome::*;
    for (text, answer, expected) in [
        ("G (p -> F[0,5] q)", 13, SatisfiedForAll),
        ("G (p -> F[0,5) q)", 13, NoGuarantee),
        ("G (p -> F[0,5] q)", 16, NoGuarantee),
        ("G (p -> F[0,5] q)", 17, NoGuarantee),
        ("G (p -> F[0,5) q)", 17, ViolatedForAll),
        ("G (p -> F[0,5] q)", 18, ViolatedForAll),
        ("G (q -> O[0,5] p)", 13, SatisfiedForAll),
        ("G (q -> O[1,5] p)", 13, SatisfiedForAll),
        ("G (q -> O(1,5] p)", 13, NoGuarantee),
        ("G (q -> (!r S[0,5] p))", 13, SatisfiedForAll),
        ("G (q -> (!p S[0,5] p))", 13, NoGuarantee),
        ("G (p -> (!r U[0,5] q))", 13, SatisfiedForAll),
        ("F (p & F[0,5] (q & !p))", 13, SatisfiedForAll),
        ("F (p & q)", 13, ViolatedForAll),
        ("p M[0,20] !r", 13, SatisfiedForAll),
    ] {
        assert_eq!(outcome(text, &[(10, "p"), (answer, "q")]), expected, "{text} with q at {answer}");
    }
}

/// The answer about a property with what prevents a better one, and where it fails.
#[test]
fn judgements() {
    let answer = |text: &str, error: Time, positions: &[(i64, &str)]| {
        let program = parse(text);
        let trace = trace(&program, positions);
        let observation = Observation::new(&trace, ClockError::Same(error));
        let found = judge(&program, program.roots[0].node, &observation, &options(), 1).unwrap();
        assert_eq!(found.violations.len(), found.violation_count.min(1));
        assert_eq!(found.instants.len(), found.instant_count.min(1));
        let mut words = found.outcome.name().to_owned();
        if let Some(blocked) = found.blocked {
            let not = if blocked.negated { "not " } else { "" };
            words += &format!("; {:?} {not}{}", blocked.why, display(&program, blocked.node));
        }
        for at in &found.violations {
            words += &format!("; at {at} of {}", found.violation_count);
        }
        for run in &found.instants {
            words += &format!("; in {run} of {}", found.instant_count);
        }
        words
    };
    let late = [(10, "p"), (18, "q"), (30, "p"), (50, "q")];
    for (text, positions, expected) in [
        // Each p has its q at the same event, though no instant of either is certain.
        ("G (p -> q)", &[(10, "pq"), (11, "pq"), (12, "")][..], "satisfied-for-all"),
        ("G (p -> q)", &[(10, "pq"), (11, "p"), (12, "")], "violated-for-all; at 1 of 1"),
        ("G (p -> q | r)", &[(10, "pq"), (11, "pr"), (12, "")], "satisfied-for-all"),
        ("F (p & q)", &[(10, "p"), (10, "q")], "violated-for-all"),
        ("F (p & q)", &[(10, "p"), (10, "pq")], "satisfied-for-all"),
        ("G (p -> F[0,5] (q | r))", &[(10, "p"), (13, "r")], "satisfied-for-all"),
        ("G (p -> F[0,5] q)", &late, "violated-for-all; at 0 of 2"),
        ("G (p -> F[0,8] q)", &late[..2], "none; Throughout p -> F[0,8] q"),
        ("G (p -> F[0,7] q)", &late[..2], "violated-for-some; Uncertain p; in [9,10) of 1"),
        ("G O[0,5] p", &[(0, "p"), (8, "p")], "violated-for-all; in (6,7) of 1"),
        ("G O[0,5] p", &[(0, "p"), (6, "p")], "none; Throughout O[0,5] p"),
        ("F[0,5] q", &[(10, "p"), (15, "q")], "satisfied-for-some; Uncertain q"),
        ("(!p) U q", &[(10, "q"), (20, "p")], "satisfied-for-all"),
        ("(!p) U q", &[(10, "q"), (11, "p")], "satisfied-for-some; Uncertain q"),
        ("F[0,1] p & F[0,1] q", &[(10, "p"), (11, "q")], "none; Conjunction F[0,1] p & F[0,1] q"),
        ("p | !p", &[(10, "p")], "satisfied-for-all"),
    ] {
        assert_eq!(answer(text, 1, positions), expected, "{text} on {positions:?}");
    }
}
