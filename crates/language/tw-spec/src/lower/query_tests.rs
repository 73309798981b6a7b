//! What queries become, and what is said about wrong ones.

use super::{LowerOptions, lower};
use crate::{parse, parse_query};
use tw_diag::Sources;
use tw_ir::{Program, RootKind, display};

/// The program of a query, which has to be right.
fn query(text: &str) -> Program {
    let parsed = parse_query(text, 0);
    assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
    let lowered = lower(&parsed.value, &LowerOptions::default());
    assert!(!lowered.has_errors(), "{text}: {:?}", lowered.diagnostics);
    lowered.value
}

/// Queries and what they are displayed as ("" for themselves): `true : x` shows where a name or term was lifted.
const SHOWN: &[(&str, &str)] = &[
    // Numbers are needed: names and terms are values.
    ("max[latency]", "max[true : latency]"),
    ("avg[x] - min[x]", "avg[true : x] - min[true : x]"),
    ("sum[bytes] / 1e6", "sum[true : bytes] / 1000000.0"),
    ("quantile(0.99)[latency]", "quantile(0.99)[true : latency]"),
    ("avg[x while busy]", "avg[true : x while busy]"),
    ("corr[x, y]", "corr[true : x, true : y]"),
    ("corr[x * 2, p : y]", "corr[true : x * 2, p : y]"),
    ("histogram(4)[a.b]", "histogram(4)[true : a.b]"),
    ("stddev[if p then x else y]", "stddev[true : if p then x else y]"),
    ("sum[x ?? 0]", "sum[true : x ?? 0]"),
    ("count[p] * 100 / count[q]", ""),
    ("count[p] + x", ""),
    ("x - min[x]", "x - min[true : x]"),
    ("p &{+} q", "(true : p) + (true : q)"),
    ("(p : 1) |{+} q", "(p : 1) |{+} (true : q)"),
    ("last[x] - first[x]", "last[true : x] - first[true : x]"),
    ("max[(X (true : x)) - x]", ""),
    ("max[X (true : x) - x]", "max[X ((true : x) - (true : x))]"),
    ("abs(count[a] - count[b])", "max(count[a] - count[b], 0 - (count[a] - count[b]))"),
    ("-max[-x]", "0 - max[true : -x]"),
    ("min(max[x], 3)", "min(max[true : x], 3)"),
    ("min(x, 3)", "true : min(x, 3)"),
    ("count[p] % 2", ""),
    // The values matter: names and terms are values too.
    ("distinct[user]", "distinct[true : user]"),
    ("mode[status]", "mode[true : status]"),
    ("mode[status] + 1", "mode[true : status] + 1"),
    ("distinct[(user, ip)]", "distinct[true : (user, ip)]"),
    ("distinct[p : user]", ""),
    ("distinct[a & b]", ""),
    ("distinct[a == true]", ""),
    ("distinct[x ?? 0]", "distinct[true : x ?? 0]"),
    ("distinct[p &{pair} q]", ""),
    ("distinct[mode[x while p]]", "distinct[mode[true : x while p]]"),
    ("(user, count[p])", "(true : user) &{pair} count[p]"),
    ("(count[a], count[b], 3)", "count[a] &{pair} (count[b] &{pair} (true : 3))"),
    // Only whether there is a value matters: names are formulas.
    ("count[p]", ""),
    ("count[p while q]", ""),
    ("count[max[x] while q]", "count[max[true : x] while q]"),
    ("p &{second} count[q]", ""),
    // Names are formulas, other terms are values.
    ("p", ""),
    ("first[p]", ""),
    ("last[p while q]", ""),
    ("first[p : x]", ""),
    ("first[x + 1]", "first[true : x + 1]"),
    ("p &{pair} q", ""),
    ("x + 1", "true : x + 1"),
    ("3", "true : 3"),
    ("\"a\"", "true : \"a\""),
    // `first` and `last` three ways.
    ("count[first] + count[last]", ""),
    ("first[first : x] + last[last : x]", ""),
    ("first[p] |{first} last[q]", ""),
    // `while` takes any formula or experiment.
    ("count[p while (q : x)]", "count[p while q : x]"),
    ("count[p while q ?? 0]", ""),
    ("sum[x while count[p] & q]", "sum[true : x while count[p] & q]"),
    ("max[count[p while q S r] while H s]", ""),
    // Precedence, and the functions.
    ("a | b & c : x + 2 * y", ""),
    ("(p : x) ?? 0", "p : x ?? 0"),
    ("count[a] + count[b] ?? 0", ""),
    ("(count[a] ?? 0) + count[b]", ""),
    ("(a : 1) |{+} (b : 2) &{*} (c : 3)", "(a : 1) |{+} (b : 2) * (c : 3)"),
    ("(a : 1) &{-} (b : 1) &{/} (c : 1) &{min} (d : 1)", "min(((a : 1) - (b : 1)) / (c : 1), (d : 1))"),
    ("(a : 1) |{max} (b : 1) |{pair} (c : 1) |{second} d", ""),
    ("!{\"none\"} p", ""),
    ("!{-1.5} (p : x)", ""),
    ("X{v => if v > 2 then 1 else 0} (p : x)", ""),
    ("X{v => (v, 1)} (p : x)", ""),
    ("(p : x) U{\"found\"} q", ""),
    ("F (p : x)", "true U (p : x)"),
    ("(p : x) & (q : y) | !(r : z)", ""),
    // Past operators and intervals inside formulas.
    ("count[Y p & O[0,5s] q]", ""),
    ("Y (p S q) : x", ""),
    ("count[login(_, \"x\")] by user", "count[login(_, \"x\")]"),
];

