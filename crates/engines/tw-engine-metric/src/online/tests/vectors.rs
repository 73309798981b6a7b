//! Worked examples of the papers, in non-strict operators.

use super::{options, program};
use crate::online::{Each, MetricMonitor, Online};
use tw_core::Position;
use tw_ir::{Clock, Semantics};
use tw_monitor::{Monitor, Settled, Sink, Telling};

/// Atoms of a position: those whose names are in the text. Atoms are in the order of first use.
fn rows<'a>(names: &'a str, trace: &'a [(i64, &'a str)]) -> impl Iterator<Item = (i64, [u64; 1])> + 'a {
    let bit = move |text: &str| {
        names.chars().enumerate().fold(0, |row, (at, name)| row | u64::from(text.contains(name)) << at)
    };
    trace.iter().map(move |&(time, text)| (time, [bit(text)]))
}

/// The verdict after each position.
pub(super) fn verdicts(formula: &str, names: &str, trace: &[(i64, &str)]) -> Vec<Option<bool>> {
    let mut online =
        Online::new(&program(&[formula]), &options(Semantics::Ltl3, Clock::Stamps), Each::Nothing).unwrap();
    let verdict = |(time, row): (i64, [u64; 1])| {
        online.step(Some(time), &row).unwrap();
        online.verdict(0)
    };
    rows(names, trace).map(verdict).collect()
}

/// The paper's operators are strict: what they say of later positions is said after `N` or with an open interval. Times
/// are in halves, so that 5.5 is 11.
#[test]
fn informative_prefixes() {
    let phi = "F G !p & G (p -> F(0,6) p)";
    assert_eq!(verdicts(phi, "p", &[(0, "p"), (4, "p"), (11, "")]), [None, None, Some(false)]);
    // No continuation satisfies it, but no prefix says so.
    assert_eq!(verdicts(phi, "p", &[(0, "p"), (4, "p"), (8, "p")]), [None, None, None]);
    // G !p of later positions: bad at the second event.
    let phi_prime = "N G !p & G (p -> F(0,6) p)";
    assert_eq!(verdicts(phi_prime, "p", &[(0, "p"), (4, "p"), (8, "p")]), [None, Some(false), Some(false)]);
    assert_eq!(verdicts(phi_prime, "p", &[(0, "p"), (4, "p"), (11, "")])[2], Some(false));
    // F(0,5) p is open on words without p before 5, and bad once 5 is reached.
    assert_eq!(verdicts("F(0,5) p", "p", &[(0, "p"), (4, ""), (5, "")]), [None, None, Some(false)]);
    assert_eq!(verdicts("F(0,5) p", "p", &[(0, ""), (4, "p")]), [None, Some(true)]);
}

/// The other operand, or positions outside the window, may stay open for long: the window alone decides.
#[test]
fn a_window_that_is_over_waits_for_nothing_else() {
    let until = verdicts("(F G[0,3600] b) U[0,5] a", "ba", &[(0, ""), (6, ""), (20, "b")]);
    assert_eq!(until, [None, Some(false), Some(false)]);
    // No position lies in it.
    assert_eq!(verdicts("F[1,2] F G[0,3600] b", "b", &[(0, ""), (6, "")]), [None, Some(false)]);
    assert_eq!(
        verdicts("F[2,4] O[5,6] G p", "p", &[(0, "p"), (3, "p"), (5, "p")]),
        [None, None, Some(false)]
    );
    // Position 2 has its witness, position 0; of position 1 nobody asks.
    let told = |formula: &str, names: &str, trace: &[(i64, &str)]| {
        let options = options(Semantics::Ltl3, Clock::Stamps);
        let mut online = Online::new(&program(&[formula]), &options, Each::Root).unwrap();
        let mut told = Vec::new();
        for (time, row) in rows(names, trace) {
            online.step(Some(time), &row).unwrap();
            told.extend(
                std::iter::from_fn(|| online.next_settled(0)).map(|(about, holds)| (about, holds, time)),
            );
        }
        told
    };
    let once = told("O[2,10] F[0,1] p", "p", &[(0, "p"), (3, ""), (4, "")]);
    assert_eq!(once, [(0, false, 0), (1, true, 3), (2, true, 4)]);
}

#[test]
fn a_missing_answer_is_told_at_its_deadline() {
    let program = program(&["G (req -> F[0,5] ack)"]);
    let mut monitor =
        MetricMonitor::new(&program, &options(Semantics::Ltl3, Clock::Stamps), Telling::Verdicts).unwrap();
    let mut out = Sink::default();
    let step = |monitor: &mut MetricMonitor, time, row: u64, out: &mut Sink| {
        monitor.step_at(Some(time), &[row], out).unwrap();
    };
    let (req, ack) = (1, 2);
    step(&mut monitor, 10, req, &mut out);
    step(&mut monitor, 12, ack, &mut out);
    step(&mut monitor, 20, req, &mut out);
    step(&mut monitor, 22, req, &mut out);
    let open = monitor.online().pending(0);
    let found: Vec<_> = open.iter().map(|open| (open.position, open.deadline)).collect();
    assert_eq!(found, [(2, Some(25)), (3, Some(27))]);
    assert_eq!(monitor.pending()[0].residual, "F[0,5] ack");
    // An event at the deadline may still be the answer; time beyond it may not.
    step(&mut monitor, 25, 0, &mut out);
    monitor.advance(24, &mut out).unwrap();
    assert!(out.settled.is_empty());
    monitor.advance(25, &mut out).unwrap();
    assert_eq!(out.settled, [Settled::truth(0, None, 4, false)]);
    assert!(monitor.pending().is_empty());
    assert!(monitor.step_at(Some(25), &[0], &mut out).unwrap_err().what.contains("has passed"));
    assert!(monitor.step(&[0], &mut out).unwrap_err().what.contains("without timestamps"));
}

