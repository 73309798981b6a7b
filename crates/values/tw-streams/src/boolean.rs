//! Boolean streams as a specification of their own: what can be solved and analysed.
//!
//! Whatever does not depend on the streams is an input: a column, or a comparison of columns, which is told apart by its text
//! alone. Inputs are free: an analysis knows nothing of how `x > 3` and `x > 4` go together.

use rustc_hash::FxHashMap;
use tw_core::Value;
use tw_ir::{Node, NodeId, Program, SlotId, StreamType, What, display};
use tw_stream_boolean::{Builder, Flaw, Id, Named, Specification};

/// Why streams are not Boolean equations.
#[derive(Clone, Debug, PartialEq)]
pub enum NotBoolean {
    /// A stream of another type.
    Type(u32),
    /// A stream that is no truth value where it stands: `(if y then 1 else 0) > 0`.
    Term(NodeId),
    /// A stream with an instance per key.
    Keyed(u32),
    /// What the equations' own rules refuse.
    Flaw(Flaw),
}

impl NotBoolean {
    /// The same in words.
    pub fn message(&self, program: &Program) -> String {
        let name = |stream: &u32| &program.streams[*stream as usize].name;
        match self {
            NotBoolean::Type(stream) => {
                format!(
                    "the stream `{}` is defined by itself at the same position, and is not Boolean",
                    name(stream)
                )
            }
            NotBoolean::Term(node) => {
                format!(
                    "`{}` makes a number or text of a stream that is defined by itself",
                    display(program, *node)
                )
            }
            NotBoolean::Keyed(stream) => {
                format!("the stream `{}` has an instance per key, and is defined by itself", name(stream))
            }
            NotBoolean::Flaw(flaw) => flaw.to_string(),
        }
    }
}

/// Boolean streams of a program, and what their inputs are.
#[derive(Clone, Debug)]
pub struct Boolean {
    specification: Specification,
    inputs: Vec<Input>,
}

/// What an input is at each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The truth of a slot.
    Slot(SlotId),
    /// A formula about one position.
    Formula(NodeId),
}

impl Boolean {
    /// These streams of a program. If none of them is observed, all matter.
    pub fn new(program: &Program, streams: &[u32]) -> Result<Self, NotBoolean> {
        Self::read(program, streams, false)
    }

    /// The same, but if none of them is observed, it matters only whether they have values.
    pub(crate) fn exactly(program: &Program, streams: &[u32]) -> Result<Self, NotBoolean> {
        Self::read(program, streams, true)
    }

    fn read(program: &Program, streams: &[u32], exactly: bool) -> Result<Self, NotBoolean> {
        let mut reading = Reading {
            program,
            builder: Builder::new(),
            outputs: FxHashMap::default(),
            inputs: Vec::new(),
            named: FxHashMap::default(),
            exactly,
        };
        for &number in streams {
            let stream = &program.streams[number as usize];
            if stream.ty != StreamType::Bool {
                return Err(NotBoolean::Type(number));
            }
            if stream.by.is_some() {
                return Err(NotBoolean::Keyed(number));
            }
            reading.outputs.insert(stream.slot, number);
        }
        reading.run(streams)
    }

    /// All streams of a program.
    pub fn all(program: &Program) -> Result<Self, NotBoolean> {
        Self::new(program, &(0..program.streams.len() as u32).collect::<Vec<_>>())
    }

    /// The equations.
    pub fn specification(&self) -> &Specification {
        &self.specification
    }

    /// What each input is.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Input> + '_ {
        self.inputs.iter().copied()
    }
}

struct Reading<'p> {
    program: &'p Program,
    builder: Builder,
    outputs: FxHashMap<SlotId, u32>,
    inputs: Vec<Input>,
    named: FxHashMap<String, Named>,
    /// Whether those that are observed matter alone, even if there are none.
    exactly: bool,
}

