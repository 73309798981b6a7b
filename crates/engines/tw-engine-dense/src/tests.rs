//! The definitions of continuous time, executed on a grid, against the algorithms on runs.

mod agree;
mod definition;
mod error;
mod executions;
mod explain;
mod make;
mod operators;
