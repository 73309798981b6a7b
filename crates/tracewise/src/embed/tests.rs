use crate::check::{CheckOptions, Violation};
use crate::embed::{RowMonitor, Settled};
use crate::{Session, Specification, Value};
use std::fmt::Write;
use tw_testkit::Rng;

fn monitor(text: &str) -> RowMonitor {
    RowMonitor::new(&Specification::from_text("test.tw", text).unwrap()).unwrap()
}

#[test]
fn rows_and_events_agree() {
    let text = r#"
        property limit : G (level <= 10);
        property named : F (user == "bob");
    "#;
    let (mut rows, mut events) = (monitor(text), monitor(text));
    let (level, user) = (rows.slot("level").unwrap(), rows.slot("user").unwrap());
    let mut row = rows.row();
    for (number, name) in [(3, "ann"), (10, "eve"), (4, "bob"), (11, "ann")] {
        row.put(level, Value::Int(number));
        row.put(user, Value::text(name));
        let by_row = rows.push(&row).unwrap().to_vec();
        let fields = [("level", Value::Int(number)), ("user", Value::text(name))];
        assert_eq!(events.event("step", &fields).unwrap(), by_row);
    }
    assert_eq!(rows.verdicts(), [Some(false), Some(true)]);
    assert_eq!(rows.verdicts(), events.verdicts());
}

