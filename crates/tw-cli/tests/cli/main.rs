//! Runs the built command the way people and scripts do.

mod check;
mod commands;
mod common;
mod merging;
mod models;
mod outputs;
mod query;
mod races;
