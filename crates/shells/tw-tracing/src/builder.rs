//! How a layer is put together.

use crate::callsite::{Callsites, Vocabulary};
use crate::observer::{Guard, Observer, OnViolation, State};
use crate::outlet::Outlet;
use crate::{ObserverLayer, Violation};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tracewise::embed::RowMonitor;
use tracewise::{Error, Specification};

/// A layer under construction: start with [`builder`], end with [`Builder::build`].
#[must_use]
pub struct Builder {
    monitor: Option<RowMonitor>,
    names: Vocabulary,
    on_violation: OnViolation,
    outlets: Vec<Outlet>,
    enters: bool,
    every_event: bool,
    remember: usize,
    started: Instant,
}

/// A layer that does nothing yet.
pub fn builder() -> Builder {
    Builder {
        monitor: None,
        names: Vocabulary::default(),
        on_violation: Box::new(|violation| eprintln!("{violation}")),
        outlets: Vec::new(),
        enters: false,
        every_event: false,
        remember: 10,
        started: Instant::now(),
    }
}

impl Builder {
    /// Checks the properties of a specification.
    pub fn check(self, spec: &Specification) -> Result<Self, Error> {
        Ok(self.monitor(RowMonitor::new(spec)?))
    }

    /// Checks with a monitor made elsewhere: with another engine, or restored from a saved state.
    pub fn monitor(mut self, monitor: RowMonitor) -> Self {
        self.names = Vocabulary::of(monitor.specification());
        self.monitor = Some(monitor);
        self
    }

    /// Calls this for each violated property, once, in the thread whose event settled it; for `G forall x. φ`, for each
    /// position and value of x that violates it ([`Violation::bindings`]). Without, violations are printed on standard error. It may log; it may also panic or abort, to stop the program where it went wrong.
    pub fn on_violation(mut self, call: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        self.on_violation = Box::new(call);
        self
    }

    /// Writes every event as a line of JSON, in the thread that logs it (give it a buffer).
    pub fn write_to(mut self, writer: impl Write + Send + 'static) -> Self {
        self.outlets.push(Outlet::writer(Box::new(writer), self.started));
        self
    }

    /// Sends every event as a line of JSON over TCP, as `tracewise watch --listen ADDRESS` takes them.
    pub fn send_tcp(self, address: impl ToSocketAddrs) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        // Lines are gathered before they are sent; what is sent is to arrive.
        stream.set_nodelay(true)?;
        self.send(Box::new(stream))
    }

    /// The same over a Unix socket.
    #[cfg(unix)]
    pub fn send_unix(self, path: impl AsRef<std::path::Path>) -> io::Result<Self> {
        self.send(Box::new(std::os::unix::net::UnixStream::connect(path)?))
    }

    fn send(mut self, to: Box<dyn Write + Send>) -> io::Result<Self> {
        self.outlets.push(Outlet::thread(to, self.started)?);
        Ok(self)
    }

    /// Whether spans also give `name_enter` and `name_exit` (they do not, unless asked for).
    pub fn enters(mut self, enters: bool) -> Self {
        self.enters = enters;
        self
    }

    /// Makes every event a position, also those that the specification does not mention.
    pub fn every_event(mut self) -> Self {
        self.every_event = true;
        self
    }

    /// How many positions a [`Violation`] shows (10).
    pub fn remember(mut self, positions: usize) -> Self {
        self.remember = positions.max(1);
        self
    }

    /// The layer, and the guard that ends the observation.
    pub fn build(mut self) -> (ObserverLayer, Guard) {
        self.names.every_event |= self.every_event;
        let writes = !self.outlets.is_empty();
        let state = State {
            monitor: self.monitor,
            error: None,
            recent: VecDeque::with_capacity(self.remember),
            remember: self.remember,
            outlets: self.outlets,
            started: self.started,
        };
        let observer = Arc::new(Observer {
            names: self.names,
            callsites: Callsites::default(),
            on_violation: self.on_violation,
            writes,
            state: Mutex::new(state),
        });
        (ObserverLayer { observer: Arc::clone(&observer), enters: self.enters }, Guard { observer })
    }
}
