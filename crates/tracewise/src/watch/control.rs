//! Asking a watch from outside: signal handlers and tests do.

use super::feed::Message;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

/// A handle on a watch, to be shared with another thread.
#[derive(Clone, Default)]
pub struct Control {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    stop: AtomicBool,
    begun: AtomicBool,
    pending: AtomicBool,
    waker: Mutex<Option<SyncSender<Message>>>,
}

impl Control {
    /// A handle that is not attached to a watch yet; what is asked before it is will be done then.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the watch as if the stream ended here; whether that had been asked before.
    pub fn stop(&self) -> bool {
        let before = self.state.stop.swap(true, Ordering::SeqCst);
        self.wake();
        before
    }

    /// Whether the watch has begun to read, so that it hears what it is asked; before, it is being prepared.
    pub fn begun(&self) -> bool {
        self.state.begun.load(Ordering::SeqCst)
    }

    /// Has what is pending listed.
    pub fn list_pending(&self) {
        self.state.pending.store(true, Ordering::SeqCst);
        self.wake();
    }

    pub(super) fn stopped(&self) -> bool {
        self.state.stop.load(Ordering::SeqCst)
    }

    pub(super) fn take_pending(&self) -> bool {
        self.state.pending.swap(false, Ordering::SeqCst)
    }

    pub(super) fn attach(&self, waker: Option<SyncSender<Message>>) {
        self.state.begun.fetch_or(waker.is_some(), Ordering::SeqCst);
        *self.state.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
    }

    fn wake(&self) {
        let waker = self.state.waker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waker) = waker.as_ref() {
            // Where the channel is full, the watch is awake.
            let _ = waker.try_send(Message::Wake);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who asks a watch that is still being prepared is not heard; a signal has to end it otherwise.
    #[test]
    fn a_watch_hears_once_it_has_begun_to_read() {
        let control = Control::new();
        assert!(!control.begun());
        let (sender, _receiver) = std::sync::mpsc::sync_channel(1);
        control.attach(Some(sender));
        assert!(control.begun());
        control.attach(None);
        assert!(control.begun(), "it is ending, not being prepared");
    }
}
