//! What depends on what: streams and shifted columns, with the distance of each reference.
//!
//! A *derived* slot is a stream's, a shift's or a window's. Its dependencies are edges with weights: a stream reads what stands in its
//! equation at distance 0, a shift reads its source at its own distance, a window what it aggregates here and at all positions before. A specification is *well-formed* if no closed walk has
//! weight 0; its strongly connected components then go forward (all cycles negative) or backward (all positive).

use rustc_hash::{FxHashMap, FxHashSet};
use tw_ir::{Node, NodeId, Path, Program, Shift, SlotId, What};

/// Further back than offsets reach ahead.
const FAR: i64 = 1 << 36;

/// A derived slot.
#[derive(Clone, Debug)]
pub(crate) struct Derived {
    pub slot: SlotId,
    /// What it reads of other derived slots, and how far ahead.
    pub reads: Vec<(usize, i64)>,
    /// How far ahead it reads the trace itself; `last` asks for one position.
    pub ahead: i64,
    /// Whose positions it counts.
    pub per: Option<Path>,
}

/// How a component is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// No cycle: all positions at once.
    Free,
    /// Each position from those before it.
    Forward,
    /// Each position from those after it.
    Backward,
    /// Around a cycle of weight 0: equations, not definitions.
    Circular,
}

/// Derived slots that depend on each other.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub direction: Direction,
    /// Indices of derived slots, in an order in which what is read at the same position comes first.
    pub members: Vec<usize>,
    /// Of each member, how many positions later than the others it is computed.
    pub delays: Vec<i64>,
}

/// All of them, what is read before who reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub derived: Vec<Derived>,
    pub of_slot: FxHashMap<SlotId, usize>,
    pub components: Vec<Component>,
}

impl Graph {
    pub fn new(program: &Program) -> Self {
        let idle = idle(program);
        let derived = || program.derived().filter(|slot| !idle.contains(slot));
        let mut graph = Graph { of_slot: derived().zip(0..).collect(), ..Graph::default() };
        for slot in derived() {
            let derived = match &program.slots[slot as usize].what {
                What::Shift(shift) => {
                    let source = graph.of_slot.get(&shift.slot);
                    let reads = source.map(|&at| (at, shift.by.into())).into_iter().collect();
                    let ahead = if source.is_none() { shift.by.into() } else { 0 };
                    Derived { slot, reads, ahead, per: shift.per.clone() }
                }
                What::Window(window) => {
                    let parts: Vec<NodeId> = window.parts().collect();
                    let read = |id: NodeId| match program.dag.node(id) {
                        Node::Slot(slot) | Node::Truth(slot) => graph.of_slot.get(&slot).copied(),
                        _ => None,
                    };
                    // Here, and as far back as one likes: what it reads ahead of itself is read at its own position as well.
                    let read = program.reachable(&parts).into_iter().filter_map(read);
                    let reads = read.flat_map(|at| [(at, 0), (at, -FAR)]).collect();
                    Derived { slot, reads, ahead: 0, per: window.per.clone() }
                }
                What::Stream { stream, .. } => {
                    let stream = &program.streams[*stream as usize];
                    let (mut reads, mut ahead) = (Vec::new(), 0);
                    for id in program.reachable(&[stream.node]) {
                        match program.dag.node(id) {
                            Node::Slot(slot) | Node::Truth(slot) => {
                                reads.extend(graph.of_slot.get(&slot).map(|&at| (at, 0)));
                            }
                            Node::Last => ahead = 1,
                            _ => {}
                        }
                    }
                    Derived { slot, reads, ahead, per: stream.by.clone() }
                }
                _ => continue,
            };
            graph.derived.push(derived);
        }
        graph.components = components(&graph.derived);
        graph
    }

    /// That of these members alone, ascending, which read no others.
    pub fn only(&self, members: &[usize]) -> Self {
        let place: FxHashMap<usize, usize> = members.iter().copied().zip(0..).collect();
        let own = |&member: &usize| {
            let derived = &self.derived[member];
            let reads = derived.reads.iter().map(|(read, by)| (place[read], *by)).collect();
            Derived { reads, ..derived.clone() }
        };
        let derived: Vec<Derived> = members.iter().map(own).collect();
        let of_slot = derived.iter().map(|derived| derived.slot).zip(0..).collect();
        Self { components: components(&derived), of_slot, derived }
    }

