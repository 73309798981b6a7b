//! Stored and live traces against the reference.

use tw_query_forward::Forward;
use tw_testkit::cases;
use tw_testkit::query::{QueryShape, compare, compare_live};

#[test]
fn agrees_with_the_reference() {
    let cases = cases(60_000);
    let summary = compare(&Forward, &QueryShape::FORWARD, 0..cases);
    assert!(summary.compared * 20 > cases * 19, "refused {} of {cases}", summary.refused);
}

#[test]
fn agrees_with_the_reference_or_refuses() {
    let cases = cases(8_000);
    let summary = compare(&Forward, &QueryShape::SMALL, 0..cases / 2);
    assert!(summary.compared > 0 && summary.refused > 0);
    let summary = compare(&Forward, &QueryShape::NUMERIC, 0..cases / 2);
    assert!(summary.compared > 0 && summary.refused > 0);
}

#[test]
fn monitors_agree_with_the_reference() {
    let cases = cases(40_000);
    let summary = compare_live(&Forward, &QueryShape::FORWARD, 0..cases);
    assert!(summary.compared * 20 > cases * 19, "refused {} of {cases}", summary.refused);
}
