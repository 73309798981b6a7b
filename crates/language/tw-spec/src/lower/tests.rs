//! What specifications become, and what is said about wrong ones.

use super::{LowerOptions, lower};
use crate::{parse, parse_formula, parse_query};
use std::time::{Duration, Instant};
use tw_diag::{Checked, Severity};
use tw_ir::{ArgumentKey, Expect, Node, Program, What, display};

fn program(parsed: Checked<crate::ast::Tree>, text: &str) -> Checked<Program> {
    assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
    lower(&parsed.value, &LowerOptions::default())
}

fn spec(text: &str) -> Checked<Program> {
    program(parse(text, 0), text)
}

fn good(text: &str) -> Program {
    let lowered = spec(text);
    assert!(lowered.diagnostics.is_empty(), "{text}: {:?}", lowered.diagnostics);
    lowered.value
}

/// The slots of a program, in short, but for those of event patterns with variables ([`tuples`]).
fn slots(program: &Program) -> Vec<String> {
    let others = program.slots.iter().filter(|slot| !matches!(slot.what, What::Tuples { .. }));
    others.map(shown).collect()
}

/// The slots of event patterns with variables.
fn tuples(program: &Program) -> Vec<String> {
    program.slots.iter().filter(|slot| matches!(slot.what, What::Tuples { .. })).map(shown).collect()
}

fn shown(slot: &tw_ir::Slot) -> String {
    let what = match &slot.what {
        What::Proposition(path) => format!("{path}"),
        What::Variable(path, expect) => format!("{path}: {expect:?}"),
        What::Timing(timing) => format!("{}()", timing.measure.name()),
        What::Stream { .. } | What::Shift(_) | What::Window(_) => tw_ir::display_slot(&slot.what),
        What::Event { name, arguments, arity } => {
            let keys = arguments.iter().map(|(key, value)| match key {
                ArgumentKey::Index(at) => format!("{at}={value}"),
                ArgumentKey::Name(name) => format!("{name}={value}"),
                ArgumentKey::Declared { index, name, .. } => format!("{index}/{name}={value}"),
            });
            let arity = arity.map_or(String::new(), |n| format!("/{n}"));
            format!("event {name}{arity}({})", keys.collect::<Vec<_>>().join(", "))
        }
        What::Tuples { name, constants, arity, arguments } => {
            let arity = arity.map_or(String::new(), |n| format!("/{n}"));
            format!("tuples {name}{arity} {constants:?} {arguments:?}")
        }
    };
    if slot.declared { format!("{what} declared") } else { what }
}

#[test]
fn formulas_become_nodes() {
    // Formula, what it is displayed as ("" for itself), its slots.
    let table: &[(&str, &str, &[&str])] = &[
        ("p", "", &["p"]),
        ("G (req -> F ack)", "", &["req", "ack"]),
        ("always (req implies eventually ack)", "G (req -> F ack)", &["req", "ack"]),
        ("((a & b) & c) | !(!d)", "a & b & c | !!d", &["a", "b", "c", "d"]),
        ("a & (b & c)", "", &["a", "b", "c"]),
        ("a U (b U c)", "a U b U c", &["a", "b", "c"]),
        ("(a U b) S c", "", &["a", "b", "c"]),
        ("(a -> b) -> c -> d", "", &["a", "b", "c", "d"]),
        ("(a <-> b) <-> (c ^ d)", "a <-> b <-> c ^ d", &["a", "b", "c", "d"]),
        ("X N F G Y Z O H p", "", &["p"]),
        (
            "(a W b) & (a R b) & (a M b) & (a B b) & (a T b)",
            "a W b & a R b & a M b & a B b & a T b",
            &["a", "b"],
        ),
        ("F[0,5] a & G[10ms,3s) b & O[<=1h] c", "F[0,5] a & G[10ms,3s) b & O[0,1h] c", &["a", "b", "c"]),
        ("a U(2,inf) b & c S[1.5,2] d", "a U(2,inf) b & c S[1.5,2] d", &["a", "b", "c", "d"]),
        ("first & G !last", "", &[]),
        ("G (x + 2 * y <= 3)", "G (x + 2 * y <= 3)", &["x: Number", "y: Number"]),
        (
            "(x + 2) * y - (1 - z) > -3",
            "(x + 2) * y - (1 - z) > -3",
            &["x: Number", "y: Number", "z: Number"],
        ),
        ("-(-x) + abs(y) > min(x, 1) % 2", "-(-x) + abs(y) > min(x, 1) % 2", &["x: Number", "y: Number"]),
        ("x = 1 & x", "x == 1 & x", &["x: Number", "x"]),
        ("name == \"bob\" & name != other", "", &["name: Text", "name: Any", "other: Any"]),
        ("!(x < 2)", "", &["x: Number"]),
        ("x in {1..5, 7} | !(y in {\"a\", \"b\"})", "", &["x: Number", "y: Text"]),
        ("name matches \"^a\\\\.b\"", "", &["name: Text"]),
        ("http.status >= 500 & tags[*] == \"x\"", "", &["http.status: Number", "tags[*]: Text"]),
        ("`odd name` & `T` == 1", "", &["odd name: Bool", "T: Number"]),
        ("(if p then x else 2) > 1", "(if p then x else 2) > 1", &["p", "x: Number"]),
        ("1 < if p then x else 2", "", &["p", "x: Number"]),
        ("if p then q else r", "p & q | !p & r", &["p", "q", "r"]),
        ("(a, 1) == (b, c) & (a, b) != d", "", &["a: Any", "b: Any", "c: Any", "d: Any"]),
        ("(if p then x else null) > 1", "", &["p", "x: Number"]),
        ("p == true & q != false", "p & q", &["p", "q"]),
        ("p == false", "!p & p == p", &["p", "p: Any"]),
        ("login(\"x\", _, 3)", "", &["event login/3(0=x, 2=3)"]),
        ("login(user: \"x\", ip: \"y\")", "login(ip: \"y\", user: \"x\")", &["event login(ip=y, user=x)"]),
        ("event login & event login()", "event login & event login", &["event login()"]),
        ("login(_, -1)", "", &["event login/2(1=-1)"]),
        ("forall u. G (login(u) -> F logout(u))", "", &[]),
        ("(forall u. p(u)) & q", "", &["q"]),
        ("q & forall u, v. p(u, v) | u == v", "q & forall u. forall v. p(u, v) | u == v", &["q"]),
        ("exists u. login(user: u) & u != name & u == \"a\" & u > 3", "", &["name: Any"]),
        ("forall u. (p(u) & exists u. q(u))", "forall u. p(u) & exists u_2. q(u_2)", &[]),
        ("forall i. alert(i) -> count(u : O[0,10m] failed(u, i)) >= 5", "", &[]),
        ("exists i. sum(x * 2 for x, y : p(x, y, i)) + 1 < i", "", &[]),
        ("forall u. count(u : p(u)) > 1 | q(u)", "forall u. count(u_2 : p(u_2)) > 1 | q(u)", &[]),
        ("max(x for x : p(x)) < min(a, b)", "", &["a: Number", "b: Number"]),
        ("G forall x in items[*].id. p(x)", "G forall x. x == items[*].id -> p(x)", &["items[*].id: Any"]),
        ("exists user in user. q(user)", "exists user. user == `user` & q(user)", &["user: Any"]),
        ("exists u. event count(a: u) & event sum(b: 1)", "", &["event sum(b=1)"]),
        ("exists u. u = name & p(u)", "exists u. u == name & p(u)", &["name: Any"]),
        ("absence(p & q)", "G !(p & q)", &["p", "q"]),
        (
            "response(x > 1, login(\"a\"))",
            "G (x > 1 -> F login(\"a\"))",
            &["x: Number", "event login/1(0=a)"],
        ),
        ("forall u. precedence(login(u), access(u))", "forall u. !access(u) W login(u)", &[]),
    ];
    for (text, expected, wanted) in table {
        let lowered = program(parse_formula(text, 0), text);
        assert!(!lowered.has_errors(), "{text}: {:?}", lowered.diagnostics);
        let shown = display(&lowered.value, lowered.value.roots[0].node);
        assert_eq!(shown, if expected.is_empty() { *text } else { *expected }, "{text}");
        assert_eq!(slots(&lowered.value), *wanted, "{text}");
        // What is displayed is the formula: read again, it is displayed the same.
        let again = program(parse_formula(&shown, 0), &shown);
        assert_eq!(display(&again.value, again.value.roots[0].node), shown, "{text}");
        assert_eq!(lowered.value.spans.len(), lowered.value.dag.len());
    }
}