impl Reading<'_> {
    fn run(mut self, streams: &[u32]) -> Result<Boolean, NotBoolean> {
        let program = self.program;
        let nodes: Vec<NodeId> =
            streams.iter().map(|&stream| program.streams[stream as usize].node).collect();
        // Which nodes depend on the streams at all.
        let order = program.reachable(&nodes);
        let mut depends: FxHashMap<NodeId, bool> = FxHashMap::default();
        let windows = self.windows();
        for &id in &order {
            let own = match program.dag.node(id) {
                Node::Slot(slot) | Node::Truth(slot) => {
                    self.output(slot).is_some() || windows.contains(&slot)
                }
                Node::First | Node::Last => true,
                other => other.children().any(|child| depends[&child]),
            };
            depends.insert(id, own);
        }
        // Inputs are numbered before outputs, so that all are known first.
        let mut leaves = Vec::new();
        self.leaves(&nodes, &depends, &mut leaves)?;
        for (input, name) in leaves {
            if !self.named.contains_key(&name) {
                let named = self.builder.input(&name).map_err(NotBoolean::Flaw)?;
                self.named.insert(name, named);
                self.inputs.push(input);
            }
        }
        for &number in streams {
            let stream = &program.streams[number as usize];
            let output = self.builder.output(&stream.name).map_err(NotBoolean::Flaw)?;
            self.named.insert(output_key(number), output);
        }
        let mut made: FxHashMap<NodeId, Id> = FxHashMap::default();
        for id in order {
            if let Some(node) = self.node(id, &depends, &made)? {
                made.insert(id, node);
            }
        }
        let observed = |&&stream: &&u32| program.streams[stream as usize].observed;
        let count = streams.iter().filter(observed).count();
        let all = count == streams.len();
        if count == 0 && self.exactly {
            // Equations that observe nothing observe all.
            let nothing = self.builder.output(&output_key(u32::MAX)).map_err(NotBoolean::Flaw)?;
            let always = self.builder.constant(true);
            self.builder.define(nothing, always).map_err(NotBoolean::Flaw)?;
            self.builder.observe(nothing).map_err(NotBoolean::Flaw)?;
        }
        for &number in streams {
            let stream = &program.streams[number as usize];
            let output = self.named[&output_key(number)];
            self.builder.define(output, made[&stream.node]).map_err(NotBoolean::Flaw)?;
            if !all && stream.observed {
                self.builder.observe(output).map_err(NotBoolean::Flaw)?;
            }
        }
        let specification = self.builder.finish().map_err(NotBoolean::Flaw)?;
        Ok(Boolean { specification, inputs: self.inputs })
    }

    /// The windows that aggregate the streams, also by way of other windows.
    fn windows(&self) -> Vec<SlotId> {
        let mut found: Vec<SlotId> = Vec::new();
        for (slot, window) in self.program.windows() {
            let parts: Vec<NodeId> = window.parts().collect();
            let reads = |id: &NodeId| match self.program.dag.node(*id) {
                Node::Slot(slot) | Node::Truth(slot) => self.output(slot).is_some() || found.contains(&slot),
                _ => false,
            };
            if self.program.reachable(&parts).iter().any(reads) {
                found.push(slot);
            }
        }
        found
    }

    /// The stream that a slot is or shifts.
    fn output(&self, slot: SlotId) -> Option<u32> {
        match &self.program.slots[slot as usize].what {
            What::Shift(shift) => self.outputs.get(&shift.slot).copied(),
            _ => self.outputs.get(&slot).copied(),
        }
    }

    /// The input that a slot of truth values stands for where it is shifted: the formula of its source, and its name.
    fn source(&self, slot: SlotId) -> Option<(SlotId, i32, bool)> {
        match &self.program.slots[slot as usize].what {
            What::Shift(shift) if self.is_plain(shift.slot) => {
                Some((shift.slot, shift.by, shift.default == Value::Bool(true)))
            }
            _ => None,
        }
    }

    /// How far away a constant is asked for: whether there is such a position.
    fn constant(&self, slot: SlotId) -> Option<(i32, bool)> {
        let What::Shift(shift) = &self.program.slots[slot as usize].what else { return None };
        match &self.program.slots[shift.slot as usize].what {
            What::Variable(path, _) if path.as_name() == Some("") => {
                Some((shift.by, shift.default == Value::Bool(true)))
            }
            _ => None,
        }
    }

    /// Whether a slot is a column of the trace whose truth stands alone.
    fn is_plain(&self, slot: SlotId) -> bool {
        matches!(
            self.program.slots[slot as usize].what,
            What::Proposition(_) | What::Variable(..) | What::Event { .. }
        )
    }

    /// The formulas that are inputs, with their names.
    fn leaves(
        &self,
        roots: &[NodeId],
        depends: &FxHashMap<NodeId, bool>,
        found: &mut Vec<(Input, String)>,
    ) -> Result<(), NotBoolean> {
        let dag = &self.program.dag;
        let inner = |id: NodeId| {
            is_connective(dag.node(id)) || matches!(dag.node(id), Node::First | Node::Last | Node::Bool(_))
        };
        for id in self.program.reachable_until(roots, |id| !inner(id)) {
            if inner(id) {
                continue;
            }
            match dag.node(id) {
                Node::Truth(slot) if self.output(slot).is_some() || self.constant(slot).is_some() => {}
                Node::Truth(slot) => {
                    let source = self.source(slot).map_or(slot, |(source, ..)| source);
                    found.push((Input::Slot(source), self.name(source)));
                }
                _ if depends[&id] => return Err(NotBoolean::Term(id)),
                _ => found.push((Input::Formula(id), display(self.program, id))),
            }
        }
        Ok(())
    }

    fn name(&self, slot: SlotId) -> String {
        match &self.program.slots[slot as usize].what {
            What::Proposition(path) | What::Variable(path, _) => path.to_string(),
            What::Stream { name, .. } => name.clone(),
            what => tw_ir::display_slot(what),
        }
    }

    fn node(
        &mut self,
        id: NodeId,
        depends: &FxHashMap<NodeId, bool>,
        made: &FxHashMap<NodeId, Id>,
    ) -> Result<Option<Id>, NotBoolean> {
        let builder = &mut self.builder;
        let of = |id: &NodeId| made.get(id).copied();
        Ok(match self.program.dag.node(id) {
            Node::Bool(value) => Some(builder.constant(value)),
            Node::First => Some(builder.first()),
            Node::Last => Some(builder.last()),
            Node::Not(a) => of(&a).map(|a| builder.not(a)),
            Node::And(a, b) => of(&a).zip(of(&b)).map(|(a, b)| builder.and(a, b)),
            Node::Or(a, b) => of(&a).zip(of(&b)).map(|(a, b)| builder.or(a, b)),
            Node::Xor(a, b) => of(&a).zip(of(&b)).map(|(a, b)| builder.xor(a, b)),
            Node::Implies(a, b) => of(&a).zip(of(&b)).map(|(a, b)| builder.implies(a, b)),
            Node::Iff(a, b) => of(&a).zip(of(&b)).map(|(a, b)| builder.iff(a, b)),
            Node::Truth(slot) => match self.output(slot) {
                Some(stream) => {
                    let output = self.named[&output_key(stream)];
                    Some(match &self.program.slots[slot as usize].what {
                        What::Shift(shift) => {
                            let default = shift.default == Value::Bool(true);
                            self.builder.at(output, shift.by.into(), default).map_err(NotBoolean::Flaw)?
                        }
                        _ => self.builder.now(output),
                    })
                }
                None if self.constant(slot).is_some() => {
                    let (by, default) = self.constant(slot).unwrap_or_default();
                    Some(self.builder.constant_at(false, by.into(), default).map_err(NotBoolean::Flaw)?)
                }
                None => match self.source(slot) {
                    Some((source, by, default)) => {
                        let input = self.named[&self.name(source)];
                        Some(self.builder.at(input, by.into(), default).map_err(NotBoolean::Flaw)?)
                    }
                    None => {
                        let input = self.named[&self.name(slot)];
                        Some(self.builder.now(input))
                    }
                },
            },
            Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_) if !depends[&id] => {
                let name = display(self.program, id);
                self.named.get(&name).map(|&input| self.builder.now(input))
            }
            _ => None,
        })
    }
}

fn output_key(stream: u32) -> String {
    // No column has such a name.
    format!("\u{0}{stream}")
}

pub(crate) fn is_connective(node: Node) -> bool {
    use Node::{And, Iff, Implies, Not, Or, Xor};
    matches!(node, Not(_) | And(..) | Or(..) | Xor(..) | Implies(..) | Iff(..))
}
