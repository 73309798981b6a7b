//! Traces that `races` cannot make sense of.

use super::{Case, bad};

pub fn cases() -> Vec<Case> {
    let events = |name, text: &str| bad(name, "races t.events").file("t.events", text);
    let jsonl = |name, text: &str| bad(name, "races t.jsonl").file("t.jsonl", text);
    vec![
        events("races-empty-trace", ""),
        events("races-other-events", "open,f\nclose,f\n"),
        events("races-no-thread", "lock\n"),
        events("races-no-lock", "lock,t1,a\nunlock,t1\n"),
        events("races-empty-thread", "lock,,a\n"),
        events("races-broken-line", "lock,t1,a\nlock,\"t1,b\n"),
        events("races-unlocks-missing", &(0..2000).map(|i| format!("lock,t1,l{i}\n")).collect::<String>()),
        jsonl("races-other-keys", "{\"event\":\"lock\",\"pid\":1,\"mutex\":\"m\"}\n"),
        jsonl("races-lock-without-key", "{\"event\":\"write\",\"thread\":1}\n"),
        jsonl("races-thread-is-an-object", "{\"event\":\"lock\",\"thread\":{\"id\":1},\"lock\":\"m\"}\n"),
        bad("races-no-event-column", "races t.csv").file("t.csv", "thread,lock\nt1,a\n"),
        bad("races-missing-file", "races nowhere.events"),
        bad("races-bad-limit", "races --cycles few t.events").file("t.events", "lock,t1,a\n"),
    ]
}
