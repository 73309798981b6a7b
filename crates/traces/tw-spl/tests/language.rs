//! What statements mean: small programs, their states written down.

use tw_core::Value;
use tw_spl::{Form, Lines, Program, Simulator};

fn program(text: &str) -> Program {
    let (program, findings) = tw_spl::parse("test.spl", text);
    assert!(findings.is_empty(), "{}", tw_diag::render(&findings, program.sources(), false));
    program
}

fn name_at(program: &Program, name: &str) -> usize {
    let found = program.columns().iter().position(|column| &*column.name == name);
    found.unwrap_or_else(|| panic!("no column {name}"))
}

/// The named columns over the first `steps` states: `1,2;3,4`.
fn states(text: &str, names: &str, steps: usize, seed: u64, loss: u8) -> String {
    let program = program(text);
    let columns: Vec<usize> = names.split(' ').map(|name| name_at(&program, name)).collect();
    let mut run = Simulator::new(&program, seed, loss).unwrap();
    let mut all = Vec::new();
    for _ in 0..steps {
        let cell = |column: &usize| match run.state().get(*column) {
            Some(Value::Bool(truth)) => u8::from(truth).to_string(),
            Some(value) => value.to_string(),
            None => panic!("no value"),
        };
        all.push(columns.iter().map(cell).collect::<Vec<_>>().join(","));
        run.step().unwrap();
    }
    all.join(" ")
}

/// The error that ends a run, as people see it.
fn fault(text: &str) -> String {
    let program = program(text);
    let mut run = match Simulator::new(&program, 1, 0) {
        Ok(run) => run,
        Err(found) => return tw_diag::render(&[*found], program.sources(), false),
    };
    for _ in 0..100_000_000 {
        if let Err(found) = run.step() {
            return tw_diag::render(&[*found], program.sources(), false);
        }
        assert!(run.stuck().is_none(), "the program ends without an error");
    }
    panic!("no error");
}

#[test]
fn one_process_step_by_step() {
    let text = "local x, y : integer where x = 1 & y = 10
                l0: x := x + 1;
                l1: (x, y) := (y, x);
                l2: if x > y then l3: y := 0 else l4: y := 1;
                l5: while y < 2 do l6: y := y + 1;
                l7: skip";
    assert_eq!(states(text, "x y at_l2", 6, 1, 0), "1,10,0 2,10,0 10,2,1 10,2,0 10,0,0 10,0,0");
    let labels = "at_l0 at_l1 at_l2 at_l3 at_l4 at_l5 at_l6 at_l7";
    let seen: Vec<usize> = states(text, labels, 12, 1, 0)
        .split(' ')
        .map(|row| row.split(',').position(|cell| cell == "1").unwrap_or(8))
        .collect();
    assert_eq!(seen, [0, 1, 2, 3, 5, 6, 5, 6, 5, 7, 8, 8]);
}

#[test]
fn the_end_of_a_loop_returns_to_the_first_location_of_its_body() {
    let text = "l0: loop forever do l1: [l2: skip; l3: skip]";
    assert_eq!(
        states(text, "at_l0 at_l1 at_l2 at_l3", 6, 1, 0),
        "1,0,0,0 0,1,1,0 0,0,0,1 0,1,1,0 0,0,0,1 0,1,1,0"
    );
}

#[test]
fn operators_bind_as_written() {
    for (expression, expected) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 2 - 3", "5"),
        ("-2 - -3", "1"),
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("-7 mod 2", "-1"),
        ("7 div 2 * 2", "6"),
    ] {
        let text = format!("local x : integer l0: x := {expression}");
        assert_eq!(states(&text, "x", 2, 1, 0), format!("0 {expected}"), "{expression}");
    }
    for (expression, expected) in [
        ("1 < 2 & 2 < 1 | TRUE", 1),
        ("TRUE | 1 / 0 = 1", 1),
        ("FALSE & 1 / 0 = 1", 0),
        ("!FALSE & FALSE", 0),
        ("!(FALSE & FALSE)", 1),
        ("~b = TRUE", 1),
        ("not b and 1 <> 2", 1),
        ("¬b ∧ 1 ≠ 2 ∧ 1 ≤ 2 ∧ 2 ≥ 1", 1),
        ("3 - 2 = 1", 1),
        ("b != TRUE & (b == FALSE)", 1),
    ] {
        let text = format!("local b, x : boolean l0: x := {expression}");
        assert_eq!(states(&text, "x", 2, 1, 0), format!("0 {expected}"), "{expression}");
    }
}

