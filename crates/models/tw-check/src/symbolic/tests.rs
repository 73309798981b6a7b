//! The same programs with listed states and as sets: every answer is the same, and every path is one.

use super::*;
use crate::branching::tests::random::random_program;
use crate::linear::tests::check;
use crate::valid::valid;
use crate::{Checker, Evidence, Labels, branching, linear};
use tw_core::Bits;
use tw_ir::Program;
use tw_model::formats::smv::{Limits, read_mentioning, read_within};
use tw_testkit::{Case, Rng, Shape, cases, texts};

fn condition(random: &mut Rng, next: bool) -> String {
    let term = |random: &mut Rng| {
        let name = random.pick(&["p", "q", "x", "e"]);
        let called = if next && random.one_in(2) { format!("next({name})") } else { name.to_owned() };
        match name {
            "x" => format!("{called} {} {}", random.pick(&["=", "<", ">", "!="]), random.below(3)),
            "e" => format!("{called} = {}", random.pick(&["red", "blue", "green"])),
            _ => format!("{}{called}", random.pick(&["", "!"])),
        }
    };
    let mut text = term(random);
    for _ in 0..random.below(3) {
        text = format!("({text} {} {})", random.pick(&["&", "|", "<->", "->"]), term(random));
    }
    text
}

fn assigned(random: &mut Rng) -> String {
    match random.below(5) {
        0 => format!("next(p) := {};", condition(random, false)),
        1 => format!("next(q) := case {} : {{TRUE, FALSE}}; TRUE : p; esac;", condition(random, false)),
        2 => format!("next(x) := case {} : (x + 1) mod 3; TRUE : x; esac;", condition(random, false)),
        3 => "next(e) := case e = red : {blue, green}; TRUE : red; esac;".to_owned(),
        _ => format!("init(p) := {};", random.pick(&["TRUE", "FALSE"])),
    }
}

/// A program, its states listed, and its states as sets. `None` if it has none.
fn program(random: &mut Rng) -> Option<(Model, SymbolicChecker)> {
    let mut text = "MODULE main VAR p: boolean; x: 0..2; q: boolean; e: {red, blue, green};\n".to_owned();
    let mut assigns: Vec<String> = (0..random.below(4)).map(|_| assigned(random)).collect();
    assigns.sort_unstable_by_key(|assign| assign[..7].to_owned());
    assigns.dedup_by_key(|assign| assign[..7].to_owned());
    assigns.iter().for_each(|assign| text += &format!("ASSIGN {assign}\n"));
    (0..1 + random.below(3)).for_each(|_| text += &format!("INIT {}\n", condition(random, false)));
    (0..random.below(4)).for_each(|_| text += &format!("TRANS {}\n", condition(random, true)));
    text += "DEFINE both := p & q; twice := x * 2;\n";
    let listed = read_within("m.smv", text.as_bytes(), &Limits::default()).ok()?;
    let limits = Limits { states: 0, ..Limits::default() };
    let (asked, _) = read_mentioning("m.smv", text.as_bytes(), &limits, &|_| true).unwrap();
    assert!(asked.states() == 0 && asked.variables.is_empty());
    let space = asked.implicit.unwrap().symbolic().unwrap_or_else(|why| panic!("{why:?}\n{text}"));
    Some((listed, SymbolicChecker::new(space)))
}

/// A listed state by the numbers of its variables' values.
fn codes(model: &Model, state: State) -> Vec<u32> {
    (0..4).map(|variable| model.code(variable, state)).collect()
}

fn set(checker: &mut SymbolicChecker, model: &Model, states: &Bits) -> Bdd {
    let members = states.iter_ones().collect::<Vec<usize>>();
    members.into_iter().fold(Bdd::FALSE, |set, state| {
        let single = checker.space.single(&codes(model, state as State)).unwrap();
        checker.or(set, single).unwrap()
    })
}

/// Evidence about the states that were met, about the listed ones.
fn about_listed(checker: &SymbolicChecker, model: &Model, evidence: &Evidence) -> Evidence {
    let numbers: FxHashMap<Vec<u32>, State> =
        (0..model.states() as State).map(|state| (codes(model, state), state)).collect();
    let mut evidence = evidence.clone();
    let mut todo = vec![&mut evidence];
    while let Some(piece) = todo.pop() {
        piece.steps.iter_mut().for_each(|state| *state = numbers[&checker.met[*state as usize]]);
        todo.extend(piece.branches.iter_mut().map(|(_, branch)| branch));
    }
    evidence
}

fn random_sets(random: &mut Rng, model: &Model, count: usize) -> Vec<Bits> {
    (0..count).map(|_| crate::naive::random_set(random, model.states())).collect()
}

