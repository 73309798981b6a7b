//! Robustness: how far a signal is from violating a formula, or from satisfying it.
//!
//! Where truth is computed with `and`, `or` and `not`, robustness is computed with min, max and minus (A. Donzé and
//! O. Maler, *Robust satisfaction of temporal logic over real-valued signals*; G. Fainekos and G. Pappas). A positive
//! value means that the formula holds, a negative one that it does not, and its size says by how much the signals may
//! change before that does.
//!
//! - What predicates are worth: `x > 3` is worth x − 3; what is only true or false is worth ±inf; a comparison with
//!   null is false, −inf.
//! - Time is that of the reference engine: pointwise, non-strict, intervals in timestamps (irregular and equal ones
//!   too) or in positions. Windows are cut at the ends of the trace; the greatest of nothing is −inf, the least +inf.
//! - [`Robust::reference`] is the definition and [`table`] the published on-line algorithm, both slow;
//!   [`Robust::columns`] reads whole traces in O(1) per position and operator; [`Online`] reads streams.
//! - [`Robust::interpolated`] reads signals in continuous time: they hold, or run straight, from sample to sample.
//! - [`Robust::weakest`] names the predicate and the sample that decide a value, [`Robust::chain`] the formulas on the
//!   way there, [`Robust::margins`] how much each predicate alone would have to change to turn it.
//! - [`Robust::horizon`] and [`Robust::history`] say how far a formula looks.
//!
//! ```
//! use tw_core::{Batch, Bits, Column};
//! use tw_engine_robust::{Robust, Samples};
//!
//! let tree = tw_spec::parse_formula("F[0,1] x > 3", 0);
//! let program = tw_spec::lower(&tree.value, &Default::default()).value;
//! let options = tw_monitor::EvaluateOptions { clock: tw_ir::Clock::Index, ..Default::default() };
//! let robust = Robust::new(&program, &options).unwrap();
//! let x = Column::Real { values: vec![1.0, 4.5, 2.0], valid: Bits::repeat(true, 3) };
//! let samples = robust.samples(&Batch { len: 3, slots: vec![x], times: None }).unwrap();
//! let values = robust.columns(&samples, &[program.roots[0].node]).unwrap();
//! assert_eq!(values[0], [1.5, 1.5, -1.0]);
//! ```

mod algorithm;
mod clock;
mod columns;
mod engine;
mod extent;
mod interpolate;
mod irregular;
mod lattice;
mod margin;
mod online;
mod plan;
mod reference;
mod signals;
mod sliding;
pub mod table;
mod uniform;
mod weakest;

pub use algorithm::Algorithm;
pub use engine::Robustness;
pub use extent::Extent;
pub use interpolate::{Interpolation, straighten};
pub use margin::Margin;
pub use online::{Bounds, Online, Predictor};
pub use weakest::{Link, Weakest};

use plan::Plan;
use signals::Signals;
use std::borrow::Cow;
use tw_core::{Batch, Position, Time};
use tw_ir::{Clock, NodeId, Program};
use tw_monitor::{EvaluateOptions, PredicateError, Unsupported};

/// A program made ready: what its predicates are worth, and how its formulas are computed from that.
#[derive(Clone, Debug)]
pub struct Robust {
    program: Program,
    options: EvaluateOptions,
    plan: Plan,
    signals: Signals,
}

/// What every predicate is worth at every position; borrowed where somebody else holds it.
#[derive(Clone, Debug, Default)]
pub struct Samples<'a> {
    /// Number of positions over all segments.
    pub len: usize,
    /// One column per predicate, in the order of [`Robust::predicates`].
    pub predicates: Cow<'a, [Vec<f64>]>,
    /// Timestamps, never decreasing within a segment.
    pub times: Option<Cow<'a, [Time]>>,
    /// Start of each segment, ascending, from 0, no segment empty; nothing is one segment.
    pub starts: Cow<'a, [Position]>,
}

