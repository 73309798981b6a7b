//! The order on each layer: sweeps up and down put everything at the barycentre of what it is connected to.

use super::layers::Layers;

/// Sweeps over all layers. More than a few seldom help.
const SWEEPS: usize = 16;

/// Reorders the layers so that few edges cross.
pub(super) fn order(layered: &mut Layers) {
    let neighbours = Neighbours::new(layered);
    let mut at = vec![0; layered.items.len()];
    number(&layered.layers, &mut at);
    let mut best = (neighbours.crossings(&layered.layers, &at), layered.layers.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let down = sweep % 2 == 0;
        for step in 1..layered.layers.len() {
            let layer = if down { step } else { layered.layers.len() - 1 - step };
            let towards = if down { &neighbours.above } else { &neighbours.below };
            let centre = |place: usize| {
                let near = &towards[place];
                let sum: usize = near.iter().map(|&other| at[other]).sum();
                if near.is_empty() { at[place] as f64 } else { sum as f64 / near.len() as f64 }
            };
            // A stable sort: what is equally near stays as it was.
            layered.layers[layer].sort_by(|&a, &b| centre(a).total_cmp(&centre(b)));
            for (index, &place) in layered.layers[layer].iter().enumerate() {
                at[place] = index;
            }
        }
        let crossings = neighbours.crossings(&layered.layers, &at);
        if crossings < best.0 {
            best = (crossings, layered.layers.clone());
        }
    }
    layered.layers = best.1;
}

fn number(layers: &[Vec<usize>], at: &mut [usize]) {
    for layer in layers {
        for (index, &place) in layer.iter().enumerate() {
            at[place] = index;
        }
    }
}

/// What each place is connected to.
pub(super) struct Neighbours {
    pub above: Vec<Vec<usize>>,
    pub below: Vec<Vec<usize>>,
}

impl Neighbours {
    pub fn new(layered: &Layers) -> Self {
        let empty = vec![Vec::new(); layered.items.len()];
        let mut neighbours = Neighbours { above: empty.clone(), below: empty };
        // Edges without places between have no part in the order.
        for route in layered.routes.iter().filter(|route| route.places.len() > 2) {
            for pair in route.places.windows(2) {
                neighbours.below[pair[0]].push(pair[1]);
                neighbours.above[pair[1]].push(pair[0]);
            }
        }
        neighbours
    }

    /// Pairs of edges that cross between two layers: inversions, counted in a tree of partial sums.
    fn crossings(&self, layers: &[Vec<usize>], at: &[usize]) -> usize {
        let mut crossings = 0;
        for pair in layers.windows(2) {
            let mut sums = vec![0usize; pair[1].len() + 1];
            let mut seen = 0;
            for &place in &pair[0] {
                let mut ends: Vec<usize> = self.below[place].iter().map(|&other| at[other]).collect();
                ends.sort_unstable();
                for &end in &ends {
                    let (mut not_right, mut index) = (0, end + 1);
                    while index > 0 {
                        not_right += sums[index];
                        index &= index - 1;
                    }
                    crossings += seen - not_right;
                }
                for end in ends {
                    seen += 1;
                    let mut index = end + 1;
                    while index < sums.len() {
                        sums[index] += 1;
                        index += index & index.wrapping_neg();
                    }
                }
            }
        }
        crossings
    }
}
