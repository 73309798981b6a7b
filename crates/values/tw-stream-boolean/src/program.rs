//! Running a specification on stored inputs.

use crate::columns::Classic;
use crate::graph::Graph;
use crate::split::{Part, cut, groups, name_known, split};
use crate::system::TooLarge;
use crate::two_pass::{Group, Limits, Trace, two_models};
use crate::{Specification, Word};
use std::fmt;
use tw_core::Bits;

/// How to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passes {
    /// What is well-formed the classic way, the rest in two passes.
    #[default]
    Auto,
    /// One pass more than directions alternate; well-formed specifications only.
    Classic,
    /// Two passes over the automaton of all equations.
    Two,
}

/// Why there are no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsolved {
    /// Streams are not empty.
    Empty,
    /// The input has no model: the equations up to this position cannot all hold, whatever comes after it.
    NoModel {
        /// The first such position.
        position: usize,
    },
    /// The input has several models.
    Several {
        /// The first position at which two of them differ in an output that matters.
        position: usize,
    },
    /// There are too many states, or too many ways to guess what comes.
    TooLarge {
        /// How many sets of states there were.
        states: usize,
    },
    /// The tape could not be written or read.
    Tape(String),
    /// The classic way was asked for, and the specification is not well-formed.
    NotWellFormed,
}

impl fmt::Display for Unsolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsolved::Empty => write!(f, "there is no position, and streams are not empty"),
            Unsolved::NoModel { position } => {
                write!(f, "the input has no model: no values satisfy the equations up to position {position}")
            }
            Unsolved::Several { position } => {
                write!(f, "the input has several models, which first differ at position {position}")
            }
            Unsolved::TooLarge { states } => write!(f, "gave up after {states} sets of states"),
            Unsolved::Tape(why) => write!(f, "the tape between the two passes: {why}"),
            Unsolved::NotWellFormed => {
                write!(
                    f,
                    "the equations have a cycle of weight 0, so that classic passes do not find their values"
                )
            }
        }
    }
}

impl std::error::Error for Unsolved {}

/// A specification, ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    inputs: usize,
    outputs: usize,
    known: Stage,
    groups: Vec<Group>,
    follows: Stage,
    /// The core with what follows from it, where models may differ earlier than in the core: asked for that alone.
    whole: Option<Group>,
    /// Which outputs have certain values when the run succeeds.
    certain: Vec<bool>,
    reason: String,
    /// How many of the outputs are the specification's own.
    shown: usize,
}

/// Some outputs by classic passes.
#[derive(Clone, Debug)]
struct Stage {
    reads: Vec<u32>,
    finds: Vec<usize>,
    classic: Option<Classic>,
}

impl Stage {
    fn new(spec: &Specification, reads: Vec<u32>, finds: Vec<usize>) -> Self {
        let classic = if finds.is_empty() { None } else { cut(spec, &reads, &finds).ok() };
        let classic = classic.and_then(|part| Classic::new(&part));
        Stage { reads, finds, classic }
    }

    fn run(&self, input: &Word, found: &mut [Option<Bits>]) {
        let Some(classic) = &self.classic else { return };
        let none = Bits::repeat(false, input.len);
        let columns: Vec<Bits> = {
            let read = |&stream: &u32| match (stream as usize).checked_sub(input.columns.len()) {
                Some(output) => found[output].as_ref().unwrap_or(&none),
                None => &input.columns[stream as usize],
            };
            classic.run(input.len, &self.reads.iter().map(read).collect::<Vec<_>>())
        };
        self.finds.iter().zip(columns).for_each(|(&output, column)| found[output] = Some(column));
    }
}

/// A model of an input: a column per output.
pub type Model = Vec<Bits>;

impl Program {
    /// Prepares a run; an error if that cannot be done in this way.
    pub fn new(spec: &Specification, passes: Passes) -> Result<Self, Unsolved> {
        let plain = Self::make(spec, passes)?;
        if passes != Passes::Auto || plain.groups.is_empty() {
            return Ok(plain);
        }
        // Where known expressions are fewer than the streams they read, the core's letters are smaller.
        let parts = split(&Graph::new(spec));
        let Ok(Some(named)) = name_known(spec, &parts) else { return Ok(plain) };
        match Self::make(&named, passes) {
            Ok(other) if other.width() < plain.width() => {
                Ok(Program { shown: plain.outputs, reason: plain.reason, ..other })
            }
            _ => Ok(plain),
        }
    }

    /// Bits that the groups read for some positions together.
    fn width(&self) -> usize {
        self.groups.iter().map(Group::width).sum()
    }

