//! The walker: from lead to value to lead, several stretches of a block at a time.
//!
//! One cursor mostly waits: where a value ends decides where the next lead is compared. Several cursors, each in its own
//! stretch of whole lines, take turns field by field and wait together. Whatever a cursor cannot take (`None`), the
//! definition reads the block instead and says what is wrong, if anything is.

use super::columns::{Cells, keep};
use super::lanes::{Lanes, Portable};
use super::leads::{Lead, LeadId, Learner, Role, START, WAYS};
use super::plan::{Action, FieldId, Plan};
use super::scalar::{self, Bytes, Number, PADDING};
use super::times;
use crate::formats::json_value::{Parser, number_value};
use crate::{BlockBatch, equals};
use std::ops::Range;
use tw_core::{Batch, Time, Value};
use tw_ir::PathStep;

/// Cursors that take turns.
pub(super) const CURSORS: usize = 4;
/// Bytes per cursor below which taking turns does not pay; tests take turns in any case.
const STRETCH: usize = if cfg!(test) { 16 } else { 4096 };
/// No row yet, no event.
const NONE: u32 = u32::MAX;

struct Walk<'p> {
    plan: &'p Plan,
    learner: &'p mut Learner,
    columns: Vec<Cells>,
    /// Timestamps, if they are delivered.
    times: Vec<Time>,
    bytes: Bytes,
    day: times::Day,
}

struct Cursor {
    at: usize,
    end: usize,
    /// The lead it came past last.
    lead: LeadId,
    /// The lead to use when no more are remembered.
    spare: LeadId,
    first_row: usize,
    row: usize,
    /// The row each field was seen in last; after the fields, the time, the event, and the slots that found a value.
    stamps: Vec<u32>,
    /// Where the arguments of events are.
    spans: Vec<(usize, usize)>,
    /// The row's event, if it has patterns to be matched.
    event: u32,
    first_time: Time,
    last_time: Time,
    stamped: usize,
}

impl Cursor {
    fn new(plan: &Plan, number: usize, range: Range<usize>, first_row: usize) -> Self {
        Self {
            at: range.start,
            end: range.end,
            lead: START,
            spare: 1 + number as LeadId,
            first_row,
            row: first_row,
            stamps: vec![NONE; plan.fields.len() + 2 + plan.columns.len()],
            spans: vec![(0, 0); plan.fields.len()],
            event: NONE,
            first_time: Time::MAX,
            last_time: Time::MIN,
            stamped: 0,
        }
    }

    /// Notes that something occurs in this row; `None` if it does for the second time.
    #[inline(always)]
    fn once(&mut self, what: usize) -> Option<()> {
        let row = self.row as u32;
        (std::mem::replace(&mut self.stamps[what], row) != row).then_some(())
    }
}

/// Reads a block of valid UTF-8 in which no line breaks a limit. `None`: ask the definition.
pub(super) fn read(plan: &Plan, learner: &mut Learner, block: &[u8]) -> Option<BlockBatch> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi1") {
        // SAFETY: what the function needs was detected.
        return unsafe { read_avx2(plan, learner, block) };
    }
    read_portable(plan, learner, block)
}

/// Reads a block with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
fn read_avx2(plan: &Plan, learner: &mut Learner, block: &[u8]) -> Option<BlockBatch> {
    read_with::<super::lanes::Avx2>(plan, learner, block)
}

/// Reads a block on any machine.
pub(super) fn read_portable(plan: &Plan, learner: &mut Learner, block: &[u8]) -> Option<BlockBatch> {
    read_with::<Portable>(plan, learner, block)
}

