//! `import`: a specification of another monitor as one of ours.

use crate::Error;
use tw_diag::{Diagnostic, Sources};
pub use tw_import::{FORMATS, Format, Options, Signature, guess};

/// Reads a specification in the format of another monitor; the result is the text of a specification, with findings
/// that do not prevent it and the sources that they point into.
pub fn import(
    name: &str,
    text: &str,
    format: &Format,
    options: &Options,
) -> Result<(String, Vec<Diagnostic>, Sources), Error> {
    let mut sources = Sources::default();
    sources.add(name, text);
    if let Some(signature) = &options.signature {
        sources.add(&signature.name, &signature.text);
    }
    let made = tw_import::import(name, text, format, options);
    if made.has_errors() {
        return Err(Error::Specification { diagnostics: made.diagnostics, sources: Box::new(sources) });
    }
    Ok((made.value, made.diagnostics, sources))
}
