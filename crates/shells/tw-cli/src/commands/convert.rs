//! `tracewise convert`: from one trace format to another.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs, formats, or_standard_input};
use crate::progress::Progress;
use crate::words;
use clap::Args;
use std::io::Write;
use tracewise::Evaluating;
use tracewise::convert::ConvertOptions;
use tracewise::diag::Sources;
use tracewise::findings::json::Object;

/// Write a trace in another format
#[derive(Args, Debug)]
pub struct Convert {
    /// The trace (`-` is standard input)
    #[arg(value_name = "TRACE", value_hint = FILES)]
    files: Vec<String>,

    /// File to write (`-` is standard output)
    #[arg(short = 'o', long = "out", value_name = "OUT", value_hint = FILES)]
    out: String,

    /// Format to write [default: by the extension of OUT]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    to: Option<String>,

    /// In CSV, put an apostrophe before texts that spreadsheets would read as formulas (= + - @); it is part of the
    /// text when the file is read back
    #[arg(long)]
    csv_guard: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Convert {
    fn run(self, context: &mut Context) -> Outcome {
        let trace = self
            .read
            .one_trace(&or_standard_input(&self.files, "tracewise convert TRACE -o OUT")?, "convert")?;
        let session = self.read.session(Evaluating::default())?;
        let report = {
            let _progress = Progress::start(context.quiet, format!("converting {}", trace.join(", ")), None);
            let options = ConvertOptions { to: self.to.clone(), csv_guard: self.csv_guard };
            session.convert(&trace, &self.out, &options)
        };
        let report = match report {
            // A reader who has seen enough is no error of ours.
            Err(error) if self.out == "-" && error.to_string().contains("Broken pipe") => {
                return Ok(Exit::Holds);
            }
            report => report?,
        };
        context.warnings(&report.warnings, &Sources::default());
        // Standard output holds the trace itself.
        if !context.quiet && self.out != "-" {
            if self.output.json() {
                let object = Object::new()
                    .field("output", report.output.as_str())
                    .field("format", report.format)
                    .field("positions", report.positions);
                writeln!(context.out, "{}", object.end())?;
            } else {
                let positions = words::counted(report.positions, "position");
                writeln!(
                    context.out,
                    "wrote {positions} to {} ({})",
                    words::printable(&report.output),
                    report.format
                )?;
            }
        }
        Ok(Exit::Holds)
    }
}
