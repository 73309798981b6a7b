//! Why a formula is true or false at a position.
//!
//! An explanation is a small proof: a tree of [`Claim`]s, each "this subformula is true (false) here", resting on
//! claims about its parts by the definition of its operator. It is built after the fact from the truth columns of the
//! subformulas on the way, whichever engine computes them, and a checker that knows only the definitions can
//! validate it. Each claim about one position is taken apart further; a claim about a stretch of positions ("`ack` is
//! false from 17 to the end") is a leaf, since the trace itself is its evidence.
//!
//! What the rules choose, for an operator that looks forward (those that look back are mirrored):
//!
//! | | true | false |
//! |---|---|---|
//! | `F φ` | the first φ | φ never: pending when the trace ends first |
//! | `G φ` | φ throughout | the first ¬φ |
//! | `φ U ψ` | the first ψ, φ before it | the first ¬φ and no ψ up to it, else ψ never |
//! | `φ W ψ` | the first ψ, φ before it, else φ throughout | the first ¬φ, no ψ up to it |
//! | `φ R ψ` | the first φ, ψ up to it, else ψ throughout | the first ¬ψ, no φ before it |
//! | `φ M ψ` | the first φ, ψ up to it | the first ¬ψ and no φ before it, else φ never |
//!
//! With an interval, "first", "never" and "throughout" are about the positions inside it.

mod columns;
mod nearby;
mod request;
mod step;
mod walk;

pub use request::{Request, violation_request};

use crate::{Bindings, EvaluateOptions, Evaluator, Trace, Unsupported};
use columns::{ByColumns, Columns};
use nearby::Nearby;
use rustc_hash::{FxHashMap, FxHashSet};
use step::Source;
use tw_core::Position;
use tw_ir::{Node, NodeId, Program, Temporal};

/// One step of an explanation: `node` has the truth `holds` at every position of `range`, by `rule`.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The formula.
    pub node: NodeId,
    /// What its free variables are.
    pub bindings: Bindings,
    /// First and last position of the claim, both inside.
    pub range: (Position, Position),
    /// Its truth there.
    pub holds: bool,
    /// Why.
    pub rule: Rule,
    /// The claims that it rests on: indices into [`Explanation::claims`], greater than this claim's own.
    pub children: Vec<usize>,
}

/// Why a claim is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The position alone decides: a predicate, `true`, `false`, `first`, `last`.
    Atom,
    /// A stretch of more than one position, read off the trace. A leaf.
    Throughout,
    /// `!φ`: the other truth of φ.
    Negation,
    /// The left side of a connective decides.
    Left,
    /// The right side of a connective decides.
    Right,
    /// Both sides of a connective decide together.
    Both,
    /// The next (previous) position decides.
    Neighbour,
    /// There is no next position.
    NoNext,
    /// There is no previous position.
    NoPrevious,
    /// The last position stands for its own successor (`--semantics repeat-last`).
    RepeatsLast,
    /// The next (previous) position lies outside the interval.
    OutsideInterval,
    /// No position lies inside the interval; `pending` if the trace ends before the interval begins.
    NoPosition {
        /// Whether a longer trace could have had one.
        pending: bool,
    },
    /// What was awaited comes at `at`, and all is well until then.
    Witness {
        /// The first such position.
        at: Position,
    },
    /// What has to hold at every position fails at `at`.
    FailsAt {
        /// The first such position.
        at: Position,
    },
    /// What has to hold meanwhile fails at `at`, too early.
    BrokenAt {
        /// The first such position.
        at: Position,
    },
    /// The obligation ends at `at` and was kept until then.
    ReleasedAt {
        /// The first such position.
        at: Position,
    },
    /// What was awaited never comes; `pending` if that is because the trace ends.
    Never {
        /// Whether a longer trace could have brought it.
        pending: bool,
    },
    /// What was awaited does not come inside the interval, but at `at`: the nearest such position outside it.
    Missed {
        /// That position.
        at: Position,
    },
    /// What has to hold does, at every position in question.
    Everywhere,
    /// A quantifier: this value of its variable decides. The child is about what it stands before, with that value.
    Instance,
    /// A quantifier: a value that nothing names decides, such as one that was never seen.
    Unnamed,
    /// A quantifier: no value decides otherwise.
    Nobody,
    /// Not taken apart further: the depth limit is reached.
    Truncated,
}

