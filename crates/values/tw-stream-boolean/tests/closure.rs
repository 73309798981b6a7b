//! Operations on languages, automata and the normal form, against words.

mod common;

use common::{Shape, random, spec, text, word};
use tw_stream_boolean::algebra::{concat, intersect, plus, reverse, union};
use tw_stream_boolean::graph::Graph;
use tw_stream_boolean::{
    Automaton, Budget, Cube, Edge, Flaw, Limits, NoNormalForm, Passes, Program, Specification, Word, accepts,
    analyse, equal, models, normalise,
};
use tw_testkit::{Rng, cases};

const T: &str = "t = if (first -> (x & !last)) & (!first -> (!x & last)) then t else !t";
const ONES: &str = "a = if x then a else !a";
const ZEROS: &str = "b = if !x then b else !b";

fn words(len: usize) -> impl Iterator<Item = Word> {
    (0..1u64 << len).map(move |number| {
        Word::from_letters(1, &(0..len).rev().map(|at| number >> at & 1).collect::<Vec<_>>())
    })
}

fn language(spec: &Specification, len: usize) -> Vec<String> {
    let accepted = words(len).filter(|input| accepts(spec, input, &Limits::default()).unwrap());
    accepted.map(|input| text(&input.columns[0])).collect()
}

fn languages(spec: &Specification, upto: usize) -> Vec<Vec<String>> {
    (1..=upto).map(|len| language(spec, len)).collect()
}

#[test]
fn worked_examples() {
    let (ones, zeros, t) = (spec(ONES), spec(ZEROS), spec(T));
    assert_eq!(
        languages(&union(&ones, &zeros).unwrap(), 3),
        [vec!["0", "1"], vec!["00", "11"], vec!["000", "111"]]
    );
    let none = Vec::<&str>::new();
    let expected = [none.clone(), vec!["10"], vec!["100", "110"], vec!["1000", "1100", "1110"]];
    assert_eq!(languages(&concat(&ones, &zeros).unwrap(), 4), expected);
    assert_eq!(languages(&plus(&t).unwrap(), 4), [none.clone(), vec!["10"], none.clone(), vec!["1010"]]);
    assert_eq!(language(&concat(&t, &t).unwrap(), 4), ["1010"]);
    assert_eq!(languages(&reverse(&t).unwrap(), 3), [none.clone(), vec!["01"], none.clone()]);
    assert_eq!(languages(&intersect(&ones, &zeros).unwrap(), 3), [none.clone(), none.clone(), none]);
    // Operations take what operations make.
    let both = plus(&union(&t, &concat(&zeros, &t).unwrap()).unwrap()).unwrap();
    assert_eq!(language(&both, 5), ["00010", "01010", "10010"]);
}

/// The automaton for "the last letter is 1": the printed construction, without the guard at the end, accepts less.
#[test]
fn the_last_letter_is_one() {
    let one = Cube { mask: 1, value: 1 };
    let edges = vec![Edge { from: 0, to: 0, when: Cube::ALL }, Edge { from: 0, to: 1, when: one }];
    let inputs = vec!["x".to_string()];
    let automaton = Automaton { inputs, initial: vec![0], accepting: vec![false, true], edges };
    let made = automaton.specification().unwrap();
    let expected = [vec!["1"], vec!["01", "11"], vec!["001", "011", "101", "111"]];
    assert_eq!(languages(&made, 3), expected);
    let by_models: Vec<String> = words(3)
        .filter(|input| !models(&made, input).unwrap().is_empty())
        .map(|input| text(&input.columns[0]))
        .collect();
    assert_eq!(by_models, expected[2]);
}

/// What the printed construction makes of it demands an accepting step at every position; the right one at the last (a
/// correction).
#[test]
fn the_printed_construction_lacks_a_guard() {
    let made = |end: &str| {
        spec(&format!(
            "p = p; q = q; c = if (p ^ q) & (first -> p) & (p & x -> p[+1|1] | q[+1|1]) & (p & !x -> p[+1|1]) & (q & x -> 0) \
             & (q & !x -> 0) & ({end}) then c else !c"
        ))
    };
    assert_eq!(languages(&made("p & x"), 3), [vec!["1"], vec!["11"], vec!["111"]]);
    let right = [vec!["1"], vec!["01", "11"], vec!["001", "011", "101", "111"]];
    assert_eq!(languages(&made("last -> p & x"), 3), right);
}

