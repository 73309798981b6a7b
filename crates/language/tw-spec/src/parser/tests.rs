use super::dump::{body, dump};
use super::{MAX_ERRORS, parse, parse_formula, parse_query};
use crate::ast::{DeclarationKind, ExprKind, Tree, Type};
use tw_diag::{Checked, Sources};
use tw_testkit::Rng;

/// Formulas and their structure.
const FORMULAS: &[(&str, &str)] = &[
    // Precedence, loosest to tightest, and associativity.
    ("a <-> b <-> c", "((a Iff b) Iff c)"),
    ("a <-> b -> c", "(a Iff (b Implies c))"),
    ("a -> b -> c", "(a Implies (b Implies c))"),
    ("a ^ b -> c", "((a Xor b) Implies c)"),
    ("a ^ b | c", "(a Xor (b Or c))"),
    ("a ^ b ^ c", "((a Xor b) Xor c)"),
    ("a | b & c", "(a Or (b And c))"),
    ("a & b | c", "((a And b) Or c)"),
    ("a & b & c", "((a And b) And c)"),
    ("a & b U c", "(a And (b Until c))"),
    ("a U b U c", "(a Until (b Until c))"),
    ("a U b S c", "(a Until (b Since c))"),
    ("G a U b", "((Globally a) Until b)"),
    ("a U G b", "(a Until (Globally b))"),
    ("! a & b", "((! a) And b)"),
    ("!!a", "(! (! a))"),
    ("G x > 3", "(Globally (x Gt 3))"),
    ("! x > 3", "(! (x Gt 3))"),
    ("G x > 3 & y", "((Globally (x Gt 3)) And y)"),
    ("G F X N a", "(Globally (Finally (Next (WeakNext a))))"),
    ("Y Z O H a", "(Previous (WeakPrevious (Once (Historically a))))"),
    (
        "a U b | a W b | a R b | a M b",
        "((((a Until b) Or (a WeakUntil b)) Or (a Release b)) Or (a StrongRelease b))",
    ),
    ("a S b & a B b & a T b", "(((a Since b) And (a BackTo b)) And (a Trigger b))"),
    ("(a -> b) -> c", "((a Implies b) Implies c)"),
    ("((a))", "a"),
    // Other spellings.
    ("not a and b or c", "(((! a) And b) Or c)"),
    ("a xor b implies c iff d", "(((a Xor b) Implies c) Iff d)"),
    ("always eventually a", "(Globally (Finally a))"),
    ("a until b", "(a Until b)"),
    ("a weak_until b release c", "(a WeakUntil (b Release c))"),
    ("next weak_next a", "(Next (WeakNext a))"),
    ("previously weak_previously once historically a", "(Previous (WeakPrevious (Once (Historically a))))"),
    ("a since b back_to c", "(a Since (b BackTo c))"),
    ("[] <> a", "(Globally (Finally a))"),
    ("[][0,2] a", "(Globally[0,2] a)"),
    ("a && b || c", "((a And b) Or c)"),
    ("a /\\ b \\/ c", "((a And b) Or c)"),
    ("a ++ b => c", "((a Xor b) Implies c)"),
    // Intervals.
    ("F[0,5] a", "(Finally[0,5] a)"),
    ("G[10ms,3s) a", "(Globally[10ms,3s) a)"),
    ("O[<=1h] a", "(Once[0,1h] a)"),
    ("F[<2]a", "(Finally[0,2) a)"),
    ("F[>=2 d] a", "(Finally[2d,inf) a)"),
    ("F[>2] a", "(Finally(2,inf) a)"),
    ("X[=1.5us] a", "(Next[1.5us,1.5us] a)"),
    ("a U(2,inf) b", "(a Until(2,inf) b)"),
    ("a U (2s, 3 m] b", "(a Until(2s,3m] b)"),
    ("a S[1,2)(b)", "(a Since[1,2) b)"),
    ("F[0,inf] a", "(Finally[0,inf) a)"),
    ("F[0,1e3] a", "(Finally[0,1000] a)"),
    ("F (2, x) == y", "(Finally (<2, x> Eq y))"),
    ("F (2) > y", "(Finally (2 Gt y))"),
    ("F ((2, 3)) == y", "(Finally (<2, 3> Eq y))"),
    ("F[0,1](2, 3) == y", "(Finally[0,1] (<2, 3> Eq y))"),
    ("a U (b, 3) == c", "(a Until (<b, 3> Eq c))"),
    // Terms.
    ("x + 2*y <= 3", "((x Add (2 Mul y)) Le 3)"),
    ("a - b - c = d", "(((a Sub b) Sub c) Eq d)"),
    ("a / b * c % d != 1", "((((a Div b) Mul c) Rem d) Ne 1)"),
    ("-x * y == -3", "(((neg x) Mul y) Eq -3)"),
    ("x - -3 > - 2", "((x Sub -3) Gt -2)"),
    ("-(3) < --3", "((neg 3) Lt (neg -3))"),
    ("-9223372036854775808 == x", "(-9223372036854775808 Eq x)"),
    ("x == 1.5e2", "(x Eq 150.0)"),
    ("min(a, b) > max(a, b, c)", "((a Min b) Gt ((a Max b) Max c))"),
    ("abs(x - y) >= 1", "(abs((x Sub y)) Ge 1)"),
    ("if a & b then 1 else 2 + 3 > 4", "((if (a And b) then 1 else (2 Add 3)) Gt 4)"),
    ("if a then if b then 1 else 2 else 3", "(if a then (if b then 1 else 2) else 3)"),
    ("if a then 1 else if b then 2 else 3", "(if a then 1 else (if b then 2 else 3))"),
    ("(x, y) == (1, (2, 3))", "(<x, y> Eq <1, <2, 3>>)"),
    ("x in {1..5, 7, \"a\", -2.5, true, null}", "(x in 1..5 Int(7) Str(\"a\") Real(-2.5) Bool(true) Null)"),
    ("x in {-5..-1} & y", "((x in -5..-1) And y)"),
    ("name matches \"^a\\\\d\\\"\" -> b", "((name matches \"^a\\\\d\\\"\") Implies b)"),
    ("s == \"\\u{e9}\\n\\t\"", "(s Eq \"é\\n\\t\")"),
    ("first -> last", "(first Implies last)"),
    ("true != null", "(true Ne null)"),
    // Names, paths, events.
    ("http.status == 200", "(http/status Eq 200)"),
    ("`a b`.`c.d`[*].first.X > 1", "('a b/c.d/*/first/X Gt 1)"),
    ("`T` > `a``b`", "('T Gt 'a`b)"),
    ("count + sum > min", "((count Add sum) Gt min)"),
    ("count[*] == var", "(count/* Eq var)"),
    ("query & property & let", "((query And property) And let)"),
    ("login(u, \"10.0.0.1\", _)", "login(u, \"10.0.0.1\", _)"),
    ("login(user: u, `ip`: _, last: 3)", "login(user=u, ip=_, last=3)"),
    ("tick() & event tick & event login(_)", "((tick() And event tick()) And event login(_))"),
    ("`min`(a) & f(g(x), -1, a & b)", "(min(a) And f(g(x), -1, (a And b)))"),
    // Quantifiers.
    ("forall x, y. p(x) & q(y) -> r", "(forall x y. ((p(x) And q(y)) Implies r))"),
    ("a & exists x. b | c", "(a And (exists x. (b Or c)))"),
    ("G forall u.login(u)", "(Globally (forall u. login(u)))"),
    ("forall x. exists y. p(x, y) U q", "(forall x. (exists y. (p(x, y) Until q)))"),
    ("forall x in items[*].id. p(x)", "(forall x in items/*/id. p(x))"),
    ("exists x in a.b.c .\np(x) & q", "(exists x in a/b/c. (p(x) And q))"),
    ("exists x in `a b`.c. p(x)", "(exists x in 'a b/c. p(x))"),
    // Aggregates over valuations.
    ("count(x, y : p(x, y) & q) >= 5", "(Count(x y : (p(x, y) And q)) Ge 5)"),
    ("G (a -> sum(e * 2 for e : p(e)) < 3)", "(Globally (a Implies (Sum((e Mul 2) for e : p(e)) Lt 3)))"),
    ("min(x for x : p(x)) + max(a, b) > 1", "((Min(x for x : p(x)) Add (a Max b)) Gt 1)"),
    ("count(x : count(y : p(x, y)) > 1) = 2", "(Count(x : (Count(y : p(x, y)) Gt 1)) Eq 2)"),
    ("avg(if a then x else y for x, y : p(x, y)) > 1", "(Avg((if a then x else y) for x y : p(x, y)) Gt 1)"),
    ("count(f(a: x)) & event count(a: x)", "(count(f(a=x)) And event count(a=x))"),
    ("count(x : F[0,5) p(x)) > for", "(Count(x : (Finally[0,5) p(x))) Gt for)"),
    ("`count`(a: x) & sum(x)", "(count(a=x) And sum(x))"),
    // Queries.
    ("p : x", "(p : x)"),
    ("p & q : x + 1", "((p And q) : (x Add 1))"),
    ("p : x ?? 0", "((p : x) ?? 0)"),
    ("a ?? b ?? c", "((a ?? b) ?? c)"),
    ("forall x. p(x) : 3", "((forall x. p(x)) : 3)"),
    ("(p : x) &{+} (q : y)", "((p : x) And{Arithmetic(Add)} (q : y))"),
    ("a |{min} b &{pair} c", "(a Or{Arithmetic(Min)} (b And{Pair} c))"),
    ("a &{first} b |{second} c |{-} d", "(((a And{First} b) Or{Second} c) Or{Arithmetic(Sub)} d)"),
    ("!{0} p & X{v => v + 1} q", "((!{0} p) And (Next{v => (v Add 1)} q))"),
    ("a U{v => -v} b U{3} c", "(a Until{v => (neg v)} (b Until{3} c))"),
    ("X[0,2]{1} p", "(Next[0,2]{1} p)"),
    ("max[count[retry while busy]]", "Max[Count[retry while busy]]"),
    ("count[a] / count[b] ?? 0", "((Count[a] Div Count[b]) ?? 0)"),
    ("corr[a : x, b : y]", "Corr[(a : x), (b : y)]"),
    ("quantile(0.95)[x] + histogram(4)[y]", "(Quantile(950000000)[x] Add Histogram(4)[y])"),
    ("first[x] + last[x] + var[x while y]", "((First[x] Add Last[x]) Add Var[x while y])"),
    ("quantile(0.5) & histogram", "(quantile(0.5) And histogram)"),
    ("a /* why */ & // not\n b", "(a And b)"),
];

