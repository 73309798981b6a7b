//! Textbook formulas, prefixes that leave memory, and budgets. Random formulas are compared with enumerated lassos in
//! the test kit.

use super::Emptiness;
use crate::past::Past;
use tw_ir::{NodeId, Program, Temporal};

fn program(text: &str) -> (Program, NodeId) {
    let program = tw_testkit::texts::formula(text);
    let root = program.roots[0].node;
    (program, root)
}

/// Whether the formula and its negation are satisfiable from the first position on.
fn both(text: &str) -> (Option<bool>, Option<bool>) {
    let (program, root) = program(text);
    let past = Past::new(&program, &[root]).expect(text);
    let mut emptiness = Emptiness::new(&program, &past, 10_000);
    let memory = past.origin();
    let mut ask = |negated| emptiness.satisfiable(&program, &[(root, negated)], &memory);
    let answers = (ask(false), ask(true));
    assert_eq!(answers, (ask(false), ask(true)), "asked again: {text}");
    answers
}

#[test]
fn what_is_open_valid_or_contradictory() {
    const OPEN: (bool, bool) = (true, true);
    const VALID: (bool, bool) = (true, false);
    const NEVER: (bool, bool) = (false, true);
    for (text, expected) in [
        ("a", OPEN),
        ("true", VALID),
        ("F (G a | G !a)", OPEN),
        ("G a & F !a", NEVER),
        ("F a | G !a", VALID),
        ("G (a -> F b)", OPEN),
        ("a U b", OPEN),
        ("(a U b) -> F b", VALID),
        ("(a W b) <-> (a U b | G a)", VALID),
        ("(a R b) <-> (b W (a & b))", VALID),
        ("(a M b) <-> !(!a W !b)", VALID),
        ("G F a & F G !a", NEVER),
        ("G F a & G F !a", OPEN),
        ("G F a | F G !a", VALID),
        ("(G F a -> G F b) & G F a & F G !b", NEVER),
        ("X a <-> N a", VALID),
        ("X true", VALID),
        ("G X F N true", VALID),
        ("F X false", NEVER),
        ("F last", NEVER),
        ("G (a <-> X !a) & a & X a", NEVER),
        ("G (a <-> X !a) & G F (a & b) & G F (!a & b)", OPEN),
        ("a & G (a -> X a) & F !a", NEVER),
        ("G (a -> b) -> (G a -> G b)", VALID),
        ("X (a U b) <-> (X a U X b)", VALID),
        ("F (a & X b) & G (a -> X !b)", NEVER),
        ("false U (a U (b & !b))", NEVER),
        ("!(false U (a U (b & !b)))", VALID),
        // Needs an eventuality to be met by another obligation's choice.
        ("F a & X F a & G (a -> X !a)", OPEN),
        // One loop is met again and again, the other never.
        ("G (F a & F b) & F G (a -> !b) & F G (a | b)", OPEN),
        ("G (F a & F b) & F G !(a & b) & F G (a <-> b)", NEVER),
    ] {
        let (can, can_fail) = both(text);
        assert_eq!((can, can_fail), (Some(expected.0), Some(expected.1)), "{text}");
    }
}

#[test]
fn past_operators_remember() {
    for (text, expected) in [
        ("first", (true, false)),
        ("Y a", (false, true)),
        ("Z a", (true, false)),
        ("X Y a <-> a", (true, false)),
        ("X first", (false, true)),
        ("G (O a -> a)", (true, true)),
        ("F (a & Y a) & G (a -> X !a)", (false, true)),
        ("G (p -> O r) & F (p & H !r)", (false, true)),
        ("G F (a S b) & F G !b & G F !a", (false, true)),
        ("G F (a S b) & F G !b", (true, true)),
        ("G (a -> (b B c)) & X X (a & H !c & Y !b)", (false, true)),
        ("X X (a & (b B c) & H !c & Y !b)", (false, true)),
        ("(a T b) <-> b B (a & b)", (true, false)),
        ("G (a <-> Z !a) & F (a & X a)", (false, true)),
    ] {
        let (can, can_fail) = both(text);
        assert_eq!((can, can_fail), (Some(expected.0), Some(expected.1)), "{text}");
    }
}

#[test]
fn the_prefix_counts_through_what_it_left() {
    let (program, root) = program("G (a -> O r)");
    let past = Past::new(&program, &[root]).expect("past over atoms");
    let mut emptiness = Emptiness::new(&program, &past, 1_000);
    assert_eq!(emptiness.satisfiable(&program, &[(root, true)], &[false]), Some(true));
    // Once r was seen the property cannot fail any more.
    assert_eq!(emptiness.satisfiable(&program, &[(root, true)], &[true]), Some(false));
    assert_eq!(emptiness.satisfiable(&program, &[(root, false)], &[true]), Some(true));
}

