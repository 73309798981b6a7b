//! Answers for people: the verdict, the path that shows it, and where in the logs it was seen.

use crate::report::{Outlet, Reporter};
use crate::style::{Ink, Style};
use crate::words;
use std::io;
use tracewise::findings::{Detail, Evidence, EvidencePath, Item, Report};
use tracewise::model;

/// Writes the answers to all formulas of one run.
pub struct Text {
    /// Steps of a path to list.
    pub steps: usize,
    pub style: Style,
}

impl Reporter for Text {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        for item in &report.items {
            if let Detail::Evidence(found) = &item.detail {
                self.formula(item, found, out)?;
            }
        }
        let holding = report.items.len() - report.violated().count();
        let outcome = match (holding, report.items.len()) {
            (1, 1) => "the formula holds".to_string(),
            (0, 1) => "the formula does not hold".to_string(),
            (holding, all) => format!("{holding} of {all} formulas hold"),
        };
        let statistics = &report.statistics;
        let count = |name| statistics.count(name).unwrap_or(0);
        let states = counted(count("states"), "state");
        let edges = statistics
            .count("transitions")
            .map_or(String::new(), |edges| format!(", {}", counted(edges, "transition")));
        let how = if statistics.engine.is_some() { ", as sets" } else { "" };
        let traces = statistics
            .count("traces")
            .map_or(String::new(), |traces| format!(", merged from {}", words::counted(traces, "trace")));
        let left_out = match count("left_out") {
            0 => String::new(),
            few => format!(", {} left out as rare", words::count(few)),
        };
        let summary = format!(
            "{outcome} on {} ({states}{edges}{how}{left_out}{traces}), {}",
            words::printable(&report.subject),
            words::duration(statistics.elapsed)
        );
        for line in words::wrap(&summary, self.style.width) {
            writeln!(out, "{}", self.style.paint(Ink::Faint, line))?;
        }
        out.flush()
    }
}

/// A number of states or transitions; sets may have more than are counted.
fn bounded(count: u64) -> String {
    if count == u64::MAX { "more than 10^19".to_string() } else { count.to_string() }
}

fn counted(count: u64, what: &str) -> String {
    if count == u64::MAX { format!("{} {what}s", bounded(count)) } else { words::counted(count, what) }
}

impl Text {
    fn formula(&self, item: &Item, found: &Evidence, out: &mut dyn Outlet) -> io::Result<()> {
        let (verdict, ink) = if found.holds { ("holds", Ink::Good) } else { ("violated", Ink::Bad) };
        let formula = self.style.paint(Ink::Strong, words::printable(&item.formula));
        writeln!(out, "{:<8}  {formula}", self.style.paint(ink, verdict))?;
        if let Some(title) = &item.title {
            writeln!(out, "  {}", words::printable(title))?;
        }
        if let Some(failing) =
            found.failing.as_ref().filter(|failing| failing.count > 0 && failing.initial > 1)
        {
            let (count, all) = (bounded(failing.count as u64), bounded(failing.initial as u64));
            writeln!(out, "  {} of {} initial states do not satisfy it", count, all)?;
        }
        if found.paths.is_empty() {
            writeln!(out, "  {}", found.without_path())?;
        } else {
            let kind = if found.holds { "witness" } else { "counterexample" };
            writeln!(out, "  {kind}{}", found.whence())?;
            self.paths(&found.paths, out)?;
        }
        match &found.probability {
            None => {}
            Some(Err(why)) => writeln!(out, "  probability not known: {why}")?,
            Some(Ok(found)) => {
                let fraction = match &found.fraction {
                    Some(fraction) if found.value > 0.0 && found.value < 1.0 => format!(" = {fraction}"),
                    _ if found.upper > found.lower => format!(" ({} to {})", found.lower, found.upper),
                    _ => String::new(),
                };
                let of = match found.method {
                    model::Method::Starts => "probability to begin in a state that satisfies it:",
                    _ => "probability",
                };
                writeln!(out, "  {of} {}{fraction}, going by how often each step was seen", found.value)?;
            }
        }
        writeln!(out)
    }

    /// Evidence inside evidence is listed below it, one after the other.
    fn paths(&self, paths: &[EvidencePath], out: &mut dyn Outlet) -> io::Result<()> {
        for path in paths {
            let pad = " ".repeat((2 + 2 * path.depth).min(40));
            if let Some((_, at)) = path.at {
                // What is a state's own business was said with the state.
                if path.steps.len() <= 1 && path.cycle.is_none() && !path.branches {
                    continue;
                }
                let truth = if path.holds { "holds" } else { "does not hold" };
                writeln!(out, "{pad}at step {}: {} {truth}", at + 1, words::printable(&path.formula))?;
            }
            self.steps(path, &pad, out)?;
        }
        Ok(())
    }

    fn steps(&self, path: &EvidencePath, pad: &str, out: &mut dyn Outlet) -> io::Result<()> {
        let width = path.steps.iter().map(|step| step.label.chars().count().min(48)).max().unwrap_or(0);
        let gutter = path.steps.len().to_string().len();
        let shown = shown(path.steps.len(), self.steps, path.cycle);
        let mut skipped = 0;
        for (at, step) in path.steps.iter().enumerate() {
            if !shown(at) {
                skipped += 1;
                continue;
            }
            if skipped > 0 {
                writeln!(out, "{pad}{:>gutter$}  {}", "…", more(skipped))?;
                skipped = 0;
            }
            let label = words::clip(&words::printable(&step.label), 48);
            let place = match (step.place(), step.assumed) {
                (Some((trace, line)), _) => format!("{trace}:{line}"),
                (None, assumed) => assumed.unwrap_or_default().to_string(),
            };
            let number = self.style.paint(Ink::Frame, format!("{:>gutter$}", at + 1));
            let place = self.style.paint(Ink::Faint, words::printable(&place));
            writeln!(out, "{}", format!("{pad}{number}  {label:<width$}  {place}").trim_end())?;
        }
        if skipped > 0 {
            writeln!(out, "{pad}{:>gutter$}  {}", "…", more(skipped))?;
        }
        if let Some(cycle) = path.cycle {
            writeln!(out, "{pad}{}", path.again(cycle))?;
        }
        if path.cut {
            writeln!(out, "{pad}there is more, too much to show")?;
        }
        Ok(())
    }
}

/// Which steps are listed: all, or the first and last of them and those around the beginning of the cycle.
fn shown(steps: usize, most: usize, cycle: Option<usize>) -> impl Fn(usize) -> bool {
    let (head, tail) = (most.div_ceil(2), most / 2);
    move |at| {
        steps <= most
            || at < head
            || at + tail >= steps
            || cycle.is_some_and(|cycle| at == cycle || at + 1 == cycle)
    }
}

/// `1 more step`, `80 more steps`.
fn more(steps: u64) -> String {
    format!("{} more {}", words::count(steps), if steps == 1 { "step" } else { "steps" })
}
