//! The statistics of `check::Statistic`.

use super::write::{Object, array};
use crate::check::{Part, StatisticReport, Wait};
use tw_core::{Time, TimeUnit};

/// The value of the field `stat`.
pub(super) fn statistic(statistic: &StatisticReport) -> String {
    match statistic {
        StatisticReport::Rejecting { value, traversal, per_slice } => Object::new()
            .field("name", "rejecting")
            .field("value", *value)
            .field("traversal", *traversal)
            .field("per_slice", *per_slice)
            .end(),
        StatisticReport::Coverage { traversal, parts } => {
            let object = Object::new().field("name", "coverage").field("traversal", *traversal);
            match parts {
                Some((covered, rest)) => object
                    .field("parts", covered.len() + rest.len())
                    .raw("covered", &array(covered.iter().map(part)))
                    .raw("never", &array(rest.iter().map(part)))
                    .end(),
                None => object.raw("covered", "null").raw("never", "null").end(),
            }
        }
        StatisticReport::Waiting(waits) => {
            let wait = |wait: &Wait| {
                Object::new()
                    .field("formula", wait.part.formula.as_str())
                    .field("asked", wait.asked)
                    .field("met", wait.met)
                    .field("min", wait.range.map(|range| range.0))
                    .field("max", wait.range.map(|range| range.1))
                    .field("mean", wait.mean)
                    .raw("min_time", &in_unit(wait.elapsed.map(|time| (time.unit, time.shortest))))
                    .raw("max_time", &in_unit(wait.elapsed.map(|time| (time.unit, time.longest))))
                    .raw("mean_time", &in_unit(wait.elapsed.map(|time| (time.unit, time.mean))))
                    .field("longest_from", wait.longest_from)
                    .end()
            };
            Object::new().field("name", "waiting").raw("eventualities", &array(waits.iter().map(wait))).end()
        }
        StatisticReport::Vacuity(parts) => {
            let object = Object::new()
                .field("name", "vacuity")
                .field("vacuous", parts.as_ref().map(|parts| !parts.is_empty()));
            let vacuous = |(shown, constant): &(Part, bool)| {
                Object::new().field("formula", shown.formula.as_str()).field("replaced_by", *constant).end()
            };
            object.raw("parts", &array(parts.iter().flatten().map(vacuous))).end()
        }
    }
}

fn part(part: &Part) -> String {
    let object = Object::new().field("formula", part.formula.as_str());
    match part.place {
        Some((start, end)) => object.field("start", start).field("end", end).end(),
        None => object.end(),
    }
}

/// A length of time as a number of the trace's unit.
fn in_unit(time: Option<(TimeUnit, Time)>) -> String {
    time.map_or("null".into(), |(unit, time)| super::value(&unit.value(time.into())))
}
