//! `tracewise chart draw`: charts as pictures.

use crate::commands::Runnable;
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{ChartArgs, FILES, ReadArgs, specification};
use crate::words;
use clap::Args;
use std::io::Write;
use std::path::Path;
use tracewise::check::{CheckOptions, CheckReport};
use tracewise::files::write_file;
use tracewise::{Evaluating, Specification, plot, sequence};

/// Charts and where their picture goes
#[derive(Args, Debug)]
pub struct Draw {
    /// The file of charts (`.elsc`, or `.tw`)
    #[arg(value_name = "SPEC", value_hint = FILES)]
    spec: String,

    /// A trace: what happened of the charts is coloured, up to the first violation
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    /// Draw this chart alone
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,

    /// Ask about every value of this column (per train, per session): the first that violates a chart is drawn
    #[arg(long, value_name = "COL", requires = "files")]
    by: Option<String>,

    /// Picture to write: .svg, .png or .dot [default: SVG on standard output]
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = FILES)]
    out: Option<String>,

    #[command(flatten)]
    charts: ChartArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Draw {
    fn run(self, context: &mut Context) -> Outcome {
        let extension = self.out.as_deref().map_or("svg", |out| {
            Path::new(out).extension().and_then(|extension| extension.to_str()).unwrap_or("")
        });
        let extension = extension.to_ascii_lowercase();
        if !matches!(extension.as_str(), "svg" | "png" | "dot") {
            let out = self.out.as_deref().unwrap_or_default();
            return Err(usage(format!("`{out}` does not tell what to draw: expected .svg, .png or .dot")));
        }
        if self.out.as_ref() == Some(&self.spec) {
            return Err(usage(format!("`{}` is the specification itself; write to another file", self.spec)));
        }
        let spec = specification(&self.spec)?;
        context.warnings(&spec.warnings, &spec.sources);
        let only = self.chart.as_deref();
        if extension == "dot" && !self.files.is_empty() {
            return Err(usage("the order of events says nothing about a trace: draw .svg or .png"));
        }
        let bytes = match extension.as_str() {
            "dot" => sequence::dot(&spec, only)?.into_bytes(),
            form => {
                let mut drawn = sequence::sequences(&spec, only)?;
                if !self.files.is_empty() {
                    sequence::colour(&mut drawn, &self.report(&spec, context)?);
                }
                let svg = plot::svg_sequences(&drawn);
                match form {
                    "png" => plot::png(&svg).map_err(|error| usage(error.to_string()))?,
                    _ => svg.into_bytes(),
                }
            }
        };
        match &self.out {
            Some(out) => {
                write_file(out.as_ref(), &bytes)
                    .map_err(|error| usage(format!("cannot write `{out}`: {error}")))?;
                if !context.quiet {
                    writeln!(context.out, "wrote {}", words::printable(out))?;
                }
            }
            None if context.quiet => {}
            None => {
                context.out.data();
                context.out.write_all(&bytes)?;
            }
        }
        Ok(Exit::Holds)
    }
}

impl Draw {
    /// What the trace says about the charts.
    fn report(&self, spec: &Specification, context: &mut Context) -> Result<CheckReport, Failure> {
        let asked = spec.charts(&self.charts.options()?)?;
        let read = self.read.with(&spec.settings);
        let session = read.session(Evaluating::default())?;
        let options = CheckOptions {
            violations: 1,
            explain: true,
            by: self.by.clone().or_else(|| spec.settings.by.clone()),
            ..CheckOptions::default()
        };
        let trace = read.one_trace(&self.files, "chart draw")?;
        let report = session.check(&asked, &trace, &options)?;
        context.warnings(&report.warnings, &spec.sources);
        Ok(report)
    }
}
