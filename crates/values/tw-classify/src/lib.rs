//! Ways to fail: which traces fail a formula in the same way.
//!
//! After "Multiple Ways to Fail: Generalizing a Monitor's Verdict for the Classification of Execution Traces" (Varvaressos,
//! Lavoie, Gaboury, Hallé). The evaluation of a formula on a trace unfolds into a tree of operators and truth values, the
//! *hologram*; [`Rules`] prune it, and what is left, by its name, is the trace's class. All rules keep the root, so a class
//! never mixes verdicts.
//!
//! * Truth has three values ([`Truth`]), and is computed first, for all positions: by an engine, 64 positions per word, or
//!   from position to position where there are intervals or quantifiers over paths ([`Columns`]).
//! * The tree is never made. Its name is computed top-down, over what the rules keep ([`Scan`]); parts that look the same
//!   wherever they stand are found beforehand ([`Plan`]) and never looked at. Lists of children grow from position to
//!   position, so that the cost is that of the positions that are kept, whatever the nesting.
//! * State kept: one list per operator and truth value, and where each operator was decided last. Only a list that is asked
//!   for against its direction (`O` below `G`) is noted, 16 bytes per position.
//! * [`Tree`] is the tree itself, for one trace of a class, to be shown.
//!
//! ```
//! use tw_classify::{Columns, Formula, Plan, Rules, Scan, Timing, Tree};
//! use tw_core::Bits;
//!
//! let parsed = tw_spec::parse_formula("G a", 0);
//! let program = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default()).value;
//! let always = program.roots[0].node;
//! let formula = Formula::new(&program, always, &|_| Vec::new()).unwrap();
//! let plan = Plan::new(&formula, Rules::default()).unwrap();
//! let leaf = |_| Some(Bits::from_words(vec![0b101], 3));
//! let columns = Columns::of_trace(&formula, &program, 3, &Timing::default(), &leaf).unwrap();
//! let mut scan = Scan::new(&plan, &columns, Timing::default());
//! let tree = Tree::new(&mut scan, 3, 100);
//! assert_eq!(tree.line(), "G-(a-)");
//! assert_eq!(tree.nodes[1].at, 1);
//! ```

mod columns;
pub mod draw;
mod formula;
mod name;
mod plan;
mod rules;
mod scan;
mod shrink;
#[cfg(feature = "store")]
mod store;
mod time;
mod tree;
mod truth;
mod words;

pub use columns::{Columns, Lifted};
pub use formula::{Formula, domain, paths};
pub use plan::Plan;
pub use rules::Rules;
pub use scan::{Class, Scan};
pub use shrink::shrink;
#[cfg(feature = "store")]
pub use store::{Entry, Store, StoreError};
pub use time::Timing;
pub use tree::{Node, Tree, of_nothing};
pub use truth::{Kleene, Truth};
pub use words::{Speaker, sentence};
