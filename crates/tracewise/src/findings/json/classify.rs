//! The object of a class.

use super::write::{Object, array, line};
use crate::classify::ClassReport;

pub(super) fn object(class: &ClassReport, chain: bool) -> Object {
    let mut object = Object::new()
        .field("property", class.property.as_str())
        .field("class", class.class.as_str())
        .field("verdict", class.verdict.as_str())
        .field("traces", class.traces)
        .field("examples", class.examples.clone())
        .field("hologram", class.hologram.as_str())
        .field("why", class.why.as_str())
        .field("known", class.known)
        .field("severity", class.severity)
        .field("rules", class.rules.to_string());
    if chain {
        object = object.field("level", class.level as u64).field("within", class.within.as_deref());
    }
    if let Some(shrunk) = &class.shrunk {
        let positions = shrunk.iter().map(|(position, _)| *position).collect::<Vec<_>>();
        let lines = shrunk.iter().filter_map(|(_, own)| own.as_ref()).map(line);
        let small = Object::new().field("positions", positions).raw("lines", &array(lines));
        object = object.raw("shrunk", &small.end());
    }
    object
}
