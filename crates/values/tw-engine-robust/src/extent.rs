//! How far formulas look ahead and back: `hrz` and `hst`.

use crate::Robust;
use crate::plan::{is_predicate, ticks};
use rustc_hash::FxHashMap;
use tw_ir::{Clock, Node, NodeId, Ticks, Way};
use tw_monitor::Unsupported;

/// A distance: intervals on timestamps count in ticks, neighbours in positions. Where positions are counted, everything
/// is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Nanoseconds.
    pub ticks: i64,
    /// Samples.
    pub positions: i64,
}

impl Extent {
    fn max(self, other: Extent) -> Extent {
        Extent { ticks: self.ticks.max(other.ticks), positions: self.positions.max(other.positions) }
    }
}

impl Robust {
    /// How far ahead the value of `node` depends on samples: how long it stays pending, and how much a predictor has to
    /// predict. `None` if there is no end to it.
    pub fn horizon(&self, node: NodeId) -> Result<Option<Extent>, Unsupported> {
        self.extent(node, false)
    }

    /// How far back the value of `node` depends on samples, beside what an unbounded past operator carries along from
    /// sample to sample.
    pub fn history(&self, node: NodeId) -> Result<Extent, Unsupported> {
        Ok(self.extent(node, true)?.unwrap_or_default())
    }

    fn extent(&self, node: NodeId, past: bool) -> Result<Option<Extent>, Unsupported> {
        self.step(node)?;
        let mut extents: FxHashMap<NodeId, Option<Extent>> = FxHashMap::default();
        let below = self.program.reachable(&[node]);
        for &id in below.iter().filter(|id| self.plan.of.contains_key(id)) {
            let node = self.program.dag.node(id);
            let own = if is_predicate(node) {
                Some(Extent::default())
            } else {
                self.own(id, node, past, &extents)?
            };
            extents.insert(id, own);
        }
        Ok(extents[&node])
    }

    /// The extent of a formula, from those of its operands.
    fn own(
        &self,
        id: NodeId,
        node: Node,
        past: bool,
        below: &FxHashMap<NodeId, Option<Extent>>,
    ) -> Result<Option<Extent>, Unsupported> {
        let Ticks { low, high } = ticks(id, node, &self.options)?;
        let counted = self.options.clock != Clock::Stamps;
        let of = |id: NodeId| below[&id];
        let both = |a: Option<Extent>, b: Option<Extent>| Some(a?.max(b?));
        let one = Extent { ticks: 0, positions: 1 };
        // Each operand is read so far away.
        let farther = |extent: Option<Extent>, by: i64| {
            let Extent { ticks, positions } = extent?;
            Some(match counted {
                true => Extent { ticks, positions: positions.saturating_add(by) },
                false => Extent { ticks: ticks.saturating_add(by), positions },
            })
        };
        // An unbounded past operator reads its operands `low` back and carries the rest along.
        let reach = if high < i64::MAX { high } else { low };
        let looks = if past { node.is_past() } else { node.is_future() };
        let endless = !past && looks && high == i64::MAX;
        let way = |hold: Option<Extent>, goal: Option<Extent>| match looks {
            false => both(hold, goal),
            true if endless => None,
            // What has to hold does so before the goal: one position less, where these are counted.
            true => both(farther(hold, (reach - i64::from(counted)).max(0)), farther(goal, reach)),
        };
        if let Some(operator) = node.temporal() {
            return Ok(match operator.way() {
                // In the dual it is the same.
                Some(Way { hold, goal: (goal, beside), .. }) => {
                    let hold = hold.map_or(Some(Extent::default()), of);
                    way(hold, beside.map_or(of(goal), |beside| both(of(goal), of(beside))))
                }
                None => {
                    // The neighbour is one position away: an interval without 1 leaves nothing to look at.
                    let there = !counted || operator.interval.is_none() || (low <= 1 && 1 <= high);
                    match (there, looks) {
                        (false, _) => Some(Extent::default()),
                        (true, false) => of(operator.right),
                        (true, true) => of(operator.right).map(|Extent { ticks, positions }| Extent {
                            ticks,
                            positions: positions.saturating_add(1),
                        }),
                    }
                }
            });
        }
        Ok(match node {
            Node::First if past => Some(one),
            Node::Last if !past => Some(one),
            Node::Bool(_) | Node::First | Node::Last => Some(Extent::default()),
            _ => node.children().try_fold(Extent::default(), |extent, child| Some(extent.max(of(child)?))),
        })
    }
}
