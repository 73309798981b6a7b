//! Robustness as JSON: one object per value.

use crate::json::{self, Object};
use crate::output::Output;
use std::io::{self, Write};
use tracewise::{
    Contribution, Contributions, RobustReport, RobustTold, RobustValue, Robustness, WeakestLink,
};

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

/// Each property of a trace: its value, or its values at all positions.
pub fn write(report: &RobustReport, several: bool, out: &mut Output) -> io::Result<()> {
    let trace = several.then_some(report.trace.as_str());
    let named = report.properties.len() > 1;
    for property in &report.properties {
        let Some(values) = &property.everywhere else {
            writeln!(out, "{}", object(report, property))?;
            continue;
        };
        let tail = Object::new()
            .maybe("property", named.then_some(property.name.as_str()))
            .maybe("trace", trace)
            .end();
        // What follows the first brace of an object that is not empty.
        let tail = if tail == "{}" { "}".to_string() } else { format!(",{}", &tail[1..]) };
        for (position, &value) in values.iter().enumerate() {
            let time = json::time(report.stamp(position));
            let value = number(value);
            writeln!(out, "{{\"position\":{position},\"time\":{time},\"robustness\":{value}{tail}")?;
            if out.closed() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn object(report: &RobustReport, property: &Robustness) -> String {
    let object = Object::new()
        .field("position", 0)
        .raw("time", &json::time(property.time))
        .raw("robustness", &number(property.value))
        .field("property", property.name.as_str())
        .field("trace", report.trace.as_str());
    let object = match &property.weakest {
        Some(link) => object.raw("weakest", &weakest(link)),
        None => object,
    };
    match &property.contributions {
        Some(found) => object.raw("contributions", &contributions(found)).end(),
        None => object.end(),
    }
}

fn contributions(found: &Contributions) -> String {
    let link = |link: &Contribution| {
        Object::new()
            .field("formula", link.formula.as_str())
            .field("depth", link.depth)
            .field("position", link.position)
            .raw("time", &json::time(link.time))
            .raw("robustness", &number(link.value))
            .field("decides", link.decides)
            .end()
    };
    let margin = |(formula, change): &(String, Option<f64>)| {
        let change = change.map_or("null".into(), number);
        Object::new().field("formula", formula.as_str()).raw("change", &change).end()
    };
    let links: Vec<String> = found.links.iter().map(link).collect();
    let margins: Vec<String> = found.margins.iter().map(margin).collect();
    Object::new()
        .raw("links", &format!("[{}]", links.join(",")))
        .raw("margins", &format!("[{}]", margins.join(",")))
        .end()
}

fn weakest(link: &WeakestLink) -> String {
    Object::new()
        .field("formula", link.formula.as_str())
        .field("reason", link.reason.as_str())
        .field("position", link.position)
        .raw("time", &json::time(link.time))
        .raw("robustness", &number(link.value))
        .raw("values", &json::bindings(&link.values))
        .raw("line", &link.line.as_ref().map_or("null".into(), json::line))
        .end()
}

/// What is told of a stream.
pub fn told(told: &RobustTold<'_>, named: bool) -> String {
    let object = Object::new().field("position", told.position).raw("time", &json::time(told.time));
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
