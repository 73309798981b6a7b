//! What a chart has to show: from where to where, in which names, and what it leaves out.

use crate::axis::Extent;
use crate::number::number;
use crate::{Body, Chart, Scale};

/// What a chart has to show.
pub(super) struct Measures {
    pub x: Extent,
    pub y: Extent,
    /// The scale of the horizontal axis: names of groups make their own.
    pub scale: Scale,
    /// Whether areas begin at zero.
    pub zero: bool,
    /// Names of lines or bars; empty if there is nothing to tell apart.
    pub legend: Vec<String>,
    /// What is left out, for the reader.
    pub notes: Vec<String>,
}

impl Measures {
    pub fn new(chart: &Chart) -> Self {
        let scale = match &chart.body {
            Body::Bars { groups, .. } => Scale::Category(groups.clone()),
            _ => chart.x.scale.clone(),
        };
        let mut this = Measures {
            x: Extent::new(&scale),
            y: Extent::new(&chart.y.scale),
            scale,
            zero: !matches!(chart.body, Body::Series { .. }),
            legend: Vec::new(),
            notes: Vec::new(),
        };
        match &chart.body {
            Body::Histogram { bins } => this.histogram(bins),
            Body::Series { series } => {
                for line in series {
                    for &(x, value) in &line.points {
                        this.x.add(x);
                        if x.is_finite() && !(chart.x.scale == Scale::Log && x <= 0.0) {
                            this.y.add(value.unwrap_or(f64::NAN));
                        }
                    }
                }
                this.legend = series.iter().map(|line| line.name.clone()).collect();
                // A signal that comes near zero is read against zero.
                let near = this.y.low > 0.0 && this.y.low < 0.3 * this.y.high;
                if chart.y.scale == Scale::Linear && near {
                    this.y.low = 0.0;
                }
            }
            Body::Bars { groups, series } => {
                let values = series.iter().flat_map(|(_, values)| values.iter().take(groups.len()));
                values.for_each(|value| this.y.add(value.unwrap_or(f64::NAN)));
                if !groups.is_empty() {
                    this.x.add(0.0);
                    this.x.add((groups.len() - 1) as f64);
                }
                this.legend = series.iter().map(|(name, _)| name.clone()).collect();
            }
        }
        // One line whose name says nothing new needs no legend.
        let known = |name: &str| name.is_empty() || name == chart.y.label || name == chart.title;
        if matches!(&this.legend[..], [name] if known(name)) {
            this.legend.clear();
        }
        for (axis, extent) in [("horizontal", &this.x), ("vertical", &this.y)] {
            if extent.left_out > 0 {
                let (count, plural) =
                    (number(extent.left_out as f64), if extent.left_out == 1 { "" } else { "s" });
                let is = if extent.left_out == 1 { "is" } else { "are" };
                this.notes.push(format!(
                    "{count} value{plural} not above 0 {is} not on the logarithmic {axis} axis"
                ));
            }
        }
        this
    }

    fn histogram(&mut self, bins: &[(f64, f64, u64)]) {
        for &(low, high, count) in bins {
            let left_out = self.x.left_out;
            self.x.add(low);
            self.x.add(high);
            // A bin is left out once, with what it counts; an empty bin has no bar on any axis.
            if self.x.left_out > left_out {
                self.x.left_out = left_out.saturating_add(count);
            } else if count > 0 {
                self.y.add(count as f64);
            }
        }
        let equal = self.x.low == self.x.high && self.x.low != 0.0;
        if equal && self.scale == Scale::Linear {
            // All values are the same: a narrow bar in a wide place.
            let pad = (self.x.low.abs() * 0.5).min(f64::MAX / 4.0);
            (self.x.low, self.x.high) = ((self.x.low - pad).max(f64::MIN), (self.x.high + pad).min(f64::MAX));
        }
    }
}
