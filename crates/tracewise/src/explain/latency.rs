//! How long verdicts on a live trace take: what `explain` says of them.

use crate::{Error, Session, Specification, plan};
use std::fmt;
use tw_core::{Time, duration};
use tw_engine_metric::{Each, Online};
use tw_ir::{Clock, Node, NodeId, Root, Semantics, Temporal};
use tw_monitor::EvaluateOptions;
use tw_monitor::Telling;

/// What `explain` says of a property on a live trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveReport {
    /// The engine that watches it, or why none does.
    pub engine: Result<&'static str, String>,
    /// How long a verdict about a position takes: of φ for `G φ`, of the property otherwise. `None` where it is not known.
    pub delay: Option<LiveDelay>,
    /// The windows that it reads, and how far back each looks.
    pub windows: Vec<(String, String)>,
}

impl LiveReport {
    /// What is kept while it is watched.
    pub fn memory(&self) -> Option<String> {
        let engine = self.memory_of_engine()?;
        let one = |(text, back): &(String, String)| format!("what comes within {back} (`{text}`)");
        let windows: Vec<String> = self.windows.iter().map(one).collect();
        Some(match (windows.is_empty(), engine.as_str()) {
            (true, _) => engine,
            (false, "constant") => windows.join(", "),
            (false, _) => format!("{engine}; {}", windows.join(", ")),
        })
    }

    fn memory_of_engine(&self) -> Option<String> {
        Some(match (*self.engine.as_ref().ok()?, self.delay.as_ref()?) {
            ("metric", LiveDelay::Positions(count)) => format!("at most {count} positions"),
            ("metric", LiveDelay::Time { nanoseconds, again: 0 }) => {
                format!("the positions within {}", duration(*nanoseconds))
            }
            ("metric", LiveDelay::Time { nanoseconds, .. }) => {
                format!("the positions within {}, and within as much of later ones", duration(*nanoseconds))
            }
            ("metric", LiveDelay::Unbounded(_)) => {
                "a formula for the property; a few bits for each position that is told and still open".into()
            }
            _ => "constant".into(),
        })
    }
}

/// The longest that a verdict about a position may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveDelay {
    /// None: the position itself settles it.
    AtOnce,
    /// Until so many positions have come.
    Positions(u64),
    /// Until time has passed beyond so many nanoseconds after it; and then, so many times, until there is another
    /// position and time has passed beyond as much after that.
    Time {
        /// Nanoseconds.
        nanoseconds: i64,
        /// How often.
        again: u64,
    },
    /// It may stay open for ever; the operator without a bound.
    Unbounded(String),
}

impl fmt::Display for LiveDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveDelay::AtOnce => f.write_str("a verdict about a position is settled at once"),
            LiveDelay::Positions(1) => {
                f.write_str("a verdict about a position is settled at most 1 position later")
            }
            LiveDelay::Positions(count) => {
                write!(f, "a verdict about a position is settled at most {count} positions later")
            }
            LiveDelay::Time { nanoseconds, again } => {
                let time = duration(*nanoseconds);
                write!(f, "a verdict about a position is settled at most {time} after it")?;
                match again {
                    0 => Ok(()),
                    1 => write!(f, ", or {time} after the next position"),
                    _ => write!(f, ", or {time} after a later position, {again} times over"),
                }
            }
            LiveDelay::Unbounded(formula) => {
                write!(f, "a verdict about a position may stay open for ever: `{formula}` has no bound")
            }
        }
    }
}

/// Of the only property of `spec`.
pub(crate) fn live(session: &Session, spec: &Specification, root: &Root) -> LiveReport {
    let semantics = match session.evaluate.semantics {
        Semantics::Finite => Semantics::Ltl3,
        other => other,
    };
    let session = session.clone().semantics(semantics);
    let engine = match plan::choose_monitor(&session, spec, Telling::Verdicts, &mut |_| {}) {
        Ok((engine, _)) => Ok(engine.name()),
        Err(Error::Unsupported { diagnostic, .. }) => Err(diagnostic.message),
        Err(Error::Refused(refusal)) => Err(refusal.to_string()),
        Err(other) => Err(other.to_string()),
    };
    let windows = super::windows(spec, root);
    LiveReport { engine, delay: delay(spec, root, &session.evaluate_options()), windows }
}

