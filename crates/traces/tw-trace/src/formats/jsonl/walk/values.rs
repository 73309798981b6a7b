//! What the walker does with the values that somebody asked for.

use super::{Cells, Cursor, NONE, Walk};
use crate::equals;
use crate::formats::json_record::duplicate_in;
use crate::formats::json_value::{Parser, number_value};
use crate::formats::jsonl::lanes::Lanes;
use crate::formats::jsonl::leads::{EVENT, TIME, stamp};
use crate::formats::jsonl::plan::{Action, FieldId};
use crate::formats::jsonl::scalar::{self, Bytes, Literal, Number};
use crate::formats::jsonl::times;
use tw_core::Value;
use tw_ir::PathStep;

impl Walk<'_> {
    #[inline(always)]
    pub(super) fn number<L: Lanes>(
        &mut self,
        cursor: &mut Cursor,
        stamp: u32,
        slot: usize,
        at: usize,
        first: u8,
    ) -> Option<usize> {
        cursor.once(stamp)?;
        let number = scalar::number::<L>(self.bytes, at, first)?;
        self.store_number(slot, cursor.row, at, number)?;
        Some(number.end)
    }

    #[inline(always)]
    pub(super) fn truth(
        &mut self,
        cursor: &mut Cursor,
        stamp: u32,
        slot: usize,
        at: usize,
        first: u8,
    ) -> Option<usize> {
        cursor.once(stamp)?;
        let (end, literal) = scalar::literal(self.bytes, at, first)?;
        let Cells::Truth(cells) = &mut self.columns[slot] else { return None };
        cells[cursor.row] = u8::from(literal == Literal::True);
        Some(end)
    }

    #[inline(always)]
    pub(super) fn text<L: Lanes>(
        &mut self,
        cursor: &mut Cursor,
        stamp: u32,
        slot: usize,
        at: usize,
    ) -> Option<usize> {
        cursor.once(stamp)?;
        let bytes = self.bytes;
        let (end, escapes) = scalar::string_end::<L>(bytes, at + 1)?;
        if escapes {
            self.columns[slot].set_text(cursor.row, decode_text(bytes.slice(at, end))?.as_bytes())?;
        } else {
            let Cells::Text(texts) = &mut self.columns[slot] else { return None };
            texts.set_in_place::<L>(cursor.row, bytes, at + 1, end - 1)?;
        }
        Some(end)
    }

    #[inline(always)]
    fn store_number(&mut self, slot: usize, row: usize, at: usize, number: Number) -> Option<()> {
        let start = at + usize::from(number.negative);
        let column = &mut self.columns[slot];
        if number.odd || number.whole + number.fraction > 18 {
            return store_long_number(column, row, self.bytes.slice(at, number.end));
        }
        let whole = scalar::digits_value(self.bytes, start, number.whole);
        if number.fraction == 0 {
            let int = whole as i64;
            return column.set_int(row, if number.negative { -int } else { int });
        }
        let fraction = scalar::digits_value(self.bytes, start + number.whole as usize + 1, number.fraction);
        let digits = whole * POWERS[number.fraction as usize] as u64 + fraction;
        // Both are exact as doubles, so one division rounds once: the nearest double.
        if digits >= 1 << 53 {
            return store_long_number(column, row, self.bytes.slice(at, number.end));
        }
        let real = digits as f64 / POWERS[number.fraction as usize];
        column.set_real(row, if number.negative { -real } else { real })
    }

    /// Stores the value at `at`, whatever it is.
    #[inline(always)]
    fn store<L: Lanes>(&mut self, slot: usize, row: usize, at: usize, end: usize) -> Option<()> {
        let bytes = self.bytes;
        match bytes.byte(at) {
            b'"' if bytes.slice(at, end).contains(&b'\\') => {
                self.columns[slot].set_text(row, decode_text(bytes.slice(at, end))?.as_bytes())
            }
            b'"' => match &mut self.columns[slot] {
                Cells::Text(texts) => texts.set_in_place::<L>(row, bytes, at + 1, end - 1),
                other => other.set_text(row, bytes.slice(at + 1, end - 1)),
            },
            b'-' | b'0'..=b'9' => match &mut self.columns[slot] {
                text @ Cells::Text(_) => store_long_number(text, row, bytes.slice(at, end)),
                _ => self.store_number(slot, row, at, scalar::number::<L>(bytes, at, bytes.byte(at))?),
            },
            b'{' | b'[' => self.columns[slot].set_value(row, &decode(bytes.slice(at, end))?),
            first => match scalar::literal(bytes, at, first)?.1 {
                Literal::Null => Some(()),
                other => self.columns[slot].set_bool(row, other == Literal::True),
            },
        }
    }

    /// Does what a field's actions ask for.
    #[inline(always)]
    pub(super) fn field<L: Lanes>(
        &mut self,
        cursor: &mut Cursor,
        field: FieldId,
        at: usize,
    ) -> Option<usize> {
        cursor.once(stamp(field))?;
        let plan = self.plan;
        let end = scalar::value_end::<L>(self.bytes, at, || self.learner.depth(cursor.lead))?;
        let mut decoded: Option<Value> = None;
        for action in &plan.fields[field as usize] {
            match action {
                Action::Store(slot) => {
                    // Found inside another key before, and stored: this key comes first, so what is there must go.
                    cursor.once(stamp((plan.fields.len() + slot) as u32))?;
                    self.store::<L>(*slot, cursor.row, at, end)?;
                }
                Action::Key(column) => self.store_key::<L>(*column, cursor.row, at, end)?,
                Action::Remember => cursor.spans[field as usize] = (at, end),
                Action::Inside { slot, path, whole } => {
                    if decoded.is_none() {
                        decoded = Some(decode(self.bytes.slice(at, end))?);
                    }
                    let value = decoded.as_ref()?;
                    let steps = &path.steps[1..];
                    if duplicate_in(value, steps).is_some() {
                        return None;
                    }
                    if cursor.stamps[stamp(*whole) as usize] == cursor.row as u32 {
                        continue;
                    }
                    let mut current = inside(value, steps);
                    let column = &mut self.columns[*slot];
                    if path.has_each() {
                        column.set_value(cursor.row, &Value::List(current.into_iter().cloned().collect()))?;
                    } else if let Some(value) = current.pop() {
                        column.set_value(cursor.row, value)?;
                    } else {
                        continue;
                    }
                    cursor.once(stamp((plan.fields.len() + slot) as u32))?;
                    self.learner.inside[*slot] = true;
                }
            }
        }
        Some(end)
    }

    fn store_key<L: Lanes>(&mut self, column: usize, row: usize, at: usize, end: usize) -> Option<()> {
        let raw = self.bytes.slice(at, end);
        let Cells::Text(texts) = &mut self.columns[column] else { return None };
        let text = match raw.first()? {
            b'"' if !raw.contains(&b'\\') => {
                self.learner.key_seen = true;
                return if raw.len() == 2 {
                    Some(())
                } else {
                    texts.set_in_place::<L>(row, self.bytes, at + 1, end - 1)
                };
            }
            b'1'..=b'9' if raw.len() < 18 && raw.iter().all(u8::is_ascii_digit) => {
                self.learner.key_seen = true;
                return texts.set_in_place::<L>(row, self.bytes, at, end);
            }
            _ => match decode(raw)? {
                Value::Null => return Some(()),
                value => value.to_string(),
            },
        };
        self.learner.key_seen = true;
        if text.is_empty() { Some(()) } else { self.columns[column].set_text(row, text.as_bytes()) }
    }

    #[inline(always)]
    pub(super) fn time<L: Lanes>(&mut self, cursor: &mut Cursor, at: usize, first: u8) -> Option<usize> {
        cursor.once(TIME)?;
        let bytes = self.bytes;
        let (end, time) = match first {
            b'0'..=b'9' => {
                let number = scalar::number::<L>(bytes, at, first)?;
                (number.end, times::number(self.plan, bytes, at, number)?)
            }
            b'"' => {
                let (end, escapes) = scalar::string_end::<L>(bytes, at + 1)?;
                let time = self.day.text(bytes, at + 1, end - 1).filter(|_| !escapes);
                (end, time.or_else(|| times::any(self.plan, bytes.slice(at, end)))?)
            }
            b'-' => {
                let end = scalar::number::<L>(bytes, at, first)?.end;
                (end, times::any(self.plan, bytes.slice(at, end))?)
            }
            _ => return null_end(bytes, at, first),
        };
        // In a trace without timestamps there is no place for one.
        *self.times.get_mut(cursor.row)? = time;
        Some(end)
    }

    #[inline(always)]
    pub(super) fn event<L: Lanes>(&mut self, cursor: &mut Cursor, at: usize, first: u8) -> Option<usize> {
        cursor.once(EVENT)?;
        let bytes = self.bytes;
        if first != b'"' {
            return null_end(bytes, at, first);
        }
        let (end, escapes) = scalar::string_end::<L>(bytes, at + 1)?;
        let id = match self.learner.event_names.get::<L>(bytes, at + 1, end - 1) {
            Some(id) if !escapes => id,
            _ => self.new_event(at, end, escapes)?,
        };
        cursor.context = id;
        if let Some(event) = self.events.get_mut(cursor.row) {
            *event = id;
            if self.learner.events.get(id as usize).is_some_and(|event| event.patterns) {
                cursor.pattern = id;
            }
        }
        Some(end)
    }

    /// The id of the event whose name, with its quotes, reaches from `at` to `end`.
    #[inline(never)]
    fn new_event(&mut self, at: usize, end: usize, escapes: bool) -> Option<u32> {
        self.learner.has_events = true;
        let id = if escapes {
            self.learner.event(decode_text(self.bytes.slice(at, end))?.as_bytes())
        } else {
            self.learner.event(self.bytes.slice(at + 1, end - 1))
        };
        let Some(id) = id else { return Some(NONE) };
        self.learner.events[id as usize].seen = true;
        if !escapes {
            self.learner.event_names.put(self.bytes, at + 1, end - 1, id);
        }
        Some(id)
    }

    /// At the end of a row whose event has patterns: which of them do its arguments match?
    #[inline(never)]
    pub(super) fn match_patterns(&mut self, cursor: &Cursor) -> Option<()> {
        let name = &self.learner.events[cursor.pattern as usize].name;
        for (slot, pattern) in &self.plan.events.get(&**name)?.patterns {
            let mut all = true;
            for (field, constant) in pattern {
                let present = cursor.stamps[stamp(*field) as usize] == cursor.row as u32;
                let (start, end) = cursor.spans[*field as usize];
                all = present && is_constant(self.bytes.slice(start, end), constant)?;
                if !all {
                    break;
                }
            }
            if all {
                self.columns[*slot].set_bool(cursor.row, true)?;
            }
        }
        Some(())
    }
}

