//! Robustness against its definition, against truth, and against published vectors.

mod conformance;
mod interpolation;

use tw_core::{Batch, Bits, Column, Time};
use tw_engine_robust::table::Table;
use tw_engine_robust::{Predictor, Robust, Samples};
use tw_ir::{Clock, NodeId, Program};
use tw_monitor::EvaluateOptions;

/// A formula over real columns, made ready.
fn ready(formula: &str, clock: Clock) -> (Robust, Program, NodeId) {
    let program = tw_testkit::texts::formula(formula);
    let options = EvaluateOptions { clock, unit: tw_core::TimeUnit::Nanoseconds, ..Default::default() };
    let robust = Robust::new(&program, &options).unwrap();
    let node = program.roots[0].node;
    (robust, program, node)
}

fn samples(
    robust: &Robust,
    program: &Program,
    columns: &[(&str, &[f64])],
    times: Option<Vec<Time>>,
) -> Samples<'static> {
    let len = columns[0].1.len();
    let slot = |slot: &tw_ir::Slot| {
        let name = match &slot.what {
            tw_ir::What::Variable(path, _) => path.as_name().unwrap().to_owned(),
            other => panic!("{other:?}"),
        };
        let (_, values) = columns.iter().find(|(column, _)| *column == name).unwrap();
        Column::Real { values: values.to_vec(), valid: Bits::repeat(true, len) }
    };
    robust.samples(&Batch { len, slots: program.slots.iter().map(slot).collect(), times }).unwrap()
}

/// The value at each position, by columns, which must be that of the definition.
fn values(formula: &str, columns: &[(&str, &[f64])]) -> Vec<f64> {
    let (robust, program, node) = ready(formula, Clock::Index);
    let samples = samples(&robust, &program, columns, None);
    let found = robust.columns(&samples, &[node]).unwrap().remove(0);
    assert_eq!(found, robust.reference(&samples, &[node]).unwrap().remove(0), "{formula}");
    found
}

