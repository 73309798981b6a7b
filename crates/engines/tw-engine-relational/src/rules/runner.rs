//! Rules at work on one trace: positions in, violations out.
//!
//! Cost per event: the rules that it begins, a hashed look-up per literal and the rows that literals share with it; nothing for
//! what was ever seen. Solutions that hang on the future wait as rows of a table (`waiting`), found by the facts that decide
//! them, and by time.

use super::formula::{EVER, Side};
use super::memory::{Facts, Flat, Memory, Now, Queue};
use super::solve::Solve;
use super::steps::{Op, Rules, Standing, Target};
use super::table::{Stamp, Table};
use crate::answers::in_order;
use crate::gate::Plan;
use crate::key::Key;
use crate::machine::{Fails, Found};
use crate::truth::Refused;
use std::collections::BTreeMap;
use std::sync::Arc;
use tw_core::{Position, Time};
use tw_monitor::Positions;

/// Values of the outer variables that violate.
pub(crate) type Row = Box<[Key]>;

/// Solutions of one rule that wait.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// What is kept of each, and its position, so that no two are the same.
    pub(crate) table: Table,
    /// Of each row, which of its waits are over.
    pub(crate) done: Vec<u32>,
    /// Of each row, the number of its position.
    pub(crate) numbers: Vec<Position>,
    /// Of each wait the rows in the order of their times, where time decides it.
    pub(crate) queues: Vec<Queue<(u32, Stamp)>>,
}

/// Violations of a question that are on their way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    /// Those of positions of which more may become known, with the time of the position.
    pub(crate) open: BTreeMap<Position, (Time, Vec<Row>)>,
    here: Vec<Row>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Stand {
    /// In order.
    pub(crate) rows: Arc<Vec<Row>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Runner {
    plan: Arc<Plan>,
    rules: Arc<Rules>,
    pub(crate) tables: Vec<Memory>,
    pub(crate) windows: Vec<Facts>,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) standing: Vec<Stand>,
    pub(crate) outboxes: Vec<Outbox>,
    /// Of each window who waits for it: rules, and which of their waits.
    readers: Vec<Vec<(usize, usize)>>,
    /// Of each question how long after a position more may become known, and whether no violation is found twice.
    reach: Vec<(Option<i64>, bool)>,
    cursors: Vec<u32>,
    pub(crate) bits: Vec<bool>,
    env: Vec<Key>,
    rows: Flat,
    pub(crate) len: Position,
    pub(crate) before: Time,
    /// Whether violations are told as soon as they are known, not in the order of positions.
    pub(crate) early: bool,
}

