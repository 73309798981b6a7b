//! `tracewise generate`: a function per event of a specification's monitors.

use super::Runnable;
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, specification};
use clap::{Args, ValueEnum};
use std::io::Write;
use tracewise::generate;

/// Code that fires the events of a specification's monitors: a function for each
#[derive(Args, Debug)]
pub struct Generate {
    /// The language: `rust`, for programs that use the crate, or `c`, for those that use tracewise.h
    #[arg(value_name = "LANGUAGE")]
    language: Language,

    /// The specification (`-` is standard input)
    #[arg(value_name = "SPEC.tw", value_hint = FILES)]
    specification: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    Rust,
    C,
}

impl Runnable for Generate {
    fn run(self, context: &mut Context) -> Outcome {
        let spec = specification(&self.specification)?;
        context.warnings(&spec.warnings, &spec.sources);
        let code = match self.language {
            Language::Rust => generate::rust(&spec)?,
            Language::C => generate::c(&spec)?,
        };
        context.out.data();
        write!(context.out, "{code}")?;
        Ok(Exit::Holds)
    }
}
