//! The worked examples of "Foundations of Boolean Stream Runtime Verification", with the corrections to its text.

mod common;

use common::{spec, text, with_inputs, word};
use tw_stream_boolean::graph::{Graph, ZeroCycle};
use tw_stream_boolean::{
    Budget, Kind, Limits, Live, Passes, Program, Specification, Unsolved, Word, analyse, is_universal, models,
};

/// Example 3: the language is `x` at every odd position, counted from 1.
pub const EXAMPLE_3: &str =
    "y = if (first -> (x & y)) & (y -> !y[+1|0]) & (!y -> (x[+1|1] & y[+1|1])) then y else !y";

/// The values of the first output, by each way of running.
fn outputs(spec: &Specification, input: &str) -> String {
    let input = word(&[input]);
    let ways = [Passes::Auto, Passes::Two, Passes::Classic];
    let found: Vec<String> = ways
        .into_iter()
        .filter_map(|passes| Program::new(spec, passes).ok())
        .map(|program| text(program.run(&input, &Limits::default()).unwrap()[0].as_ref().unwrap()))
        .collect();
    assert!(found.len() > 1 && found.iter().all(|other| *other == found[0]));
    found[0].clone()
}

/// The accepted words of a length over one input, as texts.
pub fn language(spec: &Specification, len: usize) -> Vec<String> {
    assert_eq!(spec.inputs().len(), 1);
    let words = (0..1u64 << len)
        .map(|number| Word::from_letters(1, &(0..len).rev().map(|at| number >> at & 1).collect::<Vec<_>>()));
    words
        .filter(|input| !models(spec, input).unwrap().is_empty())
        .map(|input| text(&input.columns[0]))
        .collect()
}

#[test]
fn example_1() {
    let spec = spec("e = if x then x else x[+1|0]");
    for (input, output) in [("01", "11"), ("0101", "1111"), ("010101", "111111")] {
        assert_eq!(outputs(&spec, input), output);
    }
}

#[test]
fn example_2_under_defined() {
    let spec = spec("y = x & y");
    let analysis = analyse(&spec, &Budget::default());
    assert!(!analysis.well_formed);
    assert!(
        matches!(&analysis.zero_cycle, Some(ZeroCycle::Walk(walk)) if walk.len() == 1 && walk[0].weight == 0)
    );
    assert_eq!((analysis.under_defined, analysis.over_defined), (Some(true), Some(false)));
    assert_eq!((analysis.alternation, analysis.online, analysis.passes), (None, None, 2));
    let [witness] = &analysis.witnesses[..] else { panic!("one witness") };
    assert_eq!((witness.kind, text(&witness.input.columns[0]).as_str()), (Kind::TwoModels, "1"));
    let found = models(&spec, &word(&["011"])).unwrap();
    assert_eq!(found.iter().map(|model| text(&model[0])).collect::<Vec<_>>(), ["000", "010", "001", "011"]);
    let program = Program::new(&spec, Passes::Auto).unwrap();
    let several = program.run(&word(&["00010"]), &Limits::default());
    assert_eq!(several, Err(Unsolved::Several { position: 3 }));
    let one = program.run(&word(&["000"]), &Limits::default()).unwrap();
    assert_eq!(text(one[0].as_ref().unwrap()), "000");
}

#[test]
fn example_2_over_defined() {
    let spec = spec("y = x & !y");
    let analysis = analyse(&spec, &Budget::default());
    assert_eq!((analysis.under_defined, analysis.over_defined), (Some(false), Some(true)));
    let [witness] = &analysis.witnesses[..] else { panic!("one witness") };
    assert_eq!((witness.kind, text(&witness.input.columns[0]).as_str()), (Kind::NoModel, "1"));
    for len in 1..5 {
        assert_eq!(language(&spec, len), ["0".repeat(len)]);
    }
    let program = Program::new(&spec, Passes::Auto).unwrap();
    let none = program.run(&word(&["0010"]), &Limits::default());
    assert_eq!(none, Err(Unsolved::NoModel { position: 2 }));
    assert_eq!(Program::new(&spec, Passes::Classic).err(), Some(Unsolved::NotWellFormed));
    assert_eq!(
        program.run(&Word { len: 0, columns: vec![Default::default()] }, &Limits::default()),
        Err(Unsolved::Empty)
    );
}

#[test]
fn example_2_well_defined() {
    let spec = spec("y = if x then x[+2|0] else x[-2|0]");
    let cases = [
        ("1", "0"),
        ("01", "00"),
        ("100", "001"),
        ("101", "100"),
        ("110", "001"),
        ("111", "100"),
        ("0101", "0100"),
        ("1011", "1000"),
        ("1100", "0011"),
        ("1101", "0110"),
        ("1110", "1001"),
        ("1111", "1100"),
        ("110010", "001100"),
    ];
    for (input, output) in cases {
        assert_eq!(outputs(&spec, input), output);
    }
    let analysis = analyse(&spec, &Budget::default());
    assert_eq!((analysis.well_formed, analysis.well_defined), (true, Some(true)));
    assert_eq!((analysis.alternation, analysis.passes, analysis.online), (Some(0), 1, Some(true)));
    assert_eq!(analysis.look_ahead, Some(2));
}

