//! What formulas about data are read as, and what is refused.

use tw_diag::{Severity, Sources, render};
use tw_import::{Options, Signature, format_named, import};

const SIGNATURE: &str = "# the log\npublish(r: int)\napprove(int) trans(client: string, id: int, amount: float);\n\
                         start() response(r: int, t: float)";

fn options(signature: Option<&str>) -> Options {
    let signature = signature.map(|text| Signature { name: "spec.sig".into(), text: text.into() });
    Options { signature, ..Options::default() }
}

/// The text that is made, without comments.
fn made(format: &str, text: &str, signature: Option<&str>) -> String {
    let made = import("spec.txt", text, format_named(format).unwrap(), &options(signature));
    let mut sources = Sources::default();
    sources.add("spec.txt", text);
    sources.add("spec.sig", signature.unwrap_or_default());
    assert!(!made.has_errors(), "{text}\n{}", render(&made.diagnostics, &sources, false));
    let lines = made.value.lines().filter(|line| !line.starts_with("//") && !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// The same, after it was read again.
fn read_back(format: &str, text: &str, signature: Option<&str>) -> String {
    let made = made(format, text, signature);
    let parsed = tw_spec::parse(&made, 0);
    assert!(!parsed.has_errors(), "{text}\n{made}");
    let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
    assert!(!lowered.has_errors(), "{text}\n{made}\n{:?}", lowered.diagnostics);
    made
}

/// The last formula of what is made.
fn body(made: &str) -> String {
    let made = flat(made);
    let last = made.rsplit_once("property ").map_or(made.as_str(), |(_, last)| last);
    last.split_once(" : ").map_or(last, |(_, body)| body).trim_end_matches(';').to_owned()
}

/// On one line: long formulas take several.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn refusals(format: &str, signature: Option<&str>, table: &[(&str, &str)]) {
    for (text, expected) in table {
        let made = import("spec.txt", text, format_named(format).unwrap(), &options(signature));
        assert_eq!(made.value, "", "{text}");
        let found = made.diagnostics.iter().find(|found| found.severity == Severity::Error).unwrap();
        let mut sources = Sources::default();
        sources.add("spec.txt", *text);
        sources.add("spec.sig", signature.unwrap_or_default());
        let found = render(std::slice::from_ref(found), &sources, false);
        assert!(found.contains(expected), "{text}: {found}");
        assert!(found.contains("spec.txt:") || found.contains("spec.sig:"), "{text}: {found}");
    }
}

#[test]
fn monpoly_formulas() {
    for (text, expected) in [
        ("publish(r) IMPLIES ONCE[0,7d] approve(r)", "G forall r. publish(r) -> O[0,7d] approve(r)"),
        // What temporal operators and quantifiers take reaches over connectives, and ends at SINCE.
        ("ONCE publish(x) AND approve(x)", "G forall x. O (publish(x) & approve(x))"),
        (
            "EXISTS x. publish(x) AND start() SINCE start()",
            "G ((exists x. publish(x) & event start) S event start)",
        ),
        ("NOT publish(x) AND start()", "G forall x. !publish(x) & event start"),
        ("start() AND NOT ONCE start() OR start()", "G (event start & !O (event start | event start))"),
        ("start() SINCE start() SINCE(1,*) start()", "G (event start S event start S(1,inf) event start)"),
        ("start() IMPLIES start() IMPLIES start()", "G (event start -> event start -> event start)"),
        ("start() EQUIV start() EQUIV TRUE", "G (event start <-> event start <-> true)"),
        ("PREV(0,5s] publish(1) OR FALSE", "G Y(0,5s] (publish(1) | false)"),
        (
            "NEXT[0,2m) ALWAYS[0,1h] HISTORICALLY[0,0] PAST_ALWAYS start()",
            "G X[0,2m) G[0,1h] H[0,0] H event start",
        ),
        ("EVENTUALLY (publish(x))", "G forall x. F publish(x)"),
        ("start() UNTIL[1,2) (start())", "G (event start U[1,2) event start)"),
        (
            "trans(c, _, a) AND a * 2.0 - 1.5 > 3.0 AND c <> \"x y\"",
            "G forall c, a. trans(c, _, a) & a * 2.0 - 1.5 > 3.0 & c != \"x y\"",
        ),
        ("publish(x) AND NOT x = 3 (* 3 (* # *) # end", "G forall x. publish(x) & !(x == 3)"),
        (
            "trans(c, x, a) AND (a / 2.0) + 1. >= -1.0",
            "G forall c, x, a. trans(c, x, a) & a / 2.0 + 1.0 >= -1.0",
        ),
        ("publish(x) AND x MOD 2 = 0", "G forall x. publish(x) & x % 2 == 0"),
        (
            "FORALL x. FORALL y. publish(x) AND approve(y) IMPLIES x <= y",
            "G forall x. forall y. publish(x) & approve(y) -> x <= y",
        ),
        // Names of the language are written otherwise, and nothing hides another's variable.
        (
            "FORALL U. publish(U) AND EXISTS U. approve(U)",
            "G forall U_. publish(U_) & exists U__2. approve(U__2)",
        ),
        ("response(x, _)", "G forall x. event response(x, _)"),
        ("publish(publish)", "G forall publish. event publish(publish)"),
    ] {
        assert_eq!(body(&read_back("monpoly", text, Some(SIGNATURE))), expected, "{text}");
    }
    assert_eq!(
        read_back("monpoly", "publish(x)", Some(SIGNATURE)),
        "event publish(r: int);\nevent approve(arg1: int);\nevent trans(client: string, id: int, amount: real);\n\
         event start;\nevent response(r: int, t: real);\nproperty spec : G forall x. publish(x);"
    );
    assert_eq!(
        read_back("monpoly", "p(x, _b) AND x = \"a\"", None),
        "property spec : G forall x. p(x, _) & x == \"a\";"
    );
}

#[test]
fn monpoly_definitions() {
    let text = "LET big(c, a) = EXISTS i. trans(c, i, a) AND a > 2000.0 IN\n\
                LET two(c) = EXISTS a. big(c, a) AND ONCE[0,1d] big(c, _) IN two(c) IMPLIES FALSE";
    assert_eq!(
        read_back("monpoly", text, Some(SIGNATURE)).lines().skip(5).collect::<Vec<_>>(),
        [
            "let big(c, a) = exists i. trans(c, i, a) & a > 2000.0;",
            "let two(c) = exists a. big(c, a) & O[0,1d] exists any. big(c, any);",
            "property spec : G forall c. two(c) -> false;"
        ]
    );
    // A definition may have the name of a predicate, which it still sees itself.
    let text = "LET publish(x) = publish(x) AND NOT (EXISTS x. approve(x)) IN publish(3)";
    assert_eq!(
        read_back("monpoly", text, Some(SIGNATURE)).lines().skip(5).collect::<Vec<_>>(),
        ["let publish_(x) = publish(x) & !exists x_2. approve(x_2);", "property spec : G publish_(3);"]
    );
}

#[test]
fn monpoly_aggregates() {
    for (text, expected) in [
        ("n <- CNT r publish(r)", "property spec : G forall n. n == count(r : publish(r));"),
        (
            "(s <- SUM a; c trans(c, i, a)) IMPLIES s <= 2000.0",
            "property spec : G forall c, s. (exists i, a. trans(c, i, a)) & s == sum(a for i, a : trans(c, i, a)) -> s <= 2000.0;",
        ),
        (
            "EXISTS n. n <- CNT i; c ONCE[0,30d] trans(c, i, a) AND a > 1.0",
            "let part_1(c, i, a) = O[0,30d] (trans(c, i, a) & a > 1.0);\n\
             property spec : G forall c. exists n. (exists i, a. part_1(c, i, a)) & n == count(i, a : part_1(c, i, a));",
        ),
        // Without groups there is always a result.
        (
            "m <- MAX r publish(r)",
            "property spec : G forall m. m == max(r for r : publish(r)) | !(exists r. publish(r)) & m == 0;",
        ),
        // Variables that are not grouped by are the aggregate's own.
        (
            "publish(r) AND (n <- CNT i; c trans(c, i, r))",
            "property spec : G forall r, c, n. publish(r) & ((exists i, r_2. trans(c, i, r_2)) & n == count(i, r_2 : trans(c, i, r_2)));",
        ),
        // What a quantifier inside binds is no parameter of the macro, though it has the same name.
        (
            "n <- CNT i; c (EXISTS c. publish(c)) AND (EXISTS c. approve(c)) AND trans(c, i, 1.0)",
            "let part_1(c_3, i) = (exists c. publish(c)) & (exists c_2. approve(c_2)) & trans(c_3, i, 1.0);\n\
             property spec : G forall c_3, n. (exists i. part_1(c_3, i)) & n == count(i : part_1(c_3, i));",
        ),
        // An aggregate of an aggregate.
        (
            "m <- SUM n n <- CNT i; c trans(c, i, a)",
            "property spec : G forall m. m == sum(n for c, n : (exists i, a. trans(c, i, a)) & n == count(i, a : trans(c, i, a)));",
        ),
    ] {
        let made = read_back("monpoly", text, Some(SIGNATURE));
        let made = made.rsplit_once("t: real);\n").map_or("", |(_, rest)| rest);
        assert_eq!(flat(made), flat(expected), "{text}");
    }
}

#[test]
fn monpoly_refusals() {
    refusals(
        "monpoly",
        Some(SIGNATURE),
        &[
            ("publish(x, y)", "`publish` has 2 arguments here, and 1 where it is declared"),
            ("publish(\"a\")", "`\"a\"` is of type string, expected int"),
            ("publish(x) AND\n  trans(x, _, _)", "spec.txt:2:9"),
            ("trans(c, i, a) AND a = 1", "`1` is of type int, expected float"),
            ("trans(c, i, a) AND c + c = c", "`c` is of type string, expected a number"),
            ("LET p(x) = publish(x) IN p(\"a\")", "expected int"),
            ("nothing(x)", "`nothing` is not in the signature"),
            ("trans(c, i, a) AND i / 2 > 1", "`/` of whole numbers"),
            ("trans(c, i, a) AND a / 2.0 + 1.0 > a", "versions of MonPoly"),
            ("trans(c, i, a) AND 2.0 * a / 2.0 > a", "versions of MonPoly"),
            ("publish(x-1)", "`x-1` is one name in MonPoly"),
            ("publish(x + 1)", "an argument is a variable, a constant or `_`"),
            ("x = 3-1", "part of a name in MonPoly"),
            ("x = 1e3", "part of a name in MonPoly"),
            ("i2f(x) = 1.0", "`i2f` has no counterpart"),
            ("publish(x) AND x = f2i(2.0)", "`f2i` has no counterpart"),
            ("ts(x)", "`ts` has no counterpart"),
            ("m <- MED r publish(r)", "`MED` has no counterpart"),
            ("m <- MAX c trans(c, i, a)", "expected a number"),
            ("m <- SUM x publish(r)", "`x` does not occur in the aggregated formula"),
            (
                "s <- SUM a; c trans(c, i, a) IMPLIES s <= 2000.0",
                "`s` is the result and occurs in the aggregated formula",
            ),
            ("s <- SUM a; c (ONCE[0,30d] trans(c, i, a)) AND s > 1.0", "put the aggregate in parentheses"),
            ("m <- SUM r; c publish(r)", "`c` does not occur in the aggregated formula"),
            ("LETPAST p(x) = publish(x) IN p(x)", "`LETPAST` has no counterpart"),
            ("LET p(x) = publish(y) IN p(x)", "`y` is not a parameter"),
            ("LET p(x) = publish(x) AND approve(x)", "expected an operator or `IN`"),
            ("publish(r) AND x MATCHES r\"a\"", "`MATCHES` has no counterpart"),
            ("MATCHP (publish(x))", "regular expressions over time"),
            ("ONCE[7d,1h] publish(x)", "this interval is empty"),
            ("ONCE(5,5] publish(x)", "this interval is empty"),
            ("ONCE[0,5min] publish(x)", "`min` is not a unit"),
            ("ONCE[-1,5] publish(x)", "expected a whole number"),
            ("publish(_a) AND _ = 3", "`_` stands outside of a predicate"),
            ("publish(x) AND", "found the end of the file, expected a formula"),
            ("publish(x) publish(y)", "found `publish`"),
            ("x", "a number stands where a formula is needed"),
            ("EXISTS x, x. publish(x)", "bound twice"),
            ("publish(x) AND x = y = z", "a formula stands where a number is needed"),
        ],
    );
    for (signature, expected) in [
        ("publish(r: int) publish(int)", "declared twice"),
        ("publish(r: regexp)", "the type `regexp` has no counterpart"),
        ("publish(r: int int)", "expected `,` or `)`"),
        ("person { name: string }", "`person` is a record"),
        ("\npublish", "spec.sig:2:8"),
    ] {
        refusals("monpoly", Some(signature), &[("publish(x)", expected)]);
    }
}

#[test]
fn dejavu_properties() {
    for (text, expected) in [
        (
            "prop access : Forall u . Forall f . access(u,f) -> [login(u),logout(u)) & [open(f),close(f))",
            "G forall u. forall f. access(u, f) -> !logout(u) S login(u) & !close(f) S open(f)",
        ),
        (
            "prop p : Forall f . close(f) -> Exists m . @ [open(f,m),close(f))",
            "G forall f. close(f) -> exists m. Y (!close(f) S open(f, m))",
        ),
        // Values that were seen: nothing is added where nothing else can decide.
        (
            "prop p : forall f . close(f) -> exists m . @ [open(f,m),close(f))",
            "G forall f. close(f) -> exists m. Y (!close(f) S open(f, m))",
        ),
        ("prop p : exists x . !a(x)", "G exists x. O a(x) & !a(x)"),
        (
            "prop p : forall x . a(x) | P b(x,x) | H[>3] c(\"k\",x,7)",
            "G forall x. O (a(x) | b(x, x) | c(\"k\", x, 7)) -> a(x) | O b(x, x) | H(3,inf) c(\"k\", x, 7)",
        ),
        (
            "prop p : Forall y . exists x . !b(y,x,y) & b(y,x,x)",
            "G forall y. exists x. !b(y, x, y) & b(y, x, x)",
        ),
        (
            "prop p : Forall y . exists x . ! b(y,x,y)",
            "G forall y. exists x. O (exists any. b(any, x, any)) & !b(y, x, y)",
        ),
        ("prop p : exists x . @ a(x) -> a(x)", "G exists x. O a(x) & (Y a(x) -> a(x))"),
        ("prop p : exists x . ! @ ! a(x)", "G exists x. O a(x) & !Y !a(x)"),
        ("prop p : exists x . P ! H ! a(x)", "G exists x. O !H !a(x)"),
        ("prop p : Forall x . a(x) -> x < 10 & ! x = \"n\"", "G forall x. a(x) -> x < 10 & !(x == \"n\")"),
        ("prop p : Forall x . a(x) -> P (b(x) & x > 3)", "G forall x. a(x) -> O (b(x) & x > 3)"),
        ("prop p : forall x . x < 3 -> P a(x)", "G forall x. O a(x) -> x < 3 -> O a(x)"),
        // All arrows are alike and lean to the left.
        (
            "prop p : a -> b <-> c -> d | e & f",
            "G ((event a -> event b <-> event c) -> event d | event e & event f)",
        ),
        (
            "prop p : ! a S[<=3] b & P[<=5] c | H d",
            "G (!event a S[0,3] event b & O[0,5] event c | H event d)",
        ),
        ("prop p : a S[>3] (b S c) // end", "G (event a S(3,inf) event b S event c)"),
    ] {
        assert_eq!(body(&read_back("dejavu", text, None)), expected, "{text}");
    }
    // Macros stand in any order, events are declared or not.
    assert_eq!(
        read_back(
            "dejavu",
            "pred open(f,m), close(f)\nprop p : Forall f . close(f) -> @ isOpen(f)\n\
             pred isOpen(f) = exists m . since(f,m)\npred since(f,m) = !close(f) S open(f,m) /* all */",
            None
        ),
        "event open(f, m);\nevent close(f);\nlet since_(f, m) = !close(f) S open(f, m);\n\
         let isOpen(f) = exists m. since_(f, m);\nproperty p : G forall f. close(f) -> Y isOpen(f);"
    );
    // What a macro's patterns match is seen, too.
    assert_eq!(
        read_back("dejavu", "pred no(x,y) = ! a(y,x)\nprop p : exists z . no(z,5)", None),
        "let no(x, y) = !a(y, x);\nproperty p : G exists z. O a(5, z) & no(z, 5);"
    );
}

#[test]
fn dejavu_refusals() {
    refusals(
        "dejavu",
        None,
        &[
            ("prop p : r(1) where r(x) := @ r(x)", "rules (`where`) are not imported"),
            ("prop p : Forall x . a(x) -> true Z[<=3] a(x)", "`Z` is not imported"),
            ("prop p : a S b S c", "`S` cannot be chained"),
            ("prop p : a(x)", "which no quantifier binds"),
            ("prop p : Forall x . a(x) & exists x . b(x)", "`x` hides another variable"),
            ("prop p : Forall x . x < 3 -> a(x)", "`x` is compared where no event brings its value"),
            (
                "prop p : Forall x . a(x) -> H x < 3",
                "`x` is compared at a time when no event need have brought",
            ),
            ("prop p : forall x . a(x) S x = 3", "`x` is compared at a time when no event need have brought"),
            ("pred low(x) = x < 3\nprop p : Forall x . a(x) -> @ low(x)", "`x` is compared at a time"),
            ("prop p : Forall x . a(x) -> x < \"b\"", "the order of texts"),
            ("prop p : exists x . true", "`x` occurs in no event"),
            ("prop p : Forall x . a(x) -> a(x,x)", "`a` has 2 arguments here, and 1 elsewhere"),
            ("pred a(x)\nprop p : Forall x . a(x) -> b(x)", "neither event nor macro"),
            ("pred a = b\npred b = a\nprop p : a", "is defined by itself"),
            ("prop p : a\nprop p : b", "defined twice"),
            ("prop p : P[<=x] a", "expected a whole number"),
            ("prop p : [a, b]", "expected `)`"),
            ("pred a = b", "there is no property"),
            ("prop p a", "expected `:`"),
            ("p : a", "expected `prop` or `pred`"),
            ("prop p : Forall prop . a", "expected a name"),
            ("prop p : a(1.5)", "not a whole number"),
        ],
    );
}

#[test]
fn deep_formulas_are_loops() {
    let depth = 100_000;
    for (format, open, atom, close) in [
        ("monpoly", "NOT ", "p(x)", ""),
        ("monpoly", "(", "p(x)", ")"),
        ("monpoly", "EXISTS y. ONCE ", "p(x, y)", ""),
        ("monpoly", "p(x) AND (", "p(x)", ")"),
        ("dejavu", "prop p : ", "a", ""),
        ("dejavu", "", "prop p : Forall x . a(x)", ""),
    ] {
        let (head, open) = if format == "dejavu" { (open, "!@") } else { ("", open) };
        let atom = atom
            .strip_prefix("prop p : Forall x . ")
            .map_or((head, atom), |atom| ("prop p : Forall x . ", atom));
        let text = format!("{}{}{}{}", atom.0, open.repeat(depth), atom.1, close.repeat(depth));
        let made = import("a", &text, format_named(format).unwrap(), &Options::default());
        assert!(!made.has_errors(), "{format} {open} {:?}", made.diagnostics.first());
    }
}
