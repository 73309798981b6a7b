//! The examples and policies of Basin, Caronni, Ereth, Harvan, Klaedtke and Mantel, "Scalable Offline Monitoring" (RV 2014), with
//! what is known of their violations; and its theorems about slices and empty time points, for the policies that have them.

use tw_core::{TimeUnit, Value};
use tw_engine_reference::Reference;
use tw_engine_relational::Relational;
use tw_ir::Clock;
use tw_monitor::{Answer, Engine, EvaluateOptions};
use tw_testkit::first_order::Log;
use tw_testkit::{Rng, cases, texts};

const MINUTE: i64 = 60_000_000_000;

fn answer(engine: &dyn Engine, formula: &str, log: &Log) -> (Vec<String>, Answer) {
    let program = texts::specification(&format!("property a : {formula};"));
    let options =
        EvaluateOptions { clock: Clock::Stamps, unit: TimeUnit::Nanoseconds, ..EvaluateOptions::default() };
    let trace = log.trace(&program).unwrap();
    let answer = engine.plan(&program, &options).unwrap().evaluate(&trace, usize::MAX).unwrap().remove(0);
    let told = answer.violations.iter().zip(&answer.bindings).map(|(at, bindings)| {
        let pair = |(variable, value): &(u32, Value)| {
            format!(" {}={value}", program.dag.variables[*variable as usize])
        };
        format!("{at}{}", bindings.pairs().iter().map(pair).collect::<String>())
    });
    (told.collect(), answer.clone())
}

/// The violations, by the engine and by the definition.
fn violations(formula: &str, log: &Log) -> Vec<String> {
    let (found, answer) = answer(&Relational, formula, log);
    let (defined, _) = self::answer(&Reference, formula, log);
    assert_eq!(found, defined, "{formula}\n{log}");
    assert_eq!(answer.holds.get(0), found.is_empty(), "{formula}\n{log}");
    found
}

fn check(formula: &str, log: &str, expected: &[&str]) {
    assert_eq!(violations(formula, &Log::from_text(log)), expected, "{formula}\n{log}");
}

/// Times in minutes.
fn check_minutes(formula: &str, log: &str, expected: &[&str]) {
    let mut log = Log::from_text(log);
    log.times.iter_mut().for_each(|time| *time *= MINUTE);
    assert_eq!(violations(formula, &log), expected, "{formula}\n{log}");
}

/// Example 8: the slices of one point for the values of c and of s, whole and with a notification missing.
#[test]
fn example_8_slices_lose_and_invent_nothing() {
    let formula = "G forall c, s. ssh_login(c, s) -> F[0,6) notify(0, s)";
    let (first, second) = ("@0 ssh_login(1,1) ssh_login(1,2)", "@0 ssh_login(3,3) ssh_login(4,4)");
    let whole = "@0 ssh_login(1,1) ssh_login(1,2) ssh_login(3,3) ssh_login(4,4)";
    let all = "notify(0,1) notify(0,2) notify(0,3) notify(0,4)";
    check(formula, &format!("{whole} {all}"), &[]);
    // By c, notifications are in every slice; by s, each is in its own.
    for (logins, notified) in [(first, all), (second, all)] {
        check(formula, &format!("{logins} {notified}"), &[]);
    }
    check(formula, &format!("{first} notify(0,1) notify(0,2)"), &[]);
    check(formula, &format!("{second} notify(0,3) notify(0,4)"), &[]);
    let some = "notify(0,1) notify(0,2) notify(0,3) notify(1,4)";
    check(formula, &format!("{whole} {some}"), &["0 c=4 s=4"]);
    check(formula, &format!("{first} {some}"), &[]);
    check(formula, &format!("{second} {some}"), &["0 c=4 s=4"]);
    check(formula, &format!("{second} notify(0,3)"), &["0 c=4 s=4"]);
}

