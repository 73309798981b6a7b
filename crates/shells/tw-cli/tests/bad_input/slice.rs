//! Patterns and traces that `slice` cannot make sense of.

use super::{Case, bad};

pub fn cases() -> Vec<Case> {
    let events = |name, command: &str| {
        bad(name, format!("slice {command} t.events")).file("t.events", "f,2\nh,2\nf,1\n")
    };
    vec![
        events("slice-no-patterns", ""),
        events("slice-empty-patterns", "--patterns ''"),
        events("slice-two-patterns-without-comma", "--patterns 'f(x) h(x)'"),
        events("slice-unclosed-pattern", "--patterns 'f(x'"),
        events("slice-arithmetic-in-a-pattern", "--patterns 'f(x + 1)'"),
        events("slice-partly-by-name", "--patterns 'f(x, id: y)'"),
        events("slice-by-name-in-a-trace-without", "--patterns 'f(id: x)'"),
        events("slice-wrong-number-of-arguments", "--patterns 'f(x), h(x, y)'"),
        events("slice-where-of-another-name", "--patterns 'f(x)' --where 'x > z'"),
        events("slice-where-of-time", "--patterns 'f(x)' --where 'F x > 2'"),
        events("slice-where-no-formula", "--patterns 'f(x)' --where 'x >'"),
        events("slice-where-with-more-behind", "--patterns 'f(x)' --where 'x > 1; property p : q'"),
        bad("slice-missing-file", "slice --patterns 'f(x)' nowhere.events"),
        bad("slice-by-position-in-a-trace-with-names", "slice --patterns 'f(x)' t.csv")
            .file("t.csv", "event,id\nf,1\n"),
    ]
}
