//! Paths: a shortest one to where a run accepts, and a cycle with all marks there.

use super::Path;
use super::product::{Pair, Product};
use super::search::Numbers;
use rustc_hash::FxHashSet;
use tw_model::State;

/// A search breadth first.
pub(crate) struct Nearest {
    numbers: Numbers,
    /// Pairs in the order in which they were met, each with the place of the one before it.
    order: Vec<(Pair, u32)>,
}

/// Before the first pair of a path.
const NONE: u32 = u32::MAX;

impl Nearest {
    pub fn new(product: &Product) -> Self {
        Self { numbers: Numbers::new(product), order: Vec::new() }
    }

    /// A shortest path from the automaton's first state in one of the states to a pair that is a goal.
    pub fn search(
        &mut self,
        product: &mut Product,
        from: &[State],
        goal: impl Fn(Pair) -> bool,
    ) -> Option<Vec<Pair>> {
        for &state in from {
            let pair = Pair { state, automaton: 0 };
            if self.meet(product, pair, NONE, &goal) {
                return Some(self.path(self.order.len() as u32 - 1));
            }
        }
        let mut at = 0;
        while at < self.order.len() {
            let pair = self.order[at].0;
            let (first, last) = product.moves(pair);
            for edge in if first == last { 0..0 } else { product.graph.row(pair.state) } {
                let state = product.graph.target(edge);
                for step in first..last {
                    let automaton = product.step(step).target;
                    if self.meet(product, Pair { state, automaton }, at as u32, &goal) {
                        return Some(self.path(self.order.len() as u32 - 1));
                    }
                }
            }
            at += 1;
        }
        None
    }

    #[inline]
    fn meet(&mut self, product: &Product, pair: Pair, before: u32, goal: impl Fn(Pair) -> bool) -> bool {
        let number = product.number(pair);
        if self.numbers.get(number) != 0 {
            return false;
        }
        self.numbers.set(number, 1);
        self.order.push((pair, before));
        goal(pair)
    }

    /// The path to the pair at a place.
    fn path(&self, mut at: u32) -> Vec<Pair> {
        let mut path = Vec::new();
        while at != NONE {
            let (pair, before) = self.order[at as usize];
            path.push(pair);
            at = before;
        }
        path.reverse();
        path
    }
}

/// The states that decided: the last pair of the stem has its automaton state from the state before it.
pub(crate) fn decisive(stem: &[Pair]) -> Vec<State> {
    stem[..stem.len().max(2) - 1].iter().map(|pair| pair.state).collect()
}

/// A lasso: a shortest way to the component and a cycle inside that has all marks, or a shorter one if it is soon found.
pub(crate) fn lasso(product: &mut Product, from: &[State], inside: impl Fn(usize) -> bool) -> Option<Path> {
    let mut nearest = Nearest::new(product);
    let width = product.width();
    let number = |pair: Pair| pair.state as usize * width + pair.automaton as usize;
    let stem = nearest.search(product, from, |pair| inside(number(pair)))?;
    let entry = *stem.last()?;
    let (cycle, last) = cycle(product, entry, &inside, &mut { usize::MAX })?;
    let mut best = Lasso { stem: stem[..stem.len() - 1].to_vec(), cycle };
    // Where the way round is long, it may be shorter from where its last mark stands.
    if last > 0 {
        let start = best.cycle[last];
        if let Some((other, _)) = self::cycle(product, start, &inside, &mut { usize::MAX })
            && last + other.len() < best.cycle.len()
        {
            best.stem.extend_from_slice(&best.cycle[..last]);
            best.cycle = other;
        }
    }
    shorten(product, &nearest, &mut best);
    let states = |pairs: &[Pair]| pairs.iter().map(|pair| pair.state).collect();
    Some(rolled_up(states(&best.stem), states(&best.cycle)))
}

/// The same path with its cycle gone round once and begun as early as can be: the automaton may have needed longer to
/// see that it is one.
pub(crate) fn rolled_up(mut stem: Vec<State>, mut cycle: Vec<State>) -> Path {
    let whole = cycle.len();
    let repeats = |&period: &usize| {
        whole.is_multiple_of(period) && (period..whole).all(|at| cycle[at] == cycle[at - period])
    };
    let period = (1..=whole / 2).find(repeats).unwrap_or(whole);
    cycle.truncate(period);
    let mut turned = 0;
    while stem.last().is_some_and(|last| *last == cycle[(2 * period - 1 - turned) % period]) {
        stem.pop();
        turned = (turned + 1) % period;
    }
    cycle.rotate_right(turned);
    let begin = stem.len();
    stem.extend(cycle);
    (stem, Some(begin))
}

