//! Sequence diagrams: what they become, what is left out, what is refused.

use tw_diag::{Severity, Sources, render};
use tw_import::{Options, format_named, guess, import};
use tw_testkit::{Rng, cases};

fn rendered(text: &str, found: &[tw_diag::Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("d.puml", text);
    render(found, &sources, false)
}

/// What is made, without comments; it is a specification of charts.
fn made(format: &str, text: &str) -> String {
    let made = import("d.puml", text, format_named(format).unwrap(), &Options::default());
    assert!(!made.has_errors(), "{text}\n{}", rendered(text, &made.diagnostics));
    for parsed in [tw_spec::parse(&made.value, 0), tw_spec::parse_charts(&made.value, 0)] {
        assert!(
            !parsed.has_errors(),
            "{text}\n{}\n{}",
            made.value,
            rendered(&made.value, &parsed.diagnostics)
        );
        assert_eq!(tw_spec::print(&parsed.value), made.value, "{text}");
        let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
        assert!(!lowered.has_errors(), "{text}\n{}\n{:?}", made.value, lowered.diagnostics);
    }
    let lines = made.value.lines().filter(|line| !line.starts_with("//") && !line.is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The one error, with its place.
fn refused(format: &str, text: &str) -> String {
    let made = import("d.puml", text, format_named(format).unwrap(), &Options::default());
    assert_eq!(made.value, "", "{text} is made to {}", made.value);
    let found = made.diagnostics.iter().find(|found| found.severity == Severity::Error).unwrap();
    rendered(text, std::slice::from_ref(found))
}

const HANDOVER: &str = "\
@startuml hand-over
title The hand-over of a train
' what the two centres say to each other
participant \"Handing over\" as HOV #lightblue
participant ACC order 20
skinparam sequence {
  ArrowColor blue
}
== announcing ==
group prechart preHOV iff
  [-> HOV : HOVcond
end
HOV -> ACC ++ : preAnn
note right of ACC
  not -> a message : at all
end note
...
group pre ExdEoA iterate
  HOV -[#red]-> ACC : RRIReq
end
activate ACC
ACC -->> HOV : RRI
HOV ->x ACC : Ackn
deactivate ACC
@enduml
";

#[test]
fn the_hand_over_is_two_charts() {
    assert_eq!(
        made("plantuml", HANDOVER),
        "chart preHOV \"The hand-over of a train\" iff { pre { env -> HOV : HOVcond [recv only]; } main { HOV -> ACC : preAnn; } } \
         chart ExdEoA necessary iterate { pre { HOV -> ACC : RRIReq; } main { ACC -> HOV : RRI; HOV -> ACC : Ackn [send only]; } }"
    );
    let mermaid = "---\ntitle: \"The hand-over\"\n---\n%%{init: {}}%%\nsequenceDiagram\n  autonumber\n  participant HOV as Handing over\n  \
                   box Aqua Centres\n  participant ACC\n  end\n  rect rgb(200, 220, 255)\n    Note over HOV,ACC: prechart iterate\n    \
                   HOV->>+ACC: RRIReq\n  end\n  Note left of HOV: so what\n  ACC-->>-HOV: RRI; HOV-xACC: Ackn #35;1\n";
    assert_eq!(
        made("mermaid", mermaid),
        "chart d \"The hand-over\" necessary iterate { pre { HOV -> ACC : RRIReq; } main { ACC -> HOV : RRI; HOV -> ACC : `Ackn #1` \
         [send only]; } }"
    );
}

#[test]
fn arrows_of_all_kinds() {
    let table = [
        ("A -> B : x", "A -> B : x;"),
        ("A->B:x", "A -> B : x;"),
        ("A --> B : x", "A -> B : x;"),
        ("A ->> B : x", "A -> B : x;"),
        ("A -\\\\ B : x", "A -> B : x;"),
        ("A //-- B : x", "B -> A : x;"),
        ("A <- B : x", "B -> A : x;"),
        ("A <<-- B : x", "B -> A : x;"),
        ("A o-> B : x", "A -> B : x;"),
        ("A ->o B : x", "A -> B : x;"),
        ("A ->x B : x", "A -> B : x [send only];"),
        ("A x<- B : x", "B -> A : x [send only];"),
        ("A -[#red,dashed]> B : x", "A -> B : x;"),
        ("A -[#0000FF]->> B : x", "A -> B : x;"),
        ("A -> A : x", "A -> A : x;"),
        ("A -> B ++ #gold : x", "A -> B : x;"),
        ("A -> B --++ : x", "A -> B : x;"),
        ("\"Long name\" -> B : x", "`Long name` -> B : x;"),
        ("A -> \"Long\" as L : x", "A -> Long : x;"),
        ("[-> A : x", "env -> A : x [recv only];"),
        ("[<- A : x", "A -> env : x [send only];"),
        ("A ->] : x", "A -> env : x [send only];"),
        ("A <-] : x", "env -> A : x [recv only];"),
        ("A ->o] : x", "A -> env : x [send only];"),
        ("?-> A : x", "env -> A : x [recv only];"),
        ("A ->? : x", "A -> env : x [send only];"),
        ("A -> B : <b>x</b>\\n<color:red>y</color> a<b", "A -> B : `x y a<b`;"),
        ("A -> B : x [recv only]", "A -> B : x [recv only];"),
        ("queue -> database : x", "queue -> database : x;"),
    ];
    for (line, expected) in table {
        let text = format!("@startuml\ngroup pre\n{line}\nend\nA -> B : last\n@enduml\n");
        let made = made("plantuml", &text);
        let body = made.split("pre { ").nth(1).unwrap().split(" }").next().unwrap();
        assert_eq!(body, expected, "{line}");
    }
    let table = [
        ("A->B: x", "A -> B : x;"),
        ("A-->B: x", "A -> B : x;"),
        ("A->>B: x", "A -> B : x;"),
        ("A-->>+B: x", "A -> B : x;"),
        ("A-xB: x", "A -> B : x [send only];"),
        ("A--xB: x", "A -> B : x [send only];"),
        ("A-)B: x", "A -> B : x;"),
        ("A--)-B: x", "A -> B : x;"),
        ("Radio block ->> B : x<br/>y", "`Radio block` -> B : `x y`;"),
        ("end1->>B: a: b", "end1 -> B : `a: b`;"),
        ("actor->>B: x", "actor -> B : x;"),
    ];
    for (line, expected) in table {
        let text = format!("sequenceDiagram\nopt prechart\n{line}\nend\nA->>B: last\n");
        let made = made("mermaid", &text);
        let body = made.split("pre { ").nth(1).unwrap().split(" }").next().unwrap();
        assert_eq!(body, expected, "{line}");
    }
}

#[test]
fn parts_are_told_by_blocks_or_by_their_place() {
    let plain = |body: &str| made("plantuml", &format!("@startuml c\n{body}\n@enduml\n"));
    let expected = "chart c necessary { pre { A -> B : x; } main { B -> A : y; } }";
    assert_eq!(plain("group pre\nA -> B : x\nend\nB -> A : y"), expected);
    assert_eq!(plain("A -> B : x\ngroup main\nB -> A : y\nend"), expected);
    assert_eq!(plain("group prechart\nA -> B : x\nend\ngroup main\nB -> A : y\nend"), expected);
    assert_eq!(plain("opt pre\nA -> B : x\nend\ngroup whatever\nB -> A : y\nend"), expected);
    assert_eq!(plain("A -> B ++ : x\nreturn y"), expected);
    assert_eq!(plain("A -> B : x\nactivate B\nreturn y\n"), expected);
    assert_eq!(
        plain(
            "group pre sufficient\nA -> B : x\nend\ngroup coregion\nB -> A : y\nB -> A : z\nend\nA -> B : w"
        ),
        "chart c sufficient { pre { A -> B : x; } main { coregion { B -> A : y; B -> A : z; } A -> B : w; } }"
    );
    // Two pages, two diagrams, two charts each.
    let many = "@startuml a\ngroup pre\nA -> B : x\nend\nB -> A : y\nnewpage second\nA -> B : x\nB -> A : y\n@enduml\nnothing\n\
                @startuml\nA -> B : x\nB -> A : y\n@enduml\n";
    let names: Vec<String> = made("plantuml", many)
        .split("chart ")
        .skip(1)
        .map(|own| own.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["a", "d", "d_2"]);
}

#[test]
fn what_was_guessed_is_said() {
    let text = "@startuml\nA -> B : x\nB -> A : y\n@enduml\n";
    let made = import("d.puml", text, format_named("plantuml").unwrap(), &Options::default());
    let said = rendered(text, &made.diagnostics);
    assert!(said.contains("import-guessed") && said.contains("d.puml:2:10"), "{said}");
    assert!(made.value.contains("pre {\n        A -> B : x;"), "{}", made.value);
}

#[test]
fn what_has_no_equal_is_refused_by_name_and_place() {
    for word in ["alt", "loop", "par", "break", "critical", "opt", "else", "ref over A"] {
        let found =
            refused("plantuml", &format!("@startuml\nA -> B : x\n{word} some\nB -> A : y\nend\n@enduml\n"));
        let name = word.split(' ').next().unwrap();
        assert!(found.contains(&format!("`{name}` has no equal in a chart")), "{found}");
        assert!(found.contains("d.puml:3:1"), "{found}");
    }
    for word in ["alt", "loop", "par", "break", "critical", "opt"] {
        let found = refused("mermaid", &format!("sequenceDiagram\nA->>B: x\n  {word} some\nB->>A: y\nend\n"));
        assert!(found.contains(&format!("`{word}` has no equal in a chart")), "{found}");
        assert!(found.contains("d.puml:3:3"), "{found}");
    }
    let table = [
        ("plantuml", "@startuml\nA -> B : x\n", "expected `@enduml`"),
        ("plantuml", "@startuml\ngroup pre\nA -> B : x\n@enduml\n", "never closed"),
        ("plantuml", "@startuml\nnote over A\nA -> B : x\n@enduml\n", "expected `end note`"),
        ("plantuml", "@startuml\n/' A -> B : x\n@enduml\n", "expected `'/`"),
        ("plantuml", "@startuml\nA -> B : x\nend\n@enduml\n", "nothing is open here"),
        ("plantuml", "@startuml\nA -> B\n@enduml\n", "has no name"),
        ("plantuml", "@startuml\nA <-> B : x\n@enduml\n", "both ways"),
        ("plantuml", "@startuml\nA -- B : x\n@enduml\n", "expected an arrow"),
        ("plantuml", "@startuml\nA -> : x\n@enduml\n", "expected a participant"),
        ("plantuml", "@startuml\nA -> B x\n@enduml\n", "expected `:`"),
        ("plantuml", "@startuml\nA -> B : x\n& A -> B : y\n@enduml\n", "`&` has no equal"),
        ("plantuml", "@startuml\n!include other.puml\n@enduml\n", "preprocessor"),
        ("plantuml", "@startuml\nclass A\n@enduml\n", "expected a message"),
        ("plantuml", "@startmindmap\n* A\n@endmindmap\n", "no sequence diagram"),
        ("plantuml", "@startuml\nreturn x\n@enduml\n", "not known from where"),
        ("plantuml", "@startuml\nA -> B : x\nB -> A : y\nA -> B : x\n@enduml\n", "`x` is sent twice"),
        ("plantuml", "@startuml\nA -> B : x\n@enduml\n", "one message is no chart"),
        (
            "plantuml",
            "@startuml\nA -> B : x\ngroup pre\nA -> B : y\nend\nA -> B : z\n@enduml\n",
            "`x` stands outside both",
        ),
        ("plantuml", "@startuml\ngroup pre\nA -> B : x\nend\n@enduml\n", "the main chart has no message"),
        ("plantuml", "@startuml\ngroup pre\ngroup main\nA -> B : x\nend\nend\n@enduml\n", "inside another"),
        ("mermaid", "graph TD\nA-->B\n", "expected `sequenceDiagram`"),
        ("mermaid", "", "expected `sequenceDiagram`"),
        ("mermaid", "sequenceDiagram\nA->>B\n", "what is sent"),
        ("mermaid", "sequenceDiagram\nA<<->>B: x\n", "both ways"),
        ("mermaid", "sequenceDiagram\n->>B: x\n", "that sends"),
        ("mermaid", "sequenceDiagram\nA->>: x\n", "that receives"),
        ("mermaid", "sequenceDiagram\nrect pre\nA->>B: x\n", "never closed"),
        ("mermaid", "sequenceDiagram\nwhat is this\n", "expected a message"),
        ("mermaid", "---\ntitle: x\n", "expected what closes this"),
    ];
    for (format, text, expected) in table {
        let found = refused(format, text);
        assert!(found.contains(expected), "{text}: {found}");
        assert!(found.contains("d.puml:"), "{text}: {found}");
    }
}

#[test]
fn files_tell_their_format() {
    for (name, format) in
        [("a.puml", "plantuml"), ("a.plantuml", "plantuml"), ("a.mmd", "mermaid"), ("a.mermaid", "mermaid")]
    {
        let found = guess(name, "").unwrap();
        assert_eq!(found.name, format);
        assert!(found.is_diagram());
    }
    assert!(!format_named("rtamt").unwrap().is_diagram());
}

#[test]
fn names_stay_names() {
    let bad = "</text><script>alert(1)</script>`; chart x { \" // \u{1b}[31m";
    let text = format!(
        "@startuml {bad}\ntitle {bad}\ngroup pre\n\"{}\" -> B : {bad}\nend\nB -> A : y\n@enduml\n",
        bad.replace('"', "")
    );
    let made = made("plantuml", &text);
    assert_eq!(made.matches("necessary {").count(), 1, "{made}");
    assert!(!made.contains('\u{1b}'));
}

#[test]
fn random_texts_are_read_or_refused() {
    let pieces = [
        "@startuml",
        "@enduml",
        "A",
        "B",
        " -> ",
        "<-",
        "-->x ",
        " : ",
        "x",
        "y",
        "z",
        "\n",
        "\n",
        "\n",
        "group pre",
        "end",
        "group main iff",
        "opt ",
        "note over A",
        "[",
        "]",
        "\"",
        "'",
        "/'",
        "'/",
        "return r",
        "++",
        "--",
        "sequenceDiagram",
        "->>",
        "-x",
        ":",
        ";",
        "rect ",
        "Note over A: prechart",
        "#35;",
        "é",
        "`",
        "\u{0}",
        "---",
        "{",
        "}",
        "title t",
        "activate B",
        "&",
        "%%",
        "coregion",
    ];
    for case in 0..cases(2_000) {
        let mut rng = Rng::new(case);
        let mut text = String::new();
        for _ in 0..rng.below(40) {
            text.push_str(pieces[rng.below(pieces.len())]);
        }
        for (format, head) in [("plantuml", "@startuml\n"), ("mermaid", "sequenceDiagram\n")] {
            for text in
                [text.clone(), format!("{head}{text}"), format!("{head}A->B:p\nB->A:q\n{text}\n@enduml")]
            {
                let result = import("d.puml", &text, format_named(format).unwrap(), &Options::default());
                match result.has_errors() {
                    true => {
                        rendered(&text, &result.diagnostics);
                    }
                    false => {
                        made(format, &text);
                    }
                }
            }
        }
    }
}
