//! `tracewise coverage`: how much of the behaviour the traces of a model have shown.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, limit};
use crate::words;
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;
use tracewise::findings::json;
use tracewise::merge::{Coverage, Estimate};
use tracewise::model::read_model;
use tracewise::plot::{Axis, Body, Chart, Series};

/// How much the traces of a merged model have shown, and what may be missing
///
/// States and transitions that were seen once hint at those that were not seen at all: the share of steps of another trace that
/// would be new (Good and Turing), how many states and transitions there are in all (Chao), which traces added
/// nothing, and how the model grew with the traces.
#[derive(Args, Debug)]
pub struct CoverageOf {
    /// The model (.json)
    #[arg(value_name = "MODEL", value_hint = FILES)]
    model: String,

    /// Draw how the model grew with the traces (.svg or .png)
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    plot: Option<PathBuf>,

    /// Traces to name of those that added nothing: a number, or all
    #[arg(long, value_name = "N", default_value = "10", value_parser = limit)]
    traces: usize,

    #[command(flatten)]
    output: OutputArgs,
}

impl Runnable for CoverageOf {
    fn run(self, context: &mut Context) -> Outcome {
        let model = read_model(&self.model)?;
        let Some((coverage, record)) = Coverage::of(&model).zip(model.record.as_ref()) else {
            return Err(usage(format!(
                "`{}` does not say what traces it was merged from; merge into a .json model",
                self.model
            )));
        };
        if !context.quiet {
            let names = |traces: &[u32]| -> Vec<String> {
                traces.iter().filter_map(|&trace| record.traces.get(trace as usize).cloned()).collect()
            };
            if self.output.json() {
                writeln!(context.out, "{}", json::coverage(&self.model, &coverage, &names))?;
            } else {
                self.text(&coverage, &names, &mut context.out)?;
            }
        }
        if let Some(path) = &self.plot {
            let drawn = tracewise::plot::write(&chart(&self.model, &coverage), path);
            drawn.map_err(|error| Failure::Error(tracewise::Error::refused(error.to_string())))?;
        }
        Ok(Exit::Holds)
    }
}

impl CoverageOf {
    fn text(
        &self,
        coverage: &Coverage,
        names: &dyn Fn(&[u32]) -> Vec<String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for (noun, found) in [("state", &coverage.states), ("transition", &coverage.transitions)] {
            writeln!(
                out,
                "{} seen, {} of them in one trace only",
                words::counted(found.distinct, noun),
                words::count(found.one_trace)
            )?;
            writeln!(
                out,
                "  chance that the next {noun} is one not seen before: {}",
                percent(found.unseen_mass)
            )?;
            match found.chao2 {
                Some(chao) => writeln!(
                    out,
                    "  in all there are at least about {} (95 %: {})",
                    round(chao.value),
                    range(chao)
                )?,
                None => writeln!(
                    out,
                    "  how many there are in all cannot be estimated from {}",
                    words::counted(coverage.traces as u64, "trace")
                )?,
            }
        }
        let few = |what: &str, traces: &[u32], out: &mut dyn Write| -> io::Result<()> {
            if traces.is_empty() {
                return Ok(());
            }
            let listed = names(&traces[..traces.len().min(self.traces)]);
            let more = match traces.len() - listed.len() {
                0 => String::new(),
                more => format!(", and {} more", words::count(more as u64)),
            };
            let listed: Vec<String> = listed.iter().map(|name| words::printable(name)).collect();
            writeln!(
                out,
                "{} {what}: {}{more}",
                words::counted(traces.len() as u64, "trace"),
                listed.join(", ")
            )
        };
        few("added nothing to those before", &coverage.adding_nothing, out)?;
        few("could be left out, any one alone", &coverage.nothing_of_their_own, out)?;
        let grown: Vec<Option<f64>> =
            coverage.curve.iter().map(|point| Some(point.transitions as f64)).collect();
        writeln!(
            out,
            "transitions as traces are added  {}, {} after {}",
            tracewise::plot::sparkline_between(&grown, 40),
            words::count(coverage.transitions.distinct),
            words::counted(coverage.traces as u64, "trace")
        )
    }
}