#[test]
fn example_3() {
    let spec = spec(EXAMPLE_3);
    let counts: Vec<usize> = (1..=6).map(|len| language(&spec, len).len()).collect();
    assert_eq!(counts, [1, 2, 2, 4, 4, 8]);
    for len in 1..=6 {
        for input in language(&spec, len) {
            assert!(input.chars().step_by(2).all(|value| value == '1'), "{input}");
            let found = models(&spec, &word(&[&input])).unwrap();
            assert_eq!(found.len(), 1);
            assert_eq!(outputs_of(&spec, &input), text(&found[0][0]));
        }
    }
    let analysis = analyse(&spec, &Budget::default());
    assert_eq!((analysis.under_defined, analysis.over_defined), (Some(false), Some(true)));
    assert_eq!(is_universal(&spec, &Budget::default()).unwrap().input.unwrap().len, 1);
}

fn outputs_of(spec: &Specification, input: &str) -> String {
    let program = Program::new(spec, Passes::Auto).unwrap();
    text(program.run(&word(&[input]), &Limits::default()).unwrap()[0].as_ref().unwrap())
}

/// Offsets of constants count as distances: `first` and `last` know the ends (a correction).
#[test]
fn the_ends_are_known() {
    let spec = with_inputs(&["x"], "a = first; b = last; c = 0[-2|1]; d = 1[+2|0]; e = 1[-1|1]");
    let program = Program::new(&spec, Passes::Auto).unwrap();
    let found = program.run(&word(&["0000"]), &Limits::default()).unwrap();
    let texts: Vec<String> = found.iter().map(|column| text(column.as_ref().unwrap())).collect();
    assert_eq!(texts, ["1000", "0001", "1100", "1100", "1111"]);
    assert_eq!(spec.to_string().lines().nth(3), Some("stream d: bool = !false[+2|true];"));
}

#[test]
fn alternation_and_directions() {
    let depth = |text: &str| Graph::new(&spec(text)).alternation();
    assert_eq!(depth("y = x[-1|0]; z = y[+5|1]"), Some(0));
    assert_eq!(depth("y = y[-1|0] | x"), Some(0));
    assert_eq!(depth("y = y[-1|0] | x; z = z[+1|0] & y"), Some(1));
    assert_eq!(depth("y = y[-1|0] | x; z = z[+1|0] & y; w = w[-2|0] ^ z; v = w & y"), Some(2));
    assert_eq!(depth("y = z[-1|0]; z = y[+1|1]"), None);
    // Both directions in one component make up for each other.
    let graph = Graph::new(&spec("y = y[-2|0] ^ y[+3|0]"));
    let Some(ZeroCycle::Walk(walk)) = graph.zero_cycle() else { panic!("a walk") };
    assert_eq!((walk.len(), walk.iter().map(|edge| edge.weight).sum::<i64>()), (5, 0));
    let graph = Graph::new(&spec("y = y[-200000|0] ^ y[+300001|0]"));
    assert!(
        matches!(graph.zero_cycle(), Some(ZeroCycle::Both(back, ahead)) if back.len() == 1 && ahead.len() == 1)
    );
    // A cycle with a reference ahead may look back as a whole.
    let looking = analyse(&spec("y = z[+1|0]; z = y[-2|0] | x"), &Budget::default());
    assert_eq!((looking.online, looking.look_ahead), (Some(true), Some(1)));
    // The state is told before it is there, however large.
    let large = analyse(&spec("y = y[-2000000000|0] | x"), &Budget::default());
    assert_eq!(large.state_bytes, Some(8 + (1 << 28)));
    let kept = analyse(&spec("y = y[-70|0] | x"), &Budget::default()).state_bytes;
    assert_eq!(kept, Live::new(&spec("y = y[-70|0] | x")).map(|live| live.state_bytes() as u64));
    let ahead = analyse(&spec("y = y[+1|0] | x"), &Budget::default());
    assert_eq!((ahead.online, ahead.look_ahead, ahead.state_bytes), (Some(false), None, None));
}

/// Unobserved outputs may have several values, and then have none to show.
#[test]
fn observed_outputs_alone_matter() {
    let spec = spec("y = x | h & !h; h = h; observe y");
    let analysis = analyse(&spec, &Budget::default());
    assert_eq!((analysis.well_defined, analysis.witnesses.len()), (Some(true), 0));
    let program = Program::new(&spec, Passes::Auto).unwrap();
    let found = program.run(&word(&["0110"]), &Limits::default()).unwrap();
    assert_eq!((text(found[0].as_ref().unwrap()).as_str(), &found[1]), ("0110", &None));
}

/// Ambiguity of one part and contradiction of another, which only together are well-defined.
#[test]
fn parts_of_the_core_are_solved_together() {
    let spec = spec("y = y; z = if y <-> x then 0 else !z");
    let analysis = analyse(&spec, &Budget::default());
    assert_eq!((analysis.well_formed, analysis.well_defined), (false, Some(true)));
    assert_eq!(outputs_of(&spec, "0110"), "0110");
}
