//! Statistics that are collected over positions: exact sums, order statistics, sketches.
//!
//! An [`Accumulator`] knows of the values it was given what its statistic needs: a monoid in trace order, so that
//! values may come from either end, in slices, or in accumulators of parts of a trace. The result depends on nothing
//! but the values: sums are exact and rounded once, order statistics keep all values while they fit the budget
//! ([`Limits`]), and beyond it a sketch says how far it may be off ([`Bound`]).
//!
//! ```
//! use tw_core::Value;
//! use tw_ir::Aggregate;
//! use tw_statistics::{Accumulator, Limits};
//!
//! let mut sum = Accumulator::new(Aggregate::Sum, Limits::default());
//! sum.push_reals(&[1e308, 1e308, 0.5]);
//! let mut later = Accumulator::new(Aggregate::Sum, Limits::default());
//! later.push_reals(&[-1e308, -1e308]);
//! sum.append(&later);
//! assert_eq!(sum.result(), Ok(Value::Real(0.5)));
//! ```
//!
//! Next: [`ExactSum`] and [`Moments`] for the arithmetic; the modules `order` (quantiles, histograms) and `class`
//! (mode, distinct) for what is kept.

mod accumulator;
mod bound;
mod checkpoint;
mod class;
mod float;
mod moments;
mod order;
mod rolling;
mod save;
mod state;
mod sum;

pub use accumulator::Accumulator;
pub use bound::{Bound, Limits};
pub use moments::{Moments, Number, PairMoments};
pub use rolling::Rolling;
pub use sum::ExactSum;
pub use tw_core::codec::Corrupt;
