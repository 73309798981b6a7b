//! One position at a time, for programs that wait for its answer: no columns are made where propositions and numbers are all
//! that properties read.

use super::feed::NOBODY;
use super::rows::Row;
use super::{Outcome, Plan, ShardMonitor};
use crate::Error;
use crate::embed::cells::Cells;
use crate::embed::row::set_bit;
use crate::run::faults::trace_error;
use tw_core::Value;
use tw_ir::{Expect, Path, PathStep, Slot, What};

/// What is read of a row, slot by slot, and where it goes.
pub(super) struct Quick {
    reads: Vec<Read>,
    cells: Cells,
    values: Vec<Value>,
    /// The atoms of the program, and of each property.
    atoms: Vec<u64>,
    rows: Vec<Vec<u64>>,
}

/// How a slot is read of a row.
enum Read {
    /// Whether a variable is true or, where it is absent, an event of that name happens.
    Proposition(String),
    /// Whether a variable is true.
    Truth(String),
    /// The value of a variable.
    Value(String),
    /// Whether an event happens.
    Event(String),
}

impl Quick {
    /// For a plan whose properties are formulas over propositions, values and events without arguments.
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let program = plan.program();
        let plain = plan.properties().iter().all(|property| !property.query && property.patterns.is_empty())
            && plan.parametric().is_none()
            && program.templates.is_empty()
            && !plan.measures()
            && !program.derives();
        let reads = program.slots.iter().map(read).collect::<Option<Vec<_>>>().filter(|_| plain)?;
        Some(Self {
            values: vec![Value::Null; reads.len()],
            reads,
            cells: Cells::new(program),
            atoms: vec![0; tw_monitor::words(program.atoms().len())],
            rows: plan.properties().iter().map(|own| vec![0; tw_monitor::words(own.atoms.len())]).collect(),
        })
    }

    /// Whether the row holds nothing that has to be looked at more closely.
    fn take(&mut self, row: &Row<'_>) -> bool {
        let found = |name: &str| row.values.iter().find(|(own, _)| *own == name).map(|(_, value)| value);
        for (slot, read) in self.reads.iter().enumerate() {
            let holds = match read {
                Read::Event(name) => row.event == Some(name),
                Read::Proposition(name) | Read::Truth(name) => match found(name) {
                    Some(Value::Bool(holds)) => *holds,
                    Some(Value::Null) => false,
                    Some(Value::Int(number @ (0 | 1))) => *number == 1,
                    None => matches!(read, Read::Proposition(_)) && row.event == Some(name),
                    Some(_) => return false,
                },
                Read::Value(name) => {
                    let value = found(name).unwrap_or(&Value::Null);
                    if matches!(value, Value::List(_) | Value::Object(_)) {
                        return false;
                    }
                    self.values[slot].clone_from(value);
                    continue;
                }
            };
            match self.cells.bit(slot) {
                Some(bit) => set_bit(&mut self.atoms, bit, holds),
                None => self.values[slot] = Value::Bool(holds),
            }
        }
        true
    }
}

fn read(slot: &Slot) -> Option<Read> {
    let name = |path: &Path| match path.steps.as_slice() {
        [PathStep::Field(name)] => Some(name.to_string()),
        _ => None,
    };
    match &slot.what {
        What::Proposition(path) => name(path).map(Read::Proposition),
        What::Variable(path, Expect::Bool) => name(path).map(Read::Truth),
        What::Variable(path, _) => name(path).map(Read::Value),
        What::Event { name, arguments, arity: None } if arguments.is_empty() => {
            Some(Read::Event(name.clone()))
        }
        _ => None,
    }
}

impl ShardMonitor {
    /// Takes a position; `None` if it has to go by columns, which have seen nothing of it then.
    pub(super) fn push_row(
        &mut self,
        row: &Row<'_>,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Option<Result<(), Error>> {
        let mut quick = self.quick.take()?;
        let done = quick.take(row).then(|| self.push_quick(&mut quick, row, told));
        self.quick = Some(quick);
        done
    }

    fn push_quick(
        &mut self,
        quick: &mut Quick,
        row: &Row<'_>,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Result<(), Error> {
        let plan = self.plan.clone();
        if let Err(error) = quick.cells.fill(plan.program(), &quick.values, &mut quick.atoms) {
            let place = format!("position {}", self.positions);
            return Err(trace_error(plan.specification(), error.in_file(&place)));
        }
        self.check_times(row.time.as_ref().map(std::slice::from_ref), 1)?;
        for (own, property) in quick.rows.iter_mut().zip(plan.properties()) {
            for (to, &from) in property.atoms.iter().enumerate() {
                set_bit(own, to as u32, quick.atoms[from / 64] >> (from % 64) & 1 == 1);
            }
        }
        let key = self.key_of(row);
        let rows = &quick.rows;
        let each = |property: usize| property;
        self.position((0, key, row.time), (rows.len(), &each), told, |nth, monitor, sink| {
            monitor.step_at(row.time, &rows[nth], sink)
        })?;
        self.over.at = None;
        // What ended has no positions of queries or monitors to be cut.
        drop(self.over.cuts());
        self.forget_ended();
        Ok(())
    }

    /// The number of a row's key.
    fn key_of(&mut self, row: &Row<'_>) -> u32 {
        let Some(key) = self.key.take() else { return 0 };
        let value = row.values.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
        let number = match value {
            None | Some(Value::Null) => NOBODY,
            Some(Value::Str(text)) if text.is_empty() => NOBODY,
            Some(Value::Str(text)) => self.number(text),
            Some(value) => self.number(&value.to_string()),
        };
        self.key = Some(key);
        number
    }
}
