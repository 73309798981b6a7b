//! Charts that are none, and commands that cannot read them.

use super::{Case, bad, fine};

fn chart(name: &'static str, text: &str) -> Case {
    bad(name, "chart check s.elsc t.events").file("t.events", "send,x\nrecv,x\n").file("s.elsc", text)
}

pub fn cases() -> Vec<Case> {
    let sound = "chart c iff { pre { A -> B : x } main { B -> A : y } }\n";
    vec![
        chart("chart-empty-main", "chart c iff {\n  pre { A -> B : x }\n  main { }\n}\n"),
        chart("chart-without-pre", "chart c iff { main { A -> B : x } }\n"),
        chart(
            "chart-event-twice",
            "chart c iff {\n  pre { A -> B : x  A -> B : x }\n  main { B -> A : y }\n}\n",
        ),
        chart(
            "chart-shared-event",
            "chart c iff {\n  pre { A -> B : x }\n  main { B -> C : x [send only] }\n}\n",
        ),
        chart(
            "chart-cycle",
            "chart c iff {\n  pre { A -> B : x }\n  main {\n    A -> B : m [recv only]\n    B -> A : n\n    A -> B : m [send only]\n  }\n}\n",
        ),
        chart("chart-kind-misspelt", "chart c sufficent { pre { A -> B : x } main { B -> A : y } }\n"),
        chart("chart-arrow", "chart c iff { pre { A --> B : x } main { B -> A : y } }\n"),
        chart("chart-unclosed", "chart c iff { pre { A -> B : x } main { B -> A : y \n"),
        chart("chart-only", "chart c iff { pre { A -> B : x [sent only] } main { B -> A : y } }\n"),
        chart("after-unknown-chart", &format!("{sound}after c.main : d.main\n")),
        chart("after-unknown-part", &format!("{sound}after c.main : c.mian\n")),
        chart("chart-none", "property p : G a;\n"),
        chart("chart-map-of-an-unknown-column", sound)
            .command("chart check s.elsc t.csv --map dir=way,msg=what")
            .file("t.csv", "wey,what\nsend,x\n"),
        chart("chart-map-misspelt", sound).command("chart check s.elsc t.events --map direction=way"),
        bad("chart-missing-file", "chart check nowhere.elsc t.events").file("t.events", "send,x\n"),
        chart("chart-other-engine", sound).command("check s.elsc t.events --engine columnar"),
        fine("chart-any-names", "chart check s.elsc t.events --output json")
            .file("t.events", "send,G\nrecv,G\nsend,X\nrecv,X\n")
            .file(
                "s.elsc",
                "chart event iff { pre { F -> U : G } main { U -> F : X } } # all of them operators\n",
            ),
    ]
}
