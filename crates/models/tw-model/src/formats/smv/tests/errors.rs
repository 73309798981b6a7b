//! Every kind of wrong file, and what is said of it.

use super::*;

#[test]
fn wrong_files_are_refused_with_their_place() {
    let cases: &[(&str, &str)] = &[
        ("", "1:1: found the end of the file, expected `MODULE main`"),
        ("MODULE other", "1:8: found `other`, expected `main`, the one module that can be read"),
        ("MODULE main VAR x: {a, b}\n INIT", "2:2: found `INIT`, expected `;`"),
        (
            "MODULE main VAR x: boolean; y: array 0..1 of boolean;",
            "1:32: found `array`, expected a type: `boolean`, `{a, b}` or `1 .. 3`; `array` types cannot be read",
        ),
        (
            "MODULE main VAR x: other;",
            "1:20: found `other`, expected a type: `boolean`, `{a, b}` or `1 .. 3`",
        ),
        ("MODULE main VAR x: 3..1;", "1:21: found the empty range 3 .. 1, expected a value in it"),
        (
            "MODULE main VAR x: 0..99999999999;",
            "1:17: found a type of 100000000000 values, expected at most 2147483648",
        ),
        (
            "MODULE main VAR x: 0..99999999999999999999;",
            "1:23: found `99999999999999999999`, expected a whole number of 64 bits",
        ),
        ("MODULE main VAR next: boolean;", "1:17: found `next`, expected a variable"),
        ("MODULE main VAR x: {a, a};", "1:17: found a value twice in this type, expected it once"),
        (
            "MODULE main VAR x: boolean; x: boolean;",
            "1:29: found `x` again, expected a name that is not in use",
        ),
        ("MODULE main VAR a: boolean; x: {a};", "1:29: found `a` again, expected a name that is not in use"),
        ("MODULE main IVAR x: boolean;", "1:13: found `IVAR`: input variables; declare them in VAR"),
        ("MODULE main COMPASSION (x, y)", "1:13: found `COMPASSION`: strong fairness; FAIRNESS can be read"),
        (
            "MODULE main MODULE other",
            "1:13: found `MODULE`: a second module; one module, `main`, can be read",
        ),
        (
            "MODULE main PSLSPEC x",
            "1:13: found `PSLSPEC`: the parts of a model that can be read are VAR, FROZENVAR, DEFINE, CONSTANTS, ASSIGN, INIT, TRANS, INVAR, FAIRNESS, SPEC or LTLSPEC",
        ),
        (
            "MODULE main x",
            "1:13: found `x`, expected a section: VAR, FROZENVAR, DEFINE, CONSTANTS, ASSIGN, INIT, TRANS, INVAR, FAIRNESS, SPEC or LTLSPEC",
        ),
        (
            "MODULE main VAR x: boolean; INIT y",
            "1:34: found `y`, expected a variable, a definition or a value of a type",
        ),
        (
            "MODULE main VAR x: 0..3; INIT x-1 = 0",
            "1:31: found `x-1`, expected a variable, a definition or a value of a type; spaces around `-` make it a difference",
        ),
        (
            "MODULE main VAR x: boolean; INIT next(x)",
            "1:34: found `next`, expected an expression over one state",
        ),
        (
            "MODULE main VAR x: boolean; TRANS next(next(x))",
            "1:40: found `next` in what is next already, expected an expression over one state",
        ),
        (
            "MODULE main VAR x: boolean; DEFINE d := next(x); INIT d",
            "1:55: found a definition that speaks of the next state, expected one of this state",
        ),
        (
            "MODULE main VAR x: boolean; INIT (x & x",
            "1:40: found the end of the file, expected an operator or `)`",
        ),
        ("MODULE main VAR x: boolean; INIT x &", "1:37: found the end of the file, expected an expression"),
        (
            "MODULE main VAR x: boolean; INIT case x : x esac",
            "1:45: found `esac`, expected an operator or `;`",
        ),
        (
            "MODULE main VAR x: boolean; INIT x ? x",
            "1:39: found the end of the file, expected an operator or `:`",
        ),
        ("MODULE main VAR x: boolean; INIT x in {x; ", "1:41: found `;`, expected an operator, `,` or `}`"),
        (
            "MODULE main VAR x: boolean; INIT x.y",
            "1:35: found `.`, expected an operator; modules, arrays and calls cannot be read",
        ),
        (
            "MODULE main VAR x: boolean; INIT x @ x",
            "1:36: found `@`, expected a name, a number or an operator",
        ),
        ("MODULE main VAR x: {a}; INIT x & x = a", "1:30: found a symbol, expected a truth value"),
        ("MODULE main VAR x: {a}; INIT x + 1 = 2", "1:32: found a symbol, expected a number"),
        ("MODULE main VAR x: 0..3; INIT x / 0 = 2", "1:33: found a division by 0, expected another divisor"),
        (
            "MODULE main VAR x: 0..3; INIT x * 9223372036854775807 > 0",
            "1:33: found a number beyond 64 bits, expected a smaller one",
        ),
        (
            "MODULE main VAR x: 0..3; y: 0..3; INIT x = {1, 2}",
            "1:42: found a set, expected one value; `in` asks for a member",
        ),
        (
            "MODULE main VAR x: {a}; p: boolean; INIT x = p",
            "1:44: found a symbol compared with a truth value, expected values of one type",
        ),
        (
            "MODULE main VAR x: 0..3; INIT case x > 5 : TRUE; esac",
            "1:31: found no case that applies, expected one, as `TRUE : …`",
        ),
        (
            "MODULE main VAR x: 0..3; ASSIGN init(x) := 7;",
            "1:33: found 7 for `x`, expected a value of its type",
        ),
        (
            "MODULE main VAR x: 0..3; ASSIGN next(x) := x; next(x) := 1;",
            "1:47: found a second assignment to this variable, expected one",
        ),
        (
            "MODULE main VAR x: 0..3; DEFINE d := 1; ASSIGN d := x;",
            "1:48: found an assignment to what is no variable, expected a variable",
        ),
        (
            "MODULE main FROZENVAR x: 0..3; ASSIGN next(x) := 1;",
            "1:23: found a frozen variable that is assigned, expected only init of it",
        ),
        (
            "MODULE main DEFINE a := b; b := a;",
            "1:28: found `b` defined by itself, expected another expression",
        ),
        (
            "MODULE main VAR x: boolean; INIT x SPEC AG (x",
            "1:46: found the end of the file, expected an operator or `)`",
        ),
        (
            "MODULE main VAR x: boolean; INIT x SPEC x x",
            "1:43: found `x`, expected an operator or the end of the formula",
        ),
        ("MODULE main VAR x: boolean; INIT x SPEC AG ) x", "1:44: found `)`, expected a formula"),
        (
            "MODULE main VAR x: boolean; INIT x SPEC ABF x",
            "1:45: found `x`, expected a whole number, as in `ABF 0..5 p`",
        ),
        (
            "MODULE main VAR x: boolean; INIT x SPEC x ? x : x",
            "1:43: found `?`: a choice in a specification; DEFINE it and use its name",
        ),
        (
            "MODULE main VAR x: boolean; INIT x SPEC EX next(x)",
            "1:44: found `next`: `next` in a specification; `X`, `EX` and `AX` say what is next",
        ),
        ("MODULE main VAR x: boolean; INIT x & !x", "no state satisfies INIT"),
        ("MODULE main VAR x: boolean; INIT FALSE", "no state satisfies INIT"),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let error = read("m.smv", text.as_bytes()).map(|model| model.states()).unwrap_err();
        let expected = match &error {
            ModelError::Syntax { .. } => format!("m.smv:{expected}"),
            _ => (*expected).to_string(),
        };
        if error.to_string() != expected {
            wrong.push((text, error.to_string()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What cannot be told as sets is named; what has no states has none.
#[test]
fn what_is_not_told_as_sets() {
    let why = |text: &str| {
        let limits = Limits { states: 0, ..Limits::default() };
        let (model, _) = read_mentioning("m.smv", text.as_bytes(), &limits, &|_| true).unwrap();
        match model.implicit.unwrap().symbolic() {
            Ok(_) => "nothing".to_owned(),
            Err(Unsuited::Sets(why)) => why,
            Err(Unsuited::Model(error)) => error.to_string(),
        }
    };
    let cases = [
        ("x: 0..100000; p: boolean; INIT p = (x > 7)", "`x` has 100001 values; 4096 are the limit"),
        ("x: 0..100000; p: boolean; TRANS next(p) = !p", "nothing"),
        (
            "x: 0..3; p: boolean;\nASSIGN next(x) := x + 1;",
            "the expression on line 2 cannot be computed for some values",
        ),
        ("x: 0..3; ASSIGN next(x) := case x < 3 : x + 1; TRUE : 0; esac;", "nothing"),
        (
            "x: 0..3; y: 0..3;\nINIT y = 1 TRANS next(x) * y = 6 / x",
            "the expression on line 2 cannot be computed for some values",
        ),
        (
            "x: 0..63; y: 0..63; z: 0..63; TRANS next(x) = x * y * z mod 64",
            "an expression with more than 4096 values",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(why(&format!("MODULE main VAR {text}")), expected, "{text}");
    }
    let bits: String = (0..600).map(|at| format!("b{at} : boolean; ")).collect();
    assert_eq!(why(&format!("MODULE main VAR {bits}")), "its states take 600 bits, and 512 are the limit");
    let few = Limits { work: 0, ..Limits::default() };
    let (model, _) =
        read_mentioning("m.smv", b"MODULE main VAR p: boolean; INIT p & !p", &few, &|_| true).unwrap();
    let empty = model.implicit.unwrap().symbolic();
    assert!(matches!(empty, Err(Unsuited::Model(error)) if error.to_string() == "no state satisfies INIT"));
}
