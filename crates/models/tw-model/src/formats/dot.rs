//! Models in the language of Graphviz, for programs that lay out graphs.

use super::ModelError;
use crate::Model;
use crate::picture::{Limits, picture};
use std::io::Write;

/// Writes a model as a graph; states of large models are drawn together, which a comment on top says.
pub(super) fn write(model: &Model, out: &mut dyn Write) -> Result<(), ModelError> {
    let picture = picture(model, Limits::GENEROUS);
    writeln!(out, "// {} states, {} transitions", model.states(), model.graph.edges())?;
    if let Some(note) = &picture.note {
        writeln!(out, "// {note}")?;
    }
    out.write_all(picture.graph.to_dot().as_bytes())?;
    Ok(())
}
