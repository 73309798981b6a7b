//! Random texts: whatever comes in, an import ends with a specification that reads back as itself, or with findings that can
//! be shown.

use tw_diag::{Sources, render};
use tw_import::{FORMATS, Format, Options, import};
use tw_testkit::{Rng, cases};

/// Words of all formats, with `¦` between them.
const WORDS: &str = "x¦y¦p¦q¦a0¦a1¦f¦T¦first¦_¦(¦)¦{¦}¦[¦]¦[0:3]¦[1,2]¦_[0, 2]¦[2]¦[0:]¦[t]¦=¦:=¦:¦;¦,¦\n¦ ¦0¦1¦2.5¦-¦1e3¦.5\
    ¦+¦*¦/¦<¦<=¦>¦>=¦==¦!=¦!==¦=>¦->¦<->¦!¦&¦&&¦|¦||¦not¦and¦or¦implies¦iff¦xor¦always¦G¦F¦U¦S¦R¦H¦O¦X¦Y¦P¦until¦since\
    ¦unless¦once¦historically¦pre¦prev¦next¦s_next¦rise(¦fall(¦abs(¦alw¦ev¦alw_¦ev_¦until_¦true¦false¦ms¦s\
    ¦INPUT p, q: bool; x: int; y: float;¦DEFINE¦FTSPEC¦PTSPEC¦param v=1¦const float c = 2¦float x¦{p}¦{x > 3}\
    ¦{m: \"a b\"}¦\"¦'¦#¦--¦//¦/*¦*/¦é¦\u{feff}¦\0¦::¦$¦@¦~¦%\
    ¦p(x)¦q(x, y)¦q(_, 3)¦FORALL x.¦EXISTS y.¦NOT¦AND¦ONCE[0,3d]¦SINCE¦UNTIL(0,*)¦LET r(x) = p(x) IN¦r(x)¦(*¦*)¦x-1¦MOD¦5d\
    ¦event a(T x) {}¦M(T x) {¦ere :¦fsm :¦ltl :¦@match {¦alias¦default¦[*]¦epsilon¦^3¦prop p :¦pred r(x) =¦pred p(x), q(x, y)¦Forall x .¦exists y .¦P¦S[<=3]¦[p(x), q(x, y))¦where¦x < y\
    ¦input x: Int64, p: Bool\n¦output y :=¦trigger¦constant c: Int64 := 3¦.offset(by: -1)¦.defaults(to: 0)¦.hold(or: 0)¦[-1, 0]¦@1Hz¦@x¦if p then¦else¦spawn with x¦eval when x == u with";

/// Complete expressions and declarations of a format, to be put together.
fn pieces(format: &str) -> (&'static [&'static str], &'static [&'static str], &'static [&'static str]) {
    match format {
        "rtamt" => (
            &["x > 1", "y <= 2.5", "x", "abs(x) == y", "a.b + 1 >= 0"],
            &["not ", "always ", "G[0:3] ", "eventually[1,2]", "H[0s:2s] ", "O", " prev ", "sX ", ""],
            &[" and ", " or ", "->", " until[0:2] ", " S ", " unless[0:1] ", " U "],
        ),
        "breach" => (
            &["x[t] > 1", "abs(x[t]-y[t]) < 2*.5", "true", "-x[t] <= 3"],
            &["not ", "alw ", "ev_[0,2] ", "alw_[.1, inf] ", ""],
            &[" and ", " or ", " => ", " until ", " until_[1,2] "],
        ),
        "rvm" => (
            &["a", "b", "S1", "true"],
            &["[] ", "<>", "o ", "(*) ", "[*]", "<*> ", "not ", "!", ""],
            &[" and ", " or ", " => ", " U ", " S ", " R ", " xor ", " <=> ", " ~S "],
        ),
        "reelay" => (
            &["{p}", "{x > 3}", "{m: a}", "{p: false, x == 1}"],
            &["not", "once[0:3]", "H", "pre", "historically[2:]"],
            &[" and ", "||", " -> ", " since[1:4] ", "S"],
        ),
        "mltl" => (
            &["a0", "a1", "true", "a12"],
            &["!", "G[0,3] ", "F[2]", "O[1,2] "],
            &["&", "|", "->", "<->", " U[0,3] ", " R[1,2] ", " S[2,4] "],
        ),
        "monpoly" => (
            &["p(x)", "q(x, y)", "q(_, 3)", "TRUE", "x < y", "y = \"a\"", "x + 1 >= 2 * y", "e()", "p(U)"],
            &[
                "NOT ",
                "ONCE[0,3d] ",
                "EVENTUALLY(0,5s] ",
                "PREV",
                "ALWAYS[1,*) ",
                "EXISTS x. ",
                "FORALL x, y. ",
                "",
            ],
            &[" AND ", " OR ", " IMPLIES ", " EQUIV ", " SINCE[0,2m) ", " UNTIL "],
        ),
        "lola" => (
            &[
                "p",
                "x > 1",
                "x[-1, 0] + 1 < y",
                "y.offset(by: -2).defaults(to: x) < 2.5",
                "o.last(or: false)",
                "x.hold(or: 1) = 2",
            ],
            &["!", "not ", "if p then p else ", "¬", ""],
            &[" && ", " or ", " -> ", " = ", " != ", " ∧ "],
        ),
        "dejavu" => (
            &["p(a)", "q(a, b)", "q(b, \"c\")", "true", "a < b", "b = 3", "e", "r(a, b)", "q(b, b)"],
            &["!", "@", "P ", "H[<=3] ", "P[>2]", ""],
            &[" & ", " | ", " -> ", " <-> ", " S ", " S[<=2] "],
        ),
        _ => (
            &["p", "q", "x > 1", "y >= 2.5", "abs(x) == 3", "false"],
            &["!", "G[0,3] ", "F[2]", "H[1,2] "],
            &["&&", "||", "->", "<->", " xor ", " U[0,3] ", " R[1,2] ", " T[2,4] "],
        ),
    }
}

