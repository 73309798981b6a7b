//! Numbers as people read them: thousands separated, a power of ten where plain digits would be long.

/// `digits · 10^power`, exactly. Ticks are decimal numbers, and are written from these without rounding errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub digits: i64,
    pub power: i32,
}

impl Decimal {
    /// The nearest `f64`.
    pub fn value(self) -> f64 {
        format!("{}e{}", self.digits, self.power).parse().unwrap_or(f64::NAN)
    }

    /// Without zeros at the end of the digits.
    pub fn trimmed(self) -> Self {
        let Decimal { mut digits, mut power } = self;
        while digits != 0 && digits % 10 == 0 {
            (digits, power) = (digits / 10, power + 1);
        }
        Decimal { digits, power: if digits == 0 { 0 } else { power } }
    }

    /// The power of ten after the first digit: 2 for 340, -1 for 0.34.
    pub fn magnitude(self) -> i32 {
        self.digits.unsigned_abs().checked_ilog10().unwrap_or(0) as i32 + self.power
    }

    /// In plain digits with thousands separated: `-12,345.60`.
    pub fn plain(self) -> String {
        if self.digits == 0 {
            return "0".into();
        }
        let sign = if self.digits < 0 { "-" } else { "" };
        let mut digits = self.digits.unsigned_abs().to_string();
        let places = (-self.power).max(0) as usize;
        digits.extend(std::iter::repeat_n('0', self.power.max(0) as usize));
        if digits.len() <= places {
            digits.insert_str(0, &"0".repeat(places + 1 - digits.len()));
        }
        let (whole, part) = digits.split_at(digits.len() - places);
        let point = if part.is_empty() { "" } else { "." };
        format!("{sign}{}{point}{part}", separated(whole))
    }

    /// As `1.25e9`.
    pub fn scientific(self) -> String {
        let this = self.trimmed();
        if this.digits == 0 {
            return "0".into();
        }
        let sign = if this.digits < 0 { "-" } else { "" };
        let digits = this.digits.unsigned_abs().to_string();
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{rest}e{}", this.magnitude())
    }
}

fn separated(whole: &str) -> String {
    let mut out = String::with_capacity(whole.len() * 4 / 3);
    for (index, c) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Labels of the ticks of one axis: all plain with the same decimal places, or all with powers of ten.
pub(crate) fn labels(ticks: &[Decimal]) -> Vec<String> {
    let shown = ticks.iter().filter(|tick| tick.digits != 0);
    let magnitude = shown.clone().map(|tick| tick.magnitude()).max().unwrap_or(0);
    let longest = shown.map(|tick| tick.trimmed().digits.unsigned_abs().to_string().len()).max().unwrap_or(1);
    // Large numbers that differ in late digits only are easier to tell apart when written out.
    let written_out = (0..18).contains(&magnitude) && longest > 7;
    if !(-4..10).contains(&magnitude) && !written_out {
        ticks.iter().map(|tick| tick.scientific()).collect()
    } else {
        ticks.iter().map(|tick| tick.plain()).collect()
    }
}

/// A number for people: integers below 10^15 in full, others with six significant digits; thousands are separated.
///
/// ```
/// assert_eq!(tw_plot::number(1234567.0), "1,234,567");
/// assert_eq!(tw_plot::number(-0.1234567), "-0.123457");
/// assert_eq!(tw_plot::number(2.5e-9), "2.5e-9");
/// ```
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "⊥".into();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Decimal { digits: value as i64, power: 0 }.plain();
    }
    let Some(decimal) = significant(value) else { return value.to_string() };
    if (-5..12).contains(&decimal.magnitude()) { decimal.plain() } else { decimal.scientific() }
}

/// Rounded to six significant digits.
fn significant(value: f64) -> Option<Decimal> {
    let text = format!("{value:.5e}");
    let (mantissa, power) = text.split_once('e')?;
    let digits = mantissa.replace('.', "").parse().ok()?;
    Some(Decimal { digits, power: power.parse::<i32>().ok()? - 5 }.trimmed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_exactly() {
        let plain = |digits, power| Decimal { digits, power }.plain();
        assert_eq!(plain(3, -1), "0.3");
        assert_eq!(plain(-1_234_560, -2), "-12,345.60");
        assert_eq!(plain(5, 3), "5,000");
        assert_eq!(plain(7, -3), "0.007");
        assert_eq!(plain(100, 0), "100");
        assert_eq!(plain(123_456, 1), "1,234,560");
        assert_eq!(plain(0, -3), "0");
        let scientific = |digits, power| Decimal { digits, power }.scientific();
        assert_eq!(scientific(125, 7), "1.25e9");
        assert_eq!(scientific(-100, 10), "-1e12");
        assert_eq!(scientific(0, 10), "0");
    }

    #[test]
    fn labels_of_an_axis_agree() {
        let ticks = |digits: &[i64], power| {
            labels(&digits.iter().map(|&digits| Decimal { digits, power }).collect::<Vec<_>>())
        };
        assert_eq!(ticks(&[-5, 0, 5, 10], -1), ["-0.5", "0", "0.5", "1.0"]);
        assert_eq!(ticks(&[0, 5, 10], 9), ["0", "5e9", "1e10"]);
        assert_eq!(ticks(&[0, 5, 10], -8), ["0", "5e-8", "1e-7"]);
        assert_eq!(ticks(&[123_456_789_012, 123_456_789_014], 0), ["123,456,789,012", "123,456,789,014"]);
    }

    #[test]
    fn numbers_have_six_digits() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(-0.0), "0");
        assert_eq!(number(1.5), "1.5");
        assert_eq!(number(123_456_789.25), "123,457,000");
        assert_eq!(number(1e15), "1e15");
        assert_eq!(number(f64::MAX), "1.79769e308");
        assert_eq!(number(5e-324), "4.94066e-324");
        assert_eq!(number(0.000_012_5), "0.0000125");
        assert_eq!(number(f64::NAN), "⊥");
    }
}
