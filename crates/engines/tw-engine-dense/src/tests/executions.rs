//! Imprecise clocks: what is guaranteed holds on executions, random ones and all of small traces.

use super::make::{Shape, formula, options};
use crate::formula::Formulas;
use crate::windows::Windows;
use crate::{ClockError, Observation, Outcome, Report, Run, Signal, Span};
use crate::{certain, imprecise, judge, relax};
use tw_core::{Bits, Time, TimeUnit};
use tw_ir::{NodeId, Program, display};
use tw_monitor::Trace;
use tw_testkit::{Rng, cases};

/// Timestamps and errors, multiples of 4 so that executions can be told apart between them.
fn random_trace(rng: &mut Rng, atoms: usize, len: usize, errors: &[Time]) -> (Trace, Vec<Time>) {
    let mut now = 0;
    let times: Vec<Time> = (0..len)
        .map(|_| {
            now += 4 * rng.below(4) as Time;
            now
        })
        .collect();
    let column = |rng: &mut Rng| (0..len).map(|_| rng.chance(500)).collect::<Bits>();
    let trace = Trace {
        len,
        atoms: (0..atoms).map(|_| column(rng)).collect(),
        times: Some(times),
        ..Trace::default()
    };
    (trace, (0..len).map(|_| rng.pick(errors)).collect())
}

/// The formula's signal on the execution in which the events happen at these instants.
fn execution(program: &Program, node: NodeId, trace: &Trace, instants: &[Time], span: Span) -> Signal {
    let mut formulas = Formulas::new(program, &[node], TimeUnit::Nanoseconds, 1 << 20).unwrap();
    let events = |atom: usize| {
        let happens = trace.atoms[atom].iter_ones().map(|at| Run::closed(instants[at], instants[at]));
        Signal::new(span, happens)
    };
    formulas.signals(span, |atom, _| events(atom)).unwrap().remove(0)
}

fn no_instant(signal: &Signal) -> bool {
    signal.runs(true).next().is_none()
}

/// The instants with an outcome.
fn instants_of(report: &Report, outcome: Outcome) -> Signal {
    let runs = report.outcomes().into_iter().filter(|(_, is)| *is == outcome).map(|(run, _)| run);
    Signal::new(report.signal.span(), runs)
}

const SMALL: Shape = Shape { propositions: 2, operators: 4, metric: 700, unit: 4, since: true };

/// E7: what is said of all executions holds on random ones, at every instant; the same for properties `G φ`.
#[test]
fn guarantees_for_all_hold_on_random_executions() {
    let mut told = 0;
    let runs = cases(20_000).min(200_000);
    for seed in 0..runs {
        let mut rng = Rng::new(seed);
        let program = formula(&mut rng, SMALL);
        let len = 1 + rng.below(8);
        let some_exact = [0, 1, 4, 8, 11];
        let errors = if rng.one_in(4) { &some_exact[..] } else { &some_exact[1..] };
        let (trace, errors) = random_trace(&mut rng, program.atoms().len(), len, errors);
        let node = program.roots[0].node;
        let observation = Observation::new(&trace, ClockError::Each(&errors));
        // Refused if an exact event may meet another.
        let Ok(report) = imprecise(&program, node, &observation, &options()) else { continue };
        let found = judge(&program, node, &observation, &options(), usize::MAX).unwrap();
        let sure = certain(&program, node, &observation, &options()).unwrap();
        let (all, none) = (&sure.satisfied, &sure.violated);
        let what = || format!("seed {seed}: {} of {trace:?}, {report:?}, {sure:?}", display(&program, node));
        // The labels know no more; of `G φ` they speak at every instant.
        if !report.always {
            let outside = |outcome, of: &Signal| instants_of(&report, outcome).and(&of.clone().complement());
            assert!(no_instant(&outside(Outcome::SatisfiedForAll, all)), "{}", what());
            assert!(no_instant(&outside(Outcome::ViolatedForAll, none)), "{}", what());
        }
        if no_instant(all) && no_instant(none) {
            continue;
        }
        let windows = Windows::new(&observation).unwrap();
        let mut tried = 0;
        for _ in 0..40 {
            let instants: Vec<Time> = (0..len)
                .map(|at| {
                    let (low, high) = windows.window(at);
                    low + rng.below((high - low + 1) as usize) as Time
                })
                .collect();
            if !observation.allows(&instants).unwrap() {
                continue;
            }
            tried += 1;
            let truth = execution(&program, node, &trace, &instants, report.signal.span());
            assert!(no_instant(&all.and(&truth.clone().complement())), "{instants:?} {}", what());
            assert!(no_instant(&none.and(&truth)), "{instants:?} {}", what());
            // The property as a whole, and the events that are said to violate it.
            let holds = truth.at(truth.span().start());
            for outcome in [report.outcome(), found.outcome] {
                assert!(outcome != Outcome::SatisfiedForAll || holds, "{instants:?} {}", what());
                assert!(outcome != Outcome::ViolatedForAll || !holds, "{instants:?} {}", what());
            }
            let body = execution(&program, found.formula, &trace, &instants, report.signal.span());
            for &at in &found.violations {
                assert!(!body.at(instants[at]), "event {at}, {instants:?} {}", what());
            }
        }
        told += u64::from(tried > 0);
    }
    assert!(told * 4 > runs, "{told} cases had something to check");
}

