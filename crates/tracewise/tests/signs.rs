//! Over continuous time the sign of the robustness is the verdict: what `robust` computes and what `check` decides, two
//! engines that share nothing but the formula, on random signals with past and future windows, open ends and all.

use tracewise::check::CheckOptions;
use tracewise::robust::{Interpolation, RobustOptions};
use tracewise::{Clock, Evaluating, Session, Specification, Verdict};
use tw_testkit::{Rng, cases};

/// A formula over two signals; `depth` temporal operators deep at most.
fn formula(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 || rng.one_in(5) {
        let (signal, compare) = (rng.pick(&["x", "y"]), rng.pick(&["<", ">", "<=", ">="]));
        return format!("{signal} {compare} {}", rng.below(6));
    }
    let interval = |rng: &mut Rng| {
        let (from, length) = (rng.below(3), 1 + rng.below(4));
        let (open, close) = (rng.pick(&["[", "("]), rng.pick(&["]", ")"]));
        if rng.one_in(3) { String::new() } else { format!("{open}{from},{}{close}", from + length) }
    };
    let part = |rng: &mut Rng| formula(rng, depth - 1);
    match rng.below(7) {
        0 => format!("!({})", part(rng)),
        1 => format!("({}) & ({})", part(rng), part(rng)),
        2 => format!("({}) | ({})", part(rng), part(rng)),
        3 | 4 => format!("{}{} ({})", rng.pick(&["F", "G", "O", "H"]), interval(rng), part(rng)),
        _ => {
            let operator = rng.pick(&["U", "R", "S", "T"]);
            format!("({}) {operator}{} ({})", part(rng), interval(rng), part(rng))
        }
    }
}

#[test]
fn the_sign_of_dense_robustness_is_the_dense_verdict() {
    let file = std::env::temp_dir().join(format!("tracewise-signs-{}.csv", std::process::id()));
    let files = [file.display().to_string()];
    let dense = Session::new().evaluating(Evaluating { clock: Clock::Dense, ..Evaluating::default() });
    let stepped =
        RobustOptions { explain: false, interpolate: Some(Interpolation::Step), ..Default::default() };
    let plain = RobustOptions { explain: false, ..Default::default() };
    let mut compared = 0;
    for seed in 0..cases(400).min(20_000) {
        let mut rng = Rng::new(seed);
        let (mut trace, mut time) = (String::from("time,x,y\n"), 0);
        for _ in 0..1 + rng.below(6) {
            // Half units keep values off the bounds, where either sign will do.
            trace += &format!("{time},{}.5,{}.5\n", rng.below(6), rng.below(6));
            time += 1 + rng.below(3);
        }
        std::fs::write(&file, &trace).unwrap();
        let text = formula(&mut rng, 3);
        let spec = Specification::from_formula(&text).unwrap();
        let verdict = dense.check(&spec, &files, &CheckOptions::default());
        let values = [dense.robust(&spec, &files, &plain), Session::new().robust(&spec, &files, &stepped)];
        // What one of them refuses has no sign to compare.
        let Ok(verdict) = verdict else { continue };
        for report in values.into_iter().flatten() {
            let holds = verdict.properties[0].verdict == Verdict::Satisfied;
            let value = report.properties[0].value;
            assert_eq!(value > 0.0, holds, "{text} is worth {value} on\n{trace}");
            compared += 1;
        }
    }
    std::fs::remove_file(file).unwrap();
    assert!(compared > 100, "{compared}");
}
