//! What the walker has learned of a trace: its leads and its event names.
//!
//! A **lead** is the text between two values: from the end of one to the start of the next, such as `,"queue": ` or
//! `},"level":` or a row's last brace, the newline and the next row's first key. Traces repeat few of them, mostly in
//! the same order, so the walker compares the bytes with the lead that followed last time (after an event of the same
//! name), and a comparison that succeeds has validated separators, braces, keys and blanks at once.
//!
//! Objects that nobody asked for are entered as well, since their keys repeat as much as the others; lists are not.

use super::names::Names;
use super::plan::{Action, Child, FieldId, NodeId, Plan, ROOT};
use crate::Vocabulary;
use crate::formats::json_value::Parser;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use tw_ir::Expect;

/// Index in [`Learner::leads`].
pub(super) type LeadId = u32;
/// Index in [`Learner::states`].
pub(super) type StateId = u32;

/// Longest text that is compared.
pub(super) const LEAD: usize = 64;
/// Leads that are remembered.
const LEADS: usize = 1 << 14;
/// Names that are remembered for "did you mean", as in [`Vocabulary`].
const NAMES: usize = 4096;
/// Event names that are remembered by the walker.
const EVENTS: usize = 1 << 16;
/// Successors that are remembered for each lead, by the event of the row.
pub(super) const WAYS: usize = 8;
/// The lead before the first row.
pub(super) const START: LeadId = 0;
/// Objects entered key by key, one inside the other.
const ENTERED: u32 = 20;

/// Before a row.
const BEFORE: StateId = 0;
/// In the object that is the row.
const ROW: StateId = 1;

/// What comes after a lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// A value nobody asked for.
    Skip,
    /// A value that matters only if it is an object, which it is not.
    Hollow,
    /// The next row, which starts with a lead of its own; or a line that was blank.
    End,
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
    /// The value of a field that is the `--by` key and nothing else.
    Key,
    /// The value of a field.
    Field,
}

/// A lead.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Lead {
    pub(super) text: [u8; LEAD],
    /// Of the text.
    pub(super) len: u32,
    /// The bits of the first 32 bytes that count.
    pub(super) mask: u32,
    pub(super) role: Role,
    /// [`LONG`], [`ENTERS`], [`ENDS`].
    pub(super) flags: u8,
    /// One past the newline, if a row ends in it; else 0.
    pub(super) row_end: u32,
    /// Whose stamp the value sets: see [`stamp`].
    pub(super) stamp: u32,
    /// The column of `Number`, `Truth`, `Text`, `Key`.
    pub(super) slot: u32,
    /// Where the walker is after it.
    pub(super) state: StateId,
    pub(super) next: [LeadId; WAYS],
}

/// The text is longer than 32 bytes, so that more has to be compared.
pub(super) const LONG: u8 = 1;
/// A lead enters objects that the plan follows, which may occur only once: in the row that ends if the role is `End`,
/// else in the row that the value is in.
pub(super) const ENTERS: u8 = 2;
/// A row ends in it.
pub(super) const ENDS: u8 = 4;

/// Stamp of the timestamp.
pub(super) const TIME: u32 = 0;
/// Stamp of the event.
pub(super) const EVENT: u32 = 1;

/// Stamp of a field.
pub(super) fn stamp(field: FieldId) -> u32 {
    field + 2
}

/// Which objects are open.
struct State {
    parent: StateId,
    /// How many.
    depth: u32,
    /// What the plan says about the innermost.
    node: Option<NodeId>,
    by_text: FxHashMap<Box<[u8]>, LeadId>,
}

/// An event name.
pub(super) struct EventName {
    pub(super) name: Arc<str>,
    /// It happened (names that are asked for are there from the start).
    pub(super) seen: bool,
    /// Slots ask for it with arguments.
    pub(super) patterns: bool,
}

