//! `tracewise lsp`: the language server.

use super::Runnable;
use crate::context::{Context, Outcome, usage};
use crate::exit::Exit;
use clap::Args;
use std::io;
use tw_lsp::Left;

/// The language server: specifications in editors
///
/// An editor starts it and speaks the Language Server Protocol with it over standard input and output: findings as you type,
/// formatting, hover, completion, definitions and renaming.
#[derive(Args, Debug)]
pub struct Lsp {
    /// Speak over standard input and output, as it always does; clients pass this
    #[arg(long, hide = true)]
    stdio: bool,
}

impl Runnable for Lsp {
    fn run(self, context: &mut Context) -> Outcome {
        context.out.data();
        match tw_lsp::serve(io::stdin(), io::stdout().lock()) {
            Ok(Left::Properly) => Ok(Exit::Holds),
            // As the protocol asks.
            Ok(Left::Suddenly) => Ok(Exit::Violated),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Violated),
            Err(error) => Err(usage(format!("the client cannot be answered: {error}"))),
        }
    }
}
