//! Answers for people: the verdict, the path that shows it, and where in the logs it was seen.

use crate::style::{Ink, Style};
use crate::words;
use std::io::{self, Write};
use std::time::Duration;
use tracewise::{FormulaReport, Model, ModelReport, PathOrigin, Piece, ProbabilityMethod, TracePath};

/// The answers to all formulas of one run.
pub(super) struct Page<'a> {
    pub model: &'a Model,
    pub name: &'a str,
    pub report: &'a ModelReport,
    /// Steps of a path to list.
    pub steps: usize,
    pub style: Style,
}

impl Page<'_> {
    pub fn write(&self, elapsed: Duration, out: &mut dyn Write) -> io::Result<()> {
        for formula in &self.report.formulas {
            self.formula(formula, out)?;
        }
        let report = self.report;
        let holding = report.formulas.iter().filter(|formula| formula.holds).count();
        let outcome = match (holding, report.formulas.len()) {
            (1, 1) => "the formula holds".to_string(),
            (0, 1) => "the formula does not hold".to_string(),
            (holding, all) => format!("{holding} of {all} formulas hold"),
        };
        let states = words::counted(report.states as u64, "state");
        let edges = words::counted(report.edges as u64, "transition");
        let traces = report.traces.map_or(String::new(), |traces| {
            format!(", merged from {}", words::counted(traces as u64, "trace"))
        });
        let left_out = match report.left_out {
            0 => String::new(),
            few => format!(", {} left out as rare", words::count(few as u64)),
        };
        let summary = format!(
            "{outcome} on {} ({states}, {edges}{left_out}{traces}), {}",
            self.name,
            words::duration(elapsed)
        );
        for line in words::wrap(&summary, self.style.width) {
            writeln!(out, "{}", self.style.paint(Ink::Faint, line))?;
        }
        out.flush()
    }

    fn formula(&self, report: &FormulaReport, out: &mut dyn Write) -> io::Result<()> {
        let (verdict, ink) = if report.holds { ("holds", Ink::Good) } else { ("violated", Ink::Bad) };
        let formula = self.style.paint(Ink::Strong, words::printable(&report.formula));
        writeln!(out, "{:<8}  {formula}", self.style.paint(ink, verdict))?;
        if let Some(title) = &report.title {
            writeln!(out, "  {}", words::printable(title))?;
        }
        if let Some(failing) =
            report.failing.as_ref().filter(|failing| failing.count > 0 && failing.initial > 1)
        {
            writeln!(out, "  {} of {} initial states do not satisfy it", failing.count, failing.initial)?;
        }
        match &report.path {
            None => writeln!(out, "  {}", self.without_path(report))?,
            Some(path) => {
                let kind = if report.holds { "witness" } else { "counterexample" };
                writeln!(out, "  {kind}{}", self.origin(path, &report.origin))?;
                self.path(path, report.origin.pieces(), 2, out)?;
            }
        }
        match &report.probability {
            None => {}
            Some(Err(why)) => writeln!(out, "  probability not known: {why}")?,
            Some(Ok(found)) => {
                let fraction = match &found.fraction {
                    Some(fraction) if found.value > 0.0 && found.value < 1.0 => format!(" = {fraction}"),
                    _ if found.upper > found.lower => format!(" ({} to {})", found.lower, found.upper),
                    _ => String::new(),
                };
                let of = match found.method {
                    ProbabilityMethod::Starts => "probability to begin in a state that satisfies it:",
                    _ => "probability",
                };
                writeln!(out, "  {of} {}{fraction}, going by how often each step was seen", found.value)?;
            }
        }
        writeln!(out)
    }

    /// A claim about all paths that is true, or about some path that is false: in a merged model the second means that
    /// nothing like it was seen, not that it cannot be.
    fn without_path(&self, report: &FormulaReport) -> String {
        let fair = if self.report.fair { "fair " } else { "" };
        let merged = self.model.merged.is_some();
        if report.holds {
            let more = if merged { "; what was not seen may differ" } else { "" };
            return format!("so it is on every {fair}path of the model{more}");
        }
        let from = match &report.failing {
            Some(failing) if failing.count < failing.initial => {
                let example = failing.example.as_deref().unwrap_or_default();
                format!(" from {}", words::printable(example))
            }
            _ => String::new(),
        };
        match merged {
            true => {
                format!(
                    "not seen{from}: no {fair}path of the model shows it, which does not make it impossible"
                )
            }
            false => format!("no {fair}path{from} shows it"),
        }
    }

    fn origin(&self, path: &TracePath, origin: &PathOrigin) -> String {
        let trace =
            |pieces: &[Piece]| pieces.iter().find_map(|piece| piece.trace.clone()).unwrap_or_default();
        let text = match origin {
            PathOrigin::Nowhere => String::new(),
            PathOrigin::Gone(why) => format!(" (whether one trace went this way is not known: {why})"),
            PathOrigin::Observed(pieces) => format!(", observed: {} went this way", trace(pieces)),
            PathOrigin::Spliced(pieces) => {
                let seen: Vec<&str> = pieces.iter().filter_map(|piece| piece.trace.as_deref()).collect();
                let mut traces = seen.clone();
                traces.sort_unstable();
                traces.dedup();
                let endless = path.cycle.is_some() && !path.back_assumed(self.model);
                match (traces.as_slice(), seen.len()) {
                    ([], _) => ", assumed: no trace went this way".to_string(),
                    ([one], 1) if endless => format!(", spliced: {one} went round once, but not for ever"),
                    ([one], 1) => format!(", spliced: {one} went this way, but not from beginning to end"),
                    ([one], _) => {
                        format!(", spliced from pieces of {one}: it did not go all the way in one go")
                    }
                    (traces, _) => {
                        format!(", spliced from {} traces: none of them went all the way", traces.len())
                    }
                }
            }
        };
        words::printable(&text)
    }

    fn path(&self, path: &TracePath, pieces: &[Piece], indent: usize, out: &mut dyn Write) -> io::Result<()> {
        // Evidence inside evidence is listed below it, one after the other.
        let mut todo = vec![(path, pieces, indent, None::<usize>)];
        while let Some((path, pieces, indent, at)) = todo.pop() {
            let pad = " ".repeat(indent.min(40));
            if let Some(at) = at {
                let truth = if path.holds { "holds" } else { "does not hold" };
                writeln!(out, "{pad}at step {}: {} {truth}", at + 1, words::printable(&path.formula))?;
            }
            self.steps(path, pieces, &pad, out)?;
            for told in path.branches.iter().rev() {
                // What is a state's own business was said with the state.
                if told.path.steps.len() > 1 || told.path.cycle.is_some() || !told.path.branches.is_empty() {
                    todo.push((&told.path, &[], indent + 2, Some(told.step)));
                }
            }
        }
        Ok(())
    }

    fn steps(&self, path: &TracePath, pieces: &[Piece], pad: &str, out: &mut dyn Write) -> io::Result<()> {
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
            let place = match place(pieces, at) {
                Some((trace, line)) => format!("{trace}:{line}"),
                None if step.assumed => self.assumed(step.state).to_string(),
                None => step.seen.as_ref().map_or(String::new(), |(trace, line)| format!("{trace}:{line}")),
            };
            let number = self.style.paint(Ink::Frame, format!("{:>gutter$}", at + 1));
            let place = self.style.paint(Ink::Faint, words::printable(&place));
            writeln!(out, "{}", format!("{pad}{number}  {label:<width$}  {place}").trim_end())?;
        }
        if skipped > 0 {
            writeln!(out, "{pad}{:>gutter$}  {}", "…", more(skipped))?;
        }
        if let Some(cycle) = path.cycle {
            let again = if cycle + 1 == path.steps.len() {
                format!("then step {} for ever", cycle + 1)
            } else {
                format!("then step {} again, and so on for ever", cycle + 1)
            };
            let assumed = match path.back_assumed(self.model) {
                true => format!(" ({})", self.assumed(path.steps[cycle].state)),
                false => String::new(),
            };
            writeln!(out, "{pad}{again}{assumed}")?;
        }
        if path.cut {
            writeln!(out, "{pad}there is more, too much to show")?;
        }
        Ok(())
    }

    /// Why a path is taken to stay where it is.
    fn assumed(&self, state: u32) -> &'static str {
        let others = self.model.graph.successors(state).iter().any(|&to| to != state);
        match (others, self.report.left_out > 0) {
            (true, _) => "assumed: some trace ended here",
            (false, true) => "assumed: what was seen next, if anything, is left out as rare",
            (false, false) => "assumed: no trace says what comes next",
        }
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

/// Trace and line of a step in the pieces that a path is put together from.
fn place(pieces: &[Piece], at: usize) -> Option<(&str, u64)> {
    // Where two pieces meet, the step was reached by the first.
    let piece = pieces.iter().find(|piece| {
        piece.trace.is_some() && piece.steps.0 <= at && at <= piece.steps.1 && (at > piece.steps.0 || at == 0)
    })?;
    Some((piece.trace.as_deref()?, *piece.lines.get(at - piece.steps.0)?))
}

/// `1 more step`, `80 more steps`.
fn more(steps: u64) -> String {
    format!("{} more {}", words::count(steps), if steps == 1 { "step" } else { "steps" })
}
