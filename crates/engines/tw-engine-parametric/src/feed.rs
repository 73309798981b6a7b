//! Monitors fed with batches, by one thread or by several.

use crate::state::Out;
use crate::work::{Shared, Work};
use crate::{Found, Monitors, Over};
use std::cmp::Ordering;
use std::sync::atomic::AtomicUsize;
use tw_core::Batch;
use tw_slicing::by_values;

/// Positions below which it is not worth starting threads.
const FEW: usize = 1 << 13;

/// The order in which reports are told.
fn by_place(a: &Found, b: &Found) -> Ordering {
    // The end is behind all positions.
    let place = |found: &Found| (found.position.unwrap_or(u64::MAX), found.monitor, found.order);
    place(a).cmp(&place(b)).then_with(|| by_values(&a.bindings, &b.bindings))
}

fn sort(found: &mut [Found]) {
    if !found.is_sorted_by(|a, b| by_place(a, b).is_le()) {
        found.sort_by(by_place);
    }
}

fn run(work: &mut Work, shared: &Shared<'_>) -> (Vec<Found>, Result<(), u64>) {
    let mut found = Vec::new();
    let done = work.run(shared, &mut found);
    (found, done)
}

impl Monitors {
    /// Further positions: `batch` has the columns of the program's slots. What is reported is appended in the order of
    /// positions, monitors, events and values.
    pub fn feed(&mut self, batch: &Batch, found: &mut Vec<Found>) -> Result<(), Over> {
        let from = found.len();
        let held: Vec<AtomicUsize> = self.works.iter().map(|work| AtomicUsize::new(work.bytes())).collect();
        let shared =
            Shared { plan: &self.plan, batch, before: self.positions, held: &held, budget: self.budget };
        let done = match &mut self.works[..] {
            [work] => work.run(&shared, found),
            works if batch.len < FEW => {
                let all: Vec<_> = works.iter_mut().map(|work| work.run(&shared, found)).collect();
                all.into_iter().collect()
            }
            [first, others @ ..] => std::thread::scope(|scope| {
                let shared = &shared;
                let start = |work| scope.spawn(move || run(work, shared));
                let others: Vec<_> = others.iter_mut().map(start).collect();
                let mut done = first.run(shared, found);
                for other in others {
                    match other.join() {
                        Ok((own, ended)) => {
                            found.extend(own);
                            done = done.and(ended);
                        }
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
                done
            }),
            [] => Ok(()),
        };
        sort(&mut found[from..]);
        self.positions += batch.len as u64;
        done.map_err(|position| self.over(position))
    }

    fn over(&self, position: u64) -> Over {
        let monitors = self.plan.shapes.len();
        let monitor = (0..monitors).max_by_key(|&monitor| self.held(monitor).bytes).unwrap_or(0);
        Over { monitor, bindings: self.held(monitor).bindings, bytes: self.heap_bytes(), position }
    }

    /// Drops what no report will need. It is done by itself when there is much of it.
    pub fn sweep(&mut self) {
        for work in &mut self.works {
            for (state, group) in work.states.iter_mut().zip(&self.plan.groups) {
                state.iter_mut().for_each(|state| state.sweep(group));
            }
            work.sweep_values(&self.plan);
        }
    }

    /// The trace is over: what `ltl` says of it, by monitor. The state stays as it is.
    pub fn finish(&self, found: &mut Vec<Found>) {
        let from = found.len();
        for work in &self.works {
            for (state, group) in work.states.iter().zip(&self.plan.groups) {
                let Some(state) = state else { continue };
                let mut out = Out { found, position: None, order: 0, values: &work.values, plan: &self.plan };
                state.finish(group, &mut out);
            }
        }
        sort(&mut found[from..]);
    }
}
