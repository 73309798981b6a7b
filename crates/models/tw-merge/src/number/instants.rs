//! Numbers for states that carry instants: by instant, then by name.

use super::{Ended, Starts, ended};
use crate::finish::{Numbered, appearance};
use crate::layers::{Layers, PAGE, Pass, Step};
use crate::merger::{Budget, TooLarge};
use std::ops::Range;
use tw_model::{Place, Seen, State};

/// Which states are at a position.
#[derive(Default)]
pub(crate) struct Positions(Vec<Vec<[State; 2]>>);

impl Positions {
    fn set(&mut self, position: u32, states: Range<usize>) {
        let (page, at) = (position as usize / PAGE, position as usize % PAGE);
        if self.0.len() <= page {
            self.0.resize_with(page + 1, Vec::new);
        }
        if self.0[page].is_empty() {
            self.0[page].resize(PAGE, [0, 0]);
        }
        self.0[page][at] = [states.start as State, states.end as State];
    }

    pub fn get(&self, position: u32) -> Range<usize> {
        let [start, end] = self.0[position as usize / PAGE][position as usize % PAGE];
        start as usize..end as usize
    }

    /// The state of a name at a position; there must be one.
    pub fn state(&self, names: &[u32], position: u32, name: u32) -> State {
        let range = self.get(position);
        let at = names[range.clone()].partition_point(|&other| other < name);
        (range.start + at) as State
    }
}

/// What was seen at a position by whole traces.
pub(crate) fn seen(pass: Pass, position: u32) -> Seen {
    let place = |trace| Place::new(trace, u64::from(position));
    Seen {
        count: u64::from(pass.count),
        first: place(pass.first()),
        last: place(pass.last),
        traces: pass.count,
    }
}

/// Numbers names and states. Also returned: new codes of names by old ones.
pub(crate) fn number<S: Step>(
    layers: &Layers<S>,
    known: usize,
    starts: &Starts,
    ends: &Ended,
    budget: Budget,
) -> Result<(Numbered, Positions, Vec<u32>), TooLarge> {
    let mut first: Vec<Option<Place>> = vec![None; known];
    let mut appears = |name: u32, place: Place| {
        let first = &mut first[name as usize];
        *first = Some(first.map_or(place, |first| first.min(place)));
    };
    starts.iter().for_each(|(&name, seen)| appears(name, seen.first));
    for (position, table) in layers.tables() {
        for (step, pass) in table.iter() {
            appears(step.to(), Place::new(pass.first(), u64::from(position)));
        }
    }
    let (order, codes) = appearance(&first);

    let mut numbered = Numbered { order, ..Numbered::default() };
    let mut positions = Positions::default();
    let mut begin: Vec<(u32, Seen)> =
        starts.iter().map(|(&name, &seen)| (codes[name as usize], seen)).collect();
    begin.sort_unstable_by_key(|&(name, _)| name);
    for (name, seen) in begin {
        numbered.initial.push((numbered.names.len() as State, seen.count));
        numbered.names.push(name);
        numbered.positions.push(0);
        numbered.seen.push(seen);
    }
    positions.set(0, 0..numbered.names.len());
    let mut passes = vec![Pass::default(); numbered.order.len()];
    let mut present = Vec::new();
    for (position, table) in layers.tables() {
        for (step, pass) in table.iter() {
            let name = codes[step.to() as usize];
            if passes[name as usize].count == 0 {
                present.push(name);
            }
            passes[name as usize].add(pass);
        }
        present.sort_unstable();
        let start = numbered.names.len();
        for name in present.drain(..) {
            numbered.names.push(name);
            numbered.positions.push(position);
            numbered.seen.push(seen(std::mem::take(&mut passes[name as usize]), position));
        }
        positions.set(position, start..numbered.names.len());
        budget.states(numbered.names.len())?;
    }
    budget.states(numbered.names.len())?;
    numbered.ended =
        ended(ends, |[position, name]| positions.state(&numbered.names, position, codes[name as usize]));
    Ok((numbered, positions, codes))
}