#[test]
fn queries_become_nodes() {
    let table: &[(&str, &str)] = &[
        ("p", ""),
        ("x < y : x", ""),
        ("x <= y : (x, y)", ""),
        ("p : (x, y, z)", ""),
        ("x <= y : true", ""),
        ("p : (x > 1)", "p : if x > 1 then true else false"),
        (
            "(x <= y : x) &{+} ((x <= y : true) U (y == x + 2 : y))",
            "(x <= y : x) + ((x <= y : true) U (y == x + 2 : y))",
        ),
        ("max[count[retry while busy]]", ""),
        ("max[(p : 1) |{+} (q : 1)]", ""),
        ("count[a & X !a] / count[b & X !b]", ""),
        ("count[a] &{pair} count[b]", ""),
        ("(count[a], count[b])", "count[a] &{pair} count[b]"),
        ("avg[(a | b) &{second} X count[c while d]]", ""),
        ("count[p] ?? 0", ""),
        ("100 * count[p] / (count[q] ?? 1)", ""),
        ("-count[p]", "0 - count[p]"),
        ("count[a] % 2", ""),
        ("sum[true : x + y]", ""),
        ("sum[x + y]", "sum[true : x + y]"),
        ("X{v => v + 1} (p : x)", ""),
        ("X{3} p", ""),
        ("(p : x) U{v => 2 * v} (q : y)", ""),
        ("!{0} (p : x)", ""),
        ("!(p : x) & q", ""),
        ("F (p : x)", "true U (p : x)"),
        ("corr[true : x, p : y]", ""),
        ("corr[true : x, true : y while busy]", ""),
        ("quantile(0.95)[true : latency]", ""),
        ("histogram(10)[true : latency]", ""),
        ("mode[true : name] ?? \"none\"", ""),
        ("distinct[login(_, \"x\") : user]", ""),
        ("first[p : x] - last[p : x]", ""),
    ];
    for (text, expected) in table {
        let lowered = program(parse_query(text, 0), text);
        assert!(!lowered.has_errors(), "{text}: {:?}", lowered.diagnostics);
        let shown = display(&lowered.value, lowered.value.roots[0].node);
        assert_eq!(shown, if expected.is_empty() { *text } else { *expected }, "{text}");
        let again = program(parse_query(&shown, 0), &shown);
        assert!(!again.has_errors(), "{shown}: {:?}", again.diagnostics);
        assert_eq!(display(&again.value, again.value.roots[0].node), shown, "{text}");
    }
}

