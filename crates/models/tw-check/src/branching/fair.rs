//! Which paths count.

use super::fixpoint::reach;
use super::sets::and;
use crate::Checker;
use tw_core::{Bits, Components};
use tw_model::{Graph, State};

/// The states from which some path counts; `None` where all paths do.
pub(super) struct Fair(Option<Bits>);

impl Fair {
    pub fn new(checker: &Checker) -> Self {
        let mut fair = Fair(None);
        if !checker.fair_sets().is_empty() {
            fair.0 = Some(fair.globally(checker, &Bits::repeat(true, checker.graph().states())));
        }
        fair
    }

    /// Whether all paths count.
    pub fn all(&self) -> bool {
        self.0.is_none()
    }

    /// The states of a set from which some path counts.
    pub fn only(&self, set: &Bits) -> Bits {
        self.0.as_ref().map_or_else(|| set.clone(), |fair| and(fair, set))
    }

    /// The states from which a path that counts stays in `set`.
    pub fn globally(&self, checker: &Checker, set: &Bits) -> Bits {
        let components = checker.graph().components(Some(set));
        let good = good(checker.graph(), &components, checker.fair_sets(), |state| state as State);
        let held = components.of.iter().map(|&of| of != Components::OUTSIDE && good.get(of as usize));
        reach(checker.graph(), checker.reverse(), set, &held.collect(), u64::MAX)
    }
}

/// The components that a path can stay in and meet every fairness set again and again. The graph may be a part of
/// another, to which `state` leads.
pub(super) fn good(
    graph: &Graph,
    components: &Components,
    fairness: &[Bits],
    state: impl Fn(usize) -> State,
) -> Bits {
    let mut good = components.cyclic(graph.iter());
    for set in fairness {
        let mut met = Bits::repeat(false, components.count);
        for (place, &of) in components.of.iter().enumerate() {
            if of != Components::OUTSIDE && set.get(state(place) as usize) {
                met.set(of as usize, true);
            }
        }
        good = and(&good, &met);
    }
    good
}
