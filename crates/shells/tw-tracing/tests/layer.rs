//! From `tracing` to a trace, and what is checked on the way.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use tracewise::check::CheckOptions;
use tracewise::{Session, Specification, Value};
use tracing::{Level, debug, error, info, info_span};
use tracing_subscriber::prelude::*;
use tw_tracing::{Builder, Guard, Violation, builder};

/// A writer whose text can be looked at.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Runs a program under a layer; what it leaves.
fn observed(builder: Builder, program: impl FnOnce()) -> Guard {
    let (layer, guard) = builder.build();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), program);
    guard
}

/// The events that a program gives, without what differs from run to run.
fn events_of(program: impl FnOnce()) -> Vec<String> {
    let page = Page::default();
    observed(builder().write_to(page.clone()).enters(true), program).finish().unwrap();
    let strip = |line: &str| {
        let mut object: serde_json::Value = serde_json::from_str(line).unwrap();
        let fields = object.as_object_mut().unwrap();
        for key in ["time", "thread", "level", "target", "source"] {
            assert!(fields.shift_remove(key).is_some(), "{key}: {line}");
        }
        let name = fields.shift_remove("event").unwrap();
        format!("{} {}", name.as_str().unwrap(), serde_json::Value::from(fields.clone()))
    };
    page.text().lines().map(strip).collect()
}

#[test]
fn names_and_fields() {
    let events = events_of(|| {
        info!(event = "withdraw", amount = 80);
        info!(name: "withdraw", amount = 80);
        info!(amount = 80, "withdraw");
        info!("withdraw");
        info!(target: "till", amount = 80, "paid out in cash");
        info!(target: "till", amount = 80);
        info!(event = "a", "not the name");
        info!(yes = true, least = i64::MIN, most = u64::MAX, half = 0.5, nan = f64::NAN, "values");
        info!(display = %1.5, debug = ?Some(1), text = "1", quote = "\"\n", "texts");
    });
    let expected = [
        r#"withdraw {"amount":80}"#,
        r#"withdraw {"amount":80}"#,
        r#"withdraw {"amount":80}"#,
        r#"withdraw {}"#,
        r#"till {"message":"paid out in cash","amount":80}"#,
        r#"till {"amount":80}"#,
        r#"a {"message":"not the name"}"#,
        r#"values {"yes":true,"least":-9223372036854775808,"most":"18446744073709551615","half":0.5,"nan":null}"#,
        r#"texts {"display":"1.5","debug":"Some(1)","text":"1","quote":"\"\n"}"#,
    ];
    assert_eq!(events, expected);
}

#[test]
fn spans() {
    let events = events_of(|| {
        let request = info_span!("request", id = 7, status = tracing::field::Empty);
        request.in_scope(|| {
            info!("parse");
            let _query = info_span!("query", id = 8, table = "users").entered();
            info!(id = 9, "row");
        });
        request.record("status", 200);
    });
    let expected = [
        r#"request {"id":7}"#,
        r#"request_enter {"id":7}"#,
        r#"parse {"id":7}"#,
        r#"query {"id":8,"table":"users"}"#,
        r#"query_enter {"id":8,"table":"users"}"#,
        r#"row {"id":9,"table":"users"}"#,
        r#"query_exit {"id":8,"table":"users"}"#,
        r#"query_end {"id":8,"table":"users"}"#,
        r#"request_exit {"id":7}"#,
        r#"request_end {"id":7,"status":200}"#,
    ];
    assert_eq!(events, expected);
}

#[test]
fn own_fields_win_over_those_every_event_has() {
    let page = Page::default();
    observed(builder().write_to(page.clone()), || info!(thread = "t1", time = "noon", "e")).finish().unwrap();
    let object: serde_json::Value = serde_json::from_str(page.text().trim()).unwrap();
    assert_eq!((object["thread"].as_str(), object["time_"].as_str()), (Some("t1"), Some("noon")));
    assert_eq!(page.text().matches("thread\":").count(), 1);
}

#[test]
fn a_dropped_guard_writes_what_is_left() {
    let page = Page::default();
    let guard = observed(builder().write_to(io::BufWriter::new(page.clone())), || info!("e"));
    assert_eq!(page.text(), "");
    drop(guard);
    assert_eq!(page.text().lines().count(), 1);
}

fn spec(text: &str) -> Specification {
    Specification::from_text("test.tw", text).unwrap_or_else(|error| panic!("{error}"))
}

/// A violation: property, position and the texts of the events shown.
type Found = (String, usize, Vec<String>);