#[test]
fn declarations_macros_and_scopes() {
    // Specification, display of its roots, slots.
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            "let busy = queue > 10; property p : G (busy -> F !busy);",
            &["G (queue > 10 -> F !(queue > 10))"],
            &["queue: Number"],
        ),
        ("let d(x) = x & X x; property p : d(d(q));", &["q & X q & X (q & X q)"], &["q"]),
        (
            "let both(a, b) = a & b; let swap(a, b) = both(b, a); property p : swap(x, y);",
            &["y & x"],
            &["x", "y"],
        ),
        (
            "let limit = 10; let over(x) = x > limit; property p : over(a) & over(a + 1);",
            &["a > 10 & a + 1 > 10"],
            &["a: Number"],
        ),
        (
            "let who = \"root\"; property p : G !login(who, _);",
            &["G !login(\"root\", _)"],
            &["event login/2(0=root)"],
        ),
        (
            "let has(x) = x.status == 200; property p : has(http);",
            &["http.status == 200"],
            &["http.status: Number"],
        ),
        (
            "var queue: int; var b: bool; var s: string; var r: real; property p : b & s == t & queue > r;",
            &["b & s == t & queue > r"],
            &["b: Bool declared", "s: Text declared", "t: Text", "queue: Int declared", "r: Real declared"],
        ),
        (
            "event login(user: string, ip: string); property p : login(\"a\", _) | login(ip: \"b\", user: \"a\") | login;",
            &["login(user: \"a\") | login(user: \"a\", ip: \"b\") | event login"],
            &[
                "event login(0/user=a) declared",
                "event login(0/user=a, 1/ip=b) declared",
                "event login() declared",
            ],
        ),
        ("event e(x); property p : forall v. e(v);", &["forall v. e(x: v)"], &[]),
        (
            "let waiting(u) = requested(u) S !served(u); property p : forall v. waiting(v);",
            &["forall v. requested(v) S !served(v)"],
            &[],
        ),
        // The variable of the macro and the one of its argument stay apart.
        (
            "let some(x) = exists u. (x & e(u)); property p : forall u. some(f(u));",
            &["forall u. exists u_2. f(u) & e(u_2)"],
            &[],
        ),
        (
            "let some(x) = exists u. (x & e(u)); property p : some(some(q));",
            &["exists u. (exists u. q & e(u)) & e(u)"],
            &["q"],
        ),
        (
            "let opened(f) = O open(f); let twice(f) = count(g : opened(g) & g == f) == 1; \
             property p : forall g. close(g) -> opened(g) & twice(g);",
            &["forall g. close(g) -> O open(g) & count(g_2 : O open(g_2) & g_2 == g) == 1"],
            &[],
        ),
        // Parameter before variable before macro before declared before column.
        ("let x = a; let f(x) = x; property p : f(b) & x & `x`;", &["b & a & x"], &["b", "a", "x: Bool"]),
        ("let u = a; property p : forall u. e(u) & u == 1;", &["forall u. e(u) & u == 1"], &[]),
        ("event e; property p : e & `e` == 1;", &["event e & e == 1"], &["event e() declared", "e: Number"]),
        ("let absence(p) = p; property q : absence(r);", &["r"], &["r"]),
        (
            "event absence(p); property q : absence(1);",
            &["absence(p: 1)"],
            &["event absence(0/p=1) declared"],
        ),
        ("let n = count[p]; query q : n / n;", &["count[p] / count[p]"], &["p"]),
        ("property a : p; property b : !p; query c : count[p];", &["p", "!p", "count[p]"], &["p"]),
        ("var a.b: int; property p : a.b > 1 & a.c;", &["a.b > 1 & a.c"], &["a.b: Int declared", "a.c"]),
    ];
    for (text, expected, wanted) in table {
        let program = good(text);
        let shown: Vec<String> = program.roots.iter().map(|root| display(&program, root.node)).collect();
        assert_eq!(shown, *expected, "{text}");
        assert_eq!(slots(&program), *wanted, "{text}");
    }
}

#[test]
fn equal_quantified_formulas_are_one_node() {
    let program = good("property a : forall u. p(u); property b : q & forall u. p(u);");
    assert_eq!(program.dag.variables.iter().filter(|v| *v == "u").count(), 1);
    assert_eq!(program.dag.patterns.len(), 1);
}

/// A name in an argument place that nothing binds is a column, whose value at the position is compared.
#[test]
fn columns_are_arguments() {
    let table: &[(&str, &str, &[&str], &[usize])] = &[
        (
            "property p : G login(host, 3);",
            "G exists host_value. login(host_value, 3) & host_value == host",
            &["host: Any"],
            &[0],
        ),
        (
            "var n: int; event e(a, b); property p : forall u. e(b: n, a: a.id) & f(u);",
            "forall u. (exists n_value. exists id_value. e(a: id_value, b: n_value) & n_value == n & id_value == a.id) \
             & f(u)",
            &["n: Int declared", "a.id: Any"],
            &[],
        ),
        // What a quantifier binds is no column, declared or not.
        ("var n: int; property p : forall n. e(n) & n > 1;", "forall n. e(n) & n > 1", &[], &[]),
    ];
    for (text, shown, wanted, arguments) in table {
        let program = good(text);
        assert_eq!(display(&program, program.roots[0].node), *shown);
        assert_eq!(slots(&program), *wanted, "{text}");
        let found: Vec<usize> = program.arguments.iter().map(|slot| *slot as usize).collect();
        assert_eq!(found, *arguments, "{text}");
    }
}

#[test]
fn declarations_make_variables_whole() {
    let table = [
        ("event e(a: int, b); property p : forall x, y. e(x, y) -> f(x, y);", "x"),
        ("event e(a: int, b); property p : forall x, y. e(b: x, a: y);", "y"),
        ("var n: int; property p : forall x, y. x == n & e(x, y) & y == m;", "x"),
        ("var n: int; property p : exists x in n. e(x) & exists y in m. e(y);", "x"),
        // Through macros, one by one, in any order.
        (
            "let g(b, a) = h(a) & f(b); let h(x) = O e(x); event e(k: int); property p : forall x, y. g(y, x);",
            "x",
        ),
        // Two variables of one name and depth, of which one is whole.
        ("event e(k: int); property p : forall x. e(x); property q : forall x. f(x);", "x"),
        ("event e(k: int); property p : count(x : e(x)) > count(y : f(y));", "x"),
        ("event e(k: int); property p : forall x. e(3) & f(x) & forall x. g(x);", ""),
    ];
    for (text, whole) in table {
        let program = good(text);
        let number = |(number, _): &(usize, &String)| program.dag.variable_whole[*number];
        let found: Vec<&str> =
            program.dag.variables.iter().enumerate().filter(number).map(|(_, name)| name.as_str()).collect();
        assert_eq!(found.join(" "), whole, "{text}");
    }
}

