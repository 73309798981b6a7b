//! `tracewise test`: specifications with small traces and what is expected of them.

use super::Runnable;
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{EvaluateArgs, FILES};
use crate::report::{self, FormArgs, Outlet, Reporter};
use crate::style::{Ink, Style};
use crate::words;
use clap::Args;
use std::io::{self, Write};
use std::time::Instant;
use tracewise::Session;
use tracewise::files::write_file;
use tracewise::findings::{Item, Report};
use tracewise::test::TestFile;
use tracewise::{Error, Verdict};

/// Specifications with small traces and expected verdicts: does what is expected come out?
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 all expectations are met, 1 one is not, 2 bad usage or input.")]
pub struct Test {
    /// Files of tests
    #[arg(value_name = "FILE.twt", required = true, value_hint = FILES)]
    files: Vec<String>,

    /// Write what came out into the files, in place of what was expected
    #[arg(long)]
    write: bool,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    evaluate: EvaluateArgs,
}

impl Runnable for Test {
    fn run(self, context: &mut Context) -> Outcome {
        let text = Text { style: context.style, all: 0, failed: 0, files: 0 };
        report::with(&self.form.output, text, context, |reporter, context| {
            let mut exit = Exit::Holds;
            for file in &self.files {
                let one = self.one(file, reporter, context);
                exit = exit.and(match one {
                    Ok(one) => one,
                    Err(error) => report::failed(reporter, file, &error, context)?,
                });
            }
            Ok(exit)
        })
    }
}

impl Test {
    fn one(&self, file: &str, reporter: &mut dyn Reporter, context: &mut Context) -> Result<Exit, Error> {
        let started = Instant::now();
        let tests = TestFile::from_file(file)?;
        let session = Session::new().evaluating(self.evaluate.evaluating());
        let report = session.test(&tests)?;
        let failed = report.results.iter().any(|result| !result.passed());
        if self.write && report.rewritten != tests.text {
            write_file(file.as_ref(), report.rewritten.as_bytes())
                .map_err(|error| Error::io(format!("cannot write `{file}`"), error))?;
            if !context.quiet {
                context.tell(&format!("wrote {}", words::printable(file)));
            }
            return Ok(Exit::Holds);
        }
        if !context.quiet {
            let report = Report::of_test(report, started.elapsed());
            let told = reporter.report(&report, &mut context.out);
            told.map_err(|error| Error::io("cannot write the output", error))?;
        }
        Ok(if failed { Exit::Violated } else { Exit::Holds })
    }
}

/// What failed, as a difference; how many passed.
struct Text {
    style: Style,
    all: u64,
    failed: u64,
    files: u64,
}

impl Reporter for Text {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        self.files += 1;
        self.all += report.items.len() as u64;
        for item in report.violated() {
            self.failed += 1;
            failure(item, self.style, out)?;
        }
        out.flush()
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> io::Result<()> {
        if self.files == 0 {
            return Ok(());
        }
        let expectations = words::counted(self.all, "expectation");
        let files = words::counted(self.files, "file");
        let line = match self.failed {
            0 => format!("{} {expectations} in {files} met", self.style.paint(Ink::Good, "✓")),
            some => {
                let sign = self.style.paint(Ink::Bad, "✗");
                format!(
                    "{sign} {} of {expectations} in {files} not met (--write takes over what came out)",
                    words::count(some)
                )
            }
        };
        writeln!(out, "{line}")
    }
}

fn failure(item: &Item, style: Style, out: &mut dyn Write) -> io::Result<()> {
    debug_assert_eq!(item.verdict, Some(Verdict::Violated));
    let place = item.source.as_ref().map_or(String::new(), |(file, line)| format!("{file}:{line}"));
    let (sign, place) = (style.paint(Ink::Bad, "✗"), style.paint(Ink::Strong, words::printable(&place)));
    writeln!(out, "{sign} {place}  {}", words::printable(&item.name))?;
    for line in &item.remarks {
        let ink = if line.starts_with('-') { Ink::Bad } else { Ink::Good };
        writeln!(out, "  {}", style.paint(ink, words::printable(line)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_summary_is_one_line() {
        let mut text = super::Text { style: super::Style::default(), all: 3, failed: 0, files: 1 };
        let mut out = Vec::new();
        super::Reporter::finish(&mut text, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "✓ 3 expectations in 1 file met\n");
    }
}