/// The atoms of a position from columns of 0 and 1.
pub(super) fn packed(names: &str, columns: &[&str], at: usize) -> [u64; 1] {
    let held = |(name, column): (char, &&str)| (column.as_bytes()[at] == b'1').then_some(name);
    let text: String = names.chars().zip(columns).filter_map(held).collect();
    let (_, row) = rows(names, &[(0, &text)]).next().unwrap();
    row
}

/// `(position, truth, position that settled it)` for each position that is settled before the end.
pub(super) fn settled(formula: &str, names: &str, columns: &[&str]) -> Vec<(Position, bool, usize)> {
    let mut online =
        Online::new(&program(&[formula]), &options(Semantics::Finite, Clock::Index), Each::Root).unwrap();
    let mut out = Vec::new();
    for at in 0..columns[0].len() {
        online.step(None, &packed(names, columns, at)).unwrap();
        while let Some((position, holds)) = online.next_settled(0) {
            out.push((position, holds, at));
        }
    }
    out
}

#[test]
fn observers() {
    let expected = [
        (0, false, 3),
        (1, false, 3),
        (2, false, 3),
        (3, false, 3),
        (4, true, 7),
        (5, true, 8),
        (6, true, 9),
    ];
    assert_eq!(settled("G[0,3] p", "p", &["1110111111"]), expected);
    let expected = [
        (0, true, 3),
        (1, true, 3),
        (2, false, 3),
        (3, false, 3),
        (4, false, 8),
        (5, false, 9),
        (6, false, 10),
        (7, true, 11),
        (8, true, 11),
        (9, true, 11),
    ];
    assert_eq!(settled("p U[2,4] q", "pq", &["111011111111", "000100000001"]), expected);
    // Two or more at 10, three at 20: up to 20 violated, all at 20; then as the shorter window ends.
    let (mut two, mut three) = (vec![b'0'; 60], vec![b'0'; 60]);
    (two[10], two[20], three[20]) = (b'1', b'1', b'1');
    let columns = [two, three].map(|column| String::from_utf8(column).unwrap());
    let found = settled("!(F[0,30] p & F[0,100] q)", "pq", &[&columns[0], &columns[1]]);
    assert_eq!(found[..21], Vec::from_iter((0..21).map(|at| (at, false, 20))));
    assert_eq!(found[21..23], [(21, true, 51), (22, true, 52)]);
}

/// Each conjunct is told as soon as itself can be, though others are still open.
#[test]
fn a_conjunct_does_not_wait_for_others() {
    let formula = "G (low & (req -> (ok & F[0,1000] ack)))";
    let trace = [(0, "l"), (1, "lro"), (2, "l"), (3, "o")];
    assert_eq!(verdicts(formula, "lroa", &trace), [None, None, None, Some(false)]);
    let trace = [(0, "l"), (1, "lro"), (2, "l"), (3, "lr")];
    assert_eq!(verdicts(formula, "lroa", &trace), [None, None, None, Some(false)]);
    // Unbounded operators that are open at one position do not hide what is settled at another.
    let formula = "G (p -> (s U (t & F q)))";
    assert_eq!(verdicts(formula, "pstq", &[(0, "ps"), (1, "st"), (2, "s"), (3, "p")])[3], Some(false));
    assert_eq!(verdicts("F (p & G[0,9] q)", "pq", &[(0, "pq"), (5, "q"), (9, "q"), (10, "")])[3], Some(true));
}

#[test]
fn delays_are_known_beforehand() {
    let delay = |formula: &str| {
        let online =
            Online::new(&program(&[formula]), &options(Semantics::Finite, Clock::Stamps), Each::Body);
        online.unwrap().delay(0).map(|delay| (delay.ticks, delay.positions))
    };
    assert_eq!(delay("p S[0,10] (q U[2,5] r)"), Some((5, 0)));
    assert_eq!(delay("O (p -> O[3,10] q)"), Some((0, 0)));
    assert_eq!(delay("G (req -> F[0,5] G[1,3] ack)"), Some((8, 0)));
    assert_eq!(delay("X F[0,5] p"), Some((5, 1)));
    assert_eq!(delay("X[0,3] F[0,5] p"), Some((8, 0)));
    assert_eq!(delay("F[0,5] F p"), None);
}