#[test]
fn patterns_with_variables_are_read_once() {
    let program =
        good("property a : forall u. login(u, _, 7) -> (exists v, w. login(v, w, 7) & login(w, _, 7));");
    assert_eq!(
        tuples(&program),
        [
            "tuples login/3 [(Index(2), Int(7))] [Index(0)]",
            "tuples login/3 [(Index(2), Int(7))] [Index(0), Index(1)]"
        ]
    );
    let read: Vec<_> = program.patterns().iter().map(|&node| program.pattern_slot(node)).collect();
    assert_eq!(read, [Some(0), Some(1), Some(0)]);
    let variables: Vec<u32> = program.dag.patterns[1].variables().collect();
    let names: Vec<&str> = variables.iter().map(|&v| program.dag.variables[v as usize].as_str()).collect();
    assert_eq!(names, ["v", "w"]);
}

#[test]
fn spans_are_the_users_words() {
    let text =
        "let busy = queue > 10; let twice(x) = x & X x; property p : G (busy -> twice(a | b)) & absence(c);";
    let program = good(text);
    let mut words: Vec<(String, Option<&str>)> = Vec::new();
    for index in 0..program.dag.len() {
        let span = program.spans[index].map(|s| &text[s.start as usize..s.end as usize]);
        words.push((display(&program, tw_ir::NodeId(index as u32)), span));
    }
    for (shown, said) in [
        ("queue > 10", Some("queue > 10")),
        ("a | b", Some("a | b")),
        ("(a | b) & X (a | b)", Some("twice(a | b)")),
        ("X (a | b)", None),
        ("queue > 10 -> (a | b) & X (a | b)", Some("busy -> twice(a | b)")),
        ("G !c", Some("absence(c)")),
        ("!c", None),
    ] {
        assert!(words.contains(&(shown.to_owned(), said)), "{shown}: {words:?}");
    }
}

