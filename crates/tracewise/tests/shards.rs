//! Monitors of many keys, against the verdicts and values of the stored log.

use std::collections::{BTreeMap, BTreeSet};
use tracewise::check::CheckOptions;
use tracewise::live::{Batch, Column, Ended, Ending, Known, Plan, PlanOptions, Row, ShardMonitor, Telling};
use tracewise::query::QueryOptions;
use tracewise::{Semantics, Session, Specification, Time, Value, Verdict};
use tw_monitor::Computed;
use tw_testkit::Rng;

const SECOND: Time = 1_000_000_000;

const SPECIFICATIONS: [&str; 2] = [
    "property paid : G (order -> F pay);
     property quick : G (order -> F[0,3s] pay);
     property after : G (ship -> O[0,10s] pay);
     property calm : G !(cancel & x > 8);
     query orders : count[order];
     query most : max[pay : x];
     query streak : max[count[order while !ship]];",
    "query spent : sum[pay : x * 2] by user;
     property ends : F ship;
     property window : G (pay -> G[1s,4s] !cancel);
     property order : (!ship) W pay;
     property soon : F[0,20s] (pay & F[0,5s] ship);
     property member : G (x in {1, 2, 3, 4, 5, 6, 7, 8, 9});
     query share : count[pay & X ship];",
];

/// One line of the log.
#[derive(Clone, Debug)]
struct Line {
    time: Time,
    event: &'static str,
    user: Option<String>,
    x: i64,
}

fn log(seed: u64, lines: usize, users: usize) -> Vec<Line> {
    let mut rng = Rng::new(seed);
    let mut time = 0;
    let mut line = || {
        time += rng.pick(&[0, 0, 1, 1, 2]) * SECOND;
        let user = (!rng.one_in(20)).then(|| format!("u{}", rng.below(users)));
        let event = rng.pick(&["order", "pay", "ship", "pay", "cancel", "look"]);
        Line { time, event, user, x: rng.below(10) as i64 }
    };
    (0..lines).map(|_| line()).collect()
}

