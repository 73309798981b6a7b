//! From items to the IR: sorts from parents to children, then nodes from children to parents.

use super::declarations::Declarations;
use super::expand::Expansion;
use super::expanded::{EventUse, Expanded, Item, ItemId, Kind, Nature};
use super::findings::Findings;
use super::types::{Make, Sort, rule};
use crate::ast::{Infix, Prefix, Type};
use rustc_hash::FxHashMap;
use tw_core::Value;
use tw_diag::{Diagnostic, Span};
use tw_ir::{
    ArithmeticOp, CompareOp, Expect, Function, Measure, Node, NodeId, Path, Pattern, PatternArgument,
    Program, Shift, Slot, SlotId, Temporal, Timing, What,
};

/// No node: not asked for, or wrong.
pub(super) const ABSENT: NodeId = NodeId(u32::MAX);

/// The bit of an item that a property asks for.
const PROPERTY: u16 = 1 << Sort::COUNT;

fn bit(sort: Sort) -> u16 {
    1 << sort as u16
}

/// Builds the nodes of `roots`, each an item and the sort it must have. `None` where there were errors.
pub(super) fn build(
    expansion: Expansion,
    roots: &[(ItemId, Sort)],
    streams: &Declarations<'_>,
    findings: &mut Findings,
) -> (Program, Vec<Option<NodeId>>) {
    let Expansion { items, regexes, identity } = expansion;
    // A bit per sort, and one for items that a property asks for, whose messages speak of properties.
    let mut wanted = vec![0u16; items.items.len()];
    for &(root, sort) in roots {
        wanted[root as usize] |= bit(sort) | if sort == Sort::Formula { PROPERTY } else { 0 };
    }
    for id in (0..items.items.len()).rev() {
        if wanted[id] == 0 {
            continue;
        }
        // A rule may ask the same item for another sort (a formula used as a value); go on until nothing is new.
        let mut done = PROPERTY;
        let property = wanted[id] & PROPERTY;
        while wanted[id] & !done != 0 {
            for sort in Sort::ALL {
                if wanted[id] & bit(sort) == 0 || done & bit(sort) != 0 {
                    continue;
                }
                done |= bit(sort);
                if let Ok(rule) = rule(&items, id as ItemId, sort, property == 0) {
                    for (part, sort) in rule.parts.into_iter().flatten() {
                        wanted[part as usize] |= bit(sort) | property;
                    }
                }
            }
        }
    }
    let mut builder = Builder {
        items: &items,
        findings,
        program: Program::default(),
        nodes: vec![[ABSENT; Sort::COUNT]; items.items.len()],
        slots: FxHashMap::default(),
        events: FxHashMap::default(),
        timings: FxHashMap::default(),
        tuples: FxHashMap::default(),
        bound: Vec::new(),
        streams: FxHashMap::default(),
        identity,
    };
    for (number, stream) in streams.streams.iter().enumerate() {
        let name = stream.name.name.clone();
        builder.streams.insert(Path::field(name.as_str()), number as SlotId);
        let what = What::Stream { stream: number as u32, name };
        builder.program.slots.push(Slot { what, declared: true, span: stream.name.span });
    }
    builder.program.dag.regexes = regexes;
    builder.program.dag.sets = items.sets.clone();
    builder.program.dag.variables = items.variables.clone();
    builder.program.dag.variable_whole = items.whole.clone();
    builder.bound = items.bounds.iter().map(|bound| builder.program.dag.bind(bound.clone())).collect();
    for (id, &wanted) in wanted.iter().enumerate() {
        if wanted != 0 {
            // Formulas first: other sorts of the same item may be made of them.
            for sort in Sort::ALL.into_iter().filter(|sort| wanted & bit(*sort) != 0) {
                builder.item(id as ItemId, sort, wanted & PROPERTY == 0);
            }
        }
    }
    builder.one_type_each();
    let made = roots.iter().map(|&(root, sort)| {
        let node = builder.nodes[root as usize][sort as usize];
        (node != ABSENT).then_some(node)
    });
    let made = made.collect();
    let argument = |((path, _), slot): (&(u32, Option<Expect>), &SlotId)| {
        items.arguments.contains(path).then_some(*slot)
    };
    builder.program.arguments = builder.slots.iter().filter_map(argument).collect();
    builder.program.arguments.sort_unstable();
    (builder.program, made)
}

