//! A formula over signals: every operator of the language that has a meaning in continuous time.
//!
//! `X N Y Z` have none, since no instant is next to another; they are refused. `first` and `last` hold at the first and
//! at the last instant alone: there is no time before, or after. `W M B` are abbreviations, as everywhere:
//! `φ W[I] ψ = ψ R[I] (φ | ψ)`, `φ M[I] ψ = ψ U[I] (φ & ψ)`, `φ B[I] ψ = ψ T[I] (φ | ψ)`; `R T G H` are the duals of
//! `U S F O`.

use crate::algebra::{Operand, combine, finally, once, since, table, until};
use crate::{Run, Signal, Span, Window};
use tw_core::TimeUnit;
use tw_ir::{Applied, Node, NodeId, Program, Way};
use tw_monitor::Unsupported;

/// One node of the formulas wanted.
struct Step {
    id: NodeId,
    node: Node,
    window: Window,
    /// Its place among the atoms, if it is one.
    atom: Option<usize>,
    /// How many steps read it, and whether it is wanted itself.
    readers: usize,
}

/// Formulas made ready: checked, intervals in nanoseconds, children before parents.
pub(crate) struct Formulas {
    steps: Vec<Step>,
    /// Step of each node, by node.
    step_of: Vec<u32>,
    wanted: Vec<NodeId>,
    /// Buffers of signals that are not needed any more.
    spare: Vec<Vec<u64>>,
    budget: usize,
}

impl Formulas {
    /// Checks the formulas `wanted`, or names the first that has no meaning here.
    pub(crate) fn new(
        program: &Program,
        wanted: &[NodeId],
        unit: TimeUnit,
        budget: usize,
    ) -> Result<Formulas, Unsupported> {
        let atoms = program.atoms();
        let place = |id: NodeId| atoms.binary_search(&id).ok();
        let mut needed = vec![false; program.dag.len()];
        let mut todo = wanted.to_vec();
        while let Some(id) = todo.pop() {
            if !std::mem::replace(&mut needed[id.index()], true) && place(id).is_none() {
                todo.extend(program.dag.node(id).children());
            }
        }
        let mut step_of = vec![u32::MAX; program.dag.len()];
        let mut steps: Vec<Step> = Vec::new();
        for (index, &node) in program.dag.nodes().iter().enumerate().filter(|(index, _)| needed[*index]) {
            let id = NodeId(index as u32);
            let atom = place(id);
            if atom.is_none() {
                check(id, node)?;
                for child in node.children() {
                    steps[step_of[child.index()] as usize].readers += 1;
                }
            }
            let window = node.interval().map_or(Ok(Window::ALL), |interval| Window::new(interval, unit));
            let window =
                window.map_err(|error| Unsupported::construct(id, format!("this interval: {error}")))?;
            step_of[index] = steps.len() as u32;
            steps.push(Step { id, node, window, atom, readers: 0 });
        }
        for id in wanted {
            steps[step_of[id.index()] as usize].readers += 1;
        }
        Ok(Formulas { steps, step_of, wanted: wanted.to_vec(), spare: Vec::new(), budget })
    }

    /// The signals of the wanted formulas. `atoms` gives the signal of the atom at a place of `Program::atoms`, and
    /// may fill the buffer handed to it.
    pub(crate) fn signals(
        &mut self,
        span: Span,
        mut atoms: impl FnMut(usize, Vec<u64>) -> Signal,
    ) -> Result<Vec<Signal>, Unsupported> {
        let mut left: Vec<usize> = self.steps.iter().map(|step| step.readers).collect();
        let mut made: Vec<Option<Signal>> = (0..self.steps.len()).map(|_| None).collect();
        let mut bytes = 0usize;
        for index in 0..self.steps.len() {
            let step = &self.steps[index];
            let signal = match step.atom {
                Some(atom) => atoms(atom, self.spare.pop().unwrap_or_default()),
                None => {
                    let of = |id: NodeId| -> &Signal {
                        made[self.step_of[id.index()] as usize].as_ref().expect("children come first")
                    };
                    apply(step, span, of, &mut self.spare)
                }
            };
            bytes += signal.heap_bytes();
            if bytes > self.budget {
                return Err(Unsupported::budget("continuous time within the memory budget")
                    .help("raise the memory budget, or ask fewer formulas at once"));
            }
            made[index] = Some(signal);
            if step.atom.is_some() {
                continue;
            }
            for child in step.node.children() {
                let child = self.step_of[child.index()] as usize;
                left[child] -= 1;
                if left[child] == 0
                    && let Some(signal) = made[child].take()
                {
                    bytes -= signal.heap_bytes();
                    self.spare.push(signal.into_buffer());
                }
            }
        }
        let take = |id: &NodeId| {
            let index = self.step_of[id.index()] as usize;
            left[index] -= 1;
            let signal = if left[index] == 0 { made[index].take() } else { made[index].clone() };
            signal.expect("kept until the last reader")
        };
        Ok(self.wanted.iter().map(take).collect())
    }

