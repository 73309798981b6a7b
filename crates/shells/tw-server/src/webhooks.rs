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

pub use deliver::{Status, Webhook};
pub use matching::Matcher;
pub use settings::{Settings, Window, read_webhook, read_window};
pub use silences::{Silence, Silences};

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
