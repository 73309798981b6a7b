//! Sequence charts: how they are read, what they are as formulas, and where in a chart a trace has come to.

mod drawing;
mod explanation;

pub use drawing::{Mark, drawing};
pub(crate) use explanation::{Told, explain, incomplete, silent};

use crate::{Error, Specification};
use std::borrow::Cow;
use tw_ir::Path;
pub use tw_ir::chart::{Check, Condition, Direction, Matching, Reading};
use tw_spec::ast::DeclarationKind;
pub use tw_spec::ast::chart::Chart;
use tw_spec::{ChartEvents, LowerOptions};

/// How charts are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartOptions {
    /// What "followed" and "preceded" mean; left out, `segment`, and `precedes` for an `after`.
    pub reading: Option<Reading>,
    /// Which main charts answer the precharts of an iterated chart.
    pub matching: Matching,
    /// Whether what is pending at the end is open, not violated.
    pub open_end: bool,
    /// The columns that say whether a message is sent or received, and which it is.
    pub columns: Option<[String; 2]>,
}

/// A chart as a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartFormula {
    /// The name of the property: `preHOV.necessary`.
    pub property: String,
    /// The formula.
    pub formula: String,
    /// Its different subformulas.
    pub size: usize,
    /// Whether the chart is iterated, which no formula says: then it is about one execution.
    pub iterated: bool,
}

impl Specification {
    /// The same with its charts read so.
    pub fn reading_charts(&self, options: &ChartOptions) -> Result<Cow<'_, Specification>, Error> {
        if *options == ChartOptions::default() {
            return Ok(Cow::Borrowed(self));
        }
        let mut spec = match &options.columns {
            None => self.clone(),
            Some(columns) => {
                let paths = [&columns[0], &columns[1]].map(|column| Path::parse(column));
                self.lowered_again(ChartEvents::Columns(paths))?
            }
        };
        for check in &mut spec.program.dag.charts {
            check.reading = options.reading.unwrap_or(check.reading);
            check.iterate = check.iterate.map(|_| options.matching);
            check.open_end = options.open_end;
        }
        spec.program.drop_unused();
        Ok(Cow::Owned(spec))
    }

    /// Its charts alone, read so.
    pub fn charts(&self, options: &ChartOptions) -> Result<Specification, Error> {
        let mut spec = self.reading_charts(options)?.into_owned();
        let program = &mut spec.program;
        let roots = std::mem::take(&mut program.roots);
        program.roots = roots.into_iter().filter(|root| program.chart(root.node).is_some()).collect();
        if program.roots.is_empty() {
            return Err(Error::refused_instead(
                "the specification has no charts",
                "add one, such as `chart Answered necessary { pre { A -> B : request; } main { B -> A : reply; } }`",
            ));
        }
        program.monitors.clear();
        program.drop_unused();
        Ok(spec)
    }

    /// Its charts as formulas over the events `send(msg)` and `recv(msg)`: the reading `ltl`.
    pub fn chart_formulas(&self) -> Result<Vec<ChartFormula>, Error> {
        let spec = self.lowered_again(ChartEvents::Events)?;
        let mut program = spec.program;
        let mut formulas = Vec::new();
        for root in program.roots.clone() {
            let Some(iterated) = program.chart(root.node).map(|(_, check, _)| check.iterate.is_some()) else {
                continue;
            };
            let Some(node) = program.chart_ltl(root.node) else { continue };
            formulas.push(ChartFormula {
                property: root.name,
                formula: tw_ir::display(&program, node),
                size: program.reachable(&[node]).len(),
                iterated,
            });
        }
        Ok(formulas)
    }

    /// Its charts as written.
    pub fn written_charts(&self) -> impl Iterator<Item = &Chart> {
        self.tree.declarations.iter().filter_map(|declaration| match &declaration.kind {
            DeclarationKind::Chart(chart) => Some(chart),
            _ => None,
        })
    }

    /// The same where events of charts are read so. Roots that were left out stay out.
    fn lowered_again(&self, events: ChartEvents) -> Result<Specification, Error> {
        let options = LowerOptions { chart_events: events, ..LowerOptions::default() };
        let lowered = tw_spec::lower(&self.tree, &options);
        if lowered.has_errors() {
            let sources = Box::new(self.sources.clone());
            return Err(Error::Specification { diagnostics: lowered.diagnostics, sources });
        }
        let mut spec = self.clone();
        let asked: Vec<&str> = self.program.roots.iter().map(|root| root.name.as_str()).collect();
        spec.program = lowered.value;
        spec.program.roots.retain(|root| asked.contains(&root.name.as_str()));
        let kept: Vec<String> = self.program.monitors.iter().map(|monitor| monitor.name.clone()).collect();
        spec.program.monitors.retain(|monitor| kept.contains(&monitor.name));
        Ok(spec)
    }
}
