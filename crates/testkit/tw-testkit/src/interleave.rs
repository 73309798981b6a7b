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
    /// What its positions are called in the shared monitor, if they are not counted there.
    numbers: Vec<usize>,
}

impl Followed {
    /// What the monitor that knows no other trace says, with the positions as the shared one calls them.
    fn renamed(&self, mut settled: Settled) -> Settled {
        let name = |at: usize| self.numbers.get(at).copied().unwrap_or(at);
        (settled.at, settled.about) = (name(settled.at), settled.about.map(name));
        settled
    }
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
            numbers: Vec::new(),
        });
    }
    let mut context = Context { case, trace: &trace, next: rng.one_in(2).then_some(0) };
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
                followed.numbers.clear();
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
            let how = (telling, context.next.is_some());
            return Ok(Some(format!(
                "trace {number} {how:?}\n  together {together:?}\n  alone    {alone:?}\n"
            )));
        }
    }
    for (number, followed) in traces.iter_mut().enumerate() {
        let (of, id) = followed.place;
        shared[of].select(id);
        let together = said(shared[of].as_mut(), |settled| settled)?;
        let mut alone = new()?;
        std::mem::swap(&mut alone, &mut followed.alone);
        let alone = said(alone.as_mut(), |settled| followed.renamed(settled))?;
        if together != alone {
            return Ok(Some(format!(
                "trace {number} in the end\n  together {together}\n  alone    {alone}\n"
            )));
        }
    }
    Ok(None)
}

/// All that can be asked of a trace.
fn said(monitor: &mut dyn Monitor, renamed: impl Fn(Settled) -> Settled) -> Result<String, Unsupported> {
    let mut sink = Sink::default();
    let end = monitor.finish(&mut sink)?;
    let settled: Vec<Settled> = sink.settled.into_iter().map(renamed).collect();
    let (verdicts, deadline) = (monitor.verdicts(), monitor.next_deadline());
    // Where a root waits for several things, the same, however its positions are called.
    let pending: Vec<_> =
        monitor.pending().into_iter().map(|owed| (owed.root, owed.residual, owed.deadline)).collect();
    Ok(format!("{end:?} {verdicts:?} {pending:?} {deadline:?} {settled:?}"))
}

struct Context<'c> {
    case: &'c Case,
    trace: &'c Trace,
    /// The number of the next position over all traces, if they are numbered so.
    next: Option<usize>,
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
        &mut self,
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
        if self.next.is_none() && rng.one_in(2) {
            let positions = Positions { len, atoms: &atoms, times: Some(&times), ..Positions::default() };
            shared.feed(&positions, &mut together)?;
            followed.alone.feed(&positions, &mut alone)?;
        } else {
            for (at, &time) in times.iter().enumerate() {
                let mut row = vec![0u64; words(atoms.len())];
                for (atom, column) in atoms.iter().enumerate() {
                    row[atom / 64] |= u64::from(column.get(at)) << (atom % 64);
                }
                if let Some(next) = &mut self.next {
                    // Positions of other traces stand between.
                    *next += rng.below(3);
                    shared.skip_to(*next);
                    followed.numbers.push(*next);
                    *next += 1;
                }
                shared.step_at(Some(time), &row, &mut together)?;
                followed.alone.step_at(Some(time), &row, &mut alone)?;
            }
        }
        followed.next = to;
        followed.said.extend(together.settled);
        let alone: Vec<Settled> =
            alone.settled.into_iter().map(|settled| followed.renamed(settled)).collect();
        followed.said_alone.extend(alone);
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
        let alone: Vec<Settled> =
            alone.settled.into_iter().map(|settled| followed.renamed(settled)).collect();
        followed.said_alone.extend(alone);
        Ok(None)
    }
}
