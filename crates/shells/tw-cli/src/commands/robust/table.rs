//! Robustness as a table for other programs: one line per value.

use crate::report::{Outlet, Reporter};
use std::io;
use tracewise::findings::{Report, json};
use tracewise::robust::Robustness;
use tracewise::trace::push_csv_cell;

/// `trace,property,position,time,robustness`, with the key before the position where the trace is divided; infinities are `inf`
/// and `-inf`.
#[derive(Default)]
pub struct Csv {
    /// Whether the head was written, and whether it has a key.
    head: Option<bool>,
}

impl Reporter for Csv {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        let keyed = match self.head {
            Some(keyed) => keyed,
            None => {
                let keyed = report.robustness().any(|property| property.key.is_some());
                let key = if keyed { "key," } else { "" };
                writeln!(out, "trace,property,{key}position,time,robustness")?;
                self.head = Some(keyed);
                keyed
            }
        };
        for property in report.robustness() {
            let mut start = String::new();
            push_csv_cell(&report.subject, false, &mut start);
            start.push(',');
            push_csv_cell(&property.name, false, &mut start);
            if keyed {
                start.push(',');
                let key = property.key.as_ref().map(tracewise::findings::words::value).unwrap_or_default();
                push_csv_cell(&key, false, &mut start);
            }
            lines(report, property, &start, out)?;
            if out.closed() {
                break;
            }
        }
        out.flush()
    }
}

fn lines(report: &Report, property: &Robustness, start: &str, out: &mut dyn Outlet) -> io::Result<()> {
    let number = |value: f64| json::number(value).trim_matches('"').to_owned();
    let Some(values) = &property.everywhere else {
        let time = property.time.map(|time| time.format()).unwrap_or_default();
        return writeln!(out, "{start},{},{time},{}", property.position, number(property.value));
    };
    for &(position, value) in values {
        let time = report.stamp(position).map(|time| time.format()).unwrap_or_default();
        writeln!(out, "{start},{position},{time},{}", number(value))?;
        if out.closed() {
            break;
        }
    }
    Ok(())
}
