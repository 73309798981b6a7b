//! Text as the outlines of its characters.
//!
//! Setting text in whatever fonts a machine has needs a shaper, and a machine may have no font at all. Pictures here are
//! set in one font of fixed width, so that a line of text is its glyphs side by side.

use super::style::{Anchor, Style, is, sheets};
use crate::Error;
use crate::text::column;
use resvg::usvg::roxmltree::{Document, Node};
use std::fmt::Write;
use ttf_parser::{Face, GlyphId, OutlineBuilder};
use tw_core::xml;

/// The picture with every text as a path.
pub(super) fn outlined(svg: &str) -> Result<String, Error> {
    let document = Document::parse(svg).map_err(|error| Error::Svg(error.to_string()))?;
    let fonts = Fonts::new()?;
    let sheets = sheets(&document);
    let mut out = String::with_capacity(svg.len());
    let mut copied = 0;
    for node in document.descendants().filter(|node| is(*node, "text")) {
        let range = node.range();
        // A text within a text is part of it.
        if range.start < copied {
            continue;
        }
        out.push_str(&svg[copied..range.start]);
        path(&mut out, node, &Style::of(node, &sheets), &fonts);
        copied = range.end;
    }
    out.push_str(&svg[copied..]);
    Ok(out)
}

fn path(out: &mut String, node: Node, style: &Style, fonts: &Fonts) {
    let text: String =
        node.children().filter(|child| child.is_text()).filter_map(|child| child.text()).collect();
    let face = if style.bold { &fonts.bold } else { &fonts.regular };
    let scale = style.size / f64::from(face.units_per_em());
    let number = |name| node.attribute(name).and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0);
    let advance = face.glyph_index('0').and_then(|glyph| face.glyph_hor_advance(glyph)).unwrap_or(0);
    let column_width = f64::from(advance) * scale;
    let width: f64 = text.trim().chars().map(|c| column(c) as f64 * column_width).sum();
    let start = match style.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let mut pen = Pen { out: String::new(), x: number("x") - start, y: number("y"), scale };
    for c in text.trim().chars() {
        if !c.is_whitespace() && column(c) > 0 {
            // Glyph 0 is a box: it says that something is there.
            face.outline_glyph(face.glyph_index(c).unwrap_or(GlyphId(0)), &mut pen);
        }
        pen.x += column(c) as f64 * column_width;
    }
    let _ = write!(out, "<path d=\"{}\"", pen.out);
    let own = ["transform", "opacity"].into_iter().filter_map(|name| Some((name, node.attribute(name)?)));
    let paint = style.paint.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in own.chain(paint) {
        let _ = write!(out, " {name}=\"{}\"", xml(value));
    }
    out.push_str("/>");
}

struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Fonts {
    fn new() -> Result<Self, Error> {
        let face = |bytes| Face::parse(bytes, 0).map_err(|error| Error::Svg(format!("its font: {error}")));
        Ok(Fonts { regular: face(dejavu::sans_mono::regular())?, bold: face(dejavu::sans_mono::bold())? })
    }
}

/// Writes outlines at a place; fonts count upwards, pictures downwards.
struct Pen {
    out: String,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen {
    fn point(&mut self, command: &str, points: &[(f32, f32)]) {
        self.out.push_str(command);
        for &(x, y) in points {
            let (x, y) = (self.x + f64::from(x) * self.scale, self.y - f64::from(y) * self.scale);
            let _ = write!(self.out, " {x:.3} {y:.3}");
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.point("M", &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.point("L", &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.point("Q", &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.point("C", &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.out.push('Z');
    }
}
