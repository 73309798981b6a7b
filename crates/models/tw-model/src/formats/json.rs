//! Models with everything that is known of them, one state and one transition a line.
//!
//! ```json
//! {"model": "tracewise", "version": 1,
//! "merged": {"keep": "time", "ends": "dead", "options": []},
//! "variables": [
//! {"name": "state", "values": ["s1", "s2"]},
//! {"name": "time", "range": [1, 3]},
//! {"name": "x", "boolean": true, "of": "state", "codes": [0, 1]}],
//! "traces": ["a.csv"],
//! "states": [
//! {"state": "s1", "time": 1, "count": 3, "traces": 3, "first": {"trace": 0, "line": 2}, "last": {"trace": 0, "line": 4}, "initial": 2}],
//! "edges": [
//! {"from": 0, "to": 0, "count": 1, "traces": 1, "first": {"trace": 0, "line": 3}, "last": {"trace": 0, "line": 3}}]}
//! ```
//!
//! - A variable that depends on another (`of`) is told once per value of that one: `codes` are places in its own values. Where nearly
//!   all are the same, `common` is that one and `others` the rest: `[place, code]`.
//! - `initial` is how many traces begin in a state (`true` in models that were not merged), `ends` how many end there.
//! - A variable whose name is one of these keys, or begins with `$`, has a `$` before it in states.
//! - A transition without `count` was assumed, not seen.

mod pull;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::read;
pub(super) use write::write;

use tw_core::Value;

/// Keys of states that are not variables.
const KEYS: [&str; 6] = ["count", "traces", "first", "last", "initial", "ends"];

/// The key of a variable in states.
fn key(name: &str) -> String {
    if KEYS.contains(&name) || name.starts_with('$') { format!("${name}") } else { name.to_owned() }
}

/// A value as JSON on one line.
pub(super) fn text(value: &Value) -> String {
    let mut out = Vec::new();
    write::value(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The value that a text is, if it is one.
pub(super) fn value(text: &str) -> Option<Value> {
    let mut pull = pull::Pull::new(text);
    let value = pull.value().ok()?;
    pull.end().ok()?;
    Some(value)
}
