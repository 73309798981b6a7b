//! How to read.

use crate::{Calendar, Form, Stamps, Written};
use std::sync::Arc;
use tw_core::{Time, TimeUnit};
use tw_ir::{Expect, Path, PathStep, Program, Slot, SlotId, TextEvent, What};

/// How a trace is to be read; the same for every format.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Format by name; `None` goes by the extension.
    pub format: Option<String>,
    /// Column that is the timestamp (`--time`); `None` is `time`, if there is one.
    pub time: Option<String>,
    /// Column that is the event name (`--event`); `None` is `event`, if there is one.
    pub event: Option<String>,
    /// In `csv`: what stands between cells; `None` goes by the header (comma, semicolon or tab).
    pub delimiter: Option<u8>,
    /// The trace's unit: what bare numbers in intervals count, and what timestamps that are numbers are shown in.
    pub unit: TimeUnit,
    /// The unit that timestamps are written in if they are numbers; `None` is the trace's own.
    pub numbers: Option<TimeUnit>,
    /// How timestamps are written, as a pattern (`%d.%m.%y %H:%M`); `None` is found out.
    pub time_format: Option<String>,
    /// The year of the first timestamp that is written without one; 1970 if nobody says.
    pub year: Option<i32>,
    /// A text that stands for nothing (`N/A`), beside the empty one.
    pub null: Option<String>,
    /// Lines that cannot be read are left out and counted.
    pub skip_bad_lines: bool,
    /// In `lines`: a line without a timestamp is a position of its own, where others have one.
    pub own_lines: bool,
    /// How the lines of a text log write their timestamps, as was found out.
    pub written: Option<Written>,
    /// How a column of timestamps is written, where it is neither numbers nor RFC 3339, as was found out.
    pub form: Option<&'static Form>,
    /// Where timestamps without years go on, in what continues another file.
    pub calendar: Option<Calendar>,
    /// In `events`: the last field is the timestamp.
    pub timed: bool,
    /// Accept timestamps out of order by up to this many nanoseconds, and sort them.
    pub sort: Option<Time>,
    /// Deliver positions as they come, whatever the order of their timestamps, for somebody else to sort.
    pub any_order: bool,
    /// Threads.
    pub threads: usize,
    /// Bytes per block; tests vary it.
    pub block: usize,
    /// Longest line (record) accepted, in bytes.
    pub max_record: usize,
    /// Most columns accepted in one record.
    pub max_columns: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            time: None,
            event: None,
            delimiter: None,
            unit: TimeUnit::Seconds,
            numbers: None,
            time_format: None,
            year: None,
            null: None,
            skip_bad_lines: false,
            own_lines: false,
            written: None,
            form: None,
            calendar: None,
            timed: false,
            sort: None,
            any_order: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            block: 512 << 10,
            max_record: 64 << 20,
            max_columns: 1 << 20,
        }
    }
}

impl ReadOptions {
    /// How timestamps are written.
    pub fn stamps(&self) -> Stamps {
        Stamps { unit: self.unit, numbers: self.numbers.unwrap_or(self.unit), form: self.form }
    }
}

/// What to deliver of each position. It owns what it says, so that whoever reads by it can be kept: by a server, say.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// One column each.
    pub slots: Arc<[Slot]>,
    /// What is the key of `--by`; its text is delivered as one more `Text` column after the slots (numbers as written),
    /// null where absent.
    pub key: Option<Key>,
    /// Deliver timestamps. They are checked for order either way.
    pub times: bool,
    /// Events that are templates of texts: the slots that ask for them, or for their placeholders, are filled from those.
    pub templates: Arc<[TextEvent]>,
    /// Slots of columns that may not be there, because their bare names mean what timestamps say or equations define.
    pub bare: Arc<[SlotId]>,
    /// Events that have as many arguments as the specification gives them, where arguments are known by position.
    pub exact: Arc<[Exact]>,
}

