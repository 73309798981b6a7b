//! What decides values, and what would change them.

use super::{SHAPE, ready, text};
use tw_testkit::{Rng, cases};

/// With all samples different, the value itself tells which predicate and position decides.
#[test]
fn the_weakest_link_is_worth_the_value() {
    let (mut named, mut empty) = (0u64, 0u64);
    let all = cases(10_000) / 4 + 1;
    for seed in 0..all {
        let Some((case, robust, mut samples)) = ready(seed, &SHAPE) else { continue };
        let mut rng = Rng::new(seed ^ 0x5eed);
        for value in samples.predicates.to_mut().iter_mut().flatten() {
            *value = rng.bits() as i64 as f64;
        }
        let nodes = case.formulas();
        let node = nodes[rng.below(nodes.len())];
        let at = rng.below(samples.len);
        let value = robust.columns(&samples, &[node]).unwrap()[0][at];
        let weakest = robust.weakest(&samples, node, at).unwrap();
        let what = || format!("{} at {at}: {value}, {weakest:?}", text(&case, node));
        assert_eq!(weakest.value.abs(), value.abs(), "{}", what());
        match robust.predicates().binary_search(&weakest.node) {
            Ok(predicate) => {
                assert_eq!(samples.predicates[predicate][weakest.position], weakest.value, "{}", what());
                named += 1;
            }
            Err(_) => {
                assert!(value.is_infinite(), "{}", what());
                empty += 1;
            }
        }
    }
    assert!(named > all / 2 && empty > all / 100, "{named} named, {empty} empty");
}

/// Every link is worth what its formula is worth there, and the last is the weakest.
#[test]
fn chains_lead_to_the_weakest() {
    let mut long = 0u64;
    let all = cases(10_000) / 10 + 1;
    for seed in 0..all {
        let Some((case, robust, samples)) = ready(seed, &SHAPE) else { continue };
        let mut rng = Rng::new(seed);
        let nodes = case.formulas();
        let node = nodes[rng.below(nodes.len())];
        let at = rng.below(samples.len);
        let chain = robust.chain(&samples, node, at, 1000).unwrap();
        let what = || format!("{} at {at}: {chain:?}", text(&case, node));
        assert_eq!((chain[0].node, chain[0].position, chain[0].depth), (node, at, 0), "{}", what());
        for link in &chain {
            let column = robust.columns(&samples, &[link.node]).unwrap().remove(0);
            assert_eq!(column[link.position], link.value, "{}", what());
        }
        let deciding: Vec<_> = chain.iter().filter(|link| link.decides).collect();
        assert!(deciding.iter().enumerate().all(|(depth, link)| link.depth == depth), "{}", what());
        assert!(deciding.iter().all(|link| link.value.abs() == chain[0].value.abs()), "{}", what());
        let weakest = robust.weakest(&samples, node, at).unwrap();
        let last = deciding.last().unwrap();
        if robust.predicates().contains(&weakest.node) {
            assert_eq!(
                (last.node, last.position, last.value),
                (weakest.node, weakest.position, weakest.value)
            );
        }
        assert_eq!(robust.chain(&samples, node, at, 2).unwrap(), chain[..chain.len().min(2)]);
        long += u64::from(deciding.len() > 2);
    }
    assert!(long > all / 10, "{long} long chains");
}

/// The margin turns the value, and no smaller change does.
#[test]
fn margins_turn_the_value() {
    let (mut turned, mut stuck) = (0u64, 0u64);
    let all = (cases(10_000) / 20).max(300);
    for seed in 0..all {
        let Some((case, robust, mut samples)) = ready(seed, &SHAPE) else { continue };
        let mut rng = Rng::new(seed);
        for worth in samples.predicates.to_mut().iter_mut().flatten().filter(|worth| worth.is_finite()) {
            *worth = rng.below(41) as f64 / 4.0 - 5.0;
        }
        let nodes = case.formulas();
        let node = nodes[rng.below(nodes.len())];
        let at = rng.below(samples.len);
        let value = robust.columns(&samples, &[node]).unwrap()[0][at];
        for margin in robust.margins(&samples, node, at).unwrap() {
            let place = robust.predicates().binary_search(&margin.node).unwrap();
            let after = |change: f64| {
                let mut changed = samples.clone();
                changed.predicates.to_mut()[place].iter_mut().for_each(|worth| *worth += change + 0.0);
                robust.columns(&changed, &[node]).unwrap()[0][at]
            };
            let turns = |found: f64| if value > 0.0 { found <= 0.0 } else { found >= 0.0 };
            let what = || format!("{} at {at}: {value}, {margin:?}", text(&case, node));
            match margin.change {
                Some(change) => {
                    assert!(turns(after(change)), "{}", what());
                    // Values are multiples of a quarter.
                    assert!(change == 0.0 || !turns(after(change - change.signum() / 8.0)), "{}", what());
                    turned += u64::from(change != 0.0);
                }
                None => stuck += 1,
            }
        }
    }
    assert!(turned > all / 10 && stuck > all / 10, "{turned} turned, {stuck} stuck");
}