#[inline(always)]
fn read_with<L: Lanes>(plan: &Plan, learner: &mut Learner, block: &[u8]) -> Option<BlockBatch> {
    // The lines that have enough bytes after them are walked in place, the rest in a copy with padding.
    let within = block.len().saturating_sub(PADDING);
    let in_place = memchr::memrchr(b'\n', &block[..within]).map_or(0, |newline| newline + 1);
    let mut rest = block[in_place..].to_vec();
    if rest.last().is_some_and(|&last| last != b'\n') {
        rest.push(b'\n');
    }
    let rest_len = rest.len();
    rest.resize(rest_len + PADDING, 0);

    let stretches = split(&block[..in_place]);
    let mut rows = 0;
    let mut cursors: Vec<Cursor> = Vec::new();
    for (number, range) in stretches.into_iter().enumerate() {
        let lines = count_lines(&block[range.clone()]);
        cursors.push(Cursor::new(plan, number, range, rows));
        rows += lines;
    }
    let mut last = Cursor::new(plan, 0, 0..rest_len, rows);
    rows += count_lines(&rest[..rest_len]);
    let mut walk = Walk {
        plan,
        learner,
        columns: plan.columns.iter().map(|&expect| Cells::new(expect, rows)).collect(),
        times: vec![0; if plan.times { rows } else { 0 }],
        // SAFETY: every stretch ends with a newline at least `PADDING` bytes before the block's end.
        bytes: unsafe { Bytes::new(block) },
        day: times::Day::default(),
    };
    match <&mut [Cursor; CURSORS]>::try_from(cursors.as_mut_slice()) {
        Ok(cursors) => walk.take_turns::<L>(cursors)?,
        Err(_) => cursors.iter_mut().try_for_each(|cursor| walk.finish::<L>(cursor))?,
    }
    // SAFETY: the copy ends with a newline and `PADDING` bytes.
    walk.bytes = unsafe { Bytes::new(&rest) };
    walk.finish::<L>(&mut last)?;
    cursors.push(last);
    walk.batch(&cursors, rows as u64)
}

/// Stretches of whole lines, for every cursor one, or one for all.
fn split(bytes: &[u8]) -> Vec<Range<usize>> {
    if bytes.len() < CURSORS * STRETCH {
        return vec![0..bytes.len()];
    }
    let mut starts = vec![0];
    for number in 1..CURSORS {
        let from = (bytes.len() / CURSORS * number).max(starts[number - 1]);
        starts.push(memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |newline| from + newline + 1));
    }
    starts.push(bytes.len());
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn count_lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

