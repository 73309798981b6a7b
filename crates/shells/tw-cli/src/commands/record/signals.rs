//! Signals while another program runs: they are the program's.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// Hands signals on to the program once it runs.
pub struct Forward(Arc<AtomicI32>);

impl Forward {
    /// The program's process.
    pub fn to(&self, pid: u32) {
        self.0.store(pid as i32, Ordering::SeqCst);
    }
}

/// What a terminal sends to all of its processes reaches the program by itself; it decides what becomes of it, and the
/// recorder stays to read what it does. What is sent to the recorder alone is handed on. Before the program runs, signals do
/// what they always do.
pub fn forward() -> io::Result<Forward> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    let all = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
    // What is ignored stays so, here and in the program (`nohup`).
    let mut signals =
        signal_hook::iterator::Signals::new(all.into_iter().filter(|signal| !ignored(*signal)))?;
    let program = Arc::new(AtomicI32::new(0));
    let forward = Forward(program.clone());
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let pid = program.load(Ordering::SeqCst);
            if pid == 0 {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                continue;
            }
            // SAFETY: asks the system, touches no memory.
            unsafe {
                let same_group = libc::getpgid(pid) == libc::getpgrp();
                if !(same_group && matches!(signal, SIGINT | SIGQUIT)) {
                    libc::kill(pid, signal);
                }
            }
        }
    })?;
    Ok(forward)
}

fn ignored(signal: i32) -> bool {
    // SAFETY: an action of all zeros is a value, which the call overwrites; nothing is changed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Ends this process by the signal that ended the program, so that whoever waits sees the same; without a core of its own.
pub fn end_by(signal: i32) {
    // SAFETY: the limit is a value of the caller's, the rest touches no memory.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
    }
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}
