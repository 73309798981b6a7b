//! What each subformula contributes to a value, and how much each predicate alone would have to change.

use super::Robustness;
use super::read::Read;
use crate::{Specification, Stamp};
use tw_core::Position;
use tw_engine_robust::Robust;
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
pub(super) fn add(
    spec: &Specification,
    robust: &Robust,
    read: &Read,
    properties: &mut [Robustness],
) -> Result<(), Unsupported> {
    let times = read.samples.times.as_ref().zip(read.summary.style);
    for (property, root) in properties.iter_mut().zip(&spec.program.roots) {
        let links = robust.chain(&read.samples, root.node, 0, MOST)?.into_iter().map(|link| Contribution {
            formula: spec.words(link.node),
            depth: link.depth,
            position: link.position,
            time: times.map(|(times, style)| Stamp { time: times[link.position], style }),
            value: link.value,
            decides: link.decides,
        });
        let margins = robust.margins(&read.samples, root.node, 0)?;
        let margins = margins.into_iter().map(|margin| (spec.words(margin.node), margin.change));
        property.contributions = Some(Contributions { links: links.collect(), margins: margins.collect() });
    }
    Ok(())
}