/// What a program violates, and how its properties come out: name, whether it holds, whether that was settled.
fn violations(text: &str, program: impl FnOnce()) -> (Vec<Found>, Vec<(String, bool, bool)>) {
    let seen: Arc<Mutex<Vec<Violation>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let builder = builder().check(&spec(text)).unwrap().remember(3);
    let guard = observed(builder.on_violation(move |v| sink.lock().unwrap().push(v.clone())), program);
    let outcomes = guard.finish().unwrap().into_iter().map(|o| (o.property, o.holds, o.settled)).collect();
    let texts = |v: &Violation| v.recent.iter().map(ToString::to_string).collect();
    let seen = seen.lock().unwrap();
    (seen.iter().map(|v| (v.property.clone(), v.position, texts(v))).collect(), outcomes)
}

#[test]
fn violations_are_told_once_with_what_led_to_them() {
    let text =
        "property solvent : G (withdraw -> balance >= 0); property answered : G (request -> F request_end);
                property never : G !panic;";
    let (found, outcomes) = violations(text, || {
        let _request = info_span!("request", id = 7).entered();
        debug!("noise that no property mentions");
        info!(balance = 20, amount = 1, "withdraw");
        info!(other = 1, "noise");
        info!(balance = -60, "withdraw");
        info!(balance = -70, "withdraw");
    });
    let shown =
        ["request(id: 7)", "withdraw(balance: 20, amount: 1, id: 7)", "withdraw(balance: -60, id: 7)"];
    assert_eq!(found, [("solvent".to_string(), 2, shown.map(String::from).to_vec())]);
    let expected = [("solvent", false, true), ("answered", true, false), ("never", true, false)];
    let expected: Vec<_> = expected.map(|(name, holds, settled)| (name.to_string(), holds, settled)).to_vec();
    assert_eq!(outcomes, expected);
}

#[test]
fn what_counts_as_a_position() {
    let count = |text: &str, every: bool| {
        let builder = builder().check(&spec(text)).unwrap();
        let builder = if every { builder.every_event() } else { builder };
        let guard = observed(builder, || {
            info!("a");
            info!("b");
            info!(x = 1, "some message");
            info_span!("request", x = 2).in_scope(|| info!("c"));
            error!("it burns");
        });
        guard.positions()
    };
    assert_eq!(count("property p : G (a -> F b);", false), 2);
    assert_eq!(count("property p : G (a -> F b);", true), 7);
    // The message, and the span when made and when closed; `c` inside it has no `x` of its own.
    assert_eq!(count("property p : G (x < 5);", false), 3);
    assert_eq!(count("property p : F request_end;", false), 1);
    assert_eq!(count("property p : G (level != \"ERROR\");", false), 7);
}

#[test]
fn threads_and_levels_can_be_spoken_of() {
    let (found, _) = violations(
        "property p : G (pay -> thread == \"teller\"); property q : G (level != \"ERROR\");",
        || {
            let dispatch = tracing::dispatcher::get_default(Clone::clone);
            let teller = std::thread::Builder::new().name("teller".into()).spawn(move || {
                tracing::dispatcher::with_default(&dispatch, || info!("pay"));
            });
            teller.unwrap().join().unwrap();
            info!("pay");
            tracing::event!(Level::ERROR, "burning");
        },
    );
    let found: Vec<(&str, usize)> = found.iter().map(|(name, at, _)| (name.as_str(), *at)).collect();
    assert_eq!(found, [("p", 1), ("q", 2)]);
}

#[test]
fn a_field_of_the_wrong_type_is_an_error_not_a_verdict() {
    let builder = builder().check(&spec("property p : G (balance >= 0);")).unwrap();
    let guard = observed(builder, || {
        info!(balance = "much", "withdraw");
        info!(balance = -1, "withdraw");
    });
    let error = guard.finish().unwrap_err().to_string();
    assert!(error.contains("balance") && error.contains("much"), "{error}");
}

#[test]
fn many_threads_make_one_trace() {
    let page = Page::default();
    let builder = builder().check(&spec("property p : G (work -> n >= 0);")).unwrap().write_to(page.clone());
    let (layer, guard) = builder.build();
    let dispatch = tracing::Dispatch::new(tracing_subscriber::registry().with(layer));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                tracing::dispatcher::with_default(&dispatch, || (0..500).for_each(|n| info!(n, "work")));
            });
        }
    });
    assert_eq!(guard.positions(), 4000);
    assert!(guard.finish().unwrap()[0].holds);
    // Whole lines, in the order of their timestamps: reading checks both.
    let input = tw_trace::Input::from_bytes("page", page.text().into_bytes());
    let (mut rows, options) = (0, tw_trace::ReadOptions::default());
    tw_trace::read_rows(&input, &tw_trace::formats::jsonl::Jsonl, &options, &mut |row| {
        assert_eq!(&*row.events[0].name, "work");
        rows += 1;
        Ok(true)
    })
    .unwrap();
    assert_eq!(rows, 4000);
}