pub(super) struct Builder<'e, 'f> {
    pub(super) items: &'e Expanded,
    pub(super) findings: &'f mut Findings,
    pub(super) program: Program,
    nodes: Vec<[NodeId; Sort::COUNT]>,
    /// Slots of paths, by path and what is expected (`None`: a proposition).
    slots: FxHashMap<(u32, Option<Expect>), SlotId>,
    /// Nodes of event uses.
    events: FxHashMap<u32, Node>,
    /// Slots that timestamps fill, by what they hold and whether they are called.
    timings: FxHashMap<(Measure, bool), SlotId>,
    /// Slots of event patterns with variables, and of what others hold elsewhere, by what they read.
    tuples: FxHashMap<String, SlotId>,
    /// The lists of variables that aggregates over valuations bind, as the program numbers them.
    bound: Vec<u32>,
    /// Slots of streams, by name: the first ones.
    streams: FxHashMap<Path, SlotId>,
    identity: u32,
}

impl Builder<'_, '_> {
    /// Makes the node of an item for a sort, from the nodes of its parts.
    fn item(&mut self, id: ItemId, sort: Sort, query: bool) {
        let ruling = match rule(self.items, id, sort, query) {
            Ok(ruling) => ruling,
            Err(finding) => {
                if let Some(finding) = finding {
                    self.findings.add(*finding);
                }
                return;
            }
        };
        let mut parts = [ABSENT; 3];
        for (node, part) in parts.iter_mut().zip(ruling.parts) {
            let Some((part, sort)) = part else { break };
            *node = self.nodes[part as usize][sort as usize];
            if *node == ABSENT {
                return;
            }
        }
        let item = *self.items.item(id);
        let node = match ruling.make {
            Make::Plain => self.plain(item, parts),
            Make::Timing => Node::Slot(self.timing(item)),
            Make::Proposition | Make::Variable(_) | Make::Constant => self.leaf(item, ruling.make, sort),
            Make::Indicator => {
                let (yes, no) = (self.constant(Value::Bool(true)), self.constant(Value::Bool(false)));
                Node::IfThenElse(parts[0], yes, no)
            }
            Make::Choice => {
                let [condition, yes, no] = parts;
                let yes = self.add(Node::And(condition, yes));
                let otherwise = self.add(Node::Not(condition));
                let no = self.add(Node::And(otherwise, no));
                Node::Or(yes, no)
            }
            Make::Same => self.program.dag.node(parts[0]),
            Make::FalseNotNull => {
                let is_false = self.add(Node::Not(parts[0]));
                let value = self.unguarded(id).unwrap_or(parts[1]);
                let has_value = self.add(Node::Compare(CompareOp::Eq, value, value));
                Node::And(is_false, has_value)
            }
            Make::Lifted => {
                let always = self.add(Node::Bool(true));
                Node::Emit(always, parts[0])
            }
            Make::Experiment => self.experiment(item, parts),
            Make::Coalesce => {
                let has = self.add(Node::Has(parts[0]));
                Node::IfThenElse(has, parts[0], parts[1])
            }
            Make::Window => Node::Slot(self.window(item, parts)),
            Make::Shift => match self.shift(item, parts[0]) {
                Some(slot) if sort == Sort::Formula => Node::Truth(slot),
                Some(slot) => Node::Slot(slot),
                None => return,
            },
        };
        let made = self.add(node);
        let span = &mut self.program.spans[made.index()];
        *span = span.or(item.said);
        self.nodes[id as usize][sort as usize] = made;
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = self.program.dag.add(node);
        self.program.spans.resize(self.program.dag.len(), None);
        id
    }

    fn constant(&mut self, value: Value) -> NodeId {
        let id = self.program.dag.constant(value);
        self.program.spans.resize(self.program.dag.len(), None);
        id
    }

