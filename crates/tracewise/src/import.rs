//! `import`: a specification of another monitor as one of ours.

use crate::Error;
use tw_diag::{Diagnostic, Sources};
pub use tw_import::{FORMATS, Format, Options, guess};

/// Reads a specification in the format of another monitor; the result is the text of a specification, with findings
/// that do not prevent it and the source that they point into.
pub fn import(
    name: &str,
    text: &str,
    format: &Format,
    options: &Options,
) -> Result<(String, Vec<Diagnostic>, Sources), Error> {
    let mut sources = Sources::default();
    sources.add(name, text);
    let made = tw_import::import(name, text, format, options);
    if made.has_errors() {
        return Err(Error::Specification { diagnostics: made.diagnostics, sources: Box::new(sources) });
    }
    Ok((made.value, made.diagnostics, sources))
}
