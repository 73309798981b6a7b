//! Until without bounds: certain and impossible by graph search, the rest component by component.

use super::chain::Chain;
use super::number::{Exact, Number};
use super::{Chance, Found, Method, chances_of};
use tw_core::Bits;
use tw_model::State;

/// States of a component up to which it is solved by elimination: a square of numbers, and a cube of steps.
const ELIMINATED: usize = 1_500;
/// Steps that elimination may take on all components together.
const STEPS: f64 = 5e9;
/// States of a component, and states in all, up to which fractions are tried.
const FRACTIONS: (usize, usize) = (40, 4_000);
/// How near bounds come, and how many transitions are looked at before they are reported as they are.
const NEAR: f64 = 1e-12;
const LOOKED_AT: u64 = 8_000_000_000;

/// The states in which an until is neither certain nor impossible, by component: components before those that lead to
/// them.
struct Open {
    states: Vec<State>,
    /// Where each component ends in `states`.
    ends: Vec<usize>,
}

impl Open {
    fn new(chain: &Chain, open: &Bits) -> Self {
        let components = chain.graph.components(Some(open));
        let mut ends = vec![0; components.count + 1];
        open.iter_ones().for_each(|state| ends[components.of[state] as usize + 1] += 1);
        for at in 0..components.count {
            ends[at + 1] += ends[at];
        }
        let mut states = vec![0; ends[components.count]];
        let mut next = ends.clone();
        for state in open.iter_ones() {
            let place = &mut next[components.of[state] as usize];
            states[*place] = state as State;
            *place += 1;
        }
        ends.remove(0);
        Open { states, ends }
    }

    fn components(&self) -> impl Iterator<Item = &[State]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.states[start..end])
    }
}

/// The chances of `left U right`.
pub(super) fn until(chain: &Chain, left: &Bits, right: &Bits) -> Found {
    let possible = chain.backwards(right, |state| left.get(state));
    let impossible = Bits::from_words(possible.words().iter().map(|word| !word).collect(), possible.len());
    let uncertain = chain.backwards(&impossible, |state| !right.get(state));
    let open: Vec<u64> = possible
        .words()
        .iter()
        .zip(uncertain.words())
        .map(|(possible, uncertain)| possible & uncertain)
        .collect();
    let open = Open::new(chain, &Bits::from_words(open, possible.len()));
    let mut solver = Solver { chain, inside: vec![OUTSIDE; chain.states()] };
    let mut chances = chances_of(&possible);
    let mut method = if open.states.is_empty() { Method::Search } else { Method::Elimination };
    let mut steps = 0.0;
    for component in open.components() {
        let cost = (component.len() as f64).powi(3) / 3.0;
        if component.len() <= ELIMINATED && steps + cost <= STEPS && solver.eliminate(component, &mut chances)
        {
            steps += cost;
        } else {
            method = Method::Iteration;
            solver.iterate(component, &mut chances);
        }
    }
    let small = open.states.len() <= FRACTIONS.1;
    let exact = small.then(|| {
        let mut exact = chances_of(&possible);
        for component in open.components() {
            if component.len() > FRACTIONS.0 {
                let unknown = Chance { yes: Exact(None), no: Exact(None) };
                component.iter().for_each(|&state| exact[state as usize] = unknown);
            } else {
                solver.eliminate(component, &mut exact);
            }
        }
        exact
    });
    (chances, exact, method)
}

const OUTSIDE: u32 = u32::MAX;

struct Solver<'c> {
    chain: &'c Chain<'c>,
    /// The place of a state in the component at hand.
    inside: Vec<u32>,
}

/// Weights of a state of a component out of it: to states that satisfy the formula and to states that do not, and in
/// all.
#[derive(Clone, Copy)]
struct Out<N> {
    to: Chance<N>,
    all: N,
}

impl<N: Number> Out<N> {
    fn add(&mut self, weight: N, to: Chance<N>, all: N) {
        let Chance { yes, no } = self.to;
        self.to = Chance { yes: yes.add(weight.mul(to.yes)), no: no.add(weight.mul(to.no)) };
        self.all = self.all.add(weight.mul(all));
    }
}

