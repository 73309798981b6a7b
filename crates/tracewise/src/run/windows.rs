//! Rolling windows on a trace: which clocks have them, and what timestamps they need.

use super::clock::counts_positions;
use crate::error::Setting;
use crate::{Error, Session, Specification};
use tw_diag::Diagnostic;
use tw_ir::{Clock, Program, SlotId, Window};

/// The first window that is a length of time.
pub(crate) fn of_time(program: &Program) -> Option<(SlotId, &Window)> {
    program.windows().find(|(_, window)| window.over.is_time())
}

/// Continuous time has no positions to aggregate, and who counts positions has no lengths of time.
pub(crate) fn refuse(session: &Session, spec: &Specification) -> Result<(), Error> {
    let (found, why, help) = match session.evaluate.clock {
        Clock::Stamps => return Ok(()),
        Clock::Dense => (
            spec.program.windows().next(),
            format!("rolling windows aggregate positions, and `{}` has none", Setting::Clock.to("dense")),
            format!("leave out `{}`", Setting::Clock.to("dense")),
        ),
        Clock::Index => (
            of_time(&spec.program),
            format!("this window is a length of time, but {}", counts_positions()),
            "leave the unit out to count positions".to_owned(),
        ),
    };
    let Some((slot, _)) = found else { return Ok(()) };
    let place = spec.program.slots[slot as usize].span;
    Err(Error::unsupported(spec, Diagnostic::error("bad-window", why).at(place, "this window").help(help)))
}
