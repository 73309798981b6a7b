//! Examples worked by hand, the paper's queries, errors, refusals, memory.

mod common;

use common::{ABP, MUX, Table, abp, abp_table, mux, mux_table, program, push, values};
use tw_core::Value;
use tw_ir::{Aggregate, Node, Semantics, Temporal};
use tw_monitor::{Computed, EvaluateOptions, QueryEngine};
use tw_query_forward::{Forward, why_not};

fn shown(values: &[Computed]) -> Vec<String> {
    let show = |value: &Computed| match value {
        Computed::Value(value) => value.to_string(),
        Computed::Error(message) => format!("error: {message}"),
    };
    values.iter().map(show).collect()
}

fn check(queries: &[(&str, &str)], table: &Table) {
    for (query, expected) in queries {
        assert_eq!(shown(&values(&[query], table)), [*expected], "{query}");
    }
}

#[test]
fn examples_of_the_paper() {
    let table = Table::default().ints("x", [1, 1, 1, 2, 5, 4]).ints("y", [1, 2, 3, 3, 3, 3]);
    let queries = [
        ("x < y : x", "null"),
        ("x <= y : (x, y)", "[1, 1]"),
        ("(x <= y : x) &{+} ((x <= y : true) U{v => v} (y == x + 2 : y))", "4"),
    ];
    check(&queries, &table);
    let table = Table::default()
        .ints("x", [1, 1, 1, 2, 5, 5])
        .ints("y", [1, 2, 3, 3, 3, 3])
        .ints("z", [2, 2, 1, 1, 1, 2]);
    let queries = [
        ("count[x == y]", "1"),
        ("min[x + y]", "2"),
        ("avg[x + y]", "5.0"),
        ("sum[x while z == 2]", "2"),
        ("max[sum[x while z == 2]]", "5"),
        ("count[x == 9]", "null"),
        ("count[x == 9] ?? 0", "0"),
    ];
    check(&queries, &table);
    let rows = [(1, 0, 6), (1, 1, 3), (1, 1, 1), (1, 0, 0), (1, 1, 4), (0, 1, 0), (1, 1, 2)];
    let table = Table::default()
        .truth("p", rows.map(|row| row.0 == 1))
        .truth("q", rows.map(|row| row.1 == 1))
        .ints("y", rows.map(|row| row.2));
    let program = program(&["min[q : y while p]"]);
    let trace = table.trace(&program);
    let mut evaluator = Forward.plan(&program, &EvaluateOptions::default()).unwrap();
    let columns = evaluator.columns(&trace, &[], &[program.roots[0].node]).unwrap();
    let found: Vec<Computed> = (0..7).map(|at| columns[0].at(at)).collect();
    assert_eq!(shown(&found), ["1", "1", "1", "4", "4", "null", "2"]);
}

#[test]
fn the_semaphore() {
    let first: Vec<_> = mux(20, 1).into_iter().take(9).collect();
    let expected =
        [(0, 0, 1), (1, 0, 1), (1, 1, 1), (2, 1, 1), (3, 1, 0), (4, 1, 0), (4, 2, 0), (1, 2, 1), (2, 2, 1)];
    assert_eq!(first, expected);
    for (len, seed, visits, overtaking) in [
        (20, 1, (3, 1), "1"),
        (100, 1, (13, 11), "2"),
        (1_000, 1, (126, 123), "4"),
        (1_000, 42, (130, 119), "2"),
        (100_000, 1, (12490, 12509), "6"),
    ] {
        let bias = f64::from(visits.0) / f64::from(visits.1);
        let found = shown(&values(&MUX, &mux_table(len, seed)));
        assert_eq!(found, ["1", "1", format!("{bias:?}").as_str(), overtaking], "{len} {seed}");
    }
}

#[test]
fn the_alternating_bit() {
    let first: Vec<String> = abp(30, 20, 1).iter().map(|(l, m)| format!("{l}{m}")).collect();
    let expected =
        "00 10 11 21 22 23 24 21 51 61 71 11 21 22 23 24 21 51 61 71 11 21 22 23 24 21 21 51 71 11";
    assert_eq!(first.join(" "), expected);
    for (len, loss, expected) in [
        (100, 20, ["8", "[11, 9]", "3", "1.375"]),
        (1_000, 0, ["110", "[111, 111]", "1", "1.0"]),
        (1_000, 20, ["66", "[113, 83]", "4", "1.6865671641791045"]),
        (1_000, 50, ["26", "[113, 58]", "21", "4.185185185185185"]),
        (100_000, 20, ["7131", "[11276, 9008]", "9", "1.581043185642176"]),
    ] {
        assert_eq!(shown(&values(&ABP, &abp_table(len, loss, 1))), expected, "{len} {loss}");
    }
}

