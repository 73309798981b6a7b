//! Random formulas and signals: columns, truth, streams and the table against the definition.

mod links;
mod streams;

use tw_core::{Batch, Bits, Column, Value};
use tw_engine_reference::Reference;
use tw_engine_robust::table::Table;
use tw_engine_robust::{Extent, Robust, Samples};
use tw_ir::{Clock, NodeId, Semantics, display};
use tw_monitor::{Engine, Trace};
use tw_testkit::{Case, Rng, Shape, cases};

/// Half of the predicates about numbers, half of the temporal operators with intervals.
pub const SHAPE: Shape =
    Shape { lengths: &[1, 2, 3, 5, 8, 13, 21, 40, 70], depth: 5, metric: 500, values: 600, online: false };

/// A case, its program made ready, and its samples; `None` if a predicate is an error somewhere.
pub fn ready(seed: u64, shape: &Shape) -> Option<(Case, Robust, Samples<'static>)> {
    let mut case = Case::new(seed, shape);
    let mut rng = Rng::new(seed ^ 0xabcd);
    // Sometimes equally far apart, so that intervals become numbers of positions.
    if rng.one_in(4) {
        let period = 1 + rng.below(3) as i64;
        for (at, time) in case.times.iter_mut().enumerate() {
            let segment = case.starts.partition_point(|&start| start <= at) - 1;
            *time = (at - case.starts[segment]) as i64 * period;
        }
    }
    // Numbers that are there more often than not.
    let len = case.len();
    let integers = (0..len).map(|_| rng.below(21) as i64 - 10).collect();
    let valid = |rng: &mut Rng| (0..len).map(|_| !rng.one_in(20)).collect::<Bits>();
    case.slots[4] = Column::Int { values: integers, valid: valid(&mut rng) };
    let reals = (0..len).map(|_| rng.below(41) as f64 / 4.0 - 5.0).collect();
    case.slots[5] = Column::Real { values: reals, valid: valid(&mut rng) };
    let robust = Robust::new(&case.program, &case.options).unwrap();
    let batch = Batch { len, slots: case.slots.clone(), times: Some(case.times.clone()) };
    let mut samples = robust.samples(&batch).ok()?;
    samples.starts = case.starts.clone().into();
    Some((case, robust, samples))
}

/// Long enough for streams to forget.
const LONG: Shape = Shape { lengths: &[300, 500], depth: 4, ..SHAPE };

pub fn shape(seed: u64) -> &'static Shape {
    if seed % 20 == 7 { &LONG } else { &SHAPE }
}

pub fn text(case: &Case, node: NodeId) -> String {
    format!("seed {}: {} ({:?})", case.seed, display(&case.program, node), case.options.clock)
}

pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn columns_equal_the_definition_and_agree_with_truth() {
    let (mut compared, mut graded) = (0, 0u64);
    let all = cases(10_000);
    for seed in 0..all {
        let Some((case, robust, samples)) = ready(seed, &SHAPE) else { continue };
        let nodes = case.formulas();
        let expected = robust.reference(&samples, &nodes).unwrap();
        let found = robust.columns(&samples, &nodes).unwrap();
        let trace: Trace = case.trace(true).unwrap();
        let mut evaluator = Reference.plan(&case.program, &case.options).unwrap();
        let truths = evaluator.columns(&trace, &nodes).unwrap();
        for (at, &node) in nodes.iter().enumerate() {
            assert_eq!(bits(&expected[at]), bits(&found[at]), "{}", text(&case, node));
            for (i, &value) in found[at].iter().enumerate() {
                assert!(!value.is_nan() && value.to_bits() != (-0.0f64).to_bits(), "{}", text(&case, node));
                if value != 0.0 {
                    assert_eq!(value > 0.0, truths[at].get(i), "{} at {i}: {value}", text(&case, node));
                }
                graded += u64::from(value.is_finite());
            }
        }
        compared += 1;
    }
    assert!(compared * 10 > all * 9 && graded > compared * 20, "{compared} compared, {graded} finite");
}

/// What comparisons are worth, one value at a time.
#[test]
fn predicates_of_mixed_kinds() {
    let program = tw_testkit::texts::formula("x > y");
    let robust = Robust::new(&program, &Default::default()).unwrap();
    let left = vec![Value::Int(3), Value::Null, Value::text("b"), Value::Real(0.5)];
    let right = vec![Value::Real(1.5), Value::Int(1), Value::text("a"), Value::Real(0.5)];
    let batch = Batch { len: 4, slots: vec![Column::Any(left), Column::Any(right)], times: None };
    let samples = robust.samples(&batch).unwrap();
    assert_eq!(samples.predicates[0], [1.5, f64::NEG_INFINITY, f64::INFINITY, 0.0]);
}

/// Positions `from..to` of samples in one segment.
pub fn cut(samples: &Samples, from: usize, to: usize) -> Samples<'static> {
    Samples {
        len: to - from,
        predicates: samples.predicates.iter().map(|column| column[from..to].to_vec()).collect(),
        times: samples.times.as_ref().map(|times| times[from..to].to_vec().into()),
        starts: Default::default(),
    }
}

/// What every predicate is worth at a position.
pub fn row(samples: &Samples, at: usize) -> Vec<f64> {
    samples.predicates.iter().map(|column| column[at]).collect()
}

pub fn time(samples: &Samples, at: usize) -> Option<tw_core::Time> {
    samples.times.as_ref().map(|times| times[at])
}

pub fn first_segment(samples: &Samples) -> Samples<'static> {
    let (start, end) = samples.segment_of(0);
    cut(samples, start, end)
}

/// The formulas that a stream can be asked for.
pub fn streamed(robust: &Robust, nodes: &[NodeId]) -> Vec<NodeId> {
    nodes.iter().copied().filter(|&node| robust.online(&[node]).is_ok()).collect()
}

/// The published table, fed with the samples that follow, is the definition.
#[test]
fn the_table_is_the_definition() {
    let mut checked = 0u64;
    let all = cases(10_000).min(200_000);
    for seed in 0..all {
        let Some((case, robust, samples)) = ready(seed, &SHAPE) else { continue };
        if case.options.clock != Clock::Index || case.options.semantics != Semantics::Finite {
            continue;
        }
        let samples = first_segment(&samples);
        for node in case.formulas() {
            let Ok(mut table) = Table::new(&robust, node) else { continue };
            // The table's formula may be simpler: an interval that leaves nothing makes its operands useless.
            let extent = |positions: usize| Extent { ticks: 0, positions: positions as i64 };
            assert_eq!(robust.horizon(node).unwrap(), Some(extent(table.horizon())), "{}", text(&case, node));
            assert_eq!(robust.history(node).unwrap(), extent(table.history()), "{}", text(&case, node));
            if samples.predicates.is_empty() || table.horizon() + table.history() > 60 {
                continue;
            }
            let expected = robust.columns(&samples, &[node]).unwrap().remove(0);
            for (i, &expected) in expected.iter().enumerate() {
                let ahead: Vec<Vec<f64>> =
                    samples.predicates.iter().map(|column| column[i..].to_vec()).collect();
                assert_eq!(table.step(&ahead), expected, "{} at {i}", text(&case, node));
            }
            checked += 1;
        }
    }
    assert!(checked > all / 10, "{checked}");
}
