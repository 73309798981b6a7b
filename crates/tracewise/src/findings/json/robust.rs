//! Robustness as JSON: one object per value.

use super::write::{Object, array, bindings, line, time, value};
use super::{Outlet, Rest};
use crate::findings::Report;
use crate::robust::{Contribution, Contributions, RobustTold, RobustValue, Robustness, WeakestLink};
use std::io;
use tw_core::Position;

/// A value: a number, or the text `inf` or `-inf`, which numbers of JSON cannot say.
pub fn number(value: f64) -> String {
    match value {
        f64::INFINITY => "\"inf\"".into(),
        f64::NEG_INFINITY => "\"-inf\"".into(),
        value if value.is_nan() => "null".into(),
        // Shortest digits that read back as the same number.
        value => format!("{value:?}"),
    }
}

/// The value at each position, a line each; `named` says whether there is more than one property to tell apart.
pub(super) fn everywhere(
    report: &Report,
    property: &Robustness,
    values: &[(Position, f64)],
    named: bool,
    rest: &Rest<'_>,
    out: &mut dyn Outlet,
) -> io::Result<()> {
    let fields = Object::new()
        .maybe("property", named.then_some(property.name.as_str()))
        .maybe("trace", report.several.then_some(report.subject.as_str()));
    let fields = with_key(fields, report, property);
    // What follows the first brace of an object that is not empty.
    let fields = if fields.is_empty() { String::new() } else { format!(",{}", &fields.open()[1..]) };
    let mut tail = rest.tail(true);
    for (nth, &(position, value)) in values.iter().enumerate() {
        let time = time(report.stamp(position));
        let worth = number(value);
        writeln!(out, "{{\"position\":{position},\"time\":{time},\"robustness\":{worth}{fields}{tail}}}")?;
        if nth == 0 {
            tail = rest.tail(false);
        }
        if out.closed() {
            break;
        }
    }
    Ok(())
}

pub(super) fn object(report: &Report, property: &Robustness) -> Object {
    let object = Object::new()
        .field("position", property.position)
        .raw("time", &time(property.time))
        .raw("robustness", &number(property.value))
        .field("property", property.name.as_str())
        .field("trace", report.subject.as_str());
    let object = with_key(object, report, property);
    let object = match &property.weakest {
        Some(link) => object.raw("weakest", &weakest(link)),
        None => object,
    };
    match &property.contributions {
        Some(found) => object.raw("contributions", &contributions(found)),
        None => object,
    }
}

/// The value of the `by` column, as `query` tells it.
fn with_key(object: Object, report: &Report, property: &Robustness) -> Object {
    match (&report.statistics.by, &property.key) {
        (Some((column, _)), Some(key)) => object.raw("by", &Object::new().raw(column, &value(key)).end()),
        _ => object,
    }
}

fn contributions(found: &Contributions) -> String {
    let link = |link: &Contribution| {
        Object::new()
            .field("formula", link.formula.as_str())
            .field("depth", link.depth)
            .field("position", link.position)
            .raw("time", &time(link.time))
            .raw("robustness", &number(link.value))
            .field("decides", link.decides)
            .end()
    };
    let margin = |(formula, change): &(String, Option<f64>)| {
        let change = change.map_or("null".into(), number);
        Object::new().field("formula", formula.as_str()).raw("change", &change).end()
    };
    Object::new()
        .raw("links", &array(found.links.iter().map(link)))
        .raw("margins", &array(found.margins.iter().map(margin)))
        .end()
}

fn weakest(link: &WeakestLink) -> String {
    Object::new()
        .field("formula", link.formula.as_str())
        .field("reason", link.reason.as_str())
        .field("position", link.position)
        .raw("time", &time(link.time))
        .raw("robustness", &number(link.value))
        .raw("values", &bindings(&link.values))
        .raw("line", &link.line.as_ref().map_or("null".into(), line))
        .end()
}

/// What is told of a stream.
pub fn told(told: &RobustTold<'_>, named: bool) -> String {
    let object = Object::new().field("position", told.position).raw("time", &time(told.time));
    let object = match told.value {
        RobustValue::Settled(value) => object.raw("robustness", &number(value)),
        RobustValue::Predicted(value) => object.raw("robustness", &number(value)).field("predicted", true),
        RobustValue::Bounds(lower, upper) => {
            object.raw("lower", &number(lower)).raw("upper", &number(upper)).field("newest", told.newest)
        }
    };
    let object = match told.minimum {
        Some(least) => object.raw("minimum", &number(least)),
        None => object,
    };
    object.maybe("property", named.then_some(told.property)).end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_json() {
        let cases = [
            (1.5, "1.5"),
            (-3.0, "-3.0"),
            (0.1, "0.1"),
            (1e-9, "1e-9"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::INFINITY, "\"inf\""),
            (f64::NEG_INFINITY, "\"-inf\""),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
            assert!(serde_json::from_str::<serde_json::Value>(&number(value)).is_ok(), "{text}");
        }
    }
}