#[test]
fn errors_count_where_they_are_needed() {
    let table = Table::default()
        .ints("x", [1, i64::MAX, 3, 4])
        .truth("p", [true, false, true, true])
        .truth("q", [true, true, true, true]);
    let queries = [
        ("sum[p : x + 1]", "11"),
        ("sum[p : x]", "8"),
        ("first[q : x]", "1"),
        ("max[count[p : x + 1 while p]]", "2"),
        ("max[x]", "9223372036854775807"),
        ("count[!p : x + 1] ?? 5", "error: 9223372036854775807 + 1 overflows a 64-bit integer"),
        ("sum[q : x]", "error: the sum 9223372036854775815 overflows a 64-bit integer"),
        ("count[q : x] ?? (x + 1)", "4"),
    ];
    for (query, expected) in queries {
        let found = shown(&values(&[query], &table));
        if expected.starts_with("error") {
            assert!(found[0].starts_with("error") && found[0].contains("overflows"), "{query}: {found:?}");
        } else {
            assert_eq!(found, [expected], "{query}");
        }
    }
}

#[test]
fn kinds_that_mix_in_a_stretch() {
    let (int, real) = (Value::Int, Value::Real);
    let table = Table::default()
        .any("x", [int(3), real(3.0), int(1), real(0.5), Value::Null, int(2), real(2.0)])
        .truth("q", [true; 7]);
    let queries = [
        ("max[sum[x while q]]", "11.5"),
        ("min[sum[x while q]]", "2.0"),
        ("sum[sum[x while q]]", "40.0"),
        ("min[max[x while q]]", "2"),
        ("max[min[x while q]]", "2"),
        ("max[max[x while q]]", "3"),
        ("count[max[x while q]]", "7"),
    ];
    check(&queries, &table);
}

/// Whole numbers, then a real: within what is held the stretch is computed again, beyond it is refused.
#[test]
fn a_real_after_many_whole_numbers() {
    let program = program(&["max[sum[x while q]]"]);
    for (len, fits) in [(60_000usize, true), (200_000, false)] {
        let numbers = (0..len).map(|at| if at + 1 == len { Value::Real(0.5) } else { Value::Int(1) });
        let table = Table::default().any("x", numbers).truth("q", vec![true; len]);
        let trace = table.trace(&program);
        let mut evaluator = Forward.plan(&program, &EvaluateOptions::default()).unwrap();
        match evaluator.values(&trace, &[]) {
            Ok(found) => {
                assert!(fits);
                assert_eq!(found, [[Computed::Value(Value::Real(len as f64 - 0.5))]]);
            }
            Err(refusal) => {
                assert!(
                    !fits && refusal.exhausted && refusal.what.contains("position 199999"),
                    "{refusal:?}"
                );
            }
        }
    }
}

#[test]
fn refusals_say_why() {
    for (query, what) in [
        (
            "avg[max[x]]",
            "`max[…]` inside `avg[…]`: it looks at the whole rest of the trace from every position, so its values are known at the end only",
        ),
        ("max[count[p while F q] &{+} median[x]]", "`median[…]` inside `max[…]`"),
        ("X{v => v} quantile(0.9)[x]", "`quantile(0.9)[…]` below `X{…}`"),
        ("max[x while count[p]]", "`count[…]` inside `max[… while …]`"),
        ("count[F[0,5] p]", "the interval of `F[0,5]` in a query"),
        ("count[exists u. login(u)]", "`exists`"),
    ] {
        let program = program(&[query]);
        let found = why_not(&program, program.roots[0].node).unwrap_or_else(|| panic!("{query} is accepted"));
        assert!(found.what.starts_with(what) && found.help.is_some(), "{query}: {found:?}");
        let monitor = Forward.monitor(&program, &EvaluateOptions::default()).err();
        assert_eq!(monitor, Some(found.clone()));
        assert_eq!(Forward.plan(&program, &EvaluateOptions::default()).err(), Some(found));
    }
    for query in ["count[p] / (1 + sum[x])", "!{1} count[p]", "count[p while q]", "F p", "p U (q : x)"] {
        let program = program(&[query]);
        assert_eq!(why_not(&program, program.roots[0].node), None, "{query}");
    }
}

#[test]
fn the_budget_names_who_waits() {
    let program = program(&["median[median[x while q]]"]);
    let table = Table::default().ints("x", 0..100_000).truth("q", vec![true; 100_000]);
    let trace = table.trace(&program);
    let options = EvaluateOptions { memory_budget: 100_000, ..EvaluateOptions::default() };
    let refusal = Forward.plan(&program, &options).unwrap().values(&trace, &[]).unwrap_err();
    assert!(
        refusal.exhausted && refusal.what.starts_with("`median[true : x while q]` within the memory budget"),
        "{refusal:?}"
    );
}

#[test]
fn the_last_position_repeated() {
    let queries = ["count[X p]", "count[N !p]", "count[X{v => v} p]", "count[X X p]"];
    let program = program(&queries);
    let table = Table::default().truth("p", [false, true, true]);
    let trace = table.trace(&program);
    for (semantics, expected) in
        [(Semantics::Finite, ["2", "1", "2", "1"]), (Semantics::RepeatLast, ["3", "null", "2", "3"])]
    {
        let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
        let mut monitor = Forward.monitor(&program, &options).unwrap();
        push(&mut *monitor, &trace, 0, 3);
        assert_eq!(shown(&monitor.values().unwrap()), expected, "{semantics:?}");
    }
    let options = EvaluateOptions { semantics: Semantics::Ltl3, ..EvaluateOptions::default() };
    assert!(Forward.monitor(&program, &options).err().is_some_and(|refusal| refusal.what.contains("ltl3")));
}

