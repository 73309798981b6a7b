//! Streams without timestamps: intervals count positions then, unless something asks for time.

use crate::error::Setting;
use crate::run::clock::needs_times;
use crate::{Session, Specification, plan};
use tw_ir::{Clock, NodeId};
use tw_monitor::{Monitor, Telling};
use tw_trace::{TraceError, TraceErrorKind};

/// What becomes of a stream whose first position has no timestamp.
#[derive(Default)]
pub(super) struct Untimed {
    /// Why it cannot be watched.
    refusal: Option<String>,
    /// The monitor that counts positions, until it is needed.
    monitor: Option<Box<dyn Monitor>>,
    /// Whether it is at work.
    pub counting: bool,
}

impl Untimed {
    /// For a specification that measures time by timestamps or an option that needs them.
    pub fn new(session: &Session, spec: &Specification, each: Telling, option: Option<Setting>) -> Self {
        let time = format!("(`{}` names their column)", Setting::Time.to("COL"));
        if let Some(option) = option {
            let refusal = format!("found no timestamp, and `{option}` needs them {time}");
            return Self { refusal: Some(refusal), ..Self::default() };
        }
        if !needs_times(session, spec) || spec.program.roots.is_empty() {
            return Self::default();
        }
        let counting = session.clone().clock(Clock::Index);
        if let Some(node) = measures(spec, &counting) {
            let formula = spec.words(node);
            let refusal = format!("found no timestamp, expected one since `{formula}` measures time {time}");
            return Self { refusal: Some(refusal), ..Self::default() };
        }
        match plan::choose_monitor(&counting, spec, each, &mut |_| {}) {
            Ok((_, monitor)) => Self { monitor: Some(monitor), ..Self::default() },
            Err(other) => Self { refusal: Some(other.to_string()), ..Self::default() },
        }
    }

    /// Whether positions without timestamps can be taken.
    pub fn check(&self) -> Result<(), TraceError> {
        match &self.refusal {
            Some(refusal) => Err(TraceError::new(TraceErrorKind::Time, refusal.clone())),
            None => Ok(()),
        }
    }

    /// The monitor to go on with, if it is another.
    pub fn monitor(&mut self) -> Option<Box<dyn Monitor>> {
        self.counting |= self.monitor.is_some();
        self.monitor.take()
    }
}

/// An operator whose interval cannot count positions.
fn measures(spec: &Specification, counting: &Session) -> Option<NodeId> {
    let roots: Vec<NodeId> = spec.program.roots.iter().map(|root| root.node).collect();
    spec.program.reachable(&roots).into_iter().find(|&id| {
        let interval = spec.program.dag.node(id).interval();
        interval.is_some_and(|interval| interval.ticks(Clock::Index, counting.read.unit).is_err())
    })
}
