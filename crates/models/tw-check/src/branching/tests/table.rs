//! The example of the paper: three traces over two states, merged in three ways, and thirteen formulas.

use super::*;

/// Figures 2 to 4: states alone, with instants, and with the instants of changes.
fn merged() -> [Model; 3] {
    let state = model(&[("s1", 1), ("s2", 1)], &[(0, 0), (0, 1), (1, 0), (1, 1)], &[0, 1]);
    let time = model(
        &[("s1", 1), ("s2", 1), ("s1", 2), ("s2", 2), ("s1", 3)],
        &[(0, 2), (0, 3), (1, 3), (2, 4), (3, 4)],
        &[0, 1],
    );
    let change = model(&[("s1", 1), ("s2", 1), ("s2", 2), ("s1", 3)], &[(0, 2), (2, 3), (1, 3)], &[0, 1]);
    [state, time, change]
}

#[test]
fn verdicts_are_those_of_the_table() {
    let models = merged();
    // On which initial states each formula fails, per model; `None` is not asked.
    let both = || Some(vec![0, 1]);
    let (none, s1, s2) = (|| Some(vec![]), || Some(vec![0]), || Some(vec![1]));
    let table = [
        ("AF s1", s2(), none(), none()),
        ("AF s2", s1(), s1(), none()),
        ("EF s2", none(), none(), none()),
        ("AG s1", both(), both(), both()),
        ("AG EF s1", none(), none(), none()),
        ("AG (s1 -> AF s2)", both(), both(), both()),
        ("AG ((s1 & time < 2) -> AF s2)", None, s1(), None),
        ("EF (s2 & EX (s2 & EX s2))", none(), both(), both()),
        ("EF (s2 & EX s2)", none(), s1(), both()),
        ("AF AG s1", both(), none(), none()),
        ("A [s2 U s1]", s2(), none(), none()),
        ("AG (s2 -> EX s1)", none(), s2(), none()),
        ("AX s2", both(), s1(), s2()),
    ];
    let holds = [
        [false, true, true],
        [false, false, true],
        [true, true, true],
        [false, false, false],
        [true, true, true],
        [false, false, false],
        [false, false, false],
        [true, false, false],
        [true, false, false],
        [false, true, true],
        [false, true, true],
        [true, false, true],
        [false, false, false],
    ];
    for ((formula, state, time, change), holds) in table.into_iter().zip(holds) {
        for ((model, failing), holds) in models.iter().zip([state, time, change]).zip(holds) {
            let Some(failing) = failing else { continue };
            let program = program(formula);
            let (checker, labels) = (Checker::new(model), Labels::new(model, &program).unwrap());
            let root = program.roots[0].node;
            let answer = branching(&checker, &program, root, &labels.atoms).unwrap();
            assert_eq!(answer.failing().collect::<Vec<_>>(), failing, "{formula}");
            assert_eq!(answer.holds(), holds, "{formula}");
            for &state in &model.initial {
                valid(&checker, &program, &labels.atoms, &answer.evidence(state)).unwrap();
            }
        }
    }
}
