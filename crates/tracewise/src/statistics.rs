//! `check::Statistic`: what else a run says about a property than whether it holds.
//!
//! `rejecting` and `coverage` are values of the alternating automaton's runs (`tw-engine-alternating`). `waiting` and
//! `vacuity` read the truth of subformulas, from whichever engine runs the property.

mod vacuity;
mod waiting;

use crate::plan::Who;
use crate::run::columns::Loaded;
use crate::{Error, Session, Specification, plan};
use tw_core::Verdict;
use tw_engine_alternating::statistics::{self as runs, Traversal};
use tw_ir::{NodeId, Root, Semantics};
use tw_monitor::{Answers, Unsupported};

pub use waiting::{Elapsed, Wait};

/// What to compute beside the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The fewest visits to rejecting nodes on an accepting run.
    Rejecting,
    /// Which parts of the formula every accepting run exercises.
    Coverage,
    /// How long eventualities wait.
    Waiting,
    /// Which parts of a satisfied formula did not matter.
    Vacuity,
}

impl Statistic {
    /// Every statistic with its name on the command line.
    pub const ALL: [(&'static str, Statistic); 4] = [
        ("rejecting", Statistic::Rejecting),
        ("coverage", Statistic::Coverage),
        ("waiting", Statistic::Waiting),
        ("vacuity", Statistic::Vacuity),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, statistic)| *statistic == self).map_or("", |(name, _)| name)
    }
}

/// A part of a formula, in the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The words; `!(…)` where the negation is meant.
    pub formula: String,
    /// Where they stand in the formula's text (bytes), if they were written there.
    pub place: Option<(usize, usize)>,
}

/// The value of a statistic.
#[derive(Clone, Debug, PartialEq)]
pub enum StatisticReport {
    /// The fewest rejecting visits, or none without an accepting run; the traversal, and whether the value is counted
    /// per slice, as breadth-first traversal does.
    Rejecting {
        /// The count.
        value: Option<u64>,
        /// The traversal.
        traversal: &'static str,
        /// Whether equal nodes of a slice count once.
        per_slice: bool,
    },
    /// Parts on every accepting run, and the others; `None` without an accepting run.
    Coverage {
        /// The traversal.
        traversal: &'static str,
        /// Exercised by every accepting run, and not.
        parts: Option<(Vec<Part>, Vec<Part>)>,
    },
    /// One entry per eventuality.
    Waiting(Vec<Wait>),
    /// For a property that holds: the largest parts that could be replaced without harm, and the constant that would
    /// do. `None` for one that does not hold.
    Vacuity(Option<Vec<(Part, bool)>>),
}

/// The statistic of one property.
pub(crate) fn statistic(
    session: &Session,
    spec: &Specification,
    root: &Root,
    statistic: Statistic,
    loaded: &Loaded,
    verdict: Verdict,
) -> Result<StatisticReport, Error> {
    let mut options = session.evaluate_options();
    // Runs and subformulas are those of the finite trace.
    if options.semantics == Semantics::Ltl3 {
        options.semantics = Semantics::Finite;
    }
    let traversal = match session.evaluate.engine.as_str() {
        "depth-first" => Traversal::DepthFirst,
        "breadth-first" => Traversal::BreadthFirst,
        _ => Traversal::Reverse,
    };
    let name = match traversal {
        Traversal::DepthFirst => "depth-first",
        Traversal::BreadthFirst => "breadth-first",
        Traversal::Reverse => "reverse",
    };
    let refused = |refusal: Unsupported| plan::refused(spec, name, refusal);
    let (program, trace) = (&spec.program, &loaded.trace);
    match statistic {
        Statistic::Rejecting => {
            let value = runs::rejecting(program, root.node, trace, &options, traversal);
            let per_slice = matches!(traversal, Traversal::BreadthFirst);
            Ok(StatisticReport::Rejecting { value: value.map_err(refused)?, traversal: name, per_slice })
        }
        Statistic::Coverage => {
            let coverage = runs::coverage(program, root.node, trace, &options, traversal);
            let parts = coverage.map_err(refused)?.map(|coverage| {
                let (covered, rest): (Vec<_>, Vec<_>) =
                    coverage.all.into_iter().partition(|origin| coverage.covered.contains(origin));
                let parts = |origins: Vec<(NodeId, bool)>| {
                    origins.into_iter().map(|(node, negated)| part(spec, root, node, negated)).collect()
                };
                (parts(covered), parts(rest))
            });
            Ok(StatisticReport::Coverage { traversal: name, parts })
        }
        Statistic::Waiting => {
            let session = session.clone().engine("auto");
            let mut chosen = plan::choose(&session, spec, &options, Who::Any(Answers::Verdicts))?;
            let waits = waiting::waits(spec, root, trace, session.read.unit, chosen.evaluator.as_mut());
            Ok(StatisticReport::Waiting(waits.map_err(refused)?))
        }
        Statistic::Vacuity if verdict != Verdict::Satisfied => Ok(StatisticReport::Vacuity(None)),
        Statistic::Vacuity => {
            let session = session.clone().engine("auto").semantics(options.semantics);
            let parts = vacuity::vacuous(&session, spec, root, trace)?;
            Ok(StatisticReport::Vacuity(Some(parts)))
        }
    }
}

/// A subformula in the user's words.
fn part(spec: &Specification, root: &Root, node: NodeId, negated: bool) -> Part {
    let words = spec.words(node);
    let formula = match negated {
        false => words,
        true if words.chars().all(|c| c.is_alphanumeric() || c == '_') => format!("!{words}"),
        true => format!("!({words})"),
    };
    let (whole, span) = (spec.span(root.node), spec.span(node));
    let place = whole.zip(span).and_then(|(whole, span)| {
        let inside = span.source == whole.source && span.start >= whole.start && span.end <= whole.end;
        inside.then(|| ((span.start - whole.start) as usize, (span.end - whole.start) as usize))
    });
    Part { formula, place }
}
