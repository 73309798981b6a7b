//! How many bindings the traces of "RV-Monitor" create.

use std::sync::Arc;
use tw_core::Value;
use tw_engine_parametric::{Monitors, Plan};
use tw_testkit::first_order::Log;

const TEXT: &str = "monitor Map_UnsafeIterator(m, c, i) {
    creation event C(m, c);
    event I(c, i);   event M(m);   event N(c);   event U(i);
    ere : C (M | N)* I U* (M | N)+ U;
}";

#[test]
fn bindings_are_created_where_a_match_can_come_of_them() {
    for (trace, created) in [
        ("C m1 c1; I c1 i1; U i1; M m1; U i1; U i1", 2),
        ("C m1 c1; I c1 i1; I c1 i2; M m1; U i2; U i1", 3),
        ("C m1 c1; C m1 c2; I c1 i1; I c2 i2; M m1; U i1; U i2", 4),
        ("C m1 c1; C m2 c2; I c1 i1; M m2; U i1; N c1; U i1", 3),
        ("M m1; C m1 c1; I c1 i1; N c1; U i1", 2),
        ("U i1; C m1 c2; I c2 i1; N c2; U i1", 2),
        ("I c1 i1; C m1 c1; M m1; U i1", 1),
        ("C m1 c1; U i1; I c1 i1; M m1; U i1", 1),
    ] {
        let program = tw_testkit::texts::specification(TEXT);
        let mut log = Log::default();
        for (at, event) in trace.split("; ").enumerate() {
            let mut words = event.split(' ');
            let name = words.next().expect("a name").to_owned();
            log.times.push(at as i64);
            log.events.push(vec![(name, words.map(Value::text).collect())]);
        }
        let plan = Arc::new(Plan::new(&program).expect("an automaton"));
        let mut monitors = Monitors::new(&plan, usize::MAX, 1);
        monitors.feed(&log.batch(&program), &mut Vec::new()).expect("memory enough");
        assert_eq!(monitors.held(0).created, created, "{trace}");
    }
}
