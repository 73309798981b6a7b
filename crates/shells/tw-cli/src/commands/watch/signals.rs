//! Signals that a watch answers to.

use std::io;
use tracewise::watch::Control;

/// Interrupt, termination and hang-up end the watch; a second interrupt kills it, and so does the first while the watch
/// is being prepared; `SIGUSR1` lists what is pending.
#[cfg(unix)]
pub fn install(control: &Control) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM, SIGUSR1])?;
    let control = control.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGUSR1 {
                control.list_pending();
            } else if control.stop() || !control.begun() {
                // The first was heard, and what it asked for takes too long; or nobody hears it yet, and there is
                // nothing to conclude.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    })?;
    Ok(())
}

/// Elsewhere the system's own way of ending a program remains.
#[cfg(not(unix))]
pub fn install(_: &Control) -> io::Result<()> {
    Ok(())
}
