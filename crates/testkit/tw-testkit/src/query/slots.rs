//! The slots of generated queries, and random columns for them.

use super::QueryShape;
use crate::Rng;
use crate::generate::runs;
use tw_core::{Bits, Column, Dictionary, Value};
use tw_ir::{Expect, Path, PathStep, Program, Slot, What};

/// Propositions, before the other slots.
pub(super) const PROPOSITIONS: usize = 4;
/// Small whole numbers.
pub(super) const SMALL: u32 = 4;
/// Halves.
pub(super) const HALVES: u32 = 5;
/// Small numbers of both kinds.
pub(super) const MIXED: u32 = 6;
/// Whole numbers, now and then of any size.
pub(super) const LARGE: u32 = 7;
/// Reals of any size.
pub(super) const WILD: u32 = 8;
pub(super) const NAME: u32 = 9;
pub(super) const ANY: u32 = 10;
pub(super) const FLAG: u32 = 11;
pub(super) const TAGS: u32 = 12;

pub(super) const NAMES: [&str; 4] = ["ann", "bob", "eve", "żak"];

/// The slots of every generated program.
pub(super) fn declare(program: &mut Program) {
    let variable = |name: &str, expect| What::Variable(Path::field(name), expect);
    let propositions = ["a", "b", "c", "d"].map(|name| What::Proposition(Path::field(name)));
    let tags = Path { steps: vec![PathStep::Field("tags".into()), PathStep::Each] };
    let values = [
        variable("i", Expect::Number),
        variable("r", Expect::Number),
        variable("x", Expect::Number),
        variable("big", Expect::Number),
        variable("wild", Expect::Number),
        variable("name", Expect::Text),
        variable("any", Expect::Any),
        variable("flag", Expect::Bool),
        What::Variable(tags, Expect::Any),
    ];
    let slot = |what| Slot { what, declared: false, span: Default::default() };
    program.slots = propositions.into_iter().chain(values).map(slot).collect();
}

/// One column per slot.
pub(super) fn slots(rng: &mut Rng, shape: &QueryShape, len: usize) -> Vec<Column> {
    let valid = |rng: &mut Rng| match shape.nulls {
        Some(nulls) => (0..len).map(|_| !rng.chance(nulls)).collect(),
        None if rng.one_in(3) => runs(rng, len),
        None => (0..len).map(|_| !rng.chance(50)).collect(),
    };
    let mut columns: Vec<Column> = (0..PROPOSITIONS).map(|_| Column::Truth(runs(rng, len))).collect();
    columns
        .push(Column::Int { values: (0..len).map(|_| rng.below(9) as i64 - 4).collect(), valid: valid(rng) });
    columns.push(Column::Real {
        values: (0..len).map(|_| rng.below(17) as f64 / 2.0 - 4.0).collect(),
        valid: valid(rng),
    });
    let there: Bits = valid(rng);
    let mixed = |rng: &mut Rng| match rng.below(8) {
        0..4 => Value::Int(rng.below(9) as i64 - 4),
        4 => Value::Real(-0.0),
        _ => Value::Real(rng.below(17) as f64 / 4.0 - 2.0),
    };
    columns
        .push(Column::Any((0..len).map(|at| if there.get(at) { mixed(rng) } else { Value::Null }).collect()));
    let extreme = rng.pick(&[0, 0, 30, 300]);
    let values = (0..len)
        .map(|_| if rng.chance(extreme) { rng.pick(&EXTREMES) } else { rng.below(2001) as i64 - 1000 });
    columns.push(Column::Int { values: values.collect(), valid: valid(rng) });
    let wild = rng.pick(&[0, 0, 100, 900]);
    let values = (0..len)
        .map(|_| if rng.chance(wild) { rng.pick(&REALS) } else { (rng.below(41) as f64 - 20.0) * 0.1 });
    columns.push(Column::Real { values: values.collect(), valid: valid(rng) });
    columns.push(Column::Text {
        ids: (0..len).map(|_| rng.below(NAMES.len()) as u32).collect(),
        dictionary: Dictionary { entries: NAMES.map(Into::into).to_vec() },
        valid: valid(rng),
    });
    columns.push(Column::Any((0..len).map(|_| any(rng)).collect()));
    columns.push(Column::Truth(runs(rng, len)));
    let list = |rng: &mut Rng| Value::List((0..rng.below(4)).map(|_| any(rng)).collect());
    let tags = (0..len).map(|_| if rng.one_in(5) { Value::Null } else { list(rng) });
    columns.push(Column::Any(tags.collect()));
    columns
}

const EXTREMES: [i64; 7] =
    [i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 1, i64::MAX / 2 + 1, 1 << 53, (1 << 53) + 1];

/// Rounding, cancelling, overflowing, vanishing.
const REALS: [f64; 20] = [
    0.0,
    -0.0,
    1e308,
    -1e308,
    f64::MAX,
    -f64::MAX,
    5e-324,
    -5e-324,
    f64::MIN_POSITIVE,
    1e-160,
    -1e160,
    1e16,
    -1e16,
    1.0,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    9.223_372_036_854_776e18,
    1.0 / 3.0,
    -2.5,
    1e-300,
];

fn any(rng: &mut Rng) -> Value {
    match rng.below(7) {
        0 => Value::Null,
        1 | 2 => Value::Int(rng.below(7) as i64 - 3),
        3 => Value::Real(rng.below(13) as f64 / 2.0 - 3.0),
        4 => Value::text(rng.pick(&NAMES)),
        5 => Value::Bool(rng.one_in(2)),
        _ => Value::Real((1u64 << 53) as f64),
    }
}
