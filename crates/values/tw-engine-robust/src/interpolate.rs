//! Signals between the samples: an opt-in reading in continuous time ([`Interpolation`] says what it means).
//!
//! Signals are computed as functions of time, in O(m) per operator over signals of m pieces (A. Donzé, T. Ferrère,
//! O. Maler, *Efficient Robust Monitoring for STL*); an operator may make a few pieces of one, and pieces that continue
//! each other are joined. `step` only compares and is exact; `linear` rounds where it interpolates. Memory: 24 to 56
//! bytes per piece of each signal that is still needed.

mod bend;
mod curve;
mod line;
mod runs;
mod straight;
mod windows;

pub use bend::straighten;

use crate::plan::{is_predicate, ticks};
use crate::signals::truth;
use crate::{Robust, Samples};
use curve::Curve;
use runs::Runs;
use rustc_hash::FxHashMap;
use tw_core::Position;
use tw_ir::{Applied, Clock, Node, NodeId, Way};
use tw_monitor::Unsupported;

/// How signals are read between the samples.
///
/// - Time runs from the first timestamp of a segment to its last (positions, with `--clock index`). Of samples with
///   equal timestamps the last counts.
/// - `step`: what a predicate is worth holds until the next sample. A window thus also sees the last sample at or
///   before its beginning. An open end is not inside, but everything before it is.
/// - `linear`: what a predicate is worth runs straight from sample to sample ([`straighten`] writes predicates that bend over such
///   that do not, [`Robust::straight`] refuses those for which that does not follow from straight signals); where one of the two is not finite (truth
///   values, comparisons with null) it holds as with `step`. Windows see the values at their edges, and where signals
///   cross, minima and maxima bend. Open ends are as with `step`.
/// - `φ U[I] ψ` at t is the supremum, over t′ with t′ − t ∈ I, of the least of ψ at t′ and the infimum of φ over
///   `[t,t′)`; `F G O H S R T W M B` follow. Windows are cut at the ends of the trace; the supremum of nothing is −inf.
/// - Values are reported at the samples. `X N Y Z` are refused: between samples there is no next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Each sample holds until the next.
    Step,
    /// Straight from sample to sample.
    Linear,
}

impl Interpolation {
    /// Every reading with its name on the command line.
    pub const ALL: [(&'static str, Interpolation); 2] =
        [("step", Interpolation::Step), ("linear", Interpolation::Linear)];
}

/// An interval of distances, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    low: i64,
    /// Whether the end itself lies outside. Of whole ticks none does.
    low_open: bool,
    /// Unbounded if `None`.
    high: Option<i64>,
    high_open: bool,
}

impl Window {
    /// Whether no distance lies in it.
    fn is_empty(self) -> bool {
        let open = self.low_open || self.high_open;
        self.high.is_some_and(|high| high < self.low || (high == self.low && open))
    }

    /// φ U[a,inf) ψ is φ nearer than a, and φ U ψ there.
    fn reach(self) -> [Window; 2] {
        let all = Window { low: 0, low_open: false, high: Some(self.low), high_open: !self.low_open };
        [all, Window { low: self.low, high_open: false, ..all }]
    }
}

/// Floating point tells so many ticks apart, and twice as many.
const LONGEST: i64 = 1 << 52;

/// A function of time that the operators are computed on.
trait Signal: Sized {
    /// Whether ticks may be longer than those of the clock: not if open ends are told by ticks.
    const SCALED: bool;

    /// From samples at ascending times; never none.
    fn new(times: &[i64], values: &[f64]) -> Self;
    fn constant(times: &[i64], value: f64) -> Self;
    /// True in the first instant, false after it.
    fn first(times: &[i64]) -> Self;
    fn negate(self) -> Self;
    fn join(&self, other: &Self) -> Self;
    /// Backwards in time.
    fn mirrored(&self) -> Self;
    /// The join over the window, or until.
    fn until(hold: Option<&Self>, goal: &Self, window: Window) -> Self;
    fn at(&self, times: &[i64]) -> Vec<f64>;
    fn bytes(&self) -> usize;

