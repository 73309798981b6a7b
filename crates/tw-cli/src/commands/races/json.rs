//! Findings for programs: one object each.

use crate::json::{self, Object, array};
use tracewise::{Deadlock, Place, Race, RacesReport, Turn, Use};

/// One object per finding.
pub(super) fn objects(report: &RacesReport) -> Vec<String> {
    let line = |place: Place| json::line(&report.line(place));
    let turn = |turn: &Turn| {
        Object::new()
            .field("thread", turn.thread.as_str())
            .field("holds", turn.holds.as_str())
            .field("wants", turn.wants.as_str())
            .field("held", turn.held.clone())
            .field("position", turn.at.position)
            .raw("held_line", &line(turn.held_at))
            .raw("line", &line(turn.at))
            .end()
    };
    let usage = |usage: &Use| {
        Object::new()
            .field("thread", usage.thread.as_str())
            .field("action", if usage.write { "write" } else { "read" })
            .field("locks", usage.locks.clone())
            .field("position", usage.at.position)
            .raw("line", &line(usage.at))
            .end()
    };
    let head = |kind: &str| Object::new().field("finding", kind).field("trace", report.trace.as_str());
    let deadlock = |deadlock: &Deadlock| {
        let of = |name: fn(&Turn) -> &String| deadlock.turns.iter().map(name).cloned().collect::<Vec<_>>();
        head("deadlock")
            .field("threads", of(|turn| &turn.thread))
            .field("locks", of(|turn| &turn.holds))
            .raw("turns", &array(deadlock.turns.iter().map(turn)))
            .end()
    };
    let race = |race: &Race| {
        let object = head("race")
            .field("variable", race.variable.as_str())
            .raw("access", &usage(&race.access))
            .raw("earlier", &usage(&race.earlier));
        match &race.write {
            Some(write) => object.raw("write", &usage(write)),
            None => object,
        }
        .field("protected_by", race.protected_by.clone())
        .end()
    };
    let found = &report.found;
    found.deadlocks.iter().map(deadlock).chain(found.races.iter().map(race)).collect()
}
