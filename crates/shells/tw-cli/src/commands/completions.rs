//! `tracewise completions`: scripts that complete the command line in a shell.

use super::Runnable;
use crate::context::{Context, Outcome};
use crate::exit::Exit;
use clap::Args;
use clap_complete::Shell;
use std::io::Write;

/// Shell completion script, on standard output
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Runnable for Completions {
    fn run(self, context: &mut Context) -> Outcome {
        // Written to memory first: the generator does not expect a reader who leaves.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::program(), "tracewise", &mut script);
        context.out.data();
        context.out.write_all(&script)?;
        Ok(Exit::Holds)
    }
}