/// What was learned.
pub(super) struct Learner {
    pub(super) leads: Vec<Lead>,
    /// Stamps set by leads that enter objects.
    pub(super) entered: FxHashMap<LeadId, Vec<u32>>,
    states: Vec<State>,
    by_state: FxHashMap<(StateId, Option<NodeId>), StateId>,
    spares: u32,
    pub(super) events: Vec<EventName>,
    by_event: FxHashMap<Arc<str>, u32>,
    pub(super) event_names: Names,
    /// Names of keys (some).
    names: BTreeSet<Arc<str>>,
    /// For each slot: a value was found by decoding another key's.
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
        let state = |parent, depth, node| State { parent, depth, node, by_text: FxHashMap::default() };
        let mut learner = Self {
            leads: Vec::new(),
            entered: FxHashMap::default(),
            states: vec![state(BEFORE, 0, None), state(BEFORE, 1, Some(ROOT))],
            by_state: FxHashMap::default(),
            spares: cursors as u32,
            events: Vec::new(),
            by_event: FxHashMap::default(),
            event_names: Names::new(),
            names: BTreeSet::new(),
            inside: vec![false; plan.columns.len()],
            key_seen: false,
            occurred: vec![false; plan.fields.len()],
            has_events: false,
            positions: 0,
        };
        // The start, and one lead for each cursor to use when no more are remembered.
        for _ in 0..=cursors {
            learner.leads.push(Draft::new(Role::End, 0, BEFORE).lead(b""));
        }
        for (name, event) in &plan.events {
            let name: Arc<str> = name.as_str().into();
            learner.by_event.insert(name.clone(), learner.events.len() as u32);
            learner.events.push(EventName { name, seen: false, patterns: !event.patterns.is_empty() });
        }
        learner
    }

    /// The id of an event's name, if it happened.
    pub(super) fn happened(&self, name: &str) -> Option<u32> {
        self.by_event.get(name).copied().filter(|&id| self.events[id as usize].seen)
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
        self.events.push(EventName { name, seen: false, patterns: false });
        Some(id)
    }

    /// Containers that are open after a lead, the row included.
    pub(super) fn depth(&self, lead: LeadId) -> usize {
        self.states[self.leads[lead as usize].state as usize].depth as usize
    }

    /// Whether a lead is one of those for texts that are not remembered.
    fn is_spare(&self, lead: LeadId) -> bool {
        (1..=self.spares).contains(&lead)
    }

    /// The lead at the start of `rest` (the rest of the stretch), parsed; `None` if there is none. It came after
    /// `previous`, in a row of the event `context`; `spare` is the lead to use when no more are remembered.
    #[inline(never)]
    pub(super) fn parse(
        &mut self,
        rest: &[u8],
        previous: LeadId,
        context: u32,
        spare: LeadId,
        plan: &Plan,
    ) -> Option<LeadId> {
        let state = self.leads[previous as usize].state;
        let draft = self.draft(rest, state, plan)?;
        let draft_len = draft.len;
        let text = &rest[..draft_len];
        let id = match self.states[state as usize].by_text.get(text) {
            Some(&id) => id,
            None => {
                let mut lead = draft.lead(text);
                let id = if self.leads.len() < LEADS && text.len() <= LEAD {
                    let id = self.leads.len() as LeadId;
                    self.leads.push(lead);
                    self.states[state as usize].by_text.insert(text.into(), id);
                    id
                } else {
                    lead.len = text.len() as u32;
                    self.leads[spare as usize] = lead;
                    spare
                };
                self.entered.remove(&id);
                if !draft.entered.is_empty() {
                    self.entered.insert(id, draft.entered);
                }
                id
            }
        };
        // What a spare lead stands for changes, and so does what may follow it. The end of the stretch is not what comes
        // next time.
        if !self.is_spare(previous) && !self.is_spare(id) && draft_len < rest.len() {
            self.follow(previous, context, id);
        }
        Some(id)
    }

    /// Notes that `id` followed `previous` in a row of the event `context`.
    pub(super) fn follow(&mut self, previous: LeadId, context: u32, id: LeadId) {
        let next = &mut self.leads[previous as usize].next;
        next[context as usize % WAYS] = id;
        // Where nothing is known, anything is a better guess.
        next.iter_mut().filter(|known| **known == START).for_each(|known| *known = id);
    }

    /// How far the lead at the start of `rest` reaches, and what follows it.
    fn draft(&mut self, rest: &[u8], mut state: StateId, plan: &Plan) -> Option<Draft> {
        let blank = |mut at: usize| {
            while matches!(rest.get(at), Some(b' ' | b'\t' | b'\r')) {
                at += 1;
            }
            at
        };
        // A shorter lead to be content with.
        let mut shorter: Option<Draft> = None;
        let mut row_end = 0;
        let mut entered = Vec::new();
        let mut at = 0;
        let longest = loop {
            // Between values: to the next key, through braces and newlines.
            at = blank(at);
            match (rest.get(at), state) {
                (Some(b'\n'), BEFORE) if row_end == 0 => break Some(Draft::new(Role::End, at + 1, BEFORE)),
                (Some(b'{'), BEFORE) => {
                    at = blank(at + 1);
                    state = ROW;
                    if rest.get(at) == Some(&b'}') {
                        continue;
                    }
                }
                (Some(b','), 1..) => at = blank(at + 1),
                (Some(b'}'), ROW) => {
                    at = blank(at + 1);
                    if row_end != 0 || rest.get(at) != Some(&b'\n') {
                        break None;
                    }
                    at += 1;
                    (row_end, state) = (at, BEFORE);
                    let end = Draft::new(Role::End, at, BEFORE);
                    if !entered.is_empty() {
                        // What was entered belongs to the row that ends here.
                        break Some(end);
                    }
                    shorter = Some(Draft { row_end, ..end });
                    continue;
                }
                (Some(b'}'), 2..) => {
                    at += 1;
                    state = self.states[state as usize].parent;
                    continue;
                }
                _ => break None,
            }
            // At a key, and into the object it names, and so on.
            let role = loop {
                let Some((name, value)) = key(rest, at) else { break None };
                let what = self.what(&name, state, plan);
                if rest.get(value) != Some(&b'{') || self.states[state as usize].depth >= ENTERED {
                    break Some(what.scalar(value, state));
                }
                let (stamp, node) = match what {
                    What::Nothing => (None, None),
                    What::Node(field, node) => (Some(stamp(field)), Some(node)),
                    What::Value(..) => break Some(what.scalar(value, state)),
                };
                if value <= LEAD && stamp.is_none() {
                    let stop = what.scalar(value, state);
                    shorter = Some(Draft { row_end, entered: entered.clone(), ..stop });
                }
                entered.extend(stamp);
                at = blank(value + 1);
                state = self.enter(state, node);
                if rest.get(at) == Some(&b'}') {
                    break Some(Draft::new(Role::End, 0, state));
                }
            };
            match role {
                // An empty object.
                Some(Draft { len: 0, .. }) => {}
                other => break other,
            }
        };
        match longest {
            Some(draft) if draft.len <= LEAD || shorter.is_none() => {
                Some(Draft { row_end, entered, ..draft })
            }
            _ => shorter,
        }
    }

    /// What the plan says about a key.
    fn what(&mut self, name: &str, state: StateId, plan: &Plan) -> What {
        let node = self.states[state as usize].node;
        let child = node.and_then(|node| plan.nodes[node as usize].children.get(name)).copied();
        let field = |field: FieldId| match plan.fields[field as usize].as_slice() {
            [Action::Store(slot)] if !plan.decoded[*slot] => match plan.columns[*slot] {
                Expect::Number | Expect::Real | Expect::Int => {
                    What::Value(Role::Number, stamp(field), *slot as u32)
                }
                Expect::Bool => What::Value(Role::Truth, stamp(field), *slot as u32),
                Expect::Text | Expect::Line => What::Value(Role::Text, stamp(field), *slot as u32),
                Expect::Any => What::Value(Role::Field, stamp(field), 0),
            },
            [Action::Key(column)] => What::Value(Role::Key, stamp(field), *column as u32),
            _ => What::Value(Role::Field, stamp(field), 0),
        };
        if state == ROW {
            if name == plan.keys.time {
                return What::Value(Role::Time, TIME, 0);
            }
            if name == plan.keys.event {
                return What::Value(Role::Event, EVENT, 0);
            }
            if self.names.len() < NAMES && !self.names.contains(name) {
                self.names.insert(name.into());
            }
            if let Some(&id) = plan.by_name.get(name) {
                return field(id);
            }
        }
        match child {
            None => What::Nothing,
            Some(Child { field: id, node: None }) => field(id),
            Some(Child { field, node: Some(node) }) => What::Node(field, node),
        }
    }

    fn enter(&mut self, parent: StateId, node: Option<NodeId>) -> StateId {
        let depth = self.states[parent as usize].depth + 1;
        *self.by_state.entry((parent, node)).or_insert_with(|| {
            self.states.push(State { parent, depth, node, by_text: FxHashMap::default() });
            (self.states.len() - 1) as StateId
        })
    }

    /// What was seen, as the definition would have noted it.
    pub(super) fn vocabulary(&self, plan: &Plan) -> Vocabulary {
        let mut vocabulary = Vocabulary::new(plan.slots);
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
                let propositions = planned.propositions.iter().map(|(slot, _)| slot);
                for &slot in planned.plain.iter().chain(propositions).chain(patterns) {
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
}

/// What the plan says about a key.
#[derive(Clone, Copy)]
enum What {
    Nothing,
    /// It leads to others.
    Node(FieldId, NodeId),
    /// Its value matters: role, stamp, slot.
    Value(Role, u32, u32),
}

impl What {
    /// The lead that ends before the value, which is not entered.
    fn scalar(self, len: usize, state: StateId) -> Draft {
        let (role, stamp, slot) = match self {
            What::Nothing => (Role::Skip, 0, 0),
            What::Node(field, _) => (Role::Hollow, stamp(field), 0),
            What::Value(role, stamp, slot) => (role, stamp, slot),
        };
        Draft { stamp, slot, ..Draft::new(role, len, state) }
    }
}

/// A lead before it is remembered.
struct Draft {
    role: Role,
    len: usize,
    state: StateId,
    row_end: usize,
    stamp: u32,
    slot: u32,
    entered: Vec<u32>,
}

impl Draft {
    fn new(role: Role, len: usize, state: StateId) -> Self {
        Self { role, len, state, row_end: 0, stamp: 0, slot: 0, entered: Vec::new() }
    }

    fn lead(&self, text: &[u8]) -> Lead {
        let mut lead = Lead {
            text: [0; LEAD],
            len: text.len() as u32,
            mask: if text.len() >= 32 { u32::MAX } else { (1 << text.len()) - 1 },
            role: self.role,
            flags: if text.len() > 32 { LONG } else { 0 }
                | if self.entered.is_empty() { 0 } else { ENTERS }
                | if self.row_end > 0 { ENDS } else { 0 },
            row_end: self.row_end as u32,
            stamp: self.stamp,
            slot: self.slot,
            state: self.state,
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

/// The key at `at`, and where its value starts.
fn key(rest: &[u8], at: usize) -> Option<(String, usize)> {
    if rest.get(at) != Some(&b'"') {
        return None;
    }
    let mut end = at + 1;
    loop {
        match rest.get(end)? {
            b'"' => break,
            b'\\' => end += 2,
            0..0x20 => return None,
            _ => end += 1,
        }
    }
    let raw = std::str::from_utf8(&rest[at..=end]).ok()?;
    let name = Parser::new(raw, "").string("").ok()?.into_owned();
    let blank = |mut at: usize| {
        while matches!(rest.get(at), Some(b' ' | b'\t' | b'\r')) {
            at += 1;
        }
        at
    };
    let colon = blank(end + 1);
    (rest.get(colon) == Some(&b':')).then(|| (name, blank(colon + 1)))
}
