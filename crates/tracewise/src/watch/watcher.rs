//! What is done with the positions of a stream: verdicts, for one trace ([`Judge`](super::judge::Judge)) or one for each key
//! ([`Keyed`](super::keyed::Keyed)), or robustness. The loop around it ([`Run`](super::run::Run)) is the same.

use super::checkpoint::Checkpoint;
use super::clock::Passed;
use super::halt::Halt;
use super::{LiveSink, WatchReport};
use crate::Error;
use crate::run::order::StepsBack;
use std::io;
use tw_trace::{Progress, Receiver};

/// Takes positions, tells what they settle, and keeps a state.
pub(crate) trait Watcher: Receiver<Error = Halt> {
    /// Whom to tell.
    fn sink(&mut self) -> &mut dyn LiveSink;
    /// How many properties have verdicts, and how many lines were told: what a checkpoint is written for.
    fn heard(&self) -> (usize, u64) {
        (0, 0)
    }
    /// No event came for a while: the stream's time goes on with the wall clock.
    fn beat(&mut self, passed: Passed) -> Result<(), Halt> {
        let _ = passed;
        Ok(())
    }
    /// It goes on from a state, after so much was read.
    fn go_on_after(&mut self, read: Progress) {
        let _ = read;
    }
    /// The stream is over: hands over the positions that wait for earlier ones.
    fn release(&mut self) -> Result<(), Halt> {
        Ok(())
    }
    /// Lists what is pending when this much has been read.
    fn list_pending(&mut self, now: Progress) -> io::Result<()> {
        let _ = now;
        Ok(())
    }
    /// Tells what queries are worth so far.
    fn tell_values(&mut self) -> Result<(), Error> {
        Ok(())
    }
    /// Tells what is open, and what it is worth if the stream ends here.
    fn last_words(&mut self, now: Progress) -> Result<(), Error>;
    /// An early end as an error, unless it is none.
    fn conclude(&mut self, halt: Halt) -> Result<(), Error>;
    /// Adds its state to a checkpoint.
    fn save(&mut self, state: &mut Checkpoint) {
        let _ = state;
    }
    /// Goes on from a checkpoint, or says why it cannot.
    fn restore(&mut self, state: &Checkpoint) -> Result<(), String> {
        let _ = state;
        Err("this stream has no state that was kept".into())
    }
    /// Tells again what a run that goes on has to.
    fn tell_again(&mut self, state: Checkpoint) -> io::Result<()> {
        let _ = state;
        Ok(())
    }
    /// Bytes held, beside the buffers of a batch: what may grow with a stream.
    fn heap_bytes(&self) -> usize {
        0
    }
    /// How timestamps went back, where they may.
    fn steps_back(&self) -> Option<StepsBack> {
        None
    }
    /// What it came to: after the end of the stream, or before it.
    fn report(&mut self, ended: bool, positions: u64) -> WatchReport;
}
