//! No verdict before it is implied, and none after: against all short continuations, and against the truncated
//! semantics of the paper.

use super::formulas::{formula, nested};
use super::{options, program};
use crate::online::{Each, Online};
use tw_core::Bits;
use tw_engine_reference::Reference;
use tw_ir::{Clock, Node, NodeId, Program, Semantics, Temporal, Ticks};
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_testkit::{Rng, cases};

/// Times and atoms of positions.
pub(super) type Word = Vec<(i64, u64)>;

/// The truth of formulas over a word, by definition.
pub(super) fn columns(
    program: &Program,
    options: &EvaluateOptions,
    word: &Word,
    nodes: &[NodeId],
) -> Vec<Bits> {
    let column = |atom: usize| word.iter().map(|(_, row)| row >> atom & 1 == 1).collect();
    let trace = Trace {
        len: word.len(),
        atoms: (0..program.atoms().len()).map(column).collect(),
        times: Some(word.iter().map(|(time, _)| *time).collect()),
        ..Trace::default()
    };
    Reference.plan(program, options).unwrap().columns(&trace, nodes).unwrap()
}

/// The word, and all that continue it by up to so many positions after `passed`.
pub(super) fn continuations(word: &Word, passed: i64, by: usize) -> Vec<Word> {
    let mut words = vec![word.clone()];
    let mut from = 0;
    for _ in 0..by {
        let to = words.len();
        for at in from..to {
            let now = words[at].last().unwrap().0;
            for time in [0, 1, 2, 3, 5].map(|gap| now + gap).into_iter().filter(|&time| time > passed) {
                for row in 0..4 {
                    let mut longer = words[at].clone();
                    longer.push((time, row));
                    words.push(longer);
                }
            }
        }
        from = to;
    }
    words
}

/// What is told of a prefix: verdict, and truth of the first positions.
fn told(online: &mut Online, so_far: &mut Vec<bool>) -> Option<bool> {
    while let Some((at, holds)) = online.next_settled(0) {
        assert_eq!(at, so_far.len());
        so_far.push(holds);
    }
    online.verdict(0)
}

/// Runs a formula over a random word and looks at all continuations after each position and heartbeat. With `exact`,
/// what is not told must still be open.
fn against_all(text: &str, rng: &mut Rng, exact: bool) {
    let program = program(&[text]);
    let options = options(rng.pick(&[Semantics::Finite, Semantics::RepeatLast]), Clock::Stamps);
    let node = [program.roots[0].node];
    let mut online = Online::new(&program, &options, Each::Root).unwrap();
    let (mut word, mut now, mut truth) = (Word::new(), 0, Vec::new());
    for _ in 0..1 + rng.below(3) {
        now += rng.pick(&[0, 1, 1, 2, 4]);
        word.push((now, rng.below(4) as u64));
        online.step(Some(now), &[word[word.len() - 1].1]).unwrap();
        let mut passed = now - 1;
        for beat in 0..2 {
            if beat == 1 {
                passed = now + rng.below(4) as i64;
                online.advance(passed).unwrap();
                now = passed + 1;
            }
            let verdict = told(&mut online, &mut truth);
            let (mut seen, open) = ([false; 2], truth.len());
            for longer in continuations(&word, passed, 2) {
                let column = &columns(&program, &options, &longer, &node)[0];
                let told = (0..open).all(|at| column.get(at) == truth[at]);
                let right = verdict.is_none_or(|verdict| verdict == column.get(0));
                assert!(
                    told && right,
                    "{text} {options:?}\n{word:?} {passed} {truth:?} {verdict:?}\n{longer:?}"
                );
                if open < word.len() {
                    seen[usize::from(column.get(open))] = true;
                }
            }
            let late = exact && open < word.len() && seen != [true; 2];
            assert!(!late, "{text} {options:?}\n{word:?} {passed} {truth:?}");
            if rng.one_in(2) {
                break;
            }
        }
    }
}

#[test]
fn no_verdict_comes_before_it_is_implied() {
    for seed in 0..cases(1_000).min(20_000) {
        let mut rng = Rng::new(seed);
        let depth = 1 + rng.below(3);
        let text = formula(&mut rng, depth, false, true);
        against_all(&text, &mut rng, false);
    }
}