/// The verdicts inside the program are those of the trace it writes.
#[test]
fn the_same_verdicts_as_from_the_file() {
    let text = "property a : G (ask -> F answer); property b : G (pay -> O answer); property c : !pay W ask;
                property d : G (pay -> amount < 90); property e : G (ask -> X answer); property f : F (answer & X pay);";
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("verdicts.jsonl");
    let mut random = 1u64;
    let mut differ = std::collections::HashSet::new();
    for _ in 0..200 {
        let program = || {
            let mut next = |bound: u64| {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) % bound
            };
            for _ in 0..1 + next(6) {
                match next(4) {
                    0 => info!("ask"),
                    1 => info!("answer"),
                    2 => info!(amount = next(100), "pay"),
                    _ => info!("something else happens"),
                }
            }
        };
        let builder = builder().check(&spec(text)).unwrap().every_event().on_violation(|_| {});
        let to = io::BufWriter::new(std::fs::File::create(&file).unwrap());
        let guard = observed(builder.write_to(to), program);
        let inside: Vec<bool> = guard.finish().unwrap().iter().map(|outcome| outcome.holds).collect();
        let options = CheckOptions { explain: false, ..CheckOptions::default() };
        let report = Session::new().check(&spec(text), &[file.display().to_string()], &options);
        let report = match report {
            Ok(report) => report,
            // A trace without any payment has no `amount`.
            Err(error) => {
                assert!(error.to_string().contains("amount"), "{error}");
                continue;
            }
        };
        let outside: Vec<bool> =
            report.properties.iter().map(|p| p.verdict == tracewise::Verdict::Satisfied).collect();
        assert_eq!(inside, outside, "{}", std::fs::read_to_string(&file).unwrap());
        differ.insert(inside);
    }
    assert!(differ.len() > 10, "the programs behave in different ways");
}

#[test]
fn what_does_not_come_is_told_at_its_deadline() {
    let found = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&found);
    let builder = builder().check(&spec("property soon : G (asked -> F[0,100ms] answered);")).unwrap();
    let builder = builder.on_violation(move |v| sink.lock().unwrap().push((v.property.clone(), v.position)));
    let started = std::time::Instant::now();
    let guard = observed(builder, || {
        info!("asked");
        info!("answered");
        info!("asked");
    });
    guard.beat();
    if started.elapsed() < std::time::Duration::from_millis(100) {
        assert!(found.lock().unwrap().is_empty());
    }
    std::thread::sleep(std::time::Duration::from_millis(110));
    guard.beat();
    guard.beat();
    assert_eq!(*found.lock().unwrap(), [("soon".to_string(), 2)]);
    let outcomes = guard.finish().unwrap();
    assert!(!outcomes[0].holds && outcomes[0].settled);
}

#[test]
fn quantified_properties_say_which_values_violate() {
    let found = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&found);
    let text = "property closed : G forall f. open(file: f) -> !O lock(file: f); property calm : G !panic;";
    let builder = builder().check(&spec(text)).unwrap();
    let builder = builder.on_violation(move |v| sink.lock().unwrap().push(v.clone()));
    let guard = observed(builder, || {
        info!(file = "a", "lock");
        let _span = info_span!("job", file = "b").entered();
        info!(name: "lock", other = 1);
        info!(file = "c", "open");
        info!(name: "open", other = 1);
        info!(file = "a\u{1b}[31m", "lock");
        info!(file = "a\u{1b}[31m", "open");
        info!("panic");
    });
    let found = found.lock().unwrap();
    let told: Vec<_> = found.iter().map(|v| (v.property.as_str(), v.position, v.bindings.clone())).collect();
    let file = |name: &str| vec![("f".to_string(), Value::text(name))];
    assert_eq!(told, [("closed", 3, file("b")), ("closed", 5, file("a\u{1b}[31m")), ("calm", 6, Vec::new())]);
    assert!(found[0].to_string().contains(" · f = \"b\"\n"), "{}", found[0]);
    assert!(found[1].to_string().contains(" · f = \"a\\u001b[31m\"\n"), "{}", found[1]);
    let outcomes = guard.finish().unwrap();
    assert!(outcomes.iter().all(|outcome| !outcome.holds && outcome.settled));
}
