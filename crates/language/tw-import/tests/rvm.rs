//! RV-Monitor's and JavaMOP's monitors: what they are read as, what is said, and what is refused.

use tw_diag::{Severity, Sources, render};
use tw_import::{Options, format_named, guess, import};

fn shown(text: &str, found: &[tw_diag::Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("spec.mop", text);
    render(found, &sources, false)
}

/// The lines of what is made, without comments, and what was said about it.
fn made(text: &str) -> (String, String) {
    let made = import("spec.mop", text, format_named("rvm").unwrap(), &Options::default());
    assert!(!made.has_errors(), "{text}\n{}", shown(text, &made.diagnostics));
    let parsed = tw_spec::parse(&made.value, 0);
    assert!(!parsed.has_errors(), "{text}\n{}\n{:?}", made.value, parsed.diagnostics);
    assert_eq!(tw_spec::print(&parsed.value), made.value, "{text}");
    let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
    assert!(!lowered.has_errors(), "{text}\n{}\n{:?}", made.value, lowered.diagnostics);
    let lines = made.value.lines().filter(|line| !line.trim_start().starts_with("//") && !line.is_empty());
    (lines.map(str::trim).collect::<Vec<_>>().join("\n"), shown(text, &made.diagnostics))
}

const MAP: &str = r#"package mop;

import java.util.*;

/**
 * Warns if a map is changed while one of its views is iterated over. Long story.
 *
 * @severity error
 */
Map_UnsafeIterator(Map m, Collection c, Iterator i) {
    creation event getC after(Map m) returning(Collection c) :
        ( call(Set Map+.keySet()) || call(Collection Map+.values()) ) && target(m) {}
    event getI after(Collection c) returning(Iterator i) :
        call(Iterator Iterable+.iterator()) && target(c) {}
    event modifyM before(Map m) : call(* Map+.put*(..)) && target(m) {}
    event modifyM before(Map m) : call(* Map+.clear()) && target(m) {}
    event modifyC before(Collection c) : call(* Collection+.add*(..)) && target(c) {}
    event useI before(Iterator i) : call(* Iterator.next()) && target(i) {}

    ere : getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI

    @match {
        RVMLogging.out.println(Level.CRITICAL, __DEFAULT_MESSAGE);
        RVMLogging.out.println(Level.CRITICAL, "The iterator " + i + " of " + c.size() + " things is stale.");
    }
}
"#;

#[test]
fn map_unsafe_iterator() {
    let (lines, said) = made(MAP);
    assert_eq!(said, "");
    assert_eq!(
        lines,
        "monitor Map_UnsafeIterator(m, c, i) \"Warns if a map is changed while one of its views is iterated over\" error {\n\
         creation event getC(m, c);\n\
         event getI(c, i);\n\
         event modifyM(m);\n\
         event modifyC(c);\n\
         event useI(i);\n\
         ere : getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI;\n\
         on match \"The iterator {i} of … things is stale.\";\n}"
    );
    let whole = import("dir/Map.mop", MAP, format_named("rvm").unwrap(), &Options::default()).value;
    assert!(whole.contains("// Map.mop:10\n"), "{whole}");
    assert!(
        whole.contains("// after ( call(Set Map+.keySet()) || call(Collection Map+.values()) ) && target(m)")
    );
    assert!(whole.contains("before call(* Map+.put*(..))") && whole.contains("before call(* Map+.clear())"));
}

#[test]
fn reader_and_iterator() {
    let (lines, _) = made(
        "Reader_ManipulateAfterClose(Reader r) {\n event close(Reader r) {}\n event manipulate(Reader r) {}\n ere : close+ manipulate+\n @match { System.err.println(\"closed\"); }\n}",
    );
    assert!(lines.contains("ere : close+ manipulate+;\non match \"closed\";"), "{lines}");
    let (lines, said) = made(
        "/** @severity warning */ Iterator_HasNext(Iterator i) {\n\
         event hasnexttrue after(Iterator i) returning(boolean b) : call(* Iterator.hasNext()) && target(i) && condition(b) { }\n\
         event next before(Iterator i) : call(* Iterator.next()) && target(i) {}\n\
         ltl : [](next => (*) hasnexttrue)\n@violation { System.out.println(\"no \\\"hasNext\\\" {before}\"); } }",
    );
    assert_eq!(
        lines,
        "monitor Iterator_HasNext(i) warning {\nevent hasnexttrue(i);\nevent next(i);\n\
         ltl : G (`next` -> Y hasnexttrue);\non violation \"no \\\"hasNext\\\" {{before}}\";\n}"
    );
    // The parameter that the monitor lacks, and the condition, with their places.
    assert!(
        said.contains("`b` of the event `hasnexttrue` is no parameter") && said.contains("spec.mop:2:"),
        "{said}"
    );
    assert!(said.contains("has a condition in the program's language"), "{said}");
}

fn logic(text: &str) -> String {
    let text = format!("M(T x) {{ event a(T x) {{}} event b(T x) {{}} event S1(T x) {{}} {text} }}");
    let (lines, _) = made(&text);
    let at = lines.find("event S1(x);\n").unwrap() + "event S1(x);\n".len();
    lines[at..].trim_end_matches(['}', '\n']).replace('\n', " ")
}

#[test]
fn formulas() {
    for (text, expected) in [
        ("a U b S a and b", "(a U b) S a & b"),
        ("a S b U a", "a S b U a"),
        ("(a S b) U a", "(a S b) U a"),
        ("not a or b xor a /\\ b => a <=> b", "!a | (b ^ a & b) -> a <-> b"),
        ("a => b => a", "a -> b -> a"),
        ("o <*> [*] <> a", "X O H F a"),
        ("a R b", "a R b"),
        ("a ~U b ~S a", "(a R b) T a"),
        ("!(a ++ b) && S1 \\/ false", "!(a ^ b) & S1 | false"),
    ] {
        assert_eq!(logic(&format!("ltl: {text}")), format!("ltl : {expected};"), "{text}");
    }
    assert_eq!(logic("ptltl: a => (*) b @violation {}"), "ltl : G (a -> Y b); on violation;");
    assert_eq!(logic("ptltl: a and b @validation {}"), "ltl : G !(a & b); on violation;");
}

#[test]
fn expressions() {
    for (text, expected) in [
        ("a b | a & b", "a b | a & b"),
        ("~a b*", "~a b*"),
        ("~(a b)* ", "~(a b)*"),
        ("(a | epsilon) S1+", "(a | epsilon) S1+"),
        ("a^3 b", "a a a b"),
        ("empty | a", "~(a | b | S1)* | a"),
        ("((a))", "a"),
        ("a (b a)* // done\n", "a (b a)*"),
    ] {
        assert_eq!(logic(&format!("ere: {text}")), format!("ere : {expected};"), "{text}");
    }
    let (lines, _) = made("suffix M(T x) { event a(T x) {} event b(T x) {} ere : a b | b a @match {} }");
    assert!(lines.contains("ere : (a | b)* (a b | b a);"), "{lines}");
}

#[test]
fn machines() {
    let text = "fsm : start [ a -> other b -> start ] other [ default start, a -> other ] end [] alias match = other, end\n\
                @match { print(\"x\"); } @START {} @fail { }";
    assert_eq!(
        logic(text),
        "fsm : start [ a -> other, b -> start ] other [ a -> other, b -> start, S1 -> start ] end [ ]; \
         on other \"x\"; on end \"x\"; on start; on fail;"
    );
}

#[test]
fn monitors_without_a_logic() {
    let (lines, said) = made(
        "/** Parses. */ Raw(Integer n) { static HashSet<T> seen = new HashSet<T>(); void f(int x) { seen.add(x); }\n\
         event note(Integer n) { seen.add(n); }\n\
         event bad before(Integer n) : call(* Integer.parse(..)) && if (n < 0) { Log.out(\"negative: \" + n); }\n\
         event worse(Integer n) { Log.out(\"negative: \" + n); } }",
    );
    assert!(
        lines.ends_with("event bad(n);\nevent worse(n);\non match \"negative: {n}\";\n}")
            && !lines.contains("note"),
        "{lines}"
    );
    assert!(
        said.contains("the event `note` reports nothing") && said.contains("has code of its own"),
        "{said}"
    );
    let (lines, _) =
        made("#include <stdio.h>\n%{ int x; }} %}\nSeatBelt { event off() {} event on(void) {} }");
    assert_eq!(lines, "monitor SeatBelt {\nevent off;\nevent on;\n}");
}

#[test]
fn several_logics_are_several_monitors() {
    let (lines, _) = made(
        "full-binding Mo(Map<K, List<V>> m) { event a(Map<K, List<V>> m) {} ere : a @match {} ltl : [] a @violation {} }\nNo() { event F() {} ltl: <> F }",
    );
    assert_eq!(lines.matches("monitor Mo").count(), 2, "{lines}");
    assert!(lines.contains("monitor Mo_2(m)") && lines.contains("ltl : F `F`;"), "{lines}");
}

#[test]
fn files_are_told_by_their_names() {
    assert_eq!(guess("a/b.mop", "").map(|format| format.name), Some("rvm"));
    assert_eq!(guess("HasNext.rvm", "").map(|format| format.name), Some("rvm"));
}

#[test]
fn refusals() {
    let body = "event a(T x) {} event b(T x) {}";
    for (text, expected) in [
        ("", "found the end of the file, expected a monitor"),
        ("M(T x) { event a(T x) {}", "the monitor `M` is never closed"),
        ("M(T x) { event a(T x) { foo( } }", "found `}`, expected `)`"),
        ("M(T x) { event a(T x) { \"x } }", "this text is never closed"),
        ("M(T x) { /* event a(T x) { }", "this comment is never closed"),
        ("M(T x) { }", "`M` has no event"),
        ("M(T x, U x) { event a(T x) {} }", "`x` is declared twice"),
        ("M(T x) { event a(T x) {} } M() { event a() {} }", "`M` is defined twice"),
        ("perthread M(T x) { event a(T x) {} }", "has a monitor for each thread"),
        ("nonsense M(T x) { event a(T x) {} }", "found `nonsense`"),
        ("M(T x) { BODY cfg : S -> a S b | epsilon @match {} }", "the logic `cfg` has no equal here"),
        ("M(T x) { BODY quux : a b }", "found `quux`, expected an event"),
        ("M(T x) { BODY @match {} }", "found `@match`, expected a logic before it"),
        ("M(T x) { BODY ere : a @violation {} }", "found `@violation`, expected `@match` or `@fail`"),
        ("M(T x) { BODY ere : a c @match {} }", "found `c`, which is no event of the monitor"),
        ("M(T x) { BODY ere : (a b @match {} }", "this `(` is never closed"),
        ("M(T x) { BODY ere : a) b @match {} }", "found `)`"),
        ("M(T x) { BODY ere : @match {} }", "expected an event or `(`"),
        ("M(T x) { BODY ere : a^9999 }", "more than 1000 times"),
        ("M(T x) { BODY fsm : s [ a -> t ] }", "found `t`, which is no state of the machine"),
        ("M(T x) { BODY fsm : s [ a -> s a -> s ] }", "two moves from one state"),
        ("M(T x) { BODY fsm : s [ a -> s ] @t {} }", "found `@t`, expected `@fail`"),
        ("M(T x) { BODY ltl : [](a => ) }", "found `)`, expected an event"),
        ("M(T x) { BODY ltl : a b }", "found `b`, expected an operator"),
        ("M(T x) { BODY ptltl : a @violation {} @validation {} }", "judged at every event"),
        ("M(T x, T y) { event a(T x) {} event a(T y) {} }", "is declared twice, with other parameters"),
        ("suffix M(T x) { BODY fsm : s [ a -> s ] }", "`suffix` judges every suffix"),
    ] {
        let text = text.replace("BODY", body);
        let made = import("spec.mop", &text, format_named("rvm").unwrap(), &Options::default());
        assert_eq!(made.value, "", "{text} is made to {}", made.value);
        let found = made.diagnostics.iter().find(|found| found.severity == Severity::Error);
        let found = shown(&text, std::slice::from_ref(found.unwrap_or_else(|| panic!("{text}"))));
        assert!(found.contains(expected) && found.contains("spec.mop:1:"), "{text}: {found}");
    }
}

/// Deep and long texts take their time, not its square, and no stack.
#[test]
fn large_files() {
    let deep = format!("M() {{ event a() {{}} ere : {}a{} }}", "(".repeat(100_000), ")".repeat(100_000));
    let (lines, _) = made(&deep);
    assert!(lines.contains("ere : a;"));
    let deep = format!(
        "M() {{ event a() {{ {}{} }} ltl : {} a }}",
        "{".repeat(100_000),
        "}".repeat(100_000),
        "!".repeat(100_000)
    );
    let read = import("m.mop", &deep, format_named("rvm").unwrap(), &Options::default());
    assert!(!read.has_errors());
    let many: String =
        (0..20_000).map(|i| format!("M{i}(T x) {{ event a(T x) {{}} ere : a a }}\n")).collect();
    let read = import("m.mop", &many, format_named("rvm").unwrap(), &Options::default());
    assert!(read.diagnostics.is_empty() && read.value.matches("monitor M").count() == 20_000);
}
