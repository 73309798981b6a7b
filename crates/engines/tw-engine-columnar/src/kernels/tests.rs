//! Every table against bit-by-bit definitions.

use super::*;
use tw_testkit::Rng;

/// Words of long runs, sparse words, dense words, so that carries travel far.
fn random_words(rng: &mut Rng, len: usize) -> Vec<u64> {
    let kind = rng.below(5);
    (0..len)
        .map(|_| match kind {
            0 => rng.bits(),
            1 => rng.bits() & rng.bits() & rng.bits() & rng.bits(),
            2 => rng.bits() | rng.bits() | rng.bits() | rng.bits(),
            3 => u64::MAX << rng.below(64),
            _ => rng.pick(&[0, u64::MAX, u64::MAX, u64::MAX - 1]),
        })
        .collect()
}

fn bits(words: &[u64], flipped: bool) -> Vec<bool> {
    words.iter().flat_map(|&w| (0..64).map(move |i| (w >> i & 1 == 1) != flipped)).collect()
}

fn chain(hold: &[bool], now: &[bool], carry: bool) -> Vec<bool> {
    let mut before = carry;
    hold.iter()
        .zip(now)
        .map(|(&hold, &now)| {
            before = now || hold && before;
            before
        })
        .collect()
}

fn reversed(bits: &[bool]) -> Vec<bool> {
    bits.iter().rev().copied().collect()
}

#[test]
fn every_table_computes_the_definition() {
    let mut rng = Rng::new(7);
    for table in available() {
        for round in 0..3000 {
            let len = 1 + rng.below(40);
            let (a, b) = (random_words(&mut rng, len), random_words(&mut rng, len));
            let (na, nb, carry) = (rng.one_in(2), rng.one_in(2), rng.one_in(2));
            let (x, y) = (bits(&a, na), bits(&b, nb));
            let mut out = vec![0xAAAA; len];
            let at = format!("{} round {round} len {len}", table.name);

            (table.and)(&mut out, (&a, na), (&b, nb));
            let both: Vec<bool> = x.iter().zip(&y).map(|(&x, &y)| x && y).collect();
            assert_eq!(bits(&out, false), both, "and, {at}");
            let ones = both.iter().filter(|&&bit| bit).count();
            assert_eq!((table.count_and)((&a, na), (&b, nb)), ones, "count_and, {at}");
            (table.xor)(&mut out, &a, &b);
            let differ: Vec<bool> = x.iter().zip(&y).map(|(&x, &y)| (x != na) != (y != nb)).collect();
            assert_eq!(bits(&out, false), differ, "xor, {at}");
            (table.copy)(&mut out, (&a, na));
            assert_eq!(bits(&out, false), x, "copy, {at}");
            assert_eq!((table.count)((&a, na)), x.iter().filter(|&&bit| bit).count(), "count, {at}");

            (table.shift_up)(&mut out, (&a, na), carry);
            let up: Vec<bool> = std::iter::once(carry).chain(x.iter().copied()).take(x.len()).collect();
            assert_eq!(bits(&out, false), up, "shift_up, {at}");
            (table.shift_down)(&mut out, (&a, na), carry);
            let down: Vec<bool> = x.iter().skip(1).copied().chain([carry]).collect();
            assert_eq!(bits(&out, false), down, "shift_down, {at}");

            (table.chain_up)(&mut out, (&a, na), (&b, nb), carry);
            assert_eq!(bits(&out, false), chain(&x, &y, carry), "chain_up, {at}");
            (table.chain_down)(&mut out, (&a, na), (&b, nb), carry);
            let expected = reversed(&chain(&reversed(&x), &reversed(&y), carry));
            assert_eq!(bits(&out, false), expected, "chain_down, {at}");

            let select = random_words(&mut rng, len);
            let packed: Vec<bool> =
                bits(&select, false).iter().zip(&x).filter(|(s, _)| **s).map(|(_, &x)| x).collect();
            let at = rng.below(200);
            let before = random_words(&mut rng, (at + packed.len()).div_ceil(64) + 1);
            let mut out = before.clone();
            (table.gather)(&select, (&a, na), &mut out, at);
            let mut expected = bits(&before, false);
            expected[at..at + packed.len()].copy_from_slice(&packed);
            assert_eq!(bits(&out, false), expected, "gather, {} round {round} len {len}", table.name);
        }
    }
}

#[test]
fn fills_are_chains_that_always_hold() {
    let mut rng = Rng::new(11);
    for _ in 0..2000 {
        let len = 1 + rng.below(12);
        let mut a = random_words(&mut rng, len);
        for word in &mut a {
            *word &= flip(rng.one_in(3));
        }
        let negated = rng.one_in(4);
        let x = bits(&a, negated);
        let always = vec![true; x.len()];
        let mut out = vec![0xAAAA; len];
        assert_eq!(fill_up(&mut out, (&a, negated)), x.contains(&true));
        assert_eq!(bits(&out, false), chain(&always, &x, false));
        assert_eq!(fill_down(&mut out, (&a, negated)), x.contains(&true));
        assert_eq!(bits(&out, false), reversed(&chain(&always, &reversed(&x), false)));
    }
}
