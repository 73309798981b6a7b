//! Parametric monitors inside the program that they observe.

use std::sync::{Arc, Mutex};
use tracewise::findings::Severity;
use tracewise::{Specification, Value};
use tracing::info;
use tracing_subscriber::prelude::*;
use tw_tracing::{Violation, builder};

const RULES: &str = "monitor Closed(file) \"every opened file is closed\" warning {
    event open(file);
    event close(file);
    ltl : open -> F close;
    on violation \"{file} is left open\";
}
monitor Shut(file) {
    event close(file);
    event read(file);
    ere : close read;
    on match \"{file} is read, though it is closed\";
}
property calm : G !panic;
";

#[test]
fn reports_are_told_as_they_happen_and_at_the_end() {
    let spec = Specification::from_text("files.tw", RULES).expect("a specification");
    let heard: Arc<Mutex<Vec<Violation>>> = Arc::default();
    let told = Arc::clone(&heard);
    let tell = move |violation: &Violation| told.lock().expect("a lock").push(violation.clone());
    let (layer, guard) = builder().check(&spec).expect("a monitor").on_violation(tell).build();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        info!(file = "a", "open");
        info!(file = "b", "open");
        info!(file = "a", "close");
        info!("of no concern");
        info!(file = "a", "read");
    });
    let violations = heard.lock().expect("a lock");
    assert_eq!(violations.len(), 1, "{violations:?}");
    let violation = &violations[0];
    assert_eq!((violation.property.as_str(), violation.position), ("Shut", 3));
    assert_eq!(violation.bindings, [("file".to_string(), Value::text("a"))]);
    assert_eq!(violation.report, Some(("a is read, though it is closed".into(), "match".into())));
    assert_eq!((violation.severity, violation.recent.len()), (Severity::Error, 4));
    assert!(violation.to_string().ends_with("= a is read, though it is closed (`match`)"), "{violation}");
    let outcomes = guard.finish().expect("outcomes");
    let held: Vec<(&str, bool, bool)> =
        outcomes.iter().map(|own| (own.property.as_str(), own.holds, own.settled)).collect();
    assert_eq!(held, [("calm", true, false), ("Closed", false, false), ("Shut", false, true)]);
    assert_eq!(outcomes[1].reports.len(), 1);
    assert!(outcomes[1].reports[0].contains("b is left open"), "{:?}", outcomes[1].reports);
}

#[test]
fn a_layer_of_monitors_alone() {
    let text = "monitor Once(id) suggestion { event start(id); ere : start start; }";
    let spec = Specification::from_text("once.tw", text).expect("a specification");
    let heard: Arc<Mutex<Vec<(String, Severity)>>> = Arc::default();
    let told = Arc::clone(&heard);
    let tell = move |own: &Violation| told.lock().expect("a lock").push((own.property.clone(), own.severity));
    let (layer, guard) = builder().check(&spec).expect("a monitor").on_violation(tell).build();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        (0..3).for_each(|id| info!(id, "start"));
        info!(id = 1, "start");
    });
    assert_eq!(guard.positions(), 4);
    assert_eq!(*heard.lock().expect("a lock"), [("Once".to_string(), Severity::Suggestion)]);
    assert!(!guard.finish().expect("outcomes")[0].holds);
}
