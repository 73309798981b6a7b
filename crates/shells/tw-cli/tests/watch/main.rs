//! `tracewise watch` as its users run it: real processes, pipes, files, sockets and signals.

mod checkpoints;
#[path = "../common/mod.rs"]
mod common;
mod ended;
mod ending;
mod keys;
mod late;
mod process;
mod sources;
mod time;
mod values;
mod verdicts;
mod violations;
