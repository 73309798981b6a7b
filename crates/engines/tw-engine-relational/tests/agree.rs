//! Against the definition, on random specifications and logs: stored, live in pieces, saved and restored.

use tw_engine_relational::Relational;
use tw_testkit::conformance::cases;
use tw_testkit::first_order::agree;

#[test]
fn it_answers_as_the_definition_does() {
    let summary = agree(&Relational, 0..cases(2_000));
    println!("{summary:?}");
    let [guarded, in_atoms, _] = summary.refused;
    assert_eq!(guarded, 0, "what events bind is never refused");
    assert!(in_atoms * 100 <= summary.compared[1], "more than one in a hundred refused: {summary:?}");
    assert!(summary.live > 0);
}