    fn meet(&self, other: &Self) -> Self
    where
        Self: Clone,
    {
        self.clone().negate().join(&other.clone().negate()).negate()
    }
}

impl Robust {
    /// The robustness of the given formulas at every position, with signals that go on between the samples.
    pub fn interpolated(
        &self,
        samples: &Samples,
        nodes: &[NodeId],
        reading: Interpolation,
    ) -> Result<Vec<Vec<f64>>, Unsupported> {
        self.check(samples)?;
        for &node in nodes {
            self.step(node)?;
        }
        let mut results = vec![Vec::with_capacity(samples.len); nodes.len()];
        for (start, end) in samples.segments() {
            let found = match reading {
                Interpolation::Step => self.read::<Runs>(samples, nodes, start, end)?,
                Interpolation::Linear => self.read::<Curve>(samples, nodes, start, end)?,
            };
            results.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
        }
        Ok(results)
    }

    fn read<S: Signal + Clone>(
        &self,
        samples: &Samples,
        nodes: &[NodeId],
        start: Position,
        end: Position,
    ) -> Result<Vec<Vec<f64>>, Unsupported> {
        let mut formulas = self.program.reachable(nodes);
        formulas.retain(|id| self.plan.of.contains_key(id));
        let mut uses: FxHashMap<NodeId, usize> = FxHashMap::default();
        let children = |&id: &NodeId| {
            let node = self.program.dag.node(id);
            (!is_predicate(node)).then(|| node.children()).into_iter().flatten()
        };
        nodes.iter().copied().chain(formulas.iter().flat_map(children)).for_each(|id| {
            *uses.entry(id).or_default() += 1;
        });
        let clock = Axis::new::<S>(self, samples, &formulas, start, end)?;
        let mut live: FxHashMap<NodeId, S> = FxHashMap::default();
        let mut bytes = 0usize;
        for &id in &formulas {
            if !uses.contains_key(&id) {
                continue;
            }
            let node = self.program.dag.node(id);
            let signal = match self.plan.predicates.binary_search(&id) {
                Ok(place) => clock.signal(&samples.predicates[place][start..end]),
                Err(_) => clock.formula(self, id, node, &live)?,
            };
            bytes = bytes.saturating_add(signal.bytes());
            if bytes > self.options.memory_budget {
                return Err(Unsupported::budget(format!(
                    "signals of {bytes} bytes within the memory budget of {} bytes",
                    self.options.memory_budget
                ))
                .help("shorter intervals, or a larger memory budget"));
            }
            live.insert(id, signal);
            for child in children(&id) {
                let left = uses.entry(child).or_default();
                *left -= 1;
                if *left == 0
                    && let Some(signal) = live.remove(&child)
                {
                    bytes -= signal.bytes();
                }
            }
        }
        Ok(nodes.iter().map(|node| live[node].at(&clock.places)).collect())
    }
}

/// The time of a segment, in ticks of a length that fits its samples and intervals.
struct Axis {
    tick: i64,
    /// Of every sample.
    places: Vec<i64>,
    /// Of every sample but those that another follows at the same time.
    times: Vec<i64>,
}

impl Axis {
    fn new<S: Signal>(
        robust: &Robust,
        samples: &Samples,
        formulas: &[NodeId],
        start: Position,
        end: Position,
    ) -> Result<Self, Unsupported> {
        let far = || Unsupported::budget("a trace that takes longer than 64 bits of nanoseconds can tell");
        let mut places: Vec<i64> = match (&samples.times, robust.options.clock) {
            (Some(times), Clock::Stamps) => {
                let since = |time: &i64| time.checked_sub(times[start]).ok_or_else(far);
                times[start..end].iter().map(since).collect::<Result<_, _>>()?
            }
            _ => (0..(end - start) as i64).collect(),
        };
        // The longest tick of which all distances are multiples, so that floating point tells them exactly.
        let mut tick = places.iter().copied().fold(0, gcd);
        for &id in formulas {
            let node = robust.program.dag.node(id);
            if node.interval().is_some() {
                let window = window(robust, id, node)?;
                tick = gcd(gcd(tick, window.low), window.high.unwrap_or_default());
            }
        }
        let tick = if S::SCALED { tick.max(1) } else { 1 };
        places.iter_mut().for_each(|time| *time /= tick);
        if S::SCALED && places.last().is_some_and(|&last| last > LONGEST) {
            return Err(Unsupported::budget(format!("signals between samples {LONGEST} ticks apart"))
                .help("coarser timestamps, or ⟨interpolate: step⟩"));
        }
        let mut times = places.clone();
        times.dedup();
        Ok(Axis { tick, places, times })
    }

