//! What is told of a class: its tree, a sentence, its severity, a small part of a trace.

use super::single::Single;
use super::weights::Weights;
use super::{ClassReport, ClassifyOptions};
use crate::check::log_line;
use crate::run::Run;
use crate::{Error, Specification};
use std::borrow::Cow;
use tw_classify::{Rules, Speaker, Tree, Truth, sentence, shrink};
use tw_core::{Position, Verdict};
use tw_ir::NodeId;

/// Nodes of a tree that is written in one line.
const WRITTEN: usize = 20_000;
/// Nodes of a tree that a sentence is made of.
const TOLD: usize = 200;
/// Letters of a part of the formula in a sentence.
const QUOTED: usize = 100;
/// Positions that are evaluated while a trace is made smaller.
const SHRINKING: usize = 300_000_000;
/// Lines of a small trace that are read again.
const SHOWN: usize = 50;

/// Describes classes that were found on this trace first: of each its place among the reports, the number of its root and the
/// segment that shows it.
pub(super) fn describe(
    spec: &Specification,
    run: &Run<'_>,
    options: &ClassifyOptions,
    weights: &Weights,
    fresh: &[(usize, usize, usize)],
    found: &mut [ClassReport],
) -> Result<(), Error> {
    let trace = &run.loaded.trace;
    let mut wanted: Vec<Position> = Vec::new();
    for &(at, number, segment) in fresh {
        let own = &mut found[at];
        let root = &spec.program.roots[number];
        let (start, end) = (trace.starts()[segment], trace.segment_end(segment));
        let single = Single::of_segment(spec, run, root.node, (start, end))?;
        let told = Rules { truncate: None, quantifiers: false, equalities: false, ..Rules::default() };
        let mut trees = single.trees(spec, &[(own.rules, WRITTEN), (told, TOLD)])?.into_iter();
        let (Some(tree), Some(reasons)) = (trees.next(), trees.next()) else { continue };
        let original = |at: Position| run.order.original(start + at);
        let part = |node: NodeId| clipped(&spec.words(node));
        let place = |at: Position| format!("position {}", original(at));
        own.why = sentence(&reasons, &Speaker { part: &part, place: &place });
        own.hologram = tree.line();
        own.severity = tree.severity(|node| weights.of(number, root.node, node));
        own.tree = tree;
        if own.verdict == Verdict::Violated {
            let position = original(fails(&reasons));
            own.position = Some(position as u64);
            wanted.push(position);
        }
        if options.shrink {
            let class = single.class(spec, own.rules)?;
            let rules = own.rules;
            let mut same = |kept: &[u32]| {
                let mut part = single.trace().gather(kept, vec![0]);
                (part.segments, part.until) = (None, single.trace().until);
                let part = Single::new(spec, root.node, Cow::Owned(part), &run.options);
                part.and_then(|part| part.class(spec, rules)).is_ok_and(|own| own == class)
            };
            let most = (SHRINKING / single.len().max(1)).clamp(64, 20_000);
            let kept = shrink(single.len(), most, &mut same);
            let kept: Vec<Position> = kept.into_iter().map(|at| original(at as Position)).collect();
            wanted.extend(kept.iter().take(SHOWN));
            own.shrunk = Some(kept.into_iter().map(|at| (at as u64, None)).collect());
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(());
    }
    let lines = run.locate(&wanted);
    let line = |at: u64| lines.get(&(at as Position)).and_then(log_line);
    for &(at, ..) in fresh {
        found[at].line = found[at].position.and_then(line);
        let shrunk = found[at].shrunk.iter_mut().flatten();
        shrunk.for_each(|(at, own)| *own = line(*at));
    }
    Ok(())
}

/// Where a formula fails, as its tree shows: the first leaf that has a part in it.
fn fails(tree: &Tree) -> Position {
    let mut at = 0;
    while let Some(&child) = tree.nodes[at].children.iter().find(|&&child| {
        let own = &tree.nodes[child];
        own.truth == Truth::False || own.leaf || tree.nodes[at].children.len() == 1
    }) {
        at = child;
        // What a step looks at comes later than what fails.
        if tree.nodes[at].label.starts_with(['X', 'N', 'Y', 'Z']) {
            break;
        }
    }
    tree.nodes[at].at
}

/// A part of the formula on one line, not too long.
fn clipped(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() > QUOTED {
        true => text.chars().take(QUOTED - 1).chain(['…']).collect(),
        false => text,
    }
}
