//! Which rules a position runs: those whose events happen there, and the tables that they change.

use super::steps::{Kind, Op, Rules, Step, Target};
use tw_core::Relation;

/// Orders that are kept, of different kinds of positions.
const KEPT: usize = 32;

/// The order of all rules, cut down to what the events of a position can begin. Most logs have few kinds of positions.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    /// Of each rule the events without which it has no solution, by their places in `Program::patterns`, as bits.
    needs: Vec<u64>,
    /// Of each table, whether it has something to do at every position.
    always: Vec<bool>,
    known: Vec<(u64, Vec<Op>)>,
    last: usize,
    /// What happens at each of some consecutive positions, the number of the first of which is a multiple of theirs.
    happens: Vec<u64>,
    block: Option<usize>,
}

/// Positions that are looked at together.
const BLOCK: usize = 64;

impl Orders {
    pub(crate) fn new(rules: &Rules) -> Self {
        let bit = |place: usize| if place < 64 { 1u64 << place } else { 0 };
        let needed = |step: &Step| match step {
            Step::Event { place, .. } | Step::Happened { place, negated: false, .. } => bit(*place),
            _ => 0,
        };
        let needs = rules.rules.iter().map(|rule| rule.steps.iter().fold(0, |all, step| all | needed(step)));
        let watched = |table: usize| {
            rules.standing.iter().any(|own| own.watches.iter().any(|watch| watch.table == table))
        };
        let always = rules.tables.iter().enumerate().map(|(table, kind)| {
            let ages = match kind {
                Kind::Finite { ticks, previous, .. } => {
                    *previous || ticks.low > 0 || ticks.high != super::formula::EVER
                }
                Kind::Signed { .. } | Kind::AsOf { .. } => false,
            };
            ages || watched(table)
        });
        Self {
            needs: needs.collect(),
            always: always.collect(),
            known: Vec::new(),
            last: 0,
            happens: Vec::new(),
            block: None,
        }
    }

    /// Other positions follow than those that were looked at.
    pub(crate) fn begin(&mut self) {
        self.block = None;
    }

    /// The number of the order in which things are done at a position.
    #[inline]
    pub(crate) fn at(&mut self, rules: &Rules, relations: &[Relation], place: usize) -> usize {
        if self.block != Some(place / BLOCK) {
            self.look(relations, place / BLOCK);
        }
        let happens = self.happens[place % BLOCK];
        if self.known.get(self.last).is_none_or(|(own, _)| *own != happens) {
            self.last = self.find(rules, happens);
        }
        self.last
    }

    #[inline]
    pub(crate) fn len(&self, order: usize) -> usize {
        self.known[order].1.len()
    }

    #[inline]
    pub(crate) fn op(&self, order: usize, turn: usize) -> Op {
        self.known[order].1[turn]
    }

    fn look(&mut self, relations: &[Relation], block: usize) {
        self.block = Some(block);
        self.happens.clear();
        self.happens.resize(BLOCK, 0);
        for (bit, relation) in relations.iter().take(64).enumerate() {
            let starts = relation.starts().get(block * BLOCK..).unwrap_or_default();
            for (happens, pair) in self.happens.iter_mut().zip(starts.windows(2)) {
                *happens |= u64::from(pair[0] != pair[1]) << bit;
            }
        }
    }

    fn find(&mut self, rules: &Rules, happens: u64) -> usize {
        if let Some(known) = self.known.iter().position(|(own, _)| *own == happens) {
            return known;
        }
        let begun = |rule: usize| self.needs[rule] & !happens == 0;
        let changes = |table: usize| {
            let own = |(at, rule): (usize, &super::steps::Rule)| {
                begun(at)
                    && match rule.target {
                        Target::Insert(own)
                        | Target::Delete(own, _)
                        | Target::Clear(own)
                        | Target::Narrow { table: own, .. }
                        | Target::Stamp { table: own, .. } => own == table,
                        Target::Fact(_) | Target::Violation(_) => false,
                    }
            };
            self.always[table] || rules.rules.iter().enumerate().any(own)
        };
        let order = rules.order.iter().copied().filter(|op| match *op {
            Op::Rule(rule) => begun(rule),
            Op::Commit(table) => changes(table),
            Op::Deliver(_) | Op::Stand(_) => true,
        });
        let order = (happens, order.collect());
        if self.known.len() < KEPT {
            self.known.push(order);
            return self.known.len() - 1;
        }
        let oldest = (self.last + 1) % KEPT;
        self.known[oldest] = order;
        oldest
    }
}
