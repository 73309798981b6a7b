//! The probability of a formula on the Markov chain that counts make of a merged model.
//!
//! A state is left by each of its transitions with the share of times that traces took it. Two rules complete this:
//!
//! - That a trace ends is no event. Where some traces end and others go on, those that go on share the whole.
//! - An assumed transition (of count 0, such as the loop where all traces end) is taken only from states that no seen
//!   transition leaves; there it has probability 1, or an equal share if there are several.
//!
//! Paths begin in the initial states as often as traces do. The chain is an estimate: it says how often paths of the
//! merged model satisfy a formula if what comes next depends on the state alone, not how sure the counts are.
//!
//! Every path formula with one temporal operator is an until, perhaps with bounds, or the negation of one. Of an until
//! without bounds, graph searches find the states where it is certain or impossible, so that 0 and 1 are never the
//! result of rounding. The others are solved one strongly connected component after the other, by elimination of states
//! (Grassmann, Taksar, Heyman: "Regenerative Analysis and Steady State Distributions for Markov Chains"): no
//! difference is ever taken, hence no digits are lost, however rare the event. Components too large for that are
//! iterated from below, for the formula and for its negation at once, and the two bounds are reported. Bounded untils
//! are one step of the chain per transition. Small models are also solved in fractions.

mod bounded;
mod chain;
mod number;
mod question;
#[cfg(test)]
mod tests;
mod until;

use crate::Checker;
use chain::Chain;
use number::{Exact, Number};
use question::Question;
use tw_core::Bits;
use tw_ir::{NodeId, Program};
use tw_monitor::Unsupported;

pub use number::Fraction;

/// How a probability was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// A formula about states: the share of traces that begin in one.
    Starts,
    /// By graph search alone: it is certain or impossible from every state.
    Search,
    /// By elimination of states: accurate to rounding.
    Elimination,
    /// By iteration: between two bounds.
    Iteration,
    /// Step by step, as far as the bounds of the operator say: accurate to rounding.
    Steps,
}

impl Method {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Starts => "starts",
            Method::Search => "search",
            Method::Elimination => "elimination",
            Method::Iteration => "iteration",
            Method::Steps => "steps",
        }
    }
}

/// How probable a formula is.
#[derive(Clone, Debug, PartialEq)]
pub struct Probability {
    /// On a path from the initial states, taken as often as traces begin in them. It is 0 only if no path satisfies the
    /// formula but by a coincidence of probability 0, and 1 only if none violates it but by such a one.
    pub value: f64,
    /// That the formula does not hold, to full accuracy also where `value` is nearly 1.
    pub complement: f64,
    /// Lower bound; equal to `value` but for [`Method::Iteration`].
    pub lower: f64,
    /// Upper bound; equal to `value` but for [`Method::Iteration`].
    pub upper: f64,
    /// As a fraction, if the model is small enough.
    pub fraction: Option<Fraction>,
    /// How it was found.
    pub method: Method,
    /// On a path from each state.
    pub states: Vec<f64>,
}

/// The probability that something holds and the probability that it does not.
#[derive(Clone, Copy, PartialEq)]
struct Chance<N> {
    yes: N,
    no: N,
}

/// The chances of every state, also as fractions if they were found, and how.
type Found = (Vec<Chance<f64>>, Option<Vec<Chance<Exact>>>, Method);

impl<N: Number> Chance<N> {
    const CERTAIN: Self = Chance { yes: N::ONE, no: N::ZERO };
    const IMPOSSIBLE: Self = Chance { yes: N::ZERO, no: N::ONE };
    /// Nothing is known yet.
    const OPEN: Self = Chance { yes: N::ZERO, no: N::ZERO };

    fn turned(self) -> Self {
        Chance { yes: self.no, no: self.yes }
    }
}

