//! Nanoseconds per event and bytes per binding, events in memory: `cargo bench -p tw-engine-parametric [-- EVENTS]`.
//!
//! Values are whole numbers, so that what is measured is the engine. The slow end is algorithm A as `tw-slicing` has it, on a
//! small log.

use std::sync::Arc;
use std::time::Instant;
use tw_core::{Batch, Bits, Column, Relation};
use tw_engine_parametric::{Monitors, Plan};
use tw_ir::{Program, What};
use tw_testkit::{Rng, texts};

/// Positions in a batch.
const BATCH: usize = 1 << 16;

/// An event: its name's number, and its arguments.
type Event = (usize, [i64; 2]);

/// Batches of the program's slots, of events that each are at a position of their own.
fn batches(program: &Program, names: &[String], events: &[Event]) -> Vec<Batch> {
    let slots: Vec<Option<(usize, usize)>> = program
        .slots
        .iter()
        .map(|slot| match &slot.what {
            What::Tuples { name, arity, .. } => {
                let number = names.iter().position(|own| own == name)?;
                Some((number, arity.unwrap_or(1)))
            }
            _ => None,
        })
        .collect();
    let batch = |events: &[Event]| {
        let column = |slot: &Option<(usize, usize)>| {
            let Some((number, arity)) = slot else { return Column::Truth(Bits::repeat(false, events.len())) };
            let mut starts = vec![0u32];
            let mut values: Vec<Vec<i64>> = vec![Vec::new(); *arity];
            for (name, arguments) in events {
                if name == number {
                    values.iter_mut().zip(arguments).for_each(|(column, value)| column.push(*value));
                }
                starts.push(values[0].len() as u32);
            }
            let column = |values: Vec<i64>| Column::Int { valid: Bits::repeat(true, values.len()), values };
            Column::Tuples(Relation::new(starts, values.into_iter().map(column).collect()))
        };
        Batch { len: events.len(), slots: slots.iter().map(column).collect(), times: None }
    };
    events.chunks(BATCH).map(batch).collect()
}

/// Processor time of the process so far in nanoseconds, to the hundredth of a second: on a machine with other work, what wall
/// clocks say is about that work.
fn processor() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) * 1e7)
}

fn measure(what: &str, text: &str, names: &[String], events: &[Event], threads: usize) {
    let program = texts::specification(text);
    let plan = Arc::new(Plan::new(&program).expect("automata"));
    let batches = batches(&program, names, events);
    let mut best = f64::MAX;
    let mut line = String::new();
    for _ in 0..3 {
        let mut monitors = Monitors::new(&plan, usize::MAX, threads);
        let mut found = Vec::new();
        let (started, before) = (Instant::now(), processor());
        for batch in &batches {
            monitors.feed(batch, &mut found).expect("no budget");
        }
        let spent = processor().zip(before).map(|(after, before)| (after - before) / events.len() as f64);
        let wall = started.elapsed().as_secs_f64() * 1e9 / events.len() as f64;
        // Of several threads the wall clock is what counts.
        let nanoseconds = if threads == 1 { spent.unwrap_or(wall) } else { wall };
        if nanoseconds < best {
            best = nanoseconds;
            let held: Vec<_> = (0..program.monitors.len()).map(|own| monitors.held(own)).collect();
            let bindings: usize = held.iter().map(|own| own.bindings).sum();
            let bytes: usize = held.iter().map(|own| own.bytes).sum();
            let each = |bytes: usize| bytes as f64 / bindings.max(1) as f64;
            line = format!(
                "{bindings} bindings, {:.0} bytes each and {:.0} of values, {} reports",
                each(bytes),
                each(monitors.value_bytes()),
                found.len()
            );
        }
    }
    println!("{what:<58} {best:>7.1} ns/event  {line}");
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| name.to_string()).collect()
}

const UNSAFE: &str = "event getC(m, c); event getI(c, i); event modifyM(m); event modifyC(c); event useI(i);
    ere : getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI;";

