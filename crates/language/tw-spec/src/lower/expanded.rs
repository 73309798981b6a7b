//! The specification after names are resolved and macros are gone, before types: an arena of items, children
//! before parents.
//!
//! An item remembers where it was written, so that messages point at the right one of two equal texts; its
//! `structure` is the same number for equal items wherever they stand, so that calling a macro twice with equal
//! arguments expands it once.

use crate::ast::{Infix, Prefix, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_core::Value;
use tw_diag::Span;
use tw_ir::{
    Aggregate, ArgumentKey, ArithmeticOp, CompareOp, Function, Interval, Measure, Over, Path,
    PatternArgument, SetItem, Tally,
};

/// Index into [`Expanded::items`].
pub(super) type ItemId = u32;

/// Stands for "none" where an index is optional.
pub(super) const NONE: u32 = u32::MAX;

/// What an item is. Indices without a type of their own point into the tables of [`Expanded`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Already reported.
    Error,
    Bool(bool),
    First,
    Last,
    Null,
    Constant(u32),
    /// Nanoseconds.
    Length(i64),
    /// `time()`, `elapsed()`.
    Timing(Measure),
    Path(u32),
    /// A path, how far ahead, what stands beyond the ends.
    Shift(ItemId, i32, u32),
    Variable(u32),
    Event(u32),
    Negate(ItemId),
    Abs(ItemId),
    Arithmetic(ArithmeticOp, ItemId, ItemId),
    If(ItemId, ItemId, ItemId),
    Tuple(ItemId, ItemId),
    Compare(CompareOp, ItemId, ItemId),
    In(ItemId, u32),
    Matches(ItemId, u32),
    Has(ItemId),
    Not(ItemId),
    /// `!{c} ψ`: c, ψ.
    Fails(ItemId, ItemId),
    /// Operator, interval or `NONE`, body.
    Prefix(Prefix, u32, ItemId),
    /// `X{f} ψ`.
    NextMap {
        parameter: u32,
        result: ItemId,
        body: ItemId,
    },
    /// Operator, interval or `NONE`, sides.
    Infix(Infix, u32, ItemId, ItemId),
    /// `ψ1 &{g} ψ2` (`both`) or `ψ1 |{g} ψ2`.
    Combine {
        both: bool,
        function: Function,
        left: ItemId,
        right: ItemId,
    },
    /// `ψ1 U{f} ψ2`.
    UntilMap {
        parameter: u32,
        result: ItemId,
        left: ItemId,
        right: ItemId,
    },
    Quantifier {
        forall: bool,
        variable: u32,
        body: ItemId,
    },
    /// What is bound, value (of a count the body), body.
    Tally(Tally, u32, ItemId, ItemId),
    Emit(ItemId, ItemId),
    Default(ItemId, ItemId),
    /// Statistic, body, `while` or `NONE`.
    Collect(Aggregate, ItemId, ItemId),
    /// A rolling window: statistic, body, `φ` of `φ : e` or `NONE`, length.
    Window(Aggregate, ItemId, ItemId, u32),
}

impl Kind {
    /// The same kind with every child replaced.
    fn relabel(self, mut f: impl FnMut(ItemId) -> ItemId) -> Kind {
        use Kind::*;
        match self {
            Error | Bool(_) | First | Last | Null | Constant(_) | Length(_) | Timing(_) | Path(_)
            | Variable(_) | Event(_) => self,
            Shift(a, by, default) => Shift(f(a), by, default),
            Negate(a) => Negate(f(a)),
            Abs(a) => Abs(f(a)),
            Arithmetic(op, a, b) => Arithmetic(op, f(a), f(b)),
            If(a, b, c) => If(f(a), f(b), f(c)),
            Tuple(a, b) => Tuple(f(a), f(b)),
            Compare(op, a, b) => Compare(op, f(a), f(b)),
            In(a, set) => In(f(a), set),
            Matches(a, regex) => Matches(f(a), regex),
            Has(a) => Has(f(a)),
            Not(a) => Not(f(a)),
            Fails(a, b) => Fails(f(a), f(b)),
            Prefix(op, interval, a) => Prefix(op, interval, f(a)),
            NextMap { parameter, result, body } => NextMap { parameter, result: f(result), body: f(body) },
            Infix(op, interval, a, b) => Infix(op, interval, f(a), f(b)),
            Combine { both, function, left, right } => {
                Combine { both, function, left: f(left), right: f(right) }
            }
            UntilMap { parameter, result, left, right } => {
                UntilMap { parameter, result: f(result), left: f(left), right: f(right) }
            }
            Quantifier { forall, variable, body } => Quantifier { forall, variable, body: f(body) },
            Tally(tally, bound, value, body) => Tally(tally, bound, f(value), f(body)),
            Emit(a, b) => Emit(f(a), f(b)),
            Default(a, b) => Default(f(a), f(b)),
            Collect(aggregate, a, during) => {
                Collect(aggregate, f(a), if during == NONE { NONE } else { f(during) })
            }
            Window(aggregate, a, guard, over) => {
                Window(aggregate, f(a), if guard == NONE { NONE } else { f(guard) }, over)
            }
        }
    }
}

