//! Signals over one another on a common horizontal axis.

use crate::{Axis, Error, Series, png, svg_panels};
use std::path::Path;

/// Height of a picture of panels: of what stands around them, and of each.
const AROUND: u32 = 130;
const EACH: u32 = 190;
/// Of many, each is lower: they are strips to be compared.
const STRIP: u32 = 120;
const MANY: usize = 4;

/// Panels over one another that share the horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panels {
    /// Stands above them.
    pub title: String,
    /// Stands below the title, smaller.
    pub subtitle: Option<String>,
    /// From left to right, for all of them.
    pub x: Axis,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// Stretches of the horizontal axis where something is wrong, ascending: shaded in all panels.
    pub bands: Vec<(f64, f64)>,
    /// A place that is pointed at in all panels, and what is to be said of it.
    pub mark: Option<(f64, String)>,
}

/// One of several panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The quantity and its unit; stands above the panel.
    pub label: String,
    /// The lines.
    pub series: Vec<Series>,
    /// Constants that lines are read against, and the line (by number) that each belongs to.
    pub levels: Vec<Level>,
    /// Zero is shown, and what is below it stands out.
    pub signed: bool,
    /// Points that stand out.
    pub rings: Vec<(f64, f64)>,
    /// Stretches where something is wrong in this panel alone, ascending.
    pub bands: Vec<(f64, f64)>,
}

/// A constant that a line is read against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// The constant.
    pub value: f64,
    /// What it is.
    pub label: String,
    /// Number of the line.
    pub series: usize,
}

/// Writes a picture of panels to a file, as SVG or PNG by the extension of its name; higher with more panels.
pub fn write_panels(panels: &Panels, path: &Path) -> Result<(), Error> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let each = if panels.panels.len() > MANY { STRIP } else { EACH };
    let height = AROUND + each * panels.panels.len().max(1) as u32;
    let picture = || svg_panels(panels, crate::WIDTH, height);
    let bytes = match extension.to_ascii_lowercase().as_str() {
        "svg" => picture().into_bytes(),
        "png" => png(&picture())?,
        _ => return Err(Error::Extension(path.to_owned())),
    };
    tw_core::write_file(path, &bytes).map_err(|error| Error::Write(path.to_owned(), error))
}
