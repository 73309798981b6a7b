//! The walks over the trace, for truth and for any other semiring.

use super::passes::{Op, Pass, Passes};
use crate::goals::Segment;
use crate::semiring::{Column, Semiring};
use tw_automata::alternating::{Alternating, ExprId};
use tw_core::Position;
use tw_monitor::{Trace, Unsupported};

/// Where a walk is.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: Position,
    /// Whether a segment starts here.
    pub(crate) first: bool,
    /// Whether the walk goes backwards.
    pub(crate) backward: bool,
}

/// REVERSE, made ready for some goals.
pub(crate) struct Sweep {
    passes: Passes,
}

impl Sweep {
    pub(crate) fn new(automaton: &Alternating, goals: &[ExprId]) -> Self {
        Self { passes: Passes::new(automaton, goals) }
    }

    /// Expressions computed per position, over all walks.
    pub(crate) fn nodes(&self) -> usize {
        let step = |op: &&Op| matches!(op, Op::Step { .. } | Op::Label(..));
        self.passes.passes.iter().map(|pass| pass.ops.iter().filter(step).count()).sum()
    }

    /// Tells `found` the value of every goal at every position, in the order of the goal's walk.
    pub(crate) fn run<S: Semiring>(
        &self,
        semiring: &S,
        trace: &Trace,
        budget: usize,
        mut found: impl FnMut(usize, Place, &S::Value),
    ) -> Result<(), Unsupported> {
        let mut columns: Vec<Option<S::Column>> = (0..self.passes.columns).map(|_| None).collect();
        let each =
            S::Column::bytes(trace.len).saturating_add(trace.len.saturating_mul(semiring.heap_bytes()));
        let mut live = 0usize;
        for pass in &self.passes.passes {
            live += pass.keeps.len();
            if live.saturating_mul(each) > budget {
                let what = format!("{live} columns of {each} bytes within the memory budget of {budget}");
                return Err(Unsupported::budget(what));
            }
            for &(_, column) in &pass.keeps {
                columns[column as usize] = Some(S::Column::repeat(semiring.bottom(), trace.len));
            }
            let mut walk = Walk {
                pass,
                semiring,
                now: vec![semiring.bottom(); pass.ops.len()],
                beside: vec![semiring.bottom(); pass.ops.len()],
            };
            let mut at = |walk: &mut Walk<'_, S>, segment: &Segment<'_>, at: Position, edge: bool| {
                walk.position(segment, &columns, at, edge);
                for &(register, column) in &pass.keeps {
                    if let Some(column) = &mut columns[column as usize] {
                        column.put(at, walk.now[register as usize].clone());
                    }
                }
                let place = Place { at, first: at == segment.start, backward: pass.backward };
                for &(goal, register) in &pass.goals {
                    found(goal, place, &walk.now[register as usize]);
                }
                std::mem::swap(&mut walk.now, &mut walk.beside);
            };
            if pass.backward {
                for segment in Segment::all(trace).rev() {
                    for position in (segment.start..segment.end).rev() {
                        at(&mut walk, &segment, position, position + 1 == segment.end);
                    }
                }
            } else {
                for segment in Segment::all(trace) {
                    for position in segment.start..segment.end {
                        at(&mut walk, &segment, position, position == segment.start);
                    }
                }
            }
            for &column in &pass.drops {
                columns[column as usize] = None;
            }
            live -= pass.drops.len();
        }
        Ok(())
    }
}

struct Walk<'a, S: Semiring> {
    pass: &'a Pass,
    semiring: &'a S,
    /// Values here, and at the position that was walked over just before.
    now: Vec<S::Value>,
    beside: Vec<S::Value>,
}

impl<S: Semiring> Walk<'_, S> {
    /// Computes one position; `edge` is the first that the walk meets of a segment.
    #[inline]
    fn position(&mut self, segment: &Segment<'_>, columns: &[Option<S::Column>], at: Position, edge: bool) {
        let semiring = self.semiring;
        for (register, op) in self.pass.ops.iter().enumerate() {
            let value = match *op {
                Op::Constant(true) => semiring.top(),
                Op::Constant(false) => semiring.bottom(),
                Op::Label(node, label) => {
                    if segment.holds(label, at) {
                        semiring.update(&semiring.top(), node)
                    } else {
                        semiring.bottom()
                    }
                }
                Op::Step { node, label, delta, accepting, stays } => {
                    let next = if !edge {
                        self.beside[delta as usize].clone()
                    } else if stays {
                        self.now[delta as usize].clone()
                    } else if accepting {
                        semiring.top()
                    } else {
                        semiring.bottom()
                    };
                    if next != semiring.bottom() && segment.holds(label, at) {
                        semiring.update(&next, node)
                    } else {
                        semiring.bottom()
                    }
                }
                Op::Kept(column) => match &columns[column as usize] {
                    Some(column) => column.at(at),
                    None => unreachable!("a column lives until its last reader"),
                },
                Op::And(a, b) => semiring.meet(&self.now[a as usize], &self.now[b as usize]),
                Op::Or(a, b) => semiring.join(&self.now[a as usize], &self.now[b as usize]),
            };
            self.now[register] = value;
        }
    }
}
