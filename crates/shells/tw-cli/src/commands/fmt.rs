//! `tracewise fmt`: the canonical form of a specification.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, specification_text};
use crate::style::{Ink, Style};
use clap::Args;
use std::io::{self, Write};
use tracewise::Error;
use tracewise::diag::Sources;
use tracewise::files::write_file;
use tracewise::findings::json::Object;
use tracewise::language;

/// Canonical formatting of specifications
#[derive(Args, Debug)]
pub struct Fmt {
    /// The specifications (`-` is standard input)
    #[arg(value_name = "SPEC", required = true, value_hint = FILES)]
    files: Vec<String>,

    /// Write the result back into the file
    #[arg(long)]
    write: bool,

    /// Change nothing; exit with 1 if a file is not in canonical form, and show where
    #[arg(long, conflicts_with = "write")]
    check: bool,

    #[command(flatten)]
    output: OutputArgs,
}

impl Runnable for Fmt {
    fn run(self, context: &mut Context) -> Outcome {
        let mut exit = Exit::Holds;
        for file in &self.files {
            match self.one(file, context) {
                Ok(one) => exit = exit.and(one),
                Err(Failure::Error(error)) => {
                    context.error(&error);
                    exit = Exit::Bad;
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(exit)
    }
}

impl Fmt {
    fn one(&self, file: &str, context: &mut Context) -> Outcome {
        let text = specification_text(file)?;
        let formatted = format(file, &text)?;
        let changed = formatted != text;
        if self.write && changed {
            if file == "-" {
                return Err(usage("standard input cannot be written back; leave out `--write`"));
            }
            write_file(file.as_ref(), formatted.as_bytes())
                .map_err(|error| usage(format!("cannot write `{file}`: {error}")))?;
        }
        if !context.quiet {
            if self.output.json() {
                let object = Object::new().field("file", file).field("changed", changed);
                let shown = (!self.write && !self.check).then_some(formatted.as_str());
                writeln!(context.out, "{}", object.maybe("text", shown).end())?;
            } else if self.check {
                if changed {
                    write_difference(file, &text, &formatted, context.style, &mut context.out)?;
                }
            } else if !self.write {
                context.out.data();
                context.out.write_all(formatted.as_bytes())?;
            } else if changed {
                writeln!(context.out, "formatted {file}")?;
            }
        }
        Ok(if self.check && changed { Exit::Violated } else { Exit::Holds })
    }
}

/// Names and types are not looked at: a file in the middle of being written can be formatted once it parses.
fn format(file: &str, text: &str) -> Result<String, Failure> {
    let mut sources = Sources::default();
    let source = sources.add(if file == "-" { "<stdin>" } else { file }, text);
    let parse = if file.ends_with(".elsc") { language::parse_charts } else { language::parse };
    let parsed = parse(text, source);
    if parsed.has_errors() {
        let diagnostics = parsed.diagnostics;
        return Err(Error::Specification { diagnostics, sources: Box::new(sources) }.into());
    }
    Ok(language::print(&parsed.value))
}

/// The stretch of lines between the first and the last that differ, before and after.
fn write_difference(file: &str, old: &str, new: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old_lines.iter().zip(&new_lines).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old_lines[head..], &new_lines[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    writeln!(out, "{}", style.paint(Ink::Strong, format!("{file}:{}: not in canonical form", head + 1)))?;
    for line in &old_rest[..old_rest.len() - tail] {
        writeln!(out, "{}", style.paint(Ink::Bad, format!("- {line}").trim_end()))?;
    }
    for line in &new_rest[..new_rest.len() - tail] {
        writeln!(out, "{}", style.paint(Ink::Good, format!("+ {line}").trim_end()))?;
    }
    if old_lines == new_lines {
        writeln!(out, "  line endings or the end of the file differ")?;
    }
    Ok(())
}
