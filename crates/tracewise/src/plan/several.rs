//! Several engines for one specification: each property goes to the first that accepts it alone, and so does each query.
//!
//! A bound in one property need not cost the others their automata, nor, under `ltl3`, their exact verdicts: with
//! intervals a verdict is that of informative prefixes, without it is over all continuations.

mod monitors;

pub(super) use monitors::Monitors;

use tw_core::{Bits, Position, Value};
use tw_ir::{NodeId, Program};
use tw_monitor::{Bindings, Engine, EvaluateOptions, Evaluator, Sink, Trace, Unsupported, Wanted, Worth};

/// The properties that one engine runs.
pub(super) struct Share {
    pub engine: &'static dyn Engine,
    /// The program with these roots alone.
    program: Program,
    /// Their numbers in the whole program.
    roots: Vec<usize>,
    /// The numbers of their atoms in the whole program.
    atoms: Vec<usize>,
    /// The numbers of their terms and patterns in the whole program.
    terms: Vec<usize>,
    patterns: Vec<usize>,
    /// Whether they measure time.
    timed: bool,
}

/// Divides the roots among engines; `None` if one engine has them all, or one root has none.
pub(super) fn divide(
    program: &Program,
    accepts: impl Fn(&Program) -> Option<&'static dyn Engine>,
) -> Option<Vec<Share>> {
    let mut shares: Vec<Share> = Vec::new();
    let mut alone = program.clone();
    for (number, root) in program.roots.iter().enumerate() {
        alone.roots = vec![root.clone()];
        let engine = accepts(&alone)?;
        match shares.iter_mut().find(|share| same(share.engine, engine)) {
            Some(share) => share.roots.push(number),
            None => {
                let (program, roots) = (program.clone(), vec![number]);
                let (atoms, terms, patterns) = Default::default();
                shares.push(Share { engine, program, roots, atoms, terms, patterns, timed: false });
            }
        }
    }
    if shares.len() < 2 {
        return None;
    }
    let (atoms, terms, patterns) = (program.atoms(), program.terms(), program.patterns());
    for share in &mut shares {
        share.program.roots = share.roots.iter().map(|&root| program.roots[root].clone()).collect();
        let nodes: Vec<NodeId> = share.program.roots.iter().map(|root| root.node).collect();
        let timed = |&id: &NodeId| program.dag.node(id).interval().is_some();
        share.timed = program.reachable(&nodes).iter().any(timed);
        let place = |id: &NodeId| atoms.binary_search(id).ok();
        share.atoms = share.program.atoms().iter().map(place).collect::<Option<_>>()?;
        let place = |id: &NodeId| terms.binary_search(id).ok();
        share.terms = share.program.terms().iter().map(place).collect::<Option<_>>()?;
        let place = |id: &NodeId| patterns.binary_search(id).ok();
        share.patterns = share.program.patterns().iter().map(place).collect::<Option<_>>()?;
    }
    Some(shares)
}

/// Engines of different kinds may have one name.
fn same(one: &dyn Engine, other: &dyn Engine) -> bool {
    one.name() == other.name() && one.answers() == other.answers()
}

/// Those of all that are wanted.
fn pick<T: Clone>(places: &[usize], all: &[T], wanted: bool) -> Vec<T> {
    places.iter().filter(|_| wanted).filter_map(|&place| all.get(place).cloned()).collect()
}

impl Share {
    /// The parts of these properties, ascending.
    fn reachable(&self) -> Vec<NodeId> {
        let roots: Vec<NodeId> = self.program.roots.iter().map(|root| root.node).collect();
        self.program.reachable(&roots)
    }

    /// The share's columns of all.
    fn columns(&self, atoms: &[Bits]) -> Vec<Bits> {
        self.atoms.iter().map(|&atom| atoms[atom].clone()).collect()
    }
}

/// Evaluators of stored traces. Each is made when it is asked: it borrows the share that stands here beside it.
pub(super) struct Evaluators {
    shares: Vec<Share>,
    options: EvaluateOptions,
    /// What some of them reads.
    wanted: Wanted,
}

impl Evaluators {
    pub(super) fn new(shares: Vec<Share>, options: &EvaluateOptions) -> Result<Self, Unsupported> {
        let mut wanted = Wanted::ATOMS;
        for share in &shares {
            let own = share.engine.plan(&share.program, options)?.wanted();
            wanted.terms |= own.terms;
            wanted.slots |= own.slots;
            wanted.relations |= own.relations;
        }
        Ok(Self { shares, options: options.clone(), wanted })
    }

    fn trace(&self, share: &Share, trace: &Trace, wanted: Wanted) -> Trace {
        Trace {
            len: trace.len,
            atoms: share.columns(&trace.atoms),
            times: trace.times.clone().filter(|_| share.timed),
            // Slots are those of the whole specification, whoever reads them.
            slots: trace.slots.as_ref().filter(|_| wanted.slots).cloned(),
            terms: pick(&share.terms, &trace.terms, wanted.terms),
            relations: pick(&share.patterns, &trace.relations, wanted.relations),
            segments: trace.segments.clone(),
            until: trace.until,
            ..Trace::default()
        }
    }
}

impl Evaluator for Evaluators {
    fn wanted(&self) -> Wanted {
        self.wanted
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let mut worth: Vec<(usize, Worth)> = Vec::new();
        for share in &self.shares {
            let mut evaluator = share.engine.plan(&share.program, &self.options)?;
            let mut own = Sink::with_limit(sink.limit);
            evaluator.run(&self.trace(share, trace, evaluator.wanted()), &mut own)?;
            worth.extend(share.roots.iter().copied().zip(own.worth));
        }
        worth.sort_by_key(|(root, _)| *root);
        sink.worth.extend(worth.into_iter().map(|(_, worth)| worth));
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let nodes: Vec<_> = nodes.iter().map(|&node| (node, Bindings::default())).collect();
        self.columns_bound(trace, &nodes)
    }

    fn columns_bound(
        &mut self,
        trace: &Trace,
        nodes: &[(NodeId, Bindings)],
    ) -> Result<Vec<Bits>, Unsupported> {
        let mut columns = vec![Bits::new(); nodes.len()];
        let mut done = vec![false; nodes.len()];
        for share in &self.shares {
            let reachable = share.reachable();
            let mine = |&at: &usize| !done[at] && reachable.binary_search(&nodes[at].0).is_ok();
            let mine: Vec<usize> = (0..nodes.len()).filter(mine).collect();
            let asked: Vec<(NodeId, Bindings)> = mine.iter().map(|&at| nodes[at].clone()).collect();
            let mut evaluator = share.engine.plan(&share.program, &self.options)?;
            let found = evaluator.columns_bound(&self.trace(share, trace, evaluator.wanted()), &asked)?;
            for (at, column) in mine.into_iter().zip(found) {
                (columns[at], done[at]) = (column, true);
            }
        }
        match done.iter().position(|done| !done) {
            Some(at) => Err(Unsupported::construct(nodes[at].0, "a formula of no property")),
            None => Ok(columns),
        }
    }

    fn witness(
        &mut self,
        trace: &Trace,
        node: NodeId,
        bindings: &Bindings,
        at: Position,
    ) -> Result<Option<Value>, Unsupported> {
        let has = |share: &&Share| share.reachable().binary_search(&node).is_ok();
        let Some(share) = self.shares.iter().find(has) else { return Ok(None) };
        let mut evaluator = share.engine.plan(&share.program, &self.options)?;
        let trace = self.trace(share, trace, evaluator.wanted());
        evaluator.witness(&trace, node, bindings, at)
    }
}

#[cfg(test)]
mod tests;