#[test]
fn long_expressions_need_no_stack() {
    let text = format!("local x : integer l0: x := 0{}", " + 1".repeat(200_000));
    assert_eq!(states(&text, "x", 2, 1, 0), "0 200000");
}

#[test]
fn a_disabled_process_passes_its_turn_to_the_next() {
    // Only P3 can ever move, whoever is drawn.
    let text = "local x : integer
                P1 :: a0: await x < 0 || P2 :: b0: request x || P3 :: c0: loop forever do c1: x := x
                || P4 :: d0: when x > 0 do skip";
    for seed in 0..20 {
        assert_eq!(
            states(text, "at_a0 at_b0 at_c0 at_c1 at_d0", 3, seed, 0),
            "1,1,1,0,1 1,1,0,1,1 1,1,0,1,1"
        );
    }
    // From P2 on, P3 comes before P1.
    let text = "local who : integer
                P1 :: a0: when who = 0 do who := 1 || P2 :: b0: await who < 0 || P3 :: c0: when who = 0 do who := 3";
    let mut by_draw = [0; 3];
    for seed in 0..300u64 {
        let x = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = (x >> 33) % 3;
        by_draw[drawn as usize] += 1;
        let expected = [1, 3, 3][drawn as usize];
        assert_eq!(states(text, "who", 2, seed, 0), format!("0 {expected}"));
    }
    assert!(by_draw.iter().all(|count| *count > 0));
}

#[test]
fn a_selection_draws_among_the_enabled_alternatives() {
    let text = "local x : integer
                l0: loop forever do
                    l1: [l2: x := 1 or l3: when x >= 0 do x := 2 or l4: when x < 0 do x := 3 or l5: x := 4 after 0]";
    let seen = states(text, "x", 200, 1, 0);
    assert!(seen.contains('1') && seen.contains('2'), "{seen}");
    assert!(!seen.contains('3') && !seen.contains('4'), "an `after` stands back: {seen}");
    // The labels of alternatives are labels of the selection's location, and only the first statements of them.
    let text = "l1: [[l2: skip; l3: skip] or l4: while FALSE do skip]";
    assert_eq!(states(text, "at_l1 at_l2 at_l3 at_l4", 1, 1, 0), "1,1,0,1");
}

#[test]
fn a_loop_in_an_alternative_does_not_return_to_the_others() {
    let text = "local x : integer
                l1: [l2: while x < 3 do l3: x := x + 1 or l4: when x > 0 do x := 100]; l5: skip";
    for seed in 0..50 {
        let seen = states(text, "x at_l1 at_l2 at_l4", 9, seed, 0);
        assert_eq!(seen, "0,1,1,1 0,0,0,0 1,0,1,0 1,0,0,0 2,0,1,0 2,0,0,0 3,0,1,0 3,0,0,0 3,0,0,0");
    }
}

#[test]
fn after_counts_positions_since_it_became_enabled() {
    let text = "l0: skip; l1: skip after 3; l2: skip after 0; l3: skip";
    assert_eq!(states(text, "at_l1 at_l2 at_l3", 8, 1, 0), "0,0,0 1,0,0 1,0,0 1,0,0 1,0,0 0,1,0 0,0,1 0,0,0");
    // The condition holds from position 2 on; the clock begins then.
    let text = "local x : integer
                P1 :: l0: when x = 2 do skip after 3 || P2 :: [m0: x := 1; m1: x := 2]";
    assert_eq!(states(text, "x at_l0", 8, 1, 0), "0,1 1,1 2,1 2,1 2,1 2,1 2,0 2,0");
    // A condition that ceases to hold sets it back.
    let text = "local x : boolean
                P1 :: l0: when x do skip after 2 || P2 :: m0: loop forever do [m1: x := TRUE; m2: x := FALSE]";
    for seed in 0..20 {
        assert!(!states(text, "at_l0", 100, seed, 0).contains('0'));
    }
}

#[test]
fn channels_keep_order_and_lose_what_they_are_told_to() {
    let text = "local c : channel [1..] of (integer, boolean) local d : channel [1..2] of integer
                local x : integer local b : boolean
                [l0: c <= (1, TRUE); l1: c <= (2, FALSE); l2: c => (x, b); l3: c => (x, b);
                 l4: d <= 5; l5: d <= 6; l6: d <= 7]";
    assert_eq!(
        states(text, "c d x b", 9, 1, 0),
        "0,0,0,0 1,0,0,0 2,0,0,0 1,0,1,1 0,0,2,0 0,1,2,0 0,2,2,0 0,2,2,0 0,2,2,0"
    );
    let text = "local c : channel [1..] of integer local r : reliable channel [1..] of integer
                l0: loop forever do [l1: c <= 1; l2: r <= 1]";
    let counts = |loss| states(text, "c r", 20_002, 7, loss).rsplit(' ').next().unwrap().to_owned();
    assert_eq!(counts(0), "10000,10000");
    assert_eq!(counts(100), "0,10000");
    let thirty: i64 = counts(30).split(',').next().unwrap().parse().unwrap();
    assert!((6_800..7_200).contains(&thirty), "{thirty}");
}

