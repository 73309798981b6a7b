//! How far robustness looks, for `explain`.

use crate::{Session, Specification};
use tw_core::duration;
use tw_engine_robust::{Extent, Robust};
use tw_ir::{Clock, Node, Root};

/// The horizon and the history of the only property of `spec`, if it compares numbers and has a robustness.
pub(crate) fn extent(session: &Session, spec: &Specification, root: &Root) -> Option<String> {
    let compares = |id: &tw_ir::NodeId| matches!(spec.program.dag.node(*id), Node::Compare(..));
    if !spec.program.reachable(&[root.node]).iter().any(compares) {
        return None;
    }
    let options = session.evaluate_options();
    let robust = Robust::new(&spec.program, &options).ok()?;
    let told = super::below_always(spec, root).unwrap_or(root.node);
    let words = |extent: Extent| words(extent, options.clock);
    let ahead = match robust.horizon(told).ok()? {
        None => "without end".to_string(),
        Some(extent) => words(extent),
    };
    let back = words(robust.history(told).ok()?);
    let windows = crate::explain::windows(spec, root);
    let windows: String =
        windows.iter().map(|(text, back)| format!(", and {back} back in `{text}`")).collect();
    Some(format!("a value looks {ahead} ahead (horizon) and {back} back (history){windows}"))
}

fn words(extent: Extent, clock: Clock) -> String {
    let samples = |count: i64| format!("{count} sample{}", if count == 1 { "" } else { "s" });
    match (extent.ticks, extent.positions) {
        (0, positions) => samples(positions),
        (ticks, positions) if clock == Clock::Index => samples(ticks.saturating_add(positions)),
        (ticks, 0) => duration(ticks),
        (ticks, positions) => format!("{} and {}", duration(ticks), samples(positions)),
    }
}