/// What is said of some execution holds on one: all executions on a grid are tried. Instants between the multiples of
/// 4, on which everything happens, are met by those of the grid.
#[test]
fn guarantees_for_some_have_an_execution() {
    let mut told = 0;
    for seed in 0..cases(10_000).min(4_000) {
        let mut rng = Rng::new(seed);
        let program = formula(&mut rng, SMALL);
        let node = program.roots[0].node;
        let len = 1 + rng.below(3);
        let (trace, errors) = random_trace(&mut rng, program.atoms().len(), len, &[4]);
        let observation = Observation::new(&trace, ClockError::Each(&errors));
        let report = imprecise(&program, node, &observation, &options()).unwrap();
        let (some, some_not) =
            (instants_of(&report, Outcome::SatisfiedForSome), instants_of(&report, Outcome::ViolatedForSome));
        if no_instant(&some) && no_instant(&some_not) {
            continue;
        }
        told += 1;
        let span = report.signal.span();
        // The instants at which some execution has it so.
        let (mut satisfied, mut violated) = (Signal::constant(span, false), Signal::constant(span, false));
        let windows = Windows::new(&observation).unwrap();
        let ranges: Vec<(Time, Time)> = (0..len).map(|at| windows.window(at)).collect();
        let mut instants: Vec<Time> = ranges.iter().map(|range| range.0).collect();
        'all: loop {
            if observation.allows(&instants).unwrap() {
                let truth = execution(&program, report.formula, &trace, &instants, span);
                satisfied = satisfied.or(&truth);
                violated = violated.or(&truth.complement());
            }
            for (instant, (low, high)) in instants.iter_mut().zip(&ranges) {
                *instant += 1;
                if *instant <= *high {
                    continue 'all;
                }
                *instant = *low;
            }
            break;
        }
        // Of a property that is not `G φ`, as a whole.
        if !report.always {
            let start = span.start();
            let outcome = judge(&program, node, &observation, &options(), 0).unwrap().outcome;
            let met = match outcome {
                Outcome::SatisfiedForSome => satisfied.at(start),
                Outcome::ViolatedForSome => violated.at(start),
                _ => true,
            };
            assert!(met, "seed {seed}: {} is {outcome:?}, {report:?}", display(&program, node));
        }
        for time in (span.start()..=span.end()).filter(|time| time % 2 == 0) {
            let what = || format!("seed {seed}: {} at {time}, {report:?}", display(&program, node));
            assert!(!some.at(time) || satisfied.at(time), "{}", what());
            assert!(!some_not.at(time) || violated.at(time), "{}", what());
        }
    }
    assert!(told * 10 > cases(10_000).min(4_000), "{told} cases had something to check");
}

