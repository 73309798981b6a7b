//! The walker: from lead to value to lead, several stretches of a block at a time.
//!
//! One cursor mostly waits: where a value ends decides where the next lead is compared. Several cursors, each in its own
//! stretch of whole lines, take turns field by field and wait together. Whatever a cursor cannot take (`None`), the
//! definition reads the block instead and says what is wrong, if anything is.

mod values;

use super::columns::{Cells, keep};
use super::lanes::{Lanes, Portable, Work};
use super::leads::{ENDS, ENTERS, LONG, Lead, LeadId, Learner, Role, START, WAYS, stamp};
use super::plan::Plan;
use super::scalar::{self, Bytes, PADDING};
use super::times;
use crate::BlockBatch;
use std::ops::Range;
use tw_core::{Batch, Time};

/// Cursors that take turns.
pub(super) const CURSORS: usize = 4;
/// Bytes per cursor below which taking turns does not pay; tests take turns in any case.
const STRETCH: usize = if cfg!(test) { 16 } else { 4096 };
/// No row yet, no event.
const NONE: u32 = u32::MAX;
/// No timestamp yet.
const UNSTAMPED: Time = Time::MIN;

/// What came of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// On to the next.
    On,
    /// The stretch ended.
    Done,
    /// Ask the definition.
    Lost,
}

struct Walk<'p> {
    plan: &'p Plan,
    learner: &'p mut Learner,
    /// `learner.leads`, which moves when it grows.
    leads: *const Lead,
    columns: Vec<Cells>,
    /// Timestamps, if the trace has them.
    times: Vec<Time>,
    /// The event of each row, if slots ask for any.
    events: Vec<u32>,
    bytes: Bytes,
    day: times::Day,
}

struct Cursor {
    at: usize,
    end: usize,
    /// The lead it came past last.
    lead: LeadId,
    /// The row's event so far, which tells what comes next.
    context: u32,
    row: usize,
    /// The row's event, if it has patterns to be matched.
    pattern: u32,
    /// The lead to use when no more are remembered.
    spare: LeadId,
    first_row: usize,
    /// The row each key was seen in last, by [`stamp`]; after those, each slot whose value was found inside a key.
    stamps: Vec<u32>,
    /// Where the arguments of events are.
    spans: Vec<(usize, usize)>,
}

impl Cursor {
    fn new(plan: &Plan, number: usize, range: Range<usize>, first_row: usize) -> Self {
        Self {
            at: range.start,
            end: range.end,
            lead: START,
            context: 0,
            row: first_row,
            pattern: NONE,
            spare: 1 + number as LeadId,
            first_row,
            stamps: vec![NONE; plan.fields.len() + 2 + plan.slots],
            spans: vec![(0, 0); plan.fields.len()],
        }
    }

    /// Notes that something occurs in this row; `None` if it does for the second time.
    #[inline(always)]
    fn once(&mut self, what: u32) -> Option<()> {
        let row = self.row as u32;
        (std::mem::replace(&mut self.stamps[what as usize], row) != row).then_some(())
    }
}

/// Reads a block of valid UTF-8 in which no line breaks a limit. `None`: ask the definition.
pub(super) fn read(plan: &Plan, learner: &mut Learner, block: &[u8]) -> Option<BlockBatch> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
    {
        // SAFETY: what the function needs was detected.
        return unsafe { read_avx2(plan, learner, block) };
    }
    read_portable(plan, learner, block)
}

