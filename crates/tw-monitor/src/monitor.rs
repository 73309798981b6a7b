//! Live monitoring: positions come in, verdicts go out as soon as they are settled.

use crate::{Corrupt, Unsupported};
use tw_core::{Bits, Position, Time};

/// Positions as they arrive.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Number of positions.
    pub len: usize,
    /// One column per atom of the program, in the order of `Program::atoms`.
    pub atoms: &'a [Bits],
    /// Timestamps, if the program needs them and the stream has them.
    pub times: Option<&'a [Time]>,
}

/// A verdict that no continuation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The root, in the program's order.
    pub root: usize,
    /// The position that the verdict is about, from a monitor that reports each position; `None` is the verdict of
    /// the property, which is about position 0.
    pub about: Option<Position>,
    /// The position that settled it.
    pub at: Position,
    /// The verdict.
    pub holds: bool,
}

/// What a root still waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// The root, in the program's order.
    pub root: usize,
    /// The position after which the root has been waiting for just this.
    pub since: Position,
    /// What is owed, as a formula in the user's words.
    pub residual: String,
    /// The time by which it is settled at the latest, if intervals set one: when time has passed beyond it.
    pub deadline: Option<Time>,
}

/// A program on its way through a live trace. Positions are counted from 0 over all that was fed.
pub trait Monitor: Send {
    /// Takes the next positions, and appends to `out` what they settle, in the order of `at`, then of roots.
    fn feed(&mut self, chunk: &Chunk<'_>, out: &mut Vec<Settled>) -> Result<(), Unsupported>;
    /// Takes one position whose atoms are packed 64 to a word (`Machine`), as [`Monitor::feed`].
    fn step(&mut self, atoms: &[u64], out: &mut Vec<Settled>) -> Result<(), Unsupported>;
    /// As [`Monitor::step`], with the position's time for monitors that read it.
    fn step_at(
        &mut self,
        time: Option<Time>,
        atoms: &[u64],
        out: &mut Vec<Settled>,
    ) -> Result<(), Unsupported> {
        let _ = time;
        self.step(atoms, out)
    }
    /// Time has passed strictly beyond `time` without a further position: appends what that settles. Monitors that do
    /// not read time have nothing to say.
    fn advance(&mut self, time: Time, out: &mut Vec<Settled>) -> Result<(), Unsupported> {
        let _ = (time, out);
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
    /// Whether each root holds if the trace ends here; `None` before the first position. A monitor that reports each
    /// position appends to `out` the verdicts of those positions that are open.
    fn finish(&self, out: &mut Vec<Settled>) -> Option<Vec<bool>>;
    /// The whole state, for another process with the same program and options to [`Monitor::restore`].
    fn save(&self, out: &mut Vec<u8>);
    /// Continues from what [`Monitor::save`] wrote. After an error the monitor is as new.
    fn restore(&mut self, from: &[u8]) -> Result<(), Corrupt>;
    /// Bytes held.
    fn heap_bytes(&self) -> usize;
}
