//! The worked examples: decompositions, divergences of the readings, and the hand-over between radio block centres.

mod common;

use common::{answers, check, program, trace};
use tw_core::Bits;
use tw_engine_charts::Charts;
use tw_engine_columnar::Columnar;
use tw_engine_reference::Reference;
use tw_ir::chart::{Check, Condition, Matching, Reading};
use tw_ir::{Node, NodeId, Program, What};
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_spec::{LowerOptions, lower, parse_charts};

use Condition::{Necessary, Sufficient};
use Reading::{Ltl, Precedes, Segment};

/// Whether a chart of single letters holds, by both engines: the first `pre` letters of `alphabet` are the prechart.
fn holds(own: &Check, alphabet: &str, word: &str) -> bool {
    let events: Vec<&str> = alphabet.split(' ').collect();
    let place = |event: &str| events.iter().position(|own| *own == event).expect("a letter");
    let word: Vec<Vec<usize>> = match word {
        "" => vec![vec![]],
        word => word.split(' ').map(|event| vec![place(event)]).collect(),
    };
    let program = program(&[(own.clone(), (0..events.len()).collect())]);
    let trace = trace(&program, &word);
    let found = answers(&Charts, &program, &trace);
    assert_eq!(found, answers(&Reference, &program, &trace));
    found[0].holds.get(0)
}

/// `pre { s1 r1 } main { s2 r2 }`.
fn u1(condition: Condition, reading: Reading, iterate: Option<Matching>) -> Check {
    check(condition, reading, iterate, 2, &[0, 1, 0, 1])
}

#[test]
fn iterated_precharts() {
    let plus = |word| holds(&u1(Necessary, Segment, Some(Matching::Paper)), "s1 r1 s2 r2", word);
    assert!(plus("s1 r1 s2 s1 r2 r1 s2 r2"));
    assert!(!plus("s1 s1 r1 s2 r2 r1 s2 r2"), "precharts overlap");
    assert!(!plus("s1 r1 s2 r2 s1 r1"), "two precharts, one main chart");
    for (matching, accepted) in [(Matching::Paper, true), (Matching::Injective, false)] {
        let own = check(Necessary, Segment, Some(matching), 1, &[0, 0]);
        assert_eq!(holds(&own, "a b", "b a a b"), accepted);
    }
}

#[test]
fn the_readings_part() {
    let ab = |condition, reading| check(condition, reading, None, 1, &[0, 0]);
    let rows = [
        (Necessary, "a b a", true, false),
        (Necessary, "a b b", false, true),
        (Necessary, "b a", true, false),
        (Sufficient, "b b", true, false),
        (Sufficient, "a a b", false, true),
    ];
    for (condition, word, ltl, segment) in rows {
        assert_eq!(holds(&ab(condition, Ltl), "a b", word), ltl, "{word}");
        assert_eq!(holds(&ab(condition, Segment), "a b", word), segment, "{word}");
    }
    assert!(!holds(&u1(Sufficient, Ltl, None), "s1 r1 s2 r2", "s2 s1 r2"));
    assert!(holds(&u1(Sufficient, Segment, None), "s1 r1 s2 r2", "s2 s1 r2"));
}

#[test]
fn if_then_else() {
    let iff = |word| {
        let one = |condition| holds(&check(condition, Segment, None, 1, &[0, 0]), "a b", word);
        (one(Necessary), one(Sufficient))
    };
    assert_eq!(iff("a b"), (true, true));
    assert_eq!(iff("b"), (true, false));
    assert_eq!(iff("a"), (false, true));
    assert_eq!(iff(""), (true, true));
}

const HANDOVER: &str = "
chart preHOV iff {
  pre  { env -> HOV : HOVcond [recv only] }
  main { HOV -> ACC : preAnn }
}
chart ExdEoA necessary {
  pre  { HOV -> ACC : RRIReq }
  main { ACC -> HOV : RRI   HOV -> ACC : Ackn }
}
chart Rounds necessary iterate {
  pre  { HOV -> ACC : RRIReq }
  main { ACC -> HOV : RRI   HOV -> ACC : Ackn }
}
after preHOV.main : ExdEoA.main, ExdEoA.pre
chart Connected sufficient {
  pre  { net -> HOV : SaCONN.conf [recv only] }
  main { HOV -> ACC : preAnn }
}
";

const BASE: &str = "rConf rHOV sPre rPre sReq rReq sRRI rRRI sAck rAck";

fn handover(reading: Option<Reading>) -> Program {
    let parsed = parse_charts(HANDOVER, 0);
    let mut program = lower(&parsed.value, &LowerOptions::default()).value;
    for check in &mut program.dag.charts {
        check.reading = reading.unwrap_or(check.reading);
    }
    program
}

