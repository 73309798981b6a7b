//! `classify`: which traces fail in the same way.
//!
//! What a formula's evaluation looks like on a trace, pruned by rules, is the trace's class ([`tw_classify`]). Formulas without
//! intervals and quantifiers are evaluated by an engine for all keys at once; the others trace by trace.

mod describe;
mod single;
#[cfg(feature = "store")]
mod store;
mod weights;

use crate::check::{LogLine, newlines, property};
use crate::error::Setting;
use crate::plan::{self, Who};
use crate::run::{Asked, Run, faults};
use crate::{Error, Session, Specification};
use rustc_hash::FxHashMap;
use single::Single;
use tw_classify::{Class, Formula, Lifted, Plan, Scan, Timing};
pub use tw_classify::{Rules, Tree, Truth, draw};
use tw_core::Verdict;
use tw_diag::Diagnostic;
use tw_ir::{Clock, NodeId, Program, RootKind, Semantics};
use tw_monitor::{
    Answers, Engine, EvaluateOptions, Evaluator, PlannedEvaluator, Sink, Trace, Unsupported, Wanted,
};

/// How traces are sorted, and what is told of each class.
#[derive(Clone, Debug)]
pub struct ClassifyOptions {
    /// Sets of rules, each with more than the one before it; a class of one lies within a class of the next.
    pub rules: Vec<Rules>,
    /// Sort the traces of every value of this column.
    pub by: Option<String>,
    /// Weights of properties and macros (`let`), for severities.
    pub weights: Vec<(String, f64)>,
    /// How many traces of a class to name.
    pub examples: usize,
    /// Find a smallest part of one trace of each class that is still of it.
    pub shrink: bool,
}

impl Default for ClassifyOptions {
    fn default() -> Self {
        Self { rules: vec![Rules::default()], by: None, weights: Vec::new(), examples: 10, shrink: false }
    }
}

/// A way to fail, or to hold, or to be undecided.
#[derive(Clone, Debug)]
pub struct ClassReport {
    /// Name of the property.
    pub property: String,
    /// The sentence in quotes after the name.
    pub title: Option<String>,
    /// The property as written.
    pub formula: String,
    /// File and line of the specification.
    pub source: (String, u64),
    /// 32 hexadecimal digits: the same in every run.
    pub class: String,
    /// The rules by which trees are pruned.
    pub rules: Rules,
    /// Which of the sets of rules that is.
    pub level: usize,
    /// The class of the next set of rules that this one lies in.
    pub within: Option<String>,
    /// The verdict of all of its traces.
    pub verdict: Verdict,
    /// How many there are.
    pub traces: u64,
    /// The first of them.
    pub examples: Vec<String>,
    /// The pruned hologram in one line.
    pub hologram: String,
    /// The same as a tree, perhaps cut.
    pub tree: Tree,
    /// Why the first trace is in it.
    pub why: String,
    /// The weighted sum of what fails in it.
    pub severity: f64,
    /// Whether a store knew it.
    pub known: bool,
    /// Where the first trace fails.
    pub position: Option<u64>,
    /// The log line there.
    pub line: Option<LogLine>,
    /// A smallest part of the first trace that is of the same class: positions of the log, and their lines where they can be
    /// read again.
    pub shrunk: Option<Vec<(u64, Option<LogLine>)>>,
}

/// Classes of traces, found one trace after the other.
#[derive(Debug, Default)]
pub struct Classes {
    /// The classes, in the order in which they were found.
    pub found: Vec<ClassReport>,
    index: FxHashMap<(usize, usize, u128), usize>,
    /// Names of the files.
    pub names: Vec<String>,
    /// Traces that were sorted: files, or keys.
    pub traces: u64,
    /// Positions that were read.
    pub positions: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Bad lines left out.
    pub skipped: u64,
    /// Findings that did not stop the run.
    pub warnings: Vec<Diagnostic>,
    /// Whether a store was asked.
    pub stored: bool,
}

impl Classes {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Of many traces the same is said once.
    fn warn(&mut self, warnings: Vec<Diagnostic>) {
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Properties in their order, finest rules first, then the most frequent classes first.
    pub fn sort(&mut self, spec: &Specification) {
        let order: FxHashMap<&str, usize> =
            spec.program.roots.iter().enumerate().map(|(at, root)| (root.name.as_str(), at)).collect();
        self.index.clear();
        self.found.sort_by_key(|class| {
            let property = order.get(class.property.as_str()).copied();
            (property, class.level, std::cmp::Reverse(class.traces))
        });
    }

    /// Classes by the last set of rules.
    pub fn last(&self) -> impl Iterator<Item = &ClassReport> {
        let last = self.found.iter().map(|class| class.level).max().unwrap_or(0);
        self.found.iter().filter(move |class| class.level == last)
    }
}

/// Reads a trace for others to evaluate: the truth of atoms and, where paths have a say, values.
struct Reader(Wanted);

struct Read(Wanted);

impl Engine for Reader {
    fn name(&self) -> &'static str {
        "classes"
    }