struct Lasso {
    stem: Vec<Pair>,
    cycle: Vec<Pair>,
}

/// Pairs looked at for a shorter lasso: from one pair and in all, at first with little patience.
const ROOM: [(usize, usize); 3] = [(16, 60_000), (500, 60_000), (20_000, 60_000)];

/// Tries cycles from the pairs that are nearest to the start, in the order in which a search met them. The component
/// that was found first is seldom the nearest one.
fn shorten(product: &mut Product, nearest: &Nearest, best: &mut Lasso) {
    for (from_one, mut room) in ROOM {
        let mut distance: Vec<u32> = Vec::new();
        for (at, &(pair, before)) in nearest.order.iter().enumerate() {
            let steps = if before == NONE { 0 } else { distance[before as usize] + 1 };
            distance.push(steps);
            let length = best.stem.len() + best.cycle.len();
            if steps as usize + 1 >= length || room == 0 {
                break;
            }
            room -= 1;
            let (first, last) = product.moves(pair);
            // Every cycle that accepts has a transition with the first mark.
            if product.all != 0 && (first..last).all(|step| product.step(step).marks & 1 == 0) {
                continue;
            }
            let mut left = room.min(from_one);
            room -= left;
            let found = cycle(product, pair, &|_| true, &mut left);
            room += left;
            if let Some((cycle, _)) = found
                && steps as usize + cycle.len() < length
            {
                let mut stem = nearest.path(at as u32);
                stem.pop();
                *best = Lasso { stem, cycle };
            }
        }
    }
}

/// A cycle from a pair back to it that has all marks, the nearest missing mark first, without its end; and the place in
/// it from which the last missing mark was met.
/// `None` if there is none, or if more than `room` pairs would have to be looked at.
fn cycle(
    product: &mut Product,
    start: Pair,
    inside: &impl Fn(usize) -> bool,
    room: &mut usize,
) -> Option<(Vec<Pair>, usize)> {
    let mut cycle = vec![start];
    let (mut marks, mut last) = (0, 0);
    while marks != product.all {
        let missing = product.all & !marks;
        let (way, met) = walk(product, *cycle.last()?, inside, room, |_, marks| marks & missing != 0)?;
        marks |= met;
        last = cycle.len() + way.len() - 2;
        cycle.extend(way);
    }
    if cycle.len() == 1 || cycle.last() != Some(&start) {
        let (way, _) = walk(product, *cycle.last()?, inside, room, |pair, _| pair == start)?;
        cycle.extend(way);
    }
    cycle.pop();
    Some((cycle, last))
}

/// A shortest way over at least one transition inside the component, up to and with the first transition that is
/// wanted: the pairs after the first, and all marks met.
fn walk(
    product: &mut Product,
    from: Pair,
    inside: &impl Fn(usize) -> bool,
    room: &mut usize,
    wanted: impl Fn(Pair, u64) -> bool,
) -> Option<(Vec<Pair>, u64)> {
    // Each pair with the place of the one before it and the marks on the way from there.
    let mut order: Vec<(Pair, u32, u64)> = vec![(from, NONE, 0)];
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    seen.insert(product.number(from));
    let mut at = 0;
    while at < order.len() {
        let pair = order[at].0;
        let (first, last) = product.moves(pair);
        for edge in if first == last { 0..0 } else { product.graph.row(pair.state) } {
            let state = product.graph.target(edge);
            for step in first..last {
                let step = product.step(step);
                let target = Pair { state, automaton: step.target };
                let number = product.number(target);
                if !inside(number) {
                    continue;
                }
                if wanted(target, step.marks) {
                    let (mut way, mut marks) = (vec![target], step.marks);
                    let mut back = at as u32;
                    while back != 0 {
                        let (pair, before, on) = order[back as usize];
                        way.push(pair);
                        marks |= on;
                        back = before;
                    }
                    way.reverse();
                    return Some((way, marks));
                }
                if seen.insert(number) {
                    *room = room.checked_sub(1)?;
                    order.push((target, at as u32, step.marks));
                }
            }
        }
        at += 1;
    }
    None
}
