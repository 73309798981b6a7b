//! Streams: columns that equations define, from columns of the trace, from each other, and from values at other positions.
//!
//! [`Streams`] knows what depends on what. Where equations look back only, a [`Pass`] fills batches one after the other, stored
//! and live alike: a step costs what the equations are long, a shift holds as many values as it looks back, per key if it
//! counts a key's positions. Otherwise [`Streams::whole`] fills a whole trace, component by component: each goes forward or
//! backward, so that a well-formed specification of alternation depth `d` is done in `d + 1` sweeps.
//!
//! Live, where equations look ahead a bounded distance, positions wait in [`Ahead`] until what they read is there.
//!
//! Cost per position: in a pass, about a nanosecond an operator where numbers and truth values are compiled (`machine`), else one
//! evaluation of each equation on values (about 40 ns an operator). The latter is the definition, and what [`Ahead`] and
//! [`Streams::whole`] do. Memory per stream: nothing in a pass, a value a position for a whole trace.

mod ahead;
mod boolean;
mod column;
mod equation;
mod graph;
mod joint;
mod keys;
mod machine;
mod memory;
mod pass;
mod past;
mod whole;
mod windows;
mod written;

pub use ahead::{Ahead, Plan};
pub use boolean::{Boolean, Input, NotBoolean};
use equation::Equation;
pub use graph::Direction;
use graph::Graph;
use keys::KEY;
pub use memory::Held;
pub use pass::Pass;
pub use past::Measure;
use tw_core::{Position, Value};
use tw_ir::{Expect, NodeId, Path, Program, SlotId, StreamType, What};
use tw_stream_boolean::graph::{Edge, closed_walk};
use windows::Plan as Rolls;
pub use written::{RowForm, RowWriter};

/// An equation that has no value at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError {
    /// The equation.
    pub node: NodeId,
    /// The position, counted from the start of the batch.
    pub position: Position,
    /// Which stream, and what went wrong.
    pub message: String,
}

/// Streams that are defined by each other at the same position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZeroCycle {
    /// Their names.
    pub names: Vec<String>,
    /// What is read around it: each stream refers to the next one so many positions away, and all of that together is no
    /// distance. Where such a walk would be too long, one that looks back and one that looks ahead, which make up for each other;
    /// nothing where positions of a key and of the trace meet.
    pub walk: Vec<(String, i64)>,
    /// The equation of the first.
    pub node: NodeId,
    /// Whether all of them are Boolean.
    pub boolean: bool,
}

/// What can be said of equations before they run.
#[derive(Clone, Debug)]
pub struct Shape {
    /// A cycle of references of weight 0, if there is one; without one, the equations are well-formed.
    pub cycle: Option<ZeroCycle>,
    /// Changes of direction; one sweep more is needed. `None` if not well-formed.
    pub alternation: Option<usize>,
    /// Whether values can be told a bounded number of positions after their own.
    pub online: Option<bool>,
    /// That number.
    pub look_ahead: Option<usize>,
    /// Bytes that one pass holds at most, per key where there are keys; nothing where windows of time hold what comes in their length.
    pub held: Option<usize>,
}

/// The equations of a program, in the order in which they can be computed.
#[derive(Clone, Debug)]
pub struct Streams {
    graph: Graph,
    equations: Vec<Equation>,
    /// Columns whose values have positions of their own, with their slots.
    keys: Vec<(Path, Option<SlotId>)>,
    /// Of each derived slot that is a window.
    windows: Vec<Option<Rolls>>,
    /// Of each derived slot, whether anybody beside equations reads it, where that is known.
    shown: Option<Vec<bool>>,
    measure: Measure,
}

/// How the trace is divided, and how it measures time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Divided<'a> {
    /// The column that is read as keys, the last of each batch.
    pub key: Option<&'a str>,
    /// Whether it divides the whole trace: windows are then those of each key.
    pub whole: bool,
    /// How intervals inside windows are measured.
    pub measure: Measure,
}

impl Streams {
    /// Of a program that has computed columns, on a trace as it is.
    pub fn new(program: &Program) -> Option<Self> {
        Self::divided(program, Divided::default())
    }

