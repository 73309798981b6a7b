//! Evidence and fairness by hand.

use super::*;

fn evidence(model: &Model, fairness: &[&[State]], formula: &str, state: State) -> (Program, Evidence) {
    let program = program(formula);
    let set = |states: &&[State]| (0..model.states() as State).map(|state| states.contains(&state)).collect();
    let checker = Checker::new(model).fairness(fairness.iter().map(set).collect());
    let labels = Labels::new(model, &program).unwrap();
    let answer = branching(&checker, &program, program.roots[0].node, &labels.atoms).unwrap();
    let evidence = answer.evidence(state);
    valid(&checker, &program, &labels.atoms, &evidence).unwrap();
    (program, evidence)
}

/// A tree in one line: `EF p: 0 1 (1: EX q: 1 2)`, a cycle's first state after `>`.
fn line(model: &Model, fairness: &[&[State]], formula: &str, state: State) -> String {
    fn tree(program: &Program, evidence: &Evidence) -> String {
        let mut line =
            format!("{}{}:", if evidence.holds { "" } else { "not " }, display(program, evidence.node));
        for (at, state) in evidence.steps.iter().enumerate() {
            let mark = if evidence.cycle == Some(at) { ">" } else { "" };
            line += &format!(" {mark}{state}");
        }
        for (at, branch) in &evidence.branches {
            line += &format!(" ({at}: {})", tree(program, branch));
        }
        line
    }
    let (program, evidence) = evidence(model, fairness, formula, state);
    tree(&program, &evidence)
}

/// 0 → 1 → 2 → 0, 1 → 3 ⟲, 2 → 4 (a dead end).
fn example() -> Model {
    let names = ["a", "b", "c", "d", "e"].map(|name| (name, 1));
    model(&names, &[(0, 1), (1, 2), (2, 0), (1, 3), (3, 3), (2, 4)], &[0])
}

#[test]
fn paths_are_short_and_branches_stand_where_they_matter() {
    let model = example();
    let expected = [
        ("EF e", "EF e: 0 1 2 4"),
        ("AG !d", "not AG !d: 0 1 3"),
        ("AF e", "not AF e: >0 1 2"),
        ("EG !d & !e", "EG !d & !e: 0 (0: EG !d: >0 1 2)"),
        ("EG !d", "EG !d: >0 1 2"),
        ("EX b", "EX b: 0 1"),
        ("AX a", "not AX a: 0 1"),
        ("AX b", "AX b: 0"),
        ("EF a", "EF a: 0"),
        ("EX a", "not EX a: 0"),
        ("EF (b & EX d)", "EF (b & EX d): 0 1 (1: EX d: 1 3)"),
        ("AG (c -> AF a)", "not AG (c -> AF a): 0 1 2 (2: not AF a: 2 >4)"),
        ("EX (c | EX c)", "EX (c | EX c): 0 1 (1: EX c: 1 2)"),
        ("EX (b | EX c)", "EX (b | EX c): 0 1"),
        ("EF a & EF b", "EF a & EF b: 0 (0: EF a: 0) (0: EF b: 0 1)"),
        ("E[!c U EX d]", "E[!c U EX d]: 0 1 (1: EX d: 1 3)"),
        ("A[a W (b & AX c)]", "not A[a W (b & AX c)]: 0 1 (1: not AX c: 1 3)"),
        ("EF[4,6] a", "EF[4,6] a: 0 1 2 0 1 2 0"),
        ("EF[4,5] a", "not EF[4,5] a: 0"),
        ("EF[3,5] a", "EF[3,5] a: 0 1 2 0"),
        ("EG[1,2] !a", "EG[1,2] !a: 0 1 2"),
        ("EG[1,3] !a", "EG[1,3] !a: 0 1 2 4"),
        ("EG[1,inf) !a", "EG[1,inf) !a: 0 1 >3"),
        ("E[b R[2,4] c]", "E[b R[2,4] c]: 0 1"),
    ];
    let found = expected.map(|(formula, _)| (formula, line(&model, &[], formula, 0)));
    assert_eq!(found, expected.map(|(formula, line)| (formula, line.to_owned())));
}

