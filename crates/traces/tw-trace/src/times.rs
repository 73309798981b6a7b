//! Dates and times of day as logs write them.
//!
//! A [`Form`] says how: digits of a year, names of months, what stands between them. Those that are usual are known
//! ([`known`]) and recognised by looking; others are given as a pattern (`%d.%m.%y %H:%M`). A form without a year is
//! read in a year of its own, [`calendar::FRAME`], and placed in the right one by a [`Calendar`].

mod calendar;
mod find;
mod form;
mod known;
mod near;

pub use calendar::{Calendar, Months};
pub(crate) use find::Place;
pub use find::Written;
use form::Found;
pub use form::{Form, Miss};
pub(crate) use known::{KNOWN, is_epoch};
pub(crate) use near::Near;
