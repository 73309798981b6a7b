//! What is written reads back as the same model; what people write means what NuSMV says it means.

mod errors;
mod naive;
mod programs;

use super::super::{json, testing};
use super::{Implicit, Limits, Unsuited, read, read_mentioning, read_within, write};
use crate::{Cells, Model, ModelError, State};
use std::collections::{BTreeMap, BTreeSet};
use tw_testkit::{Rng, cases};

fn written(model: &Model) -> String {
    let mut out = Vec::new();
    write(model, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn model(text: &str) -> Model {
    read("m.smv", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A model as a set of valuations, of which some are initial, and pairs of them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Meaning {
    states: BTreeSet<String>,
    initial: BTreeSet<String>,
    edges: BTreeSet<(String, String)>,
}

/// The reachable part of a model. Equal valuations are numbered, as they are in files.
fn meaning(model: &Model, number: bool) -> Meaning {
    let mut met: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let mut names = Vec::new();
    let own: Vec<usize> =
        (0..model.variables.len()).filter(|&v| matches!(model.variables[v].cells, Cells::Own(_))).collect();
    for state in 0..model.states() as State {
        let copy = met.entry(own.iter().map(|&v| model.code(v, state)).collect()).or_default();
        *copy += 1;
        let mut name: Vec<String> = (0..model.variables.len())
            .filter(|&v| model.variables[v].name != "copy")
            .map(|v| format!("{}={}", model.variables[v].name, json::text(&model.value(v, state))))
            .collect();
        name.sort();
        names.push(match model.variable("copy") {
            Some(copy) => format!("{name:?} {}", model.value(copy, state)),
            None if number => format!("{name:?} {copy}"),
            None => format!("{name:?} 1"),
        });
    }
    let mut reached = vec![false; model.states()];
    let mut stack = model.initial.clone();
    while let Some(state) = stack.pop() {
        if !std::mem::replace(&mut reached[state as usize], true) {
            stack.extend(model.graph.successors(state));
        }
    }
    let name = |state: State| names[state as usize].clone();
    let within = |state: &State| reached[*state as usize];
    Meaning {
        states: (0..model.states() as State).filter(within).map(name).collect(),
        initial: model.initial.iter().map(|&state| name(state)).collect(),
        edges: model.graph.iter().filter(|(from, _)| within(from)).map(|(a, b)| (name(a), name(b))).collect(),
    }
}

/// The module of the paper's figure 5, token for token.
#[test]
fn the_fifth_figure() {
    let expected = "MODULE main
  VAR
    state:{s2, s1};
    time: 1 .. 3;
  INIT
    (state = s1 & time = 1) |
    (state = s2 & time = 1)
  TRANS
    (state = s1 & next(state) = s1 & time = 1 & next(time) = 2) |
    (state = s1 & next(state) = s2 & time = 1 & next(time) = 2) |
    (state = s2 & next(state) = s2 & time = 1 & next(time) = 2) |
    (state = s1 & next(state) = s1 & time = 2 & next(time) = 3) |
    (state = s2 & next(state) = s1 & time = 2 & next(time) = 3) |
    (state = s1 & next(state) = s1 & time = 3 & next(time) = 3)
";
    let figure = testing::figure();
    assert_eq!(written(&figure), expected);
    let back = model(expected);
    assert_eq!(meaning(&back, false), meaning(&figure, false));
    // The values have their numbers again, so it is written as it was.
    assert_eq!(back.variables[0].domain, figure.variables[0].domain);
    assert_eq!(back.variables[1].domain, figure.variables[1].domain);
    let sort = |text: &str| text.replace(" |", "").lines().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(sort(&written(&back)), sort(expected));
    // The paper's own spacing.
    let printed = expected.replace("state = ", "state=").replace("next(state) = ", "next(state)=");
    assert_eq!(meaning(&model(&printed), false), meaning(&figure, false));
}

#[test]
fn models_come_back_with_the_same_states_and_transitions() {
    let mut random = Rng::new(5);
    let mut read_back = 0;
    for case in 0..cases(4_000).min(40_000) {
        let model = testing::model(&mut random);
        let text = written(&model);
        let back = match read("m.smv", text.as_bytes()) {
            Err(ModelError::Unfit(message)) if model.initial.is_empty() => {
                assert_eq!(message, "no state satisfies INIT", "{text}");
                continue;
            }
            back => back.unwrap_or_else(|error| panic!("case {case}: {error}\n{text}")),
        };
        let expected = meaning(&model, true);
        assert_eq!(expected, meaning(&back, false), "case {case}\n{text}");
        // With remarks between them, rows are read as any expression is.
        let remarks = text.replace(" |\n", " | -- or\n");
        assert_eq!(expected, meaning(&self::model(&remarks), false), "case {case}\n{remarks}");
        read_back += 1;
    }
    assert!(read_back > 0);
}

#[test]
fn names_are_changed_and_restored() {
    let mut figure = testing::figure();
    let values = testing::awkward();
    let count = values.len();
    figure.variables[0].domain = crate::Domain::Values(values.clone());
    let (states, edges): (Vec<u32>, Vec<(State, State)>) =
        (0..count as u32).map(|state| (state, (state, (state + 1) % count as u32))).unzip();
    figure.variables[0].cells = Cells::Own(states);
    figure.variables.truncate(1);
    figure.graph = crate::Graph::from_edges(count, edges.into_iter());
    let text = written(&figure);
    for line in [
        "-- a_b_3 is \"a b\"",
        "-- case__2 is \"case\"",
        "-- _1 is \"1\"",
        "-- empty_ is \"\"",
        "-- null__2 is null",
        "-- true_ is true",
        "-- r1_5_2 is 1.5",
        "-- state_2 is \"state\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("(state = 1 & next(state) = 0)"), "{text}");
    let back = model(&text);
    assert_eq!(back.variables[0].domain, crate::Domain::Values(values));
    assert_eq!(meaning(&back, false), meaning(&figure, false));
    // A remark of a person is no such line.
    let remark = "-- x is 1\n-- idle is null\n-- idle is \"busy\"\nMODULE main VAR s: {idle}; INIT s = idle TRANS TRUE";
    assert_eq!(model(remark).label(0), "s = idle");
}

#[test]
fn what_depends_on_names_is_defined() {
    let mut figure = testing::figure();
    figure.variables.push(crate::Variable {
        name: "level".to_owned(),
        domain: crate::Domain::Values(
            vec!["low".into(), "high".into()].into_iter().map(|t: String| tw_core::Value::text(&t)).collect(),
        ),
        cells: Cells::Of(0, vec![1, 0].into()),
    });
    let text = written(&figure);
    assert!(text.contains("  CONSTANTS\n    low, high;\n  DEFINE\n    level := case\n        state = s1 : high;\n        TRUE : low;\n      esac;\n"), "{text}");
    let back = model(&text);
    assert_eq!(meaning(&back, false), meaning(&figure, false));
    assert!(matches!(back.variables[2].cells, Cells::Of(0, _)));
}

#[test]
fn formulas_go_both_ways() {
    let text = "MODULE main VAR s: {a, b}; x: 0..3; p: boolean; first: boolean; INIT TRUE TRANS TRUE
        FAIRNESS p; JUSTICE !p
        SPEC AG (s = a -> AF s = b)
        CTLSPEC NAME n1 := A [p U !p & TRUE];
        SPEC ABF 0..5 p & EBG 1..2 (x + 1 > 2)
        INVARSPEC x mod 2 = 0 | p
        LTLSPEC G (p -> q V p) -- q is not known here, and that is for the checker to say
        LTLSPEC p -> p <-> p
        LTLSPEC p | p xor p
        LTLSPEC p xnor p | p
        LTLSPEC p U p U p
        LTLSPEC !p = FALSE & ! X p
        LTLSPEC x in {1, 2..3} & -x < -1 & first";
    let back = model(text);
    assert_eq!(back.fairness, ["p", "!p"]);
    let texts: Vec<(bool, &str, u64)> =
        back.specifications.iter().map(|spec| (spec.linear, spec.text.as_str(), spec.line)).collect();
    assert_eq!(
        texts,
        [
            (false, "AG (s = a -> AF s = b)", 3),
            (false, "A [p U !p & true]", 4),
            (false, "AF[0,5] p & EG[1,2] (x + 1 > 2)", 5),
            (false, "AG (x % 2 = 0 | p)", 6),
            (true, "G (p -> q R p)", 7),
            (true, "p -> (p <-> p)", 8),
            (true, "(p | p) ^ p", 9),
            (true, "(p <-> p) | p", 10),
            (true, "(p U p) U p", 11),
            (true, "((!p) <-> false) & !X p", 12),
            (true, "x in {1, 2 .. 3} & -x < -1 & `first`", 13),
        ]
    );
    // A name that nothing has is written as a remark; all the rest comes back.
    let again = written(&back);
    assert!(again.contains("  -- LTLSPEC G (p -> q R p)\n"), "{again}");
    let again = model(&again);
    let left: Vec<&str> = again.specifications.iter().map(|spec| spec.text.as_str()).collect();
    let expected: Vec<&str> = texts.iter().map(|text| text.1).filter(|text| !text.contains('q')).collect();
    assert_eq!(left, expected);
    assert_eq!(again.fairness, back.fairness);
}

/// NuSMV compares formulas with `=`; our language says `<->`.
#[test]
fn comparing_formulas_is_to_say_both_or_neither() {
    for (theirs, ours) in [
        ("! p = q", "(!p) <-> q"),
        ("(p = q) = FALSE", "(p = q) <-> false"),
        ("p = q = TRUE", "(p = q) <-> true"),
        ("p = (s = a)", "p <-> (s = a)"),
        ("(p & q) != (x > 1) | p", "((p & q) ^ (x > 1)) | p"),
        ("AG (EX p = q)", "AG (EX p = q)"),
        ("! (p = EX q)", "!(p <-> (EX q))"),
        ("TRUE = FALSE", "true <-> false"),
        ("q = p -> p = FALSE", "q = p -> p = false"),
        ("(x + 1) * 2 = 4", "(x + 1) * 2 = 4"),
        ("x + 1 = 3 & s in {a, b}", "x + 1 = 3 & s in {a, b}"),
        ("-x = -1", "-x = -1"),
    ] {
        let text = format!(
            "MODULE main VAR s: {{a, b}}; x: 0..3; p: boolean; q: boolean; INIT TRUE TRANS TRUE SPEC {theirs}"
        );
        assert_eq!(model(&text).specifications[0].text, ours, "{theirs}");
    }
}

#[test]
fn our_grouping_is_kept_in_the_other_language() {
    let mut figure = testing::figure();
    let spec = |text: &str| crate::Written { linear: true, text: text.to_owned(), line: 1 };
    figure.specifications = vec![
        spec("state = s1 <-> state = s1 -> state = s2"),
        spec("state = s1 ^ state = s2 | time < 2"),
        spec("!state = s1 && [] <> time == 3"),
        spec("state = s1 U state = s2 U time = 3"),
        spec("state = \"s1\" W state = s2"),
        spec("time % 2 = 1 => `state` != s2"),
    ];
    let text = written(&figure);
    let lines: Vec<&str> =
        text.lines().map(str::trim).skip_while(|line| !line.starts_with("LTLSPEC")).collect();
    assert_eq!(
        lines,
        [
            "LTLSPEC",
            "state = s1 <-> (state = s1 -> state = s2)",
            "LTLSPEC",
            "state = s1 xor (state = s2 | time < 2)",
            "LTLSPEC",
            "!(state = s1) & G F time = 3",
            "LTLSPEC",
            "state = s1 U (state = s2 U time = 3)",
            "-- LTLSPEC state = \"s1\" W state = s2",
            "LTLSPEC",
            "time mod 2 = 1 -> state != s2",
        ]
    );
}

#[test]
fn limits_end_in_an_error() {
    let text = b"MODULE main VAR x: 0..1000; y: 0..1000; INIT TRUE TRANS TRUE";
    let limited = |limits: Limits| read_within("m.smv", text, &limits).unwrap_err().to_string();
    assert_eq!(
        limited(Limits { states: 100, ..Limits::default() }),
        "it has more than 100 states, the limit"
    );
    assert_eq!(
        limited(Limits { edges: 100, ..Limits::default() }),
        "it has more than 100 transitions, the limit"
    );
    assert_eq!(
        limited(Limits { work: 1000, ..Limits::default() }),
        "its states are not found within the limit on work; constrain variables by `next(x) := …`"
    );
}

#[test]
fn nesting_needs_no_stack() {
    let deep = 200_000;
    let text = format!(
        "MODULE main VAR x: boolean; DEFINE d := {}x{}; INIT {}TRUE{} & {}x TRANS x{}; SPEC {}x{}",
        "(".repeat(deep),
        ")".repeat(deep),
        "case TRUE: ".repeat(deep),
        "; esac".repeat(deep),
        "!".repeat(2 * deep),
        " -> x".repeat(deep),
        "(".repeat(deep),
        ")".repeat(deep),
    );
    let back = model(&text);
    assert_eq!((back.states(), back.initial.len()), (2, 1));
    assert_eq!(back.specifications[0].text.len(), 2 * deep + 1);
}

/// Free variables double the states each; those that no formula names are left out where they are many, and only then.
#[test]
fn free_variables_are_left_out_where_they_are_many() {
    let text = |free: usize| {
        let variables: String = (0..free).map(|at| format!("  f{at}x : boolean;\n")).collect();
        format!("MODULE main\nVAR\n  a : boolean;\n{variables}ASSIGN next(a) := !a;\nCTLSPEC AG EF a\n")
    };
    let read = |free: usize, named: &str| {
        let mentioned = |name: &str| named.contains(name);
        super::read_mentioning("m.smv", text(free).as_bytes(), &Limits::default(), &mentioned).unwrap()
    };
    let (model, left_out) = read(24, "");
    assert_eq!((model.states(), left_out.len(), left_out[23].as_str()), (2, 24, "f23x"));
    let (model, left_out) = read(24, "AG EF (f3x & a)");
    assert_eq!((model.states(), left_out.len()), (4, 23));
    let (model, left_out) = read(5, "");
    assert_eq!((model.states(), left_out.len()), (64, 0));
    // A variable that a section names is not free.
    let held = text(24).replace("CTLSPEC", "INVAR f0x | f1x;\nCTLSPEC");
    let (model, left_out) =
        super::read_mentioning("m.smv", held.as_bytes(), &Limits::default(), &|_| false).unwrap();
    assert_eq!((model.states(), left_out.len()), (6, 22));
}

/// What does not fit is told, before memory runs out.
#[test]
fn bytes_end_in_a_message() {
    let variables: String = (0..20).map(|at| format!("  b{at} : boolean;\n")).collect();
    let text = format!("MODULE main\nVAR\n{variables}");
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    let refused = read_within("m.smv", text.as_bytes(), &limits).unwrap_err().to_string();
    assert!(refused.contains("more than 1 MiB"), "{refused}");
}
