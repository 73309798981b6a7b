//! Generated queries against the reference, and how good they are at finding faults.

use tw_core::codec::Corrupt;
use tw_core::{Bits, Value};
use tw_engine_reference::ReferenceQueries;
use tw_ir::{NodeId, Program};
use tw_monitor::{
    Computed, EvaluateOptions, PlannedQueries, PlannedQueryMonitor, Positions, QueryEngine, QueryEvaluator,
    QueryMonitor, Trace, Unsupported, Values, Wanted,
};
use tw_testkit::cases;
use tw_testkit::query::{
    QueryCase, QueryShape, compare, compare_live, describe, difference, live_difference, reference_values,
    shrink,
};

/// The cases must compute something: values, numbers, errors and nothing each in a fair part of them.
#[test]
fn cases_are_worth_running() {
    for (name, shape) in
        [("small", &QueryShape::SMALL), ("forward", &QueryShape::FORWARD), ("numeric", &QueryShape::NUMERIC)]
    {
        let (mut values, mut errors, mut nothing, mut refused) = (0, 0, 0, 0);
        for seed in 0..1000 {
            let case = QueryCase::new(seed, shape);
            let trace = case.trace().unwrap();
            let Ok(found) = reference_values(&case, &trace) else {
                refused += 1;
                continue;
            };
            for value in found.iter().map(|segments| &segments[0]) {
                match value {
                    Computed::Value(value) if value.is_null() => nothing += 1,
                    Computed::Value(_) => values += 1,
                    Computed::Error(_) => errors += 1,
                }
            }
        }
        eprintln!("{name}: {values} values, {errors} errors, {nothing} without, {refused} refused");
        let all = values + errors + nothing;
        assert!(values > all / 2 && errors > all / 100 && nothing > all / 20 && refused == 0, "{name}");
    }
}

#[test]
fn the_reference_agrees_with_itself() {
    let cases = cases(300).min(2_000);
    let summary = compare(&ReferenceQueries, &QueryShape::SMALL, 0..cases);
    assert_eq!((summary.compared, summary.refused), (cases, 0));
}

/// The reference with a fault: the values of queries go through a function.
struct Faulty(fn(Computed) -> Computed);

impl QueryEngine for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn about(&self) -> &'static str {
        "the reference with a fault"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedQueries<'p> {
        Ok(Box::new(FaultyEvaluator(ReferenceQueries.plan(program, options)?, self.0)))
    }
}

struct FaultyEvaluator<'p>(Box<dyn QueryEvaluator + 'p>, fn(Computed) -> Computed);

impl QueryEvaluator for FaultyEvaluator<'_> {
    fn wanted(&self) -> Wanted {
        self.0.wanted()
    }

    fn guards(&self) -> &[NodeId] {
        self.0.guards()
    }

    fn values(&mut self, trace: &Trace, guards: &[Bits]) -> Result<Vec<Vec<Computed>>, Unsupported> {
        let mut values = self.0.values(trace, guards)?;
        for value in values.iter_mut().flatten() {
            *value = self.1(value.clone());
        }
        Ok(values)
    }

    fn columns(
        &mut self,
        trace: &Trace,
        guards: &[Bits],
        nodes: &[NodeId],
    ) -> Result<Vec<Values>, Unsupported> {
        self.0.columns(trace, guards, nodes)
    }
}

/// Whether some case tells the engine from the reference, and the smallest one that does.
fn found(engine: &dyn QueryEngine, seeds: std::ops::Range<u64>) -> Option<QueryCase> {
    let differs = |case: &QueryCase| matches!(difference(engine, case), Ok(Some(_)));
    let case = seeds.map(|seed| QueryCase::new(seed, &QueryShape::SMALL)).find(differs)?;
    Some(shrink(case, differs))
}