/// The names of the charts that a trace violates.
fn violated(engine: &dyn Engine, program: &Program, word: &str) -> Vec<String> {
    let names = [
        ("Conf", "SaCONN.conf"),
        ("HOV", "HOVcond"),
        ("Pre", "preAnn"),
        ("Req", "RRIReq"),
        ("RRI", "RRI"),
        ("Ack", "Ackn"),
    ];
    let event = |text: &str| {
        let message = names.iter().find(|(short, _)| *short == &text[1..]).expect("a message").1;
        (if text.starts_with('s') { "send" } else { "recv" }, message)
    };
    let word: Vec<(&str, &str)> = word.split(' ').map(event).collect();
    let column = |id: NodeId| -> Bits {
        let slot = match program.dag.node(id) {
            Node::Truth(slot) => slot,
            // The trace has events, and no columns.
            _ => return word.iter().map(|_| false).collect(),
        };
        let What::Event { name, arguments, .. } = &program.slots[slot as usize].what else {
            panic!("an event")
        };
        word.iter().map(|(kind, message)| kind == name && arguments[0].1.to_string() == *message).collect()
    };
    let atoms = program.atoms().into_iter().map(column).collect();
    let trace = Trace { len: word.len(), atoms, ..Trace::default() };
    let mut evaluator = engine.plan(program, &EvaluateOptions::default()).expect("accepted");
    let answers = evaluator.evaluate(&trace, 10).expect("evaluated");
    let bad = program.roots.iter().zip(answers).filter(|(_, answer)| !answer.holds.get(0));
    bad.map(|(root, _)| root.name.clone()).collect()
}

#[test]
fn the_hand_over() {
    const NEC: &str = "preHOV.necessary";
    const SUFF: &str = "preHOV.sufficient";
    const EXD: &str = "ExdEoA.necessary";
    const TWO: &str = "Connected.sufficient";
    const TO_MAIN: &str = "preHOV.main -> ExdEoA.main";
    const TO_PRE: &str = "preHOV.main -> ExdEoA.pre";
    let without = |event: &str| BASE.split(' ').filter(|own| *own != event).collect::<Vec<_>>().join(" ");
    let rows: Vec<(String, Vec<&str>, Vec<&str>)> = vec![
        (BASE.into(), vec![], vec![]),
        (without("rPre"), vec![NEC, TO_MAIN, TO_PRE], vec![NEC, TO_MAIN, TO_PRE]),
        (without("rRRI"), vec![EXD], vec![EXD]),
        (without("rAck"), vec![EXD], vec![EXD]),
        (BASE.replace("sPre rPre", "rPre sPre"), vec![NEC, TO_MAIN, TO_PRE], vec![NEC, TO_MAIN, TO_PRE]),
        (BASE.replace("sPre rPre", "sPre sPre rPre"), vec![NEC, TO_MAIN, TO_PRE], vec![NEC, SUFF, TWO]),
        (without("rHOV"), vec![SUFF], vec![SUFF]),
        (without("rConf"), vec![TWO], vec![TWO]),
        (without("rConf").replace("rPre", "rPre rConf"), vec![TWO], vec![TWO]),
        ("rConf rHOV sReq rReq sPre rPre sRRI rRRI sAck rAck".into(), vec![TO_PRE], vec![TO_PRE]),
        ("rConf rHOV sPre rPre sRRI rRRI sAck rAck".into(), vec![], vec![]),
        (format!("{BASE} sReq rReq sRRI rRRI sAck rAck"), vec![], vec![TO_MAIN, TO_PRE]),
    ];
    let (ltl, segment, default) = (handover(Some(Ltl)), handover(Some(Segment)), handover(None));
    let rounds = "Rounds.necessary";
    for (word, in_ltl, in_segment) in rows {
        let said = |program: &Program| {
            let found = violated(&Charts, program, &word);
            assert_eq!(found, violated(&Reference, program, &word), "{word}");
            let mut found: Vec<String> = found.into_iter().filter(|name| name != rounds).collect();
            found.sort();
            found
        };
        let sorted = |names: Vec<&str>| {
            let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            names.sort();
            names
        };
        assert_eq!(said(&ltl), sorted(in_ltl), "ltl: {word}");
        assert_eq!(said(&segment), sorted(in_segment), "segment: {word}");
    }
    // Rounds of requests: counted, and after the announcement somewhere.
    let two = format!("{BASE} sReq rReq sRRI rRRI sAck rAck");
    assert!(!violated(&Charts, &default, &two).contains(&rounds.to_owned()));
    assert!(!violated(&Charts, &default, &two).iter().any(|name| name.contains("->")), "precedes");
    let overlapping = "rConf rHOV sPre rPre sReq rReq sRRI sReq rRRI sAck rReq rAck sRRI rRRI sAck rAck";
    let found = violated(&Charts, &segment, overlapping);
    assert!(found.contains(&EXD.to_owned()) && !found.contains(&rounds.to_owned()), "{found:?}");
}

#[test]
fn precedes_asks_for_some_occurrence() {
    let ab = |condition| check(condition, Precedes, None, 1, &[0, 0]);
    assert!(holds(&ab(Sufficient), "a b", "a b b b"));
    assert!(!holds(&ab(Sufficient), "a b", "b a b"));
    assert!(holds(&ab(Necessary), "a b", "a a b"));
    assert!(!holds(&ab(Necessary), "a b", "a b a"));
}

#[test]
fn formulas_are_polynomial() {
    let mut program = handover(Some(Ltl));
    for root in program.roots.clone() {
        let node = program.chart_ltl(root.node).expect("a chart");
        assert!(program.reachable(&[node]).len() < 250, "{}", root.name);
    }
    assert!(Columnar.plan(&program, &EvaluateOptions::default()).is_err(), "charts themselves are refused");
}
