//! Three ways to the same values, for those who compare them.

use crate::table::Table;
use crate::{Robust, Samples};
use tw_ir::NodeId;
use tw_monitor::Unsupported;

/// How values on whole traces are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// A pass per operator, O(1) per sample.
    #[default]
    Columns,
    /// The published on-line table with the whole future as its prediction: O(W²) per sample, in positions.
    Table,
    /// The definition, executed naively.
    Definition,
}

impl Algorithm {
    /// All of them, by name.
    pub const ALL: [(&'static str, Algorithm); 3] =
        [("columns", Algorithm::Columns), ("table", Algorithm::Table), ("definition", Algorithm::Definition)];
}

impl Robust {
    /// The values of the given formulas at every position, by the given algorithm.
    pub fn values(
        &self,
        samples: &Samples,
        nodes: &[NodeId],
        algorithm: Algorithm,
    ) -> Result<Vec<Vec<f64>>, Unsupported> {
        match algorithm {
            Algorithm::Columns => self.columns(samples, nodes),
            Algorithm::Definition => self.reference(samples, nodes),
            Algorithm::Table => {
                self.check(samples)?;
                nodes.iter().map(|&node| self.tabled(samples, node)).collect()
            }
        }
    }

    fn tabled(&self, samples: &Samples, node: NodeId) -> Result<Vec<f64>, Unsupported> {
        let fresh = Table::new(self, node)?;
        let mut values = Vec::with_capacity(samples.len);
        for (start, end) in samples.segments() {
            let mut table = fresh.clone();
            for at in start..end {
                let last = end.min(at.saturating_add(table.horizon()).saturating_add(1));
                let ahead: Vec<Vec<f64>> =
                    samples.predicates.iter().map(|column| column[at..last].to_vec()).collect();
                values.push(table.step(&ahead));
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_ir::Clock;
    use tw_monitor::EvaluateOptions;

    #[test]
    fn three_ways_to_the_same_values() {
        let tree = tw_spec::parse_formula("(H p > 0) & G[1,2] q > 0", 0);
        let program = tw_spec::lower(&tree.value, &Default::default()).value;
        let options = EvaluateOptions { clock: Clock::Index, ..Default::default() };
        let robust = Robust::new(&program, &options).unwrap();
        let p = vec![5.0, 3.0, 4.0, -1.0, 2.0, 6.0, 7.0, 7.0];
        let q = vec![1.0, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        // Two traces end to end.
        let twice = |column: &[f64]| column.repeat(2);
        let predicates = vec![twice(&p), twice(&q)];
        let samples =
            Samples { len: 16, predicates: predicates.into(), times: None, starts: vec![0, 8].into() };
        for (name, algorithm) in Algorithm::ALL {
            let values = robust.values(&samples, &[program.roots[0].node], algorithm).unwrap();
            assert_eq!(values[0][..6], [-3.0, -3.0, 3.0, -1.0, -1.0, -1.0], "{name}");
            assert_eq!(values[0][..8], values[0][8..], "{name}");
        }
        let refused = Robust::new(&program, &EvaluateOptions::default()).unwrap();
        assert!(refused.values(&samples, &[program.roots[0].node], Algorithm::Table).is_err());
    }
}