/// A comparison that could not fail would be worth nothing.
#[test]
fn faults_are_found_and_made_small() {
    assert!(found(&Faulty(|value| value), 0..30).is_none());
    let faults: [fn(Computed) -> Computed; 5] = [
        // Counting nothing is zero.
        |value| if value.ok().is_ok_and(Value::is_null) { Computed::Value(Value::Int(0)) } else { value },
        // No overflow.
        |value| if value.ok().is_err() { Computed::Value(Value::Null) } else { value },
        // The last bit.
        |value| match value {
            Computed::Value(Value::Real(r)) => Computed::Value(Value::Real(r.next_up())),
            other => other,
        },
        // A real where a whole number belongs.
        |value| match value {
            Computed::Value(Value::Int(i)) => Computed::Value(Value::Real(i as f64)),
            other => other,
        },
        // The sides of a pair exchanged.
        |value| match value {
            Computed::Value(Value::List(mut sides)) => {
                sides.reverse();
                Computed::Value(Value::List(sides))
            }
            other => other,
        },
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        let small = found(&Faulty(fault), 0..400).unwrap_or_else(|| panic!("fault {number} was not found"));
        assert!(small.len() <= 2 && small.experiments().len() <= 4, "fault {number}\n{}", describe(&small));
    }
}

/// A monitor that knows the whole case and computes prefixes by the reference; perhaps it forgets to restore.
struct Knowing {
    case: QueryCase,
    taken: usize,
    forgets: bool,
}

impl QueryMonitor for Knowing {
    fn another(&self) -> Box<dyn QueryMonitor> {
        Box::new(Knowing { case: self.case.clone(), taken: 0, forgets: self.forgets })
    }

    fn push(&mut self, positions: &Positions<'_>) -> Result<(), Unsupported> {
        self.taken += positions.len;
        Ok(())
    }

    fn values(&mut self) -> Result<Vec<Computed>, Unsupported> {
        let prefix = self.case.prefix(self.taken);
        let values = reference_values(&prefix, &prefix.trace().unwrap())?;
        Ok(values.into_iter().map(|mut segments| segments.remove(0)).collect())
    }

    fn atoms(&self) -> usize {
        self.case.program.atoms().len()
    }

    fn position(&self) -> usize {
        self.taken
    }

    fn pending_bytes(&self) -> usize {
        0
    }

    fn save(&self, out: &mut Vec<u8>) {
        out.extend((self.taken as u64).to_le_bytes());
    }

    fn restore(&mut self, bytes: &mut &[u8]) -> Result<(), Corrupt> {
        let (taken, rest) = bytes.split_first_chunk().ok_or_else(|| Corrupt("too short".into()))?;
        *bytes = rest;
        if !self.forgets {
            self.taken = u64::from_le_bytes(*taken) as usize;
        }
        Ok(())
    }
}

struct KnowingEngine(u64, bool);

impl QueryEngine for KnowingEngine {
    fn name(&self) -> &'static str {
        "knowing"
    }

    fn about(&self) -> &'static str {
        "the reference on prefixes"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedQueries<'p> {
        ReferenceQueries.plan(program, options)
    }

    fn monitor(&self, _: &Program, _: &EvaluateOptions) -> PlannedQueryMonitor {
        let case = QueryCase::new(self.0, &QueryShape::FORWARD);
        Ok(Box::new(Knowing { case, taken: 0, forgets: self.1 }))
    }
}

#[test]
fn monitors_are_compared_prefix_by_prefix() {
    let mut forgotten = 0;
    for seed in 0..60 {
        let summary = compare_live(&KnowingEngine(seed, false), &QueryShape::FORWARD, seed..seed + 1);
        assert_eq!((summary.compared, summary.refused), (1, 0));
        let mut case = QueryCase::new(seed, &QueryShape::FORWARD);
        case.starts = vec![0];
        forgotten += usize::from(matches!(live_difference(&KnowingEngine(seed, true), &case), Ok(Some(_))));
    }
    assert!(forgotten > 20, "a monitor that forgets was found out {forgotten} times");
}
