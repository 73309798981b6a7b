//! Transitions, one after another.

use super::{Reader, SeenFields, Wrong};
use crate::{Graph, Seen, State};

impl Reader<'_> {
    pub(super) fn edges(&mut self) -> Result<(), Wrong> {
        let begin = self.pull.at;
        let states = self.states;
        let mut edges: Vec<(State, State)> = Vec::new();
        let mut seen_of: Vec<Seen> = Vec::new();
        let mut sorted = true;
        let record = self.model.record.take();
        let pull = &mut self.pull;
        pull.sign(b'[')?;
        let mut first = true;
        while pull.more(&mut first, b']')? {
            let start = pull.at;
            pull.sign(b'{')?;
            let (mut from, mut into, mut seen, mut first) = (None, None, SeenFields::default(), true);
            while pull.more(&mut first, b'}')? {
                let at = pull.at;
                let key = pull.key()?;
                let end = match &*key {
                    "from" if from.is_none() => &mut from,
                    "to" if into.is_none() => &mut into,
                    _ if seen.take(&key, at, pull, record.as_ref())? => continue,
                    _ => {
                        return Err((
                            at,
                            format!(
                                "found the key `{key}`, expected each of from, to, count, traces, first, last once"
                            ),
                        ));
                    }
                };
                let at = pull.at;
                let state = pull.count(u64::from(u32::MAX), "the number of a state")?;
                if state >= states as u64 {
                    return Err((at, format!("found state {state}, expected one of {states}, from 0")));
                }
                *end = Some(state as State);
            }
            let (Some(from), Some(into)) = (from, into) else {
                return Err((start, "found a transition without from or to, expected both".to_owned()));
            };
            let edge = (from, into);
            if edges.last() == Some(&edge) {
                return Err((
                    start,
                    format!("found the transition from {from} to {into} again, expected it once"),
                ));
            }
            sorted &= edges.last().is_none_or(|last| *last < edge);
            if edges.len() == u32::MAX as usize {
                return Err((start, "found too many transitions, expected at most 2^32 - 1".to_owned()));
            }
            edges.push(edge);
            let seen = seen.finish(start)?;
            if record.is_some() {
                seen_of.push(seen);
            }
        }
        if !sorted {
            let mut order: Vec<u32> = (0..edges.len() as u32).collect();
            order.sort_unstable_by_key(|&at| edges[at as usize]);
            if let Some(pair) =
                order.windows(2).find(|pair| edges[pair[0] as usize] == edges[pair[1] as usize])
            {
                let (from, into) = edges[pair[0] as usize];
                return Err((
                    begin,
                    format!("found the transition from {from} to {into} twice, expected it once"),
                ));
            }
            if record.is_some() {
                seen_of = order.iter().map(|&at| seen_of[at as usize]).collect();
            }
            edges.sort_unstable();
        }
        let mut offsets = vec![0u32; states + 1];
        edges.iter().for_each(|&(from, _)| offsets[from as usize + 1] += 1);
        for state in 0..states {
            offsets[state + 1] += offsets[state];
        }
        self.model.graph = Graph::from_rows(offsets, edges.into_iter().map(|(_, into)| into).collect());
        self.model.record = record.map(|mut record| {
            record.edges = seen_of;
            record
        });
        Ok(())
    }
}