/// What an item is by itself, before its surroundings have a say. A bare name can still become anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    Error,
    Number,
    Text,
    Null,
    /// `true` or `false`.
    Literal,
    /// An undeclared name.
    Name,
    /// A name declared `bool`.
    Flag,
    /// A quantified variable or the parameter of a map.
    Variable,
    Tuple,
    Formula,
    Experiment,
}

/// An expression without macros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub kind: Kind,
    pub span: Span,
    /// Equal for equal items.
    pub structure: u32,
    pub nature: Nature,
    /// What it is where a term is expected: `x ?? 0` has a value there, as it has in a query.
    pub in_term: Nature,
    /// One position alone decides it.
    pub local: bool,
    /// It depends on the trace at all.
    pub reads: bool,
    /// Where the user's text says just this. Nowhere for what stands in a pattern of the library, or in a macro
    /// under the names of its parameters.
    pub said: Option<Span>,
}

/// A use of an event, arguments resolved.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EventUse {
    pub name: String,
    pub arguments: Vec<(ArgumentKey, PatternArgument)>,
    pub arity: Option<usize>,
    pub declared: bool,
    /// Undeclared, and called like an aggregate: `count(p)`.
    pub suspect: bool,
}

/// A name or path, with what its declaration says.
#[derive(Clone, Debug)]
pub(super) struct PathUse {
    pub path: Path,
    /// In backquotes: a column, even where an event has the same name.
    pub quoted: bool,
    pub declared: Option<(Type, Span)>,
}

/// The arena and its tables.
#[derive(Default)]
pub(super) struct Expanded {
    pub items: Vec<Item>,
    structures: FxHashMap<Kind, u32>,
    pub constants: Vec<Value>,
    constant_index: FxHashMap<String, u32>,
    pub paths: Vec<PathUse>,
    path_index: FxHashMap<(Path, bool), u32>,
    pub events: Vec<EventUse>,
    event_index: FxHashMap<String, u32>,
    pub sets: Vec<Vec<SetItem>>,
    set_index: FxHashMap<String, u32>,
    pub intervals: Vec<Interval>,
    interval_index: FxHashMap<Interval, u32>,
    /// Paths that are arguments of patterns, where a variable may have been meant that no quantifier binds.
    pub arguments: FxHashSet<u32>,
    /// Names of bound variables by number.
    pub variables: Vec<String>,
    /// Of each of them whether a declaration makes it whole.
    pub whole: Vec<bool>,
    /// The variables that aggregates over valuations bind.
    pub bounds: Vec<Vec<u32>>,
    bound_index: FxHashMap<Vec<u32>, u32>,
    /// How far rolling windows reach.
    pub overs: Vec<Over>,
    over_index: FxHashMap<Over, u32>,
}

impl PathUse {
    /// What the bare name measures where a value is expected, if it is not a column by its declaration.
    pub fn measure(&self) -> Option<Measure> {
        match self.declared.is_some() || self.quoted {
            true => None,
            false => self.path.as_name().and_then(Measure::parse),
        }
    }
}

impl Expanded {
    /// Adds an item. `span` is where messages point.
    pub fn add(&mut self, kind: Kind, span: Span, said: Option<Span>) -> ItemId {
        let next = self.structures.len() as u32;
        let key = kind.relabel(|child| self.items[child as usize].structure);
        let structure = *self.structures.entry(key).or_insert(next);
        let (mut local, mut reads) = self.itself(kind);
        kind.relabel(|child| {
            local &= self.items[child as usize].local;
            reads |= self.items[child as usize].reads;
            child
        });
        // What a window says is a column: whatever it looks at, terms read it at their own position.
        local |= matches!(kind, Kind::Window(..));
        let nature = self.nature_of(kind);
        let in_term = self.in_term(kind, nature);
        self.items.push(Item { kind, span, structure, nature, in_term, local, reads, said });
        (self.items.len() - 1) as ItemId
    }

