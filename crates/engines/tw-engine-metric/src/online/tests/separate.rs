//! Separation: its two facts and the published rules by brute force, and what it does for verdicts.

use super::vectors::verdicts;
use super::{options, program};
use crate::online::{Each, Online};
use tw_ir::{Clock, Semantics};
use tw_testkit::{Rng, cases};

type Column = Vec<bool>;

/// Timestamps of positions, and operators over columns, by their definitions.
struct Word(Vec<i64>);

impl Word {
    fn random(rng: &mut Rng, gaps: &[i64], tail: usize) -> Word {
        let mut now = 0;
        let head = 1 + rng.below(9);
        let times = (0..head + tail).map(|at| {
            now += if at < head { rng.pick(gaps) } else { 2 };
            now
        });
        Word(times.collect())
    }

    /// A random column, constant in the tail.
    fn column(&self, rng: &mut Rng, tail: usize) -> Column {
        let head = self.0.len() - tail;
        let mut column: Column = (0..head).map(|_| rng.one_in(2)).collect();
        let last = rng.one_in(2);
        column.resize(self.0.len(), last);
        column
    }

    /// There is b at a distance from `low` to `high` (in the order of positions, `strict`ly later), and a before it.
    fn until(&self, strict: bool, (low, high): (i64, i64), a: &[bool], b: &[bool]) -> Column {
        let at = |i: usize| {
            let from = i + usize::from(strict);
            (from..self.0.len())
                .any(|j| (low..=high).contains(&(self.0[j] - self.0[i])) && b[j] && (from..j).all(|k| a[k]))
        };
        (0..self.0.len()).map(at).collect()
    }

    /// The same of earlier positions.
    fn since(&self, strict: bool, (low, high): (i64, i64), a: &[bool], b: &[bool]) -> Column {
        let at = |i: usize| {
            let to = i + usize::from(!strict);
            (0..to)
                .any(|j| (low..=high).contains(&(self.0[i] - self.0[j])) && b[j] && (j + 1..to).all(|k| a[k]))
        };
        (0..self.0.len()).map(at).collect()
    }
}

fn not(a: &[bool]) -> Column {
    a.iter().map(|a| !a).collect()
}