/// Reads a block with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
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

    let mut rows = 0;
    let mut cursors: Vec<Cursor> = Vec::new();
    for (number, range) in split(&block[..in_place]).into_iter().enumerate() {
        let lines = count_lines(&block[range.clone()]);
        cursors.push(Cursor::new(plan, number, range, rows));
        rows += lines;
    }
    let mut last = Cursor::new(plan, 0, 0..rest_len, rows);
    rows += count_lines(&rest[..rest_len]);
    let mut walk = Walk {
        plan,
        leads: learner.leads.as_ptr(),
        learner,
        columns: plan.columns.iter().map(|&expect| Cells::new(expect, rows)).collect(),
        times: vec![UNSTAMPED; if plan.timed { rows } else { 0 }],
        events: vec![NONE; if plan.events.is_empty() { 0 } else { rows }],
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

/// Stretches of whole lines: one for every cursor, or one for all that is there.
fn split(bytes: &[u8]) -> Vec<Range<usize>> {
    let stretches = if bytes.len() < CURSORS * STRETCH { 1 } else { CURSORS };
    let mut starts = vec![0];
    for number in 1..stretches {
        let from = (bytes.len() / stretches * number).max(starts[number - 1]);
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
            let [a, b, c, d] = &mut *cursors;
            'turns: loop {
                macro_rules! turn {
                    ($cursor:expr) => {
                        match self.step::<L>($cursor) {
                            Step::On => {}
                            Step::Done => break 'turns,
                            Step::Lost => return None,
                        }
                    };
                }
                turn!(a);
                turn!(b);
                turn!(c);
                turn!(d);
            }
        }
        cursors.iter_mut().try_for_each(|cursor| self.finish::<L>(cursor))
    }

    /// Moves a cursor to its end.
    fn finish<L: Lanes>(&mut self, cursor: &mut Cursor) -> Option<()> {
        // SAFETY: `L` is in use, so the machine has what it needs.
        unsafe { L::outlined(Finish(self, cursor)) }
    }

    /// Whether `lead` is at `at`.
    #[inline(always)]
    fn is_at<L: Lanes>(bytes: Bytes, lead: &Lead, at: usize) -> bool {
        // SAFETY: a lead has 64 bytes; `at` stands in the stretch, which has as many bytes after it.
        let start = unsafe { !L::equal(lead.text.as_ptr(), bytes.pointer(at)) & lead.mask == 0 };
        start && (lead.flags & LONG == 0 || Self::goes_on(bytes, lead, at))
    }

    /// Whether what is longer than 32 bytes of `lead` is at `at`.
    fn goes_on(bytes: Bytes, lead: &Lead, at: usize) -> bool {
        let len = lead.len as usize;
        bytes.slice(at + 32, at + len) == &lead.text[32..len]
    }

    /// The lead at the cursor, which the expected one is not.
    #[inline(always)]
    fn find<L: Lanes>(&mut self, cursor: &Cursor) -> Option<LeadId> {
        let ways = self.learner.leads[cursor.lead as usize].next;
        for (way, id) in ways.into_iter().enumerate() {
            let known = ways[..way].contains(&id);
            if !known && Self::is_at::<L>(self.bytes, &self.learner.leads[id as usize], cursor.at) {
                self.learner.follow(cursor.lead, cursor.context, id);
                self.leads = self.learner.leads.as_ptr();
                return Some(id);
            }
        }
        self.parse(cursor)
    }

    fn parse(&mut self, cursor: &Cursor) -> Option<LeadId> {
        let rest = self.bytes.slice(cursor.at, cursor.end);
        let id = self.learner.parse(rest, cursor.lead, cursor.context, cursor.spare, self.plan);
        self.leads = self.learner.leads.as_ptr();
        id
    }

    /// Past one lead and the value after it.
    #[inline(always)]
    fn step<L: Lanes>(&mut self, cursor: &mut Cursor) -> Step {
        // SAFETY: lead ids come from `Learner`, which never forgets a lead, and `leads` is kept up to date.
        let id = unsafe { (*self.leads.add(cursor.lead as usize)).next[cursor.context as usize % WAYS] };
        // SAFETY: as above.
        let lead = unsafe { &*self.leads.add(id as usize) };
        // SAFETY: a lead has 64 bytes; the cursor stands in the stretch, which has as many bytes after it.
        let equal = unsafe { L::equal(lead.text.as_ptr(), self.bytes.pointer(cursor.at)) };
        if !equal & lead.mask != 0 || lead.flags & LONG != 0 && !Self::goes_on(self.bytes, lead, cursor.at) {
            // SAFETY: `L` is in use, so the machine has what it needs.
            return unsafe { L::outlined(Unexpected(self, cursor)) };
        }
        self.pass::<L>(cursor, id)
    }

    /// Past the lead `id`, which is there, and the value after it.
    #[inline(always)]
    fn pass<L: Lanes>(&mut self, cursor: &mut Cursor, id: LeadId) -> Step {
        let bytes = self.bytes;
        // SAFETY: as in `step`. The reference is not used after anything is learned.
        let lead = unsafe { &*self.leads.add(id as usize) };
        let at = cursor.at + lead.len as usize;
        let (role, stamp, slot) = (lead.role, lead.stamp, lead.slot as usize);
        let first = bytes.byte(at);
        if lead.flags & (ENTERS | ENDS) != 0 {
            if (first <= b' ') & (role != Role::End) {
                // SAFETY: `L` is in use, so the machine has what it needs.
                return unsafe { L::outlined(Longer(self, cursor, id)) };
            }
            let next = cursor.at + lead.row_end as usize;
            if self.cross(cursor, id).is_none() {
                return Step::Lost;
            }
            if next >= cursor.end {
                cursor.at = next;
                return Step::Done;
            }
        }
        // Takes the end of the value, or asks what is wrong with it.
        macro_rules! take {
            ($end:expr) => {
                match $end {
                    Some(end) => {
                        cursor.lead = id;
                        cursor.at = end;
                        Step::On
                    }
                    None => Step::Lost,
                }
            };
        }
        match role {
            Role::Skip => match first {
                b'"' => take!(scalar::string_end::<L>(bytes, at + 1).map(|(end, _)| end)),
                b'-' | b'0'..=b'9' => take!(scalar::number::<L>(bytes, at, first).map(|number| number.end)),
                b'f' | b'n' | b't' => take!(scalar::literal(bytes, at, first).map(|(end, _)| end)),
                // SAFETY: `L` is in use, so the machine has what it needs.
                _ => unsafe { L::outlined(Other(self, cursor, id, first)) },
            },
            Role::End => {
                cursor.lead = id;
                cursor.at = at;
                if at < cursor.end { Step::On } else { Step::Done }
            }
            Role::Number if matches!(first, b'-' | b'0'..=b'9') => {
                take!(self.number::<L>(cursor, stamp, slot, at, first))
            }
            Role::Truth if matches!(first, b'f' | b'n' | b't') => {
                take!(self.truth(cursor, stamp, slot, at, first))
            }
            Role::Text if first == b'"' => take!(self.text::<L>(cursor, stamp, slot, at)),
            Role::Key if first == b'"' => {
                self.learner.key_seen = true;
                // Empty text is null, as in other formats.
                if bytes.byte(at + 1) == b'"' {
                    take!(cursor.once(stamp).map(|()| at + 2))
                } else {
                    take!(self.text::<L>(cursor, stamp, slot, at))
                }
            }
            Role::Time if first > b' ' => take!(self.time::<L>(cursor, at, first)),
            Role::Event if first > b' ' => take!(self.event::<L>(cursor, at, first)),
            // SAFETY: `L` is in use, so the machine has what it needs.
            _ => unsafe { L::outlined(Other(self, cursor, id, first)) },
        }
    }

    /// At a value that is rarer, or after a lead that goes on.
    #[inline(always)]
    fn other<L: Lanes>(&mut self, cursor: &mut Cursor, id: LeadId, first: u8) -> Step {
        let lead = &self.learner.leads[id as usize];
        let (role, stamp, at) = (lead.role, lead.stamp, cursor.at + lead.len as usize);
        if first <= b' ' || role == Role::Hollow && first == b'{' {
            // SAFETY: `L` is in use, so the machine has what it needs.
            return unsafe { L::outlined(Longer(self, cursor, id)) };
        }
        cursor.lead = id;
        let end = match role {
            Role::Skip => scalar::value_end::<L>(self.bytes, at, || self.learner.depth(id)),
            Role::Hollow => cursor
                .once(stamp)
                .and_then(|()| scalar::value_end::<L>(self.bytes, at, || self.learner.depth(id))),
            _ => self.field::<L>(cursor, stamp - self::stamp(0), at),
        };
        match end {
            Some(end) => {
                cursor.at = end;
                Step::On
            }
            None => Step::Lost,
        }
    }

    /// Does what a lead asks for that enters objects or ends a row.
    #[inline(always)]
    fn cross(&mut self, cursor: &mut Cursor, id: LeadId) -> Option<()> {
        // SAFETY: as in `step`.
        let lead = unsafe { &*self.leads.add(id as usize) };
        let (flags, role) = (lead.flags, lead.role);
        if flags & ENTERS != 0 && role == Role::End {
            self.enter(cursor, id)?;
        }
        if flags & ENDS != 0 {
            if cursor.pattern != NONE {
                self.match_patterns(cursor)?;
                cursor.pattern = NONE;
            }
            cursor.row += 1;
            cursor.context = 0;
        }
        if flags & ENTERS != 0 && role != Role::End {
            self.enter(cursor, id)?;
        }
        Some(())
    }

    /// Notes the objects that a lead enters.
    #[inline(never)]
    fn enter(&mut self, cursor: &mut Cursor, id: LeadId) -> Option<()> {
        self.learner.entered.get(&id)?.iter().try_for_each(|&stamp| cursor.once(stamp))
    }

    /// Makes true what the events of the rows make true.
    fn apply_events(&mut self, cursors: &[Cursor]) -> Option<()> {
        for (name, event) in &self.plan.events {
            let Some(id) = self.learner.happened(name) else { continue };
            for (slot, field) in &event.propositions {
                // Where a name is a variable and an event, a row with both is a matter of which comes first: not here.
                let inside = stamp((self.plan.fields.len() + slot) as u32);
                let found = |stamp: u32| cursors.iter().any(|cursor| cursor.stamps[stamp as usize] != NONE);
                if found(stamp(*field)) || found(inside) {
                    return None;
                }
            }
            for &slot in event.plain.iter().chain(event.propositions.iter().map(|(slot, _)| slot)) {
                let Cells::Truth(cells) = &mut self.columns[slot] else { return None };
                for (cell, &event) in cells.iter_mut().zip(&self.events) {
                    *cell |= u8::from(event == id);
                }
            }
        }
        Some(())
    }

    /// The batch, if the cursors' stretches fit together.
    fn batch(mut self, cursors: &[Cursor], lines: u64) -> Option<BlockBatch> {
        self.apply_events(cursors)?;
        let mut kept: Vec<Range<usize>> = Vec::new();
        for cursor in cursors {
            for (occurred, &stamp) in self.learner.occurred.iter_mut().zip(&cursor.stamps[2..]) {
                *occurred |= stamp != NONE;
            }
            match kept.last_mut() {
                Some(before) if before.end == cursor.first_row => before.end = cursor.row,
                // One that ran into the rows of the next has found a record that is none.
                Some(before) if before.end > cursor.first_row => return None,
                _ => kept.push(cursor.first_row..cursor.row),
            }
        }
        let len = kept.iter().map(ExactSizeIterator::len).sum();
        let times = if self.plan.timed { keep(self.times, &kept) } else { Vec::new() };
        let disorder =
            times.iter().zip(times.iter().skip(1)).fold(false, |disorder, (a, b)| disorder | (a > b));
        if (disorder && !self.plan.any_order) || times.contains(&UNSTAMPED) {
            return None;
        }
        self.learner.positions += len as u64;
        Some(BlockBatch {
            time_range: times.first().copied().zip(times.last().copied()),
            batch: Batch {
                len,
                slots: self.columns.into_iter().map(|cells| cells.finish(&kept)).collect(),
                times: self.plan.times.then_some(times),
            },
            lines,
            ..BlockBatch::default()
        })
    }
}