fn shape(rng: &mut Rng) -> Shape {
    Shape {
        inputs: 1,
        outputs: 1 + rng.below(2),
        offset: 1 + rng.below(2),
        size: 1 + rng.below(3),
        present: 50,
        observe: false,
    }
}

#[test]
fn operations_are_those_on_languages() {
    for seed in 0..cases(150) {
        let mut rng = Rng::new(seed ^ 0xc105);
        let shape = shape(&mut rng);
        let (a, b) = (random(&mut rng, &shape), random(&mut rng, &shape));
        let upto = 4;
        let (left, right) = (languages(&a, upto), languages(&b, upto));
        let has =
            |language: &[Vec<String>], word: &str| language[word.len() - 1].iter().any(|one| one == word);
        let split = |word: &str, second: &dyn Fn(&str) -> bool| {
            (1..word.len()).any(|at| has(&left, &word[..at]) && second(&word[at..]))
        };
        let made = [
            union(&a, &b).unwrap(),
            intersect(&a, &b).unwrap(),
            concat(&a, &b).unwrap(),
            plus(&a).unwrap(),
            reverse(&a).unwrap(),
        ];
        for word in (1..=upto).flat_map(words) {
            let name = text(&word.columns[0]);
            let turned: String = name.chars().rev().collect();
            fn iterated(word: &str, one: &dyn Fn(&str) -> bool) -> bool {
                one(word) || (1..word.len()).any(|at| one(&word[..at]) && iterated(&word[at..], one))
            }
            let expected = [
                has(&left, &name) || has(&right, &name),
                has(&left, &name) && has(&right, &name),
                split(&name, &|rest| has(&right, rest)),
                iterated(&name, &|part| has(&left, part)),
                has(&left, &turned),
            ];
            for (nth, spec) in made.iter().enumerate() {
                let accepted = accepts(spec, &word, &Limits::default()).unwrap();
                assert_eq!(accepted, expected[nth], "seed {seed}, operation {nth}, {name}\n{a}\n{b}\n{spec}");
            }
        }
    }
}

#[test]
fn automata_and_back() {
    for seed in 0..cases(200) {
        let mut rng = Rng::new(seed ^ 0xa7);
        let shape = Shape { inputs: 1 + rng.below(2), ..shape(&mut rng) };
        let spec = random(&mut rng, &shape);
        let automaton = Automaton::of(&spec, &Budget::default()).unwrap();
        let streams = shape.inputs;
        for len in 1..=4 {
            for number in 0..1u64 << (len * streams) {
                let letters: Vec<u64> =
                    (0..len).map(|at| number >> (at * streams) & ((1 << streams) - 1)).collect();
                let input = Word::from_letters(streams, &letters);
                let expected = accepts(&spec, &input, &Limits::default()).unwrap();
                assert_eq!(automaton.accepts(&letters), expected, "seed {seed}\n{spec}");
            }
        }
        let json = Automaton::from_json(&automaton.to_json().to_string()).unwrap();
        assert_eq!(json, automaton);
        let hoa = Automaton::from_hoa(&automaton.to_hoa()).unwrap();
        assert_eq!(
            (&hoa.inputs, &hoa.initial, &hoa.accepting),
            (&json.inputs, &json.initial, &json.accepting)
        );
        let sorted = |automaton: &Automaton| {
            let mut edges = automaton.edges.clone();
            edges.sort_unstable();
            edges
        };
        assert_eq!(sorted(&hoa), sorted(&automaton), "seed {seed}\n{}", automaton.to_hoa());
        assert!(automaton.to_dot().starts_with("digraph automaton {\n"));
        if automaton.accepting.len() <= 6 {
            let back = automaton.specification().unwrap();
            let same = equal(&spec, &back, &[], &Budget::default()).unwrap();
            assert_eq!(same, Ok(None), "seed {seed}\n{spec}\n{back}");
        }
    }
}

