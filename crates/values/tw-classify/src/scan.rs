//! Names of the holograms of a trace, top-down over what the rules keep.
//!
//! The children of an operator at a position are those at the next one and one more, so a list is kept and grows by what lies
//! between two positions that it is asked at; what decides an operator is searched from where it was found last. Places ask
//! in one direction, so that all of this is done once per position. Where a list grows the other way than it is asked for
//! (`O` below `G`), its names are noted for all positions.

use crate::columns::{Column, Columns};
use crate::formula::Kind;
use crate::name::{self, List, Name};
use crate::plan::Plan;
use crate::time::Timing;
use crate::truth::Truth;
use tw_core::{Bits, Position};
use tw_ir::{Applied, Form};

/// The class of a trace: its name says what the pruned hologram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// The name of the hologram.
    pub name: u128,
    /// What the root is.
    pub truth: Truth,
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.name)
    }
}

/// Where a bit was found last.
#[derive(Clone, Copy, Debug)]
struct Search {
    from: Position,
    found: Option<Position>,
    known: bool,
}

/// A list that grows.
#[derive(Clone, Copy, Debug)]
struct Growing {
    list: List,
    /// Where it ends: the position that decides, or the edge.
    anchor: Position,
    /// The position that comes next; of lists that grow backwards, one more.
    next: Position,
    known: bool,
}

/// What is remembered of a place.
#[derive(Clone, Debug)]
struct Memory {
    searches: [Search; 4],
    lists: [Growing; 3],
    /// How often it was asked for against its direction.
    asked: u32,
    /// From then on: its list's name at every position from `noted_from`, up to as many as there are.
    noted: Vec<Name>,
}

impl Memory {
    const FRESH: Memory = Memory {
        searches: [Search { from: 0, found: None, known: false }; 4],
        lists: [Growing { list: List::EMPTY, anchor: 0, next: 0, known: false }; 3],
        asked: 0,
        noted: Vec::new(),
    };
}

/// So often lists are made anew before their names are noted.
const PATIENCE: u32 = 4;

/// Scans the traces that columns hold.
pub struct Scan<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) columns: &'a Columns<'a>,
    timing: Timing<'a>,
    pub(crate) start: Position,
    pub(crate) end: Position,
    memory: Vec<Memory>,
}

impl<'a> Scan<'a> {
    /// With columns of what the plan needs; `timing` is that of a trace with intervals, which stands alone.
    pub fn new(plan: &'a Plan<'a>, columns: &'a Columns<'a>, timing: Timing<'a>) -> Self {
        let memory = vec![Memory::FRESH; plan.places.len()];
        Self { plan, columns, timing, start: 0, end: 0, memory }
    }

    /// The class of the trace from `start` up to, not including, `end`; at least one position.
    pub fn class(&mut self, start: Position, end: Position) -> Class {
        self.select(start, end);
        let truth = self.root();
        Class { name: self.name(0, start, truth), truth }
    }

    pub(crate) fn select(&mut self, start: Position, end: Position) {
        (self.start, self.end) = (start, end);
        for memory in &mut self.memory {
            memory.searches.iter_mut().for_each(|search| search.known = false);
            memory.lists.iter_mut().for_each(|list| list.known = false);
            memory.asked = 0;
            memory.noted.clear();
        }
    }

    /// The truth of the root at the first position.
    pub(crate) fn root(&mut self) -> Truth {
        if !self.plan.decides_root() {
            return self.truth(0, self.start);
        }
        let Kind::Walk(applied) = self.plan.kind(0) else { return Truth::Unknown };
        let at = self.start;
        let never = self.end;
        // What decides it, and what stands in the way: φ before ψ, or ψ before φ.
        let yes = match (applied.form, applied.left) {
            (Form::Release, None) => None,
            (Form::Release, Some(_)) => self
                .first(0, LEFT_HOLDS, at)
                .filter(|&k| self.first_not(0, RIGHT, false, at).is_none_or(|fails| fails > k)),
            (_, None) => self.first(0, RIGHT_HOLDS, at),
            (_, Some(_)) => self
                .first(0, RIGHT_HOLDS, at)
                .filter(|&k| self.first_not(0, LEFT, false, at).unwrap_or(never) >= k),
        };
        if yes.is_some() {
            return Truth::True;
        }
        let no = match (applied.form, applied.left) {
            (Form::Release, None) => self.first(0, RIGHT_FAILS, at),
            (Form::Release, Some(_)) => {
                self.first(0, RIGHT_FAILS, at).filter(|&k| self.first_may(0, LEFT, at).unwrap_or(never) >= k)
            }
            (_, None) => None,
            (_, Some(_)) => self
                .first(0, LEFT_FAILS, at)
                .filter(|&k| self.first_may(0, RIGHT, at).is_none_or(|may| may > k)),
        };
        if no.is_some() { Truth::False } else { Truth::Unknown }
    }

