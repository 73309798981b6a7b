//! Linear time: is there a path from an initial state that violates the formula?
//!
//! Such a path is an accepting run of the product of the model with the Büchi automaton of the negated formula
//! ([`tw_automata::Buchi`]), which is made as it is searched:
//!
//! - A pair of a state and an automaton state goes over each transition of the model with each transition of the
//!   automaton that can read the state (`product`). States that the automaton cannot tell apart share what it can do.
//! - Pairs whose automaton state no accepting run meets again and again are only passed: they are searched breadth
//!   first. From the others Couvreur's search finds a component of pairs that has all marks as soon as the transition
//!   that closes it is seen (`search`). Fairness sets are further marks.
//! - Automata that have decided (those of violated safety properties) accept whatever comes and need no cycle. Other
//!   counterexamples are lassos, made short afterwards (`lasso`).
//!
//! One search costs at most (transitions of the model) × (transitions of the automaton) steps, and 4 bytes for each
//! pair, of which only those that are met are touched; beyond a budget pairs are hashed.

pub(crate) mod lasso;
mod product;
mod search;
#[cfg(test)]
pub(crate) mod tableau;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use product::Product;
pub(crate) use search::{Kind, Outcome, Search};

use crate::{Checker, Evidence};
use tw_automata::Buchi;
use tw_automata::buchi::{Budget, Obstacle};
use tw_core::Bits;
use tw_ir::{NodeId, Program, display};
use tw_model::State;
use tw_monitor::Unsupported;

/// What a formula of linear time came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// A path from an initial state on which the formula is false, if there is one: a lasso, or a path without cycle
    /// all of whose continuations violate the formula.
    pub counterexample: Option<Evidence>,
    /// States of the automaton of the negated formula.
    pub automaton: usize,
    /// Pairs of states of model and automaton that were looked at.
    pub explored: usize,
}

impl Linear {
    /// Whether the formula holds on every path that counts from every initial state.
    pub fn holds(&self) -> bool {
        self.counterexample.is_none()
    }
}

/// Whether a formula holds on every path that counts; `atoms` are the states of each of [`Program::atoms`].
pub fn linear(
    checker: &Checker,
    program: &Program,
    root: NodeId,
    atoms: &[Bits],
) -> Result<Linear, Unsupported> {
    ask(checker, program, root, false, atoms)
}

/// A path from an initial state on which the formula is true, if there is one.
pub fn linear_witness(
    checker: &Checker,
    program: &Program,
    root: NodeId,
    atoms: &[Bits],
) -> Result<Option<Evidence>, Unsupported> {
    Ok(ask(checker, program, root, true, atoms)?.counterexample)
}

/// Looks for a path on which the formula has this truth.
fn ask(
    checker: &Checker,
    program: &Program,
    root: NodeId,
    value: bool,
    atoms: &[Bits],
) -> Result<Linear, Unsupported> {
    let buchi = Buchi::new(program, root, !value, Budget::default())
        .map_err(|obstacle| unsupported(program, obstacle))?;
    let known = program.atoms();
    let column = |letter: &NodeId| known.binary_search(letter).ok().and_then(|atom| atoms.get(atom));
    let letters: Option<Vec<&Bits>> = buchi.letters.iter().map(column).collect();
    let letters =
        letters.ok_or_else(|| Unsupported::construct(root, "atoms that the model does not tell"))?;
    let (found, explored) = find(checker, &buchi, letters, checker.initial(), false)?;
    let counterexample = found.map(|(steps, cycle)| Evidence::path(root, value, steps, cycle));
    Ok(Linear { counterexample, automaton: buchi.states.len(), explored })
}

/// A path: its states, and where it goes on after the last.
pub(crate) type Path = (Vec<State>, Option<usize>);

/// A path from one of some states that the automaton accepts, and how many pairs were looked at. With `whole` it is
/// always a lasso.
pub(crate) fn find(
    checker: &Checker,
    buchi: &Buchi,
    letters: Vec<&Bits>,
    from: &[State],
    whole: bool,
) -> Result<(Option<Path>, usize), Unsupported> {
    let mut product = Product::new(checker, buchi, letters)?;
    // Every continuation will do once the automaton has decided, if all of them count.
    let decides = !whole && checker.fair_sets().is_empty();
    let kind = |(state, recurrent): (usize, bool)| match recurrent {
        true if decides && buchi.is_universal(state as u32) => Kind::Decided,
        true => Kind::Recurrent,
        false => Kind::Passing,
    };
    let kinds: Vec<Kind> = buchi.recurrent().into_iter().enumerate().map(kind).collect();
    let mut search = Search::new(&product, kinds.clone(), true);
    let outcome = search.run(&mut product, from.iter().copied());
    let explored = search.met();
    let path = match outcome {
        Outcome::Nothing => None,
        Outcome::Decided => {
            let goal = |pair: product::Pair| kinds[pair.automaton as usize] == Kind::Decided;
            let stem = lasso::Nearest::new(&product).search(&mut product, from, goal);
            stem.map(|stem| (lasso::decisive(&stem), None))
        }
        Outcome::Component(first) => {
            let inside = |pair| search.is_live(pair, first);
            lasso::lasso(&mut product, from, inside)
        }
    };
    Ok((path, explored))
}

/// Why a formula has no automaton, in words for who wrote it.
pub(crate) fn unsupported(program: &Program, obstacle: Obstacle) -> Unsupported {
    let what = match obstacle.node() {
        Some(node) => format!("`{}`: {obstacle}", display(program, node)),
        None => obstacle.to_string(),
    };
    let help = match obstacle {
        Obstacle::Size(..) => Some("check its parts one by one"),
        Obstacle::Interval(..) => Some("write intervals as numbers of transitions: `F[0,5] p`"),
        Obstacle::Window(..) => Some("make the interval shorter"),
        Obstacle::Construct(_) => None,
    };
    Unsupported {
        node: obstacle.node(),
        what,
        help: help.map(str::to_owned),
        exhausted: obstacle.is_budget(),
    }
}
