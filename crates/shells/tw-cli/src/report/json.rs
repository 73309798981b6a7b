//! `--output json`: one object per finding, one per line. The objects are the library's.

use super::{Outlet, Reporter};
use crate::flags::flagged;
use std::borrow::Cow;
use std::io;
use tracewise::error::Setting;
use tracewise::findings::json::Lines;
use tracewise::findings::{Report, Warning};

/// Writes each line as soon as it is known.
#[derive(Default)]
pub struct Json {
    lines: Lines,
}

impl Reporter for Json {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        self.lines.write(&with_flags(report), out)?;
        // A program at the other end of a pipe gets each trace when it is done.
        out.flush()
    }
}

/// The report with the settings in its warnings as flags. Other forms leave warnings to standard error.
fn with_flags(report: &Report) -> Cow<'_, Report> {
    let speaks = |text: &String| !Setting::named_in(text).is_empty();
    let named = |warning: &Warning| {
        speaks(&warning.diagnostic.message) || warning.diagnostic.help.as_ref().is_some_and(speaks)
    };
    let mut all = report.warnings.iter().chain(report.items.iter().flat_map(|item| &item.warnings));
    if !all.any(named) {
        return Cow::Borrowed(report);
    }
    let mut report = report.clone();
    let items = report.items.iter_mut().flat_map(|item| &mut item.warnings);
    for warning in report.warnings.iter_mut().chain(items) {
        let mut found = warning.diagnostic.clone();
        found.message = flagged(&found.message);
        found.help = found.help.as_deref().map(flagged);
        *warning = Warning::new(found, &warning.sources);
    }
    Cow::Owned(report)
}
