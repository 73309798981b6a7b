//! The last ten minutes, second by second: lines of each stream, values of queries. What the page draws before anybody looked.

use crate::server::Shared;
use crate::tokens::{Rights, Role};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracewise::findings::json::{Object, array};

/// Seconds that are kept.
const SECONDS: usize = 600;
/// How long somebody must not have asked before values are not asked for any more.
const ASLEEP: u64 = 120;
/// How long to wait for a stream to say what its queries are worth.
const PATIENCE: Duration = Duration::from_millis(100);

/// Stream, specification, query.
type Query = (Arc<str>, Arc<str>, String);

/// What happened each second.
#[derive(Debug, Default)]
pub struct History {
    seconds: Mutex<Seconds>,
    /// The second in which somebody asked.
    asked: AtomicU64,
}

#[derive(Debug, Default)]
struct Seconds {
    /// How many there were.
    tick: u64,
    /// Of each stream, lines so far and those of each second.
    lines: BTreeMap<Arc<str>, (u64, VecDeque<u64>)>,
    /// Values as JSON; `null` where there is none.
    values: BTreeMap<Query, VecDeque<String>>,
}

impl Seconds {
    /// Notes how many lines of a stream there are. Those that were there when it was opened came in no second of these.
    fn count(&mut self, stream: &Arc<str>, opened: u64, end: u64) {
        let (before, lines) = self.lines.entry(stream.clone()).or_default();
        let new = end.saturating_sub(opened.max(*before));
        *before = end;
        add(lines, new);
    }
}

/// Adds a figure, the first after those that were not there.
fn add<T: Clone>(to: &mut VecDeque<T>, value: T) {
    if to.len() == SECONDS {
        to.pop_front();
    }
    to.push_back(value);
}

/// Notes each second, as long as the server runs.
pub async fn keep(shared: Arc<Shared>) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    // A second that was late is not made up for.
    second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        second.tick().await;
        if shared.ending.load(Ordering::SeqCst) {
            return;
        }
        let shared = shared.clone();
        if tokio::task::spawn_blocking(move || shared.history.note(&shared)).await.is_err() {
            return;
        }
    }
}

impl History {
    fn note(&self, shared: &Shared) {
        let streams = shared.streams();
        let tick = self.seconds.lock().unwrap_or_else(PoisonError::into_inner).tick;
        let awake = tick.saturating_sub(self.asked.load(Ordering::Relaxed)) < ASLEEP;
        let mut values = Vec::new();
        for stream in &streams {
            let watched = stream.judge.watched();
            let queries =
                |own: &crate::judge::Watched| own.properties().iter().any(|own| own.kind == "query");
            if !watched.iter().any(|own| queries(own)) {
                continue;
            }
            if awake {
                stream.judge.ask_pending(PATIENCE);
            }
            for own in &watched {
                for query in own.properties().iter().filter(|own| own.kind == "query") {
                    let key = (stream.name.clone(), own.spec.clone(), query.name.clone());
                    values.push((key, figure(query.value.as_deref())));
                }
            }
        }
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        seconds.tick += 1;
        for stream in &streams {
            seconds.count(&stream.name, stream.judge.judged_before, stream.log.end());
        }
        seconds.values.retain(|key, _| values.iter().any(|(own, _)| own == key));
        for (key, value) in values {
            add(seconds.values.entry(key).or_default(), value);
        }
    }

    /// What happened after a second.
    pub fn since(&self, tick: u64, rights: &Rights) -> String {
        let seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        self.asked.store(seconds.tick, Ordering::Relaxed);
        let news = seconds.tick.saturating_sub(tick).min(SECONDS as u64) as usize;
        let seen = |stream: &str| rights.may(Role::Read, stream);
        let streams = seconds.lines.iter().filter(|(name, _)| seen(name)).map(|(name, (_, lines))| {
            let latest = lines.iter().skip(lines.len().saturating_sub(news));
            let latest = array(latest.map(u64::to_string));
            Object::new().field("stream", &**name).raw("lines", &latest).end()
        });
        let values = seconds.values.iter().filter(|((stream, ..), _)| seen(stream));
        let values = values.map(|((stream, spec, query), values)| {
            let latest = array(values.iter().skip(values.len().saturating_sub(news)).cloned());
            let object = Object::new().field("stream", &**stream).field("spec", &**spec);
            object.field("property", query.as_str()).raw("values", &latest).end()
        });
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let object = Object::new().field("tick", seconds.tick).field("now", now);
        object.raw("streams", &array(streams)).raw("values", &array(values)).end()
    }
}

/// The number in what a query is worth, `null` if that is none.
fn figure(value: Option<&str>) -> String {
    let found = value.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    let found = found.and_then(|object| object.get("value").filter(|value| value.is_number()).cloned());
    found.map_or("null".into(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::{History, Rights, Seconds, add, figure};
    use std::sync::Mutex;

    #[test]
    fn only_what_is_new_is_told() {
        let mut seconds = Seconds { tick: 700, ..Seconds::default() };
        for line in 0..700 {
            add(&mut seconds.lines.entry("web".into()).or_default().1, line);
        }
        let history = History { seconds: Mutex::new(seconds), ..History::default() };
        let told: serde_json::Value = serde_json::from_str(&history.since(698, &Rights::All)).expect("JSON");
        assert_eq!(told["streams"][0]["lines"], serde_json::json!([698, 699]));
        assert_eq!(told["tick"], 700);
        let told: serde_json::Value = serde_json::from_str(&history.since(0, &Rights::All)).expect("JSON");
        assert_eq!(told["streams"][0]["lines"].as_array().map(Vec::len), Some(600));
    }

    #[test]
    fn the_first_lines_of_a_stream_are_counted() {
        let mut seconds = Seconds::default();
        let [old, new] = ["old", "new"].map(std::sync::Arc::from);
        // One was there when the server began, with 1,000 lines, the other began with its first event.
        for (was, is) in [(1002, 40), (1002, 41), (1010, 41)] {
            seconds.count(&old, 1000, was);
            seconds.count(&new, 0, is);
        }
        assert_eq!(seconds.lines[&old].1, [2, 0, 8]);
        assert_eq!(seconds.lines[&new].1, [40, 1, 0]);
        // What others have written before it was opened again is nobody's second here.
        seconds.count(&old, 5000, 5001);
        assert_eq!(seconds.lines[&old].1, [2, 0, 8, 1]);
    }

    #[test]
    fn values_are_figures_or_nothing() {
        assert_eq!(figure(Some(r#"{"query":"q","value":12.5,"position":3}"#)), "12.5");
        assert_eq!(figure(Some(r#"{"query":"q","value":null}"#)), "null");
        assert_eq!(figure(None), "null");
    }
}