    fn make(spec: &Specification, passes: Passes) -> Result<Self, Unsolved> {
        let graph = Graph::new(spec);
        let well_formed = graph.is_well_formed();
        let outputs = spec.outputs.len();
        let all_matter = spec.observed.iter().all(|&observed| observed);
        let mut parts = split(&graph);
        let reason = match passes {
            Passes::Classic if !well_formed => return Err(Unsolved::NotWellFormed),
            Passes::Two => {
                parts = vec![Part::Core; outputs];
                "two passes, as asked for".to_string()
            }
            _ if well_formed => {
                let count = Classic::new(spec).map_or(0, |classic| classic.passes());
                match count {
                    1 => "one pass: the equations are well-formed and look one way".to_string(),
                    _ => format!("{count} passes: the equations are well-formed and alternate"),
                }
            }
            _ => {
                let core = parts.iter().filter(|part| **part == Part::Core).count();
                format!(
                    "two passes for {core} of {outputs} streams, which are on cycles of weight 0 or between them"
                )
            }
        };
        let mut certain = vec![true; outputs];
        let divided = if !well_formed && !all_matter {
            // What the observed outputs need goes with the core: only so is it seen whether their values differ.
            let needed = graph.needed(&spec.observed);
            for output in 0..outputs {
                if parts[output] == Part::Follows && needed[output] {
                    parts[output] = Part::Core;
                }
                certain[output] = parts[output] == Part::Known || spec.observed[output];
            }
            vec![of(&parts, Part::Core)]
        } else if passes == Passes::Two {
            vec![of(&parts, Part::Core)]
        } else {
            groups(&graph, &parts)
        };
        let observed = if well_formed { &vec![true; outputs] } else { &spec.observed };
        let made = divided.iter().filter(|group| !group.is_empty());
        let made: Result<Vec<Group>, TooLarge> =
            made.map(|group| Group::new(spec, group, observed)).collect();
        let inputs: Vec<u32> = (0..spec.inputs.len() as u32).collect();
        let known = of(&parts, Part::Known);
        let follows = of(&parts, Part::Follows);
        let rest = (0..outputs).filter(|&output| parts[output] != Part::Follows);
        let whole: Vec<usize> = (0..outputs).filter(|&output| parts[output] != Part::Known).collect();
        let whole = if follows.is_empty() { None } else { Group::new(spec, &whole, observed).ok() };
        let before: Vec<u32> = inputs.iter().copied().chain(rest.map(|output| spec.output(output))).collect();
        Ok(Program {
            inputs: inputs.len(),
            outputs,
            known: Stage::new(spec, inputs, known),
            groups: made.map_err(|TooLarge| Unsolved::TooLarge { states: 0 })?,
            follows: Stage::new(spec, before, follows),
            whole,
            certain,
            reason,
            shown: outputs,
        })
    }

    /// How it runs, and why so.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The values of the outputs, for an input that has exactly one model as far as the observed outputs go. Outputs that
    /// are not observed have no value where they might not be unique.
    ///
    /// The columns of the input are as long as it says and as many as the specification has.
    pub fn run(&self, input: &Word, limits: &Limits) -> Result<Vec<Option<Bits>>, Unsolved> {
        if input.len == 0 {
            return Err(Unsolved::Empty);
        }
        debug_assert!(input.columns.len() == self.inputs);
        let mut found: Vec<Option<Bits>> = vec![None; self.outputs];
        self.known.run(input, &mut found);
        let mut several = None;
        let mut none = None;
        for group in &self.groups {
            match self.with_trace(input, &found, |trace| group.run(trace, limits)) {
                Ok(columns) => {
                    group.members.iter().zip(columns).for_each(|(&output, bits)| found[output] = Some(bits));
                }
                // No model at all is the stronger finding, and of several the first place.
                Err(Unsolved::Several { position }) => several = earlier(several, position),
                Err(Unsolved::NoModel { position }) => none = earlier(none, position),
                Err(other) => return Err(other),
            }
        }
        if let Some(position) = none {
            return Err(Unsolved::NoModel { position });
        }
        if let Some(position) = several {
            let whole = self.whole.as_ref();
            let exact = whole.map(|group| self.with_trace(input, &found, |trace| group.run(trace, limits)));
            if let Some(Err(Unsolved::Several { position })) = exact {
                return Err(Unsolved::Several { position });
            }
            return Err(Unsolved::Several { position });
        }
        self.follows.run(input, &mut found);
        found
            .iter_mut()
            .zip(&self.certain)
            .filter(|(_, certain)| !**certain)
            .for_each(|(column, _)| *column = None);
        found.truncate(self.shown);
        Ok(found)
    }

    fn with_trace<T>(&self, input: &Word, found: &[Option<Bits>], run: impl FnOnce(&Trace<'_>) -> T) -> T {
        let none = Bits::repeat(false, input.len);
        let outputs = found.iter().map(|column| column.as_ref().unwrap_or(&none));
        let columns: Vec<&Bits> = input.columns.iter().chain(outputs).collect();
        run(&Trace { len: input.len, columns: &columns })
    }

    /// A model of a short input, and another that differs from it in an observed output, if there are such.
    pub fn models(&self, input: &Word, limits: &Limits) -> Result<Vec<Model>, Unsolved> {
        if input.len == 0 {
            return Err(Unsolved::Empty);
        }
        let mut found: Vec<Option<Bits>> = vec![None; self.outputs];
        self.known.run(input, &mut found);
        let mut second: Option<(usize, Vec<u64>)> = None;
        let mut firsts = Vec::new();
        for (nth, group) in self.groups.iter().enumerate() {
            match self.with_trace(input, &found, |trace| two_models(group, trace, limits.sets))? {
                None => return Ok(Vec::new()),
                Some((one, other)) => {
                    firsts.push(one);
                    second = second.or(other.map(|other| (nth, other)));
                }
            }
        }
        let complete = |labels: &dyn Fn(usize) -> Vec<u64>| {
            let mut found = found.clone();
            for (nth, group) in self.groups.iter().enumerate() {
                let columns = Word::from_letters(group.members.len(), &labels(nth)).columns;
                group.members.iter().zip(columns).for_each(|(&output, bits)| found[output] = Some(bits));
            }
            self.follows.run(input, &mut found);
            found.into_iter().take(self.shown).map(Option::unwrap_or_default).collect::<Model>()
        };
        let mut models = vec![complete(&|nth| firsts[nth].clone())];
        if let Some((place, other)) = &second {
            models.push(complete(&|nth| if nth == *place { other.clone() } else { firsts[nth].clone() }));
        }
        Ok(models)
    }
}

fn earlier(known: Option<usize>, position: usize) -> Option<usize> {
    Some(known.map_or(position, |known| known.min(position)))
}

fn of(parts: &[Part], wanted: Part) -> Vec<usize> {
    (0..parts.len()).filter(|&output| parts[output] == wanted).collect()
}