#[test]
fn verdicts_come_when_they_are_settled() {
    let mut monitor =
        monitor(r#"property answered "every request is answered" : G (req -> F ack); property no : G !bad;"#);
    let [req, ack, bad] = ["req", "ack", "bad"].map(|name| monitor.slot(name).unwrap());
    let mut row = monitor.row();
    row.set(req, true);
    assert!(monitor.push(&row).unwrap().is_empty());
    assert_eq!(monitor.finish(), Some(vec![false, true]));
    assert!(monitor.pending().iter().any(|owed| owed.root == 0 && owed.residual.contains("F ack")));
    row.clear();
    row.set(ack, true);
    monitor.push(&row).unwrap();
    assert_eq!(monitor.finish(), Some(vec![true, true]));
    let saved = monitor.save();
    row.set(bad, true);
    let settled = monitor.push(&row).unwrap().to_vec();
    assert_eq!((settled.len(), settled[0].root, settled[0].at, settled[0].holds()), (1, 1, 2, false));
    assert_eq!(monitor.describe(&settled[0]), "no is violated since position 2: G !bad");
    monitor.restore(&saved).unwrap();
    assert_eq!((monitor.positions(), monitor.verdicts()), (2, vec![None, None]));
}

#[test]
fn what_does_not_fit_is_an_error_and_not_a_verdict() {
    let mut monitor = monitor("property limit : G (level + 1 <= 10);");
    assert!(monitor.slot("levle").unwrap_err().to_string().contains("did you mean `level`"));
    let level = monitor.slot("level").unwrap();
    let mut row = monitor.row();
    row.put(level, Value::text("high"));
    assert!(monitor.push(&row).unwrap_err().to_string().contains("a finite number"));
    row.put(level, Value::Int(i64::MAX));
    assert!(monitor.push(&row).is_err());
    row.put(level, Value::Int(9));
    assert!(monitor.push(&row).unwrap().is_empty());
    assert_eq!(monitor.positions(), 1);
}

#[test]
fn time_passes_with_and_without_events() {
    let second = 1_000_000_000;
    let mut monitor = monitor("property soon : G (req -> F[0,5s] ack); property safe : G !bad;");
    let [req, ack] = ["req", "ack"].map(|name| monitor.slot(name).unwrap());
    let mut row = monitor.row();
    row.set(req, true);
    let error = monitor.push(&row).unwrap_err().to_string();
    assert!(error.contains("push_at"), "{error}");
    assert!(monitor.event("req", &[]).is_err());
    assert!(monitor.push_at(0, &row).unwrap().is_empty());
    row.clear();
    row.set(ack, true);
    assert!(monitor.push_at(5 * second, &row).unwrap().is_empty());
    // Time does not go back.
    assert!(monitor.push_at(4 * second, &row).is_err());
    assert!(monitor.event_at(6 * second, "req", &[]).unwrap().is_empty());
    assert!(monitor.advance(11 * second - 1).unwrap().is_empty());
    let settled = monitor.advance(11 * second).unwrap().to_vec();
    assert_eq!((settled.len(), settled[0].root, settled[0].at, settled[0].holds()), (1, 0, 2, false));
    assert_eq!(monitor.verdicts(), [Some(false), None]);
    assert!(monitor.push_at(11 * second, &row).is_err(), "that time has passed");
    assert!(monitor.push_at(11 * second + 1, &row).is_ok());
}

/// What was told: of which root, about which position, for which values.
type Told = (usize, Option<usize>, Vec<(String, Value)>);

fn told(monitor: &RowMonitor, settled: &[Settled]) -> Vec<Told> {
    settled.iter().map(|one| (one.root, one.about, monitor.bindings(one))).collect()
}

fn bound(name: &str, value: i64) -> Vec<(String, Value)> {
    vec![(name.to_string(), Value::Int(value))]
}

#[test]
fn quantified_properties_tell_each_violation() {
    let mut monitor = monitor(
        "property approved : G forall r. publish(report: r) -> O approve(report: r);\n\
         property calm : G !panic;\n\
         property twice : F exists r. publish(report: r) & X publish(report: r);",
    );
    let report = |number: i64| [("report", Value::Int(number))];
    assert!(monitor.event("approve", &report(1)).unwrap().is_empty());
    assert!(monitor.event("publish", &report(1)).unwrap().is_empty());
    let settled = monitor.event("publish", &report(2)).unwrap().to_vec();
    assert_eq!(told(&monitor, &settled), [(0, Some(2), bound("r", 2))]);
    assert_eq!(
        monitor.describe(&settled[0]),
        "approved is violated at position 2 with r = 2: G forall r. publish(report: r) -> O approve(report: r)"
    );
    let saved = monitor.save();
    // Violated for other values again; what has no variables is settled once, as ever.
    let again = monitor.event("publish", &report(3)).unwrap().to_vec();
    assert_eq!(told(&monitor, &again), [(0, Some(3), bound("r", 3))]);
    let repeated = monitor.event("publish", &report(3)).unwrap().to_vec();
    assert_eq!(told(&monitor, &repeated), [(0, Some(4), bound("r", 3))]);
    let panic = monitor.event("panic", &[]).unwrap().to_vec();
    assert_eq!(told(&monitor, &panic), [(1, None, vec![])]);
    assert!(monitor.event("panic", &[]).unwrap().is_empty());
    assert_eq!(monitor.verdicts()[..2], [Some(false), Some(false)]);
    assert_eq!(monitor.finish(), Some(vec![false, false, true]));
    monitor.restore(&saved).unwrap();
    assert_eq!((monitor.positions(), monitor.verdicts()), (3, vec![Some(false), None, None]));
    let again = monitor.event("publish", &report(1)).unwrap().to_vec();
    assert!(again.is_empty(), "{again:?}");
}

#[test]
fn quantified_deadlines_pass_without_an_event() {
    let mut monitor = monitor("property closed : G forall f. open(file: f) -> F[0,5s] close(file: f);");
    let (second, file) = (1_000_000_000, |number: i64| [("file", Value::Int(number))]);
    monitor.event_at(second, "open", &file(1)).unwrap();
    monitor.event_at(2 * second, "open", &file(2)).unwrap();
    let owed = monitor.pending();
    assert_eq!((owed.len(), owed[0].deadline, owed[1].deadline), (2, Some(6 * second), Some(7 * second)));
    assert_eq!(
        (&*owed[0].residual, &*owed[1].residual),
        ("F[0,5s] close(file: 1)", "F[0,5s] close(file: 2)")
    );
    monitor.event_at(3 * second, "close", &file(2)).unwrap();
    assert!(monitor.advance(6 * second - 1).unwrap().is_empty());
    let settled = monitor.advance(6 * second).unwrap().to_vec();
    assert_eq!(told(&monitor, &settled), [(0, Some(0), bound("f", 1))]);
    assert!(monitor.event("open", &file(3)).unwrap_err().to_string().contains("event_at"));
}

#[test]
fn rows_have_values_of_paths_but_no_arguments_of_events() {
    let mut rows = monitor("property small : G forall x in items[*]. x < 5 | done;");
    let (items, done) = (rows.slot("items[*]").unwrap(), rows.slot("done").unwrap());
    let mut row = rows.row();
    for (list, all, expected) in
        [(vec![1, 2], false, vec![]), (vec![7, 2, 9], false, vec![7, 9]), (vec![8], true, vec![])]
    {
        row.put(items, Value::List(list.into_iter().map(Value::Int).collect()));
        row.set(done, all);
        let settled = rows.push(&row).unwrap().to_vec();
        let found: Vec<_> = settled.iter().map(|one| rows.bindings(one)).collect();
        assert_eq!(found, expected.into_iter().map(|value| bound("x", value)).collect::<Vec<_>>());
    }
    let mut events = monitor("property approved : G forall r. publish(report: r) -> O approve(report: r);");
    let row = events.row();
    let refused = events.push(&row).unwrap_err().to_string();
    assert!(refused.contains("`event` or `event_at`"), "{refused}");
    assert_eq!(events.positions(), 0);
}

/// What is told event by event is what a check of the same log finds.
#[test]
fn the_same_violations_as_from_a_file() {
    const SECOND: i64 = 1_000_000_000;
    let specs = [
        "G forall x. p(x: x) -> O[0,3s] q(x: x)",
        "G forall x, y. p(x: x, y: y) -> F[0,4s] q(x: y)",
        "forall x. G (q(x: x) -> !(exists y. y > x & O p(x: y)))",
        "G forall x in x. p -> count(y : O[0,5s] p(x: x, y: y)) < 2",
        "G (p -> O q)",
    ];
    let text: String = (0..).zip(specs).map(|(k, formula)| format!("property p{k} : {formula};\n")).collect();
    let spec = Specification::from_text("test.tw", &text).unwrap();
    let directory = std::env::temp_dir().join(format!("tracewise-embed-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut all = [0; 5];
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut monitor = Session::new().monitor(&spec).unwrap();
        let (mut lines, mut found, mut now) = (String::new(), Vec::new(), 0);
        let failing =
            |settled: &[Settled]| settled.iter().filter(|one| one.fails()).cloned().collect::<Vec<_>>();
        for _ in 0..12 {
            now += rng.pick(&[0, 1, 1, 2]);
            let (name, x, y) = (rng.pick(&["p", "q"]), rng.below(3) as i64, rng.below(3) as i64);
            writeln!(lines, r#"{{"time": {now}, "event": "{name}", "x": {x}, "y": {y}}}"#).unwrap();
            let arguments = [("x", Value::Int(x)), ("y", Value::Int(y))];
            let settled = failing(monitor.event_at(now * SECOND, name, &arguments).unwrap());
            found.extend(told(&monitor, &settled));
        }
        let settled = failing(monitor.advance((now + 10) * SECOND).unwrap());
        found.extend(told(&monitor, &settled));
        let file = directory.join("log.jsonl").display().to_string();
        std::fs::write(&file, &lines).unwrap();
        let options = CheckOptions { violations: usize::MAX, explain: false, ..CheckOptions::default() };
        let report = Session::new().check(&spec, &[file], &options).unwrap();
        for (root, property) in report.properties.iter().enumerate() {
            let mut live: Vec<_> = found.iter().filter(|(own, ..)| *own == root).cloned().collect();
            live.sort_by_key(|(_, about, _)| *about);
            all[root] += live.len();
            let violation = |one: &Violation| (root, one.position, one.bindings.clone());
            let mut stored: Vec<_> = property.violations.iter().map(violation).collect();
            // Without variables it is the verdict alone.
            if root == 4 {
                stored = if stored.is_empty() { stored } else { vec![(root, None, Vec::new())] };
            }
            assert_eq!(live, stored, "seed {seed}, {}\n{lines}", specs[root]);
        }
    }
    std::fs::remove_dir_all(directory).unwrap();
    assert!(all.iter().all(|count| *count > 10), "{all:?}");
}

#[test]
fn rows_have_streams() {
    let text = r#"
        var x: real; var p: bool; var user: string;
        stream mean: real = 0.5 * mean[-1|0] + 0.5 * x;
        stream run: int = if p then run[-1|0] + 1 else 0;
        stream mine: bool = user == "bob" & run >= 2;
        property calm : G (mean <= 4);
        property short : G !mine;
    "#;
    let (mut rows, mut events) = (monitor(text), monitor(text));
    let [x, p, user] = ["x", "p", "user"].map(|name| rows.slot(name).unwrap());
    let mut row = rows.row();
    let mut found = Vec::new();
    for (number, holds, name) in
        [(4.0, true, "bob"), (5.0, true, "ann"), (1.0, true, "bob"), (9.0, false, "bob")]
    {
        row.put(x, Value::Real(number));
        row.set(p, holds);
        row.put(user, Value::text(name));
        let settled = rows.push(&row).unwrap().to_vec();
        let fields = [("x", Value::Real(number)), ("p", Value::Bool(holds)), ("user", Value::text(name))];
        assert_eq!(events.event("step", &fields).unwrap(), settled);
        found.extend(settled.iter().map(|settled| (settled.root, settled.at)));
    }
    assert_eq!(found, [(1, 2), (0, 3)]);
    assert!(rows.slot("mean").unwrap_err().to_string().contains("is a stream"));
    let ahead =
        Specification::from_text("test.tw", "stream y: bool = x[+1|false]; property p : G y;").unwrap();
    assert!(RowMonitor::new(&ahead).err().unwrap().to_string().contains("look ahead"));
}
