//! Models as people write them.

use super::*;

/// The states and transitions of a model, by label.
fn shown(text: &str) -> (Vec<String>, Vec<String>) {
    let model = model(text);
    let initial = model.initial.iter().map(|&state| model.label(state)).collect();
    let edges =
        model.graph.iter().map(|(a, b)| format!("{} -> {}", model.label(a), model.label(b))).collect();
    (initial, edges)
}

#[test]
fn a_counter() {
    let (initial, edges) = shown(
        "MODULE main
         VAR x : 0..3; -- counts
         ASSIGN init(x) := 0;
                next(x) := case x < 3 : x + 1; TRUE : 0; esac;",
    );
    assert_eq!(initial, ["x = 0"]);
    assert_eq!(edges, ["x = 0 -> x = 1", "x = 1 -> x = 2", "x = 2 -> x = 3", "x = 3 -> x = 0"]);
    let as_constraint = "MODULE main VAR x : 0..3; INIT x = 0; TRANS next(x) = (x < 3 ? x + 1 : 0);";
    assert_eq!(shown(as_constraint).1, edges);
    let modulo = "MODULE main VAR x : 0..3; INIT x = 0 TRANS (x + 1) mod 4 = next(x)";
    assert_eq!(shown(modulo).1, edges);
}

#[test]
fn a_wide_counter_is_found_without_trying_all_values() {
    let text = "MODULE main VAR x : 0..1000000000; y : 0..1000000000; INIT x = 0 & y = 5
                TRANS next(x) = (x + 1) mod 1000 & next(y) = y";
    assert_eq!(model(text).states(), 1000);
    let assigned = "MODULE main VAR x : 0..1000000000; FROZENVAR y : 0..1000000000;
                    ASSIGN init(x) := 0; init(y) := 5; next(x) := (x + 1) mod 1000;";
    assert_eq!(model(assigned).states(), 1000);
}

#[test]
fn a_choice() {
    let (initial, edges) = shown(
        "MODULE main
         VAR request : boolean; state : {ready, busy};
         ASSIGN init(state) := ready;
                next(state) := case state = ready & request : busy; TRUE : {ready, busy}; esac;",
    );
    assert_eq!(initial.len(), 2);
    // The request is free; a ready state with a request becomes busy, all others become either.
    assert_eq!(edges.len(), 2 + 3 * 4);
    assert!(!edges.contains(&"request = true, state = ready -> request = true, state = ready".to_owned()));
}

#[test]
fn definitions_are_variables() {
    let model = model(
        "MODULE main VAR x : 0..2; p : boolean; DEFINE big := x > 1; twice := x * 2; both := big & p; all := {1, 2}; later := next(x);
         ASSIGN init(x) := 0; next(x) := (x + 1) mod 3; init(p) := FALSE; next(p) := !p;",
    );
    let names: Vec<&str> = model.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["x", "p", "big", "twice", "both"]);
    assert!(matches!(model.variables[2].cells, Cells::Of(0, _)));
    assert!(matches!(model.variables[4].cells, Cells::Own(_)));
    for state in 0..model.states() as State {
        let tw_core::Value::Int(x) = model.value(0, state) else { panic!() };
        let p = model.value(1, state) == tw_core::Value::Bool(true);
        assert_eq!(model.value(2, state), tw_core::Value::Bool(x > 1));
        assert_eq!(model.value(3, state), tw_core::Value::Int(2 * x));
        assert_eq!(model.value(4, state), tw_core::Value::Bool(x > 1 && p));
    }
    assert_eq!(model.states(), 6);
}

#[test]
fn invariants_cut_both_ways() {
    let (initial, edges) =
        shown("MODULE main VAR x : 0..3; y : 0..3; INVAR x + y = 3 INIT x < 2 TRANS next(x) = x + 1");
    assert_eq!(initial, ["x = 0, y = 3", "x = 1, y = 2"]);
    // From x = 3 nothing follows, and that stays so.
    assert_eq!(
        edges,
        ["x = 0, y = 3 -> x = 1, y = 2", "x = 1, y = 2 -> x = 2, y = 1", "x = 2, y = 1 -> x = 3, y = 0"]
    );
}

#[test]
fn assignments_and_constraints_mix() {
    let (initial, edges) = shown(
        "MODULE main VAR x : {a, b, 3}; p : boolean;
         ASSIGN init(x) := a; p := x = a; next(x) := {a, b, 3} union a;
         TRANS next(x) != x; TRANS x = a -> next(x) = b",
    );
    assert_eq!(initial, ["x = a, p = true"]);
    assert_eq!(
        edges,
        [
            "x = a, p = true -> x = b, p = false",
            "x = b, p = false -> x = a, p = true",
            "x = b, p = false -> x = 3, p = false",
            "x = 3, p = false -> x = a, p = true",
            "x = 3, p = false -> x = b, p = false",
        ]
    );
}

#[test]
fn rows_and_formulas_mix() {
    let plain = "MODULE main VAR x : 0..4; y: boolean; INIT x = 0 & y
                 TRANS (x = 0 & next(x) = 1) | (x = 1 & next(x) = x + 1 & next(y) = !y) | (next(x) = 0 & next(y) = TRUE) | FALSE
                 TRANS next(x) = 1 -> next(y)";
    let model = model(plain);
    // 0y -> 1y, 0y; 1y -> 2n, 0y; 2n -> 0y
    assert_eq!((model.states(), model.graph.edges()), (3, 5));
    let two = "MODULE main VAR x : 0..2; INIT (x = 0) TRANS (x = 0 & next(x) = 1) | (x = 0 & next(x) = 2) | (x = 1 & next(x) = 0)
               TRANS (next(x) = 1) | (next(x) = 0)";
    assert_eq!(shown(two).1, ["x = 0 -> x = 1", "x = 1 -> x = 0"]);
    let comment = "MODULE main VAR x : 0..2; INIT (x = 0) -- start\n TRANS (x = 0 & next(x) = 1) -- step\n | (x = 1 & next(x) = 0);";
    assert_eq!(shown(comment).1, ["x = 0 -> x = 1", "x = 1 -> x = 0"]);
    let implied = "MODULE main VAR x : 0..2; INIT (x = 0) TRANS (x = 0) | (x = 1) -> next(x) = 2";
    assert_eq!(
        shown(implied).1,
        ["x = 0 -> x = 2", "x = 2 -> x = 0", "x = 2 -> x = 2", "x = 2 -> x = 1", "x = 1 -> x = 2"]
            .map(String::from)
            .to_vec()
    );
}

#[test]
fn old_truth_values_are_numbers() {
    let (initial, edges) = shown(
        "MODULE main VAR p : boolean; x : 0..1; ASSIGN init(p) := 0; next(p) := case 1 : !p; esac; init(x) := 1; next(x) := x;",
    );
    assert_eq!(initial, ["p = false, x = 1"]);
    assert_eq!(edges.len(), 2);
}
