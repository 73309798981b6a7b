//! What `--clock-error` answers, for people.

use crate::words;
use tracewise::imprecise::{self, Guarantee, Stretch};

/// When it fails, beside the events at which it does.
pub fn instants(guarantee: &Guarantee) -> Option<String> {
    let verb = match guarantee.kind {
        imprecise::Outcome::ViolatedForAll => "fails",
        imprecise::Outcome::ViolatedForSome => "may fail",
        _ => return None,
    };
    let listed: Vec<String> = guarantee.instants.iter().map(Stretch::to_string).collect();
    let more = match guarantee.instant_count - listed.len() {
        0 => String::new(),
        more => {
            format!(" and {} more", words::counted(more as u64, "stretch").replace("stretchs", "stretches"))
        }
    };
    (!listed.is_empty()).then(|| format!("{verb} at instants in {}{more}", listed.join(", ")))
}
