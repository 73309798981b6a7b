//! What RTLola and Lola are read as, and what is refused.

use tw_diag::{Severity, Sources, render};
use tw_import::{Options, format_named, guess, import};

/// The declarations of what is made, one a line, without comments.
fn made(text: &str) -> String {
    let made = import("spec.lola", text, format_named("lola").unwrap(), &Options::default());
    let mut sources = Sources::default();
    sources.add("spec.lola", text);
    assert!(!made.has_errors(), "{text}\n{}", render(&made.diagnostics, &sources, false));
    let parsed = tw_spec::parse(&made.value, 0);
    assert!(!parsed.has_errors(), "{text}\n{}", made.value);
    assert_eq!(tw_spec::print(&parsed.value), made.value, "{text}");
    let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
    assert!(!lowered.has_errors(), "{text}\n{}\n{:?}", made.value, lowered.diagnostics);
    let lines = made.value.lines().filter(|line| !line.starts_with("//") && !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

fn refused(text: &str) -> String {
    let made = import("spec.lola", text, format_named("lola").unwrap(), &Options::default());
    assert_eq!(made.value, "", "{text} is made to {}", made.value);
    let found = made.diagnostics.iter().find(|found| found.severity == Severity::Error).unwrap();
    let mut sources = Sources::default();
    sources.add("spec.lola", text);
    render(std::slice::from_ref(found), &sources, false)
}

const HEAD: &str = "input a: Int64, b: Int64, x: Float64, y: Float64, p: Bool, q: Bool, s: String\n";

#[test]
fn equations() {
    for (text, expected) in [
        ("output o := a + b * 2 - a % 3", "stream o: int = a + b * 2 - a % 3;"),
        ("output o: Float64 := x / y", "stream o: real = x / y;"),
        ("output o := -x", "stream o: real = -x;"),
        ("output o: Float64 := a", "stream o: real = a;"),
        ("output o := a.offset(by: -1).defaults(to: 0)", "stream o: int = a[-1|0];"),
        ("output o := a.offset(by: -2, or: -7)", "stream o: int = a[-2|-7];"),
        ("output o := x.last(or: 1.5)", "stream o: real = x[-1|1.5];"),
        ("output o := x.last(or: 1)", "stream o: real = x[-1|1];"),
        ("output o := a[-1].defaults(to: 3)", "stream o: int = a[-1|3];"),
        ("output o := a[-1, 3] + a[2|0]", "stream o: int = a[-1|3] + a[+2|0];"),
        ("output o := p[-1, false] || q[+1, true]", "stream o: bool = p[-1|false] | q[+1|true];"),
        ("output o := delta(x, dft: 0.0)", "stream o: real = x - x[-1|0.0];"),
        ("output o := o.offset(by: -1).defaults(to: 0) + 1", "stream o: int = o[-1|0] + 1;"),
        ("output o @a := a + 1", "stream o: int = a + 1;"),
        ("output o: Int64 @(a && b) := a + b", "stream o: int = a + b;"),
        ("output o eval @a with a", "stream o: int = a;"),
        ("output o := if a > 3 then a else b", "stream o: int = if a > 3 then a else b;"),
        (
            "output o := if p then if q then 1 else 2 else if q then 3 else 4 + 1",
            "stream o: int = if p then if q then 1 else 2 else if q then 3 else 4 + 1;",
        ),
        ("output o := (if p then 1 else 2) + 1", "stream o: int = (if p then 1 else 2) + 1;"),
        ("output o := ite(p, a, b) > 2", "stream o: bool = if p then a else b > 2;"),
        ("output o := !p && q || p -> q", "stream o: bool = !p & q | p -> q;"),
        ("output o := ¬p ∧ q ∨ p → q", "stream o: bool = !p & q | p -> q;"),
        ("output o := not p and q or p implies q", "stream o: bool = !p & q | p -> q;"),
        ("output o := a < b = p", "stream o: bool = a < b <-> p;"),
        ("output o := a ≤ b && x ≥ 1.5 && a ≠ 3", "stream o: bool = a <= b & x >= 1.5 & a != 3;"),
        ("output o := s == \"on\"", "stream o: bool = s == \"on\";"),
        ("output o := max(abs(x - y), min(x, 2.0))", "stream o: real = max(abs(x - y), min(x, 2.0));"),
        ("output o := (x - y).abs()", "stream o: real = abs(x - y);"),
        ("output o := cast<Int64, Float64>(a) / cast(b)", "stream o: real = a / b;"),
        ("output o := a - (b - a)", "stream o: int = a - (b - a);"),
        // What is computed stands in where there is no such position.
        ("output o := a.offset(by: -1).defaults(to: b)", "stream o: int = if first then b else a[-1|0];"),
        ("output o := p.offset(by: 1).defaults(to: q)", "stream o: bool = if last then q else p[+1|false];"),
        (
            "output o := s.offset(by: -2).defaults(to: s)",
            "stream o: string = if true[-2|false] then s[-2|\"\"] else s;",
        ),
        ("output o := x.get(or: 0.0)", "stream o: real = if has(x) then x else 0.0;"),
        ("output o := x.is_fresh()", "stream o: bool = has(x);"),
    ] {
        assert_eq!(made(&format!("{HEAD}{text}")), expected, "{text}");
    }
}

#[test]
fn declarations() {
    assert_eq!(
        made(
            "import math\n#![hidden]\nconstant limit: Float64 := 2.5 // top\ninput x: Float64\n\
             #[public, note=\"n\"] output high := x > limit\noutput held := x.offset(by: -1).defaults(to: limit)\n\
             trigger high && held > 1.0 \"too \\ high\"\ntrigger @x !high\ntrigger eval when high with \"again\""
        ),
        "let limit = 2.5;\nstream high: bool = x > limit;\nstream held: real = x[-1|2.5];\n\
         trigger trigger_1 \"too \\\\ high\" : high & held > 1.0;\ntrigger trigger_2 : !high;\n\
         trigger trigger_3 \"again\" : high;"
    );
    // The older notation, and what comes later in the text.
    assert_eq!(
        made(
            "input bool p, q\ninput int n\noutput int count := if p then count[-1, 0] + 1 else later\n\
             output int later = n[1|0]\ntrigger (count > 3)"
        ),
        "stream count: int = if p then count[-1|0] + 1 else later;\nstream later: int = n[+1|0];\n\
         trigger trigger_1 : count > 3;"
    );
    // Types go through streams that are defined further down.
    assert_eq!(
        made("output a := b\noutput b := c\noutput c := x > 1\ninput x: Int8"),
        "stream a: bool = b;\nstream b: bool = c;\nstream c: bool = x > 1;"
    );
    // Names that mean something else in the language.
    assert_eq!(
        made("input time: Float64, T: Bool, first: Int64\noutput U := time > 1.0 && T && first > 1"),
        "stream `U`: bool = `time` > 1.0 & `T` & `first` > 1;"
    );
}

/// Notations of the papers and of earlier versions.
#[test]
fn older_notations() {
    for (text, expected) in [
        ("output bool o = p \\/ q /\\ !p", "stream o: bool = p | q & !p;"),
        (
            "output bool o = if (p[1|false] => q) then p[-1|false] else q[1|false]",
            "stream o: bool = if p[+1|false] -> q then p[-1|false] else q[+1|false];",
        ),
        ("output int o = o[-1, 0] + (a mod 2)", "stream o: int = o[-1|0] + a % 2;"),
        ("output o := (p[-1] ? false) & !p", "stream o: bool = p[-1|false] & !p;"),
        ("output o := x - (x[-1]?x)", "stream o: real = x - if first then x else x[-1|0];"),
        ("output o := (x[1s, count] ? 9) < 9", "stream o: bool = (count[has(x) over 1s] ?? 9) < 9;"),
        ("output o := x[5s, avg]", "stream o: real = avg[x over 5s];"),
        (
            "output o := (x ! 0.0) - 1.0",
            "stream x_held: real = if has(x) then x else x_held[-1|0.0];\nstream o: real = x_held - 1.0;",
        ),
        ("output o(u: String) spawn with (s) eval when u == s with 1", "stream o: int = 1 by s;"),
    ] {
        assert_eq!(made(&format!("{HEAD}{text}")), expected, "{text}");
    }
    assert_eq!(
        made("input IPv4::ttl: UInt64\noutput n @(IPv4::ttl) := IPv4::ttl + IPv4::ttl[-1, 0]"),
        "stream n: int = `IPv4::ttl` + `IPv4::ttl`[-1|0];"
    );
}

#[test]
fn the_latest_value_is_a_stream_of_its_own() {
    assert_eq!(
        made(
            "input a: Int64, b: Int64\noutput o @a := a + b.hold(or: 0)\n\
             output again := b.hold().defaults(to: 0) * 2\noutput other := b.hold(or: 1)"
        ),
        "stream b_held: int = if has(b) then b else b_held[-1|0];\nstream o: int = a + b_held;\n\
         stream again: int = b_held * 2;\nstream b_held_: int = if has(b) then b else b_held_[-1|1];\n\
         stream other: int = b_held_;"
    );
}

#[test]
fn instances_are_streams_by_a_column() {
    assert_eq!(
        made(
            "input user: String, failed: Bool\n\
             output fails(u: String): Int64 spawn with user eval when user == u with \
             if failed then fails(u).offset(by: -1).defaults(to: 0) + 1 else 0\n\
             output many(u) spawn with user eval when u = user with fails(u) > 3\n\
             trigger many(user) \"locked out\""
        ),
        "stream fails: int = if failed then fails[-1|0] + 1 else 0 by user;\n\
         stream many: bool = fails > 3 by user;\ntrigger trigger_1 \"locked out\" : many;"
    );
}

#[test]
fn windows() {
    for (text, expected) in [
        ("x.aggregate(over: 10s, using: avg).defaults(to: 0.0)", "real = avg[x over 10s] ?? 0.0"),
        ("x.aggregate(over: 0.5min, using: sum)", "real = sum[x over 0.5m]"),
        ("a.aggregate(over_discrete: 5, using: max) + 1", "int = max[a over 5] + 1"),
        ("x.aggregate(over: 1h, using: count)", "int = count[has(x) over 1h]"),
        ("p.aggregate(over: 2s, using: exists)", "bool = count[p over 2s] > 0"),
        ("p.aggregate(over: 2s, using: ∀)", "bool = count[!p over 2s] == 0"),
        ("x.aggregate(over: 3ms, using: sd)", "real = stddev[x over 3ms]"),
        ("x.aggregate(over: 3ms, using: σ²)", "real = var[x over 3ms]"),
        ("s.aggregate(over_discrete: 2, using: last)", "string = last[s over 2]"),
    ] {
        assert_eq!(made(&format!("{HEAD}output o := {text}")), format!("stream o: {expected};"), "{text}");
    }
}

#[test]
fn refusals() {
    for (text, expected) in [
        ("output o @1Hz := a", "`@1Hz`: a stream that a clock evaluates"),
        ("output o @Global(0.5Hz) := a.hold(or: 0)", "a clock evaluates"),
        ("trigger @10Hz a > 1", "a clock evaluates"),
        ("output o { extend @ 2Hz } := a", "a clock extends"),
        ("output o spawn when p eval with a", "begins later (`spawn`)"),
        ("output o eval when p with a", "pauses (`eval when`)"),
        ("output o eval with a when p", "pauses (`eval when`)"),
        ("output o eval with a close when p", "`close`"),
        ("output o eval with a eval with b", "a second `eval`"),
        ("output o mirrors a when p", "`mirrors`"),
        ("output o(u: Int64) spawn with a eval with 1", "evaluated at the events of others"),
        ("output o(u: Int64) spawn with a eval when b == u with 1", "pauses"),
        ("output o(u: Int64) spawn when p with a eval with 1", "on a condition or a clock"),
        ("output o(u: Int64, v: Int64) spawn with (a, b) eval with 1", "several parameters"),
        ("output o(u: Int64) := 1", "nothing says which instances"),
        (
            "output o(u) spawn with a eval when a == u with b.offset(by: -1).defaults(to: 0)",
            "of another stream inside",
        ),
        ("output o(u) spawn with a eval when a == u with 1\noutput n := o(b)", "another instance of `o`"),
        (
            "output o(u) spawn with a eval when a == u with 1\noutput n := o + 1",
            "`o` has an instance per key",
        ),
        (
            "output o(u) spawn with a eval when a == u with 1\noutput n := o(a).offset(by: -1).defaults(to: 0)",
            "of an instance from outside",
        ),
        ("output o <Int64 u>: a", "a template with parameters"),
        ("output (int u) o: a", "a template with parameters"),
        ("output o := (a, b)", "a tuple"),
        ("output o := a.0", "a part of a tuple"),
        ("output o := (a + b) ! 0", "a lookup of something that is no stream"),
        ("output o := (a + b)[-1] ? 0", "an offset of something that is no stream"),
        ("output o(u: Int64) spawn with (a, b) eval when a == u with 1", "more than the value of an input"),
        ("output o(u: Int64) spawn with a eval when a == u", "without values (`eval` without `with`)"),
        ("trigger eval when p with \"t\" eval when q with \"u\"", "a second `eval`"),
        ("input t: (Int64, Int64)", "a stream of tuples"),
        ("output o := a / b", "`/` of whole numbers"),
        ("output o := a << 2", "bits of a number"),
        ("output o := ~a", "bits of a number"),
        ("output o := a & b", "connectives take truth values"),
        ("output o := x ** 2.0", "a power"),
        ("output o := sqrt(x)", "the function `sqrt`"),
        ("output o := x.sin()", "the function `sin`"),
        ("output o := cast<Float64, Int64>(x)", "a `cast` to `Int64`"),
        ("output o := a.offset(by: -1)", "without a default"),
        ("output o := a.offset(by: 0).defaults(to: 1)", "an offset of 0"),
        ("output o := a[0, 1]", "an offset of 0"),
        ("output o := a.offset(by: -1s).defaults(to: 0)", "by a length of time"),
        ("output o := a.offset(by: -2000000).defaults(to: 0)", "a million at most"),
        ("output o := (a + b).offset(by: -1).defaults(to: 0)", "of something that is no stream"),
        ("output o := a.hold(or: b)", "a default of `hold` that is computed"),
        ("output o := x.aggregate(over: 1s, using: exists)", "these windows take truth values"),
        ("output o := s.aggregate(over: 1s, using: avg)", "found a text"),
        ("output o := x.aggregate(over_discrete: 0, using: avg)", "this window"),
        ("output o := x.aggregate(over: 1s, using: integral)", "a window of `integral`"),
        ("output o := x.aggregate(over_exactly: 1s, using: sum)", "waits until it is full"),
        ("output o := x.aggregate(over_instances: all, using: sum)", "over instances"),
        ("output o: (Int64, Bool) := a", "a stream of tuples"),
        ("output o: Int64? := a", "may have no value"),
        ("output o: Bytes := a", "the type `Bytes`"),
        ("input z(p: Int64): Bool", "has parameters"),
        ("include \"other.lola\"", "`include`"),
        ("type Point { x: Int64 }", "several fields"),
        ("constant c: Int64 := 1 + 2\noutput o := c", "a constant that is computed"),
        ("trigger p \"at {}\" (a)", "a text with values"),
        // Not of the language, or not of the type.
        ("output o := a +", "expected an expression"),
        ("output o := a +\noutput n := b", "expected an expression"),
        ("output o := if p then a", "expected `else`"),
        ("output o := (a", "expected `)`"),
        ("output o := z", "`z` is neither an input nor an output"),
        ("output a := 1", "`a` is defined twice"),
        ("output o := p + 1", "found a truth value"),
        ("output o := if a then 1 else 2", "a condition is a truth value"),
        ("output o := if p then 1 else s", "both branches have one type"),
        ("output o: Bool := a", "found a whole number"),
        ("output o: Int64 := x", "found a number"),
        ("output o := a.offset(by: -1).defaults(to: false)", "found a truth value"),
        ("output o := a.offset(by: -1).defaults(to: 1.5)", "found a number"),
        ("output o := o", "cannot be told"),
        ("trigger a", "a trigger is a truth value"),
        ("output o a", "expected"),
        ("nonsense", "expected `input`"),
        ("output o := 10s", "a length of time"),
    ] {
        let found = refused(&format!("{HEAD}{text}"));
        assert!(found.contains(expected), "{text}: {found}");
        assert!(found.contains("spec.lola:"), "{text}: {found}");
    }
    assert!(refused("input a: Int64").contains("no output and no trigger"));
}

#[test]
fn the_extension_tells() {
    for name in ["x.lola", "x.rtlola", "y/x.spec"] {
        assert_eq!(guess(name, "").map(|format| format.name), Some("lola"));
    }
}

/// Expressions and defaults nested deep are loops.
#[test]
fn deep_expressions() {
    let depth = 20_000;
    let text = format!("input a: Int64\noutput o := {}a{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(made(&text), "stream o: int = a;");
    let text = format!(
        "input a: Int64, p: Bool\noutput o := {}a{}",
        "a.offset(by: -1).defaults(to: ".repeat(depth),
        ")".repeat(depth)
    );
    assert!(import("d.lola", &text, format_named("lola").unwrap(), &Options::default()).value.len() > depth);
    let text = format!("input p: Bool\noutput o := {}true", "if p then false else ".repeat(depth));
    assert!(import("d.lola", &text, format_named("lola").unwrap(), &Options::default()).value.len() > depth);
}
