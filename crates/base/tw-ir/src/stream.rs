//! Streams: columns that a specification defines by equations, and values of columns at other positions.
//!
//! An equation is a node without temporal operators. What it says of other positions it reads from slots of their own
//! ([`Shift`]), so that at each position it is a term over slots like any other.

use crate::{NodeId, Path, SlotId};
use tw_core::Value;
use tw_diag::Span;

/// What a stream's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamType {
    /// `true` or `false`; never null.
    Bool,
    /// Whole numbers.
    Int,
    /// Numbers, held as reals.
    Real,
    /// Texts.
    Text,
}

impl StreamType {
    /// Every one with its name.
    pub const ALL: [(&'static str, StreamType); 4] = [
        ("bool", StreamType::Bool),
        ("int", StreamType::Int),
        ("real", StreamType::Real),
        ("string", StreamType::Text),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("bool", |(name, _)| name)
    }
}

/// One equation: `stream y: bool = …;`.
#[derive(Clone, Debug)]
pub struct Stream {
    /// What it defines.
    pub name: String,
    /// Of which type.
    pub ty: StreamType,
    /// The equation: a formula if it is Boolean, else a term.
    pub node: NodeId,
    /// Where its values are kept.
    pub slot: SlotId,
    /// One instance per value of this column, each on its own positions.
    pub by: Option<Path>,
    /// Whether its value matters (`observe`); all do where none is marked.
    pub observed: bool,
    /// Its name's place.
    pub span: Span,
}

/// What another slot holds so many positions away.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// Of which slot.
    pub slot: SlotId,
    /// How that is written.
    pub path: Path,
    /// How far ahead; negative is back, never 0.
    pub by: i32,
    /// What stands beyond the ends of the trace.
    pub default: Value,
    /// Whose positions are counted: those that share a value of this column, or all.
    pub per: Option<Path>,
}
