//! `tracewise merge`: many traces to one model.

use super::Runnable;
use super::model_check::FormulaArgs;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs, or_standard_input};
use crate::progress::Progress;
use crate::report::{self, FormArgs, Reporter};
use crate::words;
use clap::Args;
use std::io::Write;
use std::sync::Arc;
use tracewise::findings::json;
use tracewise::findings::{Warning, merge_notes};
use tracewise::language::TraceSettings;
use tracewise::merge::{Coverage, Ends, Keep, MergeOptions, MergeReport, StateNames};
use tracewise::model::write_model;
use tracewise::{Evaluating, Specification};

/// Merge traces into a model: states, transitions, and how often each was seen
///
/// Each file is a trace (with --by, each value of a column). A state's name is the column `state`, else the valuation of
/// all variables but time and event, else the events of the position. What is kept decides which moments of
/// different traces are one state, and with it how large the model is and which paths it invents.
#[derive(Args, Debug)]
#[command(
    after_help = "Exit codes: 0 merged (and all formulas hold, if any were given), 1 a formula does not \
                        hold, 2 bad usage or input."
)]
pub struct Merge {
    /// The traces (`-` is standard input)
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    /// Which moments become one state of the model: those with the same state; with the same state and instant; with
    /// the same state and instant at which it last changed; with the same state and those before it (--history); with
    /// the same everything before it
    #[arg(long, value_name = "WHAT", value_parser = ["state", "time", "change", "history", "tree"])]
    keep: String,

    /// States before the current one that count, with --keep history: 1 to 64 [default: 1]
    #[arg(long, value_name = "K")]
    history: Option<u32>,

    /// Where paths go when traces end: states that nothing follows loop (dead), every state in which a trace ends loops
    /// (all), nothing is added (none), or every such state leads to a state `end` (state)
    #[arg(long, value_name = "WHERE", default_value = "dead", value_parser = ["dead", "all", "none", "state"])]
    end_loops: String,

    /// Column that names the state, or several, separated by commas, whose values are the state
    #[arg(long, value_name = "COL", value_delimiter = ',', conflicts_with = "states")]
    state: Vec<String>,

    /// Specification file whose `let` declarations (those without parameters) are the properties of a state
    #[arg(long, value_name = "SPEC.tw", value_hint = FILES)]
    states: Option<String>,

    /// Every value of this column is a trace of its own: per request id, per user
    #[arg(long, value_name = "COL")]
    by: Option<String>,

    /// Model to write: .json, .smv, .dot, .svg, .pml, .prism or .aut (may be repeated; `-` is standard output, as JSON)
    #[arg(short = 'o', long = "out", value_name = "MODEL", value_hint = FILES)]
    out: Vec<String>,

    /// Most states that the model may have
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,

