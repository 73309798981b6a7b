//! The cases that the rules were made for. A program is written as a line of `thread:action:object` words.

use tw_races::{Access, Action, Analysis, Limits, OddityKind, Place, Report};

fn accesses(program: &str) -> Vec<Access<'_>> {
    let access = |word| {
        let [thread, action, object] = str::split(word, ':').collect::<Vec<_>>()[..] else {
            panic!("{word}")
        };
        let action = match action {
            "l" => Action::Lock,
            "u" => Action::Unlock,
            "r" => Action::Read,
            "w" => Action::Write,
            "fork" => Action::Fork,
            "join" => Action::Join,
            other => panic!("{other}"),
        };
        Access { thread, action, object }
    };
    program.split_whitespace().map(access).collect()
}

fn run_within(program: &str, limits: Limits) -> Report {
    let mut analysis = Analysis::new().limits(limits);
    for (position, access) in (0..).zip(accesses(program)) {
        analysis.event(&access, Place { position, line: position + 1 }).unwrap();
    }
    analysis.finish()
}

fn run(program: &str) -> Report {
    run_within(program, Limits::default())
}

/// Each cycle as `thread:held>wanted` steps.
fn cycles(report: &Report) -> Vec<String> {
    let turn = |turn: &tw_races::Turn| format!("{}:{}>{}", turn.thread, turn.holds, turn.wants);
    report.deadlocks.iter().map(|d| d.turns.iter().map(turn).collect::<Vec<_>>().join(" ")).collect()
}

/// Each race as `variable: thread(locks)r@line thread(locks)w@line`, the earlier access first.
fn races(report: &Report) -> Vec<String> {
    let usage = |usage: &tw_races::Use| {
        let kind = if usage.write { "w" } else { "r" };
        format!("{}({}){kind}@{}", usage.thread, usage.locks.join("+"), usage.at.line)
    };
    report
        .races
        .iter()
        .map(|r| format!("{}: {} {}", r.variable, usage(&r.earlier), usage(&r.access)))
        .collect()
}

#[test]
fn lock_orders() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("opposite orders", "1:l:a 1:l:b 1:u:b 1:u:a 2:l:b 2:l:a 2:u:a 2:u:b", &["1:a>b 2:b>a"]),
        ("the same order", "1:l:a 1:l:b 1:u:b 1:u:a 2:l:a 2:l:b 2:u:b 2:u:a", &[]),
        ("one thread alone", "1:l:a 1:l:b 1:u:b 1:u:a 1:l:b 1:l:a 1:u:a 1:u:b", &[]),
        (
            "a gate lock lets one in at a time",
            "1:l:g 1:l:a 1:l:b 1:u:b 1:u:a 1:u:g 2:l:g 2:l:b 2:l:a 2:u:a 2:u:b 2:u:g",
            &[],
        ),
        (
            "a gate that only one of them passes",
            "1:l:g 1:l:a 1:l:b 1:u:b 1:u:a 1:u:g 2:l:b 2:l:a 2:u:a 2:u:b",
            &["1:a>b 2:b>a"],
        ),
        (
            "a gate given back too early",
            "1:l:g 1:l:a 1:u:g 1:l:b 1:u:b 1:u:a 2:l:g 2:l:b 2:u:g 2:l:a 2:u:a 2:u:b",
            &["1:a>b 2:b>a"],
        ),
        (
            "three philosophers",
            "p1:l:f1 p1:l:f2 p1:u:f2 p1:u:f1 p2:l:f2 p2:l:f3 p2:u:f3 p2:u:f2 p3:l:f3 p3:l:f1 p3:u:f1 p3:u:f3",
            &["p1:f1>f2 p2:f2>f3 p3:f3>f1"],
        ),
        (
            "the last philosopher takes the other fork first",
            "p1:l:f1 p1:l:f2 p1:u:f2 p1:u:f1 p2:l:f2 p2:l:f3 p2:u:f3 p2:u:f2 p3:l:f1 p3:l:f3 p3:u:f3 p3:u:f1",
            &[],
        ),
        (
            "two philosophers eat for three: not different threads",
            "p1:l:f1 p1:l:f2 p1:u:f2 p1:u:f1 p2:l:f2 p2:l:f3 p2:u:f3 p2:u:f2 p1:l:f3 p1:l:f1 p1:u:f1 p1:u:f3",
            &[],
        ),
        (
            "getting a held lock again is no order",
            "1:l:a 1:l:b 1:l:a 1:u:a 1:u:b 1:u:a 2:l:a 2:l:b 2:u:b 2:u:a",
            &[],
        ),
        (
            "reentrant: still held after the first unlock",
            "1:l:a 1:l:a 1:u:a 1:l:b 1:u:b 1:u:a 2:l:b 2:l:a",
            &["1:a>b 2:b>a"],
        ),
        (
            "not nested as brackets",
            "1:l:a 1:l:b 1:u:a 1:l:c 1:u:b 1:u:c 2:l:c 2:l:a 2:u:a 2:l:b",
            &["1:b>c 2:c>b"],
        ),
        (
            "once, however often",
            "1:l:a 1:l:b 1:u:b 1:u:a 2:l:b 2:l:a 2:u:a 2:u:b 1:l:a 1:l:b 1:u:b 1:u:a 3:l:b 3:l:a 3:u:a 3:u:b",
            &["1:a>b 2:b>a"],
        ),
        (
            "started after the other order is over",
            "1:l:a 1:l:b 1:u:b 1:u:a 1:fork:2 2:l:b 2:l:a 2:u:a 2:u:b",
            &[],
        ),
        ("started before", "1:fork:2 1:l:a 1:l:b 1:u:b 1:u:a 2:l:b 2:l:a 2:u:a 2:u:b", &["1:a>b 2:b>a"]),
        ("waited for first", "1:fork:2 2:l:b 2:l:a 2:u:a 2:u:b 1:join:2 1:l:a 1:l:b 1:u:b 1:u:a", &[]),
        (
            "siblings, one waited for before the other is started",
            "m:fork:1 1:l:a 1:l:b 1:u:b 1:u:a m:join:1 m:fork:2 2:l:b 2:l:a 2:u:a 2:u:b",
            &[],
        ),
        (
            "the same code before and after the fork",
            "1:l:a 1:l:b 1:u:b 1:u:a 1:fork:2 1:l:a 1:l:b 1:u:b 1:u:a 2:l:b 2:l:a 2:u:a 2:u:b",
            &["1:a>b 2:b>a"],
        ),
    ];
    for (name, program, expected) in cases {
        let report = run(program);
        assert_eq!(cycles(&report), *expected, "{name}");
        assert_eq!(report.search.incomplete, None, "{name}");
    }
}