    /// How many positions after its own each derived slot can be told, if nothing goes backward.
    pub fn delays(&self) -> Option<Vec<i64>> {
        let mut delays = vec![0i64; self.derived.len()];
        for component in &self.components {
            if matches!(component.direction, Direction::Backward | Direction::Circular) {
                return None;
            }
            // Cycles are negative, so that each round settles at least one member.
            for _ in 0..=component.members.len() {
                for &member in &component.members {
                    let derived = &self.derived[member];
                    let reads = derived.reads.iter().map(|&(read, by)| delays[read] + by);
                    delays[member] = reads.fold(delays[member].max(derived.ahead), i64::max);
                }
            }
        }
        Some(delays)
    }

    /// The most changes of direction on a way through the components; `None` with a cycle of weight 0.
    pub fn alternation(&self) -> Option<usize> {
        let mut of_member = vec![0; self.derived.len()];
        // Of each component, the changes below it for either direction that comes next.
        let mut changes: Vec<[Option<usize>; 2]> = Vec::new();
        for (number, component) in self.components.iter().enumerate() {
            component.members.iter().for_each(|&member| of_member[member] = number);
            let mut below = [None, None];
            for &member in &component.members {
                for &(read, _) in &self.derived[member].reads {
                    if of_member[read] != number || !component.members.contains(&read) {
                        let theirs = changes[of_member[read]];
                        for sign in 0..2 {
                            below[sign] = below[sign].max(theirs[sign]);
                        }
                    }
                }
            }
            let sign = match component.direction {
                Direction::Free => None,
                Direction::Forward => Some(0),
                Direction::Backward => Some(1),
                Direction::Circular => return None,
            };
            if let Some(sign) = sign {
                let other = below[1 - sign].map(|changes| changes + 1);
                below[sign] = Some(below[sign].max(other).unwrap_or(0));
                // A way that ends with the other sign below stays possible only through this component.
                below[1 - sign] = None;
            }
            changes.push(below);
        }
        Some(changes.into_iter().flatten().flatten().max().unwrap_or(0))
    }
}

/// Shifts that nobody reads: those of the whole trace, where the equation that asked for them counts the positions of a key.
fn idle(program: &Program) -> FxHashSet<SlotId> {
    let shifts = || {
        program.slots.iter().zip(0..).filter_map(|(slot, at)| match &slot.what {
            What::Shift(shift) => Some((shift, at)),
            _ => None,
        })
    };
    let keyed: Vec<_> = shifts().filter(|(shift, _)| shift.per.is_some()).collect();
    let twin =
        |shift: &Shift| keyed.iter().any(|(other, _)| (other.slot, other.by) == (shift.slot, shift.by));
    let mut found: FxHashSet<SlotId> =
        shifts().filter(|(shift, _)| shift.per.is_none() && twin(shift)).map(|(_, at)| at).collect();
    if found.is_empty() || !program.monitors.is_empty() {
        return FxHashSet::default();
    }
    let roots = program.roots.iter().map(|root| root.node);
    let required = program.requirements.iter().map(|requirement| requirement.root.node);
    let equations = program.streams.iter().map(|stream| stream.node);
    let windows = program.windows().flat_map(|(_, window)| window.parts());
    let nodes: Vec<NodeId> = roots.chain(required).chain(equations).chain(windows).collect();
    for id in program.reachable(&nodes) {
        if let Node::Slot(slot) | Node::Truth(slot) = program.dag.node(id) {
            found.remove(&slot);
        }
    }
    found
}