    fn signal<S: Signal>(&self, values: &[f64]) -> S {
        let mut latest: Vec<f64> = Vec::with_capacity(self.times.len());
        for (at, &value) in values.iter().enumerate() {
            match at > 0 && self.places[at] == self.places[at - 1] {
                true => latest[self.times.partition_point(|&time| time < self.places[at])] = value,
                false => latest.push(value),
            }
        }
        S::new(&self.times, &latest)
    }

    fn formula<S: Signal + Clone>(
        &self,
        robust: &Robust,
        id: NodeId,
        node: Node,
        live: &FxHashMap<NodeId, S>,
    ) -> Result<S, Unsupported> {
        let of = |id: NodeId| &live[&id];
        let not = |id: NodeId| live[&id].clone().negate();
        let implies = |a: NodeId, b: NodeId| not(a).join(of(b));
        let mut window = window(robust, id, node)?;
        window.low /= self.tick;
        window.high = window.high.map(|high| high / self.tick);
        let past = node.is_past();
        let until = |hold: Option<&S>, goal: &S| match past {
            false => S::until(hold, goal, window),
            true => S::until(hold.map(S::mirrored).as_ref(), &goal.mirrored(), window).mirrored(),
        };
        if let Some(Way { dual, hold, goal: (goal, beside) }) = node.temporal().and_then(Applied::way) {
            let turned = |id: NodeId| if dual { not(id) } else { of(id).clone() };
            let goal = beside.map_or(turned(goal), |beside| turned(goal).meet(&turned(beside)));
            let made = until(hold.map(turned).as_ref(), &goal);
            return Ok(if dual { made.negate() } else { made });
        }
        Ok(match node {
            Node::Bool(holds) => S::constant(&self.times, truth(holds)),
            Node::First => S::first(&self.times),
            Node::Last => S::first(&[-self.times[self.times.len() - 1], -self.times[0]]).mirrored(),
            Node::Not(a) => not(a),
            Node::Or(a, b) => of(a).join(of(b)),
            Node::And(a, b) => of(a).meet(of(b)),
            Node::Implies(a, b) => implies(a, b),
            Node::Iff(a, b) => implies(a, b).meet(&implies(b, a)),
            Node::Xor(a, b) => implies(a, b).meet(&implies(b, a)).negate(),
            _ => {
                let what = format!("`{}` between samples (⟨interpolate⟩)", node.operator());
                return Err(Unsupported::construct(id, what).help(
                    "time goes on between samples, so none is next: use F, G, O or H with an interval",
                ));
            }
        })
    }
}

/// The operator's interval, as written where ends are open.
fn window(robust: &Robust, id: NodeId, node: Node) -> Result<Window, Unsupported> {
    let all = Window { low: 0, low_open: false, high: None, high_open: false };
    let Some(interval) = node.interval() else { return Ok(all) };
    let ticks = ticks(id, node, &robust.options)?;
    let high_open = interval.high.is_some_and(|high| high.open);
    Ok(Window {
        low: ticks.low - i64::from(interval.low.open),
        low_open: interval.low.open,
        high: interval.high.map(|_| ticks.high + i64::from(high_open)),
        high_open,
    })
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
