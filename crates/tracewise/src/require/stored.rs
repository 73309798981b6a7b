//! Requirements on a stored trace that is read for properties: judged alongside, so that it is read once.

use super::parts::{Parts, Settled};
use crate::check::{PropertyReport, newlines, property};
use crate::error::{Budget, Setting};
use crate::monitors::batch;
use crate::query::Edge;
use crate::run::columns::{Loaded, Passing, Taker, Untaken};
use crate::run::divide::no_value;
use crate::{Error, Session, Specification};
use tw_core::{Column, Time, TimeUnit};
use tw_ir::SlotId;
use tw_trace::{Stamp, TimeStyle};

/// Takes the columns of requirements, which stand behind those of somebody else.
pub(crate) struct Alongside<'a> {
    spec: &'a Specification,
    budget: usize,
    parts: Parts,
    slots: Vec<SlotId>,
    settled: Vec<Settled>,
    failed: Option<Error>,
    /// Who takes the columns before, and how many these are.
    pub also: Option<&'a mut dyn Taker>,
    before: usize,
}

/// Until it is known how the trace writes times.
fn plain(time: Time) -> Stamp {
    Stamp { time, style: TimeStyle::Number(TimeUnit::Nanoseconds) }
}

impl<'a> Alongside<'a> {
    /// Before the first position.
    pub fn new(session: &Session, spec: &'a Specification, parts: Parts, before: usize) -> Self {
        let (slots, budget) = (parts.slots(), session.evaluate.memory_budget);
        Self { spec, budget, parts, slots, settled: Vec::new(), failed: None, also: None, before }
    }

    /// The verdicts, requirement by requirement, part by part.
    pub fn finish(mut self, loaded: &Loaded) -> Result<Vec<PropertyReport>, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.settled.extend(self.parts.finish(&plain)?);
        if let Some(column) = self.parts.without_keys() {
            return Err(no_value(&column, loaded.name()));
        }
        self.settled.sort_by_key(|found| (found.number, found.place));
        let newlines = newlines(&self.spec.with_required(Vec::new()));
        let style = loaded.summary.style;
        let edge = |edge: Edge| match (edge, style) {
            (Edge::Time(stamp), Some(style)) => Edge::Time(Stamp { style, ..stamp }),
            (edge, _) => edge,
        };
        let report = |found: Settled| {
            let requirement = self.parts.requirement(found.number);
            let mut report = property(self.spec, &newlines, &requirement.root, found.verdict);
            let mut required = found.required;
            required.window = required.window.map(|(from, to)| (edge(from), edge(to)));
            report.formula = format!("{} {}", report.formula, required.relation);
            report.engine = Some(self.parts.engine());
            report.required = Some(required);
            report
        };
        Ok(self.settled.into_iter().map(report).collect())
    }
}

impl Taker for Alongside<'_> {
    fn take(&mut self, mut columns: Vec<Column>, read: Passing<'_>) -> Result<(), Untaken> {
        let own = columns.split_off(self.before);
        if let Some(also) = &mut self.also {
            also.take(columns, read)?;
        }
        if self.failed.is_some() {
            return Ok(());
        }
        let own = batch(&self.spec.program, &self.slots, own, read.len);
        let columns = self.parts.read(&own, read.times)?;
        match self.parts.take(read.len, &columns, read.times, &plain) {
            Ok(settled) => self.settled.extend(settled),
            Err(error) => self.failed = Some(error),
        }
        match self.parts.heap_bytes() {
            bytes if bytes > self.budget => Err(Untaken::Budget(Budget {
                setting: Setting::Memory,
                what: "the parts of requirements".into(),
                needed: Some(bytes),
                allowed: self.budget,
                instead: None,
                trace: String::new(),
            })),
            _ => Ok(()),
        }
    }
}
