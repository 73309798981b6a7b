//! The published on-line algorithm: a table of robustness values, recomputed with every sample.
//!
//! A. Dokhanchi, B. Hoxha, G. Fainekos, *On-Line Monitoring for Temporal Logic Robustness*, RV 2014, for uniformly
//! sampled signals and intervals in samples. Columns stand for the last `Hst` samples, the present one and `Hrz`
//! predicted ones; rows for the subformulas, in the paper's syntax: true, predicates, not, or, U and S. O(rows·W²) per
//! sample, W = Hst + Hrz + 1; memory O(rows·W). A second reference, for tests.
//!
//! Three repairs: the history of an unbounded since with lower bound 0 must not be one less than that of its left
//! operand; columns before the first sample count for nothing; where fewer than `Hrz` samples are predicted the table
//! ends with the last of them.

mod rows;

use crate::lattice::{max, min, negate};
use crate::{Robust, signals::truth};
use rows::Rows;
use tw_ir::{Clock, NodeId};
use tw_monitor::Unsupported;

/// A subformula in the paper's syntax; intervals in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Row {
    True,
    Predicate(usize),
    Not(usize),
    Or(usize, usize),
    Until(usize, usize, usize, usize),
    Since(usize, Option<usize>, usize, usize),
}

/// The table of one formula.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Row>,
    /// History of each row.
    hst: Vec<usize>,
    horizon: usize,
    history: usize,
    /// Row by row, columns from `-Hst` to `Hrz`.
    cells: Vec<Vec<f64>>,
    /// What an unbounded since was worth just before its first column.
    pre: Vec<f64>,
    /// Samples seen.
    seen: usize,
}

/// A history longer than this is a mistake, not a table.
const WIDEST: usize = 1 << 20;

impl Table {
    /// The table of `node`, which has a bounded future and is read in positions.
    pub fn new(robust: &Robust, node: NodeId) -> Result<Table, Unsupported> {
        robust.step(node)?;
        if robust.options.clock != Clock::Index {
            return Err(Unsupported::construct(node, "a table over timestamps")
                .help("count positions: ⟨clock: index⟩"));
        }
        let (rows, root) = Rows::of(robust, node)?;
        debug_assert_eq!(root + 1, rows.len());
        let (mut hrz, mut hst) = (vec![0usize; rows.len()], vec![0usize; rows.len()]);
        for (at, &row) in rows.iter().enumerate() {
            (hrz[at], hst[at]) = match row {
                Row::True | Row::Predicate(_) => (0, 0),
                Row::Not(a) => (hrz[a], hst[a]),
                Row::Or(a, b) => (hrz[a].max(hrz[b]), hst[a].max(hst[b])),
                Row::Until(_, u, a, b) => {
                    let left = hrz[a].saturating_add(u.saturating_sub(1));
                    (left.max(hrz[b].saturating_add(u)), hst[a].max(hst[b]))
                }
                Row::Since(l, u, a, b) => {
                    // Unbounded: what is further back than `l` is in the previous column of the same row.
                    let reach = u.unwrap_or(l);
                    let left = hst[a].saturating_add(reach.saturating_sub(1));
                    (hrz[a].max(hrz[b]), left.max(hst[b].saturating_add(reach)))
                }
            };
        }
        let (horizon, history) = (hrz[root], hrz[root].saturating_add(hst[root]));
        let width = horizon.saturating_add(history).saturating_add(1);
        if width > WIDEST {
            return Err(Unsupported::budget(format!("a table of {width} columns")).help("shorter intervals"));
        }
        let cells = vec![vec![f64::NEG_INFINITY; width]; rows.len()];
        let pre = vec![f64::NEG_INFINITY; rows.len()];
        Ok(Table { rows, hst, horizon, history, cells, pre, seen: 0 })
    }

    /// `hrz`: how many samples ahead the formula looks.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// `hst`: how many samples back the formula looks, beside what it carries along.
    pub fn history(&self) -> usize {
        self.hst[self.rows.len() - 1]
    }

    /// The robustness at the next sample: what each predicate is worth there and at the samples predicted after it, of
    /// which no more than the horizon count.
    pub fn step(&mut self, samples: &[Vec<f64>]) -> f64 {
        let i = self.seen;
        self.seen += 1;
        let history = self.history;
        for (at, &row) in self.rows.iter().enumerate() {
            if let Row::Since(_, None, ..) = row {
                // The column's sample was i − 1 − Hst + hst.
                let real = i + self.hst[at] > history;
                self.pre[at] = if real { self.cells[at][self.hst[at]] } else { f64::NEG_INFINITY };
            }
        }
        let ahead = samples.iter().map(|column| column.len().saturating_sub(1)).min();
        let last = history + ahead.map_or(self.horizon, |ahead| ahead.min(self.horizon));
        let low = history.saturating_sub(i);
        for at in 0..self.rows.len() {
            let row = self.rows[at];
            let (below, rest) = self.cells.split_at_mut(at);
            let own = &mut rest[0];
            match row {
                Row::Predicate(predicate) => {
                    own.rotate_left(1);
                    own[history..=last].copy_from_slice(&samples[predicate][..=last - history]);
                }
                Row::True => own.fill(f64::INFINITY),
                Row::Not(a) => (low..=last).for_each(|j| own[j] = negate(below[a][j])),
                Row::Or(a, b) => (low..=last).for_each(|j| own[j] = max(below[a][j], below[b][j])),
                Row::Until(l, u, a, b) => {
                    for j in (low..=last).rev() {
                        own[j] = f64::NEG_INFINITY;
                        if j + l <= last {
                            let mut held = below[a][j..j + l].iter().copied().fold(f64::INFINITY, min);
                            let reach = j + l..=j.saturating_add(u).min(last);
                            for (&hold, &goal) in below[a][reach.clone()].iter().zip(&below[b][reach]) {
                                own[j] = max(own[j], min(held, goal));
                                held = min(held, hold);
                            }
                        }
                    }
                }
                Row::Since(l, Some(u), a, b) => {
                    for j in low..=last {
                        own[j] = f64::NEG_INFINITY;
                        if j >= low + l {
                            let mut held = below[a][j - l + 1..=j].iter().copied().fold(f64::INFINITY, min);
                            for k in (low.max(j.saturating_sub(u))..=j - l).rev() {
                                own[j] = max(own[j], min(held, below[b][k]));
                                held = min(held, below[a][k]);
                            }
                        }
                    }
                }
                Row::Since(l, None, a, b) => {
                    for j in low..=last {
                        let previous = match j {
                            _ if j == self.hst[at] => self.pre[at],
                            _ if j > low => own[j - 1],
                            _ => f64::NEG_INFINITY,
                        };
                        let new = if j >= low + l {
                            let held = below[a][j - l + 1..=j].iter().copied().fold(f64::INFINITY, min);
                            min(held, below[b][j - l])
                        } else {
                            f64::NEG_INFINITY
                        };
                        own[j] = max(new, min(previous, below[a][j]));
                    }
                }
            }
        }
        self.cells.last().map_or(truth(true), |row| row[history])
    }
}