#[test]
fn lock_sets() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("no lock at all", "1:w:x 2:w:x", &["x: 1()w@1 2()w@2"]),
        ("one thread alone", "1:w:x 1:r:x 1:w:x", &[]),
        ("always the same lock", "1:l:m 1:w:x 1:u:m 2:l:m 2:w:x 2:u:m 1:l:m 1:r:x 1:u:m", &[]),
        ("different locks", "1:l:m 1:w:x 1:u:m 2:l:n 2:w:x 2:u:n 1:l:m 1:w:x 1:u:m", &["x: 2(n)w@5 1(m)w@8"]),
        ("initialised without a lock", "1:w:x 2:l:m 2:w:x 2:u:m 1:l:m 1:w:x 1:u:m", &[]),
        ("initialised, then only read", "1:w:x 2:r:x 3:r:x 1:r:x", &[]),
        ("read by all, then written", "1:w:x 2:r:x 3:r:x 1:w:x", &["x: 3()r@3 1()w@4"]),
        (
            "read under the lock by one, without by the other",
            "1:w:x 2:l:m 2:w:x 2:u:m 3:r:x",
            &["x: 2(m)w@3 3()r@5"],
        ),
        (
            "several locks, one of them always",
            "1:l:m 1:l:n 1:w:x 1:u:n 1:u:m 2:l:n 2:w:x 2:u:n 1:l:n 1:l:k 1:w:x",
            &[],
        ),
        ("two variables", "1:w:x 2:l:m 2:w:y 2:u:m 2:w:x 1:l:m 1:w:y", &["x: 1()w@1 2()w@5"]),
        ("each once", "1:w:x 2:w:x 1:w:x 2:w:x", &["x: 1()w@1 2()w@2"]),
        ("handed to a new thread", "1:w:x 1:fork:2 2:w:x 2:r:x", &[]),
        ("and handed back", "1:w:x 1:fork:2 2:w:x 1:join:2 1:w:x", &[]),
        ("not waited for", "1:w:x 1:fork:2 2:w:x 1:w:x", &["x: 2()w@3 1()w@4"]),
        (
            "workers under a lock, then the sum without",
            "m:fork:1 m:fork:2 1:l:k 1:w:x 1:u:k 2:l:k 2:w:x 2:u:k m:join:1 m:join:2 m:r:x m:w:x",
            &[],
        ),
        (
            "one worker is not waited for",
            "m:fork:1 m:fork:2 1:l:k 1:w:x 1:u:k 2:l:k 2:w:x 2:u:k m:join:1 m:w:x",
            &["x: 2(k)w@7 m()w@10"],
        ),
        (
            "held again is held until the last unlock",
            "1:l:m 1:w:x 1:u:m 2:l:m 2:l:m 2:u:m 2:w:x 2:u:m 1:l:m 1:w:x",
            &[],
        ),
    ];
    for (name, program, expected) in cases {
        assert_eq!(races(&run(program)), *expected, "{name}");
    }
}

