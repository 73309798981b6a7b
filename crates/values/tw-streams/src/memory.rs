//! What a pass keeps of each column, told before there is one.

use crate::Streams;
use crate::windows::Plan as Rolls;
use tw_core::Value;
use tw_ir::{Over, Path, Program, SlotId, StreamType, What};

/// What is kept of a stream, or of a column that is read at other positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its name.
    pub name: String,
    /// What it is, unless it is a column of the trace.
    pub ty: Option<StreamType>,
    /// Each value of this column has so much of its own.
    pub per: Option<Path>,
    /// How many positions back it is read at most.
    pub look_back: usize,
    /// How many positions later it is known; nothing where that depends on all that follows.
    pub look_ahead: Option<usize>,
    /// Bytes of what is kept, the characters of texts left out; nothing where there is no bound but the trace.
    pub bytes: Option<usize>,
    /// Of a rolling window, the bytes that each value inside takes.
    pub per_value: Option<usize>,
}

impl Streams {
    /// What is kept of each stream, in the order written, and of columns that are read at other positions.
    pub fn memory(&self, program: &Program) -> Vec<Held> {
        let delays = self.bounded(program);
        let delay = |slot: SlotId| {
            let at = self.graph.of_slot.get(&slot);
            delays.as_ref().map(|delays| at.map_or(0, |&at| delays[at]))
        };
        let blank = |name: &str, slot: SlotId| Held {
            name: name.to_owned(),
            ty: None,
            per: None,
            look_back: 0,
            look_ahead: delay(slot).map(|delay| delay.max(0) as usize),
            bytes: delays.as_ref().map(|_| 0),
            per_value: None,
        };
        let mut slots: Vec<(SlotId, Option<Path>)> = Vec::new();
        let mut held: Vec<Held> = Vec::new();
        for stream in &program.streams {
            let own =
                Held { ty: Some(stream.ty), per: stream.by.clone(), ..blank(&stream.name, stream.slot) };
            slots.push((stream.slot, stream.by.clone()));
            held.push(own);
        }
        for derived in &self.graph.derived {
            let What::Shift(shift) = &program.slots[derived.slot as usize].what else { continue };
            let same = |(slot, per): &(SlotId, Option<Path>)| *slot == shift.slot && *per == shift.per;
            let at = slots.iter().position(same).unwrap_or_else(|| {
                let name = match &program.slots[shift.slot as usize].what {
                    What::Variable(path, _) | What::Proposition(path) => path.to_string(),
                    What::Timing(timing) => timing.measure.name().to_owned(),
                    What::Stream { name, .. } => name.clone(),
                    _ => "(an event)".to_owned(),
                };
                slots.push((shift.slot, shift.per.clone()));
                held.push(Held { per: shift.per.clone(), ..blank(&name, shift.slot) });
                held.len() - 1
            });
            let own = &mut held[at];
            own.look_back = own.look_back.max(usize::try_from(-i64::from(shift.by)).unwrap_or(0));
            if let (Some(bytes), Some(of), Some(from)) = (own.bytes, delay(derived.slot), delay(shift.slot)) {
                let values = (of - i64::from(shift.by) - from).max(1) as usize;
                own.bytes = Some(bytes.saturating_add(values.saturating_mul(size_of::<Value>())));
            }
        }
        for (derived, window) in self.graph.derived.iter().zip(&self.windows) {
            let What::Window(of) = &program.slots[derived.slot as usize].what else { continue };
            let Some((each, all)) = window.as_ref().map(Rolls::room) else { continue };
            let back = match of.over {
                Over::Positions(count) => usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(1),
                Over::Time(_) => 0,
            };
            held.push(Held {
                per: of.per.clone(),
                look_back: back,
                bytes: delays.as_ref().and(all),
                per_value: Some(each),
                ..blank(&of.text, derived.slot)
            });
        }
        held
    }
}
