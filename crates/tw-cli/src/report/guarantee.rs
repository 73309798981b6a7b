//! What `--clock-error` answers.

use crate::json::{self, Object, array};
use crate::words;
use tracewise::{ClockError, Guarantee, GuaranteeKind, Stretch};

/// The fields behind those that every property has.
pub fn json(object: Object, guarantee: &Guarantee) -> Object {
    let mut object = object.field("guarantee", guarantee.kind.name());
    object = match &guarantee.clock_error {
        ClockError::Same(_) => object.field("clock_error", guarantee.clock_error.to_string()),
        ClockError::Column(name) => {
            object.raw("clock_error", &Object::new().field("column", name.as_str()).end())
        }
    };
    if let Some(due_to) = &guarantee.due_to {
        object = object.raw("due_to", &json::bindings(std::slice::from_ref(due_to)));
    }
    if let Some(blocked) = &guarantee.blocked {
        object = object.field("blocked_by", blocked.formula.as_str()).field("why", blocked.why);
        object = object.field("blocked_by_negation", blocked.negated);
        if let Some((file, line, column)) = &blocked.place {
            let place = Object::new().field("file", file.as_str()).field("line", *line);
            object = object.raw("blocked_at", &place.field("column", *column).end());
        }
    }
    if guarantee.instant_count > 0 {
        object = object.raw("instants", &array(guarantee.instants.iter().map(stretch)));
        object = object.field("instant_count", guarantee.instant_count);
    }
    object
}

fn stretch(stretch: &Stretch) -> String {
    Object::new()
        .raw("from", &json::time(Some(stretch.from.0)))
        .field("from_open", stretch.from.1)
        .raw("to", &json::time(Some(stretch.to.0)))
        .field("to_open", stretch.to.1)
        .end()
}

/// When it fails, beside the events at which it does.
pub fn instants(guarantee: &Guarantee) -> Option<String> {
    let verb = match guarantee.kind {
        GuaranteeKind::ViolatedForAll => "fails",
        GuaranteeKind::ViolatedForSome => "may fail",
        _ => return None,
    };
    let listed: Vec<String> = guarantee.instants.iter().map(Stretch::to_string).collect();
    let more = match guarantee.instant_count - listed.len() {
        0 => String::new(),
        more => {
            format!(" and {} more", words::counted(more as u64, "stretch").replace("stretchs", "stretches"))
        }
    };
    (!listed.is_empty()).then(|| format!("{verb} at instants in {}{more}", listed.join(", ")))
}