impl Samples<'_> {
    /// The first and one past the last position of each segment.
    pub fn segments(&self) -> impl Iterator<Item = (Position, Position)> + '_ {
        let starts: &[Position] = if self.starts.is_empty() { &[0] } else { self.starts.as_ref() };
        let ends = starts[1..].iter().copied().chain([self.len]);
        starts.iter().copied().zip(ends).filter(|(start, end)| start < end)
    }

    /// The segment that holds `at`.
    pub fn segment_of(&self, at: Position) -> (Position, Position) {
        let index = self.starts.partition_point(|&start| start <= at);
        let start = if index == 0 { 0 } else { self.starts[index - 1] };
        (start, self.starts.get(index).copied().unwrap_or(self.len))
    }

    /// Appends the positions of `other`, in the same segment.
    pub fn append(&mut self, other: Samples<'static>) {
        if self.len == 0 {
            *self = other;
            return;
        }
        self.len += other.len;
        let pairs = self.predicates.to_mut().iter_mut().zip(other.predicates.iter());
        pairs.for_each(|(mine, theirs)| mine.extend_from_slice(theirs));
        if let (Some(mine), Some(theirs)) = (&mut self.times, other.times) {
            mine.to_mut().extend_from_slice(&theirs);
        }
    }
}

impl Robust {
    /// Every root of the program, or the construct that has no robustness.
    pub fn new(program: &Program, options: &EvaluateOptions) -> Result<Robust, Unsupported> {
        let plan = Plan::new(program, options)?;
        let signals = Signals::new(program, &plan.predicates);
        Ok(Robust { program: program.clone(), options: options.clone(), plan, signals })
    }

    /// The predicates, ascending.
    pub fn predicates(&self) -> &[NodeId] {
        &self.plan.predicates
    }

    /// Whether intervals are read on timestamps.
    pub fn needs_times(&self) -> bool {
        self.plan.timed
    }

    /// What the predicates are worth on consecutive positions, or the first that cannot be computed.
    pub fn samples(&self, batch: &Batch) -> Result<Samples<'static>, PredicateError> {
        let (predicates, times) = (self.worth(batch)?.into(), batch.times.clone().map(Cow::Owned));
        Ok(Samples { len: batch.len, predicates, times, ..Samples::default() })
    }

    /// The same as columns.
    pub fn worth(&self, batch: &Batch) -> Result<Vec<Vec<f64>>, PredicateError> {
        self.signals.evaluate(batch)
    }

    fn step(&self, node: NodeId) -> Result<usize, Unsupported> {
        self.plan
            .of
            .get(&node)
            .copied()
            .ok_or_else(|| Unsupported::construct(node, "the robustness of what is no formula of a property"))
    }

    /// Refuses samples that are not of this program.
    fn check(&self, samples: &Samples) -> Result<(), Unsupported> {
        let refuse = |what: &str, help: Option<&str>| {
            Err(Unsupported { node: None, what: what.into(), help: help.map(Into::into), exhausted: false })
        };
        let whole = samples.predicates.len() == self.plan.predicates.len()
            && samples.predicates.iter().all(|column| column.len() == samples.len)
            && samples.times.as_ref().is_none_or(|times| times.len() == samples.len)
            && samples.starts.first().is_none_or(|&start| start == 0)
            && samples.starts.windows(2).all(|pair| pair[0] < pair[1])
            && samples.starts.last().is_none_or(|&start| start < samples.len.max(1));
        if samples.len > u32::MAX as usize {
            return Err(Unsupported::budget("more than 4,294,967,295 positions at once")
                .help("read the trace as a stream"));
        }
        if !whole {
            return refuse("samples of another program or of unequal lengths", None);
        }
        if self.plan.timed && self.options.clock == Clock::Stamps && samples.times.is_none() {
            return refuse(
                "an interval on a trace without timestamps",
                Some("count positions: ⟨clock: index⟩"),
            );
        }
        Ok(())
    }
}
