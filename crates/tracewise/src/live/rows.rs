//! Positions as names and values, for programs that have no columns.

use super::{Outcome, ShardMonitor};
use crate::Error;
use std::sync::Arc;
use tw_core::{Time, TimeUnit, Value};
use tw_trace::{Arguments, Event, Projection, SlotBuilder, Stamp, TimeStyle, Vocabulary};

/// One position: an event with its arguments, or the values of variables, as a line of JSON would give it.
#[derive(Clone, Debug, Default)]
pub struct Row<'a> {
    /// When it is, in nanoseconds.
    pub time: Option<Time>,
    /// The event that happens.
    pub event: Option<&'a str>,
    /// Arguments and variables, the key among them. Nested data is an object.
    pub values: &'a [(&'a str, Value)],
}

impl ShardMonitor {
    /// As [`ShardMonitor::feed`], from rows. Nothing is fed if one of them does not fit the specification.
    pub fn feed_rows(&mut self, rows: &[Row<'_>], told: &mut dyn FnMut(Outcome<'_>)) -> Result<(), Error> {
        if let [row] = rows
            && let Some(done) = self.push_row(row, told)
        {
            return done;
        }
        let timed = rows.iter().all(|row| row.time.is_some());
        let mut projection = Projection::new(&self.slots, None, timed);
        projection.templates = self.plan.specification().program.templates.as_slice().into();
        let mut builder = SlotBuilder::new(&projection);
        let mut vocabulary = Vocabulary::new(self.slots.len());
        for (at, row) in rows.iter().enumerate() {
            let time = row.time.map(|time| Stamp { time, style: TimeStyle::Number(TimeUnit::Nanoseconds) });
            let variables = row.values.iter().map(|(name, value)| (Arc::from(*name), value.clone()));
            let event = |name: &str| Event { name: name.into(), arguments: Arguments::OfRow };
            let row = tw_trace::Row {
                time,
                variables: variables.collect(),
                events: row.event.map(event).into_iter().collect(),
                typed: true,
                ..Default::default()
            };
            if let Err(error) = builder.push(&row, &mut vocabulary) {
                let place = format!("position {}", self.positions + at);
                return Err(crate::run::faults::trace_error(
                    self.plan.specification(),
                    error.in_file(&place),
                ));
            }
        }
        let batch = builder.finish(timed);
        self.feed(&batch, told)
    }
}
