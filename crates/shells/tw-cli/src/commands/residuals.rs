//! `check --show-residual`: the formula that is still owed after each event.

use crate::context::Context;
use crate::exit::Exit;
use crate::style::Ink;
use crate::words;
use std::io::{self, Write};
use tracewise::explain::{ResidualReport, ResidualStep};
use tracewise::findings::json;
use tracewise::{Semantics, Verdict};

/// The verdict: settled, or by the end of the trace, which `ltl3` leaves open.
fn verdict(report: &ResidualReport, semantics: Semantics) -> Verdict {
    let Some(last) = report.steps.last() else { return Verdict::Unknown };
    let ended = last.position + 1 == report.positions && semantics != Semantics::Ltl3;
    match last.settled.or(ended.then_some(last.at_end)) {
        Some(true) => Verdict::Satisfied,
        Some(false) => Verdict::Violated,
        None => Verdict::Unknown,
    }
}

/// The exit code it stands for.
pub fn exit(report: &ResidualReport, semantics: Semantics) -> Exit {
    verdict(report, semantics).into()
}

/// Writes one property's formulas.
pub fn write(report: &ResidualReport, json: bool, context: &mut Context) -> io::Result<()> {
    if json {
        for step in &report.steps {
            writeln!(context.out, "{}", json::residual(report, step))?;
        }
        return Ok(());
    }
    let style = context.style;
    let out = &mut context.out;
    writeln!(out, "{}", style.paint(Ink::Strong, words::printable(&report.name)))?;
    let event =
        |step: &ResidualStep| step.line.as_ref().map_or(String::new(), |line| words::printable(&line.text));
    let widest = report.steps.iter().map(|step| event(step).chars().count()).max().unwrap_or(0).min(40);
    let digits = report.steps.last().map_or(1, |step| step.position.to_string().len());
    writeln!(out, "{:>digits$}  {:widest$}  {}", "", "", report.formula)?;
    for step in &report.steps {
        let text = words::clip(&event(step), widest.max(1));
        let (mark, ink) = match step.settled {
            Some(true) => ("  settled: satisfied", Ink::Good),
            Some(false) => ("  settled: violated", Ink::Bad),
            None => ("", Ink::Faint),
        };
        let number = style.paint(Ink::Frame, format!("{:>digits$}", step.position));
        let owed = if step.owed == step.canonical {
            step.owed.clone()
        } else {
            format!("{}  {}", step.owed, style.paint(Ink::Faint, format!("= {}", step.canonical)))
        };
        writeln!(out, "{number}  {text:widest$}  {owed}{}", style.paint(ink, mark))?;
    }
    match report.steps.last() {
        Some(last) if last.position + 1 == report.positions && last.settled.is_none() => {
            let verdict = if last.at_end { "satisfied" } else { "violated" };
            writeln!(out, "{}", style.paint(Ink::Faint, format!("if the trace ends here: {verdict}")))
        }
        Some(last) if last.settled.is_none() => {
            let rest = words::counted((report.positions - last.position - 1) as u64, "position");
            writeln!(out, "{}", style.paint(Ink::Faint, format!("… {rest} not shown")))
        }
        _ => Ok(()),
    }
}
