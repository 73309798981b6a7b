//! A watch by hand: whoever has the lines pushes them, asks what is pending and takes the state, when it likes and on one thread.
//! A server with many streams does so; [`Session::watch`] is the loop for one.

use super::checkpoint::Checkpoint;
use super::run::{Run, keyed, single};
use super::watcher::Watcher;
use super::{WatchOptions, WatchSink};
use crate::{Error, Session, Specification, monitors};
use tw_ir::RootKind;

/// A specification and how it is watched. What watches borrows it.
#[derive(Clone, Debug)]
pub struct Prepared {
    session: Session,
    whole: Specification,
    /// The properties alone.
    own: Specification,
    options: WatchOptions,
}

/// A stream that is watched by hand.
pub trait Stepped {
    /// The stream stands after so many lines, which nobody watched. Before the first line alone.
    fn begin_after(&mut self, lines: u64);
    /// Takes bytes of the stream, cut anywhere; tells what their whole lines settle. After an error the watch is over.
    fn push(&mut self, bytes: &[u8]) -> Result<(), Error>;
    /// Lists what is pending, and what queries are worth so far.
    fn tell_pending(&mut self) -> Result<(), Error>;
    /// Positions read.
    fn positions(&self) -> u64;
    /// Bytes held: what may grow with a stream.
    fn heap_bytes(&self) -> usize;
    /// The whole state.
    fn save(&mut self) -> Vec<u8>;
    /// Goes on from a state of the same specification; the next line is the one after those that it has read. What was told
    /// before may be told again. After an error nothing else is to be done with this watch.
    fn restore(&mut self, state: &[u8]) -> Result<(), Error>;
}

impl Prepared {
    pub(crate) fn new(
        session: &Session,
        spec: &Specification,
        options: &WatchOptions,
    ) -> Result<Self, Error> {
        let session = monitors::beside(session, spec)?.into_owned();
        let whole = match (&options.by, &options.until) {
            (Some(_), Some(until)) => spec.ending(until)?,
            _ => spec.clone(),
        };
        let own = whole.of_kind(RootKind::Property).into_owned();
        Ok(Self { session, whole, own, options: options.clone() })
    }

    /// The specification, as it is watched.
    pub fn specification(&self) -> &Specification {
        &self.whole
    }

    /// A watch of which no line has come yet.
    pub fn begin<'w>(&'w self, sink: &'w mut dyn WatchSink) -> Result<Box<dyn Stepped + 'w>, Error> {
        if self.options.by.is_some() {
            let mut run = keyed(&self.session, &self.whole, &self.options, sink)?;
            run.prepare_streams(&self.session)?;
            return Ok(Box::new(run));
        }
        let mut run = single(&self.session, [&self.whole, &self.own], &self.options, sink)?;
        run.prepare_streams(&self.session)?;
        Ok(Box::new(run))
    }
}

impl<W: Watcher> Stepped for Run<'_, W> {
    fn begin_after(&mut self, lines: u64) {
        self.live.begin_at(0, lines);
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Err(halt) = self.take(bytes) {
            // Nothing more is wanted, or something is wrong.
            return self.judge.conclude(halt);
        }
        self.judge_names();
        Ok(())
    }

    fn tell_pending(&mut self) -> Result<(), Error> {
        let listed = self.judge.list_pending(self.live.progress());
        listed.map_err(super::halt::unwritten)?;
        self.judge.tell_values()
    }

    fn positions(&self) -> u64 {
        self.live.progress().positions
    }

    fn heap_bytes(&self) -> usize {
        self.judge.heap_bytes()
    }

    fn save(&mut self) -> Vec<u8> {
        self.state().to_bytes()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        let refuse = |why: String| Error::refused(format!("cannot resume: {why}"));
        let state = Checkpoint::of_bytes(state).map_err(refuse)?;
        self.take_over(&state).map_err(refuse)?;
        self.judge.tell_again(state).map_err(super::halt::unwritten)
    }
}
