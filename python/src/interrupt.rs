//! Work on a thread of its own, so that the GIL is free and Ctrl-C is heard.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;
use tracewise::Session;
use tracewise::trace::Progress;

/// How often signals are looked at.
const BEAT: Duration = Duration::from_millis(50);

/// Formulas may be nested deeply; what walks them by recursion does so here.
const STACK: usize = 64 << 20;

/// Runs a verb. If Python has a signal to handle that raises (Ctrl-C), the reading stops and the exception is passed on.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    session: Session,
    work: impl FnOnce(Session) -> Result<T, tracewise::Error> + Send + 'static,
) -> PyResult<T> {
    let progress = Arc::new(Progress::default());
    let session = session.progress(Arc::clone(&progress));
    let (done, mut waiting) = sync_channel(1);
    let thread = std::thread::Builder::new().name("tracewise".into()).stack_size(STACK);
    // Nobody listens any more after an interruption.
    thread.spawn(move || drop(done.send(work(session))))?;
    loop {
        let heard;
        (waiting, heard) = py.detach(move || {
            let heard = waiting.recv_timeout(BEAT);
            (waiting, heard)
        });
        match heard {
            Ok(result) => return crate::error::checked(result),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    progress.stop();
                    return Err(signal);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "this is a bug of Tracewise: a verb ended without an answer",
                ));
            }
        }
    }
}
