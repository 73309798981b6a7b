//! What monitors become, and what is said about wrong ones.

use crate::lower::{LowerOptions, lower};
use crate::{parse, print};
use tw_diag::Checked;
use tw_ir::monitor::{Category, Formalism, Monitor, Piece, Severity};
use tw_ir::{ArgumentKey, Program, What, display};

/// The monitor of the contract, every construct in it.
const UNSAFE: &str =
    "monitor UnsafeIterator(m, c, i) \"an iterator is used after its collection changed\" error {
    creation event getC(m, c);
    event getI(c, i);
    event modifyM(m);
    event modifyC(c);
    event useI(i) = next(iterator: i) when thread > 0; // of the trace
    end free(m);
    where m != c;
    ere : getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI;
    on match \"iterator {i} of {c} is stale\";
}
";

fn spec(text: &str) -> Checked<Program> {
    let parsed = parse(text, 0);
    assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
    lower(&parsed.value, &LowerOptions::default())
}

fn good(text: &str) -> (Program, Monitor) {
    let lowered = spec(text);
    assert!(lowered.diagnostics.is_empty(), "{text}: {:?}", lowered.diagnostics);
    let monitor = lowered.value.monitors[0].clone();
    (lowered.value, monitor)
}

/// The codes of all findings, of the parser if it has some.
fn codes(text: &str) -> Vec<&'static str> {
    let parsed = parse(text, 0);
    let found = match parsed.has_errors() {
        true => parsed.diagnostics,
        false => lower(&parsed.value, &LowerOptions::default()).diagnostics,
    };
    assert!(found.iter().all(|finding| !finding.labels.is_empty()), "{text}: {found:?}");
    // Where the two places say it all, there is no more to say.
    let plain = ["unclosed-bracket", "repeated-parameter", "missing-operand"];
    assert!(found.iter().all(|f| f.help.is_some() || plain.contains(&f.code)), "{text}: {found:?}");
    found.iter().map(|finding| finding.code).collect()
}

#[test]
fn the_monitor_of_the_contract_is_lowered() {
    let (program, monitor) = good(UNSAFE);
    assert_eq!((monitor.severity, monitor.strict, monitor.equal), (Severity::Error, false, false));
    assert_eq!(monitor.parameters, ["m", "c", "i"]);
    let columns: Vec<&[u32]> = monitor.events.iter().map(|event| event.source.columns.as_slice()).collect();
    assert_eq!(columns, [&[0, 1][..], &[1, 2], &[0], &[1], &[2]]);
    assert_eq!(monitor.events.iter().filter(|event| event.creation).count(), 1);
    let next = &monitor.events[4].source;
    assert_eq!((next.name.as_str(), &next.keys), ("next", &vec![ArgumentKey::Name("iterator".into())]));
    let when = next.when.clone().expect("a condition");
    assert_eq!((display(&program, when.node), when.variables.len()), ("thread > 0".to_owned(), 0));
    let constraint = monitor.constraint.clone().expect("a constraint");
    assert_eq!(display(&program, constraint.node), "m != c");
    assert_eq!(constraint.variables.iter().map(|(_, parameter)| *parameter).collect::<Vec<_>>(), [0, 1]);
    assert_eq!((monitor.ends[0].parameters.as_slice(), monitor.ends[0].event), (&[0][..], None));
    assert_eq!(
        monitor.reports[0].text,
        [
            Piece::Text("iterator ".into()),
            Piece::Parameter(2),
            Piece::Text(" of ".into()),
            Piece::Parameter(1),
            Piece::Text(" is stale".into())
        ]
    );
    // Conditions are no roots: engines for properties do not see them.
    assert!(program.roots.is_empty() && !monitor.pairs());
    let own = |event: usize| program.slots[monitor.events[event].source.slot as usize].what.clone();
    let What::Tuples { arity, arguments, .. } = own(0) else { panic!("tuples") };
    let key = |index: usize, name: &str| ArgumentKey::Declared { index, name: name.into(), of: 2 };
    assert_eq!((arity, arguments), (Some(2), vec![key(0, "m"), key(1, "c")]));
}

