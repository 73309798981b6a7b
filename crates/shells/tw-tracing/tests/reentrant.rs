//! What is called for a violation may log. Alone in its program: only a subscriber for the whole program is told of events
//! that come from inside another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tracewise::Specification;
use tracing::info;
use tracing_subscriber::prelude::*;

#[test]
fn a_callback_may_log() {
    let spec = Specification::from_text("test.tw", "property p : G !bad; property q : G !worse;").unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let builder = tw_tracing::builder().check(&spec).unwrap().on_violation(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        info!("worse");
    });
    let (layer, guard) = builder.build();
    tracing_subscriber::registry().with(layer).init();
    info!("bad");
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    assert!(guard.finish().unwrap().iter().all(|outcome| !outcome.holds));
}
