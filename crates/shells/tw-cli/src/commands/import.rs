//! `tracewise import`: a specification of another monitor as a `.tw` file.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Failure, Outcome, usage};
use crate::exit::Exit;
use crate::flags::flagged;
use crate::options::{FILES, specification_text};
use crate::words;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::io::Write;
use tracewise::files::write_file;
use tracewise::findings::json::Object;
use tracewise::{TimeUnit, import};

/// Read the specification of another monitor and print it as a `.tw` file
#[derive(Args, Debug)]
pub struct Import {
    /// The specification (`-` is standard input)
    #[arg(value_name = "SPEC", value_hint = FILES)]
    file: String,

    /// Format to read [default: by the extension of SPEC, where that tells]
    #[arg(long, value_name = "FORMAT", value_parser = formats(), long_help = about())]
    from: Option<String>,

    /// File to write [default: standard output]
    #[arg(short = 'o', long = "out", value_name = "OUT.tw", value_hint = FILES)]
    out: Option<String>,

    /// What declares the predicates (monpoly)
    #[arg(long, value_name = "FILE.sig", value_hint = FILES)]
    signature: Option<String>,

    /// Time between two samples (rtamt)
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1s")]
    period: i64,

    /// Unit of bounds that are written without one (rtamt)
    #[arg(long, value_name = "UNIT", value_parser = unit, default_value = "s")]
    unit: TimeUnit,

    #[command(flatten)]
    output: OutputArgs,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(import::FORMATS.iter().map(|format| format.name))
}

fn about() -> String {
    let mut text = "Format to read [default: by the extension of SPEC, where that tells]\n\n".to_owned();
    for format in import::FORMATS {
        text.push_str(&format!("{}: {}\n", format.name, format.about));
    }
    text
}

/// `100ms`: a whole number above 0 and a unit.
fn time(text: &str) -> Result<i64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: Option<i64> = number.parse().ok().filter(|number| *number > 0);
    let time =
        number.zip(TimeUnit::parse(unit)).and_then(|(number, unit)| number.checked_mul(unit.nanoseconds()));
    time.ok_or_else(|| "expected a time such as `1s`, `100ms` or `50us`".to_owned())
}

fn unit(text: &str) -> Result<TimeUnit, String> {
    TimeUnit::parse(text).ok_or_else(|| "expected one of `ns us ms s m h d`".to_owned())
}

impl Runnable for Import {
    fn run(self, context: &mut Context) -> Outcome {
        let signature = self.signature;
        let options =
            import::Options { period: self.period, unit: self.unit, signature: None, spell: flagged };
        let source = Source { file: self.file, from: self.from, out: self.out, output: self.output };
        source.read(
            |_| true,
            context,
            |format, name| match signature {
                Some(_) if format.name != "monpoly" => {
                    let message =
                        format!("`--signature` is for `monpoly`; `{name}` is read as `{}`", format.name);
                    Err(usage(message))
                }
                Some(file) => {
                    let signature = import::Signature { text: specification_text(&file)?, name: file };
                    Ok(import::Options { signature: Some(signature), ..options })
                }
                None => Ok(options),
            },
        )
    }
}

/// A sequence diagram, to be read as charts
#[derive(Args, Debug)]
pub struct Diagram {
    /// The diagram (`-` is standard input)
    #[arg(value_name = "FILE", value_hint = FILES)]
    file: String,

    /// Format to read [default: by the extension of FILE]
    #[arg(long, value_name = "FORMAT", value_parser = diagrams())]
    from: Option<String>,

    /// File to write, .elsc or .tw [default: standard output]
    #[arg(short = 'o', long = "out", value_name = "OUT", value_hint = FILES)]
    out: Option<String>,

    #[command(flatten)]
    output: OutputArgs,
}

fn diagrams() -> PossibleValuesParser {
    let diagrams = import::FORMATS.iter().filter(|format| format.is_diagram());
    PossibleValuesParser::new(diagrams.map(|format| format.name))
}

impl Runnable for Diagram {
    fn run(self, context: &mut Context) -> Outcome {
        let source = Source { file: self.file, from: self.from, out: self.out, output: self.output };
        let options = import::Options { spell: flagged, ..import::Options::default() };
        source.read(import::Format::is_diagram, context, |_, _| Ok(options))
    }
}

/// What is read, and where the result goes.
struct Source {
    file: String,
    from: Option<String>,
    out: Option<String>,
    output: OutputArgs,
}

impl Source {
    /// Reads it in one of the formats that are allowed, with the options that the format gets.
    fn read(
        self,
        allowed: fn(&import::Format) -> bool,
        context: &mut Context,
        options: impl FnOnce(&import::Format, &str) -> Result<import::Options, Failure>,
    ) -> Outcome {
        let text = specification_text(&self.file)?;
        let name = if self.file == "-" { "<stdin>" } else { &self.file };
        let named =
            self.from.as_deref().map(|from| import::FORMATS.iter().find(|format| format.name == from));
        let found = named.unwrap_or_else(|| tracewise::import::guess(name, &text));
        let Some(format) = found.filter(|format| allowed(format)) else {
            let names: Vec<&str> =
                import::FORMATS.iter().filter(|format| allowed(format)).map(|format| format.name).collect();
            let message =
                format!("`{name}` does not tell its format; add `--from` with one of: {}", names.join(", "));
            return Err(usage(message));
        };
        let options = options(format, name)?;
        let (made, findings, sources) = tracewise::import::import(name, &text, format, &options)?;
        context.warnings(&findings, &sources);
        if let Some(out) = &self.out {
            if *out == self.file {
                return Err(usage(format!("`{out}` is the specification itself; write to another file")));
            }
            write_file(out.as_ref(), made.as_bytes())
                .map_err(|error| usage(format!("cannot write `{out}`: {error}")))?;
        }
        if context.quiet {
            return Ok(Exit::Holds);
        }
        if self.output.json() {
            let shown = self.out.is_none().then_some(made.as_str());
            let object = Object::new().field("file", name).field("format", format.name);
            let object = object.maybe("output", self.out.as_deref()).maybe("text", shown);
            writeln!(context.out, "{}", object.end())?;
        } else if let Some(out) = &self.out {
            writeln!(context.out, "wrote {} ({})", words::printable(out), format.title)?;
        } else {
            context.out.data();
            context.out.write_all(made.as_bytes())?;
        }
        Ok(Exit::Holds)
    }
}
