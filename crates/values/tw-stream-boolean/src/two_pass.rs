//! Two passes for any specification, however past and future alternate (Bozzelli and Sánchez, "Foundations of Boolean
//! Stream Runtime Verification").
//!
//! The forward pass follows the *set* of states that the equations leave open, and writes on a tape how it went. The
//! backward pass starts with those states that may be the last and keeps, position by position, those that lead to what it
//! kept before; so every move between what is left is part of a model. Where two of them differ in an output that
//! matters, there are several models, and where a set is empty, there is none.
//!
//! Sets are numbered as they come up. Away from the ends both passes go by tables: a number of positions per look-up, as
//! many as keep the tables small ([`table`]). One position costs a fraction of a look-up per pass; memory is the tables
//! (some megabytes) and four bytes of tape per look-up, which go to a file above a budget ([`tape`]).

mod pair;
mod steps;
mod table;
mod tape;

use crate::system::{Reading, System, TooLarge};
use crate::{Specification, Unsolved};
use steps::Steps;
use tw_core::Bits;

pub(crate) use pair::two_models;

/// A part of the core, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    system: System,
    /// The outputs it finds, one per bit of a label.
    pub(crate) members: Vec<usize>,
    /// Which bits of a label matter.
    matter: u64,
    /// For each stream that letters are made of: the stream, and the least and largest offset.
    windows: Vec<Window>,
    /// The window and the place in it of each bit of a letter.
    places: Vec<(usize, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    stream: u32,
    least: i64,
    largest: i64,
}

/// What a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sets of states, at most.
    pub sets: usize,
    /// Bytes of tape in memory; what is more goes to a temporary file.
    pub tape: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { sets: 1 << 17, tape: 256 << 20 }
    }
}

impl Group {
    /// The group of these outputs. All else that their equations refer to is read as a column.
    pub(crate) fn new(spec: &Specification, members: &[usize], matter: &[bool]) -> Result<Self, TooLarge> {
        let system = System::new(spec, members, members, &[], Reading::Ahead)?;
        let matter = (0..).zip(members).fold(0, |all, (bit, &output)| all | u64::from(matter[output]) << bit);
        let mut windows: Vec<Window> = Vec::new();
        let mut places = Vec::new();
        for &(stream, offset, _) in &system.letters {
            let offset = i64::from(offset);
            let window = windows.iter().position(|window| window.stream == stream).unwrap_or_else(|| {
                windows.push(Window { stream, least: offset, largest: offset });
                windows.len() - 1
            });
            let own = &mut windows[window];
            (own.least, own.largest) = (own.least.min(offset), own.largest.max(offset));
            places.push(window);
        }
        let place = |(window, &(_, offset, _)): (usize, &(u32, i32, bool))| {
            (window, (i64::from(offset) - windows[window].least) as u32)
        };
        let places = places.into_iter().zip(&system.letters).map(place).collect();
        Ok(Group { system, members: members.to_vec(), matter, windows, places })
    }

    /// The bits that four positions together read.
    pub(crate) fn width(&self) -> usize {
        self.windows.iter().map(|window| (window.largest - window.least) as usize + 4).sum()
    }

    /// The letter at a position, and which of the positions that are asked for are beyond the trace.
    fn letter(&self, trace: &Trace<'_>, position: usize) -> (u64, u64) {
        let place = |offset: i32| {
            let place = position as i64 + i64::from(offset);
            (0..trace.len as i64).contains(&place).then_some(place as usize)
        };
        let letters = self.system.letters.iter().enumerate();
        let letter = letters.fold(0, |all, (bit, &(stream, offset, default))| {
            let value = place(offset).map_or(default, |place| trace.columns[stream as usize].get(place));
            all | u64::from(value) << bit
        });
        let outside = self.system.outside.iter().enumerate();
        (letter, outside.fold(0, |all, (bit, &offset)| all | u64::from(place(offset).is_none()) << bit))
    }

    /// The members' columns for an input that has one solution.
    pub(crate) fn run(&self, trace: &Trace<'_>, limits: &Limits) -> Result<Vec<Bits>, Unsolved> {
        let mut steps = Steps::new(&self.system, self.matter, limits.sets);
        let mut bits = table::widest(self, trace.len);
        loop {
            match table::run(self, &mut steps, trace, bits, limits) {
                Ok(columns) => return Ok(columns),
                Err(table::Stop::Unsolved(unsolved)) => return Err(unsolved),
                // Too many sets for tables so wide.
                Err(table::Stop::Full) => bits = bits.and_then(|bits| table::narrower(self, bits)),
            }
        }
    }
}

/// The columns that a group reads.
pub(crate) struct Trace<'a> {
    pub(crate) len: usize,
    /// The column of each stream; those of outputs that are not known yet are false throughout, and nobody reads them.
    pub(crate) columns: &'a [&'a Bits],
}
