//! Bad programs: what is found, what was expected, where, and that nothing panics.

use tw_diag::{Severity, render};

/// (text, code, part of the message or help, line:column of the main place)
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("", "syntax", "expected a statement, found the end of the program", "1:1"),
    ("l0: skip }", "unknown-character", "grouped with `[` and `]`", "1:10"),
    ("l0: skip # no", "unknown-character", "comments begin with `//`", "1:10"),
    ("/* l0: skip", "unclosed-comment", "close it with `*/`", "1:1"),
    ("local x integer\nl0: skip", "syntax", "expected `:` and a type, found `integer`", "1:9"),
    ("local x : float\nl0: skip", "syntax", "types are `integer`", "1:11"),
    (
        "local x : integer where x = 1 ] local y : integer\nl0: skip",
        "syntax",
        "the end of the declaration, found `]`",
        "1:31",
    ),
    ("local while : integer\nl0: skip", "syntax", "`while` is a word of the language", "1:7"),
    ("local c : channel of integer\nl0: skip", "syntax", "channels are asynchronous", "1:19"),
    ("local x : integer where y = 1\nl0: skip", "unknown-name", "`where` speaks of", "1:25"),
    ("local x : integer where x\nl0: skip", "type", "expected `=` and its value", "1:25"),
    ("local x : integer where x = TRUE\nl0: skip", "type", "expected an integer, found a boolean", "1:29"),
    ("local x, y : integer where x = y\nl0: skip", "not-constant", "`y` is none", "1:32"),
    ("local a : array [1..] of integer where a = 1\nl0: skip", "type", "write `a[n] = …`", "1:40"),
    ("local a : array [1..] of integer where a[1] = 1\nl0: skip", "syntax", "write `a[n] = n + 1`", "1:42"),
    ("local a : array [3..1] of integer\nl0: skip", "bounds", "empty", "1:17"),
    ("local a : array [1..100000] of integer\nl0: skip", "bounds", "at most 1024", "1:17"),
    ("local x : integer local x : boolean\nl0: skip", "duplicate-name", "declared twice", "1:25"),
    ("local time : integer\nl0: skip", "reserved-word", "choose another name", "1:7"),
    ("P ::\nlocal at_l0 : integer\nl0: skip", "duplicate-name", "two columns", "2:7"),
    ("l0: skip; l0: skip", "duplicate-name", "label `l0` is used twice", "1:11"),
    ("P :: skip || P :: skip", "duplicate-name", "two processes are called `P`", "1:14"),
    ("local x : integer\nl0: x = 1", "syntax", "an assignment is written `:=`", "2:7"),
    ("local x : integer\nl0: y := 1", "unknown-name", "`y` is not declared", "2:5"),
    ("local count : integer\nl0: cuont := 1", "unknown-name", "did you mean `count`?", "2:5"),
    ("local x : integer\nl0: x := TRUE", "type", "expected an integer, found a boolean", "2:10"),
    ("local x : integer\nl0: x := 1 + (2 = 2)", "type", "expected an integer", "2:15"),
    ("local b : boolean\nl0: await b = 1", "type", "cannot compare a boolean with an integer", "2:11"),
    ("local x : integer\nl0: await x", "type", "expected a boolean, found an integer", "2:11"),
    ("local x : integer\nl0: (x, x) := (1, 2)", "duplicate-name", "two values at once", "2:9"),
    ("local x, y : integer\nl0: (x, y) := 1", "different-lengths", "differ in length", "2:15"),
    ("local x : integer\nl0: x <= 1", "type", "`x` is no channel", "2:5"),
    (
        "local c : channel [1..] of integer\nl0: c <= (1, 2)",
        "different-lengths",
        "hold 1 value, found 2",
        "2:1",
    ),
    (
        "local c : channel [1..] of integer local b : boolean\nl0: c => b",
        "type",
        "a variable for an integer",
        "2:10",
    ),
    ("local c : channel [1..] of integer local x : integer\nl0: x := c", "type", "`c` is a channel", "2:10"),
    ("local x : integer\nl0: x := x[1]", "type", "`x` is no array", "2:10"),
    ("local b : boolean\nl0: request b", "type", "the semaphore", "2:13"),
    ("l0: loop do skip", "syntax", "expected `forever`, found `do`", "1:10"),
    ("l0: if TRUE skip", "syntax", "expected an operator or `then`, found `skip`", "1:13"),
    ("l0: when TRUE do [skip; skip]", "not-basic", "[await condition; statement]", "1:18"),
    ("l0: [skip; skip] after 3", "not-basic", "first statement inside", "1:18"),
    ("l0: skip after x", "syntax", "the number of positions", "1:16"),
    ("l0: [skip", "unclosed-bracket", "never closed", "1:5"),
    ("l0: skip ]", "syntax", "expected `||`", "1:10"),
    ("l0: skip skip", "syntax", "did you forget `;`?", "1:10"),
    ("l0: if TRUE then skip; else skip", "syntax", "expected a statement, found `else`", "1:24"),
    ("P :: skip Q :: skip", "syntax", "`||` stands between processes", "1:11"),
    ("l0: []", "syntax", "expected a statement, found `]`", "1:6"),
    ("l0: sikp", "syntax", "did you mean `skip`?", "1:9"),
    ("local x : integer\nl0: x := 99999999999999999999", "number-range", "too large", "2:10"),
    ("local x : integer\nl0: x := (1 + 2", "syntax", "expected an operator or `)`", "2:16"),
    ("local x : integer\nl0: x := 1 +", "syntax", "expected an expression", "2:13"),
];