/// Wrong specifications: the text, the code of the first finding, its message, the text it points at.
const WRONG: &[(&str, &str, &str, &str)] = &[
    ("", "nothing-to-check", "the specification has no property and no query", ""),
    ("let a = p;", "nothing-to-check", "the specification has no property and no query", "let a = p;"),
    ("property p : G 3;", "type-mismatch", "a number where a truth value is expected", "3"),
    ("property p : x + 1;", "type-mismatch", "a number where a truth value is expected", "x + 1"),
    ("property p : \"a\";", "type-mismatch", "a text where a truth value is expected", "\"a\""),
    ("property p : null;", "type-mismatch", "null where a truth value is expected", "null"),
    ("property p : (a, b);", "type-mismatch", "a tuple where a truth value is expected", "(a, b)"),
    (
        "var x: int; property p : G x;",
        "type-mismatch",
        "`x` is declared `int`, but a truth value is expected",
        "x",
    ),
    (
        "var s: string; property p : s > 3;",
        "type-mismatch",
        "a text cannot be compared with a number",
        "s > 3",
    ),
    (
        "var s: string; property p : s + 1 > 3;",
        "type-mismatch",
        "`s` is declared `string`, but a number is expected",
        "s",
    ),
    (
        "var b: bool; property p : b + 1 > 3;",
        "type-mismatch",
        "`b` is declared `bool`, but a number is expected",
        "b",
    ),
    (
        "var b: bool; property p : b > 3;",
        "type-mismatch",
        "a truth value cannot be compared with a number",
        "b > 3",
    ),
    (
        "var b: bool; var c: bool; property p : b == c;",
        "formula-compared",
        "truth values are not compared with `==`, `<`, …",
        "b",
    ),
    (
        "var n: int; property p : n matches \"a\";",
        "type-mismatch",
        "`n` is declared `int`, but a text is expected",
        "n",
    ),
    ("property p : \"abc\" > 3;", "type-mismatch", "a text cannot be compared with a number", "\"abc\" > 3"),
    ("property p : \"a\" + 1 > 3;", "type-mismatch", "a text where a number is expected", "\"a\""),
    ("property p : (x > 1) + 1 > 3;", "type-mismatch", "a truth value where a number is expected", "x > 1"),
    (
        "property p : (G p) == q;",
        "formula-compared",
        "truth values are not compared with `==`, `<`, …",
        "G p",
    ),
    (
        "property p : q == (a & b);",
        "formula-compared",
        "truth values are not compared with `==`, `<`, …",
        "a & b",
    ),
    ("property p : q < true;", "type-mismatch", "truth values have no order", "q < true"),
    (
        "property p : 1 == true;",
        "type-mismatch",
        "a number cannot be compared with a truth value",
        "1 == true",
    ),
    ("property p : (a, b) < (c, d);", "type-mismatch", "tuples have no order", "(a, b) < (c, d)"),
    ("property p : (a, b) == 3;", "type-mismatch", "a tuple cannot be compared with a number", "(a, b) == 3"),
    (
        "property p : (if first then 1 else 2) > x;",
        "temporal-in-term",
        "a formula inside a term may only read the current position",
        "first",
    ),
    ("property p : x < null;", "null-comparison", "`null` has no order", "x < null"),
    (
        "property p : x in {1, \"a\"};",
        "mixed-set",
        "a set holds either numbers or texts, not both",
        "x in {1, \"a\"}",
    ),
    ("property p : x in {true};", "mixed-set", "a set holds numbers or texts", "x in {true}"),
    (
        "property p : \"a\" in {1..5};",
        "type-mismatch",
        "a text where a number (as in the set) is expected",
        "\"a\"",
    ),
    ("property p : 3 matches \"a\";", "type-mismatch", "a number where a text is expected", "3"),
    (
        "property p : x matches \"(\";",
        "bad-regex",
        "this is not a regular expression: unclosed group",
        "\"(\"",
    ),
    (
        "property p : x matches \"a{1000}{1000}\";",
        "bad-regex",
        "this is not a regular expression: it needs more than 4194304 bytes when compiled",
        "\"a{1000}{1000}\"",
    ),
    (
        "property p : (if G a then 1 else 2) > x;",
        "temporal-in-term",
        "a formula inside a term may only read the current position",
        "G a",
    ),
    (
        "property p : (if a then 1 else \"b\") > x;",
        "type-mismatch",
        "a text where a number is expected",
        "\"b\"",
    ),
    ("property p : tags[*];", "type-mismatch", "`tags[*]` is a list, not a truth value", "tags[*]"),
    (
        "property p : count[q];",
        "value-in-formula",
        "this returns a value, but a formula is true or false",
        "count[q]",
    ),
    (
        "property p : G (a -> count[q]);",
        "value-in-formula",
        "this returns a value, but a formula is true or false",
        "count[q]",
    ),
    (
        "property p : count[q] > 3;",
        "value-in-formula",
        "this returns a value, but a formula is true or false",
        "count[q]",
    ),
    (
        "property p : (a : x) & q;",
        "value-in-formula",
        "this returns a value, but a formula is true or false",
        "a : x",
    ),
    (
        "query q : max[a & b];",
        "type-mismatch",
        "a formula has the value `true`, where a number is expected",
        "a & b",
    ),
    (
        "query q : G (p : x);",
        "value-in-formula",
        "this operator is defined on formulas only, not on values",
        "G (p : x)",
    ),
    (
        "query q : X{v => v + y} (p : x);",
        "map-reads-trace",
        "a function in `{…}` may use its parameter and constants only",
        "v + y",
    ),
    ("query q : !{v => v} p;", "misplaced-decoration", "`!{…}` takes a constant, not a function", "v"),
    ("query q : X[0,5]{v => v} p;", "misplaced-decoration", "`X{…}` takes no interval", "X[0,5]{v => v} p"),
    ("let a = a; property p : a;", "recursive-macro", "`a` is defined by itself: a → a", "a"),
    (
        "let a = G b; let b = F c; let c = X a; property p : b;",
        "recursive-macro",
        "`b` is defined by itself: b → c → a → b",
        "b",
    ),
    ("let f(x) = x & f(x); property p : q;", "recursive-macro", "`f` is defined by itself: f → f", "f(x)"),
    ("let f(x) = x; property p : f;", "macro-arity", "`f` takes 1 argument, but 0 are given", "f"),
    (
        "let f(x) = x; property p : f(a, b);",
        "macro-arity",
        "`f` takes 1 argument, but 2 are given",
        "f(a, b)",
    ),
    ("let f = a; property p : f(b);", "macro-arity", "`f` takes 0 arguments, but 1 is given", "f(b)"),
    (
        "property p : response(a);",
        "macro-arity",
        "`response` takes 2 arguments, but 1 is given",
        "response(a)",
    ),
    (
        "let f(x) = x; property p : f(_);",
        "bad-argument",
        "`_` stands for any value of an event's argument; a macro needs a formula or a value",
        "_",
    ),
    (
        "let f(x) = x; property p : f(x: a);",
        "bad-argument",
        "arguments of macros are given in order, without names",
        "x: a",
    ),
    (
        "let f(x) = x(1); property p : f(a);",
        "not-callable",
        "`x` is a parameter of this macro and takes no arguments",
        "x",
    ),
    (
        "property p : forall u. u(1) & e(u);",
        "not-callable",
        "`u` is a bound variable and takes no arguments",
        "u",
    ),
    ("var v: int; property p : v(1);", "not-callable", "`v` is declared as a variable", "v"),
    (
        "property p : forall u. e(u) & u.name == 1;",
        "no-fields",
        "`u` is not a column here and has no fields",
        "u.name",
    ),
    (
        "property p : forall u. e(u) & u;",
        "type-mismatch",
        "the variable `u` is a value, where a truth value is expected",
        "u",
    ),
    ("property p : G sum(u);", "unbound-variable", "`u` is not bound", "u"),
    (
        "property p : forall u. e(u) & f(u + 1);",
        "bad-argument",
        "an argument is a constant, a bound variable or `_`",
        "u + 1",
    ),
    (
        "property p : forall u. count(v : e(v)) & e(u);",
        "type-mismatch",
        "a number where a truth value is expected",
        "count(v : e(v))",
    ),
    (
        "property p : forall u. sum(\"a\" for v : e(v, u)) > 1;",
        "type-mismatch",
        "a text where a number is expected",
        "\"a\"",
    ),
    ("property p : count(u, u : e(u)) > 1;", "duplicate-name", "the variable `u` is named twice", "u"),
    (
        "query q : max[true : count(u : e(u))];",
        "value-in-formula",
        "an aggregate over valuations belongs into a formula, not into the value of a query",
        "count(u : e(u))",
    ),
    (
        "property p : login(x + 1);",
        "bad-argument",
        "an argument is a constant, a bound variable or `_`",
        "x + 1",
    ),
    ("property p : login(null);", "bad-argument", "`null` cannot be an argument of a pattern", "null"),
    (
        "property p : login(1, user: 2);",
        "mixed-arguments",
        "the arguments of `login` are given partly by name and partly by position",
        "login(1, user: 2)",
    ),
    (
        "property p : login(user: 1, user: 2);",
        "duplicate-argument",
        "an argument of `login` is given twice",
        "user: 2",
    ),
    (
        "event e(a, b); property p : e(1);",
        "event-arity",
        "the event `e` has 2 arguments, but 1 is given",
        "e(1)",
    ),
    (
        "event e(user, ip); property p : e(usr: 1);",
        "unknown-argument",
        "the event `e` has no argument `usr`",
        "usr",
    ),
    (
        "event e(user: string); property p : e(3);",
        "type-mismatch",
        "the argument `user` of `e` is declared `string`, not an integer",
        "3",
    ),
    (
        "event e(n: int); property p : e(n: \"x\");",
        "type-mismatch",
        "the argument `n` of `e` is declared `int`, not text",
        "n: \"x\"",
    ),
    ("var a: int; var a: real; property p : a > 1;", "duplicate-declaration", "`a` is declared twice", "a"),
    ("let a = p; event a; property p : a;", "duplicate-declaration", "`a` is declared twice", "a"),
    ("property p : a; property p : b;", "duplicate-declaration", "`p` is declared twice", "p"),
    ("property p : forall u, u. e(u);", "duplicate-name", "the variable `u` is named twice", "u"),
    (
        "let f(u) = exists u. e(u); property p : f(1);",
        "duplicate-name",
        "`u` is already a parameter of this macro",
        "u",
    ),
    (
        "property p : F[0,0.5ns] q;",
        "bad-interval",
        "the interval `[0,0.5ns]` cannot be used: the bound is finer than the clock",
        "F[0,0.5ns] q",
    ),
    (
        "property p : F[0,900000d] q;",
        "bad-interval",
        "the interval `[0,900000d]` cannot be used: the bound is out of range",
        "F[0,900000d] q",
    ),
];

