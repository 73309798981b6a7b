//! Engines that read forward settle a verdict at the same position: where all finite continuations agree, and no later.

use tracewise::engines::{Answers, giving};
use tw_ir::{Program, Semantics, display};
use tw_monitor::{EvaluateOptions, Sink, Telling, words};
use tw_testkit::{Case, Rng, Shape, cases, texts};

const ENGINES: [&str; 4] = ["automaton", "rewrite", "metric", "breadth-first"];

/// By engine, the position and the verdict that it settles a formula with, if it runs it and settles it.
fn settled(
    program: &Program,
    semantics: Semantics,
    rows: &[Vec<u64>],
) -> Vec<(&'static str, Option<(usize, bool)>)> {
    let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
    let forward = giving(Answers::Verdicts).filter(|engine| ENGINES.contains(&engine.name()));
    let run = |engine: &'static dyn tracewise::engines::Engine| {
        let mut monitor = engine.monitor(program, &options, Telling::Verdicts).ok()?;
        let found = rows.iter().enumerate().find_map(|(at, row)| {
            monitor.step(row, &mut Sink::default()).unwrap();
            monitor.verdicts()[0].map(|verdict| (at, verdict))
        });
        Some((engine.name(), found))
    };
    forward.filter_map(run).collect()
}

#[test]
fn verdicts_are_settled_at_the_same_position() {
    let shape = Shape { values: 0, ..Shape::ONLINE };
    let (mut several, mut early) = (0u64, 0u64);
    for seed in 0..cases(4_000) {
        let random = &mut Rng::new(seed);
        let case = Case::new(seed, &shape);
        let program = &case.program;
        let atoms = program.atoms().len();
        let width = words(atoms).max(1);
        // Beyond the atoms there is nothing, as readers leave it.
        let own = |word: usize| u64::MAX.unbounded_shr(64 - atoms.saturating_sub(64 * word).min(64) as u32);
        let row = |random: &mut Rng| (0..width).map(|word| random.bits() & own(word)).collect();
        let rows: Vec<Vec<u64>> = (0..6).map(|_| row(random)).collect();
        let semantics = if random.one_in(4) { Semantics::RepeatLast } else { Semantics::Finite };
        let found = settled(program, semantics, &rows);
        let text =
            || format!("seed {seed}, {semantics:?}: {}\n{found:?}", display(program, program.roots[0].node));
        assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].1), "{}", text());
        several += u64::from(found.len() == ENGINES.len());
        early += u64::from(found.first().is_some_and(|(_, found)| found.is_some()));
    }
    assert!(several > cases(4_000) / 4 && early > cases(4_000) / 8, "{several} {early}");
}

#[test]
fn what_holds_whatever_comes_is_settled_at_once() {
    for (text, verdict) in [
        ("N true", true),
        ("G N true", true),
        ("F X false", false),
        ("X (a & false)", false),
        ("Z true", true),
        ("F last", true),
        ("X a | N !a", true),
        ("F a | G !a", true),
        ("F (G a | G !a)", true),
        ("F a & G !a", false),
        ("G X a", false),
        ("F N a", true),
        ("(a U b) & G !b", false),
        ("G (a -> O a)", true),
    ] {
        let program = texts::formula(text);
        let found = settled(&program, Semantics::Finite, &vec![vec![0]; 3]);
        let expected: Vec<_> = found.iter().map(|&(name, _)| (name, Some((0, verdict)))).collect();
        assert!(found.len() == ENGINES.len(), "{text}: {found:?}");
        assert_eq!(found, expected, "{text}");
    }
}