#[test]
fn the_other_formalisms_and_their_defaults() {
    let name = |text: &str| {
        let (_, monitor) = good(text);
        (monitor.reports[0].name.clone(), monitor.reports[0].category, monitor.formalism)
    };
    let fsm = "monitor File(f) { event open(f); event close(f); fsm : s0 [open -> s1] s1 [close -> s0, open -> s1]; }";
    let (said, category, formalism) = name(fsm);
    assert_eq!((said.as_str(), category), ("fail", Category::Fail));
    let Formalism::Fsm { states, targets } = formalism else { panic!("a machine") };
    assert_eq!(
        (states, targets),
        (vec!["s0".into(), "s1".into()], vec![vec![Some(1), None], vec![Some(1), Some(0)]])
    );
    let ltl = "monitor File(f) suggestion { event open(f); event close(f); ltl : open -> F close; }";
    let (said, category, formalism) = name(ltl);
    assert_eq!((said.as_str(), category), ("violation", Category::Violation));
    assert!(matches!(formalism, Formalism::Ltl { slots, .. } if slots == [0, 1]));
    let (_, category, formalism) = name("monitor Bad(x) \"never\" warning { event bad(x); }");
    assert!(category == Category::Match && matches!(formalism, Formalism::Raw));
    let text = "monitor Mo { event a; fsm : match [a -> match]; on match \"{{}}\"; }";
    assert_eq!(name(text).1, Category::State(0));
}

#[test]
fn words_of_the_language_are_names_inside_a_monitor() {
    let text = "monitor Words(U, T, first) strict equal warning { event G(U, T) = until(X: U, Y: T); event on(first);
        event event(first) = true(first, _, -3, \"a\", false); creation event end(U); end on(first); where `U` != T | first > 1;
        ere : G~(on?)++ & event** `epsilon`?? | epsilon end; event epsilon(T); }";
    // `T` is an operator in a formula.
    assert_eq!(codes(text), ["reserved-word"]);
    let (program, monitor) = good(&text.replace("!= T | first", "!= `T` | `first`"));
    assert_eq!((monitor.strict, monitor.equal, monitor.severity), (true, true, Severity::Warning));
    let constraint = monitor.constraint.expect("a constraint");
    assert_eq!(display(&program, constraint.node), "`U` != `T` | `first` > 1");
    assert_eq!(monitor.ends[0].event, Some(1));
    // And `monitor` is a name elsewhere, with `on`, `end` and the others.
    for text in [
        "property monitor : G (monitor -> F end);",
        "let monitor = creation & ere; query q : count[monitor] by `monitor`; query r : ere by strict;",
        "query q : monitor by strict; query r : monitor every 1m;",
        "event monitor(on, where); property p : G forall x. monitor(on: x) -> O ltl(x);",
        "property p : sum(monitor for x : fsm(x)) > 0;",
    ] {
        let found = codes(text);
        assert!(found.iter().all(|code| *code == "unused-variable"), "{text}: {found:?}");
    }
}

#[test]
fn events_that_the_specification_declares_are_matched_by_their_declaration() {
    let (program, monitor) = good(
        "event open(path: string, fd: int); monitor Mo(fd, p) { event open(fd); event twice(p, fd) = open(p, fd); \
         event same(fd) = open(fd: fd, path: \"/\"); }",
    );
    let told = |event: usize| program.slots[monitor.events[event].source.slot as usize].clone();
    let key = |index: usize, name: &str| ArgumentKey::Declared { index, name: name.into(), of: 2 };
    assert_eq!(monitor.events[0].source.keys, [key(1, "fd")]);
    assert_eq!(monitor.events[1].source.keys, [key(0, "path"), key(1, "fd")]);
    assert!(told(0).declared && told(2).declared);
    assert!(matches!(told(2).what, What::Tuples { constants, .. } if constants.len() == 1));
    assert!(!monitor.pairs());
    let (_, pairs) = good("monitor Mo(x, y) { event f1(x) = f(x); event f2(y) = f(y); }");
    assert!(pairs.pairs() && pairs.injective());
}