/// P0, in hours: sessions last less than 25.
#[test]
fn sessions_end_within_a_day() {
    let formula = "G forall c, s. ssh_login(c, s) -> F[0,25) ssh_logout(c, s)";
    check(formula, "@0 ssh_login(\"h\",1) @24 ssh_logout(\"h\",1)", &[]);
    check(formula, "@0 ssh_login(\"h\",2) @25 ssh_logout(\"h\",2)", &["0 c=h s=2"]);
    // The form of a violation: bindings that make it true are those that make its negation false.
    let violation = "G forall c, s. !(ssh_login(c, s) & !F[0,25) ssh_logout(c, s))";
    check(violation, "@0 ssh_login(\"h\",2) @25 ssh_logout(\"h\",2)", &["0 c=h s=2"]);
    // Example 11: what decides about a login lies within 24 hours after it, and nothing else does.
    let near = "@0 ssh_login(1,1) @3 ssh_login(2,2) @24 ssh_logout(1,1) @27 ssh_logout(2,2)";
    check(formula, near, &[]);
    check(formula, "@3 ssh_login(2,2) @24 ssh_logout(1,1) @27 ssh_logout(2,2)", &[]);
    check(formula, "@3 ssh_login(2,2) @24 ssh_logout(1,1)", &["0 c=2 s=2"]);
}

/// A slice says nothing of values outside its remit.
#[test]
fn restrictions_are_checked_after_slicing() {
    let formula = "G forall x. !(r(x) & !s(x) & exists y. r(y) & big(y))";
    check(formula, "@0 r(1) r(2) s(2) big(1)", &["0 x=1"]);
    check(formula, "@0 r(1) r(2) big(1)", &["0 x=1", "0 x=2"]);
}

#[test]
fn empty_time_points_can_matter() {
    let formula = "G forall x. p(x) -> O[0,1) !q(x)";
    check(formula, "@5 @5 p(1) q(1)", &[]);
    check(formula, "@5 p(1) q(1)", &["0 x=1"]);
}

/// The example of MonPoly's documentation.
#[test]
fn reports_are_approved_within_a_week() {
    let formula = "G forall r. publish(r) -> O[0,7d] approve(r)";
    let second = 1_000_000_000;
    let log = format!(
        "@{} approve(152) @{} approve(163) publish(160) @{} approve(187) publish(163) publish(152)",
        1_307_532_861 * second,
        1_307_955_600 * second,
        1_308_477_599i64 * second
    );
    check(formula, &log, &["1 r=160", "2 r=152"]);
}

const P1: &str = "G forall c, t. auth(c, t) -> 1000 < t";
const P2: &str = "G forall c, t. auth(c, t) -> O[0,3d] F[0,0] upd_success(c)";
const P3: &str = "G forall c, s. ssh_login(c, s) & (F[1m,20m] net(c)) & (G[0,1d] H[0,0] (net(c) -> F[1m,20m] net(c))) \
                  -> F[0,1d] O[0,0] ssh_logout(c, s)";
const P4: &str = "G forall c. net(c) & (F[10m,20m] net(c)) & (O[1d,2d] alive(c)) & !(O[0,3d] F[0,0] upd_success(c)) \
                  -> F[0,20m] O[0,0] upd_connect(c)";
const P5: &str = "G forall c. upd_connect(c) & (F[5m,20m] alive(c)) \
                  -> F[0,30m] O[0,0] (upd_success(c) | upd_skip(c))";
const P6: &str = "G forall c. upd_skip(c) -> O[0,1d] F[0,0] upd_success(c)";

/// The policies of Table 1, each kept and broken.
#[test]
fn the_policies_of_table_1() {
    check(P1, "@0 auth(7,1000) auth(8,1001)", &["0 c=7 t=1000"]);
    // The update may come at the same time, in a later point.
    check_minutes(P2, "@0 auth(1,5) @0 upd_success(1)", &[]);
    check_minutes(
        P2,
        "@0 upd_success(1) @4320 auth(1,5) auth(2,5) @4321 auth(1,6)",
        &["1 c=2 t=5", "2 c=1 t=6"],
    );
    // Connected for the whole day (once a day is over, nothing is asked of what is net then), and no logout.
    let online: String = (0..=73).map(|k| format!(" @{} net(1)", 20 * k)).collect();
    let day = |login: &str, logout: &str| format!("@0 {login}{online} @1461 {logout}");
    check_minutes(P3, &day("ssh_login(1,9)", "net(2)"), &["0 c=1 s=9"]);
    check_minutes(P3, &day("ssh_login(1,9) ssh_logout(1,9)", "net(2)"), &[]);
    check_minutes(P3, &day("ssh_login(2,9)", "net(2)"), &[]);
    // Offline within the day: excused.
    check_minutes(P3, "@0 ssh_login(1,9) net(1) @10 net(1) @40 net(1)", &[]);
    let connected = "@0 alive(1) @1500 net(1) net(2) @1510 net(1) net(2)";
    check_minutes(P4, &format!("{connected} @1600 net(1)"), &["1 c=1"]);
    check_minutes(P4, &format!("{connected} @1520 upd_connect(1)"), &[]);
    check_minutes(P4, &format!("{connected} @1521 upd_connect(1)"), &["1 c=1"]);
    check_minutes(P4, &format!("@0 upd_success(1) {connected} @1600 net(1)"), &[]);
    check_minutes(
        P5,
        "@0 upd_connect(1) upd_connect(2) @5 alive(1) @30 upd_skip(2) @31 upd_success(1)",
        &["0 c=1"],
    );
    check_minutes(P5, "@0 upd_connect(1) @5 alive(1) @30 upd_success(1)", &[]);
    check_minutes(P6, "@0 upd_success(1) upd_success(2) @1440 upd_skip(1) @1441 upd_skip(2)", &["2 c=2"]);
}

