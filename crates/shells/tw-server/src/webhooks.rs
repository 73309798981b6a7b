//! Webhooks: who is told of violations by a request, together with others of their kind, until he has taken it.
//!
//! ```text
//! the log of violations → what the webhook is about, and nobody silenced → groups ([`groups`]) → one request a group ([`send`])
//! ```
//!
//! The log is the queue here, too. A webhook keeps how far it has read and what its groups hold before it sends, so that what
//! was on its way when the server was killed goes out again, with the same id.

mod deliver;
mod groups;
mod matching;
mod send;
mod settings;
mod silences;

pub use deliver::Status;
pub use matching::Matcher;
pub use settings::{Settings, Window, read_webhook, read_window};
pub use silences::{Silence, Silences};

use crate::server::Shared;
use deliver::Webhook;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Has each webhook work on a thread of its own.
pub fn begin(shared: &Arc<Shared>) -> io::Result<Vec<JoinHandle<()>>> {
    let folder = shared.config.data.join("webhooks");
    let (mut hooks, mut threads) = (Vec::new(), Vec::new());
    for settings in &shared.config.webhooks {
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(&settings.name);
        let telling = shared.clone();
        let said = Arc::new(move |what| telling.say(what));
        let (verdicts, silences) = (shared.verdicts.clone(), shared.silences.clone());
        let hook = Webhook::open(settings.clone(), path, verdicts, silences, said)?;
        let (name, place) = hook.name();
        hooks.push((name, place, hook.status.clone()));
        let shared = shared.clone();
        let thread = std::thread::Builder::new().name("webhook".into());
        threads.push(thread.spawn(move || hook.run(&shared.ending))?);
    }
    // It was empty: nobody else is there yet.
    let _ = shared.hooks.set(hooks);
    Ok(threads)
}
