//! Against the definition, on random specifications and logs: stored, live in pieces, saved and restored.

use tw_core::Value;
use tw_engine_relational::Relational;
use tw_monitor::{Bindings, Claim, Engine, EvaluateOptions, Explanation, Rule, explain_many};
use tw_testkit::first_order::{Log, agree, explained};
use tw_testkit::{cases, check_explanation, texts};

#[test]
fn it_answers_as_the_definition_does() {
    let summary = agree(&Relational, 0..cases(2_000));
    println!("{summary:?}");
    let [guarded, in_atoms, _] = summary.refused;
    assert_eq!(guarded, 0, "what events bind is never refused");
    assert!(in_atoms * 100 <= summary.compared[1], "more than one in a hundred refused: {summary:?}");
    assert!(summary.live > 0);
}

/// A claim about some values is true of these values by the definition, and follows from the claims below it.
#[test]
fn its_explanations_are_proofs() {
    let summary = explained(&Relational, 0..cases(2_000));
    println!("{summary:?}");
    assert!(summary.explanations > summary.refused && summary.bound > 0, "{summary:?}");
    assert!(summary.quantifiers.iter().all(|count| *count > 0), "{summary:?}");
}

/// The checker tells a proof from what only looks like one.
#[test]
fn explanations_about_other_values_are_no_proofs() {
    let program = texts::specification("property a : G forall x. p(x) -> exists y. r(x, y);");
    let trace = Log::from_text("@0 p(1) r(2,3) @1 p(1) r(1,2)").trace(&program).unwrap();
    let options = EvaluateOptions::default();
    let (variables, body) = program.invariant(program.roots[0].node).unwrap();
    let bound = Bindings::new(vec![(variables[0], Value::Int(1))]);
    let mut evaluator = Relational.plan(&program, &options).unwrap();
    let requests = [(body, 0, bound.clone()), (body, 1, bound)];
    let made =
        explain_many(&program, &trace, &options, &mut *evaluator, (&requests, &[]), 9, 1 << 20).unwrap();
    let check = |made: &Explanation| check_explanation(&program, &trace, &options, made);
    made.iter().for_each(|made| check(made).unwrap());
    let instance = made[1].claims.iter().position(|claim| claim.rule == Rule::Instance).unwrap();
    let value = instance + 1;
    assert_eq!(made[1].claims[instance].children, [value]);
    let y = made[1].claims[value].bindings.pairs()[1].0;
    let no_proof = |made: &Explanation, why: &str, change: &dyn Fn(&mut Vec<Claim>)| {
        let mut made = made.clone();
        change(&mut made.claims);
        let found = check(&made).unwrap_err();
        assert!(found.contains(why), "{found}");
    };
    no_proof(&made[1], "the reference says otherwise", &|claims| {
        claims[value].bindings = claims[value].bindings.with(y, Value::Int(3));
    });
    no_proof(&made[1], "the child is about other values", &|claims| {
        claims[value].bindings = Bindings::new(vec![(y, Value::Int(2)), (variables[0], Value::Int(1))]);
    });
    no_proof(&made[1], "does not fit the quantifier", &|claims| {
        claims[instance].rule = Rule::Nobody;
    });
    no_proof(&made[1], "a formula about quantified variables by itself", &|claims| {
        claims[0].bindings = Bindings::default();
    });
    // No r(1, _) is there at first: that there is no r(7, _) either is no reason.
    let nobody = made[0].claims.iter().position(|claim| claim.rule == Rule::Nobody).unwrap();
    no_proof(&made[0], "a child is about other values", &|claims| {
        claims[nobody].bindings = claims[nobody].bindings.with(variables[0], Value::Int(7));
    });
}