/// Strongly connected components, what is read first (Tarjan's algorithm with a stack of its own).
fn components(derived: &[Derived]) -> Vec<Component> {
    const NEW: usize = usize::MAX;
    let (mut index, mut low) = (vec![NEW; derived.len()], vec![0; derived.len()]);
    let (mut stack, mut on_stack) = (Vec::new(), vec![false; derived.len()]);
    let (mut next, mut found) = (0, Vec::new());
    for root in 0..derived.len() {
        if index[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((at, edge)) = calls.pop() {
            if edge == 0 {
                (index[at], low[at]) = (next, next);
                next += 1;
                stack.push(at);
                on_stack[at] = true;
            } else {
                let child = derived[at].reads[edge - 1].0;
                low[at] = low[at].min(low[child]);
            }
            let mut edges = derived[at].reads.iter().enumerate().skip(edge);
            let descend = edges.find_map(|(number, &(child, _))| {
                if index[child] == NEW {
                    return Some((child, number));
                }
                if on_stack[child] {
                    low[at] = low[at].min(index[child]);
                }
                None
            });
            if let Some((child, number)) = descend {
                calls.push((at, number + 1));
                calls.push((child, 0));
                continue;
            }
            if low[at] == index[at] {
                let mut members = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    members.push(member);
                    if member == at {
                        break;
                    }
                }
                members.sort_unstable();
                found.push(component(derived, members));
            }
        }
    }
    found
}

fn component(derived: &[Derived], members: Vec<usize>) -> Component {
    let inside: FxHashMap<usize, usize> =
        members.iter().enumerate().map(|(at, &member)| (member, at)).collect();
    let edges: Vec<(usize, usize, i64)> = members
        .iter()
        .enumerate()
        .flat_map(|(at, &member)| {
            let inside = &inside;
            derived[member].reads.iter().filter_map(move |(read, by)| Some((at, *inside.get(read)?, *by)))
        })
        .collect();
    if edges.is_empty() {
        return Component { direction: Direction::Free, delays: vec![0; members.len()], members };
    }
    for (direction, sign) in [(Direction::Forward, 1), (Direction::Backward, -1)] {
        // Positions of a key and of the trace are not the same distance apart: what reads both ways may meet itself.
        let counts = |delays: &Vec<i64>| {
            delays.iter().all(|&delay| delay == 0)
                || members.iter().all(|&member| derived[member].per == derived[members[0]].per)
        };
        if let Some(delays) = potentials(members.len(), &edges, sign).filter(counts) {
            let order = order(members.len(), &edges, sign, &delays);
            let delays = order.iter().map(|&at| delays[at]).collect();
            let members = order.into_iter().map(|at| members[at]).collect();
            return Component { direction, members, delays };
        }
    }
    Component { direction: Direction::Circular, delays: vec![0; members.len()], members }
}

/// Delays that leave each member only what was computed before it; `None` if some cycle does not go that way.
fn potentials(members: usize, edges: &[(usize, usize, i64)], sign: i64) -> Option<Vec<i64>> {
    // Scaled, so that cycles of weight 0 grow as well.
    let scale = members as i64 + 1;
    let mut delays = vec![0i64; members];
    for _ in 0..=members {
        let mut changed = false;
        for &(reader, read, by) in edges {
            let least = delays[read] + sign * by * scale + 1;
            if delays[reader] < least {
                (delays[reader], changed) = (least, true);
            }
        }
        if !changed {
            // Without the scale: whole positions, the rest is order within a position.
            return Some(unscaled(members, edges, sign));
        }
    }
    None
}

fn unscaled(members: usize, edges: &[(usize, usize, i64)], sign: i64) -> Vec<i64> {
    let mut delays = vec![0i64; members];
    for _ in 0..=members {
        for &(reader, read, by) in edges {
            delays[reader] = delays[reader].max(delays[read] + sign * by);
        }
    }
    delays
}

/// Members in an order in which what is computed in the same step and read comes first.
fn order(members: usize, edges: &[(usize, usize, i64)], sign: i64, delays: &[i64]) -> Vec<usize> {
    let tight = |&&(reader, read, by): &&(usize, usize, i64)| delays[read] + sign * by == delays[reader];
    let mut waits = vec![0; members];
    edges.iter().filter(tight).for_each(|&(reader, ..)| waits[reader] += 1);
    let mut ready: Vec<usize> = (0..members).rev().filter(|&member| waits[member] == 0).collect();
    let mut order = Vec::with_capacity(members);
    while let Some(member) = ready.pop() {
        order.push(member);
        for &(reader, read, _) in edges.iter().filter(tight) {
            if read == member {
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    ready.push(reader);
                }
            }
        }
    }
    order
}
