//! `tracewise init`: a first specification for a trace.

use super::{OutputArgs, Runnable};
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use crate::options::{FILES, ReadArgs};
use crate::progress::Progress;
use crate::words;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use tracewise::Evaluating;
use tracewise::files::write_file;
use tracewise::findings::json::Object;

/// A first specification for a trace, with properties that hold in it now
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 written, 2 bad usage or input.")]
pub struct Init {
    /// The trace
    #[arg(value_name = "TRACE", required = true, value_hint = FILES)]
    files: Vec<String>,

    /// File to write [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Write over a file that is there
    #[arg(long, requires = "out")]
    force: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl Runnable for Init {
    fn run(self, context: &mut Context) -> Outcome {
        if let Some(path) = self.out.as_ref().filter(|path| !self.force && path.exists()) {
            let path = words::printable(&path.to_string_lossy());
            return Err(usage(format!("`{path}` is there already; add --force to write over it")));
        }
        let trace = self.read.one_trace(&self.files, "init")?;
        let session = self.read.session(Evaluating::default())?;
        let draft = {
            let message = format!("looking at {}", trace.join(", "));
            let _progress = Progress::start(context.quiet, message, None);
            session.init(&trace)?
        };
        if let Some(path) = &self.out {
            write_file(path, draft.text.as_bytes())
                .map_err(|error| usage(format!("cannot write `{}`: {error}", path.display())))?;
        }
        if context.quiet {
            return Ok(Exit::Holds);
        }
        let properties = draft.properties as u64;
        match &self.out {
            _ if self.output.json() => {
                let file = self.out.as_ref().map(|path| path.to_string_lossy().into_owned());
                let object = Object::new().field("file", file.as_deref()).field("properties", properties);
                writeln!(context.out, "{}", object.field("text", draft.text.as_str()).end())?;
            }
            Some(path) => {
                let path = words::printable(&path.to_string_lossy());
                let trace = words::printable(&trace.join(" "));
                writeln!(
                    context.out,
                    "wrote {path} ({}); next: tracewise check {path} {trace}",
                    words::counted(properties, "property")
                )?;
            }
            None => {
                context.out.data();
                context.out.write_all(draft.text.as_bytes())?;
            }
        }
        Ok(Exit::Holds)
    }
}