    #[command(flatten)]
    formulas: FormulaArgs,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Merge {
    fn options(&self) -> Result<MergeOptions, Failure> {
        let keep = match self.keep.as_str() {
            "history" => Keep::History(self.history.unwrap_or(1)),
            other => Keep::parse(other).ok_or_else(|| usage(format!("cannot keep `{other}`")))?,
        };
        let mut options = MergeOptions { by: self.by.clone(), ..MergeOptions::new(keep) };
        options.ends = Ends::parse(&self.end_loops).unwrap_or_default();
        options.states = match (&self.states, self.state.as_slice()) {
            (Some(file), _) => StateNames::Specification(file.clone()),
            (None, []) => StateNames::Auto,
            (None, columns) => StateNames::Columns(columns.to_vec()),
        };
        if let Some(states) = self.max_states {
            options.limits.states = states;
        }
        Ok(options)
    }

    /// What of the traces the model does not show.
    fn warnings(report: &MergeReport, by: Option<&String>) -> Vec<Warning> {
        let found = merge_notes(report, by.map(String::as_str));
        found.into_iter().map(|found| Warning::new(found, &Arc::default())).collect()
    }

    /// What was merged, for people or programs.
    fn tell(&self, report: &MergeReport, context: &mut Context) -> Result<(), Failure> {
        let MergeReport { model, traces, positions, .. } = report;
        let assumed =
            model.record.as_ref().map_or(0, |r| r.edges.iter().filter(|seen| seen.count == 0).count());
        if self.form.output == "json" {
            writeln!(context.out, "{}", json::merged(report, &self.out, &self.keep))?;
            return Ok(());
        }
        let counted = |number: usize, noun: &str| words::counted(number as u64, noun);
        let assumed = match assumed {
            0 => String::new(),
            some => format!(" ({some} assumed where traces end)"),
        };
        writeln!(
            context.out,
            "{}, {}{assumed}, {} from {} of {}",
            counted(model.states(), "state"),
            counted(model.graph.edges(), "transition"),
            counted(model.initial.len(), "initial state"),
            counted(*traces, "trace"),
            words::counted(*positions, "position")
        )?;
        if let Some(coverage) = Coverage::of(model) {
            writeln!(context.out, "{}", super::coverage::summary(&coverage))?;
        }
        if !self.out.is_empty() {
            writeln!(context.out, "wrote {}", words::printable(&self.out.join(", ")))?;
        }
        Ok(())
    }
}

impl Runnable for Merge {
    fn run(self, context: &mut Context) -> Outcome {
        let text = self.formulas.text(context);
        report::with(&self.form.output, text, context, |reporter, context| self.merge(reporter, context))
    }
}

impl Merge {
    fn merge(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        if self.out.is_empty() && !self.formulas.any() {
            return Err(usage(
                "say where to write the model (-o model.json), or what to ask of it (--ctl 'AG EF p')",
            ));
        }
        match self.history {
            Some(_) if self.keep != "history" => {
                return Err(usage(format!(
                    "--history goes with `--keep history`, but `--keep {}` was given",
                    self.keep
                )));
            }
            Some(0) => return Err(usage("--history 0 keeps nothing but the state: use --keep state")),
            _ => {}
        }
        if self.formulas.any() && self.out.iter().any(|path| path == "-") {
            return Err(usage(
                "`-o -` writes the model to standard output, where the answers to formulas go; write it to a file, or \
                 ask it with `tracewise model-check`",
            ));
        }
        if !self.formulas.any() && !report::streams(&self.form.output) {
            return Err(usage(format!(
                "--output {} is about formulas: ask some with --ctl 'AG EF p' or --ltl 'G F p'",
                self.form.output
            )));
        }
        // The file that says what states are may say how traces are read, too.
        let settings = match &self.states {
            Some(file) => Specification::settings_of(file)?,
            None => TraceSettings::default(),
        };
        let mut options = self.options()?;
        options.by = options.by.or_else(|| settings.by.clone());
        let form = "tracewise merge --keep WHAT TRACE… -o MODEL";
        let traces = self.read.traces(&or_standard_input(&self.files, form)?)?;
        let session = self.read.with(&settings).session(Evaluating::default())?;
        let report = {
            let message = format!("merging {}", words::counted(traces.len() as u64, "trace"));
            let (_progress, session) = Progress::reading(context.quiet, message, session.clone());
            session.merge(&traces, &options)?
        };
        let warnings = Self::warnings(&report, options.by.as_ref());
        for warning in &warnings {
            context.warnings(std::slice::from_ref(&warning.diagnostic), &warning.sources);
        }
        for path in &self.out {
            write_model(&report.model, path)?;
        }
        // Standard output may hold the model itself.
        let told = !context.quiet && !self.out.iter().any(|path| path == "-");
        let form = self.form.output.as_str();
        if told && (form == "text" || (form == "json" && !self.formulas.any())) {
            self.tell(&report, context)?;
        }
        if !self.formulas.any() {
            return Ok(Exit::Holds);
        }
        if told && form == "text" {
            writeln!(context.out)?;
        }
        let name = self.out.first().map_or("the merged model", String::as_str);
        self.formulas.ask(&session, name, &report.model, &warnings, reporter, context)
    }
}
