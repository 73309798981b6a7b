//! Queries on a live trace.

use crate::process::{file, run, watch};

#[test]
fn values_are_told_every_so_many_positions_and_at_the_end() {
    let arguments = [
        "--query",
        "max[count[p while q]]",
        "--query",
        "count[p & X !p]",
        "--values-every",
        "2",
        "--format",
        "csv",
        "--output",
        "json",
    ];
    let end = run(&arguments, "p,q\n1,1\n1,1\n0,0\n1,1\n1,0\n");
    assert_eq!(end.code, Some(0), "{:?}", end.err);
    let told: Vec<(i64, serde_json::Value, serde_json::Value)> = end
        .json()
        .chunks(2)
        .map(|pair| {
            (pair[0]["position"].as_i64().unwrap(), pair[0]["value"].clone(), pair[1]["value"].clone())
        })
        .collect();
    let null = serde_json::Value::Null;
    assert_eq!(told, [(1, 2.into(), null), (3, 2.into(), 1.into()), (4, 2.into(), 1.into())]);
}

#[test]
fn queries_stand_beside_properties() {
    let mut watch = watch(&[
        "-e",
        "G p",
        "--query",
        "sum[x]",
        "--format",
        "csv",
        "--output",
        "json",
        "--values-every",
        "50ms",
    ]);
    watch.write("p,x\n1,3\n1,4\n");
    let value = watch.json();
    assert_eq!(value["query"], "sum[x]");
    watch.write("0,5\n");
    let mut violated = watch.json();
    while violated["property"].is_null() {
        violated = watch.json();
    }
    assert_eq!(violated["verdict"], "violated");
    let end = watch.end();
    assert_eq!(end.code, Some(1));
    let last: serde_json::Value = serde_json::from_str(end.out.last().unwrap()).unwrap();
    assert_eq!(
        (&last["query"], &last["value"], &last["position"]),
        (&"sum[x]".into(), &12.into(), &2.into())
    );
}

#[test]
fn a_checkpoint_keeps_what_queries_have_seen() {
    let log = file("values", "log.csv", "p,x\n1,3\n1,4\n0,5\n");
    let state = format!("{log}.state");
    let query = ["--query", "median[x]", "--query", "max[count[p while x > 0]]", "--output", "json"];
    let with = |more: &[&'static str]| {
        let mut all: Vec<String> = query.iter().chain(more).map(|text| text.to_string()).collect();
        all.extend(["--checkpoint".into(), state.clone(), log.clone()]);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        run(&all, "")
    };
    assert_eq!(with(&[]).json()[0]["value"], 4.0);
    let mut text = std::fs::read_to_string(&log).unwrap();
    text.push_str("1,6\n1,100\n");
    std::fs::write(&log, text).unwrap();
    let resumed = with(&["--resume"]).json();
    assert_eq!((&resumed[0]["value"], &resumed[0]["position"]), (&5.0.into(), &4.into()));
    assert_eq!(resumed[1]["value"], 4);
}

#[test]
fn what_cannot_be_watched_is_refused_by_name() {
    for query in ["avg[max[x]]", "max[x] by user"] {
        let end = run(&["--query", query, "--format", "csv"], "x,user\n1,a\n");
        assert_eq!(end.code, Some(2), "{query}");
        assert!(
            end.err.join("\n").contains("tracewise query")
                || end.err.join("\n").contains("rest of the trace")
        );
    }
}
