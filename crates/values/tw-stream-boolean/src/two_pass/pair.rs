//! One model of an input, and another where there is one: what witnesses show.

use super::steps::{NONE, START, Steps};
use super::{Group, Trace};
use crate::Unsolved;
use crate::system::State;

/// The labels of a model at each position, and of another that differs from it in what matters; nothing without a model.
type Two = Option<(Vec<u64>, Option<Vec<u64>>)>;

/// The models of a short input.
pub(crate) fn two_models(group: &Group, trace: &Trace<'_>, limit: usize) -> Result<Two, Unsolved> {
    let mut steps = Steps::new(&group.system, group.matter, limit);
    let letters: Vec<(u64, u64)> = (0..trace.len).map(|position| group.letter(trace, position)).collect();
    let mut sets = vec![START];
    for &(letter, outside) in &letters {
        let next = steps.forwards(sets[sets.len() - 1], letter, outside)?;
        sets.push(next);
    }
    // What is left after each position; before the first it is the start.
    let mut left = vec![steps.within(sets[trace.len], 0)?];
    for (position, &(letter, outside)) in letters.iter().enumerate().rev() {
        let found = steps.backwards(sets[position], letter, outside, left[left.len() - 1])?;
        left.push(found.before);
    }
    left.reverse();
    if left[trace.len] == NONE {
        return Ok(None);
    }
    let mut walk = Walk { group, steps, letters, left };
    let mut one = Vec::new();
    walk.onwards(None, &mut one)?;
    for (position, &label) in one.clone().iter().enumerate() {
        if let Some(other) = walk.another(position, label)? {
            return Ok(Some((one, Some(other))));
        }
    }
    Ok(Some((one, None)))
}

struct Walk<'a> {
    group: &'a Group,
    steps: Steps<'a>,
    letters: Vec<(u64, u64)>,
    left: Vec<u32>,
}

impl Walk<'_> {
    /// The moves at a position that are part of models: from, to, label. The start has no state.
    fn moves(&mut self, position: usize) -> Result<Vec<(Option<State>, State, u64)>, Unsolved> {
        let (letter, outside) = self.letters[position];
        let after = self.steps.set(self.left[position + 1]).to_vec();
        let mut found = Vec::new();
        if position == 0 {
            let moves = self.steps.moves(self.group.system.first, letter, outside)?;
            found.extend(moves.iter().map(|one| (None, one.next, one.label)));
        } else {
            for state in self.steps.set(self.left[position]).to_vec() {
                let (moves, range) = self.steps.from(state, letter, outside)?;
                found.extend(moves[range].iter().map(|one| (Some(state), one.next, one.label)));
            }
        }
        found.retain(|(_, to, _)| after.binary_search(to).is_ok());
        Ok(found)
    }

    /// Goes on from a state to the end.
    fn onwards(&mut self, mut state: Option<State>, labels: &mut Vec<u64>) -> Result<(), Unsolved> {
        for position in labels.len()..self.letters.len() {
            let moves = self.moves(position)?;
            let Some(&(_, to, label)) = moves.iter().find(|(from, ..)| *from == state) else { return Ok(()) };
            labels.push(label);
            state = Some(to);
        }
        Ok(())
    }

    /// A model that differs at a position from this label in what matters.
    fn another(&mut self, position: usize, label: u64) -> Result<Option<Vec<u64>>, Unsolved> {
        let matter = self.group.matter;
        let moves = self.moves(position)?;
        let found = moves.into_iter().find(|(_, _, other)| (label ^ other) & matter != 0);
        let Some((mut from, to, other)) = found else { return Ok(None) };
        let mut labels = vec![other];
        for earlier in (0..position).rev() {
            let moves = self.moves(earlier)?;
            let Some(&(before, _, label)) = moves.iter().find(|(_, to, _)| Some(*to) == from) else {
                return Ok(None);
            };
            labels.push(label);
            from = before;
        }
        labels.reverse();
        self.onwards(Some(to), &mut labels)?;
        Ok(Some(labels))
    }
}