    /// Adds what stands for something already reported.
    pub fn error(&mut self, span: Span) -> ItemId {
        self.add(Kind::Error, span, None)
    }

    /// Whether the text at `span` says all of `kind`: its parts are said inside it.
    pub fn closed(&self, kind: Kind, span: Span) -> bool {
        let mut closed = true;
        kind.relabel(|child| {
            let said = self.item(child).said;
            closed &=
                said.is_some_and(|s| s.source == span.source && span.start <= s.start && s.end <= span.end);
            child
        });
        closed
    }

    /// The item with that index.
    pub fn item(&self, id: ItemId) -> &Item {
        &self.items[id as usize]
    }

    /// What it is by itself.
    pub fn nature(&self, id: ItemId) -> Nature {
        self.item(id).nature
    }

    /// Where it is written.
    pub fn span(&self, id: ItemId) -> Span {
        self.item(id).span
    }

    /// What an item of this kind and nature is where a term is expected.
    fn in_term(&self, kind: Kind, nature: Nature) -> Nature {
        let of = |id: ItemId| self.item(id).in_term;
        let experiment = |id: &ItemId| of(*id) == Nature::Experiment;
        match (nature, kind) {
            (Nature::Experiment, Kind::Default(a, b)) if ![a, b].iter().any(experiment) => match of(b) {
                Nature::Number | Nature::Text => of(b),
                _ => of(a),
            },
            (Nature::Experiment, Kind::Negate(a) | Kind::Abs(a)) if !experiment(&a) => Nature::Number,
            (Nature::Experiment, Kind::Arithmetic(_, a, b)) if ![a, b].iter().any(experiment) => {
                Nature::Number
            }
            (Nature::Experiment, Kind::If(_, a, b)) if ![a, b].iter().any(experiment) => match of(a) {
                Nature::Name | Nature::Null => of(b),
                nature => nature,
            },
            (nature, _) => nature,
        }
    }

    /// Whether the operator itself is local, and whether it reads the trace.
    fn itself(&self, kind: Kind) -> (bool, bool) {
        match kind {
            Kind::Path(_) | Kind::Timing(_) | Kind::Shift(..) | Kind::Window(..) => (true, true),
            // Where a term may not hold them is found when nodes are there: equations may.
            Kind::First | Kind::Last => (true, true),
            Kind::Default(..) => (true, false),
            Kind::Event(event) => {
                let constant = |(_, a): &(_, PatternArgument)| matches!(a, PatternArgument::Constant(_));
                (self.events[event as usize].arguments.iter().all(constant), true)
            }
            Kind::Prefix(..)
            | Kind::NextMap { .. }
            | Kind::UntilMap { .. }
            | Kind::Quantifier { .. }
            | Kind::Tally(..)
            | Kind::Emit(..)
            | Kind::Fails(..)
            | Kind::Combine { .. }
            | Kind::Collect(..) => (false, true),
            Kind::Infix(Infix::Iff | Infix::Implies | Infix::Xor | Infix::Or | Infix::And, ..) => {
                (true, false)
            }
            Kind::Infix(..) => (false, true),
            _ => (true, false),
        }
    }