#[test]
fn wrong_specifications_are_explained() {
    for (text, code, message, place) in WRONG {
        let lowered = spec(text);
        assert!(lowered.has_errors(), "{text} was accepted");
        let first = lowered.diagnostics.iter().find(|d| d.severity == Severity::Error).unwrap();
        let at = first.labels.first().map_or("", |(span, _)| &text[span.start as usize..span.end as usize]);
        assert_eq!((first.code, first.message.as_str(), at), (*code, *message, *place), "{text}");
        assert!(first.help.is_some() || first.labels.len() > 1, "{text}: no way out is shown");
        assert_eq!(
            lowered.value.roots.len(),
            text.matches("property").count() + text.matches("query").count()
        );
    }
}

#[test]
fn one_mistake_is_one_finding() {
    for (text, _, _, _) in WRONG {
        let errors = spec(text).diagnostics.into_iter().filter(|d| d.severity == Severity::Error).count();
        assert_eq!(errors, 1, "{text}: {:?}", spec(text).diagnostics);
    }
    // Not empty in continuous time: who knows the clock judges it.
    assert!(spec("property p : F(1ns,2ns) q;").diagnostics.is_empty());
    // Several mistakes are several findings, in the order of the text.
    let lowered = spec("property a : G 1; property b : sum(u); property c : x < null;");
    let codes: Vec<_> = lowered.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["type-mismatch", "unbound-variable", "null-comparison"]);
}

#[test]
fn an_error_points_at_the_right_one_of_two_equal_texts() {
    let text = "property a : x + 1 > 0; property b : x + 1;";
    let (span, _) = spec(text).diagnostics[0].labels[0];
    assert_eq!(span.start as usize, text.rfind("x + 1").unwrap());
}

#[test]
fn hints_name_what_was_meant() {
    for (text, help) in [
        ("property p : absense(q);", "did you mean `absence`?"),
        ("property p : (G p) == q;", "write `<->` for \"both or neither\", `^` for \"one of the two\""),
        ("property p : x + 1;", "did you mean a comparison, such as `… > 0`?"),
        ("event e(user); property p : e(usr: 1);", "did you mean `user`?"),
        ("event e(user: string); property p : e(3);", "if you mean the text, quote it: \"3\""),
        ("property p : count[q];", "use `query` to ask for values: `query name : count[…];`"),
        (
            "let f(x) = x; query q : count[f(a : 1)];",
            "an experiment is put in parentheses: `f((a : …))`; if you mean the event, write `event f(…)`",
        ),
        ("query q : avg(x);", "`avg(…)` reads as an event; did you mean `avg[x]`?"),
        ("query q : quantile(0.5, x);", "`quantile(…)` reads as an event; did you mean `quantile(0.95)[x]`?"),
        ("query q : count(x > 1);", "`count(…)` reads as an event; did you mean `count[…]`?"),
    ] {
        assert_eq!(spec(text).diagnostics[0].help.as_deref(), Some(help), "{text}");
    }
}

#[test]
fn declarations_are_named_by_type_errors() {
    let text = "var s: string; property p : s > 3;";
    let labels = &spec(text).diagnostics[0].labels;
    let (span, label) = labels.last().unwrap();
    assert_eq!(
        (&text[span.start as usize..span.end as usize], label.as_str()),
        ("s", "declared `string` here")
    );
    assert!(span.start < 10);
}

#[test]
fn warnings_do_not_stop() {
    for (text, code) in [
        ("property p : x == null;", "null-comparison"),
        ("property p : forall u. q;", "unused-variable"),
        ("let waiting(u) = requested(u); property p : forall u. wating(u) & waiting(u);", "similar-name"),
        ("event login(u); property p : logim(1) & login(1);", "similar-name"),
    ] {
        let lowered = spec(text);
        assert!(!lowered.has_errors(), "{text}: {:?}", lowered.diagnostics);
        assert_eq!(lowered.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [code], "{text}");
    }
}

#[test]
fn doubling_chains_stay_linear() {
    let mut text = "let a0(x, y) = x & !y;".to_owned();
    for i in 1..=200 {
        text += &format!("let a{i}(x, y) = a{0}(!x, y | x) | a{0}(!x, y | x);", i - 1);
    }
    text += "property p : a200(u, v);";
    assert!(good(&text).dag.len() < 2_000);
}

#[test]
fn explosion_ends_at_the_budget() {
    let mut text = "let a0(x, y) = x & y;".to_owned();
    for i in 1..=60 {
        text += &format!("let a{i}(x, y) = a{0}(X x, y) & a{0}(x, X y) & a{0}(y & x, x);", i - 1);
    }
    text += "property p : a60(u, v);";
    let parsed = parse(&text, 0);
    let lowered = lower(&parsed.value, &LowerOptions { node_budget: 10_000, ..LowerOptions::default() });
    assert_eq!(lowered.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["too-large"]);
}

/// A macro that doubles what it is given is named, long before the whole budget is spent; many small uses are not.
#[test]
fn one_use_of_a_macro_is_bounded_by_itself() {
    let mut text = "let f0(x) = x & X x;".to_owned();
    for i in 1..=25 {
        text += &format!("let f{i}(x) = f{0}(f{0}(x));", i - 1);
    }
    let parsed = parse(&format!("{text} property p : G f25(p);"), 0);
    let lowered = lower(&parsed.value, &LowerOptions { node_budget: 100_000, ..LowerOptions::default() });
    let messages: Vec<&str> = lowered.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["one use of `f25` grows beyond 10000 nodes when it is expanded"]);
    let many: String = (0..5_000).map(|i| format!("property p{i} : f0(a{i}) | f1(b{i});")).collect();
    let parsed = parse(&format!("let f0(x) = x & X x; let f1(x) = f0(X x); {many}"), 0);
    assert!(
        !lower(&parsed.value, &LowerOptions { node_budget: 100_000, ..LowerOptions::default() }).has_errors()
    );
}

