//! What rules do: steps that bind variables or test them, what is remembered, and in which order all of it happens.

use super::formula::Window;
use tw_ir::Ticks;

/// A variable of a rule, by its place among the values that are bound.
pub(crate) type Slot = usize;

/// A column of an event or row and the variable that it is compared with.
pub(crate) type Check = (usize, Slot);

/// One step of a rule. What binds goes on with the steps after it for every value, what tests for those that pass.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Events here. Of a variable that binds: whether it takes whole numbers alone.
    Event {
        place: usize,
        binds: Vec<(usize, Slot, bool)>,
        checks: Vec<Check>,
    },
    Happened {
        place: usize,
        checks: Vec<Check>,
        negated: bool,
    },
    Bit {
        place: usize,
        before: bool,
        negated: bool,
    },
    First {
        negated: bool,
    },
    Previous {
        ticks: Ticks,
        negated: bool,
    },
    /// `slots` are the variables in the order of the predicate's inputs.
    Compare {
        predicate: u32,
        slots: Vec<Slot>,
        negated: bool,
    },
    /// An equality says what its variable may be.
    Equals {
        predicate: u32,
        slots: Vec<Slot>,
        slot: Slot,
        level: u32,
        whole: bool,
    },
    Probe {
        table: usize,
        before: bool,
        row: Vec<Slot>,
        negated: bool,
    },
    Scan {
        table: usize,
        before: bool,
        index: Option<usize>,
        key: Vec<Slot>,
        binds: Vec<(usize, Slot)>,
    },
    /// Whether one of these bodies has a solution.
    Some {
        bodies: Vec<Vec<Step>>,
        negated: bool,
    },
    /// Whether a value is among those that a signed table has taken in.
    Signed {
        table: usize,
        before: bool,
        key: Vec<Slot>,
        value: Slot,
        negated: bool,
    },
    /// Whether some value is left that none of the signed tables has taken in and that passes the rest.
    Meet {
        tables: Vec<(usize, Vec<Slot>)>,
        value: Slot,
        rest: Vec<Step>,
        negated: bool,
    },
    AsOf {
        table: usize,
        before: bool,
        key: Vec<Slot>,
        row: Vec<Slot>,
        negated: bool,
    },
    /// The rows that there were. Those at the beginning that `skip` holds are never asked for again.
    AsOfScan {
        table: usize,
        before: bool,
        key: Vec<Slot>,
        row: Vec<(Slot, bool)>,
        skip: Option<(usize, bool)>,
        cursor: usize,
    },
}

impl Step {
    /// The tables that it reads, and whether as they were before this position.
    pub(crate) fn reads(&self, read: &mut Vec<(usize, bool)>) {
        match self {
            Step::Probe { table, before, .. }
            | Step::Scan { table, before, .. }
            | Step::Signed { table, before, .. } => read.push((*table, *before)),
            Step::AsOf { table, before, .. } => read.push((*table, *before)),
            Step::AsOfScan { table, before, skip, .. } => {
                read.push((*table, *before));
                read.extend(skip);
            }
            Step::Some { bodies, .. } => bodies.iter().flatten().for_each(|step| step.reads(read)),
            Step::Meet { tables, rest, .. } => {
                read.extend(tables.iter().map(|(table, _)| (*table, false)));
                rest.iter().for_each(|step| step.reads(read));
            }
            _ => {}
        }
    }
}

/// What a table remembers.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Rows, of which each is told apart by its last time.
    Finite { arity: usize, ticks: Ticks, previous: bool, indexes: Vec<Vec<usize>>, grows: bool },
    /// For a key the values that are *not* meant; for a key that is not there none is.
    Signed { key: Vec<usize>, value: usize },
    /// For a key how many rows a table that only grows had.
    AsOf { of: usize, key: Vec<usize>, row: Vec<usize> },
}

/// Whether what a window looks for has happened is asked of the past, the future or both.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) window: Window,
    pub(crate) arity: usize,
    /// How long after its time a fact may become known; `None` if at the end alone.
    pub(crate) delay: Option<i64>,
}

impl Watched {
    /// How long after a position it is known whether there is such a fact.
    pub(crate) fn end(&self) -> Option<i64> {
        let delay = self.delay?;
        (self.window.high != super::formula::EVER).then(|| self.window.high.saturating_add(delay))
    }

    pub(crate) fn looks_back(&self) -> bool {
        self.window.low < 0 || self.window.side != super::formula::Side::Later
    }
}

/// What a solution of a rule is for.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Insert(usize),
    /// Rows with these values; `None` is by the whole row.
    Delete(usize, Option<usize>),
    /// All rows.
    Clear(usize),
    /// What is left of the values of a key: those that some body gives.
    Narrow {
        table: usize,
        bodies: Vec<Vec<Step>>,
        value: Slot,
    },
    /// How many rows there are, as they were before this position or are at it.
    Stamp {
        table: usize,
        before: bool,
    },
    Fact(usize),
    Violation(usize),
}

/// What a solution waits for.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) window: usize,
    /// By their places in what is kept.
    pub(crate) key: Vec<usize>,
    pub(crate) negated: bool,
    /// The gate that it was made for.
    pub(crate) origin: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Where one event is all that it needs: which, and the columns that are put out, of which some take whole numbers alone.
    pub(crate) plain: Option<(usize, Vec<(usize, bool)>)>,
    pub(crate) steps: Vec<Step>,
    pub(crate) slots: usize,
    pub(crate) target: Target,
    /// The variables that make up what it puts out; where it waits, by their places in what is kept.
    pub(crate) row: Vec<Slot>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) kept: Vec<Slot>,
}

/// Violations that stand until something changes.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) asked: usize,
    pub(crate) slots: usize,
    pub(crate) row: Vec<Slot>,
    pub(crate) watches: Vec<Watch>,
    /// Whether a row violates.
    pub(crate) test: Vec<Vec<Step>>,
}

/// A row of a table has changed: which violations may have.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) table: usize,
    pub(crate) binds: Vec<(usize, Slot)>,
    pub(crate) candidates: Vec<Vec<Step>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Rule(usize),
    Commit(usize),
    Deliver(usize),
    Stand(usize),
}

/// Rules for properties, and the order in which a position runs them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) tables: Vec<Kind>,
    pub(crate) windows: Vec<Watched>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) standing: Vec<Standing>,
    pub(crate) order: Vec<Op>,
    pub(crate) cursors: usize,
    /// Atoms without variables that are read at the position before.
    pub(crate) bits: Vec<usize>,
    /// Which questions they answer.
    pub(crate) answers: Vec<bool>,
}

impl Rules {
    /// How long after a position all its violations are known, of a question; `None` if at the end alone.
    pub(crate) fn reach(&self, asked: usize) -> Option<i64> {
        let own = |rule: &&Rule| matches!(rule.target, Target::Violation(own) if own == asked);
        let mut most = i64::MIN;
        for wait in self.rules.iter().filter(own).flat_map(|rule| &rule.waits) {
            most = most.max(self.windows[wait.window].end()?);
        }
        Some(most)
    }
}
