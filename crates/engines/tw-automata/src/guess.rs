//! Future operators inside past ones, decided over all infinite continuations.
//!
//! Machines that read forward know the past by bits of memory ([`crate::past`]), which a future operand would leave open.
//! Here each future subformula ψ that stands inside a past operator becomes an atom of its own, p, that nobody reads: it is
//! guessed, and `G (p <-> ψ)` keeps the guesses honest. Of an infinite word one sequence of guesses is honest, so φ holds of
//! it if and only if φ with the new atoms does, beside all these conditions.
//!
//! After a prefix, φ is settled to fail when, whatever was guessed so far, no infinite continuation satisfies φ and the
//! conditions; it is settled to hold when none satisfies its negation and the conditions. Kept are the states, of two
//! automata made on demand ([`Lazy`]), that honest guesses may have led to: those that nothing satisfies any more are left
//! out at once. A position costs a step for each of them and each guess, 2^k for k new atoms, hence the budgets.

use crate::buchi::Obstacle;
use crate::buchi::prepare::prepare;
use crate::deterministic::{Lazy, Options, Stop};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, take};
use tw_ir::{NodeId, Program};

/// Future operators that are guessed at most: what they cost is bounded by the steps below, this keeps guesses a number.
const HIDDEN: usize = 16;
/// Steps of guesses at a position.
const STEPS: usize = 1 << 20;
/// States that guesses may have led to.
const OPEN: usize = 4096;

/// A formula whose future stands inside its past.
pub struct Guessing {
    /// φ and the conditions, its negation and the conditions.
    sides: [Lazy; 2],
    /// The atoms of the program that the formula reads, and how many more are guessed.
    letters: Vec<usize>,
    hidden: usize,
}

/// The states of both sides that a prefix may have led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guesses {
    /// Of φ, then of its negation; ascending.
    pub open: [Vec<u32>; 2],
}

impl Guessing {
    /// Prepares a formula.
    pub fn new(program: &Program, goal: NodeId, options: &Options) -> Result<Self, Stop> {
        let atoms = program.atoms();
        let literal = |id: NodeId| atoms.binary_search(&id).is_ok();
        let mut sides = Vec::with_capacity(2);
        let (mut letters, mut hidden) = (Vec::new(), 0);
        for negated in [false, true] {
            let prepared =
                prepare(program, goal, negated, literal, 0).map_err(|obstacle| match obstacle {
                    Obstacle::Construct(refused) => Stop::Refused(refused),
                    other => Stop::Budget(other.to_string()),
                })?;
            (letters, hidden) = (prepared.letters, prepared.guessed);
            if hidden > HIDDEN {
                return Err(Stop::Budget(format!("more than {HIDDEN} future operators inside past ones")));
            }
            sides.push(Lazy::new(&Arc::new(prepared.program), prepared.formula, options)?);
        }
        let letters = letters.iter().filter_map(|letter| atoms.binary_search(letter).ok()).collect();
        let sides = <[Lazy; 2]>::try_from(sides).unwrap_or_else(|_| unreachable!("two sides were made"));
        Ok(Self { sides, letters, hidden })
    }

    /// Before the first position.
    pub fn origin(&mut self) -> Result<Guesses, Stop> {
        let mut guesses = Guesses::default();
        for (side, open) in self.sides.iter_mut().zip(&mut guesses.open) {
            let memory = side.past().origin();
            open.push(side.enter(&memory)?);
        }
        Ok(guesses)
    }

    /// Reads a position, its atoms packed 64 to a word; the verdict, if it is settled with it.
    pub fn step(&mut self, guesses: &mut Guesses, row: &[u64]) -> Result<Option<bool>, Stop> {
        let mut read = vec![0u64; (self.letters.len() + self.hidden).div_ceil(64)];
        for (letter, &atom) in self.letters.iter().enumerate() {
            read[letter / 64] |= (row[atom / 64] >> (atom % 64) & 1) << (letter % 64);
        }
        for (side, open) in self.sides.iter_mut().zip(&mut guesses.open) {
            let (mut next, mut met) = (Vec::new(), FxHashSet::default());
            if open.len() << self.hidden > STEPS {
                return Err(Stop::Budget(format!("more than {STEPS} ways to guess what follows")));
            }
            for guess in 0..1usize << self.hidden {
                for bit in 0..self.hidden {
                    let letter = self.letters.len() + bit;
                    let mask = 1u64 << (letter % 64);
                    match guess >> bit & 1 {
                        1 => read[letter / 64] |= mask,
                        _ => read[letter / 64] &= !mask,
                    }
                }
                for &state in &*open {
                    let state = side.step(state, &read)?;
                    if met.insert(state) && side.settled(state) != Some(false) {
                        next.push(state);
                    }
                }
                if next.len() > OPEN {
                    return Err(Stop::Budget(format!("more than {OPEN} ways to guess what follows")));
                }
            }
            if let Some(stop) = side.undecided() {
                return Err(stop);
            }
            next.sort_unstable();
            *open = next;
        }
        Ok(match guesses.open.each_ref().map(Vec::is_empty) {
            [true, _] => Some(false),
            [_, true] => Some(true),
            _ => None,
        })
    }

    /// Writes what a prefix may have led to so that another process can [`Guessing::load`] it.
    pub fn save(&self, guesses: &Guesses, out: &mut Vec<u8>) {
        for (side, open) in self.sides.iter().zip(&guesses.open) {
            put(open.len() as u64, out);
            open.iter().for_each(|&state| side.save(state, out));
        }
    }

