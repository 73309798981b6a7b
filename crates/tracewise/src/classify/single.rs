//! One trace alone, evaluated from position to position.

use super::refused;
use crate::run::Run;
use crate::{Error, Specification};
use std::borrow::Cow;
use tw_classify::{Class, Columns, Formula, Plan, Rules, Scan, Timing, Tree};
use tw_core::{Batch, Bits, TimeUnit};
use tw_ir::{Clock, NodeId, Program, Root, SlotId};
use tw_monitor::{EvaluateOptions, Predicates, Trace};

/// A formula on a trace.
pub(super) struct Single<'t> {
    pub formula: Formula,
    trace: Cow<'t, Trace>,
    leaves: Vec<(NodeId, Bits)>,
    unit: TimeUnit,
    stamps: bool,
}

impl<'t> Single<'t> {
    /// Of one part of a divided trace.
    pub fn of_segment(
        spec: &Specification,
        run: &'t Run<'_>,
        root: NodeId,
        (start, end): (usize, usize),
    ) -> Result<Self, Error> {
        let trace = &run.loaded.trace;
        let own = match trace.starts().len() {
            1 => Cow::Borrowed(trace),
            _ => Cow::Owned(trace.gather(&(start as u32..end as u32).collect::<Vec<_>>(), vec![0])),
        };
        Self::new(spec, root, own, &run.options)
    }

    /// Of a trace without segments.
    pub fn new(
        spec: &Specification,
        root: NodeId,
        trace: Cow<'t, Trace>,
        options: &EvaluateOptions,
    ) -> Result<Self, Error> {
        let values = |slot: SlotId| {
            let column = trace.slots.as_ref().and_then(|slots| slots.get(slot as usize));
            let all = (0..trace.len).filter_map(|at| column.map(|column| column.value(at)));
            tw_classify::domain(all)
        };
        let formula = Formula::new(&spec.program, root, &values).map_err(|refusal| refused(spec, refusal))?;
        let leaves = match formula.program() {
            None => {
                let atoms = spec.program.atoms().into_iter().zip(&trace.atoms);
                let own = atoms.filter(|(node, _)| formula.leaves().binary_search(node).is_ok());
                own.map(|(node, bits)| (node, bits.clone())).collect()
            }
            Some(ground) => {
                let roots = formula.leaves().iter().map(|&node| Root::property("leaf", node)).collect();
                let ground = Program { roots, ..ground.clone() };
                let slots = trace.slots.clone().unwrap_or_default();
                let batch = Batch { len: trace.len, slots, times: trace.times.clone() };
                let bits = Predicates::new(&ground).evaluate(&batch);
                let bits = bits.map_err(|error| {
                    Error::refused(format!("position {}: {}", error.position, error.message))
                })?;
                ground.atoms().into_iter().zip(bits).collect()
            }
        };
        let stamps = options.clock == Clock::Stamps;
        Ok(Self { formula, trace, leaves, unit: options.unit, stamps })
    }

    pub fn len(&self) -> usize {
        self.trace.len
    }

    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    fn timing(&self) -> Timing<'_> {
        let times = self.trace.times.as_deref().filter(|_| self.stamps);
        Timing { times, until: self.trace.until, unit: self.unit }
    }

    fn columns(&self, spec: &Specification) -> Result<Columns<'static>, Error> {
        let leaf = |node: NodeId| {
            let own = self.leaves.binary_search_by_key(&node, |(own, _)| *own).ok()?;
            Some(self.leaves[own].1.clone())
        };
        let columns = Columns::of_trace(&self.formula, &spec.program, self.len(), &self.timing(), &leaf);
        columns.map_err(|refusal| refused(spec, refusal))
    }

    /// The trace's class.
    pub fn class(&self, spec: &Specification, rules: Rules) -> Result<Class, Error> {
        let columns = self.columns(spec)?;
        let plan = Plan::new(&self.formula, rules).map_err(|refusal| refused(spec, refusal))?;
        Ok(Scan::new(&plan, &columns, self.timing()).class(0, self.len()))
    }

    /// Its pruned hologram by some sets of rules, each with at most so many nodes.
    pub fn trees(&self, spec: &Specification, wanted: &[(Rules, usize)]) -> Result<Vec<Tree>, Error> {
        let columns = self.columns(spec)?;
        let tree = |(rules, most): &(Rules, usize)| {
            let plan = Plan::new(&self.formula, *rules).map_err(|refusal| refused(spec, refusal))?;
            Ok(Tree::new(&mut Scan::new(&plan, &columns, self.timing()), self.len(), *most))
        };
        wanted.iter().map(tree).collect()
    }
}