fn event(rng: &mut Rng) -> (String, Vec<Value>) {
    let (name, second) = rng.pick(&[
        ("alive", false),
        ("net", false),
        ("auth", true),
        ("upd_connect", false),
        ("upd_success", false),
        ("upd_skip", false),
        ("ssh_login", true),
        ("ssh_logout", true),
    ]);
    let mut arguments = vec![Value::Int(rng.below(4) as i64)];
    arguments.extend(second.then(|| Value::Int(999 + rng.below(3) as i64)));
    (name.to_owned(), arguments)
}

/// A log of the policies' events; some time points are empty.
fn random(rng: &mut Rng) -> Log {
    let mut log = Log::default();
    let mut now = 0;
    for _ in 0..4 + rng.below(12) {
        now += rng.pick(&[0, 0, 1, 5, 10, 20, 30, 1440]) * MINUTE;
        log.times.push(now);
        log.events.push((0..rng.pick(&[0, 0, 1, 2, 4])).map(|_| event(rng)).collect());
    }
    log
}

/// The same for a computer that was there the day before and is online for a whole day now, which two of the policies ask for.
fn day(rng: &mut Rng) -> Log {
    let mut log = Log::from_text("@0 alive(0)");
    for k in 0..=75 {
        for online in [false, true] {
            log.times.push((1500 + 20 * k) * MINUTE);
            let mut events: Vec<_> = (0..usize::from(rng.one_in(16))).map(|_| event(rng)).collect();
            if online {
                events.push(("net".to_owned(), vec![Value::Int(0)]));
            }
            log.events.push(events);
        }
    }
    log.events[1].push(("ssh_login".to_owned(), vec![Value::Int(0), Value::Int(999)]));
    log
}

/// Violations by time and values, in which positions of slices and of filtered logs agree.
fn by_time(formula: &str, log: &Log) -> Vec<(i64, String)> {
    let place = |told: &String| {
        let (at, values) = told.split_once(' ').unwrap();
        (log.times[at.parse::<usize>().unwrap()], values.to_owned())
    };
    let mut found: Vec<_> = violations(formula, log).iter().map(place).collect();
    found.sort();
    found.dedup();
    found
}

/// All events of a policy name the computer, so that slices by computer share nothing; and all policies are such that empty time
/// points may be left out.
#[test]
fn slices_and_filtered_logs_have_the_same_violations() {
    let mut found = [0; 6];
    for seed in 0..cases(200).min(2_000) {
        let rng = &mut Rng::new(seed);
        let log = if rng.one_in(20) { day(rng) } else { random(rng) };
        for (count, formula) in found.iter_mut().zip([P1, P2, P3, P4, P5, P6]) {
            let whole = by_time(formula, &log);
            *count += whole.len();
            let mut sliced: Vec<(i64, String)> = Vec::new();
            for slice in 0..2 {
                let mut part = log.clone();
                let own =
                    |event: &(String, Vec<Value>)| matches!(event.1[0], Value::Int(c) if c % 2 == slice);
                part.events.iter_mut().for_each(|events| events.retain(own));
                sliced.extend(by_time(formula, &part));
            }
            sliced.sort();
            assert_eq!(sliced, whole, "{formula}\n{log}");
            let kept: Vec<usize> = (0..log.times.len()).filter(|&at| !log.events[at].is_empty()).collect();
            if !kept.is_empty() {
                let filtered = Log {
                    times: kept.iter().map(|&at| log.times[at]).collect(),
                    events: kept.iter().map(|&at| log.events[at].clone()).collect(),
                    ..Log::default()
                };
                assert_eq!(by_time(formula, &filtered), whole, "{formula}\n{log}");
            }
        }
    }
    assert!(found.iter().all(|count| *count > 0), "{found:?}");
}
