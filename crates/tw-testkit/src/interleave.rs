//! Several traces through one monitor, against a monitor for each.
//!
//! Traces are rotated prefixes of a case's. At random one of them goes on, by a step, a chunk or the passing of time, or
//! is moved through a saved state to another place, perhaps of another monitor, or is closed and begun anew. What is said
//! of it must be what a monitor says that knows no other trace. The passing of time must settle nothing before the deadline
//! that the monitor names.

use crate::{Case, Rng};
use tw_core::{Bits, Time};
use tw_ir::Clock;
use tw_monitor::{Engine, Monitor, Positions, Settled, Sink, Telling, Trace, TraceId, Unsupported, words};

/// One of the traces: what it is, how far it is, and who follows it.
struct Followed {
    /// Positions of the case.
    order: Vec<usize>,
    next: usize,
    /// Time has passed beyond this.
    passed: Option<Time>,
    /// Which of the shared monitors, and which of its traces.
    place: (usize, TraceId),
    alone: Box<dyn Monitor>,
    said: Vec<Settled>,
    said_alone: Vec<Settled>,
}

/// What one monitor of several traces says wrongly, or the engine's refusal.
pub fn interleaved_difference(engine: &dyn Engine, case: &Case) -> Result<Option<String>, Unsupported> {
    let refused = |what: String| Unsupported { node: None, what, help: None, exhausted: false };
    let trace = case.trace(false).map_err(|error| refused(error.to_string()))?;
    let mut rng = Rng::new(case.seed ^ 0x0069_6e74_6572);
    let telling = rng.pick(&[Telling::Verdicts, Telling::Violations, Telling::Positions]);
    let new = || engine.monitor(&case.program, &case.options, telling);
    let mut shared = [new()?, new()?];
    let order = |rng: &mut Rng| {
        let (from, len) = (rng.below(trace.len), 1 + rng.below(trace.len));
        (0..len).map(|at| (from + at) % trace.len).collect::<Vec<_>>()
    };
    let mut traces = Vec::new();
    for number in 0..3 + rng.below(3) {
        // The first trace is there without being asked for.
        let place = if number == 0 { TraceId(0) } else { shared[0].open() };
        traces.push(Followed {
            order: order(&mut rng),
            next: 0,
            passed: None,
            place: (0, place),
            alone: new()?,
            said: Vec::new(),
            said_alone: Vec::new(),
        });
    }
    let context = Context { case, trace: &trace };
    for _ in 0..4 * traces.len() + trace.len {
        let number = rng.below(traces.len());
        let followed = &mut traces[number];
        match rng.below(12) {
            0 => {
                let (of, id) = followed.place;
                let mut saved = Vec::new();
                shared[of].select(id);
                shared[of].save(&mut saved);
                shared[of].close(id);
                let to = rng.below(2);
                let id = shared[to].open();
                shared[to].select(id);
                if let Err(corrupt) = shared[to].restore(&saved) {
                    return Ok(Some(format!("trace {number} was saved, and not restored: {corrupt}\n")));
                }
                followed.place = (to, id);
            }
            1 if rng.one_in(3) => {
                let (of, id) = followed.place;
                shared[of].close(id);
                followed.place.1 = shared[of].open();
                followed.alone = new()?;
                (followed.next, followed.passed) = (0, None);
                (followed.order, followed.said, followed.said_alone) =
                    (order(&mut rng), Vec::new(), Vec::new());
            }
            2 | 3 if context.timed() && followed.next > 0 => {
                let (of, id) = followed.place;
                shared[of].select(id);
                if let Some(wrong) = context.pass(shared[of].as_mut(), followed, &mut rng)? {
                    return Ok(Some(format!("trace {number}: {wrong}")));
                }
            }
            _ => {
                let (of, id) = followed.place;
                shared[of].select(id);
                context.go_on(shared[of].as_mut(), followed, &mut rng)?;
            }
        }
        if followed.said != followed.said_alone {
            let (together, alone) = (&followed.said, &followed.said_alone);
            return Ok(Some(format!("trace {number}\n  together {together:?}\n  alone    {alone:?}\n")));
        }
    }
    for (number, followed) in traces.iter_mut().enumerate() {
        let (of, id) = followed.place;
        shared[of].select(id);
        let together = said(shared[of].as_mut())?;
        let alone = said(followed.alone.as_mut())?;
        if together != alone {
            return Ok(Some(format!(
                "trace {number} in the end\n  together {together}\n  alone    {alone}\n"
            )));
        }
    }
    Ok(None)
}