fn delay(spec: &Specification, root: &Root, options: &EvaluateOptions) -> Option<LiveDelay> {
    let online = Online::new(&spec.program, options, Each::Body).ok()?;
    let Some(delay) = online.delay(0) else {
        return Some(LiveDelay::Unbounded(tw_ir::display(&spec.program, unbounded(spec, root)?)));
    };
    Some(match (delay.ticks, delay.positions) {
        (0, 0) => LiveDelay::AtOnce,
        (0, positions) => LiveDelay::Positions(positions),
        (ticks, positions) if options.clock == Clock::Index => {
            LiveDelay::Positions(positions.saturating_add(ticks.unsigned_abs()))
        }
        (nanoseconds, again) => LiveDelay::Time { nanoseconds, again },
    })
}

/// How much later than a position what is told about it may be settled, over all properties for which that is bounded in
/// time; `None` where none is.
pub(crate) fn horizon(spec: &Specification, options: &EvaluateOptions) -> Option<Time> {
    if options.clock == Clock::Index {
        return None;
    }
    let online = Online::new(&spec.program, options, Each::Body).ok()?;
    let delays = (0..spec.program.roots.len()).filter_map(|root| online.delay(root));
    delays.map(|delay| delay.ticks.saturating_mul(delay.positions.saturating_add(1) as Time)).max()
}

/// The smallest part of what is told about positions that looks ahead without a bound.
fn unbounded(spec: &Specification, root: &Root) -> Option<NodeId> {
    let dag = &spec.program.dag;
    let told = match dag.node(root.node) {
        Node::Unary(Temporal::Globally, None, body) => body,
        _ => root.node,
    };
    let looks_ahead = |id: &NodeId| {
        let operator = dag.node(*id).temporal().filter(|operator| !operator.past && !operator.is_step());
        operator.is_some_and(|operator| operator.interval.is_none_or(|interval| interval.high.is_none()))
    };
    // Operands have smaller numbers.
    spec.program.reachable(&[told]).into_iter().filter(looks_ahead).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(formula: &str, clock: Clock) -> String {
        let spec = Specification::from_formula(formula).unwrap();
        let report = live(&Session::new().clock(clock), &spec, &spec.program.roots[0]);
        report.delay.map_or("nothing".into(), |delay| delay.to_string())
    }

    #[test]
    fn delays_in_words() {
        let stamps = |formula: &str| said(formula, Clock::Stamps);
        assert!(stamps("G (a -> O[0,5s] b)").ends_with("at once"));
        assert!(stamps("G (a -> F[0,5s] b)").ends_with("at most 5s after it"));
        assert!(stamps("G (a -> F[0,1.5s] G[0,500ms] b)").ends_with("at most 2s after it"));
        assert!(stamps("G (a -> F[0,1] b)").ends_with("at most 1s after it"));
        assert!(stamps("G (a -> X X b)").ends_with("at most 2 positions later"));
        assert!(
            stamps("G (a -> X F[0,5s] b)").ends_with("at most 5s after it, or 5s after the next position")
        );
        assert!(stamps("G (a -> F b)").ends_with("may stay open for ever: `F b` has no bound"));
        assert!(stamps("a U[3,inf) (b & X c)").contains("`a U[3,inf) (b & X c)` has no bound"));
        assert!(stamps("G (a -> F[0,90s] b)").ends_with("at most 90s after it"));
        assert!(said("G (a -> F[0,1000] b)", Clock::Index).ends_with("at most 1000 positions later"));
        assert_eq!(stamps("forall x. G (p(x) -> F q(x))"), "nothing");
    }

    #[test]
    fn the_live_engine_is_named() {
        let engine = |formula: &str| {
            let spec = Specification::from_formula(formula).unwrap();
            live(&Session::new(), &spec, &spec.program.roots[0]).engine
        };
        let kept = |formula: &str| {
            let spec = Specification::from_formula(formula).unwrap();
            live(&Session::new(), &spec, &spec.program.roots[0]).memory().unwrap()
        };
        assert_eq!(kept("G (a -> F[0,5s] b)"), "the positions within 5s");
        assert_eq!(
            (kept("G (a -> O[0,5s] b)"), kept("G (a -> F b)")),
            ("constant".into(), "constant".into())
        );
        assert_eq!(engine("G (a -> F[0,5s] b)"), Ok("metric"));
        assert_eq!(engine("G (a -> F b)"), Ok("automaton"));
        assert_eq!(engine("forall x. G (p(x) -> F q(x))"), Ok("relational"));
    }
}
