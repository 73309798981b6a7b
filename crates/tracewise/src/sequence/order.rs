//! The order of the events of charts, as a graph: what has to come before what, and nothing else.

use super::charts;
use crate::{Error, Specification};
use std::fmt::Write;
use tw_ir::chart::Check;

/// The events of the charts and what directly precedes what, in DOT.
pub fn dot(spec: &Specification, only: Option<&str>) -> Result<String, Error> {
    let mut out =
        String::from("digraph charts {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n");
    for (number, chart) in charts(spec, only)?.into_iter().enumerate() {
        let name = chart.name.name.as_str();
        let own = |check: &Check| check.parts.iter().all(|(chart, _)| **chart == *name);
        let roots = spec.program.roots.iter();
        let Some((_, check, _)) =
            roots.filter_map(|root| spec.program.chart(root.node)).find(|(_, check, _)| own(check))
        else {
            continue;
        };
        let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label={};", quoted(name));
        let parts = [("pre", 0..check.pre, "dashed"), ("main", check.pre..check.events.len(), "solid")];
        for (part, events, style) in parts {
            let _ = writeln!(
                out,
                "    subgraph cluster_{number}_{part} {{\n      label=\"{part}\"; style={style};"
            );
            for at in events.clone() {
                let event = &check.events[at];
                let label = format!("{} {}\n{}", event.direction.word(), event.message, event.lifeline);
                let _ = writeln!(out, "      c{number}e{at} [label={}];", quoted(&label));
            }
            for at in events.clone() {
                for before in (0..events.len()).filter(|before| check.before[at] >> before & 1 == 1) {
                    let _ = writeln!(out, "      c{number}e{} -> c{number}e{at};", events.start + before);
                }
            }
            out.push_str("    }\n");
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    Ok(out)
}

/// A text of DOT.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out + "\""
}
