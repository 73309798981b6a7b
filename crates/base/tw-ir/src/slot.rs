//! Slots: what a program needs from each position of a trace. They are the whole contract between a program
//! and a reader: a reader delivers one column per slot and decodes nothing else.

use crate::{Shift, Window};
use std::fmt;
use tw_core::Value;
use tw_diag::Span;

/// Index in `Program::slots`.
pub type SlotId = u32;

/// A dotted path into a position: `queue`, `http.status`, `tags[*]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The steps, at least one, the first a field.
    pub steps: Vec<PathStep>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// A key of an object.
    Field(String),
    /// Every element of a list.
    Each,
}

impl Path {
    /// A path of one field.
    pub fn field(name: impl Into<String>) -> Self {
        Self { steps: vec![PathStep::Field(name.into())] }
    }

    /// A path as people write it where no grammar is at hand: `http.status`, `tags[*]`.
    pub fn parse(text: &str) -> Self {
        let mut steps = Vec::new();
        for mut field in text.split('.') {
            let mut lists = 0;
            while let Some(shorter) = field.strip_suffix("[*]") {
                (field, lists) = (shorter, lists + 1);
            }
            steps.push(PathStep::Field(field.to_string()));
            steps.extend(std::iter::repeat_n(PathStep::Each, lists));
        }
        Self { steps }
    }

    /// The name, if the path is a single field.
    pub fn as_name(&self) -> Option<&str> {
        match self.steps.as_slice() {
            [PathStep::Field(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether the path ranges over list elements; its value is then a list.
    pub fn has_each(&self) -> bool {
        self.steps.contains(&PathStep::Each)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            match step {
                PathStep::Field(name) if i == 0 => f.write_str(name)?,
                PathStep::Field(name) => write!(f, ".{name}")?,
                PathStep::Each => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

/// What the specification's use of a name asks of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expect {
    /// Used as a proposition: `true`/`false`/`0`/`1`; null is false. Column: `Truth`.
    Bool,
    /// Used as a number. Column: `Int`, `Real`, or `Any` where a batch has both whole and other numbers.
    Number,
    /// Declared `int`: a number that must be whole. Column: `Int`.
    Int,
    /// Declared `real`: as for [`Expect::Number`], also where the number is written as a text.
    Real,
    /// Compared with text. Column: `Text`.
    Text,
    /// A text that is looked into, of which few are alike: a line of a log. Column: `Words`, in which null is the empty text,
    /// or as for [`Expect::Text`].
    Line,
    /// Compared with another name: whatever the cell looks like ([`Value::from_cell`]; in JSON its own type).
    /// Column: `Any`. Paths with `[*]` are always delivered as `Any` holding lists.
    Any,
}

/// What a slot holds.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A bare name where a truth value is expected: a variable read as a proposition, or "an event of this
    /// name happens here", whichever the trace has (both: an error that asks for `event name` or backquotes).
    /// Column: `Truth`.
    Proposition(Path),
    /// A variable's value.
    Variable(Path, Expect),
    /// The position's time as a number, whatever columns the trace has.
    Timing(Timing),
    /// The value of a stream that the specification defines, an index into `Program::streams`. Column: `Truth`, `Int`, `Real` or
    /// `Text` by its type.
    Stream {
        /// Which.
        stream: u32,
        /// Its name.
        name: String,
    },
    /// What another slot holds at another position.
    Shift(Shift),
    /// What an aggregate says of the latest positions.
    Window(Window),
    /// An event of this name happens here, and its arguments equal the given constants. Column: `Truth`.
    /// Arguments of declared events arrive as [`ArgumentKey::Declared`]; bare positions are matched only in
    /// formats with positional arguments.
    Event {
        /// Event name.
        name: String,
        /// Constraints on arguments.
        arguments: Vec<(ArgumentKey, Value)>,
        /// Number of positional arguments in the pattern, wildcards included, if it was written by position.
        arity: Option<usize>,
    },
    /// The events of this name here, for a pattern with variables: of each whose arguments equal the given constants,
    /// the values of the arguments that variables stand for. An event that lacks one of them is left out. Column:
    /// `Tuples`.
    Tuples {
        /// Event name.
        name: String,
        /// Constraints on arguments.
        constants: Vec<(ArgumentKey, Value)>,
        /// Number of positional arguments in the pattern, as in [`What::Event`].
        arity: Option<usize>,
        /// The arguments to be delivered, in the order of the pattern's variables.
        arguments: Vec<ArgumentKey>,
    },
}

impl What {
    /// How many arguments an event of its name has, where it says so: by its places, or by the declaration.
    pub fn arguments(&self) -> Option<usize> {
        let of = |key: &ArgumentKey| match key {
            ArgumentKey::Declared { of, .. } => Some(*of),
            ArgumentKey::Index(_) | ArgumentKey::Name(_) => None,
        };
        match self {
            What::Event { arguments, arity, .. } => {
                arity.or_else(|| arguments.iter().find_map(|(key, _)| of(key)))
            }
            What::Tuples { constants, arity, arguments, .. } => {
                arity.or_else(|| constants.iter().map(|(key, _)| key).chain(arguments).find_map(of))
            }
            _ => None,
        }
    }
}

/// A number that the timestamps give each position, in the trace's unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// Which.
    pub measure: Measure,
    /// Written `time()`, `elapsed()`: a column of that name is not meant. The bare name is an error where there is one.
    pub called: bool,
    /// Whose positions are neighbours: those that share a value of this column; `None` for those of the trace as it is
    /// divided, or of the whole.
    pub by: Option<Path>,
}

impl Timing {
    /// The column whose name it takes.
    pub fn path(&self) -> Path {
        Path::field(self.measure.name())
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The timestamp.
    Time,
    /// The time since the previous position; null at the first.
    Elapsed,
}

impl Measure {
    /// Every one with its name.
    pub const ALL: [(&'static str, Measure); 2] = [("time", Measure::Time), ("elapsed", Measure::Elapsed)];

    /// The one called `name`.
    pub fn parse(name: &str) -> Option<Measure> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, measure)| *measure)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("time", |(name, _)| name)
    }
}

/// Which argument of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentKey {
    /// By position, from 0.
    Index(usize),
    /// By name.
    Name(String),
    /// An argument of an event that the specification declares (`event login(user, ip);`), however the pattern was
    /// written: matched by name where the trace names arguments, by position where it does not.
    Declared {
        /// Position in the declaration, from 0.
        index: usize,
        /// Name in the declaration.
        name: String,
        /// How many arguments the declaration has.
        of: usize,
    },
}

/// One thing to read at each position, with the place in the specification that asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// What.
    pub what: What,
    /// Declared with `var`/`event`: a trace that lacks it has nulls there instead of an error.
    pub declared: bool,
    /// First use.
    pub span: Span,
}