/// Depth costs no stack, and parts that are not asked any more cost nothing.
#[test]
fn deep_queries() {
    let mut deep = program(&["count[p]", "p"]);
    let mut node = deep.roots[1].node;
    for _ in 0..30_000 {
        node = deep.dag.add(Node::Unary(Temporal::Next, None, node));
    }
    deep.roots[1].node = node;
    deep.roots[0].node = deep.dag.add(Node::Collect(Aggregate::Count, node));
    let trace = Table::default().truth("p", [true; 100]).trace(&deep);
    let mut monitor = Forward.monitor(&deep, &EvaluateOptions::default()).unwrap();
    push(&mut *monitor, &trace, 0, 100);
    assert_eq!(shown(&monitor.values().unwrap()), ["null", "null"]);
}

/// What is pending does not grow with what was read.
#[test]
fn memory_is_flat() {
    for (query, bound) in [
        ("max[count[p while q]]", 0),
        ("avg[count[p while q]]", 0),
        ("max[count[p while q | !q]]", 0),
        ("min[sum[x while q | !q]]", 700_000),
        ("max[max[x while q | !q]]", 0),
        ("count[p U (!p & !q)]", 64),
        ("count[F r]", 64),
        ("sum[true U{v => v} (r : x)]", 600),
        ("sum[x] / count[p & X !p]", 64),
        (ABP[3], 40_000),
    ] {
        let program = program(&[query]);
        let mut rng = tw_testkit::Rng::new(7);
        let mut bits = || (0..4096).map(|_| rng.one_in(3)).collect::<Vec<bool>>();
        let mut table =
            Table::default().ints("x", (0..4096).map(|at| at % 17 - 8)).truth("r", vec![false; 4096]);
        for name in ["p", "q", "at_l0", "at_l1", "at_l6", "sending"] {
            table = table.truth(name, bits());
        }
        let trace = table.trace(&program);
        let mut monitor = Forward.monitor(&program, &EvaluateOptions::default()).unwrap();
        for round in 0..2_500 {
            let live = tw_monitor::Positions {
                len: 4096,
                atoms: &trace.atoms,
                terms: &trace.terms,
                ..Default::default()
            };
            monitor.push(&live).unwrap();
            let pending = monitor.pending_bytes();
            assert!(pending <= bound, "{query}: {pending} bytes after {round} chunks");
            if round % 500 == 0 {
                monitor.values().unwrap();
            }
        }
        assert_eq!(monitor.position(), 2_500 * 4096);
    }
}

/// Damaged states are refused or read, and never panic, also when reading goes on.
#[test]
fn damaged_states_do_no_harm() {
    let queries = [
        MUX[3],
        ABP[3],
        "max[sum[x while p]]",
        "last[p U{v => v + 1} (q : x)] ?? x",
        "median[Y p : x]",
        "F p",
    ];
    let program = program(&queries);
    let mut rng = tw_testkit::Rng::new(3);
    let mut table = Table::default()
        .any("x", (0..200).map(|at| if at % 9 == 0 { Value::text("a") } else { Value::Int(at) }));
    for name in ["p", "q", "at_l0", "at_l1", "at_l2", "at_l6", "at_m3", "sending"] {
        table = table.truth(name, (0..200).map(|_| !rng.one_in(9)).collect::<Vec<bool>>());
    }
    let trace = table.trace(&program);
    let mut monitor = Forward.monitor(&program, &EvaluateOptions::default()).unwrap();
    push(&mut *monitor, &trace, 0, 150);
    let mut saved = Vec::new();
    monitor.save(&mut saved);
    for _ in 0..tw_testkit::cases(20_000) {
        let mut bytes = saved.clone();
        for _ in 0..1 + rng.below(3) {
            // The first bytes are a version and a number of the program.
            let at = 11 + rng.below(bytes.len() - 11);
            bytes[at] = rng.pick(&[0, 1, 2, 3, 127, 128, 255, bytes[at] ^ 1, bytes[at].wrapping_add(64)]);
        }
        let mut monitor = Forward.monitor(&program, &EvaluateOptions::default()).unwrap();
        if monitor.restore(&mut bytes.as_slice()).is_ok() {
            let (atoms, terms) = common::part(&trace, 150, 200);
            let live = tw_monitor::Positions { len: 50, atoms: &atoms, terms: &terms, ..Default::default() };
            let _ = monitor.push(&live);
            let _ = monitor.values();
        }
    }
    let other = common::program(&["count[p]"]);
    let mut monitor = Forward.monitor(&other, &EvaluateOptions::default()).unwrap();
    assert!(monitor.restore(&mut saved.as_slice()).is_err());
}
