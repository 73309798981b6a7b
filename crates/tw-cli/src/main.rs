//! The `tracewise` command: a thin shell over the `tracewise` library.
//!
//! [`commands::COMMANDS`] holds one row per command, [`report::REPORTERS`] one row per output of `check`. A command
//! turns arguments into a session, runs it and hands the report to a reporter; the [`exit::Exit`] it returns is the
//! exit code.

mod commands;
mod context;
mod exit;
mod json;
mod options;
mod output;
mod progress;
mod report;
mod style;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run(std::env::args_os().collect()).into()
}
