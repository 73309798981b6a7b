//! The objects of deadlocks and races.

use super::write::{Object, array, line};
use crate::findings::{Access, Race, Report, Turn};

fn head(report: &Report, kind: &str) -> Object {
    Object::new().field("finding", kind).field("trace", report.subject.as_str())
}

pub(super) fn deadlock(report: &Report, turns: &[Turn]) -> Object {
    let of = |name: fn(&Turn) -> &String| turns.iter().map(name).cloned().collect::<Vec<_>>();
    head(report, "deadlock")
        .field("threads", of(|turn| &turn.thread))
        .field("locks", of(|turn| &turn.holds))
        .raw("turns", &array(turns.iter().map(turn)))
}

fn turn(turn: &Turn) -> String {
    Object::new()
        .field("thread", turn.thread.as_str())
        .field("holds", turn.holds.as_str())
        .field("wants", turn.wants.as_str())
        .field("held", turn.held.clone())
        .field("position", turn.position)
        .raw("held_line", &line(&turn.held_line))
        .raw("line", &line(&turn.line))
        .end()
}

pub(super) fn race(report: &Report, race: &Race) -> Object {
    let object = head(report, "race")
        .field("variable", race.variable.as_str())
        .raw("access", &access(&race.access))
        .raw("earlier", &access(&race.earlier));
    match &race.write {
        Some(write) => object.raw("write", &access(write)),
        None => object,
    }
    .field("protected_by", race.protected_by.clone())
}

fn access(access: &Access) -> String {
    Object::new()
        .field("thread", access.thread.as_str())
        .field("action", if access.write { "write" } else { "read" })
        .field("locks", access.locks.clone())
        .field("position", access.position)
        .raw("line", &line(&access.line))
        .end()
}