/// E6, Proposition 4: moving all timestamps by ε within the error and looking further ahead or back accordingly gives
/// the same verdicts; ε = 0 is the definition of the relaxed atoms, ±δ those that look one way only.
#[test]
fn shifted_timestamps_give_the_same_verdicts() {
    for seed in 0..cases(10_000).min(20_000) {
        let mut rng = Rng::new(seed);
        let program = formula(&mut rng, SMALL);
        let node = program.roots[0].node;
        let len = 1 + rng.below(8);
        let (mut trace, _) = random_trace(&mut rng, program.atoms().len(), len, &[0]);
        let error = rng.pick(&[1, 4, 7, 8]);
        let shift = rng.pick(&[-error, 0, error, 1 - error, error / 2]);
        // Away from 0, where windows are cut.
        trace.times.iter_mut().flatten().for_each(|time| *time += 100);
        let observation = Observation::new(&trace, ClockError::Same(error));
        let report = imprecise(&program, node, &observation, &options()).unwrap();
        let span = report.signal.span();
        let moved: Vec<Run> = {
            let times = trace.times.as_ref().unwrap();
            times.iter().map(|time| Run::closed(time + shift, time + shift)).collect()
        };
        let atom = |atom: usize| {
            let events = Signal::new(span, trace.atoms[atom].iter_ones().map(|at| moved[at]));
            relax(&events, error, shift).unwrap()
        };
        let mut formulas =
            Formulas::new(&program, &[report.formula], TimeUnit::Nanoseconds, 1 << 20).unwrap();
        let shifted = formulas.signals(span, |index, _| atom(index)).unwrap().remove(0);
        assert_eq!(shifted, report.signal, "seed {seed}: {} by {shift} of {error}", display(&program, node));
    }
    let span = Span::new(0, 9).unwrap();
    assert_eq!(relax(&Signal::constant(span, true), 3, 4), None);
}

/// Without error there is one execution, and all is known about it; with some error, the trace as stamped is one of the
/// executions.
#[test]
fn the_trace_as_stamped_is_an_execution() {
    let mut decided = 0;
    let runs = cases(5_000).min(50_000);
    for seed in 0..runs {
        let mut rng = Rng::new(seed);
        let program = formula(&mut rng, SMALL);
        let node = program.roots[0].node;
        let len = 1 + rng.below(8);
        let (mut trace, _) = random_trace(&mut rng, program.atoms().len(), len, &[0]);
        // Well apart.
        let times: Vec<Time> =
            trace.times.iter().flatten().enumerate().map(|(i, t)| t + 4 * i as Time).collect();
        trace.times = Some(times.clone());
        for error in [0, 1] {
            let observation = Observation::new(&trace, ClockError::Same(error));
            let found = judge(&program, node, &observation, &options(), 0).unwrap();
            let span = Windows::new(&observation).unwrap().span;
            let truth = execution(&program, node, &trace, &times, span).at(span.start());
            let what =
                || format!("seed {seed}: {} of {trace:?} ± {error}, {found:?}", display(&program, node));
            match found.outcome {
                Outcome::SatisfiedForAll => assert!(truth, "{}", what()),
                Outcome::ViolatedForAll => assert!(!truth, "{}", what()),
                _ => assert!(error > 0, "{}", what()),
            }
            let sure = matches!(found.outcome, Outcome::SatisfiedForAll | Outcome::ViolatedForAll);
            decided += u64::from(error > 0 && sure);
        }
    }
    // Bounds are multiples of the distances, so an error of any size may matter.
    assert!(decided * 2 > runs, "{decided} of {runs} decided for all executions");
}
