//! From the atoms of positions to events: `send("m")`, or `dir == "send" & msg == "m"`.
//!
//! An event is a choice of atoms, or of two that hold together. By columns each event is a word of 64 positions; by rows the
//! atoms that hold say which events may have happened.

use tw_core::Bits;
use tw_ir::{Node, NodeId, Program};
use tw_monitor::Unsupported;

/// No second atom.
const NONE: u32 = u32::MAX;

/// How events are read.
#[derive(Clone, Debug)]
pub struct Feed {
    /// Of each event its choices: an atom, and another that has to hold with it.
    choices: Vec<Vec<(u32, u32)>>,
    /// Of each atom the events that it may say, and what has to hold with it.
    says: Vec<Vec<(u32, u32)>>,
}

impl Feed {
    /// Of the formulas of events.
    pub fn new(program: &Program, events: &[NodeId]) -> Result<Self, Unsupported> {
        let atoms = program.atoms();
        let mut choices = Vec::with_capacity(events.len());
        for &event in events {
            let (mut own, mut todo) = (Vec::new(), vec![event]);
            while let Some(node) = todo.pop() {
                let number = |node: NodeId| atoms.binary_search(&node).ok().map(|at| at as u32);
                match program.dag.node(node) {
                    _ if number(node).is_some() => own.extend(number(node).map(|atom| (atom, NONE))),
                    Node::Or(a, b) => todo.extend([a, b]),
                    Node::And(a, b) if number(a).is_some() && number(b).is_some() => {
                        own.extend(number(b).zip(number(a)));
                    }
                    _ => {
                        return Err(Unsupported::construct(node, "an event that is no choice of predicates"));
                    }
                }
            }
            choices.push(own);
        }
        let mut says = vec![Vec::new(); atoms.len()];
        for (event, own) in choices.iter().enumerate() {
            for &(atom, with) in own {
                says[atom as usize].push((event as u32, with));
            }
        }
        Ok(Self { choices, says })
    }

    /// The events of a position whose atoms are packed 64 to a word.
    #[inline]
    pub fn row(&self, atoms: &[u64], found: &mut Vec<u32>) {
        found.clear();
        for (word, &bits) in atoms.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let atom = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let Some(says) = self.says.get(atom) else { continue };
                for &(event, with) in says {
                    if with == NONE || atoms[with as usize / 64] >> (with % 64) & 1 == 1 {
                        found.push(event);
                    }
                }
            }
        }
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
    }

    /// Visits the positions that have events, in their order.
    pub fn columns(&self, atoms: &[Bits], len: usize, mut visit: impl FnMut(usize, &[u32])) {
        // Columns in which nothing holds are left out: a trace gives its events in one of the two ways.
        let column = |atom: u32| atoms[atom as usize].words();
        let holds = |atom: u32| atom == NONE || column(atom).iter().any(|&word| word != 0);
        let mut choices: Vec<(u32, &[u64], &[u64])> = Vec::new();
        for (event, own) in self.choices.iter().enumerate() {
            for &(atom, with) in own.iter().filter(|(atom, with)| holds(*atom) && holds(*with)) {
                choices.push((event as u32, column(atom), if with == NONE { &[] } else { column(with) }));
            }
        }
        let mut at = [0u32; 64];
        let mut several: Vec<(u32, u32)> = Vec::new();
        let mut group: Vec<u32> = Vec::new();
        for block in 0..len.div_ceil(64) {
            let (mut any, mut twice) = (0u64, 0u64);
            several.clear();
            for &(event, column, with) in &choices {
                let word = column[block] & with.get(block).copied().unwrap_or(u64::MAX);
                if word == 0 {
                    continue;
                }
                let again = word & any;
                twice |= again;
                any |= word;
                let mut fresh = word & !again;
                while fresh != 0 {
                    at[fresh.trailing_zeros() as usize] = event;
                    fresh &= fresh - 1;
                }
                let mut rest = again;
                while rest != 0 {
                    several.push((rest.trailing_zeros(), event));
                    rest &= rest - 1;
                }
            }
            if len - block * 64 < 64 {
                any &= (1 << (len - block * 64)) - 1;
            }
            several.sort_unstable();
            while any != 0 {
                let offset = any.trailing_zeros();
                any &= any - 1;
                let position = block * 64 + offset as usize;
                if twice >> offset & 1 == 0 {
                    visit(position, &at[offset as usize..=offset as usize]);
                    continue;
                }
                group.clear();
                group.push(at[offset as usize]);
                let from = several.partition_point(|own| own.0 < offset);
                group.extend(several[from..].iter().take_while(|own| own.0 == offset).map(|own| own.1));
                // An event may be given in both ways.
                group.sort_unstable();
                group.dedup();
                visit(position, &group);
            }
        }
    }
}