impl Solver<'_> {
    /// Solves a component whose successors are solved. `false` if numbers became too small.
    ///
    /// The last state is taken away, and who went to it goes to where it would have gone, until one is left; that one
    /// leaves the component for certain, and the others follow in turn. The weight with which a state leaves is always
    /// summed up, never the difference of 1 and the weight of staying.
    fn eliminate<N: Number>(&mut self, component: &[State], chances: &mut [Chance<N>]) -> bool {
        let size = component.len();
        for (place, &state) in component.iter().enumerate() {
            self.inside[state as usize] = place as u32;
        }
        let mut matrix = vec![N::ZERO; size * size];
        let mut out = vec![Out { to: Chance::OPEN, all: N::ZERO }; size];
        for (place, &state) in component.iter().enumerate() {
            for (to, weight) in self.chain.row(state) {
                let weight = N::count(weight);
                match self.inside[to as usize] {
                    OUTSIDE => out[place].add(weight, chances[to as usize], N::ONE),
                    // How often a state is followed by itself does not matter: it is left in the end.
                    other if other as usize == place => {}
                    other => matrix[place * size + other as usize] = weight,
                }
            }
        }
        component.iter().for_each(|&state| self.inside[state as usize] = OUTSIDE);
        let mut leaving = vec![N::ZERO; size];
        for last in (0..size).rev() {
            let (before, row) = matrix.split_at_mut(last * size);
            let row = &row[..last];
            let from = out[last];
            let sum = row.iter().fold(from.all, |sum, &weight| sum.add(weight));
            if sum == N::ZERO {
                return false;
            }
            leaving[last] = sum;
            for place in 0..last {
                let there = before[place * size + last];
                if there == N::ZERO {
                    continue;
                }
                let share = there.div(sum);
                for (weight, &onwards) in before[place * size..place * size + last].iter_mut().zip(row) {
                    *weight = weight.add(share.mul(onwards));
                }
                before[place * size + place] = N::ZERO;
                out[place].add(share, from.to, from.all);
            }
        }
        for place in 0..size {
            let row = &matrix[place * size..place * size + place];
            let mut sum = out[place];
            for (&weight, &to) in row.iter().zip(component).filter(|(weight, _)| **weight != N::ZERO) {
                sum.add(weight, chances[to as usize], N::ONE);
            }
            let part = |sum: N| sum.div(leaving[place]).positive();
            chances[component[place] as usize] = Chance { yes: part(sum.to.yes), no: part(sum.to.no) };
        }
        true
    }

    /// Comes near the chances of a component from below, both for and against: what is missing from 1 together is what
    /// is not known.
    fn iterate(&mut self, component: &[State], chances: &mut [Chance<f64>]) {
        let transitions: u64 =
            component.iter().map(|&s| 1 + self.chain.graph.successors(s).len() as u64).sum();
        component.iter().for_each(|&state| chances[state as usize] = Chance::OPEN);
        for round in 0..(LOOKED_AT / transitions).max(2) {
            let (mut unknown, mut moved) = (0.0f64, false);
            for at in 0..component.len() {
                // To and fro: what comes late in one round comes early in the next.
                let state = component[if round % 2 == 0 { component.len() - 1 - at } else { at }];
                let (mut yes, mut no, mut all) = (0.0, 0.0, 0.0);
                for (to, weight) in self.chain.row(state).filter(|(to, _)| *to != state) {
                    let weight = weight as f64;
                    yes += weight * chances[to as usize].yes;
                    no += weight * chances[to as usize].no;
                    all += weight;
                }
                let (yes, no) = (yes / all, no / all);
                let chance = &mut chances[state as usize];
                moved |= yes > chance.yes || no > chance.no;
                *chance = Chance { yes: yes.max(chance.yes), no: no.max(chance.no) };
                unknown = unknown.max(1.0 - chance.yes - chance.no);
            }
            if unknown <= NEAR || !moved {
                break;
            }
        }
        for &state in component {
            let Chance { yes, no } = chances[state as usize];
            chances[state as usize] = Chance { yes: yes.positive(), no: no.positive() };
        }
    }
}
