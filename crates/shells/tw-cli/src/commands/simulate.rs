//! `tracewise simulate`: runs an SPL program and writes its trace.

mod write;

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, formats};
use crate::progress::Progress;
use crate::words;
use clap::Args;
use std::io::Write;
use tracewise::Error;
use tracewise::diag::{Diagnostic, Severity, Sources};
use tracewise::files::{LONGEST_TEXT, read_input};
use tracewise::findings::json::Object;
use tracewise::spl::{Program, Stuck};

/// Run an SPL program and write the trace of its states
#[derive(Args, Debug)]
pub struct Simulate {
    /// The program (`-` is standard input)
    #[arg(value_name = "PROGRAM.spl", value_hint = FILES)]
    program: String,

    /// States to write: the state before each step
    #[arg(long, value_name = "N")]
    steps: u64,

    /// Seed of the random choices; equal seeds give equal traces
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Percentage of messages that channels lose
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    loss: u8,

    /// File to write (`-` is standard output)
    #[arg(short = 'o', long = "out", value_name = "TRACE", value_hint = FILES)]
    out: String,

    /// Format to write [default: by the extension of TRACE, jsonl on standard output]
    #[arg(long, visible_alias = "format", value_name = "FORMAT", value_parser = formats())]
    to: Option<String>,

    #[command(flatten)]
    output: OutputArgs,
}

impl Runnable for Simulate {
    fn run(self, context: &mut Context) -> Outcome {
        let text = read(&self.program)?;
        let name = if self.program == "-" { "<stdin>" } else { &self.program };
        let (program, findings) = tracewise::spl::parse(name, &text);
        if findings.iter().any(|found| found.severity == Severity::Error) {
            return Err(failed(findings, program.sources()).into());
        }
        context.warnings(&findings, program.sources());
        let format = write::target(&self.out, self.to.as_deref())?;
        if write::same_file(&self.program, &self.out) {
            return Err(usage(format!("`{}` is the program itself; write to another file", self.out)));
        }
        if program.columns().is_empty() {
            return Err(usage(format!("`{name}` has neither variables nor labels: its states show nothing")));
        }
        let left_out = write::left_out(&program, format);
        if let [first, ..] = left_out.as_slice() {
            let (format, all) = (format.name(), left_out.join(", "));
            let message = format!("`{format}` holds what is true; integers are left out: {all}");
            let help = format!("write to `.csv` or `.jsonl` to keep `{first}`");
            context.warnings(&[Diagnostic::warning("left-out", message).help(help)], program.sources());
        }
        let run = write::Run { steps: self.steps, seed: self.seed, loss: self.loss };
        let written = {
            let _progress = Progress::start(context.quiet, format!("running {name}"), None);
            write::write(&program, &run, &self.out, format)
        };
        let stuck = match written {
            // A reader who has seen enough is no error of ours.
            Err(error) if self.out == "-" && error.to_string().contains("Broken pipe") => {
                return Ok(Exit::Holds);
            }
            written => written?,
        };
        if let Some(stuck) = &stuck {
            context.warnings(&[note(stuck)], program.sources());
        }
        self.tell(context, &program, format.name(), stuck.as_ref())?;
        Ok(Exit::Holds)
    }
}

impl Simulate {
    /// Says what was written, unless standard output holds the trace itself.
    fn tell(
        &self,
        context: &mut Context,
        program: &Program,
        format: &str,
        stuck: Option<&Stuck>,
    ) -> std::io::Result<()> {
        if context.quiet || self.out == "-" {
            return Ok(());
        }
        if self.output.json() {
            let object = Object::new()
                .field("output", self.out.as_str())
                .field("format", format)
                .field("positions", self.steps)
                .field("columns", program.columns().len() as u64)
                .field("stuck", stuck.map(|stuck| stuck.position));
            return writeln!(context.out, "{}", object.end());
        }
        let positions = words::counted(self.steps, "position");
        writeln!(context.out, "wrote {positions} to {} ({format})", words::printable(&self.out))
    }
}

fn read(path: &str) -> Result<String, Error> {
    let shown = if path == "-" { "standard input" } else { path };
    let bytes =
        read_input(path, LONGEST_TEXT).map_err(|error| Error::io(format!("cannot read `{shown}`"), error))?;
    String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        Error::refused(format!("cannot read `{shown}`: line {line} is not UTF-8"))
    })
}

fn failed(diagnostics: Vec<Diagnostic>, sources: &Sources) -> Error {
    Error::Specification { diagnostics, sources: Box::new(sources.clone()) }
}

/// Why the states repeat.
fn note(stuck: &Stuck) -> Diagnostic {
    let position = words::count(stuck.position);
    if stuck.ended {
        let message = format!("every process has ended at position {position}; the last state repeats");
        return Diagnostic::warning("ended", message);
    }
    let message =
        format!("deadlock at position {position}: no process can move any more, the last state repeats");
    let mut found = Diagnostic::warning("deadlock", message);
    for (process, span) in &stuck.waiting {
        found = found.at(*span, format!("`{process}` waits here"));
    }
    found
}
