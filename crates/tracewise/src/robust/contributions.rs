//! What each subformula contributes to a value, and how much each predicate alone would have to change.

use super::{Robustness, parts};
use crate::run::Run;
use crate::trace::Stamp;
use tw_core::Position;
use tw_engine_robust::{Robust, Samples};
use tw_monitor::Unsupported;

/// Subformulas told of one property.
const MOST: usize = 60;

/// How a value comes about.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributions {
    /// From the property down to the predicate that decides it, with what stood beside each.
    pub links: Vec<Contribution>,
    /// Each predicate with the least that, added to it at every sample, changes the sign of the value; nothing if no change
    /// of it alone does.
    pub margins: Vec<(String, Option<f64>)>,
}

/// What one subformula is worth where it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// In the user's own words.
    pub formula: String,
    /// How many stand above it.
    pub depth: usize,
    /// Where.
    pub position: Position,
    /// Its timestamp, where they were read.
    pub time: Option<Stamp>,
    /// What it is worth there.
    pub value: f64,
    /// Whether the value above comes from here.
    pub decides: bool,
}

/// Adds them to each property.
pub(super) fn add(run: &Run<'_>, robust: &Robust, properties: &mut [Robustness]) -> Result<(), Unsupported> {
    let samples = Samples::of(&run.loaded.trace);
    for (root, at, property) in parts(run, properties) {
        let links = robust.chain(&samples, root.node, at, MOST)?.into_iter().map(|link| Contribution {
            formula: run.spec.words(link.node),
            depth: link.depth,
            position: run.order.original(link.position),
            time: run.stamp(link.position),
            value: link.value,
            decides: link.decides,
        });
        let links = links.collect();
        let margins = robust.margins(&samples, root.node, at)?;
        let margins =
            margins.into_iter().map(|margin| (run.spec.words(margin.node), margin.change)).collect();
        property.contributions = Some(Contributions { links, margins });
    }
    Ok(())
}
