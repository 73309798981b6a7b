//! Every table against bit-by-bit definitions.

use super::*;

/// A small generator: tests must not depend on the machine.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Words of long runs, sparse words, dense words, so that carries travel far.
    fn words(&mut self, len: usize) -> Vec<u64> {
        let kind = self.word() % 5;
        (0..len)
            .map(|_| match kind {
                0 => self.word(),
                1 => self.word() & self.word() & self.word() & self.word(),
                2 => self.word() | self.word() | self.word() | self.word(),
                3 => u64::MAX << (self.word() % 64),
                _ => [0, u64::MAX, u64::MAX, u64::MAX - 1][(self.word() % 4) as usize],
            })
            .collect()
    }
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
    let mut random = Random(7);
    for table in available() {
        for round in 0..3000 {
            let len = 1 + (random.word() % 40) as usize;
            let (a, b) = (random.words(len), random.words(len));
            let (na, nb, carry) = (
                random.word().is_multiple_of(2),
                random.word().is_multiple_of(2),
                random.word().is_multiple_of(2),
            );
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

            let select = random.words(len);
            let packed: Vec<bool> =
                bits(&select, false).iter().zip(&x).filter(|(s, _)| **s).map(|(_, &x)| x).collect();
            let at = random.word() as usize % 200;
            let before = random.words((at + packed.len()).div_ceil(64) + 1);
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
    let mut random = Random(11);
    for _ in 0..2000 {
        let len = 1 + (random.word() % 12) as usize;
        let mut a = random.words(len);
        for word in &mut a {
            *word &= flip(random.word().is_multiple_of(3));
        }
        let negated = random.word().is_multiple_of(4);
        let x = bits(&a, negated);
        let always = vec![true; x.len()];
        let mut out = vec![0xAAAA; len];
        assert_eq!(fill_up(&mut out, (&a, negated)), x.contains(&true));
        assert_eq!(bits(&out, false), chain(&always, &x, false));
        assert_eq!(fill_down(&mut out, (&a, negated)), x.contains(&true));
        assert_eq!(bits(&out, false), reversed(&chain(&always, &reversed(&x), false)));
    }
}
