use super::*;
use tw_model::{Cells, Graph, Variable};
use tw_testkit::texts::branching as program;

/// Four states: s1@1, s2@1, s1@2, `odd name`@2, with a boolean `up` and a level that `state` decides.
fn model() -> Model {
    let text = |text: &str| Value::text(text);
    let variable = |name: &str, domain, cells| Variable { name: name.into(), domain, cells };
    Model {
        variables: vec![
            variable(
                "state",
                Domain::Values(vec![text("s1"), text("s2"), text("odd name")]),
                Cells::Own(vec![0, 1, 0, 2]),
            ),
            variable("time", Domain::Range(1, 2), Cells::Own(vec![0, 0, 1, 1])),
            variable("up", Domain::Boolean, Cells::Of(0, vec![1, 0, 1].into())),
            variable(
                "level",
                Domain::Values(vec![Value::Int(7), Value::Null]),
                Cells::Of(0, vec![0, 1, 0].into()),
            ),
        ],
        graph: Graph::from_edges(4, [(0, 2), (1, 3)].into_iter()),
        initial: vec![0, 1],
        ..Model::default()
    }
}

fn states(formula: &str) -> Vec<usize> {
    let labels = Labels::new(&model(), &program(formula)).unwrap();
    assert_eq!(labels.atoms.len(), 1, "{formula}");
    labels.atoms[0].iter_ones().collect()
}

#[test]
fn predicates_hold_in_states() {
    assert_eq!(states("AG state = s1"), [0, 2]);
    assert_eq!(states("AG s1 = state"), [0, 2]);
    assert_eq!(states("EF state != s1"), [1, 3]);
    assert_eq!(states("EF state = \"odd name\""), [3]);
    assert_eq!(states("EF s2"), [1]);
    assert_eq!(states("EF `odd name`"), [3]);
    assert_eq!(states("EF up"), [0, 2, 3]);
    assert_eq!(states("EF time < 2"), [0, 1]);
    assert_eq!(states("EF time + 1 = 3"), [2, 3]);
    assert_eq!(states("EF level = 7"), [0, 2, 3]);
    assert_eq!(states("EF level != 7"), [0; 0]);
    assert_eq!(states("EF state in {\"s1\", \"s2\"}"), [0, 1, 2]);
}

#[test]
fn a_name_the_model_lacks_is_false_with_a_warning() {
    let merged = Model { merged: Some(tw_model::Merged::default()), ..model() };
    for (formula, help) in [
        ("EF s3", "did you mean `s1`?"),
        ("EF state = s11", "did you mean `s1`?"),
        ("EF state = \"s11\"", "did you mean `s1`?"),
        ("EF \"zz\" = state", "never there"),
        ("EF zebra", "never there"),
        ("EF d", "never there"),
        ("EF tree", "never there"),
        ("EF TRUE", "did you mean `true`?"),
        ("EF up = False", "did you mean `false`?"),
    ] {
        let labels = Labels::new(&merged, &program(formula)).unwrap();
        assert_eq!(labels.atoms[0].count_ones(), 0, "{formula}");
        assert_eq!(labels.warnings.len(), 1, "{formula}: {:?}", labels.warnings);
        let warning = &labels.warnings[0];
        assert!(warning.help.as_deref().is_some_and(|text| text.contains(help)), "{warning:?}");
        assert!(!warning.labels.is_empty(), "{warning:?}");
    }
    let labels = Labels::new(&merged, &program("AG state != \"zz\"")).unwrap();
    assert!(labels.warnings[0].message.contains("never `zz`"), "{:?}", labels.warnings);
    for formula in ["EF state = \"odd name\"", "EF state = \"s1\"", "EF true"] {
        let labels = Labels::new(&merged, &program(formula)).unwrap();
        assert!(labels.warnings.is_empty(), "{formula}: {:?}", labels.warnings);
    }
    // No traces, so nothing is said of them.
    let labels = Labels::new(&model(), &program("EF zebra")).unwrap();
    assert_eq!(labels.warnings[0].help, None);
}

#[test]
fn truth_values_among_other_values() {
    let mut model = model();
    model.variables[0].domain =
        Domain::Values(vec![Value::Bool(true), Value::text("s2"), Value::Bool(false)]);
    let states = |formula: &str| -> Vec<usize> {
        let program = program(formula);
        let labels = Labels::new(&model, &program).unwrap();
        let checker = crate::Checker::new(&model);
        let root = program.roots[0].node;
        let answer = crate::branching(&checker, &program, root, &labels.atoms).unwrap();
        answer.satisfied(root).iter_ones().collect()
    };
    assert_eq!(states("state = true"), [0, 2]);
    assert_eq!(states("state != true"), [3]);
    assert_eq!(states("state = false"), [3]);
    assert_eq!(states("state != false"), [0, 2]);
    assert_eq!(states("!(state = true)"), [1, 3]);
    assert_eq!(states("state = s2"), [1]);
    assert_eq!(states("state = state"), [0, 1, 2, 3]);
    assert_eq!(states("up = false"), [1]);
    for (formula, warnings) in [("EF state = false", 1), ("EF state = true", 0), ("EF up = false", 0)] {
        assert_eq!(Labels::new(&model, &program(formula)).unwrap().warnings.len(), warnings, "{formula}");
    }
}

#[test]
fn what_cannot_be_understood_is_an_error() {
    for (formula, message) in [
        ("EF stat = s1", "the model has no variable `stat`"),
        ("EF speed > 3", "the model has no variable `speed`"),
        ("EF time", "neither true nor false"),
        ("EF login(\"bob\")", "no events"),
    ] {
        let errors = Labels::new(&model(), &program(formula)).unwrap_err();
        assert!(errors.iter().any(|error| error.message.contains(message)), "{formula}: {errors:?}");
    }
    let mut odd = model();
    odd.variables[0].domain = Domain::Values(vec![Value::Null, Value::text("a b"), Value::text("c")]);
    let errors = Labels::new(&odd, &program("EF state")).unwrap_err();
    assert_eq!(errors[0].help.as_deref(), Some("compare it: `state = \"a b\"`"));
    let timeless = Model { variables: model().variables.drain(..1).collect(), ..model() };
    let errors = Labels::new(&timeless, &program("EF time < 5")).unwrap_err();
    assert!(errors[0].help.as_deref().is_some_and(|help| help.contains("⟨keep: time⟩")), "{errors:?}");
}
