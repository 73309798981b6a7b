//! Files that are not there, options that do not fit, engines that refuse.

use super::{Case, bad};

const TRACE: &str = "a,b\n1,1\n1,1\n";

fn with_trace(name: &'static str, command: &str) -> Case {
    bad(name, command).file("t.csv", TRACE)
}

/// With equal timestamps, and a column of errors with a gap.
fn timed(name: &'static str, command: &str) -> Case {
    bad(name, command).file("t.csv", "time,a,b,err\n1,1,1,0.1\n1,1,1,\n")
}

pub fn cases() -> Vec<Case> {
    vec![
        bad("file-missing", "check -e 'G a' nowhere.csv"),
        bad("file-missing-in-missing-directory", "check -e 'G a' no/where.jsonl.gz"),
        bad("file-is-a-directory", "check -e 'G a' logs").directory("logs"),
        bad("file-is-a-directory-by-extension", "check -e 'G a' logs.csv").directory("logs.csv"),
        with_trace("specification-missing", "check nowhere.tw t.csv"),
        with_trace("specification-is-a-directory", "check specs t.csv").directory("specs"),
        with_trace("specification-is-a-trace", "check t.csv t.csv"),
        with_trace("specification-alone", "check s.tw").file("s.tw", "property p : G a;"),
        with_trace("formula-and-specification", "check -e 'G a' s.tw t.csv")
            .file("s.tw", "property p : G a;"),
        with_trace("no-files", "check"),
        with_trace("formula-without-a-trace", "check -e 'G a'"),
        bad("extension-unknown", "check -e 'G a' t.dat").file("t.dat", "\n\n"),
        bad("extension-missing", "check -e 'G a' trace").file("trace", ""),
        with_trace("format-unknown", "check --format cvs -e 'G a' t.csv"),
        with_trace("format-not-that-of-the-file", "check --format jsonl -e 'G a' t.csv"),
        with_trace("engine-unknown", "check --engine colunmar -e 'G a' t.csv"),
        with_trace("engine-of-another-logic", "check --engine parametric -e 'G a' t.csv"),
        with_trace("semantics-unknown", "check --semantics infinite -e 'G a' t.csv"),
        with_trace("time-unit-unknown", "check --time-unit sec -e 'G a' t.csv"),
        with_trace("clock-unknown", "check --clock wall -e 'G a' t.csv"),
        with_trace("output-unknown", "check --output yaml -e 'G a' t.csv"),
        with_trace("violations-not-a-number", "check --violations few -e 'G a' t.csv"),
        with_trace("sort-without-a-number", "check --sort soon -e 'G a' t.csv"),
        with_trace("memory-too-small", "check --memory 1 -e 'G a' t.csv"),
        with_trace("option-unknown", "check --engin columnar -e 'G a' t.csv"),
        with_trace("command-unknown", "chek -e 'G a' t.csv"),
        with_trace("columnar-refuses-an-interval", "check --engine columnar -e 'G (a -> F[0,3] b)' t.csv"),
        with_trace("quantifier-in-check", "check -e 'forall u. G !login(u)' t.csv")
            .file("t.csv", "event,u\nlogin,bob\n"),
        with_trace("ltl3-in-eval", "eval --semantics ltl3 -e 'G a' t.csv"),
        with_trace("automaton-with-future-in-past", "check --engine automaton -e 'G (a -> O F b)' t.csv"),
        with_trace("rewrite-with-future-in-past", "check --engine rewrite -e 'G (a -> O F b)' t.csv"),
        with_trace("slices-with-future-in-past", "check --engine breadth-first -e 'G (a -> O F b)' t.csv"),
        with_trace("reverse-with-an-interval", "check --engine reverse -e 'F[0,3] b' t.csv"),
        with_trace("residual-with-future-in-past", "check --show-residual -e 'G (a -> O F b)' t.csv"),
        with_trace("residual-and-statistic", "check --show-residual --stat coverage -e 'G a' t.csv"),
        with_trace("unknown-statistic", "check --stat speed -e 'G a' t.csv"),
        with_trace("no-states", "check --states 0 -e 'G a' t.csv"),
        with_trace("svg-without-automaton", "explain -e 'G a' --output svg"),
        with_trace("svg-of-two", "explain -e 'G a' -e 'F b' --automaton dfa --output svg"),
        with_trace("automaton-of-an-interval", "explain -e 'F[0,3] b' --automaton alternating"),
        with_trace("maude-with-past", "explain -e 'G (a -> O b)' --maude"),
        with_trace("watch-with-quantifier", "watch -e 'forall u. G !login(u)' t.csv"),
        with_trace("watch-without-timestamps", "watch -e 'G (a -> F[0,3s] b)' t.csv"),
        with_trace("watch-unit-by-index", "watch --clock index -e 'G (a -> F[0,3s] b)' t.csv"),
        with_trace("watch-heartbeat-without-timestamps", "watch --heartbeat 1s -e 'G a' t.csv"),
        with_trace("watch-heartbeat-without-unit", "watch --heartbeat 10 -e 'G a' t.csv"),
        bad("watch-behind-a-watermark", "watch --watermark now -e 'G (a -> F[0,9s] b)' t.props")
            .file("t.props", "@1 a\n@5 now\n@4 b\n"),
        bad("watch-bad-watermark", "watch --watermark now -e 'G (a -> F[0,3s] b)' t.jsonl")
            .file("t.jsonl", "{\"time\":1,\"event\":\"a\"}\n{\"now\":\"soon\"}\n"),
        bad("watch-beyond-the-skew", "watch --sort 2s -e 'G (a -> F[0,3s] b)' t.props")
            .file("t.props", "@5 a\n@2.5 b\n"),
        with_trace("watch-with-a-stored-engine", "watch --engine columnar -e 'G a' t.csv"),
        with_trace("watch-nothing", "watch -e 'G a' no-such-file.csv"),
        with_trace("listen-nowhere", "watch -e 'G a' --listen nowhere"),
        with_trace("dense-clock-in-check", "check --clock dense -e 'F[0,3] a' t.csv"),
        timed("dense-clock-and-next", "check --clock dense -e 'G (a -> X b)' t.csv"),
        timed("dense-engine-and-stamps", "check --engine dense -e 'G a' t.csv"),
        timed("interval-between-ticks", "check -e 'F(0,1ns) a' t.csv"),
        timed("clock-error-negative", "check --clock-error -5ms -e 'G a' t.csv"),
        timed("clock-error-and-positions", "check --clock-error 5ms --clock index -e 'G a' t.csv"),
        timed("clock-error-unknown-column", "check --clock-error-column er -e 'G a' t.csv"),
        timed("clock-error-null", "check --clock-error-column err -e 'G a' t.csv"),
        timed("clock-error-of-nothing", "check --clock-error 0 -e 'G a' t.csv"),
        with_trace("clock-error-without-timestamps", "check --clock-error 5ms -e 'G a' t.csv"),
        with_trace("arguments-by-position", "check -e 'G !login(\"bob\")' t.csv")
            .file("t.csv", "event,user\nlogin,bob\n"),
        with_trace("query-in-check", "check -e 'count[a]' t.csv"),
        with_trace("query-beside-a-property", "check s.tw t.csv")
            .file("s.tw", "property p : count[a] > 3;\n"),
        with_trace("query-without-a-query", "query s.tw t.csv").file("s.tw", "property p : G a;\n"),
        with_trace("query-of-a-comparison", "query -e 'count[a] > 3' t.csv"),
        with_trace("query-with-an-engine-for-verdicts", "query --engine automaton -e 'count[a]' t.csv"),
        with_trace("query-read-forward-that-cannot-be", "query --engine forward -e 'avg[max[a]]' t.csv"),
        with_trace("query-that-overflows", "query -e 'sum[x]' t.csv")
            .file("t.csv", "x\n9223372036854775807\n1\n"),
        with_trace("query-term-that-overflows", "query -e 'max[x + 1]' t.csv")
            .file("t.csv", "x\n9223372036854775807\n1\n"),
        with_trace("query-by-an-unknown-column", "query -e 'count[a] by user' t.csv"),
        with_trace("query-by-an-empty-column", "query -e 'count[a] by user' t.csv")
            .file("t.csv", "a,user\n1,\n"),
        with_trace("query-every-nothing", "query -e 'count[a] every 0' t.csv"),
        with_trace("query-every-minute-without-time", "query -e 'count[a] every 1m' t.csv"),
        with_trace("query-at-somewhere", "query --at 3 -e 'count[a]' t.csv"),
        with_trace("query-plot-of-another-kind", "query --plot p.gif -e 'count[a]' t.csv"),
        with_trace("query-plot-nowhere", "query --quiet --plot no/where.svg -e 'count[a]' t.csv"),
        with_trace("query-of-text", "query -e 'sum[name]' t.csv").file("t.csv", "name\nbob\n"),
        bad("query-of-nothing", "query -e 'count[a]' t.csv").file("t.csv", "a,b\n"),
        bad("query-of-nothing-forwards", "query --engine forward -e 'count[a]' t.csv").file("t.csv", "a,b\n"),
        bad("query-of-a-bad-row", "query -e 'count[a]' t.csv").file("t.csv", "a,b\n1,1\n1\n"),
        with_trace("watch-a-query-that-looks-ahead", "watch --query 'avg[max[a]]' t.csv"),
        with_trace("eval-of-a-bad-formula", "eval -e 'G (a' t.csv"),
        with_trace("eval-of-two-traces", "eval -e 'G a' t.csv t.csv"),
        bad("eval-of-nothing", "eval -e 'G a' t.csv").file("t.csv", "a,b\n"),
        bad("eval-of-a-bad-row", "eval -e 'G a' t.csv").file("t.csv", "a,b\n1,1\n1\n"),
        bad("inspect-of-a-bad-row", "inspect t.csv").file("t.csv", "a,b\n1,1\n1\n"),
        bad("inspect-of-bad-json", "inspect t.jsonl").file("t.jsonl", "{\"a\": 1}\n{\"a\": }\n"),
        bad("inspect-missing", "inspect nowhere.csv"),
        with_trace("convert-to-an-unknown-extension", "convert t.csv -o t.dat"),
        with_trace("convert-to-an-unknown-format", "convert t.csv -o t.dat --to xlsx"),
        with_trace("convert-into-a-missing-directory", "convert t.csv -o no/where.jsonl"),
        with_trace("convert-onto-itself", "convert t.csv -o t.csv"),
        bad("convert-of-a-bad-row", "convert t.csv -o t.jsonl").file("t.csv", "a,b\n1,1\n1\n"),
        with_trace("convert-what-props-cannot-hold", "convert t.csv -o t.props").file("t.csv", "n\n5\n7\n"),
        bad("fmt-of-a-bad-file", "fmt s.tw").file("s.tw", "property p : G (a;\n"),
        bad("fmt-missing", "fmt nowhere.tw"),
        bad("explain-of-a-bad-formula", "explain -e 'G (a ->'"),
        bad("json-messages-of-a-specification", "check --output json s.tw t.csv")
            .file("t.csv", TRACE)
            .file("s.tw", "property p : G (a -> );\nproperty q : G 5;\n"),
        bad("json-messages-of-a-trace", "check --output json -e 'G a' t.csv").file("t.csv", "a,b\n1,1\n1\n"),
        bad("standard-input-cut", "check -e 'G a' -").input(b"{\"a\": 1}\n{\"a\""),
        with_trace("standard-input-not-utf8", "check - t.csv").input(b"property p : G a; // \xff"),
        bad("test-of-nothing", "test t.twt").file("t.twt", "nothing\n"),
        bad("test-missing", "test nowhere.twt"),
        bad("test-with-an-unknown-block", "test t.twt").file("t.twt", "```tw\n```\n```yaml\n```\n"),
        bad("test-of-an-unknown-property", "test t.twt").file(
            "t.twt",
            "```tw\nproperty answered : a;\n```\n```props\na\n```\n```verdicts\nanswerd: satisfied\n```\n",
        ),
        bad("test-without-a-colon", "test t.twt")
            .file("t.twt", "```tw\nproperty p : a;\n```\n```props\na\n```\n```verdicts\np satisfied\n```\n"),
        bad("init-missing", "init nowhere.csv"),
        with_trace("init-onto-a-file", "init t.csv -o s.tw").file("s.tw", "property p : G a;"),
        bad("init-of-a-bad-row", "init t.csv").file("t.csv", "a,b\n1,1\n1\n"),
        bad("standard-input-twice", "check -e 'G a' - -").input(b"{\"a\": 1}\n"),
    ]
}