    /// Reads back what [`Guessing::save`] wrote, advancing `from`.
    pub fn load(&mut self, from: &mut &[u8]) -> Result<Guesses, Corrupt> {
        let mut guesses = Guesses::default();
        for (side, open) in self.sides.iter_mut().zip(&mut guesses.open) {
            for _ in 0..take(from)? {
                open.push(side.load(from)?);
                if open.len() > OPEN {
                    return Err(Corrupt("the saved state has more guesses than are kept".into()));
                }
            }
            open.sort_unstable();
        }
        Ok(guesses)
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.sides.iter().map(Lazy::heap_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deterministic::Budget;
    use tw_ir::Semantics;
    use tw_testkit::lasso::{Bounds, naive_ltl3};
    use tw_testkit::{Rng, cases, texts};

    fn options() -> Options {
        let budget = Budget { states: 10_000, nodes: 1 << 17 };
        Options { semantics: Semantics::Ltl3, budget, anywhere: false, verdicts_only: false }
    }

    fn verdicts(text: &str, word: &[u64]) -> Vec<Option<bool>> {
        let program = texts::formula(text);
        let mut guessing = Guessing::new(&program, program.roots[0].node, &options()).unwrap();
        let mut guesses = guessing.origin().unwrap();
        word.iter().map(|&row| guessing.step(&mut guesses, &[row]).unwrap()).collect()
    }

    #[test]
    fn the_past_may_look_at_the_future() {
        // a is atom 0, b is atom 1.
        for (text, word, expected) in [
            ("G (O (X a))", vec![0, 1, 0], vec![None, Some(true), Some(true)]),
            ("H (N true)", vec![0], vec![Some(true)]),
            ("G (H (X a))", vec![0, 1, 0], vec![None, None, Some(false)]),
            ("O (F a)", vec![0, 0, 1], vec![None, None, Some(true)]),
            ("G (Y (G a) -> a)", vec![0, 1], vec![Some(true), Some(true)]),
            ("F (Y (a & X b))", vec![1, 3], vec![None, Some(true)]),
            ("F (O last)", vec![0], vec![Some(false)]),
            ("a -> H (F b)", vec![0], vec![Some(true)]),
        ] {
            assert_eq!(verdicts(text, &word), expected, "{text}");
        }
    }

    /// Steps are counted, not operators: many that are easy are decided, and what is not is refused.
    #[test]
    fn many_operators_are_guessed_within_a_budget() {
        let each = |count: usize, what: &dyn Fn(usize) -> String| -> String {
            (0..count).map(what).collect::<Vec<_>>().join(" & ")
        };
        let valid = each(12, &|index| format!("G (H (a{index} -> F a{index}))"));
        assert_eq!(verdicts(&valid, &[0]), [Some(true)]);
        let program = texts::formula(&each(12, &|index| format!("G (O (X a{index}))")));
        let mut guessing = Guessing::new(&program, program.roots[0].node, &options()).unwrap();
        let mut guesses = guessing.origin().unwrap();
        assert!(guessing.step(&mut guesses, &[0]).is_ok());
        assert!(matches!(guessing.step(&mut guesses, &[0]), Err(Stop::Budget(_))));
        let program = texts::formula(&each(20, &|index| format!("O (X a{index})")));
        let refused = Guessing::new(&program, program.roots[0].node, &options());
        assert!(matches!(refused, Err(Stop::Budget(_))));
    }

    fn formula(rng: &mut Rng, depth: usize) -> String {
        if depth == 0 || rng.one_in(6) {
            return rng.pick(&["a", "b", "!a", "true", "last"]).into();
        }
        let part = |rng: &mut Rng| formula(rng, depth - 1);
        match rng.below(8) {
            0 => format!("({} & {})", part(rng), part(rng)),
            1 => format!("({} | !{})", part(rng), part(rng)),
            2 | 3 => format!("({} {})", rng.pick(&["X", "F", "G", "N"]), part(rng)),
            4 | 5 => format!("({} {})", rng.pick(&["Y", "O", "H", "Z"]), part(rng)),
            6 => format!("({} {} {})", part(rng), rng.pick(&["U", "R", "W"]), part(rng)),
            _ => format!("({} {} {})", part(rng), rng.pick(&["S", "T", "B"]), part(rng)),
        }
    }

    /// Exact: settled if and only if all continuations agree, as far as short ones tell.
    #[test]
    fn verdicts_are_those_of_all_continuations() {
        let bounds = Bounds { stem: 3, cycle: 3, total: 5 };
        let mut compared = 0;
        for seed in 0..cases(300).min(20_000) {
            let mut rng = Rng::new(seed);
            let text = formula(&mut rng, 3);
            let program = texts::formula(&text);
            let root = program.roots[0].node;
            let atoms = program.atoms().len();
            let word: Vec<u64> = (0..1 + rng.below(3)).map(|_| rng.below(1 << atoms) as u64).collect();
            for (at, verdict) in verdicts(&text, &word).iter().enumerate() {
                let (holds, fails) = naive_ltl3(&program, root, &word[..=at], bounds);
                let expected = match (holds, fails) {
                    (true, true) => None,
                    (holds, _) => Some(holds),
                };
                assert_eq!(*verdict, expected, "{text} after {:?}", &word[..=at]);
                compared += 1;
            }
        }
        assert!(compared > 100, "{compared}");
    }
}