#[test]
fn bad_automata_are_told() {
    let hoa = |text: &str| Automaton::from_hoa(text).unwrap_err().to_string();
    assert_eq!(hoa(""), "line 1, column 1: found the end, expected `HOA: v1`");
    assert_eq!(
        hoa("HOA: v1\nStates: 1\nAP: 1\n"),
        "line 3, column 5: found the end, expected the name of an input"
    );
    assert_eq!(
        hoa("HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"x\"\n--BODY--\nState: 0\n[1] 0\n--END--"),
        "line 7, column 2: found `1`, expected an input's number, `t`, `f`, `!` or `(`"
    );
    assert_eq!(hoa("HOA: v1 \"x"), "line 1, column 9: a text that does not end");
    assert_eq!(
        hoa("HOA: v1 States: 99999999999"),
        "line 1, column 17: found `99999999999`, expected a number of states"
    );
    assert!(hoa("HOA: v1 States: 1 Start: 3 --BODY-- --END--").contains("a start below 1"));
    let json = |text: &str| Automaton::from_json(text).unwrap_err().to_string();
    assert!(json("{").starts_with("line 1, column 1: no JSON"));
    assert_eq!(json("{}"), "line 1, column 1: the field `inputs` is missing");
    let edge = r#"{"inputs": ["x"], "states": 1, "initial": [0], "accepting": [], "edges": [{"from": 0, "to": 1, "when": {}}]}"#;
    assert_eq!(json(edge), "line 1, column 1: edge 0: found 1, expected a state below 1");
    // Offsets are written out position by position, up to a limit.
    assert_eq!(plus(&spec("y = y[-1000000|0] & x")).unwrap_err(), Flaw::Offset(-1_000_000));
}

#[test]
fn the_normal_form_is_well_formed_and_equal() {
    let budget = Budget { states: 1 << 12, moves: 1 << 16 };
    let mut made = 0;
    for seed in 0..cases(1500) {
        let mut rng = Rng::new(seed ^ 0x6e);
        let shape =
            Shape { inputs: rng.below(2), outputs: 1 + rng.below(3), observe: true, ..shape(&mut rng) };
        let spec = random(&mut rng, &shape);
        let normal = match normalise(&spec, &budget) {
            Ok(normal) => normal,
            Err(NoNormalForm::NotWellDefined) => {
                assert_ne!(analyse(&spec, &budget).well_defined, Some(true));
                continue;
            }
            Err(NoNormalForm::TooLarge(_)) => continue,
            Err(other) => panic!("{other}"),
        };
        assert!(Graph::new(&normal).alternation().is_some_and(|depth| depth <= 1), "seed {seed}\n{normal}");
        made += usize::from(!Graph::new(&spec).is_well_formed());
        let on: Vec<String> = spec.observed().iter().map(|&output| spec.outputs()[output].clone()).collect();
        for _ in 0..4 {
            let input = common::input(&mut rng, shape.inputs, 1 + seed as usize % 90);
            let run = |spec: &Specification| {
                let found =
                    Program::new(spec, Passes::Auto).unwrap().run(&input, &Limits::default()).unwrap();
                let column =
                    |name: &String| found[spec.outputs().iter().position(|one| one == name).unwrap()].clone();
                on.iter().map(column).collect::<Vec<_>>()
            };
            assert_eq!(run(&spec), run(&normal), "seed {seed}\n{spec}\n{normal}");
        }
    }
    assert!(made > 5, "{made}");
    let phi = spec("y = if x & h[+1|1] then h[-1|0] else !h; h = if h <-> x[+1|0] then h else !h");
    let normal = normalise(&phi, &Budget::default()).unwrap();
    assert_eq!(equal(&phi, &normal, &["y".into(), "h".into()], &Budget::default()).unwrap(), Ok(None));
    let input = word(&["0110100"]);
    let run = |spec: &Specification| {
        Program::new(spec, Passes::Auto).unwrap().run(&input, &Limits::default()).unwrap()
    };
    assert_eq!(run(&phi)[..2], run(&normal)[..2]);
}