/// The log as a file, and as a session reads it.
fn file(name: &str, log: &[Line]) -> String {
    let text: String = log
        .iter()
        .map(|Line { time, event, user, x }| {
            let user = user.as_ref().map_or("null".into(), |user| format!("\"{user}\""));
            format!("{{\"time\":{},\"event\":\"{event}\",\"user\":{user},\"x\":{x}}}\n", time / SECOND)
        })
        .collect();
    let path = std::env::temp_dir().join(format!("tracewise-shards-{}-{name}.jsonl", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

fn values(line: &Line) -> Vec<(&'static str, Value)> {
    let user = line.user.as_ref().map_or(Value::Null, |user| Value::Str(user.as_str().into()));
    vec![("user", user), ("x", Value::Int(line.x))]
}

fn feed(shard: &mut ShardMonitor, lines: &[Line], told: &mut Vec<Told>) {
    let values: Vec<_> = lines.iter().map(values).collect();
    let mut rows = Vec::with_capacity(lines.len());
    for (line, values) in lines.iter().zip(&values) {
        rows.push(Row { time: Some(line.time), event: Some(line.event), values });
    }
    shard.feed_rows(&rows, &mut |outcome| told.push(Told::of(&outcome))).unwrap();
}

/// An outcome that outlives its call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Told {
    key: String,
    name: String,
    holds: bool,
    time: Option<Time>,
    overdue: bool,
}

impl Told {
    fn of(outcome: &tracewise::live::Outcome<'_>) -> Self {
        Told {
            key: outcome.key.unwrap_or_default().into(),
            name: outcome.name.into(),
            holds: outcome.verdict == Verdict::Satisfied,
            time: outcome.time,
            overdue: outcome.overdue,
        }
    }
}

fn plan(text: &str, semantics: Semantics) -> Plan {
    let spec =
        Specification::from_text("s.tw", text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let options = PlanOptions { semantics, ..PlanOptions::default() };
    Plan::new(&spec, &options).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// What each property (whether it holds) and query of each key is worth in the end.
type Worth = BTreeMap<(String, String), Value>;

fn end(shard: &mut ShardMonitor) -> Worth {
    let mut worth = Worth::new();
    shard
        .finish(&mut |end| {
            let value = match end.known {
                Known::Truth(holds) => Value::Bool(holds),
                Known::Value(Computed::Value(value)) => value,
                other => panic!("{other:?}"),
            };
            worth.insert((end.name.into(), end.key.unwrap_or_default().into()), value);
        })
        .unwrap();
    worth
}

/// The same, of the stored log.
fn stored(text: &str, file: &str, users: &BTreeSet<String>) -> Worth {
    let spec = Specification::from_text("s.tw", text).unwrap();
    let options = CheckOptions {
        by: Some("user".into()),
        violations: usize::MAX,
        explain: false,
        ..CheckOptions::default()
    };
    let mut worth = Worth::new();
    for property in Session::new().check(&spec, &[file.to_string()], &options).unwrap().properties {
        let failing: BTreeSet<String> =
            property.violations.iter().map(|violation| violation.bindings[0].1.to_string()).collect();
        for user in users {
            let holds = Value::Bool(!failing.contains(user));
            worth.insert((property.name.clone(), user.clone()), holds);
        }
    }
    let options = QueryOptions { by: Some("user".into()), ..QueryOptions::default() };
    for query in Session::new().query(&spec, &[file.to_string()], &options).unwrap().queries {
        for group in query.groups {
            worth.insert((query.name.clone(), group.key.unwrap().to_string()), group.value);
        }
    }
    worth
}

#[test]
fn shards_on_threads_agree_with_the_stored_log() {
    for (number, text) in SPECIFICATIONS.iter().enumerate() {
        let plan = plan(text, Semantics::Finite);
        for seed in 0..6 {
            let log = log(seed, 400, 3 + 7 * seed as usize);
            let users: BTreeSet<String> = log.iter().filter_map(|line| line.user.clone()).collect();
            let file = file(&format!("{number}-{seed}"), &log);
            let shards = 1 + seed as usize % 4;
            let mut found = Worth::new();
            std::thread::scope(|scope| {
                let shard = |shard: usize| {
                    let (plan, log) = (plan.clone(), &log);
                    scope.spawn(move || {
                        let mine = |line: &&Line| match &line.user {
                            Some(user) => user.bytes().map(usize::from).sum::<usize>() % shards == shard,
                            // Nobody's positions may go anywhere: time passes with them.
                            None => true,
                        };
                        let lines: Vec<Line> = log.iter().filter(mine).cloned().collect();
                        let mut rng = Rng::new(seed ^ shard as u64);
                        let mut monitor = ShardMonitor::new(&plan, Some("user")).unwrap();
                        let mut rest = &lines[..];
                        while !rest.is_empty() {
                            let (now, later) = rest.split_at((1 + rng.below(60)).min(rest.len()));
                            feed(&mut monitor, now, &mut Vec::new());
                            rest = later;
                            if rng.one_in(3) {
                                let saved = monitor.snapshot();
                                monitor = ShardMonitor::new(&plan, Some("user")).unwrap();
                                let restored = monitor.restore(&saved).unwrap();
                                assert_eq!(restored.kept.len(), plan.properties().len());
                                assert!(restored.anew.is_empty() && restored.dropped.is_empty());
                            }
                        }
                        end(&mut monitor)
                    })
                };
                let running: Vec<_> = (0..shards).map(shard).collect();
                running.into_iter().for_each(|shard| found.extend(shard.join().unwrap()));
            });
            assert_eq!(found, stored(text, &file, &users), "specification {number}, seed {seed}");
            std::fs::remove_file(file).unwrap();
        }
    }
}

#[test]
fn time_passes_for_every_key() {
    let mut overdue = 0;
    for (text, seed) in SPECIFICATIONS.iter().flat_map(|text| (0..8).map(move |seed| (text, seed))) {
        let plan = plan(text, Semantics::Ltl3);
        let log = log(seed, 200, 8);
        let mut shard = ShardMonitor::new(&plan, Some("user")).unwrap();
        let mut together = Vec::new();
        let mut rng = Rng::new(seed);
        let mut rest = &log[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at((1 + rng.below(30)).min(rest.len()));
            feed(&mut shard, now, &mut together);
            rest = later;
        }
        let last = log[log.len() - 1].time + 7 * SECOND;
        shard.watermark(last, &mut |outcome| together.push(Told::of(&outcome))).unwrap();
        let users: BTreeSet<&String> = log.iter().filter_map(|line| line.user.as_ref()).collect();
        let mut alone = Vec::new();
        for user in users {
            // The key's own trace, and the time of the log.
            let mut own = ShardMonitor::new(&plan, Some("user")).unwrap();
            for line in &log {
                if line.user.as_ref() == Some(user) {
                    feed(&mut own, std::slice::from_ref(line), &mut alone);
                } else {
                    own.watermark(line.time, &mut |outcome| alone.push(Told::of(&outcome))).unwrap();
                }
            }
            own.watermark(last, &mut |outcome| alone.push(Told::of(&outcome))).unwrap();
        }
        overdue += together.iter().filter(|told| told.overdue).count();
        together.sort();
        alone.sort();
        assert_eq!(together, alone, "seed {seed}: {text}");
    }
    assert!(overdue > 50, "{overdue}");
}

#[test]
fn keys_cost_little() {
    const KEYS: usize = 100_000;
    let bytes = |text: &str, event: &'static str| {
        let mut shard = ShardMonitor::new(&plan(text, Semantics::Ltl3), Some("user")).unwrap();
        let mut before = 0;
        for from in (0..KEYS + 1000).step_by(1000) {
            let line = |key| Line { time: 0, event, user: Some(format!("{key:06}")), x: 0 };
            feed(&mut shard, &(from..from + 1000).map(line).collect::<Vec<_>>(), &mut Vec::new());
            if from == 0 {
                before = shard.heap_bytes();
            }
        }
        assert_eq!(shard.keys(), KEYS + 1000);
        (shard.heap_bytes() - before) / KEYS
    };
    let ten: String = (0..10).map(|at| format!("property p{at} : G (order -> F pay{at});")).collect();
    let open = bytes("property p : G (order -> F pay);", "order");
    let many = bytes(&ten, "order");
    let settled = bytes("property p : G !order;", "order");
    let timed = bytes("property p : G (order -> F[0,5s] pay);", "order");
    println!(
        "bytes per key: {open} open, {many} with ten properties, {settled} settled, {timed} with a deadline"
    );
    // Texts of six bytes, and the room that vectors have to spare.
    assert!(open <= 90, "{open} bytes for a key and an open property");
    assert!(many <= 10 * 64, "{many} bytes for a key and ten open properties");
    assert!(settled <= 45, "{settled} bytes for a key whose property is settled");
    assert!(timed <= 1_400, "{timed} bytes for a key that waits for a deadline");
}

#[test]
fn a_changed_specification_keeps_what_it_can() {
    let before = plan(
        "property a : G (order -> F[0,3s] pay);
         property b : G (x in {1, 2});
         property c : F ship;
         query n : count[order];",
        Semantics::Ltl3,
    );
    let line =
        |time: Time, event, user: &str| Line { time: time * SECOND, event, user: Some(user.into()), x: 1 };
    let mut shard = ShardMonitor::new(&before, Some("user")).unwrap();
    feed(
        &mut shard,
        &[line(1, "order", "ann"), line(2, "ship", "bob"), line(2, "order", "bob")],
        &mut Vec::new(),
    );
    let saved = shard.snapshot();
    // Renamed and moved, with another set, without one and with one more.
    let after = plan(
        "property ships : F ship;
         query orders : count[order];
         property b : G (x in {7, 8});
         property late : G (order -> F[0,3s] pay);
         property more : G !cancel;",
        Semantics::Ltl3,
    );
    let mut shard = ShardMonitor::new(&after, Some("user")).unwrap();
    let restored = shard.restore(&saved).unwrap();
    assert_eq!((restored.kept, restored.anew), (vec![0, 1, 3], vec![2, 4]));
    assert_eq!(restored.dropped, ["b"]);
    let mut told = Vec::new();
    feed(&mut shard, &[line(9, "order", "ann")], &mut told);
    // Both deadlines were missed; the new set is violated by what came after it alone.
    let told: Vec<(&str, &str)> = told.iter().map(|told| (told.key.as_str(), told.name.as_str())).collect();
    assert_eq!(told, [("ann", "late"), ("bob", "late"), ("ann", "b")]);
    let worth = end(&mut shard);
    let of = |name: &str, key: &str| worth.get(&(name.to_string(), key.to_string())).cloned();
    assert_eq!(of("orders", "ann"), Some(Value::Int(2)));
    assert_eq!(of("ships", "bob"), Some(Value::Bool(true)));
    assert_eq!(of("b", "bob"), None);

    // Another way to read the end or the clock is another meaning; damage is seen.
    let finite = plan("property a : G (order -> F[0,3s] pay);", Semantics::Finite);
    assert!(ShardMonitor::new(&finite, Some("user")).unwrap().restore(&saved).is_err());
    assert!(ShardMonitor::new(&after, Some("host")).unwrap().restore(&saved).is_err());
    for at in 0..saved.len() {
        let mut damaged = saved.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(shard.restore(&damaged).is_err() && shard.restore(&saved[..at]).is_err());
    }
    assert_eq!((shard.positions(), shard.keys()), (0, 0));
}

#[test]
fn keys_are_found_in_nested_data() {
    let plan = plan("property p : G (login -> F[0,1s] logout); query n : count[login];", Semantics::Ltl3);
    let mut shard = ShardMonitor::new(&plan, Some("user.id")).unwrap();
    let user = |id: Value| Value::Object(vec![("id".into(), id)]);
    let ids = [Value::Int(7), Value::Null, Value::Str("7".into()), Value::Str("".into()), Value::Int(8)];
    let values: Vec<_> = ids.map(|id| vec![("user", user(id))]).into();
    let row = |values| Row { time: Some(0), event: Some("login"), values };
    let rows: Vec<Row<'_>> = values.iter().map(|values| row(values.as_slice())).collect();
    shard.feed_rows(&rows, &mut |_| panic!("nothing is settled")).unwrap();
    // A number and its text are one key; where it is null or empty, there is none.
    assert_eq!((shard.keys(), shard.positions()), (2, 5));
    let mut late = Vec::new();
    shard.watermark(SECOND + 1, &mut |outcome| late.push(outcome.key.unwrap().to_string())).unwrap();
    late.sort();
    assert_eq!(late, ["7", "8"]);
    assert_eq!(end(&mut shard)[&("n".to_string(), "7".to_string())], Value::Int(2));
}

#[test]
fn columns_are_as_good_as_rows() {
    fn shared<T: Send + Sync + Clone>(plan: T) -> T {
        plan
    }
    let plan = shared(plan(SPECIFICATIONS[0], Semantics::Ltl3));
    let log = log(3, 300, 9);
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    let mut by_rows = ShardMonitor::new(&plan, Some("user")).unwrap();
    feed(&mut by_rows, &log, &mut rows);
    let mut by_columns = ShardMonitor::new(&plan, Some("user")).unwrap();
    for part in log.chunks(70) {
        let column = |slot: &tracewise::live::Slot| match tw_trace::describe(&slot.what).as_str() {
            "x" => Column::of_values(part.iter().map(|line| Value::Int(line.x)).collect()),
            "user" => Column::of_values(part.iter().map(|line| values(line).remove(0).1).collect()),
            event => Column::Truth(part.iter().map(|line| line.event == event).collect()),
        };
        let slots = by_columns.slots().iter().map(column).collect();
        let times = Some(part.iter().map(|line| line.time).collect());
        let batch = Batch { len: part.len(), slots, times };
        by_columns.feed(&batch, &mut |outcome| columns.push(Told::of(&outcome))).unwrap();
    }
    assert!(rows.len() > 5);
    assert_eq!(rows, columns);
    assert_eq!(end(&mut by_rows), end(&mut by_columns));
    let short = Batch { len: 1, slots: Vec::new(), times: Some(vec![0]) };
    assert!(by_columns.feed(&short, &mut |_| {}).is_err());
}

#[test]
fn each_violation_is_told() {
    let text = "property calm : G !cancel; property quick : G (order -> F[0,3s] pay); query n : count[pay];";
    let spec = Specification::from_text("s.tw", text).unwrap();
    let options = PlanOptions { telling: Telling::Violations, ..PlanOptions::default() };
    let plan = Plan::new(&spec, &options).unwrap();
    let log = log(5, 300, 6);
    let mut shard = ShardMonitor::new(&plan, Some("user")).unwrap();
    // Of each key, the positions that violate a property: each is told by itself, since each is settled by itself.
    let mut told: BTreeMap<(String, String), BTreeSet<usize>> = BTreeMap::new();
    for part in log.chunks(41) {
        let mut resumed = ShardMonitor::new(&plan, Some("user")).unwrap();
        resumed.restore(&shard.snapshot()).unwrap();
        shard = resumed;
        let values: Vec<_> = part.iter().map(values).collect();
        let mut rows = Vec::new();
        for (line, values) in part.iter().zip(&values) {
            rows.push(Row { time: Some(line.time), event: Some(line.event), values });
        }
        let mut note = |outcome: tracewise::live::Outcome<'_>| {
            if let Some(about) = outcome.about {
                assert_eq!((outcome.verdict, outcome.count), (Verdict::Violated, 1));
                let key = (outcome.name.to_string(), outcome.key.unwrap().to_string());
                assert!(told.entry(key).or_default().insert(about), "told twice");
            }
        };
        shard.feed_rows(&rows, &mut note).unwrap();
    }
    shard
        .finish(&mut |end| {
            let key = (end.name.to_string(), end.key.unwrap().to_string());
            assert!(
                end.violations
                    .iter()
                    .all(|&(at, count)| { count == 1 && told.entry(key.clone()).or_default().insert(at) })
            );
        })
        .unwrap();
    let mut expected: BTreeMap<(String, String), BTreeSet<usize>> = BTreeMap::new();
    let users: BTreeSet<&String> = log.iter().filter_map(|line| line.user.as_ref()).collect();
    for user in users {
        let own = || log.iter().enumerate().filter(|(_, line)| line.user.as_ref() == Some(user));
        for (at, line) in own() {
            let within = |next: &Line| next.event == "pay" && next.time <= line.time + 3 * SECOND;
            let paid = || own().any(|(later, next)| later >= at && within(next));
            let name = match line.event {
                "cancel" => "calm",
                "order" if !paid() => "quick",
                _ => continue,
            };
            expected.entry((name.to_string(), user.clone())).or_default().insert(at);
        }
    }
    told.retain(|_, positions| !positions.is_empty());
    assert_eq!(told, expected);
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |text: &str| {
        let spec = Specification::from_text("s.tw", text).unwrap();
        Plan::new(&spec, &PlanOptions::default()).err().map(|error| error.render(false)).unwrap_or_default()
    };
    assert!(refused("query q : count[a] every 1m;").contains("divides the trace"));
    assert_eq!(refused("property p : G a; property q : forall u. G (open(u) -> F shut(u));"), "");
    let plan = plan("property p : G (a -> F[0,1s] b);", Semantics::Ltl3);
    let planned = &plan.properties()[0];
    assert_eq!((planned.engine, planned.timed, planned.query), ("metric", true, false));
    assert!(planned.reason.contains("automaton refuses"), "{}", planned.reason);
    let mut shard = ShardMonitor::new(&plan, None).unwrap();
    let row = |time| [Row { time, event: Some("a"), values: &[] }];
    assert!(shard.feed_rows(&row(None), &mut |_| {}).is_err());
    shard.feed_rows(&row(Some(5)), &mut |_| {}).unwrap();
    assert!(shard.feed_rows(&row(Some(4)), &mut |_| {}).is_err());
    shard.watermark(9, &mut |_| {}).unwrap();
    assert!(shard.feed_rows(&row(Some(8)), &mut |_| {}).is_err());
    shard.feed_rows(&row(Some(9)), &mut |_| {}).unwrap();
    assert_eq!((shard.positions(), shard.keys()), (2, 1));
}

/// A million keys whose traces end leave nothing behind.
#[test]
fn what_has_ended_is_forgotten() {
    const KEYS: usize = 1_000_000;
    let text = "property paid : F pay; property over : G !ship;";
    let spec = Specification::from_text("s.tw", text).unwrap();
    let plan = Plan::new(&spec, &PlanOptions::default()).unwrap();
    let ending = Ending { until: Some(1), idle: None };
    let mut shard = ShardMonitor::new(&plan, Some("user")).unwrap().ending(ending);
    let (mut told, mut most) = (0, 0);
    for start in (0..KEYS).step_by(5_000) {
        let users: Vec<Value> = (start..start + 5_000).map(|key| Value::text(&format!("u{key}"))).collect();
        let values: Vec<[(&str, Value); 1]> = users.into_iter().map(|user| [("user", user)]).collect();
        let rows: Vec<Row<'_>> =
            values.iter().map(|values| Row { time: None, event: Some("ship"), values }).collect();
        let count = &mut told;
        shard
            .feed_rows(&rows, &mut |outcome| {
                assert_eq!((outcome.property, outcome.ended), (0, Some(Ended::Until)));
                *count += usize::from(outcome.verdict == Verdict::Violated);
            })
            .unwrap();
        assert_eq!(shard.keys(), 0);
        most = shard.heap_bytes().max(most);
    }
    assert_eq!(told, KEYS);
    assert!(most < 4_000_000, "{most} bytes");
    // One that has ended begins anew.
    let mut verdicts = Vec::new();
    let user = [("user", Value::text("again"))];
    for event in ["pay", "ship", "order", "ship"] {
        let row = Row { time: None, event: Some(event), values: &user };
        shard.feed_rows(&[row], &mut |outcome| verdicts.push((outcome.verdict, outcome.ended))).unwrap();
    }
    assert_eq!(verdicts, [(Verdict::Satisfied, None), (Verdict::Violated, Some(Ended::Until))]);
}
