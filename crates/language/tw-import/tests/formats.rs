//! What each format is read as, and what is refused.

use tw_diag::{Severity, Sources, render};
use tw_import::{Options, format_named, guess, import};

/// The declarations of what is made, one a line, without comments.
fn made(format: &str, text: &str) -> String {
    let made = import("spec.txt", text, format_named(format).unwrap(), &Options::default());
    let mut sources = Sources::default();
    sources.add("spec.txt", text);
    assert!(!made.has_errors(), "{text}\n{}", render(&made.diagnostics, &sources, false));
    let parsed = tw_spec::parse(&made.value, 0);
    assert!(!parsed.has_errors(), "{text}\n{}", made.value);
    assert_eq!(tw_spec::print(&parsed.value), made.value, "{text}");
    let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
    assert!(!lowered.has_errors(), "{text}\n{}\n{:?}", made.value, lowered.diagnostics);
    let lines = made.value.lines().filter(|line| !line.starts_with("//") && !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// The first finding: place, message and help.
fn refused(format: &str, text: &str) -> String {
    let made = import("spec.txt", text, format_named(format).unwrap(), &Options::default());
    assert_eq!(made.value, "", "{text} is made to {}", made.value);
    let found = made.diagnostics.iter().find(|found| found.severity == Severity::Error).unwrap();
    let mut sources = Sources::default();
    sources.add("spec.txt", text);
    render(std::slice::from_ref(found), &sources, false)
}

fn formulas(format: &str, head: &str, table: &[(&str, &str)]) {
    for (text, expected) in table {
        let made = made(format, &format!("{head}{text}"));
        let last = made.lines().last().unwrap_or_default();
        let (_, body) = last.split_once(" : ").unwrap_or(("", last));
        assert_eq!(body.trim_end_matches(';'), *expected, "{text}");
    }
}

fn refusals(format: &str, head: &str, table: &[(&str, &str)]) {
    for (text, expected) in table {
        let found = refused(format, &format!("{head}{text}"));
        assert!(found.contains(expected), "{text}: {found}");
        assert!(found.contains("spec.txt:"), "{text}: {found}");
    }
}

#[test]
fn rtamt_formulas() {
    formulas(
        "rtamt",
        "",
        &[
            (
                "out = always[0:10]((req >= 3) implies (eventually[0:5](gnt >= 3)))",
                "G[0,10] (req >= 3 -> F[0,5] (gnt >= 3))",
            ),
            ("not x >= 3 and y < 2", "!(x >= 3) & y < 2"),
            ("always x >= 3 until[1,2] y < 2", "G (x >= 3) U[1,2] y < 2"),
            ("x > 1 implies y > 1 implies z > 1", "(x > 1 -> y > 1) -> z > 1"),
            ("x > 1 until y > 1 until z > 1", "(x > 1 U y > 1) U z > 1"),
            ("x > 1 since[0:2] y > 1 unless z > 1", "x > 1 S[0,2] y > 1 W z > 1"),
            ("prev x > 1", "Z (x > 1)"),
            ("s_prev (next (s_next x > 1))", "Y N X (x > 1)"),
            ("historically[1000ms:2s] once x !== 1", "H[1,2] O (x != 1)"),
            ("x", "x >= 0"),
            ("x + y", "x + y >= 0"),
            ("always[0:3] (x + 1)", "G[0,3] (x + 1 >= 0)"),
            ("x - y + z >= 3", "x - (y + z) >= 3"),
            ("x / y * z >= -3.5", "x / (y * z) >= -3.5"),
            ("x/y >= 3", "`x/y` >= 3"),
            ("a.b >= 3", "a.b >= 3"),
            ("abs(x - -2) == 3", "abs(x - -2) == 3"),
            ("rise(x >= 3)", "Z !(x >= 3) & x >= 3"),
            ("fall(x)", "Z (x >= 0) & !(x >= 0)"),
        ],
    );
    assert_eq!(
        made(
            "rtamt",
            "specification a\nconst float c = -2.5\nconst int T = 3\ninput float x\noutput float out\n\
                       low = x <= c // comment\nsum = x + y\nout = G[0:T s] (low or sum > 1) /* end */"
        ),
        "let low = x <= -2.5;\nlet sum_ = x + y;\nproperty out : G[0,3] (low | sum_ > 1);"
            .replace("sum_", if tw_spec::is_plain_name("sum") { "sum" } else { "sum_" })
    );
    // A large operand that is needed twice gets a name.
    assert_eq!(
        made("rtamt", "rise(x > 1 and y > 1 or z > 1)"),
        "let part_1 = x > 1 & y > 1 | z > 1;\nproperty out : Z !part_1 & part_1;"
    );
    let options =
        Options { period: 100_000_000, unit: tw_core::TimeUnit::Milliseconds, ..Options::default() };
    let made = import("a.stl", "always[100:1s] x > 1", format_named("rtamt").unwrap(), &options);
    // Without a unit of its own the lower bound has that of the upper one: 100 s is more than 1 s.
    assert!(made.has_errors(), "{}", made.value);
    let made = import("a.stl", "always[100:500] x > 1", format_named("rtamt").unwrap(), &options);
    assert!(
        made.value.contains("one every 100ms") && made.value.contains("G[1,5] (x > 1)"),
        "{}",
        made.value
    );
}

/// What has to be set to read the result is named as the caller spells it; what the source says is left alone.
#[test]
fn settings_are_spelled_in_the_head_alone() {
    let own = "{x: \"⟨by⟩\"}";
    let made = |options: &Options| import("a.rye", own, format_named("reelay").unwrap(), options).value;
    let flags = Options { spell: |text| tw_diag::spelled(text, |_, _| "/c".into()), ..Options::default() };
    for (options, head) in [(Options::default(), "run with clock = index."), (flags, "run with /c.")] {
        let made = made(&options);
        assert!(made.contains(head) && made.contains("x == \"⟨by⟩\""), "{made}");
    }
}

#[test]
fn rtamt_refusals() {
    refusals(
        "rtamt",
        "",
        &[
            ("x > 1 iff y > 1", "compares robustness"),
            ("x > 1 xor y > 1", "compares robustness"),
            ("sqrt(x) > 1", "no function `sqrt`"),
            ("always[0:1.5] x > 1", "not a multiple"),
            ("always[0:5ps] x > 1", "found `ps`"),
            ("always[2:1] x > 1", "interval is empty"),
            ("always[-1:1] x > 1", "found `-`"),
            ("always[1s:2] x > 1", "only the lower bound has a unit"),
            ("x > 1 unless[1:2] y > 1", "`unless` with a lower bound"),
            ("(x > 1) + 2 > 3", "a formula stands where a number is needed"),
            ("1 < x < 3", "a formula stands where a number is needed"),
            ("from a import B\nout = x > 1", "Python module"),
            ("a = x > 1\na = y > 1", "defined twice"),
            ("a = x > 1\nx = a", "a signal and of a formula"),
            ("x >", "found the end of the file, expected a formula"),
            ("(x > 1", "expected `)`"),
            ("s > 1", "found `s`, expected a name"),
            ("x > 1 #", "found `#`"),
            ("/* x", "never closed"),
            ("a. > 1", "is not a name"),
            ("x > 1e999", "out of range"),
        ],
    );
    // Every formula that cannot be read is reported.
    let text = "a = sqrt(x) > 1\nb = x > 1\nc = exp(x) > 1";
    let made = import("a.stl", text, format_named("rtamt").unwrap(), &Options::default());
    assert_eq!(made.diagnostics.len(), 2);
}

#[test]
fn breach_formulas() {
    formulas(
        "breach",
        "param v = 5, tau = 0.1, tau=.1 # twice\nlow := x[t] < v\n",
        &[
            ("phi := alw_[0, 10] (x[t] > 3)", "G[0,10] (x > 3)"),
            ("phi := ev_[tau, tau+.9](low)", "F[0.1,1] low"),
            ("phi := not low and ev low", "!low & F low"),
            ("phi := low or low => low and low until_[0,2] low", "low | (low -> low & low U[0,2] low)"),
            ("phi := low => low => low", "low -> low -> low"),
            (
                "phi := alw (low)\n  and\n  ev_[1 inf] (abs(x[t] - y[t]) <= 2*v)",
                "G low & F[1,inf) (abs(x - y) <= 2 * 5)",
            ),
            ("phi := -x[t] > -3", "-x > -3"),
            ("signal x, y\nphi := true until false", "true U false"),
            ("low2 := low\nphi := low2 and low[t] > 1", "low2 & `low` > 1"),
        ],
    );
    let text = "gear2 := gear[t]==2\nphi := ev (alw_[0, 1] (gear2))";
    let made = import("a.stl", text, format_named("breach").unwrap(), &Options::default());
    assert!(made.value.contains("another robustness"), "{}", made.value);
    assert!(made.value.contains("// a.stl:2\nproperty phi : F G[0,1] gear2;"), "{}", made.value);
}

#[test]
fn breach_refusals() {
    refusals(
        "breach",
        "",
        &[
            ("phi := x[t] > v", "neither a formula nor a parameter"),
            ("phi := x[t-1] > 3", "read at another time"),
            ("phi := norm(x[t]) > 3", "no function `norm`"),
            ("phi := hist_[0,1] (x[t] > 3)", "not imported"),
            ("phi := alw_[0, 2*3] (x[t] > 3)", "`*` in a bound"),
            ("param a=1\nparam a=2\nphi := x[t] > a", "two values"),
            ("phi := x[t] + 1", "a number stands where a formula is needed"),
            ("phi = x[t] > 1", "found `phi`"),
            ("phi := x[t] > 1)", "found `)`"),
            ("phi := x[t]^2 > 1", "found `^`"),
        ],
    );
}

#[test]
fn reelay_formulas() {
    formulas(
        "reelay",
        "",
        &[
            ("historically[0:10]{p}", "G H[0,10] p"),
            ("H({p: true} -> once[:3]{ack: false})", "G H (p -> O[0,3] !ack)"),
            (
                "{p, x > -3.5} || {q} && not {mode: \"Sport XL\"}",
                "G (p & x > -3.5 | q & !(mode == \"Sport XL\"))",
            ),
            ("pre{p} since[2:] {mode: sport}", "G (Y p S[2,inf) mode == \"sport\")"),
            ("once[1:inf]({x: 3} implies {'odd key'})", "G O[1,inf) (x == 3 -> `odd key`)"),
            ("({p} -> {q}) -> ({p} S {q})", "G ((p -> q) -> p S q)"),
            ("{F} and {first}", "G (`F` & `first`)"),
        ],
    );
}

#[test]
fn reelay_refusals() {
    refusals(
        "reelay",
        "",
        &[
            ("not not {p}", "found `not`, expected an atom"),
            ("{p} -> {q} -> {p}", "cannot be chained"),
            ("{p} since {q} since {p}", "cannot be chained"),
            ("once[0:0]{p}", "means two things"),
            ("once[:0]{p}", "means two things"),
            ("once[2:1]{p}", "interval is empty"),
            ("once[0.5:1]{p}", "not a whole number"),
            ("{p: *}", "any value"),
            ("exists[r]. {p: *r}", "ranges over values"),
            ("{a::b: 1}", "nested records"),
            ("${f}", "function of the program"),
            ("p", "expected an atom"),
            ("{x > 1e3}", "without exponent"),
            ("{p} {q}", "found `{`"),
            ("{p", "expected `,` or `}`"),
            ("{'p}", "never closed"),
            ("once[:]{p}", "no bound"),
        ],
    );
}

#[test]
fn c2po_formulas() {
    formulas(
        "c2po",
        "INPUT p, q: bool; x: int; y: float; -- comment\nDEFINE d := p && x > -3;\nFTSPEC\n",
        &[
            ("G[0,10] (p -> F[5] q);", "G[0,10] (p -> F[0,5] q)"),
            ("p U[2,5] q;", "F[2,2] (p U[0,3] q)"),
            ("p R[2,5] q;", "G[2,2] (p R[0,3] q)"),
            ("p S[1,1] q;", "O[1,1] (p S[0,0] q)"),
            ("f: p T[1,3] q;", "H[1,1] (p T[0,2] q)"),
            ("p U[0,5] q;", "p U[0,5] q"),
            ("!p U[0,1] G[1,2] x == 3 && q || p;", "!p U[0,1] G[1,2] (x == 3) & q | p"),
            ("p -> q -> p <-> q xor p;", "((p -> q) -> p <-> q) ^ p"),
            ("d ∧ ¬q ∨ y / 2.0 ≥ abs(y - 1.5);", "d & !q | y / 2.0 >= abs(y - 1.5)"),
            ("true && !false;", "true & !false"),
            ("x + 2 * 3 - x <= 5;", "x + 2 * 3 - x <= 5"),
        ],
    );
    assert_eq!(
        made(
            "c2po",
            "INPUT p: bool; x: int;\nDEFINE n := x + 1; d := n > 2; e := p;\nFTSPEC p; b: d; PTSPEC H[0,3] d;"
        ),
        "let n = x + 1;\nlet d = n > 2;\nlet e = p;\nproperty f0 : p;\nproperty b : d;\nproperty f2 : G H[0,3] d;"
    );
}

#[test]
fn c2po_refusals() {
    refusals(
        "c2po",
        "INPUT p, q: bool; x: int; y: float; FTSPEC\n",
        &[
            ("c: p => q;", "contracts"),
            ("foreach(a: s)(a);", "counts over a set"),
            ("x / 2 > 1;", "whole numbers"),
            ("x % 2 > 1;", "`%`"),
            ("y == 1.5;", "compared for equality"),
            ("x & 1 == 1;", "`&` is not imported"),
            ("G[0,M] p;", "mission time"),
            ("G[3,1] p;", "interval is empty"),
            ("G p;", "expected `[`"),
            ("r;", "neither input nor definition"),
            ("p[1];", "has elements"),
            ("p.a;", "has elements"),
            ("S(p);", "found `S`"),
            ("x;", "a number stands where a formula is needed"),
            ("p > 1;", "a formula stands where a number is needed"),
            ("p: q;", "also an input"),
            ("p", "expected an operator or `;`"),
            ("x -3 > 1;", "found `-3`"),
            ("prev(p, true);", "no counterpart"),
        ],
    );
    refusals(
        "c2po",
        "",
        &[
            ("STRUCT s: { a: int; };", "structures"),
            ("INPUT a: int[3];", "arrays"),
            ("INPUT a: thing;", "structure"),
            ("p;", "expected `INPUT`"),
        ],
    );
}

#[test]
fn mltl_formulas() {
    assert_eq!(
        made("mltl", "# formulas\nG[0,2] a0 & a1\n\na0 U[1,3] !a1 -> true\na0 S[0,1] a1\n"),
        "property f0 : G[0,2] a0 & a1;\nproperty f1 : F[1,1] (a0 U[0,2] !a1) -> true;\nproperty f2 : G (a0 S[0,1] a1);"
    );
    refusals(
        "mltl",
        "",
        &[
            ("a0 &\n", "the end of the line"),
            ("b", "a proposition"),
            ("a0 a1", "found `a1`"),
            ("a01", "a proposition"),
        ],
    );
}

#[test]
fn deep_formulas_are_loops() {
    let depth = 100_000;
    for (format, open, atom, close) in [
        ("rtamt", "(", "x > 1", ")"),
        ("rtamt", "always ", "x > 1", ""),
        ("rtamt", "rise(", "x > 1", ")"),
        ("reelay", "not(", "{p}", ")"),
        ("mltl", "G[0,1] ", "a0", ""),
    ] {
        let text = format!("{}{atom}{}", open.repeat(depth), close.repeat(depth));
        let made = import("a", &text, format_named(format).unwrap(), &Options::default());
        assert!(!made.has_errors(), "{format} {open}");
    }
}

#[test]
fn formats_are_told_by_names_where_that_is_safe() {
    let name = |file, text| guess(file, text).map(|format| format.name);
    assert_eq!(name("a/b.c2po", ""), Some("c2po"));
    assert_eq!(name("a.mltl", ""), Some("mltl"));
    assert_eq!(name("a.rye", ""), Some("reelay"));
    assert_eq!(name("a.mfotl", ""), Some("monpoly"));
    assert_eq!(name("a.qtl", ""), Some("dejavu"));
    assert_eq!(name("a.stl", "phi := x[t] > 1"), Some("breach"));
    assert_eq!(name("a.stl", "phi = x > 1"), None);
    assert_eq!(name("a.txt", ""), None);
    assert_eq!(name("c2po", ""), None);
}

#[test]
fn nothing_to_import_is_an_error() {
    for format in tw_import::FORMATS {
        let made = import("a", " \n", format, &Options::default());
        assert!(made.has_errors(), "{}", format.name);
    }
}