    /// The same, on a trace that is divided.
    pub fn divided(program: &Program, divided: Divided<'_>) -> Option<Self> {
        if !program.derives() {
            return None;
        }
        let mut graph = Graph::new(program);
        let window = |derived: &graph::Derived| match &program.slots[derived.slot as usize].what {
            What::Window(window) => Rolls::new(program, window),
            _ => None,
        };
        let windows: Vec<Option<Rolls>> = graph.derived.iter().map(window).collect();
        // No column has such a name.
        let own = Path::field("\u{0}");
        for (derived, window) in graph.derived.iter_mut().zip(&windows) {
            let of_key = |per: &Path| divided.key.is_some_and(|key| key == per.to_string());
            match &derived.per {
                None if divided.whole && window.is_some() => derived.per = Some(own.clone()),
                Some(per) if window.is_some() && of_key(per) => derived.per = Some(own.clone()),
                _ => {}
            }
        }
        let mut keys: Vec<(Path, Option<SlotId>)> = Vec::new();
        for path in graph.derived.iter().filter_map(|derived| derived.per.as_ref()) {
            if !keys.iter().any(|(known, _)| known == path) {
                let same = |what: &What| matches!(what, What::Variable(own, Expect::Any) if own == path);
                let slot = program.slots.iter().position(|slot| same(&slot.what));
                let slot = if *path == own { Some(KEY) } else { slot.map(|slot| slot as SlotId) };
                keys.push((path.clone(), slot));
            }
        }
        let equations = program.streams.iter().map(|stream| Equation::new(program, stream)).collect();
        Some(Self { graph, equations, keys, windows, shown: None, measure: divided.measure })
    }

    /// Those alone that somebody reads, and what they read themselves; `None` if nobody reads any. What is defined around a cycle
    /// of weight 0 stays: whether it has values is for the whole trace to say.
    #[must_use]
    pub fn only(&self, read: impl Fn(SlotId) -> bool) -> Option<Self> {
        let derived = &self.graph.derived;
        let shown: Vec<bool> = derived.iter().map(|derived| read(derived.slot)).collect();
        let mut kept = shown.clone();
        let circular = |component: &&graph::Component| component.direction == Direction::Circular;
        let solved = self.graph.components.iter().filter(circular).flat_map(|component| &component.members);
        solved.for_each(|&member| kept[member] = true);
        let mut todo: Vec<usize> = (0..derived.len()).filter(|&member| kept[member]).collect();
        while let Some(member) = todo.pop() {
            for &(read, _) in &derived[member].reads {
                if !std::mem::replace(&mut kept[read], true) {
                    todo.push(read);
                }
            }
        }
        let members: Vec<usize> = (0..derived.len()).filter(|&member| kept[member]).collect();
        if members.is_empty() {
            return None;
        }
        let graph = self.graph.only(&members);
        let counted = |path: &Path| graph.derived.iter().any(|derived| derived.per.as_ref() == Some(path));
        Some(Self {
            equations: self.equations.clone(),
            keys: self.keys.iter().filter(|(path, _)| counted(path)).cloned().collect(),
            windows: members.iter().map(|&member| self.windows[member].clone()).collect(),
            shown: Some(members.iter().map(|&member| shown[member]).collect()),
            measure: self.measure,
            graph,
        })
    }

    /// All of them, for somebody who asks only whether they have values.
    #[must_use]
    pub fn unseen(mut self) -> Self {
        self.shown = Some(vec![false; self.graph.derived.len()]);
        self
    }

    /// What is wrong with a window at a position.
    fn failed(plan: &Rolls, position: Position, message: String) -> StreamError {
        let message = format!("`{}`: {message}", plan.text());
        StreamError { node: plan.node(), position, message }
    }

    /// What can be said of them.
    pub fn shape(&self, program: &Program) -> Shape {
        let cycle = self.cycle(program);
        let delays = self.bounded(program);
        let streams = |delays: &Vec<i64>| {
            let stream = |derived: &&graph::Derived| {
                matches!(program.slots[derived.slot as usize].what, What::Stream { .. })
            };
            let own = self.graph.derived.iter().zip(delays).filter(|(derived, _)| stream(derived));
            own.map(|(_, &delay)| delay as usize).max().unwrap_or(0)
        };
        let well_formed = cycle.is_none();
        Shape {
            alternation: self.graph.alternation(),
            online: well_formed.then_some(delays.is_some()),
            look_ahead: delays.as_ref().map(streams),
            held: self
                .memory(program)
                .iter()
                .try_fold(0usize, |all, held| Some(all.saturating_add(held.bytes?))),
            cycle,
        }
    }

    /// How many positions later than its own each derived slot can be told, live.
    fn bounded(&self, program: &Program) -> Option<Vec<i64>> {
        self.plan(program).and_then(|_| self.graph.delays())
    }