/// A tree of claims in a flat vector; the first is the root.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The claims, parents before children.
    pub claims: Vec<Claim>,
    /// If the root is false: the obligations still open when the trace ended, each with the position since when.
    pub pending: Vec<(NodeId, Position)>,
}

impl Explanation {
    /// Levels of claims that are enough for most formulas and still fit a screen.
    pub const DEPTH: usize = 12;

    /// However deep the limit, a tree larger than this is cut.
    const MOST_CLAIMS: usize = 10_000;
}

/// Explains the truth of `node` at `at`. `evaluator` must come from a plan of `program` with `options`, and `trace`
/// hold what it wants; claims `depth_limit` levels below the root are not taken apart. Only the columns of
/// subformulas on the way are asked for.
pub fn explain(
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
    evaluator: &mut dyn Evaluator,
    node: NodeId,
    at: Position,
    depth_limit: usize,
) -> Result<Explanation, Unsupported> {
    let columns = &mut Columns::new(program, trace, evaluator);
    let mut source = ByColumns { columns, program, options, forget: false };
    explain_with(&mut source, &(node, at, Bindings::default()), depth_limit)
}

/// Explains the truth of many formulas, each at its position. Formulas share subformulas, and columns cost a pass over
/// the trace: those of as many requests as fit into `budget` bytes are asked for together. What is settled nearby needs none;
/// `fails` says of requests for a `G φ` where φ fails first, as far as that is known.
pub fn explain_many(
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
    evaluator: &mut dyn Evaluator,
    (requests, fails): (&[Request], &[Option<Position>]),
    depth_limit: usize,
    budget: usize,
) -> Result<Vec<Explanation>, Unsupported> {
    // Properties repeat themselves, and so do their explanations.
    let name = |(node, at, bindings): &Request| (*node, *at, format!("{bindings:?}"));
    let mut distinct: Vec<Request> = requests.to_vec();
    distinct.sort_by_cached_key(name);
    distinct.dedup();
    let mut explanations: FxHashMap<(NodeId, Position, String), Explanation> = FxHashMap::default();
    // Under bindings every column costs a pass. What looks back alone needs no position after its own, and the violations that
    // are explained are the first.
    let early = |(node, at, bindings): &Request| {
        !bindings.is_empty() && *at < trace.len / 2 && looks_back(program, *node)
    };
    let first: Vec<Request> = distinct.iter().filter(|request| early(request)).cloned().collect();
    if let Some(last) = first.iter().map(|(_, at, _)| *at).max() {
        distinct.retain(|request| !early(request));
        let order: Vec<u32> = (0..=last as u32).collect();
        let starts = trace.starts().iter().copied().filter(|start| *start <= last).collect();
        let part = trace.gather(&order, starts);
        let columns = &mut Columns::new(program, &part, evaluator);
        let mut source = ByColumns { columns, program, options, forget: false };
        for request in &first {
            let made = explain_with(&mut source, request, depth_limit)?;
            explanations.insert(name(request), made);
        }
    }
    let mut columns = Columns::new(program, trace, evaluator);
    let mut far = Vec::new();
    let fails: FxHashMap<(NodeId, Position), Position> = requests
        .iter()
        .zip(fails)
        .filter_map(|((node, at, _), fails)| Some(((*node, *at), (*fails)?)))
        .collect();
    for request in distinct {
        let mut near = Nearby::new(program, trace, options, &columns.atoms);
        near.fails = fails.get(&(request.0, request.1)).and_then(|&at| match program.dag.node(request.0) {
            Node::Unary(Temporal::Globally, None, body) => Some((body, request.1, at)),
            _ => None,
        });
        match request.2.is_empty().then(|| explain_with(&mut near, &request, depth_limit)) {
            Some(Ok(explanation)) if near.knows() => {
                explanations.insert(name(&request), explanation);
            }
            _ => far.push(request),
        }
    }
    // At least one column; with no room for more, columns are asked for one level at a time.
    let room = (budget / (trace.len / 8 + 1)).max(1);
    let mut rest = far.as_slice();
    while !rest.is_empty() {
        columns.known.clear();
        let mut wanted: Vec<NodeId> = Vec::new();
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut taken = 0;
        for (node, _, bindings) in rest {
            // Columns under bindings are asked for level by level.
            if !bindings.is_empty() {
                taken += 1;
                continue;
            }
            let mut more = Vec::new();
            if !columns.nearby(program, *node, depth_limit, &seen, room - wanted.len(), &mut more) {
                break;
            }
            seen.extend(&more);
            wanted.append(&mut more);
            taken += 1;
        }
        columns.fetch(wanted.into_iter().map(|node| (node, 0)))?;
        // A formula that alone is too large is explained level by level, each forgotten before the next.
        let (now, later) = rest.split_at(taken.max(1));
        for request in now {
            let mut source = ByColumns { columns: &mut columns, program, options, forget: taken == 0 };
            let explanation = explain_with(&mut source, request, depth_limit)?;
            explanations.insert(name(request), explanation);
        }
        rest = later;
    }
    Ok(requests.iter().filter_map(|request| explanations.get(&name(request)).cloned()).collect())
}