fn and(a: &[bool], b: &[bool]) -> Column {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

fn or(a: &[bool], b: &[bool]) -> Column {
    a.iter().zip(b).map(|(a, b)| a | b).collect()
}

const FOREVER: i64 = i64::MAX;

/// What separation stands on, with equal timestamps.
#[test]
fn the_two_facts() {
    for seed in 0..cases(3_000) {
        let mut rng = Rng::new(seed);
        let word = Word::random(&mut rng, &[0, 0, 1, 2, 5], 0);
        let (a, b) = (word.column(&mut rng, 0), word.column(&mut rng, 0));
        let (len, times) = (word.0.len(), &word.0);
        let truth = vec![true; len];
        let (back, ahead) = (rng.below(4) as i64, rng.below(4) as i64);
        let until = word.until(false, (0, FOREVER), &a, &b);
        let near = word.until(false, (0, back + ahead), &a, &b);
        let held = not(&word.until(false, (0, back + ahead), &truth, &not(&a)));
        // The first position after the window.
        let beyond = |i: usize| (0..len).find(|&k| times[k] > times[i] + ahead).is_some_and(|k| until[k]);
        for i in 0..len {
            for j in (0..len).filter(|&j| (times[i] - back..=times[i] + ahead).contains(&times[j])) {
                assert_eq!(until[j], near[j] || held[j] && beyond(i), "seed {seed}, {i}, {j}");
                if ahead == 0 && j <= i {
                    assert_eq!(until[j], near[j] || held[j] && until[i], "seed {seed}, {i}, {j}");
                }
            }
        }
        // The same from piece to piece: α U β.
        let piece = |i: usize| {
            let to = if i + 1 < len { times[i + 1] + ahead } else { times[i] + ahead };
            (0..len).filter(move |&k| times[k] > times[i] + ahead && times[k] <= to)
        };
        let alpha: Column = (0..len).map(|i| piece(i).all(|k| a[k])).collect();
        let found = |i: usize| piece(i).any(|k| b[k] && piece(i).filter(|&m| m < k).all(|m| a[m]));
        let beta: Column = (0..len).map(found).collect();
        let untimed = word.until(false, (0, FOREVER), &alpha, &beta);
        assert_eq!(untimed, (0..len).map(beyond).collect::<Column>(), "seed {seed}");
        let later = word.until(false, (ahead + 1, FOREVER), &a, &b);
        let start = not(&word.until(false, (0, ahead), &truth, &not(&a)));
        assert_eq!(later, and(&start, &untimed), "seed {seed}");
        let since = word.since(false, (0, FOREVER), &a, &b);
        let near = word.since(false, (0, ahead), &a, &b);
        let held = not(&word.since(false, (0, ahead), &truth, &not(&a)));
        for i in 0..len {
            for j in (i..len).filter(|&j| times[j] <= times[i] + ahead) {
                assert_eq!(since[j], near[j] || held[j] && since[i], "seed {seed}, {i}, {j}");
            }
        }
    }
}

/// Both sides of the eight published rules, of strict operators over open intervals. Times are even, so that (a,b) is
/// [2a+1, 2b−1].
fn published(word: &Word, rng: &mut Rng, tail: usize) -> [(Column, Column); 8] {
    let mut column = || word.column(rng, tail);
    let (th, c, f1, f2) = (column(), column(), column(), column());
    let a = rng.below(3) as i64;
    let b = a + 1 + rng.below(2) as i64;
    let (truth, falsity) = (vec![true; word.0.len()], vec![false; word.0.len()]);
    let (window, near) = ((2 * a + 1, 2 * b - 1), (1, 2 * b - 1));
    let (closed, twice, second) = ((1, 2 * b), (1, 4 * b - 1), (2 * b + 1, 4 * b - 1));
    let always = (1, FOREVER);
    let until = |interval, a: &[bool], b: &[bool]| word.until(true, interval, a, b);
    let since = |interval, a: &[bool], b: &[bool]| word.since(true, interval, a, b);
    let globally = |interval, a: &[bool]| not(&until(interval, &truth, &not(a)));
    let history = |interval, a: &[bool]| not(&since(interval, &truth, &not(a)));
    let next = until(near, &falsity, &truth);
    let previous = since(near, &falsity, &truth);
    let invariant = |x: &[bool]| {
        let far = and(x, &globally(closed, x));
        and(&or(&not(&next), &globally(second, x)), &or(&previous, &far))
    };
    let (ugb, ggb) = {
        let near = and(&f1, &until(closed, &f1, &f2));
        let start = and(&not(&previous), &or(&f2, &near));
        let goal = or(&and(&f1, &until(second, &f1, &f2)), &start);
        (until(always, &invariant(&f1), &goal), globally(always, &invariant(&f1)))
    };
    let (u, s) = (until(always, &f1, &f2), since(always, &f1, &f2));
    let (g, h) = (globally(always, &f1), history(always, &f1));
    let (u2, g2) = (until(twice, &f1, &f2), globally(twice, &f1));
    let (s1, h1) = (since(near, &f1, &f2), history(near, &f1));
    let right = |x: &[bool]| until(window, &th, &and(x, &c));
    let left = |x: &[bool]| until(window, &or(x, &c), &th);
    let soon = until(window, &truth, &th);
    [
        (right(&u), or(&right(&u2), &and(&right(&g2), &ugb))),
        (right(&g), and(&right(&g2), &ggb)),
        (right(&s), or(&right(&s1), &and(&right(&h1), &s))),
        (right(&h), and(&right(&h1), &h)),
        (left(&u), or(&left(&u2), &and(&and(&until(near, &or(&u2, &c), &g2), &soon), &ugb))),
        (left(&g), or(&until(window, &c, &th), &and(&and(&until(near, &c, &g2), &soon), &ggb))),
        (left(&s), or(&left(&s1), &and(&left(&or(&h1, &s1)), &s))),
        (left(&h), or(&until(window, &c, &th), &and(&left(&h1), &h))),
    ]
}

/// Which of the published rules hold: on words with a constant tail, and mirrored on words that have a beginning, which
/// read backwards are words that end.
fn holding(gaps: &[i64], tail: usize) -> [bool; 8] {
    let mut holds = [true; 8];
    for seed in 0..cases(4_000).clamp(4_000, 50_000) {
        let mut rng = Rng::new(seed);
        let word = Word::random(&mut rng, gaps, tail);
        let head = word.0.len() - tail;
        for (rule, (left, right)) in published(&word, &mut rng, tail).iter().enumerate() {
            holds[rule] &= left[..head] == right[..head];
        }
    }
    holds
}

#[test]
fn the_published_rules_want_timestamps_that_increase() {
    assert_eq!(holding(&[1, 2, 3, 4, 6, 10], 30), [true; 8]);
    assert_eq!(holding(&[1, 2, 3, 4, 6, 10], 0), [true; 8], "mirrored");
    let equal = [false, false, false, true, false, false, false, true];
    assert_eq!(holding(&[0, 0, 2, 4, 6], 30), equal);
    assert_eq!(holding(&[0, 0, 2, 4, 6], 0), equal, "mirrored");
}

/// An unbounded operator that is open under a bounded one does not hide what is settled later.
#[test]
fn unbounded_under_bounded() {
    let formula = "G (p -> F[0,5] (q & G r))";
    let trace = [(0, "p"), (1, "qr"), (2, "r"), (10, "pr"), (20, "r"), (30, "r")];
    let told = verdicts(formula, "pqr", &trace);
    assert_eq!(told, [None, None, None, None, Some(false), Some(false)]);
    // r fails: the answer at 1 was none after all.
    let told = verdicts(formula, "pqr", &[(0, "p"), (1, "qr"), (2, "r"), (10, ""), (16, "")]);
    assert_eq!(told[4], Some(false));
    // The same below the past, for both sides, and nested twice.
    let told = verdicts("G (p -> O[0,5] (q & F r))", "pqr", &[(0, "q"), (1, "p"), (9, "p"), (10, "")]);
    assert_eq!(told[2..], [Some(false); 2]);
    let trace = [(0, "p"), (1, "q"), (3, "p"), (9, ""), (16, "p"), (40, ""), (60, ""), (80, "")];
    assert_eq!(verdicts("G (p -> F[0,5] (q & F (r & F q)))", "pqr", &trace)[7], Some(false));
    assert_eq!(verdicts("G (p -> (q | F r) U[1,5] q)", "pqr", &trace)[7], Some(false));
    // Informative at once: the window is over.
    assert_eq!(verdicts("F[0,5] (q & G r)", "qr", &[(0, ""), (5, ""), (6, "")]), [None, None, Some(false)]);
    // A window of no time has positions of the same time, before or after.
    let trace = [(1, ""), (1, "b"), (2, "ab"), (9, ""), (20, "")];
    assert_eq!(verdicts("F[0,0] (!a -> ((a & b) R b))", "ab", &trace)[4], Some(true));
    // Past below the future is bounded already.
    let gear = "G (g -> F[0,30) (f & O l))";
    assert_eq!(verdicts(gear, "gfl", &[(0, "g"), (10, "f"), (29, ""), (30, "")])[2..], [None, Some(false)]);
    let told = verdicts(gear, "gfl", &[(0, "l"), (1, "g"), (10, "f"), (40, "")]);
    assert_eq!(told, [None; 4]);
}

/// Verdicts of such properties take memory that does not grow with the trace.
#[test]
fn open_answers_take_no_memory() {
    let options = options(Semantics::Ltl3, Clock::Stamps);
    let mut online = Online::new(&program(&["G (p -> F[0,50] (q & G r))"]), &options, Each::Nothing).unwrap();
    let mut early = 0;
    for at in 0..40_000i64 {
        let (p, q, r) = (at % 7 == 0, at % 5 == 0, true);
        let row = u64::from(p) | u64::from(q) << 1 | u64::from(r) << 2;
        online.step(Some(at), &[row]).unwrap();
        if at == 4_000 {
            early = online.heap_bytes();
        }
    }
    assert_eq!(online.verdict(0), None);
    let late = online.heap_bytes();
    assert!(late <= early + early / 4, "{early} bytes, then {late}");
}
