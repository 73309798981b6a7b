//! Pictures as pixels.

mod outline;
mod style;
#[cfg(test)]
mod tests;

use crate::Error;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Pixels for one unit of the picture: text of 11 units is sharp with two.
const SCALE: f32 = 2.0;
/// Most pixels: a quarter of a gigabyte while drawing.
const PIXELS: f32 = 64e6;

/// Rasterises an SVG picture on white ground, with two pixels for each of its own. Text is set in DejaVu Sans Mono, which
/// is part of the program: the picture is the same on every machine. The text of this crate and plain text of others is
/// known (`x`, `y`, `text-anchor`, `transform`; size, weight and colour from attributes or style sheets), spans are not.
pub fn png(svg: &str) -> Result<Vec<u8>, Error> {
    let outlined = outline::outlined(svg)?;
    let tree =
        Tree::from_str(&outlined, &Options::default()).map_err(|error| Error::Svg(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil(), (size.height() * SCALE).ceil());
    let pixmap = if width * height <= PIXELS { Pixmap::new(width as u32, height as u32) } else { None };
    let mut pixmap = pixmap.ok_or(Error::TooLarge(size.width(), size.height()))?;
    pixmap.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| Error::Png(error.to_string()))
}
