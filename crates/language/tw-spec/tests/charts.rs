//! Charts as text: what is read, what is printed, in what order events stand, what is refused.

use tw_ir::chart::{Check, Condition, Direction, Reading};
use tw_spec::ast::DeclarationKind;
use tw_spec::ast::chart::{ItemKind, Kind, Part};
use tw_spec::{LowerOptions, lower, parse, parse_charts, print};

const HANDOVER: &str = "
# the hand-over of a train
chart preHOV iff {
  pre  { env -> HOV : HOVcond [recv only] }
  main { HOV -> ACC : preAnn }
}
chart ExdEoA necessary iterate {
  pre  { HOV -> ACC : RRIReq }
  main { ACC -> HOV : RRI   HOV -> ACC : Ackn }
}
after preHOV.main : ExdEoA.main, ExdEoA.pre      # the double arrow
";

fn checks(text: &str) -> Vec<(String, Check)> {
    let parsed = parse_charts(text, 0);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let lowered = lower(&parsed.value, &LowerOptions::default());
    assert!(!lowered.has_errors(), "{:?}", lowered.diagnostics);
    let program = lowered.value;
    let one = |root: &tw_ir::Root| {
        let (_, check, nodes) = program.chart(root.node).expect("a chart");
        assert_eq!(nodes.len(), check.events.len());
        (root.name.clone(), check.clone())
    };
    program.roots.iter().map(one).collect()
}

fn codes(text: &str) -> Vec<&'static str> {
    let parsed = parse_charts(text, 0);
    if parsed.has_errors() {
        return parsed.diagnostics.iter().map(|found| found.code).collect();
    }
    lower(&parsed.value, &LowerOptions::default()).diagnostics.iter().map(|found| found.code).collect()
}

fn events(check: &Check) -> String {
    let name = |event: &tw_ir::chart::Event| {
        format!("{}{}", if event.direction == Direction::Send { "s" } else { "r" }, event.message)
    };
    check.events.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_hand_over_is_read() {
    let tree = parse_charts(HANDOVER, 0).value;
    let DeclarationKind::Chart(first) = &tree.declarations[0].kind else { panic!("a chart") };
    assert_eq!((first.kind, first.iterate.is_some()), (Kind::Iff, false));
    assert_eq!(first.lifelines(), ["env", "HOV", "ACC"]);
    assert_eq!(first.pre.messages()[0].0.only, Some(Direction::Recv));
    let DeclarationKind::Chart(second) = &tree.declarations[1].kind else { panic!("a chart") };
    assert!(second.iterate.is_some());
    assert_eq!(second.body(Part::Main).messages().len(), 2);
    let DeclarationKind::After(after) = &tree.declarations[2].kind else { panic!("an after") };
    assert_eq!((after.first.chart.name.as_str(), after.first.part), ("preHOV", Part::Main));
    assert_eq!(after.then.len(), 2);

    let checks = checks(HANDOVER);
    let names: Vec<&str> = checks.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "preHOV.necessary",
        "preHOV.sufficient",
        "ExdEoA.necessary",
        "preHOV.main -> ExdEoA.main",
        "preHOV.main -> ExdEoA.pre",
    ];
    assert_eq!(names, expected);
    assert_eq!(events(&checks[0].1), "rHOVcond spreAnn rpreAnn");
    assert_eq!((checks[0].1.pre, checks[0].1.condition), (1, Condition::Necessary));
    assert_eq!(events(&checks[2].1), "sRRIReq rRRIReq sRRI rRRI sAckn rAckn");
    // The acknowledgement is sent after the answer is received, and received after it was sent and the answer was.
    assert_eq!(checks[2].1.before, [0, 1, 0, 1, 2, 5]);
    assert_eq!((checks[3].1.reading, checks[3].1.condition), (Reading::Precedes, Condition::Sufficient));
}

