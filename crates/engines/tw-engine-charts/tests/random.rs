//! Random charts on random words: stored, live, by segments and across saved states, against the definitions.

mod common;

use common::{answers, check, program, segments, trace};
use tw_core::Bits;
use tw_engine_charts::Charts;
use tw_engine_columnar::Columnar;
use tw_engine_reference::Reference;
use tw_ir::chart::{Check, Condition, Matching, Reading};
use tw_ir::{Node, NodeId, Program};
use tw_monitor::{Engine, EvaluateOptions, Known, Positions, Sink, Telling, Trace};
use tw_testkit::{Rng, cases};

/// A random order on so many events: each may wait for earlier ones.
fn order(rng: &mut Rng, events: usize) -> Vec<u64> {
    let density = rng.pick(&[0, 300, 600, 1000]);
    (0..events)
        .map(|at| (0..at).filter(|_| rng.chance(density)).fold(0u64, |mask, before| mask | 1 << before))
        .collect()
}

fn chart(rng: &mut Rng, reading: Reading, iterate: Option<Matching>) -> Check {
    let most = if rng.one_in(5) { 5 } else { 3 };
    let (pre, main) = (1 + rng.below(most), 1 + rng.below(most));
    let mut before = order(rng, pre);
    before.extend(order(rng, main));
    let condition = rng.pick(&[Condition::Necessary, Condition::Sufficient]);
    Check { open_end: rng.one_in(3), ..check(condition, reading, iterate, pre, &before) }
}

/// The events of a basic chart in a random order that it allows.
fn linearisation(rng: &mut Rng, check: &Check, main: bool) -> Vec<usize> {
    let (from, len) = if main { (check.pre, check.main()) } else { (0, check.pre) };
    let (mut done, mut events) = (0u64, Vec::new());
    while events.len() < len {
        let ready: Vec<usize> =
            (0..len).filter(|at| done >> at & 1 == 0 && check.before[from + at] & !done == 0).collect();
        let next = rng.pick(&ready);
        done |= 1 << next;
        events.push(from + next);
    }
    events
}

/// Charts one after the other, with faults: events deleted, repeated, swapped, inserted, and some of no chart.
fn word(rng: &mut Rng, check: &Check) -> Vec<Vec<usize>> {
    let mut events: Vec<usize> = Vec::new();
    for _ in 0..rng.below(5) {
        let main = rng.one_in(2);
        events.extend(linearisation(rng, check, main));
        if !main && !rng.one_in(3) {
            events.extend(linearisation(rng, check, true));
        }
    }
    for _ in 0..rng.below(4) {
        let at = rng.below(events.len() + 1);
        match rng.below(4) {
            0 => events.insert(at, rng.below(check.events.len())),
            1 if at < events.len() => drop(events.remove(at)),
            2 if at + 1 < events.len() => events.swap(at, at + 1),
            _ if at < events.len() => events.insert(at, events[at]),
            _ => {}
        }
    }
    let mut word: Vec<Vec<usize>> = Vec::new();
    let several = rng.one_in(6);
    for event in events {
        if rng.one_in(6) {
            word.push(Vec::new());
        }
        match word.last_mut() {
            Some(last) if several && rng.one_in(3) => last.push(event),
            _ => word.push(vec![event]),
        }
    }
    if word.is_empty() {
        word.push(Vec::new());
    }
    word
}

fn own(check: &Check) -> Program {
    program(&[(check.clone(), (0..check.events.len()).collect())])
}

/// Live in random chunks, saved and restored in between: the violations, and whether the end holds.
fn live(rng: &mut Rng, program: &Program, trace: &Trace) -> (Vec<usize>, bool) {
    let options = EvaluateOptions { state_budget: rng.pick(&[1, 3, 100_000]), ..EvaluateOptions::default() };
    let new = || Charts.monitor(program, &options, Telling::Violations).expect("accepted");
    let (mut monitor, mut sink) = (new(), Sink::default());
    let mut from = 0;
    while from < trace.len {
        let to = (from + 1 + rng.below(4)).min(trace.len);
        let columns: Vec<Bits> =
            trace.atoms.iter().map(|bits| (from..to).map(|at| bits.get(at)).collect()).collect();
        if rng.one_in(2) {
            let chunk = Positions { len: to - from, atoms: &columns, ..Positions::default() };
            monitor.feed(&chunk, &mut sink).expect("fed");
        } else {
            for at in 0..to - from {
                let mut row = vec![0u64; tw_monitor::words(columns.len())];
                for (atom, bits) in columns.iter().enumerate() {
                    row[atom / 64] |= u64::from(bits.get(at)) << (atom % 64);
                }
                monitor.step(&row, &mut sink).expect("stepped");
            }
        }
        from = to;
        if rng.one_in(3) {
            let mut saved = Vec::new();
            monitor.save(&mut saved);
            monitor = new();
            monitor.restore(&saved).expect("restored");
            assert!(new().restore(&saved[..saved.len() - 1]).is_err());
        }
    }
    assert_eq!(monitor.positions(), trace.len);
    let told = sink.settled.iter().filter(|found| found.about.is_some()).map(|found| found.at).collect();
    let known = monitor.finish(&mut sink).expect("finished").expect("positions");
    (told, known[0] == Known::Truth(true))
}

