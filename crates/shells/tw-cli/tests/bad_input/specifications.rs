//! Specifications: text, names, types, depth.

use super::{Case, bad, fine};

const TRACE: &str = "a,b,n,name\n1,1,5,bob\n1,1,6,eve\n";

fn formula(name: &'static str, formula: &str) -> Case {
    bad(name, format!("check -e '{formula}' t.csv")).file("t.csv", TRACE)
}

fn spec(name: &'static str, text: impl AsRef<[u8]>) -> Case {
    bad(name, "check s.tw t.csv").file("t.csv", TRACE).file("s.tw", text)
}

/// A monitor of events with two arguments.
fn events(name: &'static str, command: &str) -> Case {
    let text = "monitor Used(f, t) {\n    event use(f, t);\n    event free(f);\n    ere : use free;\n}\n";
    bad(name, command).file("s.tw", text).file("t.events", "use,1,2\nuse,1\n")
}

pub fn cases() -> Vec<Case> {
    let deep = |depth: usize, inside: &str| {
        format!("property p : {}{inside}{};\n", "(".repeat(depth), ")".repeat(depth))
    };
    vec![
        // Templates of texts.
        spec("template-side-by-side", "event e(x, y) = name \"{x}{y}\"; property p : G !e;"),
        spec("template-unknown-placeholder", "event e(user) = name \"{usr} in\"; property p : G !e;"),
        spec("template-contradictory-types", "event e(n: int) = name \"{n:words}!\"; property p : G !e;"),
        spec("template-unclosed", "event e(x) = name \"{x\"; property p : G !e;"),
        spec("template-without-a-text", "event e(x) = \"{x}\"; property p : G !e;"),
        spec("template-of-an-unknown-column", "event e(x) = content \"b{x}\"; property p : G !e;"),
        bad("templates-unknown-column", "templates t.csv").file("t.csv", TRACE),
        bad("templates-missing-file", "templates nowhere.log"),
        // Windows and requirements.
        formula("window-over-nothing", "G (count[a over 0] < 3)"),
        formula("window-of-half-a-position", "G (sum[n over 2.5] < 3)"),
        formula("window-without-a-length", "G (sum[n over] < 3)"),
        formula("window-of-an-unknown-unit", "G (sum[n over 5 sec] < 3)"),
        formula("window-that-looks-ahead", "G (count[X a over 3] < 3)"),
        formula("window-of-a-histogram", "G (histogram(3)[n over 3] < 3)"),
        formula("window-of-two-terms", "G (avg(n, n over 3) < 3)"),
        formula("window-that-counts-values", "G (count[a : n over 3] < 3)"),
        formula("window-of-time-without-timestamps", "G (count[a over 10s] < 3)"),
        formula("window-of-a-text", "G (sum[name over 3] < 3)"),
        formula("window-that-overflows", "G (sum[9223372036854775807 over 3] > 3)"),
        spec("requirement-without-a-number", "require r : count[a] <= b;"),
        spec("requirement-without-a-comparison", "require r : count[a];"),
        spec("requirement-without-a-query", "require r \"text\" <= 3;"),
        // Text.
        formula("formula-empty", ""),
        formula("formula-unclosed-parenthesis", "G (a -> F b"),
        formula("formula-parenthesis-too-many", "G (a -> F b))"),
        formula("formula-other-bracket", "G (a -> F b]"),
        formula("formula-missing-operand", "G (a -> )"),
        formula("formula-missing-operator", "G (a b)"),
        formula("formula-operator-alone", "& a"),
        formula("formula-chained-comparison", "G (1 < n < 7)"),
        formula("formula-unclosed-text", "G (name == \"bob)"),
        formula("formula-bad-escape", "G (name == \"\\q\")"),
        formula("formula-unclosed-backquote", "G `a"),
        formula("formula-unknown-character", "G (a # b)"),
        formula("formula-arrow-of-other-languages", "G (a --> b)"),
        formula("formula-assignment", "G (n := 5)"),
        formula("formula-number-out-of-range", "G (n < 99999999999999999999)"),
        formula("formula-real-out-of-range", "G (n < 1e400)"),
        formula("formula-number-with-letters", "G (n < 5x)"),
        formula("formula-control-characters", "G (a \u{1b}[31m b)"),
        formula("formula-declaration", "property p : G a;"),
        formula("formula-word-operator-misspelt", "alwyas a"),
        formula("formula-megabyte-of-a-word", "")
            .command("check s.tw t.csv")
            .file("s.tw", format!("property p : G {};\n", "a".repeat(1 << 20))),
        formula("formula-match-of-other-languages", "G (name =~ \"bob\")"),
        formula("formula-contains", "G (name contains \"bob\")"),
        // Time as a value.
        formula("formula-time-without-timestamps", "G (time > 3)"),
        formula("formula-elapsed-compared-with-text", "G (elapsed == \"2s\")"),
        formula("formula-length-out-of-range", "G (elapsed < 99999999999d)"),
        formula("formula-length-in-a-set", "G (n in {5s})"),
        formula("formula-has-nothing", "G has()"),
        formula("formula-pattern-argument-unknown", "between(from: a, until: b, holds: n > 0)"),
        // Reserved words.
        formula("formula-reserved-letter", "G (T -> a)"),
        formula("formula-reserved-letter-compared", "G (U > 3)"),
        formula("formula-reserved-word", "G (until & a)"),
        formula("formula-keyword", "G (a & while)"),
        spec("spec-reserved-letter-declared", "var X: int;\nproperty p : G a;\n"),
        spec("spec-reserved-word-as-a-property", "property next : G a;\n"),
        // Settings.
        spec("trace-unknown-setting", "trace { tiem: t; }\nproperty p : G a;\n"),
        spec("trace-setting-twice", "trace { by: name; by: n; }\nproperty p : G a;\n"),
        spec("trace-two-blocks", "trace { by: name; }\ntrace { time: n; }\nproperty p : G a;\n"),
        spec("trace-unknown-unit", "trace { time-unit: weeks; }\nproperty p : G a;\n"),
        spec("trace-unknown-format", "trace { format: cvs; }\nproperty p : G a;\n"),
        spec("trace-by-a-number", "trace { by: 5; }\nproperty p : G a;\n"),
        // Monitors.
        spec("monitor-not-run", "property p : G a;\nmonitor Opened(f) {\n    event open(f);\n}\n")
            .command("robust s.tw t.csv"),
        spec(
            "monitor-engine-for-a-property",
            "property p : G a;\nmonitor Opened(f) {\n    event open(f);\n}\n",
        )
        .command("check --engine parametric s.tw t.csv"),
        spec("monitor-unknown-event", "monitor Opened(f) {\n    event open(f);\n    ere : open oepn;\n}\n"),
        spec("monitor-unbound-parameter", "monitor Opened(f, g) {\n    event open(f);\n}\n"),
        spec("monitor-unknown-parameter", "monitor Opened(f) {\n    event open(f, g);\n}\n"),
        spec(
            "monitor-unknown-state",
            "monitor Opened(f) {\n    event open(f);\n    fsm : s [ open -> t ];\n}\n",
        ),
        spec(
            "monitor-unknown-category",
            "monitor Opened(f) {\n    event open(f);\n    on violation \"{f}\";\n}\n",
        ),
        spec(
            "monitor-empty-language",
            "monitor Opened(f) {\n    event open(f);\n    ere : open & epsilon;\n}\n",
        ),
        events("monitor-wrong-number-of-arguments", "check s.tw t.events"),
        events("monitor-wrong-number-of-arguments-live", "watch s.tw t.events"),
        events("monitor-wrong-number-of-arguments-beside-others", "check --skip-bad-lines s.tw t.events"),
        spec("monitor-unknown-name", "monitor Opened(f) {\n    event open(f);\n}\n")
            .command("check --only Opend s.tw t.csv"),
        spec("monitor-bad-line", "monitor Opened(f) {\n    evnt open(f);\n}\n"),
        // Intervals.
        formula("interval-empty", "F[5,3] a"),
        formula("interval-open-at-one-point", "F(2,2] a"),
        formula("interval-unknown-unit", "F[0,5sec] a"),
        formula("interval-one-end", "F[5] a"),
        formula("interval-negative", "F[-1,5] a"),
        formula("interval-too-large", "F[0,9999999999d] a"),
        formula("interval-unclosed", "F[0,5 a"),
        formula("interval-units-without-timestamps", "a U[0,5ms] b"),
        formula("interval-units-with-positions", "").command("check --clock index -e 'F[0,5ms] a' t.csv"),
        formula("interval-fraction-of-a-position", "F[0,0.5] a"),
        // Types.
        formula("type-number-as-a-formula", "G 5"),
        formula("type-term-as-a-formula", "G (n + 1)"),
        formula("type-text-as-a-formula", "G \"a\""),
        formula("type-text-with-a-number", "G (name == \"bob\" & name > 3)"),
        formula("type-arithmetic-on-text", "G (n + \"one\" > 3)"),
        formula("type-arithmetic-on-a-text-column", "G (name + 1 > 3)"),
        formula("type-text-column-as-a-proposition", "G name"),
        formula("type-number-column-as-a-proposition", "G n"),
        formula("type-formula-in-arithmetic", "G ((a & b) + 1 > 2)"),
        formula("type-mixed-set", "G (n in {1, \"two\"})"),
        formula("type-empty-range", "G (n in {5..1})"),
        formula("type-matches-a-number", "G (n matches 5)"),
        formula("type-bad-pattern", "G (name matches \"b[ob\")"),
        formula("type-event-argument-unbound", "G login(u)"),
        spec("type-declared-otherwise", "var name: int;\nproperty p : G (name == \"bob\");\n"),
        spec("type-event-arity", "event login(user: string);\nproperty p : G !login(\"a\", \"b\");\n"),
        spec("type-unknown-type", "var n: number;\nproperty p : G (n > 1);\n"),
        // Declarations.
        spec("spec-empty", ""),
        spec("spec-comment-only", "// nothing yet\n"),
        spec("spec-query-only", "query q : count[a];\n"),
        spec("spec-missing-semicolon", "property p : G a\nproperty q : F b;\n"),
        spec("spec-missing-semicolon-at-the-end", "property p : G a\n"),
        spec("spec-missing-colon", "property p G a;\n"),
        spec("spec-missing-name", "property : G a;\n"),
        spec("spec-unclosed-comment", "property p : G a;\n/* and then\nproperty q : F b;\n"),
        spec("spec-unclosed-text", "property p \"all is well : G a;\nproperty q : F b;\n"),
        spec("spec-no-declaration", "G (a -> F b);\n"),
        spec("spec-misspelt-keyword", "propery p : G a;\n"),
        spec("spec-duplicate-property", "property p : G a;\nproperty p : F b;\n"),
        spec("spec-duplicate-macro", "let m = a;\nlet m = b;\nproperty p : G m;\n"),
        spec("spec-duplicate-property-of-a-megabyte", {
            let name = "p".repeat(1 << 20);
            format!("property {name} : G a;\nproperty {name} : F b;\n")
        }),
        spec("spec-duplicate-parameter", "let m(x, x) = a & x;\nproperty p : G m(a, b);\n"),
        spec("spec-recursive-macro", "let m = a & X m;\nproperty p : G m;\n"),
        spec("spec-mutually-recursive-macros", "let m = a & k;\nlet k = b | m;\nproperty p : G m;\n"),
        spec("spec-macro-arity", "let m(x) = a & x;\nproperty p : G m(a, b);\n"),
        spec("spec-unknown-pattern-argument", "property p : response(a);\n"),
        spec("spec-invalid-utf8", b"property p : G a; // caf\xe9\n"),
        spec("spec-utf16", b"\xff\xfep\0r\0o\0p\0"),
        spec("spec-nul-bytes", b"property p : G a\0\0;\n"),
        spec(
            "spec-several-errors",
            "var n: integer;\nproperty p : G (a -> );\nproperty q : F[5,3] b;\nproperty r : G (1 < n < 7);\nlet m = ;\n",
        ),
        spec(
            "spec-several-type-errors",
            "property p : G (n + 1);\nproperty q : F (name > 3 & name == \"x\");\nproperty r : G 5;\n",
        ),
        spec("spec-hundred-errors", "property p : G (a & );\n".repeat(100)),
        spec(
            "spec-hundred-type-errors",
            (0..100).map(|i| format!("property p{i} : G 5;\n")).collect::<String>(),
        ),
        spec("spec-hundred-warnings", format!("property p : {}G a;\n", "forall x. ".repeat(100)))
            .command("check --engine columnar s.tw t.csv"),
        spec(
            "spec-quantified-arity",
            "event publish(report: int, by: string);\nproperty p : G forall r. publish(r) -> O approve(r);\n",
        ),
        spec("spec-unbound-name", "property p : G (publish(r) -> O approve(r));\n"),
        spec("spec-aggregate-over-infinitely-many", "property p : G (count(u : !failed(u)) < 5);\n")
            .command("check s.tw t.events")
            .file("t.events", "failed,ann\n"),
        spec("spec-unbound-name-in-count", "property p : G (count(u : failed(u, ip)) < 5);\n"),
        spec("spec-unknown-name-shown", "// the queue\nlet busy = quue > 10;\nproperty p : G !busy;\n")
            .file("t.csv", "queue\n1\n"),
        // Depth.
        spec("deep-10000-error-inside", deep(10_000, "a &")),
        spec("deep-100000-error-inside", deep(100_000, "a b")),
        spec("deep-100000-type-error-inside", deep(100_000, "n + 1")),
        spec("deep-100000-unclosed", format!("property p : {}a;\n", "(".repeat(100_000))),
        spec("deep-100000-unknown-name", format!("property p : {}zebra;\n", "X ".repeat(100_000))),
        spec("deep-100000-refused", format!("property p : {}F[0,3] a;\n", "! ".repeat(100_000)))
            .command("check --engine columnar s.tw t.csv"),
        spec("deep-100000-binary-error", format!("property p : {}a &;\n", "a -> (b U ".repeat(50_000))),
        // Odd, but fine.
        fine("fine-deep-100000", "check --output json s.tw t.csv")
            .file("t.csv", TRACE)
            .file("s.tw", deep(100_000, "G a")),
        fine("fine-deep-100000-negations", "check --output json s.tw t.csv")
            .file("t.csv", TRACE)
            .file("s.tw", format!("property p : G {}(a & b);\n", "! ".repeat(100_000))),
        fine("fine-spec-byte-order-mark", "check --output json s.tw t.csv")
            .file("t.csv", TRACE)
            .file("s.tw", "\u{feff}property p : G a;\n"),
        fine("fine-spec-crlf", "check --output json s.tw t.csv")
            .file("t.csv", TRACE)
            .file("s.tw", "// ends\r\nproperty p :\r\n  G a;\r\n"),
    ]
}
