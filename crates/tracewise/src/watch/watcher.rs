//! What a watch does with positions: one trace for all of them ([`Judge`](super::judge::Judge)), or one for each key
//! ([`Keyed`](super::keyed::Keyed)). The loop around it is the same.

use super::checkpoint::Checkpoint;
use super::judge::Halt;
use super::{WatchReport, WatchSink};
use crate::Error;
use std::io;
use std::time::Instant;
use tw_trace::{Progress, Receiver};

/// Takes positions, tells what they settle, and keeps a state.
pub(super) trait Watcher: Receiver<Error = Halt> {
    /// Whom to tell.
    fn sink(&mut self) -> &mut dyn WatchSink;
    /// How many properties have verdicts, and how many lines were told.
    fn heard(&self) -> (usize, u64);
    /// No event came for a while: the stream's time goes on with the wall clock.
    fn beat(&mut self, now: Instant) -> Result<(), Halt>;
    /// Hands over the positions that wait for earlier ones: the stream is over.
    fn release(&mut self) -> Result<(), Halt>;
    /// Lists what is pending when this much has been read.
    fn list_pending(&mut self, now: Progress) -> io::Result<()>;
    /// Tells what queries are worth so far.
    fn tell_values(&mut self) -> Result<(), Error>;
    /// Tells what is open, and what it is worth if the stream ends here.
    fn last_words(&mut self, now: Progress) -> Result<(), Error>;
    /// An early end as an error, unless it is none.
    fn conclude(&mut self, halt: Halt) -> Result<(), Error>;
    /// Adds its state to a checkpoint.
    fn save(&mut self, state: &mut Checkpoint);
    /// Goes on from a checkpoint, or says why it cannot.
    fn restore(&mut self, state: &Checkpoint) -> Result<(), String>;
    /// Tells again what a run that goes on has to.
    fn tell_again(&mut self, state: Checkpoint) -> io::Result<()>;
    /// What it came to: after the end of the stream, or before it.
    fn report(&mut self, ended: bool, positions: u64) -> WatchReport;
}
