//! Saved states that are not what was saved.

use super::{one_trace, options, program, row};
use crate::online::{Each, Online};
use tw_ir::{Clock, Semantics};
use tw_monitor::EvaluateOptions;
use tw_testkit::{Rng, Shape, cases};

/// A damaged state is refused, or read as another one; it never ends in a panic.
#[test]
fn damaged_states_do_no_harm() {
    let mut refused = 0;
    for seed in 0..cases(2_000) {
        let case = one_trace(seed, &Shape::METRIC);
        let Ok(trace) = case.trace(false) else { continue };
        let each = [Each::Root, Each::Nothing][seed as usize % 2];
        // What it may take bounds how long it can go on, too.
        let options = EvaluateOptions { memory_budget: 1 << 20, ..case.options.clone() };
        let mut online = Online::new(&case.program, &options, each).unwrap();
        let mut again = online.clone();
        let mut rng = Rng::new(seed);
        let cut = rng.below(case.len() + 1);
        for at in 0..cut {
            online.step(Some(case.times[at]), &row(&trace.atoms, at)).unwrap();
            (0..case.program.roots.len()).for_each(|root| while online.next_settled(root).is_some() {});
        }
        let mut saved = Vec::new();
        online.save(&mut saved);
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(saved.len());
            saved[at] = rng.bits() as u8 >> rng.below(8);
        }
        if again.load(&mut &saved[..]).is_err() {
            refused += 1;
            continue;
        }
        // It may say what it likes.
        let mut at = cut;
        use_up(again, case.program.roots.len(), |online| {
            for _ in 0..case.len() {
                if at < case.len() {
                    let _ = online.step(Some(case.times[at]), &row(&trace.atoms, at));
                    at += 1;
                }
            }
        });
    }
    assert!(refused > 0);
}

/// Everything that a monitor can be asked.
fn use_up(mut online: Online, roots: usize, mut step: impl FnMut(&mut Online)) {
    for _ in 0..3 {
        step(&mut online);
        for root in 0..roots {
            while online.next_settled(root).is_some() {}
            let _ = (online.now(root), online.pending(root), online.verdict(root));
        }
    }
    let _ = (online.at_end(), online.heap_bytes());
    online.save(&mut Vec::new());
    let _ = online.end();
}

/// Each byte of a state with each value, for formulas that keep each kind of state.
#[test]
fn any_byte_may_be_any_other() {
    let formulas = [
        // What `S` keeps depends on the future: it must not depend on an operator that comes after it.
        "(F a S b) ^ F c",
        "Y F a ^ (X b | F c)",
        "G (a -> F[0,5] b) & G (c S[2,4] a)",
        "F last",
        "X[0,3] (a S[1,inf) b) | G[1,2] c",
    ];
    for (formula, clock) in formulas.into_iter().flat_map(|f| [(f, Clock::Stamps), (f, Clock::Index)]) {
        let program = program(&[formula]);
        for (each, semantics) in [(Each::Root, Semantics::Finite), (Each::Nothing, Semantics::RepeatLast)] {
            let options = EvaluateOptions { memory_budget: 1 << 20, ..options(semantics, clock) };
            let fresh = Online::new(&program, &options, each).unwrap();
            let mut online = fresh.clone();
            for time in [0, 3, 3] {
                online.step(Some(time), &[time as u64 % 7]).unwrap();
            }
            let mut saved = Vec::new();
            online.save(&mut saved);
            for at in 0..saved.len() {
                for value in 0..=u8::MAX {
                    let mut damaged = saved.clone();
                    damaged[at] = value;
                    let mut again = fresh.clone();
                    if again.load(&mut &damaged[..]).is_ok() {
                        let mut time = 3;
                        use_up(again, 1, |online| {
                            time += 2;
                            let _ = online.step(Some(time), &[0b010]);
                        });
                    }
                }
            }
        }
    }
}