const P: [f64; 8] = [5.0, 3.0, 4.0, -1.0, 2.0, 6.0, 7.0, 7.0];
const Q: [f64; 8] = [1.0, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
const INF: f64 = f64::INFINITY;

fn pq() -> [(&'static str, &'static [f64]); 2] {
    [("p", &P), ("q", &Q)]
}

#[test]
fn historically_and_globally() {
    assert_eq!(values("H p > 0 & G[1,2] q > 0", &pq())[..6], [-3.0, -3.0, 3.0, -1.0, -1.0, -1.0]);
}

#[test]
fn since_and_until() {
    let since = [-INF, 1.0, 2.0, -1.0, 2.0, 5.0, 6.0, 7.0];
    assert_eq!(values("p > 0 S[1,3] q > 0", &pq()), since);
    assert_eq!(values("p > 0 S[1,inf) q > 0", &pq()), since);
    assert_eq!(values("p > 0 U[1,3] q > 0", &pq())[..5], [3.0, 3.0, 4.0, -1.0, 2.0]);
}

#[test]
fn settling() {
    let ok = [0.1, 0.08, -0.05, -0.02, 0.05, 0.09, -0.05, 0.09, 0.1];
    let columns: [(&str, &[f64]); 1] = [("ok", &ok)];
    let past = values("ok > 0 | O[0,2] H[0,2] ok > 0", &columns);
    assert_eq!(past, [0.1, 0.1, 0.1, 0.08, 0.05, 0.09, -0.02, 0.09, 0.1]);
    let future = values("ok > 0 | F[0,2] G[0,2] ok > 0", &columns);
    assert_eq!(future, [0.1, 0.08, -0.02, -0.02, 0.05, 0.09, 0.1, 0.1, 0.1]);
}

/// An engine's air-to-fuel ratio leaves its bounds and comes back: the property about the past waits until it is known
/// that it did not come back in time, the one about the future reports a violation too early unless it is predicted.
#[test]
fn settling_of_an_engine() {
    // ok = 1 − |excursion|; out of bounds where negative.
    let ok = [1.0, 0.8, -0.5, -0.2, 0.4, 0.9, 0.7, 1.0];
    let columns: [(&str, &[f64]); 1] = [("ok", &ok)];
    let past = values("!(ok > 0) -> O[0,1] H[0,1] ok > 0", &columns);
    assert_eq!(past, [1.0, 1.0, 0.8, -0.2, 0.4, 0.9, 0.7, 1.0]);
    let future = values("!(ok > 0) -> F[0,1] G[0,1] ok > 0", &columns);
    assert_eq!(future, [1.0, 0.8, -0.2, 0.4, 0.7, 0.9, 1.0, 1.0]);
    // What the future says of the last three samples.
    let both = values("H[0,2] (!(ok > 0) -> F[0,1] G[0,1] ok > 0)", &columns);
    assert_eq!(both, [1.0, 0.8, -0.2, -0.2, -0.2, 0.4, 0.7, 0.9]);
    // When the excursion is on and nothing is known of what follows, the future one is negative.
    let (robust, program, node) = ready("!(ok > 0) -> F[0,1] G[0,1] ok > 0", Clock::Index);
    let mut online = robust.online(&[node]).unwrap();
    online.push(&samples(&robust, &program, &[("ok", &ok[..4])], None)).unwrap();
    assert_eq!(online.predict(0, Predictor::None, 1).unwrap(), Some(-0.2));
    // It rises by 0.3 a sample: the prediction sees it come back.
    let predicted = online.predict(0, Predictor::Linear, 1).unwrap().unwrap();
    assert!((predicted - 0.1).abs() < 1e-12, "{predicted}");
}

/// 600 ft within five minutes after take-off: ten feet too low is less alarming than a hundred.
#[test]
fn altitude_after_take_off() {
    let climb = |highest: f64| {
        let (robust, program, node) = ready("off > 0 -> F[0,5m] height >= 600", Clock::Stamps);
        let minute = 60_000_000_000;
        let columns: [(&str, &[f64]); 2] = [("off", &[1.0, -1.0, -1.0]), ("height", &[0.0, highest, 700.0])];
        let samples = samples(&robust, &program, &columns, Some(vec![0, 5 * minute, 6 * minute]));
        robust.columns(&samples, &[node]).unwrap()[0][0]
    };
    // Not having taken off is nearer than the height that was missed.
    assert_eq!([climb(590.0), climb(500.0), climb(650.0)], [-1.0, -1.0, 50.0]);
    let direct = |highest: f64| {
        let (robust, program, node) = ready("F[0,5m] height >= 600", Clock::Stamps);
        let minute = 60_000_000_000;
        let columns: [(&str, &[f64]); 1] = [("height", &[0.0, highest, 700.0])];
        let samples = samples(&robust, &program, &columns, Some(vec![0, 5 * minute, 6 * minute]));
        robust.columns(&samples, &[node]).unwrap()[0][0]
    };
    assert_eq!([direct(590.0), direct(500.0), direct(650.0)], [-10.0, -100.0, 50.0]);
}

/// Two signals, a tenth of a second apart; intervals in seconds become numbers of samples.
#[test]
fn two_signals_in_tenths_of_a_second() {
    let tenth = 100_000_000;
    let columns: [(&str, &[f64]); 2] = [("gear", &[2.0, 3.0, 2.0]), ("speed", &[0.34, 0.356, 0.36])];
    let at = |formula: &str| {
        let (robust, program, node) = ready(formula, Clock::Stamps);
        let samples = samples(&robust, &program, &columns, Some(vec![0, tenth, 2 * tenth]));
        robust.columns(&samples, &[node]).unwrap().remove(0)
    };
    assert_eq!(at("F[0.1s,0.2s] gear > 2"), [1.0, 0.0, -INF]);
    assert_eq!(at("G[0s,0.1s] gear < 4"), [1.0, 1.0, 2.0]);
    let rising = at("speed > 0.34 S[0s,0.2s] gear > 2");
    assert!(rising[0] == 0.0 && rising[1] == 1.0 && (rising[2] - 0.02).abs() < 1e-12, "{rising:?}");
    // Counted in samples it is the same.
    let (robust, program, node) = ready("F[1,2] gear > 2", Clock::Index);
    let counted = samples(&robust, &program, &columns, None);
    assert_eq!(robust.columns(&counted, &[node]).unwrap()[0], at("F[0.1s,0.2s] gear > 2"));
}

/// Windows are cut at both ends; empty ones are worth ±inf.
#[test]
fn empty_windows() {
    let x: [(&str, &[f64]); 1] = [("x", &[1.0, 2.0])];
    assert_eq!(values("F[1,2] x > 0", &x), [2.0, -INF]);
    assert_eq!(values("G[1,2] x > 0", &x), [2.0, INF]);
    assert_eq!(values("O[1,2] x > 0", &x), [-INF, 1.0]);
    assert_eq!(values("H[1,2] x > 0", &x), [INF, 1.0]);
    assert_eq!(values("X x > 0", &x), [2.0, -INF]);
    assert_eq!(values("N x > 0", &x), [2.0, INF]);
    assert_eq!(values("x > 0 U[5,9] x > 0", &x), [-INF, -INF]);
    assert_eq!(values("x > 0 R[5,9] x > 0", &x), [INF, INF]);
}

/// The table of the formula, fed with the samples that follow.
fn tabled(formula: &str, columns: &[(&str, &[f64])]) -> (usize, usize, Vec<f64>) {
    let (robust, program, node) = ready(formula, Clock::Index);
    let samples = samples(&robust, &program, columns, None);
    let mut table = Table::new(&robust, node).unwrap();
    let after = |i: usize| samples.predicates.iter().map(|column| column[i..].to_vec()).collect::<Vec<_>>();
    let values = (0..samples.len).map(|i| table.step(&after(i))).collect();
    (table.horizon(), table.history(), values)
}

#[test]
fn published_tables() {
    let (horizon, history, found) = tabled("H p > 0 & G[1,2] q > 0", &pq());
    assert_eq!((horizon, history), (2, 0));
    assert_eq!(found[..6], [-3.0, -3.0, 3.0, -1.0, -1.0, -1.0]);
    let (_, _, found) = tabled("p > 0 S[1,3] q > 0", &pq());
    assert_eq!(found, [-INF, 1.0, 2.0, -1.0, 2.0, 5.0, 6.0, 7.0]);
    let (_, _, found) = tabled("p > 0 U[1,3] q > 0", &pq());
    assert_eq!(found[..5], [3.0, 3.0, 4.0, -1.0, 2.0]);
}

/// With the history as printed, 0, the inner since would be read one column too early.
#[test]
fn history_of_an_unbounded_since() {
    let formula = "(x > 0 S[1,1] y > 0) S z > 0";
    let columns: [(&str, &[f64]); 3] = [
        ("x", &[1.0, 5.0, -2.0, 3.0, 4.0, -1.0, 6.0, 2.0]),
        ("y", &[-3.0, 2.0, 7.0, 1.0, -4.0, 3.0, 5.0, 2.0]),
        ("z", &[2.0, -5.0, -6.0, -1.0, -7.0, 1.0, -3.0, -2.0]),
    ];
    let (horizon, history, found) = tabled(formula, &columns);
    assert_eq!((horizon, history), (0, 1));
    assert_eq!(found, values(formula, &columns));
}

/// Without a predictor `F[0,2] G[0,2] ok` is `ok` itself.
#[test]
fn settling_without_prediction() {
    let ok = [0.1, 0.08, -0.05, -0.02, 0.05, 0.09, -0.05, 0.09, 0.1];
    let (robust, program, node) = ready("ok > 0 | F[0,2] G[0,2] ok > 0", Clock::Index);
    let mut online = robust.online(&[node]).unwrap();
    for value in ok {
        online.push(&samples(&robust, &program, &[("ok", &[value])], None)).unwrap();
        assert_eq!(online.predict(0, Predictor::None, 1).unwrap(), Some(value));
        assert_eq!(online.predict(0, Predictor::Hold, 1).unwrap(), Some(value));
    }
    assert_eq!(online.horizon(0), (4, 0));
}

/// A position is settled when its horizon has passed, and not before.
#[test]
fn settled_at_the_horizon() {
    for formula in ["F[0,3] p > 0", "p > 0 U[1,3] q > 0", "G[0,1] F[0,2] p > 0", "O F[2,3] p > 0"] {
        let (robust, program, node) = ready(formula, Clock::Index);
        let all = samples(&robust, &program, &pq(), None);
        let mut online = robust.online(&[node]).unwrap();
        for n in 1..=8 {
            online.push(&conformance::cut(&all, n - 1, n)).unwrap();
            assert_eq!(online.pending(0), n.saturating_sub(3), "{formula} after {n}");
        }
        online.finish();
        assert_eq!(online.pending(0), 8);
    }
    // By time: nothing can lie within 3 of position 0 once time has passed 3.
    let (robust, program, node) = ready("F[0,3] p > 0", Clock::Stamps);
    let mut online = robust.online(&[node]).unwrap();
    online.push(&samples(&robust, &program, &[("p", &[1.0])], Some(vec![0]))).unwrap();
    online.watermark(3);
    assert_eq!((online.pending(0), online.oldest(0)), (0, Some((0, 1.0, INF))));
    online.watermark(4);
    assert_eq!((online.pending(0), online.drain(0)), (1, (0, &[1.0][..])));
}

/// What is refused, and in which words.
#[test]
fn refusals() {
    let (robust, program, node) = ready("G x > 0", Clock::Index);
    assert!(robust.online(&[node]).err().unwrap().what.contains("unbounded future"));
    assert!(Table::new(&robust, node).err().unwrap().what.contains("unbounded future"));
    let good = samples(&robust, &program, &[("x", &[1.0])], None);
    assert!(robust.weakest(&good, node, 1).err().unwrap().what.contains("position 1"));
    let other = Samples { len: 2, ..good };
    assert!(robust.columns(&other, &[node]).err().unwrap().what.contains("unequal lengths"));

    let (robust, program, node) = ready("F[0,3] x > 0", Clock::Stamps);
    let bare = samples(&robust, &program, &[("x", &[1.0])], None);
    assert!(robust.columns(&bare, &[node]).err().unwrap().what.contains("without timestamps"));
    let mut online = robust.online(&[node]).unwrap();
    assert!(online.push(&bare).err().unwrap().what.contains("without timestamps"));
    let back = samples(&robust, &program, &[("x", &[1.0, 2.0])], Some(vec![5, 4]));
    assert!(online.push(&back).err().unwrap().what.contains("decrease"));

    let dense = EvaluateOptions { clock: Clock::Dense, ..Default::default() };
    assert!(Robust::new(&program, &dense).err().unwrap().what.contains("dense"));
    let small = EvaluateOptions { memory_budget: 100, clock: Clock::Index, ..Default::default() };
    let robust = Robust::new(&program, &small).unwrap();
    let long = samples(&robust, &program, &[("x", &[1.0; 100])], None);
    assert!(robust.columns(&long, &[node]).err().unwrap().exhausted);
    assert!(robust.online(&[node]).unwrap().push(&long).err().unwrap().exhausted);
}
