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

mod request;
mod step;
mod walk;

pub use request::{Request, violation_request};

use crate::{Bindings, EvaluateOptions, Evaluator, Trace, Unsupported};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use tw_core::Position;
use tw_ir::{Node, NodeId, Program};

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
    let mut columns = Columns::new(program, trace, evaluator);
    explain_with(&mut columns, program, options, &(node, at, Bindings::default()), depth_limit, false)
}

/// Explains the truth of many formulas, each at its position. Formulas share subformulas, and columns cost a pass over
/// the trace: those of as many requests as fit into `budget` bytes are asked for together.
pub fn explain_many(
    program: &Program,
    trace: &Trace,
    options: &EvaluateOptions,
    evaluator: &mut dyn Evaluator,
    requests: &[Request],
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
        let mut columns = Columns::new(program, &part, evaluator);
        for request in &first {
            let made = explain_with(&mut columns, program, options, request, depth_limit, false)?;
            explanations.insert(name(request), made);
        }
    }
    let mut columns = Columns::new(program, trace, evaluator);
    // At least one column; with no room for more, columns are asked for one level at a time.
    let room = (budget / (trace.len / 8 + 1)).max(1);
    let mut rest = distinct.as_slice();
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
            let explanation = explain_with(&mut columns, program, options, request, depth_limit, taken == 0)?;
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
    columns: &mut Columns<'_>,
    program: &Program,
    options: &EvaluateOptions,
    (node, at, bindings): &Request,
    depth_limit: usize,
    forget: bool,
) -> Result<Explanation, Unsupported> {
    let (trace, node, at) = (columns.trace, *node, *at);
    let own = columns.number(bindings);
    columns.fetch([(node, own)].into_iter())?;
    let holds = columns.known[&(node, own)].get(at);
    let (rule, children, bindings) = (Rule::Truncated, Vec::new(), bindings.clone());
    let mut claims = vec![Claim { node, bindings, range: (at, at), holds, rule, children }];
    let (mut level, seen) = (vec![0], FxHashSet::default());
    for _ in 0..depth_limit {
        if forget {
            columns.known.clear();
        }
        let mut parts = Vec::new();
        for &index in &level {
            let own = columns.number(&claims[index].bindings);
            let mut below = Vec::new();
            // Under bindings every request costs a pass of its own: what may be needed is asked for at once.
            let together = own > 0
                && !forget
                && columns.nearby(program, claims[index].node, depth_limit, &seen, TOGETHER, &mut below);
            if !together {
                below.clear();
            }
            below.extend(step::parts(program, claims[index].node));
            parts.extend(below.into_iter().map(|part| (part, own)));
        }
        columns.fetch(parts.into_iter())?;
        let mut below = Vec::new();
        for index in level {
            if claims.len() >= Explanation::MOST_CLAIMS {
                break;
            }
            let Claim { node, range: (at, _), holds, .. } = claims[index];
            let mut bindings = claims[index].bindings.clone();
            let (rule, parts) = match program.dag.node(node) {
                Node::Exists(variable, body) | Node::Forall(variable, body) => {
                    let exists = matches!(program.dag.node(node), Node::Exists(..));
                    if exists != holds {
                        (Rule::Nobody, Vec::new())
                    } else if let Some(value) = columns.evaluator.witness(trace, node, &bindings, at)? {
                        bindings = bindings.with(variable, value);
                        (Rule::Instance, vec![step::Part { node: body, range: (at, at), holds }])
                    } else {
                        (Rule::Unnamed, Vec::new())
                    }
                }
                _ => {
                    let own = columns.number(&bindings);
                    let known = step::Known { columns: &columns.known, bound: own };
                    step::justify(program, trace, options, &known, node, at, holds)?
                }
            };
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
        if below.is_empty() {
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

/// Columns under bindings that are asked for at once.
const TOGETHER: usize = 100;

/// The truth columns asked for so far. Those of atoms are the trace's own.
struct Columns<'a> {
    trace: &'a Trace,
    evaluator: &'a mut dyn Evaluator,
    atoms: FxHashMap<NodeId, usize>,
    /// By formula and by the number of its bindings.
    known: step::Columns<'a>,
    /// Bindings by number; the first are none.
    bound: Vec<Bindings>,
}

impl<'a> Columns<'a> {
    fn new(program: &Program, trace: &'a Trace, evaluator: &'a mut dyn Evaluator) -> Self {
        let atoms = program.atoms().into_iter().enumerate().map(|(index, node)| (node, index));
        // A trace made for an engine that reads values may lack them.
        let atoms =
            atoms.filter(|&(_, index)| trace.atoms.get(index).is_some_and(|bits| bits.len() == trace.len));
        let bound = vec![Bindings::default()];
        Self { trace, evaluator, atoms: atoms.collect(), known: FxHashMap::default(), bound }
    }

    /// The number of bindings.
    fn number(&mut self, bindings: &Bindings) -> u32 {
        let known = self.bound.iter().position(|own| own == bindings);
        known.unwrap_or_else(|| {
            self.bound.push(bindings.clone());
            self.bound.len() - 1
        }) as u32
    }

    fn fetch(&mut self, nodes: impl Iterator<Item = (NodeId, u32)>) -> Result<(), Unsupported> {
        let mut missing: Vec<(NodeId, u32)> = nodes.filter(|node| !self.known.contains_key(node)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|own| match self.atoms.get(&own.0) {
            Some(&index) => {
                self.known.insert(*own, Cow::Borrowed(&self.trace.atoms[index]));
                false
            }
            None => true,
        });
        if !missing.is_empty() {
            let bound: Vec<(NodeId, Bindings)> =
                missing.iter().map(|(node, bound)| (*node, self.bound[*bound as usize].clone())).collect();
            let columns = self.evaluator.columns_bound(self.trace, &bound)?;
            self.known.extend(missing.into_iter().zip(columns.into_iter().map(Cow::Owned)));
        }
        Ok(())
    }

    /// The formulas up to `depth` levels below `node` that are not in `seen` and have to be computed; false if they
    /// are more than `most`.
    fn nearby(
        &self,
        program: &Program,
        node: NodeId,
        depth: usize,
        seen: &FxHashSet<NodeId>,
        most: usize,
        into: &mut Vec<NodeId>,
    ) -> bool {
        let mut reached: FxHashSet<NodeId> = FxHashSet::default();
        let mut level = vec![node];
        for _ in 0..=depth {
            level.retain(|&node| reached.insert(node));
            into.extend(level.iter().filter(|&node| !seen.contains(node) && !self.atoms.contains_key(node)));
            if into.len() > most {
                return false;
            }
            level = level.iter().flat_map(|&node| step::parts(program, node)).collect();
        }
        true
    }
}
