//! Models as pictures for a browser.

use super::ModelError;
use crate::Model;
use crate::picture::{Limits, picture};
use std::io::Write;

/// Writes a picture of a model; states of large models are drawn together, which its title says.
pub(super) fn write(model: &Model, out: &mut dyn Write) -> Result<(), ModelError> {
    let picture = picture(model, Limits::default());
    let svg = picture.graph.to_svg().map_err(|error| ModelError::Unfit(error.to_string()))?;
    out.write_all(svg.as_bytes())?;
    Ok(())
}