    pub(crate) fn column(&self, place: usize) -> Option<&'a Column<'a>> {
        self.columns.of(self.plan.places[place].cell)
    }

    /// The truth of a place whose column is there: that of every one that is looked at.
    pub(crate) fn truth(&self, place: usize, at: Position) -> Truth {
        self.column(place).map_or(Truth::Unknown, |column| column.get(at))
    }

    /// The place of an operand; with one operand, that is the right one.
    fn operand(&self, place: usize, operand: usize) -> usize {
        let children = &self.plan.places[place].children;
        children[if operand == LEFT { 0 } else { children.len() - 1 }] as usize
    }

    /// The bits and the value that a search looks for.
    fn sought(&self, place: usize, what: usize) -> Option<(&'a Bits, bool)> {
        let column = self.column(self.operand(place, what / 2))?;
        Some(if what.is_multiple_of(2) { (&*column.holds, true) } else { (column.may(), false) })
    }

    /// The nearest position in the operator's direction where an operand is true, or false.
    fn first(&mut self, place: usize, what: usize, at: Position) -> Option<Position> {
        let past = matches!(self.plan.kind(place), Kind::Walk(applied) if applied.past);
        let (bits, value) = self.sought(place, what)?;
        let (start, end) = (self.start, self.end);
        let search = &mut self.memory[place].searches[what];
        let found = match past {
            false if !search.known => find(bits, value, at, end),
            false if at <= search.from => find(bits, value, at, search.from).or(search.found),
            false if search.found.is_none_or(|found| found >= at) => search.found,
            false => find(bits, value, at, end),
            true if !search.known => rfind(bits, value, start, at),
            true if at >= search.from => rfind(bits, value, search.from + 1, at).or(search.found),
            true if search.found.is_none_or(|found| found <= at) => search.found,
            true => rfind(bits, value, start, at),
        };
        *search = Search { from: at, found, known: true };
        found
    }

    fn first_not(&self, place: usize, operand: usize, value: bool, at: Position) -> Option<Position> {
        find(&self.column(self.operand(place, operand))?.holds, value, at, self.end)
    }

    fn first_may(&self, place: usize, operand: usize, at: Position) -> Option<Position> {
        find(self.column(self.operand(place, operand))?.may(), true, at, self.end)
    }

    /// The position that decides an operator of that value; `None` if all have a say. With an interval, the last position in
    /// the operator's direction that is of interest, perhaps before those inside.
    pub(crate) fn decides(
        &mut self,
        place: usize,
        applied: &Applied,
        at: Position,
        truth: Truth,
    ) -> Option<Position> {
        if applied.interval.is_some() {
            return self.decides_inside(place, applied, at, truth);
        }
        match (applied.form, truth) {
            (_, Truth::Unknown) => None,
            (Form::Release, Truth::False) => self.first(place, RIGHT_FAILS, at),
            (Form::Release, Truth::True) if applied.left.is_some() => self.first(place, LEFT_HOLDS, at),
            (Form::Until, Truth::True) => self.first(place, RIGHT_HOLDS, at),
            (Form::Until, Truth::False) if applied.left.is_some() => self.first(place, LEFT_FAILS, at),
            _ => None,
        }
    }

