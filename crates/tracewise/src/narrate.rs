//! Explanations in the user's own words: claims become sentences, positions become log lines.

mod operators;
mod windows;

use crate::check::{CheckOptions, PropertyReport, Step, Violation};
use crate::check::{Finding, LOCATED, log_line};
use crate::run::columns::Loaded;
use crate::run::divide::Order;
use crate::run::timing::elapsed;
use crate::{Session, Specification, plan};
use std::collections::HashMap;
use tw_core::{Position, Value, Verdict};
use tw_diag::Diagnostic;
use tw_ir::{Clock, Measure, Node, NodeId, Semantics, SlotId, Timing, What};
use tw_monitor::{Claim, Evaluator, Explanation, Rule};
use tw_trace::Located;

/// Words explanations of one trace.
pub(crate) struct Narrator<'a> {
    pub(crate) session: &'a Session,
    pub(crate) spec: &'a Specification,
    pub(crate) loaded: &'a Loaded,
    order: &'a Order,
}

impl<'a> Narrator<'a> {
    pub(crate) fn new(
        session: &'a Session,
        spec: &'a Specification,
        loaded: &'a Loaded,
        order: &'a Order,
    ) -> Self {
        Self { session, spec, loaded, order }
    }

    /// Explains what the findings ask to have explained, with columns from the engine that is fastest at them. Too large
    /// to explain is a warning: the verdicts stand.
    pub(crate) fn explain(
        &self,
        evaluator: &mut dyn Evaluator,
        findings: &mut [Finding],
    ) -> Option<Diagnostic> {
        if self.session.evaluate.clock == Clock::Dense {
            return self.explain_dense(findings);
        }
        let mut options = self.session.evaluate_options();
        if !self.loaded.summary.timed {
            options.clock = Clock::Index;
        }
        let three_valued = options.semantics == Semantics::Ltl3;
        if three_valued {
            options.semantics = Semantics::Finite;
        }
        let mut other = None;
        if (self.session.evaluate.engine != "auto" || three_valued) && self.loaded.trace.slots.is_none() {
            other = plan::explainer(self.spec, &options);
        }
        let evaluator = other.as_deref_mut().unwrap_or(evaluator);
        if three_valued {
            self.keep_explicable(evaluator, findings);
        }
        let requests: Vec<_> = findings.iter().filter_map(|finding| finding.explain.clone()).collect();
        // Over infinite continuations less may fail.
        let fails = |finding: &&Finding| finding.explain.is_some();
        let fails = findings.iter().filter(fails).map(|finding| finding.fails.filter(|_| !three_valued));
        let fails: Vec<_> = fails.collect();
        let explanations = tw_monitor::explain_many(
            &self.spec.program,
            &self.loaded.trace,
            &options,
            evaluator,
            (&requests, &fails),
            Explanation::DEPTH,
            COLUMNS,
        );
        let explanations = match explanations {
            Ok(explanations) => explanations,
            Err(refusal) => {
                let message = format!("violations are not explained: {}", refusal.what);
                return Some(Diagnostic::warning("not-explained", message));
            }
        };
        let asking = findings.iter_mut().filter(|finding| finding.explain.is_some());
        for (finding, explanation) in asking.zip(explanations) {
            finding.explanation = Some(explanation);
        }
        None
    }

    /// A verdict over infinite continuations is explained by the finite trace where that has the same verdict.
    fn keep_explicable(&self, evaluator: &mut dyn Evaluator, findings: &mut [Finding]) {
        for finding in findings {
            let Some((node, at, bindings)) = finding.explain.clone() else { continue };
            let columns = evaluator.columns_bound(&self.loaded.trace, &[(node, bindings)]);
            let holds = columns.ok().map(|columns| columns[0].get(at));
            if holds != Some(finding.report.verdict == Verdict::Satisfied) {
                finding.explain = None;
            }
        }
    }

    /// Looks up the positions of all findings, once, and words the findings.
    pub(crate) fn tell(&self, findings: Vec<Finding>, options: &CheckOptions) -> Vec<PropertyReport> {
        let around = if options.overview { AROUND } else { 0 };
        let lines = self.lines(&findings, around);
        let line = |position: Position| lines.get(&position).and_then(log_line);
        let near = |violation: &mut Violation, position: Position| {
            if around > 0 {
                violation.around =
                    (position.saturating_sub(around)..=position + around).filter_map(line).collect();
            }
        };
        findings
            .into_iter()
            .map(|finding| {
                let mut report = finding.report;
                for (violation, position) in report.violations.iter_mut().zip(&finding.positions) {
                    let Some(located) = lines.get(position) else { continue };
                    violation.line = log_line(located);
                    if violation.position.is_some() {
                        violation.time = violation.time.or(located.time);
                    }
                    near(violation, *position);
                }
                for range in &mut report.ranges {
                    if let Some(located) = range.first.position.and_then(|position| lines.get(&position)) {
                        range.first.line = log_line(located);
                        range.first.time = range.first.time.or(located.time);
                        near(&mut range.first, located.position);
                    }
                    if let Some(located) = lines.get(&range.last) {
                        range.last_line = located.line.map(|line| (located.file.clone(), line));
                        range.last_time = range.last_time.or(located.time);
                    }
                }
                if let Some(first) = report.violations.first() {
                    report.position = first.position;
                    report.time = first.time;
                }
                report.violations.truncate(options.violations);
                if let Some(explanation) = finding.explanation {
                    report.explanation = self.word(&explanation, &lines);
                }
                report
            })
            .collect()
    }

