//! Shapes of automata, and their size.

use super::*;
use std::fmt::Write;
use tw_testkit::texts::queries;

fn build(text: &str) -> (Program, Algebraic, ExprId) {
    let program = queries(&[text]);
    let mut automaton = Algebraic::new(&program, Options::default());
    let root = automaton.query(&program, program.roots[0].node).expect(text);
    (program, automaton, root)
}

fn check(text: &str, expected: &str) {
    let (program, automaton, root) = build(text);
    let found = automaton.text(&program, root);
    let expected: String = expected.trim().lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{}", line.trim());
        out
    });
    assert_eq!(found, expected, "{text}");
}

fn transients(automaton: &Algebraic) -> Vec<Role> {
    let role = |node: &Node| match node {
        Node::Transient(transient) => Some(transient.role),
        Node::Terminal(..) => None,
    };
    automaton.nodes().iter().filter_map(role).collect()
}

/// Figure 3: `(q : y) DURING[min] p`.
#[test]
fn collecting_during() {
    check(
        "min[q : y while p]",
        "A0 = n0 and[pi2] A1
         n0 = ⟨p, true⟩
         A1 = n1 or[f_min] n2
         n1 = ⟨A0, id⟩
         n2 = ⟨q, y⟩",
    );
}

const MOST_TRANSMISSIONS: &str = "max[count[at_l1 & X !at_l1 while l in {1..5, 7}]]";

/// Figure 7: transient nodes for the two loops and for `X`.
#[test]
fn most_transmissions() {
    check(
        MOST_TRANSMISSIONS,
        "A0 = n0 or[f_max] A1
         n0 = ⟨A0, id⟩
         A1 = n1 and[pi2] A2
         n1 = ⟨l in {1..5, 7}, true⟩
         A2 = n2 or[f_count] A3
         n2 = ⟨A1, id⟩
         A3 = n3 and n4
         n3 = ⟨at_l1, true⟩
         n4 = ⟨n5, id⟩
         n5 = ⟨!at_l1, true⟩",
    );
    let (_, automaton, _) = build(MOST_TRANSMISSIONS);
    let roles = transients(&automaton);
    assert_eq!(roles.len(), 3);
    assert_eq!(roles[0], Role::Next);
    assert!(matches!(roles[1], Role::During { aggregate: Aggregate::Count, .. }));
    assert!(matches!(roles[2], Role::Collect(Aggregate::Max, _)));
}

#[test]
fn most_transmissions_drawn() {
    let program = queries(&[MOST_TRANSMISSIONS]);
    let graph = graph(&program, program.roots[0].node, "most", Options::default()).unwrap();
    let named = |name: &str| graph.vertices.iter().position(|v| v.name == name).expect(name);
    let edge = |from: &str, to: &str| {
        let (from, to) = (named(from), named(to));
        graph.edges.iter().find(|e| e.from == from && e.to == to).map(|e| e.label.as_str())
    };
    assert_eq!(graph.initial, [named("A0")]);
    for (from, to) in [("n0", "A0"), ("n2", "A1"), ("n4", "n5")] {
        assert_eq!(edge(from, to), Some("next"), "{from} {to}");
    }
    assert_eq!((edge("A1", "n1"), edge("A1", "A2")), (Some("if"), Some("then")));
    assert_eq!(graph.edges.len(), 4 * 2 + 3);
    let kind = |name: &str| graph.vertices[named(name)].kind;
    use draw::Kind;
    assert_eq!([kind("A3"), kind("n1"), kind("n2")], [Kind::And, Kind::Accepting, Kind::Rejecting]);
    assert!(graph.to_svg().unwrap().contains("∨ f_max"));
    assert!(graph.to_dot().contains("⟨at_l1, true⟩"));
}

#[test]
fn operators() {
    check("p : x", "n0 = ⟨p, x⟩");
    check("p & !q", "n0 = ⟨p & !q, true⟩");
    check("X p : x", "A0 = n0 and[pi2] n2\nn0 = ⟨n1, id⟩\nn1 = ⟨p, true⟩\nn2 = ⟨true, x⟩");
    check("(p : x) |{+} (q : y)", "A0 = n0 or[+] n1\nn0 = ⟨p, x⟩\nn1 = ⟨q, y⟩");
    check("!{3} (p : x)", "A0 = negate[3](n0)\nn0 = ⟨p, x⟩");
    check("!(p : x)", "A0 = not(n0)\nn0 = ⟨p, x⟩");
    check("(p : x) ?? y", "A0 = default[y](n0)\nn0 = ⟨p, x⟩");
    check("X{v => v + 1} (p : x)", "n0 = ⟨n1, v => v + 1⟩\nn1 = ⟨p, x⟩");
    check(
        "p U{v => v * 2} (q : x)",
        "A0 = [v => v * 2](A1)
         A1 = n0 or[first] A2
         n0 = ⟨q, x⟩
         A2 = n1 and[pi2] n2
         n1 = ⟨p, true⟩
         n2 = ⟨A1, id⟩",
    );
    check("avg[p : x]", "A0 = avg(A1)\nA1 = n0 or[f_avg] n1\nn0 = ⟨A1, id⟩\nn1 = ⟨p, x⟩");
    check("quantile(0.9)[x > 3 : x] ?? 0", {
        "A0 = default[0](A1)
         A1 = quantile(0.9)(A2)
         A2 = n0 or[f_quantile(0.9)] n1
         n0 = ⟨A2, id⟩
         n1 = ⟨x > 3, x⟩"
    });
}

