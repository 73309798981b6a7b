//! The `tracewise` command: a thin shell over the `tracewise` library.
//!
//! [`commands::COMMANDS`] holds one row per command, [`report::REPORTERS`] one row per output of `check`. A command
//! turns arguments into a session, runs it and hands the report to a reporter; the [`exit::Exit`] it returns is the
//! exit code.

mod clock_error;
mod commands;
mod context;
mod exit;
mod flags;
mod options;
mod output;
mod progress;
mod report;
mod slices;
mod style;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    keep_freed_memory();
    #[cfg(panic = "abort")]
    say_what_panicked();
    commands::run(std::env::args_os().collect()).into()
}

/// Asks glibc to keep what is freed. Truth columns of megabytes come and go by the thousand while properties are
/// explained; given back to the system each time, their pages cost more than their evaluation.
fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `mallopt` only sets tunables of the allocator; no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 64 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 512 << 20);
    }
}

/// A panic ends the process where nothing unwinds, even one that a reader would have caught (the Parquet library has some on
/// damaged files): it is told as an error, with the exit code of an input that could not be read, and no verdict is given.
#[cfg(panic = "abort")]
fn say_what_panicked() {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("error: found something that tracewise cannot handle, expected readable input ({panic})");
        eprintln!(
            "  = help: a damaged file is the likely cause; if yours is sound, this is a defect of tracewise"
        );
        std::process::exit(2);
    }));
}
