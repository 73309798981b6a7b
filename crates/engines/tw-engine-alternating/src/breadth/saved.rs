//! Sets of slices as bytes: numbers of nodes, which are the same for every process with the same program and options.

use super::family::Slice;
use super::machine::Slices;
use tw_automata::alternating::{Direction, NodeIndex};
use tw_core::codec::{Corrupt, put, take};

impl Slices {
    pub(super) fn save_set(&self, set: u32, out: &mut Vec<u8>) {
        let slices = self.sets.get(set);
        put(slices.len() as u64, out);
        for &slice in slices {
            let nodes = self.slices.get(slice);
            put(nodes.len() as u64, out);
            nodes.iter().for_each(|&node| put(u64::from(node), out));
        }
    }

    pub(super) fn load_set(&mut self, goal: usize, from: &mut &[u8]) -> Result<u32, Corrupt> {
        let mut slices = Vec::new();
        for _ in 0..take(from)? {
            let mut slice = Slice::new();
            for _ in 0..take(from)? {
                let number = take(from)?;
                let nodes = self.automaton.nodes().len() as u64;
                let known = match number.checked_sub(nodes) {
                    None => {
                        self.published
                            || self.automaton.node(NodeIndex(number as u32)).direction == Direction::Future
                    }
                    Some(entry) => !self.published && entry / 2 == goal as u64,
                };
                if !known || slice.last().is_some_and(|&last| u64::from(last) >= number) {
                    return Err(Corrupt("the saved state names nodes that the formula does not have".into()));
                }
                slice.push(number as u32);
            }
            slices.push(slice);
            if slices.len() > self.limits.slices {
                return Err(Corrupt("the saved state has more slices than the budget allows".into()));
            }
        }
        Ok(self.set(slices))
    }
}