/// Iterators come and are used; collections change now and then. `live` of them are there at a time.
fn iterators(random: &mut Rng, count: usize, live: usize, base: usize) -> Vec<Event> {
    let collections = (live / 10).max(1);
    let mut events: Vec<Event> = (0..collections as i64).map(|own| (base, [own / 4, own])).collect();
    let mut next = 0i64;
    while events.len() < count {
        let recent =
            |random: &mut Rng, next: i64| next - 1 - random.below((next as usize).clamp(1, live)) as i64;
        let event = match random.below(20) {
            _ if next < live as i64 => {
                next += 1;
                (base + 1, [random.below(collections) as i64, next - 1])
            }
            0 => (base + 2, [random.below(collections / 4 + 1) as i64, 0]),
            1 => (base + 3, [random.below(collections) as i64, 0]),
            _ => (base + 4, [recent(random, next), 0]),
        };
        events.push(event);
    }
    events
}

fn main() {
    let count = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(4_000_000);
    let random = &mut Rng::new(7);
    let next = names(&["hasnext", "next", "other"]);
    let text = "monitor HasNext(i) { event hasnext(i); event next(i); ere : (hasnext+ next)* next; }";
    for live in [100_000, 1_000_000] {
        let mut seen = vec![false; live];
        let event = |_| {
            let own = random.below(live);
            seen[own] = !seen[own];
            (usize::from(!seen[own]), [own as i64, 0])
        };
        let events: Vec<Event> = (0..count).map(event).collect();
        measure(&format!("one parameter, {live} things"), text, &next, &events, 1);
        measure(&format!("one parameter, {live} things, two threads"), text, &next, &events, 2);
    }
    let events: Vec<Event> = (0..count).map(|at| (2, [at as i64 % 1000, 0])).collect();
    measure("events that no monitor mentions", text, &next, &events, 1);

    let lock = names(&["lock", "unlock"]);
    let text = "monitor Lock(l, t) { event lock(l, t); event unlock(l, t); ere : (lock unlock)* (lock lock | unlock); }";
    for live in [100_000usize, 1_000_000] {
        let mut held = vec![false; live];
        let event = |_| {
            let own = random.below(live);
            held[own] = !held[own];
            (usize::from(!held[own]), [(own / 10) as i64, (own % 10 + own / 100) as i64])
        };
        let events: Vec<Event> = (0..count).map(event).collect();
        measure(&format!("two parameters, {live} pairs"), text, &lock, &events, 1);
        measure(&format!("two parameters, {live} pairs, two threads"), text, &lock, &events, 2);
    }

    let five = names(&["getC", "getI", "modifyM", "modifyC", "useI"]);
    let text = format!("monitor UnsafeMapIterator(m, c, i) {{ {UNSAFE} }}");
    for live in [100_000, 1_000_000] {
        let events = iterators(random, count, live, 0);
        measure(&format!("UnsafeMapIterator, {live} iterators"), &text, &five, &events, 1);
    }
    for monitors in [10usize, 100] {
        let many: Vec<String> =
            (0..monitors).flat_map(|own| ["hasnext", "next"].map(|name| format!("{name}{own}"))).collect();
        let one = |own: usize| {
            format!(
                "monitor M{own}(i) {{ event hasnext{own}(i); event next{own}(i); ere : (hasnext{own}+ next{own})* next{own}; }}"
            )
        };
        let text: String = (0..monitors).map(one).collect();
        let live = 100_000 / monitors;
        let event = |_| (random.below(2 * monitors), [random.below(live) as i64, 0]);
        let events: Vec<Event> = (0..count / 4).map(event).collect();
        measure(
            &format!("{monitors} monitors, each event in one, {live} things each"),
            &text,
            &many,
            &events,
            1,
        );
    }
    let ten: String = (0..10).map(|own| format!("monitor U{own}(m, c, i) {{ {UNSAFE} }}")).collect();
    let events = iterators(random, count / 4, 100_000, 0);
    measure("10 three-parameter monitors on the same events", &ten, &five, &events, 1);

    // The slow end: a look at every binding for each event.
    let program = texts::specification(&text);
    let events = iterators(random, 1_000, 50, 0);
    let whole = batches(&program, &five, &events).remove(0);
    let started = Instant::now();
    let found = tw_slicing::monitor::reports(&program, &program.monitors[0], &whole).expect("an automaton");
    let nanoseconds = started.elapsed().as_secs_f64() * 1e9 / events.len() as f64;
    println!(
        "{:<58} {nanoseconds:>7.0} ns/event  {} reports",
        "UnsafeMapIterator by slices, 50 iterators",
        found.len()
    );
}
