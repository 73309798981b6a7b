//! One position at a time, as a program hands it over: the same is told as of many at once, which go by columns.

use tracewise::live::{Outcome, Plan, PlanOptions, Row, ShardMonitor, Telling};
use tracewise::{Semantics, Specification, Time, Value};
use tw_testkit::Rng;

const SECOND: Time = 1_000_000_000;

/// What is read of a row: propositions that are columns or events, numbers, texts, terms, declared names; with and without
/// intervals.
const SPECIFICATIONS: [&str; 5] = [
    "property paid : G (order -> F pay); property calm : G !(cancel & x > 8);",
    "property quick : G (order -> F[0,3s] pay); property small : G (x < 9.5 & y + x < 14);",
    "var open: bool; property shut : G (open -> X !open); property held : G (open -> O[0,4s] order);",
    "event pay(); property paying : G (pay -> x >= 1); property named : G !(name == \"eve\" & order);",
    "property either : (!pay) W (open | x == 3); property all : F (order & F[0,2s] (pay & flag));",
];

/// Time, event, values.
type Line = (Time, Option<&'static str>, Vec<(&'static str, Value)>);

fn rows(seed: u64) -> Vec<Line> {
    let mut rng = Rng::new(seed);
    let mut time = 0;
    let mut row = || {
        time += rng.pick(&[0, 0, 1, 1, 2]) * SECOND;
        let event = rng.pick(&[Some("order"), Some("pay"), Some("cancel"), Some("look"), None]);
        let mut one = |of: &[Value]| of[rng.below(of.len())].clone();
        let text = Value::text;
        let numbers = [Value::Null, Value::Int(3), Value::Int(9), Value::Real(9.25)];
        let truths = [Value::Null, Value::Bool(true), Value::Bool(false), Value::Int(1), Value::Int(0)];
        let mut values = vec![
            ("user", one(&[Value::Null, text("u1"), text("u2"), Value::Int(7), text("")])),
            ("open", one(&truths)),
            ("flag", one(&truths[1..3])),
            ("name", one(&[Value::Null, text("eve"), text("bob")])),
            ("x", one(&numbers)),
            ("y", one(&numbers)),
        ];
        // Names come in any order, and may be absent.
        let swapped = rng.below(values.len());
        values.swap(0, swapped);
        values.truncate(values.len() - rng.below(2));
        (time, event, values)
    };
    (0..120).map(|_| row()).collect()
}

type Told = (usize, Option<String>, bool, Option<usize>, u64, usize, Option<Time>, bool);

fn told(outcome: &Outcome<'_>) -> Told {
    let holds = outcome.verdict == tracewise::Verdict::Satisfied;
    let Outcome { property, key, about, count, position, time, overdue, .. } = outcome;
    (*property, key.map(str::to_string), holds, *about, *count, *position, *time, *overdue)
}

#[test]
fn one_at_a_time_is_as_good_as_many_at_once() {
    for (number, text) in SPECIFICATIONS.iter().enumerate() {
        let spec = Specification::from_text("s.tw", text).unwrap();
        for (key, telling) in [(None, Telling::Verdicts), (Some("user"), Telling::Violations)] {
            let options = PlanOptions { telling, semantics: Semantics::Ltl3, ..PlanOptions::default() };
            let plan = Plan::new(&spec, &options).unwrap();
            for seed in 0..40 {
                let rows = rows(seed + 100 * number as u64);
                let row = |own: &'_ Line| Row { time: Some(own.0), event: own.1, values: &[] };
                let rows: Vec<Row<'_>> = rows.iter().map(|own| Row { values: &own.2, ..row(own) }).collect();
                let mut one = ShardMonitor::new(&plan, key).unwrap();
                let mut many = ShardMonitor::new(&plan, key).unwrap();
                let (mut alone, mut together) = (Vec::new(), Vec::new());
                for row in &rows {
                    one.feed_rows(std::slice::from_ref(row), &mut |outcome| alone.push(told(&outcome)))
                        .unwrap();
                }
                for part in rows.chunks(2 + seed as usize) {
                    // The last may be alone.
                    many.feed_rows(part, &mut |outcome| together.push(told(&outcome))).unwrap();
                }
                assert_eq!(alone, together, "{text} {key:?} {seed}");
                assert_eq!((one.positions(), one.keys()), (many.positions(), many.keys()));
                assert_eq!(one.snapshot(), many.snapshot(), "{text} {key:?} {seed}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_alike() {
    let spec = Specification::from_text("s.tw", "property p : G (open -> x < 3 & name == \"bob\");").unwrap();
    let plan = Plan::new(&spec, &PlanOptions::default()).unwrap();
    for (name, value) in [("open", Value::Int(2)), ("open", Value::text("yes")), ("x", Value::text("many"))] {
        let values = [(name, value)];
        let row = Row { values: &values, ..Row::default() };
        let message = |rows: &[Row<'_>]| {
            let mut shard = ShardMonitor::new(&plan, None).unwrap();
            shard.feed_rows(rows, &mut |_| {}).unwrap_err().to_string()
        };
        let alone = message(std::slice::from_ref(&row)).replace("position 0:0:1", "position 0");
        // Of many, a row has a line and a column, too.
        let together = message(&[row.clone(), Row::default()]).replace("position 0:0:1", "position 0");
        assert_eq!(alone, together);
        assert!(alone.contains("position 0"), "{alone}");
    }
}