impl Walk<'_> {
    /// Moves all cursors to their ends.
    #[inline(always)]
    fn take_turns<L: Lanes>(&mut self, cursors: &mut [Cursor; CURSORS]) -> Option<()> {
        if cursors.iter().all(|cursor| cursor.at < cursor.end) {
            'turns: loop {
                for cursor in cursors.iter_mut() {
                    if !self.step::<L>(cursor)? {
                        break 'turns;
                    }
                }
            }
        }
        cursors.iter_mut().try_for_each(|cursor| self.finish::<L>(cursor))
    }

    #[inline(never)]
    fn finish<L: Lanes>(&mut self, cursor: &mut Cursor) -> Option<()> {
        while cursor.at < cursor.end {
            self.step::<L>(cursor)?;
        }
        Some(())
    }

    /// Whether `lead` is at `at`.
    #[inline(always)]
    fn is_at<L: Lanes>(bytes: Bytes, lead: &Lead, at: usize) -> bool {
        let text = lead.text.as_ptr();
        // SAFETY: a lead has 64 bytes; `at` stands in the stretch, which has as many bytes after it.
        unsafe {
            !L::equal(text, bytes.pointer(at)) & lead.mask == 0
                && (lead.len <= 32
                    || bytes.slice(at + 32, at + lead.len as usize) == &lead.text[32..lead.len as usize])
        }
    }

    /// The lead at the cursor, which none of the expected ones is.
    #[inline(never)]
    fn unexpected<L: Lanes>(&mut self, cursor: &Cursor) -> Option<LeadId> {
        let ways = self.learner.leads[cursor.lead as usize].next;
        for way in 1..WAYS {
            let id = ways[way];
            if Self::is_at::<L>(self.bytes, &self.learner.leads[id as usize], cursor.at) {
                let previous = &mut self.learner.leads[cursor.lead as usize];
                previous.strikes += 1;
                if previous.strikes == 4 {
                    previous.strikes = 0;
                    previous.next.swap(way, way - 1);
                }
                return Some(id);
            }
        }
        let rest = self.bytes.slice(cursor.at, cursor.end);
        self.learner.parse(rest, cursor.lead, cursor.spare, self.plan)
    }

    /// Past one lead and the value after it; false at the end of the stretch.
    #[inline(always)]
    fn step<L: Lanes>(&mut self, cursor: &mut Cursor) -> Option<bool> {
        let bytes = self.bytes;
        // SAFETY: lead ids come from `Learner`, which never forgets a lead.
        let mut id = unsafe { self.learner.leads.get_unchecked(cursor.lead as usize).next[0] };
        // SAFETY: as above.
        let mut lead = unsafe { self.learner.leads.get_unchecked(id as usize) };
        if !Self::is_at::<L>(bytes, lead, cursor.at) {
            id = self.unexpected::<L>(cursor)?;
            lead = &self.learner.leads[id as usize];
        }
        let at = cursor.at + lead.len as usize;
        let (role, field, slot) = (lead.role, lead.field, lead.slot as usize);
        cursor.lead = id;
        cursor.at = match role {
            Role::Skip => scalar::value_end::<L>(bytes, at)?,
            Role::End => {
                if cursor.event != NONE {
                    self.match_patterns(cursor)?;
                    cursor.event = NONE;
                }
                cursor.row += 1;
                cursor.at = at;
                return Some(at < cursor.end);
            }
            Role::Blank => {
                cursor.at = at;
                return Some(at < cursor.end);
            }
            Role::Number => {
                cursor.once(field as usize)?;
                match bytes.byte(at) {
                    b'-' | b'0'..=b'9' => {
                        let number = scalar::number::<L>(bytes, at)?;
                        self.store_number(slot, cursor.row, at, number)?;
                        number.end
                    }
                    _ => self.store::<L>(slot, cursor.row, at)?,
                }
            }
            Role::Truth => {
                cursor.once(field as usize)?;
                // If it is a proposition, an event of its name does not count in this row.
                cursor.stamps[self.plan.fields.len() + 2 + slot] = cursor.row as u32;
                self.store::<L>(slot, cursor.row, at)?
            }
            Role::Text => {
                cursor.once(field as usize)?;
                self.store::<L>(slot, cursor.row, at)?
            }
            Role::Field => self.field::<L>(cursor, field, at)?,
            Role::Time => self.time::<L>(cursor, at)?,
            Role::Event => self.event::<L>(cursor, at)?,
        };
        Some(true)
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

    /// Stores the value at `at`, whatever it is; returns its end.
    #[inline(always)]
    fn store<L: Lanes>(&mut self, slot: usize, row: usize, at: usize) -> Option<usize> {
        let bytes = self.bytes;
        match bytes.byte(at) {
            b'"' => {
                let (end, escapes) = scalar::string_end::<L>(bytes, at + 1)?;
                if escapes {
                    let text = decode_text(bytes.slice(at, end))?;
                    self.columns[slot].set_text(row, text.as_bytes())?;
                } else {
                    self.columns[slot].set_text(row, bytes.slice(at + 1, end - 1))?;
                }
                Some(end)
            }
            b'-' | b'0'..=b'9' => {
                let number = scalar::number::<L>(bytes, at)?;
                match &self.columns[slot] {
                    Cells::Text(_) => store_long_number(&mut self.columns[slot], row, bytes.slice(at, number.end))?,
                    _ => self.store_number(slot, row, at, number)?,
                }
                Some(number.end)
            }
            b'{' | b'[' => {
                let end = scalar::value_end::<L>(bytes, at)?;
                self.columns[slot].set_value(row, &decode(bytes.slice(at, end))?)?;
                Some(end)
            }
            _ => {
                let (end, bool) = scalar::literal(bytes, at)?;
                match bool {
                    Some(bool) => self.columns[slot].set_bool(row, bool)?,
                    None => self.columns[slot].set_null(row),
                }
                Some(end)
            }
        }
    }

    /// Does what a field's actions ask for.
    #[inline(never)]
    fn field<L: Lanes>(&mut self, cursor: &mut Cursor, field: FieldId, at: usize) -> Option<usize> {
        cursor.once(field as usize)?;
        let plan = self.plan;
        let end = scalar::value_end::<L>(self.bytes, at)?;
        let mut decoded: Option<Value> = None;
        for action in &plan.fields[field as usize] {
            match action {
                Action::Store(slot) => {
                    // Found inside another key before, and stored: this key comes first, so what is there must go.
                    cursor.once(self.plan.fields.len() + 2 + slot)?;
                    self.store::<L>(*slot, cursor.row, at)?;
                }
                Action::Key(column) => self.store_key::<L>(*column, cursor.row, at, end)?,
                Action::Remember => cursor.spans[field as usize] = (at, end),
                Action::Inside { slot, path, whole } => {
                    if decoded.is_none() {
                        decoded = Some(decode(self.bytes.slice(at, end))?);
                    }
                    let value = decoded.as_ref()?;
                    if crate::formats::json_record::duplicate_in(value, &path.steps[1..]).is_some() {
                        return None;
                    }
                    if cursor.stamps[*whole as usize] == cursor.row as u32 {
                        continue;
                    }
                    let mut current = inside(value, &path.steps[1..]);
                    let column = &mut self.columns[*slot];
                    if path.has_each() {
                        column.set_value(cursor.row, &Value::List(current.into_iter().cloned().collect()))?;
                    } else if let Some(value) = current.pop() {
                        column.set_value(cursor.row, value)?;
                    } else {
                        continue;
                    }
                    cursor.stamps[self.plan.fields.len() + 2 + slot] = cursor.row as u32;
                    self.learner.inside[*slot] = true;
                }
            }
        }
        Some(end)
    }

    fn store_key<L: Lanes>(&mut self, column: usize, row: usize, at: usize, end: usize) -> Option<()> {
        let raw = self.bytes.slice(at, end);
        let column = &mut self.columns[column];
        let text = match raw.first()? {
            b'"' if !raw.contains(&b'\\') => {
                self.learner.key_seen = true;
                return if raw.len() == 2 { Some(()) } else { column.set_text(row, &raw[1..raw.len() - 1]) };
            }
            b'1'..=b'9' if raw.len() < 18 && raw.iter().all(u8::is_ascii_digit) => {
                self.learner.key_seen = true;
                return column.set_text(row, raw);
            }
            _ => match decode(raw)? {
                Value::Null => return Some(()),
                value => value.to_string(),
            },
        };
        self.learner.key_seen = true;
        if text.is_empty() { Some(()) } else { column.set_text(row, text.as_bytes()) }
    }

    #[inline(always)]
    fn time<L: Lanes>(&mut self, cursor: &mut Cursor, at: usize) -> Option<usize> {
        cursor.once(self.plan.fields.len())?;
        let bytes = self.bytes;
        let (end, time) = match bytes.byte(at) {
            b'0'..=b'9' => {
                let number = scalar::number::<L>(bytes, at)?;
                (number.end, times::number(self.plan, bytes, at, number)?)
            }
            b'"' => {
                let (end, escapes) = scalar::string_end::<L>(bytes, at + 1)?;
                let time = self.day.text(bytes, at + 1, end - 1).filter(|_| !escapes);
                (end, time.or_else(|| times::any(self.plan, bytes.slice(at, end)))?)
            }
            b'-' => {
                let end = scalar::value_end::<L>(bytes, at)?;
                (end, times::any(self.plan, bytes.slice(at, end))?)
            }
            _ => {
                let (end, bool) = scalar::literal(bytes, at)?;
                return if bool.is_none() { Some(end) } else { None };
            }
        };
        if time < cursor.last_time {
            return None;
        }
        if cursor.stamped == 0 {
            cursor.first_time = time;
        }
        cursor.stamped += 1;
        cursor.last_time = time;
        if let Some(cell) = self.times.get_mut(cursor.row) {
            *cell = time;
        }
        Some(end)
    }

    #[inline(always)]
    fn event<L: Lanes>(&mut self, cursor: &mut Cursor, at: usize) -> Option<usize> {
        cursor.once(self.plan.fields.len() + 1)?;
        let bytes = self.bytes;
        if bytes.byte(at) != b'"' {
            return scalar::literal(bytes, at).filter(|(_, bool)| bool.is_none()).map(|(end, _)| end);
        }
        let (end, escapes) = scalar::string_end::<L>(bytes, at + 1)?;
        let id = if escapes {
            self.learner.event(decode_text(bytes.slice(at, end))?.as_bytes())
        } else {
            self.learner.event(bytes.slice(at + 1, end - 1))
        };
        self.learner.has_events = true;
        if let Some(id) = id {
            let row = cursor.row;
            let event = &mut self.learner.events[id as usize];
            event.seen = true;
            for &slot in &event.plain {
                self.columns[slot].set_bool(row, true)?;
            }
            for &slot in &event.propositions {
                if cursor.stamps[self.plan.fields.len() + 2 + slot] != row as u32 {
                    self.columns[slot].set_bool(row, true)?;
                }
            }
            if event.patterns {
                cursor.event = id;
            }
        }
        Some(end)
    }

    /// At the end of a row whose event has patterns: which of them do its arguments match?
    #[inline(never)]
    fn match_patterns(&mut self, cursor: &Cursor) -> Option<()> {
        let name = &self.learner.events[cursor.event as usize].name;
        for (slot, pattern) in &self.plan.events.get(&**name)?.patterns {
            let mut all = true;
            for (field, constant) in pattern {
                let present = cursor.stamps[*field as usize] == cursor.row as u32;
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

    /// The batch, if the cursors' stretches fit together.
    fn batch(self, cursors: &[Cursor], lines: u64) -> Option<BlockBatch> {
        let mut time_range: Option<(Time, Time)> = None;
        let mut kept: Vec<Range<usize>> = Vec::new();
        for cursor in cursors {
            for (occurred, &stamp) in self.learner.occurred.iter_mut().zip(&cursor.stamps) {
                *occurred |= stamp != NONE;
            }
            let rows = cursor.row - cursor.first_row;
            if cursor.stamped != if self.plan.timed { rows } else { 0 } {
                return None;
            }
            match kept.last_mut() {
                Some(before) if before.end == cursor.first_row => before.end = cursor.row,
                _ => kept.push(cursor.first_row..cursor.row),
            }
            if cursor.stamped > 0 {
                let first = match time_range {
                    Some((_, last)) if last > cursor.first_time => return None,
                    Some((first, _)) => first,
                    None => cursor.first_time,
                };
                time_range = Some((first, cursor.last_time));
            }
        }
        let len = kept.iter().map(ExactSizeIterator::len).sum();
        self.learner.positions += len as u64;
        let slots = self.columns.into_iter().map(|cells| cells.finish(&kept)).collect();
        let times = self.plan.times.then(|| keep(self.times, &kept));
        Some(BlockBatch { batch: Batch { len, slots, times }, time_range, lines, open_from: None })
    }
}

/// Powers of ten that are exact as doubles (and as integers, as far as they are used as such).
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
];

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
                (PathStep::Field(name), Value::Object(fields)) => {
                    fields.iter().find(|(key, _)| **key == **name).map(|(_, value)| value).into_iter().collect()
                }
                (PathStep::Each, Value::List(items)) => items.iter().collect::<Vec<_>>(),
                _ => Vec::new(),
            })
            .collect();
    }
    current
}
