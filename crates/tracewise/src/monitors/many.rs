//! Monitors of many traces: of each key those of its own, made when its first position comes.

use std::sync::Arc;
use tw_core::codec::Corrupt;
use tw_core::{Batch, Column, Relation};
use tw_engine_parametric::{Found, Monitors, Over, Plan};
use tw_ir::SlotId;

/// Groups of so few positions get columns of values: a column of texts is copied with all its texts.
const FEW: usize = 64;

/// The columns of some slots at some positions.
pub(crate) fn pick(batch: &Batch, slots: &[SlotId], order: &[u32]) -> Vec<Column> {
    let few = |column: &Column, order: &[u32]| {
        Column::of_values(order.iter().map(|&at| column.value(at as usize)).collect())
    };
    let picked = |&slot: &SlotId| match &batch.slots[slot as usize] {
        Column::Tuples(relation) if order.len() < FEW => {
            let mut starts = vec![0];
            let mut tuples: Vec<u32> = Vec::new();
            for &at in order {
                tuples.extend(relation.tuples(at as usize).map(|number| number as u32));
                starts.push(tuples.len() as u32);
            }
            let columns = relation.columns().iter().map(|column| few(column, &tuples)).collect();
            Column::Tuples(Relation::new(starts, columns))
        }
        column @ Column::Text { .. } if order.len() < FEW => few(column, order),
        column => column.gather(order),
    };
    slots.iter().map(picked).collect()
}

/// The monitors of keys, by the numbers of these.
pub(crate) struct Many {
    plan: Arc<Plan>,
    budget: usize,
    own: Vec<Option<Box<Monitors>>>,
    bytes: usize,
}

impl Many {
    /// Of no key yet. `budget` is how many bytes all of them may hold.
    pub fn new(plan: &Arc<Plan>, budget: usize) -> Self {
        Self { plan: plan.clone(), budget, own: Vec::new(), bytes: 0 }
    }

    /// Further positions of a key.
    pub fn feed(&mut self, key: u32, batch: &Batch, found: &mut Vec<Found>) -> Result<(), Over> {
        let key = key as usize;
        if self.own.len() <= key {
            self.own.resize_with(key + 1, || None);
        }
        let fresh = || Box::new(Monitors::new(&self.plan, usize::MAX, 1));
        let before = self.own[key].as_deref().map_or(0, bytes);
        let own = self.own[key].get_or_insert_with(fresh);
        own.feed(batch, found)?;
        self.bytes = self.bytes + bytes(own) - before;
        if self.bytes <= self.budget {
            return Ok(());
        }
        let held =
            |monitor: &usize| self.own.iter().flatten().map(|own| own.held(*monitor).bytes).sum::<usize>();
        let monitor = (0..self.plan.shapes().len()).max_by_key(held).unwrap_or(0);
        let bindings = self.own.iter().flatten().map(|own| own.held(monitor).bindings).sum();
        Err(Over { monitor, bindings, bytes: self.bytes, position: 0 })
    }

    /// What the end of a key's trace adds.
    pub fn finish(&self, key: u32, found: &mut Vec<Found>) {
        if let Some(own) = self.get(key) {
            own.finish(found);
        }
    }

    /// Those of a key, if a position of it came.
    pub fn get(&self, key: u32) -> Option<&Monitors> {
        self.own.get(key as usize)?.as_deref()
    }

    /// The trace of a key is over.
    pub fn forget(&mut self, key: u32) {
        if let Some(own) = self.own.get_mut(key as usize).and_then(Option::take) {
            self.bytes -= bytes(&own);
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.bytes + self.own.capacity() * 8
    }

    /// Goes on with a key's monitors as [`Monitors::save`] wrote them.
    pub fn restore(&mut self, key: u32, from: &mut &[u8]) -> Result<(), Corrupt> {
        let key = key as usize;
        if self.own.len() <= key {
            self.own.resize_with(key + 1, || None);
        }
        let mut own = Box::new(Monitors::new(&self.plan, usize::MAX, 1));
        own.restore(from)?;
        self.bytes += bytes(&own);
        self.own[key] = Some(own);
        Ok(())
    }
}

fn bytes(own: &Monitors) -> usize {
    size_of::<Monitors>() + own.heap_bytes()
}