#[test]
fn formulas_have_the_structure_that_the_language_says() {
    for (text, expected) in FORMULAS {
        let checked = parse_formula(text, 0);
        assert!(checked.diagnostics.is_empty(), "{text}: {:?}", checked.diagnostics);
        assert_eq!(dump(&checked.value, body(&checked.value)), *expected, "{text}");
    }
}

/// Code and underlined words of a finding.
type Finding = (&'static str, &'static str);

/// Expressions with errors: the findings, and a part of a message, label or hint.
const ERRORS: &[(&str, &[Finding], &str)] = &[
    ("T > 3", &[("reserved-word", "T")], "written with backquotes: `T`"),
    ("X > 3", &[("reserved-word", "X")], "operator \"next\""),
    ("a == X", &[("missing-operand", "")], "found the end"),
    ("(a & G) | b", &[("reserved-word", "G")], "`G`"),
    ("X.y > 3", &[("reserved-word", "X")], "`X`"),
    ("a & in > 3", &[("reserved-word", "in")], "reserved word"),
    ("U b", &[("missing-operand", "U")], "nothing on its left"),
    ("a U", &[("missing-operand", "U")], "`U` has nothing on its right"),
    ("a &&& b", &[("missing-operand", "&&&")], "two operators in a row"),
    ("& a", &[("missing-operand", "&")], "nothing on its left"),
    ("a -> (b & )", &[("missing-operand", "&")], "nothing on its right"),
    ("1 < x < 3", &[("chained-comparison", "1 < x < 3")], "write `1 < x & x < 3`"),
    ("a == b == c & d", &[("chained-comparison", "a == b == c")], "a == b & b == c"),
    ("x => 3", &[("unknown-operator", "=>")], "write `>=`"),
    ("x =< 3", &[("unknown-operator", "=<")], "write `<=`"),
    ("x <> 3", &[("unknown-operator", "<>")], "write `!=`"),
    ("G (a & (b | c)", &[("unclosed-bracket", "(")], "never closed"),
    ("((a", &[("unclosed-bracket", "(")], "2 brackets"),
    ("count[a)", &[("unmatched-bracket", ")")], "does not close this `[`"),
    ("G (a])", &[("unmatched-bracket", "]")], "closes nothing"),
    ("G (name == \"bob)", &[("unclosed-text", "\"bob)")], "never closed"),
    ("G (a # b)", &[("unknown-character", "#")], "`//`"),
    ("a --> b", &[("missing-operand", "-->")], "`->`"),
    ("n := 5", &[("missing-operand", ":=")], "`==`"),
    ("alwyas a", &[("missing-operator", "a")], "`always`"),
    ("a untill b", &[("missing-operator", "untill")], "`until`"),
    ("n matches 5", &[("bad-pattern", "5")], "in quotes"),
    ("(count[a)", &[("unclosed-bracket", "[")], ""),
    ("a)", &[("unmatched-bracket", ")")], "closes nothing"),
    ("a b", &[("missing-operator", "b")], "expected an operator, found `b`"),
    ("this is a sentence & here is another", &[("missing-operator", "is"), ("missing-operator", "is")], ""),
    ("a.b(x)", &[("missing-operator", "(")], "backquotes: `a.b`"),
    ("a $ b", &[("unknown-character", "$")], "not part of the language"),
    ("a ∧ ¬b", &[("unknown-character", "∧"), ("unknown-character", "¬")], "write `&`"),
    ("a == 'x'", &[("single-quotes", "'x'")], "write \"x\""),
    ("a == \"x", &[("unclosed-text", "\"x")], "never closed"),
    ("`a", &[("unclosed-text", "`a")], "never closed"),
    ("`` > 1", &[("empty-name", "``")], "empty"),
    ("a /* b", &[("unclosed-comment", "/*")], "never closed"),
    ("x > 9223372036854775808", &[("number-out-of-range", "9223372036854775808")], "64 bits"),
    ("x > 1e400", &[("number-out-of-range", "1e400")], "1.8e308"),
    ("x > NaN", &[("number-out-of-range", "NaN")], "no value NaN"),
    ("x in {3s}", &[("bad-number", "3s")], "a set holds plain numbers"),
    ("x > 3abc", &[("bad-number", "3abc")], "`3abc`"),
    ("x > .5", &[("missing-operand", ".")], "write `0.5`"),
    ("s == \"\\d\"", &[("bad-escape", "\\d")], "written `\\\\d`"),
    ("s == \"\\u{110000}\"", &[("bad-escape", "\\u{110000}")], ""),
    ("F[5,2] a", &[("empty-interval", "[5,2]")], "lower end comes first"),
    ("F(2,2] a", &[("empty-interval", "(2,2]")], "exactly"),
    ("F[<0] a", &[("empty-interval", "[<0]")], ""),
    ("F[2s,100ms] a", &[("empty-interval", "[2s,100ms]")], ""),
    ("F[5] a", &[("bad-interval", "5")], "`[0,5]` for \"within 5\""),
    ("F[0,5 sec] a", &[("bad-interval", "sec")], "write `s`"),
    ("F[-1,5] a", &[("bad-interval", "-1")], "not negative"),
    ("F[0,0.0000000001] a", &[("bad-interval", "0.0000000001")], "nine decimals"),
    ("F[a,b] c", &[("bad-interval", "a")], "expected a number"),
    ("[0,5] a", &[("missing-operand", "[")], "follows a temporal operator"),
    ("forall x p(x)", &[("bad-quantifier", "p")], "expected `.`"),
    ("forall T. p", &[("reserved-word", "T")], ""),
    ("forall x in items.p(x)", &[("bad-quantifier", "(")], "a blank after the dot"),
    ("forall x in . p", &[("bad-quantifier", "in")], "a path"),
    ("forall x, y in a[*]. p", &[("bad-quantifier", "y")], "one quantifier for each"),
    ("count(x, : p(x)) > 1", &[("missing-name", ":")], "a variable"),
    ("count(x + 1 : p(x)) > 1", &[("bad-aggregate", "+")], "`count(x, y : φ)`"),
    ("sum(x : p(x)) > 1", &[("bad-aggregate", ":")], "`sum(e for x, y : φ)`"),
    ("max(x for x p(x) : q) > 1", &[("bad-aggregate", "p")], "`max(e for x, y : φ)`"),
    ("forall . p", &[("missing-name", ".")], "a variable"),
    ("if a then b", &[("incomplete-if", "if")], "no `else`"),
    ("(if a) & b", &[("incomplete-if", "if")], "no `then`"),
    ("a then b", &[("unexpected-word", "then")], ""),
    ("a while b", &[("unexpected-word", "while")], "count[a while b]"),
    ("a, b", &[("unexpected-comma", ",")], ""),
    ("x in [1,2]", &[("bad-set", "[")], "{1..5"),
    ("x in {}", &[("bad-set", "{}")], "empty"),
    ("x in {5..1}", &[("bad-set", "5..1")], "write `1..5`"),
    ("x in {y}", &[("bad-set", "y")], "constants"),
    ("x in {1, 2", &[("unclosed-bracket", "{")], ""),
    ("x matches y", &[("bad-pattern", "y")], "in quotes"),
    ("p : x & q", &[("ambiguous-colon", "&")], "(p : x) & …"),
    ("p : x : y", &[("ambiguous-colon", ":")], ""),
    ("a &{foo} b", &[("bad-function", "{foo}")], "`pair`"),
    ("a -> {3} b", &[("bad-function", "{")], "takes no function"),
    ("mean[x]", &[("bad-aggregate", "mean")], "did you mean `avg`"),
    ("a[0] > 1", &[("bad-aggregate", "a")], "`a[*]`"),
    ("quantile[x]", &[("bad-aggregate", "quantile")], "quantile(0.95)[x]"),
    ("quantile(95)[x]", &[("bad-aggregate", "95")], "0 to 1"),
    ("count[a, b]", &[("bad-aggregate", ",")], "only `corr"),
    ("corr[a]", &[("bad-aggregate", "corr[a]")], "two"),
    ("count[] > 1", &[("missing-operand", "count[]")], "`count[p]`"),
    ("min(a + b)", &[("bad-call", "min(a + b)")], "did you mean `min[a + b]`"),
    ("_ > 1", &[("misplaced-wildcard", "_")], ""),
    ("()", &[("missing-operand", "()")], "empty"),
    ("", &[("missing-operand", "")], "empty"),
    ("property p : G a;", &[("trailing-text", "property")], "file"),
    ("a; b", &[("trailing-text", "b")], ""),
    ("x not in {1}", &[("missing-operator", "not")], "!(x in {…})"),
    (
        "(a & b) c) | T > 1",
        &[("missing-operator", "c"), ("unmatched-bracket", ")"), ("reserved-word", "T")],
        "",
    ),
];

