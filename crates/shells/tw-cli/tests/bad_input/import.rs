//! Specifications of other monitors.

use super::{Case, bad, fine};

fn spec(name: &'static str, format: &str, text: impl AsRef<[u8]>) -> Case {
    bad(name, format!("import s.txt --from {format}")).file("s.txt", text)
}

pub fn cases() -> Vec<Case> {
    vec![
        bad("import-unknown-format", "import s.txt").file("s.txt", "out = x > 1"),
        bad("import-stl-of-two-tools", "import s.stl").file("s.stl", "out = x > 1"),
        bad("import-missing-file", "import s.c2po"),
        bad("import-not-text", "import s.c2po").file("s.c2po", b"\xff\xfe"),
        bad("import-onto-itself", "import s.mltl -o s.mltl").file("s.mltl", "a0\n"),
        bad("import-period", "import s.txt --from rtamt --period 0s").file("s.txt", "x > 1"),
        spec("import-empty", "rtamt", ""),
        spec("import-rtamt-iff", "rtamt", "a = x > 1 iff y > 1\nb = sqrt(x) > 1\n"),
        spec("import-rtamt-between-samples", "rtamt", "out = always[0:150ms] (x > 1)"),
        spec("import-rtamt-unclosed", "rtamt", "out = always[0:1] (x > 1"),
        spec("import-rtamt-control-characters", "rtamt", "out = x > \u{1b}[31m1"),
        spec("import-breach-parameter", "breach", "phi := alw (speed[t] < vmax)\n"),
        spec("import-breach-shifted", "breach", "phi := x[t-1] > 2\n"),
        spec("import-reelay-rest", "reelay", "{p} -> {q} -> {r}"),
        spec("import-reelay-zero", "reelay", "once[0:0]{p}"),
        spec("import-c2po-contract", "c2po", "INPUT p: bool;\nFTSPEC c: p => p;\n"),
        spec("import-c2po-float-equal", "c2po", "INPUT y: float;\nFTSPEC y == 1.5;\n"),
        spec(
            "import-lola-clock",
            "lola",
            "input a: Int64\noutput o @1Hz := a.hold(or: 0)\ntrigger @0.5Hz o > 1\n",
        ),
        spec("import-lola-type", "lola", "input a: Int64, p: Bool\noutput o: Bool := if p then a else 1\n"),
        spec(
            "import-lola-window",
            "lola",
            "input a: Int64\noutput o := a.aggregate(over: 10s, using: integral)\n",
        ),
        spec("import-lola-unclosed", "lola", "input a: Int64\noutput o := a.offset(by: -1\noutput n := a\n"),
        spec("import-lola-inputs-alone", "lola", "input a: Int64\n"),
        spec("import-mltl-mission-time", "mltl", "G[0,M] a0\n"),
        bad("import-monpoly-arity", "import s.mfotl --signature s.sig")
            .file("s.mfotl", "publish(r, x) IMPLIES ONCE approve(r)")
            .file("s.sig", "publish(r: int) approve(int)"),
        bad("import-monpoly-signature", "import s.mfotl --signature s.sig")
            .file("s.mfotl", "publish(r)")
            .file("s.sig", "publish(r: int,\n"),
        bad("import-monpoly-signature-missing", "import s.mfotl --signature s.sig")
            .file("s.mfotl", "publish(r)"),
        bad("import-signature-of-another", "import s.mltl --signature s.sig")
            .file("s.mltl", "a0\n")
            .file("s.sig", ""),
        spec(
            "import-monpoly-result-inside",
            "monpoly",
            "s <- SUM a; c (ONCE[0,30] pay(c, a)) IMPLIES s <= 9",
        ),
        spec("import-monpoly-median", "monpoly", "m <- MED x p(x)"),
        spec("import-dejavu-rule", "dejavu", "prop p : r where r := @ r"),
        spec("import-dejavu-free", "dejavu", "prop p : open(f)"),
        spec("import-rvm-event", "rvm", "M(T x) {\n  event a(T x) {}\n  ere : a b\n  @match {}\n}\n"),
        spec("import-rvm-unclosed", "rvm", "M(T x) {\n  event a(T x) { if (x) {\n  ere : a\n}\n"),
        spec("import-rvm-logic", "rvm", "M() { event a() {} cfg : S -> a S | epsilon @match {} }\n"),
        spec("import-rvm-state", "rvm", "M() { event a() {} fsm : s [ a -> t ] }\n"),
        spec("import-megabyte-of-a-word", "rtamt", format!("out = x > {}(", "a".repeat(1 << 20))),
        bad("chart-import-unknown-kind", "chart import s.txt").file("s.txt", "A -> B : x"),
        bad("chart-import-other-format", "chart import s.mltl").file("s.mltl", "a0\n"),
        bad("chart-import-par", "chart import s.puml")
            .file("s.puml", "@startuml\nA -> B : x\n  par both\nB -> A : y\nend\n@enduml\n"),
        bad("chart-import-truncated", "chart import s.puml")
            .file("s.puml", "@startuml\ngroup prechart\nA -> B : x\n"),
        bad("chart-import-mermaid-alt", "chart import s.mmd")
            .file("s.mmd", "sequenceDiagram\nA->>B: x\nalt ok\nB->>A: y\nend\n"),
        bad("chart-import-twice", "chart import s.mmd")
            .file("s.mmd", "sequenceDiagram\nA->>B: x\nB->>A: y\nA->>B: x\n"),
        bad("chart-import-script", "chart import s.puml")
            .file("s.puml", "@startuml\nA -> B : <script>alert(1)</script>\n<script> -> B : x\n@enduml\n"),
        bad("chart-draw-unknown-kind", "chart draw s.elsc -o s.pdf")
            .file("s.elsc", "chart c iff { pre { A -> B : x } main { B -> A : y } }"),
        bad("chart-draw-unknown-chart", "chart draw s.elsc --chart d")
            .file("s.elsc", "chart c iff { pre { A -> B : x } main { B -> A : y } }"),
        bad("chart-draw-no-chart", "chart draw s.tw").file("s.tw", "property p : G a;"),
        bad("chart-draw-onto-itself", "chart draw s.svg -o s.svg").file("s.svg", "property p : G a;"),
        fine("import-deep", "import s.mltl -o out.tw").file("s.mltl", format!("{}a0\n", "!".repeat(100_000))),
        fine("import-standard-input", "import - --from reelay").input(b"{p}"),
    ]
}
