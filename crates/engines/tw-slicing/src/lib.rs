//! Trace slicing, and what a parametric monitor means.
//!
//! A *binding* gives values to some variables. A trace of events that carry data is cut into *slices*, one per binding: the events
//! that are about nothing else. "Two Generalisations of Roşu and Chen's Trace Slicing Algorithm A" (Ballarin) computes all of them at
//! once over any semilattice of bindings:
//!
//! - [`lattice`]: the scheme that its three algorithms share ([`Slices`]), over a [`Lattice`];
//! - [`binding`]: partial functions from variables to things ([`Binding`]), their join, injective or not, under a constraint: algorithm
//!   A, with patterns, with constraints;
//! - [`constraint`]: the solver of order constraints, and what it cannot say evaluated;
//! - [`definition`]: slices by their definition, one binding at a time;
//! - [`joined`]: the same by indices, for traces with many bindings;
//! - [`monitor`]: what the monitors of a program report on a trace, read from slices. Every engine for monitors is compared with it.
//!
//! All of it but [`joined`] is written to be read. An event costs a look at every binding there is, of which there may be as many as
//! products of values; memory is the slices themselves.

pub mod binding;
pub mod constraint;
pub mod definition;
pub mod joined;
pub mod lattice;
pub mod monitor;
mod objects;

pub use binding::{Binding, Partial};
pub use constraint::Constraint;
pub use joined::{Joined, Occurrences};
pub use lattice::{Lattice, Slices};
pub use objects::{Object, Objects, by_values};