/// Code and underlined words of each finding.
fn findings<'a>(checked: &Checked<Tree>, text: &'a str) -> Vec<(&'static str, &'a str)> {
    let words = |d: &tw_diag::Diagnostic| {
        let span = d.labels[0].0;
        &text[span.start as usize..span.end as usize]
    };
    checked.diagnostics.iter().map(|d| (d.code, words(d))).collect()
}

#[test]
fn errors_name_the_place_and_the_repair() {
    for (text, expected, part) in ERRORS {
        let checked = parse_formula(text, 0);
        let found = findings(&checked, text);
        assert!(
            found.len() == expected.len() && expected.iter().all(|e| found.contains(e)),
            "{text}: {found:?}\n{:#?}",
            checked.diagnostics
        );
        let said = checked.diagnostics.iter().any(|d| {
            d.message.contains(part)
                || d.help.as_ref().is_some_and(|help| help.contains(part))
                || d.labels.iter().any(|(_, label)| label.contains(part))
        });
        assert!(said, "{text} says nothing of {part:?}: {:#?}", checked.diagnostics);
    }
}

#[test]
fn a_file_is_read_on_after_errors() {
    let text = "\
propety a : G p;
property b : G (p -> q
property c \"fine\" : F q;
var x: integer;
let T = p;
property d : p & ;
event e(a: int, a: int);
query q : count[p]";
    let checked = parse(text, 0);
    let found = findings(&checked, text);
    let expected = [
        ("no-declaration", "propety"),
        ("unclosed-bracket", "("),
        ("missing-semicolon", ""),
        ("unknown-type", "integer"),
        ("reserved-word", "T"),
        ("missing-operand", "&"),
        ("repeated-parameter", "a"),
        ("missing-semicolon", ""),
    ];
    assert_eq!(found, expected);
    assert_eq!(checked.value.declarations.len(), 8);
    assert!(checked.diagnostics[0].help.as_ref().unwrap().contains("did you mean `property`"));
    assert!(checked.diagnostics[2].help.as_ref().unwrap().contains("did you forget `;`"));
    assert!(matches!(&checked.value.declarations[2].kind,
        DeclarationKind::Property { name, title: Some(title), .. } if name.name == "c" && title == "fine"));
    assert!(matches!(&checked.value.declarations[3].kind, DeclarationKind::Var { ty: Type::Int, .. }));

    let rendered = {
        let mut sources = Sources::default();
        sources.add("spec.tw", text);
        tw_diag::render(&checked.diagnostics[1..2], &sources, false)
    };
    let expected = "\
error[unclosed-bracket]: this `(` is never closed
 --> spec.tw:2:16
  |
2 | property b : G (p -> q
  |                ^ opened here
  |                       - `)` expected here at the latest
";
    assert_eq!(rendered, expected);
}

#[test]
fn few_errors_are_enough() {
    let text = "$ ".repeat(1_000) + &"property p : a b;".repeat(1_000);
    let checked = parse(&text, 0);
    assert_eq!(checked.diagnostics.len(), MAX_ERRORS);
    assert_eq!(checked.diagnostics.last().map(|d| d.code), Some("too-many-errors"));
}

#[test]
fn declarations_hold_what_is_written() {
    let text = "var http.status: int; event login(user: string, ip); let waiting(u) = requested(u) S !served(u);
        property answered \"every request\" : G (req -> F ack); query worst : max[ count[retry while busy] ];";
    let checked = parse(text, 0);
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let tree = checked.value;
    match &tree.declarations[0].kind {
        DeclarationKind::Var { path, ty, .. } => {
            assert_eq!((path.to_string().as_str(), *ty), ("http.status", Type::Int))
        }
        other => panic!("{other:?}"),
    }
    match &tree.declarations[1].kind {
        DeclarationKind::Event { name, parameters, .. } => {
            let parameters: Vec<_> = parameters.iter().map(|(name, ty)| (name.name.as_str(), *ty)).collect();
            assert_eq!(
                (name.name.as_str(), parameters.as_slice()),
                ("login", &[("user", Some(Type::Text)), ("ip", None)][..])
            );
        }
        other => panic!("{other:?}"),
    }
    match &tree.declarations[2].kind {
        DeclarationKind::Let { name, parameters, body } => {
            assert_eq!((name.name.as_str(), parameters[0].name.as_str()), ("waiting", "u"));
            assert_eq!(dump(&tree, *body), "(requested(u) Since (! served(u)))");
        }
        other => panic!("{other:?}"),
    }
    let single = parse_query(" count[p] // all\n", 0).value;
    assert!(
        matches!(&single.declarations[0].kind, DeclarationKind::Query { name, .. } if name.name == "count[p] // all")
    );
}

/// Spans of all subexpressions, innermost first.
#[test]
fn spans_read_well_as_snippets() {
    let cases: &[(&str, &[&str])] = &[
        ("G ((a) -> (b | c))", &["a", "b", "c", "b | c", "(a) -> (b | c)", "G ((a) -> (b | c))"]),
        ("((x)) + 1 > -2", &["x", "1", "((x)) + 1", "-2", "((x)) + 1 > -2"]),
        ("(a, b)", &["a", "b", "(a, b)"]),
        ("! (a U[0,1] b)", &["a", "b", "a U[0,1] b", "! (a U[0,1] b)"]),
        ("f(u, (a))", &["u", "a", "f(u, (a))"]),
        ("(count[(p)]) ?? 0", &["p", "count[(p)]", "0", "(count[(p)]) ?? 0"]),
        (
            "(x) in {1} & (s matches \"a\")",
            &["x", "(x) in {1}", "s", "s matches \"a\"", "(x) in {1} & (s matches \"a\")"],
        ),
        ("if (a) then (b) else (c)", &["a", "b", "c", "if (a) then (b) else (c)"]),
    ];
    for (text, expected) in cases {
        let tree = parse_formula(text, 0).value;
        let found: Vec<&str> =
            tree.exprs.iter().map(|e| &text[e.span.start as usize..e.span.end as usize]).collect();
        assert_eq!(found, *expected, "{text}");
    }
}

/// Texts nested as deep as `depth`, in every way the grammar nests.
pub(crate) fn deep(depth: usize) -> Vec<(&'static str, String)> {
    let wrap = |open: &str, inner: &str, close: &str| open.repeat(depth) + inner + &close.repeat(depth);
    vec![
        ("parentheses", wrap("(", "a", ")")),
        ("prefix", wrap("G ", "a", "")),
        ("prefix in parentheses", wrap("G (", "a", " & b)")),
        ("not", wrap("!", "a", "")),
        ("sign", wrap("-", "a", "") + " > 0"),
        ("implies", wrap("a -> ", "a", "")),
        ("and", wrap("a & ", "a", "")),
        ("until", wrap("a U ", "a", "")),
        ("left until", wrap("(", "a", " U b)")),
        ("or in parentheses", wrap("(a | ", "b", ")")),
        ("sum", wrap("a + ", "a", " * 2") + " > 0"),
        ("if else", wrap("if a then b else ", "c", "")),
        ("if then", wrap("if a then ", "b", " else c")),
        ("if condition", wrap("if ", "b", " then a else c")),
        ("quantifier", wrap("forall x. ", "a", "")),
        ("ranges", wrap("exists x in a[*]. ", "a", "")),
        ("counts", wrap("count(x : 1 < ", "a", ")") + " > 0"),
        ("sums", wrap("sum(", "a", " for x : b)") + " > 0"),
        ("minima", wrap("min(1, ", "a", ")") + " > 0"),
        ("calls", wrap("f(", "a", ")")),
        ("named calls", wrap("f(_, x: ", "a", ")")),
        ("aggregates", wrap("count[", "a", "]")),
        ("during", wrap("count[a while ", "a", "]")),
        ("maps", wrap("X{", "a", "} b")),
        ("function maps", wrap("a U{v => ", "v", "} b")),
        ("tuples", wrap("(a, ", "b", ")")),
        ("default", wrap("a ?? ", "b", "")),
        ("emit", wrap("(a : ", "b", ")")),
    ]
}

#[test]
fn depth_costs_no_stack_and_linear_time() {
    for (what, text) in deep(100_000) {
        let checked = parse_formula(&text, 0);
        assert!(checked.diagnostics.is_empty(), "{what}: {:?}", checked.diagnostics);
    }
    // Broken in the middle or left open.
    for (_, text) in deep(20_000) {
        assert!(parse_formula(&text[..text.len() / 2], 0).diagnostics.len() <= MAX_ERRORS);
        parse_formula(&text[text.len() / 2..], 0);
    }
    // Errors all along a long text must not each look at all of it.
    for (open, inner, close) in
        [("((", "x", ")(y)"), ("", "b", "&a:b"), ("", "b", "<a"), ("f(count[", "a", ")"), ("a &{", "", "")]
    {
        let text = open.repeat(20_000) + inner + &close.repeat(20_000);
        assert!(parse_formula(&text, 0).has_errors());
    }
}

const SOUP: &[&str] = &[
    "trace",
    "trace {",
    "time-unit:",
    "a",
    "b",
    "x",
    "`T`",
    "G",
    "F",
    "X",
    "U",
    "S",
    "T",
    "not",
    "and",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[]",
    "<>",
    "[*]",
    "!",
    "&",
    "|",
    "->",
    "<->",
    "=>",
    "^",
    "++",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    "+",
    "-",
    "*",
    "/",
    "%",
    ":",
    "??",
    ",",
    ";",
    ".",
    "..",
    "1",
    "2.5",
    "3s",
    "inf",
    "\"s\"",
    "true",
    "null",
    "first",
    "last",
    "if",
    "then",
    "else",
    "in",
    "matches",
    "while",
    "by",
    "every",
    "group",
    "5m",
    "forall",
    "exists",
    "event",
    "var",
    "let",
    "property",
    "query",
    "count",
    "count(",
    "sum(",
    "for",
    "quantile",
    "min",
    "corr",
    "_",
    "// c\n",
    "/* c */",
    "\n",
    "$",
    "é",
    "∧",
    "'",
    "`",
    "\"",
    "\\",
    "9223372036854775808",
    "1e400",
    "(1,2)",
    "[0,5]",
    "{1..2}",
    "{v =>",
    "&{+}",
    "login(u, _)",
    "\u{feff}",
];

/// Whatever is thrown at it, the parser returns a tree whose parts fit together.
fn check_any(text: &str) {
    for checked in [parse(text, 0), parse_formula(text, 0), parse_query(text, 0)] {
        let tree = &checked.value;
        assert!(checked.diagnostics.len() <= MAX_ERRORS);
        let starts: Vec<u32> = checked.diagnostics.iter().map(|d| d.labels[0].0.start).collect();
        assert!(starts.is_sorted(), "{text:?}: {starts:?}");
        let spans = checked.diagnostics.iter().flat_map(|d| d.labels.iter().map(|(span, _)| *span));
        for span in spans.chain(tree.exprs.iter().map(|e| e.span)) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{text:?}: {span:?}");
        }
        let error = tree.exprs.iter().any(|e| e.kind == ExprKind::Error)
            || tree.declarations.iter().any(|d| matches!(d.kind, DeclarationKind::Error));
        assert!(!error || checked.has_errors(), "{text:?} has an unreported error");
        if !checked.has_errors() && text.trim() != "" {
            let printed = crate::print(tree);
            let again = parse(&printed, 0);
            assert!(again.diagnostics.is_empty(), "{text:?} prints as {printed:?}: {:?}", again.diagnostics);
            assert_eq!(crate::print(&again.value), printed, "{text:?}");
        }
    }
}

#[test]
fn nothing_makes_it_panic() {
    let mut random = Rng::new(1);
    for _ in 0..40_000 {
        let length = 1 + random.below(24);
        let space = if random.below(3) == 0 { "" } else { " " };
        let text: Vec<&str> = (0..length).map(|_| random.pick(SOUP)).collect();
        check_any(&text.join(space));
    }
    for _ in 0..10_000 {
        let bytes: Vec<u8> = (0..random.below(40)).map(|_| random.below(256) as u8).collect();
        check_any(&String::from_utf8_lossy(&bytes));
    }
    // Good formulas with one token changed, removed or doubled.
    for _ in 0..20_000 {
        let text = FORMULAS[random.below(FORMULAS.len())].0;
        let mut words: Vec<&str> = text.split_inclusive([' ', '(', '[', ',']).collect();
        let at = random.below(words.len());
        match random.below(3) {
            0 => words[at] = random.pick(SOUP),
            1 => drop(words.remove(at)),
            _ => words.insert(at, words[at]),
        }
        check_any(&format!("property p : {};", words.concat()));
        let division =
            random.pick(&["by u", "every 5m", "by `a b`.c every 0.5", "every 1h by every", "by", "every"]);
        check_any(&format!("query p : {} {division};", words.concat()));
        check_any(&words.concat());
    }
}

#[test]
fn a_trace_block_holds_settings() {
    let text = "trace { time: \"@timestamp\"; by: http.request_id; format: csrv-csv; time-unit: us; event: event; \
                sample: \"a b.csv\" }\nproperty p : G trace;";
    let parsed = parse(text, 0);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let settings = parsed.value.settings();
    let some = |text: &str| Some(text.to_string());
    assert_eq!((settings.time, settings.by), (some("@timestamp"), some("http.request_id")));
    assert_eq!((settings.format, settings.event), (some("csrv-csv"), some("event")));
    assert_eq!((settings.time_unit.map(|(unit, _)| unit), settings.sample), (some("us"), some("a b.csv")));
    let odd = parse("trace { by: `a.b`.c; time: `when`; }\nproperty p : G a;", 0).value.settings();
    assert_eq!((odd.by, odd.time), (some("`a.b`.c"), some("when")));
}

#[test]
fn settings_are_known_and_stand_once() {
    let cases = [
        ("trace { tiem: t; } property p : a;", "bad-setting", "did you mean `time`?"),
        ("trace { by: a; by: b; } property p : a;", "bad-setting", "set twice"),
        ("trace { time-unit: weeks; } property p : a;", "bad-setting", "no unit"),
        ("trace { by: 5; } property p : a;", "bad-setting", "a name, a path or a text"),
        ("trace { by } property p : a;", "bad-setting", "`:` and a value"),
        ("trace { by: a } trace { time: t; } property p : a;", "duplicate-declaration", "two `trace` blocks"),
        ("trace { by: a; property p : a;", "unclosed-bracket", ""),
        ("trace p : a;", "bad-setting", "`{`"),
    ];
    for (text, code, said) in cases {
        let found = parse(text, 0).diagnostics;
        let whole = format!("{found:?}");
        assert!(found.iter().any(|d| d.code == code) && whole.contains(said), "{text}: {whole}");
    }
}

/// Columns and events may have the names of declarations.
#[test]
fn words_of_declarations_are_names_elsewhere() {
    for word in ["trace", "monitor", "var", "let", "property", "query"] {
        for text in [
            format!("property p : G ({word} -> F {word});"),
            format!("property p : G ({word} > 3 | {word}.a == \"b\");"),
            format!("property {word} : G event {word}(1);"),
            format!("query q : count[{word}] by {word};"),
            format!("let {word} = a; property p : {word};"),
        ] {
            let found = parse(&text, 0).diagnostics;
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}

/// Errors, and what of the text is understood all the same: every declaration as it is printed.
const RECOVERED: &[(&str, &[Finding], &[&str])] = &[
    // An unclosed bracket is closed where the formula ends.
    (
        "property a : G (req -> F ack;\nlet b = c;",
        &[("unclosed-bracket", "(")],
        &["(Globally (req Implies (Finally ack)))", "c"],
    ),
    (
        "property a : G (count[req while (x > 1;",
        &[("unclosed-bracket", "(")],
        &["(Globally Count[req while (x Gt 1)])"],
    ),
    ("property a : login(u, (x + 1;", &[("unclosed-bracket", "(")], &["login(u, (x Add 1))"]),
    ("property a : (p & count[q) | r;", &[("unclosed-bracket", "[")], &["((p And Count[q]) Or r)"]),
    (
        "query a : count(x, y : p(x, y) ;\nlet b = c;",
        &[("unclosed-bracket", "(")],
        &["Count(x y : p(x, y))", "c"],
    ),
    ("require a : max[x < 3;\nlet b = c;", &[("unclosed-bracket", "[")], &["Max[x]", "c"]),
    // Both at once, before the next declaration.
    (
        "property a : G (req -> F ack\nproperty b : count(q) & r;",
        &[("unclosed-bracket", "("), ("missing-semicolon", "")],
        &["(Globally (req Implies (Finally ack)))", "(count(q) And r)"],
    ),
    (
        "let a = count(p\nproperty b : q;",
        &[("unclosed-bracket", "("), ("missing-semicolon", "")],
        &["count(p)", "q"],
    ),
    // Half a name; half a declaration.
    ("prop\nproperty b : q;", &[("no-declaration", "prop")], &["", "q"]),
    ("property an\nproperty b : q;", &[("bad-declaration", "property")], &["<error>", "q"]),
    ("let a\nlet b = c;", &[("bad-declaration", "let")], &["<error>", "c"]),
    ("stream a: int\nlet b = c;", &[("bad-declaration", "let")], &["<error>", "c"]),
    ("property\nlet b = c;", &[("missing-name", "let")], &["", "c"]),
    ("monitor Mon(x\nlet b = c;", &[("bad-declaration", "let")], &["", "c"]),
    ("property a : G re", &[("missing-semicolon", "")], &["(Globally re)"]),
    // What stands before what cannot be read is understood.
    ("property a : p q & r;", &[("missing-operator", "q")], &["(p And r)"]),
];

#[test]
fn what_is_written_is_understood_in_spite_of_errors() {
    for (text, expected, bodies) in RECOVERED {
        let checked = parse(text, 0);
        assert_eq!(findings(&checked, text), *expected, "{text}");
        let body = |kind: &DeclarationKind| match kind {
            DeclarationKind::Property { body, .. }
            | DeclarationKind::Let { body, .. }
            | DeclarationKind::Require { body, .. }
            | DeclarationKind::Stream { body, .. }
            | DeclarationKind::Query { body, .. } => dump(&checked.value, *body),
            _ => String::new(),
        };
        let found: Vec<String> = checked.value.declarations.iter().map(|own| body(&own.kind)).collect();
        let same = found.iter().zip(*bodies).all(|(found, wanted)| {
            found == wanted || *wanted == "<error>" && found.to_lowercase().contains("error")
        });
        assert!(same && found.len() == bodies.len(), "{text}: {found:?}");
    }
}

#[test]
fn lines_of_blocks_are_read_on() {
    let text = "trace { time: t\n  by: user; }\nmonitor Mon(x) {\n  event a(x)\n  event b(x) = c(x) when (y > 1\n  ltl : a -> F b\n  on violation \"late\";\n}\n";
    let checked = parse(text, 0);
    let codes: Vec<&str> = checked.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(
        codes,
        [
            "missing-semicolon",
            "missing-semicolon",
            "unclosed-bracket",
            "missing-semicolon",
            "missing-semicolon"
        ]
    );
    let kinds: Vec<usize> = checked
        .value
        .declarations
        .iter()
        .map(|own| match &own.kind {
            DeclarationKind::Trace(block) => block.lines.len(),
            DeclarationKind::Monitor(monitor) => monitor.items.len(),
            _ => 0,
        })
        .collect();
    assert_eq!(kinds, [2, 4]);
}

/// One fault of a window is told once, with what would do.
#[test]
fn faults_of_windows_are_told_once() {
    for (text, help) in [
        ("avg(p : x over 3)", "write `avg[p : x over 3]`"),
        ("max(a & (b | c) : x + 1 over 3s)", "write `max[a & (b | c) : x + 1 over 3s]`"),
        ("avg[p : x over -1]", "write a number of positions"),
        ("avg[x over y]", "write a number of positions"),
        ("avg(x over inf)", "write a number of positions"),
    ] {
        let found = crate::parse_query(text, 0).diagnostics;
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].code, "bad-window", "{text}");
        assert!(found[0].help.as_deref().is_some_and(|own| own.starts_with(help)), "{text}: {found:?}");
    }
    assert!(!crate::parse_query("sum(e for over : p(over) & e < 3)", 0).has_errors());
    assert!(!crate::parse_query("count(over : p(over))", 0).has_errors());
}
