//! `tracewise chart draw`: charts as pictures.

use crate::commands::Runnable;
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, specification};
use crate::words;
use clap::Args;
use std::io::Write;
use std::path::Path;
use tracewise::files::write_file;
use tracewise::{plot, sequence};

/// Charts and where their picture goes
#[derive(Args, Debug)]
pub struct Draw {
    /// The specification (`-` is standard input)
    #[arg(value_name = "SPEC", value_hint = FILES)]
    spec: String,

    /// Draw this chart alone
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,

    /// Picture to write: .svg, .png or .dot [default: SVG on standard output]
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = FILES)]
    out: Option<String>,
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
        let bytes = match extension.as_str() {
            "dot" => sequence::dot(&spec, only)?.into_bytes(),
            form => {
                let svg = plot::svg_sequences(&sequence::sequences(&spec, only)?);
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
