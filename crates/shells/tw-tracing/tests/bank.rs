//! The example catches its bug, every time.

#[path = "../examples/bank.rs"]
#[allow(dead_code)]
mod bank;

#[test]
fn the_bug_is_caught() {
    let outcomes = bank::observe(None).expect("the bank runs");
    let found: Vec<(&str, bool)> = outcomes.iter().map(|o| (o.property.as_str(), o.holds)).collect();
    assert_eq!(found, [("solvent", false), ("checked", false)]);
}
