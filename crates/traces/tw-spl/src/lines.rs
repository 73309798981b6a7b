//! States as lines of text, fast: names are laid out once, and what a process's location says about its labels is one
//! piece of text per location.

use crate::machine::{Kind, Location, Program};
use crate::simulator::State;
use std::fmt::Write;
use std::sync::Arc;

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A header, then cells; booleans are `true` and `false`.
    Csv,
    /// A JSON object a line.
    Jsonl,
    /// The names of what is true. Integers have no place in it.
    Props,
}

/// Writes states of a program as lines.
#[derive(Clone, Debug)]
pub struct Lines {
    form: Form,
    header: String,
    slots: Vec<Slot>,
    /// What a line says about labels: per process, per location.
    labels: Vec<Vec<Arc<str>>>,
}

#[derive(Clone, Debug)]
struct Slot {
    number: usize,
    kind: Kind,
    /// What stands before the value; in `props`, the name.
    before: String,
}

impl Lines {
    /// Lines for states of this program.
    pub fn new(program: &Program, form: Form) -> Self {
        let columns = &program.columns;
        let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
        let count = program.slots as usize;
        let before = |number: usize| match form {
            Form::Csv => ",".to_owned(),
            Form::Jsonl => format!(",\"{}\":", names[number]),
            Form::Props => format!(" {}", names[number]),
        };
        let slot = |number: usize| Slot { number, kind: columns[number].kind, before: before(number) };
        let shown = |slot: &Slot| form != Form::Props || slot.kind == Kind::Boolean;
        let text = |process: usize, location: &[u32]| {
            let mut text = String::new();
            for (number, label) in program.labels.iter().enumerate() {
                if label.process as usize != process {
                    continue;
                }
                let at = location.contains(&(number as u32));
                // Writing to a `String` does not fail.
                let _ = match form {
                    Form::Props if !at => Ok(()),
                    Form::Props => text.write_str(&before(count + number)),
                    _ => write!(text, "{}{at}", before(count + number)),
                };
            }
            text
        };
        let labels = program.processes.iter().enumerate().map(|(number, process)| {
            // Most locations of a large program have no label; one text serves them all.
            let none: Arc<str> = text(number, &[]).into();
            let of = |location: &Location| match location.labels.as_slice() {
                [] => none.clone(),
                labels => text(number, labels).into(),
            };
            process.locations.iter().map(of).collect()
        });
        let mut lines = Self {
            form,
            header: if form == Form::Csv { format!("{}\n", names.join(",")) } else { String::new() },
            slots: (0..count).map(slot).filter(shown).collect(),
            labels: labels.collect(),
        };
        lines.strip_first();
        lines
    }

    /// Every piece begins with what separates it from the one before; the first has none before it. Which piece of a line
    /// of `props` is the first is known only then.
    fn strip_first(&mut self) {
        if self.form == Form::Props {
            return;
        }
        if let Some(first) = self.slots.first_mut() {
            first.before.remove(0);
        } else if let Some(first) =
            self.labels.iter_mut().find(|texts| texts.iter().any(|text| !text.is_empty()))
        {
            for text in first {
                *text = text.get(1..).unwrap_or_default().into();
            }
        }
    }

    /// What stands before the first line.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Appends the line of a state.
    pub fn push(&self, state: &State<'_>, out: &mut Vec<u8>) {
        if self.form == Form::Jsonl {
            out.push(b'{');
        }
        let start = out.len();
        for slot in &self.slots {
            let value = state.slots[slot.number];
            match (self.form, slot.kind) {
                (Form::Props, _) => {
                    if value != 0 {
                        out.extend_from_slice(slot.before.as_bytes());
                    }
                }
                (_, Kind::Boolean) => {
                    out.extend_from_slice(slot.before.as_bytes());
                    out.extend_from_slice(if value != 0 { b"true" } else { b"false" });
                }
                (_, Kind::Integer) => {
                    out.extend_from_slice(slot.before.as_bytes());
                    integer(value, out);
                }
            }
        }
        for (labels, &location) in self.labels.iter().zip(state.locations) {
            out.extend_from_slice(labels[location as usize].as_bytes());
        }
        if self.form == Form::Props && out.len() > start {
            out.remove(start);
        }
        out.extend_from_slice(if self.form == Form::Jsonl { b"}\n" } else { b"\n" });
    }
}

/// Appends an integer in decimal.
fn integer(value: i64, out: &mut Vec<u8>) {
    if (0..10).contains(&value) {
        return out.push(b'0' + value as u8);
    }
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    #[test]
    fn integers_are_decimal() {
        for value in [0, 1, 9, 10, 11, 99, 100, -1, -9, -10, i64::MAX, i64::MIN, 1_234_567] {
            let mut out = Vec::new();
            super::integer(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }
}