#[test]
fn names_and_terms_are_read_as_the_place_needs_them() {
    for (text, expected) in SHOWN {
        let program = query(text);
        let shown = display(&program, program.roots[0].node);
        let written = if expected.is_empty() { text } else { expected };
        assert_eq!(shown, *written, "{text}");
        let again = query(&shown);
        assert_eq!(display(&again, again.roots[0].node), shown, "{text}");
        let size = |program: &Program| program.reachable(&[program.roots[0].node]).len();
        assert_eq!(size(&again), size(&program), "{text}");
    }
}

#[test]
fn macros_are_experiments_and_take_them() {
    let table: &[(&str, &str)] = &[
        ("let busy = q > 10; query a : avg[x while busy];", "avg[true : x while q > 10]"),
        ("let worst(e) = max[e] ?? 0; query a : worst(x);", "max[true : x] ?? 0"),
        ("let worst(e) = max[e] ?? 0; query a : worst((p : x));", "max[p : x] ?? 0"),
        ("let worst(e) = max[e] ?? 0; query a : worst(count[p while q]);", "max[count[p while q]] ?? 0"),
        (
            "let rate(p, q) = 100 * count[p] / count[q]; query a : rate(y, true);",
            "100 * count[y] / count[true]",
        ),
        ("let e = p : x; query a : sum[e] + count[e];", "sum[p : x] + count[p : x]"),
        (
            "let n = count[p]; let m(k) = n - k; query a : m(n) + m(1);",
            "count[p] - count[p] + (count[p] - 1)",
        ),
        ("let stretch(p) = p & Z !p; query a : count[stretch(q)];", "count[q & Z !q]"),
        ("let key(x) = x.id; query a : distinct[key(http)];", "distinct[true : http.id]"),
        ("let limit = 3; query a : count[x > limit] - limit;", "count[x > 3] - 3"),
        // One macro, read as a formula here and as a value there.
        ("let v = x; query a : count[v] + sum[v];", "count[x] + sum[true : x]"),
        ("var x: int; query a : x;", "true : x"),
        ("var b: bool; query a : distinct[b];", "distinct[b]"),
        ("var s: string; query a : mode[s];", "mode[true : s]"),
    ];
    for (text, expected) in table {
        let parsed = parse(text, 0);
        assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
        let lowered = lower(&parsed.value, &LowerOptions::default());
        assert!(lowered.diagnostics.is_empty(), "{text}: {:?}", lowered.diagnostics);
        assert_eq!(display(&lowered.value, lowered.value.roots[0].node), *expected, "{text}");
    }
}

#[test]
fn divisions_reach_the_program() {
    let text =
        "query a : count[p]; query b : count[p] by user; query c : count[p] every 1.5h by http.`user id`;
        property d : p; query every : by by by every 5;";
    let parsed = parse(text, 0);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let lowered = lower(&parsed.value, &LowerOptions::default());
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    let shown: Vec<_> = lowered
        .value
        .roots
        .iter()
        .map(|root| {
            let by = root
                .division
                .by
                .as_ref()
                .map_or("-".into(), |path| path.steps.len().to_string() + &format!("{path}"));
            let every = root.division.every.map_or("-".into(), |length| length.to_string());
            assert!(root.division.is_whole() || root.kind == RootKind::Query);
            format!("{} {by} {every}", root.name)
        })
        .collect();
    assert_eq!(shown, ["a - -", "b 1user -", "c 2http.user id 1.5h", "d - -", "every 1by 5"]);
    let single = query("max[x] by user every 1m");
    assert_eq!(single.roots[0].name, "max[x] by user every 1m");
    assert_eq!(single.roots[0].division.every.map(|length| length.to_string()).as_deref(), Some("1m"));
}

/// Wrong queries and what is printed about them.
const RENDERED: &str = include_str!("query_errors.txt");

/// The specifications of [`RENDERED`], each a line that begins with `>>> `.
#[test]
fn wrong_queries_are_explained() {
    let mut fresh = String::new();
    for text in RENDERED.lines().filter_map(|line| line.strip_prefix(">>> ")) {
        fresh += &format!(">>> {text}\n");
        let mut sources = Sources::default();
        let parsed = match text.strip_prefix("-e ") {
            Some(query) => {
                sources.add("<query>", query);
                parse_query(query, 0)
            }
            None => {
                sources.add("q.tw", text);
                parse(text, 0)
            }
        };
        let mut findings = parsed.diagnostics.clone();
        if !parsed.has_errors() {
            findings.extend(lower(&parsed.value, &LowerOptions::default()).diagnostics);
        }
        assert!(!findings.is_empty(), "{text} was accepted");
        fresh += &tw_diag::render(&findings, &sources, false);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lower/query_errors.txt");
        std::fs::write(file, &fresh).unwrap();
        return;
    }
    for (expected, found) in RENDERED.split(">>> ").zip(fresh.split(">>> ")) {
        assert_eq!(found, expected, "rewrite with UPDATE_DOCS=1");
    }
}
