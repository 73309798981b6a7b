//! Intervals after temporal operators: `[0,5]`, `[10ms,3s)`, `(2,inf)`, `[<=1h]`.

use super::Parser;
use crate::lexer::Tok;
use tw_core::TimeUnit;
use tw_diag::Diagnostic;
use tw_ir::{Bound, CompareOp, Interval};

const EXAMPLES: &str = "intervals are written `[0,5]`, `[10ms,3s)`, `(2,inf)` or `[<=1h]`";

impl Parser<'_> {
    /// The interval at the current token, if there is one. What is wrong with it is reported.
    pub(super) fn interval(&mut self) -> Option<Interval> {
        let present = match self.kind() {
            Tok::OpenBracket => true,
            Tok::OpenParen => self.round_interval(),
            _ => false,
        };
        if !present {
            return None;
        }
        let open = self.span();
        match self.interval_inside() {
            Ok(interval) => {
                let span = open.to(self.gap());
                if is_empty(&interval) {
                    let found = Diagnostic::error("empty-interval", "this interval is empty");
                    let found = found.at(span, "no distance in time lies inside");
                    self.report(match interval.high {
                        Some(high) if high.billionths > 0 && higher(&interval.low, &high) => {
                            found.help("the lower end comes first")
                        }
                        _ => found.help("`[a,a]` holds exactly the distance a"),
                    });
                }
                Some(interval)
            }
            Err(found) => {
                self.report(found);
                self.skip_interval();
                None
            }
        }
    }

    /// `(` opens an interval when a number with or without unit, a comma, a number or `inf`, and a closing
    /// bracket follow.
    fn round_interval(&self) -> bool {
        let mut ahead = 1;
        for end in [false, true] {
            match self.peek(ahead) {
                Tok::Number => {
                    ahead += 1;
                    if self.peek(ahead) == Tok::Word && TimeUnit::parse(self.word(ahead)).is_some() {
                        ahead += 1;
                    }
                }
                Tok::Word if end && self.word(ahead) == "inf" => ahead += 1,
                _ => return false,
            }
            let closed = matches!(self.peek(ahead), Tok::CloseParen | Tok::CloseBracket);
            if end {
                return closed;
            }
            if self.peek(ahead) != Tok::Comma {
                return false;
            }
            ahead += 1;
        }
        false
    }

    fn interval_inside(&mut self) -> Result<Interval, Diagnostic> {
        let zero = Bound { billionths: 0, unit: None, open: false };
        let open = self.kind() == Tok::OpenParen;
        self.advance();
        if let Tok::Compare(op) = self.kind() {
            self.advance();
            let bound = self.bound()?;
            if self.accept(Tok::CloseBracket).is_none() {
                return Err(self.bad_interval("`]`"));
            }
            return match op {
                CompareOp::Le => Ok(Interval { low: zero, high: Some(bound) }),
                CompareOp::Lt => Ok(Interval { low: zero, high: Some(Bound { open: true, ..bound }) }),
                CompareOp::Ge => Ok(Interval { low: bound, high: None }),
                CompareOp::Gt => Ok(Interval { low: Bound { open: true, ..bound }, high: None }),
                CompareOp::Eq => Ok(Interval { low: bound, high: Some(bound) }),
                CompareOp::Ne => Err(Diagnostic::error("bad-interval", "`!=` does not describe an interval")
                    .at(self.span_at(self.at - 1), "")
                    .help(EXAMPLES)),
            };
        }
        let start = self.span();
        let low = Bound { open, ..self.bound()? };
        if self.kind() == Tok::CloseBracket {
            let one = self.slice(start.to(self.gap()));
            return Err(Diagnostic::error("bad-interval", "an interval has two ends")
                .at(start.to(self.gap()), "")
                .help(format!(
                    "write `[0,{one}]` for \"within {one}\", `[{one},{one}]` for \"exactly {one}\""
                )));
        }
        if self.accept(Tok::Comma).is_none() {
            return Err(self.bad_interval("`,`"));
        }
        let high = if self.kind() == Tok::Word && self.word(0) == "inf" {
            self.advance();
            None
        } else {
            Some(self.bound()?)
        };
        let close = self.kind();
        if !matches!(close, Tok::CloseBracket | Tok::CloseParen) {
            return Err(self.bad_interval("`]` or `)`"));
        }
        self.advance();
        Ok(Interval { low, high: high.map(|high| Bound { open: close == Tok::CloseParen, ..high }) })
    }

    fn bad_interval(&self, expected: &str) -> Diagnostic {
        let message = format!("expected {expected} in this interval, found {}", self.found());
        Diagnostic::error("bad-interval", message).at(self.span(), "").help(EXAMPLES)
    }

    fn bound(&mut self) -> Result<Bound, Diagnostic> {
        if self.kind() == Tok::Minus {
            let span = self.span().to(self.span_at(self.at + 1));
            return Err(Diagnostic::error("bad-interval", "distances in time are not negative")
                .at(span, "")
                .help("for the past use the operators `O H S B T Y Z`"));
        }
        if self.kind() != Tok::Number {
            return Err(self.bad_interval("a number"));
        }
        let span = self.advance();
        let Some(billionths) = billionths(self.slice(span)) else {
            return Err(Diagnostic::error("bad-interval", "this bound is too large or too fine")
                .at(span, "")
                .help("bounds have at most nine decimals; choose a smaller or larger unit"));
        };
        let mut unit = None;
        if self.kind() == Tok::Word {
            let word = self.word(0);
            unit = TimeUnit::parse(word);
            if unit.is_none() {
                return Err(self.unknown_unit(word));
            }
            self.advance();
        }
        Ok(Bound { billionths, unit, open: false })
    }

    /// A word where a unit is expected.
    pub(super) fn unknown_unit(&self, word: &str) -> Diagnostic {
        let meant = match word.to_ascii_lowercase().trim_end_matches('s') {
            "sec" | "second" => Some("s"),
            "min" | "minute" => Some("m"),
            "hour" | "hr" => Some("h"),
            "day" => Some("d"),
            "milli" | "msec" | "millisecond" => Some("ms"),
            "micro" | "usec" | "microsecond" | "µ" => Some("us"),
            "nano" | "nsec" | "nanosecond" => Some("ns"),
            _ => None,
        };
        Diagnostic::error("bad-interval", format!("`{word}` is not a unit of time")).at(self.span(), "").help(
            match meant {
                Some(unit) => format!("write `{unit}`"),
                None => "units are `ns us ms s m h d`".to_owned(),
            },
        )
    }

    /// Goes on behind the closing bracket, if it is near.
    fn skip_interval(&mut self) {
        for ahead in 0..12 {
            match self.peek(ahead) {
                Tok::CloseBracket | Tok::CloseParen => {
                    self.at += ahead;
                    self.advance();
                    return;
                }
                Tok::Semicolon | Tok::End | Tok::OpenParen => return,
                _ => {}
            }
        }
    }
}