/// Certain in a set, impossible elsewhere.
fn chances_of<N: Number>(set: &Bits) -> Vec<Chance<N>> {
    let chance = |state: usize| if set.get(state) { Chance::CERTAIN } else { Chance::IMPOSSIBLE };
    (0..set.len()).map(chance).collect()
}

/// A mean by weights. Its parts are 0 only where they are so of all that it is taken of.
fn mean<N: Number>(of: impl Iterator<Item = (Chance<N>, u64)>, total: u64) -> Chance<N> {
    let (mut sum, mut never, mut always) = (Chance::<N>::OPEN, true, true);
    for (chance, weight) in of {
        let weight = N::count(weight);
        never &= chance.yes == N::ZERO;
        always &= chance.no == N::ZERO;
        sum = Chance { yes: sum.yes.add(weight.mul(chance.yes)), no: sum.no.add(weight.mul(chance.no)) };
    }
    let part = |sum: N, zero: bool| if zero { N::ZERO } else { sum.div(N::count(total)).positive() };
    Chance { yes: part(sum.yes, never), no: part(sum.no, always) }
}

/// The greatest number below 1.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

/// A probability from itself and its complement: 1 and 0 only where they are exact.
fn settle(yes: f64, no: f64) -> f64 {
    match (yes == 0.0, no == 0.0) {
        (true, _) => 0.0,
        (_, true) => 1.0,
        _ => yes.clamp(f64::MIN_POSITIVE, BELOW_ONE),
    }
}

/// The probability of the formula at `root`: `X`, `N`, `F`, `G`, `U`, `W`, `R` and `M`, with or without bounds (in
/// transitions), over formulas about states, and negations of these. A path quantifier around it is left out: asked for
/// its probability, `AG p` is `G p`. A formula about states has the probability of beginning in one that satisfies it.
///
/// `truth` gives the states that satisfy a subformula; it must know all that begin with a path quantifier and the atoms,
/// connectives of what it knows are computed here.
pub fn probability<'t>(
    checker: &Checker,
    program: &Program,
    root: NodeId,
    truth: &dyn Fn(NodeId) -> Option<&'t Bits>,
) -> Result<Probability, Unsupported> {
    let chain = Chain::new(checker)?;
    let Question { negated, holds } = Question::new(program, root, checker.model.states(), truth)?;
    let (mut chances, exact, method) = match holds {
        question::Path::State(set) => (chances_of(&set), Some(chances_of(&set)), Method::Starts),
        question::Path::Until { left, right, bounds: None } => until::until(&chain, &left, &right),
        question::Path::Until { left, right, bounds: Some(ticks) } => {
            bounded::bounded(&chain, &left, &right, ticks)?
        }
    };
    if negated {
        chances.iter_mut().for_each(|chance| *chance = chance.turned());
    }
    let starts = || checker.initial().iter().zip(chain.starts()).filter(|(_, count)| **count > 0);
    let begin = starts().map(|(&state, &count)| (chances[state as usize], count));
    let Chance { yes: p, no: q } = mean(begin, chain.traces());
    let fraction = exact.and_then(|exact: Vec<Chance<Exact>>| {
        let begin = starts().map(|(&state, &count)| (exact[state as usize], count));
        let chance = mean(begin, chain.traces());
        if negated { chance.no.0 } else { chance.yes.0 }
    });
    let value = settle(p, q);
    let (value, lower, upper) = if method == Method::Iteration {
        let (lower, upper) = (value.min(1.0 - q), value.max(1.0 - q));
        ((lower + upper) / 2.0, lower, upper)
    } else {
        (value, value, value)
    };
    let middle = |&Chance { yes, no }: &Chance<f64>| match method {
        Method::Iteration => settle((yes + (1.0 - no)) / 2.0, (no + (1.0 - yes)) / 2.0),
        _ => settle(yes, no),
    };
    let states = chances.iter().map(middle).collect();
    Ok(Probability { value, complement: settle(q, p), lower, upper, fraction, method, states })
}
