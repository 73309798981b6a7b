//! The blocks of an experiment put together as one column.

use crate::lane::{Data, Lane};
use tw_core::{Bits, Column, Value};
use tw_monitor::Values;

/// What all blocks that have values hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing yet.
    Any,
    True,
    Int,
    Real,
    Mixed,
}

fn kind(lane: &Lane<'_>) -> Kind {
    match &lane.data {
        _ if lane.is_empty() => Kind::Any,
        Data::Constant(Value::Bool(true)) => Kind::True,
        Data::Constant(Value::Int(_)) | Data::Ints(_) => Kind::Int,
        Data::Constant(Value::Real(_)) | Data::Reals(_) => Kind::Real,
        _ => Kind::Mixed,
    }
}

/// The blocks in trace order as one column of `len` positions.
pub(crate) fn column(lanes: Vec<Lane<'_>>, len: usize) -> Values {
    let kind = lanes.iter().map(kind).fold(Kind::Any, |all, this| match (all, this) {
        (Kind::Any, kind) | (kind, Kind::Any) => kind,
        (a, b) if a == b => a,
        _ => Kind::Mixed,
    });
    let mut valid = Bits::with_capacity(len);
    let mut errors = Vec::new();
    for lane in &lanes {
        let first = valid.len();
        errors.extend(lane.errors.iter().map(|(at, message)| (first + *at as usize, message.to_string())));
        valid.append(&Bits::from_words(lane.valid.to_vec(), lane.len));
    }
    let column = match kind {
        Kind::Any | Kind::True => Column::Truth(valid),
        Kind::Int => {
            let mut values = Vec::with_capacity(len);
            lanes.iter().filter_map(Lane::ints).for_each(|numbers| values.extend_from_slice(&numbers));
            Column::Int { values, valid }
        }
        Kind::Real => {
            let mut values = Vec::with_capacity(len);
            lanes.iter().filter_map(Lane::reals).for_each(|numbers| values.extend_from_slice(&numbers));
            Column::Real { values, valid }
        }
        Kind::Mixed => {
            let values = lanes.iter().flat_map(|lane| (0..lane.len).map(|at| lane.value_or_null(at)));
            Column::Any(values.collect())
        }
    };
    Values { column, errors }
}
