//! Against the reference: random queries on random traces, at every block size and number of threads. No query is
//! refused.

use tw_query_columnar::Columnar;
use tw_testkit::cases;
use tw_testkit::query::{QueryShape, compare};

fn agrees(shape: &QueryShape, cases: u64) {
    let summary = compare(&Columnar, shape, 0..cases);
    assert_eq!((summary.compared, summary.refused), (cases, 0));
}

#[test]
fn agrees_with_the_reference() {
    agrees(&QueryShape::SMALL, cases(30_000));
}

#[test]
fn agrees_with_the_reference_on_numbers() {
    agrees(&QueryShape::NUMERIC, cases(30_000) / 4);
}
