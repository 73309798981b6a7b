//! Decimal numbers, exactly: bounds of intervals are added and compared, never rounded.

/// `digits` times ten to the power of `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { digits: 0, exponent: 0 };

    /// Reads `12`, `1.5`, `.5`, `2e-3`, `-1_000`; nothing if it has too many digits to be exact.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = whole.chars().chain(fraction.chars()).filter(|c| *c != '_').collect();
        let places = fraction.chars().filter(char::is_ascii_digit).count();
        let exponent = exponent.checked_sub(i32::try_from(places).ok()?)?;
        Some(Decimal { digits: digits.parse().ok()?, exponent }.reduced())
    }

    /// A whole number.
    pub fn whole(number: i64) -> Decimal {
        Decimal { digits: i128::from(number), exponent: 0 }.reduced()
    }

    /// The same number without zeros at its end.
    fn reduced(mut self) -> Decimal {
        if self.digits == 0 {
            return Decimal::ZERO;
        }
        while self.digits % 10 == 0 {
            self.digits /= 10;
            match self.exponent.checked_add(1) {
                Some(exponent) => self.exponent = exponent,
                None => break,
            }
        }
        self
    }

    /// The digits, were the exponent this one.
    fn digits_at(self, exponent: i32) -> Option<i128> {
        let shift = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        if self.digits == 0 { Some(0) } else { self.digits.checked_mul(10_i128.checked_pow(shift)?) }
    }

    /// The sum.
    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        let exponent = self.exponent.min(other.exponent);
        let digits = self.digits_at(exponent)?.checked_add(other.digits_at(exponent)?)?;
        Some(Decimal { digits, exponent }.reduced())
    }

    /// The product.
    pub fn times(self, other: Decimal) -> Option<Decimal> {
        let digits = self.digits.checked_mul(other.digits)?;
        Some(Decimal { digits, exponent: self.exponent.checked_add(other.exponent)? }.reduced())
    }

    /// The number with the other sign.
    pub fn negated(self) -> Decimal {
        Decimal { digits: -self.digits, ..self }
    }

    /// The number times 10⁹, if that is whole.
    pub fn billionths(self) -> Option<i128> {
        self.digits_at(-9)
    }

    /// How often `unit` goes into it, if without rest.
    pub fn divided(self, unit: i64) -> Option<i64> {
        let digits = self.digits_at(0)?;
        if digits % i128::from(unit) == 0 { i64::try_from(digits / i128::from(unit)).ok() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_exact() {
        assert_eq!(decimal("0.1").plus(decimal("0.2")), Some(decimal("0.3")));
        assert_eq!(decimal("1e-3").times(decimal("1e9")).unwrap().divided(1_000), Some(1_000));
        assert_eq!(decimal("1_000.50"), decimal("1000.5"));
        assert_eq!(decimal("-0.00"), Decimal::ZERO);
        assert_eq!(decimal(".5").billionths(), Some(500_000_000));
        assert_eq!(decimal("1e-10").billionths(), None);
        assert_eq!(decimal("1.5").divided(1), None);
        assert_eq!(decimal("5").negated().plus(decimal("5")), Some(Decimal::ZERO));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for text in ["1e99999999999", "9".repeat(60).as_str(), "", ".", "1e", "x"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        for text in ["1e300", "1e2147483647", "1e-2147483647"] {
            assert_eq!(decimal(text).billionths(), None, "{text}");
            assert_eq!(decimal(text).divided(7), None, "{text}");
            assert!(decimal(text).plus(decimal("1")).is_none(), "{text}");
        }
    }
}