    fn leaf(&mut self, item: Item, make: Make, sort: Sort) -> Node {
        match (item.kind, make) {
            (Kind::Path(path), Make::Variable(expect)) => {
                let slot = self.slot(path, Some(expect), item.span);
                // Experiments take formulas as they are.
                if matches!(sort, Sort::Number | Sort::Text | Sort::Value) {
                    Node::Slot(slot)
                } else {
                    Node::Truth(slot)
                }
            }
            (Kind::Path(path), _) => Node::Truth(self.slot(path, None, item.span)),
            (Kind::Length(nanoseconds), _) => {
                let id = self.program.dag.length(nanoseconds);
                self.program.spans.resize(self.program.dag.len(), None);
                self.program.dag.node(id)
            }
            (kind, _) => {
                let value = match kind {
                    Kind::Constant(constant) => self.items.constants[constant as usize].clone(),
                    Kind::Bool(b) => Value::Bool(b),
                    _ => Value::Null,
                };
                let id = self.constant(value);
                self.program.dag.node(id)
            }
        }
    }

    /// Warns of names that are texts in one place and numbers or propositions in another: in one of the two, they are of no
    /// use. A proposition may be a number elsewhere, since a column of 0 and 1 is both.
    fn one_type_each(&mut self) {
        let mut others: FxHashMap<&Path, (Span, &str)> = FxHashMap::default();
        let mut texts: Vec<(&Path, Span)> = Vec::new();
        for slot in self.program.slots.iter().filter(|slot| !slot.declared) {
            match &slot.what {
                What::Variable(path, Expect::Number) => {
                    others.insert(path, (slot.span, "a number"));
                }
                What::Proposition(path) | What::Variable(path, Expect::Bool) => {
                    others.entry(path).or_insert((slot.span, "a proposition"));
                }
                What::Variable(path, Expect::Text) => texts.push((path, slot.span)),
                _ => {}
            }
        }
        for (path, text) in texts {
            let Some(&(other, what)) = others.get(path) else { continue };
            let (last, first, here, before) = match other.start < text.start {
                true => (text, other, "a text", what),
                false => (other, text, what, "a text"),
            };
            let message = format!("`{path}` is {here} here and {before} elsewhere");
            self.findings.add(
                Diagnostic::warning("two-types", message)
                    .at(last, format!("used as {here}"))
                    .at(first, format!("used as {before}"))
                    .help(format!(
                        "no value is both; use it as {before} both times, or a declaration says which it is: `var {}: {};`",
                        crate::print::print_path(path, false),
                        match before {
                            "a text" => "string",
                            "a number" => "int",
                            _ => "bool",
                        }
                    )),
            );
        }
    }

    /// In `p == false`, the value of p with its nulls, which a proposition does not have.
    fn unguarded(&mut self, comparison: ItemId) -> Option<NodeId> {
        let Kind::Compare(_, a, b) = self.items.item(comparison).kind else { return None };
        let (path, span) = [a, b].into_iter().find_map(|side| match self.items.item(side) {
            Item { kind: Kind::Path(path), span, .. } => Some((*path, *span)),
            _ => None,
        })?;
        let slot = self.slot(path, Some(Expect::Any), span);
        Some(self.add(Node::Slot(slot)))
    }

    fn slot(&mut self, path: u32, expect: Option<Expect>, span: Span) -> SlotId {
        let known = &self.items.paths[path as usize];
        if let Some(&stream) = self.streams.get(&known.path) {
            return stream;
        }
        *self.slots.entry((path, expect)).or_insert_with(|| {
            let what = match expect {
                None => What::Proposition(known.path.clone()),
                Some(expect) => What::Variable(known.path.clone(), expect),
            };
            self.program.slots.push(Slot { what, declared: known.declared.is_some(), span });
            (self.program.slots.len() - 1) as SlotId
        })
    }