    /// An explanation as a tree of sentences.
    fn word(&self, explanation: &Explanation, lines: &HashMap<Position, Located>) -> Option<Step> {
        let mut steps: Vec<Option<Step>> = vec![None; explanation.claims.len()];
        // Children stand after their parents, so going backwards they are ready when the parent is.
        for (index, claim) in explanation.claims.iter().enumerate().rev() {
            let because = claim.children.iter().filter_map(|&child| steps[child].take()).collect();
            steps[index] = Some(self.step(claim, explanation, lines, because));
        }
        steps.into_iter().next().flatten()
    }

    /// What ends and begins: the log, or with `by` the part of it that belongs to one value.
    fn whole(&self) -> &'static str {
        if self.order.by_key() { "this value's trace" } else { "the trace" }
    }

    /// Whether a truth slot is about an event here, rather than a variable.
    fn is_event(&self, slot: SlotId, located: Option<&Located>) -> bool {
        match &self.spec.program.slots[slot as usize].what {
            What::Event { .. } | What::Tuples { .. } => true,
            What::Proposition(path) => located
                .and_then(|located| located.row.as_ref())
                .is_some_and(|row| !row.events.is_empty() && tw_trace::value_at(row, path).is_null()),
            What::Variable(..) | What::Timing(_) | What::Stream { .. } | What::Shift(_) | What::Window(_) => {
                false
            }
        }
    }

    pub(crate) fn original(&self, at: Position) -> Position {
        self.order.original(at)
    }

    /// The lines that findings point at, and so many before and after violations.
    fn lines(&self, findings: &[Finding], around: usize) -> HashMap<Position, Located> {
        let mut positions: Vec<Position> = Vec::new();
        for finding in findings {
            let ranges = finding.report.ranges.iter().take(LOCATED);
            let first = ranges.clone().filter_map(|range| range.first.position);
            for position in finding.positions.iter().copied().take(LOCATED).chain(first) {
                positions.extend(position.saturating_sub(around)..=position + around);
            }
            positions.extend(ranges.map(|range| range.last));
            let claims = finding.explanation.iter().flat_map(|explanation| &explanation.claims);
            positions.extend(claims.map(|claim| self.original(claim.range.0)));
        }
        positions.sort_unstable();
        positions.dedup();
        positions.truncate(MOST_LINES);
        self.loaded.locate(&positions)
    }

    fn step(
        &self,
        claim: &Claim,
        explanation: &Explanation,
        lines: &HashMap<Position, Located>,
        because: Vec<Step>,
    ) -> Step {
        let from = self.original(claim.range.0);
        let located = lines.get(&from);
        let pending_since = (!claim.holds
            && explanation.pending.iter().any(|&(node, since)| node == claim.node && since == claim.range.0))
        .then_some(from);
        Step {
            formula: shorten(&self.spec.words_with(claim.node, &claim.bindings), SHOWN),
            holds: claim.holds,
            from,
            to: self.original(claim.range.1),
            time: located.and_then(|located| located.time),
            reason: self.reason(claim, explanation, located),
            values: self.values(claim, located),
            line: located.and_then(log_line),
            pending_since,
            because,
        }
    }

    /// The value that decides a quantifier, as `r = 160`.
    fn witness(&self, claim: &Claim, explanation: &Explanation) -> String {
        let child = claim.children.first().map(|&child| &explanation.claims[child]);
        let Some((variable, value)) = child.and_then(|child| child.bindings.pairs().last()) else {
            return String::new();
        };
        let value = match value {
            Value::Str(text) => tw_ir::quote(text),
            other => other.to_string(),
        };
        format!("{} = {value}", self.spec.variable(*variable))
    }

    /// What the variables that decide a predicate are at its position.
    pub(crate) fn values(&self, claim: &Claim, located: Option<&Located>) -> Vec<(String, Value)> {
        let program = &self.spec.program;
        let leaf = matches!(
            program.dag.node(claim.node),
            Node::Truth(_) | Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_)
        );
        let Some(row) = located.and_then(|located| located.row.as_ref()) else { return Vec::new() };
        if !leaf || claim.range.0 != claim.range.1 {
            return Vec::new();
        }
        let mut values: Vec<(String, Value)> = Vec::new();
        for node in program.reachable(&[claim.node]) {
            let (Node::Slot(slot) | Node::Truth(slot)) = program.dag.node(node) else { continue };
            if let What::Timing(timing) = &program.slots[slot as usize].what {
                values.extend(self.timing(timing, claim.range.0));
            }
            let computed = self.loaded.computed(slot, self.original(claim.range.0));
            values.extend(computed.map(|value| (tw_ir::display(program, node), value)));
            if let What::Proposition(path) | What::Variable(path, _) = &program.slots[slot as usize].what {
                let value = tw_trace::value_at(row, path);
                let name = path.to_string();
                if !self.is_event(slot, located) && !values.iter().any(|(known, _)| *known == name) {
                    values.push((name, value));
                }
            }
        }
        values
    }

    /// What the timestamps say of a position.
    fn timing(&self, timing: &Timing, at: Position) -> Option<(String, Value)> {
        let (trace, unit) = (&self.loaded.trace, self.loaded.opened.read.unit);
        let times = trace.times.as_ref()?;
        let value = match timing.measure {
            Measure::Time => unit.value(times[at].into()),
            Measure::Elapsed => {
                let since = (at > trace.segment_of(at).0).then(|| times[at - 1]);
                elapsed(times[at], since, unit)
            }
        };
        Some((timing.measure.name().to_string(), value))
    }

    /// One sentence for one claim.
    fn reason(&self, claim: &Claim, explanation: &Explanation, located: Option<&Located>) -> String {
        let dag = &self.spec.program.dag;
        let words = |node: NodeId| cited(&self.spec.words_with(node, &claim.bindings));
        let (first, last) = claim.range;
        let (from, to) = (self.original(first), self.original(last));
        let end = self.loaded.trace.segment_of(first).1 - 1;
        let begin = self.loaded.trace.segment_of(first).0;
        if first < last {
            let verb = if claim.holds { "holds" } else { "fails" };
            let edge = match (last == end, first == begin) {
                (true, _) => format!(", where {} ends", self.whole()),
                (_, true) => format!(", from the start of {}", self.whole()),
                _ => String::new(),
            };
            return format!("{} {verb} at every position from {from} to {to}{edge}", words(claim.node));
        }
        if let Some(sentence) = self.window(claim) {
            return sentence;
        }
        let node = dag.node(claim.node);
        if let Some(sentence) =
            node.temporal().and_then(|operator| self.operator(claim, operator, explanation))
        {
            return sentence;
        }
        use Node::*;
        match (node, claim.holds) {
            (Truth(slot), holds) if self.is_event(slot, located) => {
                format!("it {} at position {from}", if holds { "happens" } else { "does not happen" })
            }
            (Truth(_) | Compare(..) | In(..) | Matches(..) | Has(_), holds) => {
                format!("{} at position {from}", if holds { "true" } else { "false" })
            }
            (Pattern(_), holds) => {
                format!("it {} at position {from}", if holds { "happens" } else { "does not happen" })
            }
            (Forall(variable, _) | Exists(variable, _), holds) => {
                let name = self.spec.variable(variable);
                match (claim.rule, holds) {
                    (Rule::Instance, true) => {
                        format!("{name} makes it true", name = self.witness(claim, explanation))
                    }
                    (Rule::Instance, false) => format!("it fails for {}", self.witness(claim, explanation)),
                    (Rule::Unnamed, true) => format!("some {name} that nothing names makes it true"),
                    (Rule::Unnamed, false) => format!("it fails for any {name} that nothing names"),
                    (_, true) => format!("it holds for every {name}"),
                    (_, false) => format!("no {name} makes it true"),
                }
            }
            (Bool(_), _) => "it is a constant".into(),
            (First, true) => "this is the first position".into(),
            (First, false) => "a position stands before this one".into(),
            (Last, true) => "this is the last position".into(),
            (Last, false) => "a position follows this one".into(),
            (Not(a), true) => format!("{} fails", words(a)),
            (Not(a), false) => format!("{} holds", words(a)),
            (And(..), true) => "both sides hold".into(),
            (And(..), false) => "a side fails".into(),
            (Or(..), true) => "a side holds".into(),
            (Or(..), false) => "neither side holds".into(),
            (Xor(..), true) | (Iff(..), false) => "the sides differ".into(),
            (Xor(..), false) | (Iff(..), true) => "the sides agree".into(),
            (Implies(a, b), false) => format!("{} holds, but {} does not", words(a), words(b)),
            (Implies(a, b), true) => match self.fails_at(claim, a, explanation) {
                Some(_) => format!("{} does not hold, so nothing is asked", words(a)),
                None => format!("{} holds", words(b)),
            },
            (_, true) => "it holds".into(),
            (_, false) => "it fails".into(),
        }
    }
}

/// Bytes of truth columns held at once for explanations.
const COLUMNS: usize = 32 << 20;

/// Lines shown before and after a violation, where they are asked for.
const AROUND: usize = 3;

/// Most log lines looked up for one trace.
const MOST_LINES: usize = 20_000;

/// Most characters of a subformula shown on its own.
pub(crate) const SHOWN: usize = 400;

/// A formula as a sentence quotes it: shortened, and between two backquotes on each side where it has some itself.
pub(crate) fn cited(words: &str) -> String {
    let words = shorten(words, QUOTED);
    if words.contains('`') { format!("``{words}``") } else { format!("`{words}`") }
}

/// Most characters of a subformula quoted in a sentence.
pub(crate) const QUOTED: usize = 60;

pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_string(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
    }
}