    fn about(&self) -> &'static str {
        "three truth values at every position"
    }

    fn plan<'p>(&self, _: &'p Program, _: &EvaluateOptions) -> PlannedEvaluator<'p> {
        Ok(Box::new(Read(self.0)))
    }
}

impl Evaluator for Read {
    fn wanted(&self) -> Wanted {
        self.0
    }

    fn run(&mut self, _: &Trace, _: &mut Sink) -> Result<(), Unsupported> {
        Err(Unsupported::budget("verdicts: it reads traces alone"))
    }

    fn columns(&mut self, _: &Trace, nodes: &[NodeId]) -> Result<Vec<tw_core::Bits>, Unsupported> {
        Err(Unsupported {
            node: nodes.first().copied(),
            ..Unsupported::budget("columns: it reads traces alone")
        })
    }
}

pub(crate) fn refused(spec: &Specification, refusal: Unsupported) -> Error {
    plan::refusal_error(spec, "`classify` does not do", refusal)
}

/// Sorts one trace, or those of its keys, into classes.
pub(crate) fn classify(
    session: &Session,
    spec: &Specification,
    files: &[String],
    options: &ClassifyOptions,
    into: &mut Classes,
) -> Result<(), Error> {
    let spec = &*spec.properties()?;
    if spec.program.roots.is_empty() {
        return Err(Error::refused("the specification has no property to classify by"));
    }
    if session.evaluate.clock == Clock::Dense {
        return Err(Error::refused_instead(
            "a hologram has a child per position, not per instant",
            format!("use {}", Setting::Clock.to("stamps")),
        ));
    }
    let session = &session.clone().semantics(Semantics::Finite);
    let weights = weights::resolve(spec, &options.weights)?;
    let mut quantified = Vec::with_capacity(spec.program.roots.len());
    for root in &spec.program.roots {
        let paths = tw_classify::paths(&spec.program, root.node).map_err(|refusal| refused(spec, refusal))?;
        quantified.push(!paths.is_empty());
    }
    let slots = quantified.contains(&true);
    let reader = Reader(Wanted { slots, ..Wanted::ATOMS });
    let asked = Asked { by: options.by.as_deref(), nothing: true, ..Asked::default() };
    let mut run = Run::new(session, spec, files, Who::This(&reader), asked)?;
    if run.loaded.trace.len == 0 {
        return nothing(spec, &mut run, options, into);
    }
    let found = classes(session, spec, &run, options, &quantified)?;

    let trace = &run.loaded.trace;
    let (name, lines) = (run.loaded.name().to_string(), newlines(spec));
    let several = !into.names.is_empty();
    let mut fresh: Vec<(usize, usize, usize)> = Vec::new();
    for (number, levels) in found.iter().enumerate() {
        for segment in 0..trace.starts().len() {
            for (level, classes) in levels.iter().enumerate() {
                let class = classes[segment];
                let next = into.found.len();
                let at = *into.index.entry((number, level, class.name)).or_insert(next);
                if at == next {
                    let within = levels.get(level + 1).map(|next| next[segment]);
                    let head = (number, class, options.rules[level], level, within);
                    into.found.push(report(spec, &lines, head));
                    fresh.push((at, number, segment));
                }
                let own = &mut into.found[at];
                own.traces += 1;
                if own.examples.len() < options.examples.max(1) {
                    own.examples.push(match run.labels.get(segment).key {
                        Some(key) if several => format!("{name}: {key}"),
                        Some(key) => key.to_string(),
                        None => name.clone(),
                    });
                }
            }
        }
    }
    describe::describe(spec, &run, options, &weights, &fresh, &mut into.found)?;
    into.traces += trace.starts().len() as u64;
    into.positions += run.loaded.summary.positions;
    into.bytes += run.loaded.summary.bytes;
    into.skipped += run.loaded.summary.skipped;
    into.names.push(name);
    into.warn(run.warnings());
    Ok(())
}

/// A class of which nothing is told yet.
fn report(
    spec: &Specification,
    lines: &[u32],
    (number, class, rules, level, within): (usize, Class, Rules, usize, Option<Class>),
) -> ClassReport {
    let head = property(spec, lines, &spec.program.roots[number], class.truth.into());
    ClassReport {
        property: head.name,
        title: head.title,
        formula: head.formula,
        source: head.source,
        class: class.to_string(),
        rules,
        level,
        within: within.map(|class| class.to_string()),
        verdict: head.verdict,
        traces: 0,
        examples: Vec::new(),
        hologram: String::new(),
        tree: Tree { nodes: Vec::new(), more: false },
        why: String::new(),
        severity: 0.0,
        known: false,
        position: None,
        line: None,
        shrunk: None,
    }
}