    fn nature_of(&self, kind: Kind) -> Nature {
        use Nature::*;
        let value = |a: ItemId| if self.nature(a) == Experiment { Experiment } else { Formula };
        match kind {
            Kind::Error => Error,
            Kind::Null => Null,
            Kind::Bool(_) => Literal,
            Kind::Constant(constant) => {
                if matches!(self.constants[constant as usize], Value::Str(_)) {
                    Text
                } else {
                    Number
                }
            }
            Kind::Path(path) => match self.paths[path as usize].declared {
                None => Name,
                Some((Type::Bool, _)) => Flag,
                Some((Type::Int | Type::Real, _)) => Number,
                Some((Type::Text, _)) => Text,
            },
            Kind::Shift(of, _, default) => match (self.nature(of), &self.constants[default as usize]) {
                (Error, _) => Error,
                (Flag, _) | (_, Value::Bool(_)) => Formula,
                (Number, _) | (_, Value::Int(_) | Value::Real(_)) => Number,
                (Text, _) | (_, Value::Str(_)) => Text,
                _ => Name,
            },
            Kind::Window(Aggregate::First | Aggregate::Last | Aggregate::Mode, a, ..) => {
                match self.item(a).in_term {
                    nature @ (Number | Text | Error) => nature,
                    _ => Name,
                }
            }
            Kind::Window(..) => Number,
            Kind::Variable(_) => Variable,
            Kind::Tally(..) | Kind::Length(_) | Kind::Timing(_) => Number,
            Kind::Negate(a) | Kind::Abs(a) => match self.nature(a) {
                Experiment => Experiment,
                _ => Number,
            },
            Kind::Arithmetic(_, a, b) => match (self.nature(a), self.nature(b)) {
                (Experiment, _) | (_, Experiment) => Experiment,
                _ => Number,
            },
            Kind::If(_, a, b) => match (self.nature(a), self.nature(b)) {
                (Error | Null, other) | (other, Error | Null) => other,
                (Name | Variable, other) | (other, Name | Variable) => other,
                (Literal | Flag | Formula, Literal | Flag | Formula) => Formula,
                (one, _) => one,
            },
            Kind::Tuple(a, b) => match (self.nature(a), self.nature(b)) {
                (Experiment, _) | (_, Experiment) => Experiment,
                _ => Tuple,
            },
            Kind::First
            | Kind::Last
            | Kind::Event(_)
            | Kind::Compare(..)
            | Kind::In(..)
            | Kind::Matches(..)
            | Kind::Has(_)
            | Kind::Quantifier { .. } => Formula,
            Kind::Not(a) | Kind::Prefix(_, _, a) => value(a),
            Kind::Infix(_, _, a, b) => {
                if value(a) == Experiment {
                    Experiment
                } else {
                    value(b)
                }
            }
            Kind::Fails(..)
            | Kind::NextMap { .. }
            | Kind::Combine { .. }
            | Kind::UntilMap { .. }
            | Kind::Emit(..)
            | Kind::Default(..)
            | Kind::Collect(..) => Experiment,
        }
    }

    /// Index of a constant.
    pub fn constant(&mut self, value: Value) -> u32 {
        intern(&mut self.constant_index, &mut self.constants, format!("{value:?}"), value)
    }

    /// Index of a list of bound variables.
    pub fn bound(&mut self, variables: Vec<u32>) -> u32 {
        intern(&mut self.bound_index, &mut self.bounds, variables.clone(), variables)
    }

    /// Index of a window's length.
    pub fn over(&mut self, over: Over) -> u32 {
        intern(&mut self.over_index, &mut self.overs, over, over)
    }

    /// Index of an event use.
    pub fn event(&mut self, event: EventUse) -> u32 {
        intern(&mut self.event_index, &mut self.events, format!("{event:?}"), event)
    }

    /// Index of a set.
    pub fn set(&mut self, set: &[SetItem]) -> u32 {
        intern(&mut self.set_index, &mut self.sets, format!("{set:?}"), set.to_vec())
    }

    /// Index of an interval, `NONE` for none.
    pub fn interval(&mut self, interval: Option<Interval>) -> u32 {
        interval.map_or(NONE, |i| intern(&mut self.interval_index, &mut self.intervals, i, i))
    }

    /// The interval with that index.
    pub fn interval_at(&self, index: u32) -> Option<Interval> {
        (index != NONE).then(|| self.intervals[index as usize])
    }

    /// Index of a path; `declared` is asked when it is new.
    pub fn path(
        &mut self,
        path: &Path,
        quoted: bool,
        declared: impl FnOnce() -> Option<(Type, Span)>,
    ) -> u32 {
        let paths = &mut self.paths;
        *self.path_index.entry((path.clone(), quoted)).or_insert_with(|| {
            paths.push(PathUse { path: path.clone(), quoted, declared: declared() });
            (paths.len() - 1) as u32
        })
    }
}

/// Index of `value` in `table`, found by `key`.
fn intern<K: std::hash::Hash + Eq, V>(
    index: &mut FxHashMap<K, u32>,
    table: &mut Vec<V>,
    key: K,
    value: V,
) -> u32 {
    *index.entry(key).or_insert_with(|| {
        table.push(value);
        (table.len() - 1) as u32
    })
}
