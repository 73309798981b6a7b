//! Charts as SVG and PNG, and in the terminal.
//!
//! [`svg`] draws a [`Chart`] as one self-contained picture: a histogram, lines over positions or time, or bars that
//! compare. [`png`] rasterises such a picture with a font that is part of the program, so that it looks the same on a
//! machine without fonts. [`svg_panels`] draws signals over one another. [`sparkline`], [`bars`] and [`Braille`] are for a terminal. A value that is missing (⊥), infinite or not
//! a number is never drawn: lines have a gap there.
//!
//! Long signals go through a [`Thinner`], which keeps the extremes of every pixel column in bounded memory.
//!
//! ```
//! use tw_plot::{Axis, Body, Chart, Scale, Series};
//!
//! let points = vec![(0.0, Some(3.0)), (1.0, None), (2.0, Some(5.0)), (3.0, Some(4.0))];
//! let chart = Chart {
//!     title: "Waiting requests".into(),
//!     subtitle: None,
//!     x: Axis { label: "position".into(), scale: Scale::Linear },
//!     y: Axis { label: "requests".into(), scale: Scale::Linear },
//!     body: Body::Series { series: vec![Series { name: "queue".into(), points, step: true }] },
//! };
//! let picture = tw_plot::svg(&chart, tw_plot::WIDTH, tw_plot::HEIGHT);
//! assert!(picture.starts_with("<svg"));
//! ```

mod axis;
mod braille;
mod draw;
mod error;
mod number;
mod panels;
mod raster;
mod sequence;
mod terminal;
mod text;
mod thin;
mod time;

pub use braille::Braille;
pub use draw::{svg, svg_panels};
pub use error::Error;
pub use number::number;
pub use panels::{Level, Panel, Panels, write_panels};
pub use raster::png;
pub use sequence::{
    After, Happening, Hexagon, Line, PartOf, Sequence, Sequences, State, Verdict, svg_sequences,
};
pub use terminal::{bars, sparkline, sparkline_between};
pub use thin::Thinner;

use std::path::Path;

/// Width of the pictures that [`write()`] makes.
pub const WIDTH: u32 = 960;
/// Height of the pictures that [`write()`] makes.
pub const HEIGHT: u32 = 540;

/// What a picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Stands above it.
    pub title: String,
    /// Stands below the title, smaller.
    pub subtitle: Option<String>,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn between the axes.
    pub body: Body,
}

/// What the numbers along one direction mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The quantity and its unit.
    pub label: String,
    /// Where a number is placed, and how it is written.
    pub scale: Scale,
}

/// Where a number is placed on an axis, and how it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios. Numbers that are not positive have no place; the picture says how many.
    Log,
    /// Numbers are nanoseconds after `origin`, shown as dates and times of day in UTC. An origin near the data keeps
    /// single nanoseconds apart, which an `f64` since 1970 does not.
    Time {
        /// Nanoseconds since 1970-01-01T00:00:00Z.
        origin: i64,
    },
    /// Numbers are nanoseconds, shown as durations.
    Duration,
    /// The number 0 stands for the first name, 1 for the second, and so on.
    Category(Vec<String>),
}

/// What is drawn between the axes.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// How many values lie in each interval.
    Histogram {
        /// Low end, high end and number of values.
        bins: Vec<(f64, f64, u64)>,
    },
    /// Values along the horizontal axis.
    Series {
        /// The lines, in the order of the legend.
        series: Vec<Series>,
    },
    /// Values of several traces or keys side by side. The groups are the names along the horizontal axis.
    Bars {
        /// Names of the groups.
        groups: Vec<String>,
        /// Name of each series and its value in each group.
        series: Vec<(String, Vec<Option<f64>>)>,
    },
}

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Places and values; `None` (⊥) is a gap. Drawn from left to right, whatever their order.
    pub points: Vec<(f64, Option<f64>)>,
    /// Whether a value holds from its place on until the next, as the value of a query does.
    pub step: bool,
}

/// Writes a picture of [`WIDTH`] by [`HEIGHT`] to a file, as SVG or PNG by the extension of its name.
pub fn write(chart: &Chart, path: &Path) -> Result<(), Error> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let bytes = match extension.to_ascii_lowercase().as_str() {
        "svg" => svg(chart, WIDTH, HEIGHT).into_bytes(),
        "png" => png(&svg(chart, WIDTH, HEIGHT))?,
        _ => return Err(Error::Extension(path.to_owned())),
    };
    tw_core::write_file(path, &bytes).map_err(|error| Error::Write(path.to_owned(), error))
}