/// The verdict of an unbounded operator does not wait for the operand that does not decide it: against continuations long
/// enough to show both truth values.
#[test]
fn verdicts_do_not_wait_for_what_does_not_decide() {
    let mut settled = 0;
    for left in ["F[1,4] a", "G[0,2] a", "X[1,2] a", "a U[1,3] b"] {
        for operator in ["U", "W", "R", "M", "S", "T", "B"] {
            for right in ["b", "!b", "b & a"] {
                for text in
                    [format!("({left}) {operator} ({right})"), format!("({right}) {operator} ({left})")]
                {
                    let program = program(&[&text]);
                    let options = options(Semantics::Finite, Clock::Stamps);
                    let node = [program.roots[0].node];
                    for first in 0..4u64 {
                        let word: Word = vec![(0, first)];
                        let mut online = Online::new(&program, &options, Each::Nothing).unwrap();
                        online.step(Some(0), &[first]).unwrap();
                        let verdict = online.verdict(0);
                        let mut seen = [false; 2];
                        for longer in continuations(&word, -1, 2) {
                            let holds = columns(&program, &options, &longer, &node)[0].get(0);
                            seen[usize::from(holds)] = true;
                        }
                        let implied = match seen {
                            [true, true] => None,
                            [_, holds] => Some(holds),
                        };
                        assert_eq!(verdict, implied, "{text} after {first:02b}");
                        settled += usize::from(verdict.is_some());
                    }
                }
            }
        }
    }
    assert!(settled > 100, "{settled}");
}

/// Where operands are atoms, what is not told is still open: both truth values are possible.
#[test]
fn no_verdict_comes_after_it_is_implied() {
    let flat = [
        "F a",
        "G a",
        "a U b",
        "a R b",
        "X a",
        "F[1,3] a",
        "F[0,2] a",
        "G[0,2] a",
        "G[1,2] a",
        "a U[1,2] b",
        "a U[0,3] b",
        "a U[2,inf) b",
        "a R[1,3] b",
        "a W[0,2] b",
        "a M[1,3] b",
        "X[1,2] a",
        "X[0,1] a",
        "N[2,3] a",
        "N a",
        "a -> F[0,2] b",
        "G[0,1] a & b",
        "a | G b",
        "O[1,2] a & F b",
        "a S[0,2] b",
        "H[1,3] a",
        "a T[1,inf) b",
        "Y[0,1] a",
        "(a S b) U[0,2] b",
        "!F[1,3] a",
        "a ^ F[0,2] b",
        "F[1,2] (a & O[0,1] b)",
    ];
    for seed in 0..cases(600).min(20_000) {
        let mut rng = Rng::new(seed);
        against_all(rng.pick(&flat), &mut rng, true);
    }
}