/// All that can be asked of a trace.
fn said(monitor: &mut dyn Monitor) -> Result<String, Unsupported> {
    let mut sink = Sink::default();
    let end = monitor.finish(&mut sink)?;
    let (verdicts, pending, deadline) = (monitor.verdicts(), monitor.pending(), monitor.next_deadline());
    let positions = monitor.positions();
    Ok(format!("{positions} {end:?} {verdicts:?} {pending:?} {deadline:?} {:?}", sink.settled))
}

struct Context<'c> {
    case: &'c Case,
    trace: &'c Trace,
}

impl Context<'_> {
    fn timed(&self) -> bool {
        self.case.options.clock == Clock::Stamps
    }

    /// When the position that comes `at`-th is: times are those of the case, in its order.
    fn time(&self, followed: &Followed, at: usize) -> Time {
        let time = self.trace.times.as_ref().map_or(at as Time, |times| times[at]);
        // A later position is after what has passed.
        followed.passed.map_or(time, |passed| time.max(passed + 1))
    }

    /// One step, or some in a chunk.
    fn go_on(
        &self,
        shared: &mut dyn Monitor,
        followed: &mut Followed,
        rng: &mut Rng,
    ) -> Result<(), Unsupported> {
        let len = rng.below(6).min(followed.order.len() - followed.next);
        let (from, to) = (followed.next, followed.next + len);
        let column = |column: &Bits| followed.order[from..to].iter().map(|&at| column.get(at)).collect();
        let atoms: Vec<Bits> = self.trace.atoms.iter().map(column).collect();
        let times: Vec<Time> = (from..to).map(|at| self.time(followed, at)).collect();
        let (mut together, mut alone) = (Sink::default(), Sink::default());
        if rng.one_in(2) {
            let positions = Positions { len, atoms: &atoms, times: Some(&times), ..Positions::default() };
            shared.feed(&positions, &mut together)?;
            followed.alone.feed(&positions, &mut alone)?;
        } else {
            for (at, &time) in times.iter().enumerate() {
                let mut row = vec![0u64; words(atoms.len())];
                for (atom, column) in atoms.iter().enumerate() {
                    row[atom / 64] |= u64::from(column.get(at)) << (atom % 64);
                }
                shared.step_at(Some(time), &row, &mut together)?;
                followed.alone.step_at(Some(time), &row, &mut alone)?;
            }
        }
        followed.next = to;
        followed.said.extend(together.settled);
        followed.said_alone.extend(alone.settled);
        Ok(())
    }

    /// Time passes without a position.
    fn pass(
        &self,
        shared: &mut dyn Monitor,
        followed: &mut Followed,
        rng: &mut Rng,
    ) -> Result<Option<String>, Unsupported> {
        let time = self.time(followed, followed.next - 1) + rng.below(6) as Time;
        let deadline = shared.next_deadline();
        let (mut together, mut alone) = (Sink::default(), Sink::default());
        shared.advance(time, &mut together)?;
        followed.alone.advance(time, &mut alone)?;
        followed.passed = followed.passed.max(Some(time));
        let early = deadline.is_none_or(|deadline| deadline > time) && !together.settled.is_empty();
        if early {
            return Ok(Some(format!("{:?} at {time}, before {deadline:?}\n", together.settled)));
        }
        if shared.next_deadline().is_some_and(|next| next <= time) {
            return Ok(Some(format!("time has passed beyond {time}, the deadline has not\n")));
        }
        followed.said.extend(together.settled);
        followed.said_alone.extend(alone.settled);
        Ok(None)
    }
}
