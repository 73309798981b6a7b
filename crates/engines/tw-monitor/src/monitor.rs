//! Live monitoring: positions come in, verdicts go out as soon as they are settled.
//!
//! One [`Monitor`] follows many traces of one program: what is made of the program is there once, a trace is a small state.
//! That is how a log is watched once per value of a column.

use crate::{Bindings, Corrupt, Known, Note, Positions, Sink, Unsupported};
use tw_core::{Position, Time};

/// What a monitor tells beside the verdicts of properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Telling {
    /// Nothing: the least memory.
    #[default]
    Verdicts,
    /// Of a root `G φ` without interval, each position where φ fails, as soon as that is settled.
    Violations,
    /// The verdict about every position: of φ for a root `G φ` without interval, of the root itself otherwise.
    Positions,
}

impl Telling {
    /// Whether runs from each position are followed.
    pub fn each(self) -> bool {
        self != Telling::Verdicts
    }
}

/// What a root still waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Obligation {
    /// The root, in the program's order.
    pub root: usize,
    /// The position after which the root has been waiting for just this.
    pub since: Position,
    /// What is owed, as a formula in the user's words.
    pub residual: String,
    /// The time by which it is settled at the latest, if intervals set one: when time has passed beyond it.
    pub deadline: Option<Time>,
    /// What quantified variables are there.
    pub bindings: Bindings,
}

/// One of the traces that a monitor follows. Numbers are small, and those of closed traces are used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub u32);

/// A program on its way through live traces. [`TraceId`] 0 is there from the start, and selected; who follows one trace need
/// not know of others. Positions are counted from 0 over all that was fed of a trace.
pub trait Monitor: Send {
    /// Begins another trace, before its first position. It is not selected by that.
    fn open(&mut self) -> TraceId;
    /// All further calls are about this trace. One that is not open is not selected.
    fn select(&mut self, trace: TraceId);
    /// Forgets a trace; its number may be given to another. Who closes the selected trace selects another next: until then
    /// calls are about a trace without positions.
    fn close(&mut self, trace: TraceId);
    /// The earliest time whose passing ([`Monitor::advance`]) may settle something of this trace, if any may. Nothing is
    /// settled by time before; whether something is then may depend on more.
    fn next_deadline(&self) -> Option<Time> {
        None
    }
    /// The next position is that number, not the one after the last: those between belong to other traces. Positions in
    /// what is told are such numbers.
    fn skip_to(&mut self, position: Position);
    /// Takes the next positions, and puts into the sink what they settle, in the order of `at`, then of roots.
    fn feed(&mut self, positions: &Positions<'_>, sink: &mut Sink) -> Result<(), Unsupported>;
    /// The same of positions with these numbers, ascending, between which there are others that belong to other traces.
    fn feed_numbered(
        &mut self,
        positions: &Positions<'_>,
        numbers: &[Position],
        sink: &mut Sink,
    ) -> Result<(), Unsupported> {
        let mut from = 0;
        while from < positions.len {
            let follows = |at: &usize| numbers[*at] == numbers[at - 1] + 1;
            let to = (from + 1..positions.len).take_while(follows).last().map_or(from + 1, |last| last + 1);
            self.skip_to(numbers[from]);
            if (from, to) == (0, positions.len) {
                return self.feed(positions, sink);
            }
            let order: Vec<u32> = (from as u32..to as u32).collect();
            let own = positions.gather(&order);
            self.feed(&own.positions(), sink)?;
            from = to;
        }
        Ok(())
    }
    /// Takes one position whose atoms are packed 64 to a word (`Machine`), as [`Monitor::feed`]; of programs that read
    /// nothing but atoms.
    fn step(&mut self, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported>;
    /// As [`Monitor::step`], with the position's time for monitors that read it.
    fn step_at(&mut self, time: Option<Time>, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        let _ = time;
        self.step(atoms, sink)
    }
    /// Time has passed strictly beyond `time` without a further position: tells what that settles. Monitors that do not
    /// read time have nothing to say.
    fn advance(&mut self, time: Time, sink: &mut Sink) -> Result<(), Unsupported> {
        let _ = (time, sink);
        Ok(())
    }
    /// What can be said at once about the last position that was fed (of φ for a root `G φ` without interval, of the
    /// root itself otherwise): the verdict of a synchronous observer, `None` for maybe.
    fn now(&self, root: usize) -> Option<bool> {
        let _ = root;
        None
    }
    /// How many positions were fed.
    fn positions(&self) -> Position;
    /// The verdict of each root, if it is settled.
    fn verdicts(&self) -> Vec<Option<bool>>;
    /// What each root that is not settled waits for.
    fn pending(&self) -> Vec<Obligation>;
    /// What each root is worth if the trace ends here; `None` before the first position. A monitor that reports positions
    /// puts into the sink what that says of those that are open. Nothing changes by asking.
    fn finish(&mut self, sink: &mut Sink) -> Result<Option<Vec<Known>>, Unsupported>;
    /// What is to be said about the last values: that they are approximate, and by how much.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
    /// The whole state, for another process with the same program and options to [`Monitor::restore`].
    fn save(&self, out: &mut Vec<u8>);
    /// Continues from what [`Monitor::save`] wrote. After an error the monitor is as new.
    fn restore(&mut self, from: &[u8]) -> Result<(), Corrupt>;
    /// Bytes held, by all traces.
    fn heap_bytes(&self) -> usize;
}
