//! Numbers in which a chain can be solved without differences: machine numbers and fractions.

use std::fmt;

/// A number that is not negative.
pub(super) trait Number: Copy + PartialEq {
    const ZERO: Self;
    const ONE: Self;
    fn count(count: u64) -> Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// The least positive number instead of 0, where it is known that 0 is the result of rounding.
    fn positive(self) -> Self;
}

impl Number for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    fn count(count: u64) -> f64 {
        count as f64
    }
    fn add(self, other: f64) -> f64 {
        self + other
    }
    fn mul(self, other: f64) -> f64 {
        self * other
    }
    fn div(self, other: f64) -> f64 {
        self / other
    }
    fn positive(self) -> f64 {
        self.max(f64::MIN_POSITIVE)
    }
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    /// Above the line.
    pub numerator: u128,
    /// Below the line; not 0.
    pub denominator: u128,
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.numerator)?;
        if self.denominator != 1 {
            write!(f, "/{}", self.denominator)?;
        }
        Ok(())
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        // Division of 128 bits is slow; most numbers need half of them.
        (a, b) = match (u64::try_from(a), u64::try_from(b)) {
            (Ok(x), Ok(y)) => (b, u128::from(x % y)),
            _ => (b, a % b),
        };
    }
    a
}

/// A fraction, or `None` where one with terms of 128 bits does not suffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact(pub Option<Fraction>);

impl Exact {
    fn add_checked(a: Fraction, b: Fraction) -> Option<Fraction> {
        let common = gcd(a.denominator, b.denominator);
        let (a_rest, b_rest) = (a.denominator / common, b.denominator / common);
        let sum = a.numerator.checked_mul(b_rest)?.checked_add(b.numerator.checked_mul(a_rest)?)?;
        // What cancels divides the common part alone.
        let cancel = gcd(sum, common);
        let denominator = a_rest.checked_mul(b_rest)?.checked_mul(common / cancel)?;
        Some(Fraction { numerator: sum / cancel, denominator })
    }

    fn mul_checked(a: Fraction, b: Fraction) -> Option<Fraction> {
        let (first, second) = (gcd(a.numerator, b.denominator), gcd(b.numerator, a.denominator));
        Some(Fraction {
            numerator: (a.numerator / first).checked_mul(b.numerator / second)?,
            denominator: (a.denominator / second).checked_mul(b.denominator / first)?,
        })
    }

    fn both(self, other: Exact, f: fn(Fraction, Fraction) -> Option<Fraction>) -> Exact {
        Exact(self.0.zip(other.0).and_then(|(a, b)| f(a, b)))
    }
}

impl Number for Exact {
    const ZERO: Exact = Exact(Some(Fraction { numerator: 0, denominator: 1 }));
    const ONE: Exact = Exact(Some(Fraction { numerator: 1, denominator: 1 }));
    fn count(count: u64) -> Exact {
        Exact(Some(Fraction { numerator: u128::from(count), denominator: 1 }))
    }
    fn add(self, other: Exact) -> Exact {
        self.both(other, Exact::add_checked)
    }
    fn mul(self, other: Exact) -> Exact {
        self.both(other, Exact::mul_checked)
    }
    fn div(self, other: Exact) -> Exact {
        let turned = other
            .0
            .filter(|f| f.numerator != 0)
            .map(|f| Fraction { numerator: f.denominator, denominator: f.numerator });
        self.mul(Exact(turned))
    }
    fn positive(self) -> Exact {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::Rng;

    fn of(numerator: u64, denominator: u64) -> Exact {
        Exact::count(numerator).div(Exact::count(denominator))
    }

    #[test]
    fn fractions_are_in_lowest_terms() {
        assert_eq!(of(6, 8).0.unwrap().to_string(), "3/4");
        assert_eq!(of(1, 6).add(of(1, 3)).0.unwrap().to_string(), "1/2");
        assert_eq!(of(2, 3).mul(of(3, 2)).0.unwrap().to_string(), "1");
        assert_eq!(of(0, 7).0.unwrap().to_string(), "0");
        assert_eq!(of(1, 0), Exact(None));
        let mut rng = Rng::new(5);
        for _ in 0..1000 {
            let [a, b, c, d] = std::array::from_fn(|_| 1 + rng.below(40) as u64);
            let (sum, product) = (of(a, b).add(of(c, d)).0.unwrap(), of(a, b).mul(of(c, d)).0.unwrap());
            assert_eq!(sum.numerator * u128::from(b * d), u128::from(a * d + c * b) * sum.denominator);
            assert_eq!(product.numerator * u128::from(b * d), u128::from(a * c) * product.denominator);
            assert_eq!(gcd(sum.numerator, sum.denominator), 1);
            assert_eq!(gcd(product.numerator, product.denominator), 1);
        }
    }

    #[test]
    fn what_does_not_fit_is_unknown_and_stays_so() {
        let large = Exact(Some(Fraction { numerator: 1, denominator: u128::MAX }));
        assert_eq!(large.mul(of(1, 2)), Exact(None));
        assert_eq!(large.add(of(1, 2)), Exact(None));
        assert_eq!(large.mul(of(1, 2)).add(Exact::ONE), Exact(None));
    }
}
