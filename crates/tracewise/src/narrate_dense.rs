//! Explanations over continuous time, in the user's own words: instants, and the states that hold at them.

use crate::check::Step;
use crate::check::{Finding, log_line};
use crate::narrate::{Narrator, QUOTED, SHOWN, shorten};
use std::collections::HashMap;
use tw_core::Position;
use tw_diag::Diagnostic;
use tw_engine_dense::{Claim, Run};
use tw_ir::{Applied, Node};
use tw_monitor::Rule;
use tw_trace::{Located, Stamp, TimeStyle};

/// Most claims of one explanation.
const CLAIMS: usize = 100;

impl Narrator<'_> {
    /// Explains what the findings ask to have explained. Too large to explain is a warning: the verdicts stand.
    pub(crate) fn explain_dense(&self, findings: &mut [Finding]) -> Option<Diagnostic> {
        let options = self.session.evaluate_options();
        let trace = &self.loaded.trace;
        for finding in findings {
            let Some((node, at, _)) = finding.explain else { continue };
            let (start, end) = trace.segment_of(at);
            match tw_engine_dense::explain(&self.spec.program, node, trace, start..end, &options, CLAIMS) {
                Ok(claims) => finding.report.explanation = self.instants(&claims, start, end),
                Err(refusal) => {
                    let message = format!("violations are not explained: {}", refusal.what);
                    return Some(Diagnostic::warning("not-explained", message));
                }
            }
        }
        None
    }

    /// Claims about instants as a tree of sentences.
    fn instants(&self, claims: &[Claim], start: Position, end: Position) -> Option<Step> {
        let times = self.loaded.trace.times.as_deref()?.get(start..end)?;
        // The state that holds at an instant: the last one that began.
        let state = |time| start + times.partition_point(|&begin| begin <= time).saturating_sub(1);
        let states = |run: Run| {
            // What ends before an instant does not meet the state that begins there.
            let last = if run.high.open { run.high.time - 1 } else { run.high.time };
            (state(run.low.time), state(last.max(run.low.time)))
        };
        let positions: Vec<Position> =
            claims.iter().map(|claim| self.original(states(claim.when).0)).collect();
        let lines = self.loaded.locate(&positions);
        let mut steps: Vec<Option<Step>> = vec![None; claims.len()];
        // Children stand after their parents, so going backwards they are ready when the parent is.
        for (index, claim) in claims.iter().enumerate().rev() {
            let because = claim.children.iter().filter_map(|&child| steps[child].take()).collect();
            steps[index] = Some(self.instant(claim, claims, states(claim.when), &lines, because));
        }
        steps.into_iter().next().flatten()
    }

    fn instant(
        &self,
        claim: &Claim,
        claims: &[Claim],
        (first, last): (Position, Position),
        lines: &HashMap<Position, Located>,
        because: Vec<Step>,
    ) -> Step {
        let (from, to) = (self.original(first), self.original(last));
        let located = lines.get(&from);
        let at = tw_monitor::Claim {
            bindings: tw_monitor::Bindings::default(),
            node: claim.node,
            range: (first, last),
            holds: claim.holds,
            rule: Rule::Atom,
            children: Vec::new(),
        };
        Step {
            formula: shorten(&self.spec.words(claim.node), SHOWN),
            holds: claim.holds,
            from,
            to,
            time: Some(self.stamp(claim.when.low.time)),
            reason: self.sentence(claim, claims, from),
            values: self.values(&at, located),
            line: located.and_then(log_line),
            pending_since: None,
            because,
        }
    }

    fn stamp(&self, time: tw_core::Time) -> Stamp {
        let style = self.loaded.summary.style.unwrap_or(TimeStyle::Number(self.session.read.unit));
        Stamp { time, style }
    }

    /// One sentence for one claim.
    fn sentence(&self, claim: &Claim, claims: &[Claim], position: Position) -> String {
        let said = |claim: &Claim| {
            let verb = if claim.holds { "holds" } else { "fails" };
            format!("`{}` {verb} {}", shorten(&self.spec.words(claim.node), QUOTED), self.when(claim.when))
        };
        if !is_instant(claim.when) {
            return said(claim);
        }
        let here = format!("{} (position {position})", self.when(claim.when));
        let mut parts: Vec<String> = claim.children.iter().map(|&child| said(&claims[child])).collect();
        if parts.is_empty() {
            let node = self.spec.program.dag.node(claim.node);
            let way = node.temporal().and_then(Applied::way);
            parts.push(match node {
                Node::Bool(_) => "it is a constant".into(),
                // What abbreviates formulas that were not written.
                _ if way.is_some_and(|way| way.goal.1.is_some()) => "by its definition".into(),
                _ if !node.is_temporal() => {
                    return format!("{} {here}", if claim.holds { "true" } else { "false" });
                }
                _ if claim.holds => "there is no such time within the trace, so nothing is asked".into(),
                _ => "there is no such time within the trace".into(),
            });
        }
        format!("{here} {}", parts.join(" and "))
    }

    /// When: `at time 7`, `right after time 7`, `at every time in [7, 9)`.
    fn when(&self, run: Run) -> String {
        let (low, high) = (self.stamp(run.low.time).format(), self.stamp(run.high.time).format());
        if run.low == run.high {
            return format!("at time {low}");
        }
        if is_instant(run) {
            return format!("right after time {low}");
        }
        let (open, close) = (if run.low.open { '(' } else { '[' }, if run.high.open { ')' } else { ']' });
        format!("at every time in {open}{low}, {high}{close}")
    }
}

/// Whether nothing tells the instants apart: one, or those between two neighbouring nanoseconds.
fn is_instant(run: Run) -> bool {
    run.low == run.high || run.low.open && run.high.open && run.high.time - run.low.time == 1
}
