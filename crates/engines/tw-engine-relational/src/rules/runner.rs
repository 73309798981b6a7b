//! Rules at work on one trace: positions in, violations out.
//!
//! Cost per event: the rules that it begins, a hashed look-up per literal and the rows that literals share with it; nothing for
//! what was ever seen. Solutions that hang on the future wait as rows of a table (`waiting`), found by the facts that decide
//! them, and by time.

use super::memory::{Facts, Flat, Memory, Now, Queue};
use super::orders::Orders;
use super::solve::Solve;
use super::steps::{Op, Rule, Target};
use super::table::{Beside, Stamp, Table};
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

/// A position that rules are run at.
#[derive(Clone, Copy)]
struct Here<'h> {
    positions: &'h Positions<'h>,
    place: usize,
    /// Its number for those who are told.
    about: Position,
    now: Now,
}

/// Solutions of one rule that wait.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// What is kept of each; no two of one position are the same.
    pub(crate) table: Table,
    /// Of each row, which of its waits are over.
    pub(crate) done: Beside<u32>,
    /// Of each row, the number of its position.
    pub(crate) numbers: Beside<Position>,
    /// Of each wait the rows in the order of their times, where time decides it.
    pub(crate) queues: Vec<Queue<(u32, Stamp)>>,
}

/// Violations of a question that are on their way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    /// Those of positions of which more may become known, with the time of the position.
    pub(crate) open: BTreeMap<Position, (Time, Vec<Row>)>,
    pub(super) here: Vec<Row>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Stand {
    /// In order.
    pub(crate) rows: Arc<Vec<Row>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Runner {
    pub(crate) tables: Vec<Memory>,
    pub(crate) windows: Vec<Facts>,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) standing: Vec<Stand>,
    pub(crate) outboxes: Vec<Outbox>,
    /// Of each window who waits for it: rules, and which of their waits.
    pub(super) readers: Vec<Vec<(usize, usize)>>,
    /// Of each question how long after a position more may become known, and whether no violation is found twice.
    pub(super) reach: Vec<(Option<i64>, bool)>,
    cursors: Vec<u32>,
    pub(crate) bits: Vec<bool>,
    env: Vec<Key>,
    rows: Flat,
    /// A row at hand.
    pub(super) row: Vec<Key>,
    orders: Orders,
    pub(crate) len: Position,
    pub(crate) before: Time,
    /// Whether violations are told as soon as they are known, not in the order of positions.
    pub(crate) early: bool,
    /// How many violations of each question are told with their values; of more it is told how many.
    pub(crate) limit: usize,
    pub(super) told: Vec<usize>,
    pub(super) more: Vec<usize>,
}