    /// Whether one pass over batches fills everything, nothing being known of what follows.
    pub fn looks_back(&self) -> bool {
        self.graph.delays().is_some_and(|delays| delays.iter().all(|&delay| delay <= 0))
    }

    /// A cycle of weight 0.
    pub fn cycle(&self, program: &Program) -> Option<ZeroCycle> {
        let circular = |component: &&graph::Component| component.direction == Direction::Circular;
        let component = self.graph.components.iter().find(circular)?;
        let stream = |&member: &usize| match &program.slots[self.graph.derived[member].slot as usize].what {
            What::Stream { stream, .. } => Some(&program.streams[*stream as usize]),
            _ => None,
        };
        let all: Vec<&tw_ir::Stream> = component.members.iter().filter_map(stream).collect();
        let walk = self.walk(component, |member| stream(&member).is_some());
        let on_walk = |own: &&&tw_ir::Stream| {
            walk.is_empty()
                || walk.iter().any(|(member, _)| stream(member).is_some_and(|on| on.name == own.name))
        };
        let own: Vec<&tw_ir::Stream> = all.iter().filter(on_walk).copied().collect();
        let named = |&(member, by): &(usize, i64)| Some((stream(&member)?.name.clone(), by));
        Some(ZeroCycle {
            names: own.iter().map(|stream| stream.name.clone()).collect(),
            walk: walk.iter().filter_map(named).collect(),
            node: own.first().map_or(NodeId(0), |stream| stream.node),
            boolean: all.iter().all(|stream| stream.ty == StreamType::Bool),
        })
    }

    /// The references of a closed walk of weight 0, from stream to stream: what is read, and how far away.
    fn walk(&self, component: &graph::Component, is_stream: impl Fn(usize) -> bool) -> Vec<(usize, i64)> {
        let inside = |read: usize| component.members.contains(&read);
        let reads = |&from: &usize| {
            let own = self.graph.derived[from].reads.iter().filter(move |(read, _)| inside(*read));
            own.map(move |&(to, weight)| Edge { from, to, weight })
        };
        let edges: Vec<Edge> = component.members.iter().flat_map(reads).collect();
        let walks = match closed_walk(&edges, &component.members) {
            Some(tw_stream_boolean::graph::ZeroCycle::Walk(walk)) => vec![walk],
            Some(tw_stream_boolean::graph::ZeroCycle::Both(back, ahead)) => vec![back, ahead],
            None => Vec::new(),
        };
        let mut steps = Vec::new();
        for mut walk in walks {
            // Shifts and windows stand between streams.
            let first = walk.iter().position(|edge| is_stream(edge.from)).unwrap_or(0);
            walk.rotate_left(first);
            let mut by = 0i64;
            for edge in walk {
                by = by.saturating_add(edge.weight);
                if is_stream(edge.to) {
                    steps.push((edge.to, std::mem::take(&mut by)));
                }
            }
        }
        steps
    }

    /// The Boolean streams around cycles of weight 0, and those that they read, in the order written.
    pub fn circle(&self, program: &Program) -> Vec<u32> {
        let circular = |component: &&graph::Component| component.direction == Direction::Circular;
        let mut todo: Vec<usize> =
            self.graph.components.iter().filter(circular).flat_map(|own| own.members.clone()).collect();
        let mut seen = vec![false; self.graph.derived.len()];
        while let Some(member) = todo.pop() {
            if !std::mem::replace(&mut seen[member], true) {
                todo.extend(self.graph.derived[member].reads.iter().map(|(read, _)| *read));
            }
        }
        let own = |stream: &tw_ir::Stream| {
            let read = self.graph.of_slot.get(&stream.slot).is_some_and(|&member| seen[member]);
            read && stream.ty == StreamType::Bool && stream.by.is_none()
        };
        (0..).zip(&program.streams).filter(|(_, stream)| own(stream)).map(|(number, _)| number).collect()
    }

    /// What the equation of a stream says at a position, given what slots hold there.
    fn value(
        &self,
        program: &Program,
        stream: u32,
        (position, ends): (Position, equation::Ends),
        slot: impl FnMut(SlotId) -> Value,
    ) -> Result<Value, StreamError> {
        let equation = &self.equations[stream as usize];
        equation.value(program, ends, slot).map_err(|message| {
            let message = format!("stream `{}`: {message}", program.streams[stream as usize].name);
            StreamError { node: equation.node(), position, message }
        })
    }
}

/// What stands in place of a value where a key has none.
fn absent(ty: StreamType) -> Value {
    if ty == StreamType::Bool { Value::Bool(false) } else { Value::Null }
}
