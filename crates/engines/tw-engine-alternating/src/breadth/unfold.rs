//! From what is owed to slices: the initial slices of an expression.
//!
//! The published `initial` does not look at the position: literals go into slices, and slices whose literals turn out
//! false are dropped when the position is there. Where the position is known, literals are decided first and slices
//! hold future nodes alone, so that thirty conjoined responses are one slice instead of 3^30.

use super::family::{Limits, Slice};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use tw_automata::alternating::{Alternating, Direction, Expr, ExprId};
use tw_monitor::Unsupported;

/// The initial slices of expressions, each computed once.
pub(super) struct Unfold<'a> {
    pub(super) automaton: &'a Alternating,
    pub(super) limits: Limits,
    /// The atoms of the position, packed; `None` leaves literals in the slices.
    pub(super) row: Option<&'a [u64]>,
    pub(super) known: FxHashMap<ExprId, Rc<[Slice]>>,
}

impl Unfold<'_> {
    /// The slices in which all of `exprs` hold.
    pub(super) fn all(&mut self, exprs: &[ExprId]) -> Result<Vec<Slice>, Unsupported> {
        // Conjunctions of conjunctions are one: their families need not be kept on the way.
        let operands = self.operands(exprs, true);
        self.prepare(&operands)?;
        self.limits.product(&self.families(&operands))
    }

    /// Computes what is not known yet, operands first.
    fn prepare(&mut self, exprs: &[ExprId]) -> Result<(), Unsupported> {
        let mut needed: FxHashSet<ExprId> = FxHashSet::default();
        let mut todo = exprs.to_vec();
        while let Some(id) = todo.pop() {
            if !self.known.contains_key(&id) && needed.insert(id) {
                match self.automaton.expr(id) {
                    Expr::And(..) => todo.extend(self.operands(&[id], true)),
                    Expr::Or(..) => todo.extend(self.operands(&[id], false)),
                    _ => {}
                }
            }
        }
        let mut needed: Vec<ExprId> = needed.into_iter().collect();
        needed.sort_unstable();
        for id in needed {
            let family =
                match self.automaton.expr(id) {
                    Expr::True => vec![Slice::new()],
                    Expr::False => Vec::new(),
                    Expr::And(..) => self.limits.product(&self.families(&self.operands(&[id], true)))?,
                    Expr::Or(..) => self.limits.union(&self.families(&self.operands(&[id], false)))?,
                    Expr::Node(index) => {
                        let node = self.automaton.node(index);
                        match self.row {
                            Some(row) if node.direction == Direction::State => {
                                if node.label.holds(row, false) { vec![Slice::new()] } else { Vec::new() }
                            }
                            _ => vec![vec![index.0]],
                        }
                    }
                };
            self.known.insert(id, family.into());
        }
        Ok(())
    }

    fn families(&self, exprs: &[ExprId]) -> Vec<Rc<[Slice]>> {
        exprs.iter().map(|expr| self.known[expr].clone()).collect()
    }

    /// What a nest of conjunctions (or of disjunctions) is made of.
    fn operands(&self, exprs: &[ExprId], conjunction: bool) -> Vec<ExprId> {
        let mut operands = Vec::new();
        let mut seen: FxHashSet<ExprId> = exprs.iter().copied().collect();
        let mut todo: Vec<ExprId> = seen.iter().copied().collect();
        while let Some(id) = todo.pop() {
            match self.automaton.expr(id) {
                Expr::And(a, b) if conjunction => {
                    todo.extend([a, b].into_iter().filter(|&id| seen.insert(id)))
                }
                Expr::Or(a, b) if !conjunction => {
                    todo.extend([a, b].into_iter().filter(|&id| seen.insert(id)))
                }
                _ => operands.push(id),
            }
        }
        operands
    }
}

/// Whether expressions hold at a position if it is the last.
pub(super) struct Ending<'a> {
    pub(super) automaton: &'a Alternating,
    pub(super) row: &'a [u64],
    pub(super) known: FxHashMap<ExprId, bool>,
}

impl Ending<'_> {
    pub(super) fn holds(&mut self, expr: ExprId) -> bool {
        if let Some(&value) = self.known.get(&expr) {
            return value;
        }
        let mut needed = below(self.automaton, &[expr]);
        needed.retain(|id| !self.known.contains_key(id));
        for id in needed {
            let value = match self.automaton.expr(id) {
                Expr::True => true,
                Expr::False => false,
                Expr::And(a, b) => self.known[&a] && self.known[&b],
                Expr::Or(a, b) => self.known[&a] || self.known[&b],
                Expr::Node(index) => {
                    let node = self.automaton.node(index);
                    let goes_on = if node.stays { self.known[&node.delta] } else { node.accepting };
                    goes_on && node.label.holds(self.row, true)
                }
            };
            self.known.insert(id, value);
        }
        self.known[&expr]
    }
}

/// The expressions that decide the given ones at one position, ascending: through connectives, and through nexts that
/// stay at the last position.
pub(super) fn below(automaton: &Alternating, exprs: &[ExprId]) -> Vec<ExprId> {
    let mut seen: FxHashSet<ExprId> = exprs.iter().copied().collect();
    let mut todo: Vec<ExprId> = seen.iter().copied().collect();
    while let Some(id) = todo.pop() {
        match automaton.expr(id) {
            Expr::True | Expr::False => {}
            Expr::And(a, b) | Expr::Or(a, b) => todo.extend([a, b].into_iter().filter(|&id| seen.insert(id))),
            Expr::Node(index) => {
                let node = automaton.node(index);
                todo.extend(node.stays.then_some(node.delta).filter(|&id| seen.insert(id)));
            }
        }
    }
    let mut exprs: Vec<ExprId> = seen.into_iter().collect();
    exprs.sort_unstable();
    exprs
}
