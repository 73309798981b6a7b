//! Sliced and whole: the same violations, on random properties, logs and ways of slicing.

use tw_engine_relational::Relational;
use tw_ir::{Program, Semantics};
use tw_log_slices::{
    Analysis, Collapsed, Division, Piece, Shard, Sliced, as_one, cut, merge, needed, periods, stretches,
};
use tw_monitor::{Answer, Engine, EvaluateOptions, Trace, Unsupported};
use tw_testkit::Rng;
use tw_testkit::conformance::cases;
use tw_testkit::first_order::{Case, case};

/// How a case is sliced.
#[derive(Debug)]
struct Way {
    divisions: Vec<Division>,
    ranges: Vec<(usize, usize)>,
    filter: bool,
    collapse: bool,
    exact: bool,
}

fn way(case: &Case, trace: &Trace, options: &EvaluateOptions, rng: &mut Rng) -> Option<Way> {
    let root = case.program.roots[0].node;
    let analysis = Analysis::new(&case.program, root, options)?;
    let mut guarded: Vec<_> = analysis.variables.iter().filter(|own| own.guard.is_some()).collect();
    let mut divisions = Vec::new();
    let mut exact = true;
    for _ in 0..rng.below(3).min(guarded.len()) {
        let own = guarded.remove(rng.below(guarded.len()));
        let (salt, of) = (rng.below(3) as u32, 1 + rng.below(4) as u32);
        divisions.push(Division { variable: own.variable, salt, of });
        exact &= own.exact;
    }
    let whole = vec![(0, trace.len)];
    let ranges = match rng.below(3) {
        _ if analysis.unbounded.is_some() => whole,
        0 => whole,
        1 => stretches(trace.len, 1 + rng.below(4)),
        _ => periods(trace, options.clock, 1 + rng.below(5) as i64),
    };
    let filter = analysis.filterable && !rng.one_in(3);
    let collapse = analysis.collapsible.is_ok() && !rng.one_in(4);
    exact &= ranges.len() == 1 && trace.slots.is_none();
    let some = !divisions.is_empty() || ranges.len() > 1 || filter || collapse;
    some.then_some(Way { divisions, ranges, filter, collapse, exact })
}

fn sliced(
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
    way: &Way,
    limit: usize,
) -> Option<Answer> {
    let (_, body) = program.invariant(program.roots[0].node)?;
    let mut found = Vec::new();
    for &own in &way.ranges {
        let range = match way.ranges.len() {
            1 => own,
            _ => needed(program, body, trace, options, own),
        };
        for piece in cut(program, trace, range, &way.divisions, way.filter) {
            let Piece { shard, order, trace } = piece;
            let shard = Shard { positions: (way.ranges.len() > 1).then_some(own), ..shard };
            if order.is_empty() {
                continue;
            }
            let most = if way.exact { limit } else { usize::MAX };
            let evaluate = |trace: &Trace, most: usize| {
                let mut answers = Relational.plan(program, options)?.evaluate(trace, most)?;
                Ok::<_, Unsupported>(Some(answers.remove(0)))
            };
            let answer = match way.collapse {
                true => as_one(&trace, most, evaluate),
                false => evaluate(&trace, most),
            };
            found.push(Sliced { shard, order, answer: answer.ok()??, exact: way.exact });
        }
    }
    Some(merge(found, limit))
}

#[test]
fn slices_together_say_what_the_whole_says() {
    let mut counts = [0usize; 8];
    for seed in 0..cases(3_000) {
        let case = case(seed);
        let mut rng = Rng::new(seed ^ 0x736c_6963_6573);
        let semantics = if seed % 5 == 0 { Semantics::RepeatLast } else { Semantics::Finite };
        let options = EvaluateOptions { semantics, ..case.options() };
        let Ok(mut trace) = case.trace() else { continue };
        trace.slots = None;
        let Ok(mut engine) = Relational.plan(&case.program, &options) else { continue };
        let limit = [usize::MAX, 1, 3][rng.below(3)];
        let Ok(expected) = engine.evaluate(&trace, limit) else { continue };
        for _ in 0..3 {
            let Some(way) = way(&case, &trace, &options, &mut rng) else { continue };
            let Some(found) = sliced(&case.program, &trace, &options, &way, limit) else { continue };
            let mut expected = expected[0].clone();
            if expected.bindings.iter().all(|own| own.is_empty() && !own.infinite()) {
                expected.bindings.clear();
            }
            assert_eq!(found, expected, "seed {seed}, {semantics:?}, {way:?}\n{case}");
            counts[0] += 1;
            counts[1] += usize::from(way.divisions.len() == 1);
            counts[2] += usize::from(way.divisions.len() == 2);
            counts[3] += usize::from(way.ranges.len() > 1);
            counts[4] += usize::from(way.filter);
            counts[5] += usize::from(found.violation_count > 0);
            let one = way.collapse && Collapsed::new(&trace).is_some();
            counts[6] += usize::from(one);
            counts[7] += usize::from(one && found.violation_count > 0);
        }
    }
    eprintln!("cases, by one variable, by two, by time, filtered, violated, collapsed, both: {counts:?}");
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}
