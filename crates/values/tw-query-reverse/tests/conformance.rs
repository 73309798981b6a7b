//! The engine against the reference.

use tw_ir::Semantics;
use tw_query_reverse::Reverse;
use tw_testkit::cases;
use tw_testkit::query::{QueryCase, QueryShape, compare, describe, difference};

#[test]
fn agrees_with_the_reference() {
    let summary = compare(&Reverse, &QueryShape::SMALL, 0..cases(20_000));
    assert_eq!(summary.refused, 0);
}

#[test]
fn agrees_with_the_reference_on_numbers() {
    let summary = compare(&Reverse, &QueryShape::NUMERIC, 0..cases(20_000) / 4);
    assert_eq!(summary.refused, 0);
}

/// Formulas mean another thing at the last position; experiments do not.
#[test]
fn agrees_where_the_last_position_repeats() {
    let shape = QueryShape { lengths: &[1, 2, 3, 5, 64, 65], ..QueryShape::SMALL };
    for seed in 0..cases(20_000) / 4 {
        let mut case = QueryCase::new(seed, &shape);
        case.options.semantics = Semantics::RepeatLast;
        let found = difference(&Reverse, &case).expect("nothing is refused");
        assert!(found.is_none(), "seed {seed}\n{}{}", describe(&case), found.unwrap_or_default());
    }
}