/// Whether positions after the one that it is asked at have no say.
fn looks_back(program: &Program, node: NodeId) -> bool {
    program.reachable(&[node]).into_iter().all(|node| match program.dag.node(node) {
        Node::Unary(operator, ..) | Node::Binary(operator, ..) => operator.is_past(),
        Node::Last => false,
        _ => true,
    })
}

fn explain_with(
    source: &mut dyn Source,
    (node, at, bindings): &Request,
    depth_limit: usize,
) -> Result<Explanation, Unsupported> {
    let (node, at) = (*node, *at);
    let holds = source.root(node, bindings, at)?;
    let (rule, children, bindings) = (Rule::Truncated, Vec::new(), bindings.clone());
    let mut claims = vec![Claim { node, bindings, range: (at, at), holds, rule, children }];
    let mut level = vec![0];
    for _ in 0..depth_limit {
        let asked: Vec<(NodeId, &Bindings)> =
            level.iter().map(|&index: &usize| (claims[index].node, &claims[index].bindings)).collect();
        source.ask(&asked, depth_limit)?;
        let mut below = Vec::new();
        for index in level {
            if claims.len() >= Explanation::MOST_CLAIMS {
                break;
            }
            let Claim { node, range: (at, _), holds, .. } = claims[index];
            let mut bindings = claims[index].bindings.clone();
            let (rule, parts) = source.reasons(node, &mut bindings, at, holds)?;
            claims[index].rule = rule;
            for part in parts {
                let child = claims.len();
                claims[index].children.push(child);
                let stretch = part.range.0 < part.range.1;
                if !stretch {
                    below.push(child);
                }
                let rule = if stretch { Rule::Throughout } else { Rule::Truncated };
                claims.push(Claim {
                    node: part.node,
                    bindings: bindings.clone(),
                    range: part.range,
                    holds: part.holds,
                    rule,
                    children: vec![],
                });
            }
        }
        if below.is_empty() || !source.knows() {
            break;
        }
        level = below;
    }
    let pending = claims
        .iter()
        .filter(|claim| {
            let open =
                matches!(claim.rule, Rule::Never { pending: true } | Rule::NoPosition { pending: true })
                    || claim.rule == Rule::NoNext;
            // A true claim, or one under a true root, is no obligation that was missed.
            open && !claim.holds && !holds
        })
        .map(|claim| (claim.node, claim.range.0))
        .collect();
    Ok(Explanation { claims, pending })
}