/// Powers of ten that are exact as doubles (and as integers, as far as they are used as such).
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19,
];

/// One past the value at `at` if it is null.
fn null_end(bytes: Bytes, at: usize, first: u8) -> Option<usize> {
    scalar::literal(bytes, at, first).filter(|(_, literal)| *literal == Literal::Null).map(|(end, _)| end)
}

#[inline(never)]
fn store_long_number(column: &mut Cells, row: usize, raw: &[u8]) -> Option<()> {
    column.set_value(row, &number_value(std::str::from_utf8(raw).ok()?))
}

#[inline(never)]
fn decode_text(raw: &[u8]) -> Option<String> {
    Some(Parser::new(std::str::from_utf8(raw).ok()?, "").string("").ok()?.into_owned())
}

#[inline(never)]
fn decode(raw: &[u8]) -> Option<Value> {
    Parser::new(std::str::from_utf8(raw).ok()?, "").value(1).ok()
}

fn is_constant(raw: &[u8], constant: &Value) -> Option<bool> {
    if let (Value::Str(text), Some(b'"')) = (constant, raw.first())
        && !raw.contains(&b'\\')
    {
        return Some(text.as_bytes() == &raw[1..raw.len() - 1]);
    }
    Some(equals(&decode(raw)?, constant, true))
}

/// The values that `steps` lead to.
fn inside<'v>(value: &'v Value, steps: &[PathStep]) -> Vec<&'v Value> {
    let mut current = vec![value];
    for step in steps {
        current = current
            .into_iter()
            .flat_map(|value| match (step, value) {
                (PathStep::Field(name), Value::Object(fields)) => fields
                    .iter()
                    .find(|(key, _)| **key == **name)
                    .map(|(_, value)| value)
                    .into_iter()
                    .collect(),
                (PathStep::Each, Value::List(items)) => items.iter().collect::<Vec<_>>(),
                _ => Vec::new(),
            })
            .collect();
    }
    current
}