/// One line about what may be missing, for the end of a merge.
pub(super) fn summary(coverage: &Coverage) -> String {
    let found = &coverage.transitions;
    let unseen = found.chao2.map(|chao| (chao.value - found.distinct as f64).max(0.0).round());
    let missing = match unseen {
        None => {
            format!("{} cannot tell how many are unseen", words::counted(coverage.traces as u64, "trace"))
        }
        // One seen once is a hint, yet too few to go by.
        Some(0.0) if found.unseen_mass > 0.0 => "too few hints to tell how many are unseen".into(),
        Some(0.0) => "nothing hints at unseen ones".into(),
        Some(1.0) => "at least about 1 transition is unseen".into(),
        Some(some) => format!("at least about {} transitions are unseen", words::count(some as u64)),
    };
    format!(
        "chance that the next transition is one not seen before: {}; {missing}",
        percent(found.unseen_mass)
    )
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".into(),
        small if small < 0.1 => "below 0.1 %".into(),
        share => format!("{share:.1} %"),
    }
}

fn round(number: f64) -> String {
    words::count(number.round() as u64)
}

fn range(estimate: Estimate) -> String {
    match (round(estimate.low), round(estimate.high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    }
}

/// States and transitions against the number of traces: as given, and as to be expected in any order.
fn chart(model: &str, coverage: &Coverage) -> Chart {
    let line = |name: &str, value: &dyn Fn(&tracewise::merge::Point) -> f64, step| Series {
        name: name.into(),
        points: coverage.curve.iter().map(|point| (point.traces as f64, Some(value(point)))).collect(),
        step,
    };
    let series = vec![
        line("transitions", &|point| point.transitions as f64, true),
        line("transitions, in any order", &|point| point.expected_transitions, false),
        line("states", &|point| point.states as f64, true),
        line("states, in any order", &|point| point.expected_states, false),
    ];
    Chart {
        title: "What the traces have shown".into(),
        subtitle: Some(format!("{model}: {}", summary(coverage))),
        x: Axis { label: "traces".into(), ..Axis::default() },
        y: Axis { label: "seen".into(), ..Axis::default() },
        body: Body::Series { series },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracewise::merge::Completeness;

    fn seen(traces: usize, unseen_mass: f64, unseen: Option<f64>) -> Coverage {
        let estimate = unseen.map(|unseen| Estimate { value: 3.0 + unseen, low: 3.0, high: 9.0 });
        let found = Completeness {
            distinct: 3,
            observations: 5,
            once: 1,
            twice: 2,
            one_trace: 1,
            two_traces: 2,
            unseen_mass,
            chao1: estimate,
            chao2: estimate,
        };
        Coverage {
            traces,
            states: found,
            transitions: found,
            curve: Vec::new(),
            adding_nothing: Vec::new(),
            nothing_of_their_own: Vec::new(),
        }
    }

    #[test]
    fn what_may_be_missing_in_a_line() {
        for (coverage, expected) in [
            (seen(1, 1.0, None), "100.0 %; 1 trace cannot tell how many are unseen"),
            (seen(2, 0.2, Some(0.0)), "20.0 %; too few hints to tell how many are unseen"),
            (seen(2, 0.0, Some(0.0)), "0 %; nothing hints at unseen ones"),
            (seen(2, 0.2, Some(1.2)), "20.0 %; at least about 1 transition is unseen"),
            (seen(2, 0.2, Some(2.0)), "20.0 %; at least about 2 transitions are unseen"),
        ] {
            let found = summary(&coverage);
            assert!(found.ends_with(&format!(": {expected}")), "{found}");
        }
    }
}