    fn decides_inside(
        &self,
        place: usize,
        applied: &Applied,
        at: Position,
        truth: Truth,
    ) -> Option<Position> {
        let window = self.timing.window(applied, at - self.start, self.end - self.start);
        let (right, left) = (self.operand(place, RIGHT), applied.left.map(|_| self.operand(place, LEFT)));
        let swapped = left.is_some() && (applied.form == Form::Until) == applied.weak;
        let goals = |at: Position| {
            let own = self.truth(right, at) == truth;
            own && !(swapped && left.is_some_and(|left| self.truth(left, at) != truth))
        };
        let steps = if applied.past { at + 1 - self.start } else { self.end - at };
        let place = |step: usize| if applied.past { at - step } else { at + step };
        // What is awaited comes, or what has to hold is over.
        if truth == Truth::from(!applied.weak) {
            let (first, last) = window.range?;
            let inside = |at: &Position| (first..=last).contains(&(at - self.start));
            return (0..steps).map(place).filter(inside).find(|&at| goals(at));
        }
        let hold = if swapped { Some(right) } else { left };
        hold.filter(|_| truth != Truth::Unknown)
            .and_then(|hold| (0..steps).map(place).find(|&at| self.truth(hold, at) == truth))
    }

    /// First and last position of the children of an operator; none if there are none.
    pub(crate) fn range(
        &mut self,
        place: usize,
        applied: &Applied,
        at: Position,
        truth: Truth,
    ) -> Option<(Position, Position)> {
        let window = self.timing.window(applied, at - self.start, self.end - self.start);
        let (mut first, mut last) = window.range?;
        (first, last) = (first + self.start, last + self.start);
        if self.plan.rules.fail_fast
            && let Some(cut) = self.decides(place, applied, at, truth)
        {
            if applied.past { first = first.max(cut) } else { last = last.min(cut) }
        }
        (first <= last).then_some((first, last))
    }

    /// The position that a step looks at.
    pub(crate) fn neighbour(&self, applied: &Applied, at: Position) -> Option<Position> {
        let next = self.timing.neighbour(applied, at - self.start, self.end - self.start);
        next.map(|next| next + self.start)
    }

    /// The children of a quantifier that are there and kept, with the number of their value.
    pub(crate) fn values(&self, place: usize, at: Position, truth: Truth) -> Vec<(usize, usize)> {
        let kind = self.plan.kind(place);
        let Kind::Quantifier { values, .. } = kind else { return Vec::new() };
        let children = self.plan.places[place].children.iter().map(|&child| child as usize).enumerate();
        let kept = children.filter(|&(nth, child)| {
            let present = self.columns.of(values[nth].1).is_some_and(|guard| guard.holds.get(at));
            present && self.plan.keeps(kind, truth, nth, self.truth(child, at))
        });
        kept.collect()
    }

    /// The name of the tree of a place at a position, whose truth is known.
    pub(crate) fn name(&mut self, place: usize, at: Position, truth: Truth) -> Name {
        let own = &self.plan.places[place];
        if let Some(fixed) = own.fixed[truth as usize] {
            return fixed;
        }
        let (label, kind) = (own.label, self.plan.kind(place));
        let list = match kind {
            Kind::Walk(applied) => self.list(place, applied, at, truth),
            Kind::Step(applied) => {
                let mut list = List::EMPTY;
                if let Some(next) = self.neighbour(applied, at) {
                    let child = own.children[0] as usize;
                    list.push(self.name(child, next, self.truth(child, next)));
                }
                list.name()
            }
            Kind::Quantifier { .. } => {
                let (mut list, mut names) = (List::EMPTY, Vec::new());
                for (nth, child) in self.values(place, at, truth) {
                    names.push((self.edge(kind, nth), self.name(child, at, self.truth(child, at))));
                }
                if self.plan.rules.quantifiers {
                    names.sort_unstable();
                }
                names.into_iter().rev().for_each(|(edge, name)| {
                    list.push(edge.map_or(name, |edge| name::tree(edge, Truth::True, name)))
                });
                list.name()
            }
            _ => {
                let mut list = List::EMPTY;
                for nth in (0..own.children.len()).rev() {
                    let child = own.children[nth] as usize;
                    let below = self.truth(child, at);
                    if self.plan.keeps(kind, truth, nth, below) {
                        list.push(self.name(child, at, below));
                    }
                }
                list.name()
            }
        };
        name::tree(label, truth, list)
    }