#[test]
fn only_fair_paths_count() {
    let model = example();
    // Again and again in 2: only the ring is fair.
    let ring: &[&[State]] = &[&[2]];
    for (formula, expected) in [
        ("EF d", vec![]),
        ("EF c", vec![0, 1, 2]),
        ("AF c", vec![0, 1, 2, 3, 4]),
        ("AG !d", vec![0, 1, 2, 3, 4]),
        ("EG !a", vec![]),
        ("EX true", vec![0, 1, 2]),
        ("E (d)", vec![]),
        ("A (d)", vec![3, 4]),
        ("EF[0,1] c", vec![1, 2]),
        ("EG[0,1] !a", vec![1]),
        ("AX d", vec![3, 4]),
    ] {
        assert_eq!(states(&model, ring, formula), expected, "{formula}");
    }
    // Again and again in 0 and in 1, or for ever nowhere.
    assert_eq!(states(&model, &[&[0], &[1]], "EG true"), [0, 1, 2]);
    assert_eq!(states(&model, &[&[0], &[3]], "EG true"), [0; 0]);
    assert_eq!(states(&model, &[&[2, 3]], "EG !a"), [1, 3]);
    assert_eq!(line(&model, &[&[2], &[1]], "EG !d", 1), "EG !d: >1 2 0");
    // The cycle makes a detour to meet both sets.
    let names = ["a", "b", "c"].map(|name| (name, 1));
    let detour = super::model(&names, &[(0, 0), (0, 1), (1, 0), (0, 2), (2, 0)], &[0]);
    assert_eq!(line(&detour, &[], "EG true", 0), "EG true: >0");
    assert_eq!(line(&detour, &[&[1]], "EG true", 0), "EG true: >0 1");
    assert_eq!(line(&detour, &[&[2], &[1]], "EG true", 0), "EG true: >0 1 0 2");
}

/// The judge of evidence is no yes-man.
#[test]
fn wrong_evidence_is_found() {
    let model = example();
    let wrong = |formula: &str, fairness: &[&[State]], spoil: &dyn Fn(&mut Evidence), error: &str| {
        let (program, mut evidence) = evidence(&model, fairness, formula, 0);
        let set =
            |states: &&[State]| (0..model.states() as State).map(|state| states.contains(&state)).collect();
        let checker = Checker::new(&model).fairness(fairness.iter().map(set).collect());
        spoil(&mut evidence);
        let found = valid(&checker, &program, &Labels::new(&model, &program).unwrap().atoms, &evidence);
        assert!(found.as_ref().is_err_and(|found| found.starts_with(error)), "{formula}: {found:?}");
    };
    let path = "the path does not show it";
    wrong("EF e", &[], &|evidence| evidence.steps[1] = 2, "no such transition");
    wrong("EF e", &[], &|evidence| evidence.steps.truncate(3), path);
    wrong("EF e", &[], &|evidence| evidence.holds = false, "the claim is wrong");
    wrong("AX b", &[], &|evidence| evidence.steps.push(1), "a path for all paths");
    wrong("EG !d", &[], &|evidence| evidence.cycle = None, path);
    wrong("EG !d", &[], &|evidence| evidence.cycle = Some(1), "no cycle");
    wrong("EG !d", &[], &|evidence| evidence.cycle = Some(7), "no cycle");
    let ring = |evidence: &mut Evidence| (evidence.steps, evidence.cycle) = (vec![0, 1, 2], Some(0));
    wrong("EG true", &[&[3]], &ring, "the cycle is not fair");
    wrong("EF[4,6] a", &[], &|evidence| evidence.steps.truncate(4), path);
    wrong("EG[1,3] !a", &[], &|evidence| evidence.steps.truncate(3), path);
    wrong("EF (b & EX d)", &[], &|evidence| evidence.branches.clear(), path);
    wrong("EF (b & EX d)", &[], &|evidence| evidence.branches[0].0 = 0, "a branch begins elsewhere");
    wrong("EF (b & EX d)", &[], &|evidence| evidence.branches[0].1.steps[1] = 2, path);
    wrong("EF b", &[&[2]], &|evidence| evidence.steps = vec![0, 1, 3], "no path that counts");
}
