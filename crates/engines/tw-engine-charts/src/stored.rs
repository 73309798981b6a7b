//! Charts on stored traces.

use crate::bank::{Bank, Ending, States};
use crate::checks;
use crate::feed::Feed;
use tw_core::{Bits, Position};
use tw_ir::{Node, NodeId, Program, Semantics};
use tw_monitor::{Answer, EvaluateOptions, Evaluator, Sink, Trace, Unsupported, Wanted};

/// Events between two looks at the memory that is held.
const LOOK: usize = 1 << 16;

/// A program of charts.
pub(crate) struct Stored<'p> {
    program: &'p Program,
    bank: Bank,
    feed: Feed,
    open: bool,
    memory_budget: usize,
}

/// What was found of a root.
#[derive(Default)]
struct Found {
    violations: Vec<Position>,
    count: usize,
    /// Segments that fail, and those that are open.
    fails: Vec<usize>,
    open: Vec<usize>,
}

impl<'p> Stored<'p> {
    pub fn new(program: &'p Program, options: &EvaluateOptions) -> Result<Self, Unsupported> {
        options.pointwise()?;
        let bank = Bank::new(checks(program)?, options.state_budget);
        let feed = Feed::new(program, &bank.events)?;
        let open = options.semantics == Semantics::Ltl3;
        Ok(Self { program, bank, feed, open, memory_budget: options.memory_budget })
    }

    /// Goes over all segments, and tells each violation.
    fn walk(
        &mut self,
        trace: &Trace,
        mut violated: impl FnMut(usize, usize, Position),
        mut ended: impl FnMut(usize, &Bank, &States),
    ) -> Result<(), Unsupported> {
        let (bank, starts) = (&mut self.bank, trace.starts());
        let fresh = bank.fresh();
        let (mut states, mut segment) = (fresh.clone(), 0);
        let mut end = trace.segment_end(0);
        let (mut events, mut over) = (0usize, None);
        self.feed.columns(&trace.atoms, trace.len, |position, found| {
            while position >= end {
                ended(segment, bank, &states);
                states.clone_from(&fresh);
                segment += 1;
                end = trace.segment_end(segment);
            }
            bank.events(&mut states, found, &mut |root| violated(root, segment, position));
            events += 1;
            if events.is_multiple_of(LOOK) && over.is_none() {
                let held = states.heap_bytes() + bank.heap_bytes();
                over = (held > self.memory_budget).then_some(held);
            }
        });
        if let Some(held) = over {
            return Err(too_much(held, self.memory_budget));
        }
        while segment < starts.len() {
            ended(segment, bank, &states);
            states.clone_from(&fresh);
            segment += 1;
        }
        Ok(())
    }
}

/// That executions which are never completed take too much.
pub(crate) fn too_much(held: usize, budget: usize) -> Unsupported {
    let mb = |bytes: usize| bytes >> 20;
    let what = format!("{} MB of executions that are not complete, {} MB are allowed", mb(held), mb(budget));
    Unsupported::budget(what).help("an event of an iterated chart never comes: look at its messages")
}

impl Evaluator for Stored<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let roots = self.program.roots.len();
        let (limit, all_open) = (sink.limit, self.open);
        let mut found: Vec<Found> = (0..roots).map(|_| Found::default()).collect();
        let mut ends: Vec<(usize, usize, Ending, bool)> = Vec::new();
        self.walk(
            trace,
            |root, segment, position| {
                let own = &mut found[root];
                if own.violations.last() == Some(&position) {
                    return;
                }
                own.count += 1;
                if own.violations.len() < limit {
                    own.violations.push(position);
                }
                if own.fails.last() != Some(&segment) {
                    own.fails.push(segment);
                }
            },
            |segment, bank, states| {
                bank.end(states, |question, ending| {
                    if ending != Ending::Holds {
                        ends.push((question.root, segment, ending, question.open_end));
                    }
                });
            },
        )?;
        for (root, segment, ending, open_end) in ends {
            let own = &mut found[root];
            if own.fails.binary_search(&segment).is_ok() {
                continue;
            }
            match ending == Ending::Pending && (open_end || all_open) {
                true => own.open.push(segment),
                false => own.fails.push(segment),
            }
            own.fails.sort_unstable();
        }
        let segments = trace.starts().len();
        let answer = |own: Found| {
            let holds = |segment: usize| {
                own.fails.binary_search(&segment).is_err() && own.open.binary_search(&segment).is_err()
            };
            let open: Bits = (0..segments).map(|segment| own.open.binary_search(&segment).is_ok()).collect();
            Answer {
                holds: (0..segments).map(holds).collect(),
                open: (!own.open.is_empty()).then_some(open),
                violation_count: own.count,
                violations: own.violations,
                ..Answer::default()
            }
        };
        sink.answers(found.into_iter().map(answer));
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let roots = &self.program.roots;
        let place = |node: &NodeId| {
            let body = |root: &tw_ir::Root| {
                let body = self.program.invariant(root.node).map(|(_, body)| body);
                body.filter(|body| matches!(self.program.dag.node(*body), Node::Chart(..)))
            };
            roots.iter().position(|root| body(root) == Some(*node))
        };
        let mut wanted = Vec::new();
        for node in nodes {
            match place(node) {
                Some(root) => wanted.push(root),
                None => return Err(Unsupported::construct(*node, "what is no chart, at each position")),
            }
        }
        let mut fails: Vec<(usize, Position)> = Vec::new();
        self.walk(trace, |root, _, position| fails.push((root, position)), |_, _, _| ())?;
        let column = |root: &usize| {
            let mut truth = vec![true; trace.len];
            fails.iter().filter(|own| own.0 == *root).for_each(|own| truth[own.1] = false);
            truth.into_iter().collect()
        };
        Ok(wanted.iter().map(column).collect())
    }
}