    /// Gives back a signal that is done with.
    pub(crate) fn recycle(&mut self, signal: Signal) {
        self.spare.push(signal.into_buffer());
    }

    /// The formulas and all they rest on, children first: with windows, and places of atoms.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (NodeId, Node, Window, Option<usize>)> + '_ {
        self.steps.iter().map(|step| (step.id, step.node, step.window, step.atom))
    }

    /// The atoms that the formulas read, by their place in `Program::atoms`.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = (NodeId, usize)> + '_ {
        self.steps.iter().filter_map(|step| Some((step.id, step.atom?)))
    }
}

/// Refuses what has no meaning in continuous time.
fn check(id: NodeId, node: Node) -> Result<(), Unsupported> {
    use Node::*;
    let refuse = |what: &str| Err(Unsupported::construct(id, what));
    if let Some(operator) = node.temporal().filter(|operator| operator.is_step()) {
        let what = format!("`{}` over continuous time, where no instant is next to another", node.operator());
        let help = match operator.past {
            false => "say how soon: `F(0,1s]`, or use ⟨clock: stamps⟩",
            true => "say how long ago: `O(0,1s]`, or use ⟨clock: stamps⟩",
        };
        return Err(Unsupported::construct(id, what).help(help));
    }
    match node {
        Forall(..) | Exists(..) | Variable(_) => refuse("quantified variables"),
        Pattern(_) => refuse("event patterns with variables"),
        Tally(..) => refuse("aggregates over valuations"),
        Chart(..) => refuse("charts over continuous time: they are about events"),
        AllPaths(_) | SomePath(_) => refuse("paths of a model"),
        Compare(..) | In(..) | Matches(..) | Has(_) | Truth(_) => {
            refuse("a predicate over temporal formulas in continuous time")
        }
        Constant(_) | Slot(_) | Negate(_) | Abs(_) | Arithmetic(..) | IfThenElse(..) | Tuple(..) => {
            refuse("a value where a truth value is asked for")
        }
        node if node.is_experiment() => refuse("queries that return values"),
        _ => Ok(()),
    }
}

/// One operator.
fn apply<'s>(
    step: &Step,
    span: Span,
    of: impl Fn(NodeId) -> &'s Signal,
    spare: &mut Vec<Vec<u64>>,
) -> Signal {
    use Node::*;
    if let Some(operator) = step.node.temporal() {
        return temporal(operator, step.window, of, spare);
    }
    let mut connective = |a, b, table| combine(of(a), of(b), table, spare.pop().unwrap_or_default());
    match step.node {
        Bool(value) => Signal::constant(span, value),
        First => Signal::new(span, [Run::closed(span.start(), span.start())]),
        Last => Signal::new(span, [Run::closed(span.end(), span.end())]),
        Not(a) => {
            let mut buffer = spare.pop().unwrap_or_default();
            let a = of(a);
            buffer.clear();
            buffer.extend_from_slice(a.cuts());
            Signal::from_cuts(span, !a.first(), buffer)
        }
        And(a, b) => connective(a, b, table::AND),
        Or(a, b) => connective(a, b, table::OR),
        Xor(a, b) => connective(a, b, table::XOR),
        Implies(a, b) => connective(a, b, table::IMPLIES),
        Iff(a, b) => connective(a, b, table::IFF),
        // Refused when the formulas were checked.
        _ => Signal::constant(span, false),
    }
}

/// Until or since, its dual, or what abbreviates them.
fn temporal<'s>(
    operator: Applied,
    window: Window,
    of: impl Fn(NodeId) -> &'s Signal,
    spare: &mut Vec<Vec<u64>>,
) -> Signal {
    let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
        return of(operator.right).clone(); // refused when the formulas were checked
    };
    let connective = if dual { table::OR } else { table::AND };
    let made =
        beside.map(|beside| combine(of(goal), of(beside), connective, spare.pop().unwrap_or_default()));
    let goal = made.as_ref().unwrap_or_else(|| of(goal));
    let result = match (hold, operator.past) {
        (None, false) => finally(goal, !dual, window, spare.pop().unwrap_or_default()),
        (None, true) => once(goal, !dual, window, spare.pop().unwrap_or_default()),
        (Some(hold), false) => until(Operand(of(hold), !dual), Operand(goal, !dual), window, spare),
        (Some(hold), true) => since(Operand(of(hold), !dual), Operand(goal, !dual), window, spare),
    };
    spare.extend(made.map(Signal::into_buffer));
    if dual { result.complement() } else { result }
}
