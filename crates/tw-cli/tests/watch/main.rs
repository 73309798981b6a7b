//! `tracewise watch` as its users run it: real processes, pipes, files, sockets and signals.

mod checkpoints;
mod ending;
mod process;
mod sources;
mod values;
mod verdicts;