#[test]
fn arrays_with_and_without_end() {
    let text = "local a : array [0..2] of integer where a[k] = 10 * k
                local f[1..2] : boolean where f[n] = n > 1
                local u : array [1..] of integer where u[n] = n * n
                local x, i : integer where i = 1
                [l0: x := u[7]; l1: u[3] := 100; l2: x := u[2] + u[3] + u[4]; l3: (i, a[i]) := (2, 5);
                 l4: a[i] := a[i] + 1; l5: f[i] := FALSE]";
    assert_eq!(
        states(text, "x a[0] a[1] a[2] f[1] f[2]", 7, 1, 0),
        "0,0,10,20,0,1 49,0,10,20,0,1 49,0,10,20,0,1 120,0,10,20,0,1 120,0,5,20,0,1 120,0,5,21,0,1 120,0,5,21,0,0"
    );
    let program = program(text);
    assert!(program.columns().iter().all(|column| !column.name.starts_with('u')));
    assert_eq!(program.hidden().collect::<Vec<_>>(), ["u"]);
}

#[test]
fn an_array_that_nobody_reads_costs_nothing() {
    let text = "local u : array [1..] of integer local j : integer where j = 1
                l0: loop forever do l1: (u[j], j) := (j, j * 3 mod 1000000007)";
    assert_eq!(states(text, "j", 3, 1, 0), "1 1 3");
    let program = program(text);
    let mut run = Simulator::new(&program, 1, 0).unwrap();
    for _ in 0..100_000 {
        run.step().unwrap();
    }
}

#[test]
fn deadlock_and_end_are_told_apart() {
    let deadlock = program("local r : integer P1 :: [a0: skip; a1: request r] || P2 :: b0: skip");
    let mut run = Simulator::new(&deadlock, 1, 0).unwrap();
    let moves: Vec<bool> = (0..6).map(|_| run.step().unwrap()).collect();
    assert_eq!(moves, [true, true, false, false, false, false]);
    let stuck = run.stuck().unwrap();
    assert_eq!((stuck.position, stuck.ended), (2, false));
    assert_eq!(stuck.waiting.len(), 1);
    assert_eq!(stuck.waiting[0].0, "P1");
    assert_eq!(deadlock.sources().snippet(stuck.waiting[0].1), "a1: request r");

    let ends = program("l0: skip");
    let mut run = Simulator::new(&ends, 1, 0).unwrap();
    for _ in 0..3 {
        run.step().unwrap();
    }
    let stuck = run.stuck().unwrap();
    assert_eq!((stuck.position, stuck.ended, stuck.waiting.len()), (1, true, 0));

    // Waiting for the clock is no deadlock.
    let waits = program("l0: skip after 1000; l1: skip");
    let mut run = Simulator::new(&waits, 1, 0).unwrap();
    for _ in 0..1002 {
        run.step().unwrap();
    }
    assert_eq!(run.stuck(), None);
}

#[test]
fn philosophers_deadlock_and_peterson_excludes() {
    let dining = program(include_str!("../../../../examples/spl/dining.spl"));
    let peterson = program(include_str!("../../../../examples/spl/peterson.spl"));
    for seed in 0..20 {
        let mut run = Simulator::new(&dining, seed, 0).unwrap();
        while run.stuck().is_none() && run.position() < 100_000 {
            run.step().unwrap();
        }
        let stuck = run.stuck().expect("they deadlock sooner or later");
        assert_eq!(stuck.waiting.len(), 3);

        let mut run = Simulator::new(&peterson, seed, 0).unwrap();
        let (l4, m4) = (name_at(&peterson, "at_l4"), name_at(&peterson, "at_m4"));
        let mut inside = [0; 2];
        for _ in 0..5_000 {
            let at = |column| run.state().get(column) == Some(Value::Bool(true));
            let both = [at(l4), at(m4)];
            assert_ne!(both, [true, true]);
            inside.iter_mut().zip(both).for_each(|(count, at)| *count += u32::from(at));
            run.step().unwrap();
        }
        assert!(inside.iter().all(|count| *count > 300), "{inside:?}");
    }
}