#[test]
fn depth_costs_no_stack() {
    const DEPTH: usize = 100_000;
    let long_chain = |link: fn(usize) -> String| {
        (1..DEPTH).map(link).collect::<String>() + &format!("property p : a{};", DEPTH - 1)
    };
    let texts = [
        format!("property p : {}q{};", "!(".repeat(DEPTH), ")".repeat(DEPTH)),
        format!("property p : {}q;", "X ".repeat(DEPTH)),
        format!("property p : {}q;", "a & X (b | ".repeat(DEPTH) + &format!("c{} & ", ")".repeat(DEPTH))),
        format!("property p : x {} > 0;", "+ 1 ".repeat(DEPTH)),
        format!("property p : {}x{} > 0;", "abs(".repeat(DEPTH), ")".repeat(DEPTH)),
        format!("property p : {}e(u);", "forall u. ".repeat(DEPTH)),
        format!("query q : {}p{};", "count[".repeat(DEPTH), "]".repeat(DEPTH)),
        format!("property p : {}q{};", "absence(".repeat(DEPTH), ")".repeat(DEPTH)),
        "let a0 = p;".to_owned() + &long_chain(|i| format!("let a{i} = !a{};", i - 1)),
    ];
    for text in texts {
        let parsed = parse(&text, 0);
        assert!(!parsed.has_errors(), "{:?}", &parsed.diagnostics[..1]);
        let start = Instant::now();
        let lowered = lower(&parsed.value, &LowerOptions::default());
        let taken = start.elapsed();
        assert!(!lowered.has_errors(), "{}: {:?}", &text[..40], &lowered.diagnostics[0]);
        // Far above what it takes even unoptimised on a busy machine, far below anything quadratic.
        assert!(taken < Duration::from_secs(60), "{}: {taken:?}", &text[..40]);
        let shown = display(&lowered.value, lowered.value.roots[0].node);
        assert!(shown.len() >= DEPTH || lowered.value.dag.len() < DEPTH);
    }
}

#[test]
fn used_slots_only() {
    // A macro that nothing uses asks nothing of the trace.
    let program = good("let unused = nowhere > 3; property p : q;");
    assert_eq!(slots(&program), ["q"]);
    let program = good("property p : x > 1 & x > 2 & x; ");
    assert_eq!(program.slots.len(), 2);
    assert!(matches!(&program.slots[0].what, What::Variable(_, Expect::Number)));
    assert!(program.dag.nodes().iter().any(|node| matches!(node, Node::Truth(1))));
}

/// Pseudo-random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    /// A text where `φ`, `τ`, `ψ` are replaced by formulas, terms, experiments until the budget is used up.
    fn grow(&mut self, start: &str, budget: usize) -> String {
        const FORMULAS: &[&str] = &[
            "(φ) & (φ)",
            "(φ) | (φ)",
            "(φ) -> (φ)",
            "(φ) <-> (φ)",
            "(φ) ^ (φ)",
            "!(φ)",
            "X (φ)",
            "G[0,5] (φ)",
            "(φ) U (φ)",
            "(φ) S[1,2] (φ)",
            "(φ) T (φ)",
            "forall u. (φ)",
            "exists v, w. (φ)",
            "(τ) < (τ)",
            "(τ) == (τ)",
            "(τ) in {1, 2..3}",
            "(τ) matches \"a\"",
            "if (φ) then (φ) else (φ)",
            "response((φ), (φ))",
            "two((φ))",
            "e(u, _)",
            "e(user: v)",
            "f(1, u)",
        ];
        const TERMS: &[&str] = &[
            "(τ) + (τ)",
            "(τ) - (τ)",
            "(τ) * (τ)",
            "(τ) % (τ)",
            "-(τ)",
            "abs(τ)",
            "max((τ), (τ))",
            "if (φ) then (τ) else (τ)",
            "((τ), (τ))",
            "u",
            "v",
            "\"t\"",
            "a.b",
            "l[*]",
            "s",
            "null",
            "2.5",
            "n",
        ];
        const EXPERIMENTS: &[&str] = &[
            "(φ) : (τ)",
            "(ψ) &{+} (ψ)",
            "(ψ) |{pair} (ψ)",
            "(ψ) & (ψ)",
            "!(ψ)",
            "!{0} (ψ)",
            "X{v => v + 1} (ψ)",
            "X (ψ)",
            "(ψ) U{v => 2} (ψ)",
            "(ψ) U (ψ)",
            "sum[(ψ)]",
            "sum[(τ)]",
            "max[(ψ) while (ψ)]",
            "count[(ψ) while (φ)]",
            "corr[(ψ), (τ)]",
            "corr[(ψ), (ψ) while (φ)]",
            "quantile(0.25)[(τ) while (φ)]",
            "histogram(3)[(ψ)]",
            "mode[(τ)]",
            "distinct[(ψ)]",
            "(ψ) |{min} (ψ)",
            "(ψ) &{second} (ψ)",
            "(ψ) |{first} (τ)",
            "((ψ), (τ))",
            "(ψ) * (τ)",
            "(τ) - (ψ)",
            "abs(ψ)",
            "F (ψ)",
            "!{true} (φ)",
            "X{v => v} (φ)",
            "(φ) U{`T` => `T`} (φ)",
            "(τ)",
            "(ψ) ?? 0",
            "(ψ) / (ψ)",
            "min((ψ), (ψ))",
            "-(ψ)",
            "first[(ψ)]",
            "(φ)",
            "two((ψ))",
        ];
        let mut text = start.to_owned();
        let mut left = budget;
        while let Some((at, hole)) = text.char_indices().find(|(_, c)| matches!(c, 'φ' | 'τ' | 'ψ')) {
            let grown = match hole {
                'φ' if left > 0 => self.pick(FORMULAS),
                'τ' if left > 0 => self.pick(TERMS),
                'ψ' if left > 0 => self.pick(EXPERIMENTS),
                'τ' => self.pick(&["x", "1", "-2"]),
                _ => self.pick(&["p", "q", "true", "last"]),
            };
            left = left.saturating_sub(1);
            text.replace_range(at..at + hole.len_utf8(), grown);
        }
        text
    }
}