impl Runner {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        let rules = plan.rules.clone();
        let watched = |table: usize| {
            rules.standing.iter().any(|own| own.watches.iter().any(|watch| watch.table == table))
        };
        let tables = rules.tables.iter().enumerate();
        let tables = tables.map(|(at, kind)| Memory::new(kind, watched(at))).collect();
        let mut readers = vec![Vec::new(); rules.windows.len()];
        let mut waiting = Vec::new();
        for (at, rule) in rules.rules.iter().enumerate() {
            let indexes: Vec<Vec<usize>> = rule.waits.iter().map(|wait| wait.key.clone()).collect();
            for (number, wait) in rule.waits.iter().enumerate() {
                readers[wait.window].push((at, number));
            }
            waiting.push(Waiting {
                table: Table::new(rule.kept.len() + 1, &indexes),
                done: Vec::new(),
                numbers: Vec::new(),
                queues: vec![Queue::default(); rule.waits.len()],
            });
        }
        let own = |asked: usize| {
            let own =
                |rule: &&super::steps::Rule| matches!(rule.target, Target::Violation(own) if own == asked);
            let mut all = rules.rules.iter().filter(own);
            let alone =
                all.next().is_none_or(|rule| rule.kept.len() == rule.row.len()) && all.next().is_none();
            (rules.reach(asked), alone)
        };
        let slots = rules.rules.iter().map(|rule| rule.slots);
        let slots = slots.chain(rules.standing.iter().map(|own| own.slots)).max().unwrap_or(0);
        Self {
            tables,
            windows: rules.windows.iter().map(Facts::new).collect(),
            waiting,
            standing: vec![Stand::default(); rules.standing.len()],
            outboxes: vec![Outbox::default(); plan.asked.len()],
            readers,
            reach: (0..plan.asked.len()).map(own).collect(),
            cursors: vec![0; rules.cursors],
            bits: vec![false; rules.bits.len()],
            env: vec![Key::Int(0); slots],
            rows: Flat::default(),
            len: 0,
            before: 0,
            early: false,
            plan,
            rules,
        }
    }

    /// Takes the next position, which has this number.
    pub(crate) fn step(
        &mut self,
        positions: &Positions<'_>,
        (place, number): (usize, Position),
        time: Time,
        out: &mut Vec<Found>,
        refused: &mut Option<Refused>,
    ) {
        self.advance(time, out);
        let rules = self.rules.clone();
        let now = Now { at: self.len, time, before: self.before };
        for op in &rules.order {
            match *op {
                Op::Rule(rule) => {
                    let begun = |pattern: usize| !positions.relations[pattern].tuples(place).is_empty();
                    if rules.rules[rule].trigger.is_none_or(begun) {
                        self.rule(rule, positions, (place, number), now, out, refused);
                    }
                }
                Op::Commit(table) => self.tables[table].commit(now),
                Op::Deliver(window) => self.deliver(window, out),
                Op::Stand(standing) => {
                    self.stand(&rules.standing[standing], standing, positions, place, now, refused);
                    let rows = self.standing[standing].rows.clone();
                    if !rows.is_empty() {
                        let asked = rules.standing[standing].asked;
                        out.push(Found {
                            asked,
                            about: number,
                            first: now.at == 0,
                            fails: Fails::Rows(rows),
                        });
                    }
                }
            }
        }
        for asked in 0..self.outboxes.len() {
            let here = std::mem::take(&mut self.outboxes[asked].here);
            if !here.is_empty() {
                tell(asked, number, here, out);
            }
        }
        for (bit, atom) in self.bits.iter_mut().zip(&rules.bits) {
            *bit = positions.atoms[*atom].get(place);
        }
        self.len += 1;
        self.before = time;
    }

    fn rule(
        &mut self,
        number: usize,
        positions: &Positions<'_>,
        (place, about): (usize, Position),
        now: Now,
        out: &mut Vec<Found>,
        refused: &mut Option<Refused>,
    ) {
        let rules = self.rules.clone();
        let rule = &rules.rules[number];
        let mut rows = std::mem::take(&mut self.rows);
        let mut narrows: Vec<(Row, Vec<Key>)> = Vec::new();
        let Self { plan, tables, bits, env, cursors, .. } = self;
        let mut solve =
            Solve { plan, rules: &rules, tables, positions, place, now, bits, env, cursors, refused };
        let slots = if rule.waits.is_empty() { &rule.row } else { &rule.kept };
        match &rule.target {
            Target::Narrow { bodies, value, .. } => {
                solve.run(&rule.steps, &mut |own| {
                    let key: Row = slots.iter().map(|slot| own.env[*slot].clone()).collect();
                    let mut values = Vec::new();
                    for steps in bodies {
                        own.run(steps, &mut |own| {
                            values.push(own.env[*value].clone());
                            false
                        });
                    }
                    narrows.push((key, values));
                    false
                });
            }
            _ => {
                solve.run(&rule.steps, &mut |own| {
                    rows.push(slots.iter().map(|slot| &own.env[*slot]));
                    false
                });
            }
        }
        match (&rule.target, rule.waits.is_empty()) {
            _ if rows.rows == 0 && narrows.is_empty() => {}
            (_, false) => {
                for at in rows.distinct() {
                    self.wait(number, rows.row(at), Stamp { time: now.time, at: now.at }, about, out);
                }
            }
            (Target::Insert(table), _) => {
                if let Memory::Finite(finite) = &mut self.tables[*table] {
                    if finite.inserts.rows == 0 {
                        std::mem::swap(&mut finite.inserts, &mut rows);
                    } else {
                        finite.inserts.keys.append(&mut rows.keys);
                        finite.inserts.rows += rows.rows;
                    }
                }
            }
            (Target::Delete(table, index), _) => {
                if let Memory::Finite(finite) = &mut self.tables[*table] {
                    let own = finite.deletes.iter().position(|(own, _)| own == index);
                    let own = own.unwrap_or_else(|| {
                        finite.deletes.push((*index, Flat::default()));
                        finite.deletes.len() - 1
                    });
                    let own = &mut finite.deletes[own].1;
                    own.keys.append(&mut rows.keys);
                    own.rows += rows.rows;
                }
            }
            (Target::Clear(table), _) => {
                if let Memory::Finite(finite) = &mut self.tables[*table] {
                    finite.clear = true;
                }
            }
            (Target::Narrow { table, .. }, _) => {
                if let Memory::Signed(signed) = &mut self.tables[*table] {
                    signed.narrows.extend(narrows);
                }
            }
            (Target::Stamp { table, .. }, _) => {
                let Memory::AsOf(as_of) = &self.tables[*table] else { return };
                // Whether before or after it took in this position is a matter of the order.
                let length = match &self.tables[as_of.of] {
                    Memory::Finite(of) => of.table.end(),
                    _ => 0,
                };
                if let Memory::AsOf(as_of) = &mut self.tables[*table] {
                    as_of.stamps.extend((0..rows.rows).map(|at| (rows.row(at).into(), length)));
                }
            }
            (Target::Fact(window), _) => {
                let stamp = Stamp { time: now.time, at: now.at };
                let facts = (0..rows.rows).map(|at| (rows.row(at).into(), stamp));
                self.windows[*window].fresh.extend(facts);
            }
            (Target::Violation(asked), _) => {
                for at in 0..rows.rows {
                    self.violated(*asked, rows.row(at).into(), (now.time, about), out);
                }
            }
        }
        rows.clear();
        self.rows = rows;
    }

    /// A solution waits, unless it is decided at once.
    fn wait(&mut self, number: usize, kept: &[Key], stamp: Stamp, about: Position, out: &mut Vec<Found>) {
        let rules = self.rules.clone();
        let rule = &rules.rules[number];
        let mut done = 0u32;
        for (at, wait) in rule.waits.iter().enumerate() {
            let window = &rules.windows[wait.window].window;
            let known = self.windows[wait.window].table.as_ref().is_some_and(|table| {
                let row = table.find(wait.key.iter().map(|place| &kept[*place]));
                row.is_some_and(|row| {
                    let distance = table.stamp(row).time.saturating_sub(stamp.time);
                    window.low <= distance && distance <= window.high
                })
            });
            if known && wait.negated {
                return;
            }
            done |= u32::from(known) << at;
        }
        if done.count_ones() as usize == rule.waits.len() {
            return self.over(number, kept, stamp, about, out);
        }
        let mut keys = kept.to_vec();
        keys.push(Key::Int(stamp.at as i64));
        self.register(number, &keys, stamp, about, done);
    }

    pub(crate) fn register(&mut self, number: usize, keys: &[Key], stamp: Stamp, about: Position, done: u32) {
        let waiting = &mut self.waiting[number];
        let (row, new) = waiting.table.put(keys, stamp);
        if !new {
            return;
        }
        let place = row as usize;
        if waiting.done.len() <= place {
            waiting.done.resize(place + 1, 0);
            waiting.numbers.resize(place + 1, 0);
        }
        (waiting.done[place], waiting.numbers[place]) = (done, about);
        for (at, wait) in self.rules.rules[number].waits.iter().enumerate() {
            if done >> at & 1 == 0 && self.rules.windows[wait.window].end().is_some() {
                waiting.queues[at].push((row, stamp));
            }
        }
    }

    /// A solution has waited for all that it had to.
    fn over(&mut self, number: usize, kept: &[Key], stamp: Stamp, about: Position, out: &mut Vec<Found>) {
        let rule = &self.rules.rules[number];
        let row: Row = rule.row.iter().map(|place| kept[*place].clone()).collect();
        match rule.target {
            Target::Fact(window) => self.windows[window].fresh.push((row, stamp)),
            Target::Violation(asked) => self.violated(asked, row, (stamp.time, about), out),
            _ => {}
        }
    }

    fn violated(&mut self, asked: usize, row: Row, (time, about): (Time, Position), out: &mut Vec<Found>) {
        let (reach, alone) = self.reach[asked];
        let outbox = &mut self.outboxes[asked];
        if reach == Some(i64::MIN) {
            return outbox.here.push(row);
        }
        if self.early && alone {
            return tell(asked, about, vec![row], out);
        }
        let (_, rows) = outbox.open.entry(about).or_insert_with(|| (time, Vec::new()));
        if let Err(place) = rows.binary_search_by(|own| in_order(own.iter(), row.iter())) {
            rows.insert(place, row.clone());
            if self.early {
                tell(asked, about, vec![row], out);
            }
        }
    }

    /// Tells who waits what has become known to a window.
    fn deliver(&mut self, window: usize, out: &mut Vec<Found>) {
        if self.windows[window].fresh.is_empty() {
            return;
        }
        let mut found = Vec::new();
        for (row, stamp) in std::mem::take(&mut self.windows[window].fresh) {
            for at in 0..self.readers[window].len() {
                let (number, wait) = self.readers[window][at];
                found.clear();
                found.extend_from_slice(self.waiting[number].table.matching(wait, row.iter()));
                for &waiting in &found {
                    self.decide(number, wait, waiting, stamp, out);
                }
            }
            let now = self.before;
            self.windows[window].keep(&row, stamp, now);
        }
    }

    /// A fact that a solution waits for, if it lies where it should.
    fn decide(&mut self, number: usize, wait: usize, row: u32, fact: Stamp, out: &mut Vec<Found>) {
        let waiting = &mut self.waiting[number];
        if waiting.done[row as usize] >> wait & 1 == 1 {
            return;
        }
        let (own, literal) = (waiting.table.stamp(row), &self.rules.rules[number].waits[wait]);
        let window = &self.rules.windows[literal.window].window;
        let distance = fact.time.saturating_sub(own.time);
        let side = match window.side {
            Side::Any => true,
            Side::Later => fact.at >= own.at,
            Side::Earlier => fact.at <= own.at,
        };
        if !side || distance < window.low || distance > window.high {
            return;
        }
        if literal.negated {
            waiting.table.remove(row);
        } else {
            self.done(number, wait, row, out);
        }
    }

    /// One of the waits of a solution is over.
    fn done(&mut self, number: usize, wait: usize, row: u32, out: &mut Vec<Found>) {
        let waiting = &mut self.waiting[number];
        let done = &mut waiting.done[row as usize];
        *done |= 1 << wait;
        if done.count_ones() as usize == self.rules.rules[number].waits.len() {
            let (kept, stamp) = (waiting.table.row(row).to_vec(), waiting.table.stamp(row));
            let about = waiting.numbers[row as usize];
            waiting.table.remove(row);
            self.over(number, &kept, stamp, about, out);
        }
    }

    /// The next time whose passing decides something: when, and which wait of which rule.
    fn due(&self) -> Option<(Time, usize, usize)> {
        let mut first: Option<(Time, usize, usize)> = None;
        for (number, rule) in self.rules.rules.iter().enumerate() {
            for (at, wait) in rule.waits.iter().enumerate() {
                let (Some((_, stamp)), Some(end)) =
                    (self.waiting[number].queues[at].front(), self.rules.windows[wait.window].end())
                else {
                    continue;
                };
                let due = (stamp.time.saturating_add(end), number, at);
                first = Some(first.map_or(due, |first| first.min(due)));
            }
        }
        first
    }

    /// What comes next has this time or a later one.
    pub(crate) fn advance(&mut self, time: Time, out: &mut Vec<Found>) {
        if self.readers.is_empty() {
            return;
        }
        while let Some((when, number, wait)) = self.due()
            && when < time
        {
            self.pass(number, wait, out);
        }
        self.flush(time, out);
    }

    /// The first in a queue has waited in vain.
    fn pass(&mut self, number: usize, wait: usize, out: &mut Vec<Found>) {
        let waiting = &mut self.waiting[number];
        let Some((row, stamp)) = waiting.queues[wait].pop() else { return };
        // It may have been decided before, and its place been taken by another.
        if waiting.table.stamp(row) != stamp || waiting.done[row as usize] >> wait & 1 == 1 {
            return;
        }
        if self.rules.rules[number].waits[wait].negated {
            self.done(number, wait, row, out);
        } else {
            waiting.table.remove(row);
        }
        for window in 0..self.windows.len() {
            self.deliver(window, out);
        }
    }

    /// Tells the violations of positions of which no more can become known.
    fn flush(&mut self, time: Time, out: &mut Vec<Found>) {
        for asked in 0..self.outboxes.len() {
            let (Some(reach), _) = self.reach[asked] else { continue };
            while let Some(entry) = self.outboxes[asked].open.first_entry()
                && entry.get().0.saturating_add(reach) < time
            {
                let (about, (_, rows)) = entry.remove_entry();
                if !self.early {
                    tell(asked, about, rows, out);
                }
            }
        }
    }

    /// There are no further positions.
    pub(crate) fn end(&mut self, out: &mut Vec<Found>) {
        self.advance(EVER, out);
        // What only the end decides: what is inside of others comes first.
        for number in 0..self.rules.rules.len() {
            let rules = self.rules.clone();
            let rows: Vec<u32> = self.waiting[number].table.all().collect();
            for row in rows {
                for (at, wait) in rules.rules[number].waits.iter().enumerate() {
                    let waiting = &mut self.waiting[number];
                    if !waiting.table.holds(row) || waiting.done[row as usize] >> at & 1 == 1 {
                        continue;
                    }
                    if wait.negated {
                        self.done(number, at, row, out);
                    } else {
                        waiting.table.remove(row);
                    }
                }
            }
            for window in 0..self.windows.len() {
                self.deliver(window, out);
            }
        }
        self.known(out);
    }

    /// Tells the violations that are known, though more may become known of their positions.
    pub(crate) fn known(&mut self, out: &mut Vec<Found>) {
        for asked in 0..self.outboxes.len() {
            for (about, (_, rows)) in std::mem::take(&mut self.outboxes[asked].open) {
                if !self.early {
                    tell(asked, about, rows, out);
                }
            }
        }
    }

    /// The earliest time whose passing may decide something.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.due().map(|(time, ..)| time)
    }

    /// Brings standing violations up to date with what has changed.
    fn stand(
        &mut self,
        standing: &Standing,
        number: usize,
        positions: &Positions<'_>,
        place: usize,
        now: Now,
        refused: &mut Option<Refused>,
    ) {
        let rules = self.rules.clone();
        let Self { plan, tables, bits, env, cursors, .. } = self;
        let mut judged: Vec<(Row, bool)> = Vec::new();
        for watch in &standing.watches {
            let Some(changed) = tables[watch.table].changed() else { continue };
            for at in 0..changed.rows {
                let row = changed.row(at);
                for (column, slot) in &watch.binds {
                    env[*slot] = row[*column].clone();
                }
                // A row that says two things of one variable says nothing.
                if watch.binds.iter().any(|(column, slot)| env[*slot] != row[*column]) {
                    continue;
                }
                let (bits, refused) = (&*bits, &mut *refused);
                let (env, cursors) = (&mut *env, &mut *cursors);
                let mut solve =
                    Solve { plan, rules: &rules, tables, positions, place, now, bits, env, cursors, refused };
                for steps in &watch.candidates {
                    solve.run(steps, &mut |own| {
                        let row: Row = standing.row.iter().map(|slot| own.env[*slot].clone()).collect();
                        let holds = standing.test.iter().any(|steps| own.run(steps, &mut |_| true));
                        judged.push((row, holds));
                        false
                    });
                }
            }
        }
        if judged.is_empty() {
            return;
        }
        let rows = Arc::make_mut(&mut self.standing[number].rows);
        for (row, holds) in judged {
            match (rows.binary_search_by(|own| in_order(own.iter(), row.iter())), holds) {
                (Ok(at), false) => {
                    rows.remove(at);
                }
                (Err(at), true) => rows.insert(at, row),
                _ => {}
            }
        }
    }

    /// What questions wait for, oldest first.
    pub(crate) fn owed(&self) -> Vec<crate::machine::Waiting> {
        let mut found = Vec::new();
        for (number, rule) in self.rules.rules.iter().enumerate() {
            let Target::Violation(asked) = rule.target else { continue };
            let waiting = &self.waiting[number];
            let mut rows: Vec<u32> = waiting.table.all().collect();
            rows.sort_by_key(|row| waiting.table.stamp(*row).at);
            for row in rows {
                let (kept, stamp) = (waiting.table.row(row), waiting.table.stamp(row));
                let open = |at: &usize| waiting.done[row as usize] >> *at & 1 == 0;
                let (mut owed, mut deadline) = (Vec::new(), Some(i64::MIN));
                for wait in (0..rule.waits.len()).filter(open).map(|at| &rule.waits[at]) {
                    owed.push((self.plan.origin[wait.origin as usize], !wait.negated));
                    let end = self.rules.windows[wait.window].end();
                    deadline = deadline.zip(end).map(|(most, end)| most.max(stamp.time.saturating_add(end)));
                }
                let values: Row = rule.row.iter().map(|place| kept[*place].clone()).collect();
                let fails = Fails::Rows(Arc::new(vec![values]));
                let since = waiting.numbers[row as usize];
                found.push(crate::machine::Waiting { asked, since, deadline, fails, owed });
            }
        }
        found
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let waiting = |own: &Waiting| {
            let queues: usize = own.queues.iter().map(Queue::heap_bytes).sum();
            own.table.heap_bytes() + own.done.capacity() * 4 + own.numbers.capacity() * 8 + queues
        };
        let facts = |own: &Facts| own.table.as_ref().map_or(0, Table::heap_bytes);
        let open = |own: &Outbox| own.open.values().map(|(_, rows)| 64 + rows.len() * 48).sum::<usize>();
        self.tables.iter().map(Memory::heap_bytes).sum::<usize>()
            + self.windows.iter().map(facts).sum::<usize>()
            + self.waiting.iter().map(waiting).sum::<usize>()
            + self.outboxes.iter().map(open).sum::<usize>()
            + self.standing.iter().map(|own| own.rows.len() * 64).sum::<usize>()
    }
}

/// Tells violations of a position, each once, in order.
fn tell(asked: usize, about: Position, mut rows: Vec<Row>, out: &mut Vec<Found>) {
    rows.sort_by(|a, b| in_order(a.iter(), b.iter()));
    rows.dedup();
    out.push(Found { asked, about, first: false, fails: Fails::Rows(Arc::new(rows)) });
}