impl Runner {
    pub(crate) fn new(plan: &Plan) -> Self {
        let rules = &plan.rules;
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
                table: Table::of_all(rule.kept.len(), &indexes),
                done: Beside::default(),
                numbers: Beside::default(),
                queues: vec![Queue::default(); rule.waits.len()],
            });
        }
        let own = |asked: usize| {
            let own = |rule: &&Rule| matches!(rule.target, Target::Violation(own) if own == asked);
            let exact = |rule: &Rule| rule.waits.is_empty() || rule.kept.len() == rule.row.len();
            let mut all = rules.rules.iter().filter(own);
            let alone = all.next().is_none_or(exact) && all.next().is_none();
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
            row: Vec::new(),
            orders: Orders::new(rules),
            len: 0,
            before: 0,
            early: false,
            limit: usize::MAX,
            told: vec![0; plan.asked.len()],
            more: vec![0; plan.asked.len()],
        }
    }

    /// Other positions follow than those of the last step.
    pub(crate) fn begin(&mut self) {
        self.orders.begin();
    }

    /// Takes the next position, which has this number.
    pub(crate) fn step(
        &mut self,
        plan: &Plan,
        positions: &Positions<'_>,
        (place, number): (usize, Position),
        time: Time,
        out: &mut Vec<Found>,
        refused: &mut Option<Refused>,
    ) {
        self.advance(plan, time, out);
        let rules = &*plan.rules;
        let now = Now { at: self.len, time, before: self.before };
        let here = Here { positions, place, about: number, now };
        let order = self.orders.at(rules, positions.relations, place);
        for turn in 0..self.orders.len(order) {
            match self.orders.op(order, turn) {
                Op::Rule(rule) => self.rule(plan, rule, here, out, refused),
                Op::Commit(table) => self.tables[table].commit(now),
                Op::Deliver(window) => self.deliver(plan, window, out),
                Op::Stand(standing) => {
                    self.stand(plan, standing, here, refused);
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
            if !self.outboxes[asked].here.is_empty() {
                let here = std::mem::take(&mut self.outboxes[asked].here);
                self.told[asked] += tell(asked, number, here, out);
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
        plan: &Plan,
        number: usize,
        Here { positions, place, about, now }: Here<'_>,
        out: &mut Vec<Found>,
        refused: &mut Option<Refused>,
    ) {
        let rules = &*plan.rules;
        let rule = &rules.rules[number];
        if let Some((pattern, columns)) = &rule.plain {
            let relation = &positions.relations[*pattern];
            // What events alone change is told to the table at once.
            if rule.waits.is_empty()
                && let Some(rows) = self.changes(&rule.target)
            {
                return rows.push_events(relation, place, columns);
            }
            self.rows.push_events(relation, place, columns);
            if self.rows.rows > 0 {
                self.put_out(plan, number, (now, about), Vec::new(), out);
            }
            return;
        }
        let mut narrows: Vec<(Row, Vec<Key>)> = Vec::new();
        let Self { tables, bits, env, cursors, rows, .. } = self;
        let mut solve = Solve { plan, rules, tables, positions, place, now, bits, env, cursors, refused };
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
        if rows.rows > 0 || !narrows.is_empty() {
            self.put_out(plan, number, (now, about), narrows, out);
        }
    }

    /// Hands on the rows at hand.
    fn put_out(
        &mut self,
        plan: &Plan,
        number: usize,
        at: (Now, Position),
        narrows: Vec<(Row, Vec<Key>)>,
        out: &mut Vec<Found>,
    ) {
        let mut rows = std::mem::take(&mut self.rows);
        self.found(plan, number, at, &mut rows, narrows, out);
        rows.clear();
        self.rows = rows;
    }

    /// Where the rows that a table takes in or loses are put, if that is what solutions are for.
    #[inline]
    fn changes(&mut self, target: &Target) -> Option<&mut Flat> {
        match target {
            Target::Insert(table) => match &mut self.tables[*table] {
                Memory::Finite(finite) => Some(&mut finite.inserts),
                _ => None,
            },
            Target::Delete(table, index) => match &mut self.tables[*table] {
                Memory::Finite(finite) => Some(finite.deleted(*index)),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the solutions of a rule are for.
    fn found(
        &mut self,
        plan: &Plan,
        number: usize,
        (now, about): (Now, Position),
        rows: &mut Flat,
        narrows: Vec<(Row, Vec<Key>)>,
        out: &mut Vec<Found>,
    ) {
        let rule = &plan.rules.rules[number];
        match (&rule.target, rule.waits.is_empty()) {
            (_, false) => {
                let stamp = Stamp { time: now.time, at: now.at };
                rows.distinct(|row| self.wait(plan, number, row, stamp, about, out));
            }
            (target @ (Target::Insert(_) | Target::Delete(..)), _) => {
                if let Some(changes) = self.changes(target) {
                    changes.append(rows);
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
                let fresh = &mut self.windows[*window].fresh;
                fresh.stamps.extend((0..rows.rows).map(|_| stamp));
                fresh.rows.append(rows);
            }
            (Target::Violation(asked), _) if self.reach[*asked].1 && self.told[*asked] >= self.limit => {
                rows.distinct(|_| self.more[*asked] += 1);
            }
            (Target::Violation(asked), _) => {
                for at in 0..rows.rows {
                    self.violated(*asked, rows.row(at).into(), (now.time, about), out);
                }
            }
        }
    }

    /// Brings standing violations up to date with what has changed.
    fn stand(
        &mut self,
        plan: &Plan,
        number: usize,
        Here { positions, place, now, .. }: Here<'_>,
        refused: &mut Option<Refused>,
    ) {
        let standing = &plan.rules.standing[number];
        let rules = &*plan.rules;
        let Self { tables, bits, env, cursors, .. } = self;
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
                    Solve { plan, rules, tables, positions, place, now, bits, env, cursors, refused };
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

    pub(crate) fn heap_bytes(&self) -> usize {
        let waiting = |own: &Waiting| {
            let queues: usize = own.queues.iter().map(Queue::heap_bytes).sum();
            own.table.heap_bytes() + own.done.heap_bytes() + own.numbers.heap_bytes() + queues
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

/// Tells violations of a position, each once, in order; and how many they are.
pub(super) fn tell(asked: usize, about: Position, mut rows: Vec<Row>, out: &mut Vec<Found>) -> usize {
    rows.sort_by(|a, b| in_order(a.iter(), b.iter()));
    rows.dedup();
    let count = rows.len();
    out.push(Found { asked, about, first: false, fails: Fails::Rows(Arc::new(rows)) });
    count
}