/// Sorts a trace without positions, where the formulas say nothing about a first one.
fn nothing(
    spec: &Specification,
    run: &mut Run<'_>,
    options: &ClassifyOptions,
    into: &mut Classes,
) -> Result<(), Error> {
    let (name, lines) = (run.loaded.name().to_string(), newlines(spec));
    for (number, root) in spec.program.roots.iter().enumerate() {
        let formula = Formula::new(&spec.program, root.node, &|_| Vec::new());
        let formula = formula.map_err(|refusal| refused(spec, refusal))?;
        let mut levels = Vec::new();
        for rules in &options.rules {
            let plan = Plan::new(&formula, *rules).map_err(|refusal| refused(spec, refusal))?;
            match tw_classify::of_nothing(&plan) {
                Some(found) => levels.push(found),
                None => return faults::refuse_empty(&run.loaded),
            }
        }
        for (level, (class, tree)) in levels.iter().enumerate() {
            let next = into.found.len();
            let at = *into.index.entry((number, level, class.name)).or_insert(next);
            if at == next {
                let within = levels.get(level + 1).map(|(class, _)| *class);
                let mut own = report(spec, &lines, (number, *class, options.rules[level], level, within));
                own.why = format!("`{}` is open: there are no positions", spec.words(root.node));
                (own.hologram, own.tree) = (tree.line(), tree.clone());
                into.found.push(own);
            }
            into.found[at].traces += 1;
            if into.found[at].examples.len() < options.examples.max(1) {
                into.found[at].examples.push(name.clone());
            }
        }
    }
    into.traces += 1;
    into.names.push(name);
    into.warn(run.warnings());
    Ok(())
}

/// Of each root, by set of rules, the class of each segment.
fn classes(
    session: &Session,
    spec: &Specification,
    run: &Run<'_>,
    options: &ClassifyOptions,
    quantified: &[bool],
) -> Result<Vec<Vec<Vec<Class>>>, Error> {
    let trace = &run.loaded.trace;
    let ranges: Vec<(usize, usize)> =
        (0..trace.starts().len()).map(|at| (trace.starts()[at], trace.segment_end(at))).collect();
    let mut found: Vec<Vec<Vec<Class>>> = vec![Vec::new(); quantified.len()];
    let refuse = |refusal: Unsupported| refused(spec, refusal);
    let mut formulas: Vec<(usize, Formula)> = Vec::new();
    for (number, root) in spec.program.roots.iter().enumerate() {
        if !quantified[number] {
            let formula = Formula::new(&spec.program, root.node, &|_| Vec::new()).map_err(refuse)?;
            if !formula.timed() {
                formulas.push((number, formula));
                continue;
            }
        }
        found[number] = vec![Vec::with_capacity(ranges.len()); options.rules.len()];
        for &range in &ranges {
            let single = Single::of_segment(spec, run, root.node, range)?;
            for (level, rules) in options.rules.iter().enumerate() {
                found[number][level].push(single.class(spec, *rules)?);
            }
        }
    }
    // The others at once: what is true, and what may be, of every part that is looked at.
    let mut lifted_spec =
        spec.with_roots(formulas.iter().map(|(number, _)| spec.program.roots[*number].clone()).collect());
    let mut plans: Vec<(usize, Plan<'_>, Lifted)> = Vec::new();
    for (number, formula) in &formulas {
        for rules in &options.rules {
            let plan = Plan::new(formula, *rules).map_err(refuse)?;
            let lifted = plan.lifted(&mut lifted_spec.program);
            plans.push((*number, plan, lifted));
        }
    }
    let nodes: Vec<NodeId> = plans.iter().flat_map(|(_, _, lifted)| lifted.nodes.iter().copied()).collect();
    let bytes = nodes.len().saturating_mul(trace.len / 8);
    if bytes > session.evaluate.memory_budget {
        return Err(Error::Budget(crate::error::Budget {
            setting: Setting::Memory,
            what: format!("the truth of {} parts at {} positions", nodes.len(), trace.len),
            needed: Some(bytes),
            allowed: session.evaluate.memory_budget,
            instead: Some("leave out more of the trees (the rules fail-fast and polarity)".into()),
            trace: run.loaded.name().to_string(),
        }));
    }
    let program = &mut lifted_spec.program;
    program.spans.resize(program.dag.len(), None);
    let lifted_roots: Vec<_> =
        nodes.iter().map(|&node| lifted_spec.unnamed(node, RootKind::Property)).collect();
    lifted_spec.program.roots.extend(lifted_roots);
    if plans.is_empty() {
        return Ok(found);
    }
    let mut chosen = plan::choose(session, &lifted_spec, &run.options, Who::Any(Answers::Verdicts))?;
    let own = plan::restrict(trace, &spec.program, &lifted_spec.program);
    let answer = chosen.columns(&lifted_spec, &run.options, &own, &nodes)?;
    let mut rest = answer.as_slice();
    for (number, plan, lifted) in &plans {
        let (mine, others) = rest.split_at(lifted.nodes.len());
        rest = others;
        let columns = lifted.columns(mine);
        let mut scan = Scan::new(plan, &columns, Timing::default());
        found[*number].push(ranges.iter().map(|&(start, end)| scan.class(start, end)).collect());
    }
    Ok(found)
}
