//! Runs the built command the way people and scripts do.

mod bindings;
mod charts;
mod check;
mod clock_error;
mod commands;
mod common;
mod contact;
mod dense;
mod files;
mod flags;
mod forms;
mod handover;
mod import;
mod large;
mod merging;
mod models;
mod monitors;
mod odd_values;
mod outputs;
mod query;
mod races;
mod repairs;
mod robust;
mod settings;
#[path = "../common/mod.rs"]
mod shared;
mod slice;
mod streams;
mod templates;
mod tests;
mod text_logs;
