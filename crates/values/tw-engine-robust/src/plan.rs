//! A program as steps over columns of numbers: operators reduced to a few, children before parents.

use rustc_hash::FxHashMap;
use tw_ir::{Applied, Clock, Node, NodeId, Program, Semantics, Ticks, Way};
use tw_monitor::{EvaluateOptions, Unsupported};

/// Index of a step.
pub(crate) type StepId = usize;

/// Two operands at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Connective {
    And,
    Or,
    Xor,
    Implies,
    Iff,
}

/// What one column is computed from. `past` looks back; `dual` is the operator with joins and meets exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Index into the predicates.
    Predicate(usize),
    Bool(bool),
    First,
    Last,
    Not(StepId),
    Connect(Connective, StepId, StepId),
    /// The next or previous position, if it is there and within the interval.
    Neighbour {
        past: bool,
        dual: bool,
        ticks: Option<Ticks>,
        body: StepId,
    },
    /// The join over a bounded interval.
    Window {
        past: bool,
        dual: bool,
        ticks: Ticks,
        body: StepId,
    },
    /// Until or since over a bounded interval.
    Until {
        past: bool,
        dual: bool,
        ticks: Ticks,
        hold: StepId,
        goal: StepId,
    },
    /// The join of everything from here on (or up to here), or until over `[0,inf)`.
    Scan {
        past: bool,
        dual: bool,
        hold: Option<StepId>,
        goal: StepId,
    },
    /// `inner` at the nearest position that is `low` or more away, and `hold` until there: with a [`Step::Scan`]
    /// inside, the operator over `[low,inf)`.
    Shift {
        past: bool,
        dual: bool,
        low: i64,
        hold: Option<StepId>,
        inner: StepId,
    },
}

impl Step {
    /// The steps that this one reads.
    pub(crate) fn operands(self) -> impl Iterator<Item = StepId> {
        let (a, b) = match self {
            Step::Predicate(_) | Step::Bool(_) | Step::First | Step::Last => (None, None),
            Step::Not(a) | Step::Neighbour { body: a, .. } | Step::Window { body: a, .. } => (Some(a), None),
            Step::Connect(_, a, b) => (Some(a), Some(b)),
            Step::Until { hold, goal, .. } => (Some(hold), Some(goal)),
            Step::Scan { hold, goal, .. } => (hold, Some(goal)),
            Step::Shift { hold, inner, .. } => (hold, Some(inner)),
        };
        [a, b].into_iter().flatten()
    }
}

/// The steps of a program.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub steps: Vec<Step>,
    /// The step of each formula.
    pub of: FxHashMap<NodeId, StepId>,
    /// The predicates, ascending.
    pub predicates: Vec<NodeId>,
    /// Whether some interval is read on timestamps.
    pub timed: bool,
}

/// Whether the node is worth a number at one position by itself.
pub(crate) fn is_predicate(node: Node) -> bool {
    matches!(node, Node::Truth(_) | Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_))
}

/// The interval in ticks, `[0,inf)` where none is written.
pub(crate) fn ticks(id: NodeId, node: Node, options: &EvaluateOptions) -> Result<Ticks, Unsupported> {
    let Some(interval) = node.interval() else { return Ok(Ticks { low: 0, high: i64::MAX }) };
    if options.clock == Clock::Dense {
        return Err(Unsupported::construct(id, "intervals over continuous time (⟨clock: dense⟩)")
            .help("values are those at the samples: ⟨clock: stamps⟩"));
    }
    interval
        .ticks(options.clock, options.unit)
        .map_err(|error| Unsupported::construct(id, format!("this interval: {error}")))
}

/// The formulas of the program, ascending; predicates are not taken apart.
fn formulas(program: &Program) -> Vec<NodeId> {
    let mut seen = vec![false; program.dag.len()];
    for root in &program.roots {
        seen[root.node.index()] = true;
    }
    for index in (0..program.dag.len()).rev() {
        let node = program.dag.nodes()[index];
        if seen[index] && !is_predicate(node) {
            node.children().for_each(|child| seen[child.index()] = true);
        }
    }
    (0..program.dag.len() as u32).map(NodeId).filter(|id| seen[id.index()]).collect()
}