#[test]
fn whatever_is_accepted_is_displayed_as_it_is() {
    let mut dice = Dice(1);
    let mut accepted = 0;
    for round in 0..6_000 {
        let start = if round % 2 == 0 { "property a : φ;" } else { "query a : ψ;" };
        let budget = 1 + dice.roll(12);
        const HEAD: &str = "var n: int; var s: string; event f(k: int, name); let two(x) = x & X x;";
        let text = format!("{HEAD} {}", dice.grow(start, budget));
        let parsed = parse(&text, 0);
        let lowered = lower(&parsed.value, &LowerOptions::default());
        let shown = display(&lowered.value, lowered.value.roots[0].node);
        if parsed.has_errors() || lowered.has_errors() {
            continue;
        }
        accepted += 1;
        let again = format!("{HEAD} {};", start.replace(['φ', 'ψ'], &shown).trim_end_matches(';'));
        let parsed = parse(&again, 0);
        assert!(!parsed.has_errors(), "{text}\n{again}\n{:?}", parsed.diagnostics);
        let second = lower(&parsed.value, &LowerOptions::default());
        assert!(!second.has_errors(), "{text}\n{again}\n{:?}", second.diagnostics);
        assert_eq!(display(&second.value, second.value.roots[0].node), shown, "{text}");
        let nodes = |program: &Program| program.reachable(&[program.roots[0].node]).len();
        // Variables that stand for columns have numbers of their own, which is shown nowhere.
        if !lowered.value.arguments.is_empty() {
            continue;
        }
        assert_eq!(nodes(&second.value), nodes(&lowered.value), "{text}\n{again}");
    }
    assert!(accepted > 1_500, "{accepted}");
}

#[test]
fn nothing_makes_it_panic() {
    const WORDS: &[&str] = &[
        "property", "query", "let", "var", "event", "a", "b", "u", ":", ":", ";", ";", "(", ")", ",", ".",
        "=", "==", "<", "&", "->", "U", "X", "!", "forall", "if", "then", "else", "{", "}", "[", "]", "=>",
        "count", "corr", "while", "??", "1", "\"t\"", "null", "true", "in", "matches", "_", "int", "absence",
        "between", "+", "-",
    ];
    let mut dice = Dice(7);
    for _ in 0..20_000 {
        let length = 1 + dice.roll(30);
        let mut text = dice.pick(&["property p : ", "query p : ", "let a(u) = ", ""]).to_owned();
        for _ in 0..length {
            text += dice.pick(WORDS);
            text.push(' ');
        }
        // Also trees with holes are lowered without harm.
        let lowered = lower(&parse(&text, 0).value, &LowerOptions::default());
        for root in &lowered.value.roots {
            display(&lowered.value, root.node);
        }
    }
}

#[test]
fn names_have_one_type_each() {
    let codes = |text: &str| -> Vec<String> {
        let lowered = crate::lower(&crate::parse(text, 0).value, &crate::LowerOptions::default());
        lowered.diagnostics.iter().map(|found| format!("{} {}", found.code, found.message)).collect()
    };
    let warned = ["two-types `queue` is a text here and a number elsewhere"];
    assert_eq!(codes("property p : G (queue > 10 & F queue == \"text\");"), warned);
    assert_eq!(codes("let a(x) = x > 10; property p : G (a(queue) -> queue matches \"x\");"), warned);
    // In two declarations, and the other way around.
    let other = ["two-types `queue` is a number here and a text elsewhere"];
    assert_eq!(codes("property p : queue in {\"a\"}; query q : max[queue];"), other);
    // 0 and 1 are a number and a proposition; backquotes and paths are names as others.
    for text in [
        "property p : G (queue -> queue > 0);",
        "property p : a.b > 1 & a.c == \"x\";",
        "property p : x == y & x > 1 & y < 2;",
    ] {
        assert_eq!(codes(text), [""; 0], "{text}");
    }
    assert_eq!(codes("property p : `q` > 1 & q == \"x\";").len(), 1);
    // A proposition is no text.
    let truth = ["two-types `queue` is a text here and a proposition elsewhere"];
    assert_eq!(codes("property p : G (queue -> queue == \"text\");"), truth);
    // Variables, by what they are compared with, by the events that bind them, and through macros.
    let bound = ["two-types `x` is a text here and a number elsewhere"];
    for text in [
        "property p : G forall x. e(x) -> x > 3 & x matches \"a\";",
        "property p : G forall x. e(x) -> x in {1..5} | x in {\"a\"};",
        "event e(a: int); property p : G forall x. e(x) -> x != \"t\";",
        "event e(a: real); event f(b: string); property p : G forall x. e(x) -> F f(b: x);",
        "let big(u) = u > 10; let own(u) = big(u); property p : G forall x. q(x) & own(x) -> x == \"y\";",
        "var n: real; var s: string; property p : G forall x. x == n -> O x == s;",
        "property p : G count(x : q(x) & x + 1 > 2 & x == \"y\") < 3;",
    ] {
        let found = codes(text);
        assert!(
            found == bound || found == ["two-types `x` is a number here and a text elsewhere"],
            "{text}: {found:?}"
        );
    }
    for text in [
        "property p : G forall x. e(x) -> x > 3; property q : G forall x. e(x) -> x == \"t\";",
        "property p : G forall x. e(x) -> x in {1, 7} & x > 0;",
        "event e(a: int); event f(b: real); property p : G forall x. e(x) -> F f(x);",
        "let own(u) = u == \"a\"; property p : G forall x, y. e(x, y) & own(y) -> x > 3;",
    ] {
        assert_eq!(codes(text), [""; 0], "{text}");
    }
    // A declaration says which it is: the other use is an error.
    let found = codes("var queue: int; property p : G (queue > 10 & queue == \"text\");");
    assert!(found.len() == 1 && found[0].starts_with("type-mismatch"), "{found:?}");
}