#[test]
fn every_mistake_is_told_with_its_place() {
    let mut wrong = String::new();
    for (text, code, words, place) in TABLE {
        let (program, findings) = tw_spl::parse("bad.spl", text);
        let shown = render(&findings, program.sources(), false);
        let place = format!("bad.spl:{place}\n");
        let told = findings.iter().filter(|found| found.code == *code).any(|found| {
            let one = render(std::slice::from_ref(found), program.sources(), false);
            one.contains(words) && one.contains(&place)
        });
        if !told {
            wrong.push_str(&format!("{text}\nexpected [{code}] {words} at {place}found\n{shown}\n"));
        }
        assert!(tw_spl::Simulator::new(&program, 1, 0).is_err(), "{text}");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn several_mistakes_are_told_at_once() {
    let text = "local x integer\nlocal y : integer\nP1 :: [l0: y := ; l1: skip; l2: if y then; l3: y := 1 +]\n|| P2 :: m0: await ;";
    let (program, findings) = tw_spl::parse("bad.spl", text);
    let shown = render(&findings, program.sources(), false);
    for place in ["bad.spl:1:9", "bad.spl:3:17", "bad.spl:3:42", "bad.spl:3:56", "bad.spl:4:20"] {
        assert!(shown.contains(place), "{place}\n{shown}");
    }
    assert_eq!(findings.len(), 5, "{shown}");

    let text = "local x : integer\n[l0: y := 1; l1: x := TRUE; l2: z := 1]";
    assert_eq!(tw_spl::parse("bad.spl", text).1.len(), 3);
    let many = "local x : integer\n".to_owned() + &"y := 1; ".repeat(100_000);
    assert_eq!(tw_spl::parse("bad.spl", &many).1.len(), 20);
}

#[test]
fn what_is_never_reached_is_a_warning() {
    let text = "l0: loop forever do\n  l1: skip;\n  l2: skip";
    let (program, findings) = tw_spl::parse("odd.spl", text);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].code, findings[0].severity), ("unreachable", Severity::Warning));
    assert!(render(&findings, program.sources(), false).contains("odd.spl:3:3"));
    assert!(tw_spl::Simulator::new(&program, 1, 0).is_ok());
}

#[test]
fn printed_notation_is_read() {
    let text = "program MUX-SEM
        local r : integer where r = 1
        local b, ready : boolean where b = TRUE, ¬ready
        [ P1 :: l0: loop forever do [ l1: noncritical l2: request r l3: critical l4: release r ]
        ∥ P2 :: [ local dchan : channel [1..] of (integer, boolean) local x : integer
                  m0: loop forever do [ m1: dchan ⇐ (1, ¬b ∨ ready) m2: dchan ⇒ (x, b) ] ] ]";
    let (program, findings) = tw_spl::parse("printed.spl", text);
    assert!(findings.is_empty(), "{}", render(&findings, program.sources(), false));
    assert_eq!(program.columns().len(), 5 + 8);
}