#[test]
fn a_finding_tells_what_was_held() {
    let report = run("1:l:g 1:l:a 1:l:b 1:u:b 1:u:a 1:u:g 2:l:b 2:l:a");
    let [first, second] = &report.deadlocks[0].turns[..] else { panic!() };
    assert_eq!((first.held.clone(), first.held_at.line, first.at.line), (vec!["g".into(), "a".into()], 2, 3));
    assert_eq!((second.held.clone(), second.held_at.line, second.at.line), (vec!["b".into()], 7, 8));

    // Neither of the two accesses is the write that makes it matter.
    let report = run("1:r:x 2:l:m 2:w:x 2:u:m 2:r:x");
    let race = &report.races[0];
    assert_eq!(race.protected_by, ["m"]);
    assert_eq!(race.write.as_ref().map(|write| write.at.line), Some(3));
}

/// Any two uses have a lock in common, but not the same one: against the discipline, though no two collide.
#[test]
fn three_locks_taken_two_at_a_time() {
    let under = |thread, one, two| {
        format!("{thread}:l:{one} {thread}:l:{two} {thread}:w:x {thread}:u:{two} {thread}:u:{one} ")
    };
    let program = under(1, "a", "b") + &under(2, "b", "c") + &under(3, "a", "c") + &under(1, "a", "b");
    let report = run(&program);
    assert_eq!(races(&report), ["x: 3(a+c)w@13 1(a+b)w@18"]);
    assert_eq!(report.races[0].protected_by, ["c"]);
}

#[test]
fn oddities() {
    let report = run("1:u:a 1:l:b 2:u:b 2:l:b 1:u:b 2:u:b 2:u:b");
    let kinds: Vec<(&OddityKind, u64)> = report.oddities.iter().map(|o| (&o.kind, o.at.line)).collect();
    let since = Place { position: 1, line: 2 };
    assert_eq!(
        kinds,
        [
            (&OddityKind::NotHeld, 1),
            (&OddityKind::HeldByOther("1".into(), since), 3),
            (&OddityKind::GotWhileHeld("1".into(), since), 4),
            (&OddityKind::NotHeld, 7),
        ]
    );
    let many = run(&"1:u:a ".repeat(1000));
    assert_eq!((many.oddities.len(), many.oddity_count), (100, 1000));
}

#[test]
fn philosophers_at_a_long_table() {
    let program: String = (0..40)
        .map(|i| format!("p{i}:l:f{i} p{i}:l:f{j} p{i}:u:f{j} p{i}:u:f{i} ", j = (i + 1) % 40))
        .collect();
    let report = run(&program);
    assert_eq!((report.deadlocks.len(), report.deadlocks[0].turns.len()), (1, 40));
    assert_eq!(report.search.incomplete, None);
    let report = run_within(&program, Limits { threads: 39, ..Limits::default() });
    assert_eq!(report.deadlocks, []);
    assert!(report.search.incomplete.unwrap().contains("more than 39 threads"));
}

/// Everyone takes any two locks in either order: more cycles than can be listed or counted.
#[test]
fn the_search_ends() {
    let mut program = String::new();
    for thread in 0..12 {
        for a in 0..12 {
            for b in (0..12).filter(|&b| b != a) {
                program += &format!("{thread}:l:{a} {thread}:l:{b} {thread}:u:{b} {thread}:u:{a} ");
            }
        }
    }
    let report = run(&program);
    assert_eq!(report.deadlocks.len(), 100);
    assert!(report.deadlocks.iter().take(66).all(|deadlock| deadlock.turns.len() == 2));
    assert!(report.search.incomplete.unwrap().contains("more than 100 cycles"));
    let limits = Limits { cycles: usize::MAX, steps: 100_000, ..Limits::default() };
    let report = run_within(&program, limits);
    assert!(report.deadlocks.len() >= 66);
    assert!(report.search.incomplete.unwrap().contains("after 100000 steps"));
}

#[test]
fn unlocks_that_never_come_are_a_limit_not_a_crash() {
    let mut analysis = Analysis::new();
    let mut results =
        (0..2000).map(|lock| analysis.event(&Access::lock("1", &lock.to_string()), Place::default()));
    let error = results.find_map(Result::err).unwrap();
    assert!(error.to_string().contains("`unlock` events missing"), "{error}");
}