fn with_fairness(
    random: &mut Rng,
    model: &Model,
    mut checker: SymbolicChecker,
) -> (Vec<Bits>, SymbolicChecker) {
    let count = if random.one_in(2) { 0 } else { 1 + random.below(2) };
    let fairness = random_sets(random, model, count);
    let sets = fairness.iter().map(|states| set(&mut checker, model, states)).collect();
    (fairness, checker.fairness(sets).unwrap())
}

#[test]
fn branching_time_is_that_of_listed_states() {
    let (mut asked, mut paths) = (0, 0u64);
    for seed in 0..cases(3_000) {
        let random = &mut Rng::new(seed);
        let Some((model, checker)) = program(random) else { continue };
        let (fairness, mut checker) = with_fairness(random, &model, checker);
        let listed = Checker::new(&model).fairness(fairness);
        let program = random_program(random);
        let root = program.roots[0].node;
        let atoms = random_sets(random, &model, program.atoms().len());
        let sets: Vec<Bdd> = atoms.iter().map(|states| set(&mut checker, &model, states)).collect();
        let expected = branching(&listed, &program, root, &atoms).unwrap();
        let answer = checker.branching(&program, root, &sets).unwrap();
        let same = set(&mut checker, &model, expected.satisfied(root));
        assert_eq!(answer.satisfied(), same, "seed {seed}: {}", tw_ir::display(&program, root));
        for state in 0..model.states() as State {
            let single = checker.space.single(&codes(&model, state)).unwrap();
            let (_, evidence) = checker.evidence(&answer, single).unwrap();
            let evidence = about_listed(&checker, &model, &evidence);
            assert!(!evidence.cut, "seed {seed}");
            valid(&listed, &program, &atoms, &evidence)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            paths += u64::from(evidence.steps.len() > 1 || evidence.cycle.is_some());
        }
        let shown = checker.model();
        assert!((0..shown.states() as State).all(|state| {
            let known = codes(&shown, state);
            let same = (0..model.states() as State).find(|&other| codes(&model, other) == known);
            same.is_some_and(|same| model.label(same) == shown.label(state))
        }));
        asked += 1;
    }
    assert!(asked > cases(3_000) / 2 && paths > asked, "{asked} {paths}");
}

#[test]
fn linear_time_is_that_of_listed_states() {
    let shape = Shape { depth: 3, values: 0, lengths: &[1], ..Shape::SMALL };
    let (mut violated, mut held) = (0, 0);
    for seed in 0..cases(3_000) {
        let random = &mut Rng::new(seed ^ 0x5eed);
        let Some((model, checker)) = program(random) else { continue };
        let (fairness, mut checker) = with_fairness(random, &model, checker);
        let listed = Checker::new(&model).fairness(fairness);
        let case = Case::new(seed, &shape);
        let (program, root) = (&case.program, case.program.roots[0].node);
        let atoms = random_sets(random, &model, program.atoms().len());
        let sets: Vec<Bdd> = atoms.iter().map(|states| set(&mut checker, &model, states)).collect();
        let Ok(expected) = linear(&listed, program, root, &atoms) else { continue };
        let text = || format!("seed {seed}: {}", tw_ir::display(program, root));
        let found = checker.linear(program, root, &sets).unwrap_or_else(|why| panic!("{} {why:?}", text()));
        assert_eq!(found.holds(), expected.holds(), "{}", text());
        if let Some(evidence) = &found.counterexample {
            check(&listed, program, &atoms, &about_listed(&checker, &model, evidence));
        }
        *if found.holds() { &mut held } else { &mut violated } += 1;
    }
    assert!(held > cases(3_000) / 20 && violated > cases(3_000) / 10, "{held} {violated}");
}

/// Atoms that name variables, their values, definitions and arithmetic.
#[test]
fn atoms_are_those_of_listed_states() {
    let texts =
        ["p", "EF (x + 1 > 2)", "red | x = 1", "e = blue & !q", "EX both", "twice = 4 | x * x = x", "blue"];
    for seed in 0..cases(200).min(2_000) {
        let random = &mut Rng::new(seed);
        let Some((model, mut checker)) = program(random) else { continue };
        for text in texts {
            let program: Program = texts::branching(text);
            let (expected, found) =
                (Labels::new(&model, &program).unwrap(), checker.labels(&program).unwrap());
            assert_eq!(found.warnings, expected.warnings, "{text}");
            for (states, &atom) in expected.atoms.iter().zip(&found.atoms) {
                assert_eq!(set(&mut checker, &model, states), atom, "seed {seed}: {text}");
            }
        }
    }
    let (model, mut checker) = (0..).find_map(|seed| program(&mut Rng::new(seed))).unwrap();
    for text in ["nobody > 3", "e", "x & p"] {
        let program = texts::branching(text);
        let Err(Unlabelled::Wrong(found)) = checker.labels(&program) else { panic!("{text} is understood") };
        assert_eq!(found, Labels::new(&model, &program).unwrap_err());
    }
}