#[test]
fn formulas() {
    let collected = |formula: &str, expected: &str| {
        let head = "A0 = n0 or[f_count] A1\nn0 = ⟨A0, id⟩\n";
        check(&format!("count[{formula}]"), &format!("{head}{expected}"));
    };
    collected("F p", "A1 = n1 or[first] n2\nn1 = ⟨p, true⟩\nn2 = ⟨A1, id⟩");
    collected("G p", "A1 = not(A2)\nA2 = n1 or[first] n2\nn1 = ⟨!p, true⟩\nn2 = ⟨A2, id⟩");
    collected("N p", "A1 = not(n1)\nn1 = ⟨n2, id⟩\nn2 = ⟨!p, true⟩");
    check("count[!N p]", "A0 = n0 or[f_count] n1\nn0 = ⟨A0, id⟩\nn1 = ⟨n2, id⟩\nn2 = ⟨!p, true⟩");
    collected("p W X q", {
        "A1 = not(A2)
         A2 = A3 or[first] A5
         A3 = n1 and A4
         n1 = ⟨!p, true⟩
         A4 = not(n2)
         n2 = ⟨n3, id⟩
         n3 = ⟨q, true⟩
         A5 = A4 and[pi2] n4
         n4 = ⟨A2, id⟩"
    });
}

/// What an automaton that is read backwards cannot know is a terminal as it stands.
#[test]
fn guards() {
    let (program, automaton, root) = build("count[X (p & Y q)] / count[F[0,3] p & q : x]");
    let shown: Vec<String> = automaton.guards().iter().map(|&id| tw_ir::display(&program, id)).collect();
    assert_eq!(shown, ["X (p & Y q)", "F[0,3] p & q"]);
    assert!(automaton.text(&program, root).contains("⟨F[0,3] p & q, x⟩"));
    assert_eq!(transients(&automaton).len(), 2);
}

/// One transient node per operator, and what is shared is shared, however deep.
#[test]
fn linear_size() {
    let deep = 2_000;
    let families = [
        ((0..deep).fold("(p : x)".to_owned(), |inner, _| format!("X{{v => v + 1}} {inner}")), deep),
        ((0..deep).fold("(p : x)".to_owned(), |inner, _| format!("max[{inner}]")), deep),
        ((0..deep).fold("(p : x)".to_owned(), |inner, _| format!("(q U {inner})")), deep),
        ((0..deep).fold("(p : x)".to_owned(), |inner, _| format!("sum[{inner} while q]")), deep),
        (
            format!("count[{}]", (0..deep).fold("p".to_owned(), |inner, _| format!("(q <-> X {inner})"))),
            deep + 1,
        ),
        (format!("count[{}]", (0..deep).fold("p".to_owned(), |inner, _| format!("(q W {inner})"))), deep + 1),
    ];
    for (text, expected) in families {
        let (_, automaton, _) = build(&text);
        assert_eq!(transients(&automaton).len(), expected, "{}", &text[..40]);
        assert!(automaton.exprs().len() <= 9 * deep, "{}: {}", &text[..40], automaton.exprs().len());
        // Operands stand before what contains them, so one pass in this order evaluates everything.
        for (at, expr) in automaton.exprs().iter().enumerate() {
            let before = |id: ExprId| id.index() < at;
            assert!(match *expr {
                Expr::And(_, a, b) | Expr::Or(_, a, b) => before(a) && before(b),
                Expr::Apply(_, a) => before(a),
                Expr::Node(index) => match automaton.node(index) {
                    Node::Terminal(..) => true,
                    Node::Transient(t) => (t.role == Role::Next) == before(t.successor),
                },
            });
        }
    }
    // (a, a) doubles the text sixteen times and the automaton not at all.
    let doubled = (0..16).fold("count[X p]".to_owned(), |inner, _| format!("({inner} + {inner})"));
    let (_, automaton, _) = build(&doubled);
    assert_eq!(transients(&automaton).len(), 2);
    assert!(automaton.exprs().len() < 30);
}

#[test]
fn terms_alone_are_refused() {
    let program = queries(&["p : x"]);
    let term = program.terms()[0];
    let refused = Algebraic::new(&program, Options::default()).query(&program, term).unwrap_err();
    assert_eq!(refused, Refused { node: term, what: "terms outside `φ : e`" });
}