/// An event whose number of arguments is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    /// Its name.
    pub name: String,
    /// How many arguments it may have, ascending.
    pub arities: Vec<usize>,
    /// A slot that asks for it.
    pub slot: SlotId,
}

impl Exact {
    /// The events of a program's monitors. An event that is asked for without arguments, or declared, may have any.
    fn of(program: &Program) -> Vec<Exact> {
        let of = |slot: &Slot| match &slot.what {
            What::Event { name, arity, .. } | What::Tuples { name, arity, .. } => {
                Some((name.clone(), *arity))
            }
            _ => None,
        };
        let mut all: Vec<Exact> = Vec::new();
        let sources = program.monitors.iter().flat_map(|monitor| {
            let ends = monitor.ends.iter().map(|end| &end.source);
            monitor.events.iter().map(|event| &event.source).chain(ends)
        });
        for source in sources {
            if all.iter().all(|known| known.name != source.name) {
                all.push(Exact { name: source.name.clone(), arities: Vec::new(), slot: source.slot });
            }
        }
        all.retain_mut(|exact| {
            let own = program.slots.iter().filter_map(of).filter(|(name, _)| *name == exact.name);
            let arities: Option<Vec<usize>> = own.map(|(_, arity)| arity).collect();
            exact.arities = arities.unwrap_or_default();
            exact.arities.sort_unstable();
            exact.arities.dedup();
            !exact.arities.is_empty()
        });
        all
    }

    /// Whether so many arguments are fine.
    #[inline]
    pub fn allows(&self, arguments: usize) -> bool {
        self.arities.contains(&arguments)
    }
}

/// A column or nested path: `a.b` is a column of that very name, else `b` inside `a`.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// As it is written.
    pub name: String,
    /// Step by step.
    pub path: Path,
}

impl Key {
    /// The key that is written like this.
    pub fn new(name: &str) -> Self {
        let steps = name.split('.').map(|step| PathStep::Field(step.into())).collect();
        Self { name: name.into(), path: Path { steps } }
    }

    /// Whether it may be inside something.
    pub fn is_nested(&self) -> bool {
        self.path.steps.len() > 1
    }
}

impl Projection {
    /// These slots, the key and timestamps if wanted.
    pub fn new(slots: &[Slot], key: Option<&str>, times: bool) -> Self {
        let bare = |(index, slot): (usize, &Slot)| match &slot.what {
            What::Timing(timing) if !timing.called => Some(index as SlotId),
            What::Stream { .. } => Some(index as SlotId),
            _ => None,
        };
        let bare = slots.iter().enumerate().filter_map(bare).collect();
        // What timestamps say is not read; whether there is a column of that name is.
        let column = |slot: &Slot| match &slot.what {
            What::Timing(timing) => {
                Slot { what: What::Variable(timing.path(), Expect::Any), declared: true, span: slot.span }
            }
            // What equations define is computed; a column of that name would be hidden by it.
            What::Stream { name, .. } => {
                let what = What::Variable(Path::field(name.as_str()), Expect::Any);
                Slot { what, declared: true, span: slot.span }
            }
            // No trace has a column without a name: nothing is read until it is computed.
            What::Shift(_) | What::Window(_) => {
                Slot { what: What::Variable(Path::field(""), Expect::Bool), declared: true, span: slot.span }
            }
            _ => slot.clone(),
        };
        Self {
            slots: slots.iter().map(column).collect(),
            key: key.map(Key::new),
            times,
            bare,
            templates: [].into(),
            exact: [].into(),
        }
    }

    /// What a program asks for: its slots and templates.
    pub fn of(program: &Program, key: Option<&str>, times: bool) -> Self {
        let templates = program.templates.as_slice().into();
        Self { templates, exact: Exact::of(program).into(), ..Self::new(&program.slots, key, times) }
    }

    /// Whether events are asked for with their arguments ([`What::Tuples`]), which the fast paths of formats with named
    /// arguments leave to rows.
    pub fn has_tuples(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.what, What::Tuples { .. }))
    }
}
