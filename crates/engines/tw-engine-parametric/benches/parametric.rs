//! Nanoseconds per event and bytes per binding, events in memory: `cargo bench -p tw-engine-parametric -- [EVENTS] [WORD…]`.
//!
//! Rows are chosen by words in their names, or left out by `!WORD`. Values are whole numbers, so that what is measured is the engine. Times are those of the
//! processor, of the first thread where there are two: what wall clocks say on a machine with other work is about that work. Of a
//! run the first figure is about all of it, bindings that come to be included, the second about its later half. The slow ends
//! stand beside what they are slower than: monitors that share no records, that share no numbers of values either, and algorithm A.

mod logs;

use logs::{Batches, Event, UNSAFE, names};
use std::sync::Arc;
use std::time::Instant;
use tw_engine_parametric::{Held, Monitors, Plan};
use tw_ir::Program;
use tw_testkit::{Rng, texts};

/// Runs of a row, of which the quickest counts.
const RUNS: usize = 3;

/// Events of a short feed.
const FEED: usize = 256;

/// What the thread has spent of the processor so far, in nanoseconds; the wall clock where the system does not tell.
fn processor(started: Instant) -> f64 {
    // The figure is brought up to date when the thread gives way.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = told.as_ref().and_then(|told| told.split_whitespace().next()?.parse::<f64>().ok());
    spent.unwrap_or_else(|| started.elapsed().as_secs_f64() * 1e9)
}

/// Work that waits for a processor, by the system's last minute.
fn load() -> String {
    let told = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    told.split_whitespace().next().unwrap_or("?").to_owned()
}

/// How monitors are run.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// By so many threads.
    Threads(usize),
    /// None shares records with another.
    Apart,
    /// None shares numbers of values with another either.
    Alone,
}

/// A run: of the whole, of the later half, and by the wall clock, nanoseconds per event.
type Times = [f64; 3];

struct Bench {
    events: usize,
    words: Vec<String>,
}

impl Bench {
    fn wants(&self, what: &str) -> bool {
        let has = |word: &&str| what.contains(*word);
        let (left_out, words): (Vec<&str>, Vec<&str>) =
            self.words.iter().map(String::as_str).partition(|word| word.starts_with('!'));
        !left_out.iter().map(|word| &word[1..]).any(|word| has(&word))
            && (words.is_empty() || words.iter().any(has))
    }

    fn row(&self, what: &str, text: &str, names: &[String], how: How, events: impl FnOnce() -> Vec<Event>) {
        if !self.wants(what) {
            return;
        }
        let program = texts::specification(text);
        let events = events();
        let batches = Batches::new(&program, names);
        let programs: Vec<Program> = match how {
            How::Alone => {
                let one = |monitor| Program { monitors: vec![monitor], ..program.clone() };
                program.monitors.iter().cloned().map(one).collect()
            }
            _ => vec![program],
        };
        let plan = |program| match how {
            How::Apart => Plan::apart(program),
            _ => Plan::new(program),
        };
        let plans: Vec<Arc<Plan>> =
            programs.iter().map(|program| Arc::new(plan(program).expect("automata"))).collect();
        let mut best: Option<(Times, String)> = None;
        for _ in 0..RUNS {
            let run = run(&plans, &batches, &events, how);
            if best.as_ref().is_none_or(|(times, _)| run.0[0] < times[0]) {
                best = Some(run);
            }
        }
        let Some(([whole, later, wall], held)) = best else { return };
        println!("{what:<52} {whole:>7.1} {later:>7.1} {wall:>8.1}  {:>5}  {held}", load());
    }
}