/// An expression that is likely to be complete.
fn expression(rng: &mut Rng, format: &str, depth: usize) -> String {
    let (atoms, prefixes, infixes) = pieces(format);
    if depth == 0 || rng.below(5) == 0 {
        return rng.pick(atoms).to_owned();
    }
    let left = expression(rng, format, depth - 1);
    match rng.below(4) {
        0 => format!("{}({left})", rng.pick(prefixes)),
        1 => format!("({left}){}({})", rng.pick(infixes), expression(rng, format, depth - 1)),
        2 => format!("{left}{}{}", rng.pick(infixes), expression(rng, format, depth - 1)),
        _ => format!("({left})"),
    }
}

fn specification(rng: &mut Rng, format: &str) -> String {
    let depth = 1 + rng.below(5);
    let body = expression(rng, format, depth);
    match format {
        "rtamt" => format!("part = {}\nout = rise({body}) or part", expression(rng, format, 2)),
        "breach" => format!("part := {}\nphi := {body} and part", expression(rng, format, 2)),
        "monpoly" => format!(
            "LET s(x, U) = q(x, U) AND x > 1 IN EXISTS y. s(y, _) AND (n <- SUM y; x {body} AND q(x, y)) AND ({body})"
        ),
        "dejavu" => format!(
            "prop one : {} a . {} b . {body}\npred r(x, y) = exists z . q(x, z) S q(z, y)\nprop two : exists a . Forall b . {body}",
            rng.pick(&["Forall", "exists", "forall"]),
            rng.pick(&["Exists", "exists", "forall"])
        ),
        "rvm" => format!(
            "{} M1(T x, U y) {{ creation event a(T x) {{}} event b after(T x) returning(U y) : call(f(..)) {{}} event S1() {{}} \
             ltl : {body} {} {{ print(\"no \" + x); }} fsm : s [ a -> s, default t ] t [] @t {{}} ere : a~(b | S1)*{} }}",
            rng.pick(&["", "unsynchronized", "full-binding"]),
            rng.pick(&["@violation", "@validation"]),
            rng.pick(&["", "b^2", "& a+", "| epsilon"])
        ),
        "lola" => format!(
            "input x: Int64, p: Bool\ninput float y\noutput o: Bool := {body}\noutput n := if o then x else n[-1|0]\ntrigger {body} \"t\""
        ),
        "c2po" => format!("INPUT p, q: bool; x: int; y: float; FTSPEC {body}; named: {body};"),
        _ => body,
    }
}

/// Whether something was made; whatever was made reads back as itself.
fn check(format: &Format, text: &str) -> bool {
    let made = import("a.txt", text, format, &Options::default());
    let mut sources = Sources::default();
    sources.add("a.txt", text);
    let shown = render(&made.diagnostics, &sources, true);
    if made.has_errors() {
        assert!(made.value.is_empty() && !shown.is_empty(), "{}: {text:?}", format.name);
        return false;
    }
    let parsed = tw_spec::parse(&made.value, 0);
    assert!(!parsed.has_errors(), "{}: {text:?} is made to\n{}", format.name, made.value);
    assert_eq!(tw_spec::print(&parsed.value), made.value, "{}: {text:?}", format.name);
    let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
    assert!(
        !lowered.has_errors(),
        "{}: {text:?} is made to\n{}\n{:?}",
        format.name,
        made.value,
        lowered.diagnostics
    );
    true
}

#[test]
fn whatever_is_made_reads_back_as_itself() {
    // Diagrams have no expressions; tests/diagrams.rs has theirs.
    for format in FORMATS.iter().filter(|format| !format.is_diagram()) {
        let mut rng = Rng::new(7);
        let count = cases(400);
        let complete = (0..count).filter(|_| check(format, &specification(&mut rng, format.name))).count();
        assert!(complete * 4 > count as usize, "{}: only {complete} of {count} were read", format.name);
    }
}

#[test]
fn broken_texts_end_in_findings() {
    let words: Vec<&str> = WORDS.split('¦').collect();
    for format in FORMATS {
        let mut rng = Rng::new(8);
        for _ in 0..cases(400) {
            let mut text = specification(&mut rng, format.name);
            for _ in 0..1 + rng.below(3) {
                let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
                let at = rng.pick(&places);
                if rng.below(3) == 0 {
                    text.truncate(at);
                    text.push(' ');
                } else {
                    text.insert_str(at, rng.pick(&words));
                }
            }
            check(format, &text);
            let soup: String = (0..rng.below(12))
                .map(|_| rng.pick(&words))
                .collect::<Vec<_>>()
                .join(if rng.below(2) == 0 { " " } else { "" });
            check(format, &soup);
        }
    }
}