impl Plan {
    /// The steps of every root, or the construct that has no robustness.
    pub(crate) fn new(program: &Program, options: &EvaluateOptions) -> Result<Plan, Unsupported> {
        if options.semantics == Semantics::Ltl3 {
            return Err(Unsupported {
                node: None,
                what: "three-valued verdicts (ltl3)".into(),
                help: Some("lower and upper bounds say what the future may still change".into()),
                exhausted: false,
            });
        }
        let mut make = Make { steps: Vec::new(), index: FxHashMap::default() };
        let mut plan =
            Plan { steps: Vec::new(), of: FxHashMap::default(), predicates: Vec::new(), timed: false };
        let local = local(program);
        for id in formulas(program) {
            let node = program.dag.node(id);
            if is_predicate(node) {
                if !local[id.index()] {
                    return Err(Unsupported::construct(
                        id,
                        "a predicate over temporal formulas or variables",
                    )
                    .help("write it as a formula: (c & x > 1) | (!c & x > 2)"));
                }
                plan.of.insert(id, make.add(Step::Predicate(plan.predicates.len())));
                plan.predicates.push(id);
                continue;
            }
            let ticks = ticks(id, node, options)?;
            plan.timed |= node.interval().is_some() && options.clock == Clock::Stamps;
            let step = make.formula(node, ticks, &plan.of).ok_or_else(|| {
                Unsupported::construct(id, format!("the robustness of `{}`", node.operator()))
                    .help("robustness is defined for formulas without quantifiers over the values of a trace")
            })?;
            plan.of.insert(id, step);
        }
        plan.steps = make.steps;
        Ok(plan)
    }

    /// The steps that `wanted` rest on.
    pub(crate) fn needed(&self, wanted: impl IntoIterator<Item = StepId>) -> Vec<bool> {
        let mut needed = vec![false; self.steps.len()];
        wanted.into_iter().for_each(|step| needed[step] = true);
        for step in (0..self.steps.len()).rev() {
            if needed[step] {
                self.steps[step].operands().for_each(|operand| needed[operand] = true);
            }
        }
        needed
    }
}

/// Which nodes one position alone decides, from values without variables.
fn local(program: &Program) -> Vec<bool> {
    let mut local = vec![false; program.dag.len()];
    for (index, node) in program.dag.nodes().iter().enumerate() {
        let other = matches!(node, Node::First | Node::Last) || node.is_first_order();
        let itself = !(other || node.is_temporal() || node.is_experiment() || node.is_branching());
        local[index] = itself && node.children().all(|child| local[child.index()]);
    }
    local
}

struct Make {
    steps: Vec<Step>,
    index: FxHashMap<Step, StepId>,
}

impl Make {
    fn add(&mut self, step: Step) -> StepId {
        *self.index.entry(step).or_insert_with(|| {
            self.steps.push(step);
            self.steps.len() - 1
        })
    }

    /// The step of a formula whose operands have theirs; `None` if it has no robustness.
    fn formula(&mut self, node: Node, ticks: Ticks, of: &FxHashMap<NodeId, StepId>) -> Option<StepId> {
        let at = |id: NodeId| of[&id];
        if let Some(operator) = node.temporal() {
            return Some(self.temporal(operator, ticks, at));
        }
        let step = match node {
            Node::Bool(value) => Step::Bool(value),
            Node::First => Step::First,
            Node::Last => Step::Last,
            Node::Not(a) => Step::Not(at(a)),
            Node::And(a, b) => Step::Connect(Connective::And, at(a), at(b)),
            Node::Or(a, b) => Step::Connect(Connective::Or, at(a), at(b)),
            Node::Xor(a, b) => Step::Connect(Connective::Xor, at(a), at(b)),
            Node::Implies(a, b) => Step::Connect(Connective::Implies, at(a), at(b)),
            Node::Iff(a, b) => Step::Connect(Connective::Iff, at(a), at(b)),
            _ => return None,
        };
        Some(self.add(step))
    }

    fn temporal(&mut self, operator: Applied, ticks: Ticks, at: impl Fn(NodeId) -> StepId) -> StepId {
        let Applied { past, weak, interval, right, .. } = operator;
        let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
            let ticks = interval.map(|_| ticks);
            return self.add(Step::Neighbour { past, dual: weak, ticks, body: at(right) });
        };
        let connective = if dual { Connective::Or } else { Connective::And };
        let goal = match beside {
            Some(beside) => self.add(Step::Connect(connective, at(goal), at(beside))),
            None => at(goal),
        };
        match hold {
            Some(hold) => self.until(past, dual, ticks, at(hold), goal),
            None => self.window(past, dual, ticks, goal),
        }
    }

    fn window(&mut self, past: bool, dual: bool, ticks: Ticks, body: StepId) -> StepId {
        if ticks.high < i64::MAX {
            return self.add(Step::Window { past, dual, ticks, body });
        }
        self.unbounded(past, dual, ticks.low, None, body)
    }

    fn until(&mut self, past: bool, dual: bool, ticks: Ticks, hold: StepId, goal: StepId) -> StepId {
        if ticks.high < i64::MAX {
            return self.add(Step::Until { past, dual, ticks, hold, goal });
        }
        self.unbounded(past, dual, ticks.low, Some(hold), goal)
    }

    fn unbounded(&mut self, past: bool, dual: bool, low: i64, hold: Option<StepId>, goal: StepId) -> StepId {
        let inner = self.add(Step::Scan { past, dual, hold, goal });
        if low == 0 { inner } else { self.add(Step::Shift { past, dual, low, hold, inner }) }
    }
}
