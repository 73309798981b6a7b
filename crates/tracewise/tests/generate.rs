//! What `generate` writes: the Rust is compiled into this test and run. `UPDATE_DOCS=1` writes it anew.

#[allow(missing_docs)]
mod generated {
    include!("generated/unsafe.rs");
}

#[allow(missing_docs)]
mod odd {
    include!("generated/odd.rs");
}

use generated::Monitors;
use std::path::Path;
use tracewise::{Specification, generate};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn specification() -> Specification {
    let text = std::fs::read_to_string(root().join("examples/iterators/rules.tw")).unwrap();
    Specification::from_text("rules.tw", &text).unwrap()
}

/// Names that Rust does not have as they stand.
const ODD: &str = "monitor Odd(`a-b`, a_b, type) {
  event `1st`(`a-b`, a_b);
  event `a */ b`(type);
  event `try`(type) = macro(`self`: type);
  event new(a_b);
  event more(`a-b`) = `%`(more: `a-b`);
  ere : `1st` (`a */ b` | `try` | more)* new;
}
";

#[test]
fn the_generated_functions_are_those_of_the_specification() {
    let odd = Specification::from_text("9-a*/.tw\nodd", ODD).unwrap();
    for (name, spec) in [("unsafe.rs", specification()), ("odd.rs", odd)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated").join(name);
        let code = generate::rust(&spec).unwrap();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &code).unwrap();
        }
        assert!(std::fs::read_to_string(&path).unwrap() == code, "UPDATE_DOCS=1 writes {}", path.display());
    }
}

#[test]
fn odd_names_are_functions_too() {
    let mut monitors = odd::Monitors::new().unwrap();
    assert!(monitors._1st(1, 2).unwrap().is_empty());
    assert!(monitors.macro_(3).unwrap().is_empty());
    assert!(!monitors.new_(2).unwrap().is_empty());
}

#[test]
fn the_generated_functions_run() {
    let mut monitors = Monitors::new().unwrap();
    assert!(monitors.get_c("m1", "c1").unwrap().is_empty());
    assert!(monitors.get_i("c1", "i1").unwrap().is_empty());
    assert!(monitors.open("f1").unwrap().is_empty());
    assert!(monitors.use_i("i1").unwrap().is_empty());
    assert!(monitors.modify_m("m1").unwrap().is_empty());
    let reports = monitors.use_i("i1").unwrap();
    assert_eq!(reports[0].violation.text.as_deref(), Some("iterator i1 of c1 is stale"));
    let left = monitors.finish();
    assert_eq!((left.len(), left[0].name.as_str()), (1, "Closed"));
}

/// The same events, with and without the generated functions: the same reports, on random sequences.
#[test]
fn they_are_what_events_by_name_are() {
    use tracewise::Value;
    use tracewise::embed::RowMonitor;
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for _ in 0..50 {
        let (mut made, mut named) = (Monitors::new().unwrap(), RowMonitor::new(&specification()).unwrap());
        for _ in 0..40 {
            let [m, c, i] = [next(2) as i64, next(2) as i64, next(3) as i64];
            let (own, event, arguments): (_, _, &[(&str, i64)]) = match next(5) {
                0 => (made.get_c(m, c), "getC", &[("m", m), ("c", c)]),
                1 => (made.get_i(c, i), "getI", &[("c", c), ("i", i)]),
                2 => (made.modify_m(m), "modifyM", &[("m", m)]),
                3 => (made.modify_c(c), "modifyC", &[("c", c)]),
                _ => (made.use_i(i), "useI", &[("i", i)]),
            };
            let own: Vec<String> = own.unwrap().iter().map(ToString::to_string).collect();
            let arguments: Vec<(&str, Value)> =
                arguments.iter().map(|(name, value)| (*name, Value::Int(*value))).collect();
            named.event(event, &arguments).unwrap();
            let other: Vec<String> = named.reports().iter().map(ToString::to_string).collect();
            assert_eq!(own, other);
        }
    }
}
