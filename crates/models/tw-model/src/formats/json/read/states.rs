//! States, one after another.

use super::{Reader, SeenFields, Wrong};
use crate::formats::json::{self, pull::Pull};
use crate::{Cells, Domain};
use rustc_hash::FxHashMap;
use tw_core::Value;

/// Values to their numbers.
enum Lookup {
    Boolean,
    Range(i64, i64),
    Values { texts: FxHashMap<String, u32>, numbers: FxHashMap<i64, u32>, others: FxHashMap<String, u32> },
}

impl Lookup {
    fn new(domain: &Domain) -> Self {
        match domain {
            Domain::Boolean => Lookup::Boolean,
            Domain::Range(low, high) => Lookup::Range(*low, *high),
            Domain::Values(values) => {
                let (mut texts, mut numbers, mut others) =
                    (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
                for (code, value) in values.iter().enumerate() {
                    match value {
                        Value::Str(text) => drop(texts.insert(text.to_string(), code as u32)),
                        Value::Int(number) => drop(numbers.insert(*number, code as u32)),
                        _ => drop(others.insert(json::text(value), code as u32)),
                    }
                }
                Lookup::Values { texts, numbers, others }
            }
        }
    }

    /// Reads a value.
    fn code(&self, pull: &mut Pull<'_>) -> Result<u32, Wrong> {
        let peeked = pull.peek();
        let at = pull.at;
        match self {
            Lookup::Boolean => Ok(u32::from(pull.boolean()?)),
            Lookup::Range(low, high) => {
                let number = pull.int()?;
                if !(low..=high).contains(&&number) {
                    return Err((at, format!("found {number}, expected a number from {low} to {high}")));
                }
                Ok((i128::from(number) - i128::from(*low)) as u32)
            }
            Lookup::Values { texts, numbers, others } => {
                let (code, shown) = if peeked == b'"' {
                    let text = pull.string()?;
                    (texts.get(&*text).copied(), text.into_owned())
                } else {
                    let value = pull.value()?;
                    let shown = json::text(&value);
                    match value {
                        Value::Int(number) => (numbers.get(&number).copied(), shown),
                        _ => (others.get(&shown).copied(), shown),
                    }
                };
                code.ok_or_else(|| (at, format!("found `{shown}`, expected a value of the variable's type")))
            }
        }
    }
}

/// Stands for a variable that was not told.
const UNTOLD: u32 = u32::MAX;

impl Reader<'_> {
    pub(super) fn states(&mut self) -> Result<(), Wrong> {
        let own: Vec<usize> = (0..self.model.variables.len())
            .filter(|&at| matches!(self.model.variables[at].cells, Cells::Own(_)))
            .collect();
        let keys: Vec<String> = own.iter().map(|&at| json::key(&self.model.variables[at].name)).collect();
        let places: FxHashMap<&str, usize> =
            keys.iter().zip(0..).map(|(key, at)| (key.as_str(), at)).collect();
        let lookups: Vec<Lookup> =
            own.iter().map(|&at| Lookup::new(&self.model.variables[at].domain)).collect();
        let mut columns: Vec<Vec<u32>> = vec![Vec::new(); own.len()];
        let mut record = self.model.record.take();
        let pull = &mut self.pull;
        pull.sign(b'[')?;
        let mut first = true;
        while pull.more(&mut first, b']')? {
            let start = pull.at;
            pull.sign(b'{')?;
            if self.states == u32::MAX as usize - 1 {
                return Err((start, "found too many states, expected at most 2^32 - 2".to_owned()));
            }
            columns.iter_mut().for_each(|column| column.push(UNTOLD));
            let (mut seen, mut initial, mut ends) = (SeenFields::default(), None, None);
            // Keys mostly come in the order of variables.
            let (mut expected, mut first) = (0, true);
            while pull.more(&mut first, b'}')? {
                let at = pull.at;
                let key = pull.key()?;
                let place = match keys.get(expected) {
                    Some(next) if **next == *key => Some(expected),
                    _ => places.get(&*key).copied(),
                };
                if let Some(place) = place {
                    let cell = &mut columns[place][self.states];
                    if *cell != UNTOLD {
                        return Err((at, format!("found the key `{key}` again, expected it once")));
                    }
                    *cell = lookups[place].code(pull)?;
                    expected = place + 1;
                    continue;
                }
                match &*key {
                    "initial" if initial.is_some() => {
                        return Err((at, "found `initial` again, expected it once".to_owned()));
                    }
                    "initial" if record.is_some() => {
                        initial = Some(pull.count(u64::MAX, "how many traces begin here")?)
                    }
                    "initial" => initial = pull.boolean()?.then_some(0),
                    "ends" if record.is_some() && ends.is_none() => {
                        ends = Some(pull.count(u64::MAX, "how many traces end here")?);
                    }
                    _ if seen.take(&key, at, pull, record.as_ref())? => {}
                    _ => {
                        let known = json::KEYS.join(", ");
                        return Err((
                            at,
                            format!("found the key `{key}`, expected a variable or one of {known}"),
                        ));
                    }
                }
            }
            if let Some(untold) = columns.iter().position(|column| column[self.states] == UNTOLD) {
                return Err((
                    start,
                    format!("found a state without `{}`, expected all variables", keys[untold]),
                ));
            }
            let seen = seen.finish(start)?;
            if let Some(record) = &mut record {
                record.states.push(seen);
                record.ends.push(ends.unwrap_or(0));
                record.starts.extend(initial);
            }
            if initial.is_some() {
                self.model.initial.push(self.states as u32);
            }
            self.states += 1;
        }
        for (variable, column) in own.into_iter().zip(columns) {
            self.model.variables[variable].cells = Cells::Own(column);
        }
        self.model.record = record;
        Ok(())
    }
}