#[test]
fn depth_is_bounded() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("-(", ")"), ("!", ""), ("a[", "]"), ("if TRUE then ", ""), ("l: ", "")]
    {
        for depth in [50, 1_000, 10_000] {
            let inner = format!("{}{}{}", open.repeat(depth), 1, close.repeat(depth));
            for text in [format!("local x : integer x := {inner}"), format!("l0: {inner}"), inner.clone()] {
                let (program, findings) = tw_spl::parse("deep.spl", &text);
                render(&findings, program.sources(), false);
                assert!(findings.len() <= 20);
            }
        }
    }
    let deep = |depth: usize| {
        let text = format!("local x : integer x := {}1{}", "(".repeat(depth), ")".repeat(depth));
        tw_spl::parse("deep.spl", &text).1
    };
    assert!(deep(90).is_empty());
    assert_eq!(deep(200).len(), 1);
    assert_eq!(deep(200)[0].code, "too-deep");
    // A loop is one level, brackets or not, and what is passed over is not complained about.
    for (open, close) in
        [("while TRUE do [", "]"), ("[", "]"), ("while TRUE do ", ""), ("if TRUE then [", "] else skip")]
    {
        let nested = |depth: usize| {
            let text = format!("P :: [{}skip{}]", open.repeat(depth), close.repeat(depth));
            tw_spl::parse("deep.spl", &text).1.iter().map(|found| found.code.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(nested(95), Vec::<String>::new(), "{open}");
        assert_eq!(nested(101), ["too-deep"], "{open}");
    }
}

/// Random edits of good programs: no panic, no endless loop, and what has no errors runs.
#[test]
fn damaged_programs_are_values() {
    let programs = [
        include_str!("../../../../examples/spl/mux-sem.spl"),
        include_str!("../../../../examples/spl/abp.spl"),
        include_str!("../../../../examples/spl/peterson.spl"),
        include_str!("../../../../examples/spl/dining.spl"),
    ];
    let pieces = [
        "[",
        "]",
        "(",
        ")",
        ";",
        ":",
        "::",
        "||",
        "or",
        "local",
        "where",
        "=",
        "<=",
        "=>",
        ":=",
        "after 3",
        "1",
        "x",
        "l0:",
        "if",
        "then",
        "else",
        "while",
        "do",
        "loop forever do",
        "await",
        "when",
        "skip",
        "seq",
        "r",
        "/ 0",
        "¬",
        "99999999999999999999",
        "channel [1..] of",
        "array [1..3] of",
        "integer",
        "boolean",
        ",",
        "-",
        "!",
        "&",
        "é",
    ];
    let cases = tw_testkit::cases(2_000);
    let mut state = 0x5eed_u64;
    let mut draw = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound.max(1)
    };
    let mut runnable = 0;
    for _ in 0..cases {
        let mut words: Vec<&str> =
            programs[draw(programs.len())].split_inclusive([' ', '\n', '[', '(']).collect();
        for _ in 0..1 + draw(3) {
            let at = draw(words.len());
            match draw(4) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, pieces[draw(pieces.len())]),
                2 => words[at] = pieces[draw(pieces.len())],
                _ => {
                    let other = draw(words.len());
                    words.swap(at, other);
                }
            }
        }
        let text = words.concat();
        let (program, findings) = tw_spl::parse("damaged.spl", &text);
        render(&findings, program.sources(), false);
        let broken = findings.iter().any(|found| found.severity == Severity::Error);
        match tw_spl::Simulator::new(&program, 1, 20) {
            Ok(mut run) => {
                assert!(!broken, "{text}");
                runnable += 1;
                for _ in 0..200 {
                    assert_eq!(run.state().values().count(), program.columns().len());
                    if let Err(found) = run.step() {
                        assert!(!found.labels.is_empty(), "{text}");
                        break;
                    }
                }
            }
            Err(found) => assert!(broken || !found.labels.is_empty(), "{text}"),
        }
    }
    assert!(runnable > 0);
}