    /// The name of the value that an edge carries, unless values are left out.
    fn edge(&self, kind: &Kind, nth: usize) -> Option<Name> {
        match kind {
            Kind::Quantifier { values, .. } if !self.plan.rules.quantifiers => {
                Some(name::text(&values[nth].0))
            }
            _ => None,
        }
    }

    /// The name of the list of an operator's children.
    fn list(&mut self, place: usize, applied: &Applied, at: Position, truth: Truth) -> Name {
        let rules = self.plan.rules;
        if applied.interval.is_some() {
            let mut list = List::EMPTY;
            if let Some((first, last)) = self.range(place, applied, at, truth) {
                let positions: Vec<Position> = match applied.past {
                    true => (first..=last).collect(),
                    false => (first..=last).rev().collect(),
                };
                positions.into_iter().for_each(|at| self.put(place, truth, at, &mut list));
            }
            return list.name();
        }
        let cut = if rules.fail_fast { self.decides(place, applied, at, truth) } else { None };
        if let (Some(cut), true, None) = (cut, rules.polarity, applied.left) {
            let mut list = List::EMPTY;
            let child = self.operand(place, RIGHT);
            list.push(self.name(child, cut, truth));
            return list.name();
        }
        if applied.past == self.plan.places[place].ascending {
            return self.grown(place, applied, at, truth, cut);
        }
        self.memory[place].asked += 1;
        if self.memory[place].asked <= PATIENCE {
            return self.grown(place, applied, at, truth, cut);
        }
        // In the list's own direction, for all positions on the way.
        let index = |at: Position| if applied.past { at - self.start } else { self.end - 1 - at };
        let wanted = index(at);
        while self.memory[place].noted.len() <= wanted {
            let done = self.memory[place].noted.len();
            let here = if applied.past { self.start + done } else { self.end - 1 - done };
            let truth = self.truth(place, here);
            let cut = if rules.fail_fast { self.decides(place, applied, here, truth) } else { None };
            let name = match (cut, rules.polarity, applied.left) {
                // Made of one name without a list, whenever it is asked for.
                (Some(_), true, None) => 0,
                _ => self.grown(place, applied, here, truth, cut),
            };
            self.memory[place].noted.push(name);
        }
        self.memory[place].noted[wanted]
    }

    /// The same, from the list at the last position that it was asked for at, as far as that goes.
    fn grown(
        &mut self,
        place: usize,
        applied: &Applied,
        at: Position,
        truth: Truth,
        cut: Option<Position>,
    ) -> Name {
        let rules = self.plan.rules;
        // Without rules that look at the value there is one list for all.
        let slot = if rules.polarity || rules.fail_fast { truth as usize } else { 0 };
        let mut own = self.memory[place].lists[slot];
        let (child, fixed) = (self.operand(place, RIGHT), applied.left.is_none() && rules.polarity);
        let fixed = if fixed { self.plan.places[child].fixed[truth as usize] } else { None };
        if applied.past {
            let anchor = cut.unwrap_or(self.start);
            if !own.known || own.anchor != anchor || own.next > at + 1 {
                own = Growing { list: List::EMPTY, anchor, next: anchor, known: true };
            }
            if let Some(fixed) = fixed {
                own.list.push_many(fixed, self.count(child, truth, own.next, at + 1));
                own.next = at + 1;
            }
            while own.next <= at {
                self.put(place, truth, own.next, &mut own.list);
                own.next += 1;
            }
        } else {
            let anchor = cut.unwrap_or(self.end - 1);
            if !own.known || own.anchor != anchor || own.next < at {
                own = Growing { list: List::EMPTY, anchor, next: anchor + 1, known: true };
            }
            if let Some(fixed) = fixed {
                own.list.push_many(fixed, self.count(child, truth, at, own.next));
                own.next = at;
            } else if rules.polarity && applied.left.is_none() {
                // Position by position, but only where the child is worth looking at.
                while let Some(here) = self.last_with(child, truth, at, own.next) {
                    let name = self.name(child, here, truth);
                    own.list.push(name);
                    own.next = here;
                }
                own.next = at;
            }
            while own.next > at {
                own.next -= 1;
                self.put(place, truth, own.next, &mut own.list);
            }
        }
        self.memory[place].lists[slot] = own;
        own.list.name()
    }