fn compare(seed: u64, reading: Reading, iterate: Option<Matching>) {
    let mut rng = Rng::new(seed);
    let check = chart(&mut rng, reading, iterate);
    let program = own(&check);
    let word = word(&mut rng, &check);
    let trace = trace(&program, &word);
    let said = || format!("seed {seed}: {check:?}\non {word:?}");
    let expected = &answers(&Reference, &program, &trace)[0];
    let found = &answers(&Charts, &program, &trace)[0];
    assert_eq!(found, expected, "{}", said());
    let (violations, holds) = live(&mut rng, &program, &trace);
    assert_eq!(violations, expected.violations, "live, {}", said());
    let open = expected.open.as_ref().is_some_and(|open| open.get(0));
    assert_eq!(holds, expected.holds.get(0) || open, "live end, {}", said());
}

#[test]
fn windows_are_those_of_the_definition() {
    for seed in 0..cases(4_000) {
        compare(seed, Reading::Segment, None);
        compare(seed, Reading::Precedes, None);
    }
}

#[test]
fn executions_are_those_of_the_published_division() {
    for seed in 0..cases(4_000) {
        compare(seed, Reading::Segment, Some(Matching::Paper));
        compare(seed, Reading::Segment, Some(Matching::Injective));
    }
}

#[test]
fn one_shot_readings_are_their_formulas() {
    for seed in 0..cases(4_000) {
        compare(seed, Reading::Ltl, None);
        let mut rng = Rng::new(seed);
        let check = Check { open_end: false, ..chart(&mut rng, Reading::Ltl, None) };
        let program = own(&check);
        let word = word(&mut rng, &check);
        let mut formula = program.clone();
        let node: NodeId = formula.chart_ltl(program.roots[0].node).expect("a chart");
        formula.roots[0].node = node;
        let said = answers(&Columnar, &formula, &trace(&formula, &word))[0].holds.get(0);
        let found = answers(&Charts, &program, &trace(&program, &word))[0].holds.get(0);
        assert_eq!(found, said, "seed {seed}: {check:?}\non {word:?}");
    }
}

/// Whether a stretch of the trace is in L(c): its projection on the events of both charts is a linearisation of c.
fn in_language(check: &Check, main: bool, stretch: &[Vec<usize>]) -> bool {
    let events: Vec<usize> = stretch.iter().flatten().copied().collect();
    let (from, len) = if main { (check.pre, check.main()) } else { (0, check.pre) };
    let ordered = |(at, &event): (usize, &usize)| {
        let place = |bit: usize| events[..at].contains(&(from + bit));
        event >= from
            && event < from + len
            && !events[..at].contains(&event)
            && (0..len).filter(|bit| check.before[event] >> bit & 1 == 1).all(place)
    };
    events.len() == len && events.iter().enumerate().all(ordered)
}

/// The languages of the paper, their complements by trying all ways to cut the trace.
fn admitted(check: &Check, word: &[Vec<usize>]) -> bool {
    let n = word.len();
    let ends_with_pre = |to: usize| (0..=to).any(|from| in_language(check, false, &word[from..to]));
    match check.condition {
        // co( B* . L(p) . co( L(m) . B* ) )
        Condition::Necessary => (0..=n)
            .all(|cut| !ends_with_pre(cut) || (cut..=n).any(|to| in_language(check, true, &word[cut..to]))),
        // co( co(B* . L(p)) . L(m) . B* )
        Condition::Sufficient => (0..=n)
            .all(|cut| ends_with_pre(cut) || !(cut..=n).any(|to| in_language(check, true, &word[cut..to]))),
    }
}

#[test]
fn segments_are_the_languages_of_the_paper() {
    for seed in 0..cases(4_000) {
        let mut rng = Rng::new(seed);
        let check = Check { open_end: false, ..chart(&mut rng, Reading::Segment, None) };
        let program = own(&check);
        let mut word = word(&mut rng, &check);
        // A trace is a word of single events.
        word.iter_mut().for_each(|here| here.truncate(1));
        let found = answers(&Charts, &program, &trace(&program, &word))[0].holds.get(0);
        assert_eq!(found, admitted(&check, &word), "seed {seed}: {check:?}\non {word:?}");
    }
}

#[test]
fn traces_beside_each_other_do_not_meet() {
    for seed in 0..cases(1_000) {
        let mut rng = Rng::new(seed);
        let checks: Vec<Check> = (0..3)
            .map(|_| {
                let reading = rng.pick(&[Reading::Segment, Reading::Ltl, Reading::Precedes]);
                let iterate = rng.pick(&[None, None, Some(Matching::Paper), Some(Matching::Injective)]);
                chart(&mut rng, reading, iterate)
            })
            .collect();
        // Some of the events are those of another chart too.
        let with: Vec<(Check, Vec<usize>)> = checks
            .iter()
            .enumerate()
            .map(|(at, check)| (check.clone(), (0..check.events.len()).map(|event| event + at * 2).collect()))
            .collect();
        let program = program(&with);
        let words: Vec<Vec<Vec<usize>>> = (0..1 + rng.below(70))
            .map(|_| {
                let number = rng.below(3);
                let mut word = word(&mut rng, &checks[number]);
                word.iter_mut().flatten().for_each(|event| *event += number * 2);
                word
            })
            .collect();
        let whole = segments(&program, &words);
        let (found, expected) = (answers(&Charts, &program, &whole), answers(&Reference, &program, &whole));
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn other_engines_refuse_charts() {
    let program = own(&check(Condition::Necessary, Reading::Segment, None, 1, &[0, 0]));
    assert!(matches!(program.dag.node(NodeId(3)), Node::Chart(..)));
    for engine in [&Columnar as &dyn Engine, &tw_engine_automaton::Automaton] {
        let refused = engine.plan(&program, &EvaluateOptions::default()).map(|_| ());
        assert!(refused.is_err(), "{}", engine.name());
    }
}
