//! `tracewise chart`: sequence charts against traces, as formulas, as pictures, from diagrams.

mod draw;

use super::check::verdicts;
use super::import::Diagram;
use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::options::{
    ChartArgs, EvaluateArgs, FILES, Given, ReadArgs, limit, specification, specification_and_traces,
};
use crate::report::text::Text;
use crate::report::{self, Reporter};
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::Write;
use tracewise::check::CheckOptions;

/// Sequence charts: which traces they admit, and what they say as formulas
#[derive(Args, Debug)]
pub struct Chart {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Verdict of each chart on each trace, with the chart and how far it got
    Check(Box<Check>),
    /// The charts as formulas: what the reading `ltl` says
    ToLtl(ToLtl),
    /// A picture of the charts, with a trace also of how far they got (SVG, PNG); or the order of their events (DOT)
    Draw(Box<draw::Draw>),
    /// Read a sequence diagram of PlantUML or Mermaid and print its charts
    Import(Diagram),
}

/// Charts on traces
#[derive(Args, Debug)]
#[command(
    override_usage = "tracewise chart check [OPTIONS] SPEC.elsc TRACE…",
    after_help = "Exit codes: 0 all hold, 1 something is violated, 2 bad usage or input, 3 undecided."
)]
struct Check {
    /// The file of charts (`.elsc`, or `.tw`), then the traces (`-` is standard input)
    #[arg(value_name = "FILE", value_hint = FILES)]
    files: Vec<String>,

    /// This chart's property alone, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// How many violations to list for each property, or `all`
    #[arg(long, value_name = "N", default_value = "10", value_parser = limit)]
    violations: usize,

    /// Explain nothing: verdicts and places alone
    #[arg(long)]
    no_explain: bool,

    /// Check every chart once per value of this column (per train, per session)
    #[arg(long, value_name = "COL")]
    by: Option<String>,

    /// What to print
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = report::names())]
    output: String,

    #[command(flatten)]
    charts: ChartArgs,

    #[command(flatten)]
    evaluate: EvaluateArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// Charts as formulas
#[derive(Args, Debug)]
struct ToLtl {
    /// The file of charts (`.elsc`, or `.tw`)
    #[arg(value_name = "SPEC", value_hint = FILES)]
    spec: String,

    #[command(flatten)]
    output: OutputArgs,
}

impl Runnable for Chart {
    fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Check(own) => {
                let text = Text::new(context.style);
                report::with(&own.output, text, context, |reporter, context| own.check(reporter, context))
            }
            Action::ToLtl(own) => own.run(context),
            Action::Draw(own) => own.run(context),
            Action::Import(own) => own.run(context),
        }
    }
}

impl Check {
    fn check(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        let (spec, files) = specification_and_traces(Given::Formulas, &[], &self.files, "chart check")?;
        let spec = spec.only(&self.only)?.charts(&self.charts.options()?)?;
        context.warnings(&spec.warnings, &spec.sources);
        let read = self.read.with(&spec.settings);
        let session = read.session(self.evaluate.evaluating())?;
        let options = CheckOptions {
            violations: if context.quiet { 0 } else { self.violations },
            explain: !self.no_explain && !context.quiet,
            by: self.by.clone().or_else(|| spec.settings.by.clone()),
            overview: self.output == report::HTML,
            ..CheckOptions::default()
        };
        verdicts(&session, &spec, &self.read.traces(&files)?, &options, reporter, context)
    }
}

impl ToLtl {
    fn run(self, context: &mut Context) -> Outcome {
        let spec = specification(&self.spec)?;
        context.warnings(&spec.warnings, &spec.sources);
        let formulas = spec.chart_formulas()?;
        if formulas.is_empty() {
            return Err(usage(format!("`{}` has no charts", self.spec)));
        }
        if !self.output.json() {
            writeln!(context.out, "event send(msg);\nevent recv(msg);")?;
        }
        for own in formulas {
            if self.output.json() {
                let line = json!({
                    "property": own.property,
                    "formula": own.formula,
                    "size": own.size,
                    "iterated": own.iterated,
                });
                writeln!(context.out, "{line}")?;
                continue;
            }
            let once = if own.iterated { "; of one execution: no formula counts them" } else { "" };
            writeln!(context.out, "// {} subformulas{once}", own.size)?;
            writeln!(context.out, "property `{}` : {};", own.property, own.formula)?;
        }
        Ok(Exit::Holds)
    }
}