    /// Puts the children of one position before a list.
    fn put(&mut self, place: usize, truth: Truth, at: Position, list: &mut List) {
        let kind = self.plan.kind(place);
        // The right operand is the first of the two.
        for nth in 0..self.plan.places[place].children.len() {
            let child = self.plan.places[place].children[nth] as usize;
            let below = self.truth(child, at);
            if self.plan.keeps(kind, truth, nth, below) {
                let name = self.name(child, at, below);
                list.push(name);
            }
        }
    }

    /// Positions from `from` up to, not including, `to` where a place has a value.
    fn count(&self, place: usize, truth: Truth, from: Position, to: Position) -> u64 {
        let Some(column) = self.column(place) else { return 0 };
        let mut count = 0;
        each_word(from, to, |index, mask| {
            count += u64::from((word(column, truth, index) & mask).count_ones())
        });
        count
    }

    /// The last position from `from` up to, not including, `to` where a place has a value.
    fn last_with(&self, place: usize, truth: Truth, from: Position, to: Position) -> Option<Position> {
        let column = self.column(place)?;
        let mut index = to.checked_sub(1)? / 64;
        if from >= to {
            return None;
        }
        let mut mask = u64::MAX >> (63 - (to - 1) % 64);
        loop {
            let below = if index == from / 64 { u64::MAX << (from % 64) } else { u64::MAX };
            let bits = word(column, truth, index) & mask & below;
            if bits != 0 {
                return Some(index * 64 + 63 - bits.leading_zeros() as usize);
            }
            if index == from / 64 {
                return None;
            }
            (index, mask) = (index - 1, u64::MAX);
        }
    }
}

/// Operands, and what is searched for in them: their number times two, and one more where they fail.
const RIGHT: usize = 0;
const LEFT: usize = 1;
const RIGHT_HOLDS: usize = 0;
const RIGHT_FAILS: usize = 1;
const LEFT_HOLDS: usize = 2;
const LEFT_FAILS: usize = 3;

/// The positions of a word where a column has a value.
fn word(column: &Column<'_>, truth: Truth, index: usize) -> u64 {
    let holds = column.holds.words()[index];
    match (truth, &column.may) {
        (Truth::True, _) => holds,
        (Truth::False, None) => !holds,
        (Truth::False, Some(may)) => !may.words()[index],
        (Truth::Unknown, None) => 0,
        (Truth::Unknown, Some(may)) => may.words()[index] & !holds,
    }
}

/// The words that hold positions, each with a mask of them.
fn each_word(from: Position, to: Position, mut each: impl FnMut(usize, u64)) {
    if from >= to {
        return;
    }
    let (first, last) = (from / 64, (to - 1) / 64);
    for index in first..=last {
        let mut mask = u64::MAX;
        if index == first {
            mask &= u64::MAX << (from % 64);
        }
        if index == last {
            mask &= u64::MAX >> (63 - (to - 1) % 64);
        }
        each(index, mask);
    }
}

/// The first position from `from` up to, not including, `to` whose bit is `value`.
fn find(bits: &Bits, value: bool, from: Position, to: Position) -> Option<Position> {
    if from >= to {
        return None;
    }
    let (words, flip) = (bits.words(), if value { 0 } else { u64::MAX });
    let (first, last) = (from / 64, (to - 1) / 64);
    let mut word = (words[first] ^ flip) & (u64::MAX << (from % 64));
    let mut index = first;
    while word == 0 {
        index += 1;
        if index > last {
            return None;
        }
        word = words[index] ^ flip;
    }
    Some(index * 64 + word.trailing_zeros() as usize).filter(|&at| at < to)
}

/// The last position from `from` up to and with `to` whose bit is `value`.
fn rfind(bits: &Bits, value: bool, from: Position, to: Position) -> Option<Position> {
    if from > to {
        return None;
    }
    let (words, flip) = (bits.words(), if value { 0 } else { u64::MAX });
    let mut index = to / 64;
    let mut word = (words[index] ^ flip) & (u64::MAX >> (63 - to % 64));
    while word == 0 {
        if index == from / 64 {
            return None;
        }
        index -= 1;
        word = words[index] ^ flip;
    }
    Some(index * 64 + 63 - word.leading_zeros() as usize).filter(|&at| at >= from)
}
