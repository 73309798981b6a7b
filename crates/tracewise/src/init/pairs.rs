//! Pairs of events that seem to belong together: of the same identifier, or one after the other.

use super::text::Event;
use rustc_hash::FxHashMap;

/// Pairs that are proposed.
const PAIRS: usize = 10;
/// Identifiers that both have, at least.
const SHARED: usize = 2;
/// Events of which any two are looked at, where they have no identifier.
const FREQUENT: usize = 6;

/// Words of what begins, and of what ends it.
const BEGINS: &[&str] = &[
    "start",
    "open",
    "begin",
    "connect",
    "accept",
    "request",
    "receiving",
    "creat",
    "alloc",
    "acquire",
    "enter",
    "add",
    "login",
    "running",
    "submitted",
    "received",
    "assigned",
    "attempting",
    "mount",
    "up",
];
const ENDS: &[&str] = &[
    "stop",
    "clos",
    "end",
    "disconnect",
    "finish",
    "complet",
    "terminat",
    "delet",
    "releas",
    "exit",
    "remov",
    "respon",
    "logout",
    "served",
    "destroy",
    "done",
    "success",
    "succeed",
    "shut",
    "unmount",
    "down",
];

/// By identifier, its first and its last line.
type Spans<'e> = FxHashMap<&'e str, (u32, u32)>;

/// Two events, the first of which is followed or preceded.
pub(super) struct Pair {
    pub first: usize,
    pub second: usize,
    /// The numbers of their parameters that are the same identifier.
    pub keys: Option<(usize, usize)>,
    /// Whether, in the sample, the second follows each of the first, and the first precedes each of the second.
    pub response: bool,
    pub precedence: bool,
}

/// Pairs in which something holds, likeliest to matter first.
pub(super) fn pairs(events: &[Event]) -> Vec<Pair> {
    let indexed: Vec<Vec<(usize, Spans)>> = events.iter().map(spans).collect();
    let mut found: Vec<(u64, Pair)> = Vec::new();
    for (first, a) in events.iter().enumerate() {
        for (second, b) in events.iter().enumerate().filter(|(second, _)| *second != first) {
            let hinted = hinted(&a.name, &b.name);
            let mut best: Option<(u64, Pair)> = None;
            for (one, starts) in &indexed[first] {
                for (other, ends) in &indexed[second] {
                    let shared = starts.keys().filter(|id| ends.contains_key(*id)).count();
                    if shared < SHARED {
                        continue;
                    }
                    let follows = |id: &&str| ends.get(id).is_some_and(|(_, last)| *last > starts[id].1);
                    let leads = |id: &&str| starts.get(id).is_some_and(|(before, _)| *before < ends[id].0);
                    let (response, precedence) = (starts.keys().all(follows), ends.keys().all(leads));
                    if !response && !precedence {
                        continue;
                    }
                    let rank = 10_000 + rank(a, b, hinted) + shared.min(500) as u64;
                    if best.as_ref().is_none_or(|(least, _)| rank > *least) {
                        let keys = Some((*one, *other));
                        best = Some((rank, Pair { first, second, keys, response, precedence }));
                    }
                }
            }
            let frequent = first < FREQUENT && second < FREQUENT || hinted;
            if best.is_none() && frequent {
                let pair = Pair { first, second, keys: None, response: true, precedence: true };
                best = Some((rank(a, b, hinted), pair));
            }
            found.extend(best);
        }
    }
    found.sort_by_key(|(rank, pair)| (std::cmp::Reverse(*rank), pair.first, pair.second));
    found.into_iter().take(PAIRS).map(|(_, pair)| pair).collect()
}

/// The lines of identifiers: of parameters that take several values.
fn spans(event: &Event) -> Vec<(usize, Spans<'_>)> {
    let mut all = Vec::new();
    for key in &event.keys {
        let mut spans = Spans::default();
        for (line, value) in &key.seen {
            spans.entry(value).and_modify(|(_, last)| *last = *line).or_insert((*line, *line));
        }
        // What is nearly always the same is no identifier.
        if spans.len() >= 2 && spans.len() * 20 >= key.seen.len() {
            all.push((key.number, spans));
        }
    }
    all
}

/// Whether the names say that one begins what the other ends.
fn hinted(a: &str, b: &str) -> bool {
    let says = |name: &str, words: &[&str]| {
        name.to_ascii_lowercase().split('_').any(|part| words.iter().any(|word| part.starts_with(word)))
    };
    says(a, BEGINS) && says(b, ENDS) && !says(a, ENDS)
}

/// Frequent ones that occur about as often as each other.
fn rank(a: &Event, b: &Event, hinted: bool) -> u64 {
    let (low, high) = (a.lines.min(b.lines), a.lines.max(b.lines).max(1));
    u64::from(hinted) * 3000 + low * 1000 / high + u64::from(64 - low.leading_zeros()) * 50
}