/// The paper's truncated semantics: what is true or false of every continuation, as far as operators taken one by one
/// can tell.
fn truncated(program: &Program, word: &Word, passed: i64) -> Vec<Vec<Option<bool>>> {
    let (len, atoms) = (word.len(), program.atoms());
    let mut truths: Vec<Vec<Option<bool>>> = vec![Vec::new(); program.dag.len()];
    for id in program.reachable(&[program.roots[0].node]) {
        let node = program.dag.node(id);
        let ticks = node.interval().map_or(Ticks { low: 0, high: i64::MAX }, |interval| {
            interval.ticks(Clock::Stamps, tw_core::TimeUnit::Nanoseconds).unwrap()
        });
        let atom = atoms.binary_search(&id).ok();
        let mut column = Vec::new();
        for at in 0..len {
            let of = |part: NodeId, at: usize| truths[part.index()][at];
            let not = |truth: Option<bool>| truth.map(|truth| !truth);
            let and = |a: Option<bool>, b: Option<bool>| match (a, b) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
            let distance = |k: usize| (word[k].0 - word[at].0).abs();
            let until = |future: bool,
                         hold: &dyn Fn(usize) -> Option<bool>,
                         goal: &dyn Fn(usize) -> Option<bool>| {
                let places: Vec<usize> = if future { (at..len).collect() } else { (0..=at).rev().collect() };
                let (mut held, mut weak) = (Some(true), false);
                for k in places {
                    let here = and(held, goal(k));
                    if ticks.contains(distance(k)) && here != Some(false) {
                        weak = true;
                        if here == Some(true) {
                            return Some(true);
                        }
                    }
                    held = and(held, hold(k));
                }
                let beyond = (at..len).any(|k| distance(k) > ticks.high)
                    || passed >= word[at].0.saturating_add(ticks.high);
                weak |= future && held != Some(false) && !beyond;
                if weak { None } else { Some(false) }
            };
            let truth = match node {
                _ if atom.is_some() => Some(word[at].1 >> atom.unwrap() & 1 == 1),
                Node::Not(a) => not(of(a, at)),
                Node::And(a, b) => and(of(a, at), of(b, at)),
                Node::Or(a, b) => not(and(not(of(a, at)), not(of(b, at)))),
                Node::Implies(a, b) => not(and(of(a, at), not(of(b, at)))),
                Node::Xor(a, b) => of(a, at).zip(of(b, at)).map(|(a, b)| a != b),
                Node::Unary(Temporal::Finally, _, a) => until(true, &|_| Some(true), &|k| of(a, k)),
                Node::Unary(Temporal::Globally, _, a) => {
                    not(until(true, &|_| Some(true), &|k| not(of(a, k))))
                }
                Node::Binary(Temporal::Until, _, a, b) => until(true, &|k| of(a, k), &|k| of(b, k)),
                Node::Binary(Temporal::Release, _, a, b) => {
                    not(until(true, &|k| not(of(a, k)), &|k| not(of(b, k))))
                }
                Node::Binary(Temporal::WeakUntil, _, a, b) => {
                    not(until(true, &|k| not(of(b, k)), &|k| and(not(of(a, k)), not(of(b, k)))))
                }
                Node::Binary(Temporal::StrongRelease, _, a, b) => {
                    until(true, &|k| of(b, k), &|k| and(of(a, k), of(b, k)))
                }
                Node::Unary(Temporal::Once, _, a) => until(false, &|_| Some(true), &|k| of(a, k)),
                Node::Unary(Temporal::Historically, _, a) => {
                    not(until(false, &|_| Some(true), &|k| not(of(a, k))))
                }
                Node::Binary(Temporal::Since, _, a, b) => until(false, &|k| of(a, k), &|k| of(b, k)),
                Node::Binary(Temporal::Trigger, _, a, b) => {
                    not(until(false, &|k| not(of(a, k)), &|k| not(of(b, k))))
                }
                Node::Binary(Temporal::BackTo, _, a, b) => {
                    not(until(false, &|k| not(of(b, k)), &|k| and(not(of(a, k)), not(of(b, k)))))
                }
                Node::Unary(Temporal::Previous, _, a) if at > 0 && ticks.contains(distance(at - 1)) => {
                    of(a, at - 1)
                }
                Node::Unary(Temporal::Previous, ..) => Some(false),
                Node::Unary(Temporal::WeakPrevious, _, a) if at > 0 && ticks.contains(distance(at - 1)) => {
                    of(a, at - 1)
                }
                Node::Unary(Temporal::WeakPrevious, ..) => Some(true),
                node => panic!("{node:?}"),
            };
            column.push(truth);
        }
        truths[id.index()] = column;
    }
    truths
}

/// Every informative prefix leads to its verdict once the bounded subformulas are settled.
#[test]
fn informative_prefixes_lead_to_verdicts() {
    let (mut informative, mut left) = (0, 0);
    for seed in 0..cases(10_000) {
        let mut rng = Rng::new(seed);
        let depth = 1 + rng.below(4);
        let text = if seed % 2 == 0 { formula(&mut rng, depth, false, false) } else { nested(&mut rng) };
        let program = program(&[&text]);
        let mut online =
            Online::new(&program, &options(Semantics::Ltl3, Clock::Stamps), Each::Nothing).unwrap();
        let (mut word, mut now) = (Word::new(), 0);
        for _ in 0..1 + rng.below(7) {
            now += rng.pick(&[0, 1, 1, 2, 4]);
            word.push((now, rng.below(4) as u64));
            online.step(Some(now), &[word[word.len() - 1].1]).unwrap();
        }
        let passed = now + 100;
        online.advance(passed).unwrap();
        let truth = truncated(&program, &word, passed)[program.roots[0].node.index()][0];
        // What is said of unbounded operators under bounded ones waits for positions, too, whatever they are.
        for more in 1..20 {
            if online.verdict(0).is_none() && seed % 2 == 1 {
                online.step(Some(passed + 100 * more), &[rng.below(4) as u64]).unwrap();
            }
        }
        if let Some(truth) = truth {
            informative += 1;
            // Too large to be separated.
            let atoms = online.roots[0].parts.iter().flat_map(|part| &part.atoms);
            if atoms.clone().any(|atom| online.network.operators[atom.op()].delay.is_none()) {
                left += 1;
                continue;
            }
            assert_eq!(online.verdict(0), Some(truth), "seed {seed}: {text}\n{word:?}");
        }
    }
    println!("{informative} informative, {left} not separated");
    assert!(informative > 0 && informative > 20 * left);
}
