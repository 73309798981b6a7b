//! A progress bar on a terminal when work takes over a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tracewise::Session;
use tracewise::trace::Progress as Reading;

/// How often the picture is renewed.
const TICK: Duration = Duration::from_millis(100);

/// How long work may take in silence.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how far the reading is, or a spinner where that is not known, from one second after the start until dropped.
pub struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the clock. Nothing is ever shown when `quiet`, or when standard error is not a terminal.
    pub fn start(quiet: bool, message: String, reading: Option<Arc<Reading>>) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self { running: None };
        }
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("progress".into()).spawn(move || {
            if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let spinner = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            let whole = "{msg} {bar:30} {bytes} of {total_bytes} ({bytes_per_sec}, {eta} to go)";
            if let Ok(style) = spinner {
                bar.set_style(style);
            }
            bar.set_elapsed(PATIENCE);
            bar.set_message(message);
            bar.enable_steady_tick(TICK);
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if let Some((read, Some(total))) = reading.as_ref().map(|reading| reading.get()) {
                    if bar.length().is_none()
                        && let Ok(style) = ProgressStyle::with_template(whole)
                    {
                        bar.set_style(style);
                        bar.set_length(total);
                    }
                    bar.set_position(read.min(total));
                }
            }
            bar.finish_and_clear();
        });
        // No thread, no spinner: the work itself is not concerned.
        Self { running: thread.ok().map(|thread| (stop, thread)) }
    }

    /// Starts the clock for what `session` reads, by the session that is returned.
    pub fn reading(quiet: bool, message: String, session: Session) -> (Self, Session) {
        let reading = Arc::default();
        (Self::start(quiet, message, Some(Arc::clone(&reading))), session.progress(reading))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}
