//! Predicates that bend between samples, against their signals sampled densely.

use crate::samples;
use tw_core::{Time, TimeUnit};
use tw_engine_robust::{Interpolation, Robust, straighten};
use tw_monitor::EvaluateOptions;
use tw_testkit::{Rng, cases};

/// Ticks between samples.
const UNIT: i64 = 512;

const PREDICATES: [&str; 12] = [
    "abs(x) < 3",
    "abs(x) >= 2",
    "max(x, y) > 1",
    "min(x, y) > -1",
    "max(x, y) < min(4, abs(y))",
    "min(x, 2 * y) <= abs(x - y)",
    "abs(abs(x) - 4) > 2",
    "x == 2",
    "x + 0 != y",
    "abs(max(x, -2 * abs(y))) - min(x, y) / 2 >= 1",
    "abs(x) + abs(y) - max(x, y) == 3",
    "max(x, abs(y)) / (0 - 2) > -3",
];

fn formula(rng: &mut Rng) -> String {
    let [p, q] = [(); 2].map(|()| rng.pick(&PREDICATES));
    let (low, high) = (rng.below(3) as i64 * UNIT, (3 + rng.below(3) as i64) * UNIT);
    match rng.below(8) {
        0 | 1 => p.to_owned(),
        2 => format!("F[{low},{high}] ({p})"),
        3 => format!("G[{low},{high}] ({p})"),
        4 => format!("({p}) -> F[0,{high}] ({q})"),
        5 => format!("({p}) U[0,{high}] ({q})"),
        6 => format!("O[0,{high}] (!({p}) & ({q}))"),
        _ => format!("G (({p}) | F[0,{high}] ({q}))"),
    }
}

#[test]
fn what_bends_is_what_dense_samples_approach() {
    let options = EvaluateOptions { unit: TimeUnit::Nanoseconds, ..Default::default() };
    for seed in 0..cases(600) {
        let mut rng = Rng::new(seed);
        let text = formula(&mut rng);
        let program = tw_testkit::texts::formula(&text);
        let straight = straighten(&program).unwrap();
        let (bent, exact) =
            (Robust::new(&program, &options).unwrap(), Robust::new(&straight, &options).unwrap());
        exact.straight(&[straight.roots[0].node]).unwrap();
        let len = 2 + rng.below(6);
        let mut now = 0;
        let times: Vec<Time> = (0..len)
            .map(|_| {
                now += UNIT * (1 + rng.below(2) as i64);
                now
            })
            .collect();
        let column = |rng: &mut Rng| (0..len).map(|_| rng.below(17) as f64 - 8.0).collect::<Vec<f64>>();
        let (x, y) = (column(&mut rng), column(&mut rng));
        let sparse = samples(&exact, &straight, &[("x", &x), ("y", &y)], Some(times.clone()));
        let found =
            exact.interpolated(&sparse, &[straight.roots[0].node], Interpolation::Linear).unwrap().remove(0);
        // In every tick, what the signals are there.
        let dense: Vec<Time> = (times[0]..=times[len - 1]).collect();
        let between = |values: &[f64]| -> Vec<f64> {
            let value = |&time: &Time| {
                let after = times.partition_point(|&own| own <= time).min(len - 1);
                let (a, b) = (values[after - 1], values[after]);
                a + (b - a) * (time - times[after - 1]) as f64 / (times[after] - times[after - 1]) as f64
            };
            dense.iter().map(value).collect()
        };
        let (dense_x, dense_y) = (between(&x), between(&y));
        let all = samples(&bent, &program, &[("x", &dense_x), ("y", &dense_y)], Some(dense.clone()));
        let expected = bent.columns(&all, &[program.roots[0].node]).unwrap().remove(0);
        // Terms change by up to five times a signal in a tick, and operators look at neighbouring ticks.
        let close = 2.0 * 5.0 * 16.0 / UNIT as f64;
        let whole = !text.contains(['F', 'G', 'U', 'O']);
        for (at, time) in times.iter().enumerate() {
            let (found, expected) = (found[at], expected[(time - times[0]) as usize]);
            let near = if whole {
                found == expected
            } else {
                found == expected || (found - expected).abs() <= close
            };
            assert!(
                near,
                "seed {seed}: {text} at {time}: {found}, densely {expected}\n{times:?}\n{x:?}\n{y:?}"
            );
        }
    }
}

