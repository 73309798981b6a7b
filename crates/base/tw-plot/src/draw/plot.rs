//! The place for the values.

use crate::axis::Range;

/// The rectangle between the axes, and what it shows.
pub(super) struct Plot {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Range,
    pub y: Range,
}

impl Plot {
    /// The place of a number of the horizontal axis.
    pub fn across(&self, x: f64) -> Option<f64> {
        self.x.place(x).map(|part| self.left + part * self.width)
    }

    /// The place of a number of the vertical axis.
    pub fn up(&self, y: f64) -> Option<f64> {
        self.y.place(y).map(|part| self.top + (1.0 - part) * self.height)
    }

    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Where bars begin: zero, or the low end of a logarithmic axis.
    pub fn base(&self) -> f64 {
        if self.y.log { self.bottom() } else { self.up(0.0).unwrap_or(self.bottom()) }
    }
}
