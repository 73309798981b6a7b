//! Random specifications with quantifiers, random logs with several events at a position, and engines compared with the
//! definition on them: verdicts, violations and bindings, stored and live.
//!
//! ```
//! use tw_engine_reference::Reference;
//!
//! let summary = tw_testkit::first_order::agree(&Reference, 0..20);
//! assert_eq!(summary.refused, [0; 3]);
//! ```

mod agree;
mod explained;
mod log;
mod write;

pub use agree::{Summary, agree, difference};
pub use explained::{Explained, explained};
pub use log::Log;

use crate::{Rng, texts};
use std::fmt;
use tw_core::TimeUnit;
use tw_ir::{Clock, Program};
use tw_monitor::{EvaluateOptions, PredicateError, Trace};

/// How a formula binds its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Outer variables by atoms left of the outer implication, inner ones by an atom beside what else is said of them: no
    /// engine for quantifiers may refuse it.
    Guarded,
    /// Every variable occurs in an atom of its scope, wherever that stands.
    InAtoms,
    /// Anything.
    Other,
}

impl Class {
    /// All of them, in the order of [`Summary`]'s counts.
    pub const ALL: [Class; 3] = [Class::Guarded, Class::InAtoms, Class::Other];
}

/// A property and a log.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it was made from.
    pub seed: u64,
    /// The property as text.
    pub text: String,
    /// The program with this root alone.
    pub program: Program,
    /// What happened.
    pub log: Log,
    /// How variables are bound.
    pub class: Class,
}

/// The case of a seed.
pub fn case(seed: u64) -> Case {
    let mut rng = Rng::new(seed ^ 0x6669_7273_745f_6f72);
    let class = Class::ALL[(seed % 3) as usize];
    let text = write::property(&mut rng, class);
    let program = texts::specification(&text);
    Case { seed, text, program, log: Log::random(&mut rng), class }
}

impl Case {
    /// The log as engines read it.
    pub fn trace(&self) -> Result<Trace, PredicateError> {
        self.log.trace(&self.program)
    }

    /// How it is evaluated: intervals count the log's ticks.
    pub fn options(&self) -> EvaluateOptions {
        EvaluateOptions {
            clock: Clock::Stamps,
            unit: TimeUnit::Nanoseconds,
            threads: 1,
            ..EvaluateOptions::default()
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.text, self.log)
    }
}