fn nanoseconds(bound: &Bound) -> Option<i128> {
    bound.billionths.checked_mul(bound.unit.map_or(1, |unit| i128::from(unit.nanoseconds())))
}

fn higher(low: &Bound, high: &Bound) -> bool {
    nanoseconds(low) > nanoseconds(high)
}

/// Whether no distance lies inside whatever the clock is: a bare number and one with a unit are compared only
/// when one of them is zero.
fn is_empty(interval: &Interval) -> bool {
    let Some(high) = interval.high else { return false };
    let low = interval.low;
    if high.billionths == 0 && low.billionths > 0 {
        return true;
    }
    if low.unit.is_some() != high.unit.is_some() && low.billionths != 0 {
        return false;
    }
    match (nanoseconds(&low), nanoseconds(&high)) {
        (Some(a), Some(b)) => a > b || a == b && (low.open || high.open),
        _ => false,
    }
}

/// A decimal number times 10⁹, exactly; `None` if that is no integer or too large.
pub(super) fn billionths(text: &str) -> Option<i128> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value: i128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        value = value.checked_mul(10)?.checked_add(i128::from(digit.checked_sub(b'0')?))?;
    }
    let mut power = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?.checked_add(9)?;
    while power > 0 && value != 0 {
        value = value.checked_mul(10)?;
        power -= 1;
    }
    while power < 0 && value != 0 {
        if value % 10 != 0 {
            return None;
        }
        value /= 10;
        power += 1;
    }
    Some(value)
}
