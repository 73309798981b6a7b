//! Which operation is computed in which pass, and where its words are kept.
//!
//! A pass walks the trace once, block by block, in one direction. Everything that can be computed on the way is: past
//! operations in forward passes, future operations in backward passes, connectives in any. What a later pass needs is
//! kept as a whole column and given back after its last use; everything else lives in block-sized registers that are
//! reused as soon as their value is dead.

use crate::emit::emit;
use crate::graph::{Direction, Graph};
use crate::order::Order;
use tw_monitor::Lit;

/// Where the words of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// False everywhere.
    False,
    /// A column of the trace.
    Atom(u32),
    /// First positions.
    First,
    /// Last positions.
    Last,
    /// A column that an earlier pass has computed.
    Column(u32),
    /// A column that this pass computes: index in [`Pass::defines`].
    Define(u32),
    /// A block-sized register.
    Register(u32),
}

/// A value or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) place: Place,
    pub(crate) negated: bool,
}

/// What is done to one block. `carry` numbers the bit that is handed from block to block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    And(Operand, Operand),
    Xor(Place, Place),
    Shift {
        body: Operand,
        repeat: bool,
        carry: u32,
    },
    Chain {
        hold: Operand,
        now: Operand,
        weak: bool,
        carry: u32,
    },
    Fill {
        body: Operand,
        carry: u32,
    },
    /// An atom one position later or earlier. Its neighbouring words can be read, so it goes with any walk.
    Neighbour {
        atom: u32,
        negated: bool,
        direction: Direction,
        repeat: bool,
    },
    /// Counts and lists the positions where the operand holds.
    Violations {
        sink: u32,
        body: Operand,
    },
    /// The same for a conjunction (or its negation) nobody else needs.
    ViolationsAnd {
        sink: u32,
        a: Operand,
        b: Operand,
        negated: bool,
    },
    /// Per segment: whether the operand holds nowhere in it.
    Nowhere {
        sink: u32,
        body: Operand,
        carry: u32,
    },
    /// Per segment: the operand at its first position.
    Starts {
        sink: u32,
        body: Operand,
    },
    /// The operand as it is.
    Copy(Operand),
}

/// One step of a pass; `to` is where the result goes, [`Place::False`] if there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) code: Code,
    pub(crate) to: Place,
}

/// One walk over the trace.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub(crate) direction: Direction,
    pub(crate) steps: Vec<Step>,
    pub(crate) registers: usize,
    pub(crate) carries: usize,
    /// Columns computed here.
    pub(crate) defines: Vec<u32>,
    /// Sinks answered here; steps refer to them by their index in this list.
    pub(crate) sinks: Vec<u32>,
}

/// What is asked of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Where it holds, counted and listed, and whether it holds nowhere (per segment).
    Violations,
    /// Its value at the first position (per segment).
    Starts,
    /// All of it, as this output column.
    Column,
}

/// A question about an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sink {
    pub(crate) lit: Lit,
    pub(crate) want: Want,
}

/// The whole plan. Columns are numbered by storage: a number may serve one value after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) passes: Vec<Pass>,
    /// Number of storage columns, that is, the most that are alive at once.
    pub(crate) columns: usize,
    /// For each sink that wants a column: its storage.
    pub(crate) outputs: Vec<Option<u32>>,
}

/// Plans the sinks. `segmented` traces need one more step per violation sink.
pub(crate) fn schedule(graph: &Graph, sinks: &[Sink], segmented: bool) -> Schedule {
    emit(&Order::new(graph, sinks), sinks, segmented)
}