#[test]
fn errors_of_a_run_show_the_statement() {
    for (text, code, words, place) in [
        (
            "local x : integer\nl0: skip;\nl1: x := 1 / x",
            "division-by-zero",
            "1 is divided by zero",
            "test.spl:3:10",
        ),
        ("local x : integer\nl0: x := 7 % x", "division-by-zero", "7 is divided by zero", "test.spl:2:10"),
        (
            "local x : integer where x = 9223372036854775807\nl0: x := x + 1",
            "overflow",
            "9223372036854775807 + 1 does not fit",
            "test.spl:2:10",
        ),
        (
            "local x : integer where x = 3037000500\nl0: x := x * x",
            "overflow",
            "3037000500 * 3037000500 does not fit",
            "test.spl:2:10",
        ),
        (
            "local x : integer where x = 9223372036854775807\nl0: release x",
            "overflow",
            "the semaphore overflows",
            "test.spl:2:1",
        ),
        (
            "local a : array [1..3] of integer\nl0: a[4] := 1",
            "index-range",
            "the index 4 is outside `a[1..3]`",
            "test.spl:2:5",
        ),
        (
            "local u : array [1..] of integer local x : integer\nl0: x := u[0]",
            "index-range",
            "the index 0 is outside `u[1..]`",
            "test.spl:2:10",
        ),
        (
            "local x : integer where x = 1 / 0\nl0: skip",
            "division-by-zero",
            "at the initial state",
            "test.spl:1:29",
        ),
        (
            "local u : array [1..] of integer local x : integer\nl0: u[20000000] := 1; l1: x := u[1]",
            "program-limit",
            "one element too many",
            "test.spl:2:5",
        ),
        (
            "local c : channel [1..] of integer\nl0: loop forever do l1: c <= 1",
            "program-limit",
            "cannot take another message",
            "test.spl:2:21",
        ),
    ] {
        let shown = fault(text);
        assert!(shown.starts_with(&format!("error[{code}]")), "{shown}");
        assert!(shown.contains(words) && shown.contains(place), "{words} at {place}:\n{shown}");
    }
    assert!(fault("local x : integer\nl0: skip; l1: await 1 / x = 0").contains("at position 1"));
}

#[test]
fn lines_say_what_states_say() {
    let text = "local x : integer where x = -12 local b : boolean where b
                P1 :: l0: loop forever do [l1: x := x + 7; l2: b := !b] || P2 :: m0: loop forever do m1: skip";
    let program = program(text);
    let mut run = Simulator::new(&program, 3, 0).unwrap();
    let all = [Form::Csv, Form::Jsonl, Form::Props].map(|form| Lines::new(&program, form));
    assert_eq!(all[0].header(), "x,b,at_l0,at_l1,at_l2,at_m0,at_m1\n");
    assert_eq!(all[1].header(), "");
    for _ in 0..100 {
        let state = run.state();
        let line = |lines: &Lines| {
            let mut out = Vec::new();
            lines.push(&state, &mut out);
            String::from_utf8(out).unwrap()
        };
        let cells: Vec<String> = state.values().map(|value| value.to_string()).collect();
        assert_eq!(line(&all[0]), format!("{}\n", cells.join(",")));
        let names = program.columns().iter().map(|column| &*column.name);
        let fields: Vec<String> =
            names.clone().zip(&cells).map(|(name, cell)| format!("\"{name}\":{cell}")).collect();
        assert_eq!(line(&all[1]), format!("{{{}}}\n", fields.join(",")));
        let holds: Vec<&str> =
            names.zip(&cells).filter(|(_, cell)| *cell == "true").map(|(name, _)| name).collect();
        assert_eq!(line(&all[2]), format!("{}\n", holds.join(" ")));
        run.step().unwrap();
    }
}

#[test]
fn lines_without_variables() {
    let program = program("skip || P2 :: m0: skip; skip");
    let mut run = Simulator::new(&program, 1, 0).unwrap();
    let mut text = [String::new(), String::new(), String::new()];
    for _ in 0..4 {
        for (text, form) in text.iter_mut().zip([Form::Csv, Form::Jsonl, Form::Props]) {
            let mut out = Vec::new();
            Lines::new(&program, form).push(&run.state(), &mut out);
            text.push_str(&String::from_utf8(out).unwrap());
        }
        run.step().unwrap();
    }
    assert!(text[0].starts_with("true\n") && text[0].ends_with("false\n"), "{}", text[0]);
    assert!(
        text[1].starts_with("{\"at_m0\":true}\n") && text[1].ends_with("{\"at_m0\":false}\n"),
        "{}",
        text[1]
    );
    assert!(text[2].starts_with("at_m0\n") && text[2].ends_with("\n\n"), "{:?}", text[2]);
}
