use super::*;
use tw_testkit::Rng;

/// Whole numbers times 2^−40 of up to 100 bits: their sums fit 128 bits.
fn values(rng: &mut Rng) -> (Vec<f64>, i128) {
    let scale = 2f64.powi(-40);
    let mantissas: Vec<i128> = (0..rng.below(300))
        .map(|_| i128::from(rng.bits() as i64 >> 11 >> rng.below(53)) << rng.below(47))
        .collect();
    // Mantissas have 53 bits, so the product with a power of two is exact.
    (mantissas.iter().map(|m| *m as f64 * scale).collect(), mantissas.iter().sum())
}

fn expected(sum: i128) -> f64 {
    sum as f64 * 2f64.powi(-40)
}

#[test]
fn all_representations_agree() {
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let (reals, sum) = values(&mut rng);
        let mut fixed = ExactSum::default();
        reals.iter().for_each(|real| fixed.push_real(*real));
        assert_eq!(fixed.rounded(), expected(sum), "seed {seed}");
        assert!(!matches!(fixed.digits, Digits::Wide(_)), "these fit");
        // What is far away is added and taken away again: every digit is still there.
        for far in [1e300, -1e300, 5e-324, 1e-200] {
            let mut wide = ExactSum::default();
            wide.push_real(far);
            reals.iter().for_each(|real| wide.push_real(*real));
            if !reals.iter().all(|real| *real == 0.0) {
                assert!(matches!(wide.digits, Digits::Wide(_)), "{far:e}");
            }
            wide.push_real(-far);
            assert_eq!(wide.rounded(), expected(sum), "seed {seed}, {far:e}");
            wide.append(&fixed);
            fixed.append(&wide);
            assert_eq!(wide.rounded(), expected(2 * sum), "seed {seed}, {far:e}");
            let mut slice = ExactSum::default();
            slice.push_reals(&reals);
            assert_eq!(slice.rounded(), expected(sum), "seed {seed}");
            slice.append(&wide);
            assert_eq!(slice.rounded(), expected(3 * sum), "seed {seed}");
            fixed = ExactSum::default();
            reals.iter().rev().for_each(|real| fixed.push_real(*real));
        }
    }
}

/// The window moves to where the digits are, in both directions, and gives up only when it must.
#[test]
fn the_window_moves() {
    for (first, second, fits) in
        [(1.0, 1e-60, true), (1e-60, 1.0, true), (1.0, 1e60, true), (1e60, 1.0, true), (1.0, 1e-150, false)]
    {
        let mut sum = ExactSum::default();
        sum.push_real(first);
        sum.push_real(second);
        assert_eq!(!matches!(sum.digits, Digits::Wide(_)), fits, "{first:e} {second:e}");
        sum.push_real(-first);
        assert_eq!(sum.rounded(), second);
        let (mut a, mut b) = (ExactSum::default(), ExactSum::default());
        a.push_real(first);
        b.push_real(second);
        b.append(&a);
        a.push_real(-first);
        b.append(&a);
        b.push_real(-first);
        assert_eq!(b.rounded(), second, "{first:e} {second:e}");
    }
}

/// One below a power of 2³² in every digit, again and again: carries run through all chunks.
#[test]
fn carries() {
    let mut sum = ExactSum::default();
    sum.push_real(f64::MAX);
    sum.push_real(5e-324);
    for _ in 0..100 {
        sum.push_real(-5e-324);
        sum.push_real(5e-324);
    }
    sum.push_real(-f64::MAX);
    assert_eq!(sum.rounded(), 5e-324);
    sum.push_real(-5e-324);
    assert_eq!(sum.rounded().to_bits(), 0);
}