#[test]
fn wrong_monitors_are_told_with_place_and_remedy() {
    let cases: &[(&str, &[&str])] = &[
        ("monitor Mo(x) { event a(x); ere : a b; }", &["unknown-event"]),
        ("monitor Mo(x) { event a(x); fsm : s [ b -> s ]; }", &["unknown-event"]),
        ("monitor Mo(x) { event a(x); ltl : G (a -> F b); }", &["unknown-event"]),
        ("monitor Mo(x) { event a(x); ltl : a > 3; }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); ltl : F[0,5] a; }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); ltl : forall y. a; }", &["bad-monitor", "unused-variable"]),
        ("monitor Mo(x, y) { event a(x); }", &["unbound-parameter"]),
        ("monitor Mo(x) { event a(y); }", &["unknown-parameter"]),
        ("monitor Mo(x) { event a(x) = b(y); }", &["unknown-parameter"]),
        ("monitor Mo(x, y) { event a(x) = b(x, y); }", &["unbound-parameter"]),
        ("monitor Mo(x, y) { event a(x, y) = b(x); }", &["unbound-parameter"]),
        ("monitor Mo(x) { event a(x); on match \"{y}\"; }", &["unknown-parameter"]),
        ("monitor Mo(x) { event a(x); on match \"a } b\"; }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); where x > y; }", &["unknown-parameter"]),
        ("monitor Mo(x) { event a(x); where F (x > 1); }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x) when Y p; }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); fsm : s [ a -> t ]; }", &["unknown-state"]),
        ("monitor Mo(x) { event a(x); fsm : s [ a -> s ] s [ ]; }", &["duplicate-name"]),
        ("monitor Mo(x) { event a(x); event a(x); }", &["duplicate-name"]),
        ("monitor Mo(x) { event a(x); on match; on match; }", &["duplicate-name"]),
        ("monitor Mo(x) { event a(x); on violation; }", &["unknown-category"]),
        ("monitor Mo(x) { event a(x); ere : a & epsilon; }", &["empty-language"]),
        ("monitor Mo(x) { event a(x); ere : a & ~a; on fail; }", &[]),
        ("monitor Mo(x) { event a(x); ere : a; ltl : a; }", &["bad-monitor"]),
        ("monitor Mo(x) { }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); end b; }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); end a(y); }", &["unknown-parameter"]),
        ("monitor Mo(x, x) { event a(x); }", &["repeated-parameter"]),
        ("monitor Mo(x) { event a(x); } property Mo : p;", &["duplicate-declaration"]),
        ("event a(p, q); monitor Mo(x) { event a(x); }", &["event-arity"]),
        ("event a(p, q); monitor Mo(x) { event b(x) = a(r: x); }", &["unknown-argument"]),
        ("monitor Mo(x) { event a(x) = b(k: x, _); }", &["mixed-arguments"]),
        // Texts that cannot be read.
        ("monitor Mo(x) { event a(x) ere : a; }", &["missing-semicolon"]),
        ("monitor Mo(x) { event a(x); ltl : a }", &["missing-semicolon"]),
        ("monitor Mo(x) { event a(x); ere : a (a; }", &["unclosed-bracket"]),
        ("monitor Mo(x) { event a(x); ere : a) a; }", &["unmatched-bracket"]),
        ("monitor Mo(x) { event a(x); ere : | a; }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); ere : a -> b; }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); fsm : s [ a s ]; }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x); fsm : ; }", &["bad-monitor"]),
        ("monitor Mo(x) { evnt a(x); event b(x); }", &["bad-monitor"]),
        ("monitor Mo(x) fatal { event a(x); }", &["bad-monitor"]),
        ("monitor Mo(x) error warning { event a(x); }", &["bad-monitor"]),
        ("monitor Mo(x) { event a(x);", &["unclosed-bracket"]),
        ("monitor Mo(x) { event a(x); property p : q;", &["unclosed-bracket"]),
        ("monitor Mo(x); property p : q;", &["bad-monitor"]),
        ("monitor (x) { event a(x); } property p : ;", &["missing-name", "missing-operand"]),
    ];
    for (text, expected) in cases {
        assert_eq!(codes(text), *expected, "{text}");
    }
}

#[test]
fn printing_is_canonical_and_reads_back() {
    let parsed = parse(UNSAFE, 0);
    assert_eq!(print(&parsed.value), UNSAFE);
    let odd = "// before\nmonitor  Mo ( x,`a b` ) \"t\"  equal error  strict{// first\n\n  event a( x,`a b` ) = `b c`( k:x, true: `a b`,l:-3,m : \"t\" ,n:_) when (x>1) ; // why\n\n\n \
        /* inside */ event until(x);where (x!=1);fsm:s[]  `t u`[a->s until->`t u`]; on s ; // last\n // end\n} // after\nproperty p : q;";
    let canonical = "// before\nmonitor Mo(x, `a b`) \"t\" error strict equal {\n    // first\n\n    \
        event a(x, `a b`) = `b c`(k: x, `true`: `a b`, l: -3, m: \"t\", n: _) when x > 1; // why\n\n    /* inside */\n    \
        event until(x);\n    where x != 1;\n    fsm :\n        s [ ]\n        `t u` [ a -> s, until -> `t u` ];\n    \
        on s; // last\n    // end\n} // after\nproperty p : q;\n";
    let parsed = parse(odd, 0);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert_eq!(print(&parsed.value), canonical);
    assert_eq!(print(&parse(canonical, 0).value), canonical);
    for (text, expected) in [
        ("a b | c & ~d* e", "a b | c & ~d* e"),
        ("((a b)) c", "a b c"),
        ("a (b c)", "a (b c)"),
        ("(a | b) & c", "(a | b) & c"),
        ("(~a)* (a b)+ (a|b)?", "(~a)* (a b)+ (a | b)?"),
        ("~(a b) ~~a", "~(a b) ~~a"),
        ("epsilon `epsilon` U a++", "epsilon `epsilon` U a++"),
    ] {
        let monitor = |ere: &str| format!("monitor Mo {{\n    event a;\n    ere : {ere};\n}}\n");
        let parsed = parse(&monitor(text), 0);
        assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
        assert_eq!(print(&parsed.value), monitor(expected));
    }
}

