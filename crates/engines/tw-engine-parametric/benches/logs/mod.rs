//! Logs to measure with, and the monitors that read them.

use tw_core::{Batch, Bits, Column, Relation};
use tw_ir::{Program, What};
use tw_testkit::Rng;

/// Starts of tuples in a batch, of all slots.
const STARTS: usize = 1 << 20;

/// An event: its name's number, and its arguments.
pub type Event = (usize, [i64; 2]);

pub fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| name.to_string()).collect()
}

/// Batches of a program's slots, of events that each are at a position of their own.
pub struct Batches {
    /// Of each slot the number of its event, and how many arguments.
    slots: Vec<Option<(usize, usize)>>,
}

impl Batches {
    pub fn new(program: &Program, names: &[String]) -> Self {
        let slot = |what: &What| match what {
            What::Tuples { name, arity, .. } => {
                let number = names.iter().position(|own| own == name)?;
                Some((number, arity.unwrap_or(1)))
            }
            _ => None,
        };
        Self { slots: program.slots.iter().map(|own| slot(&own.what)).collect() }
    }

    /// Positions in a batch: so many that it takes some megabytes, however many slots there are.
    pub fn positions(&self) -> usize {
        STARTS / self.slots.len().max(1)
    }

    pub fn of(&self, events: &[Event]) -> Batch {
        let mut places: Vec<Vec<usize>> = Vec::new();
        for (at, (name, _)) in events.iter().enumerate() {
            if places.len() <= *name {
                places.resize(name + 1, Vec::new());
            }
            places[*name].push(at);
        }
        let column = |slot: &Option<(usize, usize)>| {
            let Some((number, arity)) = slot else { return Column::Truth(Bits::repeat(false, events.len())) };
            let mut starts = Vec::with_capacity(events.len() + 1);
            let places = places.get(*number).map_or(&[][..], |own| own);
            for (nth, &at) in places.iter().enumerate() {
                starts.resize(at + 1, nth as u32);
            }
            starts.resize(events.len() + 1, places.len() as u32);
            let column = |nth: usize| {
                let values: Vec<i64> = places.iter().map(|&at| events[at].1[nth]).collect();
                Column::Int { valid: Bits::repeat(true, values.len()), values }
            };
            Column::Tuples(Relation::new(starts, (0..*arity).map(column).collect()))
        };
        Batch { len: events.len(), slots: self.slots.iter().map(column).collect(), times: None }
    }
}

/// `hasnext` and `next`, in turn, of things at random.
pub fn iterations(random: &mut Rng, count: usize, live: usize) -> Vec<Event> {
    let mut seen = vec![false; live];
    let event = |_| {
        let own = random.below(live);
        seen[own] = !seen[own];
        (usize::from(!seen[own]), [own as i64, 0])
    };
    (0..count).map(event).collect()
}

/// `lock` and `unlock`, in turn, of pairs at random.
pub fn locks(random: &mut Rng, count: usize, live: usize) -> Vec<Event> {
    let mut held = vec![false; live];
    let event = |_| {
        let own = random.below(live);
        held[own] = !held[own];
        (usize::from(!held[own]), [(own / 10) as i64, (own % 10 + own / 100) as i64])
    };
    (0..count).map(event).collect()
}

pub const UNSAFE: &str =
    "event getC(m, c); event getI(c, i); event modifyM(m); event modifyC(c); event useI(i);
    ere : getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI;";

