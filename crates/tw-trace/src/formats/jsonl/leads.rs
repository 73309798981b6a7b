//! What the walker has learned of a trace: its leads and its event names.
//!
//! A **lead** is the text between two values: from the end of one to the start of the next, such as `,"queue": `, or
//! from a row's last value to the next row, such as `}` and a newline. Traces repeat few of them, mostly in the same
//! order, so the walker compares the bytes with the lead that followed last time, and a comparison that succeeds has
//! validated separators, key and blanks at once.

use super::plan::{Action, FieldId, Plan};
use crate::Vocabulary;
use crate::formats::json_value::Parser;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use tw_ir::Expect;

/// Index in [`Learner::leads`].
pub(super) type LeadId = u32;

/// Longest text that is compared.
pub(super) const LEAD: usize = 64;
/// Leads that are remembered.
const LEADS: usize = 1 << 14;
/// Names that are remembered for "did you mean", as in [`crate::Vocabulary`].
const NAMES: usize = 4096;
/// Event names that are remembered by the walker.
const EVENTS: usize = 1 << 16;
/// Successors that are tried.
pub(super) const WAYS: usize = 4;
/// The lead before the first row.
pub(super) const START: LeadId = 0;

/// What comes after a lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// A value nobody asked for.
    Skip,
    /// The next row.
    End,
    /// A line that was blank, then the next row.
    Blank,
    /// The timestamp.
    Time,
    /// The event's name.
    Event,
    /// The value of a field that one slot uses as a number and nobody else.
    Number,
    /// The value of a field that one slot uses as a truth value and nobody else.
    Truth,
    /// The value of a field that one slot uses as text and nobody else.
    Text,
    /// The value of a field.
    Field,
}

/// A lead.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Lead {
    pub(super) text: [u8; LEAD],
    /// Of the text.
    pub(super) len: u32,
    /// The bits of the first 32 bytes that count.
    pub(super) mask: u32,
    pub(super) role: Role,
    /// Successors tried in vain before the first, since they were last put in order.
    pub(super) strikes: u8,
    pub(super) field: FieldId,
    /// The slot of `Number`, `Truth`, `Text`.
    pub(super) slot: u32,
    pub(super) next: [LeadId; WAYS],
}

/// An event name.
pub(super) struct EventName {
    pub(super) name: Arc<str>,
    /// It happened (names that are asked for are there from the start).
    pub(super) seen: bool,
    pub(super) propositions: Vec<usize>,
    pub(super) plain: Vec<usize>,
    pub(super) patterns: bool,
}

/// What was learned.
pub(super) struct Learner {
    pub(super) leads: Vec<Lead>,
    by_text: FxHashMap<Box<[u8]>, LeadId>,
    pub(super) events: Vec<EventName>,
    by_event: FxHashMap<Arc<str>, u32>,
    /// Names of keys (some).
    pub(super) names: BTreeSet<Arc<str>>,
    /// For each slot: a value was found inside a key (`a.b` in `a`).
    pub(super) inside: Vec<bool>,
    pub(super) key_seen: bool,
    /// For each field: it occurred.
    pub(super) occurred: Vec<bool>,
    pub(super) has_events: bool,
    pub(super) positions: u64,
}

impl Learner {
    /// Nothing learned yet; `cursors` walk at the same time.
    pub(super) fn new(plan: &Plan, cursors: usize) -> Self {
        let mut learner = Self {
            leads: Vec::new(),
            by_text: FxHashMap::default(),
            events: Vec::new(),
            by_event: FxHashMap::default(),
            names: BTreeSet::new(),
            inside: vec![false; plan.columns.len()],
            key_seen: false,
            occurred: vec![false; plan.fields.len()],
            has_events: false,
            positions: 0,
        };
        // The start, and one lead for each cursor to use when no more are remembered.
        for _ in 0..=cursors {
            learner.leads.push(Lead::new(b"", Role::End));
        }
        for (name, event) in &plan.events {
            let name: Arc<str> = name.as_str().into();
            learner.by_event.insert(name.clone(), learner.events.len() as u32);
            learner.events.push(EventName {
                name,
                seen: false,
                propositions: event.propositions.clone(),
                plain: event.plain.clone(),
                patterns: !event.patterns.is_empty(),
            });
        }
        learner
    }

    /// The event called `name`; `None` when it is new, nobody asked for it, and no more are remembered.
    pub(super) fn event(&mut self, name: &[u8]) -> Option<u32> {
        let name = std::str::from_utf8(name).ok()?;
        if let Some(&id) = self.by_event.get(name) {
            return Some(id);
        }
        if self.events.len() >= EVENTS {
            return None;
        }
        let (name, id): (Arc<str>, _) = (name.into(), self.events.len() as u32);
        self.by_event.insert(name.clone(), id);
        self.events.push(EventName { name, seen: false, propositions: vec![], plain: vec![], patterns: false });
        Some(id)
    }

