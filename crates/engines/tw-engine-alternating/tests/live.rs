//! The breadth-first monitor: what it owes, when it is settled, what it refuses.

use tw_engine_alternating::{BreadthFirst, DepthFirst, Reverse};
use tw_ir::{NodeId, Program, Semantics, display};
use tw_monitor::{Engine, EvaluateOptions, Monitor, words};
use tw_testkit::texts::formula as program;

/// The atoms of a position at which the given propositions hold.
fn row(program: &Program, names: &str) -> Vec<u64> {
    let mut row = vec![0; words(program.atoms().len())];
    for (index, &atom) in program.atoms().iter().enumerate() {
        let holds = names.split_whitespace().any(|name| name == display(program, atom));
        row[index / 64] |= u64::from(holds) << (index % 64);
    }
    row
}

fn monitor(program: &Program, semantics: Semantics, faithful: bool) -> Box<dyn Monitor> {
    let options = EvaluateOptions { semantics, faithful, ..EvaluateOptions::default() };
    BreadthFirst.monitor(program, &options, tw_monitor::Telling::Verdicts).unwrap()
}

/// After each position: what is owed, or the verdict.
fn told(formula: &str, positions: &str, semantics: Semantics, faithful: bool) -> Vec<String> {
    let program = program(formula);
    let mut monitor = monitor(&program, semantics, faithful);
    let tell = |names: &str| {
        monitor.step(&row(&program, names), &mut tw_monitor::Sink::default()).unwrap();
        match (monitor.verdicts()[0], monitor.pending().first()) {
            (Some(holds), _) => holds.to_string(),
            (None, Some(owed)) => owed.residual.clone(),
            (None, None) => "neither settled nor pending".into(),
        }
    };
    positions.split(',').map(tell).collect()
}

#[test]
fn residuals_are_formulas_of_the_user() {
    let cases: [(&str, &str, &[&str]); 7] = [
        ("G (a -> F b)", ",a,b", &["G (a -> F b)", "F b & G (a -> F b)", "G (a -> F b)"]),
        ("a U b", "a,a,b", &["a U b", "a U b", "true"]),
        ("X X a", ",,a", &["X a", "a", "true"]),
        ("!F a", ",a", &["!F a", "false"]),
        ("F a | G b", "b,b,", &["F a | G b", "F a | G b", "F a"]),
        ("G (p -> O r)", ",r", &["G (p -> O r)", "true"]),
        ("F (a & X b) & G c", "c a,c", &["G c & (b | F (a & X b))", "F (a & X b) & G c"]),
    ];
    for (formula, positions, expected) in cases {
        assert_eq!(told(formula, positions, Semantics::Finite, false), expected, "{formula}");
    }
}

/// Published slices are candidates for the next position, literals included.
#[test]
fn residuals_of_published_slices() {
    let owed = told("F a", ",,a", Semantics::Finite, true);
    assert_eq!(owed, ["a | X F a", "a | X F a", "true"]);
}

#[test]
fn a_long_residual_is_cut() {
    let formula: Vec<String> = (0..400).map(|index| format!("F proposition{index}")).collect();
    for connective in [" & ", " | "] {
        let owed = told(&formula.join(connective), "", Semantics::Finite, false);
        assert!(owed[0].ends_with('…') && owed[0].len() < 5000, "{}", owed[0]);
    }
}

/// Three-valued verdicts come as soon as there is only one left.
#[test]
fn three_valued_verdicts() {
    let cases: [(&str, &str, &[&str]); 12] = [
        ("G a", "a,", &["G a", "false"]),
        ("F a", ",a", &["F a", "true"]),
        ("X true", "", &["true"]),
        ("F last", "", &["false"]),
        ("G !last", "", &["true"]),
        ("G F a", "a,", &["G F a", "F a & G F a"]),
        // Unsatisfiable and valid, though no slice says so.
        ("F a & G !a", "", &["false"]),
        ("F a | G !a", "", &["true"]),
        ("X (F a & G !a)", "", &["false"]),
        ("G (a -> F b) & F G (a & !b)", "", &["false"]),
        ("G (p -> O r)", "r", &["true"]),
        ("a U b | G a | F (!a & !b)", "a", &["true"]),
    ];
    for (formula, positions, expected) in cases {
        assert_eq!(told(formula, positions, Semantics::Ltl3, false), expected, "{formula}");
    }
}

#[test]
fn refusals_name_the_subformula() {
    let cases: [(&dyn Engine, &str, &str, &str); 5] = [
        (&BreadthFirst, "G (a -> O X b)", "X b", "future operators inside past ones while reading forward"),
        (&BreadthFirst, "O last", "last", "future operators inside past ones while reading forward"),
        (&BreadthFirst, "G (a -> F[0,3] b)", "F[0,3] b", "intervals on temporal operators"),
        (&DepthFirst, "G (a -> F[0,3] b)", "F[0,3] b", "intervals on temporal operators"),
        (&Reverse, "a S[1,2] b", "a S[1,2] b", "intervals on temporal operators"),
    ];
    for (engine, formula, part, what) in cases {
        let program = program(formula);
        let refusal = engine.plan(&program, &EvaluateOptions::default()).err().expect(formula);
        let named = refusal.node.map(|node: NodeId| display(&program, node));
        assert_eq!((named.as_deref(), refusal.what.as_str()), (Some(part), what), "{}", engine.name());
        assert_eq!(refusal.help.is_some(), what.contains("forward"));
    }
    let ltl3 = EvaluateOptions { semantics: Semantics::Ltl3, ..EvaluateOptions::default() };
    for engine in [&DepthFirst as &dyn Engine, &Reverse] {
        assert!(engine.plan(&program("F a"), &ltl3).err().expect("refused").what.contains("ltl3"));
    }
}

/// Damaged states are told from whole ones, or are whole ones; nothing panics.
#[test]
fn damaged_states_do_not_restore() {
    let program = program("G (a -> F b) & G (p -> O r) & X X c");
    for semantics in [Semantics::Finite, Semantics::Ltl3] {
        let mut saved = Vec::new();
        let mut first = monitor(&program, semantics, false);
        for names in ["a", "r", "a p"] {
            first.step(&row(&program, names), &mut tw_monitor::Sink::default()).unwrap();
            saved.clear();
            first.save(&mut saved);
            for place in 0..saved.len() {
                assert!(monitor(&program, semantics, false).restore(&saved[..place]).is_err());
                for change in [1, 0x7f, 0x80] {
                    let mut damaged = saved.clone();
                    damaged[place] ^= change;
                    let mut second = monitor(&program, semantics, false);
                    if second.restore(&damaged).is_ok() {
                        let _ = second.step(&row(&program, "b"), &mut tw_monitor::Sink::default());
                        second.pending();
                    }
                }
            }
        }
    }
}