    /// The slot of what another slot holds elsewhere.
    fn shift(&mut self, item: Item, of: NodeId) -> Option<SlotId> {
        let (Node::Slot(slot) | Node::Truth(slot)) = self.program.dag.node(of) else { return None };
        let Kind::Shift(path, by, default) = item.kind else { return None };
        let (path, ty) = match self.items.item(path).kind {
            Kind::Path(path) => {
                let used = &self.items.paths[path as usize];
                (used.path.clone(), used.declared)
            }
            Kind::Timing(measure) => (Path::field(measure.name()), None),
            _ => return None,
        };
        let default = match (&self.items.constants[default as usize], ty) {
            (Value::Int(whole), Some((Type::Real, _))) => Value::Real(*whole as f64),
            (value, _) => value.clone(),
        };
        // A constant has no column: where its positions end is all that is asked.
        let path = if path == Path::field("") { Path::field("false") } else { path };
        let what = What::Shift(Shift { slot, path, by, default, per: None });
        let slots = &mut self.program.slots;
        Some(*self.tuples.entry(format!("{what:?}")).or_insert_with(|| {
            slots.push(Slot { what, declared: true, span: item.span });
            (slots.len() - 1) as SlotId
        }))
    }

    fn timing(&mut self, item: Item) -> SlotId {
        let (measure, called) = match item.kind {
            Kind::Timing(measure) => (measure, true),
            Kind::Path(path) => (self.items.paths[path as usize].measure().unwrap_or(Measure::Time), false),
            _ => (Measure::Time, true),
        };
        *self.timings.entry((measure, called)).or_insert_with(|| {
            let what = What::Timing(Timing { measure, called, by: None });
            self.program.slots.push(Slot { what, declared: true, span: item.span });
            (self.program.slots.len() - 1) as SlotId
        })
    }

    /// An event is read by the reader if its arguments are constants, else by an engine that binds variables.
    fn event(&mut self, index: u32, span: Span) -> Node {
        if let Some(node) = self.events.get(&index) {
            return *node;
        }
        let EventUse { name, arguments, arity, declared, .. } = self.items.events[index as usize].clone();
        let (mut constants, mut variables) = (Vec::new(), Vec::new());
        for (key, argument) in &arguments {
            match argument {
                PatternArgument::Constant(value) => constants.push((key.clone(), value.clone())),
                PatternArgument::Variable(_) => variables.push(key.clone()),
            }
        }
        let node = if variables.is_empty() {
            let what = What::Event { name, arguments: constants, arity };
            self.program.slots.push(Slot { what, declared, span });
            Node::Truth((self.program.slots.len() - 1) as SlotId)
        } else {
            let what = What::Tuples { name: name.clone(), constants, arity, arguments: variables };
            let slot = self.tuples(Slot { what, declared, span });
            self.program.dag.patterns.push(Pattern { name, arguments, arity, slot });
            Node::Pattern((self.program.dag.patterns.len() - 1) as u32)
        };
        self.events.insert(index, node);
        node
    }

    /// The slot of a pattern: `login(u, i)` and `login(v, j)` are read once.
    pub(super) fn tuples(&mut self, slot: Slot) -> SlotId {
        let slots = &mut self.program.slots;
        *self.tuples.entry(format!("{:?}", slot.what)).or_insert_with(|| {
            slots.push(slot);
            (slots.len() - 1) as SlotId
        })
    }

