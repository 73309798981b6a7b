//! Signals that a watch answers to.

use std::io;
use tracewise::watch::Control;

/// Interrupt, termination and hang-up end the watch; a second interrupt kills it, and so does the first while the watch
/// is being prepared; `SIGUSR1` lists what is pending.
#[cfg(unix)]
pub fn install(control: &Control) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    const HEARD: [i32; 4] = [SIGHUP, SIGINT, SIGTERM, SIGUSR1];
    // A signal between the system's registration and the library's would be lost.
    let blocked = Blocked::new(&HEARD)?;
    let mut signals = signal_hook::iterator::Signals::new(HEARD)?;
    drop(blocked);
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

/// Signals that wait until this is dropped; for the calling thread, which is the only one at the start.
#[cfg(unix)]
struct Blocked(libc::sigset_t);

#[cfg(unix)]
impl Blocked {
    fn new(signals: &[i32]) -> io::Result<Self> {
        // SAFETY: the sets are plain data of which all-zero is a value, `sigemptyset` makes them proper ones, and the
        // calls keep no pointer. No safe wrapper of the signal mask is among the dependencies.
        unsafe {
            let (mut set, mut before): (libc::sigset_t, libc::sigset_t) =
                (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&mut set);
            for &signal in signals {
                libc::sigaddset(&mut set, signal);
            }
            match libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before) {
                0 => Ok(Self(before)),
                code => Err(io::Error::from_raw_os_error(code)),
            }
        }
    }
}

#[cfg(unix)]
impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the mask is the one that the system gave out.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut());
        }
    }
}

/// Elsewhere the system's own way of ending a program remains.
#[cfg(not(unix))]
pub fn install(_: &Control) -> io::Result<()> {
    Ok(())
}
