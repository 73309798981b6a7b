//! What a slice is about: buckets of values, and positions of its own.

use tw_core::{Column, Position, Value};
use tw_monitor::Bindings;

/// A variable whose values are divided into buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Its number in `Dag::variables`.
    pub variable: u32,
    /// Which way of dividing: a bucket that is divided again needs another.
    pub salt: u32,
    /// How many buckets there are.
    pub of: u32,
}

/// One bucket of a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The division.
    pub division: Division,
    /// Its number.
    pub is: u32,
}

impl Bucket {
    /// Whether it holds a value.
    pub fn holds(&self, value: &Value) -> bool {
        bucket(value, self.division.salt, self.division.of) == self.is
    }
}

/// What may be reported of a slice: the paper's restriction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shard {
    /// Values of variables, each in its bucket.
    pub buckets: Vec<Bucket>,
    /// The first and one past the last position of the log; `None` is all.
    pub positions: Option<(Position, Position)>,
}

impl Shard {
    /// Whether a violation at a position of the log is its own.
    pub fn owns(&self, at: Position, bindings: &Bindings) -> bool {
        let inside = self.positions.is_none_or(|(from, to)| from <= at && at < to);
        let value = |variable: u32| bindings.pairs().iter().find(|(own, _)| *own == variable);
        let in_bucket =
            |bucket: &Bucket| value(bucket.division.variable).is_some_and(|(_, value)| bucket.holds(value));
        inside && self.buckets.iter().all(in_bucket)
    }
}

/// Both halves of a product, so that every bit has a say.
fn mix(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

fn number(bits: u64, salt: u32) -> u64 {
    mix(bits ^ 0x9E37_79B9_7F4A_7C15, 0xA076_1D64_78BD_642F ^ u64::from(salt) << 17)
}

/// A text that looks like a number or a truth value is where that is: whether a cell is one is for its use to say.
fn text(text: &str, salt: u32) -> u64 {
    let perhaps = text.bytes().next().is_some_and(|byte| byte.is_ascii_digit() || b"+-.tf".contains(&byte));
    if let Some(value) = perhaps.then(|| Value::from_cell(text)).flatten()
        && !matches!(value, Value::Str(_))
    {
        return hash(&value, salt);
    }
    let mut hash = number(text.len() as u64, salt);
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash ^ u64::from_le_bytes(word), 0xE703_7ED1_A0B4_28DB);
    }
    hash
}

fn pick(hash: u64, of: u32) -> u32 {
    ((u128::from(mix(hash, 0x9FB2_1C65_1E98_DF25)) * u128::from(of.max(1))) >> 64) as u32
}

/// The bucket of a value: the same in every process. Values that are equal are in one bucket, 1 and 1.0 too.
pub fn bucket(value: &Value, salt: u32, of: u32) -> u32 {
    pick(hash(value, salt), of)
}

fn hash(value: &Value, salt: u32) -> u64 {
    match value {
        Value::Int(int) => number(*int as u64, salt),
        Value::Real(real) if real.fract() == 0.0 && real.abs() < 9.2e18 => number(*real as i64 as u64, salt),
        Value::Real(real) => number(real.to_bits(), salt),
        Value::Str(own) => text(own, salt),
        Value::Bool(bit) => number(u64::from(*bit) ^ 0x5555, salt),
        _ => number(0x7777, salt),
    }
}

/// The buckets of a column's values.
pub(crate) fn buckets(column: &Column, division: Division) -> Vec<u32> {
    let Division { salt, of, .. } = division;
    match column {
        Column::Int { values, .. } => values.iter().map(|int| pick(number(*int as u64, salt), of)).collect(),
        Column::Text { ids, dictionary, .. } => {
            let own: Vec<u32> = dictionary.entries.iter().map(|entry| pick(text(entry, salt), of)).collect();
            ids.iter().map(|id| own[*id as usize]).collect()
        }
        Column::Words(words) => (0..words.len()).map(|at| pick(text(words.get(at), salt), of)).collect(),
        other => (0..other.len()).map(|at| bucket(&other.value(at), salt, of)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_in_one_bucket_and_buckets_fill() {
        for of in [1, 2, 7, 1000] {
            for int in -50..50 {
                let (whole, real) = (Value::Int(int), Value::Real(int as f64));
                assert_eq!(bucket(&whole, 3, of), bucket(&real, 3, of));
                assert_eq!(bucket(&whole, 3, of), bucket(&Value::text(&format!("{int}")), 3, of));
                assert!(bucket(&whole, 3, of) < of);
            }
        }
        let mut filled = [0usize; 16];
        (0..16_000).for_each(|int| filled[bucket(&Value::Int(int), 0, 16) as usize] += 1);
        assert!(filled.iter().all(|own| (800..1200).contains(own)), "{filled:?}");
        // Another salt divides a bucket again.
        let mut again = [0usize; 4];
        for int in (0..16_000).filter(|int| bucket(&Value::Int(*int), 0, 16) == 5) {
            again[bucket(&Value::Int(int), 1, 4) as usize] += 1;
        }
        assert!(again.iter().all(|own| (180..330).contains(own)), "{again:?}");
        let texts = Column::of_values((0..99).map(|int| Value::text(&format!("user{int}"))).collect());
        let division = Division { variable: 0, salt: 2, of: 5 };
        let own: Vec<u32> = (0..99).map(|at| bucket(&texts.value(at), 2, 5)).collect();
        assert_eq!(buckets(&texts, division), own);
    }
}