#[test]
fn charts_stand_in_specifications_and_are_printed_as_read() {
    let text = "chart a.b \"why\" necessary iterate {\n    pre {\n        G -> X : F [send only];\n    }\n    main {\n        \
                coregion {\n            X -> G : event;\n            X -> G : SaCONN.conf;\n        }\n    }\n}\n\
                after a.b.main : a.b.pre;\n";
    let parsed = parse(text, 0);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let DeclarationKind::Chart(chart) = &parsed.value.declarations[0].kind else { panic!("a chart") };
    assert!(matches!(&chart.main.items[0].kind, ItemKind::Coregion(items) if items.len() == 2));
    let printed = print(&parsed.value);
    assert_eq!(printed, text);
    assert_eq!(print(&parse(&printed, 0).value), printed);
    let lines = print(&parse_charts(HANDOVER, 0).value);
    assert_eq!(print(&parse_charts(&lines, 0).value), lines);
    assert!(
        lines.contains("# the double arrow") && lines.contains("env -> HOV : HOVcond [recv only];"),
        "{lines}"
    );
}

#[test]
fn coregions_leave_their_events_unordered() {
    let text = "chart c sufficient { pre { A -> B : x } main { A -> B : y coregion { A -> B : p A -> B : q } A -> B : z } }";
    let check = &checks(text)[0].1;
    assert_eq!(events(check), "sx rx sy ry sp rp sq rq sz rz");
    let main = &check.before[2..];
    // p and q are sent after y and received after y, in any order; z waits for both on each lifeline.
    assert_eq!(main[2], 1);
    assert_eq!(main[4], 1);
    assert_eq!(main[3], 1 << 2 | 1 << 1);
    assert_eq!(main[5], 1 << 4 | 1 << 1);
    assert_eq!(main[6], 1 << 2 | 1 << 4);
    assert_eq!(main[7], 1 << 6 | 1 << 3 | 1 << 5);
}

#[test]
fn other_meanings_of_the_words_stay() {
    let text = "property p : chart & after > 3; query q : count[chart]; property r : G (after -> F chart);";
    let parsed = parse(text, 0);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    assert_eq!(parsed.value.declarations.len(), 3);
}

#[test]
fn bad_charts_are_refused() {
    let chart = |pre: &str, main: &str| format!("chart c iff {{ pre {{ {pre} }} main {{ {main} }} }}");
    let sound = "A -> B : x";
    assert_eq!(codes(&chart(sound, "A -> B : y")), [""; 0]);
    assert_eq!(codes(&chart(sound, "")), ["chart-empty"]);
    assert_eq!(codes(&chart("", sound)), ["chart-empty"]);
    assert_eq!(codes(&chart("A -> B : x A -> B : x", "A -> B : y")), ["chart-event-twice"; 2]);
    assert_eq!(codes(&chart(sound, "C -> D : x [recv only]")), ["chart-event-shared"]);
    let cycle = "A -> B : m [recv only]  B -> A : n  A -> B : m [send only]";
    assert_eq!(codes(&chart("A -> B : y", cycle)), ["chart-cycle"]);
    assert_eq!(codes(&(chart(sound, "A -> B : y") + "after c.main : d.main")), ["unknown-chart"]);
    assert_eq!(codes(&(chart(sound, "A -> B : y") + "after c.main : c")), ["bad-chart"]);
    assert_eq!(codes(&(chart(sound, "A -> B : y") + "after c.main : c.main")), ["chart-event-shared"]);
    assert_eq!(codes("chart c { pre { A -> B : x } main { A -> B : y } }"), ["bad-chart"]);
    assert_eq!(
        codes("chart c necesary { pre { A -> B : x } main { A -> B : y } }"),
        ["bad-chart", "bad-chart"]
    );
    assert_eq!(codes("chart c iff { pre { A - B : x } main { A -> B : y } }"), ["bad-chart"]);
    assert_eq!(codes("chart c iff { pre { A -> B : x [both] } main { A -> B : y } }"), ["bad-chart"]);
    assert_eq!(codes("chart c iff { pre { A -> B : x } "), ["unclosed-bracket"]);
    let many: String = (0..33).map(|n| format!("A -> B : m{n}\n")).collect();
    assert_eq!(codes(&chart(sound, &many)), ["chart-too-large"]);
    let twice = chart(sound, "A -> B : y") + &chart(sound, "A -> B : y");
    assert_eq!(codes(&twice), ["duplicate-declaration"]);
}