#[test]
fn values_between_samples_are_exact() {
    let value = |text: &str, x: &[f64], y: &[f64]| {
        let options = EvaluateOptions { unit: TimeUnit::Nanoseconds, ..Default::default() };
        let program = straighten(&tw_testkit::texts::formula(text)).unwrap();
        let robust = Robust::new(&program, &options).unwrap();
        let times = (0..x.len() as Time).map(|at| 10 * at).collect();
        let named = [("x", x), ("y", y)];
        let sparse = samples(&robust, &program, &named, Some(times));
        robust.interpolated(&sparse, &[program.roots[0].node], Interpolation::Linear).unwrap()[0][0]
    };
    // It passes through 0 halfway.
    assert_eq!(value("F[0,10] abs(x) < 3", &[-6.0, 6.0], &[0.0; 2]), 3.0);
    assert_eq!(value("F[0,10] x == 1", &[-6.0, 6.0], &[0.0; 2]), 0.0);
    // In tenths, which are rounded.
    assert_eq!(value("G abs(x) >= 0", &[-0.1, 0.2], &[0.0; 2]), 0.0);
    assert_eq!(value("F[0,10] x + 0 == y", &[-0.1, 0.2], &[0.3, 0.1]), 0.0);
    assert_eq!(value("G abs(x - 0.1) >= 0.5", &[-0.1, 0.2], &[0.0; 2]), -0.5);
    // They cross at 2, the least that their greatest is.
    assert_eq!(value("G[0,10] max(x, y) > 1", &[0.0, 4.0], &[4.0, 0.0]), 1.0);
    assert_eq!(value("F[0,10] min(x, y) > 1", &[0.0, 4.0], &[4.0, 0.0]), 1.0);
    assert_eq!(value("G[0,10] x + 0 != y", &[0.0, 4.0], &[4.0, 0.0]), 0.0);
}

/// Bends of signals in tenths, which no number of bits is exactly: no value passes what it can be, and where signals cross it is 0.
#[test]
fn rounding_turns_no_sign() {
    // Whether it is at least 0 or at most, and 0 where x and y cross, or x and 0.
    let formulas = [
        ("G abs(x) >= 0", true, Some(false)),
        ("G !(abs(x) < 0)", true, Some(false)),
        ("F abs(x) <= 0", false, Some(false)),
        ("F 0 >= abs(x)", false, Some(false)),
        ("F x == 0", false, Some(false)),
        ("F x + 0 == y", false, Some(true)),
        ("G x + 0 != y", true, Some(true)),
        ("G abs(x - y) >= 0", true, Some(true)),
        ("G 3 * abs(x - y) / 7 >= 0", true, Some(true)),
        ("!F[0,30] x + 0 == y", true, None),
        ("G[0,30] abs(x) >= 0", true, None),
        ("F[10,30] abs(y) <= 0", false, None),
        ("O[0,20] abs(x) == abs(y)", false, None),
        ("G abs(x) + abs(y) >= 0", true, None),
        ("G abs(abs(x) - 0.3) >= 0", true, None),
        ("G -abs(x) - 2 * abs(y - x) <= 0", true, None),
        ("(abs(x) >= 0) U[0,20] (x + 0 == y)", false, None),
        ("G max(abs(x), y) >= 0", true, None),
    ];
    let options = EvaluateOptions { unit: TimeUnit::Nanoseconds, ..Default::default() };
    for (text, above, crossing) in formulas {
        let program = straighten(&tw_testkit::texts::formula(text)).unwrap();
        let robust = Robust::new(&program, &options).unwrap();
        for seed in 0..cases(300) {
            let mut rng = Rng::new(seed);
            let len = 2 + rng.below(6);
            let times: Vec<Time> = (0..len as Time).map(|at| 10 * at).collect();
            let column =
                |rng: &mut Rng| (0..len).map(|_| (rng.below(41) as f64 - 20.0) / 10.0).collect::<Vec<f64>>();
            let (x, y) = (column(&mut rng), column(&mut rng));
            let sparse = samples(&robust, &program, &[("x", &x), ("y", &y)], Some(times));
            let node = program.roots[0].node;
            let found = robust.interpolated(&sparse, &[node], Interpolation::Linear).unwrap().remove(0);
            for (at, &value) in found.iter().enumerate() {
                let place = || format!("seed {seed}: {text} at {at}: {value:e}\n{x:?}\n{y:?}");
                // A window beyond the end has nothing in it.
                assert!(
                    value.is_infinite() || if above { value >= 0.0 } else { value <= 0.0 },
                    "{}",
                    place()
                );
                let difference = |at: usize| x[at] - if crossing == Some(true) { y[at] } else { 0.0 };
                let crosses = (at + 1..len).any(|at| difference(at - 1) * difference(at) <= 0.0);
                if crossing.is_some() && crosses {
                    assert_eq!(value, 0.0, "{}", place());
                }
            }
        }
    }
}