/// Ten different monitors over the same events.
pub fn ten() -> String {
    let events = UNSAFE.split("ere").next().unwrap_or("");
    let expressions = [
        "getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI",
        "getC (modifyM | modifyC)* getI useI* modifyM modifyC* useI",
        "getC (modifyM | modifyC)* getI useI* modifyC modifyM* useI",
        "getC (modifyM | modifyC)* getI useI+ (modifyM | modifyC)+ useI",
        "getC (modifyM | modifyC)* getI (useI | modifyM)* modifyC+ useI",
        "getC (modifyM | modifyC)* getI (useI | modifyC)* modifyM+ useI",
        "getC (modifyM | modifyC)* getI (modifyM | modifyC)+ useI",
        "getC (modifyM | modifyC)* getI useI useI* (modifyM | modifyC) (modifyM | modifyC)+ useI",
        "getC (modifyM | modifyC)+ getI useI* (modifyM | modifyC)+ useI",
        "getC (modifyM | modifyC)* getI useI* modifyC (modifyM | modifyC)* useI",
    ];
    let monitor = |(own, expression)| format!("monitor U{own}(m, c, i) {{ {events} ere : {expression}; }}");
    expressions.iter().enumerate().map(monitor).collect()
}

/// Iterators come until there are `live`, and are used; collections change now and then.
pub fn iterators(random: &mut Rng, count: usize, live: usize) -> Vec<Event> {
    let collections = (live / 10).max(1);
    let mut events: Vec<Event> = (0..collections as i64).map(|own| (0, [own / 4, own])).collect();
    let mut next = 0i64;
    while events.len() < count {
        let event = match random.below(20) {
            _ if next < live as i64 => {
                next += 1;
                (1, [random.below(collections) as i64, next - 1])
            }
            0 => (2, [random.below(collections / 4 + 1) as i64, 0]),
            1 => (3, [random.below(collections) as i64, 0]),
            _ => (4, [next - 1 - random.below(live) as i64, 0]),
        };
        events.push(event);
    }
    events
}

/// The same, but when a collection changes, its iterators end and others come; one in a hundred is used once more first.
pub fn passing_iterators(random: &mut Rng, count: usize, live: usize) -> Vec<Event> {
    let collections = (live / 10).max(1);
    let mut events: Vec<Event> = (0..collections as i64).map(|own| (0, [own / 4, own])).collect();
    // The iterators of each collection.
    let mut own: Vec<Vec<i64>> = vec![Vec::new(); collections];
    let mut next = 0i64;
    while events.len() < count {
        let collection = random.below(collections);
        let at = collection as i64;
        match random.below(40) {
            _ if next < live as i64 && own[collection].len() < 10 => {
                own[collection].push(next);
                events.push((1, [at, next]));
                next += 1;
            }
            0 => {
                events.push((3, [at, 0]));
                let gone = std::mem::take(&mut own[collection]);
                for iterator in gone {
                    if random.one_in(100) {
                        events.push((4, [iterator, 0]));
                    }
                    events.push((5, [iterator, 0]));
                    own[collection].push(next);
                    events.push((1, [at, next]));
                    next += 1;
                }
            }
            _ if !own[collection].is_empty() => {
                events.push((4, [random.pick(&own[collection]), 0]));
            }
            _ => {}
        }
    }
    events.truncate(count);
    events
}

/// So many monitors, each with events of its own, and the names of those.
pub fn many(monitors: usize) -> (String, Vec<String>) {
    let names =
        (0..monitors).flat_map(|own| ["hasnext", "next"].map(|name| format!("{name}{own}"))).collect();
    let one = |own: usize| {
        format!(
            "monitor M{own}(i) {{ event hasnext{own}(i); event next{own}(i); ere : (hasnext{own}+ next{own})* next{own}; }}"
        )
    };
    ((0..monitors).map(one).collect(), names)
}

/// Their events, in turn of each of a monitor's things, as in [`iterations`].
pub fn scattered(random: &mut Rng, count: usize, monitors: usize, live: usize) -> Vec<Event> {
    let mut seen = vec![false; monitors * live];
    let event = |_| {
        let (monitor, own) = (random.below(monitors), random.below(live));
        let seen = &mut seen[monitor * live + own];
        *seen = !*seen;
        (2 * monitor + usize::from(!*seen), [own as i64, 0])
    };
    (0..count).map(event).collect()
}