    /// The lead at the start of `rest` (which holds a newline), parsed; `None` if there is none. `spare` is the lead to
    /// use when no more are remembered.
    #[inline(never)]
    pub(super) fn parse(&mut self, rest: &[u8], previous: LeadId, spare: LeadId, plan: &Plan) -> Option<LeadId> {
        let row_start = matches!(self.leads[previous as usize].role, Role::End | Role::Blank);
        let (len, key) = extent(rest, row_start)?;
        let text = &rest[..len];
        if let Some(&id) = self.by_text.get(text) {
            self.follow(previous, id);
            return Some(id);
        }
        let mut lead = match key {
            Extent::End => Lead::new(text, Role::End),
            Extent::Blank => Lead::new(text, Role::Blank),
            Extent::Key(from, to) => {
                let raw = std::str::from_utf8(&rest[from..to]).ok()?;
                let name = Parser::new(raw, "").string("").ok()?;
                self.key(text, &name, plan)
            }
        };
        if self.leads.len() < LEADS && text.len() <= LEAD {
            let id = self.leads.len() as LeadId;
            self.leads.push(lead);
            self.by_text.insert(text.into(), id);
            self.follow(previous, id);
            Some(id)
        } else {
            lead.len = len as u32;
            self.leads[spare as usize] = lead;
            Some(spare)
        }
    }

    fn key(&mut self, text: &[u8], name: &str, plan: &Plan) -> Lead {
        if name == plan.keys.time {
            return Lead::new(text, Role::Time);
        }
        if name == plan.keys.event {
            return Lead::new(text, Role::Event);
        }
        if self.names.len() < NAMES && !self.names.contains(name) {
            self.names.insert(name.into());
        }
        let Some(&field) = plan.by_name.get(name) else { return Lead::new(text, Role::Skip) };
        let mut lead = Lead::new(text, Role::Field);
        lead.field = field;
        if let [Action::Store(slot)] = plan.fields[field as usize].as_slice()
            && !plan.nested[*slot]
        {
            lead.slot = *slot as u32;
            lead.role = match plan.columns[*slot] {
                Expect::Number | Expect::Int => Role::Number,
                Expect::Text => Role::Text,
                Expect::Bool => Role::Truth,
                Expect::Any => Role::Field,
            };
        }
        lead
    }

    /// What was seen, as the definition would have noted it.
    pub(super) fn vocabulary(&self, plan: &Plan) -> Vocabulary {
        let mut vocabulary = Vocabulary::new(plan.nested.len());
        for (actions, _) in plan.fields.iter().zip(&self.occurred).filter(|(_, occurred)| **occurred) {
            for action in actions {
                if let Action::Store(slot) = action {
                    vocabulary.variable[*slot] = true;
                }
            }
        }
        for (variable, inside) in vocabulary.variable.iter_mut().zip(&self.inside) {
            *variable |= inside;
        }
        for event in self.events.iter().filter(|event| event.seen) {
            if let Some(planned) = plan.events.get(&*event.name) {
                let patterns = planned.patterns.iter().map(|(slot, _)| slot);
                for &slot in planned.plain.iter().chain(&planned.propositions).chain(patterns) {
                    vocabulary.event[slot] = true;
                }
            }
            if vocabulary.events.len() < NAMES {
                vocabulary.events.insert(event.name.clone());
            }
        }
        vocabulary.variables = self.names.clone();
        vocabulary.key = self.key_seen;
        vocabulary.has_events = self.has_events;
        vocabulary.positions = self.positions;
        vocabulary
    }

    /// Notes that `id` followed `previous`.
    fn follow(&mut self, previous: LeadId, id: LeadId) {
        let next = &mut self.leads[previous as usize].next;
        let free = next.iter().position(|&known| known == START).unwrap_or(WAYS - 1);
        next[free] = id;
    }
}

impl Lead {
    fn new(text: &[u8], role: Role) -> Self {
        let mut lead = Self {
            text: [0; LEAD],
            len: text.len() as u32,
            mask: if text.len() >= 32 { u32::MAX } else { (1 << text.len()) - 1 },
            role,
            strikes: 0,
            field: 0,
            slot: 0,
            next: [START; WAYS],
        };
        if text.is_empty() {
            // The start comes after nothing, and this byte occurs in no UTF-8 text.
            (lead.text[0], lead.mask) = (0xFF, 1);
        } else if text.len() <= LEAD {
            lead.text[..text.len()].copy_from_slice(text);
        }
        lead
    }
}

enum Extent {
    End,
    Blank,
    /// The key, quotes included, from and to here.
    Key(usize, usize),
}

/// How far the lead at the start of `rest` reaches.
fn extent(rest: &[u8], row_start: bool) -> Option<(usize, Extent)> {
    let blank = |mut at: usize| {
        while matches!(rest.get(at), Some(b' ' | b'\t' | b'\r')) {
            at += 1;
        }
        at
    };
    let end = |at: usize| {
        let at = blank(at);
        (rest.get(at) == Some(&b'\n')).then_some((at + 1, Extent::End))
    };
    let mut at = blank(0);
    match rest.get(at)? {
        b'\n' if row_start => return Some((at + 1, Extent::Blank)),
        b'{' if row_start => {
            at = blank(at + 1);
            if rest.get(at) == Some(&b'}') {
                return end(at + 1);
            }
        }
        b',' if !row_start => at = blank(at + 1),
        b'}' if !row_start => return end(at + 1),
        _ => return None,
    }
    if rest.get(at) != Some(&b'"') {
        return None;
    }
    let key = at;
    at += 1;
    loop {
        match rest.get(at)? {
            b'"' => break,
            b'\\' => at += 2,
            0..0x20 => return None,
            _ => at += 1,
        }
    }
    let key_end = at + 1;
    at = blank(key_end);
    if rest.get(at) != Some(&b':') {
        return None;
    }
    Some((blank(at + 1), Extent::Key(key, key_end)))
}