fn run(plans: &[Arc<Plan>], batches: &Batches, events: &[Event], how: How) -> (Times, String) {
    let threads = if let How::Threads(threads) = how { threads } else { 1 };
    let mut all: Vec<Monitors> = plans.iter().map(|plan| Monitors::new(plan, usize::MAX, threads)).collect();
    let mut reports = 0;
    let mut found = Vec::new();
    let mut times = [0.0; 3];
    let (count, mut fed, mut later) = (events.len(), 0, 0);
    for events in events.chunks(batches.positions()) {
        // As a reader does, which hands on what it has just written.
        let batch = batches.of(events);
        let started = Instant::now();
        let before = processor(started);
        for monitors in &mut all {
            monitors.feed(&batch, &mut found).expect("no budget");
        }
        let spent = processor(started) - before;
        times[0] += spent;
        times[2] += started.elapsed().as_secs_f64() * 1e9;
        fed += events.len();
        if fed > count / 2 {
            times[1] += spent;
            later += events.len();
        }
        reports += found.len();
        found.clear();
    }
    let held =
        |monitors: &Monitors| (0..monitors.monitors()).map(|own| monitors.held(own)).collect::<Vec<Held>>();
    let held: Vec<Held> = all.iter().flat_map(held).collect();
    let bindings: usize = held.iter().map(|own| own.bindings).sum();
    let each = |bytes: usize| bytes as f64 / bindings.max(1) as f64;
    let bytes = each(held.iter().map(|own| own.bytes).sum());
    let values = each(all.iter().map(Monitors::value_bytes).sum());
    let times = [times[0] / count as f64, times[1] / later as f64, times[2] / count as f64];
    (times, format!("{bindings:>8} {bytes:>6.1} {values:>6.1} {reports:>8}"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|own| !own.starts_with('-')).collect();
    let number = |own: &String| own.parse::<usize>().ok();
    let bench = Bench {
        events: arguments.iter().find_map(number).unwrap_or(4_000_000),
        words: arguments.iter().filter(|own| number(own).is_none()).cloned().collect(),
    };
    let count = bench.events;
    println!(
        "{:<52} {:>7} {:>7} {:>8}  {:>5}  {:>8} {:>6} {:>6} {:>8}",
        "ns per event", "whole", "later", "wall", "load", "bindings", "bytes", "values", "reports"
    );
    let lives = [(100_000, "1e5"), (1_000_000, "1e6")];
    let one = "monitor HasNext(i) { event hasnext(i); event next(i); ere : (hasnext+ next)* next; }";
    let next = names(&["hasnext", "next", "other"]);
    for (live, name) in lives {
        for (threads, by) in [(1, ""), (2, ", two threads")] {
            let events = || logs::iterations(&mut Rng::new(7), count, live);
            bench.row(&format!("one parameter, {name}{by}"), one, &next, How::Threads(threads), events);
        }
    }
    let events = || (0..count).map(|at| (2, [at as i64 % 1000, 0])).collect();
    bench.row("no monitor mentions them", one, &next, How::Threads(1), events);
    let pair = "monitor Lock(l, t) { event lock(l, t); event unlock(l, t); ere : (lock unlock)* (lock lock | unlock); }";
    let lock = names(&["lock", "unlock"]);
    for (live, name) in lives {
        for (threads, by) in [(1, ""), (2, ", two threads")] {
            let events = || logs::locks(&mut Rng::new(7), count, live);
            bench.row(&format!("two parameters, {name}{by}"), pair, &lock, How::Threads(threads), events);
        }
    }
    let five = names(&["getC", "getI", "modifyM", "modifyC", "useI", "free"]);
    let map = format!("monitor UnsafeMapIterator(m, c, i) {{ {UNSAFE} }}");
    for (live, name) in lives {
        let events = || logs::iterators(&mut Rng::new(7), count, live);
        bench.row(&format!("UnsafeMapIterator, {name}"), &map, &five, How::Threads(1), events);
    }
    let ending = format!("monitor UnsafeMapIterator(m, c, i) {{ end free(i); {UNSAFE} }}");
    for (live, name) in lives {
        let events = || logs::passing_iterators(&mut Rng::new(7), count, live);
        bench.row(
            &format!("UnsafeMapIterator, iterators end, {name}"),
            &ending,
            &five,
            How::Threads(1),
            events,
        );
    }
    for monitors in [10usize, 100] {
        for (live, name) in lives {
            let (text, many) = logs::many(monitors);
            let events = || logs::scattered(&mut Rng::new(7), count, monitors, live / monitors);
            bench.row(
                &format!("{monitors} monitors, each event in one, {name}"),
                &text,
                &many,
                How::Threads(1),
                events,
            );
        }
    }
    if bench.wants("pauses") {
        pauses(&map, &five, count.min(2_000_000));
    }
    let ten = logs::ten();
    for (how, by) in [
        (How::Threads(1), ""),
        (How::Apart, ", trees for each"),
        (How::Alone, ", and numbers of values for each"),
    ] {
        let count = if how == How::Threads(1) { count } else { count / 4 };
        let events = || logs::iterators(&mut Rng::new(7), count, 100_000);
        bench.row(&format!("10 on the same events, 1e5{by}"), &ten, &five, how, events);
    }
    if bench.wants("algorithm A") {
        slices(&map, &five);
    }
}

/// How long the slowest of many short feeds take, bindings that come to be included. Of each feed the quickest of several runs
/// counts: what interrupts one run does not interrupt the others there.
fn pauses(text: &str, names: &[String], count: usize) {
    let program = texts::specification(text);
    let plan = Arc::new(Plan::new(&program).expect("automata"));
    let batches = Batches::new(&program, names);
    let events = logs::iterators(&mut Rng::new(7), count, 1_000_000);
    let mut feeds: Vec<f64> = vec![f64::MAX; count.div_ceil(FEED)];
    for _ in 0..2 * RUNS {
        let mut monitors = Monitors::new(&plan, usize::MAX, 1);
        let mut found = Vec::new();
        for (events, feed) in events.chunks(FEED).zip(&mut feeds) {
            let batch = batches.of(events);
            let started = Instant::now();
            monitors.feed(&batch, &mut found).expect("no budget");
            *feed = feed.min(started.elapsed().as_secs_f64() * 1e6);
            found.clear();
        }
    }
    feeds.sort_by(f64::total_cmp);
    let at = |part: f64| feeds[((feeds.len() - 1) as f64 * part) as usize];
    println!(
        "pauses, UnsafeMapIterator, 1e6: {FEED} events take {:.0} us, 99.9 % of such feeds at most {:.0}, the slowest {:.0}",
        at(0.5),
        at(0.999),
        at(1.0)
    );
}

/// The slow end: a look at every binding for each event.
fn slices(text: &str, names: &[String]) {
    let program = texts::specification(text);
    let events = logs::iterators(&mut Rng::new(7), 1_000, 50);
    let whole = Batches::new(&program, names).of(&events);
    let started = Instant::now();
    let before = processor(started);
    let found = tw_slicing::monitor::reports(&program, &program.monitors[0], &whole).expect("an automaton");
    let nanoseconds = (processor(started) - before) / events.len() as f64;
    println!(
        "{:<52} {nanoseconds:>7.0} {:>7} {:>8}  {:>5}  {:>8} {:>6} {:>6} {:>8}",
        "algorithm A, UnsafeMapIterator, 50 iterators",
        "",
        "",
        load(),
        "",
        "",
        "",
        found.len()
    );
}
