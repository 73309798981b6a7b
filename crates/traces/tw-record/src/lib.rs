//! Records what programs ask of libc: `open`, `malloc`, `pthread_mutex_lock`, … with arguments, results, errors, thread and
//! time, in one order for all threads and processes.
//!
//! A program is started with a library (`preload/preload.c`, built with this crate and part of it) that is loaded before libc.
//! Its functions write records into memory that is shared with the recorder; [`Recorder::drain`] puts them into order and
//! writes them as lines of JSON. What was written is safe whatever happens
//! to the program.
//!
//! The order: a call that gives something up (`close`, `free`, `unlock`) takes its place when it is made, one that gets
//! something (`open`, `malloc`, `lock`) when it has come back. So what one thread did before it let go of a lock stands before
//! what another does when it has it, and the new owner of a descriptor behind the old one.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! let mut recorder = tw_record::Recorder::new()?;
//! let mut child = std::process::Command::new("git").arg("status").envs(recorder.environment()).spawn()?;
//! let mut trace = Vec::new();
//! let status = loop {
//!     if !recorder.drain(&mut trace)
//!         && let Some(status) = child.try_wait()?
//!     {
//!         break status;
//!     }
//! };
//! let summary = recorder.finish(child.id(), status, &mut trace);
//! assert!(summary.whole());
//! # Ok(())
//! # }
//! ```
//!
//! Linux alone has this, with glibc; elsewhere the crate is empty.

#![cfg(target_os = "linux")]

pub mod calls;
mod folder;
mod json;
mod merge;
mod names;
mod program;
mod recorder;
mod ring;

pub use names::signal;
pub use program::{Unrecordable, find, judge};
pub use recorder::{Bell, Recorder, Summary};