#[test]
fn depth_costs_no_stack() {
    let n = 50_000;
    let deep = format!("{}a{}", "(~".repeat(n), ")*".repeat(n));
    let text = format!("monitor Mo {{ event a; ere : {deep}; on fail; }}");
    let parsed = parse(&text, 0);
    assert!(parsed.diagnostics.is_empty());
    assert_eq!(print(&parse(&print(&parsed.value), 0).value), print(&parsed.value));
    assert_eq!(lower(&parsed.value, &LowerOptions::default()).value.monitors.len(), 1);
}

/// Monitors with parts changed, removed or doubled: they are told about or read, printed the same twice, and lowered.
#[test]
fn nothing_makes_it_panic() {
    const SOUP: &[&str] = &[
        "monitor ",
        "{",
        "}",
        ";",
        "(",
        ")",
        "[",
        "]",
        ":",
        "->",
        "~",
        "?",
        "++",
        "&",
        "|",
        "*",
        ",",
        "=",
        "_",
        "\"{x}\"",
        "event ",
        "creation ",
        "end ",
        "where ",
        "when ",
        "ere ",
        "fsm ",
        "ltl ",
        "on ",
        "strict ",
        "equal ",
        "error ",
        "match ",
        "fail ",
        "epsilon ",
        "U ",
        "T ",
        "x ",
        "y ",
        "a ",
        "b ",
        "`x y` ",
        "1 ",
        "-",
        "true ",
        "G ",
        "property p ",
        "// c\n",
        "\n\n",
    ];
    const GOOD: &[&str] = &[
        UNSAFE,
        "monitor Mo(x, y) strict warning { event a(x) = f(x, _, 1) when x > c; event b(y); end b(y); ltl : G (a -> F b); on violation; }",
        "monitor Mo(x) \"t\" equal { event a(x); event b; fsm : s [ a -> t, b -> s ] t [ ]; on t \"{x}\"; where x != 1; }",
        "monitor Mo(x) { event a(x); event b(x); ere : ~(a b)* & a+ (b? | epsilon); on fail; }",
    ];
    let mut random = tw_testkit::Rng::new(2);
    let mut read = 0;
    for _ in 0..20_000 {
        let mut words: Vec<&str> =
            random.pick(GOOD).split_inclusive([' ', '(', ')', ';', ',', '[', ']', '{', '}']).collect();
        for _ in 0..1 + random.below(3) {
            let at = random.below(words.len());
            match random.below(4) {
                0 => words[at] = random.pick(SOUP),
                1 => words.insert(at, random.pick(SOUP)),
                2 if words.len() > 1 => drop(words.remove(at)),
                _ => words.insert(at, words[at]),
            }
        }
        let text = words.concat();
        let parsed = parse(&text, 0);
        let printed = print(&parsed.value);
        if parsed.has_errors() {
            continue;
        }
        read += 1;
        let again = parse(&printed, 0);
        assert!(!again.has_errors(), "{text}\n{printed}\n{:?}", again.diagnostics);
        assert_eq!(print(&again.value), printed, "{text}");
        let codes = |tree| {
            let found = lower(tree, &LowerOptions::default()).diagnostics;
            found.into_iter().map(|finding| finding.code).collect::<Vec<_>>()
        };
        assert_eq!(codes(&parsed.value), codes(&again.value), "{text}\n{printed}");
    }
    assert!(read > 2_000, "{read}");
    // Patterns to slice by are made of the same.
    let mut sliced = 0;
    for _ in 0..20_000 {
        let words = ["f(x)", ", ", "g(k: y)", " where ", "x > y", "_", "(", ")", "h(x, _, \"a\")", ","];
        let text: String = (0..1 + random.below(7)).map(|_| random.pick(&words)).collect();
        let parsed = crate::parse_patterns(&text, 0);
        if !parsed.has_errors() {
            let found = lower(&parsed.value, &LowerOptions::default());
            sliced += usize::from(found.value.monitors.len() == 1);
            assert!(found.has_errors() || found.value.monitors.len() == 1, "{text}");
        }
    }
    assert!(sliced > 500, "{sliced}");
}