    fn plain(&mut self, item: Item, [a, b, c]: [NodeId; 3]) -> Node {
        let interval = |index| self.items.interval_at(index);
        match item.kind {
            Kind::Bool(value) => Node::Bool(value),
            Kind::First => Node::First,
            Kind::Last => Node::Last,
            Kind::Variable(number) => Node::Variable(number),
            Kind::Event(event) => self.event(event, item.span),
            Kind::Negate(_) => Node::Negate(a),
            Kind::Abs(_) => Node::Abs(a),
            Kind::Arithmetic(op, ..) => Node::Arithmetic(op, a, b),
            Kind::If(..) => Node::IfThenElse(a, b, c),
            Kind::Tuple(..) => Node::Tuple(a, b),
            Kind::Compare(op, left, right) => {
                if [left, right].iter().any(|side| self.items.nature(*side) == Nature::Null) {
                    self.findings.add(
                        Diagnostic::warning("null-comparison", "a comparison with null is always false")
                            .at(item.span, "always false")
                            .help("to ask whether `x` has a value, write `has(x)`; whether it has none, `!has(x)`"),
                    );
                }
                Node::Compare(op, a, b)
            }
            Kind::In(_, set) => Node::In(a, set),
            Kind::Matches(_, regex) => Node::Matches(a, regex),
            Kind::Has(_) => Node::Has(a),
            Kind::Not(_) => Node::Not(a),
            Kind::Prefix(op, i, _) => match op {
                Prefix::Temporal(operator) => Node::Unary(operator, interval(i), a),
                Prefix::AllPaths => Node::AllPaths(a),
                Prefix::SomePath => Node::SomePath(a),
            },
            Kind::Infix(op, i, ..) => match op {
                Infix::Iff => Node::Iff(a, b),
                Infix::Implies => Node::Implies(a, b),
                Infix::Xor => Node::Xor(a, b),
                Infix::Or => Node::Or(a, b),
                Infix::And => Node::And(a, b),
                Infix::Temporal(operator) => Node::Binary(operator, interval(i), a, b),
            },
            Kind::Quantifier { forall: true, variable, .. } => Node::Forall(variable, a),
            Kind::Quantifier { forall: false, variable, .. } => Node::Exists(variable, a),
            Kind::Tally(tally, bound, ..) => Node::Tally(tally, self.bound[bound as usize], a, b),
            Kind::Emit(..) => Node::Emit(a, b),
            Kind::Default(..) => Node::Default(a, b),
            // The rules give these another way to be made.
            Kind::Error
            | Kind::Null
            | Kind::Constant(_)
            | Kind::Length(_)
            | Kind::Timing(_)
            | Kind::Shift(..)
            | Kind::Path(_)
            | Kind::Fails(..)
            | Kind::NextMap { .. }
            | Kind::Combine { .. }
            | Kind::UntilMap { .. }
            | Kind::Collect(..)
            | Kind::Window(..) => Node::Bool(false),
        }
    }

    fn experiment(&mut self, item: Item, [a, b, c]: [NodeId; 3]) -> Node {
        let parameter = self.identity;
        match item.kind {
            Kind::Infix(Infix::And, ..) => Node::Both(Function::True, a, b),
            Kind::Infix(Infix::Or, ..) => Node::Either(Function::True, a, b),
            Kind::Infix(..) => {
                let (pair, result) = (self.add(Node::Tuple(a, b)), self.add(Node::Variable(parameter)));
                Node::UntilMap { pair, result, parameter }
            }
            Kind::Not(_) => {
                let constant = self.constant(Value::Bool(true));
                Node::Fails(a, constant)
            }
            Kind::Fails(..) => Node::Fails(a, b),
            Kind::Prefix(Prefix::Temporal(Temporal::Next), ..) => {
                let result = self.add(Node::Variable(parameter));
                Node::NextMap { body: a, result, parameter }
            }
            Kind::Prefix(..) => {
                let always = self.add(Node::Bool(true));
                let (pair, result) = (self.add(Node::Tuple(always, a)), self.add(Node::Variable(parameter)));
                Node::UntilMap { pair, result, parameter }
            }
            Kind::NextMap { parameter, .. } => Node::NextMap { body: a, result: b, parameter },
            Kind::UntilMap { parameter, .. } => {
                let pair = self.add(Node::Tuple(a, b));
                Node::UntilMap { pair, result: c, parameter }
            }
            Kind::Combine { both: true, function, .. } => Node::Both(function, a, b),
            Kind::Combine { both: false, function, .. } => Node::Either(function, a, b),
            Kind::Collect(aggregate, ..) if b == ABSENT => Node::Collect(aggregate, a),
            Kind::Collect(aggregate, ..) => Node::CollectWhile(aggregate, a, b),
            Kind::Arithmetic(op, ..) => Node::Both(Function::Arithmetic(op), a, b),
            Kind::Negate(_) => self.negated(a),
            Kind::Abs(_) => {
                let negated = self.negated(a);
                let negated = self.add(negated);
                Node::Both(Function::Arithmetic(ArithmeticOp::Max), a, negated)
            }
            Kind::Tuple(..) => Node::Both(Function::Pair, a, b),
            _ => self.plain(item, [a, b, c]),
        }
    }

    /// `0 - ψ`: experiments have no sign of their own.
    fn negated(&mut self, a: NodeId) -> Node {
        let (always, zero) = (self.add(Node::Bool(true)), self.constant(Value::Int(0)));
        let zero = self.add(Node::Emit(always, zero));
        Node::Both(Function::Arithmetic(ArithmeticOp::Sub), zero, a)
    }
}