#[test]
fn several_formulas_owed_together() {
    let (program, root) = program("G a & F b & (G !a | c)");
    let past = Past::default();
    let mut emptiness = Emptiness::new(&program, &past, 1_000);
    let find = |text: &str| {
        let nodes = 0..program.dag.len() as u32;
        nodes.map(NodeId).find(|&id| tw_ir::display(&program, id) == text).expect(text)
    };
    let (ga, gna, fb) = (find("G a"), find("G !a"), find("F b"));
    assert_eq!(emptiness.satisfiable(&program, &[(ga, false), (gna, false)], &[]), Some(false));
    assert_eq!(emptiness.satisfiable(&program, &[(ga, true), (gna, true)], &[]), Some(true));
    assert_eq!(emptiness.satisfiable(&program, &[(fb, false), (ga, false)], &[]), Some(true));
    assert_eq!(emptiness.satisfiable(&program, &[(fb, false), (root, false), (fb, true)], &[]), Some(false));
    assert_eq!(emptiness.satisfiable(&program, &[], &[]), Some(true));
}

/// Thirty responses together, alone and over a shared atom, satisfiable and not: the choices multiply to 3^30, but few
/// of them are ever looked at.
#[test]
fn many_responses_need_few_configurations() {
    let responses = |shared: bool| {
        let one =
            |i: usize| if shared { format!("G (p{i} & s -> F q{i})") } else { format!("G (p{i} -> F q{i})") };
        (0..30).map(one).collect::<Vec<_>>().join(" & ")
    };
    for shared in [false, true] {
        let text = responses(shared);
        assert_eq!(both(&text), (Some(true), Some(true)), "{text}");
        let text = format!("{text} & G s & G p7 & G !q7");
        assert_eq!(both(&text).0, Some(false), "{text}");
    }
}

#[test]
fn a_budget_that_runs_out_is_no_answer_and_harms_no_later_one() {
    let counter: Vec<String> = (0..5)
        .map(|i| {
            let carry: Vec<String> = (0..i).map(|j| format!("b{j}")).collect();
            let carry = if carry.is_empty() { "true".to_owned() } else { carry.join(" & ") };
            format!("!b{i} & G ((({carry}) ^ b{i}) <-> X b{i})")
        })
        .collect();
    // Counts to 31 and round again; to stay below is a contradiction that takes 32 configurations to see.
    let text = format!("{} & G !(b0 & b1 & b2 & b3 & b4)", counter.join(" & "));
    let (program, root) = program(&text);
    let past = Past::default();
    let mut small = Emptiness::new(&program, &past, 10);
    assert_eq!(small.satisfiable(&program, &[(root, false)], &[]), None);
    assert_eq!(small.satisfiable(&program, &[(root, true)], &[]), Some(true));
    let mut large = Emptiness::new(&program, &past, 100);
    assert_eq!(large.satisfiable(&program, &[(root, false)], &[]), Some(false));
    // Asked again it costs nothing.
    for _ in 0..10_000 {
        assert_eq!(small.satisfiable(&program, &[(root, false)], &[]), None);
    }
}

/// A chain of nested operators far deeper than any stack of calls.
#[test]
fn deep_formulas_do_not_recurse() {
    let mut program = program("a").0;
    let mut node = program.roots[0].node;
    for _ in 0..100_000 {
        node = program.dag.add(tw_ir::Node::Unary(Temporal::Next, None, node));
        let a = program.roots[0].node;
        node = program.dag.add(tw_ir::Node::And(a, node));
    }
    program.roots[0].node = node;
    let mut emptiness = Emptiness::new(&program, &Past::default(), 1_000);
    assert_eq!(emptiness.satisfiable(&program, &[(node, false)], &[]), None);
    assert_eq!(emptiness.satisfiable(&program, &[(node, true)], &[]), Some(true));
}

/// A formula of 32 nodes that took half a minute: each step counts what it costs, and few are needed.
#[test]
fn steps_are_few_where_transitions_are_many() {
    let (program, root) = program(
        "F ((((((N h) R (G d)) M (!(d W c))) M (N (N a))) | ((((N d) -> (d ^ e)) -> (F h)) -> ((F (c U b)) W (G (G c)))))
         | (G (N (b -> c))))",
    );
    let past = Past::new(&program, &[root]).unwrap();
    let mut emptiness = Emptiness::new(&program, &past, 10_000);
    for negated in [false, true] {
        let answer = emptiness.satisfiable(&program, &[(root, negated)], &past.origin());
        assert_eq!(answer, Some(!negated));
    }
    assert!(emptiness.steps_left() > super::STEPS / 3, "{} are left", emptiness.steps_left());
}

/// Questions that each fit their own budget share one of steps; beyond it they are left without an answer, and told.
#[test]
fn all_questions_share_their_steps() {
    let (program, root) =
        program("G (a -> F (b & X (c U (a ^ X b)))) & G F (a ^ X (b ^ X c)) & F G (c | X a)");
    let past = Past::new(&program, &[root]).unwrap();
    let ask = |emptiness: &mut Emptiness| emptiness.satisfiable(&program, &[(root, false)], &past.origin());
    let mut enough = Emptiness::new(&program, &past, 10_000).with_steps(1_000_000);
    assert_eq!((ask(&mut enough), enough.gave_up()), (Some(true), false));
    let used = 1_000_000 - enough.steps_left();
    for steps in [0, 1, used / 2] {
        let mut few = Emptiness::new(&program, &past, 10_000).with_steps(steps);
        assert_eq!((ask(&mut few), few.gave_up(), few.steps_left()), (None, true, 0), "{steps} of {used}");
        assert_eq!(ask(&mut few), None);
    }
}
