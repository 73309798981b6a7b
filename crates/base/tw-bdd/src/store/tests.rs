//! Operations against sets whose members are listed.

use super::*;
use tw_testkit::{Rng, cases};

const BITS: u32 = 6;

/// A random set, and its members one by one: bit `v` is valuation `v`.
fn random(store: &mut Store, random: &mut Rng, depth: usize) -> (Bdd, u64) {
    if depth == 0 {
        let level = random.below(BITS as usize) as u32;
        let members = (0..64u64).filter(|v| v >> level & 1 == 1).fold(0, |all, v| all | 1 << v);
        return (store.bit(level).unwrap(), members);
    }
    let ((a, of_a), (b, of_b)) =
        (self::random(store, random, depth - 1), self::random(store, random, depth - 1));
    match random.below(4) {
        0 => (store.and(a, b).unwrap(), of_a & of_b),
        1 => (store.or(a, b).unwrap(), of_a | of_b),
        2 => (store.xor(a, b).unwrap(), of_a ^ of_b),
        _ => (store.minus(a, b).unwrap(), of_a & !of_b),
    }
}

fn members(store: &Store, set: Bdd) -> u64 {
    (0..64u64).filter(|v| store.has(set, |level| v >> level & 1 == 1)).fold(0, |all, v| all | 1 << v)
}

#[test]
fn operations_are_those_on_sets() {
    for seed in 0..cases(2_000) {
        let (store, rng) = (&mut Store::default(), &mut Rng::new(seed));
        let ((a, of_a), (b, of_b)) = (random(store, rng, 4), random(store, rng, 4));
        assert_eq!((members(store, a), members(store, b)), (of_a, of_b), "seed {seed}");
        assert_eq!(a == b, of_a == of_b, "seed {seed}: equal sets have one node");
        let quantified: Vec<u32> = (0..BITS).filter(|_| rng.one_in(2)).collect();
        let mut cube = Bdd::TRUE;
        for &level in &quantified {
            let bit = store.bit(level).unwrap();
            cube = store.and(cube, bit).unwrap();
        }
        let expected = quantified.iter().fold(of_a & of_b, |set, &level| {
            (0..64u64)
                .filter(|v| (set >> v | set >> (v ^ 1 << level)) & 1 == 1)
                .fold(0, |all, v| all | 1 << v)
        });
        let product = store.product(a, b, cube).unwrap();
        assert_eq!(members(store, product), expected, "seed {seed}");
        let both = store.and(a, b).unwrap();
        assert_eq!(store.exists(both, cube).unwrap(), product, "seed {seed}");
        let levels: Vec<u32> = (0..BITS).collect();
        assert_eq!(store.count(a, &levels), u128::from(of_a.count_ones()), "seed {seed}");
        assert_eq!(store.pick(a).is_none(), of_a == 0);
        if let Some(bits) = store.pick(a) {
            assert!(store.has(a, |level| bits.contains(&(level, true))), "seed {seed}");
        }
    }
}

#[test]
fn counts_saturate_and_budgets_end() {
    let mut store = Store::default();
    let levels: Vec<u32> = (0..300).collect();
    assert_eq!(store.count(Bdd::TRUE, &levels), u128::MAX);
    let mut cube = Bdd::TRUE;
    for &level in &levels {
        let bit = store.bit(level).unwrap();
        cube = store.and(cube, bit).unwrap();
    }
    assert_eq!(store.count(cube, &levels), 1);
    let all = store.nodes();
    let grown = store.within(10, |store| {
        (300..400).try_fold(cube, |set, level| {
            let bit = store.bit(level)?;
            store.xor(set, bit)
        })
    });
    assert_eq!(grown, Err(Exhausted));
    assert!(store.nodes() <= all + 10);
    assert!(store.bit(500).is_ok(), "the rest of the budget is still there");
}
