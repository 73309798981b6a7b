//! A model without what was seen rarely.

use crate::{Graph, Model, State};

impl Model {
    /// The same states without the transitions that were seen less than `count` times. Loops that were assumed stay,
    /// and a state that loses all its transitions has none. A model without counts is left as it is.
    #[must_use]
    pub fn without_rare(&self, count: u64) -> Model {
        let mut model = self.clone();
        let Some(record) = &mut model.record else { return model };
        let (mut offsets, mut targets, mut kept) = (vec![0], Vec::new(), Vec::new());
        for state in 0..self.states() as State {
            for edge in self.graph.row(state) {
                let seen = record.edges[edge as usize];
                if seen.count == 0 || seen.count >= count {
                    targets.push(self.graph.target(edge));
                    kept.push(seen);
                }
            }
            offsets.push(targets.len() as u32);
        }
        record.edges = kept;
        model.graph = Graph::from_rows(offsets, targets);
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Record, Seen};

    #[test]
    fn rare_transitions_go_and_assumed_ones_stay() {
        let seen = |count| Seen { count, ..Seen::default() };
        let model = Model {
            graph: Graph::from_edges(3, [(0, 1), (0, 2), (1, 2), (2, 2)].into_iter()),
            record: Some(Record { edges: [5, 1, 1, 0].map(seen).to_vec(), ..Record::default() }),
            ..Model::default()
        };
        let pruned = model.without_rare(2);
        assert_eq!(pruned.graph.iter().collect::<Vec<_>>(), [(0, 1), (2, 2)]);
        assert_eq!(pruned.record.unwrap().edges, [5, 0].map(seen));
        assert_eq!(model.without_rare(1).graph, model.graph);
        let bare = Model { record: None, ..model };
        assert_eq!(bare.without_rare(9).graph, bare.graph);
    }
}