/// [`Walk::finish`].
struct Finish<'w, 'p>(&'w mut Walk<'p>, &'w mut Cursor);

impl Work for Finish<'_, '_> {
    type Result = Option<()>;

    #[inline(always)]
    fn work<L: Lanes>(self) -> Self::Result {
        while self.1.at < self.1.end {
            if self.0.step::<L>(self.1) == Step::Lost {
                return None;
            }
        }
        Some(())
    }
}

/// A step past a lead that was not expected.
struct Unexpected<'w, 'p>(&'w mut Walk<'p>, &'w mut Cursor);

impl Work for Unexpected<'_, '_> {
    type Result = Step;

    #[inline(always)]
    fn work<L: Lanes>(self) -> Self::Result {
        match self.0.find::<L>(self.1) {
            Some(id) => self.0.pass::<L>(self.1, id),
            None => Step::Lost,
        }
    }
}

/// A step past a lead that goes on after the one that was expected.
struct Longer<'w, 'p>(&'w mut Walk<'p>, &'w mut Cursor, LeadId);

impl Work for Longer<'_, '_> {
    type Result = Step;

    #[inline(always)]
    fn work<L: Lanes>(self) -> Self::Result {
        let Longer(walk, cursor, known) = self;
        match walk.parse(cursor) {
            // Nothing is gained by a lead that is not longer.
            Some(id) if walk.learner.leads[id as usize].len > walk.learner.leads[known as usize].len => {
                walk.pass::<L>(cursor, id)
            }
            _ => Step::Lost,
        }
    }
}

/// [`Walk::other`].
struct Other<'w, 'p>(&'w mut Walk<'p>, &'w mut Cursor, LeadId, u8);

impl Work for Other<'_, '_> {
    type Result = Step;

    #[inline(always)]
    fn work<L: Lanes>(self) -> Self::Result {
        self.0.other::<L>(self.1, self.2, self.3)
    }
}
